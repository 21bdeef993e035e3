"""Where the remaining regret lies: `python -m training.mistakes POLICY... --out PICTURE`.

    regret = sum over positions of how often a turn meets the position x what the choice there loses

What a learner still gets wrong is nearly as good as what is best, or it is hardly ever asked; either way there is
little to learn it from. The picture shows which of them it is, choice by choice.
"""

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tyro
from matplotlib.figure import Figure
from numpy.typing import NDArray

from stb_gym import solve
from stb_gym.games import IntArray
from stb_gym.measure import SavedPolicy, read_policy
from stb_gym.output import Column, Table, say
from stb_gym.solver import Evaluation
from training.arguments import answer, answered, read_arguments
from training.palette import colour_of
from training.plots import save

NEAR = 0.01  # a near tie loses less than this share of what random play loses in a turn
RARE = 0.001  # a rare position is met less often in a turn
PANELS = 2  # in a row
WHOLE = 1000.0  # area of a point that is all of the regret, in square points of print
LEAST = 0.1  # area of the smallest point that can be seen
GREY = "#8a8a8a"
GROUPS = ("near tie, rare", "near tie, often", "clear, rare", "clear, often")


@dataclass(frozen=True)
class Arguments:
    """Show for each policy which choices still lose something: how often they are made, and what they lose."""

    policies: tyro.conf.Positional[tuple[str, ...]]
    """Folders of runs, policy files, or names of kept policies; all of one game and objective."""
    out: Path = Path("runs/mistakes.png")
    """The picture."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = read_arguments(Arguments, arguments, "training.mistakes")

    def work() -> None:
        evaluations = evaluations_of(options.policies)
        plot_mistakes(options.out, evaluations)
        answer(mistakes_table(evaluations))
        say(f"the picture is {options.out}", error=True)

    return answered("training.mistakes", work)


def evaluations_of(policies: tuple[str, ...]) -> dict[str, Evaluation]:
    """The evaluations of policies by name: that of its folder or file, or all of its path where two are alike.

    Raises:
        ValueError: if there is no policy, one is missing or damaged, or they are not of one game and objective.
    """
    if not policies:
        raise ValueError("name at least one policy")
    saved = {policy: _read(Path(policy)) for policy in policies}
    first = saved[policies[0]]
    for policy, each in saved.items():
        if (each.game, each.objective) != (first.game, first.objective):
            raise ValueError(f"{policy} is not of the same game and objective as {policies[0]}")
    optimum = solve(first.game, first.objective)
    short = {policy: path.name if (path := Path(policy).resolve()).is_dir() else path.stem for policy in saved}
    names = short if len(set(short.values())) == len(short) else {policy: policy for policy in saved}
    return {names[policy]: optimum.evaluate(each.policy, each.illegal) for policy, each in saved.items()}


def _read(path: Path) -> SavedPolicy:
    return read_policy(path / "policy.npz" if path.is_dir() else path)


class Mistakes(NamedTuple):
    """The M choices of a policy that lose something.

    Attributes:
        visits: [M] how often a turn comes there.
        loss: [M] what the choice loses, in the objective's unit.
        near: what a near tie loses less than.
    """

    visits: NDArray[np.float64]
    loss: NDArray[np.float64]
    near: float

    @staticmethod
    def of(evaluation: Evaluation) -> "Mistakes":
        """Those of a policy."""
        lost = (evaluation.visits * evaluation.loss).nonzero()
        near = NEAR * abs(evaluation.random_value - evaluation.optimum.value)
        return Mistakes(evaluation.visits[lost], evaluation.loss[lost], near)

    @property
    def shares(self) -> NDArray[np.float64]:
        """[M] the share of the regret."""
        cost = self.visits * self.loss
        return cost / cost.sum()

    @property
    def drawn(self) -> IntArray:
        """The choices that add enough to be seen."""
        return np.flatnonzero(self.shares * WHOLE >= LEAST)

    def by_group(self) -> NDArray[np.float64]:
        """[4] the shares of GROUPS; all 0 if nothing is lost."""
        group = 2 * (self.loss >= self.near) + (self.visits >= RARE)
        return np.asarray(np.bincount(group, self.shares, len(GROUPS)), np.float64)


def mistakes_table(evaluations: Mapping[str, Evaluation]) -> Table:
    """A row for each policy: its regret, how many choices lose it, and the shares of GROUPS."""
    mistakes = [Mistakes.of(each) for each in evaluations.values()]
    shares = np.array([each.by_group() for each in mistakes])
    columns = {
        "policy": Column("", list(evaluations)),
        "regret": Column(".6f", [each.regret for each in evaluations.values()]),
        "mistakes": Column("d", [len(each.loss) for each in mistakes]),
    }
    return Table(columns | {name: Column(".1%", shares[:, place].tolist()) for place, name in enumerate(GROUPS)})


def plot_mistakes(path: Path, evaluations: Mapping[str, Evaluation]) -> None:
    """Draw a panel for each policy, all with the same axes.

    A point is a choice that loses something; its area is its share of the regret. All points on a grey line add as much
    to the regret; dotted lines part near ties and rare positions from the others, whose shares stand in the corners.

    Args:
        path: the PNG to write.
        evaluations: of the policies by name, all of one game and objective.
    """
    mistakes = [Mistakes.of(each) for each in evaluations.values()]
    columns, rows = min(len(mistakes), PANELS), -(-len(mistakes) // PANELS)
    figure = Figure(figsize=(4.2 * columns, 1.0 + 3.2 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flat
    window = _window(mistakes)
    for name, each, axes in zip(evaluations, mistakes, grid, strict=False):
        axes.set(**window, xscale="log", yscale="log")
        axes.set_title(f"{name}: regret {evaluations[name].regret:.2g}", fontsize=10)
        _draw_lines(axes, each.near)
        _draw_shares(axes, each)
        area = WHOLE * each.shares[each.drawn]
        axes.scatter(each.visits[each.drawn], each.loss[each.drawn], area, colour_of(name), alpha=0.6, linewidths=0)
    for axes in grid:
        axes.remove()
    unit = next(iter(evaluations.values())).optimum.objective.unit
    how = "area: share of the regret, equal along grey lines"
    figure.supxlabel(f"how often a turn comes to the position\n({how})", fontsize=10)
    figure.supylabel(f"what the choice there loses ({unit})", fontsize=10)
    save(path, figure)


def _window(mistakes: list[Mistakes]) -> dict[str, tuple[float, float]]:
    """Limits of axes that show all points and the lines between the groups."""
    visits = np.concatenate([[RARE], *(each.visits[each.drawn] for each in mistakes)])
    loss = np.concatenate([[mistakes[0].near], *(each.loss[each.drawn] for each in mistakes)])
    return {"xlim": (visits.min() / 4, visits.max() * 4), "ylim": (loss.min() / 5, loss.max() * 5)}


def _draw_lines(axes: Any, near: float) -> None:
    """Draw the lines of equal contributions, powers of ten with their names at the edge, and those between groups."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    top = high**0.9 * low**0.1  # below the shares
    for exponent in range(math.ceil(math.log10(left * low)), math.ceil(math.log10(right * high))):
        cost = 10.0**exponent
        axes.plot([left, right], [cost / left, cost / right], color=GREY, linewidth=0.5, alpha=0.6, zorder=0)
        begin = (cost / top, top) if cost > left * top else (left, cost / left)
        name = {"color": GREY, "fontsize": 7, "annotation_clip": True}
        axes.annotate(f"$10^{{{exponent}}}$", begin, xytext=(2, 1), textcoords="offset points", **name)
    axes.axvline(RARE, color=GREY, linestyle=":", linewidth=1)
    axes.axhline(near, color=GREY, linestyle=":", linewidth=1)


def _draw_shares(axes: Any, mistakes: Mistakes) -> None:
    """Write the share of every group into its corner."""
    corners = [(0.02, 0.02), (0.98, 0.02), (0.02, 0.98), (0.98, 0.98)]
    for name, share, (x, y) in zip(GROUPS, mistakes.by_group(), corners, strict=True):
        how = {"ha": ("left", "right")[round(x)], "va": ("bottom", "top")[round(y)], "fontsize": 8}
        paper = {"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.8}
        axes.annotate(f"{share:.0%} {name}", (x, y), xycoords="axes fraction", bbox=paper, **how)


if __name__ == "__main__":
    sys.exit(main())
