"""States, rolls and moves in words, for all nodes of a game at once."""

from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.book.table import Column, column
from stb_gym.game import rolls
from stb_gym.show import move_in_words
from stb_gym.tables import TurnTables


def states_in_words(tables: TurnTables) -> list[str]:
    """[S] every state."""
    where = zip(tables.held.tolist(), tables.dice.tolist(), strict=True)
    return [tables.game.describe_state(held, dice) for held, dice in where]


def rolls_in_words(tables: TurnTables) -> list[str]:
    """[N] the roll of every node."""
    game = tables.game
    shown = {dice: [game.describe_roll(roll) for roll in rolls(game, dice).shown] for dice in set(tables.dice.tolist())}
    return [words for dice in tables.dice.tolist() for words in shown[dice]]


def moves_in_words(tables: TurnTables, marked: NDArray[Any]) -> list[str]:
    """[D] the marked moves of every node that has a move, such as "shut 3,5 or shut 8".

    Args:
        tables: the arrays of the game.
        marked: [E] True for at least one edge of every such node.
    """
    words = [move_in_words(tables.game.describe_move(action)) for action in range(tables.actions)]
    moves = iter(tables.edge_action[marked].tolist())
    counts = np.add.reduceat(marked.astype(int), tables.edge_start[tables.decisions])
    return [" or ".join(words[action] for action in islice(moves, count)) for count in counts.tolist()]


def where(tables: TurnTables) -> dict[str, Column]:
    """The columns that say where one is, for every node that has a move."""
    states, rolled = states_in_words(tables), rolls_in_words(tables)
    at = tables.decisions.tolist()
    return {
        "state": column("", (states[tables.node_state[node]] for node in at)),
        "roll": column("", (rolled[node] for node in at)),
    }
