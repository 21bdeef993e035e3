"""What the environments of rounds have in common: the standing beside the turn and, of one seat, its opponents."""

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from gymnasium.envs.registration import EnvSpec
from numpy.typing import NDArray

from stb_gym.envs import Stepper, StepperEnv
from stb_gym.games import IntArray
from stb_gym.rounds.opponents import SEEN, Lineup, Opponents, opponents_of
from stb_gym.rounds.rounds import Round
from stb_gym.rounds.stepping import WIN, seat_transitions


class StandingEnv(StepperEnv):
    """An environment of a round, whose players see the standing beside their turn.

    Attributes:
        round: the `Round`.
    """

    _rules: dict[str, Any]  # those of the round

    @cached_property
    def round(self) -> Round:
        """The round."""
        return Round(self.game, **self._rules)

    @property
    def _played(self) -> str:
        """The round, as snapshots say it."""
        return repr(self.round)

    def _observation_high(self) -> IntArray:
        others = self.round.players - 1
        return np.append(self.game.observation_high, [len(self.round.standings.scores), others, others])

    def _stepper_of(self, observation_dtype: str, kind: str | None) -> Stepper:
        self.objective = WIN
        return seat_transitions(self.game, observation_dtype, len(SEEN))

    def _rewards_of_endings(self) -> IntArray:
        """Return [F + 2] the place of the final score at every ending, best first; the forfeit's is the last."""
        return np.maximum(np.arange(len(self.stepper.scores)) - 1, 0)

    @cached_property
    def _width(self) -> int:
        """O, how many numbers are seen of the turn."""
        return len(self.game.observation_high)

    @abstractmethod
    def _standings(self) -> NDArray[Any]:
        """[B, 3] what players see of the others now."""

    def node(self, observation: NDArray[Any]) -> Any:
        """The node of the turn of an observation [O + 3], or the nodes [B] of a batch, as the stepper numbers them."""
        return super().node(np.asarray(observation)[..., : self._width])

    def afterstates(self, observations: NDArray[Any] | None = None) -> tuple[IntArray, IntArray, NDArray[Any]]:
        """What every legal move leads to, as `TurnEnv.afterstates` tells it; the standing stays before the dice."""
        place, action, seen = super().afterstates(observations)
        standing = self._standings() if observations is None else observations[:, self._width :]
        seen[:, self._width : -1] = standing[place]
        return place, action, seen


class SeatEnv(StandingEnv):
    """An environment of one seat of a round.

    Attributes:
        round: the `Round`.
        opponents: the `Opponents`.
    """

    _against: tuple[int | str, Lineup]  # the seat, and the opponents as they are asked for
    _place: Any

    @cached_property
    def opponents(self) -> Opponents:
        """The opponents."""
        return opponents_of(self.round, *self._against)

    def set_opponents(self, opponents: Lineup) -> None:
        """Play against others from now on, also in rounds that are under way; what players see there stays.

        Args:
            opponents: as the environment was given them; for self-play perhaps an evaluated line-up of what the player
                has come to do, see `RoundMeter.strategy`.

        Raises:
            ValueError: as where an environment is made.
        """
        self.opponents = opponents_of(self.round, self._against[0], opponents)
        if self._spec is not None:
            self._spec.reward_threshold = self.reward_threshold

    def _standings(self) -> NDArray[Any]:
        return self.opponents.seen[np.atleast_1d(self._place)]

    def _threshold_of(self, spec: EnvSpec) -> float | None:
        return self.reward_threshold

    @property
    def reward_threshold(self) -> float:
        """The mean reward of the best response to the opponents, in rounds in which the player has a turn."""
        return float(self.opponents.chance @ self.opponents.most / self.opponents.chance.sum())

    def _words(self, place: int, node: int, holders: int) -> str:
        """The standing that a player sees and, where the turn is over, how the round ends."""
        words = self.opponents.standing(place).in_words(self.game)
        return f"{words}: {_ending(holders)}" if self.stepper.ending(node) else words

    def _read_seats(self, snapshot: Mapping[str, Any], shape: tuple[int, ...]) -> list[IntArray]:
        """The standings of a snapshot and how many share the lead in the end; a ValueError if they are none."""
        return self._read(snapshot, shape, place=len(self.opponents.chance), holders=len(self.opponents.share))[1:]


def _ending(holders: int) -> str:
    if holders == 0:
        return "beaten"
    return "leads alone in the end" if holders == 1 else f"shares the lead with {holders - 1} in the end"
