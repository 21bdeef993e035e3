"""One seat of a round of several players, who take their turns one after another; the best final score wins.

## Description
An episode is the turn of one player, who sees the best score of the earlier players and the number of later ones. All
the others are opponents. Their turns are not played: their results are drawn from the exact distributions of their
play, so a round takes hardly longer than a turn for any number of players. Rounds that end before the player's turn,
for example by a perfect score with `shut_wins`, are not drawn.

## Action Space
That of the turn, with its masks: see `docs/environments`.

## Observation Space
`Box(0, high, (O + 3,), float32)`: the O numbers of the turn, then the scores so far:
- the rank of the lead among the final scores, 0 for the best; if nobody has played, the number of final scores;
- how many players hold the lead;
- how many play after.

## Starting State
The scores that the players before leave, and the first throw. `reset(options={"lead": 8, "holders": 1, "after": 2})`
starts with a lead of 8 points; if you name only some of the three, the others are drawn. `{"lead": None}` starts before
anybody has played. You may add options of the turn, such as "open" and "roll".

## Rewards
0 until the end; then the tie rule decides:
- ties "split": the players with the best score share 1;
- ties "all-win": 1 for each player with the best score;
- ties "nobody": 1 for a player who alone has the best score;
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
  or a function of the arrays of the game and a `ScoresSoFar` that returns one.
- `ties="split"`, `shut_wins=False`, `indifferent="fewer"`: the rules of the round, see `stb_gym.rounds.Round`.
- `illegal`, `render_mode`, `observation_dtype`, `max_episode_steps`, the rules of the game and, of
  `stb_gym/ThreesRoundMasked-v0`, `mask_names`: as for the turn.

## Version History
- v0: first version.
"""

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec

from stb_gym.arguments import checked
from stb_gym.arrays import BoolArray, IntArray
from stb_gym.checks import check_integer
from stb_gym.envs import (
    LARGEST_SEED,
    MaskInObservation,
    Stepper,
    TurnEnv,
    TurnVectorEnv,
    game_for,
    make_turn,
    masked_id,
    options_of,
    register,
)
from stb_gym.envs.base import Observation, numbers_of, observation_space, space_of_afterstates
from stb_gym.envs.registration import NAMESPACE, check_free
from stb_gym.games import Entry, Game
from stb_gym.measure.optimal_values import TableValues
from stb_gym.rounds.opponents import Opponents, OpponentStrategies, opponents_of
from stb_gym.rounds.round import Round
from stb_gym.rounds.scores_so_far import ScoresSoFar
from stb_gym.solver import optimise

OBSERVED = ("lead_rank", "holders", "after")  # in snapshots, the scores so far that players see
LARGEST_VALUES = 2**27  # numbers: 1 GiB of best-response values


def round_space(turn: gym.Space[Any], rules: Round) -> gym.spaces.Box:
    """Return the space of the turn's observations followed by the scores so far.

    Raises:
        ValueError: if the type of the observations cannot hold the rank of the lead.
    """
    others = rules.players - 1
    return observation_space(
        [*rules.game.observation_high, len(rules.scores_so_far.scores), others, others], turn.dtype
    )


def with_scores(observation: Observation, observed: IntArray) -> Observation:
    """Return observations [..., O] of a turn followed by what a player sees of the scores so far [..., 3]."""
    return np.concatenate((observation, observed.astype(observation.dtype)), axis=-1)


