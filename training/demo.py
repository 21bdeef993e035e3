"""A demonstration of less than three minutes: agents learn nine tiles on one core, and their exact regret is printed.

Tabular learners come first and take seconds. Then the networks learn: masked PPO and DQN of `agents`, and the agents
of stable-baselines3 and sb3-contrib with their default settings. Each network has about the same processor time.
"""

import sys
import time
from functools import partial

import torch

from agents.presets import TASKS, configure
from stb_gym import strategy
from stb_gym.console import say
from stb_gym.solving import solve
from stb_gym.tracking import ProgressBar
from training.commands import run_command
from training.measurement import measure

STEPS = {  # a second for tables, and 15 to 30 for each network
    "q-learning": 1_000_000,
    "tabular-afterstates": 1_000_000,
    "certainty-equivalence": 1_000_000,
    "ppo": 300_000,
    "dqn": 200_000,
    "sb3-ppo": 6_144,
    "sb3-dqn": 8_000,
    "sb3-maskable-ppo": 6_144,
}
BASELINES = ("random", "biggest-first")
COMMENT = """
Regret is what the greedy policy loses to perfect play, in points per turn, computed exactly. The networks from ppo on
learned for about the same processor time on one core, so the number of steps differs. Agents that start with sb3 are
those of stable-baselines3 and sb3-contrib, with their default settings; sb3-ppo and sb3-dqn see no action masks."""


def demo() -> None:
    """Let agents learn nine tiles, and print their exact regret."""
    torch.set_num_threads(1)
    optimum = solve(configure("ppo", *TASKS["nine-tiles"]).game())
    say(f"Shut the Box with nine tiles: perfect play leaves {optimum.value:.6f} points on average.\n")
    say(f"{'agent':<24}{'steps':>10}{'seconds':>10}{'exact regret':>15}")
    for name in BASELINES:
        say(f"{name:<44}{optimum.evaluate(strategy(optimum.game, name)).regret:>15.5f}")
    for algorithm, steps in STEPS.items():
        say(learned(algorithm, steps))
    say(COMMENT)


def learned(algorithm: str, steps: int) -> str:
    """Let an agent learn nine tiles; return its row of the table."""
    config = configure(algorithm, *TASKS["nine-tiles"], "quick", steps=steps)
    learner = config.make_learner(config.make_envs())
    began = time.process_time()
    with ProgressBar(algorithm, steps, "steps") as bar:
        learner.learn(config.steps, lambda: bar.tell(learner.num_steps))
    seconds = time.process_time() - began
    regret = measure(config, learner).greedy.regret
    return f"{algorithm:<24}{learner.num_steps:>10,}{seconds:>10.1f}{regret:>15.5f}"


main = partial(run_command, "training.demo", demo)


if __name__ == "__main__":
    sys.exit(main())
