"""A round of several players: `stb-gym round`, and par scores of who begins it: `stb-gym par`."""

from dataclasses import dataclass
from typing import Any, ClassVar

from stb_gym.cli.contests import (
    LINE_UP,
    RANGE_WORDS,
    AnswerOfRound,
    RoundQuestion,
    about,
    chance_or_range,
    player,
)
from stb_gym.cli.questions import Parts, Tell, flag, names, silent, table
from stb_gym.games import Game, check_integer, entry_of
from stb_gym.output import Column
from stb_gym.rounds import Round, RoundEvaluation, departures, pars, shares
from stb_gym.solver import strategy

ENDS = ("least", "most")
AFTER_SHOWN = {1, 2, 3, 4, 5, 6, 8, 10, 15, *range(20, 101, 10)}  # players after the first whom people see par for


@dataclass(frozen=True, kw_only=True)
class EvaluateRound(RoundQuestion):
    """The equilibrium of a round of several players, or the exact chances of a line-up of strategies."""

    name: ClassVar[str] = "round"
    examples = "shut-the-box --ties all-win", "threes --policy approximation,optimal,random"

    players: int | None = flag(None, "how many play: by default 2, or as many as there are policies", "N", int)
    policy: tuple[str, ...] = flag((), LINE_UP, "A,B", names, repeated=True)

    @property
    def passes(self) -> int:
        """Solutions, and the departures of one of them; or the play of a line-up, and the best responses to it."""
        return 2 * super().passes if self.policy else super().passes + 1

    def answer(self, game: Game, tell: Tell = silent) -> "RoundAnswer":
        """Solve the round, or evaluate the line-up.

        Example:
            >>> import stb_gym
            >>> [round(wins, 4) for wins in EvaluateRound().answer(stb_gym.ShutTheBox()).seats]
            [0.498, 0.502]
        """
        players = self.players if self.players is not None else len(self.policy) or 2
        rules = self.round(game, players)
        lineup = self.policy or ("optimal",) * players
        players_of = [player(game, name) for name in lineup]
        found = [_numbers(rules.evaluate(players_of), bool(self.policy))]
        leads, differing = rules.tables.scores.tolist(), None
        for numbers in [found[0], differing or {}]:
            if "survival" in numbers:
                numbers["survival"] = dict(zip(leads, numbers["survival"], strict=True))
        departs = None if self.policy else _departures(rules)
        return RoundAnswer(**about(rules), policies=lineup, **found[0], ranges=differing, departures=departs)


def _numbers(found: RoundEvaluation, of_a_lineup: bool) -> dict[str, Any]:
    """The numbers of an answer; `survival` is by place of the lead."""
    numbers = {"seats": found.seats.tolist(), "throws": found.throws.tolist(), "survival": found.survival.T.tolist()}
    if not of_a_lineup:
        return numbers
    gains = [found.best_response(seat).gain for seat in range(len(found.seats))]
    return numbers | {"best_response_gains": gains, "exploitability": sum(gains)}


def _departures(rules: Round) -> dict[str, Any]:
    """At how many positions the equilibrium departs from the play of a turn alone; `by_lead` in a dictionary."""
    found = departures(rules.solve())
    by_lead = dict(zip(rules.tables.scores.tolist(), found.by_lead.T.tolist(), strict=True))
    return found._asdict() | {"by_lead": by_lead}


