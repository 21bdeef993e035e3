"""Exact evaluation of a policy on boxes too large for tables, in one sweep from the start of a turn on.

    visits(board, dice) = the visits that flow there from the boards before
    flow(state)          = visits(board, dice) x P(roll), which flows on to where the policy's move leads
    regret              = sum over states of flow(state) x loss(state)
    loss(state)          = u*(the best that a move leads to) - u*(what the policy's move leads to)

Rows of boards are worked through in descending order, as no move leads to a later one; in a row the columns with most
open tiles come first. Only sums over the states and the costliest mistakes are stored. For the regret see
`stb_gym.solver.evaluation`.
"""

from dataclasses import dataclass

import numpy as np

from stb_gym.arguments import checked
from stb_gym.arrays import FloatArray, IntArray
from stb_gym.games import Roll, rolls
from stb_gym.large.box import box_of
from stb_gym.large.grid import Grid, RowMoves
from stb_gym.large.solve import LargeSolution, random_value
from stb_gym.solver import AfterstateScorePolicy, Measured, Mistake, RulePolicy, UniformRandom, choice_at
from stb_gym.tracking import tracked

MISTAKES_KEPT = 100


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
    sums: "TurnSums"
    value: float
    masked: None = None

    @property
    def regret(self) -> float:
        """What the policy loses against perfect play, 0 or more."""
        return self.sums.regret

    @property
    def random_value(self) -> float:
        """Expected value of a turn of uniformly random legal play."""
        return random_value(self.optimum.game, self.optimum.objective)

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
        """Return so many of the mistakes, of which MISTAKES_KEPT are known."""
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


class TurnSums:
    """Sums over the states of a turn.

    Attributes:
        scores: [S] every final score that can occur, in ascending order.
        chances: [S] the probability of each.
        throws: expected number of throws.
        choices: expected number of states that have a legal action.
        departures: expected number of those where an action is taken that is not optimal.
        regret: the sum of visits times loss.
        mistakes: [at most MISTAKES_KEPT, 3] the state, the visits and the loss of the costliest, costliest first.
    """

    def __init__(self, scores: IntArray):
        self.scores = scores
        self.chances = np.zeros(len(scores))
        self.throws = 0.0
        self.choices = 0.0
        self.departures = 0.0
        self.regret = 0.0
        self.mistakes = np.empty((0, 3))
        self._least_cost = 0.0  # of a mistake that is kept

    def end(self, score: IntArray, visits: FloatArray) -> None:
        """Add turns [B] that end with scores [B]."""
        self.chances += np.bincount(np.searchsorted(self.scores, score), visits, len(self.scores))

    def choose(self, state: IntArray, visits: FloatArray, loss: FloatArray) -> None:
        """Add choices: the states' numbers, their expected visits, and the policy's loss there, of one shape."""
        self.choices += float(visits.sum())
        self.departures += float(visits[loss > 0].sum())
        cost = visits * loss
        self.regret += float(cost.sum())
        costly = cost > self._least_cost
        found = np.column_stack([state[costly], visits[costly], loss[costly]])
        mistakes = np.concatenate([self.mistakes, found])
        order = np.argsort(-mistakes[:, 1] * mistakes[:, 2], kind="stable")
        self.mistakes = mistakes[order[:MISTAKES_KEPT]]
        if len(order) >= MISTAKES_KEPT:
            self._least_cost = float(self.mistakes[-1, 1:].prod())


@checked
def evaluate_large(optimum: LargeSolution, policy: RulePolicy) -> LargeEvaluation:
    """Measure a policy that looks at the afterstates its moves lead to against perfect play, exactly.

    Args:
        optimum: perfect play, see `solve_large`.
        policy: the policy.

    Raises:
        TypeError: if `optimum` or `policy` is something else.
        ValueError: if the policy does not give every afterstate a finite score.

    Example:
        >>> import stb_gym
        >>> from stb_gym.solver import AfterstateScorePolicy
        >>> best = stb_gym.large.solve_large(stb_gym.ShutTheBox(tiles=12))
        >>> high_tiles_first = AfterstateScorePolicy(lambda boards, dice: -boards)
        >>> round(stb_gym.large.evaluate_large(best, high_tiles_first).regret, 6)
        0.268143
    """
    grid = Grid(optimum.game)
    utility = optimum.utility.reshape(-1, grid.rows, grid.columns)
    by_dice = utility[: len(grid.chances)]
    flow = _UniformFlow(grid, by_dice) if isinstance(policy, UniformRandom) else _GreedyFlow(grid, by_dice, policy)
    sums = TurnSums(grid.box.scores)
    _throw_first(optimum, policy, grid, flow.visits, sums)
    bests = RowMoves(grid, utility[-1], np.maximum, -np.inf)
    states = np.arange(len(grid.thrown))[:, None] * grid.rows * grid.columns + np.arange(grid.columns)
    for row in tracked(reversed(range(grid.rows)), "boards evaluated", "rows", grid.rows):
        played = flow.through(row)
        best = bests.reduce(row)
        visits = grid.chances.T @ flow.visits[:, row]
        has_move = best > -np.inf
        sums.throws += float(flow.visits[:, row].sum())
        sums.end(grid.final_scores(row), np.where(has_move, 0, visits).sum(axis=0))
        is_as_good = ~has_move | optimum.is_as_good(played, best)
        sums.choose(states + row * grid.columns, np.where(has_move, visits, 0), np.where(is_as_good, 0, best - played))
    sums.throws -= float(flow.visits[0, 0, 0])  # a turn whose tiles are all shut throws no more
    goal = optimum.objective
    value = float(goal.sign * (goal.utilities(sums.scores) @ sums.chances)) + 0.0
    return LargeEvaluation(optimum, policy, sums, value)


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


