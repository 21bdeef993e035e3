"""Shut the Box and Threes for reinforcement learning, with the exact optimum to measure agents against."""

from stb_gym import games, large
from stb_gym.games import Game, ShutTheBox, Threes, register_game
from stb_gym.solver import Objective, certify
from stb_gym.solving import evaluate, solve, strategies, strategy

__version__ = "0.1.0"

__all__ = [
    "Game", "Objective", "ShutTheBox", "Threes", "certify", "evaluate", "games", "large", "register_game", "solve",
    "strategies", "strategy",
]  # fmt: skip
