"""What environments step through: states and nodes, and where moves and throws lead from them.

- `stepper`: what a stepper is. Two kinds do the same: `transitions`, dense tables with a row for each node, and
  `boards`, which works moves out; `kinds` chooses.
- `cases`: what each roll allows on a board; `sight`: what is seen of it; `endings`: what it is worth when a turn ends.
- `one_board`: all of this for a single game.
"""

from stb_gym.envs.stepping.boards import BoardStepper, board_stepper
from stb_gym.envs.stepping.kinds import stepper_of
from stb_gym.envs.stepping.stepper import LegalMoves, Stepper
from stb_gym.envs.stepping.transitions import Transitions, fits_tables, transitions

__all__ = [
    "BoardStepper", "LegalMoves", "Stepper", "Transitions", "board_stepper", "fits_tables", "stepper_of", "transitions",
]  # fmt: skip
