"""Perfect play by backward induction, the ground truth that every agent is measured against.

u(state)  = max over legal actions of u(next afterstate), or the utility of the final score if there is none
u(afterstate) = sum over rolls of P(roll) u(state)
advantage(pair) = u(next afterstate) - u(state), at most 0
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.arrays import IntArray, cached_arrays, freeze
from stb_gym.checks import check_bool, check_integer
from stb_gym.games import Game, words_of
from stb_gym.messages import quoted
from stb_gym.solver.evaluation import Evaluation
from stb_gym.solver.objectives import Objective
from stb_gym.solver.policies import Playable, pair_weights
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
    def value(self) -> Any:
        """The value of a turn in the objective's unit: a float, or a Fraction of an exact solution."""
        return self.afterstate_values.item(self.tables.start)

    @cached_arrays
    def afterstate_values(self) -> NDArray[Any]:
        """[Y] the value of every afterstate, in the objective's unit."""
        return self.objective.sign * self.afterstate_utilities + 0  # never -0.0

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
    def optimal(self) -> NDArray[np.bool_]:
        """[P] True for every pair that is as good as the best of its state."""
        return optimal_pairs(self.tables, self.afterstate_utilities, self.state_utilities)

    @property
    def policy(self) -> IntArray:
        """[S] the optimal action of lowest index, -1 at states without a legal action; a new array."""
        return self.tables.lowest_actions(self.optimal)

    def evaluate(self, policy: Playable, illegal: str = "raise") -> Evaluation:
        """Measure a policy against this solution exactly; nothing is solved again.

        Args:
            policy: [S] actions or [S, A] probabilities, or a `AfterstateScorePolicy` or `UniformRandom`.
            illegal: as in the environments: "raise" refuses a policy that takes an illegal action; with "end" such an
                action ends the turn with the worst score.

        Raises:
            ValueError: if the policy does not fit the game, or naming the first (afterstate, roll) where it takes an
                illegal action that is refused, or is no distribution.

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
            Columns of S rows: "afterstate" in words, the words that name it (such as "open" and "dice"; 0 dice where
            the turn is over), and "value" in the objective's unit. `pandas.DataFrame(solution.afterstates())` takes
            them.

        Example:
            >>> import stb_gym
            >>> afterstates = stb_gym.solve(stb_gym.ShutTheBox()).afterstates()
            >>> place = afterstates["afterstate"].index("open 1")
            >>> afterstates["open"][place], round(afterstates["value"][place], 4)
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
        tables, words = self.tables, words_of(self.game)
        at = tables.decisions
        return tables.positions(tables.state_origin[at]) | {
            "roll": [words.roll(tables.state_roll(state)) for state in at.tolist()],
            "probability": tables.state_probability[at].tolist(),
            "choices": tables.choices[at].tolist(),
            "best": tables.moves_in_words(self.optimal),
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
        progress, dice, roll = words_of(self.game).locate(where)
        if roll is None:
            return self.afterstate_values.item(self.tables.index[progress, dice])
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
        progress, dice, roll = words_of(self.game).locate(where)
        if roll is None:
            raise ValueError("moves are made after a throw: name the roll")
        pairs, losses = self.ranked_pairs(tables.find_state(progress, dice, roll))
        left = tables.pair_afterstate[pairs]
        return {
            "move": [tables.move_in_words(pair, roll) for pair in pairs.tolist()],
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
            progress: [B] what the player holds.
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
                f"{self.game} has no afterstate that holds {quoted(progress[unknown][0])} with {dice[unknown][0]} dice"
            )
        utilities = self.afterstate_utilities[afterstate]
        scores = np.array([self.game.final_score(points) for points in progress[over].tolist()], np.int64)
        utilities[over] = self.objective.utilities(scores)
        return utilities

    def is_as_good(self, after: NDArray[Any], best: NDArray[Any]) -> NDArray[np.bool_]:
        """Return [P] True where moves of utility `after` [P] are as good as the best ones, of utility `best` [P]."""
        return is_as_good(after, best, self.afterstate_utilities)


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
        raise ValueError(
            f"afterstates must be integers, with as many numbers of dice, or one, not {quoted((progress, dice))}"
        )
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


def optimise(tables: TurnTables, utility: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the greatest expected utility of every afterstate [Y, *K] and state [S, *K].

    Args:
        tables: the arrays of the game.
        utility: [Y, *K] the utility of a turn that ends at the afterstate; K utilities are solved for at once.
    """
    return tables.sweep(utility, lambda after, level: level.reduce(np.maximum, after))


def optimal_pairs(
    tables: TurnTables, afterstate_utilities: NDArray[Any], state_utilities: NDArray[Any]
) -> NDArray[np.bool_]:
    """Return [P, *K] True for every pair that is as good as the best of its state."""
    return is_as_good(tables.after_pairs(afterstate_utilities), tables.at_pairs(state_utilities), afterstate_utilities)


def is_as_good(after: NDArray[Any], best: NDArray[Any], utility: NDArray[Any]) -> NDArray[np.bool_]:
    """Return [P, *K] True where moves are as good as the best ones: equal fractions, or floats that differ by rounding.

    Args:
        after: [P, *K] the utility of each move.
        best: [P, *K] the utility of the best move of the same state.
        utility: [Y, *K] the utilities of all afterstates, which say how large rounding errors may be.
    """
    if utility.dtype == object:
        return np.asarray(after == best, np.bool_)
    both_signs = utility.min(initial=0) < 0 < utility.max(initial=0)
    return np.asarray(abs(after - best) <= TIE * (abs(utility).max() if both_signs else abs(best)), np.bool_)
