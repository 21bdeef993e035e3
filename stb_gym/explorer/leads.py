"""What a final score is worth in a round of perfect players: the equilibrium, for those who play before others."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Game
from stb_gym.rounds import TIES, Round

PLAYERS = 4
RULES = ("split", "all-win")  # of those for ties, the first being the usual one here


def lead_facts() -> dict[str, Any]:
    """The rules for ties, and how many play at most."""
    return {"players": PLAYERS, "ties": {ties: TIES[ties] for ties in RULES}}


def lead_arrays(game: Game) -> dict[str, NDArray[np.float64]]:
    """For every rule for ties [PLAYERS, T, PLAYERS] what it is worth to share a lead.

    By the players still to come, by the place of the lead among all scores, and by how many have it, one to all;
    0 for more players than can be.
    """
    return {f"worth-{ties}": _worth(game, ties) for ties in RULES}


def _worth(game: Game, ties: str) -> NDArray[np.float64]:
    replies = Round(game, players=PLAYERS, ties=ties).solve().replies
    scores = len(replies[0].standings.scores)
    return np.stack([reply.worth[:-1].reshape(scores, PLAYERS) for reply in replies])
