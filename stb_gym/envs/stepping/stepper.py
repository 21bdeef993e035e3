"""What environments step through, whether they read it from tables or work it out from boards.

States and nodes are numbers here, of a kind that the stepper alone understands. A column has an entry for every node:
`column.take(nodes, axis=0)` gives those of nodes [B]. Both kinds give the same for the same throws; see `transitions`
and `boards`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Game, IntArray, rolls, words_of
from stb_gym.solver import Objective


class Column(Protocol):
    """An entry for every node: an array, or something that works the entries out which it is asked for."""

    def take(self, indices: Any, /, axis: int | None = None) -> Any:
        """The entries of nodes of any shape."""


# What is known of a node: the functions that copy its observation and its action mask; where the turn is over, its
# reward, its final score and whether it is the forfeit, else None; and for every action the state that it leads to
# times T, None where it is illegal.
Known = tuple[Callable[[], Any], Callable[[], Any], tuple[float, int, bool] | None, Any]


class LegalMoves(NamedTuple):
    """The legal moves at nodes [B], E in all, in the order of the nodes and of their actions.

    Attributes:
        first, counts: [B] where those of a node begin, and how many there are: 0 where the turn is over.
        action: [E] the moves.
        after: [E] the states they lead to.
    """

    first: IntArray
    counts: IntArray
    action: IntArray
    after: IntArray

    @property
    def place(self) -> IntArray:
        """[E] the place among the B nodes of the one where the move is made."""
        return np.repeat(np.arange(len(self.counts)), self.counts)


class Stepper(ABC):
    """A game and an objective, in which every throw is one of T equally likely ones.

    An illegal action leads to the forfeit: it ends the turn with the worst reward and score there is. Its observation
    is all zeros.

    Attributes:
        game: the rules.
        objective: what is rewarded.
        reward_scale: what rewards are multiplied by.
        throws, actions: T and A.
        start: the state that a turn begins with.
        forfeit, forfeit_state: the node of the forfeit, and its state.
        over: the column of whether the turn is over.
        observation: [O] what the player sees, in the type that was asked for.
        action_mask: [A] int8, 1 = legal, all 0 where the turn is over.
        reward: the utility of the final score times `reward_scale` where the turn is over, else 0.
        final_score: points where the turn is over, else 0.
    """

    game: Game
    objective: Objective
    reward_scale: float
    throws: int
    actions: int
    start: int
    forfeit: int
    forfeit_state: int
    over: Column
    observation: Column
    action_mask: Column
    reward: Column
    final_score: Column

    @property
    @abstractmethod
    def longest(self) -> int:
        """No turn has more moves, wherever it begins."""

    @property
    @abstractmethod
    def single(self) -> tuple[int, Any, Any]:
        """What a single game reads, one entry at a time.

        Returns:
            T; by a state times T plus a throw, the node that the throw leads to; and by node what is `Known` of it.
        """

    @abstractmethod
    def nodes(self, states: Any, throws: IntArray) -> IntArray:
        """[B] the nodes that throws [B] lead to at states [B], or at one state."""

    @abstractmethod
    def after(self, nodes: IntArray, actions: IntArray) -> IntArray:
        """[B] the states that actions [B] lead to. Where the turn is over, any action begins a new one."""

    @abstractmethod
    def legal_moves(self, nodes: IntArray) -> LegalMoves:
        """Every legal move at nodes [B]."""

    @abstractmethod
    def choose(self, nodes: IntArray, fractions: NDArray[np.float64]) -> IntArray:
        """[B] the legal actions at fractions [B] from 0 to 1 of all those of nodes [B]; 0 where the turn is over."""

    @abstractmethod
    def state_of(self, nodes: Any) -> Any:
        """The states of nodes of any shape."""

    @abstractmethod
    def position(self, states: Any) -> tuple[Any, Any]:
        """What the rules call states of any shape: what is held, and how many dice are thrown next.

        The forfeit is a position of the worst score, without dice.
        """

    @abstractmethod
    def unthrown(self, states: IntArray) -> NDArray[Any]:
        """[B, O + 1] what is seen at states [B] whatever the throw, and how many dice are to be thrown.

        The first O numbers are the least that any throw would show; the last is 0 where the turn is over.
        """

    @abstractmethod
    def describe(self, node: int) -> str:
        """A node in words."""

    @abstractmethod
    def find_state(self, held: int, dice: int) -> int:
        """The state of a position that is one."""

    @abstractmethod
    def find(self, observations: NDArray[Any]) -> IntArray:
        """The node of an observation [O], or the nodes [B] of many [B, O].

        Raises:
            ValueError: if one is none of this game.
        """

    @abstractmethod
    def are_nodes(self, numbers: IntArray) -> NDArray[np.bool_]:
        """Whether numbers of any shape are nodes."""

    def beginnings(self, where: Mapping[str, Any]) -> tuple[int, IntArray]:
        """A state named by a person's words, and the throws there that lead to the named roll or leave a legal move.

        Raises:
            ValueError: if `where` names no position of the game, or one without a legal move.
        """
        words = words_of(self.game)
        held, dice, roll = words.locate({**where})
        state = self.find_state(held, dice)
        throws = np.arange(self.throws)
        fits = ~self.over.take(self.nodes(state, throws))
        if roll is not None:
            shown, _, of_throw = rolls(self.game, dice)
            fits &= (shown[of_throw[throws % len(of_throw)]] == roll).all(axis=1)
        if not fits.any():
            named = words.state(held, dice) if roll is None else words.node(held, dice, roll)
            raise ValueError(f"there is no legal move at {named}")
        return state, np.flatnonzero(fits)

    @cached_property
    def first(self) -> tuple[int, list[int]]:
        """The state a turn begins with, and the throws that begin it."""
        state, throws = self.beginnings({})
        return state, throws.tolist()
