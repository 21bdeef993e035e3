"""Several rounds: `stb-gym match` and `stb-gym tournament`."""

from dataclasses import MISSING, dataclass
from typing import Any, ClassVar

from stb_gym.command.contests import (
    LINE_UP,
    RANGE_WORDS,
    TIES_WORDS,
    AnswerOfRound,
    RoundQuestion,
    about,
    chance_or_range,
    player,
    ranges,
)
from stb_gym.command.questions import GameAnswer, Parts, Question, Tell, flag, names, silent, table
from stb_gym.games import Game
from stb_gym.output import Column
from stb_gym.rounds import ENDS, TIES, Outcome, match, tournament


@dataclass(frozen=True, kw_only=True)
class EvaluateMatch(RoundQuestion):
    """How often the first of two players wins, loses and ties, in one round and in a match of several."""

    name: ClassVar[str] = "match"

    strategies: tuple[str, ...] = flag(MISSING, LINE_UP, "A,B", names)
    rounds: int = flag(20, "how many rounds the match has", "N", int)

    def answer(self, game: Game, tell: Tell = silent) -> "MatchAnswer":
        """Evaluate a round and the match."""
        rules = self.round(game, 2)
        players = [player(game, name) for name in self.strategies]
        ones = [each.evaluate(players).outcome for each in rules.conventions]
        found: list[dict[str, Any]] = [{"round": one, "match": match(one, self.rounds)} for one in ones]
        of = about(rules) | {"strategies": self.strategies, "rounds": self.rounds}
        return MatchAnswer(**of, **found[0], ranges=ranges(found))


@dataclass(frozen=True, kw_only=True)
class MatchAnswer(AnswerOfRound):
    """How one round and a match end for the first of two players; `ranges` are as in `RoundAnswer`."""

    rounds: int
    round: Outcome
    match: Outcome
    ranges: dict[str, list[list[float]]] | None = None

    def heading(self) -> list[str]:
        """The game, the rules of the round and the players."""
        first, second = self.strategies
        return [*super().heading(), f"{first} first, against {second}"]

    def parts(self) -> Parts:
        """A row for one round and one for the match."""
        which = Column("", ["one round", f"a match of {self.rounds} rounds"])
        differing = self.ranges or {}
        rows = [differing.get("round", self.round), differing.get("match", self.match)]
        columns = zip(Outcome._fields, zip(*rows, strict=True), strict=True)
        yield table({"": which, **{how: Column(chance_or_range(4), list(ends)) for how, ends in columns}})
        if differing:
            yield RANGE_WORDS


@dataclass(frozen=True, kw_only=True)
class EvaluateTournament(Question):
    """What each of several strategies wins of a tournament of many rounds."""

    name: ClassVar[str] = "tournament"

    strategies: tuple[str, ...] = flag(MISSING, LINE_UP, "A,B", names)
    ends: str = flag("first-to", "; ".join(f"{name}: {words}" for name, words in ENDS.items()), "|".join(ENDS))
    limit: int | None = flag(None, "points: by default 100, or 45 for out-at", "N", int)
    ties: str = flag("split", TIES_WORDS, "|".join(TIES))

    def answer(self, game: Game, tell: Tell = silent) -> "TournamentAnswer":
        """Evaluate the tournament."""
        players = [player(game, name) for name in self.strategies]
        ended = tournament(game, players, self.ends, self.limit, self.ties)
        return TournamentAnswer(
            game=game,
            strategies=self.strategies,
            ends=ended.rule,
            limit=ended.limit,
            ties=ended.ties,
            words=ENDS[ended.rule],
            wins=ended.wins.tolist(),
            mean_rounds=ended.mean_rounds,
            rounds=ended.rounds.tolist(),
        )


@dataclass(frozen=True, kw_only=True)
class TournamentAnswer(GameAnswer):
    """What every player wins of a tournament, and how many rounds it takes; see `stb_gym.Tournament`."""

    strategies: tuple[str, ...]
    ends: str
    limit: int
    ties: str
    words: str
    wins: list[float]
    mean_rounds: float
    rounds: list[float]

    def heading(self) -> list[str]:
        """The game and the rules of the tournament."""
        return [*super().heading(), f"{self.ends} {self.limit}, ties {self.ties}", self.words]

    def parts(self) -> Parts:
        """A row for every player."""
        yield table({"player": Column("", list(self.strategies)), "wins": Column(".4%", self.wins)})
        yield f"{self.mean_rounds:.4f} rounds in the mean"
