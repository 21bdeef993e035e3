"""The command line: games and their rules become flags, answers are printed, errors take one line."""

import inspect
import io
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from functools import lru_cache
from itertools import groupby
from typing import Annotated, Any, Literal, get_args, get_type_hints

from cyclopts import App, CycloptsError, Parameter, UnusedCliTokensError, convert

from stb_gym import __version__
from stb_gym.cli import play, rounds, text, turn
from stb_gym.cli.turn import imported
from stb_gym.console import Column, Table, reader_may_leave, refuse, say
from stb_gym.games import GAMES, Game, entry_of, make_game, rules_of
from stb_gym.messages import escaped, quoted
from stb_gym.solver import Branch
from stb_gym.tracking import showing_progress

ABOUT = """Exact answers about Shut the Box, Threes and games of your own.

Name a command, a game and its rules: stb-gym solve shut-the-box --tiles 10 --objective shut --exact.
With --json the answer is one JSON object. With --import MODULE your module registers a game first."""
COMMANDS: Mapping[str, Callable[..., Any]] = {
    "list": turn.list_game,
    "solve": turn.solve,
    "certify": turn.certify,
    "hardness": turn.hardness,
    "evaluate": turn.evaluate,
    "simulate": turn.simulate,
    "compare": turn.compare,
    "afterstates": turn.afterstates,
    "advise": turn.advise,
    "ask": text.ask,
    "grade": text.grade,
    "round": rounds.round_of,
    "par": rounds.par,
    "match": rounds.match,
    "tournament": rounds.tournament,
    "play": play.play,
    "watch": play.watch,
    "explore": play.explore,
}
WITHOUT_GAME: Mapping[str, Callable[..., Any]] = {
    "list": turn.list_all,
    "evaluate": turn.evaluate_files,
    "watch": play.watch,
}
HELP_RULES = "--help-rules"
RULE, WHERE = "rule_", "where_"  # prefixes of the parameters of a game's rules and positions

SCHEMA = 2  # of the JSON: increased when a key goes, is renamed or changes its meaning
FEW = 10  # values that are printed in one line
IN_TITLE = ("game", "rules", "title", "unit")
ONLY_JSON = ("game", "rules", "unit", "optimum", "agreement", "mean_throws", "costliest_mistake")  # of a row
FORMATS = {  # of floats that are not in the unit of the objective
    name: form
    for form, names in {
        ".6%": "shut_probability illegal_mass unparsable_mass missing_mass",
        ".4%": "normalised_score agreement agreement_by_visits score_distribution scores chance probability distance "
        "shares coverage dice_share wins tied win tie seats survival first best_response_gains exploitability match "
        "round rounds",
        ".4f": "throws mean_throws mean_rounds",
        ".5f": "loss cost costs visits",
        ".4g": "mean_gap least_gap reciprocal_gaps",
        ".2g": "z largest_error largest_relative_error",
    }.items()
    for name in names.split()
}


def main(words: list[str] | None = None) -> int:
    """Run the command and return its exit status: 0, 2 after an error, 130 after ctrl-C.

    Args:
        words: the words of the command line (default: those of the process).

    Raises:
        SystemExit: with status 143 after SIGTERM, so that unfinished files are removed.
    """
    if sys.stdout is None:  # it was closed by whoever started the command
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="stb_gym.plainly")  # a terminal may lack the frames of tiles
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with reader_may_leave(), showing_progress():
            words = import_games(sys.argv[1:] if words is None else words)
            of_rules = HELP_RULES in words
            app = command_line(tuple(GAMES.items()), of_rules)
            words = ["--help" if word == HELP_RULES else word for word in words]
            app(words, exit_on_error=False, print_error=False, result_action="return_value")
        return 0
    except UnusedCliTokensError as error:
        unused = quoted(" ".join(error.unused_tokens or []))
        return refuse("stb-gym", ValueError(f"no game or flag is called {unused}: games are {', '.join(GAMES)}"))
    except (CycloptsError, ValueError, OSError, ImportError, MemoryError) as error:
        return refuse("stb-gym", error)
    except KeyboardInterrupt:
        say("stb-gym: interrupted", error=True)
        return 130
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def import_games(words: Sequence[str]) -> list[str]:
    """Import the modules of `--import MODULE`, which register games, and return the other words.

    Raises:
        ValueError: if a module cannot be imported, with the reason.
    """
    others, left = [], iter(words)
    for word in left:
        option, _, module = word.partition("=")
        if option == "--import":
            module = module or next(left, "")
            if not module:
                raise ValueError("--import needs the name of a module")
            imported(module, "--import")
        else:
            others.append(word)
    return others


