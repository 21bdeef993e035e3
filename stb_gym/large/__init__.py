"""Boxes too large for tables, exactly: solved and evaluated board by board, in sweeps over rows of boards.

- `boards`: Shut the Box as moves that take tiles off a board.
- `solve`: the utility of every board; `values`: an array of them.
- `evaluate`: the exact distance of a policy from perfect play; `strategies`: policies by name.
"""

from stb_gym.large.boards import Boards, BoardSums, boards_of, subset_sums
from stb_gym.large.evaluate import BoardEvaluation, evaluate_boards
from stb_gym.large.solve import BoardValues, random_value, solve_boards
from stb_gym.large.strategies import board_strategies, board_strategy


__all__ = [
    "BoardEvaluation", "BoardSums", "BoardValues", "Boards", "board_strategies", "board_strategy", "boards_of",
    "evaluate_boards", "random_value", "solve_boards", "subset_sums",
]  # fmt: skip
