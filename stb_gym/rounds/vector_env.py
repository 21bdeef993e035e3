"""One seat of many rounds at once, as a Gymnasium vector environment."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from stb_gym.arrays import FloatArray, IntArray
from stb_gym.envs import Step, TurnVectorEnv, VectorMaskInObservation, game_for
from stb_gym.games import Game
from stb_gym.rounds.env import SeatEnv, split_options, with_standing
from stb_gym.rounds.opponents import OpponentStrategies
from stb_gym.rounds.round import Round


class RoundVectorEnv(SeatEnv, TurnVectorEnv):
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
        opponents: OpponentStrategies = "optimal",
        ties: str = "split",
        shut_wins: bool = False,
        indifferent: str = "fewer",
        illegal: str = "end",
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        *,
        observation_dtype: Any = "float32",
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
        self._place: IntArray = np.zeros(num_envs, np.int64)
        self.set_opponents(opponents)

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin all rounds, or those of `options["reset_mask"]`, or where `options` says; see `RoundEnv`.

        Raises:
            ValueError: if `options` names no position of the game or no standing, or a position without a legal move;
                if the mask is invalid or chooses no game, or there is not one seed per game.
        """
        turn, seen = split_options(options)
        sums = self.opponents.cumulative_chances(seen)
        observation, infos = super().reset(seed=seed, options=turn)
        if seen:
            self._draw_standings(infos["_action_mask"].nonzero()[0], sums)
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
            self._draw_standings(finished.nonzero()[0], self.opponents.cumulative_chances({}))
        reward = np.zeros(self.num_envs)
        (games,) = over.nonzero()
        if len(games):
            ends = infos.get("final_info", infos)
            score = self.round.scores_so_far.ranks(ends["final_score"][games], ends["illegal_action"][games])
            random = self.np_random.bit_generator.random_raw(len(games))
            holders = self.opponents.draw_holders(place[games], score, random)
            ends["holders"], ends["_holders"] = np.zeros(self.num_envs, np.int64), over.copy()
            ends["holders"][games] = holders
            reward[games] = self.opponents.share[holders]
        if "final_obs" in infos:
            infos["final_obs"] = with_standing(infos["final_obs"], self.opponents.observed.take(place, axis=0))
        return with_standing(observation, self._standings()), reward, over, truncated, infos

    def _begin(self, games: IntArray, afterstate: int, throws: IntArray) -> None:
        self._draw_standings(games, self.opponents.cumulative_chances({}))
        super()._begin(games, afterstate, throws)

    def _draw_standings(self, games: IntArray, sums: FloatArray) -> None:
        random = self.np_random.bit_generator.random_raw(len(games))
        self._place[games] = self.opponents.draw_start(sums, random)


def make_masked_vec(mask_names: str = "gymnasium", **arguments: Any) -> VectorMaskInObservation:
    """Make a masked environment for `gym.make_vec`; the arguments are those of `RoundVectorEnv`."""
    return VectorMaskInObservation(RoundVectorEnv(**arguments), mask_names)
