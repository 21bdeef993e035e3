"""What questions about several players have in common: the rules of a round, and who plays."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from stb_gym.command.questions import GameAnswer, Question, expect, flag
from stb_gym.exact import BoardPolicy, Policy, strategy
from stb_gym.games import Game
from stb_gym.measure import is_policy, load_policy
from stb_gym.rounds import INDIFFERENT, TIES, Range, Round

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
    may_stop: bool = flag(False, "the last player stops once ahead (Shut the Box)")

    @property
    def passes(self) -> int:
        """How many times all standings are gone through: once by each rule for the indifferent."""
        return len(INDIFFERENT)

    def round(self, game: Game, players: int) -> Round:
        """The round that is asked about; how long it will take is told, if that is long."""
        rules = Round(game, players, self.ties, self.shut_wins, self.may_stop, self.indifferent)
        met = sum(len(rules.standings.met_by(seat)) for seat in range(players))
        expect(self.passes * met, SECONDS * len(rules.tables.edge_node), "standings")
        return rules

    @property
    def has_own_rules(self) -> bool:
        """Whether a rule of the round is not the usual one."""
        return any(getattr(self, rule.name) != rule.default for rule in fields(RoundQuestion))


@dataclass(frozen=True, kw_only=True)
class AnswerOfRound(GameAnswer):
    """An answer about players of a round; for its rules see `stb_gym.Round`."""

    players: int
    ties: str
    indifferent: str
    shut_wins: bool
    may_stop: bool
    policies: tuple[str, ...]

    def heading(self) -> list[str]:
        """The game and the rules of the round."""
        options = {"the perfect score wins at once": self.shut_wins, "the last may stop": self.may_stop}
        said = [INDIFFERENT[self.indifferent]] if "optimal" in self.policies else []
        said += [words for words, chosen in options.items() if chosen]
        return [*super().heading(), ", ".join([f"{self.players} players", f"ties {self.ties}", *said])]


def about(rules: Round) -> dict[str, Any]:
    """The fields of an answer that say the rules of a round."""
    return {field.name: getattr(rules, field.name) for field in fields(rules)}


def ranges(found: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """By name the least and the most [..., 2] of those numbers that are not the same in all that was found."""
    over = {name: Range.over([numbers[name] for numbers in found]) for name in found[0]}
    wide = {name: np.stack(each, axis=-1).tolist() for name, each in over.items() if each.is_wide}
    return wide or None


def chance_or_range(digits: int) -> Callable[[Any], str]:
    """How people read a chance or, if it depends on the indifferent, its least and its most."""

    def words(chance: Any) -> str:
        ends = [f"{each:.{digits}%}" for each in np.atleast_1d(chance)]
        return ends[0] if len(set(ends)) == 1 else f"{ends[0].removesuffix('%')} to {ends[1]}"

    return words
