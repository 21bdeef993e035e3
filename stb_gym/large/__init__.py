"""Boxes too large for tables, solved and evaluated exactly: board by board, in sweeps over rows of boards.

- `boards`: the rules of Shut the Box for many boards at once; `grid`: boards in rows, and the moves between them.
- `solve`: the utility of every board under perfect play.
- `evaluate`: the exact distance of a policy from perfect play; `strategies`: policies by name.
"""

from stb_gym.large.boards import boards_of
from stb_gym.large.evaluate import BoardEvaluation, evaluate_boards
from stb_gym.large.solve import BoardValues, solve_boards
from stb_gym.large.strategies import board_strategies, board_strategy

__all__ = [
    "BoardEvaluation", "BoardValues", "board_strategies", "board_strategy", "boards_of", "evaluate_boards",
    "solve_boards",
]  # fmt: skip
