"""The second part of the demonstration: masked PPO learns for a minute, and a report says how close it came."""

from pathlib import Path

import torch
from agents.config import Task

from agents.presets import read_presets
from stb_gym.output import refuse, say
from training.compare import comparison_table
from training.report import report
from training.run import Run
from training.train import train

OUT = Path("runs/demo")


def demo(env: str) -> int:
    """Train masked PPO for a minute, and write runs/demo; returns the exit status."""
    config = read_presets().config("ppo", Task(env), "quick")
    say(f"\ntraining masked PPO on {env} for {config.steps:,} steps, measured exactly on the way")
    torch.set_num_threads(1)  # with one thread the demonstration gives the same result every time
    try:
        train(config, OUT, "overwrite")
    except KeyboardInterrupt:
        say(f"interrupted; the last measurement, if there was one, is in {OUT}", error=True)
        return 130
    except (ValueError, OSError) as error:
        return refuse("training.demo", error)
    say(f"\n{comparison_table(report([Run.open(OUT)], OUT))}\n")
    say(f"the report is {OUT / 'report.html'}")
    return 0
