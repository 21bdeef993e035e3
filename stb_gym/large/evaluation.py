"""Exact evaluation of a policy on boards too many for arrays of nodes, in one sweep from the start of a turn on.

    regret     = sum over nodes of visits(node) x loss(node)
    loss(node) = u*(the best that a move leads to) - u*(what the policy's move leads to)

Of the nodes nothing is kept but sums, and the dearest mistakes. For the regret see `stb_gym.solver.evaluation`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import IntArray, Move, legal_moves, rolls, words_of
from stb_gym.large.flow import flow_of
from stb_gym.large.rows import BoardRows, FloatArray, RowMoves, over_throws
from stb_gym.large.solving import random_value
from stb_gym.large.values import BoardValues
from stb_gym.solver.measured import Measured, Mistake
from stb_gym.solver.preferences import AnyMove, BoardPolicy, Preference

MISTAKES_KEPT = 100


class TurnSums:
    """Sums over the nodes of a turn.

    Args:
        scores: [T] every final score that can occur, in ascending order.
        tied: tells of moves [E] and the best ones [E], by what they are worth, which are as good.

    Attributes:
        chances: [T] the probability of each.
        throws: expected number of throws.
        choices: expected number of nodes that have a legal action.
        departures: of those at which an action is taken that is not optimal.
        regret: what is lost.
    """

    def __init__(self, scores: IntArray, tied: Callable[[FloatArray, FloatArray], NDArray[np.bool_]]):
        self.scores, self.chances, self._tied = scores, np.zeros(len(scores)), tied
        self.throws = self.choices = self.departures = self.regret = 0.0
        self._mistakes = np.empty((0, 3))  # node, visits and loss
        self._least = 0.0  # what a mistake must cost to be kept

    def end(self, score: IntArray, visits: FloatArray) -> None:
        """Add turns [B] that end with scores [B]."""
        self.chances += np.bincount(np.searchsorted(self.scores, score), visits, len(self.scores))

    def lose(self, node: IntArray, visits: FloatArray, best: FloatArray, played: FloatArray) -> None:
        """Add what is lost at nodes [B].

        Args:
            node: which they are.
            visits: how often they are met.
            best: the optimal utility of the best that a move leads to; -inf where there is none.
            played: that of what the policy's move leads to.
        """
        lossy = np.flatnonzero(best > played)
        lossy = lossy[~self._tied(played.reshape(-1)[lossy], best.reshape(-1)[lossy])]
        visits, loss = visits.reshape(-1)[lossy], best.reshape(-1)[lossy] - played.reshape(-1)[lossy]
        cost = visits * loss
        self.regret += float(cost.sum())
        self.departures += float(visits.sum())
        dear = np.flatnonzero(cost > self._least)
        found = np.column_stack([node.reshape(-1)[lossy[dear]], visits[dear], loss[dear]])
        self._mistakes = np.concatenate([self._mistakes, found])
        if len(self._mistakes) > 100 * MISTAKES_KEPT:
            self._mistakes = self._dearest()
            self._least = float(self._mistakes[-1, 1:].prod())

    def _dearest(self) -> FloatArray:
        cost = self._mistakes[:, 1] * self._mistakes[:, 2]
        return self._mistakes[np.argsort(-cost, kind="stable")[:MISTAKES_KEPT]]

    def dearest(self) -> list[tuple[int, float, float]]:
        """Node, visits and loss of the dearest mistakes, dearest first."""
        return [(int(node), visits, loss) for node, visits, loss in self._dearest().tolist()]


@dataclass(frozen=True, eq=False, repr=False)
class BoardEvaluation(Measured):
    """A policy of a game of boards measured against perfect play; values are in the objective's unit.

    A node is a number: the place of its board and dice in the flat array of the optimum, times the number of rolls of
    all numbers of dice, plus its roll among these.

    Attributes:
        optimum: the values it is measured against.
        policy: the policy.
        sums: what was added up on the way.
        value: expected value of a turn.
    """

    optimum: BoardValues
    policy: BoardPolicy
    sums: TurnSums
    value: float

    @property
    def regret(self) -> float:
        """What the policy loses against perfect play, 0 or more."""
        return self.sums.regret

    @property
    def random_value(self) -> float:
        """Expected value of a turn of uniformly random legal play."""
        return (
            self.value if isinstance(self.policy, AnyMove) else random_value(self.optimum.game, self.optimum.objective)
        )

    @property
    def agreement_by_visits(self) -> float | None:
        """The share of choices in play that are optimal; None of random play."""
        return 1 - self.sums.departures / self.sums.choices if isinstance(self.policy, Preference) else None

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
        """The nodes that add to the regret, dearest first, but no more than MISTAKES_KEPT."""
        return [self._mistake(*dearest) for dearest in self.sums.dearest()[:limit]]

    def describe_node(self, node: int) -> str:
        """A node in words."""
        return words_of(self.optimum.game).node(*self._node(node))

    def _mistake(self, node: int, visits: float, loss: float) -> Mistake:
        moves = legal_moves(self.optimum.game, *self._node(node))
        worths, weights = _worths(self.optimum, moves), _weights(self.policy, moves)
        best = self.optimum.tied(worths, worths.max(keepdims=True))
        return Mistake(
            node=node,
            plays=moves[int(weights.argmax())].action,
            best=moves[int(best.argmax())].action,
            visits=visits,
            loss=loss,
        )

    def _node(self, node: int) -> tuple[int, int, NDArray[np.uint8]]:
        """The board, the dice and the roll of a node."""
        rows = BoardRows(self.optimum.game, self.optimum.utility.shape[1])
        place, roll = divmod(node, len(rows.probability))
        row, column = divmod(place, rows.columns)
        throw, row = divmod(row, rows.rows)
        dice = rows.boards.throws[throw]
        return int(rows.held(row)[column]), dice, rolls(rows.game, dice).shown[roll - rows.throws[throw].start]


def evaluate_boards(
    optimum: BoardValues, policy: BoardPolicy, progress: Callable[[int, int], None] | None = None
) -> BoardEvaluation:
    """Measure a policy that looks at what its moves lead to against perfect play exactly, by boards.

    Args:
        optimum: perfect play, by boards.
        policy: the policy.
        progress: called now and then with the number of rows that are done, and of all rows.

    Raises:
        TypeError: if they are something else.
        ValueError: if the policy does not want every state by a finite number.

    Example:
        >>> import stb_gym
        >>> best = stb_gym.solve_boards(stb_gym.ShutTheBox(tiles=12))
        >>> round(stb_gym.evaluate_boards(best, stb_gym.Preference(lambda boards, dice: -boards)).regret, 6)
        0.268143
    """
    if not (isinstance(optimum, BoardValues) and isinstance(policy, BoardPolicy)):
        raise TypeError("by boards a Preference or AnyMove is measured against what stb_gym.solve_boards returns")
    rows = BoardRows(optimum.game, optimum.utility.shape[1])
    utility = optimum.utility.reshape(len(rows.throws), rows.rows, rows.columns)
    goal = optimum.objective
    flow = flow_of(policy, rows, utility)
    sums = TurnSums(rows.scores, optimum.tied)
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
        rows.tell(progress, rows.rows - row)
    sums.throws -= float(flow.visits[0, 0, 0])  # a turn whose tiles are all shut throws no more
    value = float(goal.sign * (goal.utilities(sums.scores) @ sums.chances)) + 0.0
    return BoardEvaluation(optimum, policy, sums, value)


def _throw_first(
    optimum: BoardValues, policy: BoardPolicy, rows: BoardRows, visits: FloatArray, sums: TurnSums
) -> None:
    """Let the first throw of a turn flow on, whose moves may be others than later."""
    game, (held, dice) = optimum.game, optimum.game.start()
    known, place = rolls(game, dice), int(optimum.places(np.array([held]), dice)[0])
    sums.throws += 1
    for number, (roll, count) in enumerate(zip(known.shown, known.counts, strict=True)):
        chance, moves = np.array([count / known.counts.sum()]), legal_moves(game, held, dice, roll)
        if not moves:
            sums.end(game.final_score(np.array([held])), chance)
            continue
        worths, weights = _worths(optimum, moves), _weights(policy, moves)
        node = np.array([place * len(rows.throw) + number])
        sums.choices += float(chance[0])
        sums.lose(node, chance, worths.max(keepdims=True), worths[None] @ weights)
        for move, weight in zip(moves, weights, strict=True):
            if move.dice or not move.held:
                visits.reshape(-1)[optimum.places(np.array([move.held]), move.dice)] += chance * weight
            else:
                sums.end(game.final_score(np.array([move.held])), chance * weight)


def _worths(optimum: BoardValues, moves: list[Move]) -> FloatArray:
    """[M] the optimal utility of what moves lead to."""
    _, held, dice = np.array(moves).T
    return optimum.worths(held, dice)


def _weights(policy: BoardPolicy, moves: list[Move]) -> FloatArray:
    """[M] the probabilities with which a policy makes the moves of a node."""
    if isinstance(policy, AnyMove):
        return np.full(len(moves), 1 / len(moves))
    _, held, dice = np.array(moves).T
    return (np.arange(len(moves)) == policy.of(held, dice).argmax()).astype(float)
