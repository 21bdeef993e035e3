"""The command line: games and their rules become flags, answers are printed, errors take one line."""

import inspect
import io
import json
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import fields
from functools import lru_cache
from typing import Annotated, Any

from cyclopts import (
    App,
    CycloptsError,
    Group,
    MissingArgumentError,
    Parameter,
    UnknownCommandError,
    UnusedCliTokensError,
)

from stb_gym import __version__
from stb_gym.cli import checking, play, policies, questions, rounds, turn
from stb_gym.cli.flags import (
    HELP_RULES,
    GameFlags,
    PlaceInRound,
    convert_exactly,
    imported,
    position_flags,
    rule_flags,
)  # fmt: skip
from stb_gym.console import reader_may_leave, refuse, say
from stb_gym.games import GAMES, Game, entry_of, make_game
from stb_gym.messages import quoted
from stb_gym.tracking import showing_progress

ABOUT = """Exact answers about Shut the Box, Threes and games of your own.

Name a command, a game and its rules: stb-gym solve shut-the-box --tiles 10 --objective shut --exact.
With --json the answer is one JSON object. With --import MODULE your module registers a game first."""
COMMANDS: Mapping[str, Callable[..., Any]] = {
    "list": turn.list_game,
    "solve": turn.solve,
    "certify": turn.certify,
    "hardness": turn.hardness,
    "evaluate": policies.evaluate,
    "measure": policies.measure,
    "simulate": policies.simulate,
    "compare": policies.compare,
    "afterstates": turn.afterstates,
    "advise": turn.advise,
    "ask": questions.ask,
    "grade": questions.grade,
    "round": rounds.round_of,
    "par": rounds.par,
    "match": rounds.match,
    "tournament": rounds.tournament,
    "play": play.play,
    "watch": play.watch,
    "explore": play.explore,
}
WITHOUT_GAME: Mapping[str, Callable[..., Any]] = {
    "check": checking.check,
    "list": turn.list_all,
    "evaluate": policies.evaluate_files,
    "watch": play.watch,
}
GROUPS = {
    "Play": ("play", "watch", "explore"),
    "Solve": ("list", "solve", "advise", "afterstates", "round", "par", "certify"),
    "Measure": ("evaluate", "measure", "check", "compare", "match", "tournament", "simulate", "hardness"),
    "Language models": ("ask", "grade"),
}
JSON_FLAG = Annotated[bool, Parameter(help="Print JSON instead of text.")]
FULL_FLAG = Annotated[bool, Parameter(help="Print all numbers and tables.")]
OF_THE_PROGRAM = ("--help", "--version", "--install-completion", HELP_RULES)  # flags without a command
SCHEMA = 2  # of the JSON: increased when a key goes, is renamed or changes its meaning


