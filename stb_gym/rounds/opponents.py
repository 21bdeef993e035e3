"""The opponents of one seat of a round, reduced to two draws.

The players before a seat determine the probabilities of the scores so far at its turn. If it holds the lead after its
turn, the players after it determine the probabilities that it is beaten, or shares the lead with 0, 1 ... others in the
end. So a whole round takes two draws besides the turn itself, for any number of players.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from stb_gym.arrays import FloatArray, IntArray, cached_arrays, freeze
from stb_gym.checks import check_integer
from stb_gym.rounds.optimal_turn import best_values
from stb_gym.rounds.round import Round, RoundEvaluation
from stb_gym.rounds.scores_so_far import ScoresSoFar
from stb_gym.rounds.strategies import RoundStrategy

OpponentStrategies = RoundStrategy | Sequence[RoundStrategy] | RoundEvaluation


@dataclass(frozen=True, eq=False, repr=False)
class Opponents:
    """The opponents of a player in a round of N players.

    The player's turn has C possible *starts*: pairs of a seat that the player may have and of scores so far there.

    Attributes:
        rules: the round.
        seats: the seats that the player may have, each equally likely.
        seat: [C] the index in `seats`.
        row: [C] the row of the scores so far in the table `rules.scores_so_far`, which has Z rows.
        chance: [C] the probability of the start. The sum is below 1 where a round can end before the turn.
        holder_chances: [seats, Z, N + 1] for a player in one of the `seats` who holds the lead of a row after the turn,
            the probability of being one of k holders at the end of the round; k = 0 is to be beaten.
    """

    rules: Round
    seats: tuple[int, ...]
    seat: IntArray
    row: IntArray
    chance: FloatArray
    holder_chances: FloatArray

    def __post_init__(self) -> None:
        freeze(vars(self))

    @cached_arrays
    def observed(self) -> IntArray:
        """[C, 3] what the player observes: the rank of the lead, the number of its holders, and of players after."""
        table = self.rules.scores_so_far
        after = self.rules.players - 1 - np.array(self.seats)[self.seat]
        return np.column_stack((table.lead[self.row], table.holders[self.row], after))

    @cached_arrays
    def share(self) -> FloatArray:
        """[N + 1] what each of 1, 2 ... N holders of the lead wins in the end; at index 0, for a beaten player, 0."""
        return np.append(0.0, self.rules.scores_so_far.share[: self.rules.players])

    @cached_arrays
    def utility(self) -> FloatArray:
        """[C, T] the player's expected win by final score at each start."""
        table, value = self.rules.scores_so_far, self.holder_chances @ self.share
        return table.takes_lead[self.row] * value[self.seat[:, None], table.next_row[self.row]]

    @cached_arrays
    def best_wins(self) -> FloatArray:
        """[C] the best response's expected win at each start; 0 where its probability is 0."""
        wins = np.zeros(len(self.chance))
        wins[self.chance > 0] = best_values(self.rules.tables, self.utility[self.chance > 0])
        return wins

    @cached_property
    def reward_threshold(self) -> float:
        """The best response's expected win in rounds in which the player has a turn."""
        return float(self.chance @ self.best_wins / self.chance.sum())

    def scores_so_far(self, start: int) -> ScoresSoFar:
        """Return the scores so far of one of the C starts."""
        return self.rules.scores_so_far.at_row(int(self.row[start]), int(self.observed[start, 2]))

    def find_starts(self, observed: IntArray) -> IntArray:
        """Return the indices [B] of the starts at which the player observes three numbers [B, 3]; see `observed`.

        Raises:
            ValueError: if the player never observes them.
        """
        start_of = {tuple(row): start for start, row in enumerate(self.observed.tolist())}
        starts = [start_of.get(tuple(row), -1) for row in observed.tolist()]
        if -1 in starts:
            raise ValueError(f"the player, in {self._named_seats}, never sees the scores so far of the snapshot")
        return np.array(starts)

    def cumulative_chances(self, options: Mapping[str, Any]) -> FloatArray:
        """Compute the cumulative probabilities of the starts that fit `options`, for a draw.

        If the opponents leave no such start, all that fit are equally likely.

        Args:
            options: the "lead", "holders" and "after" of the scores so far, or some of these.

        Returns:
            [C] the probabilities; those of other starts are 0.

        Raises:
            ValueError: if the player never sees such scores so far.
        """
        if not options:
            return self._cumulative_chances
        observable = [self.scores_so_far(start)._asdict() for start in range(len(self.row))]
        fits = np.array([options.items() <= scores_so_far.items() for scores_so_far in observable])
        if not fits.any():
            raise ValueError(f"the player, in {self._named_seats}, never sees {dict(options)}")
        chances = self.chance * fits
        return _cumulative(chances if chances.any() else fits)

    def draw_start(self, cumulative_chances: FloatArray, random: Any) -> Any:
        """Draw at which of the C starts the player begins.

        Args:
            cumulative_chances: [C] see the method of this name.
            random: 64 random bits, or [B].

        Returns:
            The index of the start, or [B].
        """
        return cumulative_chances.searchsorted(_uniform(random), side="right")

    def draw_holders(self, start: Any, score: Any, random: Any) -> Any:
        """Draw how many players hold the lead with the player in the end.

        Args:
            start: at which of the C starts the player began, or an array [B].
            score: the rank of the final score, or [B]; T after an illegal action.
            random: 64 random bits, or [B].

        Returns:
            The number, the player included, or [B]; 0 if the player is beaten.
        """
        cumulative = self._cumulative_holders[self.seat[start], self._row_in_lead[self.row[start], score]]
        return (_uniform(random) >= cumulative.T).sum(axis=0)

    @property
    def _named_seats(self) -> str:
        return f"seats {self.seats[0]} to {self.seats[-1]} of {self.rules}"

    @cached_arrays
    def _cumulative_chances(self) -> FloatArray:
        return _cumulative(self.chance)

    @cached_arrays
    def _row_in_lead(self) -> IntArray:
        """[Z, T + 1] the row after each final score of the player; Z where the player does not hold the lead then.

        The last column is that of an illegal action.
        """
        table = self.rules.scores_so_far
        beaten = len(table.lead)
        return np.pad(np.where(table.takes_lead, table.next_row, beaten), ((0, 0), (0, 1)), constant_values=beaten)

    @cached_arrays
    def _cumulative_holders(self) -> FloatArray:
        """[seats, Z + 1, N + 1] cumulative `holder_chances`; in the last row the player is beaten."""
        return np.pad(_cumulative(self.holder_chances), ((0, 0), (0, 1), (0, 0)), constant_values=1)