class RoundBase:
    """Base of the environments of rounds: each holds one of turns, and adds the scores so far to its observations.

    Attributes:
        round: the `Round`.
        turn: the environment of turns.
        stepper, render_mode: those of `turn`.
        afterstate_space: the space of the afterstate of one move.
    """

    turn: TurnEnv | TurnVectorEnv

    def __init__(self, rules: Round, turn: TurnEnv | TurnVectorEnv, space: gym.spaces.Box):
        self.round = rules
        self.turn = turn
        self.stepper: Stepper = turn.stepper
        self.render_mode = turn.render_mode
        self.metadata = turn.metadata
        self.afterstate_space = space_of_afterstates(space, turn.game)

    @property
    def observed(self) -> IntArray:
        """[B, 3] what the players see: the rank of the lead, the number of its holders, the number of players after."""
        raise NotImplementedError

    @property
    def game(self) -> Game:
        """The rules of each turn."""
        return self.turn.game

    @property
    def illegal(self) -> str:
        """What an illegal action does, "end" or "raise"."""
        return self.turn.illegal

    @property
    def np_random(self) -> np.random.Generator:
        """The generator of the dice and of all other draws."""
        return self.turn.np_random

    @np_random.setter
    def np_random(self, generator: np.random.Generator) -> None:
        self.turn.np_random = generator

    @property
    def states(self) -> IntArray:
        """[B] the states of the turns, as the stepper numbers them."""
        return self.turn.states

    def action_masks(self) -> BoolArray:
        """Return the action mask of the last info as booleans, [A] or [B, A]. The name is that of sb3-contrib."""
        return self.turn.action_masks()

    def legal_sample(self) -> Any:
        """Return a random legal action, or [B]; see `TurnEnv.legal_sample`."""
        return self.turn.legal_sample()

    @checked
    def find_states(self, observation: Observation) -> Any:
        """Return the state of the turn of an observation [O + 3], or the states [B] of a batch."""
        return self.turn.find_states(np.atleast_1d(observation)[..., :-3])

    @checked
    def afterstates(self, observations: Observation | None = None) -> tuple[IntArray, IntArray, Observation]:
        """Return what every legal move leads to, as `TurnEnv.afterstates`, with the scores so far before the dice."""
        if observations is None:
            index, action, turn = self.turn.afterstates()
            observed = self.observed
        else:
            rows = np.atleast_2d(observations)
            index, action, turn = self.turn.afterstates(rows[:, :-3])
            observed = rows[:, -3:]
        return index, action, np.hstack((with_scores(turn[:, :-1], observed[index]), turn[:, -1:]))


class SeatBase(RoundBase):
    """Base of the environments of one seat of a round, whose opponents are drawn.

    Attributes:
        opponents: the `Opponents`, with the exact chances of the draws.
        start: the index of the start of the player's turn (see `Opponents`), or [B].
    """

    opponents: Opponents
    start: Any
    _seat: int | str
    _spec: EnvSpec | None = None

    @property
    def spec(self) -> EnvSpec | None:
        """The specification from which Gymnasium makes the environment again."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self._spec = spec and replace(spec, reward_threshold=self.opponents.reward_threshold)

    def set_opponents(self, opponents: OpponentStrategies) -> None:
        """Play against other opponents from now on, also in rounds under way, whose scores so far remain.

        Args:
            opponents: as when the environment is made; in self-play, for example, the evaluated round of the player's
                own strategy, see `RoundMeter.strategy`.

        Raises:
            ValueError: as when the environment is made.
        """
        self.opponents = opponents_of(self.round, self._seat, opponents)
        self._values: TableValues | None = None
        self.spec = self.spec  # sets the threshold for these opponents

    def optimal_values(self) -> tuple[TableValues, Any]:
        """Return the values of the best response to the opponents, and the row of the current start, or [B] rows.

        Raises:
            ValueError: if the round has too many starts.
        """
        if self._values is None:
            tables, starts = self.round.tables, len(self.opponents.chance)
            if starts * tables.num_states > LARGEST_VALUES:
                raise ValueError(f"{self.round} has too many scores so far to record losses: {starts:,}")
            afterstates, states = optimise(tables, self.opponents.utility.T[tables.score_index])
            self._values = TableValues(states.T, afterstates.T, 0.0)
        return self._values, copy(self.start)

    @property
    def observed(self) -> IntArray:
        """[B, 3] what the players see: the rank of the lead, the number of its holders, the number of players after."""
        return self.opponents.observed[np.atleast_1d(self.start)]

    def snapshot(self) -> dict[str, Any]:
        """Return the state of the round and of the dice; see `restore`.

        Returns:
            Integers and strings for JSON; integer arrays [B] in a vector environment.
        """
        observed = self.opponents.observed.T.take(self.start, axis=1)
        numbers = zip(OBSERVED, observed if np.ndim(self.start) else observed.tolist(), strict=True)
        return {**self.turn.snapshot(), "of": repr(self.round), **dict(numbers)}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Continue from a snapshot; see `TurnEnv.restore`.

        Raises:
            ValueError: if the snapshot is not of as many rounds with these rules, or if the player, in its seat, never
                sees the scores so far.
        """
        sizes = len(self.round.scores_so_far.scores) + 1, self.round.players, self.round.players
        ranges = dict(zip(OBSERVED, map(range, sizes), strict=True))
        numbers = numbers_of(snapshot, repr(self.round), np.shape(self.start), ranges)
        starts = self.opponents.find_starts(np.column_stack([numbers[name] for name in OBSERVED]))
        self.turn.restore({**snapshot, "of": repr(self.game)})
        self.start = starts if np.ndim(self.start) else int(starts[0])


