"""The mistakes of a policy in words."""

from typing import Any

from stb_gym.games import words_of
from stb_gym.solver import Measured


def mistakes_in_json(evaluation: Measured, limit: int) -> list[dict[str, Any]]:
    """The dearest mistakes of a policy, ready for JSON: the node, what it plays and what is best, and the numbers."""
    words = words_of(evaluation.optimum.game)
    return [
        {
            "node": evaluation.describe_node(mistake.node),
            "plays": None if mistake.plays is None else words.move(mistake.plays),
            "best": words.move(mistake.best),
            "visits": mistake.visits,
            "loss": mistake.loss,
            "cost": mistake.cost,
        }
        for mistake in evaluation.mistakes(limit)
    ]


def mistakes_in_words(evaluation: Measured, limit: int) -> list[dict[str, Any]]:
    """The same with the moves in words."""
    words = words_of(evaluation.optimum.game)
    return [
        {
            **found,
            "plays": "an illegal action" if found["plays"] is None else words.move_in_words(found["plays"]),
            "best": words.move_in_words(found["best"]),
        }
        for found in mistakes_in_json(evaluation, limit)
    ]
