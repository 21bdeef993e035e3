"""States, rolls and moves in words, for all nodes of a game at once."""

from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.exact import TurnTables
from stb_gym.games import rolls_in_words, states_in_words, words_of
from stb_gym.output import Column, column


def every_state(tables: TurnTables) -> list[str]:
    """[S] every state."""
    return states_in_words(words_of(tables.game), tables.held, tables.dice)


def every_roll(tables: TurnTables) -> list[str]:
    """[N] the roll of every node."""
    words, numbers = words_of(tables.game), tables.dice.tolist()
    shown = {dice: rolls_in_words(words, dice) for dice in set(numbers)}
    return [roll for dice in numbers for roll in shown[dice]]


def moves_in_words(tables: TurnTables, marked: NDArray[Any]) -> list[str]:
    """[D] the marked moves of every node that has a move, such as "shut 3,5 or shut 8".

    Args:
        tables: the arrays of the game.
        marked: [E] True for at least one edge of every such node.
    """
    words = words_of(tables.game)
    told = [words.move_in_words(words.move(action)) for action in range(tables.actions)]
    moves = iter(tables.edge_action[marked].tolist())
    counts = tables.reduce(np.add, marked.astype(int))
    return [" or ".join(told[action] for action in islice(moves, count)) for count in counts.tolist()]


def where(tables: TurnTables) -> dict[str, Column]:
    """The columns that say where one is, for every node that has a move."""
    states, rolled = every_state(tables), every_roll(tables)
    at = tables.decisions.tolist()
    return {
        "state": column("", (states[tables.node_state[node]] for node in at)),
        "roll": column("", (rolled[node] for node in at)),
    }


def perfect_score(tables: TurnTables) -> str:
    """The perfect score, and where the game has better ones these too: "0", or "20 or more"."""
    game = tables.game
    if tables.place_of(game.perfect_score) == 0:
        return str(game.perfect_score)
    return f"{game.perfect_score} or {'more' if game.more_is_better else 'less'}"
