"""A person's turn at the terminal: the position shown, a move asked for, and what is typed understood."""

import re
import sys

import numpy as np

from stb_gym import render
from stb_gym.coach import Turn
from stb_gym.matching import BY_SUM
from stb_gym.shut_the_box import ShutTheBox
from stb_gym.turn_arrays import TurnArrays
from stb_gym.turns import Faces, Step, edge_in_words, points_in_words, stopped, take_turn

Numbers = tuple[int, ...]


def your_turn(
    tables: TurnArrays, coach: Turn | None, dice: np.random.Generator, stop_below: int = 0
) -> tuple[list[Step], int]:
    """Let the person at the terminal play a turn; see `take_turn`.

    Raises:
        EOFError: if the person leaves.
    """

    def choose(faces: Faces, node: int) -> int | None:
        state = tables.node_state[node]
        print(f"\n{render.text(tables.game, int(tables.held[state]), int(tables.dice[state]), faces)}")
        moves = _moves(tables, node)
        if not any(moves):
            print(_no_move(tables, node, faces))
            return None
        if sum(map(len, moves.values())) == 1:
            [[edge]] = moves.values()
            print(f"The only move: {edge_in_words(tables, edge)}.")
            return edge
        edge = _ask_dice(tables, _ask(tables, node, moves))
        if coach:
            print(f"Coach: {coach.remark(edge)}")
        return edge

    if coach:
        print(f"Coach: {coach.unit.value(coach.start)} {coach.unit.heading} with perfect play.")
    steps, score = take_turn(tables, dice, choose, stop_below)
    if stopped(tables, steps):
        print("You are ahead and nobody plays after you, so you stop.")
    shut = score == 0 and isinstance(tables.game, ShutTheBox)
    print("You shut the box!" if shut else f"You end with {points_in_words(score)}.")
    return steps, score


def _moves(tables: TurnArrays, node: int) -> dict[Numbers, list[int]]:
    """The edges of a node by the numbers that a person types; several where only the dice thrown next differ."""
    moves: dict[Numbers, list[int]] = {}
    for edge in tables.edges_of(node):
        move = tables.game.moves[tables.edge_action[edge]]
        moves.setdefault(move if isinstance(move, tuple) else (move,), []).append(edge)
    return moves


def _no_move(tables: TurnArrays, node: int, faces: Faces) -> str:
    """Why a turn of Shut the Box ends."""
    game = tables.game
    assert isinstance(game, ShutTheBox)
    if sum(faces) == game.ending_roll:
        return f"A roll of {game.ending_roll} ends the turn."
    if game.first_move is not None and tables.node_state[node] == tables.start:
        return f"The first move must shut the {game.first_move}, and no tiles with it match."
    return f"No open tiles add up to {sum(faces)}." if game.match in BY_SUM else "No open tiles match the dice."


def _ask(tables: TurnArrays, node: int, moves: dict[Numbers, list[int]]) -> list[int]:
    """The edges of the tiles or dice that the person chooses, asked for until the answer is one."""
    while True:
        typed = _read("Shut which tiles? " if isinstance(tables.game, ShutTheBox) else "Keep how many dice? ")
        if typed in ("?", "help"):
            print(f"You can {'; '.join(edge_in_words(tables, edge) for edges in moves.values() for edge in edges)}.")
            continue
        numbers = _numbers(typed)
        if numbers in moves:
            return moves[numbers]
        print(_hint(tables, node, numbers))


def _ask_dice(tables: TurnArrays, edges: list[int]) -> int:
    """Of edges that differ in the dice thrown next the one that the person chooses."""
    by_dice = {int(tables.dice[tables.edge_next[edge]]): edge for edge in edges}
    if len(by_dice) == 1:
        return edges[0]
    while True:
        typed = _numbers(_read(f"Throw {' or '.join(map(str, by_dice))} dice next? "))
        if len(typed) == 1 and typed[0] in by_dice:
            return by_dice[typed[0]]
        print(f"Type {' or '.join(map(str, by_dice))}.")


def _read(prompt: str) -> str:
    """A line, in lower case."""
    if sys.stdin is None:  # it was closed before Python began
        raise EOFError
    try:
        typed = input(prompt)
    except UnicodeDecodeError:
        typed = ""
    except EOFError:
        print()
        raise
    if not sys.stdin.isatty():
        print(typed)  # a terminal has shown it already
    typed = typed.strip().lower()
    if typed in ("q", "quit"):
        raise EOFError
    return typed


def _numbers(typed: str) -> Numbers:
    """Numbers with spaces, commas or plus signs between them, in ascending order; none if it is anything else."""
    if not re.fullmatch(r"\d{1,3}([\s,+]+\d{1,3})*", typed):
        return ()
    return tuple(sorted(map(int, re.findall(r"\d+", typed))))


def _hint(tables: TurnArrays, node: int, numbers: Numbers) -> str:
    """What is wrong with numbers that are no move, and what is allowed."""
    state = tables.node_state[node]
    game, roll = tables.game, tables.game.describe_roll(tables.node_roll(node))
    if not isinstance(game, ShutTheBox):
        return f"Type how many dice to keep, from 1 to {tables.dice[state]}. ? shows which they are."
    held = int(tables.held[state])
    shut = [tile for tile in numbers if not held << 1 >> tile & 1]
    if not numbers:
        fault = "These are no tiles"
    elif shut:
        fault = f"Tile {shut[0]} is not open"
    elif len(set(numbers)) < len(numbers):
        fault = "Every tile is there only once"
    elif game.match in BY_SUM:
        fault = f"{' + '.join(map(str, numbers))} = {sum(numbers)}" if len(numbers) > 1 else f"That is {numbers[0]}"
    else:
        fault = "These do not match"
    wanted = {
        "sum": f"open tiles that add up to {roll}",
        "two-at-most": f"one open tile or two that add up to {roll}",
        "one-tile": "one open tile, that of a die or of their sum",
        "faces-or-sum": "the open tiles of all dice, or that of their sum",
    }[game.match]
    first = f", the {game.first_move} among them" if game.first_move and state == tables.start else ""
    return f"{fault}. Type {wanted}{first}. ? shows which you can shut."
