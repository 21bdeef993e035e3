"""The picture of the README: how near agents come to perfect play on nine tiles, drawn of docs/results.

It is drawn again, in some seconds, by

    python -m docs.curves
"""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, FuncFormatter, NullLocator

import stb_gym
from training.ledger import Ledger
from training.palette import colour_of, styles_of
from training.plots import save
from training.statistics import interquartile_interval, interquartile_mean

DOCS = Path(__file__).parent
TASK, THUMB = "nine-tiles", "fewest-then-biggest"
AGENTS = {
    "masked DQN": "dqn",
    "masked PPO": "ppo",
    "limit": "limit",
    "stock DQN": "sb3-dqn",
    "stock PPO": "sb3-ppo",
    "stock MaskablePPO": "sb3-maskable-ppo",
}
LINEAR = 1e-4  # below it the axis is linear, so that it has a 0
BESIDE: dict[str, Any] = {"xytext": (5, 0), "textcoords": "offset points", "va": "center", "fontsize": 10}

# What would be hidden at the right end of its line: to the left of its beginning, or below.
ELSEWHERE: dict[str, tuple[int, dict[str, Any]]] = {
    "limit": (0, {"xytext": (-5, 0), "ha": "right"}),
    "stock MaskablePPO": (-1, {"xytext": (-5, -14)}),
}


def curves_of(algorithm: str) -> tuple[np.ndarray, np.ndarray]:
    """[P] the steps and [R, P] the regrets of all seeds of an algorithm, after the start."""
    ledger = Ledger(DOCS / "results")
    runs = [name for name, row in ledger.rows.items() if (row.task, row.agent) == (TASK, algorithm)]
    curves = [ledger.curves[run][1:] for run in runs]
    steps = np.array([point.steps for point in curves[0]])
    return steps, np.array([[point.regret for point in curve] for curve in curves])


def draw(path: Path) -> None:
    """Draw the interquartile means over seeds with their 95 % intervals, a rule of thumb, and the 0 of perfect play."""
    figure = Figure(figsize=(8, 4.4), layout="constrained")
    axes = figure.add_subplot()
    for name, style in styles_of(AGENTS).items():
        steps, regrets = curves_of(AGENTS[name])
        mean = interquartile_mean(regrets)
        axes.plot(steps, mean, color=style.colour, linestyle=style.linestyle, linewidth=2)
        axes.fill_between(steps, *interquartile_interval(regrets), color=style.colour, alpha=0.2, linewidth=0)
        place, beside = ELSEWHERE.get(name, (-1, {}))
        axes.annotate(name, (steps[place], mean[place]), color=style.colour, **{**BESIDE, **beside})
    game = stb_gym.ShutTheBox()
    thumb = stb_gym.evaluate(game, stb_gym.strategy(game, THUMB)).regret
    for level, words, above in ((thumb, f"{THUMB}, a rule of thumb", 8), (0, "0 = perfect play", 9)):
        axes.axhline(level, color=colour_of("optimal" if level == 0 else THUMB), linewidth=3 if level == 0 else 1.5)
        axes.annotate(
            words, (0.99, level), xycoords=("axes fraction", "data"), ha="right", **{**BESIDE, "xytext": (0, above)}
        )
    axes.set_yscale("symlog", linthresh=LINEAR, linscale=0.6)
    axes.set(xscale="log", xlabel="steps", ylabel="points lost in a turn, exactly", xlim=(2e3, 2e9), ylim=(-2e-5, 60))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda level, _: f"{level:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    save(path, figure)


if __name__ == "__main__":
    draw(DOCS / "curves.png")
