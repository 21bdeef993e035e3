"""Plots of exact results, for notebooks and papers. Needs matplotlib: `pip install "stb-gym[plots]"`.

Every function takes results of the library and returns the matplotlib `Axes` it drew on. Pass `ax` to draw on axes of
your own; otherwise the function creates a figure, as `move_tree` always does. Series differ in colour and also in
marker or line style. Titles, limits and saving are up to you:

    >>> import stb_gym, stb_gym.plots
    >>> game = stb_gym.ShutTheBox()
    >>> biggest = stb_gym.evaluate(game, stb_gym.strategy(game, "biggest-first"))
    >>> ax = stb_gym.plots.departures(biggest, limit=5)
    >>> ax.get_xlabel()
    'loss (points)'
    >>> title = ax.set_title("Where the biggest tiles are the wrong choice")

`import stb_gym` does not import this module.
"""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stb_gym.arguments import checked
from stb_gym.checks import check_integer
from stb_gym.games import dice_in_words
from stb_gym.rounds import RoundEvaluation
from stb_gym.solver import Branch, Evaluation, Measured, Solution

try:
    import matplotlib.pyplot as plt
    from cycler import cycler
    from matplotlib.axes import Axes
    from matplotlib.ticker import MaxNLocator
except ImportError as error:
    raise ImportError('stb_gym.plots needs matplotlib: pip install "stb-gym[plots]"') from error

# The palette of Okabe and Ito, "Color universal design" (2008), strongest contrast with white paper first.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINESTYLES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (4, 1)), (0, (1, 1)), (0, (8, 2, 1, 2)))


@checked
def afterstate_values(
    solution: Solution, x: ArrayLike | None = None, where: ArrayLike | None = None, ax: Axes | None = None
) -> Axes:
    """Scatter the value of each afterstate; afterstates that throw different numbers of dice have different markers.

    Args:
        solution: the solved game with Y afterstates.
        x: [Y] numbers for the x axis, which you then label; by default the points of each afterstate.
        where: [Y] bool, True for the afterstates to draw; by default all of them.
        ax: the axes to draw on.

    Returns:
        The axes, values in the unit of the objective.
    """
    tables = solution.tables
    position = tables.final_score if x is None else np.asarray(x)
    chosen = np.ones(tables.num_afterstates, np.bool_) if where is None else np.asarray(where, np.bool_)
    if position.shape != chosen.shape or chosen.shape != tables.final_score.shape:
        raise ValueError(f"x and where must have an entry for each of {tables.num_afterstates} afterstates")
    series = {}
    for dice in np.unique(tables.dice[chosen])[::-1].tolist():
        afterstates = chosen & (tables.dice == dice)
        values = solution.afterstate_values[afterstates].astype(float)
        series[dice_in_words(dice) if dice else "turn over"] = position[afterstates], values
    xlabel = "points of the afterstate" if x is None else ""
    return _draw_lines(series, ax, xlabel, f"value ({solution.objective.unit})", linestyle="", alpha=0.7)


@checked
def score_distribution(evaluations: Mapping[str, Measured], cumulative: bool = False, ax: Axes | None = None) -> Axes:
    """Plot the probability of each final score, a line per policy.

    Args:
        evaluations: the evaluation of each policy, by the name for the legend.
        cumulative: plot the probability of at most each score instead, as steps.
        ax: the axes to draw on.

    Returns:
        The axes, final scores ascending on x and probabilities on y.
    """
    scores = sorted({score for evaluation in evaluations.values() for score in evaluation.score_distribution})
    series = {}
    for name, evaluation in evaluations.items():
        chances = np.array([evaluation.score_distribution.get(score, 0.0) for score in scores])
        series[name] = scores, chances.cumsum() if cumulative else chances
    ylabel = "probability of at most this score" if cumulative else "probability"
    style = {"drawstyle": "steps-post", "marker": ""} if cumulative else {}
    return _draw_lines(series, ax, "final score (points)", ylabel, **style)


@checked
def departures(evaluation: Evaluation, limit: int = 15, ax: Axes | None = None) -> Axes:
    """Draw a bar for each of the decisions where the policy's move loses most, however rarely play reaches them.

    Args:
        evaluation: the evaluated policy.
        limit: the greatest number of bars.
        ax: the axes to draw on. A figure with layout="constrained" makes room for the labels.

    Returns:
        The axes, the greatest loss at the top, in the unit of the objective.
    """
    check_integer("limit", limit, 1, sys.maxsize)
    rows = evaluation.departures()
    losses = rows["loss"][:limit]
    ax = _axes(ax, f"loss ({evaluation.optimum.objective.unit})", "", width=8, height=1 + 0.28 * len(losses))
    words = zip(rows["afterstate"], rows["roll"], rows["plays"], rows["best"], strict=True)
    labels = [f"{where}, roll {roll}: {plays} instead of {best}" for where, roll, plays, best in words][:limit]
    bars = ax.barh(range(len(losses)), losses, color=COLOURS[0])
    ax.bar_label(bars, fmt="{:#.3g}", padding=3, fontsize="small")
    ax.set_yticks(range(len(losses)), labels, fontsize="small")
    ax.margins(x=0.15, y=0.01)
    ax.invert_yaxis()
    return ax


