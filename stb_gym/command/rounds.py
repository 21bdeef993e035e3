"""A round of several players: `stb-gym round`."""

from dataclasses import dataclass
from typing import Any, ClassVar

from stb_gym.command.contests import (
    LINE_UP,
    RANGE_WORDS,
    AnswerOfRound,
    RoundQuestion,
    about,
    chance_or_range,
    player,
    ranges,
)
from stb_gym.command.questions import Parts, Tell, flag, names, silent, table
from stb_gym.games import Game
from stb_gym.output import Column
from stb_gym.rounds import RoundEvaluation

ENDS = ("least", "most")


@dataclass(frozen=True, kw_only=True)
class EvaluateRound(RoundQuestion):
    """The equilibrium of a round of several players, or the exact chances of a line-up of strategies."""

    name: ClassVar[str] = "round"

    players: int | None = flag(None, "how many play: by default 2, or as many as there are strategies", "N", int)
    strategies: tuple[str, ...] = flag((), LINE_UP, "A,B", names)

    def answer(self, game: Game, tell: Tell = silent) -> "RoundAnswer":
        """Solve the round, or evaluate the line-up.

        Example:
            >>> import stb_gym
            >>> [round(wins, 4) for wins in EvaluateRound().answer(stb_gym.ShutTheBox()).seats]
            [0.498, 0.502]
        """
        players = self.players if self.players is not None else len(self.strategies) or 2
        rules = self.round(game, players)
        lineup = self.strategies or ("optimal",) * players
        players_of = [player(game, name) for name in lineup]
        found = [_numbers(each.evaluate(players_of), bool(self.strategies)) for each in rules.conventions]
        leads, differing = rules.tables.scores.tolist(), ranges(found)
        for numbers in [found[0], differing or {}]:
            if "survival" in numbers:
                numbers["survival"] = dict(zip(leads, numbers["survival"], strict=True))
        return RoundAnswer(**about(rules), strategies=lineup, **found[0], ranges=differing)


def _numbers(found: RoundEvaluation, of_a_lineup: bool) -> dict[str, Any]:
    """The numbers of an answer; `survival` is by place of the lead."""
    numbers = {"seats": found.seats.tolist(), "throws": found.throws.tolist(), "survival": found.survival.T.tolist()}
    if not of_a_lineup:
        return numbers
    gains = [found.best_response(seat).gain for seat in range(len(found.seats))]
    return numbers | {"best_response_gains": gains, "exploitability": sum(gains)}


@dataclass(frozen=True, kw_only=True)
class RoundAnswer(AnswerOfRound):
    """What every seat wins, the chance that a lead is not beaten and, of a line-up, what best responses gain.

    In `ranges` are the least and the most of those of its numbers that depend on what the indifferent do.
    """

    seats: list[float]
    throws: list[float]
    survival: dict[int, list[float]]
    best_response_gains: list[float] | None = None
    exploitability: float | None = None
    ranges: dict[str, Any] | None = None

    def parts(self) -> Parts:
        """A row for every seat, and one for every lead."""
        differing = self.ranges or {}
        columns = {
            "": Column("", [f"seat {seat}" for seat in range(1, len(self.seats) + 1)]),
            "plays": Column("", list(self.strategies)),
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
