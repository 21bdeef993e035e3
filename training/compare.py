"""Perfect play, the scripted strategies and trained agents side by side, all evaluated exactly."""

from collections.abc import Mapping

from stb_gym import Evaluation, strategies, strategy
from stb_gym.exact import evaluate_against
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