@checked
def move_tree(branch: Branch) -> Axes:
    """Draw a tree of moves and rolls, a line for each branch, in a figure that grows with the tree.

    Optimal moves are blue. Other moves are orange and state their loss. Rolls are black and state their probability.
    Every branch ends with its value.

    Args:
        branch: the root, from `stb_gym.solver.move_tree`.

    Returns:
        The axes, without frame: x is the depth of a branch, y its line.
    """

    def lines(branch: Branch, depth: int) -> Iterator[tuple[int, Branch]]:
        """Yield a branch and all branches below it, each after its depth."""
        yield depth, branch
        for below in branch.branches:
            yield from lines(below, depth + 1)

    branches = [*lines(branch, 0)]
    figure = plt.figure(figsize=(6.4, 0.2 * len(branches)), facecolor="white")
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(-0.5, 16), ylim=(len(branches) - 0.5, -0.5))
    ax.set_axis_off()
    for row, (depth, each) in enumerate(branches):
        colour = "black"
        if each.loss is not None:
            colour = COLOURS[1] if each.loss else COLOURS[0]
        ax.text(depth, row, each.line, size=10, color=colour, va="center")
    return ax


@checked
def regret_curves(curves: Mapping[str, Any], ax: Axes | None = None) -> Axes:
    """Plot regret against environment steps on logarithmic axes, a line per agent.

    Args:
        curves: (steps [K], regrets [K]) by the name for the legend, or the `curve` of a `RegretCallback`. A regret of 0
            leaves the plot at the bottom; what was measured before the first step is left out.
        ax: the axes to draw on.

    Returns:
        The axes, regrets in the unit that you pass.
    """
    series = dict(curves)
    for name, curve in curves.items():
        if isinstance(curve, list):  # pairs of steps and summaries
            series[name] = [steps for steps, _ in curve], [summary["regret"] for _, summary in curve]
    ax = _draw_lines(series, ax, "environment steps", "regret")
    ax.set_xscale("log", nonpositive="mask")
    ax.set_yscale("log")
    return ax


@checked
def round_chances(round_evaluation: RoundEvaluation, ax: Axes | None = None) -> Axes:
    """Plot the chance that a player who leads alone is not beaten, a line per number of players still to come.

    Args:
        round_evaluation: an evaluated round, such as its equilibrium, of two players or more.
        ax: the axes to draw on.

    Returns:
        The axes, the leading score on x and probabilities on y.
    """
    leads = round_evaluation.rules.scores_so_far.scores
    series = {str(after): (leads, chances) for after, chances in enumerate(round_evaluation.survival[1:], 1)}
    ax = _draw_lines(series, ax, "lead (points)", "probability that the lead is not beaten")
    ax.legend(title="players after", frameon=False)
    return ax


@checked
def seat_chances(round_evaluations: Mapping[str, RoundEvaluation], ax: Axes | None = None) -> Axes:
    """Plot the expected win of each seat, a line per round.

    Args:
        round_evaluations: evaluated rounds, such as equilibria, by the name for the legend.
        ax: the axes to draw on.

    Returns:
        The axes, the seats from 1 in turn order on x. The y axis need not begin at 0.
    """
    series = {name: (1 + np.arange(len(each.seats)), each.seats) for name, each in round_evaluations.items()}
    ax = _draw_lines(series, ax, "seat", "expected win (probability)")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    return ax


def _axes(ax: Axes | None, xlabel: str, ylabel: str, width: float = 6.4, height: float = 4) -> Axes:
    """Label `ax`, or the axes of a new white figure of width x height inches, and draw a light grid."""
    ax = ax or plt.subplots(figsize=(width, height), facecolor="white", layout="constrained")[1]
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.grid(alpha=0.25)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _draw_lines(
    series: Mapping[str, tuple[ArrayLike, ArrayLike]], ax: Axes | None, xlabel: str, ylabel: str, **style: Any
) -> Axes:
    """Plot a line of markers for each series (x, y), and a legend if there are several."""
    ax = _axes(ax, xlabel, ylabel)
    ax.set_prop_cycle(cycler(color=COLOURS) + cycler(marker=MARKERS) + cycler(linestyle=LINESTYLES))
    for name, (x, y) in series.items():
        (line,) = ax.plot(x, y, linewidth=1.2, label=name, **style)
        line.set(markersize=4.5, markeredgecolor="black", markeredgewidth=0.4)
    if len(series) > 1:
        ax.legend(frameon=False)
    return ax
