"""Shut the Box and Threes for reinforcement learning, with the exact optimum to measure agents against.

Make an environment with `gymnasium.make("stb_gym/ShutTheBox-v0")`; `ENVIRONMENTS` lists the ids.
Solve a game with `solve`, measure a policy with `evaluate`, and measure an agent with `RegretMeter`.
Test your own learning code with the package `check`.
Everything else is in the packages: `games`, `solver`, `large`, `envs`, `measure`, `rounds`, `terminal`, `explorer`, in
the module `text` for language models, and in the modules `plots`, `sb3` and `pettingzoo`, which need other libraries.

Example:
    >>> import gymnasium as gym
    >>> import stb_gym
    >>> env = gym.make("stb_gym/ShutTheBox-v0")
    >>> meter = stb_gym.RegretMeter(env)
    >>> def lowest_legal_action(observations, masks):
    ...     return masks.argmax(axis=1)
    >>> round(meter(lowest_legal_action).regret, 4)
    12.9927
"""

from importlib import import_module
from typing import Any

from stb_gym import envs, games, large, measure, rounds, solver
from stb_gym.envs import ENVIRONMENTS, MaskInObservation
from stb_gym.games import Game, ShutTheBox, Threes
from stb_gym.measure import (
    RecordRegret,
    RecordVisits,
    RegretMeter,
    VectorRecordRegret,
    VectorRecordVisits,
    compare,
    diagnose,
    hardness,
    bundled_policies,
    load_policy,
    save_policy,
    simulate,
)
from stb_gym.registration import register_game
from stb_gym.solver import Objective, certify
from stb_gym.solving import evaluate, solve, strategies, strategy

__version__ = "0.1.0"

__all__ = [
    "ENVIRONMENTS",
    "Game",
    "MaskInObservation",
    "Objective",
    "RecordRegret",
    "RecordVisits",
    "RegretMeter",
    "ShutTheBox",
    "Threes",
    "VectorRecordRegret",
    "VectorRecordVisits",
    "bundled_policies",
    "certify",
    "compare",
    "diagnose",
    "envs",
    "evaluate",
    "games",
    "hardness",
    "large",
    "load_policy",
    "measure",
    "register_game",
    "rounds",
    "save_policy",
    "simulate",
    "solve",
    "solver",
    "strategies",
    "strategy",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import packages that few programs need, some of which need other libraries, when they are first used."""
    if name in ("check", "explorer", "pettingzoo", "plots", "sb3", "terminal", "text"):
        return import_module(f"stb_gym.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
