"""The Gymnasium environments, one turn of a game each.

- `stepper`: what environments step through, of one of two kinds, which `steppers` chooses.
- `transitions`: dense tables of a game, one row for each node.
- `boards`: moves worked out when they are asked for, with `cases` (what a roll allows), `sight` (what is seen),
  `endings` (what boards are worth) and `one_board` (the same for a single game).
- `base`: what the environments have in common; `rendering`: how they look.
- `env`: one turn; `vector_env`: many turns at once; `asked`, `infos`: what these are asked for, and tell of endings.
- `wrappers`: the mask in the observation, as libraries ask for it.
- `registration`: the ids, masked ones too, and games of your own.
"""

from stb_gym.envs.env import TurnEnv
from stb_gym.envs.registration import (
    ENVIRONMENTS, Environment, environment_of, game_of_environment, masked_id, register_game,
)  # fmt: skip
from stb_gym.envs.registration import register_known as register_known
from stb_gym.envs.stepper import LegalMoves, Stepper
from stb_gym.envs.steppers import stepper_of
from stb_gym.envs.transitions import Transitions, transitions
from stb_gym.envs.vector_env import TurnVectorEnv
from stb_gym.envs.wrappers import MaskInObservation, VectorMaskInObservation

__all__ = [
    "ENVIRONMENTS", "Environment", "LegalMoves", "MaskInObservation", "Stepper", "Transitions", "TurnEnv",
    "TurnVectorEnv", "VectorMaskInObservation", "environment_of", "game_of_environment", "masked_id", "register_game",
    "register_known", "stepper_of", "transitions",
]  # fmt: skip
