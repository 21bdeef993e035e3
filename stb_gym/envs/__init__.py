"""The Gymnasium environments of one turn of a game; those of rounds are in `stb_gym.rounds`.

- `env`: one turn; `vector_env`: many turns at once; `rendering`: text, pictures and the window.
- `table_stepper`: moves and throws looked up in tables; `large_stepper`: computed, for boxes too large for tables.
- `wrappers`: the action mask in the observation, under the names that libraries expect.
- `registration`: the ids.
"""

from stb_gym.envs.env import LARGEST_SEED, StepperEnv, TurnEnv, game_for, options_of, stepper_of
from stb_gym.envs.registration import (
    ENVIRONMENTS,
    Environment,
    environment_of,
    game_of_environment,
    masked_id,
    register,
)
from stb_gym.envs.table_stepper import Stepper, TableStepper
from stb_gym.envs.vector_env import Step, TurnVectorEnv
from stb_gym.envs.wrappers import MaskInObservation, VectorMaskInObservation

__all__ = [
    "ENVIRONMENTS", "LARGEST_SEED", "Environment", "MaskInObservation", "Step", "Stepper", "StepperEnv", "TableStepper",
    "TurnEnv", "TurnVectorEnv", "VectorMaskInObservation", "environment_of", "game_for",
    "game_of_environment", "masked_id", "options_of", "register", "stepper_of",
]  # fmt: skip
