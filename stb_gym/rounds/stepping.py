"""What a round is stepped through: the tables of the turn, with room for the standing beside what is seen of it."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.envs import TableStepper, table_stepper
from stb_gym.games import Game, IntArray, kept
from stb_gym.solver import Objective


def _worth(final_score: IntArray) -> NDArray[Any]:
    raise ValueError("what a score wins in a round depends on the others: measure agents with stb_gym.RoundMeter(env)")


WIN = Objective("win", _worth, "probability")  # which says so to who would solve or measure a turn for itself


@dataclass(eq=False, repr=False)
class SeatTransitions(TableStepper):
    """The tables of a turn in which a turn is worth what it leaves, as the round has still to say what that wins.

    Attributes:
        observation: [N + 1, O + K] what the player sees of the turn, and zeros for what is seen of the others.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        room = self.observation.shape[1] - self.tables.observation.shape[1]
        return seat_transitions, (self.game, self.observation.dtype.name, room)


@kept(mebibytes=256)
def seat_transitions(game: Game, observation_dtype: str, room: int) -> SeatTransitions:
    """The tables of a game with room for so many numbers; made once, and kept for the next call.

    Raises:
        ValueError: if the tables would be too large, naming rules that fit.
    """
    turn = table_stepper(game, observation_dtype)
    known = {each.name: getattr(turn, each.name) for each in fields(turn)}
    observation = np.pad(turn.observation, ((0, 0), (0, room)))
    return SeatTransitions(**{**known, "observation": observation})
