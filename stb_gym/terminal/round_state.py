"""A round in progress, in words: the final scores so far, the next player's task, and who wins."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from stb_gym.games import words_of
from stb_gym.rounds import TIES, Round
from stb_gym.solver import Standing

YOU = "you"  # the name of a person


def contest(rules: Round) -> str:
    """Return the rules of a round in words."""
    perfect = words_of(rules.game).score(rules.game.perfect_score)
    sudden = f", whoever ends with {perfect} wins at once" if rules.shut_wins else ""
    best = "highest" if rules.game.more_is_better else "lowest"
    return f"a round of {rules.players}, the {best} score wins, {TIES[rules.ties]}{sudden}"


def seat_names(names: Sequence[str]) -> list[str]:
    """Return the names of the players in turn order, with the seat if several share a name."""
    return [name if names.count(name) == 1 else f"{name} (seat {seat})" for seat, name in enumerate(names, 1)]


@dataclass
class RoundState:
    """A round in progress.

    Attributes:
        rules: the rules of the round.
        names: the names of the players, in turn order.
        scores: the final scores so far; append one after every turn.
    """

    rules: Round
    names: Sequence[str]
    scores: list[int] = field(default_factory=list)

    @property
    def seat(self) -> int:
        """The next player's place in turn order, from 0."""
        return len(self.scores)

    @property
    def standing(self) -> int:
        """The index of the standing that the scores make."""
        standings = self.rules.standings
        standing = len(standings.lead) - 1
        for score in self.scores:
            standing = int(standings.after[standing, standings.place(score)])
        return standing

    @property
    def seen(self) -> Standing:
        """The standing as the next player sees it."""
        return self.rules.standings.standing(self.standing, self.rules.players - 1 - self.seat)

    @property
    def is_over(self) -> bool:
        """Whether the round is over."""
        return self.seat == self.rules.players or bool(self.rules.standings.over[self.standing])

    @property
    def best(self) -> int:
        """The best score so far."""
        return max(self.scores, key=lambda score: self.rules.game.sign * score)

    @property
    def leaders(self) -> list[str]:
        """The names of the players with the best score."""
        return [name for name, score in zip(self.names, self.scores, strict=False) if score == self.best]

    def win(self, seat: int) -> float:
        """Return the share of the win that a seat gets if the round ends now."""
        if seat >= self.seat or self.scores[seat] != self.best:
            return 0.0
        return float(self.rules.standings.share[self.standing])

    @property
    def situation(self) -> str:
        """The situation of a person who plays next, such as "random leads with 8 points, nobody plays after you"."""
        before = f"{YOU} begin"
        if self.scores:
            lead = "leads" if len(self.leaders) == 1 else "lead"
            before = f"{' and '.join(self.leaders)} {lead} with {self._best_in_words}"
        return f"{before}, {self._players_after} {YOU}"

    @property
    def task(self) -> str:
        """The next player's task, such as "worst is to beat 8 points of random, nobody plays after"."""
        task = f"is to beat {self._best_in_words} of {' and '.join(self.leaders)}" if self.scores else "begins"
        return f"{self.names[self.seat]} {task}, {self._players_after}"

    @property
    def _best_in_words(self) -> str:
        return words_of(self.rules.game).score(self.best)

    @property
    def _players_after(self) -> str:
        after = self.names[self.seat + 1 :]
        return f"{' and '.join(after) or 'nobody'} {'plays' if len(after) < 2 else 'play'} after"

    @property
    def result(self) -> str:
        """Who wins, a person first, such as "You and random tie and win 1/2 each with 8 points."."""
        others = [name for name in self.leaders if name != YOU]
        who = others if others == self.leaders else [YOU.capitalize(), *others]
        wins = "wins" if others else "win"
        if len(who) > 1:
            shared = f"tie and win 1/{len(who)} each"
            wins = {"all-win": "tie and win", "split": shared, "nobody": "tie, so nobody wins,"}[self.rules.ties]
        return f"{' and '.join(who)} {wins} with {self._best_in_words}."
