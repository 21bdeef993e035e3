"""The meter of rounds: how much does anybody's agent win in its seat, and how much more could be won there?"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import IntArray, title
from stb_gym.measure.agents import batch_policy
from stb_gym.measure.wrapped import AgentView, layers_of
from stb_gym.output import html_table
from stb_gym.rounds.opponents import Opponents
from stb_gym.solver import (
    Policy,
    Standing,
    TurnTables,
    edge_weights,
    expected_visits,
    score_chances,
)

AT_ONCE = 2**16  # nodes in one question to an agent
Chances = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class RoundRegret:
    """An agent in a round, exactly, with C standings that it may see.

    Attributes:
        opponents: whom it plays.
        wins: [C] what it may expect to win, its share by the tie rule, at the standings that it can meet; else 0.
        most: [C] what the best response wins there.
    """

    opponents: Opponents
    wins: Chances
    most: Chances

    def __repr__(self) -> str:
        return f"<{self.opponents.rules.game}: win {self.value:.6g}, regret {self.regret:.4g}>"

    @property
    def value(self) -> float:
        """The agent's expected win: its chance to win or, under "split", its share of the win."""
        return float(self.opponents.chance @ self.wins)

    @property
    def best(self) -> float:
        """The value of the best response to the opponents."""
        return float(self.opponents.chance @ self.most)

    @property
    def regret(self) -> float:
        """How much more the best response wins."""
        return max(0.0, float(self.opponents.chance @ (self.most - self.wins)))

    @property
    def mean_reward(self) -> float:
        """The expected win in a round in which the agent has a turn, as the environments draw them."""
        return self.value / float(self.opponents.chance.sum())

    @property
    def seats(self) -> Chances:
        """[S] the expected win in each of the seats that the agent may have."""
        return self._by_seat(self.wins)

    @property
    def gains(self) -> Chances:
        """[S] how much more the best response wins in each of them."""
        return np.maximum(0, self._by_seat(self.most - self.wins))

    def table(self) -> dict[str, list[Any]]:
        """Return the agent's seats as columns: "seat" (from 1), "wins" (expected win) and "regret"."""
        seats = [seat + 1 for seat in self.opponents.seats]
        return {"seat": seats, "wins": self.seats.tolist(), "regret": self.gains.tolist()}

    def _repr_html_(self) -> str:
        """Return the seats, for notebooks."""
        rules = self.opponents.rules
        return html_table(f"{title(rules.game)}, {rules.players} players, ties {rules.ties}", self.table())

    def _by_seat(self, worth: Chances) -> Chances:
        """[S] what the standings of each seat are worth on average, given what they are worth [C]."""
        each = [self.opponents.seat == seat for seat in range(len(self.opponents.seats))]
        return np.array([(self.opponents.chance * worth)[mine].sum() for mine in each]) * len(each)

    def dearest(self, limit: int = 10) -> list[tuple[Standing, float]]:
        """The standings at which most is lost, with the part of the regret that is lost there, most first."""
        lost = self.opponents.chance * (self.most - self.wins)
        order = np.argsort(-lost, kind="stable")[:limit]
        return [(self.opponents.standing(int(place)), float(lost[place])) for place in order if lost[place] > 0]


