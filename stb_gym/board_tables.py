"""What a turn is played by, for boxes that are too large for arrays: every entry is worked out when it is asked for.

A state is a board, and 2**tiles the end of a turn whose first roll fits nothing. The nodes of a board follow in the
order of its rolls, and every node has as many numbers for its edges as there are actions.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from stb_gym.board_values import BoardValues
from stb_gym.game import rolls
from stb_gym.matching import board_of
from stb_gym.shut_the_box import NO_MOVE
from stb_gym.turn_arrays import TurnArrays


class Entries:
    """Looks like an array: `entry` works out what is at an index."""

    def __init__(self, entry: Callable[[int], Any]):
        self._entry = entry

    def __getitem__(self, index: Any) -> Any:
        """The entry at an index."""
        return self._entry(int(index))


class BoardTables(TurnArrays):
    """The arrays of a game of which only the values of its boards are kept.

    Attributes:
        objective: what is maximised.
        state_utility, node_utility: expected utility of every state before its throw, and of every node, in perfect
            play.
    """

    def __init__(self, values: BoardValues):
        self.game = game = values.game
        self.objective = values.objective
        self._values, self._sign = values, values.objective.sign
        self._shown = rolls(game, game.dice).shown[:, 0].tolist()
        self._end, (self.start, _) = 2**game.tiles, game.start()
        self._legal = lru_cache(maxsize=64)(self._legal_actions)
        actions, rolled = len(game.moves), len(self._shown)
        self.held = Entries(lambda state: self.start if state == self._end else state)
        self.dice = Entries(lambda state: 0 if state in (0, self._end) else game.dice)
        self.final_score = Entries(lambda state: int(game.final_score(np.array([self.held[state]]))[0]))
        self.node_start = Entries(lambda state: state * rolled)
        self.node_state = Entries(lambda node: node // rolled)
        self.edge_node = Entries(lambda edge: edge // actions)
        self.edge_action = Entries(lambda edge: self._legal(edge // actions)[edge % actions])
        self.edge_next = Entries(self._next_state)
        self.state_utility = Entries(self._utility_of_state)
        self.node_utility = Entries(lambda node: self._sign * values.node_value(*self._board_and_roll(node)))

    @property
    def tables(self) -> TurnArrays:
        """These arrays, where a `Solution` has its own."""
        return self

    def find_state(self, held: int, dice: int) -> int:
        """The state of a board."""
        return held

    def edges_of(self, node: int) -> range:
        """The edges of a node."""
        first = node * len(self.game.moves)
        return range(first, first + len(self._legal(int(node))))

    def _board_and_roll(self, node: int) -> tuple[int, int]:
        state, roll = divmod(node, len(self._shown))
        return state, self._shown[roll]

    def _legal_actions(self, node: int) -> list[int]:
        return sorted(action for action, _ in self._values.moves(*self._board_and_roll(node)))

    def _next_state(self, edge: int) -> int:
        tiles = self.game.moves[self.edge_action[edge]]
        return self._end if tiles == NO_MOVE else int(self.node_state[self.edge_node[edge]]) & ~board_of(tiles)

    def _utility_of_state(self, state: int) -> float:
        if state == self._end:
            return float(self._values.objective.utility(np.array([self.final_score[state]]))[0])
        return self._sign * self._values.value_of(state)
