"""The Gymnasium environments of one turn of a game; those of rounds are in `stb_gym.rounds`.

- `table_stepper`: moves and throws looked up in tables.
- `env`: one turn; `vector_env`: many turns at once; `base`: what both share.
- `large_stepper`: moves and throws computed, for boxes too large for tables.
- `rendering`: text, pictures and the window.
- `representations`: other observations of the same positions.
- `wrappers`: the action mask in the observation, under the names that libraries expect.
- `registration`: the ids, and what `gym.make` calls.
"""

from stb_gym.envs.base import LARGEST_SEED, LastStep, game_for, options_of
from stb_gym.envs.env import TurnEnv
from stb_gym.envs.registration import (
    ENVIRONMENTS,
    Environment,
    environment_of,
    game_of_environment,
    make_turn,
    make_turns,
    masked_id,
    register,
    stepper_of,
)
from stb_gym.envs.representations import REPRESENTATIONS, RepresentObservation, VectorRepresentObservation
from stb_gym.envs.table_stepper import Stepper, TableStepper
from stb_gym.envs.vector_env import Step, TurnVectorEnv
from stb_gym.envs.wrappers import MaskInObservation, VectorMaskInObservation

__all__ = [
    "ENVIRONMENTS", "LARGEST_SEED", "REPRESENTATIONS", "Environment", "LastStep", "MaskInObservation",
    "RepresentObservation", "Step", "Stepper", "TableStepper", "TurnEnv", "TurnVectorEnv", "VectorMaskInObservation",
    "VectorRepresentObservation", "environment_of", "game_for", "game_of_environment", "make_turn", "make_turns",
    "masked_id", "options_of", "register", "stepper_of",
]  # fmt: skip
