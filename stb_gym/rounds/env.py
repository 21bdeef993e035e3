"""One seat of a round of several players, who take their turns one after another; the best final score wins.

## Description
An episode is the turn of one player, who sees what the players before have done and how many come after. All the others
are opponents. Their turns are not played but drawn from the exact distributions of their play, so a round costs hardly
more than a turn, whatever the number of players. Where a round can end before the player's turn, as by a perfect score
with `shut_wins`, only rounds are drawn in which it does not.

## Action Space
That of the turn, with its masks: see `docs/environments`.

## Observation Space
`Box(0, high, (O + 3,), float32)`: the O numbers of the turn, then the standing:
- the place of the lead among the final scores, the best at 0; if nobody has played, the place after the worst;
- how many players hold the lead;
- how many play after.

## Starting State
A standing as the players before leave it, and the first throw. `reset(options={"lead": 8, "holders": 1, "after": 2})`
starts at that standing, with a lead of 8 points; if you name only some of the three, the others are drawn.
`{"lead": None}` is the standing before anybody has played. You may add options of the turn, such as "open" and "roll".

## Rewards
0 until the end; then what the round is worth to the player by the tie rule:
- ties "split": 1 shared among those who have the best score;
- ties "all-win": 1 for each of them;
- ties "nobody": 1 for a player who has it alone;
- 0 for a beaten player, and after an illegal action.

`env.spec.reward_threshold` is the mean reward of the best response to the opponents; an agent exceeds it only by luck.
`stb_gym.rounds.RoundMeter(env)` measures the exact regret of an agent. With `shut_wins` it also counts, as 0, the
rounds that end before the player's turn; the threshold does not.

## Episode End
That of the turn.

## Information
The information of the turn, and `holders`: how many players share the lead with the player at the end, the player
included; 0 if beaten, and -1 until the turn is over.

## Arguments
- `players=2`: how many play, the player among them.
- `seat="drawn"`: a new seat in every round, all equally likely; or the seat, 0 to players - 1.
- `opponents="optimal"`: what all of them play, or a list with one for each in the order of the seats: the name of a
  strategy, "optimal" for the equilibrium of the round; the file, or the name, of a saved policy; an array of a policy;
  or a function of the arrays of the game and the `ScoresSoFar` that returns one.
- `ties="split"`, `shut_wins=False`, `indifferent="fewer"`: the rules of the round, see `stb_gym.rounds.Round`.
- `illegal`, `render_mode`, `observation_dtype`, `max_episode_steps`, the rules of the game and, of
  `stb_gym/ThreesRoundMasked-v0`, `mask_names`: as for the turn.

## Version History
- v0: first version.
"""

from collections.abc import Mapping
from copy import copy
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.arrays import IntArray
from stb_gym.checks import check_integer
from stb_gym.envs import LARGEST_SEED, MaskInObservation, StepperEnv, TurnEnv, game_for, options_of
from stb_gym.envs.env import Observation, observation_space
from stb_gym.envs.registration import NAMESPACE, check_free, masked_id, register
from stb_gym.games import Entry, Game
from stb_gym.rounds.opponents import Opponents, OpponentStrategies, opponents_of
from stb_gym.rounds.round import Round
from stb_gym.rounds.scores_so_far import ScoresSoFar
from stb_gym.solver import Objective


def _refuse_solo_play(final_score: IntArray) -> NDArray[Any]:
    raise ValueError("what a score wins in a round depends on the others: use stb_gym.rounds.RoundMeter(env)")


WIN = Objective("win", _refuse_solo_play, "probability")


def standing_space(turn: gym.Space[Any], rules: Round) -> gym.spaces.Box:
    """Return the space of the turn's observations followed by the standing.

    Raises:
        ValueError: if the type of the observations cannot hold the place of the lead.
    """
    others = rules.players - 1
    return observation_space(
        [*rules.game.observation_high, len(rules.scores_so_far.scores), others, others], turn.dtype
    )


def with_standing(observation: Observation, standing: IntArray) -> Observation:
    """Return observations [..., O] of a turn followed by the standing [..., 3]."""
    return np.concatenate((observation, standing.astype(observation.dtype)), axis=-1)