@lru_cache(maxsize=1)
def command_line(games: tuple[tuple[str, type[Game]], ...], of_rules: bool = False) -> App:
    """Return the app: a sub-command for each command and game, with the rules of that game as flags.

    Args:
        games: the rules by name.
        of_rules: whether help is about the flags of the rules, and not about the others.
    """
    app = App(
        name="stb-gym",
        help=ABOUT,
        version=__version__,
        help_format="plaintext",
        default_parameter=Parameter(negative=(), converter=convert_exactly, show=not of_rules),
        suppress_keyboard_interrupt=False,
    )
    for name, function in COMMANDS.items():
        without_game = WITHOUT_GAME.get(name)
        command = App(name=name, help=((without_game or function).__doc__ or "").partition("\n")[0])
        for game, rules in games:
            command.command(_of_game(function, rules, of_rules), name=game)
        if without_game:
            command.default(_of_game(without_game, None, of_rules))
        app.command(command)
    app.register_install_completion_command()
    return app


def convert_exactly(kind: Any, tokens: Sequence[Any]) -> Any:
    """Convert a typed value to the type of its flag; refuse 2.5 as an integer, which cyclopts would round."""
    if int in (kind, *get_args(kind)) and not tokens[0].value.lstrip("-").isdecimal():
        raise ValueError(f"{tokens[0].value!r} is not an integer")
    return convert(kind, tokens)


def _of_game(function: Callable[..., Any], rules: type[Game] | None, of_rules: bool) -> Callable[..., None]:
    """Return a command about a game, or about none: its parameters `game` and `where` become the flags of that game."""
    signature = inspect.signature(function)
    parameters = [each for name, each in signature.parameters.items() if name not in ("game", "where")]
    if rules is not None:
        flags = list(_rule_flags(rules, parameters, of_rules))
        if "where" in signature.parameters:
            flags += _position_flags(rules)
        parameters += flags
    answers = signature.return_annotation is not None
    if answers:
        parameters.append(_flag("json", "--json", bool, "Print JSON instead of text.", default=False))

    def run(**given: Any) -> None:
        values: dict[str, dict[str, Any]] = {RULE: {}, WHERE: {}, "": {}}
        for name, value in given.items():
            prefix = next(each for each in values if name.startswith(each))
            values[prefix][name.removeprefix(prefix)] = value
        arguments = values[""]
        in_json = arguments.pop("json", False)
        if "where" in signature.parameters:
            arguments["where"] = values[WHERE]
        if rules is not None:
            variant = values[RULE].pop("variant", None)
            named = entry_of(rules).variants[variant].fields if variant else {}
            arguments["game"] = make_game(rules, {**named, **values[RULE]})
        answer = function(**arguments)
        if answers:
            say(json.dumps({"schema": SCHEMA, **answer}, default=asdict) if in_json else _as_text(answer))

    run.__doc__ = function.__doc__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


