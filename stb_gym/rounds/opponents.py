"""The opponents of one seat of a round, reduced to two draws.

A seat meets a standing with a probability that the players before it determine. If it holds the lead after its turn,
the players after it determine the probabilities that it is beaten, or shares the lead with 0, 1 ... others in the end.
So a whole round costs two draws besides the turn itself, whatever the number of players.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from stb_gym.arrays import FloatArray, IntArray, cached_arrays, freeze
from stb_gym.checks import check_integer
from stb_gym.rounds.equilibrium import Round, RoundEvaluation, RoundStrategy, best_values
from stb_gym.solver import Standing

Lineup = RoundStrategy | Sequence[RoundStrategy] | RoundEvaluation


@dataclass(frozen=True, eq=False, repr=False)
class Opponents:
    """The opponents of a player in a round of N players, with the C standings that the player may see.

    Attributes:
        rules: the round.
        seats: [S] the seats that the player may have, each equally likely.
        seat: [C] the index in `seats` of the seat that sees a standing.
        index: [C] the index of the standing in `rules.standings`.
        chance: [C] the probability that the player sees it. The sum is below 1 where a round can end before the turn.
        fates: [S, Z, N + 1] for a player in one of the `seats` who holds the lead of a standing after the turn, the
            probability of being one of k holders at the end of the round; k = 0 is to be beaten.
    """

    rules: Round
    seats: tuple[int, ...]
    seat: IntArray
    index: IntArray
    chance: FloatArray
    fates: FloatArray

    def __post_init__(self) -> None:
        freeze(vars(self))

    @cached_arrays
    def seen(self) -> IntArray:
        """[C, 3] what the player sees: the place of the lead, the number of its holders, and of players after."""
        standings = self.rules.standings
        after = self.rules.players - 1 - np.array(self.seats)[self.seat]
        return np.column_stack((standings.lead[self.index], standings.holders[self.index], after))

    @cached_arrays
    def share(self) -> FloatArray:
        """[N + 1] what each of 1, 2 ... N holders of the lead wins in the end; at index 0, for a beaten player, 0."""
        return np.append(0.0, self.rules.standings.share[: self.rules.players])

    @cached_arrays
    def utility(self) -> FloatArray:
        """[C, T] the player's expected win by final score at each standing."""
        standings, worth = self.rules.standings, self.fates @ self.share
        return standings.holds[self.index] * worth[self.seat[:, None], standings.after[self.index]]

    @cached_arrays
    def most(self) -> FloatArray:
        """[C] the best response's expected win at each standing; 0 where its probability is 0."""
        most = np.zeros(len(self.chance))
        most[self.chance > 0] = best_values(self.rules.tables, self.utility[self.chance > 0])
        return most

    @cached_property
    def reward_threshold(self) -> float:
        """The best response's expected win in rounds in which the player has a turn."""
        return float(self.chance @ self.most / self.chance.sum())

    def standing(self, place: int) -> Standing:
        """Return one of the C standings as a `Standing`."""
        return self.rules.standings.standing(int(self.index[place]), int(self.seen[place, 2]))

    def sums_of(self, options: Mapping[str, Any]) -> FloatArray:
        """Return [C] running sums of the chances of the standings that fit `options`, for a draw.

        Where the opponents leave no such standing, all of them are equally likely.

        Args:
            options: the "lead", "holders" and "after" of the standing, or some of these.

        Raises:
            ValueError: if the player never sees such a standing.
        """
        if not options:
            return self._sums
        standings = [self.standing(place)._asdict() for place in range(len(self.index))]
        fits = np.array([options.items() <= standing.items() for standing in standings])
        if not fits.any():
            seats = f"seats {self.seats[0]} to {self.seats[-1]}"
            raise ValueError(f"the player, in {seats} of {self.rules}, never sees {dict(options)}")
        chances = self.chance * fits
        return _running_sums(chances if chances.any() else fits)

    def draw_standing(self, sums: FloatArray, random: Any) -> Any:
        """Draw which of the C standings the player sees, given `sums_of` them and 64 random bits, or [B] of them."""
        return sums.searchsorted(_uniform(random), side="right")

    def draw_holders(self, place: Any, score: Any, random: Any) -> Any:
        """Draw how many players hold the lead with the player in the end, the player included; 0 if beaten.

        Args:
            place: which of the C standings the player saw, or an array [B].
            score: the place of the final score, or [B]; T after an illegal action.
            random: 64 random bits, or [B].
        """
        sums = self._fate_sums[self.seat[place], self._led[self.index[place], score]]
        return (_uniform(random) >= sums.T).sum(axis=0)

    @cached_arrays
    def _sums(self) -> FloatArray:
        return _running_sums(self.chance)

    @cached_arrays
    def _led(self) -> IntArray:
        """[Z, T + 1] the standing after each final score of the player; Z where the player does not hold the lead then.

        The last column is that of an illegal action.
        """
        standings = self.rules.standings
        beaten = len(standings.lead)
        return np.pad(np.where(standings.holds, standings.after, beaten), ((0, 0), (0, 1)), constant_values=beaten)

    @cached_arrays
    def _fate_sums(self) -> FloatArray:
        """[S, Z + 1, N + 1] running sums of the `fates`; in the last row the player is beaten."""
        return np.pad(_running_sums(self.fates), ((0, 0), (0, 1), (0, 0)), constant_values=1)


def _running_sums(chances: FloatArray) -> FloatArray:
    """Return the running sums of distributions, scaled to end at 1."""
    sums = chances.cumsum(axis=-1)
    return sums / sums[..., -1:]


def _uniform(random: Any) -> Any:
    """Return the numbers in [0, 1) of 64 random bits each."""
    return (random >> 11) * 2.0**-53


def opponents_of(rules: Round, seat: int | str = "drawn", opponents: Lineup = "optimal") -> Opponents:
    """Return the opponents of a player in a round.

    Args:
        rules: the round.
        seat: the player's, 0 to players - 1, or "drawn": a new one in every round, all equally likely.
        opponents: one strategy that all play, or a list with one for each of the others in the order of the seats: see
            `Round.evaluate`; or an evaluated lineup of the round, in which the player takes a seat and the others play
            as they do there.

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
            raise ValueError(f"the lineup of opponents is of another round than {rules}")
        before = [play.chances for play in opponents.played[:last]]
        after = [play.chances for play in opponents.played[first + 1 :]]
    else:
        others = rules.players - 1
        lineup: list[Any] = [*opponents] if isinstance(opponents, list | tuple) else [opponents] * others
        if len(lineup) != others:
            raise ValueError(f"a player in a round of {rules.players} has {others} opponents, not {len(lineup)}")
        before = [rules.seat(place, plays).chances for place, plays in enumerate(lineup[:last])]
        after = [rules.seat(place, plays).chances for place, plays in enumerate(lineup[first:], first + 1)]
    standings = rules.standings
    reached = [*accumulate(before, standings.reached_after, initial=standings.begun)]
    fates = [(standings.holders[:, None] == np.arange(rules.players + 1)).astype(float)]
    for chances in reversed(after):
        earlier = np.stack([standings.worth_before(column, chances) for column in fates[0].T], axis=1)
        earlier[:, 0] = np.maximum(0, 1 - earlier[:, 1:].sum(axis=1))
        fates.insert(0, earlier)
    index_of_seat, index = np.nonzero([standings.met_by(seat) for seat in seats])
    return Opponents(
        rules=rules,
        seats=seats,
        seat=index_of_seat,
        index=index,
        chance=np.array(reached[first:])[index_of_seat, index] / len(seats),
        fates=np.array(fates[: len(seats)]),
    )
