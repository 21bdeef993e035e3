"""The Gymnasium environments of one turn of a game; those of rounds are in `stb_gym.rounds`.

- `env`: one turn; `vector_env`: many turns at once; `base`: what they share; `rendering`: how they look.
- `table_stepper`: moves and throws looked up in tables; `large_stepper`: worked out, for boxes too large for tables.
- `wrappers`: the mask in the observation, as libraries ask for it.
- `registration`: the ids.
"""

from stb_gym.envs.base import StepperEnv, game_for, restore_generator, stepper_of
from stb_gym.envs.env import TurnEnv
from stb_gym.envs.registration import (
    ENVIRONMENTS,
    Environment,
    environment_of,
    game_of_environment,
    masked_id,
    register,
)
from stb_gym.envs.table_stepper import LegalMoves, Stepper, TableStepper, fits_tables, table_stepper
from stb_gym.envs.vector_env import Step, TurnVectorEnv
from stb_gym.envs.wrappers import MaskInObservation, VectorMaskInObservation

__all__ = [
    "ENVIRONMENTS", "Environment", "LegalMoves", "MaskInObservation", "Step", "Stepper", "StepperEnv", "TableStepper",
    "TurnEnv", "TurnVectorEnv", "VectorMaskInObservation", "environment_of", "fits_tables", "game_for",
    "game_of_environment", "masked_id", "register", "restore_generator", "stepper_of", "table_stepper",
]  # fmt: skip