def _cumulative(chances: FloatArray) -> FloatArray:
    """Return the cumulative sums of distributions, scaled to end at 1."""
    sums = chances.cumsum(axis=-1)
    return sums / sums[..., -1:]


def _uniform(random: Any) -> Any:
    """Convert integers of 64 random bits to floats in [0, 1)."""
    return (random >> 11) * 2.0**-53


def opponents_of(rules: Round, seat: int | str = "drawn", opponents: OpponentStrategies = "optimal") -> Opponents:
    """Compute the exact chances that the opponents of a player leave.

    Args:
        rules: the round.
        seat: the player's, 0 to players - 1, or "drawn": a new one in every round, all equally likely.
        opponents: one strategy that all play, or a list with one for each of the others in the order of the seats: see
            `Round.evaluate`; or an evaluated round, in which the player takes a seat and the others play as they do
            there.

    Returns:
        The opponents.

    Raises:
        ValueError: if the seat or a strategy is unknown, or there is not one strategy per opponent.
    """
    if seat != "drawn":
        check_integer('seat, if it is not "drawn",', seat, 0, rules.players - 1)
    seats = tuple(range(rules.players)) if seat == "drawn" else (int(seat),)
    first, last = seats[0], seats[-1]
    # The chances [Z, T] of the final scores of the opponents before the player and after it, by seat.
    if isinstance(opponents, RoundEvaluation):
        if replace(opponents.rules, indifferent=rules.indifferent) != rules:
            raise ValueError(f"the evaluated opponents play another round than {rules}")
        before = [seat.chances for seat in opponents.played[:last]]
        after = [seat.chances for seat in opponents.played[first + 1 :]]
    else:
        others = rules.players - 1
        strategies: list[Any] = [*opponents] if isinstance(opponents, list | tuple) else [opponents] * others
        if len(strategies) != others:
            raise ValueError(f"a player in a round of {rules.players} has {others} opponents, not {len(strategies)}")
        before = [rules.seat(other, strategy).chances for other, strategy in enumerate(strategies[:last])]
        after = [rules.seat(other, strategy).chances for other, strategy in enumerate(strategies[first:], first + 1)]
    table = rules.scores_so_far
    reached = [*accumulate(before, table.reached_after, initial=table.initial)]
    holder_chances = [(table.holders[:, None] == np.arange(rules.players + 1)).astype(float)]
    for chances in reversed(after):
        earlier = np.stack([table.value_before(column, chances) for column in holder_chances[0].T], axis=1)
        earlier[:, 0] = np.maximum(0, 1 - earlier[:, 1:].sum(axis=1))
        holder_chances.insert(0, earlier)
    index_of_seat, row = np.nonzero([table.reachable_by(seat) for seat in seats])
    return Opponents(
        rules=rules,
        seats=seats,
        seat=index_of_seat,
        row=row,
        chance=np.array(reached[first:])[index_of_seat, row] / len(seats),
        holder_chances=np.array(holder_chances[: len(seats)]),
    )
