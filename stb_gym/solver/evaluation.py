"""Exact evaluation of a policy: its value, its regret and where it comes from. Nothing is sampled.

    u(state) = sum over actions of policy(action | state) u(next afterstate)
    regret  = u*(start) - u(start) = sum over states of visits(state) x loss(state)
    loss(state) = u*(state) - sum over actions of policy(action | state) u*(next afterstate)

with u* the optimal utility. The second form of the regret is the performance difference lemma (Kakade and Langford,
"Approximately optimal approximate reinforcement learning", 2002); it is the one reported, as it stays precise near 0.
"""

import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import FloatArray, cached_arrays, freeze
from stb_gym.checks import check_integer
from stb_gym.games import perfect_score, words_of
from stb_gym.solver.choices import PerfectPlay
from stb_gym.solver.tables import Level, TurnTables

if TYPE_CHECKING:
    from stb_gym.solver.solution import Solution


@dataclass(frozen=True)
class Mistake:
    """A state where a policy loses something.

    Attributes:
        state: index of the state.
        position: the state in words.
        plays: the most probable action of those that are not optimal; None for an illegal one.
        best: the optimal action of lowest index.
        visits: expected visits per turn.
        loss: the loss of the policy's choice there, in the objective's unit.
    """

    state: int
    position: str
    plays: int | None
    best: int
    visits: float
    loss: float

    @property
    def cost(self) -> float:
        """The contribution of the state to the regret."""
        return self.visits * self.loss