class _GreedyFlow:
    """The flow of a deterministic policy, which goes from every state to one afterstate.

    Args:
        grid: the boards.
        utility: [D, rows, columns] the optimal utility of every afterstate.
        policy: the policy.

    Attributes:
        visits: [D, rows, columns] of all afterstates; those of a row are complete once all later rows have flowed on.
    """

    def __init__(self, grid: Grid, utility: FloatArray, policy: AfterstateScorePolicy):
        self._grid = grid
        self._utility = utility.reshape(-1)
        rows = [grid.boards_in(row) for row in range(grid.rows)]
        scores = np.array(
            [[policy.scores(boards, np.where(boards > 0, dice, 0)) for boards in rows] for dice in grid.box.game.throws]
        )
        # Rank the afterstates by score. Of equal scores the one ranks higher to which the lower action leads: that of
        # the lower place, or of fewer dice at the same place. So a stable sort begins with the highest place.
        places = np.arange(scores.size, dtype=np.int32).reshape(len(scores), -1)[:, ::-1].T.ravel()
        by_rank = places[np.argsort(scores.reshape(-1)[places], kind="stable")]
        rank = np.empty_like(by_rank)
        rank[by_rank] = np.arange(len(by_rank), dtype=np.int32)
        top = np.maximum.reduce(rank.reshape(scores.shape), where=grid.allowed, initial=-1)
        self._tops = RowMoves(grid, top, np.maximum, -1)
        self._places = np.append(by_rank, np.int32(by_rank.size))  # where there is no move: nowhere
        self._all_visits = np.zeros(by_rank.size + 1)
        self.visits = self._all_visits[:-1].reshape(scores.shape)

    def through(self, row: int) -> FloatArray:
        """Add the visits of a row to the afterstates that the policy's moves lead to.

        Returns:
            [R, columns] the optimal utility of what the policy's move leads to; any number where there is no move.
        """
        after = self._places.take(self._tops.reduce(row))
        visits = self.visits[:, row]
        for columns, _, _ in reversed(self._grid.levels):
            reached = columns[visits[:, columns].any(axis=0)]
            flow = self._grid.chances.T @ visits[:, reached]
            np.add.at(self._all_visits, after[:, reached].ravel(), flow.ravel())
        return self._utility.take(after, mode="clip")


class _UniformFlow:
    """The flow of random play, which goes from every state to the afterstates of all moves; see `_GreedyFlow`."""

    def __init__(self, grid: Grid, utility: FloatArray):
        self._grid = grid
        self.visits = np.zeros(utility.shape)
        self._reached = np.zeros(utility.shape[1:])  # visits from later rows with each number of dice that is allowed
        self._choices = RowMoves(grid, grid.allowed.sum(axis=0, dtype=np.int32), np.add, 0)
        self._sums = RowMoves(grid, np.add.reduce(utility, where=grid.allowed), np.add, 0)
        self._out = RowMoves(grid, self._reached, np.add, 0, within=False)

    def through(self, row: int) -> FloatArray:
        """Add the visits of a row to the afterstates after its moves, and return [R, columns] their mean utility."""
        choices = np.maximum(self._choices.reduce(row), 1)
        allowed = self._grid.allowed[:, row]
        visits = self.visits[:, row]
        visits += self._reached[row] * allowed
        flow = np.empty(choices.shape)
        for columns, states, after in reversed(self._grid.levels):
            flow[:, columns] = self._grid.chances.T @ visits[:, columns] / choices[:, columns]
            visits += np.bincount(after, flow.take(states), self._grid.columns) * allowed
        self._out.spread(row, flow)
        return self._sums.reduce(row) / choices