class RoundEnv(SeatBase, gym.Env[Observation, np.int64]):
    """One seat of a round of several players, as `gym.make("stb_gym/ShutTheBoxRound-v0")` makes it.

    The module's docstring describes spaces, rewards and infos.

    Args:
        game: the name of a game, or a rules object.
        players: how many play, the player among them.
        seat: the player's, 0 to players - 1, or "drawn": a new one in every round, all equally likely.
        opponents: one strategy that all the others play, or a list with one for each in the order of the seats: the
            name of a strategy, "optimal" for the equilibrium of the round; the file of a saved policy; an array of a
            policy; or a function of the arrays of the game and a `ScoresSoFar` that returns one.
        ties, shut_wins, indifferent: the rules of the round, see `stb_gym.rounds.Round`.
        illegal, render_mode, observation_dtype: see `TurnEnv`.
        **rules: fields of the rules that differ from the standard ones.

    Attributes:
        round: the `Round`.
        opponents: the `Opponents`, with the exact chances of the draws.
        turn: the environment of the turn.

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

    turn: TurnEnv
    metadata = TurnEnv.metadata

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
        turn = make_turn(
            game, illegal=illegal, render_mode=render_mode, observation_dtype=observation_dtype, stepper="tables"
        )
        of_round = Round(game, players, ties, shut_wins, indifferent)
        self.observation_space = round_space(turn.observation_space, of_round)
        self.action_space = turn.action_space
        super().__init__(of_round, turn, self.observation_space)
        self._seat = seat
        self.set_opponents(opponents)
        self.start = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a round at the player's turn, or where `options` says.

        Raises:
            ValueError: if `options` names no position, no possible scores, or a position without a legal move.
        """
        of_turn, of_scores = split_options(options)
        sums = self.opponents.cumulative_chances(of_scores)
        if of_turn:
            self.stepper.beginnings(of_turn)  # refuses wrong options before anything changes
        if seed is not None:
            check_integer("seed", seed, 0, LARGEST_SEED)
            gym.Env.reset(self, seed=int(seed))
            self.np_random = self._np_random  # type: ignore[assignment]  # which is set now
        self.start = int(self.opponents.draw_start(sums, self.np_random.bit_generator.random_raw()))
        if self.render_mode is not None:
            self._set_caption()
        observation, info = self.turn.reset(options=of_turn)
        return with_scores(observation, self.opponents.observed[self.start]), info | {"holders": -1}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Make a move and throw again; at the end of the turn, draw how the round ends.

        Raises:
            ValueError: if the action is outside the action space, or is illegal and `illegal` is "raise".
            TypeError: if the action is not an integer.
            RuntimeError: before the first reset, or if the turn is over.
        """
        observation, _, over, truncated, info = self.turn.step(action)
        info["holders"] = -1
        reward = 0.0
        if over:
            illegal = info["illegal_action"]
            score = len(self.stepper.scores) if illegal else int(self.stepper.score_index(self.state))
            random = self.np_random.bit_generator.random_raw()
            info["holders"] = int(self.opponents.draw_holders(self.start, score, random))
            reward = float(self.opponents.share[info["holders"]])
        return with_scores(observation, self.opponents.observed[self.start]), reward, over, truncated, info

    @property
    def state(self) -> int:
        """The state of the turn, as the stepper numbers it."""
        return self.turn.state

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Continue from a snapshot; see `TurnEnv.restore`.

        Raises:
            ValueError: if the snapshot is not of one round with these rules.
        """
        super().restore(snapshot)
        self._set_caption()

    def _set_caption(self) -> None:
        self.turn.caption = self.opponents.scores_so_far(self.start).in_words(self.game)

    def render(self) -> Any:
        """Draw the position of the turn below the scores so far; see `TurnEnv.render`."""
        return self.turn.render()

    def close(self) -> None:
        """Close the window if there is one."""
        self.turn.close()


def split_options(options: Mapping[str, Any] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split the options of a reset into those of the turn and those of the scores so far."""
    of_turn = options_of(options)
    return of_turn, {name: of_turn.pop(name) for name in ScoresSoFar._fields if name in of_turn}


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
