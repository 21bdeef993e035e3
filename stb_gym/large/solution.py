"""Perfect play of boxes too large for tables, and the exact distance of a policy from it.

    u(board, dice) = sum over rolls of P(roll) max over moves of u(board without their tiles)
    u(board)       = max over the numbers of dice that may be thrown there of u(board, dice)

Rows of boards are solved in ascending order (see `stb_gym.large.grid`), so the boards that a move leads to are solved
before they are needed. In a row the moves to other rows are worked out first, for all columns at once; then those
within the row, columns with few open tiles first.

A policy is evaluated in one sweep the other way round, from the start of a turn on:

    visits(board, dice) = the visits that flow there from the boards before
    regret              = sum over states of flow(state) x loss(state)
    loss(state)         = u(the best that a move leads to) - u(what the policy's move leads to)

Only sums over the states and the costliest mistakes are stored. For the regret see `stb_gym.solver.solution`.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.arrays import BoolArray, FloatArray, IntArray, cached_arrays, freeze
from stb_gym.games import Game, Roll, rolls
from stb_gym.large.box import box_of
from stb_gym.large.flow import GreedyFlow, TurnSums, UniformFlow
from stb_gym.large.grid import Grid, RowMoves
from stb_gym.solver import (
    Goal,
    Measured,
    Mistake,
    Objective,
    RulePolicy,
    UniformRandom,
    afterstate_arrays,
    choice_at,
    is_as_good,
    objective_of,
)
from stb_gym.tracking import tracked

MANY_ROWS = 2**10  # rows of boards that take longer than two seconds


@dataclass(frozen=True, eq=False, repr=False)
class LargeSolution:
    """Perfect play of a box too large for tables: the utility of every board.

    Attributes:
        game: the rules.
        objective: what is maximised.
        utility: the expected utility of every board, by its place (see `stb_gym.large.grid`): [1, places], or
            [3, places] where one die may be thrown instead of all: before a throw of all dice, before a throw of one,
            and before the number of dice is chosen.
    """

    game: Game
    objective: Objective
    utility: FloatArray

    def __post_init__(self) -> None:
        freeze(vars(self))

    def __repr__(self) -> str:
        return f"<{self.game}: {self.objective.name} {self.value:.6g} {self.objective.unit}>"

    @property
    def num_afterstates(self) -> int:
        """The number of boards before a throw, each counted for every number of dice."""
        return self.utility.size

    @property
    def value(self) -> float:
        """The value of a turn in the objective's unit."""
        return float(self.objective.sign * self.utility[0, -1]) + 0.0  # never -0.0

    @checked
    def utilities_at(self, boards: IntArray, dice: IntArray | int) -> FloatArray:
        """Return the expected utilities of boards before a throw, or of turns that end there.

        Args:
            boards: [B] boards.
            dice: [B] the dice of the next throw, 0 where the turn ends; or one number for all.

        Returns:
            [B] expected utilities.

        Raises:
            ValueError: if a tile is open that is shut at the start.
        """
        box = box_of(self.game)
        boards, dice = afterstate_arrays(boards, dice)
        if (unknown := np.asarray(boards & ~self.game.start()[0] != 0)).any():
            start = list(box.game.start_tiles)
            raise ValueError(f"a board of this game has open tiles out of {start}, not mask {boards[unknown][0]}")
        utilities = self.utility.reshape(-1).take(self.places(boards, dice))
        over = dice == 0
        utilities[over] = self.objective.utilities(box.final_scores(boards[over]))
        return utilities

    def places(self, boards: IntArray, dice: IntArray | int) -> IntArray:
        """Return [B] where the flattened `utility` has boards before a throw of so many dice (0 counts as all)."""
        box = box_of(self.game)
        return box.places(boards) + np.isin(dice, box.game.throws[1:]) * self.utility.shape[1]

    def is_as_good(self, after: NDArray[Any], best: NDArray[Any]) -> BoolArray:
        """Return [P] True where moves of utility `after` [P] are as good as the best ones, of utility `best` [P]."""
        return is_as_good(after, best, self._extremes)

    @cached_arrays
    def _extremes(self) -> FloatArray:
        """The least and the greatest utility."""
        return np.array([self.utility.min(), self.utility.max()])

    @property
    def random_value(self) -> float:
        """The value of a turn of uniformly random legal play, in the objective's unit."""
        return _random_value(self.game, self.objective)

    @checked
    def evaluate(self, policy: RulePolicy, illegal: str = "raise") -> "LargeEvaluation":
        """Measure a policy that looks at the afterstates of its moves against perfect play, exactly.

        Args:
            policy: an `AfterstateScorePolicy` or `UniformRandom`.
            illegal: has no effect, as these policies choose legal moves only; see `Solution.evaluate`.

        Returns:
            The exact value, regret and costliest mistakes of the policy.

        Raises:
            TypeError: if `policy` is neither of them.
            ValueError: if the policy does not give every afterstate a finite score.

        Example:
            >>> import stb_gym
            >>> from stb_gym.solver import AfterstateScorePolicy
            >>> best = stb_gym.large.solve_large(stb_gym.ShutTheBox(tiles=12))
            >>> high_tiles_first = AfterstateScorePolicy(lambda boards, dice: -boards)
            >>> round(best.evaluate(high_tiles_first).regret, 6)
            0.268143
        """
        grid = Grid(self.game)
        utility = self.utility.reshape(-1, grid.rows, grid.columns)
        by_dice = utility[: len(grid.chances)]
        flow = UniformFlow(grid, by_dice) if isinstance(policy, UniformRandom) else GreedyFlow(grid, by_dice, policy)
        sums = TurnSums(grid.box.scores)
        _throw_first(self, policy, grid, flow.visits, sums)
        bests = RowMoves(grid, utility[-1], np.maximum, -np.inf)
        states = np.arange(len(grid.thrown))[:, None] * grid.rows * grid.columns + np.arange(grid.columns)
        is_long = grid.rows >= MANY_ROWS
        for row in tracked(reversed(range(grid.rows)), "boards evaluated", "rows", grid.rows, is_long=is_long):
            played = flow.through(row)
            best = bests.reduce(row)
            visits = grid.chances.T @ flow.visits[:, row]
            has_move = best > -np.inf
            sums.throws += float(flow.visits[:, row].sum())
            sums.end(grid.final_scores(row), np.where(has_move, 0, visits).sum(axis=0))
            is_as_good = ~has_move | self.is_as_good(played, best)
            sums.choose(
                states + row * grid.columns, np.where(has_move, visits, 0), np.where(is_as_good, 0, best - played)
            )
        sums.throws -= float(flow.visits[0, 0, 0])  # a turn whose tiles are all shut throws no more
        goal = self.objective
        value = float(goal.sign * (goal.utilities(sums.scores) @ sums.chances)) + 0.0
        return LargeEvaluation(self, policy, sums, value)


