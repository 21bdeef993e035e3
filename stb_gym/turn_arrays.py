"""What a single turn reads of a game's arrays, whether they are there (`tables`) or worked out (`board_tables`)."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from stb_gym.game import Game, rolls


class TurnArrays(Protocol):
    """States, nodes and edges by number; for what is known of each of them see `stb_gym.TurnTables`."""

    game: Game
    start: int
    held: Any
    dice: Any
    final_score: Any
    node_start: Any
    node_state: Any
    edge_node: Any
    edge_action: Any
    edge_next: Any

    def edges_of(self, node: int) -> range:
        """The edges of a node."""

    def find_state(self, held: int, dice: int) -> int:
        """The state (held, dice); the caller has checked that it is one."""

    def find_node(self, state: int, roll: NDArray[np.uint8]) -> int:
        """The node (state, roll); the caller has checked that it is one."""
        shown = rolls(self.game, int(self.dice[state])).shown
        return int(self.node_start[state] + np.flatnonzero((shown == roll).all(axis=1))[0])

    def node_roll(self, node: int) -> NDArray[np.uint8]:
        """What the rules see of the roll at a node."""
        state = self.node_state[node]
        shown: NDArray[np.uint8] = rolls(self.game, int(self.dice[state])).shown[node - self.node_start[state]]
        return shown

    def describe_node(self, node: int) -> str:
        """A node in words."""
        state = self.node_state[node]
        where = self.game.describe_state(int(self.held[state]), int(self.dice[state]))
        return f"{where}, roll {self.game.describe_roll(self.node_roll(node))}"
