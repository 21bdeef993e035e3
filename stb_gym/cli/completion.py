"""What a shell needs to complete the command: `stb-gym --completion bash`."""

import argparse
from importlib import import_module

SHELLS = ("bash", "zsh", "tcsh")


def completion(parser: argparse.ArgumentParser, shell: str) -> str:
    """The script of a shell, which completes the commands, games and flags of a parser.

    Raises:
        ImportError: if shtab is not installed, saying how it is.
    """
    try:
        shtab = import_module("shtab")
    except ImportError as error:
        raise ImportError(
            "completion needs shtab, which is not installed: pip install 'stb-gym[completion]'"
        ) from error
    return str(shtab.complete(parser, shell))
