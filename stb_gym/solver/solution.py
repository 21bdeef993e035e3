"""Perfect play, and the exact distance of a policy from it. Nothing is sampled.

    u*(state)      = max over legal actions of u*(next afterstate), or the utility of the final score if there is none
    u*(afterstate) = sum over rolls of P(roll) u*(state)
    advantage(pair) = u*(next afterstate) - u*(state), at most 0

    loss(state) = u*(state) - sum over actions of policy(action | state) u*(next afterstate)
    regret      = u*(start) - u(start) = sum over states of visits(state) x loss(state)

with u the utility under the policy. The second form of the regret is the performance difference lemma (Kakade and
Langford, "Approximately optimal approximate reinforcement learning", 2002); it is the one reported, as it stays precise
near 0.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.arrays import BoolArray, FloatArray, IntArray, cached_arrays, freeze
from stb_gym.checks import check_bool, check_integer
from stb_gym.games import Game, final_scores, locate
from stb_gym.messages import quoted
from stb_gym.solver.induction import expected, expected_visits, is_as_good, optimal_pairs, optimise, score_chances
from stb_gym.solver.measured import Measured, Mistake
from stb_gym.solver.objectives import Objective
from stb_gym.solver.policies import Playable, pair_weights
from stb_gym.solver.tables import TurnTables, compile_game


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Perfect play of a game.

    Attributes:
        tables: the arrays of the game.
        objective: what is maximised.
        afterstate_utilities: [Y] expected utility at every afterstate, before its throw.
        state_utilities: [S] expected utility at every state, before its choice.
    """

    tables: TurnTables
    objective: Objective
    afterstate_utilities: NDArray[Any]
    state_utilities: NDArray[Any]

    def __post_init__(self) -> None:
        freeze(vars(self))

    def __repr__(self) -> str:
        return f"<{self.game}: {self.objective.name} {float(self.value):.6g} {self.objective.unit}>"

    @property
    def game(self) -> Game:
        """The rules."""
        return self.tables.game

    @property
    def num_afterstates(self) -> int:
        """The number of afterstates."""
        return self.tables.num_afterstates

    @property
    def value(self) -> Any:
        """The value of a turn in the objective's unit: a float, or a Fraction of an exact solution."""
        return self.afterstate_values.item(self.tables.start)

    @cached_arrays
    def afterstate_values(self) -> NDArray[Any]:
        """[Y] the value of every afterstate, in the objective's unit."""
        return self.objective.sign * self.afterstate_utilities + 0  # never -0.0

    @cached_property
    def random_value(self) -> float:
        """The value of a turn of uniformly random legal play, in the objective's unit."""
        return Evaluation(self, self.tables.uniform, np.zeros(self.tables.num_states)).value

    @cached_arrays
    def state_values(self) -> NDArray[Any]:
        """[S] the value of every state, in the objective's unit."""
        return self.objective.sign * self.state_utilities + 0

    @cached_arrays
    def advantage(self) -> NDArray[Any]:
        """[P] the utility of each pair less that of the best pair of its state: 0 for optimal pairs, else less."""
        advantage = self.tables.after_pairs(self.afterstate_utilities) - self.tables.at_pairs(self.state_utilities)
        return np.where(self.optimal, 0, advantage)  # no rounding errors at optimal pairs

    @cached_arrays
    def optimal(self) -> BoolArray:
        """[P] True for every pair that is as good as the best of its state."""
        return optimal_pairs(self.tables, self.afterstate_utilities, self.state_utilities)

    @property
    def policy(self) -> IntArray:
        """[S] the optimal action of lowest index, -1 at states without a legal action; a new array."""
        return self.tables.lowest_actions(self.optimal)

    def evaluate(self, policy: Playable, illegal: str = "raise") -> "Evaluation":
        """Measure a policy against this solution exactly; nothing is solved again.

        Args:
            policy: [S] actions or [S, A] probabilities, or an `AfterstateScorePolicy` or `UniformRandom`.
            illegal: as in the environments: "raise" refuses a policy that takes an illegal action; with "end" such an
                action ends the turn with the worst score.

        Returns:
            The exact value, regret, visits and costliest mistakes of the policy.

        Raises:
            ValueError: if the policy does not fit the game, takes an illegal action and `illegal` is "raise", or has
                probabilities that do not sum to 1; the error names the first such state.

        Example:
            >>> import stb_gym
            >>> best = stb_gym.solve(stb_gym.ShutTheBox())
            >>> best.evaluate(best.policy).regret
            0.0
        """
        return Evaluation(self, *pair_weights(self.tables, policy, illegal))

    def afterstates(self) -> dict[str, list[Any]]:
        """Return every afterstate and its value as columns.

        Returns:
            Columns of Y rows: "afterstate" in words, the options that name it (such as "open" and "dice"; 0 dice where
            the turn is over), and "value" in the objective's unit. `pandas.DataFrame(solution.afterstates())` makes a
            table of them.

        Example:
            >>> import stb_gym
            >>> afterstates = stb_gym.solve(stb_gym.ShutTheBox()).afterstates()
            >>> row = afterstates["afterstate"].index("open 1")
            >>> afterstates["open"][row], round(afterstates["value"][row], 4)
            ((1,), 1.0)
        """
        return self.tables.positions(np.arange(self.tables.num_afterstates)) | {
            "value": self.afterstate_values.tolist()
        }

    def decisions(self) -> dict[str, list[Any]]:
        """Return every state that has a move, with its optimal moves and its value, as columns.

        Returns:
            Columns of D rows: the position as in `afterstates`, "roll", "probability" of the roll, "choices" (the
            number of legal moves), "best" (the optimal moves in words) and "value" in the objective's unit.
        """
        tables = self.tables
        at = tables.decisions
        return tables.positions(tables.state_origin[at]) | {
            "roll": [self.game.describe_roll(tables.state_roll(state)) for state in at.tolist()],
            "probability": tables.state_probability[at].tolist(),
            "choices": tables.choices[at].tolist(),
            "best": tables.describe_moves(self.optimal),
            "value": self.state_values[at].tolist(),
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
        progress, dice, roll = locate(self.game, where)
        if roll is None:
            return self.afterstate_values.item(self.tables.find_afterstate(progress, dice))
        return self.state_values.item(self.tables.find_state(progress, dice, roll))

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
        progress, dice, roll = locate(self.game, where)
        if roll is None:
            raise ValueError("moves are made after a throw: name the roll")
        pairs, losses = self.ranked_pairs(tables.find_state(progress, dice, roll))
        left = tables.pair_afterstate[pairs]
        return {
            "move": [tables.describe_move(pair, roll) for pair in pairs.tolist()],
            "leaves": tables.positions(left)["afterstate"],
            "value": self.afterstate_values[left].tolist(),
            "loss": losses.tolist(),
        }

    @checked
    def ranked_pairs(self, state: int) -> tuple[IntArray, NDArray[Any]]:
        """Return the pairs of a state, best first, and the loss of each against the best one (0 for optimal ones)."""
        check_integer("state", state, 0, self.tables.num_states - 1)
        pairs = np.array(self.tables.pairs_of(state), int)
        losses = 0 - self.advantage[pairs]  # never -0.0
        order = np.argsort(losses, kind="stable")
        return pairs[order], losses[order]

    @checked
    def utilities_at(self, progress: IntArray, dice: IntArray | int) -> NDArray[Any]:
        """Return the expected utilities of afterstates.

        Args:
            progress: [B] progress of the afterstates, such as boards as bit masks.
            dice: [B] the dice of the next throw, 0 where the turn ends; or one number for all.

        Returns:
            [B] expected utilities.

        Raises:
            ValueError: if there is no such afterstate.

        Example:
            >>> import numpy as np, stb_gym
            >>> best = stb_gym.solve(stb_gym.ShutTheBox())
            >>> best.utilities_at(np.array([0b110, 0b1, 0b1]), np.array([2, 2, 0])).round(4).tolist()
            [-4.2145, -1.0, -1.0]
        """
        progress, dice = afterstate_arrays(progress, dice)
        afterstate, over = self.tables.find_afterstates(progress, dice), dice == 0
        if (unknown := ~over & (afterstate < 0)).any():
            raise ValueError(
                f"{self.game} has no afterstate of progress {quoted(progress[unknown][0])} and {dice[unknown][0]} dice"
            )
        utilities = self.afterstate_utilities[afterstate]
        scores = final_scores(self.game, progress[over].tolist())
        utilities[over] = self.objective.utilities(scores)
        return utilities

    def is_as_good(self, after: NDArray[Any], best: NDArray[Any]) -> BoolArray:
        """Return [P] True where moves of utility `after` [P] are as good as the best ones, of utility `best` [P]."""
        return is_as_good(after, best, self.afterstate_utilities)


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Measured):
    """A policy measured against perfect play; values are in the objective's unit.

    Attributes:
        optimum: the solution that the policy is measured against.
        weights: [P] the probability of every pair at its state.
        illegal: [S] the probability of an illegal action at every state, which ends the turn with the worst score.
        masked: whether the agent received masks or was masked; None if it is not known.
    """

    optimum: Solution
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

    @property
    def pair_advantage(self) -> FloatArray:
        """[P] the expected utility after each pair less that of its state, under the policy."""
        by_afterstate, by_state = self.utilities
        return self.tables.after_pairs(by_afterstate) - self.tables.at_pairs(by_state)

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
        """The share of moves in play that are optimal: `agreement` with each state weighted by its visits."""
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
        plays = self.tables.describe_moves(self.weights > 0)
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


def afterstate_arrays(progress: IntArray, dice: IntArray | int) -> tuple[IntArray, IntArray]:
    """Return progress and dice [B] as arrays of one shape.

    Raises:
        ValueError: if they are not integers, or there is neither one number of dice nor one for each afterstate.
    """
    progress, dice = np.asarray(progress), np.asarray(dice)
    if (
        (progress.size and progress.dtype.kind not in "iu")
        or dice.dtype.kind not in "iu"
        or dice.shape not in ((), progress.shape)
    ):
        raise ValueError(f"progress must be integers, and dice one integer or as many, not {quoted((progress, dice))}")
    return progress.astype(np.int64), np.broadcast_to(dice, progress.shape)


def solve_tables(game: Game, objective: Objective, *, worst: bool = False, exact: bool = False) -> Solution:
    """Solve a turn of a game by its tables; see `stb_gym.solve`."""
    check_bool("worst", worst)
    check_bool("exact", exact)
    goal = objective.opposite if worst else objective
    tables = compile_game(game)
    utility: NDArray[Any] = goal.utilities(tables.final_score)
    utility = np.array([Fraction(u) for u in utility.tolist()], object) if exact else utility.astype(float)
    return Solution(tables, goal, *optimise(tables, utility))
