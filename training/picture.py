"""Draw how runs of one agent come to perfect play, beside random play and one greedy step."""

from collections.abc import Iterable
from pathlib import Path

from matplotlib.figure import Figure

from stb_gym.files import write_aside
from stb_gym.plots import regret_curves
from training.compare import baselines
from training.results import by_task, curve_over_seeds, read_measurements

PICTURE = "curve.png"  # in the folder of the first run
MARKED = {"random": ":", "greedy-step": "--"}  # baselines and their line styles


def draw_runs(folders: Iterable[Path], path: Path) -> None:
    """Draw the median regret of runs and its interval against steps, on logarithmic axes.

    Args:
        folders: finished runs of one configuration, which differ by their seeds.
        path: the PNG.
    """
    [(task, measurements)] = by_task(read_measurements(folders)).values()
    curve = curve_over_seeds(measurements, task.metric)
    figure = Figure((7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    regret_curves({measurements["algorithm"].iloc[0]: (curve["steps"], curve["median"])}, axes)
    axes.fill_between(curve["steps"], curve["low"], curve["high"], alpha=0.2)
    known = baselines(task) if task.metric == "regret" else {}
    for name, style in MARKED.items():
        if name in known:
            axes.axhline(known[name].regret, color="grey", linestyle=style, label=name)
    axes.set_ylabel(task.heading)
    axes.legend(frameon=False)
    with write_aside(path) as aside:
        figure.savefig(aside, format="png", dpi=120)
