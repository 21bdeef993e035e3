"""All seats of many rounds at once, as a Gymnasium vector environment, for agents that learn by self-play."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from stb_gym.arrays import BoolArray, FloatArray, IntArray
from stb_gym.envs import Step, game_for, make_turns
from stb_gym.envs.base import numbers_of
from stb_gym.games import Game
from stb_gym.rounds.env import with_scores
from stb_gym.rounds.round import Round
from stb_gym.rounds.scores_so_far import ScoresSoFar
from stb_gym.rounds.vector_env import RoundVectorBase


class Play:
    """B rounds of N players in play, turn by turn. The game has T final scores.

    Args:
        rules: the round.
        count: B.

    Attributes:
        ranks: [B, N] the ranks of the scores so far, 0 for the best; T before a turn and after an illegal action.
        seat: [B] whose turn it is; N when the round is over after all turns.

    Example:
        >>> import numpy as np, stb_gym
        >>> play, only = Play(stb_gym.rounds.Round(stb_gym.Threes(), players=2), count=1), np.array([0])
        >>> [play.end_turns(only, np.array([rank]))[1].tolist() for rank in (9, 4)]  # the second turn ends the round
        [[], [[0.0, 1.0]]]
    """

    def __init__(self, rules: Round, count: int):
        self._table = rules.scores_so_far
        self._no_score = len(rules.scores_so_far.scores)
        self.ranks: IntArray = np.full((count, rules.players), self._no_score)
        self.seat: IntArray = np.zeros(count, np.int64)

    def begin(self, rounds: IntArray) -> None:
        """Begin rounds [K] again."""
        self.ranks[rounds] = self._no_score
        self.seat[rounds] = 0

    @property
    def leads(self) -> BoolArray:
        """[B, N] True for every player who holds the lead."""
        return (self.ranks == self.ranks.min(axis=1, keepdims=True)) & (self.ranks < self._no_score)

    @property
    def observed(self) -> IntArray:
        """[B, 3] what the player whose turn it is sees: rank of the lead (T without one), holders, players after."""
        after = self._table.players - 1 - self.seat
        return np.column_stack((self.ranks.min(axis=1), self.leads.sum(axis=1), after))

    def end_turns(self, rounds: IntArray, ranks: IntArray) -> tuple[IntArray, FloatArray]:
        """End one turn in each of rounds [K], with the ranks [K] of the final scores, T for an illegal action.

        Returns:
            The L rounds that are over, which begin again, and what every player won in them, [L, N].
        """
        self.ranks[rounds, self.seat[rounds]] = ranks
        self.seat[rounds] += 1
        over = (self.seat == self._table.players) | self._table.over[self._index()]
        ended = rounds[over[rounds]]
        wins = (self.leads * self._table.share[self._index(), None])[ended]
        self.begin(ended)
        return ended, wins

    def is_under_way(self) -> BoolArray:
        """Return [B] True where a round can go on: it is not over, and no seat that has yet to play has a rank."""
        yet_to_play = np.arange(self._table.players) >= self.seat[:, None]
        return (self.ranks == self._no_score).all(axis=1, where=yet_to_play) & ~self._table.over[self._index()]

    def scores_so_far(self, number: int) -> ScoresSoFar:
        """Return what the player whose turn it is sees in a round."""
        return self._table.at_row(int(self._index()[number]), int(self.observed[number, 2]))

    def _index(self) -> IntArray:
        """Return [B] the rows of the scores so far; see `ScoresSoFarTable`."""
        lead, holders, _ = self.observed.T
        return lead * self._table.players + np.maximum(holders - 1, 0)


class SelfPlayVectorEnv(RoundVectorBase):
    """`num_envs` rounds at once in which each action is that of the seat whose turn it is.

    Observations are those of `RoundEnv`. The step that ends a turn begins the next one, of the next seat or of a new
    round, as `TurnVectorEnv` does in SAME_STEP mode. Rewards are 0, because what a turn wins is known only when the
    round is over. So infos hold

    - `seat` [B]: the seat that plays next, which the observation is for;
    - `wins` [B, N]: what each seat wins by the tie rule, in steps that end a round, for the rounds of `_wins` [B].

    After an illegal action the seat wins nothing, and the others play on as if it had not been there.

    Args:
        game: the name of a game, or a rules object.
        num_envs: how many rounds.
        players: how many play each.
        ties, shut_wins: the rules of the round, see `stb_gym.rounds.Round`.
        illegal, observation_dtype: see `TurnEnv`.
        **rules: fields of the rules that differ from the standard ones.

    Attributes:
        round: the `Round`.
        turn: the environment of the turns.

    Example:
        >>> import stb_gym
        >>> envs = stb_gym.rounds.SelfPlayVectorEnv("threes", num_envs=1000, players=3)
        >>> _, infos = envs.reset(seed=0)
        >>> while "wins" not in infos:
        ...     observations, _, _, _, infos = envs.step(envs.legal_sample())
        >>> infos["wins"][infos["_wins"]].sum(axis=1).tolist()[:3], observations.shape
        ([1.0, 1.0, 1.0], (1000, 10))
    """

    def __init__(
        self,
        game: Game | str,
        num_envs: int = 1,
        players: int = 2,
        ties: str = "split",
        shut_wins: bool = False,
        illegal: str = "end",
        *,
        observation_dtype: Any = "float32",
        **rules: Any,
    ):
        game = game_for(type(self), game, rules)
        turn = make_turns(
            game,
            num_envs=num_envs,
            illegal=illegal,
            autoreset_mode=AutoresetMode.SAME_STEP,
            observation_dtype=observation_dtype,
            stepper="tables",
        )
        super().__init__(Round(game, players, ties, shut_wins), turn)
        self._play = Play(self.round, num_envs)

    @property
    def observed(self) -> IntArray:
        """[B, 3] what the players whose turn it is see; see `RoundBase.observed`."""
        return self._play.observed

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin all rounds, or those of `options["reset_mask"]`; the first turns begin where `options` says.

        Raises:
            ValueError: as `TurnVectorEnv.reset`.
        """
        observation, infos = self.turn.reset(seed=seed, options=options)
        self._play.begin(np.flatnonzero(infos["_action_mask"]))
        return with_scores(observation, self._play.observed), infos | self._seats()

    def step(self, actions: Any) -> Step:
        """Make a move in every round and throw again; where a turn is over, the next seat throws.

        Raises:
            ValueError: if an action is outside the action space, or is illegal and `illegal` is "raise".
            RuntimeError: before the first reset.
        """
        observation, _, over, truncated, infos = self.turn.step(actions)
        (games,) = over.nonzero()
        if len(games):
            infos["final_obs"] = with_scores(infos["final_obs"], self._play.observed)
            final = infos["final_info"]
            ranks = self.round.scores_so_far.ranks(final["final_score"][games], final["illegal_action"][games])
            ended, wins = self._play.end_turns(games, ranks)
            if len(ended):
                infos["wins"], infos["_wins"] = np.zeros((self.num_envs, self.round.players)), np.zeros_like(over)
                infos["wins"][ended], infos["_wins"][ended] = wins, True
        observation = with_scores(observation, self._play.observed)
        return observation, np.zeros(self.num_envs), over, truncated, infos | self._seats()

    def _seats(self) -> dict[str, Any]:
        return {"seat": self._play.seat.copy(), "_seat": np.ones(self.num_envs, np.bool_)}

    def snapshot(self) -> dict[str, Any]:
        """Return the state of the rounds and of the dice, as arrays and what JSON can hold; see `restore`."""
        ranks = {f"rank_{seat}": ranks.copy() for seat, ranks in enumerate(self._play.ranks.T)}
        return {**self.turn.snapshot(), "of": repr(self.round), "seat": self._play.seat.copy(), **ranks}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Continue from a snapshot; see `TurnVectorEnv.restore`.

        Raises:
            ValueError: if the snapshot is not of as many rounds with these rules.
        """
        ranks = [f"rank_{seat}" for seat in range(self.round.players)]
        ranges = {
            "seat": range(self.round.players),
            **dict.fromkeys(ranks, range(len(self.round.scores_so_far.scores) + 1)),
        }
        numbers = numbers_of(snapshot, repr(self.round), (self.num_envs,), ranges)
        play = Play(self.round, self.num_envs)
        play.seat, play.ranks = numbers["seat"], np.column_stack([numbers[name] for name in ranks])
        if not play.is_under_way().all():
            raise ValueError("the snapshot has ranks of seats that have not played, or of a round that is over")
        self.turn.restore({**snapshot, "of": repr(self.game)})
        self._play = play
