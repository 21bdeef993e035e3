"""Perfect play by backward induction, the ground truth that every agent is measured against.

u(node)  = max over legal actions of u(next state), or the utility of the final score if there is none
u(state) = sum over rolls of P(roll) u(node)
advantage(edge) = u(next state) - u(node), at most 0
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.games import Game, IntArray, cached_arrays, check_bool, check_integer, freeze, words_of
from stb_gym.output import quoted
from stb_gym.solver.evaluation import Evaluation
from stb_gym.solver.objectives import Objective
from stb_gym.solver.policies import Playable, edge_weights
from stb_gym.solver.tables import TurnTables, compile_game

# Two actions are equally good if their utilities differ by no more than this share of them. Utilities of one sign are
# only added and multiplied, so rounding stays below 1e-13 of each; tests compare the sets of optimal actions with
# those found in exact fractions. Utilities of both signs may cancel: there it is a share of the largest.
TIE = 1e-10


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Perfect play of a game.

    Attributes:
        tables: the arrays of the game.
        objective: what is maximised.
        state_utility: [S] expected utility at every state, before its throw.
        node_utility: [N] expected utility at every node, before its choice.
    """

    tables: TurnTables
    objective: Objective
    state_utility: NDArray[Any]
    node_utility: NDArray[Any]

    def __post_init__(self) -> None:
        freeze(vars(self))

    def __repr__(self) -> str:
        return f"<{self.game}: {self.objective.name} {float(self.value):.6g} {self.objective.unit}>"

    @property
    def game(self) -> Game:
        """The rules."""
        return self.tables.game

    @property
    def value(self) -> Any:
        """The value of a turn in the objective's unit: a float, or a Fraction of an exact solution."""
        return self.state_value.item(self.tables.start)

    @cached_arrays
    def state_value(self) -> NDArray[Any]:
        """[S] the value of every state, in the objective's unit."""
        return self.objective.sign * self.state_utility + 0  # never -0.0

    @cached_arrays
    def node_value(self) -> NDArray[Any]:
        """[N] the value of every node, in the objective's unit."""
        return self.objective.sign * self.node_utility + 0

    @cached_arrays
    def advantage(self) -> NDArray[Any]:
        """[E] the utility of each edge less that of the best edge of its node: 0 for optimal edges, else less."""
        advantage = self.tables.after_edges(self.state_utility) - self.tables.at_edges(self.node_utility)
        return np.where(self.optimal, 0, advantage)  # no rounding errors at optimal edges

    @cached_arrays
    def optimal(self) -> NDArray[np.bool_]:
        """[E] True for every edge that is as good as the best of its node."""
        return optimal_edges(self.tables, self.state_utility, self.node_utility)

    @property
    def policy(self) -> IntArray:
        """[N] the optimal action of lowest index, -1 at nodes without a legal action; a new array."""
        return self.tables.lowest_actions(self.optimal)

    def evaluate(self, policy: Playable, illegal: str = "raise") -> Evaluation:
        """Measure a policy against this solution exactly; nothing is solved again.

        Args:
            policy: [N] actions or [N, A] probabilities, or a `StateScorePolicy` or `UniformRandom`.
            illegal: as in the environments: "raise" refuses a policy that takes an illegal action; with "end" such an
                action ends the turn with the worst score.

        Raises:
            ValueError: if the policy does not fit the game, or naming the first (state, roll) where it takes an
                illegal action that is refused, or is no distribution.

        Example:
            >>> import stb_gym
            >>> best = stb_gym.solve(stb_gym.ShutTheBox())
            >>> best.evaluate(best.policy).regret
            0.0
        """
        return Evaluation(self, *edge_weights(self.tables, policy, illegal))

    def states(self) -> dict[str, list[Any]]:
        """Return every state and its value as columns.

        Returns:
            Columns of S rows: "state" in words, the words that name it (such as "open" and "dice"; 0 dice where the
            turn is over), and "value" in the objective's unit. `pandas.DataFrame(solution.states())` takes them.

        Example:
            >>> import stb_gym
            >>> states = stb_gym.solve(stb_gym.ShutTheBox()).states()
            >>> place = states["state"].index("open 1")
            >>> states["open"][place], round(states["value"][place], 4)
            ((1,), 1.0)
        """
        return self.tables.positions(np.arange(self.tables.states)) | {"value": self.state_value.tolist()}

    def decisions(self) -> dict[str, list[Any]]:
        """Return every node that has a move, with its optimal moves and its value, as columns.

        Returns:
            Columns of D rows: the position as in `states`, "roll", "probability" of the roll, "choices" (the number of
            legal moves), "best" (the optimal moves in words) and "value" in the objective's unit.
        """
        tables, words = self.tables, words_of(self.game)
        at = tables.decisions
        return tables.positions(tables.node_state[at]) | {
            "roll": [words.roll(tables.node_roll(node)) for node in at.tolist()],
            "probability": tables.node_probability[at].tolist(),
            "choices": tables.choices[at].tolist(),
            "best": tables.moves_in_words(self.optimal),
            "value": self.node_value[at].tolist(),
        }

    def value_at(self, **where: Any) -> Any:
        """Return the value of a position in the objective's unit: a float, or a Fraction of an exact solution.

        Args:
            **where: words that name the position: open tiles, points, dice; with `roll` the value after that throw.

        Raises:
            ValueError: if there is no such position.

        Example:
            >>> import stb_gym
            >>> best = stb_gym.solve(stb_gym.ShutTheBox())
            >>> round(best.value_at(open=[2, 6]), 6), round(best.value_at(open=[2, 6], roll=8), 6)
            (5.969136, 0.0)
        """
        held, dice, roll = words_of(self.game).locate(where)
        if roll is None:
            return self.state_value.item(self.tables.index[held, dice])
        return self.node_value.item(self.tables.find_node(held, dice, roll))

    def moves(self, **where: Any) -> dict[str, list[Any]]:
        """Return the legal moves at a position after a throw, best first, as columns.

        Args:
            **where: words that name the position, and `roll`.

        Returns:
            Columns "move" and "leaves" in words, "value" of the position it leaves, and "loss" against the best move
            (0 for every optimal one), both in the objective's unit.

        Raises:
            ValueError: if there is no such position, or no roll is given.

        Example:
            >>> import stb_gym
            >>> stb_gym.solve(stb_gym.ShutTheBox()).moves(open=[1, 4, 5, 8], roll=9)["move"]
            ['shut 4,5', 'shut 1,8']
        """
        tables = self.tables
        held, dice, roll = words_of(self.game).locate(where)
        if roll is None:
            raise ValueError("moves are made after a throw: name the roll")
        edges, losses = self.ranked_edges(tables.find_node(held, dice, roll))
        left = tables.edge_next[edges]
        return {
            "move": [tables.move_in_words(edge, roll) for edge in edges.tolist()],
            "leaves": tables.positions(left)["state"],
            "value": self.state_value[left].tolist(),
            "loss": losses.tolist(),
        }

    @checked
    def ranked_edges(self, node: int) -> tuple[IntArray, NDArray[Any]]:
        """Return the edges of a node, best first, and the loss of each against the best one (0 for optimal ones)."""
        check_integer("node", node, 0, self.tables.nodes - 1)
        edges = np.array(self.tables.edges_of(node), int)
        losses = 0 - self.advantage[edges]  # never -0.0
        order = np.argsort(losses, kind="stable")
        return edges[order], losses[order]

    @checked
    def utilities_at(self, held: IntArray, dice: IntArray | int) -> NDArray[Any]:
        """Return the expected utilities of states.

        Args:
            held: [B] what the player holds.
            dice: [B] the dice of the next throw, 0 where the turn ends; or one number for all.

        Returns:
            [B] expected utilities.

        Raises:
            ValueError: if there is no such state.

        Example:
            >>> import numpy as np, stb_gym
            >>> best = stb_gym.solve(stb_gym.ShutTheBox())
            >>> best.utilities_at(np.array([0b110, 0b1, 0b1]), np.array([2, 2, 0])).round(4).tolist()
            [-4.2145, -1.0, -1.0]
        """
        held, dice = state_arrays(held, dice)
        state, over = self.tables.find_states(held, dice), dice == 0
        if (unknown := ~over & (state < 0)).any():
            raise ValueError(
                f"{self.game} has no state that holds {quoted(held[unknown][0])} with {dice[unknown][0]} dice"
            )
        utilities = self.state_utility[state]
        scores = np.array([self.game.final_score(points) for points in held[over].tolist()], np.int64)
        utilities[over] = self.objective.utilities(scores)
        return utilities

    def is_as_good(self, after: NDArray[Any], best: NDArray[Any]) -> NDArray[np.bool_]:
        """Return [E] True where moves of utility `after` [E] are as good as the best ones, of utility `best` [E]."""
        return is_as_good(after, best, self.state_utility)


