"""Turn flags into rules of a game, positions, rules of a round and places in it."""

import os
import re
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, fields, make_dataclass
from dataclasses import field as field_of
from functools import lru_cache
from pkgutil import resolve_name
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_type_hints

from cyclopts import Parameter, convert

from stb_gym.checks import check_integer
from stb_gym.games import Game, entry_of, rules_of
from stb_gym.measure import is_policy, load_policy
from stb_gym.rounds import Round, ScoresSoFar
from stb_gym.solver import Playable, Policy, Solution
from stb_gym.solving import strategy

HELP_RULES = "--help-rules"


def convert_exactly(kind: Any, tokens: Sequence[Any]) -> Any:
    """Convert a typed value to the type of its flag; refuse 2.5 as an integer, which cyclopts would round."""
    if int in (kind, *get_args(kind)) and not tokens[0].value.lstrip("-").isdecimal():
        raise ValueError(f"{tokens[0].value!r} is not an integer")
    return convert(kind, tokens)


def split(_: Any, tokens: Sequence[Any]) -> tuple[str, ...]:
    """Return the names that a flag gives, separated by commas or by the flag again."""
    return tuple(name for token in tokens for name in token.value.split(","))


def numbers(_: Any, tokens: Sequence[Any]) -> int | list[int]:
    """Return the integer that a flag gives, or a list of several, separated by commas."""
    return integers_in(tokens[0].value)


def numbers_or_ranges(_: Any, tokens: Sequence[Any]) -> int | list[int]:
    """Return what `numbers` does; a range such as 4-9 stands for all of its integers."""

    def listed(ends: re.Match[str]) -> str:
        return ",".join(map(str, range(int(ends[1]), int(ends[2]) + 1)))

    return integers_in(re.sub(r"(?<![\d-])(\d{1,3})-(\d{1,3})(?![\d-])", listed, tokens[0].value, flags=re.ASCII))


def integers_in(text: str) -> int | list[int]:
    """Return the integer in a text, or a list of several, separated by commas."""
    parts = text.split(",")
    if not all(re.fullmatch(r" *-?\d{1,20} *", part, re.ASCII) for part in parts):
        raise ValueError("integers separated by commas are needed, such as 1,4,5")
    values = [int(part) for part in parts]
    return values if len(values) > 1 else values[0]


Names = Annotated[tuple[str, ...], Parameter(converter=split)]


# Flags of a game


@dataclass(frozen=True)
class GameFlags:
    """Flags of a game: a subclass has a field for each flag, which is None if the flag is not given."""

    def given(self) -> dict[str, Any]:
        """Return the values that the user set, by the name of the field."""
        return {name: value for name, value in vars(self).items() if value is not None}


def flags_class(name: str, group: str, flags: dict[str, tuple[Any, dict[str, Any]]]) -> type[GameFlags]:
    """Return a subclass of `GameFlags`.

    Args:
        name: the name of the class.
        group: the heading of the flags in help texts.
        flags: by the name of the field, the type of its values and the arguments of its `Parameter`.
    """
    attributes = [
        (field, Annotated[kind | None, Parameter(group=group, **how)], field_of(default=None))
        for field, (kind, how) in flags.items()
    ]
    ours = {"__module__": __name__}  # cyclopts does not look into classes of the standard library, as it would be else
    return Parameter(name="*")(make_dataclass(name, attributes, bases=(GameFlags,), namespace=ours, frozen=True))


def flag_of_rule(name: str) -> str:
    """Return the name of the flag of a rule."""
    return "start-open" if name == "open" else name.replace("_", "-")  # --open names a position


@lru_cache
def rule_flags(rules: type[Game], taken: frozenset[str], shown: bool) -> type[GameFlags]:
    """Return the flags of the rules of a game: one for each rule, one for its variants, and --help-rules.

    Args:
        rules: the rules class.
        taken: the names of the flags of the commands.
        shown: whether help texts show the flags of the rules; if not, they show --help-rules.

    Raises:
        ValueError: if a rule has the flag of a command.
    """
    types = get_type_hints(rules)
    flags: dict[str, tuple[Any, dict[str, Any]]] = {}
    for each in fields(rules):  # type: ignore[arg-type]
        known = rules_of(rules)[each.name]
        flag = flag_of_rule(each.name)
        if flag in taken:
            raise ValueError(f"the rule {each.name} of {rules.name} needs another name: --{flag} is a flag of commands")
        notes = [f"{known.low} to {known.high}"] if known.low is not None else []
        notes += [f"default {each.default}"] if each.default not in (None, False) else []
        words = f"{known.words} ({', '.join(notes)})" if notes else known.words
        allowed = get_args(types[each.name]) or (types[each.name],)
        kind = next((kind for kind in (bool, int, float) if kind in allowed), str)
        if known.choices:
            kind = Literal[tuple(known.choices)]  # type: ignore[assignment]
        negative = f"--no-{flag}" if each.default is True else ()
        flags[each.name] = kind, {"name": f"--{flag}", "help": words, "negative": negative, "show": shown}
    if variants := entry_of(rules).variants:
        words = "Rules that have a name; other rules change them (see stb-gym list)."
        flags["variant"] = Literal[tuple(variants)], {"name": "--variant", "help": words, "show": shown}
    words = f"Explain the flags of the rules: {', '.join(how['name'] for _, how in flags.values())}."
    flags["help_rules"] = bool, {"name": HELP_RULES, "help": words, "show": not shown}
    return flags_class("RuleFlags", "Rules", flags)


