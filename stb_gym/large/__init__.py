"""Boxes too large for arrays, exactly: all that is done board by board, in sweeps over rows of boards.

- `rows`: boards in rows and columns, and the moves between them.
- `solving`: the utility of every board; `strategies`: strategies by name.
- `evaluation`: the exact distance of a policy from perfect play, by way of `ranks`, which boards it prefers, and
  `flow`, how often it comes where.
"""

from stb_gym.large.evaluation import BoardEvaluation, evaluate_boards
from stb_gym.large.solving import random_value, solve_boards
from stb_gym.large.strategies import board_strategies, board_strategy

__all__ = [
    "BoardEvaluation", "board_strategies", "board_strategy", "evaluate_boards", "random_value", "solve_boards",
]  # fmt: skip
