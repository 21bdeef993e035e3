"""The opponents of one seat of a round, reduced to two draws.

A seat meets a standing with a probability that the players before it determine. If it holds the lead after its turn,
the players after it determine the probabilities that it is beaten, or shares the lead with 0, 1 ... others in the end.
So a whole round costs two draws besides the turn itself, whatever the number of players.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import IntArray, check_integer, entry_of
from stb_gym.measure.policy_files import is_policy, load_policy
from stb_gym.rounds.equilibrium import Reply, Round, RoundEvaluation, RoundStrategy, Seat, reached_after, worth_before
from stb_gym.solver import Standing

Chances = NDArray[np.float64]
Lineup = RoundStrategy | Path | Sequence[RoundStrategy | Path] | RoundEvaluation
AT_ONCE = 64  # standings


@dataclass(frozen=True, eq=False, repr=False)
class Opponents:
    """The opponents of a player in a round of N players, with the C standings that the player may see.

    Attributes:
        rules: the round.
        seats: [S] the seats that the player may have, each equally likely.
        seat: [C] the index in `seats` of the seat that sees a standing.
        index: [C] the index of the standing in `rules.standings`.
        chance: [C] the probability that the player sees it. The sum is below 1 where a round can end before the turn.
        fates: [S, Z, N + 1] the probability that a player in each of the `seats` who holds the lead of a standing
            after the turn is one of k holders in the end; k = 0: is beaten.
    """

    rules: Round
    seats: tuple[int, ...]
    seat: IntArray
    index: IntArray
    chance: Chances
    fates: Chances

    @cached_property
    def seen(self) -> IntArray:
        """[C, 3] what the player sees: the place of the lead, the number of its holders, and of players after."""
        standings = self.rules.standings
        after = self.rules.players - 1 - np.array(self.seats)[self.seat]
        return np.column_stack((standings.lead[self.index], standings.holders[self.index], after))

    @cached_property
    def share(self) -> Chances:
        """[N + 1] what each of 1, 2 ... N holders of the lead wins in the end; at index 0, for a beaten player, 0."""
        return np.append(0.0, self.rules.standings.share[: self.rules.players])

    def reply(self, seat: int) -> Reply:
        """Return optimal play in a seat, given its index in `seats`."""
        return Reply(self.rules.tables, self.rules.standings, self.fates[seat] @ self.share)

    def met(self, at_once: int) -> Iterator[tuple[int, IntArray]]:
        """Yield the standings of positive probability, at most `at_once` of one seat at a time, with the seat."""
        for seat in range(len(self.seats)):
            met = np.flatnonzero((self.seat == seat) & (self.chance > 0))
            yield from ((seat, met[first : first + at_once]) for first in range(0, len(met), at_once))

    @cached_property
    def most(self) -> Chances:
        """[C] the best response's expected win at each standing; 0 where its probability is 0."""
        most = np.zeros(len(self.chance))
        for seat, met in self.met(AT_ONCE):
            most[met] = self.reply(seat).values(self.index[met])
        return most

    @cached_property
    def reward_threshold(self) -> float:
        """The best response's expected win in rounds in which the player has a turn."""
        return float(self.chance @ self.most / self.chance.sum())

    def standing(self, place: int) -> Standing:
        """Return one of the C standings as a `Standing`."""
        return self.rules.standings.standing(int(self.index[place]), int(self.seen[place, 2]))

    def in_words(self, place: int, holders: int | None) -> str:
        """Return in words what the player sees and, unless `holders` is None, how the round ends."""
        seen = self.standing(place).in_words(self.rules.game)
        if holders is None:
            return seen
        ends = f"shares the lead with {holders - 1} in the end"
        if holders < 2:
            ends = "leads alone in the end" if holders == 1 else "beaten"
        return f"{seen}: {ends}"

    def chances_of(self, options: Mapping[str, Any]) -> Chances:
        """Return [C] weights of the standings that have the "lead", "holders" and "after" in `options`, for a draw.

        Where the opponents leave no such standing, all of them are equally likely.

        Raises:
            ValueError: if the player never sees such a standing.
        """
        if not options:
            return self.chance
        standings = [self.standing(place)._asdict() for place in range(len(self.index))]
        fits = np.array([all(seen[name] == value for name, value in options.items()) for seen in standings])
        if not fits.any():
            named = ", ".join(f"{name} {value!r}" for name, value in options.items())
            raise ValueError(f"the player never sees {named} in a round of {self.rules.players} players of these seats")
        chances = self.chance * fits
        return chances if chances.any() else fits.astype(float)

    def draw_standing(self, chances: Chances, random: Any) -> Any:
        """Draw which of the C standings the player sees, given `chances_of` them and 64 random bits, or [B] of them."""
        return _sums(chances).searchsorted(_uniform(random), side="right")

    def draw_holders(self, place: Any, score: Any, random: Any) -> Any:
        """Draw how many players hold the lead with the player in the end, the player included; 0 if beaten.

        Args:
            place: which of the C standings the player saw, or an array [B].
            score: the place of the final score, or [B]; more than T after an illegal action.
            random: 64 random bits, or [B].
        """
        standings = self.rules.standings
        index, last = self.index[place], len(standings.scores) - 1
        at = np.minimum(score, last)
        sums = self._fate_sums[self.seat[place], standings.after[index, at]]
        holders = (_uniform(random) >= sums.T).sum(axis=0)
        return np.where(standings.holds[index, at] & (score <= last), holders, 0)

    @cached_property
    def _fate_sums(self) -> Chances:
        return _sums(self.fates)


