"""Perfect play by backward induction, the ground truth that every agent is measured against."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.game import Game, IntArray
from stb_gym.objectives import Objective, parse_objective
from stb_gym.policy import at_decisions
from stb_gym.tables import Level, TurnTables, compile_game

# Two actions are equally good if their utilities differ by no more than this share of them. Utilities have one sign and
# are only added and multiplied, so rounding stays below 1e-13 of each; tests compare the sets of optimal actions with
# those found in exact fractions.
TIE = 1e-10


@dataclass(frozen=True, eq=False)
class Solution:
    """The best (or worst) play of a game.

    Attributes:
        tables: the arrays of the game.
        objective: what is maximised (minimised in the worst play).
        state_utility: [S] expected utility at every state, before its throw.
        node_utility: [N] expected utility at every node, before its choice.
    """

    tables: TurnTables
    objective: Objective
    state_utility: NDArray[Any]
    node_utility: NDArray[Any]

    @property
    def value(self) -> Any:
        """The value of a turn in the objective's unit: a float, or a Fraction of an exact solution."""
        value = self.state_value[self.tables.start]
        return value if isinstance(value, Fraction) else float(value)

    @cached_property
    def state_value(self) -> NDArray[Any]:
        """[S] the value of every state, in the objective's unit."""
        return self.objective.sign * self.state_utility + 0  # never -0.0

    @cached_property
    def node_value(self) -> NDArray[Any]:
        """[N] the value of every node, in the objective's unit."""
        return self.objective.sign * self.node_utility + 0

    @cached_property
    def edge_loss(self) -> NDArray[Any]:
        """[E] how much utility taking each edge loses against the best of its node (in the worst play: minus gains)."""
        return edge_loss(self.tables, self.state_utility, self.node_utility)

    @cached_property
    def optimal(self) -> NDArray[np.bool_]:
        """[E] True for every edge that is as good as the best of its node."""
        return optimal_edges(self.tables, self.state_utility, self.node_utility)

    @cached_property
    def policy(self) -> IntArray:
        """[N] the optimal action of lowest index, -1 at nodes without a legal action."""
        return at_decisions(self.tables, self.tables.edge_action[lowest_edges(self.tables, self.optimal)])


def edge_loss(tables: TurnTables, state_utility: NDArray[Any], node_utility: NDArray[Any]) -> NDArray[Any]:
    """[E, *K] how much taking each edge loses against the best of its node, for utilities [S, *K] and [N, *K]."""
    return node_utility.take(tables.edge_node, axis=0) - state_utility.take(tables.edge_next, axis=0)


def optimal_edges(tables: TurnTables, state_utility: NDArray[Any], node_utility: NDArray[Any]) -> NDArray[np.bool_]:
    """[E, *K] True for every edge that is as good as the best of its node: to within TIE, or exactly in fractions."""
    best = node_utility.take(tables.edge_node, axis=0)
    if state_utility.dtype == object:
        return np.asarray(state_utility.take(tables.edge_next, axis=0) == best, np.bool_)
    return np.asarray(abs(edge_loss(tables, state_utility, node_utility)) <= TIE * abs(best), np.bool_)


def lowest_edges(tables: TurnTables, marked: NDArray[np.bool_]) -> IntArray:
    """[D, *K] at every node that has a move the edge of lowest action among the marked ones [E, *K]; one is."""
    place = np.arange(len(marked)).reshape(-1, *[1] * (marked.ndim - 1))
    return np.minimum.reduceat(np.where(marked, place, len(marked)), tables.edge_start[tables.decisions])


def solve(game: Game, objective: str = "score", *, worst: bool = False, exact: bool = False) -> Solution:
    """Solve a turn of a game.

        u(node)  = max over legal actions of u(next state), or the utility of the final score if there is none
        u(state) = sum over rolls of P(roll) u(node)

    Args:
        game: the rules.
        objective: "score", "shut" or "at-most:T".
        worst: minimise instead.
        exact: compute in fractions.

    Raises:
        ValueError: if there is no such objective, or the game does not fit into arrays.
    """
    goal = parse_objective(objective)
    tables = compile_game(game)
    utility: NDArray[Any] = goal.utility(tables.final_score)
    utility = np.array([Fraction(int(u)) for u in utility], object) if exact else utility.astype(float)
    return Solution(tables, goal, *optimise(tables, utility, worst=worst))


def optimise(tables: TurnTables, utility: NDArray[Any], *, worst: bool = False) -> tuple[NDArray[Any], NDArray[Any]]:
    """The greatest (or least) expected utility of every state [S, *K] and node [N, *K].

    Args:
        tables: the arrays of the game.
        utility: [S, *K] what a turn is worth that ends at the state; K utilities are solved for at once.
        worst: minimise instead.
    """
    best = np.minimum if worst else np.maximum

    def choose(edge_value: NDArray[Any], level: Level) -> NDArray[Any]:
        return best.reduceat(edge_value, level.first_edge)

    return tables.sweep(utility, choose)
