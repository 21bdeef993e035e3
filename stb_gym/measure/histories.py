"""The greedy policies of all measurements of a run in one file, some ten kilobytes of it on nine tiles.

An .npz of two arrays: `steps` [K], when each was measured, and `actions` [D, K], what it does at each node at which
something is to be decided. The actions at a node are neighbours: as most never change, they take little room.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from stb_gym.games import Game
from stb_gym.measure.archive import LARGEST, read_array
from stb_gym.output import write_aside
from stb_gym.solver import Policy, compile_game, edge_weights_and_forfeits


def save_policies(path: Path, game: Game, policies: Mapping[int, Policy]) -> None:
    """Write policies, whole or not at all.

    Args:
        path: the file.
        game: the rules.
        policies: actions [N] by the steps after which they were measured.
    """
    decisions = compile_game(game).decisions
    actions = np.stack([policy[decisions] for policy in policies.values()], axis=1)
    with write_aside(path) as aside, aside.open("wb") as file:
        np.savez_compressed(file, steps=list(policies), actions=actions.astype(np.min_scalar_type(actions.max())))


def load_policies(path: Path, game: Game, illegal: str) -> dict[int, Policy]:
    """Read what `save_policies` wrote; nothing in the file is executed.

    Args:
        path: the file.
        game: the rules that the policies must be of.
        illegal: "raise" refuses policies that take an illegal action, "end" lets it end the turn.

    Raises:
        ValueError: if the file is missing or damaged, or holds no policies of this game.
    """
    try:
        steps, actions = (read_array(path, name, LARGEST) for name in ("steps", "actions"))
    except FileNotFoundError:
        raise ValueError(f"there is no {path}") from None
    except Exception:  # a damaged archive fails in a dozen ways
        raise ValueError(f"{path} is no file of policies, or is damaged") from None
    tables = compile_game(game)
    if (
        (steps is None or actions is None)
        or (steps.dtype.kind, steps.ndim, actions.dtype.kind) != ("i", 1, "u")
        or actions.shape != (len(tables.decisions), len(steps))
        or not len(steps)
        or (np.diff(steps, prepend=-1) <= 0).any()
    ):
        raise ValueError(f"{path} does not hold policies of {game}")
    policies = np.zeros((len(steps), tables.nodes), np.int64)
    policies[:, tables.decisions] = actions.T
    try:
        for policy in policies:
            edge_weights_and_forfeits(tables, policy, illegal)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return dict(zip(steps.tolist(), policies, strict=True))
