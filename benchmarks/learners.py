"""The processor time until learners come to a regret on nine tiles, beside a tuned MaskablePPO of sb3-contrib.

Each round is another seed. Measurements of the regret are not timed. A learner that does not come to the regret within
the steps of its variant has an infinite time.
"""

import itertools
import time
from collections.abc import Iterator
from math import inf
from typing import Any

import torch

from agents.presets import TASKS, configure
from benchmarks.timing import Comparison, Timer
from training.measurement import measure

VARIANTS = {0.1: "1m", 0.03: "10m"}  # by the regret
OURS = ("ppo", "fitted-q", "afterstates")
MEASUREMENTS = 100  # in a training


def learners() -> Iterator[Comparison]:
    """Yield comparisons of the time until each regret in VARIANTS."""
    for regret, variant in VARIANTS.items():
        tuned = until(regret, "sb3-maskable-ppo-tuned", variant=variant)
        for name in OURS:
            ours = until(regret, name, variant=variant)
            yield Comparison(f"{name} until regret {regret}", ours, "tuned MaskablePPO", tuned, 3)


def until(regret: float, algorithm: str, **options: Any) -> Timer:
    """Return a timer of a training on one core until its exact regret is at most `regret`.

    Args:
        regret: in points.
        algorithm: a name as `training.train` takes it.
        options: options of `agents.presets.configure`.
    """
    seeds = itertools.count()

    def seconds() -> float:
        torch.set_num_threads(1)
        config = configure(algorithm, *TASKS["nine-tiles"], seed=next(seeds), **options)
        learner = config.make_learner(config.make_envs())
        measured, measuring = 0, 0.0
        began = time.process_time()

        def check() -> None:
            nonlocal measured, measuring
            due = learner.num_steps * MEASUREMENTS // config.steps
            if due == measured:
                return
            measured, start = due, time.process_time()
            found = measure(config, learner).greedy.regret
            measuring += time.process_time() - start
            if found <= regret:
                raise _ReachedError

        try:
            learner.learn(config.steps, check)
            check()
        except _ReachedError:
            return time.process_time() - began - measuring
        return inf

    return seconds


class _ReachedError(Exception):
    """The regret was reached."""
