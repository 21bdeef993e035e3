"""Flags of the command line, made from the fields of questions, of rules, and from the words that name positions."""

import argparse
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from typing import Any, NoReturn, get_args, get_type_hints

from stb_gym.cli.questions import Flag, Question, names
from stb_gym.games import GAMES, Game, Rule, Where, check_choice, check_names, entry_of, meant, positions_of, rules_of

RULE, WHERE = "rule ", "where "  # begin the names under which the parser keeps rules and parts of positions


class Parser(argparse.ArgumentParser):
    """A parser that leaves it to its caller to say what is wrong, and asks whether something alike was meant."""

    def error(self, message: str) -> NoReturn:
        """Raise a ValueError that says what is wrong."""
        raise ValueError(message)

    def refuse(self, unknown: str) -> NoReturn:
        """Raise a ValueError about a word that none of the arguments takes."""
        like = meant(unknown.partition("=")[0], self._option_string_actions)
        raise ValueError(f"unknown argument {unknown!r}: see {self.prog} --help{like}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None:
            check_choice(str(action.metavar).lower(), value, list(action.choices))


class Help(argparse.HelpFormatter):
    """Breaks lines between words only, not at the hyphens of names and flags."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(text, width, break_on_hyphens=False)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        how: dict[str, Any] = {"initial_indent": indent, "subsequent_indent": indent, "break_on_hyphens": False}
        return "\n".join(textwrap.fill(line, width, **how) for line in text.split("\n"))


def add_flags(parser: argparse.ArgumentParser, question: type[Question]) -> None:
    """Add the flags of a question's fields, those it shares with other questions last."""
    for each in sorted(fields(question), key=lambda each: each.name not in question.__annotations__):
        known: Flag = each.metadata["flag"]
        option = f"--{each.name.replace('_', '-')}"
        if known.position:
            _add_positions(parser)
        elif known.bare:
            parser.add_argument(each.name, nargs="*", type=known.kind, metavar=known.sample, help=_literal(known.words))
        elif each.default is False:
            parser.add_argument(option, action="store_true", help=_literal(known.words))
        else:
            _add_value(parser, option, each, known)


def _add_value(parser: argparse.ArgumentParser, option: str, each: "Field[Any]", known: Flag) -> None:
    required = each.default is MISSING
    shown = "" if required or each.default in (None, ()) else f" (default {each.default})"
    several = "; several with commas, or by the flag again" if known.repeated else ""
    parser.add_argument(
        option,
        dest=each.name,
        type=known.kind,
        default=None if required or known.kind is names else each.default,
        required=required,
        action="extend" if known.kind is names else "store",
        metavar=known.sample,
        help=_literal(f"{known.words}{several}{shown}"),
    )


def question_from(question: type[Question], options: argparse.Namespace, game: Game | None) -> Question:
    """The question that the options of a command ask about a game."""
    given: dict[str, Any] = {}
    for each in fields(question):
        if each.metadata["flag"].position:
            assert game is not None
            given[each.name] = _position(options, game)
        else:
            value = getattr(options, each.name)
            value = tuple(value) if isinstance(value, list) else value
            given[each.name] = _named(each, value) if each.metadata["flag"].kind is names else value
    return question(**given)


def _named(each: "Field[Any]", given: tuple[str, ...] | None) -> Any:
    """Return the names given by a flag, or the name if the flag takes one.

    Raises:
        ValueError: if it takes one, and several were given.
    """
    if given is None:
        return each.default
    if each.metadata["flag"].repeated:
        return given
    if len(given) > 1:
        raise ValueError(f"--{each.name} must be one name here, not {len(given)}: {', '.join(given)}")
    return given[0]


def add_rules(parser: argparse.ArgumentParser, *, variants: bool = True) -> None:
    """Add a flag for every rule of every game that is known and, if wanted, one for rules that have a name.

    What games share stands in a group of its own, below those of each.
    """
    known: dict[str, dict[str, Field[Any]]] = {}
    for name, rules in GAMES.items():
        for option, each in _rule_options(rules).items():
            known.setdefault(option, {})[name] = each
    with_variants = tuple(_with_variants()) if variants else ()
    for games in sorted(dict.fromkeys(filter(None, [with_variants, *map(tuple, known.values())])), key=len):
        group = parser.add_argument_group(f"rules of {' and '.join(games)}")
        if games == with_variants:
            group.add_argument("--variant", metavar="NAME", help="rules that have a name: see stb-gym variants")
        for option, of_games in known.items():
            if tuple(of_games) == games:
                _add_rule(group, option, of_games)


def _add_rule(group: Any, option: str, of_games: Mapping[str, "Field[Any]"]) -> None:
    switches = [each.default for each in of_games.values() if isinstance(each.default, bool)]
    how: dict[str, Any] = {"metavar": _rule_sample(next(iter(of_games.values())))}
    if switches:
        how = {"action": argparse.BooleanOptionalAction if any(switches) else "store_true"}
    words = _by_game([(name, *_rule_words(each)) for name, each in of_games.items()], list(of_games))
    group.add_argument(f"--{option}", dest=RULE + option, default=None, help=_literal(words), **how)


def _rule_options(rules: type[Game]) -> dict[str, "Field[Any]"]:
    """The fields of a rules class by the names of their flags."""
    known = rules_of(rules)
    return {known[each.name].flag or each.name.replace("_", "-"): each for each in fields(rules)}  # type: ignore[arg-type]


def _rule_words(each: "Field[Any]") -> tuple[str, str]:
    """What a rule means, and its range and standard value."""
    known = _rule(each)
    span = [f"{known.low} to {known.high}"] if known.low is not None else []
    default = [f"default {each.default}"] if each.default is not None and each.default is not False else []
    return known.words, ", ".join([*span, *default])


def _rule_sample(each: "Field[Any]") -> str:
    known = _rule(each)
    return known.sample or "|".join(known.choices) or "N"


def _rule(each: "Field[Any]") -> Rule:
    known: Rule = each.metadata.get("rule", Rule())
    return known


def rules_from(options: argparse.Namespace, rules: type[Game] | None) -> dict[str, Any]:
    """The rules that were given by flags, as fields of a rules class; those that it does not have stay as they are.

    Raises:
        ValueError: if a number is wanted and none was given.
    """
    own, types = ({}, {}) if rules is None else (_rule_options(rules), get_type_hints(rules))
    given = {}
    for option, text in _given(options, RULE).items():
        name = own[option].name if option in own else option.replace("-", "_")
        given[name] = _typed(option, text, types.get(name))
    return given


def _typed(option: str, text: Any, wanted: Any) -> Any:
    """What was typed for a rule, as the type of its field."""
    kinds = get_args(wanted) or (wanted,)
    for kind, words in ((int, "an integer"), (float, "a number")):
        if kind in kinds and isinstance(text, str):
            try:
                return kind(text)
            except ValueError:
                raise ValueError(f"--{option} must be {words}, not {text!r}") from None
    return text


def rules_parser() -> argparse.ArgumentParser:
    """A parser of the flags of rules alone, for commands that have a parser of their own for the rest."""
    parser = Parser(add_help=False, allow_abbrev=False, usage=argparse.SUPPRESS, formatter_class=Help)
    add_rules(parser, variants=False)
    return parser


def rules_of_variant(game: str, name: str) -> Mapping[str, Any]:
    """The fields of rules that have a name.

    Raises:
        ValueError: if the game has no variant of that name.
    """
    variants = entry_of(GAMES[game]).variants
    if not variants:
        raise ValueError(f"variants are of {', '.join(_with_variants())}, not of {game}")
    check_choice("variant", name, list(variants))
    return variants[name].fields


def _with_variants() -> list[str]:
    return [name for name, rules in GAMES.items() if entry_of(rules).variants]


def _add_positions(parser: argparse.ArgumentParser) -> None:
    """Add a flag for every word by which a position of any game is named."""
    known: dict[str, list[tuple[str, Where]]] = {}
    for name, rules in GAMES.items():
        for _, option, where in positions_of(entry_of(rules).words):
            known.setdefault(option, []).append((name, where))
    for option, of_games in known.items():
        words, sample = _by_game((name, where.words, "") for name, where in of_games), of_games[0][1].sample
        parser.add_argument(f"--{option}", dest=WHERE + option, type=_numbers, metavar=sample, help=_literal(words))


def _position(options: argparse.Namespace, game: Game) -> dict[str, Any]:
    """The position that the options name, in the words of the game."""
    given = _given(options, WHERE)
    known = {option: (word, where.listed) for word, option, where in positions_of(entry_of(game).words)}
    check_names(f"option for {game.name}", given, known)
    named = [(*known[option], value) for option, value in given.items()]
    return {word: [value] if listed and isinstance(value, int) else value for word, listed, value in named}


def _numbers(text: str) -> int | list[int]:
    """One integer, or a list of them separated by commas."""
    try:
        listed = [int(number) for number in text.split(",")] if text else []
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither an integer nor a list of them such as 1,4,5") from None
    return listed[0] if len(listed) == 1 else listed


def _given(options: argparse.Namespace, kind: str) -> dict[str, Any]:
    """What was typed for the flags of a kind, by the names of the flags."""
    kept = {name.removeprefix(kind): value for name, value in vars(options).items() if name.startswith(kind)}
    return {option: value for option, value in kept.items() if value is not None}


def _by_game(said: Iterable[tuple[str, str, str]], known: Sequence[str] = ()) -> str:
    """What a flag means in every game that has it: (game, words, range) each; the same is said once.

    Games are named only where they differ; if all `known` games agree, none is.
    """
    games: dict[tuple[str, str], list[str]] = {}
    for name, words, span in said:
        games.setdefault((words, span), []).append(name)
    return "; ".join(_noted(words, names == [*known], names, span) for (words, span), names in games.items())


def _noted(words: str, of_all: bool, games: list[str], span: str) -> str:
    note = ": ".join(filter(None, ["" if of_all else ", ".join(games), span]))
    return f"{words} ({note})" if note else words


def _literal(words: str) -> str:
    """Help that argparse is to print as it is."""
    return words.replace("%", "%%")
