"""Whose moves a page knows: strategies, saved policies, and the measurements of trainings."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import entry_of
from stb_gym.measure import kept_policies, load_policies, load_policy, read_policy
from stb_gym.solver import Policy, TurnTables, edge_weights, solve, strategies, strategy

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")  # Okabe and Ito, for the colour-blind
DASHES = ((), (6.0, 2.0), (2.0, 1.5))  # lengths of dashes and gaps in line widths; () is solid
OPTIMUM = "optimal"  # who plays perfectly for whatever the page is asked for, and is worked out there


@dataclass(frozen=True)
class History:
    """A training as a page shows it.

    Attributes:
        name: that of its folder.
        objective: the name of what it is measured by.
        regret: [K] of its greedy policy at every measurement.
        steps: [K] when it was measured.
        places: [D, K] the moves of that policy, see `places`.
    """

    name: str
    objective: str
    steps: list[int]
    regret: list[float]
    places: NDArray[np.intp]


def player_names(tables: TurnTables, more: Iterable[str]) -> list[str]:
    """The rules of thumb and the kept policies of a game, and more: names of strategies, files of policies."""
    usual = [*entry_of(tables.game).rules_of_thumb, *kept_policies(tables.game)]
    return [name for name in dict.fromkeys([*usual, *more]) if name != OPTIMUM]


def titles_of(names: Sequence[str]) -> dict[str, str]:
    """What players are called, by the names they were asked for by: a file by its own name, or its folder's, too.

    Raises:
        ValueError: if two are called the same even so.

    Example:
        >>> titles_of(["random", "runs/a/policy.npz", "runs/b/policy.npz"])
        {'random': 'random', 'runs/a/policy.npz': 'a/policy', 'runs/b/policy.npz': 'b/policy'}
    """
    short = {name: Path(name).stem for name in names}
    again = {title for title, times in Counter([OPTIMUM, *short.values()]).items() if times > 1}
    titles = {
        name: f"{Path(name).absolute().parent.name}/{title}" if title in again and name != title else title
        for name, title in short.items()
    }
    check_apart(titles.values())
    return titles


def check_apart(titles: Iterable[str]) -> None:
    """Raise a ValueError if two players or trainings are called the same."""
    for title, times in Counter(titles).items():
        if times > 1:
            raise ValueError(f"{times} players are called {title}: give their files or folders other names")


def player_facts(tables: TurnTables, names: list[str], histories: list[History]) -> dict[str, Any]:
    """The names, colours and dashes of all players; the steps and the regrets of trainings."""
    known = strategies(tables.game)
    titles = titles_of(names)
    check_apart([OPTIMUM, *titles.values(), *(each.name for each in histories)])
    shown: dict[str, Any] = {OPTIMUM: {"colour": "#000000", "dashes": ()}}
    for place, name in enumerate(dict.fromkeys([*titles.values(), *(each.name for each in histories)])):
        dashes = DASHES[place // len(COLOURS) % len(DASHES)]
        shown[name] = {"colour": COLOURS[place % len(COLOURS)], "dashes": dashes}
    return {
        "optimum": {"name": OPTIMUM, **shown[OPTIMUM]},
        "players": [{"name": titles[name], "how": known.get(name, ""), **shown[titles[name]]} for name in names],
        "runs": [
            {
                "name": each.name,
                "objective": each.objective,
                "steps": each.steps,
                "regret": each.regret,
                **shown[each.name],
            }
            for each in histories
        ],
    }


def player_arrays(tables: TurnTables, names: list[str], histories: list[History]) -> dict[str, NDArray[Any]]:
    """By player [D] the places of the moves or, of one who plays by chance, [E] their probabilities; by run [D, K]."""
    plays = {f"player-{number}": _plays(tables, _policy(tables, name)) for number, name in enumerate(names)}
    return plays | {f"run-{number}": each.places for number, each in enumerate(histories)}


def read_history(tables: TurnTables, folder: str) -> History:
    """The training in a folder.

    Raises:
        ValueError: if the folder holds no training, one of other rules, or a damaged one.
    """
    path = Path(folder)
    if not (path / "policies.npz").exists():
        raise ValueError(f"{folder} is no run, or not a whole one: there is no policies.npz")
    saved = read_policy(path / "policy.npz")
    policies = load_policies(path / "policies.npz", tables.game, saved.illegal)
    optimum = solve(tables.game, saved.objective)
    regret = [optimum.evaluate(policy, saved.illegal).regret for policy in policies.values()]
    moves = np.stack([places(tables, policy) for policy in policies.values()], axis=1)
    return History(path.resolve().name, saved.objective.name, list(policies), regret, moves)


def places(tables: TurnTables, policy: Policy) -> NDArray[np.intp]:
    """[D] the places of a policy's actions [N] among the moves of the nodes that have any, -1 where one is illegal."""
    edge = np.arange(len(tables.edge_node)) - tables.at_edges(tables.edge_start[:-1])
    chosen = tables.edge_action == tables.at_edges(np.asarray(policy))
    return tables.reduce(np.maximum, np.where(chosen, edge, -1))


def _policy(tables: TurnTables, name: str) -> Policy:
    game = tables.game
    return strategy(game, name) if name in strategies(game) else load_policy(name, game)


def _plays(tables: TurnTables, policy: Policy) -> NDArray[Any]:
    return places(tables, policy) if policy.ndim == 1 else edge_weights(tables, policy).astype(np.float32)
