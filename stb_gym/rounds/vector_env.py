"""One seat of many rounds at once, as a Gymnasium vector environment."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from stb_gym.envs import Step, TurnVectorEnv, VectorMaskInObservation, game_for
from stb_gym.games import Game, IntArray
from stb_gym.rounds.env import StandingEnv, split_options, with_standing
from stb_gym.rounds.equilibrium import Round
from stb_gym.rounds.opponents import Lineup, opponents_of


class RoundVectorEnv(StandingEnv, TurnVectorEnv):
    """`num_envs` rounds at once, as `gym.make_vec` makes them; see `RoundEnv` and `TurnVectorEnv`.

    In steps that end a round, infos also hold `holders` [B].

    Attributes:
        round: the `Round`.
        opponents: the `Opponents`, with the exact chances of the draws.

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
        super().__init__(
            game_for(type(self), game, rules),
            num_envs,
            "score",
            illegal,
            render_mode,
            autoreset_mode,
            observation_dtype=observation_dtype,
            stepper="tables",
            max_episode_steps=max_episode_steps,
        )
        rules_of_round = Round(self.game, players, ties, shut_wins, indifferent)
        self.single_observation_space = self._play_in(rules_of_round, self.single_observation_space)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._seat = seat
        self.opponents = opponents_of(self.round, seat, opponents)
        # [B] of the standings that the players see, among those of the opponents; where a round is over, its holders
        self._place: IntArray = np.zeros(num_envs, np.int64)
        self._holders: IntArray = np.zeros(num_envs, np.int64)

    def set_opponents(self, opponents: Lineup) -> None:
        """Play against other opponents from now on, also in rounds under way; see `RoundEnv.set_opponents`."""
        self.opponents = opponents_of(self.round, self._seat, opponents)
        if self._spec is not None:
            self._spec.reward_threshold = self.opponents.reward_threshold

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin all rounds, or those of `options["reset_mask"]`, or where `options` says; see `RoundEnv`.

        Raises:
            ValueError: if `options` names no position of the game or no standing, or a position without a legal move;
                if the mask is invalid or chooses no game, or there is not one seed per game.
        """
        turn, seen = split_options(options)
        chances = self.opponents.chances_of(seen)
        observation, infos = super().reset(seed=seed, options=turn)
        if seen:
            self._draw_standings(infos["_action_mask"].nonzero()[0], chances)
        return with_standing(observation, self._standings()), infos

    def step(self, actions: Any) -> Step:
        """Make a move in every game and throw again; at the end of a turn, draw how the round ends.

        Raises:
            ValueError: if an action is outside the action space, or is illegal and `illegal` is "raise".
            RuntimeError: before the first reset, or if a game is over and the autoreset mode is DISABLED.
        """
        place, finished = self._place, self._over
        if self.autoreset_mode == AutoresetMode.SAME_STEP:  # draws new standings before the old rounds end
            self._place = place.copy()
        observation, _, over, truncated, infos = super().step(actions)
        if self.autoreset_mode == AutoresetMode.NEXT_STEP:
            self._draw_standings(finished.nonzero()[0], self.opponents.chance)
        reward = np.zeros(self.num_envs)
        (games,) = over.nonzero()
        if len(games):
            told = infos.get("final_info", infos)
            score = self.round.standings.places(told["final_score"][games], told["illegal_action"][games])
            self._holders = np.zeros(self.num_envs, np.int64)
            self._holders[games] = self.opponents.draw_holders(place[games], score, self._random(games))
            reward[games] = self.opponents.share[self._holders[games]]
            told["holders"], told["_holders"] = self._holders.copy(), over.copy()
        if "final_obs" in infos:
            infos["final_obs"] = with_standing(infos["final_obs"], self.opponents.seen.take(place, axis=0))
        return with_standing(observation, self._standings()), reward, over, truncated, infos

    def snapshot(self) -> dict[str, Any]:
        """Return the state of the rounds and of the dice, as arrays and what JSON can hold; see `restore`."""
        return {**super().snapshot(), "place": self._place.copy(), "holders": self._holders.copy()}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Go on from a snapshot of an environment made alike: the same actions then have the same results.

        Raises:
            ValueError: if the snapshot is not of as many rounds, or of other rules.
        """
        counts = {"place": len(self.opponents.chance), "holders": len(self.opponents.share)}
        _, _, place, holders = self._read(snapshot, (self.num_envs,), **counts)
        super().restore(snapshot)
        self._place, self._holders = place, holders

    def _begin(self, games: IntArray, state: int, throws: IntArray) -> None:
        self._draw_standings(games, self.opponents.chance)
        super()._begin(games, state, throws)

    def _draw_standings(self, games: IntArray, chances: NDArray[np.float64]) -> None:
        self._place[games] = self.opponents.draw_standing(chances, self._random(games))

    def _random(self, games: IntArray) -> NDArray[np.uint64]:
        """Return 64 random bits for each of some games."""
        return self.np_random.bit_generator.random_raw(len(games))

    def _standings(self) -> IntArray:
        return self.opponents.seen.take(self._place, axis=0)

    def _threshold_of(self, spec: EnvSpec) -> float | None:
        return self.opponents.reward_threshold

    def _beside(self, game: int) -> str:
        over = self.stepper.ending(self._node[game]) > 0
        return self.opponents.in_words(int(self._place[game]), int(self._holders[game]) if over else None)


def make_masked_vec(mask_names: str = "gymnasium", **arguments: Any) -> VectorMaskInObservation:
    """Make a masked environment for `gym.make_vec`; the arguments are those of `RoundVectorEnv`."""
    return VectorMaskInObservation(RoundVectorEnv(**arguments), mask_names)
