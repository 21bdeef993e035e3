"""The meter of rounds: an agent's exact expected win in its seat, and how much more its best response wins."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import FloatArray, IntArray
from stb_gym.layers import layers_of
from stb_gym.measure.agents import Batch, Player, player_of
from stb_gym.measure.repetition import warn_of_other_answers
from stb_gym.measure.wrapped import AgentView
from stb_gym.messages import quoted
from stb_gym.rounds.env import RoundEnv
from stb_gym.rounds.opponents import Opponents
from stb_gym.rounds.scores_so_far import ScoresSoFar
from stb_gym.rounds.strategies import RoundFunction
from stb_gym.rounds.vector_env import RoundVectorEnv
from stb_gym.solver import Policy, TurnTables, expected_visits, pair_weights, score_chances
from stb_gym.trial import check_wrappers

AT_ONCE = 2**16  # states in one question to an agent


@dataclass(frozen=True, eq=False, repr=False)
class RoundRegret:
    """The exact results of an agent in a round in which its turn has C possible starts; see `Opponents`.

    Attributes:
        opponents: its opponents.
        wins: [C] the agent's expected win (its share by the tie rule) at each start; 0 where its probability is 0.
        best_wins: [C] the best response's expected win there.
    """

    opponents: Opponents
    wins: FloatArray
    best_wins: FloatArray

    def __repr__(self) -> str:
        return f"<{self.opponents.rules.game}: win {self.value:.6g}, regret {self.regret:.4g}>"

    @property
    def value(self) -> float:
        """The agent's expected win: its chance to win or, under "split", its share of the win."""
        return float(self.opponents.chance @ self.wins)

    @property
    def best(self) -> float:
        """The expected win of the best response to the opponents; 0 counts for rounds that end before the turn."""
        return float(self.opponents.chance @ self.best_wins)

    @property
    def regret(self) -> float:
        """How much more the best response wins."""
        return max(0.0, float(self.opponents.chance @ (self.best_wins - self.wins)))

    @property
    def seats(self) -> FloatArray:
        """[seats] the expected win in each of the seats that the agent may have."""
        return self._by_seat(self.wins)

    @property
    def gains(self) -> FloatArray:
        """[seats] how much more the best response wins in each of them."""
        return np.maximum(0, self._by_seat(self.best_wins - self.wins))

    def _by_seat(self, value: FloatArray) -> FloatArray:
        """Return [seats] the expectation of `value` [C] in each seat."""
        seats = len(self.opponents.seats)
        return np.bincount(self.opponents.seat, self.opponents.chance * value, seats).astype(float) * seats


