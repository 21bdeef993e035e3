"""Exact evaluation of a policy: its value, its regret and where it comes from. Nothing is sampled.

    u(node) = sum over actions of policy(action | node) u(next state)
    regret  = u*(start) - u(start) = sum over nodes of visits(node) x loss(node)
    loss(node) = u*(node) - sum over actions of policy(action | node) u*(next state)

with u* the optimal utility. The second form of the regret is the performance difference lemma (Kakade and Langford,
"Approximately optimal approximate reinforcement learning", 2002); it is the one reported, as it stays precise near 0.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.solver.measured import Measured, Mistake
from stb_gym.solver.policies import Playable, edge_weights_and_forfeits
from stb_gym.solver.tables import Level, TurnTables
from stb_gym.solver.values import Values


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Measured):
    """A policy measured against perfect play; values are in the objective's unit.

    Attributes:
        optimum: the solution it is measured against.
        weights: [E] the probability of every edge at its node.
        forfeits: [N] the probability of an illegal action at every node, which ends the turn with the worst score.
        visits: [N] expected visits of every node in a turn.
        value: expected value of a turn.
    """

    optimum: Values
    weights: NDArray[np.float64]
    forfeits: NDArray[np.float64]
    visits: NDArray[np.float64]
    value: float

    @property
    def tables(self) -> TurnTables:
        """The arrays of the game."""
        return self.optimum.tables

    @cached_property
    def loss(self) -> NDArray[np.float64]:
        """[N] what the policy's choice at each node loses, if play were perfect afterwards."""
        # What is as good as the best loses nothing, and no rounding error either.
        advantage = np.where(self.optimum.optimal, 0, self.optimum.advantage).astype(float)
        lost = -self.tables.sum_at_nodes(self.weights * advantage)
        forfeited = self.optimum.node_utility.astype(float) - _worst(self.optimum)
        return np.maximum(lost + self.forfeits * forfeited, 0)

    @cached_property
    def regret(self) -> float:
        """What the policy loses against perfect play, 0 or more."""
        return float(self.visits @ self.loss)

    @cached_property
    def random_value(self) -> float:
        """Expected value of a turn of uniformly random legal play."""
        return _value(self.optimum, self.tables.uniform, 0.0)

    @cached_property
    def _departs(self) -> NDArray[Any]:
        """[N] the probability that the policy takes an action that is not optimal."""
        departs = self.tables.sum_at_nodes(self.weights * ~self.optimum.optimal)
        return departs + self.forfeits

    @cached_property
    def agreement(self) -> float:
        """Share of the nodes that have a legal action at which the policy's action is optimal."""
        return float(1 - self._departs[self.tables.decisions].mean())

    @cached_property
    def agreement_by_visits(self) -> float:
        """The same, each node weighted by its visits: the share of choices in play that are optimal."""
        visits = self.visits[self.tables.decisions]
        departs = visits @ self._departs[self.tables.decisions] / visits.sum()
        return max(float(1 - departs), 0.0)  # the sum of many chances may be rounded up

    @cached_property
    def score_distribution(self) -> dict[int, float]:
        """The probability of every final score that can occur, best first."""
        probability = score_chances(self.tables, self.visits)
        probability[-1] += self.illegal_mass
        return {int(self.tables.scores[i]): float(probability[i]) for i in np.flatnonzero(probability)}

    @property
    def illegal_mass(self) -> float:
        """The chance that a turn ends with an illegal action."""
        return min(float(self.visits @ self.forfeits), 1.0)  # the sum of many chances may be rounded up

    @cached_property
    def mean_throws(self) -> float:
        """Expected number of throws in a turn."""
        return float(self.visits @ (self.tables.dice[self.tables.node_state] > 0))

    def mistakes(self, limit: int | None = None) -> list[Mistake]:
        """The nodes that add to the regret, dearest first."""
        cost = self.visits * self.loss
        order = np.argsort(-cost, kind="stable")[: np.count_nonzero(cost)][:limit]
        best = self.optimum.policy
        return [self._mistake(int(node), int(best[node])) for node in order]

    def decisions(self) -> dict[str, list[Any]]:
        """Return what the policy does at every node that has a move, as columns.

        Returns:
            The columns of `Solution.decisions` (D rows), then "plays" (every move that the policy may make there, or
            "an illegal action"), "loss", "visits" (expected visits in a turn of the policy) and "cost" (loss times
            visits; they sum to the regret).
        """
        at = self.tables.decisions
        plays = self.tables.moves_in_words(self.weights > 0)
        for row in np.flatnonzero(self.forfeits[at] > 0).tolist():
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
            >>> len(departures["loss"]), departures["state"][0], departures["roll"][0], departures["best"][0]
            (210, 'open 1,2,4,5,8,9', '12', 'shut 4,8')
        """
        at = self.tables.decisions
        order = np.argsort(-self.loss[at], kind="stable")
        rows = order[self._departs[at][order] > 0].tolist()
        return {name: [values[row] for row in rows] for name, values in self.decisions().items()}

    def describe_node(self, node: int) -> str:
        """A node in words."""
        return self.tables.describe_node(node)

    def _mistake(self, node: int, best: int) -> Mistake:
        of_node = self.tables.edges_of(node)
        edges = slice(of_node.start, of_node.stop)
        plays = int(self.tables.edge_action[edges][self.weights[edges].argmax()])
        return Mistake(
            node=node,
            plays=plays if self.weights[edges].max() >= self.forfeits[node] else None,
            best=best,
            visits=float(self.visits[node]),
            loss=float(self.loss[node]),
        )


def evaluate_against(optimum: Values, policy: Playable, illegal: str = "raise") -> Evaluation:
    """A policy measured against the best play of its game; see `stb_gym.Solution.evaluate`."""
    tables = optimum.tables
    weights, forfeits = edge_weights_and_forfeits(tables, policy, illegal)
    visits = expected_visits(tables, weights)
    return Evaluation(optimum, weights, forfeits, visits, _value(optimum, weights, float(visits @ forfeits)))


def _value(optimum: Values, weights: NDArray[np.float64], forfeited: float) -> float:
    """The value of a turn in which edges are taken with probabilities `weights` [E], and some chance to forfeit it."""
    tables, goal = optimum.tables, optimum.objective
    state_utility, _ = expected(tables, weights, goal.utilities(tables.final_score).astype(float))
    return float(goal.sign * (state_utility[tables.start] + forfeited * _worst(optimum)))


def _worst(optimum: Values) -> float:
    """The utility of a turn that is forfeited."""
    return optimum.objective.forfeit(optimum.tables.final_score)


def expected(
    tables: TurnTables, weights: NDArray[np.float64], utility: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Expected utility of every state [S, *K] and node [N, *K] if edges are taken with the given probabilities.

    Args:
        tables: the arrays of the game.
        weights: [E] the probability of every edge at its node.
        utility: [S, *K] what a turn is worth that ends at the state.
    """
    weights = weights.reshape(-1, *[1] * (utility.ndim - 1))

    def choose(edge_value: NDArray[np.float64], level: Level) -> NDArray[np.float64]:
        return level.reduce(np.add, weights[level.edges] * edge_value)

    return tables.sweep(utility, choose)