def _flag(parameter: str, option: str, kind: Any, words: str, *, default: Any = None, **how: Any) -> inspect.Parameter:
    annotation = Annotated[kind, Parameter(name=option, help=words, **how)]
    return inspect.Parameter(parameter, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _rule_flags(rules: type[Game], others: Sequence[inspect.Parameter], shown: bool) -> Iterator[inspect.Parameter]:
    """Yield a flag for each rule of a game, one for its variants, and one that explains them.

    Args:
        rules: the game.
        others: the parameters of the command.
        shown: whether help shows the flags of the rules instead of the one that explains them.

    Raises:
        ValueError: if a rule has the flag of one of the others.
    """
    types = get_type_hints(rules)
    taken = {"--json", "--variant", HELP_RULES}
    known_flags: list[str] = []
    for other in others:
        names = [each.name for each in fields(other.annotation)] if is_dataclass(other.annotation) else [other.name]
        taken |= {f"--{name.replace('_', '-')}" for name in names}
    for each in fields(rules):  # type: ignore[arg-type]
        known = rules_of(rules)[each.name]
        option = f"--{flag_of_rule(each.name)}"
        if option in taken:
            raise ValueError(f"the rule {each.name} of {rules.name} needs another name: {option} is a flag of commands")
        notes = [f"{known.low} to {known.high}"] if known.low is not None else []
        notes += [f"default {each.default}"] if each.default not in (None, False) else []
        words = f"{known.words} ({', '.join(notes)})" if notes else known.words
        allowed = get_args(types[each.name]) or (types[each.name],)
        negative: Any = ()
        if isinstance(each.default, bool):
            negative = f"--no-{option[2:]}" if each.default else ()
            kind: Any = bool
        elif known.choices:
            kind = Literal[tuple(known.choices)]
        else:
            kind = next((number for number in (int, float) if number in allowed), str)
        how: dict[str, Any] = {"group": "Rules", "negative": negative, "show": shown}
        known_flags.append(option)
        yield _flag(RULE + each.name, option, kind | None, words, **how)
    if variants := entry_of(rules).variants:
        words = "Rules that have a name; other rules change them (see stb-gym list)."
        known_flags.append("--variant")
        yield _flag(RULE + "variant", "--variant", Literal[tuple(variants)] | None, words, group="Rules", show=shown)
    words = f"Explain the flags of the rules: {', '.join(known_flags)}."
    yield _flag("help_rules", HELP_RULES, bool, words, default=False, group="Rules", show=not shown)


def flag_of_rule(name: str) -> str:
    """Return the name of the flag of a rule."""
    return "start-open" if name == "open" else name.replace("_", "-")  # --open names a position


def _position_flags(rules: type[Game]) -> Iterator[inspect.Parameter]:
    """Yield a flag for each word that names a part of a position."""

    def numbers(_: Any, tokens: Sequence[Any]) -> int | list[int]:
        try:
            values = [int(number) for number in tokens[0].value.split(",")]
        except ValueError:
            raise ValueError("integers separated by commas are needed, such as 1,4,5") from None
        return values if len(values) > 1 else values[0]

    for word, meaning in rules.position_options.items():
        option = "dice-in-hand" if word == "dice" else word  # --dice is a rule
        how: dict[str, Any] = {"metavar": "N,...", "group": "Position", "converter": numbers}
        yield _flag(WHERE + word, f"--{option}", Any, meaning, **how)


# Answers as text


def _as_text(answer: Mapping[str, Any], unit: str = "points") -> str:
    """Return an answer as text: a heading, single values, then a table for each dictionary and each list of rows.

    Args:
        answer: values by name.
        unit: the unit of values that have no format of their own, if the answer has none.
    """
    unit = answer.get("unit", unit)
    shown = {name: value for name, value in answer.items() if name not in IN_TITLE and value is not None}
    facts: dict[str, str] = {}
    parts: list[str] = []
    for length, group in groupby(shown, lambda name: _list_length(shown[name])):
        names = list(group)
        if length and len(names) > 1:  # lists of the same length that follow each other
            cells = {name.replace("_", " "): [_cell(name, each, unit) for each in shown[name]] for name in names}
            parts.append(_table({"": [str(row) for row in range(1, length + 1)]} | cells))
            continue
        for name in names:
            label, value = name.replace("_", " "), shown[name]
            if isinstance(value, Branch):
                parts.append(str(value))
            elif isinstance(value, dict) and any(isinstance(each, dict) for each in value.values()):
                parts.append(f"{label}\n\n{_as_text(value, unit)}")
            elif isinstance(value, dict) and value:
                pairs = {str(key): _cell(name, each, unit, key) for key, each in value.items()}
                parts.append(f"{label}\n{_pairs(pairs)}")
            elif isinstance(value, list) and value and length == 0:
                keys = [key for key in dict.fromkeys(key for row in value for key in row) if key not in ONLY_JSON]
                cells = {key.replace("_", " "): [_cell(key, row.get(key), unit) for row in value] for key in keys}
                parts.append(f"{label}\n{_table(cells)}")
            elif length <= FEW:
                facts[label] = _cell(name, value, unit) or "none"
    return "\n\n".join(filter(None, [escaped(answer.get("title", "")), _pairs(facts) if facts else "", *parts]))


def _list_length(value: Any) -> int:
    """Return the length of a list; 0 for a list of rows, which are dictionaries, and for other values."""
    return len(value) if isinstance(value, list) and not isinstance(next(iter(value), None), dict) else 0


def _pairs(pairs: Mapping[str, str]) -> str:
    return _table({"": list(pairs), " ": list(pairs.values())})


def _table(columns: Mapping[str, list[str]]) -> str:
    """Return columns as text, numbers aligned to the right."""
    numbers = set("0123456789.,-%e ")
    return str(
        Table(
            {name: Column(str if numbers.issuperset("".join(cells)) else "", cells) for name, cells in columns.items()}
        )
    )


def _cell(name: str, value: Any, unit: str, key: Any = None) -> str:
    """Return a value as text, in the format of its name or else of its key."""
    if value is None:
        return "an illegal action" if name == "plays" else ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{inner} {_cell(name, each, unit, inner)}" for inner, each in value.items())
    if isinstance(value, list | tuple):
        between = " or " if name == "leaves" or (value and isinstance(value[0], dict)) else ", "
        return between.join(_cell(name, each, unit, key) for each in value)
    if isinstance(value, float):
        form = FORMATS.get(name) or FORMATS.get(key) or (".6%" if unit == "probability" else ".6f")
        return format(value, f"z{form}")
    return f"{value:,}" if isinstance(value, int) and name != "seed" else str(value)
