"""The frame of the laboratory's commands.

Of their arguments `--import MODULE` registers games of your own, and tyro reads the rest; what they are asked for and
cannot do, they say in a line.
"""

import argparse
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, NoReturn, get_args, get_type_hints

import tyro

from stb_gym.cli import flag_of_rule, import_games
from stb_gym.games import GAMES, Game, rules_of
from stb_gym.output import reader_may_leave, refuse, say

IMPORTS = "--import MODULE registers a game of your own first; see docs/your_own_game.md."


def read_arguments(kind: type[Any], arguments: list[str] | None, prog: str, rules: bool = False) -> Any:
    """The arguments of a command as a dataclass, and the flags of rules, as words, if there may be any.

    Args:
        kind: the dataclass.
        arguments: the words of the command, by default those of the process.
        prog: the name of the command.
        rules: whether flags of rules may stand among them.

    Raises:
        SystemExit: after --help, or with status 2 after a line that says what is wrong.
    """
    about = f"{kind.__doc__}\n\n{rules_in_words()}" if rules else kind.__doc__
    try:
        words = import_games(sys.argv[1:] if arguments is None else arguments)
    except ValueError as error:
        say(f"{prog}: {error}", error=True)
        sys.exit(2)
    with reader_may_leave():
        more: dict[str, Any] = {"return_unknown_args": rules}
        return tyro.cli(kind, args=words, prog=prog, description=f"{about}\n\n{IMPORTS}", **more)


class _Parser(argparse.ArgumentParser):
    """A parser that raises ValueError instead of leaving the process."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def rules_from(words: Sequence[str], rules: type[Game]) -> dict[str, Any]:
    """Return the fields of a game's rules that flags set, such as `--tiles 10`.

    Raises:
        ValueError: naming the first word that is not allowed.
    """
    parser = _Parser(add_help=False, allow_abbrev=False, argument_default=argparse.SUPPRESS)
    types = get_type_hints(rules)
    for each in fields(rules):  # type: ignore[arg-type]
        option = f"--{flag_of_rule(each.name)}"
        if isinstance(each.default, bool):
            parser.add_argument(option, dest=each.name, action=argparse.BooleanOptionalAction)
        else:
            allowed = get_args(types[each.name]) or (types[each.name],)
            kind = next((number for number in (int, float) if number in allowed), str)
            parser.add_argument(option, dest=each.name, type=kind)
    return vars(parser.parse_args(words))


def rules_in_words() -> str:
    """Return what the flags of every game's rules mean."""
    lines = []
    for name, rules in GAMES.items():
        lines.append(f"rules of {name}:")
        lines += [f"  --{flag_of_rule(field)}: {known.words}" for field, known in rules_of(rules).items()]
    return "\n".join(lines)


def answer(text: object) -> None:
    """Print what a command answers; whoever reads it may leave early."""
    with reader_may_leave():
        say(text)


def answered(prog: str, work: Callable[[], int | None], goes_on: str = "") -> int:
    """Do what a command is asked for.

    Args:
        prog: the name of the command.
        work: does it, and returns the exit status if that is not 0.
        goes_on: how to go on if somebody interrupts it.

    Returns:
        The exit status: 2 where something is refused, 130 after an interruption, each with a line that says so.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that unfinished files are cleared away
    try:
        return work() or 0
    except (ValueError, OSError, ImportError, MemoryError) as error:
        return refuse(prog, error)
    except KeyboardInterrupt:
        say("; ".join(filter(None, (f"{prog}: interrupted", goes_on))), error=True)
        return 130
