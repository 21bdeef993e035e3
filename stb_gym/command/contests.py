"""Several players: `stb-gym round`, `stb-gym match` and `stb-gym tournament`."""

from dataclasses import MISSING, dataclass
from typing import Any, ClassVar

from stb_gym.command.questions import GameAnswer, Parts, Question, Tell, flag, names, silent, table
from stb_gym.exact import Policy
from stb_gym.games import Game
from stb_gym.measure import is_policy, load_policy
from stb_gym.output import Column
from stb_gym.rounds import ENDS, TIES, Outcome, Round, match, tournament

LINE_UP = "one for each seat: strategies or kept policies by name, files of saved policies (.npz), or folders of runs"
TIES_WORDS = "who wins a tie"


def player(game: Game, name: str) -> str | Policy:
    """A strategy by name, or a saved policy by its file, the folder of a run or, of a kept one, its name."""
    return load_policy(name, game) if is_policy(name) else name


@dataclass(frozen=True, kw_only=True)
class RoundQuestion(Question):
    """A question about players of a round; for its rules see `stb_gym.Round`."""

    ties: str = flag("all-win", TIES_WORDS, "|".join(TIES))
    shut_wins: bool = flag(False, "the perfect score (0 in Shut the Box and Threes) wins at once")
    may_stop: bool = flag(False, "the last player stops once ahead (Shut the Box)")

    def round(self, game: Game, players: int) -> Round:
        """The round that is asked about."""
        return Round(game, players, self.ties, self.shut_wins, self.may_stop)


@dataclass(frozen=True, kw_only=True)
class AnswerOfRound(GameAnswer):
    """An answer about players of a round; for its rules see `stb_gym.Round`."""

    players: int
    ties: str
    shut_wins: bool
    may_stop: bool
    strategies: tuple[str, ...]

    def heading(self) -> list[str]:
        """The game and the rules of the round."""
        options = {"the perfect score wins at once": self.shut_wins, "the last may stop": self.may_stop}
        said = [words for words, chosen in options.items() if chosen]
        return [*super().heading(), ", ".join([f"{self.players} players", f"ties {self.ties}", *said])]


def about(rules: Round) -> dict[str, Any]:
    """The fields of an answer that say the rules of a round."""
    return {name: getattr(rules, name) for name in ("game", "players", "ties", "shut_wins", "may_stop")}


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
            >>> [round(wins, 4) for wins in EvaluateRound(ties="split").answer(stb_gym.ShutTheBox()).seats]
            [0.498, 0.502]
        """
        players = self.players if self.players is not None else len(self.strategies) or 2
        rules = self.round(game, players)
        lineup = self.strategies or ("optimal",) * players
        found = rules.evaluate([player(game, name) for name in lineup])
        leads = rules.tables.scores.tolist()
        gains = [found.best_response(seat).gain for seat in range(players)] if self.strategies else None
        return RoundAnswer(
            **about(rules),
            strategies=lineup,
            seats=found.seats.tolist(),
            throws=found.throws.tolist(),
            survival=dict(zip(leads, found.survival.T.tolist(), strict=True)),
            best_response_gains=gains,
            exploitability=None if gains is None else sum(gains),
        )


@dataclass(frozen=True, kw_only=True)
class RoundAnswer(AnswerOfRound):
    """What every seat wins, the chance that a lead is not beaten and, of a line-up, what best responses gain."""

    seats: list[float]
    throws: list[float]
    survival: dict[int, list[float]]
    best_response_gains: list[float] | None = None
    exploitability: float | None = None

    def parts(self) -> Parts:
        """A row for every seat, and one for every lead."""
        columns = {
            "": Column("", [f"seat {seat}" for seat in range(1, len(self.seats) + 1)]),
            "plays": Column("", list(self.strategies)),
            "wins": Column(".4%", self.seats),
            "throws": Column(".4f", self.throws),
        }
        if self.best_response_gains is not None:
            columns["could gain"] = Column(".4%", self.best_response_gains)
        yield table(columns)
        if self.exploitability is not None:
            yield f"exploitability {self.exploitability:.4%}, the sum of what each seat could gain alone"
        yield "chance that a lead is not beaten, by the number of players who come after"
        after = {
            f"{players} after": Column(".2%", [chances[players] for chances in self.survival.values()])
            for players in range(len(self.seats))
        }
        yield table({"lead": Column("d", list(self.survival)), **after})


@dataclass(frozen=True, kw_only=True)
class EvaluateMatch(RoundQuestion):
    """How often the first of two players wins, loses and ties, in one round and in a match of several."""

    name: ClassVar[str] = "match"

    strategies: tuple[str, ...] = flag(MISSING, LINE_UP, "A,B", names)
    rounds: int = flag(20, "how many rounds the match has", "N", int)

    def answer(self, game: Game, tell: Tell = silent) -> "MatchAnswer":
        """Evaluate a round and the match."""
        rules = self.round(game, 2)
        one = rules.evaluate([player(game, name) for name in self.strategies]).outcome
        of_many = match(one, self.rounds)
        return MatchAnswer(**about(rules), strategies=self.strategies, rounds=self.rounds, round=one, match=of_many)


@dataclass(frozen=True, kw_only=True)
class MatchAnswer(AnswerOfRound):
    """How one round and a match end for the first of two players."""

    rounds: int
    round: Outcome
    match: Outcome

    def heading(self) -> list[str]:
        """The game, the rules of the round and the players."""
        first, second = self.strategies
        return [*super().heading(), f"{first} first, against {second}"]

    def parts(self) -> Parts:
        """A row for one round and one for the match."""
        which = Column("", ["one round", f"a match of {self.rounds} rounds"])
        ends = {how: Column(".4%", [getattr(self.round, how), getattr(self.match, how)]) for how in Outcome._fields}
        yield table({"": which, **ends})


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
