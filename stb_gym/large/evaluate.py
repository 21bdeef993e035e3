"""Exact evaluation of a policy on boxes too large for tables, in one sweep from the start of a turn on.

    visits(board, dice) = the visits that flow there from the boards before
    flow(node)          = visits(board, dice) x P(roll), which flows on to where the policy's move leads
    regret              = sum over nodes of flow(node) x loss(node)
    loss(node)          = u*(the best that a move leads to) - u*(what the policy's move leads to)

Rows of boards are worked through in descending order, as no move leads to a later one; in a row the columns with most
open tiles come first. Only sums over the nodes and the costliest mistakes are stored. For the regret see
`stb_gym.solver.evaluation`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import IntArray, Roll, rolls, words_of
from stb_gym.large.boards import boards_of
from stb_gym.large.solve import BoardRows, FloatArray, MovesWithin, RowMoves, over_throws, random_value
from stb_gym.large.values import BoardValues
from stb_gym.solver import Measured, Mistake, Move, RulePolicy, StateScorePolicy, UniformRandom, legal_moves

MISTAKES_KEPT = 100


@dataclass(frozen=True, eq=False, repr=False)
class BoardEvaluation(Measured):
    """A policy of a box too large for tables, measured against perfect play; values are in the objective's unit.

    A node is a number: the place of its board and dice in the flat array of the optimum, times the number of rolls of
    all numbers of dice, plus its roll among these.

    Attributes:
        optimum: the values that the policy is measured against.
        policy: the policy.
        sums: the sums over all nodes.
        value: expected value of a turn.
    """

    optimum: BoardValues
    policy: RulePolicy
    sums: "TurnSums"
    value: float

    @property
    def regret(self) -> float:
        """What the policy loses against perfect play, 0 or more."""
        return self.sums.regret

    @property
    def random_value(self) -> float:
        """Expected value of a turn of uniformly random legal play."""
        if isinstance(self.policy, UniformRandom):
            return self.value
        return random_value(self.optimum.game, self.optimum.objective)

    @property
    def agreement_by_visits(self) -> float | None:
        """The share of choices in play that are optimal; None for random play."""
        if isinstance(self.policy, UniformRandom):
            return None
        return 1 - self.sums.departures / self.sums.choices

    @property
    def score_distribution(self) -> dict[int, float]:
        """The probability of every final score that can occur, best first."""
        order = slice(None, None, -self.optimum.game.sign)
        known = zip(self.sums.scores[order].tolist(), self.sums.chances[order].tolist(), strict=True)
        return {score: chance for score, chance in known if chance > 0}

    @property
    def mean_throws(self) -> float:
        """Expected number of throws in a turn."""
        return self.sums.throws

    def mistakes(self, limit: int | None = None) -> list[Mistake]:
        """Return the nodes that add to the regret, costliest first, but no more than MISTAKES_KEPT."""
        mistakes = []
        for node, visits, loss in self.sums.costliest()[:limit]:
            held, dice, roll = self._node(node)
            moves = legal_moves(self.optimum.game, held, dice, roll)
            position = words_of(self.optimum.game).node(held, dice, roll)
            utilities, weights = _utilities(self.optimum, moves), _weights(self.policy, moves)
            is_best = self.optimum.is_as_good(utilities, utilities.max(keepdims=True))
            plays, best = moves[int(weights.argmax())].action, moves[int(is_best.argmax())].action
            mistakes.append(Mistake(node, position, plays, best, visits, loss))
        return mistakes

    def _node(self, node: int) -> tuple[int, int, Roll]:
        """Return the board, the dice and the roll of a node."""
        rows = BoardRows(boards_of(self.optimum.game), self.optimum.utility.shape[1])
        place, roll = divmod(node, len(rows.probability))
        row, column = divmod(place, rows.columns)
        throw, row = divmod(row, rows.rows)
        dice = rows.boards.throws[throw]
        return int(rows.held(row)[column]), dice, rolls(rows.game, dice).shown[roll - rows.throws[throw].start]


class TurnSums:
    """Sums over the nodes of a turn.

    Args:
        scores: [T] every final score that can occur, in ascending order.
        is_as_good: returns which moves are as good as the best ones, see `BoardValues.is_as_good`.

    Attributes:
        chances: [T] the probability of each score.
        throws: expected number of throws.
        choices: expected number of nodes that have a legal action.
        departures: expected number of those where an action is taken that is not optimal.
        regret: the sum of visits times loss.
    """

    def __init__(self, scores: IntArray, is_as_good: Callable[[FloatArray, FloatArray], NDArray[np.bool_]]):
        self.scores = scores
        self.chances = np.zeros(len(scores))
        self.throws = self.choices = self.departures = self.regret = 0.0
        self._is_as_good = is_as_good
        self._mistakes = np.empty((0, 3))  # node, visits and loss
        self._least = 0.0  # the least cost of a mistake that is kept

    def end(self, score: IntArray, visits: FloatArray) -> None:
        """Add turns [B] that end with scores [B]."""
        self.chances += np.bincount(np.searchsorted(self.scores, score), visits, len(self.scores))

    def lose(self, node: IntArray, visits: FloatArray, best: FloatArray, played: FloatArray) -> None:
        """Add the losses at nodes.

        Args:
            node: [B] the nodes.
            visits: [B] their expected visits.
            best: [B] the optimal utility of the best that a move leads to; -inf where there is none.
            played: [B] that of what the policy's move leads to.
        """
        lossy = np.flatnonzero(best > played)
        lossy = lossy[~self._is_as_good(played.reshape(-1)[lossy], best.reshape(-1)[lossy])]
        visits, loss = visits.reshape(-1)[lossy], best.reshape(-1)[lossy] - played.reshape(-1)[lossy]
        cost = visits * loss
        self.regret += float(cost.sum())
        self.departures += float(visits.sum())
        costly = np.flatnonzero(cost > self._least)
        found = np.column_stack([node.reshape(-1)[lossy[costly]], visits[costly], loss[costly]])
        self._mistakes = np.concatenate([self._mistakes, found])
        if len(self._mistakes) > 100 * MISTAKES_KEPT:
            self._mistakes = self._costliest()
            self._least = float(self._mistakes[-1, 1:].prod())

    def _costliest(self) -> FloatArray:
        cost = self._mistakes[:, 1] * self._mistakes[:, 2]
        return self._mistakes[np.argsort(-cost, kind="stable")[:MISTAKES_KEPT]]

    def costliest(self) -> list[tuple[int, float, float]]:
        """Return node, visits and loss of the costliest mistakes, costliest first."""
        return [(int(node), visits, loss) for node, visits, loss in self._costliest().tolist()]


def evaluate_boards(
    optimum: BoardValues, policy: RulePolicy, progress: Callable[[int, int], None] | None = None
) -> BoardEvaluation:
    """Measure a policy that looks at the states its moves lead to against perfect play, exactly.

    Args:
        optimum: perfect play, see `solve_boards`.
        policy: the policy.
        progress: called now and then with the number of rows done so far, and of all rows.

    Raises:
        TypeError: if `optimum` or `policy` is something else.
        ValueError: if the policy does not give every state a finite score.

    Example:
        >>> import stb_gym
        >>> from stb_gym.solver import StateScorePolicy
        >>> best = stb_gym.large.solve_boards(stb_gym.ShutTheBox(tiles=12))
        >>> high_tiles_first = StateScorePolicy(lambda boards, dice: -boards)
        >>> round(stb_gym.large.evaluate_boards(best, high_tiles_first).regret, 6)
        0.268143
    """
    if not (isinstance(optimum, BoardValues) and isinstance(policy, RulePolicy)):
        raise TypeError("evaluate_boards takes what solve_boards returns, and a StateScorePolicy or UniformRandom")
    rows = BoardRows(boards_of(optimum.game), optimum.utility.shape[1])
    utility = optimum.utility.reshape(len(rows.throws), rows.rows, rows.columns)
    goal = optimum.objective
    flow = _UniformFlow(rows, utility) if isinstance(policy, UniformRandom) else _GreedyFlow(policy, rows, utility)
    sums = TurnSums(rows.boards.scores, optimum.is_as_good)
    _throw_first(optimum, policy, rows, flow.visits, sums)
    bests = RowMoves(rows, over_throws(np.maximum, utility, rows.allowed))
    node = rows.throw[:, None] * rows.rows * rows.columns + np.arange(rows.columns)
    node = node * len(rows.throw) + np.arange(len(rows.throw))[:, None]
    for row in reversed(range(rows.rows)):
        played, here = flow.through(row), flow.visits[:, row]
        if here.any():
            best, visits = bests.reduce(row), rows.by_roll(here)
            ended = (visits * (best == -np.inf)).sum(axis=0)
            sums.end(rows.final_score(row), ended)
            sums.throws += float(here.sum())
            sums.choices += float(here.sum() - ended.sum())
            sums.lose(node + row * rows.columns * len(rows.throw), visits, best, played)
        rows.report(progress, rows.rows - row)
    sums.throws -= float(flow.visits[0, 0, 0])  # a turn whose tiles are all shut throws no more
    value = float(goal.sign * (goal.utilities(sums.scores) @ sums.chances)) + 0.0
    return BoardEvaluation(optimum, policy, sums, value)


def _throw_first(optimum: BoardValues, policy: RulePolicy, rows: BoardRows, visits: FloatArray, sums: TurnSums) -> None:
    """Add what the first throw of a turn leads to; its moves may differ from those of later throws."""
    game = optimum.game
    held, dice = game.start()
    known, place = rolls(game, dice), int(optimum.places(np.array([held]), dice)[0])
    sums.throws += 1
    for number, (roll, count) in enumerate(zip(known.shown, known.counts, strict=True)):
        chance, moves = np.array([count / known.counts.sum()]), legal_moves(game, held, dice, roll)
        if not moves:
            sums.end(np.array([game.final_score(held)]), chance)
            continue
        utilities, weights = _utilities(optimum, moves), _weights(policy, moves)
        node = np.array([place * len(rows.throw) + number])
        sums.choices += float(chance[0])
        sums.lose(node, chance, utilities.max(keepdims=True), utilities[None] @ weights)
        for move, weight in zip(moves, weights, strict=True):
            if move.dice or not move.held:
                visits.reshape(-1)[optimum.places(np.array([move.held]), move.dice)] += chance * weight
            else:
                sums.end(np.array([game.final_score(move.held)]), chance * weight)


def _utilities(optimum: BoardValues, moves: list[Move]) -> FloatArray:
    """Return [M] the optimal utility of the states that moves lead to."""
    _, held, dice = np.array(moves).T
    return optimum.utilities_at(held, dice)


def _weights(policy: RulePolicy, moves: list[Move]) -> FloatArray:
    """Return [M] the probabilities with which a policy makes the moves of a node."""
    if isinstance(policy, UniformRandom):
        return np.full(len(moves), 1 / len(moves))
    _, held, dice = np.array(moves).T
    return (np.arange(len(moves)) == policy.scores(held, dice).argmax()).astype(float)


class _GreedyFlow:
    """The flow of a deterministic policy, which goes from every node to one state.

    Attributes:
        visits: [D, rows, columns] of all states; those of a row are complete once all later rows have flowed on.
    """

    def __init__(self, policy: StateScorePolicy, rows: BoardRows, utility: FloatArray):
        rank, place = rank_states(rows, policy)
        self._tops = RowMoves(rows, over_throws(np.maximum, rank, rows.allowed))
        self._places = np.append(place, np.int32(place.size))  # where there is no move: nowhere
        self._utility = utility.reshape(-1)
        self._rows = rows
        open_tiles = np.bitwise_count(np.arange(rows.columns))
        self._levels = [np.flatnonzero(open_tiles == count) for count in range(open_tiles.max(), -1, -1)]
        self._all_visits = np.zeros(utility.size + 1)
        self.visits = self._all_visits[:-1].reshape(utility.shape)

    def through(self, row: int) -> FloatArray:
        """Add the visits of a row to the states that the policy's moves lead to.

        Returns:
            [R, columns] the optimal utility of what the policy's move leads to; any number where there is no move.
        """
        after = self._places.take(self._tops.reduce(row))
        here = self.visits[:, row]
        for columns in self._levels:
            reached = columns[here[:, columns].any(axis=0)]
            flow = self._rows.by_roll(here[:, reached])
            np.add.at(self._all_visits, after[:, reached].ravel(), flow.ravel())
        return self._utility.take(after, mode="clip")


class _UniformFlow:
    """The flow of random play, which goes from every node to all states that its moves lead to; see `_GreedyFlow`."""

    def __init__(self, rows: BoardRows, utility: FloatArray):
        self._rows = rows
        self.visits = np.zeros(utility.shape)
        self._reached = rows.before_dice(self.visits)
        choices = rows.allowed.sum(axis=0, dtype=np.int32)
        self._choices = RowMoves(rows, choices, np.add)
        self._sums = RowMoves(rows, over_throws(np.add, utility, rows.allowed), np.add)
        self._out = RowMoves(rows, self._reached, within=False)
        self._within = MovesWithin(rows)

    def through(self, row: int) -> FloatArray:
        rows, here = self._rows, self.visits[:, row]
        choices = np.maximum(self._choices.reduce(row), 1)
        if len(here) > 1:
            here += self._reached[row] * rows.allowed[:, row]
        self._within.spread(row, here, rows.probability[:, None] / choices)
        self._out.spread(row, rows.by_roll(here) / choices)
        return self._sums.reduce(row) / choices


def rank_states(rows: BoardRows, policy: StateScorePolicy) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Rank every state by its score.

    Of states with equal scores the one ranks higher to which the lower action leads: of the states that a roll may
    lead to, the one with the lowest tile shut that is open in another; of the same board the one with fewer dice.

    Returns:
        [D, rows, columns] the rank of every state, the highest score highest; and the place of the state of every rank
        in the flat array.
    """
    held = [rows.held(row) for row in range(rows.rows)]
    scores = np.array(
        [[policy.scores(each, np.where(each > 0, dice, 0)) for each in held] for dice in rows.boards.throws]
    )
    # A stable sort in the order of the actions, the lowest action last: equal scores then rank as they should.
    places = np.arange(scores.size, dtype=np.int32).reshape(scores.shape)
    backwards = _by_action(places)[::-1]
    place = backwards[np.argsort(scores.reshape(-1)[backwards], kind="stable")]
    rank = np.empty_like(place)
    rank[place] = np.arange(place.size, dtype=np.int32)
    return rank.reshape(scores.shape), place


def _by_action(values: NDArray[Any]) -> NDArray[Any]:
    """Return [D * rows * columns] values [D, rows, columns] in the order of the actions that lead to them."""
    mirrored = np.zeros(1, np.int64)
    while len(mirrored) < values.shape[1]:  # the lowest tile is the first digit of a column, and the last of a row
        mirrored = np.append(2 * mirrored, 2 * mirrored + 1)
    return values[::-1, mirrored].transpose(1, 2, 0).reshape(-1)
