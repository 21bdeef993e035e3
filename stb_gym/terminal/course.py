"""The course of a round: the final scores so far, how things stand before the next turn, and who wins, in words."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from stb_gym.games import words_of
from stb_gym.rounds import TIES, Round
from stb_gym.solver import Standing

YOU = "you"  # the name of a person


def contest(rules: Round) -> str:
    """What a round is about."""
    perfect = words_of(rules.game).score(rules.game.perfect_score)
    sudden = f", whoever ends with {perfect} wins at once" if rules.shut_wins else ""
    best = "highest" if rules.game.more_is_better else "lowest"
    return f"a round of {rules.players}, the {best} score wins, {TIES[rules.ties]}{sudden}"


def seated(names: Sequence[str]) -> list[str]:
    """The names of players in turn order, of those who share one with their seats."""
    return [name if names.count(name) == 1 else f"{name} (seat {seat})" for seat, name in enumerate(names, 1)]


@dataclass
class Course:
    """A round as far as it was played.

    Attributes:
        rules: of the round.
        names: of the players, in turn order.
        scores: the final scores so far; who plays a turn adds its score.
    """

    rules: Round
    names: Sequence[str]
    scores: list[int] = field(default_factory=list)

    @property
    def seat(self) -> int:
        """Whose turn is next, from 0."""
        return len(self.scores)

    @property
    def standing(self) -> int:
        """The index of what the scores amount to."""
        standings = self.rules.standings
        standing = len(standings.lead) - 1
        for score in self.scores:
            standing = int(standings.after[standing, standings.place(score)])
        return standing

    @property
    def over(self) -> bool:
        """Whether nobody plays any more."""
        return self.seat == self.rules.players or bool(self.rules.standings.over[self.standing])

    @property
    def seen(self) -> Standing:
        """What the next player sees."""
        return self.rules.standings.standing(self.standing, self.rules.players - 1 - self.seat)

    @property
    def ahead_of(self) -> int | None:
        """The points that the next player stops at once better than; None for never."""
        return None

    @property
    def best(self) -> int:
        """The best score so far."""
        return max(self.scores, key=lambda score: self.rules.game.sign * score)

    @property
    def leaders(self) -> list[str]:
        """The names of those who have the best score."""
        return [name for name, score in zip(self.names, self.scores, strict=False) if score == self.best]

    def share(self, seat: int) -> float:
        """What a seat wins if the round ends so."""
        if seat >= self.seat or self.scores[seat] != self.best:
            return 0.0
        return float(self.rules.standings.share[self.standing])

    @property
    def situation(self) -> str:
        """What a person who plays next sees of the others."""
        before = f"{YOU} begin"
        if self.scores:
            lead = f"lead{'s' * (len(self.leaders) == 1)}"
            before = f"{_all(self.leaders)} {lead} with {words_of(self.rules.game).score(self.best)}"
        return f"{before}, {self._after} {YOU}"

    @property
    def task(self) -> str:
        """Who plays next, what is to be beaten, and who plays after."""
        who, task = self.names[self.seat], "begins"
        if self.scores:
            task = f"is to beat {words_of(self.rules.game).score(self.best)} of {_all(self.leaders)}"
        return f"{who} {task}, {self._after}"

    @property
    def _after(self) -> str:
        after = self.names[self.seat + 1 :]
        return f"{_all(after) or 'nobody'} play{'s' * (len(after) < 2)} after"

    @property
    def result(self) -> str:
        """Who wins what, a person first."""
        others = [name for name in self.leaders if name != YOU]
        who = [YOU.capitalize()] * (YOU in self.leaders) + others
        wins = "wins" if others else "win"
        if len(who) > 1:
            shared = f"tie and win 1/{len(who)} each"
            wins = {"all-win": "tie and win", "split": shared, "nobody": "tie, so nobody wins,"}[self.rules.ties]
        return f"{_all(who)} {wins} with {words_of(self.rules.game).score(self.best)}."


def _all(names: Sequence[str]) -> str:
    return " and ".join(names)