def _sums(chances: Chances) -> Chances:
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
            `Round.evaluate`; or the file, the folder or the name of a saved policy; or an evaluated line-up of the
            round, in which the player takes a seat and the others play as they do there.

    Raises:
        ValueError: if the seat or a strategy is unknown, or there is not one strategy per opponent.
    """
    if seat != "drawn":
        check_integer('seat, if it is not "drawn",', seat, 0, rules.players - 1)
    seats = tuple(range(rules.players)) if seat == "drawn" else (int(seat),)
    if isinstance(opponents, RoundEvaluation):
        ours, theirs = rules.standings, opponents.standings
        same = ours.players == theirs.players and ours.ties == theirs.ties and ours.shut_wins == theirs.shut_wins
        if opponents.tables.game != rules.game or not same:
            raise ValueError(f"the line-up of opponents is of another round than {rules}")
        return _opponents(rules, seats, opponents)
    others = rules.players - 1
    if isinstance(opponents, list | tuple):
        lineup = tuple(_strategy(rules, plays) for plays in opponents)
        if len(lineup) != others:
            raise ValueError(f"a player in a round of {rules.players} has {others} opponents, not {len(lineup)}")
    else:
        lineup = (_strategy(rules, opponents),) * others
    names = tuple(plays for plays in lineup if isinstance(plays, str))
    if len(names) < others:  # a function may return another policy as it learns
        return _opponents(rules, seats, lineup)
    heuristics = entry_of(rules.game).heuristics  # which may be registered again under the same names
    return _cached_opponents(rules, seats, names, tuple(heuristics.get(name) for name in names))


def _strategy(rules: Round, plays: Any) -> RoundStrategy:
    """Return a strategy, read from its file if it is saved."""
    if isinstance(plays, Path) or (isinstance(plays, str) and is_policy(plays)):
        return load_policy(plays, rules.game)
    return plays


@lru_cache(maxsize=16)
def _cached_opponents(rules: Round, seats: tuple[int, ...], lineup: tuple[str, ...], _heuristics: Any) -> Opponents:
    return _opponents(rules, seats, lineup)


def _opponents(rules: Round, seats: tuple[int, ...], lineup: RoundEvaluation | tuple[RoundStrategy, ...]) -> Opponents:
    """Return the opponents of `seats`: those of a line-up of all seats, or one strategy for each opponent."""

    def play(seat: int, opponent: int) -> Seat:
        return lineup.played[seat] if isinstance(lineup, RoundEvaluation) else rules.seat(seat, lineup[opponent])

    standings, others = rules.standings, rules.players - 1
    reached = {0: (standings.holders == 0).astype(float)}  # by seat: the chances of the standings before the turn
    for seat in range(max(seats)):
        reached[seat + 1] = reached_after(standings, play(seat, seat), reached[seat])
    fates = {others: (standings.holders[:, None] == np.arange(rules.players + 1)).astype(float)}
    for seat in reversed(range(min(seats), others)):
        after = play(seat + 1, seat)
        fates[seat] = np.stack([worth_before(standings, after, column) for column in fates[seat + 1].T], axis=1)
        fates[seat][:, 0] = np.maximum(0, 1 - fates[seat][:, 1:].sum(axis=1))
    met = [standings.met_by(seat) for seat in seats]
    return Opponents(
        rules=rules,
        seats=seats,
        seat=np.repeat(np.arange(len(seats)), [len(each) for each in met]),
        index=np.concatenate(met),
        chance=np.concatenate([reached[seat][each] for seat, each in zip(seats, met, strict=True)]) / len(seats),
        fates=np.stack([fates[seat] for seat in seats]),
    )
