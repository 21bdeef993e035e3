"""Many rounds at once, one seat of each, as a Gymnasium vector environment."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from stb_gym.envs import Step, TurnVectorEnv, VectorMaskInObservation, game_for
from stb_gym.games import Game, IntArray
from stb_gym.rounds.opponents import Lineup
from stb_gym.rounds.seat import SeatEnv


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
        self._rules = {"players": players, "ties": ties, "shut_wins": shut_wins, "indifferent": indifferent}
        self._against = seat, opponents
        super().__init__(
            game_for(type(self), game, rules),
            num_envs,
            "score",
            illegal,
            render_mode,
            autoreset_mode,
            observation_dtype=observation_dtype,
            max_episode_steps=max_episode_steps,
        )
        seen = self.opponents.seen.astype(self._observation_dtype)
        # [C] the three numbers of a standing as one item, which is chosen and copied faster than three.
        self._seen = seen.view(np.dtype((np.void, seen[0].nbytes))).ravel()
        self._place: IntArray = np.zeros(num_envs, np.int64)
        self._sees = self._seen.take(self._place)
        self._holders: IntArray = np.zeros(num_envs, np.int64)  # where a round is over, how many share the lead
        self._ended = self._to_begin()

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
        self._ended = self._to_begin()
        return self._with(observation, self._sees), infos

    def step(self, actions: Any) -> Step:
        """Make a move in every game and throw again; when a turn is over, so is the round.

        Raises:
            ValueError: if an action is outside the action space, or is illegal and `illegal` is "raise".
            RuntimeError: before the first reset, or if a game is over and the autoreset mode is DISABLED.
        """
        place, sees = self._place, self._sees
        if self.autoreset_mode == AutoresetMode.SAME_STEP:  # which draws new ones before the old ones are read
            self._place, self._sees = place.copy(), sees.copy()
        observation, score, over, truncated, infos = super().step(actions)
        (games,) = over.nonzero()
        if self.autoreset_mode == AutoresetMode.NEXT_STEP:
            if len(self._ended):
                self._sit(self._ended, self.opponents.first)
            self._ended = games if self._left is None else self._to_begin()
        reward = np.zeros(self.num_envs)
        if len(games):
            self._holders = np.zeros(self.num_envs, np.int64)
            holders = self.opponents.holders(place.take(games), score.take(games), self._random(games))
            self._holders[games], reward[games] = holders, self.opponents.share.take(holders)
            told = infos.get("final_info", infos)
            told["holders"], told["_holders"] = self._holders.copy(), over.copy()
        if "final_obs" in infos:
            infos["final_obs"] = self._with(infos["final_obs"], sees)
        return self._with(observation, self._sees), reward, over, truncated, infos

    def _with(self, observation: NDArray[Any], sees: NDArray[Any]) -> NDArray[Any]:
        """Observations [B, O + 3], in which standings [B] now are."""
        observation[:, self._width :].view(sees.dtype)[:, 0] = sees
        return observation

    def _begin(self, games: IntArray, state: int, throws: IntArray) -> None:
        self._sit(games, self.opponents.first)
        super()._begin(games, state, throws)

    def _sit(self, games: IntArray, first: Callable[[NDArray[np.uint64]], IntArray]) -> None:
        """Draw the standings that players see."""
        self._place[games] = place = first(self._random(games))
        self._sees[games] = self._seen.take(place)

    def _to_begin(self) -> IntArray:
        """The rounds that are over where the next step begins new ones."""
        return self._over().nonzero()[0] if self.autoreset_mode == AutoresetMode.NEXT_STEP else np.zeros(0, np.int64)

    def _random(self, games: IntArray) -> NDArray[np.uint64]:
        """64 random bits for each of some games."""
        return self.np_random.bit_generator.random_raw(len(games))

    def snapshot(self) -> dict[str, Any]:
        """The rounds as they stand and the dice to come, as arrays and what JSON can hold; see `restore`."""
        return {**super().snapshot(), "place": self._place.copy(), "holders": self._holders.copy()}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Go on from a snapshot of an environment made alike: the same actions then lead to the same.

        Raises:
            ValueError: if the snapshot is not of as many rounds, or of other rules.
        """
        place, holders = self._read_seats(snapshot, (self.num_envs,))
        super().restore(snapshot)
        self._place, self._holders, self._sees = place, holders, self._seen.take(place)
        self._ended = self._to_begin()

    def _beside(self, game: int) -> str:
        return self._words(int(self._place[game]), int(self._node[game]), int(self._holders[game]))


def make_masked_vec(mask_names: str = "gymnasium", **arguments: Any) -> VectorMaskInObservation:
    """What `gym.make_vec` calls for an id of a masked environment; the arguments are those of `RoundVectorEnv`."""
    return VectorMaskInObservation(RoundVectorEnv(**arguments), mask_names)