def expected_visits(tables: TurnTables, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """[N, *K] expected visits of every node in a turn in which edges are taken with probabilities `weights` [E, *K].

    The same pass over the levels as in solving, highest first.
    """
    columns = weights[0].size
    column = np.arange(columns)
    reached = np.zeros((tables.states, columns))
    reached[tables.start] = 1
    visited = np.empty((tables.nodes, columns))
    for level in reversed(tables.levels):
        at_nodes = np.repeat(reached[level.states], len(level.rolls.counts), axis=0)
        at_nodes *= tables.node_probability[level.nodes, None]
        visited[level.nodes] = at_nodes
        first = level.nodes.start
        taken = at_nodes[tables.edge_node[level.edges] - first] * weights[level.edges].reshape(-1, columns)
        place = tables.edge_next[level.edges, None] * columns + column
        lower = reached[: level.states.start]  # where the edges lead
        lower += np.bincount(place.ravel(), taken.ravel(), lower.size).reshape(lower.shape)
    return visited.reshape(-1, *weights.shape[1:])


def score_chances(tables: TurnTables, visits: NDArray[np.float64]) -> NDArray[np.float64]:
    """[T, *K] the probability of every final score, best first, from the `visits` [N, *K] of the nodes."""
    ends = tables.choices == 0
    score = tables.score_index[tables.node_state[ends]]
    chances = np.zeros((len(tables.scores), *visits.shape[1:]))
    np.add.at(chances, score, visits[ends])
    return chances