@lru_cache
def position_flags(rules: type[Game]) -> type[GameFlags]:
    """Return the flags of a position in a game: one for each of its parts."""
    flags: dict[str, tuple[Any, dict[str, Any]]] = {}
    for part, meaning in rules.position_options.items():
        name = "--dice-in-hand" if part == "dice" else f"--{part}"  # --dice is a rule
        converter = numbers if part in ("dice", "roll") else numbers_or_ranges  # a roll of 1-3 is no list of dice
        flags[part] = Any, {"name": name, "help": meaning, "metavar": "N,...", "converter": converter}
    return flags_class("PositionFlags", "Position", flags)


# Flags of a round


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
        """Return the round of a number of players."""
        return Round(game, players, ties=self.ties, shut_wins=self.shut_wins)


class RoundTurn(NamedTuple):
    """A turn in a round, and its optimal play."""

    rules: Round
    scores_so_far: ScoresSoFar
    best: Solution


@Parameter(name="*")
@dataclass(frozen=True)
class PlaceInRound(RoundRules):
    """A place in a round; without any of these options the turn is played alone.

    Attributes:
        lead: In a round: the best final score so far.
        holders: In a round: players with that score (default: 1).
        after: In a round: players after you.
        players: In a round: players in all (default: no others).
    """

    lead: int | None = None
    holders: int | None = None
    after: int | None = None
    players: int | None = None

    def turn(self, game: Game, objective: str) -> RoundTurn | None:
        """Return the turn at this place, or None for a turn played alone.

        Raises:
            ValueError: if there is no such place, or an option is for the other kind of turn.
        """
        leads = self.lead is not None
        if not leads and (self.holders, self.after, self.players) == (None, None, None):
            if self != PlaceInRound():
                raise ValueError("ties and shut-wins are rules of a round: name your place in it, such as --after 1")
            return None
        if objective != "score":
            raise ValueError("an objective is for a turn played alone: a round is played to win")
        holders = self.holders if self.holders is not None else int(leads)
        after = self.after
        if after is None:
            after = 0 if leads or self.players is None else self.players - 1
        check_integer("holders", holders, int(leads), 100)
        check_integer("after", after, 0, 100)
        scores = ScoresSoFar(self.lead, holders, after)
        rules = self.round(game, self.players if self.players is not None else holders + 1 + after)
        return RoundTurn(rules, scores, rules.solve().at(scores))


# Policies and imported objects


def player_of(game: Game, name: str, illegal: str = "raise") -> str | Policy:
    """Return the policy of a file, a run's folder or a bundled policy; else the name, which is that of a strategy."""
    return load_policy(name, game, illegal) if is_policy(name) else name


def policy_of(game: Game, name: str) -> Playable:
    """Return the policy of a file, a run's folder, a bundled policy or a strategy."""
    return load_policy(name, game) if is_policy(name) else strategy(game, name)


def imported(name: str, option: str) -> Any:
    """Import MODULE, or NAME from it if the name is MODULE:NAME; the module may be in the working directory.

    What the module prints goes to standard error, because standard output is for the answer.

    Raises:
        ValueError: if the import fails, with its reason.
    """
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        with redirect_stdout(sys.stderr):
            return resolve_name(name if ":" in name else f"{name}:")  # with a colon, it reports what a module raises
    except (Exception, SystemExit) as error:  # the module may do anything
        is_file = isinstance(error, ModuleNotFoundError) and name.partition(":")[0].endswith(".py")
        hint = "; name the module without .py" if is_file else ""
        raise ValueError(f"{option} {name}: {type(error).__name__}: {error}{hint}") from error
