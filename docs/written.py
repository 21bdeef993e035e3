"""What the pages of the site let the code itself write, so that nothing is said twice.

A block such as the following is replaced, before a page is read, by what the function of that name in `WRITERS` makes
of its text:

    ```{environment} threes
    ```
"""

import csv
import inspect
import io
import os
import re
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import gymnasium as gym
import numpy as np

import stb_gym
from stb_gym.cli.program import COMMANDS, main
from stb_gym.envs import masked_id
from stb_gym.games import GAMES, fits

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def environment(game: str) -> str:
    """Return the summary and the ids of a game's environments of one turn."""
    ids = [name for name, known in stb_gym.ENVIRONMENTS.items() if known.rules is GAMES[game]]
    return "\n\n".join([summary(ids[0]), table_of_ids(ids)])


def hardness(game: str = "") -> str:
    """Return a table of what makes the environments of a game, or of all, hard; without those too large for tables."""
    lines = [
        "| id | % left after 1 step | 2 steps | 3 steps | hori&shy;zon | deci&shy;sions | cover&shy;age | dice "
        "| mean gap | 1 / gaps |",
        "| --- |" + " ---: |" * 9,
    ]
    ids = [name for name, known in stb_gym.ENVIRONMENTS.items() if known.rules is GAMES.get(game, known.rules)]
    for identity in ids:
        env = gym.make(identity)
        if not fits(env.unwrapped.game):
            continue
        found = stb_gym.hardness(env)
        left = 100 * np.append(found.shares[:-1], [0, 0, 0])[:3]  # the last of them is 0
        shares = ["0" if share == 0 else f"{share:.2g}" if share >= 0.001 else "<0.001" for share in left]
        cells = [f"`{identity.partition('/')[2].removesuffix('-v0')}`", *shares, found.effective_horizon]
        cells += [f"{found.decisions:,}", f"{found.coverage:.0%}", f"{found.dice_share:.0%}"]
        cells += [f"{found.mean_gap:.2f}", f"{found.reciprocal_gaps:.0f}"]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


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
    """Return the docstrings of public names, given with their package, such as "solve solver.Solution"."""
    lines = []
    for name in listed.split():
        package, _, last = name.rpartition(".")
        what = getattr(import_module(f"stb_gym.{package}".rstrip(".")), last)
        if inspect.isclass(what):
            lines += [f".. autoclass:: stb_gym.{name}", "   :members:", ""]
        else:
            lines += [f".. autofunction:: stb_gym.{name}", ""]
    return "\n".join(["```{eval-rst}", *lines, "```"])


def leaderboard(_: str = "") -> str:
    """Return the table of language models: the least regret first, for each game."""
    path = Path(__file__).with_name("results") / "language_models.csv"
    rows = list(csv.DictReader(path.read_text().splitlines()))
    lines = [
        "| game | name | regret | illegal | unparsable | missing | model | date | version |",
        "| --- | --- |" + " ---: |" * 4 + " --- | --- | --- |",
    ]
    for row in sorted(rows, key=lambda row: (row["game"], float(row["regret"]))):
        masses = [f"{float(row[f'{fault}_mass']):.1%}" for fault in ("illegal", "unparsable", "missing")]
        cells = [row["game"], row["name"], f"{float(row['regret']):.4f}", *masses]
        lines.append(f"| {' | '.join([*cells, row['model'], row['date'], row['version']])} |")
    return "\n".join(lines)


def commands(_: str = "") -> str:
    """Return a section for every command with its help, and one for the rules of each game."""
    parts = []
    for name in COMMANDS:
        flags, _, _ = help_of(name, "shut-the-box").partition(RULES)
        parts.append(f"## {name}\n\n```text\n{flags.strip()}\n```")
    parts.append("## Rules")
    for name in GAMES:
        _, _, rules = help_of("solve", name).partition(RULES)
        parts.append(f"### Rules of {name}\n\n```text\n{RULES}{rules}\n```")
    return "\n\n".join(parts)


def help_of(*words: str) -> str:
    """Return the help of a command."""
    with redirect_stdout(io.StringIO()) as printed, patch.dict(os.environ, COLUMNS="90"):
        main([*words, "--help"])
    return printed.getvalue().rstrip()


WRITERS: dict[str, Callable[[str], str]] = {
    "environment": environment,
    "hardness": hardness,
    "rounds": rounds,
    "names": names,
    "leaderboard": leaderboard,
    "commands": commands,
}
RULES = "╭─ Rules"  # where the panel of a game's rules begins in its help
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
