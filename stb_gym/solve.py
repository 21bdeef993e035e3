"""Perfect play by backward induction, the ground truth that every agent is measured against."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.game import Game, IntArray
from stb_gym.objectives import Objective, parse_objective
from stb_gym.tables import Level, TurnTables, compile_game

# Two actions are equally good if their values differ by no more than this share of the largest utility. Rounding stays
# below 1e-13 of it; tests compare the sets of optimal actions with those found in exact fractions.
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
        return self.node_utility.take(self.tables.edge_node) - self.state_utility.take(self.tables.edge_next)

    @cached_property
    def optimal(self) -> NDArray[np.bool_]:
        """[E] True for every edge that is as good as the best of its node."""
        exact = self.state_utility.dtype == object
        tie = 0 if exact else TIE * max(1.0, float(abs(self.node_utility).max()))
        return np.asarray(abs(self.edge_loss) <= tie, np.bool_)

    @cached_property
    def policy(self) -> IntArray:
        """[N] the optimal action of lowest index, -1 at nodes without a legal action."""
        actions = np.full(self.tables.nodes, -1)
        lowest_last = np.flatnonzero(self.optimal)[::-1]
        actions[self.tables.edge_node[lowest_last]] = self.tables.edge_action[lowest_last]
        return actions


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
    best = np.minimum if worst else np.maximum

    def choose(edge_value: NDArray[Any], level: Level) -> NDArray[Any]:
        return best.reduceat(edge_value, level.first_edge)

    return Solution(tables, goal, *tables.sweep(utility, choose))
