"""Several players: `stb-gym round`, `stb-gym match` and `stb-gym tournament`."""

from collections.abc import Iterable
from dataclasses import MISSING, dataclass
from typing import Any, ClassVar

from stb_gym.command.answers import Answer
from stb_gym.command.flags import flag, names
from stb_gym.exact import Policy, load_policy
from stb_gym.games import Game
from stb_gym.output import Column, Table
from stb_gym.rounds import ENDS, TIES, Outcome, Round, match, tournament

LINE_UP = "one for each seat: strategies by name, or files of saved policies (.npz)"
TIES_WORDS = "who wins a tie"
SHUT_WINS_WORDS = "the perfect score (0 in Shut the Box and Threes) wins at once"
MAY_STOP_WORDS = "the last player stops once ahead (Shut the Box)"


def player(game: Game, name: str) -> str | Policy:
    """A strategy by name, or a saved policy by its file."""
    return load_policy(name, game) if name.endswith(".npz") else name


@dataclass(frozen=True)
class AskRound:
    """The equilibrium of a round of several players, or the exact chances of a line-up of strategies."""

    name: ClassVar[str] = "round"

    players: int | None = flag(None, "how many play: by default 2, or as many as there are strategies", "N", int)
    strategies: tuple[str, ...] = flag((), LINE_UP, "A,B", names)
    ties: str = flag("all-win", TIES_WORDS, "|".join(TIES))
    shut_wins: bool = flag(False, SHUT_WINS_WORDS)
    may_stop: bool = flag(False, MAY_STOP_WORDS)

    def answer(self, game: Game) -> "RoundAnswer":
        """Solve the round, or evaluate the line-up."""
        players = self.players if self.players is not None else len(self.strategies) or 2
        rules = Round(game, players, self.ties, self.shut_wins, self.may_stop)
        lineup = self.strategies or ("optimal",) * players
        found = rules.evaluate([player(game, name) for name in lineup])
        leads = rules.tables.scores.tolist()
        gains = [found.best_response(seat).gain for seat in range(players)] if self.strategies else None
        return RoundAnswer(
            game=game,
            of=rules,
            strategies=lineup,
            seats=found.seats.tolist(),
            throws=found.throws.tolist(),
            survival=dict(zip(leads, found.survival.T.tolist(), strict=True)),
            best_response_gains=gains,
            exploitability=None if gains is None else sum(gains),
        )


@dataclass(frozen=True, kw_only=True)
class OfRound(Answer):
    """An answer about a round."""

    of: Round

    def to_json(self) -> dict[str, Any]:
        """The rules of the round by name, beside those of the game."""
        about = super().to_json()
        del about["of"]
        return about | {name: getattr(self.of, name) for name in ("players", "ties", "shut_wins", "may_stop")}

    @property
    def heading(self) -> str:
        """The game and the rules of the round."""
        options = [words for named, words in ROUND_WORDS.items() if getattr(self.of, named)]
        return f"{super().heading}\n" + ", ".join([f"{self.of.players} players", f"ties {self.of.ties}", *options])


ROUND_WORDS = {"shut_wins": "the perfect score wins at once", "may_stop": "the last may stop"}


@dataclass(frozen=True, kw_only=True)
class RoundAnswer(OfRound):
    """What every seat wins, the chance that a lead is not beaten and, of a line-up, what best responses gain."""

    strategies: tuple[str, ...]
    seats: list[float]
    throws: list[float]
    survival: dict[int, list[float]]
    best_response_gains: list[float] | None = None
    exploitability: float | None = None

    def parts(self) -> Iterable[str | Table]:
        """A row for every seat, and one for every lead."""
        columns = {
            "": Column("", [f"seat {seat}" for seat in range(1, len(self.seats) + 1)]),
            "plays": Column("", list(self.strategies)),
            "wins": Column(".4%", self.seats),
            "throws": Column(".4f", self.throws),
        }
        if self.best_response_gains is not None:
            columns["could gain"] = Column(".4%", self.best_response_gains)
        yield Table("", "", columns)
        if self.exploitability is not None:
            yield f"exploitability {self.exploitability:.4%}, the sum of what each seat could gain alone"
        yield "chance that a lead is not beaten"
        after = {
            f"{players} after": Column(".2%", [chances[players] for chances in self.survival.values()])
            for players in range(len(self.seats))
        }
        yield Table("", "", {"lead": Column("d", list(self.survival)), **after})