def state_arrays(held: IntArray, dice: IntArray | int) -> tuple[IntArray, IntArray]:
    """Return what is held and the dice [B] as arrays of one shape.

    Raises:
        ValueError: if they are not integers, or there is neither one number of dice nor one for each state.
    """
    held, dice = np.asarray(held), np.asarray(dice)
    if (held.size and held.dtype.kind not in "iu") or dice.dtype.kind not in "iu" or dice.shape not in ((), held.shape):
        raise ValueError(f"states must be integers, with as many numbers of dice, or one, not {quoted((held, dice))}")
    return held.astype(np.int64), np.broadcast_to(dice, held.shape)


def solve_tables(game: Game, objective: Objective, *, worst: bool = False, exact: bool = False) -> Solution:
    """Solve a turn of a game by its tables; see `stb_gym.solve`."""
    check_bool("worst", worst)
    check_bool("exact", exact)
    goal = objective.opposite if worst else objective
    tables = compile_game(game)
    utility: NDArray[Any] = goal.utilities(tables.final_score)
    utility = np.array([Fraction(u) for u in utility.tolist()], object) if exact else utility.astype(float)
    return Solution(tables, goal, *optimise(tables, utility))


def optimise(tables: TurnTables, utility: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the greatest expected utility of every state [S, *K] and node [N, *K].

    Args:
        tables: the arrays of the game.
        utility: [S, *K] the utility of a turn that ends at the state; K utilities are solved for at once.
    """
    return tables.sweep(utility, lambda after, level: level.reduce(np.maximum, after))


def optimal_edges(tables: TurnTables, state_utility: NDArray[Any], node_utility: NDArray[Any]) -> NDArray[np.bool_]:
    """Return [E, *K] True for every edge that is as good as the best of its node."""
    return is_as_good(tables.after_edges(state_utility), tables.at_edges(node_utility), state_utility)


def is_as_good(after: NDArray[Any], best: NDArray[Any], utility: NDArray[Any]) -> NDArray[np.bool_]:
    """Return [E, *K] True where moves are as good as the best ones: equal fractions, or floats that differ by rounding.

    Args:
        after: [E, *K] the utility of each move.
        best: [E, *K] the utility of the best move of the same node.
        utility: [S, *K] the utilities of all states, which say how large rounding errors may be.
    """
    if utility.dtype == object:
        return np.asarray(after == best, np.bool_)
    both_signs = utility.min(initial=0) < 0 < utility.max(initial=0)
    return np.asarray(abs(after - best) <= TIE * (abs(utility).max() if both_signs else abs(best)), np.bool_)