@dataclass(frozen=True, eq=False, repr=False)
class LargeEvaluation(Measured):
    """A policy of a box too large for tables, measured against perfect play; values are in the objective's unit.

    A state is a number: its roll among the rolls of all numbers of dice, times the number of boards, plus the place of
    its board.

    Attributes:
        optimum: the values that the policy is measured against.
        policy: the policy.
        sums: the sums over all states.
        value: expected value of a turn.
        masked: None, as rules choose among legal moves.
    """

    optimum: LargeSolution
    policy: RulePolicy
    sums: TurnSums
    value: float
    masked: None = None

    @property
    def regret(self) -> float:
        """What the policy loses against perfect play, 0 or more."""
        return self.sums.regret

    @property
    def agreement_by_visits(self) -> float | None:
        """The share of moves in play, forced ones included, that are optimal; None for random play."""
        if isinstance(self.policy, UniformRandom):
            return None
        return 1 - self.sums.departures / self.sums.choices

    @property
    def score_distribution(self) -> dict[int, float]:
        """The probability of every final score that can occur, best first."""
        pairs = zip(self.sums.scores.tolist(), self.sums.chances.tolist(), strict=True)
        return {score: chance for score, chance in [*pairs][:: -self.optimum.game.sign] if chance > 0}

    @property
    def mean_throws(self) -> float:
        """Expected number of throws in a turn."""
        return self.sums.throws

    def _costliest(self, limit: int | None) -> list[Mistake]:
        """Return at most `limit` mistakes; MISTAKES_STORED are known."""
        mistakes = []
        for number, visits, loss in self.sums.mistakes[:limit].tolist():
            state = int(number)
            board, dice, roll = self._state(state)
            choice = choice_at(self.optimum, board, dice, roll)
            position = self.optimum.game.describe_state(board, dice, roll)
            wrong = self.policy.probabilities(choice.moves) * (np.array(choice.loss) > 0)
            plays = choice.moves[wrong.argmax()].action
            mistakes.append(Mistake(state, position, plays, choice.best[0].action, visits, loss))
        return mistakes

    def _state(self, state: int) -> tuple[int, int, Roll]:
        """Return the board, the dice and the roll of a state."""
        box = box_of(self.optimum.game)
        roll, place = divmod(state, self.optimum.utility.shape[1])
        is_open = place >> np.arange(len(box.bits)) & 1
        return int(box.bits @ is_open), *list(box.game.matches)[roll]


