"""A demonstration of a minute: solve both games, train masked PPO, and say how close it came to perfect play."""

import sys
import time
from pathlib import Path

import torch
import tyro

from agents.config import Task
from agents.presets import read_presets
from stb_gym import GAMES, solve
from training.compare import comparison_table
from training.report import report
from training.run import Run
from training.train import train

OUT = Path("runs/demo")


def demo() -> int:
    """Solve both games, train masked PPO for a minute, and write runs/demo; returns the exit status."""
    for name, rules in GAMES.items():
        began = time.perf_counter()
        solution = solve(rules())
        milliseconds = 1000 * (time.perf_counter() - began)
        print(f"{name}: perfect play leaves {solution.value:.9f} points (compiled and solved in {milliseconds:.1f} ms)")
    config = read_presets().config("ppo", Task("stb_gym/ShutTheBox-v0"), "quick")
    print(f"training masked PPO on {config.task.env} for {config.steps:,} steps, measured exactly on the way")
    torch.set_num_threads(1)  # with one thread the demonstration gives the same result every time
    try:
        train(config, OUT, "overwrite")
    except KeyboardInterrupt:
        print(f"interrupted; the last measurement, if there was one, is in {OUT}", file=sys.stderr)
        return 130
    except (ValueError, OSError) as error:
        print(f"training.demo: {error}", file=sys.stderr)
        return 2
    print(f"\n{comparison_table(report([Run.open(OUT)], OUT))}\n")
    print(f"the report is {OUT / 'report.html'}")
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    return tyro.cli(demo, args=arguments, prog="training.demo")


if __name__ == "__main__":
    sys.exit(main())
