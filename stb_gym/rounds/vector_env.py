"""One seat of many rounds at once, as a Gymnasium vector environment."""

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from stb_gym.arrays import FloatArray, IntArray
from stb_gym.envs import Step, TurnVectorEnv, VectorMaskInObservation, game_for, make_turns
from stb_gym.envs.base import Observation
from stb_gym.games import Game
from stb_gym.rounds.env import RoundBase, SeatBase, round_space, split_options, with_scores
from stb_gym.rounds.opponents import OpponentStrategies
from stb_gym.rounds.round import Round


class RoundVectorBase(RoundBase, gym.vector.VectorEnv[Observation, IntArray, NDArray[Any]]):
    """Base of the vector environments of rounds."""

    turn: TurnVectorEnv

    def __init__(self, rules: Round, turn: TurnVectorEnv):
        self.num_envs = turn.num_envs
        self._max_episode_steps = turn.max_episode_steps
        self.autoreset_mode = turn.autoreset_mode
        self.single_observation_space = round_space(turn.single_observation_space, rules)
        self.observation_space = batch_space(self.single_observation_space, turn.num_envs)
        self.single_action_space = turn.single_action_space
        self.action_space = turn.action_space
        super().__init__(rules, turn, self.single_observation_space)

    @property
    def max_episode_steps(self) -> int | None:
        """After how many steps a turn is truncated; None if it never is."""
        return self._max_episode_steps


class RoundVectorEnv(SeatBase, RoundVectorBase):
    """`num_envs` rounds at once, as `gym.make_vec` makes them; see `RoundEnv` and `TurnVectorEnv`.

    In steps that end a round, infos also hold `holders` [B].

    Attributes:
        round: the `Round`.
        opponents: the `Opponents`, with the exact chances of the draws.
        turn: the environment of the turns.

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
        game = game_for(type(self), game, rules)
        turn = make_turns(
            game,
            num_envs=num_envs,
            illegal=illegal,
            render_mode=render_mode,
            autoreset_mode=autoreset_mode,
            observation_dtype=observation_dtype,
            stepper="tables",
            max_episode_steps=max_episode_steps,
        )
        super().__init__(Round(game, players, ties, shut_wins, indifferent), turn)
        self._seat = seat
        self.set_opponents(opponents)
        self.start = np.zeros(num_envs, np.int64)
        turn.before_turns = self._draw_starts

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin all rounds, or those of `options["reset_mask"]`, or where `options` says; see `RoundEnv`.

        Raises:
            ValueError: if `options` names no position, no possible scores, or a position without a legal move;
                if the mask is invalid or chooses no game, or there is not one seed per game.
        """
        of_turn, of_scores = split_options(options)
        sums = self.opponents.cumulative_chances(of_scores)
        observation, infos = self.turn.reset(seed=seed, options=of_turn)
        if of_scores:
            self._draw_starts(infos["_action_mask"].nonzero()[0], sums)
        return with_scores(observation, self.observed), infos

    def step(self, actions: Any) -> Step:
        """Make a move in every game and throw again; at the end of a turn, draw how the round ends.

        Raises:
            ValueError: if an action is outside the action space, or is illegal and `illegal` is "raise".
            RuntimeError: before the first reset, or if a game is over and the autoreset mode is DISABLED.
        """
        turn, before = self.turn, self.start
        self.start = before.copy()  # the step draws those of new rounds before the old ones end
        observation, _, terminated, truncated, infos = turn.step(actions)
        if turn.autoreset_mode == AutoresetMode.NEXT_STEP and turn.last_step is not None:
            self._draw_starts((~turn.last_step.acted).nonzero()[0])
        rewards = np.zeros(self.num_envs)
        (games,) = terminated.nonzero()
        if len(games):
            ends = infos.get("final_info", infos)
            score = self.round.scores_so_far.ranks(ends["final_score"][games], ends["illegal_action"][games])
            random = self.np_random.bit_generator.random_raw(len(games))
            holders = self.opponents.draw_holders(before[games], score, random)
            ends["holders"], ends["_holders"] = np.zeros(self.num_envs, np.int64), terminated.copy()
            ends["holders"][games] = holders
            rewards[games] = self.opponents.share[holders]
        if "final_obs" in infos:
            infos["final_obs"] = with_scores(infos["final_obs"], self.opponents.observed.take(before, axis=0))
        return with_scores(observation, self.observed), rewards, terminated, truncated, infos

    def render(self) -> tuple[Any, ...] | None:
        """Draw the position of every turn below the scores so far; see `TurnVectorEnv.render`."""
        self.turn.captions = [self.opponents.scores_so_far(start).in_words(self.game) for start in self.start]
        return self.turn.render()

    def _draw_starts(self, games: IntArray, sums: FloatArray | None = None) -> None:
        """Draw the scores so far at which rounds begin; see `Opponents.cumulative_chances`."""
        random = self.np_random.bit_generator.random_raw(len(games))
        all_sums = self.opponents.cumulative_chances({}) if sums is None else sums
        self.start[games] = self.opponents.draw_start(all_sums, random)


def make_masked_vec(mask_names: str = "gymnasium", **arguments: Any) -> VectorMaskInObservation:
    """Make a masked environment for `gym.make_vec`; the arguments are those of `RoundVectorEnv`."""
    return VectorMaskInObservation(RoundVectorEnv(**arguments), mask_names)