class RoundMeter:
    """Measures agents in a round exactly against the best response to their opponents.

    A call asks the agent about every state of its turn, with all scores so far that it can meet, as its environment
    shows them. See `stb_gym.RegretMeter` for what an agent can be.

    Args:
        env: an environment of one seat of a round, single or vector, however wrapped.

    Attributes:
        opponents: the `Opponents` when the meter was made: after `set_opponents`, make another meter.

    Raises:
        TypeError: if `env` is not an environment of one seat of a round.
        ValueError: if a wrapper shows more than the position, or several environments differ.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> meter = stb_gym.rounds.RoundMeter(gym.make("stb_gym/ThreesRound-v0", seat=1))
        >>> found = meter(lambda observations, masks: masks.argmax(axis=1))
        >>> round(found.value, 4), round(found.best, 4)
        (0.4027, 0.5247)
    """

    def __init__(self, env: Any):
        members = getattr(getattr(env, "unwrapped", env), "envs", None) or [env]
        seats = [layers_of(member)[0] for member in members]
        if not all(isinstance(seat, RoundEnv | RoundVectorEnv) for seat in seats):
            raise TypeError(
                f"{quoted(env)} is no environment of one seat of a round, such as gym.make('stb_gym/ThreesRound-v0')"
            )
        self.opponents: Opponents = seats[0].opponents
        for other in (seat.opponents for seat in seats[1:]):
            same = other.rules == self.opponents.rules and np.array_equal(other.chance, self.opponents.chance)
            if not same or not np.array_equal(other.holder_chances, self.opponents.holder_chances):
                raise ValueError(f"the environments of {type(env).__name__} have different seats, opponents or rounds")
        self.illegal: str = seats[0].illegal
        self._view = AgentView(env, seats[0].game, check_wrappers(env))
        tables = self.opponents.rules.tables
        self._masks = tables.legal[tables.decisions]

    def __call__(self, agent: Any, deterministic: bool = True, masked: bool | None = None) -> RoundRegret:
        """Measure an agent exactly.

        Args:
            agent: see `stb_gym.RegretMeter`.
            deterministic: see `stb_gym.RegretMeter`.
            masked: whether it chooses among legal actions only; see `stb_gym.RegretMeter`.

        Returns:
            Its expected win, and how much more the best response wins.

        Raises:
            TypeError: if `agent` is not an agent, or its answer has a wrong type.
            ValueError: if it expects other observations or actions, or its answer is not a policy of the game.
        """
        opponents, tables = self.opponents, self.opponents.rules.tables
        player = player_of(agent, self._view, deterministic, masked)
        wins = np.zeros(len(opponents.chance))
        possible = np.flatnonzero(opponents.chance)
        size = max(1, AT_ONCE // len(self._masks))
        for first in range(0, len(possible), size):
            starts = possible[first : first + size]
            policies = self._policies(player, starts, warns=deterministic and first == 0)
            weights = np.stack([pair_weights(tables, policy, self.illegal)[0] for policy in policies], axis=1)
            chances = score_chances(tables, expected_visits(tables, weights))  # a forfeited turn wins nothing
            wins[starts] = (chances * opponents.utility[starts].T).sum(axis=0)
        return RoundRegret(opponents, wins, opponents.best_wins)

    def strategy(self, agent: Any, deterministic: bool = True, masked: bool | None = None) -> RoundFunction:
        """Turn an agent into a strategy for every seat that its environment shows.

        With it, `Round.evaluate` shows how exploitable the agent is if it plays in every seat, as after self-play: what
        each seat could gain by a best response. The strategy may also be an opponent in another environment.

        Args:
            agent: as in a call, except that its actions must be legal.
            deterministic: as in a call.
            masked: as in a call.

        Returns:
            A function of the arrays of the game and the `ScoresSoFar` that returns a policy.

        Raises:
            TypeError: as in a call.
            ValueError: as in a call.

        Example:
            >>> import gymnasium as gym, stb_gym
            >>> meter = stb_gym.rounds.RoundMeter(gym.make("stb_gym/ThreesRound-v0", players=2))
            >>> plays = meter.strategy(lambda observations, masks: masks.argmax(axis=1))
            >>> everyone = meter.opponents.rules.evaluate([plays, plays])
            >>> [round(everyone.best_response(seat).gain, 4) for seat in range(2)]
            [0.0979, 0.1236]
        """
        player = player_of(agent, self._view, deterministic, masked)
        opponents = self.opponents
        self._policies(player, np.flatnonzero(opponents.chance)[:1], warns=deterministic)

        def plays(tables: TurnTables, scores_so_far: ScoresSoFar) -> Policy:
            if tables.game != opponents.rules.game:
                raise ValueError(f"the strategy is one for {opponents.rules.game}, not for {tables.game}")
            row, after = opponents.rules.scores_so_far.find(scores_so_far), scores_so_far.after
            starts = np.flatnonzero((opponents.row == row) & (opponents.observed[:, 2] == after))
            if not len(starts):
                raise ValueError('the environment shows another seat: make it with seat="drawn"')
            return self._policies(player, starts)[0]

        return plays

    def _policies(self, player: Player, starts: IntArray, warns: bool = False) -> list[NDArray[Any]]:
        """Return the policy of an agent after each of some starts; may warn if it does not answer the same twice."""
        tables = self.opponents.rules.tables
        turn, observed = tables.observation[tables.decisions], self.opponents.observed[starts]
        observations = np.hstack((np.tile(turn, (len(starts), 1)), observed.repeat(len(turn), axis=0)))
        masks = np.tile(self._masks, (len(starts), 1))

        def ask(indices: IntArray) -> NDArray[Any]:
            return player(Batch(self._view(observations[indices], masks[indices]), masks[indices]))

        answers = ask(np.arange(len(masks)))
        if warns:
            warn_of_other_answers(answers, ask)
        return [tables.policy(part) for part in np.split(answers, len(starts))]
