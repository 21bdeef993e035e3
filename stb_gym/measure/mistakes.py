"""The mistakes of a policy in words."""

from typing import Any

from stb_gym.exact import Measured
from stb_gym.games import words_of


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


def dearest_in_words(evaluation: Measured) -> str:
    """The mistake that adds most to the regret, in a line; "" if there is none that a turn can meet.

    Example:
        >>> import stb_gym
        >>> game = stb_gym.ShutTheBox()
        >>> dearest_in_words(stb_gym.evaluate(game, stb_gym.strategy(game, "biggest-first")))
        'open 1,2,3,4,5,7,9, roll 6: shut 1,5 instead of shut 2,4 loses 2.07, once in 187 turns'
    """
    for it in mistakes_in_words(evaluation, 1):
        lost = f"loses {it['loss']:.3g}, once in {1 / it['visits']:,.0f} turns"
        return f"{it['node']}: {it['plays']} instead of {it['best']} {lost}"
    return ""
