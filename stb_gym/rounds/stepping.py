"""What a round is stepped through: the tables of the turn, with room for the standing beside what is seen of it."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.envs import Transitions, transitions
from stb_gym.games import Game, IntArray, kept
from stb_gym.solver import Objective, objective_of


def _worth(final_score: IntArray) -> NDArray[Any]:
    raise ValueError("what a score wins in a round depends on the others: measure agents with stb_gym.RoundMeter(env)")


WIN = Objective("win", _worth, "probability")  # which says so to who would solve or measure a turn for itself


@dataclass(frozen=True, eq=False, repr=False)
class SeatTransitions(Transitions):
    """The tables of a turn in which a turn is worth what it leaves, as the round has still to say what that wins.

    Attributes:
        observation: [N + 1, O + K] what the player sees of the turn, and zeros for what is seen of the others.
        reward: [N + 1] where the turn is over the place of the final score, best first; after all the forfeit's.
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
    turn = transitions(game, objective_of(game, "score"), observation_dtype)
    place = turn.tables.place_of(turn.final_score) * turn.over
    place[turn.forfeit] = len(turn.tables.scores)
    known = {each.name: getattr(turn, each.name) for each in fields(turn)}
    observation = np.pad(turn.observation, ((0, 0), (0, room)))
    return SeatTransitions(**{**known, "observation": observation, "reward": place})
