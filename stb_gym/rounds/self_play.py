"""All seats of many rounds at once, as a Gymnasium vector environment, for agents that learn by self-play."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from stb_gym.arrays import FloatArray, IntArray
from stb_gym.envs import Step, TurnVectorEnv, game_for
from stb_gym.games import Game
from stb_gym.rounds.env import StandingEnv, with_standing
from stb_gym.rounds.round import Round
from stb_gym.rounds.scores_so_far import ScoresSoFar


class Play:
    """B rounds of N players in play, turn by turn. The game has T final scores; the place of the best is 0.

    Args:
        rules: the round.
        count: B.

    Attributes:
        places: [B, N] the places of the scores so far; T before a player's turn and after a forfeited one.
        seat: [B] whose turn it is; N when the round is over after all turns.

    Example:
        >>> import numpy as np, stb_gym
        >>> play, only = Play(stb_gym.rounds.Round(stb_gym.Threes(), players=2), count=1), np.array([0])
        >>> [play.end_turns(only, np.array([place]))[1].tolist() for place in (9, 4)]  # the second turn ends the round
        [[], [[0.0, 1.0]]]
    """

    def __init__(self, rules: Round, count: int):
        self._standings = rules.scores_so_far
        self._no_score = len(rules.scores_so_far.scores)
        self.places: IntArray = np.full((count, rules.players), self._no_score)
        self.seat: IntArray = np.zeros(count, np.int64)

    def begin(self, rounds: IntArray) -> None:
        """Begin rounds [K] again."""
        self.places[rounds] = self._no_score
        self.seat[rounds] = 0

    @property
    def leads(self) -> NDArray[np.bool_]:
        """[B, N] True for every player who holds the lead."""
        return (self.places == self.places.min(axis=1, keepdims=True)) & (self.places < self._no_score)

    @property
    def seen(self) -> IntArray:
        """[B, 3] what the player whose turn it is sees: place of the lead (T without one), holders, players after."""
        after = self._standings.players - 1 - self.seat
        return np.column_stack((self.places.min(axis=1), self.leads.sum(axis=1), after))

    def end_turns(self, rounds: IntArray, places: IntArray) -> tuple[IntArray, FloatArray]:
        """End one turn in each of rounds [K], with the places [K] of the final scores, T for an illegal action.

        Returns:
            The L rounds that are over, which begin again, and what every player won in them, [L, N].
        """
        self.places[rounds, self.seat[rounds]] = places
        self.seat[rounds] += 1
        over = (self.seat == self._standings.players) | self._standings.over[self._index()]
        ended = rounds[over[rounds]]
        wins = (self.leads * self._standings.share[self._index(), None])[ended]
        self.begin(ended)
        return ended, wins

    def standing(self, number: int) -> ScoresSoFar:
        """Return what the player whose turn it is sees in a round."""
        return self._standings.at_row(int(self._index()[number]), int(self.seen[number, 2]))

    def _index(self) -> IntArray:
        """Return [B] the indices of the standings; see `ScoresSoFarTable`."""
        lead, holders, _ = self.seen.T
        return lead * self._standings.players + np.maximum(holders - 1, 0)


class SelfPlayVectorEnv(StandingEnv, TurnVectorEnv):
    """`num_envs` rounds at once in which each action is that of the seat whose turn it is.

    Observations are those of `RoundEnv`. The step that ends a turn begins the next one, of the next seat or of a new
    round, as `TurnVectorEnv` does in SAME_STEP mode. Rewards are 0, because what a turn wins is known only when the
    round is over. So infos hold

    - `seat` [B]: who plays next, whose observation it is;
    - `wins` [B, N]: what each seat wins by the tie rule, in steps that end a round, for the rounds of `_wins` [B].

    An illegal action forfeits the turn: its seat wins nothing, and the others play on as if it had not been there.

    Args:
        game: the name of a game, or a rules object.
        num_envs: how many rounds.
        players: how many play each.
        ties, shut_wins: the rules of the round, see `stb_gym.rounds.Round`.
        illegal, render_mode, observation_dtype: see `TurnEnv`.
        **rules: fields of the rules that differ from the standard ones.

    Attributes:
        round: the `Round`.

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
        render_mode: str | None = None,
        *,
        observation_dtype: Any = "float32",
        **rules: Any,
    ):
        super().__init__(
            game_for(type(self), game, rules),
            num_envs,
            "score",
            illegal,
            render_mode,
            AutoresetMode.SAME_STEP,
            observation_dtype=observation_dtype,
            stepper="tables",
        )
        rules_of_round = Round(self.game, players, ties, shut_wins)
        self.single_observation_space = self._play_in(rules_of_round, self.single_observation_space)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._play = Play(self.round, num_envs)

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin all rounds, or those of `options["reset_mask"]`; the first turns begin where `options` says.

        Raises:
            ValueError: as `TurnVectorEnv.reset`.
        """
        observation, infos = super().reset(seed=seed, options=options)
        self._play.begin(np.flatnonzero(infos["_action_mask"]))
        return with_standing(observation, self._play.seen), infos | self._seats()

    def step(self, actions: Any) -> Step:
        """Make a move in every round and throw again; where a turn is over, the next seat throws.

        Raises:
            ValueError: if an action is outside the action space, or is illegal and `illegal` is "raise".
            RuntimeError: before the first reset.
        """
        observation, _, over, truncated, infos = super().step(actions)
        (games,) = over.nonzero()
        if len(games):
            infos["final_obs"] = with_standing(infos["final_obs"], self._play.seen)
            final = infos["final_info"]
            places = self.round.scores_so_far.ranks(final["final_score"][games], final["illegal_action"][games])
            ended, wins = self._play.end_turns(games, places)
            if len(ended):
                infos["wins"], infos["_wins"] = np.zeros((self.num_envs, self.round.players)), np.zeros_like(over)
                infos["wins"][ended], infos["_wins"][ended] = wins, True
        observation = with_standing(observation, self._play.seen)
        return observation, np.zeros(self.num_envs), over, truncated, infos | self._seats()

    def _standings(self) -> IntArray:
        return self._play.seen

    def _seats(self) -> dict[str, Any]:
        return {"seat": self._play.seat.copy(), "_seat": np.ones(self.num_envs, np.bool_)}

    def snapshot(self) -> dict[str, Any]:
        """Return the state of the rounds and of the dice, as arrays and what JSON can hold; see `restore`."""
        places = {f"place_{seat}": places.copy() for seat, places in enumerate(self._play.places.T)}
        return {**super().snapshot(), "seat": self._play.seat.copy(), **places}

    def _limits(self) -> dict[str, int]:
        places = {f"place_{seat}": len(self.round.scores_so_far.scores) + 1 for seat in range(self.round.players)}
        return {**super()._limits(), "seat": self.round.players, **places}

    def _go_on(self, numbers: Mapping[str, IntArray]) -> None:
        super()._go_on(numbers)
        self._play.seat = numbers["seat"]
        self._play.places = np.column_stack([numbers[f"place_{seat}"] for seat in range(self.round.players)])

    def _beside(self, game: int) -> str:
        return f"player_{self._play.seat[game]}: {self._play.standing(game).in_words(self.game)}"
