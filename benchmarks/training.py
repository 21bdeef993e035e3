"""Training masked PPO, environments and network updates together, in one thread of torch."""

from collections.abc import Iterator

import gymnasium as gym
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv

from agents.config import Task
from agents.ppo import MaskedPPO, PPOSettings
from agents.presets import read_presets
from benchmarks.timing import Comparison, Timer, timer

ENV = "stb_gym/ShutTheBox-v0"
ROUNDS = 3


def training() -> Iterator[Comparison]:
    """Steps of all environments together in a second of `learn`.

    First against sb3-contrib's PPO with all its defaults (64 by 64 units, batches of 64, 10 passes) on 8 single
    environments. Then, for information, against the same with our sizes on as many single environments: that ratio is
    what the vector environment and the policy over nodes gain, and the rest of the first one is due to the sizes.
    """
    torch.set_num_threads(1)
    config = read_presets().config("ppo", Task(ENV))
    settings, ours = config.settings, config.learner()
    assert isinstance(settings, PPOSettings)
    assert isinstance(ours, MaskedPPO)
    defaults = MaskablePPO("MlpPolicy", _single_envs(8), seed=0, device="cpu")
    same_sizes = MaskablePPO(
        "MlpPolicy",
        _single_envs(settings.num_envs),
        n_steps=settings.n_steps,
        batch_size=settings.batch_size,
        n_epochs=settings.n_epochs,
        policy_kwargs={"net_arch": [settings.width, settings.width]},
        seed=0,
        device="cpu",
    )
    for peer, learner, least_ratio in (
        ("sb3 defaults, DummyVecEnv", defaults, 8.0),
        ("our sizes, DummyVecEnv", same_sizes, None),
    ):
        yield Comparison("train PPO", "steps/s", _update(ours), peer, _update(learner), least_ratio, rounds=ROUNDS)


def _single_envs(count: int) -> DummyVecEnv:
    return DummyVecEnv([lambda: gym.make(ENV)] * count)


def _update(learner: MaskablePPO) -> Timer:
    """One round of play and the update after it."""
    steps = learner.n_steps * learner.n_envs
    return timer(lambda _: learner.learn(steps), units=steps)