def main(words: list[str] | None = None) -> int:
    """Run the command and return its exit status: 0, 1 after a failed check, 2 after an error, 130 after ctrl-C.

    Args:
        words: the words of the command line (default: those of the process).

    Raises:
        SystemExit: with status 143 after SIGTERM, so that unfinished files are removed.
    """
    if sys.stdout is None:  # it was closed before Python began
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="stb_gym.plainly")  # a terminal may lack the frames of tiles
    words = sys.argv[1:] if words is None else words
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with reader_may_leave(), showing_progress(), warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: say(f"stb-gym: {message}", error=True)
            modules, words = modules_to_import(words)
            for module in modules:
                imported(module, "--import")
            if words[:1] and words[0].startswith("--") and words[0] not in OF_THE_PROGRAM:
                raise ValueError(f"put {quoted(words[0])} after the command and the game")
            if words[:1] == ["evaluate"] and any(word.startswith("--agent") for word in words):
                raise ValueError("evaluate is for policies: an --agent of your own is measured by stb-gym measure")
            app = command_line(tuple(GAMES.items()), of_rules=HELP_RULES in words)
            words = ["--help" if word == HELP_RULES else word for word in words]
            return app(words, exit_on_error=False, print_error=False, result_action="return_value") or 0
    except (UnknownCommandError, UnusedCliTokensError) as error:
        unused = quoted(" ".join(error.unused_tokens or []))
        no_game = ValueError(f"no game or flag is called {unused}: games are {', '.join(GAMES)}")
        return refuse("stb-gym", no_game if error.command_chain else error)
    except MissingArgumentError as error:
        name = error.argument.name if error.argument else ""
        command = " ".join(error.command_chain or [])
        missing = ValueError(f"{command} needs {name}: see stb-gym {command} --help")
        return refuse("stb-gym", error if name in words else missing)  # a flag without a value is explained already
    except (CycloptsError, ValueError, OSError, ImportError, MemoryError) as error:
        return refuse("stb-gym", error)
    except KeyboardInterrupt:
        say("stb-gym: interrupted", error=True)
        return 130
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def modules_to_import(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the modules of `--import MODULE`, which register games, and the other words.

    Raises:
        ValueError: if the name of a module is missing.
    """
    modules, others = [], []
    remaining = iter(words)
    for word in remaining:
        option, _, module = word.partition("=")
        if option == "--import":
            module = module or next(remaining, "")
            if not module:
                raise ValueError("--import needs the name of a module")
            modules.append(module)
        else:
            others.append(word)
    return modules, others


@lru_cache(maxsize=1)
def command_line(games: tuple[tuple[str, type[Game]], ...], of_rules: bool = False) -> App:
    """Return the app: a sub-command for each command and game, with the rules of that game as flags.

    Args:
        games: the rules by name.
        of_rules: whether help texts explain the flags of the rules, and not the others.
    """
    app = App(
        name="stb-gym",
        help=ABOUT,
        version=__version__,
        help_format="plaintext",
        group_commands=Group("Options", sort_key=len(GROUPS)),
        default_parameter=Parameter(
            negative=(),
            converter=convert_exactly,
            show=not of_rules,
            show_default=lambda value: str(value or "") or None,
        ),
        suppress_keyboard_interrupt=False,
    )
    for number, (heading, names) in enumerate(GROUPS.items()):
        group = Group(heading, sort_key=number)
        for at, name in enumerate(names):
            with_game, without_game = COMMANDS.get(name), WITHOUT_GAME.get(name)
            summary = ((without_game or with_game).__doc__ or "").partition("\n")[0]
            where = "[GAME]" if without_game else "GAME"
            usage = f"Usage: stb-gym {name} {where} [OPTIONS]" if with_game else None
            command = App(name=name, help=summary, usage=usage, group=group, sort_key=at, group_commands=Group("Games"))
            if with_game:
                for game, rules in games:
                    command.command(_of_game(with_game, rules, of_rules), name=game)
            if without_game:
                command.default(_of_game(without_game, None, of_rules))
            app.command(command)
    app.register_install_completion_command()
    return app


@lru_cache
def flags_of_commands() -> frozenset[str]:
    """Return the names of the flags of all commands, which no rule may have."""
    names = {"json", "full", "variant", "help_rules", *(field.name for field in fields(PlaceInRound))}
    for function in COMMANDS.values():
        names |= inspect.signature(function).parameters.keys()
    return frozenset(name.replace("_", "-") for name in names)


def _of_game(function: Callable[..., Any], rules: type[Game] | None, of_rules: bool) -> Callable[..., int]:
    """Return a command that prints its answer and returns its status.

    Its parameters `game` and `where` become the flags of the game.
    """
    signature = inspect.signature(function)
    options = {name: option for name, option in signature.parameters.items() if name not in ("game", "where")}
    flags: dict[str, Any] = {}
    if rules is not None:
        flags["game"] = rule_flags(rules, flags_of_commands(), of_rules)
        if "where" in signature.parameters:
            flags["where"] = position_flags(rules)
    if signature.return_annotation is not None:
        flags |= {"full": FULL_FLAG, "json": JSON_FLAG}
    for name, kind in flags.items():
        default = False if name in ("full", "json") else kind()
        options[name] = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)

    def run(*positional: Any, **values: Any) -> int:
        as_json, full = values.pop("json", False), values.pop("full", False)
        if "full" in signature.parameters:
            values["full"] = full or as_json
        if rules is not None:
            given = values.get("game", GameFlags()).given()
            variant = given.pop("variant", None)
            named = entry_of(rules).variants[variant].fields if variant else {}
            values["game"] = make_game(rules, {**named, **given})
        if "where" in flags:
            values["where"] = values.get("where", GameFlags()).given()
        with redirect_stdout(sys.stderr if as_json else sys.stdout):  # code of a user may print, too
            answer = function(*positional, **values)
        if answer is None:
            return 0
        say(json.dumps({"schema": SCHEMA, **answer.json}) if as_json else answer.text(full))
        return int(answer.status)

    run.__doc__ = re.sub("\n {12}", " ", function.__doc__ or "")  # help texts break lines by themselves
    run.__signature__ = signature.replace(parameters=[*options.values()])  # type: ignore[attr-defined]
    return run
