"""A demonstration of three minutes on one core: agents learn nine tiles, and their exact regret is printed.

Tabular learners come first and take seconds. Then the networks learn: masked PPO and DQN of `agents`, and the agents
of stable-baselines3 and sb3-contrib with their default settings. Each network has about the same processor time.
"""

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from agents.common import Learner
from agents.presets import TASKS, configure
from stb_gym import RegretMeter, strategy
from stb_gym.output import Column, Progress, Table, say

STEPS = {  # on one core, seconds for tables and about half a minute for each network
    "q-learning": 2_000_000,
    "tabular-afterstates": 2_000_000,
    "certainty-equivalence": 2_000_000,
    "ppo": 1_000_000,
    "dqn": 700_000,
    "sb3-ppo": 24_576,
    "sb3-dqn": 28_000,
    "sb3-maskable-ppo": 18_432,
}
BASELINES = ("random", "biggest-first")
COMMENT = """
Regret is what the greedy policy loses to perfect play, in points per turn, computed exactly. The networks from ppo on
learned for about the same processor time on one core, so the number of steps differs. Agents that start with sb3 are
those of stable-baselines3 and sb3-contrib, with their default settings; sb3-ppo and sb3-dqn see no action masks."""


class Row(NamedTuple):
    """A row of the table.

    Attributes:
        agent: the name of an agent.
        steps: how many steps it learned; None for a strategy that does not learn.
        seconds: the processor time of learning; None likewise.
        regret: its exact regret.
    """

    agent: str
    steps: int | None
    seconds: float | None
    regret: float


def main(words: list[str] | None = None) -> int:
    """Run the demonstration and return its exit status: 130 after ctrl-C, otherwise 0."""
    argparse.ArgumentParser(prog="training.demo", description=__doc__).parse_args(words)
    torch.set_num_threads(1)
    env, arguments = TASKS["nine-tiles"]
    meter = RegretMeter(configure("ppo", env, arguments).game(), illegal="end")
    say(f"Shut the Box with nine tiles: perfect play leaves {meter.solution.value:.6f} points on average.\n")
    rows = [Row(name, None, None, meter.solution.evaluate(strategy(meter.game, name)).regret) for name in BASELINES]
    status = 0
    try:
        for algorithm, steps in STEPS.items():
            config = configure(algorithm, env, arguments, "quick", steps=steps)
            rows.append(learned(algorithm, config.make_learner(config.make_envs()), steps, meter))
            say(f"{algorithm}: regret {rows[-1].regret:.5f} after {rows[-1].seconds:.0f} seconds", error=True)
    except KeyboardInterrupt:
        say("training.demo: interrupted; the table has the agents so far", error=True)
        status = 130
    columns = {
        "agent": Column("", [row.agent for row in rows]),
        "steps": Column(",d", [row.steps for row in rows]),
        "seconds": Column(".1f", [row.seconds for row in rows]),
        "exact regret": Column(".5f", [row.regret for row in rows]),
    }
    say(Table(columns))
    say(COMMENT)
    return status


def learned(name: str, learner: Learner, steps: int, meter: RegretMeter) -> Row:
    """Let an agent learn, with progress on standard error, and measure its greedy policy.

    Args:
        name: the name of the agent.
        learner: the agent.
        steps: how many steps it learns.
        meter: measures it.
    """
    began = time.process_time()
    with Progress(name, steps, "steps") as progress:
        learner.learn(steps, lambda: progress.tell(learner.num_steps))
    seconds = time.process_time() - began
    return Row(name, learner.num_steps, seconds, meter(greedy(learner)).regret)


def greedy(learner: Learner) -> Callable[..., Any]:
    """Return the agent that always plays the learner's most probable action."""
    return lambda observations, masks: learner.probabilities(observations, masks).argmax(axis=1)


if __name__ == "__main__":
    sys.exit(main())
