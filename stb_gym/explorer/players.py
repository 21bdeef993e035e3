"""The players of a page: strategies, saved policies, and the measurements of trainings."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import entry_of
from stb_gym.measure import kept_policies, load_policies, load_policy, read_policy
from stb_gym.solver import Policy, TurnTables, edge_weights, policy_array
from stb_gym.solving import solve, strategies, strategy

OPTIMUM = "optimal"  # perfect play, which the page computes
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")  # of Okabe and Ito
DASHES = ((), (6.0, 2.0), (2.0, 1.5))  # lengths of dashes and gaps in line widths


def titles_of(names: Sequence[str]) -> dict[str, str]:
    """Return the title of each player: the name of a strategy, or the name of a file without its folders.

    The folder is added if two files share a name.

    Raises:
        ValueError: if two titles are still the same.

    Example:
        >>> titles_of(["random", "runs/a/policy.npz", "runs/b/policy.npz"])
        {'random': 'random', 'runs/a/policy.npz': 'a/policy', 'runs/b/policy.npz': 'b/policy'}
    """
    short = {name: Path(name).stem for name in names}
    count = Counter([OPTIMUM, *short.values()])
    titles = {
        name: f"{Path(name).absolute().parent.name}/{title}" if count[title] > 1 and name != title else title
        for name, title in short.items()
    }
    _check_distinct(titles.values())
    return titles


def _check_distinct(titles: Iterable[str]) -> None:
    """Raise ValueError if two players have the same title."""
    [(title, count)] = Counter(titles).most_common(1) or [("", 1)]
    if count > 1:
        raise ValueError(f"{count} players are called {title}: rename their files or folders")


def player_contents(
    tables: TurnTables, policies: Sequence[str], runs: Sequence[str]
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return what a page knows of players, for `stb_gym.explorer.page.pack`.

    Args:
        tables: the compiled game.
        policies: names of strategies or files of policies, besides the heuristics and kept policies of the game.
        runs: folders of trainings.

    Returns:
        Facts by name, and these arrays, in which a place counts the moves of a node from 0 and is -1 for an illegal
        action:

        player-n: of a policy without chance [D] the place of its move; of one with probabilities [E] those.
        run-n: [D, K] the places of the moves at each of K measurements.

    Raises:
        ValueError: if a policy or a training cannot be read or is of another game.
    """
    game = tables.game
    usual = [*entry_of(game).heuristics, *kept_policies(game), *policies]
    titles = titles_of([name for name in dict.fromkeys(usual) if name != OPTIMUM])
    trainings = [_read_training(tables, folder) for folder in runs]
    everybody = [*titles.values(), *(training["name"] for training, _ in trainings)]
    _check_distinct([OPTIMUM, *everybody])
    styles = {
        name: {"colour": COLOURS[index % len(COLOURS)], "dashes": DASHES[index // len(COLOURS) % len(DASHES)]}
        for index, name in enumerate(everybody)
    }
    descriptions = strategies(game)
    facts = {
        "optimum": {"name": OPTIMUM, "colour": "#000000", "dashes": ()},
        "players": [
            {"name": title, "how": descriptions.get(name, ""), **styles[title]} for name, title in titles.items()
        ],
        "runs": [{**training, **styles[training["name"]]} for training, _ in trainings],
    }
    arrays: dict[str, NDArray[Any]] = {}
    for number, name in enumerate(titles):
        policy = policy_array(tables, strategy(game, name) if name in descriptions else load_policy(name, game))
        weights, _ = edge_weights(tables, policy)
        arrays[f"player-{number}"] = _places(tables, policy) if policy.ndim == 1 else weights.astype(np.float32)
    for number, (_, places) in enumerate(trainings):
        arrays[f"run-{number}"] = places
    return facts, arrays


def _read_training(tables: TurnTables, folder: str) -> tuple[dict[str, Any], NDArray[np.intp]]:
    """Return the facts of a training and [D, K] the places of the moves of its K measured policies.

    Raises:
        ValueError: if the folder holds no training, one of other rules, or a damaged one.
    """
    path = Path(folder)
    if not (path / "policies.npz").exists():
        raise ValueError(f"{folder} is not the folder of a finished training: there is no policies.npz")
    saved = read_policy(path / "policy.npz")
    policies = load_policies(path / "policies.npz", tables.game, saved.illegal)
    optimum = solve(tables.game, saved.objective)
    facts = {
        "name": path.resolve().name,
        "objective": saved.objective.name,
        "steps": list(policies),
        "regret": [optimum.evaluate(policy, saved.illegal).regret for policy in policies.values()],
    }
    return facts, np.stack([_places(tables, policy) for policy in policies.values()], axis=1)


def _places(tables: TurnTables, policy: Policy) -> NDArray[np.intp]:
    """Return [D] the places of a policy's actions [N] among the moves of the nodes that have any; -1 if illegal."""
    edge = np.arange(len(tables.edge_node)) - tables.at_edges(tables.edge_start[:-1])
    chosen = tables.edge_action == tables.at_edges(np.asarray(policy))
    return tables.reduce(np.maximum, np.where(chosen, edge, -1))
