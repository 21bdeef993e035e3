"""A demonstration: both games are solved, learners without a network come close to perfect play, and masked PPO does.

What stands here needs the library alone and takes seconds; a minute of PPO follows where the laboratory is installed.
"""

import argparse
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import gymnasium as gym

from agents.learner import Learner
from agents.limit import Limit, LimitSettings
from agents.tabular import TabularSettings, make_afterstates, make_q_learning
from stb_gym import RegretMeter, solve, strategy
from stb_gym.games import GAMES
from stb_gym.output import Column, Table, say

ENV = "stb_gym/ShutTheBox-v0"
STEPS = (10_000, 100_000, 1_000_000)
NUM_ENVS = 256
TABULAR = TabularSettings(NUM_ENVS, exploration=0.15, horizon=10.0)
LEARNERS: dict[str, Callable[[Any], Learner]] = {
    "Q-learning": lambda envs: make_q_learning(envs, TABULAR, seed=0),
    "afterstates": lambda envs: make_afterstates(envs, TABULAR, seed=0),
    "limit": lambda envs: Limit(envs, LimitSettings(NUM_ENVS, exploration=0.15, shared_dice=False), seed=0),
}


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    argparse.ArgumentParser(prog="training.demo", description=__doc__).parse_args(arguments)
    solved()
    say(f"\npoints lost by the greedy policies of learners on {ENV}, computed exactly\n")
    say(f"{learned(STEPS)}\n")
    say("Q-learning and afterstates have tables; the limit counts the rolls, and plays the counted game perfectly")
    try:
        ppo = import_module("training.demo_ppo")
    except ModuleNotFoundError as error:
        say(f"\nmasked PPO would follow, but needs {error.name}: make demo TORCH=cpu, or pip install --group lab")
        return 0
    status: int = ppo.demo(ENV)
    return status


def solved() -> None:
    """Say what perfect play of every game is worth."""
    for name, rules in GAMES.items():
        began = time.perf_counter()
        solution = solve(rules())
        milliseconds = 1000 * (time.perf_counter() - began)
        say(f"{name}: perfect play leaves {solution.value:.9f} points (compiled and solved in {milliseconds:.1f} ms)")


def learned(numbers: tuple[int, ...]) -> Table:
    """The exact regret of every learner after numbers of steps, below that of two that do not learn."""
    meter = RegretMeter(gym.make(ENV))
    regrets: dict[str, list[float]] = {}
    for name, make in LEARNERS.items():
        learner = make(gym.make_vec(ENV, NUM_ENVS, autoreset_mode="SameStep"))
        regrets[name] = []
        for steps in numbers:
            learner.learn_until(steps, lambda: None)
            regrets[name].append(meter(greedy(learner)).regret)
    fixed = {name: meter.solution.evaluate(strategy(meter.game, name)).regret for name in ("random", "biggest-first")}
    columns = {"steps": Column("", [*fixed, *(f"{steps:,}" for steps in numbers)])}
    return Table(columns | {name: Column(".5f", [*fixed.values(), *found]) for name, found in regrets.items()})


def greedy(learner: Learner) -> Callable[..., object]:
    """What a learner does when it does not explore, as a meter takes it."""
    return lambda observations, masks: learner.probabilities(observations, masks).argmax(axis=1)


if __name__ == "__main__":
    sys.exit(main())
