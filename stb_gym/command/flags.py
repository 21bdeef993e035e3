"""Flags of the command line, made from the fields of dataclasses: the rules of games, and the questions of commands."""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, field, fields
from typing import Any, NamedTuple, get_args

from stb_gym.games import GAMES, Rule, check_choice, check_names, entry_of, positions_of, rules_of

RULE, WHERE = "rule_", "where_"  # begin the names under which the parser keeps rules and positions


class Flag(NamedTuple):
    """What is known of a field of a question.

    Attributes:
        words: what it says, in a line.
        sample: a value as a person might type it, for the help.
        kind: makes the value of what is typed.
        repeated: True if the flag may be given several times, once for each value.
        position: True for the words that name a position, which depend on the game.
    """

    words: str
    sample: str | None = None
    kind: Callable[[str], Any] = str
    repeated: bool = False
    position: bool = False


def flag(default: Any, words: str, sample: str | None = None, kind: Callable[[str], Any] = str, **known: bool) -> Any:
    """A field of a question; without a default (`MISSING`) its flag is required."""
    metadata = {"flag": Flag(words, sample, kind, **known)}
    if default is MISSING:
        return field(metadata=metadata)
    if isinstance(default, dict):
        return field(default_factory=dict, metadata=metadata)
    return field(default=default, metadata=metadata)


def names(text: str) -> tuple[str, ...]:
    """Names separated by commas."""
    return tuple(text.split(","))


def numbers(text: str) -> Any:
    """One integer, or a list of them separated by commas."""
    listed = [int(number) for number in text.split(",")] if text else []
    return listed[0] if len(listed) == 1 else listed


names.__name__, numbers.__name__ = "list of names", "list of numbers"  # argparse names the type in its messages


def add_flags(parser: argparse.ArgumentParser, question: type[Any]) -> None:
    """Add the flags of a question's fields."""
    for each in fields(question):
        known: Flag = each.metadata["flag"]
        option = f"--{each.name.replace('_', '-')}"
        if known.position:
            _add_positions(parser)
        elif each.default is False:
            parser.add_argument(option, action="store_true", help=_escaped(known.words))
        else:
            _add_value(parser, option, each, known)


def _add_value(parser: argparse.ArgumentParser, option: str, each: "Field[Any]", known: Flag) -> None:
    required = each.default is MISSING
    shown = "" if required or each.default in (None, ()) else f" (default {each.default})"
    parser.add_argument(
        option,
        dest=each.name,
        type=known.kind,
        default=None if required else each.default if not known.repeated else [],
        required=required,
        action="append" if known.repeated else "store",
        metavar=known.sample,
        help=_escaped(f"{known.words}{shown}"),
    )


def question_from(question: type[Any], options: argparse.Namespace, game: Any) -> Any:
    """The question that the options of a command ask about a game."""
    given: dict[str, Any] = {}
    for each in fields(question):
        if each.metadata["flag"].position:
            given[each.name] = _position(options, game)
        else:
            value = getattr(options, each.name)
            given[each.name] = tuple(value) if isinstance(value, list) else value
    return question(**given)


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Add a flag for every rule of every game that is known."""
    group = parser.add_argument_group("rules")
    if any(entry_of(rules).variants for rules in GAMES.values()):
        group.add_argument("--variant", metavar="NAME", help="rules that have a name: see stb-gym variants")
    known: dict[str, list[tuple[str, Field[Any]]]] = {}
    for name, rules in GAMES.items():
        for each in fields(rules):  # type: ignore[arg-type]
            known.setdefault(rules_of(rules)[each.name].flag or each.name.replace("_", "-"), []).append((name, each))
    for option, of_games in known.items():
        first = of_games[0][1]
        how: dict[str, Any] = {"dest": RULE + first.name, "default": None, "help": _escaped(_rule_help(of_games))}
        if isinstance(first.default, bool):
            group.add_argument(f"--{option}", action="store_true", **how)
        else:
            group.add_argument(f"--{option}", type=_kind(first), metavar=_rule_sample(first), **how)


def _rule_help(of_games: list[tuple[str, "Field[Any]"]]) -> str:
    """What a rule says in every game that has it, with the range and the standard value."""
    said: dict[str, list[str]] = {}
    for name, each in of_games:
        known = _rule(each)
        span = f", {known.low} to {known.high}" if known.low is not None else ""
        default = "" if each.default is None or isinstance(each.default, bool) else f", default {each.default}"
        said.setdefault(f"{known.words}{span}{default}", []).append(name)
    return "; ".join(f"{words} ({', '.join(games)})" for words, games in said.items())


def _rule_sample(each: "Field[Any]") -> str:
    known = _rule(each)
    return known.sample or "|".join(known.choices) or "N"


def _rule(each: "Field[Any]") -> Rule:
    known: Rule = each.metadata.get("rule", Rule())
    return known


def _kind(each: "Field[Any]") -> Callable[[str], Any]:
    kinds = get_args(each.type) or (each.type,)
    return int if int in kinds else float if float in kinds else str


def rules_from(options: argparse.Namespace) -> dict[str, Any]:
    """The rules that were given by flags."""
    rules = {name.removeprefix(RULE): value for name, value in vars(options).items() if name.startswith(RULE)}
    return {name: value for name, value in rules.items() if value not in (None, False)}


def rules_of_variant(game: str, name: str) -> Mapping[str, Any]:
    """The fields of rules that have a name.

    Raises:
        ValueError: if the game has no variant of that name.
    """
    variants = entry_of(GAMES[game]).variants
    if not variants:
        with_variants = [each for each, rules in GAMES.items() if entry_of(rules).variants]
        raise ValueError(f"variants are of {', '.join(with_variants)}, not of {game}")
    check_choice("variant", name, list(variants))
    return variants[name].fields


def _add_positions(parser: argparse.ArgumentParser) -> None:
    """Add a flag for every word by which a position of any game is named."""
    known: dict[str, list[tuple[str, Any]]] = {}
    for name, rules in GAMES.items():
        for _, option, where in positions_of(entry_of(rules).words):
            known.setdefault(option, []).append((name, where))
    for option, of_games in known.items():
        said: dict[str, list[str]] = {}
        for name, where in of_games:
            said.setdefault(where.words, []).append(name)
        words = "; ".join(f"{words} ({', '.join(games)})" for words, games in said.items())
        sample = of_games[0][1].sample
        parser.add_argument(f"--{option}", dest=WHERE + option, type=numbers, metavar=sample, help=_escaped(words))


def _position(options: argparse.Namespace, game: Any) -> dict[str, Any]:
    """The position that the options name, in the words of the game."""
    said = {name.removeprefix(WHERE): value for name, value in vars(options).items() if name.startswith(WHERE)}
    given = {option: value for option, value in said.items() if value is not None}
    words = {option: (word, where) for word, option, where in positions_of(entry_of(game).words)}
    check_names(f"option for {game.name}", given, words)
    if "roll" in words and "roll" not in given:
        raise ValueError("what was thrown is missing: say --roll")
    return {
        words[option][0]: [value] if words[option][1].listed and option != "roll" and isinstance(value, int) else value
        for option, value in given.items()
    }


def _escaped(words: str) -> str:
    return words.replace("%", "%%")
