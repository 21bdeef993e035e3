"""The Gymnasium environments, one turn of a game each; those of a round are in `stb_gym.rounds`.

- `stepping`: what they step through, tables of a game or, of boxes too large for these, its boards.
- `base`: what the environments have in common; `rendering`: how they look.
- `env`: one turn; `vector_env`: many turns at once; `asked`, `infos`: what these are asked for, and tell of endings.
- `wrappers`: the mask in the observation, as libraries ask for it.
- `registration`: the ids, masked ones too, and games of your own.
"""

from stb_gym.envs.asked import game_for, restore_generator
from stb_gym.envs.base import StepperEnv
from stb_gym.envs.env import TurnEnv
from stb_gym.envs.registration import (
    ENVIRONMENTS, Environment, environment_of, game_of_environment, masked_id, register_game, round_id,
)  # fmt: skip
from stb_gym.envs.registration import register_known as register_known
from stb_gym.envs.stepping import LegalMoves, Stepper, Transitions, fits_tables, stepper_of, transitions
from stb_gym.envs.vector_env import Step, TurnVectorEnv
from stb_gym.envs.wrappers import MaskInObservation, VectorMaskInObservation

__all__ = [
    "ENVIRONMENTS", "Environment", "LegalMoves", "MaskInObservation", "Step", "Stepper", "StepperEnv", "Transitions",
    "TurnEnv", "TurnVectorEnv", "VectorMaskInObservation", "environment_of", "fits_tables", "game_for",
    "game_of_environment", "masked_id", "register_game", "register_known", "restore_generator", "round_id",
    "stepper_of", "transitions",
]  # fmt: skip
