"""One seat of a round of several players, who take their turns one after another; the best final score wins.

## Description
An episode is the turn of one player, who sees what the players before have done and knows how many come after. All the
others are opponents. Their turns are not played but drawn from the exact distributions of their play, so a round costs
hardly more than a turn, however many play. Where a round can end before the player's turn, as by a perfect score with
`shut_wins`, rounds are drawn in which it does not.

## Action Space
That of the turn, with its masks: see `stb_gym.games.shut_the_box.environment` and `stb_gym.games.threes.environment`.

## Observation Space
`Box(0, high, (O + 3,), uint8)`: the O numbers of the turn, then the standing:
- the place of the lead among the final scores, the best at 0; if nobody has played, the place after the worst;
- how many players hold the lead;
- how many play after.

## Starting State
A standing as the players before leave it, and the first throw. `reset(options={"lead": 8, "holders": 1, "after": 2})`
starts where a player sees just that, a lead of 8 points; with some of the three the others are drawn. `{"lead": None}`
is the standing before anybody has played. Options of the turn, such as "open" and "roll", stand beside them.

## Rewards
Nothing until the end; then what the round is worth to the player by the tie rule:
- ties "split": 1 shared among those who have the best score;
- ties "all-win": 1 for each of them;
- ties "nobody": 1 for who has it alone;
- 0 for who is beaten, and after an illegal action.

`env.spec.reward_threshold` is the mean reward of the best response to the opponents, which no agent exceeds but by
luck. `stb_gym.RoundMeter(env)` tells of any agent how far from it, exactly.

## Episode End
That of the turn.

## Information
What the environment of the turn tells, and at the end `holders`: among how many the player shares the lead, 0 if
beaten.

## Arguments
- `players=2`: how many play, the player among them.
- `seat="drawn"`: in every round one of the seats, each as likely as the others; or the seat, 0 to players - 1.
- `opponents="optimal"`: what all of them play, or a list of one for each in the order of the seats: the name of a
  strategy, "optimal" for the equilibrium of the round; the file, or the name, of a saved policy; an array of a policy;
  or a function of the arrays of the game and a `Standing` that returns one.
- `ties="split"`, `shut_wins=False`, `indifferent="fewer"`: the rules of the round, see `stb_gym.Round`.
- `illegal`, `render_mode`, `observation_dtype`, `max_episode_steps`, the rules of the game and, of
  `stb_gym/ThreesRoundMasked-v0`, `mask_names`: as for the turn.

## Version History
- v0: first version.
"""

from bisect import bisect
from collections.abc import Mapping
from typing import Any

import gymnasium as gym
from numpy.typing import NDArray

from stb_gym.envs import MaskInObservation, TurnEnv, game_for
from stb_gym.games import Game
from stb_gym.rounds.opponents import Lineup
from stb_gym.rounds.seat import SeatEnv

Observation = NDArray[Any]


