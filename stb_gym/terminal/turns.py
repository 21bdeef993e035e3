"""A turn played throw by throw, by anyone who chooses, and described in words."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Faces, Game, Move, legal_moves, rolls, throw_faces, words_of


class Position(NamedTuple):
    """A state and a throw: where a player chooses.

    Attributes:
        held, dice: the state.
        faces: the dice as they fell.
        roll: [k] what the rules see of them.
        moves: the legal moves, lowest action first.
    """

    held: int
    dice: int
    faces: Faces
    roll: NDArray[np.uint8]
    moves: list[Move]


Choose = Callable[[Position], Move | None]
Throw = int | Sequence[int]  # given dice: their sum where only that matters, or their faces
Dice = np.random.Generator | Iterator[Throw]


class Step(NamedTuple):
    """A position, and the move that was made there; None if there is none."""

    position: Position
    move: Move | None


class TakenBack(Exception):  # noqa: N818 (it is no error)
    """Who chooses takes the last choice back."""


def take_turn(
    game: Game,
    dice: Dice,
    choose: Choose,
    ahead_of: int | None = None,
    steps: list[Step] | None = None,
) -> tuple[list[Step], int]:
    """Play a turn.

    Args:
        game: the rules.
        dice: throws the dice, or yields given ones; the turn stops where they run out.
        choose: given a position, returns one of its moves, or None if it has none; or raises `TakenBack` to choose
            once more where there was a choice last.
        ahead_of: the turn ends as soon as its points are better than these; None for never.
        steps: filled with what happens; after an EOFError of who chooses its last one is without a move.

    Returns:
        What happened, and the final score in points.

    Raises:
        ValueError: if a given throw is impossible at the position.
    """
    held, left = game.start()
    steps = [] if steps is None else steps
    position = None
    while left > 0 and (ahead_of is None or game.sign * words_of(game).points(held) <= game.sign * ahead_of):
        position = position or _thrown(game, dice, held, left)
        if position is None:
            break
        try:
            move = choose(position)
        except TakenBack:
            position = _last_choice(steps)
            continue
        except EOFError:
            steps.append(Step(position, None))
            raise
        steps.append(Step(position, move))
        if move is None:
            held = position.held
            break
        position, held, left = None, move.held, move.dice
    return steps, words_of(game).points(held)


def _thrown(game: Game, dice: Dice, held: int, left: int) -> Position | None:
    """Return the position after the next throw, or None if given dice have run out."""
    if isinstance(dice, np.random.Generator):
        throw = int(dice.integers(game.faces**left))
        known = rolls(game, left)
        faces, roll = throw_faces(throw, left, game.faces), known.shown[known.of_throw[throw]]
    else:
        given = next(dice, None)
        if given is None:
            return None
        words = words_of(game)
        try:
            _, _, roll = words.locate({**words.where(held, left), "roll": given})
        except ValueError as error:
            raise ValueError(f"the throw at {words.state(held, left)}: {error}") from None
        assert roll is not None
        faces = (given,) if isinstance(given, int | np.integer) else tuple(given)
    return Position(held, left, faces, roll, legal_moves(game, held, left, roll))


def _last_choice(steps: list[Step]) -> Position:
    """The last position with a choice, and nothing after it in the steps."""
    while len(steps[-1].position.moves) < 2:
        steps.pop()
    return steps.pop().position


def stopped(steps: list[Step]) -> bool:
    """Whether a turn ended although its player could have thrown on."""
    last = steps[-1].move if steps else None
    return last is not None and last.dice > 0


def step_in_words(game: Game, step: Step) -> tuple[str, str, str]:
    """The dice, the move, and what it leaves."""
    words, (position, move) = words_of(game), step
    held, dice = (position.held, position.dice) if move is None else (move.held, move.dice)
    return words.throw(position.faces), move_in_words(game, position, move), words.state(held, dice)


def move_in_words(game: Game, position: Position, move: Move | None) -> str:
    """A move at a position; if there is none, whether the player has left."""
    if move is None:
        return "left" if position.moves else "no move"
    words = words_of(game)
    return words.move_in_words(words.move(move.action, goes_on=move.dice > 0), position.roll)
