"""A round in progress: the final scores so far, what the next player has to beat, and who wins."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

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


def seat_names(players: Sequence[tuple[str, Any]]) -> list[str]:
    """Return the names of players (name, strategy) in turn order, with the seat if several share a name."""
    names = [name for name, _ in players]
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
    def standing(self) -> Standing:
        """The standing as the next player sees it."""
        after = self.rules.players - 1 - self.seat
        if not self.scores:
            return Standing(None, 0, after)
        best = max(self.scores, key=lambda score: self.rules.game.sign * score)
        return Standing(best, self.scores.count(best), after)

    @property
    def is_over(self) -> bool:
        """Whether the round is over: everybody has played, or a score has ended it."""
        standings, lead = self.rules.standings, self.standing.lead
        ended = lead is not None and bool(standings.over[standings.lead == standings.tables.place_of(lead)].any())
        return ended or self.seat == self.rules.players

    @property
    def leaders(self) -> str:
        """The players with the best score so far, such as "random and optimal with 8 points"; "nobody" at first."""
        best = self.standing.lead
        if best is None:
            return "nobody"
        names = [name for name, score in zip(self.names, self.scores, strict=False) if score == best]
        return f"{' and '.join(names)} with {words_of(self.rules.game).score(best)}"

    @property
    def situation(self) -> str:
        """What the next player knows, such as "to beat: random with 8 points, still to play: nobody"."""
        after = " and ".join(self.names[self.seat + 1 :]) or "nobody"
        return f"to beat: {self.leaders}, still to play: {after}"
