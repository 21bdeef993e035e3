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
final score  what the turn is worth when it ends: a function of the state alone.

A turn ends at a node without a legal action, or at a state without dice. A rules object says all this in the methods of
`Game`, on whole arrays at once; `stb_gym.solver` compiles it, and everything else reads the compiled arrays. How a game
is described and drawn is in `stb_gym.games.words`; `stb_gym.register_game` puts the two together.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.games.boards import Boards
from stb_gym.games.boards import IntArray as IntArray
from stb_gym.games.fields import check_integer, check_rules, rules_in_words
from stb_gym.games.keeping import kept

ILLEGAL = ("end", "raise")  # what may be done about an illegal action: it ends the turn, or raises an error
MOST_DICE = 64  # more have too many throws whatever their faces are
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


class Moves(NamedTuple):
    """Legal moves of states with the same number of dice, as a rule of thumb sees them.

    Attributes:
        held: [M] what the player holds before the move.
        roll: [M, k] what the rules see of the throw.
        action: [M] the move.
        next_held, next_dice: [M] the state it leads to.
    """

    held: IntArray
    roll: NDArray[np.uint8]
    action: IntArray
    next_held: IntArray
    next_dice: IntArray


class Game(ABC):
    """The rules of a turn. Subclasses are dataclasses, frozen and without a `repr`, of the variants of the rules.

    Attributes:
        name: what the commands call the game: small letters, digits and hyphens.
        more_is_better: True if more points are better, False (by default) if fewer are.
        dice: dice of the first throw, and the most that are ever thrown.
        faces: faces of every die, numbered from 1.
    """

    name: ClassVar[str]
    more_is_better: ClassVar[bool] = False
    dice: int
    faces: int

    __repr__ = rules_in_words

    def __post_init__(self) -> None:
        """Check the fields whose allowed values are known."""
        check_rules(self)

    @property
    def sign(self) -> int:
        """What points are multiplied by so that more is better: 1 or -1."""
        return 1 if self.more_is_better else -1

    @cached_property
    def perfect_score(self) -> int:
        """What the objective "shut" asks for, by default 0 or the most points; a better score wins a round at once."""
        return int(self.final_score(self.states()[0]).max()) if self.more_is_better else 0

    @property
    @abstractmethod
    def moves(self) -> tuple[Any, ...]:
        """What each action does, by action index."""

    @abstractmethod
    def start(self) -> tuple[int, int]:
        """The (held, dice) a turn begins with."""

    @abstractmethod
    def states(self) -> tuple[IntArray, IntArray]:
        """Every (held, dice) as two arrays [S], in any order."""

    @abstractmethod
    def level(self, held: IntArray, dice: IntArray) -> IntArray:
        """[S] a number that every move makes smaller; it proves that the turn ends and gives the solving order."""

    @abstractmethod
    def edges(self, held: IntArray, dice: int) -> Edges:
        """Every legal move from states `held` [B] with `dice` dice in hand, 1 or more, on every roll.

        A turn that ends at a node without a move has the score of its state, as it was before the throw. If the throw
        itself changes the score, as a 1 does that loses everything, let it leave one move, to the state that counts.
        """

    @abstractmethod
    def final_score(self, held: IntArray) -> IntArray:
        """[S] points of a turn that ends holding `held`."""

    @property
    @abstractmethod
    def observation_high(self) -> IntArray:
        """[O] the largest value of each number in an observation; the smallest is 0."""

    @abstractmethod
    def observe(self, held: IntArray, dice: int) -> NDArray[np.uint8]:
        """[B, R, O] what the player sees at states `held` [B] with `dice` dice, for each of their rolls.

        Observations of different nodes differ; numbers are from 0 to 255.
        """

    def roll_of(self, throws: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """[T, k] what the rules see of throws [T, dice]: by default the dice in ascending order."""
        return np.sort(throws, axis=1)

    def nodes(self) -> int:
        """How many nodes there are, known without making a move."""
        dice, states = np.unique(np.asarray(self.states()[1], np.int64), return_counts=True)
        return sum(count * len(rolls(self, d).counts) for d, count in zip(dice.tolist(), states.tolist(), strict=True))

    def most_edges(self) -> int:
        """How many legal moves there are in all at most, known without making them."""
        return len(self.moves) * self.nodes()

    def smaller(self) -> "Iterator[Game]":
        """The same rules for fewer tiles or dice, the largest first; by default none."""
        return iter(())

    def boards(self) -> Boards:
        """The game as moves that take things off a board, by which it is solved and stepped without arrays of edges.

        Raises:
            ValueError: if these rules have no such form.
        """
        raise ValueError(f"{self.name} has no boards, by which it could be solved or stepped without arrays")


def check_game(game: Any) -> None:
    """Raise a TypeError for what is no game, such as the class of one, its name, or an environment."""
    if not isinstance(game, Game):
        raise TypeError(f"{game!r:.80} is no game: make one, such as stb_gym.Threes()")


@kept(mebibytes=64)
def rolls(game: Game, dice: int) -> Rolls:
    """Every roll of `dice` dice, counted by going through all faces**dice throws.

    Args:
        game: the rules.
        dice: how many dice are thrown.

    Example:
        >>> import stb_gym
        >>> sums = stb_gym.rolls(stb_gym.ShutTheBox(), 2)
        >>> sums.shown[:3, 0].tolist(), sums.counts[:3].tolist()
        ([2, 3, 4], [1, 2, 3])

    Raises:
        ValueError: if there are more throws than LARGEST_THROW_TABLE.
    """
    check_game(game)
    check_integer("dice", dice, 0, MOST_DICE)
    if game.faces**dice > LARGEST_THROW_TABLE:
        raise ValueError(
            f"{dice} dice of {game.faces} faces have {game.faces**dice:,} throws; at most {LARGEST_THROW_TABLE:,} fit"
        )
    throws = np.indices((game.faces,) * dice, np.uint8).reshape(dice, game.faces**dice).T + np.uint8(1)
    shown = game.roll_of(throws)
    if shown.shape[1] < 8:  # whose numbers fit one: in the order of the rows, and much faster to sort
        keys = shown @ 256 ** np.arange(shown.shape[1])[::-1]
    else:
        keys = np.unique(shown, axis=0, return_inverse=True)[1].ravel()
    _, first, of_throw, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    return Rolls(shown[first], counts, of_throw)


def throw_faces(throw: int, dice: int, faces: int) -> tuple[int, ...]:
    """The faces of the dice of throw number `throw`, as numbered in `Rolls.of_throw`."""
    return tuple(throw // faces**place % faces + 1 for place in reversed(range(dice)))


class Move(NamedTuple):
    """A legal move at one position: the action, and the state that it leads to."""

    action: int
    held: int
    dice: int


def legal_moves(game: Game, held: int, dice: int, roll: NDArray[np.uint8]) -> list[Move]:
    """The legal moves at a state and a roll [k], lowest action first, asked of the rules themselves."""
    if dice == 0:
        return []
    edges = game.edges(np.array([held]), dice)
    place = int(np.flatnonzero((rolls(game, dice).shown == roll).all(axis=1))[0])
    here = edges.roll == place
    columns = (column[here].tolist() for column in (edges.action, edges.next_held, edges.next_dice))
    return [Move(*row) for row in zip(*columns, strict=True)]


# Tells of moves [M] how little each is wanted, [M] numbers: the least is played, the lowest action among equals. The
# first line of its docstring says how it plays.
RuleOfThumb = Callable[[Any, Moves], NDArray[Any]]
