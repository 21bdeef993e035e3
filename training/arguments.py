"""The arguments of the laboratory's commands: `--import MODULE` registers games of your own, tyro reads the rest."""

import sys
from typing import Any

import tyro

from stb_gym.command import import_games
from stb_gym.output import say


def read_arguments(kind: type[Any], arguments: list[str] | None, prog: str, **how: Any) -> Any:
    """The arguments of a command as a dataclass.

    Args:
        kind: the dataclass.
        arguments: the words of the command, by default those of the process.
        prog: the name of the command.
        **how: what else `tyro.cli` is to know.

    Raises:
        SystemExit: after --help, or with status 2 after a line that says what is wrong.
    """
    try:
        words = import_games(sys.argv[1:] if arguments is None else arguments)
    except ValueError as error:
        say(f"{prog}: {error}", error=True)
        sys.exit(2)
    return tyro.cli(kind, args=words, prog=prog, **how)
