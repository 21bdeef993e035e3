"""Show where the remaining regret lies: `python -m training.experiments.mistakes POLICIES... [--out FILE.png]`.

    regret = sum over nodes of visits(node) x loss(node)

A mistake that costs little is a near tie (small loss) or rare (few visits); a learner gets little to learn from either.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from stb_gym.measure import read_policy
from stb_gym.output import Column, Table, say, write_aside
from stb_gym.plots import COLOURS
from stb_gym.solver import Evaluation
from training.commands import run_command

NEAR = 0.01  # a near tie loses less than this share of the regret of random play
RARE = 0.001  # a rare node has fewer expected visits per turn
AREA = 1000.0  # of a point that is the whole regret, in square points of print
GROUPS = ("near tie, rare", "near tie, often", "clear, rare", "clear, often")


def mistakes(*policies: str, out: Path = Path("runs/mistakes.png")) -> None:
    """Print the shares of near ties, rare nodes and clear mistakes in the regret of policies, and draw the mistakes.

    Args:
        policies: folders of runs, policy files, or names of saved policies.
        out: the picture.
    """
    if not policies:
        raise ValueError("name at least one policy")
    evaluations = {policy: read_policy(policy).evaluate() for policy in policies}
    shares = np.array([shares_of_groups(evaluation) for evaluation in evaluations.values()])
    columns = {
        "policy": Column("", list(evaluations)),
        "regret": Column(".6f", [evaluation.regret for evaluation in evaluations.values()]),
    }
    say(Table(columns | {name: Column(".1%", shares[:, place].tolist()) for place, name in enumerate(GROUPS)}))
    draw_mistakes(out, evaluations)


def shares_of_groups(evaluation: Evaluation) -> NDArray[np.float64]:
    """Return [4] the shares of GROUPS in the regret; 0 if there is none."""
    cost = evaluation.visits * evaluation.loss
    group = 2 * (evaluation.loss >= near_tie(evaluation)) + (evaluation.visits >= RARE)
    return np.bincount(group, cost, len(GROUPS)) / (cost.sum() or 1.0)


def near_tie(evaluation: Evaluation) -> float:
    """Return the loss below which a mistake is a near tie."""
    return NEAR * abs(evaluation.random_value - float(evaluation.optimum.value))


def draw_mistakes(path: Path, evaluations: Mapping[str, Evaluation]) -> None:
    """Draw a panel for each policy: a point for each mistake, whose area is its share of the regret.

    Args:
        path: the PNG to write.
        evaluations: evaluations by name.
    """
    figure = Figure(figsize=(4.2 * len(evaluations), 4.2), layout="constrained")
    panels: Any = figure.subplots(1, len(evaluations), sharex=True, sharey=True, squeeze=False).flat
    for axes, (name, evaluation) in zip(panels, evaluations.items(), strict=True):
        cost = evaluation.visits * evaluation.loss
        shown = cost > 1e-4 * evaluation.regret
        area = AREA * cost[shown] / cost.sum()
        axes.scatter(evaluation.visits[shown], evaluation.loss[shown], area, COLOURS[0], alpha=0.6, linewidths=0)
        axes.axvline(RARE, color="grey", linestyle=":", linewidth=1)
        axes.axhline(near_tie(evaluation), color="grey", linestyle=":", linewidth=1)
        axes.set(xscale="log", yscale="log", title=f"{name}: regret {evaluation.regret:.2g}")
        axes.margins(0.15)
    figure.supxlabel("expected visits per turn (area: share of the regret)", fontsize=10)
    figure.supylabel("loss (in the unit of the objective)", fontsize=10)
    with write_aside(path) as aside:
        figure.savefig(aside, dpi=130, metadata={"Software": None})


if __name__ == "__main__":
    sys.exit(run_command("training.experiments.mistakes", mistakes, None))
