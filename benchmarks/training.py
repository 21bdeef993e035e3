"""Training masked PPO, environments and network updates together, in one thread of torch."""

from collections.abc import Iterator

import gymnasium as gym
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv

from agents.config import Config, Task
from agents.ppo import PPOSettings
from agents.presets import read_presets
from benchmarks.timing import Comparison, Timer, timer

ENV = "stb_gym/ShutTheBox-v0"
STEPS = 10_000_000
ROUNDS = 3


def training() -> Iterator[Comparison]:
    """Steps of all environments together in a second of learning, with the settings of a training of ten million.

    First against sb3-contrib's PPO with all its defaults (64 by 64 units, batches of 64, 10 passes) on 8 single
    environments. Then, for information, against the same with our sizes, layer normalisation and vector environment:
    that ratio is what computing equal rows once gains, and the rest of the first one is due to the others.
    """
    torch.set_num_threads(1)
    ours = read_presets().config("ppo", Task(ENV), steps=STEPS)
    settings = ours.settings
    assert isinstance(settings, PPOSettings)
    sizes = {name: getattr(settings, name) for name in ("num_envs", "n_steps", "n_epochs", "minibatches", "width")}
    tuned = read_presets().config("sb3-maskable-ppo-tuned", Task(ENV), changes=sizes)
    steps = settings.num_envs * settings.n_steps
    for peer, theirs, least_ratio in (
        ("sb3 defaults, DummyVecEnv", _defaults(), 8.0),
        ("sb3 with our sizes, TurnVecEnv", _update(tuned, steps), None),
    ):
        yield Comparison("train PPO", "steps/s", _update(ours, steps), peer, theirs, least_ratio, rounds=ROUNDS)


def _update(config: Config, steps: int) -> Timer:
    """One round of play of a learner and the update after it; `steps` are those of a rollout."""
    learner = config.learner()
    return timer(lambda _: learner.learn_until(learner.num_timesteps + steps, lambda: None), units=steps)


def _defaults() -> Timer:
    """The same of the library's agent on 8 environments."""
    learner = MaskablePPO("MlpPolicy", DummyVecEnv([lambda: gym.make(ENV)] * 8), seed=0, device="cpu")
    steps = learner.n_steps * learner.n_envs
    return timer(lambda _: learner.learn(steps), units=steps)