class RoundMeter:
    """Measures agents in a round against the best response to their opponents, exactly.

    A call asks the agent about every position at every standing that it can meet, as its environment shows them. What
    counts as an agent, and how it is asked, see `stb_gym.RegretMeter`.

    Args:
        env: an environment of a seat of a round, single or vector, however wrapped.

    Attributes:
        opponents: the `Opponents` when the meter was made: after `set_opponents`, make another.

    Raises:
        TypeError: if it is no such environment.
        ValueError: if what a wrapper shows depends on more than the position, or there are several environments that
            differ.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> meter = stb_gym.RoundMeter(gym.make("stb_gym/ThreesRound-v0", seat=1))
        >>> found = meter(lambda observations, masks: masks.argmax(axis=1))
        >>> round(found.value, 4), round(found.best, 4)
        (0.4027, 0.5247)
    """

    def __init__(self, env: Any):
        try:
            inner = layers_of(env)[0]
            self.opponents: Opponents = inner.opponents
            others = [layers_of(other)[0].opponents for other in getattr(getattr(env, "unwrapped", env), "envs", ())]
        except (AttributeError, TypeError):
            raise TypeError(
                f"{env!r:.80} is no environment of one seat of a round, such as gym.make('stb_gym/ThreesRound-v0')"
            ) from None
        if not all(map(self.opponents.are_those, others)):
            raise ValueError(f"the environments of {type(env).__name__} have different seats, opponents or rounds")
        self.illegal: str = inner.illegal
        self._shown = AgentView(env, inner.game)
        tables = self.opponents.rules.tables
        self._masks = tables.legal(tables.decisions)

    def __call__(self, agent: Any, deterministic: bool = True) -> RoundRegret:
        """Measure an agent.

        Args:
            agent: see `stb_gym.RegretMeter`.
            deterministic: whether a torch module or a model with `predict` plays its best action, or samples.

        Raises:
            TypeError: if it is no agent, or its answer has a wrong type.
            ValueError: if it is one of other observations or actions, or its answer is no policy of the game.
        """
        opponents, tables = self.opponents, self.opponents.rules.tables
        answers, wins = batch_policy(agent, deterministic, self._shown), np.zeros(len(opponents.chance))
        for seat, met in opponents.met(max(1, AT_ONCE // len(self._masks))):
            policies = self._asked(answers, met)
            weights = np.stack([edge_weights(tables, each, self.illegal) for each in policies], axis=1)
            chances = score_chances(tables, expected_visits(tables, weights))  # who forfeits the turn wins nothing
            wins[met] = (chances * opponents.reply(seat).utility(opponents.index[met]).T).sum(axis=0)
        return RoundRegret(opponents, wins, opponents.most)

    def strategy(self, agent: Any, deterministic: bool = True) -> Callable[[TurnTables, Standing], Policy]:
        """An agent as a strategy of the round, which plays in any seat that its environment shows.

        `Round.evaluate` then tells how exploitable an agent is that plays in every seat, as after self-play: what each
        seat could gain by a best response. It may be an opponent in another environment, too.

        Args:
            agent: as in a call, but who acts illegally cannot be evaluated in a round.
            deterministic: as in a call.

        Raises:
            TypeError: as in a call.
            ValueError: as in a call.

        Example:
            >>> import gymnasium as gym, stb_gym
            >>> meter = stb_gym.RoundMeter(gym.make("stb_gym/ThreesRound-v0", players=2))
            >>> plays = meter.strategy(lambda observations, masks: masks.argmax(axis=1))
            >>> everyone = meter.opponents.rules.evaluate([plays, plays])
            >>> [round(everyone.best_response(seat).gain, 4) for seat in range(2)]
            [0.0979, 0.1236]
        """
        answers, opponents = batch_policy(agent, deterministic, self._shown), self.opponents

        def plays(tables: TurnTables, standing: Standing) -> Policy:
            index = opponents.rules.standings.find(standing)
            seen = np.flatnonzero((opponents.index == index) & (opponents.seen[:, 2] == standing.after))
            if not len(seen):
                raise ValueError('the environment shows another seat: make it with seat="drawn"')
            return self._asked(answers, seen)[0]

        return plays

    def _asked(self, answers: Any, met: IntArray) -> list[NDArray[Any]]:
        """The policies of an agent at standings."""
        tables = self.opponents.rules.tables
        turn, seen = tables.observation[tables.decisions], self.opponents.seen[met]
        observations = np.hstack((np.tile(turn, (len(met), 1)), seen.repeat(len(turn), axis=0)))
        masks = np.tile(self._masks, (len(met), 1))
        answer = answers(self._shown(observations, masks), masks)
        return [tables.policy(part) for part in np.split(answer, len(met))]
