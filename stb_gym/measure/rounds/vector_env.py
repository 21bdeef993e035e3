"""Many rounds at once, one seat of each, as a Gymnasium vector environment."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from stb_gym.envs import TurnVectorEnv, VectorMaskInObservation
from stb_gym.games import Game, IntArray
from stb_gym.measure.rounds.opponents import Lineup
from stb_gym.measure.rounds.seat import SeatEnv

Step = tuple[NDArray[Any], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class RoundVectorEnv(SeatEnv, TurnVectorEnv):
    """`num_envs` rounds at once, as `gym.make_vec` makes them; see `RoundEnv`, and `TurnVectorEnv` for its ways.

    Infos tell `holders` [B], too, in steps that end a round.

    Attributes:
        round: the `Round`.
        opponents: the `Opponents`, with the exact chances from which is drawn.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> envs = gym.make_vec("stb_gym/ThreesRound-v0", num_envs=4096, players=5, opponents="approximation")
        >>> envs.reset(seed=0)[0].shape
        (4096, 10)
    """

    def __init__(
        self,
        game: Game | str,
        num_envs: int = 1,
        players: int = 2,
        seat: int | str = "drawn",
        opponents: Lineup = "optimal",
        ties: str = "split",
        shut_wins: bool = False,
        indifferent: str = "fewer",
        illegal: str = "end",
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        *,
        observation_dtype: Any = "uint8",
        max_episode_steps: int | None = None,
        **rules: Any,
    ):
        self._asked = players, seat, opponents, ties, shut_wins, indifferent
        super().__init__(
            self._game_of(game, rules),
            num_envs,
            "score",
            illegal,
            render_mode,
            autoreset_mode,
            observation_dtype=observation_dtype,
            max_episode_steps=max_episode_steps,
        )
        self._seen = self.opponents.seen.T.astype(self._observation_dtype)
        self._place: IntArray = np.zeros(num_envs, np.int64)
        self._luck, self._sees = np.zeros(num_envs), self._seen.take(self._place, axis=1)
        self._ended = np.zeros(num_envs, np.bool_)  # by the last step, where the next one begins a new round

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin all rounds, or those of `options["reset_mask"]`, or where `options` says; see `RoundEnv`.

        Raises:
            ValueError: if `options` names no position of the game or no standing, or one without a legal move, if the
                mask is none or chooses no game, or the seeds are not as many as the games.
        """
        where, named = self.opponents.named(options or {})
        observation, infos = super().reset(seed=seed, options=where)
        begun = np.flatnonzero(infos["_action_mask"])
        if named is not None:
            self._sit(begun, named)
        self._ended[begun] = False
        return self._with(observation, self._sees), infos

    def step(self, actions: Any) -> Step:
        """Make a move in every game and throw again; when a turn is over, so is the round.

        Raises:
            ValueError: if an action is outside the action space, or is illegal and `illegal` is "raise".
            RuntimeError: before the first reset, or if a game is over and the autoreset mode is DISABLED.
        """
        place, luck, sees = self._place, self._luck, self._sees
        if self.autoreset_mode == AutoresetMode.SAME_STEP:  # which draws new ones before the old ones are read
            self._place, self._luck, self._sees = place.copy(), luck.copy(), sees.copy()
        observation, score, over, truncated, infos = super().step(actions)
        if self.autoreset_mode == AutoresetMode.NEXT_STEP:
            if np.count_nonzero(self._ended):
                self._sit(self._ended.nonzero()[0], self.opponents.first)
            self._ended = over | truncated
        reward = np.zeros(self.num_envs)
        if np.count_nonzero(over):
            (games,) = over.nonzero()
            holders = np.zeros(self.num_envs, np.int64)
            scores = score.take(games).astype(np.int64)
            holders[games] = shared = self.opponents.holders(place.take(games), scores, luck.take(games))
            reward[games] = self.opponents.share.take(shared)
            infos.get("final_info", infos).update(holders=holders, _holders=over.copy())
        if "final_obs" in infos:
            infos["final_obs"] = self._with(infos["final_obs"], sees)
        return self._with(observation, self._sees), reward, over, truncated, infos

    def _with(self, observation: NDArray[Any], sees: NDArray[Any]) -> NDArray[Any]:
        """Observations [B, O + 3], in which standings [3, B] now are."""
        for column, numbers in enumerate(sees, self._width):
            observation[:, column] = numbers
        return observation

    def _begin(self, games: IntArray, state: int, throws: IntArray) -> None:
        self._sit(games, self.opponents.first)
        super()._begin(games, state, throws)

    def _sit(self, games: IntArray, first: Callable[[NDArray[np.float64]], IntArray]) -> None:
        """Draw the standings that players see, and their luck."""
        drawn, luck = self.np_random.random((2, len(games)))
        self._place[games] = place = first(drawn)
        self._luck[games] = luck
        for sees, seen in zip(self._sees, self._seen, strict=True):
            sees[games] = seen.take(place)

    def snapshot(self) -> dict[str, Any]:
        """The rounds as they stand and the dice to come, as arrays and what JSON can hold; see `restore`."""
        seats = {"place": self._place.copy(), "luck": self._luck.copy(), "ended": self._ended.copy()}
        return {**super().snapshot(), **seats}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Go on from a snapshot of an environment made alike: the same actions then lead to the same.

        Raises:
            ValueError: if the snapshot is not of as many rounds, or of other rules.
        """
        place, luck = self._read_seats(snapshot, (self.num_envs,))
        super().restore(snapshot)
        self._place, self._luck, self._ended = place, luck, np.array(snapshot["ended"], np.bool_)
        self._sees = self._seen.take(place, axis=1)

    def _beside(self, game: int) -> str:
        return self._words(int(self._place[game]), int(self._node[game]), float(self._luck[game]))


def make_masked_vec(mask_names: str = "gymnasium", **arguments: Any) -> VectorMaskInObservation:
    """What `gym.make_vec` calls for an id of a masked environment; the arguments are those of `RoundVectorEnv`."""
    return VectorMaskInObservation(RoundVectorEnv(**arguments), mask_names)
