"""The arrays of a game as a page needs them to solve it and to walk through it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import rolls
from stb_gym.solver import TurnTables


def graph_facts(tables: TurnTables) -> dict[str, Any]:
    """Where a turn begins, its final scores, best first, and the numbers of dice that are thrown."""
    game = tables.game
    return {
        "start": tables.start,
        "scores": tables.scores.tolist(),
        "sign": game.sign,
        "perfect": game.perfect_score,
        "faces": game.faces,
        "throws": thrown(tables),
    }


def graph_arrays(tables: TurnTables) -> dict[str, NDArray[Any]]:
    """The states, nodes and edges; nodes follow in the order of their states, edges in that of their nodes.

    Returns:
        dice, score: [S] the dice to be thrown, and where the final score is among all scores.
        choices: [N] how many edges each node has.
        next: [E] the state each edge leads to, which is solved before its own.
        counts-d, throws-d: for every number of dice d, [R] how many throws give each roll and [faces**d] which roll.
    """
    arrays = {
        "dice": tables.dice,
        "score": tables.score_index,
        "choices": tables.choices,
        "next": tables.edge_next,
    }
    for dice in thrown(tables):
        known = rolls(tables.game, dice)
        arrays |= {f"counts-{dice}": known.counts, f"throws-{dice}": known.of_throw}
    return arrays


def thrown(tables: TurnTables) -> list[int]:
    """The numbers of dice that a state may throw, 0 among them where turns end without dice."""
    return np.unique(tables.dice).tolist()
