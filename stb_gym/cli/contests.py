"""What questions about several players have in common: the rules of a round, and who plays."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from stb_gym.cli.questions import GameAnswer, Question, TurnAnswer, expect, flag
from stb_gym.games import Game
from stb_gym.measure import is_policy, load_policy
from stb_gym.rounds import INDIFFERENT, TIES, Round
from stb_gym.solver import BoardPolicy, Policy, Solution, Standing, strategy

POLICY = "a strategy (see stb-gym strategies GAME), a kept policy (see stb-gym judge), a saved one, or a run's folder"
LINE_UP = "one for each seat: strategies or kept policies by name, files of saved policies (.npz), or folders of runs"
TIES_WORDS = "who wins a tie"
INDIFFERENT_WORDS = "which of equally good moves players of the equilibrium take"
RANGE_WORDS = "least and most: by the rules for those to whom several moves are equally good (--indifferent)"
SECONDS = 5e-8  # that a pass takes for a standing and a move


def player(game: Game, name: str) -> str | Policy:
    """A strategy by name, or a saved policy by its file, the folder of a run or, of a kept one, its name."""
    return load_policy(name, game) if is_policy(name) else name


def policy_of(game: Game, name: str, illegal: str = "raise") -> Policy | BoardPolicy:
    """The policy of what `player` names; `illegal` is as in `load_policy`."""
    return load_policy(name, game, illegal) if is_policy(name) else strategy(game, name)


@dataclass(frozen=True, kw_only=True)
class RoundQuestion(Question):
    """A question about players of a round; for its rules see `stb_gym.Round`."""

    ties: str = flag("split", TIES_WORDS, "|".join(TIES))
    indifferent: str = flag("fewer", INDIFFERENT_WORDS, "|".join(INDIFFERENT))
    shut_wins: bool = flag(False, "the perfect score (0 in Shut the Box and Threes) wins at once")

    @property
    def passes(self) -> int:
        """How many times all standings are gone through."""
        return 1

    def round(self, game: Game, players: int) -> Round:
        """The round that is asked about; how long it will take is told, if that is long."""
        rules = Round(game, players, self.ties, self.shut_wins, self.indifferent)
        met = sum(len(rules.standings.met_by(seat)) for seat in range(players))
        expect(self.passes * met, SECONDS * len(rules.tables.edge_node), "standings")
        return rules

    @property
    def has_own_rules(self) -> bool:
        """Whether a rule of the round is not the usual one."""
        return any(getattr(self, rule.name) != rule.default for rule in fields(RoundQuestion))


@dataclass(frozen=True, kw_only=True)
class StandingQuestion(RoundQuestion):
    """A question about a turn, played alone or at a standing of a round."""

    lead: int | None = flag(None, "in a round: the best final score so far; without it nobody has played", "SCORE", int)
    holders: int | None = flag(None, "in a round: how many players have that score, by default 1", "N", int)
    after: int | None = flag(None, "in a round: how many play after you, by default none after a lead", "N", int)
    players: int | None = flag(None, "in a round: how many play in all, if more than the others and you", "N", int)

    def turn(self, game: Game, objective: str, values: str | None = None) -> "RoundTurn | None":
        """Return the turn at the standing, or None for a turn played alone.

        Args:
            game: the rules of the turn.
            objective: what a turn alone is played for; "score" in a round.
            values: a file of board values for a turn alone; None in a round.

        Raises:
            ValueError: if the standing cannot come about, or what was given is for the other kind of turn.
        """
        if (self.lead, self.holders, self.after, self.players) == (None,) * 4:
            if self.has_own_rules:
                raise ValueError("ties and shut-wins are rules of a round: say your place in it, by --after")
            return None
        if values is not None or objective != "score":
            raise ValueError("objectives and values of boards are for a turn alone: a round is played to win")
        holders = self.holders if self.holders is not None else int(self.lead is not None)
        after = self.after
        if after is None:
            after = 0 if self.lead is not None or self.players is None else self.players - 1
        rules = self.round(game, self.players if self.players is not None else holders + 1 + after)
        turn = RoundTurn(rules, Standing(self.lead, holders, after))
        rules.standings.find(turn.standing)
        return turn


class RoundTurn(NamedTuple):
    """A turn of a round, at a standing."""

    rules: Round
    standing: Standing

    @property
    def best(self) -> Solution:
        """The best play of the turn; its values are the player's expected win."""
        return self.rules.solve().at(self.standing)

    @property
    def seen(self) -> str:
        """The standing in words."""
        return f"{self.standing.in_words(self.rules.game)}, ties {self.rules.ties}"


@dataclass(frozen=True, kw_only=True)
class StandingAnswer(TurnAnswer):
    """An answer about a turn; `seen` is the standing in words, None for a turn played alone."""

    seen: str | None = None

    def heading(self) -> list[str]:
        """The game, the objective and the standing."""
        return [*super().heading(), *([] if self.seen is None else [self.seen])]


@dataclass(frozen=True, kw_only=True)
class AnswerOfRound(GameAnswer):
    """An answer about players of a round; for its rules see `stb_gym.Round`."""

    players: int
    ties: str
    indifferent: str
    shut_wins: bool
    policies: tuple[str, ...]

    def heading(self) -> list[str]:
        """The game and the rules of the round."""
        options = {"the perfect score wins at once": self.shut_wins}
        said = [INDIFFERENT[self.indifferent]] if "optimal" in self.policies else []
        said += [words for words, chosen in options.items() if chosen]
        return [*super().heading(), ", ".join([f"{self.players} players", f"ties {self.ties}", *said])]


def about(rules: Round) -> dict[str, Any]:
    """The fields of an answer that say the rules of a round."""
    return {field.name: getattr(rules, field.name) for field in fields(rules)}


def chance_or_range(digits: int) -> Callable[[Any], str]:
    """How people read a chance or, if it depends on the indifferent, its least and its most."""

    def words(chance: Any) -> str:
        ends = [f"{each:.{digits}%}" for each in np.atleast_1d(chance)]
        return ends[0] if len(set(ends)) == 1 else f"{ends[0].removesuffix('%')} to {ends[1]}"

    return words