class Measured(ABC):
    """The results of measuring a policy against perfect play; values are in the objective's unit.

    Attributes:
        optimum: the solution that the policy is measured against.
        value: expected value of a turn.
        masked: whether the agent received masks or was masked; None if it is not known.
    """

    optimum: PerfectPlay
    value: float
    masked: bool | None

    def __repr__(self) -> str:
        goal = self.optimum.objective
        return f"<{self.optimum.game}: {goal.name} {self.value:.6g}, regret {self.regret:.4g} {goal.unit}>"

    @property
    @abstractmethod
    def regret(self) -> float:
        """What the policy loses against perfect play, 0 or more."""

    @property
    @abstractmethod
    def random_value(self) -> float:
        """Expected value of a turn of uniformly random legal play."""

    @property
    @abstractmethod
    def agreement_by_visits(self) -> float | None:
        """The share of moves in play, forced ones included, that are optimal; None if it is not known."""

    @property
    @abstractmethod
    def score_distribution(self) -> dict[int, float]:
        """The probability of every final score that can occur, best first."""

    @property
    @abstractmethod
    def mean_throws(self) -> float:
        """Expected number of throws in a turn."""

    @abstractmethod
    def _costliest(self, limit: int | None) -> list[Mistake]:
        """Return so many of the mistakes, costliest first."""

    def mistakes(self, limit: int | None = None) -> list[Mistake]:
        """Return the mistakes that add to the regret, costliest first.

        Args:
            limit: the greatest number of mistakes; by default all that are known.

        Raises:
            ValueError: if the limit is no integer of 0 or more.
        """
        if limit is not None:
            check_integer("limit", limit, 0, sys.maxsize)
        return self._costliest(limit)

    @property
    def costliest_mistake(self) -> str:
        """The mistake that adds most to the regret, in words; "" if a turn can meet none.

        Example:
            >>> import stb_gym
            >>> game = stb_gym.ShutTheBox()
            >>> stb_gym.evaluate(game, stb_gym.strategy(game, "biggest-first")).costliest_mistake
            'open 1,2,3,4,5,7,9, roll 6: shut 1,5 instead of shut 2,4 loses 2.07, once in 187 turns'
        """
        if not (mistakes := self.mistakes(1)):
            return ""
        [mistake] = mistakes
        words = words_of(self.optimum.game)
        plays = "an illegal action" if mistake.plays is None else words.move_in_words(words.move(mistake.plays))
        best = words.move_in_words(words.move(mistake.best))
        lost = f"loses {mistake.loss:.3g}, once in {1 / mistake.visits:,.0f} turns"
        return f"{mistake.position}: {plays} instead of {best} {lost}"

    @property
    def agreement(self) -> float | None:
        """The share of states with a legal action at which the policy's is optimal; None if it is not known."""
        return None

    @property
    def illegal_mass(self) -> float:
        """The probability that a turn ends with an illegal action."""
        return 0.0

    @property
    def normalised_score(self) -> float:
        """(random - value) / (random - optimum): 0 for random play, 1 for perfect play."""
        gap = abs(self.random_value - self.optimum.value)
        return 1 - self.regret / gap if gap > 0 else 1.0

    @property
    def shut_probability(self) -> float:
        """The probability of the game's perfect score (0 in Shut the Box and Threes) or a better one."""
        sign, perfect = self.optimum.game.sign, perfect_score(self.optimum.game)
        return sum((p for score, p in self.score_distribution.items() if sign * score >= sign * perfect), 0.0)

    def summary(self) -> dict[str, float]:
        """Return the numbers above by name, ready for JSON; those that are not known are left out."""
        known = {
            "value": self.value,
            "optimum": float(self.optimum.value),
            "regret": self.regret,
            "normalised_score": self.normalised_score,
            "agreement": self.agreement,
            "agreement_by_visits": self.agreement_by_visits,
            "shut_probability": self.shut_probability,
            "mean_throws": self.mean_throws,
            "illegal_mass": self.illegal_mass,
            "masked": self.masked,
        }
        return {name: number for name, number in known.items() if number is not None}


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Measured):
    """A policy measured against perfect play; values are in the objective's unit.

    Attributes:
        optimum: the solution that the policy is measured against.
        weights: [P] the probability of every pair at its state.
        illegal: [S] the probability of an illegal action at every state, which ends the turn with the worst score.
        masked: whether the agent received masks or was masked; None if it is not known.
    """

    optimum: "Solution"
    weights: FloatArray
    illegal: FloatArray
    masked: bool | None = None

    def __post_init__(self) -> None:
        freeze(vars(self))

    @property
    def tables(self) -> TurnTables:
        """The arrays of the game."""
        return self.optimum.tables

    @cached_arrays
    def visits(self) -> FloatArray:
        """[S] expected visits of every state in a turn."""
        return expected_visits(self.tables, self.weights)

    @cached_property
    def _illegal_utility(self) -> float:
        return self.optimum.objective.illegal_utility(self.tables.final_score)

    @cached_arrays
    def utilities(self) -> tuple[FloatArray, FloatArray]:
        """The expected utility of every afterstate [Y] and state [S] under the policy."""
        final = self.optimum.objective.utilities(self.tables.final_score).astype(float)
        return expected(self.tables, self.weights, final, self.illegal * self._illegal_utility)

    @cached_property
    def value(self) -> float:  # type: ignore[override]
        """Expected value of a turn."""
        by_afterstate, _ = self.utilities
        return float(self.optimum.objective.sign * by_afterstate[self.tables.start])

    @cached_arrays
    def loss(self) -> FloatArray:
        """[S] the loss of the policy's choice at each state, if play were perfect afterwards."""
        lost = -self.tables.sum_at_states(self.weights * self.optimum.advantage.astype(float))
        lost_by_illegal = self.optimum.state_utilities.astype(float) - self._illegal_utility
        return np.maximum(lost + self.illegal * lost_by_illegal, 0)

    @cached_property
    def regret(self) -> float:
        """What the policy loses against perfect play, 0 or more."""
        return float(self.visits @ self.loss)

    @cached_property
    def random_value(self) -> float:
        """Expected value of a turn of uniformly random legal play."""
        return Evaluation(self.optimum, self.tables.uniform, np.zeros(self.tables.num_states)).value

    @cached_arrays
    def _departs(self) -> NDArray[Any]:
        """[D] the probability that the policy takes an action that is not optimal."""
        departs = self.tables.sum_at_states(self.weights * ~self.optimum.optimal) + self.illegal
        return departs[self.tables.decisions]

    @cached_property
    def agreement(self) -> float:
        """The share of states with a legal action at which the policy's action is optimal."""
        return float(1 - self._departs.mean())

    @cached_property
    def agreement_by_visits(self) -> float:
        """The same with each state weighted by its visits: the share of moves in play that are optimal."""
        visits = self.visits[self.tables.decisions]
        return max(float(1 - visits @ self._departs / visits.sum()), 0.0)  # rounding may make it negative

    @cached_property
    def score_distribution(self) -> dict[int, float]:
        """The probability of every final score that can occur, best first."""
        probability = score_chances(self.tables, self.visits)
        probability[-1] += self.illegal_mass
        return {int(self.tables.scores[i]): float(probability[i]) for i in np.flatnonzero(probability)}

    @cached_property
    def illegal_mass(self) -> float:
        """The probability that a turn ends with an illegal action."""
        return min(float(self.visits @ self.illegal), 1.0)  # rounding may exceed 1

    @cached_property
    def mean_throws(self) -> float:
        """Expected number of throws in a turn."""
        return float(self.visits @ (self.tables.dice[self.tables.state_origin] > 0))

    def _costliest(self, limit: int | None) -> list[Mistake]:
        cost = self.visits * self.loss
        order = np.argsort(-cost, kind="stable")[: np.count_nonzero(cost)][:limit]
        best = self.optimum.policy
        wrong = self.weights * ~self.optimum.optimal
        mistakes = []
        for state in order.tolist():
            pair = max(self.tables.pairs_of(state), key=wrong.item)
            is_legal = wrong[pair] >= self.illegal[state]
            plays = int(self.tables.pair_action[pair]) if is_legal else None
            position = self.tables.describe_state(state)
            visits, loss = float(self.visits[state]), float(self.loss[state])
            mistakes.append(Mistake(state, position, plays, int(best[state]), visits, loss))
        return mistakes

    def decisions(self) -> dict[str, list[Any]]:
        """Return what the policy does at every state that has a move, as columns.

        Returns:
            The columns of `Solution.decisions` (D rows), then "plays" (every move that the policy may make there, or
            "an illegal action"), "loss", "visits" (expected visits in a turn of the policy) and "cost" (loss times
            visits; they sum to the regret).
        """
        at = self.tables.decisions
        plays = self.tables.moves_in_words(self.weights > 0)
        for row in np.flatnonzero(self.illegal[at] > 0).tolist():
            plays[row] = f"{plays[row]} or an illegal action" if plays[row] else "an illegal action"
        return self.optimum.decisions() | {
            "plays": plays,
            "loss": self.loss[at].tolist(),
            "visits": self.visits[at].tolist(),
            "cost": (self.visits * self.loss)[at].tolist(),
        }

    def departures(self) -> dict[str, list[Any]]:
        """Return the rows of `decisions` where the policy plays a move that is not optimal, greatest loss first.

        Example:
            >>> import stb_gym
            >>> game = stb_gym.ShutTheBox()
            >>> departures = stb_gym.evaluate(game, stb_gym.strategy(game, "biggest-first")).departures()
            >>> len(departures["loss"]), departures["afterstate"][0], departures["roll"][0], departures["best"][0]
            (210, 'open 1,2,4,5,8,9', '12', 'shut 4,8')
        """
        order = np.argsort(-self.loss[self.tables.decisions], kind="stable")
        rows = order[self._departs[order] > 0].tolist()
        return {name: [values[row] for row in rows] for name, values in self.decisions().items()}