class StandingEnv(StepperEnv):
    """Base of the environments of a round: beside TurnEnv or TurnVectorEnv, it adds the standing to observations.

    Attributes:
        round: the `Round`.
    """

    round: Round

    def _play_in(self, rules: Round, turn: gym.Space[Any]) -> gym.spaces.Box:
        """Set the round, and return the space of its observations; `turn` is the space of the turn's."""
        self.round = rules
        self.objective = WIN
        self._single_space = standing_space(turn, rules)
        return self._single_space

    def _standings(self) -> IntArray:
        """Return [B, 3] the standings that the players see now."""
        raise NotImplementedError

    @checked
    def find_states(self, observation: Observation) -> Any:
        """Return the state of the turn of an observation [O + 3], or the states [B] of a batch."""
        return super().find_states(np.atleast_1d(observation)[..., :-3])

    def afterstates(self, observations: Observation | None = None) -> tuple[IntArray, IntArray, Observation]:
        """Return what every legal move leads to, as `TurnEnv.afterstates`, with the standing before the dice."""
        place, action, turn = super().afterstates(observations)
        standing = self._standings() if observations is None else np.atleast_2d(observations)[:, -3:]
        return place, action, np.hstack((with_standing(turn[:, :-1], standing[place]), turn[:, -1:]))

    @property
    def _played(self) -> str:
        return repr(self.round)


class SeatEnv(StandingEnv):
    """Base of the environments of one seat of a round, whose opponents are drawn.

    Attributes:
        opponents: the `Opponents`, with the exact chances of the draws.
    """

    opponents: Opponents
    _seat: int | str
    _place: Any  # an integer, or [B]: of the standing that the player sees, among those of the opponents

    def set_opponents(self, opponents: OpponentStrategies) -> None:
        """Play against other opponents from now on, also in rounds under way, whose standings remain.

        Args:
            opponents: as when the environment is made; for self-play perhaps an evaluated lineup of the player's own
                strategy, see `RoundMeter.strategy`.

        Raises:
            ValueError: as when the environment is made.
        """
        self.opponents = opponents_of(self.round, self._seat, opponents)
        if self._spec is not None:
            self._spec.reward_threshold = self.opponents.reward_threshold

    def snapshot(self) -> dict[str, Any]:
        """Return the state of the round and of the dice; see `restore`.

        Returns:
            Integers and strings for JSON; integer arrays [B] in a vector environment.
        """
        return {**super().snapshot(), "place": copy(self._place)}

    def _limits(self) -> dict[str, int]:
        return {**super()._limits(), "place": len(self.opponents.chance)}

    def _go_on(self, numbers: Mapping[str, IntArray]) -> None:
        super()._go_on(numbers)  # type: ignore[misc]  # which TurnEnv and TurnVectorEnv define
        place = numbers["place"]
        self._place = place if place.ndim else int(place)

    def _standings(self) -> IntArray:
        return self.opponents.observed[np.atleast_1d(self._place)]

    def _threshold_of(self, spec: EnvSpec) -> float | None:
        return self.opponents.reward_threshold

    def _beside(self, game: int) -> str:
        return self.opponents.scores_so_far(np.atleast_1d(self._place)[game]).in_words(self.game)


