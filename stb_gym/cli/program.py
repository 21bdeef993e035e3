"""The command line: games and their rules become flags, answers are printed, errors take one line."""

import inspect
import io
import json
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields, is_dataclass
from typing import Annotated, Any, Literal, get_args, get_type_hints

from cyclopts import App, CycloptsError, Parameter, UnusedCliTokensError, convert

from stb_gym import __version__
from stb_gym.cli import play, rounds, turn
from stb_gym.cli.options import imported
from stb_gym.games import GAMES, Game, check_choice, entry_of, make_game, meant, rules_of
from stb_gym.output import Column, Table, escaped, reader_may_leave, refuse, say
from stb_gym.solver import Branch

ABOUT = """Exact answers about Shut the Box, Threes and games of your own.

Name a command, a game and its rules: stb-gym solve shut-the-box --tiles 10 --objective shut --exact.
With --json the answer is one JSON object. With --import MODULE your module registers a game first."""
COMMANDS: Mapping[str, Callable[..., Any]] = {
    "list": turn.list_game,
    "solve": turn.solve,
    "certify": turn.certify,
    "evaluate": turn.evaluate,
    "simulate": turn.simulate,
    "compare": turn.compare,
    "states": turn.states,
    "advise": turn.advise,
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
RULE, WHERE = "rule_", "where_"  # prefixes of the parameters of a game's rules and positions

SCHEMA = 1  # of the JSON: increased when a key goes, is renamed or changes its meaning
LONGEST = 36  # rows of a table of numbers, of which the first and the last half are printed
FEW = 10  # numbers that are printed in one line
IN_TITLE = ("game", "rules", "title", "unit")
ONLY_JSON = ("game", "rules", "unit", "optimum", "agreement", "mean_throws", "dearest_mistake")  # of a row
FORMATS = {  # of floats that are not in the unit of the objective
    name: form
    for form, names in {
        ".6%": "shut_probability illegal_mass",
        ".4%": "normalised_score agreement agreement_by_visits score_distribution scores chance probability distance "
        "shares wins tied win tie seats survival first best_response_gains exploitability match round rounds",
        ".4f": "throws mean_throws mean_rounds",
        ".5f": "loss cost costs visits",
        ".2g": "z largest_error largest_relative_error",
    }.items()
    for name in names.split()
}


def main(words: list[str] | None = None) -> int:
    """Run the command and return its exit status: 0, 2 after an error, 130 after ctrl-C.

    Args:
        words: the words of the command line (default: those of the process).

    Raises:
        SystemExit: with status 143 if the process is asked to end.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="stb_gym.plainly")  # a terminal may lack the frames of tiles
    try:
        with reader_may_leave(), _ends_cleanly():
            words = import_games(sys.argv[1:] if words is None else words)
            command_line()(words, exit_on_error=False, print_error=False, result_action="return_value")
            return 0
    except UnusedCliTokensError as error:
        first = str((error.unused_tokens or [""])[0])
        return refuse("stb-gym", ValueError(f"unknown argument {first!r}{meant(first, [*COMMANDS, *GAMES])}"))
    except (CycloptsError, ValueError, OSError, ImportError, MemoryError) as error:
        return refuse("stb-gym", error)
    except KeyboardInterrupt:
        say("stb-gym: interrupted", error=True)
        return 130


@contextmanager
def _ends_cleanly() -> Iterator[None]:
    """Raise SystemExit when the process is asked to end, so that unfinished files are removed."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        yield
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
            imported(module, f"--import {module}")
        else:
            others.append(word)
    return others


def command_line() -> App:
    """Return the command with a sub-command for each game, which has the rules of that game as flags."""
    app = App(
        name="stb-gym",
        help=ABOUT,
        version=__version__,
        help_format="plaintext",
        default_parameter=Parameter(negative=(), converter=_converted),
        suppress_keyboard_interrupt=False,
    )
    for name, function in COMMANDS.items():
        alone = WITHOUT_GAME.get(name, function)
        command = App(name=name, help=(alone.__doc__ or "").partition("\n")[0])
        for game, rules in GAMES.items():
            command.command(_of_game(function, rules), name=game)
        if name in WITHOUT_GAME:
            command.default(_of_game(alone, None))
        app.command(command)
    app.register_install_completion_command()
    return app


def _converted(kind: Any, tokens: Sequence[Any]) -> Any:
    """Convert what was typed to the type of a flag; integers are not rounded, as cyclopts would."""
    if int in (kind, *get_args(kind)) and not tokens[0].value.lstrip("-").isdecimal():
        raise ValueError(f"{tokens[0].value!r} is not an integer")
    return convert(kind, tokens)


def _of_game(function: Callable[..., Any], rules: type[Game] | None) -> Callable[..., None]:
    """Return a command about a game, or about none: its parameters `game` and `where` become the flags of that game."""
    known = inspect.signature(function)
    own = [parameter for name, parameter in known.parameters.items() if name not in ("game", "where")]
    flags: list[inspect.Parameter] = []
    if rules is not None:
        if "where" in known.parameters:
            flags += _position_flags(rules)
        flags += _rule_flags(rules, own)
    answers = known.return_annotation is not None
    if answers:
        flags.append(_flag("json", "--json", bool, "Print one JSON object instead of text.", False))

    def run(**given: Any) -> None:
        arguments = {parameter.name: given[parameter.name] for parameter in own if parameter.name in given}
        if "where" in known.parameters:
            arguments["where"] = _starting(WHERE, given)
        if "game" in known.parameters:
            arguments["game"] = None if rules is None else _game(rules, _starting(RULE, given))
        answer = function(**arguments)
        if answers:
            say(_as_json(answer) if given.get("json") else _as_text(answer))

    run.__doc__ = function.__doc__
    run.__signature__ = inspect.Signature([*own, *flags])  # type: ignore[attr-defined]
    return run


def _starting(prefix: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that were given for the flags of a kind."""
    return {
        name.removeprefix(prefix): value
        for name, value in given.items()
        if name.startswith(prefix) and value is not None
    }


def _game(rules: type[Game], given: dict[str, Any]) -> Game:
    name = given.pop("variant", None)
    if name is None:
        return make_game(rules, given)
    variants = entry_of(rules).variants
    check_choice("variant", name, list(variants))
    return make_game(rules, {**variants[name].fields, **given})


def _flag(parameter: str, option: str, kind: Any, words: str, default: Any = None, **how: Any) -> inspect.Parameter:
    annotation = Annotated[kind, Parameter(name=option, help=words, **how)]
    return inspect.Parameter(parameter, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _rule_flags(rules: type[Game], others: Sequence[inspect.Parameter]) -> Iterator[inspect.Parameter]:
    """Yield a flag for each rule of a game, unlike those of the command, and one for variants if it has some."""
    types, taken = get_type_hints(rules), {"--json", "--variant"}
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
        how: dict[str, Any] = {"group": "Rules"}
        allowed = get_args(types[each.name]) or (types[each.name],)
        if isinstance(each.default, bool):
            how["negative"] = f"--no-{option[2:]}" if each.default else ()
            kind: Any = bool
        elif known.choices:
            kind = Literal[tuple(known.choices)]
        else:
            kind = next((number for number in (int, float) if number in allowed), str)
        yield _flag(RULE + each.name, option, kind | None, words, **how)
    if entry_of(rules).variants:
        words = "Rules that have a name; other rules change them (see stb-gym list)."
        yield _flag(RULE + "variant", "--variant", str | None, words, group="Rules")


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

    for word, meaning in entry_of(rules).words.positions.items():
        option = "dice-in-hand" if word == "dice" else word  # --dice is a rule
        how: dict[str, Any] = {"metavar": "N,...", "group": "Position", "converter": numbers}
        yield _flag(WHERE + word, f"--{option}", Any, meaning, **how)


# Answers


def _as_json(answer: Mapping[str, Any]) -> str:
    """Return an answer as one line of JSON."""
    return json.dumps({"schema": SCHEMA, **answer}, default=asdict)


def _as_text(answer: Mapping[str, Any], unit: str = "points") -> str:
    """Return an answer as text: a heading, single values, then a table for each list and dictionary.

    Args:
        answer: values by name.
        unit: the unit of values that have no format of their own, if the answer has none.
    """
    unit = answer.get("unit", unit)
    single: dict[str, str] = {}
    groups: list[dict[str, list[str]]] = [{}]  # lists of the same length that follow each other
    parts = []
    for name, value in answer.items():
        label = name.replace("_", " ")
        if name in IN_TITLE or value is None:
            continue
        if value in ([], {}):
            single[label] = "none"
        elif isinstance(value, list) and not isinstance(value[0], dict):
            if len(value) not in map(len, groups[-1].values()):
                groups.append({})
            groups[-1][label] = [_cell(name, each, unit) for each in value]
            continue
        elif isinstance(value, list):
            names = [each for each in dict.fromkeys(each for row in value for each in row) if each not in ONLY_JSON]
            columns = {each.replace("_", " "): [_cell(each, row.get(each), unit) for row in value] for each in names}
            parts.append(f"{label}\n{_table(columns)}")
        elif isinstance(value, Branch):
            parts.append(str(value))
        elif isinstance(value, dict) and any(isinstance(each, dict) for each in value.values()):
            parts.append(f"{label}\n\n{_as_text(value, unit)}")
        elif isinstance(value, dict):
            pairs = {str(key): _cell(name, each, unit, key) for key, each in value.items()}
            parts.append(f"{label}\n{_table(_columns(pairs), LONGEST)}")
        else:
            single[label] = _cell(name, value, unit)
        groups.append({})
    tables = []
    for group in groups:
        if len(group) > 1:
            places = {"": [str(place) for place, _ in enumerate(next(iter(group.values())), 1)]}
            tables.append(_table(places | group, LONGEST))
        else:
            single |= {label: ", ".join(cells) for label, cells in group.items() if len(cells) <= FEW}
    facts = _table(_columns(single)) if single else ""
    return "\n\n".join(filter(None, [escaped(answer.get("title", "")), facts, *tables, *parts]))


def _columns(pairs: Mapping[str, str]) -> dict[str, list[str]]:
    return {"": list(pairs), " ": list(pairs.values())}


def _table(columns: Mapping[str, list[str]], longest: int | None = None) -> str:
    """Return columns as text, numbers aligned to the right, and without the rows in the middle if it is too long."""
    aligned = {}
    for heading, cells in columns.items():
        is_number = set("".join(cells)) <= set("0123456789.,-%e ")
        aligned[heading] = Column(str if is_number else "", cells)
    lines = str(Table(aligned)).split("\n")
    if longest is not None and len(lines) > longest + 1:
        half = longest // 2
        lines = [*lines[:half], f"... {len(lines) - 2 * half} more, all with --json", *lines[-half:]]
    return "\n".join(lines)


def _cell(name: str, value: Any, unit: str, key: Any = None) -> str:
    """Return a value as text, in the format of its name or else of its key."""
    if value is None:
        return "an illegal action" if name == "plays" else ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{inner} {_cell(name, each, unit, inner)}" for inner, each in value.items())
    if isinstance(value, list | tuple):
        between = " or " if value and isinstance(value[0], dict) else ", "
        return between.join(_cell(name, each, unit, key) for each in value)
    if isinstance(value, float):
        form = FORMATS.get(name) or FORMATS.get(key) or (".6%" if unit == "probability" else ".6f")
        is_tiny = form.endswith("%") and 1e-12 < abs(value) < 1e-5
        return f"{100 * value:.3g}%" if is_tiny else format(value, f"z{form}")
    return f"{value:,}" if isinstance(value, int) and name != "seed" else str(value)