def expected(
    tables: TurnTables,
    weights: FloatArray,
    utility: FloatArray,
    illegal: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return the expected utility of every afterstate [Y] and state [S] under a policy.

    Args:
        tables: the arrays of the game.
        weights: [P] the probability of every pair at its state.
        utility: [Y] the utility of a turn that ends at the afterstate.
        illegal: [S] the utility of illegal actions, times their probability; 0 if not given.
    """

    def choose(after: FloatArray, level: Level) -> FloatArray:
        legal = level.reduce(np.add, weights[level.pairs] * after)
        return legal if illegal is None else legal + illegal[level.states][level.live]

    return tables.sweep(utility, choose)


def expected_visits(tables: TurnTables, weights: FloatArray) -> FloatArray:
    """Return [S, *K] the expected visits of every state, if pairs are taken with probabilities `weights` [P, *K].

    Levels are passed highest first, the other way round than in solving.
    """
    columns = weights[0].size
    column = np.arange(columns)
    reached = np.zeros((tables.num_afterstates, columns))
    reached[tables.start] = 1
    visited = np.empty((tables.num_states, columns))
    for level in reversed(tables.levels):
        at_states = np.repeat(reached[level.afterstates], len(level.rolls.counts), axis=0)
        at_states *= tables.state_probability[level.states, None]
        visited[level.states] = at_states
        first = level.states.start
        taken = at_states[tables.pair_state[level.pairs] - first] * weights[level.pairs].reshape(-1, columns)
        place = tables.pair_afterstate[level.pairs, None] * columns + column
        lower = reached[: level.afterstates.start]  # where the pairs lead
        lower += np.bincount(place.ravel(), taken.ravel(), lower.size).reshape(lower.shape)
    return visited.reshape(-1, *weights.shape[1:])


def score_chances(tables: TurnTables, visits: FloatArray) -> FloatArray:
    """Return [T, *K] the probability of every final score, best first, given the `visits` [S, *K] of the states."""
    ends = tables.choices == 0
    score = tables.score_index[tables.state_origin[ends]]
    chances = np.zeros((len(tables.scores), *visits.shape[1:]))
    np.add.at(chances, score, visits[ends])
    return chances