@dataclass(frozen=True, kw_only=True)
class RoundAnswer(AnswerOfRound):
    """What every seat wins, the chance that a lead is not beaten and, of a line-up, what best responses gain.

    In `ranges` are the least and the most of those of its numbers that depend on what the indifferent do, and in
    `departures` of an equilibrium at how many positions it is not the play of a turn alone.
    """

    seats: list[float]
    throws: list[float]
    survival: dict[int, list[float]]
    best_response_gains: list[float] | None = None
    exploitability: float | None = None
    ranges: dict[str, Any] | None = None
    departures: dict[str, Any] | None = None

    def parts(self) -> Parts:
        """A row for every seat, and one for every lead."""
        differing = self.ranges or {}
        columns = {
            "": Column("", [f"seat {seat}" for seat in range(1, len(self.seats) + 1)]),
            "plays": Column("", list(self.policies)),
            "wins": Column(".4%", self.seats),
        }
        if "seats" in differing:
            columns |= {end: Column(".4%", [pair[at] for pair in differing["seats"]]) for at, end in enumerate(ENDS)}
        columns["throws"] = Column(".4f", self.throws)
        if self.best_response_gains is not None:
            gains = differing.get("best_response_gains", self.best_response_gains)
            columns["could gain"] = Column(chance_or_range(4), gains)
        yield table(columns)
        if "seats" in differing:
            yield RANGE_WORDS
        if self.exploitability is not None:
            exploitability = chance_or_range(4)(differing.get("exploitability", self.exploitability))
            yield f"exploitability {exploitability}, the sum of what each seat could gain alone"
        by_whom = ", from least to most by what the indifferent do" if "survival" in differing else ""
        yield f"chance that a lead is not beaten, by the number of players who come after{by_whom}"
        survival = differing.get("survival", self.survival)
        after = {
            f"{players} after": Column(chance_or_range(2), [chances[players] for chances in survival.values()])
            for players in range(len(self.seats))
        }
        yield table({"lead": Column("d", list(self.survival)), **after})
        if self.departures is not None:
            yield from self._departing(**self.departures)

    def _departing(self, positions: int, first: int, by_lead: dict[int, list[int]]) -> Parts:
        """At how many positions perfect play is not that of a turn alone, by what the player sees."""
        yield (
            f"positions, of {positions:,}, at which no best move is best for the points: {first} for who begins, "
            "for others by the lead and by who come after"
        )
        after = {
            f"{players} after": Column("d", [counts[players] for counts in by_lead.values()])
            for players in range(len(self.seats) - 1)
        }
        yield table({"lead": Column("d", list(by_lead)), **after})


@dataclass(frozen=True, kw_only=True)
class FindPar(RoundQuestion):
    """Par for who begins a round, by the number of players after, and how good plain strategies are there."""

    name: ClassVar[str] = "par"
    examples = "threes", "shut-the-box --after 3"

    after: int = flag(10, "how many players come after, at most 100", "N", int)
    policy: tuple[str, ...] = flag(
        (), "to compare: by default optimal-score and the rules of thumb", "A,B", names, repeated=True
    )

    def answer(self, game: Game, tell: Tell = silent) -> "ParAnswer":
        """Solve the largest round, in which all others are.

        Example:
            >>> import stb_gym
            >>> [row["par"] for row in FindPar(after=3).answer(stb_gym.Threes()).pars]
            [5, 5, 4]
        """
        check_integer("players after", self.after, 1, 100)
        policies = self.policy or ("optimal-score", *entry_of(game).rules_of_thumb)
        rules = self.round(game, self.after + 1)
        solution = rules.solve()
        parts = {name: shares(solution, strategy(game, name)).tolist() for name in policies}
        found = [
            each._asdict() | {"shares": {name: share[each.after] for name, share in parts.items()}}
            for each in pars(solution)[1:]
        ]
        return ParAnswer(**about(rules), policies=policies, pars=found, perfect_from=_perfect_from(found, policies))


def _perfect_from(found: list[dict[str, Any]], policies: tuple[str, ...]) -> dict[str, int]:
    """By strategy the fewest players after from which on it is perfect, as far as was asked."""
    least = {}
    for name in policies:
        for row in reversed(found):
            if row["shares"][name] < 1 - 1e-12:
                break
            least[name] = row["after"]
    return least


@dataclass(frozen=True, kw_only=True)
class ParAnswer(AnswerOfRound):
    """Par by the number of players after; see `stb_gym.rounds.Par`.

    The `shares` are what strategies win of what perfect play does; `perfect_from` says from how many players after on
    it is all of it.
    """

    pars: list[dict[str, Any]]
    perfect_from: dict[str, int]

    def heading(self) -> list[str]:
        """The rules, and what par is."""
        words = "par: the worst score that leaves who begins no worse off than before the turn; even: worth half a win"
        return [*super().heading(), words]

    def parts(self) -> Parts:
        """A row for some numbers of players after."""
        rows = [row for row in self.pars if row["after"] in AFTER_SHOWN or row is self.pars[-1]]
        columns = {
            "players after": Column("d", [row["after"] for row in rows]),
            "wins": Column(".4%", [row["first"] for row in rows]),
            "par": Column("d", [row["par"] for row in rows]),
            "even": Column("d", [row["even"] for row in rows]),
        }
        shares = {name: Column(".2%", [row["shares"][name] for row in rows]) for name in self.policies}
        yield table(columns | shares)
        yield "below a strategy: the share of the best chance that who begins has by it"
        for name, after in self.perfect_from.items():
            yield f"{name} is perfect from {after} players after on"
