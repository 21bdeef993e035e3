"""What the opponents of a player leave, and what they make of what the player leaves: all that a round needs of them.

A seat meets a standing with a chance that the players before it determine. Once it holds the lead after its own turn,
the players after it determine how likely it is that it shares the lead with 0, 1 ... others in the end, or is beaten.
So a whole round takes two draws besides the turn itself, however many play.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import IntArray, check_integer, entry_of, kept
from stb_gym.measure.policy_files import is_policy, load_policy
from stb_gym.rounds.draws import Draws, OneEnd
from stb_gym.rounds.lineups import RoundEvaluation, Seat, reached_after, worth_before
from stb_gym.rounds.replies import Reply
from stb_gym.rounds.rounds import Round, RoundStrategy
from stb_gym.solver import Standing

Chances = NDArray[np.float64]
Lineup = RoundStrategy | Path | Sequence[RoundStrategy | Path] | RoundEvaluation
AT_ONCE = 64  # standings
SEEN = ("lead", "holders", "after")


@dataclass(frozen=True, eq=False, repr=False)
class Opponents:
    """The opponents of a player in a round, C standings that the player may see in all, N - 1 opponents.

    Attributes:
        rules: the round.
        seats: [S] the seats that the player may have, each as likely as the others.
        seat: [C] the place in `seats` of the seat that sees a standing.
        index: [C] its index among the standings of the round, which do not tell how many play after.
        chance: [C] the chance that the player sees it. They sum to less than 1 where a round can end before.
        fates: [S, Z, N + 1] the chance that a player in each of the `seats` who holds the lead of standing z after the
            turn is one of k holders in the end; k = 0: is beaten.
    """

    rules: Round
    seats: tuple[int, ...]
    seat: IntArray
    index: IntArray
    chance: Chances
    fates: Chances

    def are_those(self, other: "Opponents") -> bool:
        """Whether others play the same, in the same seats of the same round."""
        alike = self.rules == other.rules and self.seats == other.seats
        return alike and np.array_equal(self.chance, other.chance) and np.array_equal(self.fates, other.fates)

    @cached_property
    def seen(self) -> IntArray:
        """[C, 3] what is seen: the place of the lead among the final scores, how many hold it, how many play after.

        The best final score is at 0; if nobody has played, the place of the lead is the one after the worst.
        """
        standings = self.rules.standings
        after = self.rules.players - 1 - np.array(self.seats)[self.seat]
        return np.column_stack((standings.lead[self.index], standings.holders[self.index], after))

    @cached_property
    def share(self) -> Chances:
        """[N + 1] what who shares the lead among 1, 2 ... N wins; in the first place 0, of who is beaten."""
        standings = self.rules.standings
        return np.append(0.0, standings.share[: self.rules.players])

    def reply(self, seat: int) -> Reply:
        """Best play in a seat, given its place in `seats`."""
        return Reply(self.rules.tables, self.rules.standings, self.fates[seat] @ self.share)

    def met(self, at_once: int) -> Iterator[tuple[int, IntArray]]:
        """The standings that can be met, so many at a time, each time of one of the `seats` by its place."""
        for seat in range(len(self.seats)):
            met = np.flatnonzero((self.seat == seat) & (self.chance > 0))
            yield from ((seat, met[first : first + at_once]) for first in range(0, len(met), at_once))

    @cached_property
    def most(self) -> Chances:
        """[C] what the best response wins at the standings that can be met; else 0."""
        most = np.zeros(len(self.chance))
        for seat, met in self.met(AT_ONCE):
            most[met] = self.reply(seat).values(self.index[met])
        return most

    def standing(self, place: int) -> Standing:
        """One of the C standings, as the rounds say it."""
        return self.rules.standings.standing(int(self.index[place]), int(self.seen[place, 2]))

    # The two draws

    @cached_property
    def first(self) -> Draws:
        """Draws one of the C standings, given that the player has a turn."""
        return Draws(self.chance[None])

    def named(self, where: Mapping[str, Any]) -> tuple[dict[str, Any], Draws | None]:
        """What options name of the turn, and draws from the standings that they name, if they name any.

        Where the opponents leave none of those named, all of them are equally likely.

        Raises:
            ValueError: if the player sees no such standing in this round.
        """
        turn = {name: value for name, value in where.items() if name not in SEEN}
        wanted = {name: value for name, value in where.items() if name in SEEN}
        if not wanted:
            return turn, None
        standings = [self.standing(place)._asdict() for place in range(len(self.index))]
        fits = np.array([all(each[name] == value for name, value in wanted.items()) for each in standings])
        if not fits.any():
            said = ", ".join(f"{name} {value!r}" for name, value in wanted.items())
            raise ValueError(f"the player never sees {said} in a round of {self.rules.players} players of these seats")
        chances = self.chance * fits
        return turn, Draws((chances if chances.any() else fits.astype(float))[None])

    @cached_property
    def last(self) -> Draws:
        """Draws among how many players who leaves a standing shares the lead in the end; in the last row 0 always."""
        beaten = np.eye(1, self.fates.shape[-1])
        return Draws(np.concatenate((self.fates.reshape(-1, beaten.size), beaten)))

    @cached_property
    def _left(self) -> IntArray:
        """[C, T + 1] the row of that after each final score and, last, after a forfeit."""
        standings, beaten = self.rules.standings, len(self.last.sums) - 1
        row = self.seat[:, None] * len(standings.lead) + standings.after[self.index]
        row = np.where(standings.holds[self.index], row, beaten)
        return np.column_stack((row, np.full(len(row), beaten)))

    @cached_property
    def _begins(self) -> IntArray:
        """[C, T + 1] where that row begins."""
        return self.last.begins[self._left]

    def holders(self, place: IntArray, score: NDArray[Any], random: NDArray[np.uint64]) -> IntArray:
        """[B] among how many players share the lead in the end; 0 if they are beaten.

        Args:
            place: [B] which of the C standings they saw.
            score: [B] the places of their final scores; T after an illegal action.
            random: [B] 64 random bits each.
        """
        where = place * self._begins.shape[1]
        where += score
        return self.last(random, self._begins.take(where))

    @cached_property
    def one_end(self) -> OneEnd:
        """For single rounds, by the place of a standing and that of a score: the bounds of the fates."""
        return OneEnd(self._left, self.last)


def opponents_of(rules: Round, seat: int | str = "drawn", opponents: Lineup = "optimal") -> Opponents:
    """The opponents of a player in a round.

    Args:
        rules: the round.
        seat: the player's, 0 to players - 1, or "drawn": in every round one of them, each as likely as the others.
        opponents: one strategy that all play, or a list of one for each of the others in the order of the seats: see
            `Round.evaluate`; or the file, the folder or the name of a saved policy; or an evaluated line-up of the
            round, in which the player takes a seat and the others play as they do there.

    Raises:
        ValueError: if there is no such seat or strategy, or there are not as many as others.
    """
    if seat != "drawn":
        check_integer('seat, if it is not "drawn",', seat, 0, rules.players - 1)
    seats = tuple(range(rules.players)) if seat == "drawn" else (int(seat),)
    if isinstance(opponents, RoundEvaluation):
        _check_round(rules, opponents)
        return _seated(rules, seats, lambda seat, _: opponents.played[seat])
    others = rules.players - 1
    given: list[Any] = list(opponents) if isinstance(opponents, list | tuple) else [opponents] * others
    if len(given) != others:
        raise ValueError(f"a player in a round of {rules.players} has {others} opponents, not {len(given)}")
    named = {id(plays): _plays(rules, plays) for plays in given}  # a file is read once
    lineup = tuple(named[id(plays)] for plays in given)
    if all(isinstance(plays, str) for plays in lineup):
        return _kept(rules, seats, lineup)
    return _made(rules, seats, lineup)  # what a function answers may change as its network learns


def _check_round(rules: Round, lineup: RoundEvaluation) -> None:
    """Raise a ValueError if a line-up is of another round."""
    ours, theirs = rules.standings, lineup.standings
    if lineup.tables.game != rules.game or any(
        getattr(theirs, name) != getattr(ours, name) for name in ("players", "ties", "shut_wins")
    ):
        raise ValueError(f"the line-up of opponents is of another round than {rules}")


def _plays(rules: Round, plays: RoundStrategy | Path) -> RoundStrategy:
    """A strategy, read from its file if it is saved."""
    if isinstance(plays, Path) or (isinstance(plays, str) and is_policy(plays)):
        return load_policy(plays, rules.game)
    return plays


def _rules_of_thumb(rules: Round, seats: tuple[int, ...], lineup: tuple[RoundStrategy, ...]) -> tuple[Any, ...]:
    """What the names in a line-up now stand for: rules of thumb may be registered anew."""
    named = entry_of(rules.game).rules_of_thumb
    return tuple(named.get(plays) for plays in lineup if isinstance(plays, str))


@kept(mebibytes=256, told_by=_rules_of_thumb)
def _kept(rules: Round, seats: tuple[int, ...], lineup: tuple[RoundStrategy, ...]) -> Opponents:
    return _made(rules, seats, lineup)


def _made(rules: Round, seats: tuple[int, ...], lineup: tuple[RoundStrategy, ...]) -> Opponents:
    return _seated(rules, seats, lambda seat, other: rules.seat(seat, lineup[other]))


def _seated(rules: Round, seats: tuple[int, ...], play: Callable[[int, int], Seat]) -> Opponents:
    """The opponents in a round; `play` says what the play of each amounts to, given its seat and its number."""
    standings, others = rules.standings, rules.players - 1
    nobody = (standings.holders == 0).astype(float)
    as_it_is = (standings.holders[:, None] == np.arange(rules.players + 1)).astype(float)
    reached, fates = {0: nobody}, {others: as_it_is}  # before and after the player's turn, by seat
    for seat in range(max(seats)):
        reached[seat + 1] = reached_after(standings, play(seat, seat), reached[seat])
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
