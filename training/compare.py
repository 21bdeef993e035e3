"""Perfect play, the scripted strategies and trained agents side by side, agents exactly or by sampled turns."""

from collections.abc import Mapping
from typing import Any

from stb_gym import strategies, strategy
from stb_gym.games import entry_of, words_of
from stb_gym.large import BoardValues, evaluate_boards
from stb_gym.output import Column, Progress, Table
from stb_gym.solver import Measured, PerfectPlay, Solution, StateScorePolicy

COLUMNS = {
    "value": "value",
    "regret": "regret",
    "standard_error": "standard error",
    "normalised_score": "normalised score",
    "agreement": "agreement",
    "agreement_by_visits": "by visits",
    "shut_probability": "",  # what the game calls it
    "illegal_mass": "illegal",
}
IN_UNIT = ("value", "regret", "standard_error")


def compare(agents: Mapping[str, Measured]) -> dict[str, Measured]:
    """Evaluations of perfect play, agents and strategies by name; after perfect play by regret, the least first.

    Args:
        agents: evaluations of agents by name, all of one game and objective.
    """
    found = scripted(next(iter(agents.values())).optimum)
    optimum = found.pop("optimum")
    by_regret = sorted([*agents.items(), *found.items()], key=lambda entry: entry[1].regret)
    return {"optimum": optimum, **dict(by_regret)}


def scripted(optimum: PerfectPlay) -> dict[str, Measured]:
    """Perfect play and the strategies of a game by name, measured exactly.

    The strategy that is perfect play for this objective is left out, and so is "optimal", another name of the one for
    the points. Of boxes too large for arrays only random play and the rules of thumb are measured.

    Args:
        optimum: what they are measured against.
    """
    game = optimum.game
    assert isinstance(optimum, Solution | BoardValues)
    best, names = (
        (StateScorePolicy(optimum.utilities_at), ["random", *entry_of(game).heuristics])
        if isinstance(optimum, BoardValues)
        else (optimum.policy, strategies(game))
    )
    same = ("optimal", f"optimal-{optimum.objective.name}")
    policies = {"optimum": best, **{name: strategy(game, name) for name in names if name not in same}}
    found = {}
    with Progress(f"strategies of {game} evaluated", len(policies)) as progress:
        for name, policy in policies.items():
            found[name] = _evaluated(optimum, policy)
            progress.tell(len(found), note=name)
    return found


def _evaluated(optimum: Solution | BoardValues, policy: Any) -> Measured:
    return evaluate_boards(optimum, policy) if isinstance(optimum, BoardValues) else optimum.evaluate(policy)


def comparison_table(evaluations: Mapping[str, Measured]) -> Table:
    """A row for each evaluation, all of one objective."""
    summaries = [{**each.summary(), "normalised_score": each.normalised_score} for each in evaluations.values()]
    optimum = next(iter(evaluations.values())).optimum
    columns = {"policy": Column("", list(evaluations))}
    for key, heading in COLUMNS.items():
        form = ".5f" if optimum.objective.unit == "points" and key in IN_UNIT else "z.3%"
        if any(key in summary for summary in summaries):
            columns[heading or words_of(optimum.game).perfection] = Column(
                form, [summary.get(key) for summary in summaries]
            )
    return Table(columns)
