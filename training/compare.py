"""Perfect play, the scripted strategies and trained agents side by side, all evaluated exactly."""

from collections.abc import Mapping

from stb_gym import STRATEGIES, Evaluation, Game, Policy, evaluate, solve, strategy
from stb_gym.show import table

COLUMNS = {
    "value": "value",
    "regret": "regret",
    "gap_closed": "gap closed",
    "agreement": "agreement",
    "agreement_by_visits": "by visits",
    "shut_probability": "chance to shut",
}


def compare(game: Game, objective: str, agents: Mapping[str, Policy]) -> dict[str, Evaluation]:
    """Evaluations by name: the optimum, then the agents and the strategies, the better before the worse."""
    policies = {**agents, **{name: strategy(game, name) for name in STRATEGIES[game.name]}}
    evaluations = {name: evaluate(game, policy, objective) for name, policy in policies.items()}
    by_regret = sorted(evaluations, key=lambda name: evaluations[name].regret)
    optimum = evaluate(game, solve(game, objective).policy, objective)
    return {"optimum": optimum, **{name: evaluations[name] for name in by_regret}}


def cells(evaluation: Evaluation) -> dict[str, str]:
    """The columns of a table for an evaluation, in words."""
    numbers = evaluation.summary()
    points = evaluation.optimum.objective.unit == "points"
    return {
        title: f"{numbers[key]:.5f}" if points and key in ("value", "regret") else f"{numbers[key]:z.3%}"
        for key, title in COLUMNS.items()
    }


def comparison_table(evaluations: Mapping[str, Evaluation]) -> str:
    """The table as text."""
    return table(
        [("policy", *COLUMNS.values()), *((name, *cells(each).values()) for name, each in evaluations.items())]
    )
