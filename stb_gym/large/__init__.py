"""Boxes too large for tables, solved and evaluated exactly: board by board, in sweeps over rows of boards.

- `boards`: the rules of Shut the Box for many boards at once; `grid`: boards in rows, and the moves between them.
- `solve`: the utility of every board under perfect play.
- `evaluate`: the exact distance of a policy from perfect play; `strategies`: policies by name.
"""

from stb_gym.large.box import box_of
from stb_gym.large.evaluate import LargeEvaluation, evaluate_large
from stb_gym.large.solve import LargeSolution, solve_large
from stb_gym.large.strategies import large_strategies, large_strategy

__all__ = [
    "LargeEvaluation",
    "LargeSolution",
    "box_of",
    "evaluate_large",
    "large_strategies",
    "large_strategy",
    "solve_large",
]  # fmt: skip
