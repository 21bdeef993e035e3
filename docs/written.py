"""What the pages of the site let the code itself write, so that nothing is said twice.

A block such as the following is replaced, before a page is read, by what the function of that name in `WRITERS` makes
of its text:

    ```{environment} threes
    ```
"""

import argparse
import inspect
import io
import os
import re
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from importlib import import_module
from typing import TYPE_CHECKING
from unittest.mock import patch

import gymnasium as gym

import stb_gym
from stb_gym.cli.laboratory import COMMANDS as LABORATORY
from stb_gym.cli.laboratory import run_laboratory
from stb_gym.cli.program import command_parser
from stb_gym.envs import masked_id
from stb_gym.games import GAMES

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def environment(game: str) -> str:
    """Return the summary and the ids of a game's environments of one turn."""
    ids = [name for name, known in stb_gym.ENVIRONMENTS.items() if known.rules is GAMES[game]]
    return "\n\n".join([summary(ids[0]), table_of_ids(ids)])


def rounds(_: str = "") -> str:
    """The page of the environments of a round."""
    return page_of("stb_gym.rounds.env", [name for name in gym.registry if ROUND.fullmatch(name)])


def page_of(module: str, ids: list[str]) -> str:
    """A summary, the docstring of a module, and all ids."""
    _, _, page = (inspect.getdoc(import_module(module)) or "").partition("\n\n")
    masked = f"Each is there with the mask in the observation, too: `{masked_id(ids[0])}`, and so on."
    return "\n\n".join([summary(ids[0]), page, "## Ids", table_of_ids(ids), masked])


def summary(identity: str) -> str:
    """The table with which a page begins."""
    env = gym.make(identity)
    rows = {
        "Action space": env.action_space,
        "Observation space": " ".join(str(env.observation_space).split()),
        "Import": "import gymnasium, stb_gym",
        "Make": f'gymnasium.make("{identity}")',
    }
    return "\n".join(["| | |", "| --- | --- |", *(f"| {name} | `{value}` |" for name, value in rows.items())])


def table_of_ids(ids: list[str]) -> str:
    """Every id, what it passes to the environment, and the mean reward of the best play."""
    lines = ["| id | arguments | mean reward of the best play |", "| --- | --- | ---: |"]
    for identity in ids:
        given = [f"`{name}={value!r}`" for name, value in gym.spec(identity).kwargs.items() if name != "game"]
        lines.append(f"| `{identity}` | {' '.join(given)} | {gym.make(identity).spec.reward_threshold:.6f} |")
    return "\n".join(lines)


def names(listed: str) -> str:
    """The docstrings of public names of the library."""
    lines = [line for name in listed.split() for line in described(name)]
    return "\n".join(["```{eval-rst}", *lines, "```"])


def described(name: str) -> list[str]:
    """How autodoc is told to describe a name; what is neither a class nor a function is only named."""
    what = getattr(stb_gym, name)
    if inspect.isclass(what):
        return [f".. autoclass:: stb_gym.{name}", "   :members:", ""]
    return [f".. autofunction:: stb_gym.{name}" if inspect.isfunction(what) else f".. py:data:: stb_gym.{name}", ""]


def commands(_: str = "") -> str:
    """A section for every command, one for the rules, which are flags of most, and those of the laboratory."""
    [known] = [each for each in command_parser()._actions if isinstance(each, argparse._SubParsersAction)]
    own = {name: parser for name, parser in known.choices.items() if name not in LABORATORY}
    parts = [command(name, parser) for name, parser in own.items()]
    rules = [
        f"### {group.title}\n\n{flags(group._group_actions)}"
        for group in own["solve"]._action_groups
        if of_rules(group)
    ]
    laboratory = [help_of(name) for name in LABORATORY]
    return "\n\n".join([*parts, "## Rules", *rules, "## Laboratory", *laboratory])


def command(name: str, parser: argparse.ArgumentParser) -> str:
    """The section of a command: what it does, how it is called, what its flags mean, and examples."""
    groups = [group for group in parser._action_groups if not of_rules(group)]
    described = [action for group in groups for action in group._group_actions if action.dest != "help"]
    head = f"## {name}\n\n{parser.description}\n\n```text\n{parser.usage}\n```"
    return "\n\n".join([head, *([flags(described)] if described else []), f"```text\n{parser.epilog}\n```"])


def of_rules(group: argparse._ArgumentGroup) -> bool:
    """Whether flags are the rules of games."""
    return (group.title or "").startswith("rules")


def help_of(name: str) -> str:
    """The section of a command of the laboratory, whose parser is not argparse's: the help that it prints."""
    with redirect_stdout(io.StringIO()) as printed, suppress(SystemExit), patch.dict(os.environ, COLUMNS="90"):
        run_laboratory(name, ["--help"])
    return f"### {name}\n\n```text\n{printed.getvalue().strip()}\n```"


def flags(actions: list[argparse.Action]) -> str:
    """A list of flags: how each is typed, and what it means."""
    items = []
    for action in actions:
        sample = action.metavar if action.nargs != 0 and isinstance(action.metavar, str) else ""
        typed = " ".join(filter(None, [", ".join(action.option_strings), sample]))
        items.append(f"`{typed}`\n: {(action.help or '').replace('%%', '%')}")
    return "\n\n".join(items)


WRITERS: dict[str, Callable[[str], str]] = {
    "environment": environment,
    "rounds": rounds,
    "names": names,
    "commands": commands,
}
ROUND = re.compile(r"stb_gym/\w+Round-v\d+")
BLOCK = re.compile(rf"^```\{{({'|'.join(WRITERS)})\}}(.*?)^```$", re.MULTILINE | re.DOTALL)


def written(page: str) -> str:
    """A page, with what the code writes of it."""
    return BLOCK.sub(lambda block: WRITERS[block[1]](block[2].strip()), page)


def setup(app: "Sphinx") -> None:
    """Let Sphinx read pages so."""

    def read(_: "Sphinx", name: str, source: list[str]) -> None:
        source[0] = written(source[0])

    app.connect("source-read", read)