def _throw_first(optimum: LargeSolution, policy: RulePolicy, grid: Grid, visits: FloatArray, sums: TurnSums) -> None:
    """Add what the first throw of a turn leads to; its moves may differ from those of later throws."""
    game = optimum.game
    board, dice = game.start()
    known = rolls(game, dice)
    sums.throws += 1
    for roll, count in enumerate(known.counts.tolist()):
        chance = np.array([count / known.counts.sum()])
        choice = choice_at(optimum, board, dice, known.shown[roll])
        weights = policy.probabilities(choice.moves)
        state = np.array([(roll + 1) * grid.rows * grid.columns - 1])
        sums.choose(state, chance, weights @ np.array(choice.loss)[:, None])
        for move, weight in zip(choice.moves, weights, strict=True):
            if move.dice or not move.progress:
                visits.reshape(-1)[optimum.places(np.array([move.progress]), move.dice)] += chance * weight
            else:
                sums.end(np.array([game.final_score(move.progress)]), chance * weight)


@checked
def solve_large(game: Game, objective: Goal = "score", *, worst: bool = False) -> LargeSolution:
    """Solve a turn for every board; it takes little more memory than a float a board (three if dice are chosen).

    Args:
        game: rules of Shut the Box.
        objective: what is maximised, see `stb_gym.solve`.
        worst: minimise instead: the worst play.

    Returns:
        The value of the turn and of every board; `evaluate` measures policies.

    Raises:
        ValueError: if there is no such objective, or the game is not Shut the Box.

    Example:
        >>> import stb_gym
        >>> round(stb_gym.large.solve_large(stb_gym.ShutTheBox(tiles=12)).value, 6)
        35.081421
    """
    goal = objective_of(game, objective)
    return _sweep(game, goal.opposite if worst else goal)


@lru_cache(maxsize=64)  # several evaluations of one box ask for it, and it takes seconds for The 300
def _random_value(game: Game, goal: Objective) -> float:
    """Return the value of a turn of uniformly random legal play, in the objective's unit."""
    return values_of_random_play(game, goal).value


def values_of_random_play(game: Game, goal: Objective) -> LargeSolution:
    """Return the utility of every board under uniformly random legal play; see `solve_large`."""
    return _sweep(game, goal, uniform=True)


def _sweep(game: Game, goal: Objective, *, uniform: bool = False) -> LargeSolution:
    """Compute the utility of every board by backward induction: under perfect play, or under uniformly random play."""
    grid = Grid(game)
    throws = len(grid.chances)
    utility = np.empty((1 if throws == 1 else throws + 1, grid.rows, grid.columns))
    by_board = utility[-1]
    operation, neutral = (np.add, 0.0) if uniform else (np.maximum, -np.inf)
    moves = RowMoves(grid, by_board, operation, neutral, within=False)
    counts = RowMoves(grid, grid.allowed.sum(axis=0, dtype=np.int32), np.add, 0) if uniform else None
    utility[:, 0, 0] = goal.utilities(grid.final_scores(0)[:1])  # the turn is over, so there is no sum over rolls
    words = "boards of random play solved" if uniform else "boards solved"
    for row in tracked(range(grid.rows), words, "rows", grid.rows, is_long=grid.rows >= MANY_ROWS):
        by_roll = moves.reduce(row)
        end = goal.utilities(grid.final_scores(row)).astype(float)
        count = counts.reduce(row) if counts else None
        for columns, states, after in grid.levels if row else grid.levels[1:]:
            operation.at(by_roll.reshape(-1), states, by_board[row].take(after))
            at_states = by_roll.take(columns, axis=1)
            if count is None:
                at_states = np.where(at_states == neutral, end[columns], at_states)
            else:
                choices = count.take(columns, axis=1)
                at_states = np.where(choices == 0, end[columns], at_states / np.maximum(choices, 1))
            utility[:throws, row, columns] = grid.chances @ at_states
            if throws > 1:
                by_board[row, columns] = operation.reduce(
                    utility[:throws, row, columns], where=grid.allowed[:, row, columns], initial=neutral
                )
    values = LargeSolution(game, goal, utility.reshape(len(utility), -1))
    # The first throw may allow other moves.
    start = game.start()
    first = rolls(game, start[1])
    combine = np.mean if uniform else np.max
    next_afterstates = [np.array(list(game.moves(start, roll).values())).T for roll in first.shown]
    at_rolls = np.array([combine(values.utilities_at(boards, dice)) for boards, dice in next_afterstates])
    utility[0, -1, -1] = at_rolls @ first.counts / first.counts.sum()
    return values
