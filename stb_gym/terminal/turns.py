"""A turn played throw by throw, by anyone who chooses, and told in words."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from stb_gym.game import rolls, throw_faces
from stb_gym.show import move_in_words
from stb_gym.shut_the_box import ShutTheBox
from stb_gym.turn_arrays import TurnArrays

Faces = tuple[int, ...]


class Step(NamedTuple):
    """A throw and what was made of it.

    Attributes:
        faces: the dice as they fell.
        node: the node they led to.
        edge: the move made there, None if the node has none.
    """

    faces: Faces
    node: int
    edge: int | None


def take_turn(
    tables: TurnArrays, dice: np.random.Generator, choose: Callable[[Faces, int], int | None], stop_below: int = 0
) -> tuple[list[Step], int]:
    """Play a turn.

    Args:
        tables: the arrays of the game.
        dice: throws the dice.
        choose: given the dice as they fell and the node, returns one of its edges, or None if it has none.
        stop_below: the turn ends as soon as it holds fewer points than this.

    Returns:
        What happened, and the final score in points.
    """
    game, state = tables.game, tables.start
    steps: list[Step] = []
    while tables.dice[state] > 0 and tables.final_score[state] >= stop_below:
        count = int(tables.dice[state])
        throw = int(dice.integers(game.faces**count))
        faces = throw_faces(throw, count, game.faces)
        node = int(tables.node_start[state] + rolls(game, count).of_throw[throw])
        steps.append(Step(faces, node, choose(faces, node)))
        if steps[-1].edge is None:
            break
        state = int(tables.edge_next[steps[-1].edge])
    return steps, int(tables.final_score[state])


def stopped(tables: TurnArrays, steps: list[Step]) -> bool:
    """Whether a turn ended although its player could have thrown on."""
    last = steps[-1].edge
    return last is not None and bool(tables.dice[tables.edge_next[last]] > 0)


def step_in_words(tables: TurnArrays, step: Step) -> tuple[str, str, str]:
    """The dice, with their sum if that is what matters; the move; and what it leaves."""
    thrown = " ".join(map(str, step.faces))
    if isinstance(tables.game, ShutTheBox) and len(step.faces) > 1:
        thrown = f"{' + '.join(map(str, step.faces))} = {sum(step.faces)}"
    state = tables.node_state[step.node] if step.edge is None else tables.edge_next[step.edge]
    left = tables.game.describe_state(int(tables.held[state]), int(tables.dice[state]))
    return thrown, edge_in_words(tables, step.edge), left


def edge_move(tables: TurnArrays, edge: int) -> dict[str, Any]:
    """A move ready for JSON, without a choice of dice if nothing is thrown after it."""
    move = tables.game.describe_move(int(tables.edge_action[edge]))
    return {name: value for name, value in move.items() if name != "dice" or tables.dice[tables.edge_next[edge]] > 0}


def edge_in_words(tables: TurnArrays, edge: int | None) -> str:
    """A move, and the dice it keeps."""
    if edge is None:
        return "no move"
    move = edge_move(tables, edge)
    if "keep" not in move:
        return move_in_words(move)
    kept = tables.node_roll(int(tables.edge_node[edge]))[: move["keep"]]
    return f"{move_in_words(move)} ({' '.join(map(str, kept))})"


def points_in_words(points: int) -> str:
    """A number of points."""
    if points < 0:
        return "the moon"
    return "1 point" if points == 1 else f"{points} points"


def at_most(points: int) -> str:
    """No more than a number of points."""
    return f"at most {points_in_words(points)}" if points else "0 points"
