"""Several rounds: `stb-gym match` and `stb-gym tournament`."""

from dataclasses import MISSING, dataclass
from typing import Any, ClassVar

from stb_gym.cli.contests import (
    LINE_UP,
    RANGE_WORDS,
    TIES_WORDS,
    AnswerOfRound,
    RoundQuestion,
    about,
    chance_or_range,
    player,
)
from stb_gym.cli.questions import GameAnswer, Parts, Question, Tell, flag, names, silent, table
from stb_gym.games import Game
from stb_gym.output import Column
from stb_gym.rounds import BEGINS, ENDS, TIES, Outcome, series, tournament

PLAYERS = "one for each player: strategies or kept policies by name, or files of saved policies (.npz)"
SHOWN = sorted(step * 10**power for step in (1, 2, 5) for power in range(5))  # rounds after which a match is told


@dataclass(frozen=True, kw_only=True)
class EvaluateMatch(RoundQuestion):
    """Who wins most of several rounds, after every number of them, by who begins each."""

    name: ClassVar[str] = "match"
    examples = (
        "threes --policy optimal,optimal --begins winner",
        "shut-the-box --policy optimal,random --rounds 10",
    )

    policy: tuple[str, ...] = flag(MISSING, PLAYERS, "A,B", names, repeated=True)
    rounds: int = flag(20, "how many rounds the match has", "N", int)
    begins: str = flag("fixed", "; ".join(f"{name}: {words}" for name, words in BEGINS.items()), "|".join(BEGINS))

    def answer(self, game: Game, tell: Tell = silent) -> "MatchAnswer":
        """Evaluate the match.

        Example:
            >>> import stb_gym
            >>> match = EvaluateMatch(policy=("optimal", "optimal"), begins="winner").answer(stb_gym.Threes())
            >>> [round(wins, 4) for wins in match.wins[-1]]
            [0.4452, 0.4553]
        """
        rules = self.round(game, len(self.policy))
        players = [player(game, name) for name in self.policy]
        found = []
        for each in [rules]:
            ended = series(each, players, self.rounds, self.begins)
            numbers: dict[str, Any] = {name: getattr(ended, name).tolist() for name in ("wins", "tied", "points")}
            if rules.players == 2:
                of_two = [
                    Outcome(won[0], won[1], tie) for won, tie in zip(numbers["wins"], numbers["tied"], strict=True)
                ]
                numbers |= {"round": of_two[0], "match": of_two[-1]}
            found.append(numbers)
        of = about(rules) | {"policies": self.policy, "rounds": self.rounds, "begins": self.begins}
        return MatchAnswer(**of, **found[0], ranges=None)


@dataclass(frozen=True, kw_only=True)
class MatchAnswer(AnswerOfRound):
    """A match after 1, 2 ... rounds; see `stb_gym.Series`. `ranges` are as in `RoundAnswer`.

    Of two players `round` and `match` say how one round and the whole match end for the first of them.
    """

    rounds: int
    begins: str
    wins: list[list[float]]
    tied: list[float]
    points: list[list[float]]
    round: Outcome | None = None
    match: Outcome | None = None
    ranges: dict[str, Any] | None = None

    def heading(self) -> list[str]:
        """The game, the rules of the round and who begins."""
        return [*super().heading(), BEGINS[self.begins]]

    def parts(self) -> Parts:
        """A row for some numbers of rounds: 1, 2, 5, 10, 20 ... and all."""
        differing, shown = self.ranges or {}, [*filter(lambda rounds: rounds < self.rounds, SHOWN), self.rounds]
        wins, tied = differing.get("wins", self.wins), differing.get("tied", self.tied)
        columns = {"rounds": Column("d", shown)}
        for at, name in enumerate(self.policies):
            heading = f"{at + 1}: {name}"
            columns[heading] = Column(chance_or_range(4), [wins[rounds - 1][at] for rounds in shown])
        yield table(columns | {"tied": Column(chance_or_range(4), [tied[rounds - 1] for rounds in shown])})
        if differing:
            yield RANGE_WORDS


@dataclass(frozen=True, kw_only=True)
class EvaluateTournament(Question):
    """What each of several strategies wins of a tournament of many rounds."""

    name: ClassVar[str] = "tournament"
    examples = "shut-the-box --policy optimal,biggest-first", "threes --policy optimal,random --limit 50"

    policy: tuple[str, ...] = flag(MISSING, LINE_UP, "A,B", names, repeated=True)
    ends: str = flag("first-to", "; ".join(f"{name}: {words}" for name, words in ENDS.items()), "|".join(ENDS))
    limit: int | None = flag(None, "points: by default 100, or 45 for out-at", "N", int)
    ties: str = flag("split", TIES_WORDS, "|".join(TIES))

    def answer(self, game: Game, tell: Tell = silent) -> "TournamentAnswer":
        """Evaluate the tournament."""
        players = [player(game, name) for name in self.policy]
        ended = tournament(game, players, self.ends, self.limit, self.ties)
        return TournamentAnswer(
            game=game,
            policies=self.policy,
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

    policies: tuple[str, ...]
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
        yield table({"player": Column("", list(self.policies)), "wins": Column(".4%", self.wins)})
        yield f"{self.mean_rounds:.4f} rounds in the mean"
