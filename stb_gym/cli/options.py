"""The options that commands share: players by name, a place in a round, an object of a module."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Annotated, Any, NamedTuple

from cyclopts import Parameter

from stb_gym.games import Game, fits
from stb_gym.large import BoardValues, solve_boards
from stb_gym.measure import is_policy, load_policy
from stb_gym.output import Progress
from stb_gym.rounds import Round
from stb_gym.solver import Goal, Playable, Policy, Solution, Standing, objective_of, solve_tables
from stb_gym.solving import strategy


def split(_: Any, tokens: Sequence[Any]) -> tuple[str, ...]:
    """Return the names that a flag gives, separated by commas or by the flag again."""
    return tuple(name for token in tokens for name in token.value.split(","))


Names = Annotated[tuple[str, ...], Parameter(converter=split)]


@Parameter(name="*")
@dataclass(frozen=True)
class RoundRules:
    """The rules of a round.

    Attributes:
        ties: Who wins a tie: split, all-win or nobody.
        shut_wins: The perfect score wins at once.
    """

    ties: str = "split"
    shut_wins: bool = False

    def round(self, game: Game, players: int) -> Round:
        """Return the round of some players."""
        return Round(game, players, ties=self.ties, shut_wins=self.shut_wins)


class Turn(NamedTuple):
    """A turn at a standing of a round; `seen` is the standing in words."""

    rules: Round
    standing: Standing
    best: Solution
    seen: str


@Parameter(name="*")
@dataclass(frozen=True)
class Place(RoundRules):
    """A place in a round; without any of these options the turn is played alone.

    Attributes:
        lead: In a round: the best final score so far.
        holders: In a round: how many players have that score (default: 1).
        after: In a round: how many players come after you (default: none after a lead).
        players: In a round: how many play in all, if more than you and the others named.
    """

    lead: int | None = None
    holders: int | None = None
    after: int | None = None
    players: int | None = None

    def turn(self, game: Game, objective: str) -> Turn | None:
        """Return the turn at the standing, or None for a turn played alone.

        Raises:
            ValueError: if there is no such standing, or an option is for the other kind of turn.
        """
        if (self.lead, self.holders, self.after, self.players) == (None,) * 4:
            if self != Place():
                raise ValueError("ties and shut-wins are rules of a round: name your place in it, such as --after 1")
            return None
        if objective != "score":
            raise ValueError("an objective is for a turn played alone: a round is played to win")
        holders = self.holders if self.holders is not None else int(self.lead is not None)
        after = self.after
        if after is None:
            after = 0 if self.lead is not None or self.players is None else self.players - 1
        standing = Standing(self.lead, holders, after)
        rules = self.round(game, self.players if self.players is not None else holders + 1 + after)
        rules.standings.find(standing)
        return Turn(rules, standing, rules.solve().at(standing), f"{standing.in_words(game)}, ties {self.ties}")


def player_of(game: Game, name: str, illegal: str = "raise") -> str | Policy:
    """Return the policy of a file, a run's folder or a kept policy; else the name, which is that of a strategy."""
    return load_policy(name, game, illegal) if is_policy(name) else name


def policy_of(game: Game, name: str) -> Playable:
    """Return the policy of a file, a run's folder, a kept policy or a strategy."""
    return load_policy(name, game) if is_policy(name) else strategy(game, name)


def perfect_play(game: Game, objective: Goal, worst: bool = False, exact: bool = False) -> Solution | BoardValues:
    """Return perfect (or the worst) play of a turn, with progress if the game is too large for tables.

    Raises:
        ValueError: if fractions are needed and the game is too large for tables.
    """
    goal = objective_of(game, objective)
    if fits(game):
        return solve_tables(game, goal, worst=worst, exact=exact)
    if exact:
        raise ValueError("fractions are for games that fit into tables")
    with Progress("rows of boards solved") as progress:
        return solve_boards(game, goal, progress.tell, worst=worst)


def imported(module: str, option: str) -> ModuleType:
    """Import a module that an option names, which may lie in the working directory.

    Raises:
        ValueError: if the import fails, with its reason.
    """
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return import_module(module)
    except (Exception, SystemExit) as error:  # the module may do anything
        raise ValueError(f"{option}: {type(error).__name__}: {error}") from error
