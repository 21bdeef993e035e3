"""A turn played throw by throw by any player, and its throws and moves in words."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Faces, Game, Move, legal_moves, rolls, throw_faces, words_of

Throw = int | Sequence[int]  # given dice: their sum where only the sum matters, or their faces
Dice = np.random.Generator | Iterator[Throw]


class Position(NamedTuple):
    """A state and a throw, at which a player chooses a move.

    Attributes:
        held, dice: the state.
        faces: the faces of the dice, in the order in which they fell.
        roll: [k] the part of the throw that the rules use.
        moves: the legal moves, lowest action first.
    """

    held: int
    dice: int
    faces: Faces
    roll: NDArray[np.uint8]
    moves: list[Move]


Choose = Callable[[Position], Move | None]


class Step(NamedTuple):
    """A position and the move made there, or None if there is no legal move or the player left."""

    position: Position
    move: Move | None


class TakenBack(Exception):  # noqa: N818 (it is not an error)
    """Raised by a player to take the last move back."""


def take_turn(game: Game, dice: Dice, choose: Choose, steps: list[Step]) -> int:
    """Play a turn.

    Args:
        game: the rules.
        dice: a generator that throws the dice, or an iterator of given throws. The turn stops where those run out.
        choose: returns one of the moves of a position, or None if there is none. It raises `TakenBack` to return to
            the last position with two moves or more, or EOFError to leave.
        steps: an empty list, filled with the steps of the turn. If the player leaves, the last step has no move.

    Returns:
        The final score in points.

    Raises:
        ValueError: if a given throw is impossible at its position.
    """
    words = words_of(game)
    held, left = game.start()
    position = None
    while left > 0:
        position = position or _next_position(game, dice, held, left)
        if position is None:
            break
        try:
            move = choose(position)
        except TakenBack:
            while len(steps[-1].position.moves) < 2:
                steps.pop()
            position = steps.pop().position
            continue
        except EOFError:
            steps.append(Step(position, None))
            raise
        steps.append(Step(position, move))
        if move is None:
            held = position.held
            break
        position, held, left = None, move.held, move.dice
    return words.points(held)


def _next_position(game: Game, dice: Dice, held: int, left: int) -> Position | None:
    """Throw the dice; return None if the given throws have run out."""
    if isinstance(dice, np.random.Generator):
        throw = int(dice.integers(game.faces**left))
        table = rolls(game, left)
        faces, roll = throw_faces(throw, left, game.faces), table.shown[table.of_throw[throw]]
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


def is_unfinished(steps: Sequence[Step]) -> bool:
    """Return whether the given throws ran out before the turn ended."""
    last = steps[-1].move if steps else None
    return not steps or (last is not None and last.dice > 0)


def step_in_words(game: Game, step: Step) -> tuple[str, str, str]:
    """Return the dice, the move and the state it leads to."""
    words, (position, move) = words_of(game), step
    held, dice = (position.held, position.dice) if move is None else (move.held, move.dice)
    return words.throw(position.faces), move_in_words(game, position, move), words.state(held, dice)


def move_in_words(game: Game, position: Position, move: Move | None) -> str:
    """Return a move in words; "no move" if none is legal, "left" if the player left."""
    if move is None:
        return "left" if position.moves else "no move"
    words = words_of(game)
    return words.move_in_words(words.move(move.action, goes_on=move.dice > 0), position.roll)


def moves_in_words(game: Game, position: Position, moves: Sequence[Move], separator: str = " or ") -> str:
    """Return several moves in words."""
    return separator.join(move_in_words(game, position, move) for move in moves)
