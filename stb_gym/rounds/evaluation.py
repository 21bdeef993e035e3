"""The exact results of players in a round whose play is given, and the best response of each seat."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from stb_gym.arrays import FloatArray, IntArray, cached_arrays, freeze
from stb_gym.checks import check_integer
from stb_gym.rounds.optimal_turn import OptimalTurn
from stb_gym.rounds.rules import RulesOfRound
from stb_gym.rounds.scores_so_far import ScoresSoFarTable, batches
from stb_gym.solver import expected_visits, score_chances


class Seat(NamedTuple):
    """The play of one seat, by the scores so far.

    Both arrays are 0 at scores so far that the seat cannot meet. Where the round is over, the seat has the worst score.

    Attributes:
        chances: [Z, T] the probabilities of its final scores.
        throws: [Z] the expected number of throws.
    """

    chances: FloatArray
    throws: FloatArray


def play_seat(scores_so_far: ScoresSoFarTable, seat: int, weights: Callable[[IntArray], FloatArray]) -> Seat:
    """Compute the exact play of a seat.

    Args:
        scores_so_far: the Z scores so far of the round.
        seat: the index in turn order, from 0.
        weights: returns the probabilities of all pairs at rows [B], as [E, B], or as [E, 1] if they are equal.

    Returns:
        The play.
    """
    tables = scores_so_far.tables
    chances, throws = np.zeros(scores_so_far.next_row.shape), np.zeros(len(scores_so_far.lead))
    chances[scores_so_far.over, -1] = 1
    throwing = tables.dice[tables.state_origin, None] > 0
    for rows in batches(tables, scores_so_far.reachable_by(seat)):
        visits = expected_visits(tables, weights(rows))
        chances[rows] = score_chances(tables, visits).T
        throws[rows] = (visits * throwing).sum(axis=0)
    return Seat(chances, throws)


class Outcome(NamedTuple):
    """The chances of the first of two players; they sum to 1."""

    win: float
    loss: float
    tie: float


class BestResponse(NamedTuple):
    """The best response of a seat to the other players of a round.

    Attributes:
        value: the seat's expected win.
        gain: by how much that exceeds its expected win as evaluated.
        turn: the play.
    """

    value: float
    gain: float
    turn: OptimalTurn


@dataclass(frozen=True, eq=False, repr=False)
class RoundEvaluation:
    """The exact results of a round whose players follow given strategies.

    Attributes:
        rules: the round.
        played: the play of every seat, in turn order.
    """

    rules: RulesOfRound
    played: tuple[Seat, ...]

    def __post_init__(self) -> None:
        freeze(vars(self))

    def __repr__(self) -> str:
        wins = np.array2string(self.seats, precision=4, threshold=10)
        return f"<{self.rules.players} players of {self.rules.game}, ties {self.rules.ties}: seats win {wins}>"

    @cached_arrays
    def _reached(self) -> list[FloatArray]:
        """[Z] for each seat: the probabilities of the scores so far before its turn."""
        table, chances = self.rules.scores_so_far, [seat.chances for seat in self.played[:-1]]
        return [*accumulate(chances, table.reached_after, initial=table.initial)]

    def _value_after(self, final_value: FloatArray) -> list[FloatArray]:
        """Return [Z] for each seat: the value of each row to a holder of the lead after its turn.

        Args:
            final_value: [Z] the value at the end of the round.
        """
        chances = [seat.chances for seat in reversed(self.played[1:])]
        return [*accumulate(chances, self.rules.scores_so_far.value_before, initial=final_value)][::-1]

    @cached_arrays
    def value_after(self) -> list[FloatArray]:
        """[Z] for each seat: the expected win of each holder of the lead after its turn."""
        return self._value_after(self.rules.scores_so_far.share)

    @cached_arrays
    def seats(self) -> FloatArray:
        """[players] the expected win of each seat: its chance to win or, under "split", its share of the win."""
        table = self.rules.scores_so_far
        wins = []
        for reached, seat, value in zip(self._reached, self.played, self.value_after, strict=True):
            wins.append(reached @ (seat.chances * table.takes_lead * value[table.next_row]).sum(axis=1))
        return np.array(wins)

    @cached_arrays
    def throws(self) -> FloatArray:
        """[players] the expected number of throws of each seat."""
        return np.array([reached @ seat.throws for reached, seat in zip(self._reached, self.played, strict=True)])

    @cached_arrays
    def survival(self) -> FloatArray:
        """[players, T] the chance that nobody beats a player who leads alone.

        The rows are the numbers of players still to play, 0, 1 ..., and the columns are ranks of the lead.
        """
        stands = self._value_after(np.ones(len(self.rules.scores_so_far.lead)))
        return np.minimum(np.stack(stands[::-1])[:, self.rules.scores_so_far.holders == 1], 1)  # rounding may exceed 1

    @cached_arrays
    def lead_value(self) -> FloatArray:
        """[players, T] the expected win of a player who leads alone, by players still to play and rank of the lead."""
        return np.stack(self.value_after[::-1])[:, self.rules.scores_so_far.holders == 1]

    def best_response(self, seat: int) -> BestResponse:
        """Compute the best response of a seat to the other seats.

        Args:
            seat: the index in turn order, from 0.

        Returns:
            Its value, its gain and its play.
        """
        check_integer("seat", seat, 0, self.rules.players - 1)
        turn = OptimalTurn(self.rules.scores_so_far, self.value_after[seat])
        met = self.rules.scores_so_far.reachable_by(seat)
        value = float(self._reached[seat][met] @ turn.values(met))
        return BestResponse(value, max(0.0, value - float(self.seats[seat])), turn)

    @cached_property
    def exploitability(self) -> float:
        """The sum of the gains of the seats' best responses; 0 at an equilibrium."""
        return sum(self.best_response(seat).gain for seat in range(self.rules.players))

    @property
    def outcome(self) -> Outcome:
        """Win, loss and tie of the first of two players.

        Raises:
            ValueError: if the round has another number of players.
        """
        if self.rules.players != 2:
            raise ValueError(f"only a round of 2 players has an outcome, not one of {self.rules.players}")
        takes, keeps = self.rules.scores_so_far.takes_lead, self.rules.scores_so_far.keeps_lead
        second = self._reached[1][:, None] * self.played[1].chances
        return Outcome(*(float(second[how].sum()) for how in (~takes, ~keeps, keeps & takes)))
