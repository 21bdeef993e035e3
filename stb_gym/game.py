"""What a game is here: a turn of "throw the dice, then choose".

The words used throughout the package:

state        what the player holds before a throw: a pair (held, dice), where `held` is what the rules make of the past
             (a bit mask of open tiles, or the points so far) and `dice` the number of dice to be thrown next. A state
             without dice is the end of the turn. (The "afterstate" of Sutton and Barto, Reinforcement Learning, 6.8.)
roll         what the rules see of a throw: the sum of the dice, or the dice sorted. Exact probability: an integer
             count of equally likely throws over faces**dice.
node         (state, roll): the point where the player chooses, and what an agent observes.
action       index into the game's list of moves; `legal` and `action_mask` say which are allowed, True = allowed.
edge         (node, legal action) -> next state.
final score  what the turn is worth when it ends: a function of the state alone. Fewer points are better.

A turn ends at a node without a legal action, or at a state without dice. A rules object says all this in the methods of
`Game`, on whole arrays at once; `stb_gym.tables` compiles it and everything else reads the compiled arrays.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.integer[Any]]
ILLEGAL = ("end", "raise")  # what may be done about an illegal action: it ends the turn, or raises an error
LARGEST_THROW_TABLE = 2**22  # throws: a second to count, and as many entries to sample from


class Rolls(NamedTuple):
    """Every roll of a number of dice.

    Attributes:
        shown: [R, k] uint8, what the rules see of each roll, in ascending order.
        counts: [R] int64, how many of the equally likely throws give the roll; they sum to faces**dice.
        of_throw: [faces**dice] index of the roll that each throw gives. The base-`faces` digits of a throw's number,
            each plus one, are the faces of its dice, first die first.
    """

    shown: NDArray[np.uint8]
    counts: NDArray[np.int64]
    of_throw: NDArray[np.int64]


class Edges(NamedTuple):
    """Legal moves, ordered by state, then roll, then action; [E] each.

    `state` counts from the first of the states asked about, `roll` from the first roll of their dice.
    """

    state: IntArray
    roll: IntArray
    action: IntArray
    next_held: IntArray
    next_dice: IntArray


class Game(Protocol):
    """The rules of a turn. Implementations are frozen dataclasses whose fields are the variants of the rules."""

    name: ClassVar[str]

    def __hash__(self) -> int:
        """Equal rules are the same game; what is made of a game is kept by it."""

    @property
    def dice(self) -> int:
        """Dice of the first throw."""

    @property
    def faces(self) -> int:
        """Faces of every die, numbered from 1."""

    @property
    def moves(self) -> tuple[Any, ...]:
        """What each action does, by action index."""

    @property
    def observation_high(self) -> IntArray:
        """[O] the largest value of each number in an observation; the smallest is 0."""

    def start(self) -> tuple[int, int]:
        """The (held, dice) a turn begins with."""

    def states(self) -> tuple[IntArray, IntArray]:
        """Every (held, dice) as two arrays [S], in any order."""

    def level(self, held: IntArray, dice: IntArray) -> IntArray:
        """[S] a number that every move makes smaller; it proves that the turn ends and gives the solving order."""

    def roll_of(self, throws: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """[T, k] what the rules see of throws [T, dice]."""

    def edges(self, held: IntArray, dice: int) -> Edges:
        """Every legal move from states `held` [B] with `dice` dice in hand, on every roll."""

    def most_edges(self) -> int:
        """How many legal moves there are in all at most, told without making them."""

    def final_score(self, held: IntArray) -> IntArray:
        """[S] points of a turn that ends holding `held`, 0 or more."""

    def observe(self, held: IntArray, dice: int) -> NDArray[np.uint8]:
        """[B, R, O] what the player sees at states `held` [B] with `dice` dice, for each of their rolls."""

    def locate(self, where: Mapping[str, Any]) -> tuple[int, int, NDArray[np.uint8] | None]:
        """(held, dice, roll or None) named by a person's words, such as {"open": [1, 4], "roll": 5}.

        Raises:
            ValueError: naming the entry that is no part of this game, and what is allowed.
        """

    def describe_state(self, held: int, dice: int) -> str:
        """A state in words."""

    def describe_roll(self, roll: NDArray[np.uint8]) -> str:
        """A roll in words: its numbers, separated by commas."""

    def describe_move(self, action: int) -> dict[str, Any]:
        """A move as a person would name it, ready for JSON: {"tiles": [3, 5]} or {"keep": 2}."""


@lru_cache(maxsize=64)
def rolls(game: Game, dice: int) -> Rolls:
    """Every roll of `dice` dice, counted by going through all faces**dice throws.

    Raises:
        ValueError: if there are more throws than LARGEST_THROW_TABLE.
    """
    if game.faces**dice > LARGEST_THROW_TABLE:
        raise ValueError(
            f"{dice} dice of {game.faces} faces have {game.faces**dice:,} throws; at most {LARGEST_THROW_TABLE:,} fit"
        )
    throws = np.indices((game.faces,) * dice, np.uint8).reshape(dice, game.faces**dice).T + np.uint8(1)
    shown = game.roll_of(throws)
    keys = shown @ 256 ** np.arange(shown.shape[1])[::-1]  # in the order of the rows, and much faster to sort
    _, first, of_throw, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    return Rolls(shown[first], counts, of_throw)


def throw_faces(throw: int, dice: int, faces: int) -> tuple[int, ...]:
    """The faces of the dice of throw number `throw`, as numbered in `Rolls.of_throw`."""
    return tuple(throw // faces**place % faces + 1 for place in reversed(range(dice)))


class RowIndex:
    """Finds rows in a table [N, k] uint8 of distinct rows, comparing them as byte strings of equal length."""

    def __init__(self, table: NDArray[np.uint8]):
        self.table = table
        self._keys = self._as_bytes(table)
        self._order = np.argsort(self._keys)

    @staticmethod
    def _as_bytes(rows: NDArray[np.uint8]) -> NDArray[Any]:
        return np.ascontiguousarray(rows).view(f"S{rows.shape[1]}").ravel()

    def find(self, rows: NDArray[Any]) -> IntArray:
        """[M] index in the table of each of `rows` [M, k], or -1 where it is not there."""
        place = np.searchsorted(self._keys, self._as_bytes(rows.astype(np.uint8)), sorter=self._order)
        found = self._order[np.minimum(place, len(self.table) - 1)]
        return np.where((self.table[found] == rows).all(axis=1), found, -1)


G = TypeVar("G")


def own_rules(game: Any) -> dict[str, Any]:
    """The fields of a game whose values are not the standard ones."""
    values = {field.name: (getattr(game, field.name), field.default) for field in fields(game)}
    return {name: value for name, (value, standard) in values.items() if value != standard}


def title(game: Any) -> str:
    """A game in a line: its sizes, its score, and where its rules are its own."""
    always = {name: getattr(game, name) for name in ("tiles", "dice", "faces", "score") if hasattr(game, name)}
    return f"{game.name}: " + ", ".join(f"{name} {value}" for name, value in (always | own_rules(game)).items())


def rules_in_words(game: Any) -> str:
    """A game as one would write it in Python, by its own rules."""
    return f"{type(game).__name__}({', '.join(f'{name}={value!r}' for name, value in own_rules(game).items())})"


def same_rules(game: Any, rules: Any) -> bool:
    """Whether rules that were read from a file are those of a game; fields that it does not name are the standard."""
    try:
        return bool(make_game(type(game), rules) == game)
    except (TypeError, ValueError):
        return False


def make_game(rules_class: type[G], options: Mapping[str, Any]) -> G:
    """A game from its rules class and keyword options.

    Raises:
        ValueError: if an option is no field of the rules, or its value is not allowed.
    """
    check_names("rule", options, [field.name for field in fields(rules_class)])  # type: ignore[arg-type]
    return rules_class(**options)


def check_names(kind: str, given: Iterable[str], allowed: Iterable[str]) -> None:
    """Raise a ValueError unless each of the names `given` is allowed."""
    for name in given:
        if name not in allowed:
            raise ValueError(f"unknown {kind} {name!r}: allowed are {', '.join(allowed)}")


def check_integer(name: str, value: Any, low: int, high: int) -> None:
    """Raise a ValueError unless `value` is an integer from `low` to `high`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
        raise ValueError(f"{name} must be an integer from {low} to {high}, not {value!r}")


def check_flag(name: str, value: Any) -> None:
    """Raise a ValueError unless `value` is true or false."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, not {value!r}")


def integers(name: str, values: Any, low: int, high: int) -> list[int]:
    """A list of integers from `low` to `high`; a ValueError if `values` is no such collection."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a list of integers from {low} to {high}, not {values!r}")
    listed = list(values)
    for value in listed:
        check_integer(f"each of {name}", value, low, high)
    return [int(value) for value in listed]


def check_choice(name: str, value: Any, allowed: Sequence[Any]) -> None:
    """Raise a ValueError unless `value` is one of `allowed`."""
    if value not in allowed:
        raise ValueError(f"unknown {name} {value!r}: allowed are {', '.join(map(str, allowed))}")