@dataclass(frozen=True)
class AskMatch:
    """Win, loss and tie of the first of two players: of one round, and of a match of several."""

    name: ClassVar[str] = "match"

    strategies: tuple[str, ...] = flag(MISSING, LINE_UP, "A,B", names)
    rounds: int = flag(20, "how many rounds the match has", "N", int)
    ties: str = flag("all-win", TIES_WORDS, "|".join(TIES))
    shut_wins: bool = flag(False, SHUT_WINS_WORDS)
    may_stop: bool = flag(False, MAY_STOP_WORDS)

    def answer(self, game: Game) -> "MatchAnswer":
        """Evaluate a round and the match."""
        rules = Round(game, 2, self.ties, self.shut_wins, self.may_stop)
        one = rules.evaluate([player(game, name) for name in self.strategies]).outcome
        whole = match(one, self.rounds)
        return MatchAnswer(
            game=game, of=rules, strategies=self.strategies, rounds=self.rounds, one_round=one, match=whole
        )


@dataclass(frozen=True, kw_only=True)
class MatchAnswer(OfRound):
    """How a round and a match end for the first of two players."""

    strategies: tuple[str, ...]
    rounds: int
    one_round: Outcome
    match: Outcome

    def to_json(self) -> dict[str, Any]:
        """The outcomes as "round" and "match"."""
        about = super().to_json()
        del about["one_round"]
        return {**about, "round": self.one_round._asdict(), "match": self.match._asdict()}

    @property
    def heading(self) -> str:
        """The game, the rules of the round and the players."""
        return f"{super().heading}\n{self.strategies[0]} first, against {self.strategies[1]}"

    def parts(self) -> Iterable[str | Table]:
        """A row for one round and one for the match."""
        outcomes = (self.one_round, self.match)
        which = Column("", ["one round", f"a match of {self.rounds} rounds"])
        yield Table(
            "",
            "",
            {"": which, **{how: Column(".4%", [getattr(each, how) for each in outcomes]) for how in Outcome._fields}},
        )


@dataclass(frozen=True)
class AskTournament:
    """What each of several players wins of a tournament of many rounds, by their strategies."""

    name: ClassVar[str] = "tournament"

    strategies: tuple[str, ...] = flag(MISSING, LINE_UP, "A,B", names)
    ends: str = flag("first-to", "; ".join(f"{name}: {words}" for name, words in ENDS.items()), "|".join(ENDS))
    limit: int | None = flag(None, "points: by default 100, or 45 for out-at", "N", int)
    ties: str = flag("split", TIES_WORDS, "|".join(TIES))

    def answer(self, game: Game) -> "TournamentAnswer":
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
class TournamentAnswer(Answer):
    """What every player wins of a tournament, and how many rounds it takes; see `stb_gym.Tournament`."""

    strategies: tuple[str, ...]
    ends: str
    limit: int
    ties: str
    words: str
    wins: list[float]
    mean_rounds: float
    rounds: list[float]

    @property
    def heading(self) -> str:
        """The game and the rules of the tournament."""
        return f"{super().heading}\n{self.ends} {self.limit}: {self.words}; ties {self.ties}"

    def parts(self) -> Iterable[str | Table]:
        """A row for every player."""
        yield Table("", "", {"player": Column("", list(self.strategies)), "wins": Column(".4%", self.wins)})
        yield f"mean rounds {self.mean_rounds:.4f}"