class RoundEnv(SeatEnv, TurnEnv):
    """One seat of a round of several players, as `gym.make("stb_gym/ShutTheBoxRound-v0")` makes it.

    The spaces, rewards and infos are on the page of the environment, the docstring of `stb_gym.rounds.env`.

    Args:
        game: the name of a game, or a rules object.
        players: how many play, the player among them.
        seat: the player's, 0 to players - 1, or "drawn": in every round one of them, each as likely as the others.
        opponents: one strategy that all the others play, or a list of one for each in the order of the seats: the name
            of a strategy, "optimal" for the equilibrium of the round; the file of a saved policy; an array of a policy;
            or a function of the arrays of the game and a `Standing` that returns one.
        ties, shut_wins, indifferent: the rules of the round, see `stb_gym.Round`.
        illegal, render_mode, observation_dtype: see `TurnEnv`.
        **rules: fields of the rules that differ from the standard ones.

    Attributes:
        round: the `Round`.
        opponents: the `Opponents`, with the exact chances from which is drawn.

    Raises:
        ValueError: if an argument is not allowed, or the game is too large, saying what is allowed.
        TypeError: if a keyword is neither an argument nor a field of the rules, naming those that are.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> env = gym.make("stb_gym/ShutTheBoxRound-v0", players=2, seat=1)
        >>> observation, info = env.reset(seed=0, options={"lead": 8})
        >>> observation[-3:].tolist(), round(env.spec.reward_threshold, 4)
        ([8, 1, 0], 0.502)
    """

    def __init__(
        self,
        game: Game | str,
        players: int = 2,
        seat: int | str = "drawn",
        opponents: Lineup = "optimal",
        ties: str = "split",
        shut_wins: bool = False,
        indifferent: str = "fewer",
        illegal: str = "end",
        render_mode: str | None = None,
        *,
        observation_dtype: Any = "uint8",
        **rules: Any,
    ):
        self._rules = {"players": players, "ties": ties, "shut_wins": shut_wins, "indifferent": indifferent}
        self._against = seat, opponents
        self._place, self._holders = 0, 0
        game = game_for(type(self), game, rules)
        super().__init__(game, "score", illegal, render_mode, observation_dtype=observation_dtype)
        self._seen = list(self.opponents.seen.astype(self._observation_dtype))
        self._first, self._share = self.opponents.first.bounds(0), self.opponents.share.tolist()
        self._ends = self.opponents.one_end
        self._standing = slice(self._width, None)
        self._sees: Observation = self._seen[0]

    def set_opponents(self, opponents: Lineup) -> None:
        """See `SeatEnv.set_opponents`."""
        super().set_opponents(opponents)
        self._first, self._ends = self.opponents.first.bounds(0), self.opponents.one_end

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a round, or where `options` says, at the player's turn.

        Raises:
            ValueError: if `options` names no position of the game or no standing, or one without a legal move.
        """
        if seed is not None:
            gym.Env.reset(self, seed=seed)
        first = self._first
        if options:
            options, named = self.opponents.named(options)
            first = self._first if named is None else named.bounds(0)
            self.stepper.beginnings(options)  # which refuses what it must before anything changes
        self._place = bisect(first, (self._np_random or self.np_random).bit_generator.random_raw())
        self._sees = self._seen[self._place]
        observation, info = super().reset(options=options)
        observation[self._standing] = self._sees
        return observation, info

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Make a move and throw again; when the turn is over, so is the round.

        Raises:
            ValueError: if the action is outside the action space, or is illegal and `illegal` is "raise".
            TypeError: if the action is no integer.
            RuntimeError: before the first reset, or if the turn is over.
        """
        moved = super().step(action)
        observation, score, over, truncated, info = moved
        observation[self._standing] = self._sees
        if not over:
            return moved
        luck = self._np_random.bit_generator.random_raw()  # type: ignore[union-attr]
        self._holders = holders = bisect(self._ends[self._place, score], luck)
        info["holders"] = holders
        return observation, self._share[holders], True, truncated, info

    def snapshot(self) -> dict[str, Any]:
        """The round as it stands and the dice to come, as what JSON can hold; see `restore`."""
        return {**super().snapshot(), "place": self._place, "holders": self._holders}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Go on from a snapshot of an environment made alike: the same actions then lead to the same.

        Raises:
            ValueError: if the snapshot is not of one round, or of other rules.
        """
        place, holders = map(int, self._read_seats(snapshot, ()))
        super().restore(snapshot)
        self._place, self._holders, self._sees = place, holders, self._seen[place]

    def _beside(self, game: int) -> str:
        return self._words(self._place, self._node, self._holders)


def make_masked(mask_names: str = "gymnasium", **arguments: Any) -> MaskInObservation:
    """What `gym.make` calls for an id of a masked environment; the arguments are those of `RoundEnv`."""
    return MaskInObservation(RoundEnv(**arguments), mask_names)


make_masked.metadata = RoundEnv.metadata  # type: ignore[attr-defined]