class RoundEnv(SeatEnv, TurnEnv):
    """One seat of a round of several players, as `gym.make("stb_gym/ShutTheBoxRound-v0")` makes it.

    The module's docstring describes spaces, rewards and infos.

    Args:
        game: the name of a game, or a rules object.
        players: how many play, the player among them.
        seat: the player's, 0 to players - 1, or "drawn": a new one in every round, all equally likely.
        opponents: one strategy that all the others play, or a list with one for each in the order of the seats: the
            name of a strategy, "optimal" for the equilibrium of the round; the file of a saved policy; an array of a
            policy; or a function of the arrays of the game and the `ScoresSoFar` that returns one.
        ties, shut_wins, indifferent: the rules of the round, see `stb_gym.rounds.Round`.
        illegal, render_mode, observation_dtype: see `TurnEnv`.
        **rules: fields of the rules that differ from the standard ones.

    Attributes:
        round: the `Round`.
        opponents: the `Opponents`, with the exact chances of the draws.

    Raises:
        ValueError: if an argument is not allowed, or the game is too large.
        TypeError: if a keyword is neither an argument nor a field of the rules.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> env = gym.make("stb_gym/ShutTheBoxRound-v0", players=2, seat=1)
        >>> observation, info = env.reset(seed=0, options={"lead": 8})
        >>> observation[-3:].astype(int).tolist(), round(env.spec.reward_threshold, 4)
        ([8, 1, 0], 0.502)
    """

    def __init__(
        self,
        game: Game | str,
        players: int = 2,
        seat: int | str = "drawn",
        opponents: OpponentStrategies = "optimal",
        ties: str = "split",
        shut_wins: bool = False,
        indifferent: str = "fewer",
        illegal: str = "end",
        render_mode: str | None = None,
        *,
        observation_dtype: Any = "float32",
        **rules: Any,
    ):
        game = game_for(type(self), game, rules)
        super().__init__(game, "score", illegal, render_mode, observation_dtype=observation_dtype, stepper="tables")
        rules_of_round = Round(self.game, players, ties, shut_wins, indifferent)
        self.observation_space = self._play_in(rules_of_round, self.observation_space)
        self._seat = seat
        self._place = 0
        self.set_opponents(opponents)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a round at the player's turn, or where `options` says.

        Raises:
            ValueError: if `options` names no position of the game or no standing, or a position without a legal move.
        """
        turn, seen = split_options(options)
        sums = self.opponents.cumulative_chances(seen)
        if turn:
            self.stepper.beginnings(turn)  # refuses wrong options before anything changes
        if seed is not None:
            check_integer("seed", seed, 0, LARGEST_SEED)
            gym.Env.reset(self, seed=int(seed))
        self._place = int(self.opponents.draw_start(sums, self.np_random.bit_generator.random_raw()))
        observation, info = super().reset(options=turn)
        return with_standing(observation, self.opponents.observed[self._place]), info | {"holders": -1}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Make a move and throw again; at the end of the turn, draw how the round ends.

        Raises:
            ValueError: if the action is outside the action space, or is illegal and `illegal` is "raise".
            TypeError: if the action is no integer.
            RuntimeError: before the first reset, or if the turn is over.
        """
        observation, reward, over, truncated, info = super().step(action)
        info["holders"] = -1
        if over:
            score = self.stepper.ending(self._state) - 1  # its place among the final scores, the worst of which is last
            random = self.np_random.bit_generator.random_raw()
            info["holders"] = int(self.opponents.draw_holders(self._place, score, random))
            reward = float(self.opponents.share[info["holders"]])
        return with_standing(observation, self.opponents.observed[self._place]), reward, over, truncated, info


def split_options(options: Mapping[str, Any] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split the options of a reset into those of the turn and those of the standing."""
    turn = options_of(options)
    return turn, {name: turn.pop(name) for name in ScoresSoFar._fields if name in turn}


def make_masked(mask_names: str = "gymnasium", **arguments: Any) -> MaskInObservation:
    """Make a masked environment for `gym.make`; the arguments are those of `RoundEnv`."""
    return MaskInObservation(RoundEnv(**arguments), mask_names)


make_masked.metadata = RoundEnv.metadata  # type: ignore[attr-defined]


def register_rounds(entry: Entry) -> None:
    """Register the environments of a round of a game with Gymnasium, such as "stb_gym/ThreesRound-v0" and its twin."""
    identity, arguments = f"{NAMESPACE}/{entry.rules.__name__}Round-v0", {"game": entry.rules.name}
    check_free(identity, entry.rules.name)
    register(identity, f"{__name__}:RoundEnv", f"{__package__}.vector_env:RoundVectorEnv", arguments)
    masked, masked_vec = f"{__name__}:make_masked", f"{__package__}.vector_env:make_masked_vec"
    register(masked_id(identity), masked, masked_vec, arguments)
