"""Boxes too large for tables, solved and evaluated exactly: board by board, in sweeps over rows of boards.

- `box`: the rules of Shut the Box for many boards at once; `grid`: boards in rows, and the moves between them.
- `flow`: the visits of a policy; `solution`: perfect play, and the exact distance of a policy from it.
- `strategies`: policies by name.
"""

from stb_gym.large.box import box_of, is_box
from stb_gym.large.solution import LargeEvaluation, LargeSolution, solve_large
from stb_gym.large.strategies import large_strategies, large_strategy

__all__ = ["LargeEvaluation", "LargeSolution", "box_of", "is_box", "large_strategies", "large_strategy", "solve_large"]
