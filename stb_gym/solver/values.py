"""What every state and node of a game is worth under the best play, and what each move loses against it.

u(node)  = max over legal actions of u(next state), or the utility of the final score if there is none
u(state) = sum over rolls of P(roll) u(node)
advantage(edge) = u(next state) - u(node), at most 0
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Game, IntArray, rolls_in_words, title, words_of
from stb_gym.output import html_table
from stb_gym.solver.objectives import Objective
from stb_gym.solver.tables import Level, TurnTables

# Two actions are equally good if their utilities differ by no more than this share of them. Utilities of one sign are
# only added and multiplied, so rounding stays below 1e-13 of each; tests compare the sets of optimal actions with
# those found in exact fractions. Utilities of both signs may cancel: there it is a share of the largest.
TIE = 1e-10


@dataclass(frozen=True, eq=False, repr=False)
class Values:
    """The values of a game under its best play.

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

    def __repr__(self) -> str:
        return f"<{self.game}: {self.objective.name} {float(self.value):.6g} {self.objective.unit}>"

    @property
    def value(self) -> Any:
        """The value of a turn in the objective's unit: a float, or a Fraction of an exact solution."""
        return self.state_value.item(self.tables.start)

    @property
    def game(self) -> Game:
        """The rules."""
        return self.tables.game

    @cached_property
    def state_value(self) -> NDArray[Any]:
        """[S] the value of every state, in the objective's unit."""
        return self.objective.sign * self.state_utility + 0  # never -0.0

    @cached_property
    def node_value(self) -> NDArray[Any]:
        """[N] the value of every node, in the objective's unit."""
        return self.objective.sign * self.node_utility + 0

    @cached_property
    def advantage(self) -> NDArray[Any]:
        """[E] how much better taking each edge is than the best of its node: 0 or less."""
        return self.tables.after_edges(self.state_utility) - self.tables.at_edges(self.node_utility)

    @cached_property
    def optimal(self) -> NDArray[np.bool_]:
        """[E] True for every edge that is as good as the best of its node."""
        return optimal_edges(self.tables, self.state_utility, self.node_utility)

    @property
    def policy(self) -> IntArray:
        """[N] the optimal action of lowest index, -1 at nodes without a legal action; an array of your own."""
        return self.tables.lowest_actions(self.optimal)

    def states(self) -> dict[str, list[Any]]:
        """Return every state and its value as columns.

        Returns:
            Columns of S rows: "state" in words, the words that name it (such as "open" and "dice"; 0 dice where the
            turn is over), and "value" in the objective's unit. `pandas.DataFrame(solution.states())` takes them.

        Example:
            >>> import stb_gym
            >>> states = stb_gym.solve(stb_gym.ShutTheBox()).states()
            >>> states["state"][1], states["open"][1], round(states["value"][1], 4)
            ('open 1', (1,), 1.0)
        """
        return self.tables.positions(np.arange(self.tables.states)) | {"value": self.state_value.tolist()}

    def decisions(self) -> dict[str, list[Any]]:
        """Return every node that has a move, with its optimal moves and its value, as columns.

        Returns:
            Columns of D rows: the position as in `states`, "roll", "probability" of the roll, "choices" (the number of
            legal moves), "best" (the optimal moves in words) and "value" in the objective's unit.
        """
        tables, words = self.tables, words_of(self.game)
        rolled = {dice: rolls_in_words(words, dice) for dice in set(tables.dice.tolist())}
        at = tables.decisions
        state, place = tables.node_state[at], tables.node_place[at]
        return tables.positions(state) | {
            "roll": [
                rolled[dice][roll] for dice, roll in zip(tables.dice[state].tolist(), place.tolist(), strict=True)
            ],
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
        tables = self.tables
        held, dice, roll = words_of(self.game).locate(where)
        state = tables.find_state(held, dice)
        return self.state_value.item(state) if roll is None else self.node_value.item(tables.find_node(state, roll))

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
        edges, losses = self.ranked_edges(tables.find_node(tables.find_state(held, dice), roll))
        left = tables.edge_next[edges]
        return {
            "move": [tables.move_in_words(edge, roll) for edge in edges.tolist()],
            "leaves": tables.positions(left)["state"],
            "value": self.state_value[left].tolist(),
            "loss": losses.tolist(),
        }

    def ranked_edges(self, node: int) -> tuple[IntArray, NDArray[Any]]:
        """Return the edges of a node, best first, and what each loses against the best one (0 for optimal ones)."""
        edges = np.array(self.tables.edges_of(node), int)
        losses = np.where(self.optimal[edges], 0, -self.advantage[edges])
        order = np.argsort(losses, kind="stable")
        return edges[order], losses[order]

    def _repr_html_(self) -> str:
        """Return the value and what to do at the first throw, for notebooks."""
        decisions = self.decisions()
        first = np.flatnonzero(self.tables.node_state[self.tables.decisions] == self.tables.start)
        shown = {name: [decisions[name][row] for row in first] for name in ("roll", "probability", "best", "value")}
        value = f"{self.objective.name} {float(self.value):.6g} {self.objective.unit}"
        return html_table(f"{title(self.game)}: {value}. The first throw:", shown)

    def worth(self, held: int, dice: int) -> float:
        """Expected utility at the state (held, dice) before its throw, or (without dice) of a turn that ends there."""
        return float(self.worths(np.array([held]), dice)[0])

    def worths(self, held: IntArray, dice: IntArray | int) -> NDArray[Any]:
        """The same of many states at once.

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
            >>> best.worths(np.array([0b110, 0b1, 0b1]), np.array([2, 2, 0])).round(4).tolist()
            [-4.2145, -1.0, -1.0]
        """
        held = np.asarray(held).astype(np.int64)  # short integers would overflow
        dice = np.broadcast_to(dice, held.shape)
        state, over = self.tables.state_index.find(held, dice), dice == 0
        if (unknown := ~over & (state < 0)).any():
            raise ValueError(f"{self.game} has no state that holds {held[unknown][0]} with {dice[unknown][0]} dice")
        worths = self.state_utility[state]
        worths[over] = self.objective.utilities(self.game.final_score(held[over]))
        return worths

    def tied(self, after: NDArray[Any], best: NDArray[Any]) -> NDArray[np.bool_]:
        """[E] True where moves that are worth `after` [E] are as good as the best ones, worth `best` [E]."""
        return tied(after, best, self.state_utility)


def optimise(tables: TurnTables, utility: NDArray[Any], *, worst: bool = False) -> tuple[NDArray[Any], NDArray[Any]]:
    """The greatest (or least) expected utility of every state [S, *K] and node [N, *K].

    Args:
        tables: the arrays of the game.
        utility: [S, *K] what a turn is worth that ends at the state; K utilities are solved for at once.
        worst: minimise instead.
    """
    best = np.minimum if worst else np.maximum

    def choose(edge_value: NDArray[Any], level: Level) -> NDArray[Any]:
        return level.reduce(best, edge_value)

    return tables.sweep(utility, choose)


def optimal_edges(tables: TurnTables, state_utility: NDArray[Any], node_utility: NDArray[Any]) -> NDArray[np.bool_]:
    """[E, *K] True for every edge that is as good as the best of its node: to within TIE, or exactly in fractions."""
    best, after = tables.at_edges(node_utility), tables.after_edges(state_utility)
    if state_utility.dtype == object:
        return np.asarray(after == best, np.bool_)
    return tied(after, best, state_utility)


def tied(after: NDArray[Any], best: NDArray[Any], utility: NDArray[Any]) -> NDArray[np.bool_]:
    """[E, *K] True where the worth of a move is equal to the best to within TIE, by all utilities there are [S, *K]."""
    both_signs = utility.min(initial=0) < 0 < utility.max(initial=0)
    return np.asarray(abs(after - best) <= TIE * (abs(utility).max() if both_signs else abs(best)), np.bool_)
