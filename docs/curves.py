"""Draw the picture of the README from docs/results/curves.csv.gz: `python -m docs.curves`.

It shows how close agents come to perfect play on nine tiles, for light and for dark pages.
"""

from pathlib import Path

from training.compare import baselines
from training.report import draw_curves
from training.results import by_agent, by_task, curve_over_seeds, read_measurements

DOCS = Path(__file__).parent
RESULTS = DOCS / "results" / "curves.csv.gz"
TASK = "nine-tiles"
LEARNERS = ("afterstates", "certainty-equivalence", "fitted-q", "ppo", "dqn")
OF_THE_LIBRARY = ("sb3-maskable-ppo-tuned", "sb3-maskable-ppo", "sb3-ppo", "sb3-dqn")
AGENTS = tuple(f"{name}, 1m" for name in LEARNERS + OF_THE_LIBRARY)  # all with a million steps
BASELINES = ("random", "fewest-then-biggest", "greedy-step")


def draw(folder: Path, results: Path = RESULTS) -> None:
    """Write curves.png and curves-dark.png into a folder.

    Args:
        folder: the folder.
        results: a results file with runs of all AGENTS on nine tiles.
    """
    task, measurements = by_task(read_measurements([results]))[TASK]
    runs = by_agent(measurements)
    curves = {name: curve_over_seeds(runs[name], task.metric) for name in AGENTS}
    evaluations = baselines(task)
    regrets = {name: evaluations[name].regret for name in BASELINES}
    for name, dark in (("curves.png", False), ("curves-dark.png", True)):
        draw_curves(folder / name, curves, regrets, task.heading, dark=dark)


if __name__ == "__main__":
    draw(DOCS)
