"""Perfect play, the scripted strategies and trained agents side by side, all evaluated exactly."""

from collections.abc import Mapping
from typing import Any

from stb_gym import Evaluation, strategies, strategy
from stb_gym.exact import evaluate_against
from stb_gym.games import words_of
from stb_gym.output import Column, Table

COLUMNS = {
    "value": "value",
    "regret": "regret",
    "normalised_score": "normalised score",
    "agreement": "agreement",
    "agreement_by_visits": "by visits",
    "shut_probability": "perfect scores",
    "illegal_mass": "illegal",
}


def compare(agents: Mapping[str, Evaluation]) -> dict[str, Evaluation]:
    """Evaluations of perfect play, agents and strategies by name; after perfect play by regret, the least first.

    Args:
        agents: evaluations of agents by name, all of one game and objective.
    """
    optimum = next(iter(agents.values())).optimum
    game = optimum.game
    scripted = {name: evaluate_against(optimum, strategy(game, name)) for name in strategies(game)}
    by_regret = sorted([*agents.items(), *scripted.items()], key=lambda entry: entry[1].regret)
    return {"optimum": evaluate_against(optimum, optimum.policy), **dict(by_regret)}


def comparison_table(evaluations: Mapping[str, Evaluation]) -> Table:
    """A row for each evaluation, all of one objective."""
    summaries = [each.summary() for each in evaluations.values()]
    unit = next(iter(evaluations.values())).optimum.objective.unit
    columns = {"policy": Column("", list(evaluations))}
    for key, heading in COLUMNS.items():
        form = ".5f" if unit == "points" and key in ("value", "regret") else "z.3%"
        columns[heading] = Column(form, [summary[key] for summary in summaries])
    return Table("", "", columns)


def mistakes_in_words(evaluation: Evaluation, limit: int) -> list[dict[str, Any]]:
    """The dearest mistakes of a policy: the node, its move and the best one in words, and what the mistake costs."""
    tables, words = evaluation.tables, words_of(evaluation.tables.game)

    def move(action: int | None) -> str:
        return "an illegal action" if action is None else words.move_in_words(words.move(action))

    return [
        {
            "node": tables.describe_node(mistake.node),
            "plays": move(mistake.plays),
            "best": move(mistake.best),
            "loss": mistake.loss,
            "visits": mistake.visits,
            "cost": mistake.cost,
        }
        for mistake in evaluation.mistakes(limit)
    ]
