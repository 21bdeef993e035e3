"""Write parts of the pages of the site from the code, so that no fact is written twice.

Before Sphinx reads a page, a block such as the following is replaced by the result of the function of that name in
`WRITERS`, called with the text of the block:

    ```{environment} threes
    ```
"""

import csv
import inspect
import io
import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import gymnasium as gym
import numpy as np
import yaml

import stb_gym
from docs.gallery import gallery
from stb_gym.cli.program import COMMANDS, main
from stb_gym.envs import masked_id
from stb_gym.games import GAMES, fits
from stb_gym.words import words_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def environment(game: str) -> str:
    """Return the summary and the ids of the single-turn environments of a game."""
    ids = [name for name, known in stb_gym.ENVIRONMENTS.items() if known.rules is GAMES[game]]
    return "\n\n".join([summary(ids[0]), table_of_ids(ids)])


def hardness(game: str = "") -> str:
    """Return a table of the hardness of the environments of a game, or of all games; large boxes are left out."""
    header = [
        "id",
        "% left after 1 step",
        "2 steps",
        "3 steps",
        "effec&shy;tive hori&shy;zon",
        "deci&shy;sions",
        "cover&shy;age",
    ]
    header += ["dice", "mean gap", "1 / gaps"]
    rows = []
    ids = [name for name, known in stb_gym.ENVIRONMENTS.items() if known.rules is GAMES.get(game, known.rules)]
    for identity in ids:
        env = gym.make(identity)
        if not fits(env.unwrapped.game):
            continue
        found = stb_gym.hardness(env)
        left = 100 * np.append(found.shares[:-1], [0, 0, 0])[:3]  # the last of them is 0
        shares = ["0" if share == 0 else f"{share:.2g}" if share >= 0.001 else "<0.001" for share in left]
        cells = [f"`{identity.partition('/')[2].removesuffix('-v0')}`", *shares, f"{found.effective_horizon:.1f}"]
        cells += [f"{found.decisions:,}", f"{found.coverage:.0%}", f"{found.dice_share:.0%}"]
        cells += [f"{found.mean_gap:.2f}", f"{found.reciprocal_gaps:.0f}"]
        rows.append(cells)
    return markdown(header, rows)


def rounds(_: str = "") -> str:
    """Return the page of the environments of a round."""
    return page_of("stb_gym.rounds.env", [name for name in gym.registry if ROUND.fullmatch(name)])


def page_of(module: str, ids: list[str]) -> str:
    """Return a summary, the docstring of the module, and a table of ids."""
    _, _, page = (inspect.getdoc(import_module(module)) or "").partition("\n\n")
    masked = f"Each also exists with the mask in the observation, such as `{masked_id(ids[0])}`."
    return "\n\n".join([summary(ids[0]), page, "## Ids", table_of_ids(ids), masked])


def summary(identity: str) -> str:
    """Return the table at the start of a page of environments."""
    env = gym.make(identity)
    rows = {
        "Action space": env.action_space,
        "Observation space": " ".join(str(env.observation_space).split()),
        "Import": "import gymnasium, stb_gym",
        "Make": f'gymnasium.make("{identity}")',
    }
    return "\n".join(["| | |", "| --- | --- |", *(f"| {name} | `{value}` |" for name, value in rows.items())])


def table_of_ids(ids: list[str]) -> str:
    """Return a table of ids with their arguments and the mean reward of perfect play."""
    rows = []
    for identity in ids:
        given = [f"`{name}={value!r}`" for name, value in gym.spec(identity).kwargs.items() if name != "game"]
        rows.append([f"`{identity}`", " ".join(given), f"{gym.make(identity).spec.reward_threshold:.6f}"])
    return markdown(["id", "arguments", "mean reward of the best play"], rows, left=2)


def names(listed: str) -> str:
    """Return the API reference of names such as "solve solver.Solution"."""
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
    """Return a table of language models for each game, least regret first."""
    path = Path(__file__).with_name("results") / "language_models.csv"
    rows = sorted(csv.DictReader(path.read_text().splitlines()), key=lambda row: float(row["regret"]))
    lines = []
    for game in GAMES:
        lines += ["", f"**{words_of(GAMES[game]()).introduction()}**", ""]
        lines += ["| rank | regret | ends early | name |", "| ---: | ---: | ---: | --- |"]
        for rank, row in enumerate((row for row in rows if row["game"] == game), 1):
            early = sum(float(row[f"{fault}_mass"]) for fault in ("illegal", "unparsable", "missing"))
            asked = ", ".join(filter(None, [row["model"], row["date"], f"version {row['version']}"]))
            lines.append(
                f"| {rank} | {float(row['regret']):.2g} | {early:.1%} | {row['name']}<br><small>{asked}</small> |"
            )
    return "\n".join(lines)


def citation(_: str = "") -> str:
    """Return the BibTeX entry of the package, from CITATION.cff."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    authors = " and ".join(f"{{{author['name']}}}" for author in cited["authors"])
    found = {"title": cited["title"], "author": authors, "version": cited["version"]} | {"url": cited.get("url")}
    lines = [f"  {name} = {{{value}}}," for name, value in found.items() if value]
    return "\n".join(["```bibtex", "@software{stb_gym,", *lines, "}", "```"])


def commands(_: str = "") -> str:
    """Return a section with the help of every command, and one with the rules of each game."""
    parts = []
    for name in COMMANDS:
        flags, _, _ = help_of(name, "shut-the-box", "--help").partition(RULES)
        parts.append(f"## {name}\n\n```text\n{flags.strip()}\n```")
    parts.append("## Rules")
    for name in GAMES:
        _, _, rules = help_of("solve", name, "--help-rules").partition(RULES)
        parts.append(f"### Rules of {name}\n\n```text\n{RULES}{rules}\n```")
    return "\n\n".join(parts)


def help_of(*words: str) -> str:
    """Run a command and return its output."""
    with redirect_stdout(io.StringIO()) as printed, patch.dict(os.environ, COLUMNS="90"):
        main([*words])
    return printed.getvalue().rstrip()


WRITERS: dict[str, Callable[[str], str]] = {
    "environment": environment,
    "hardness": hardness,
    "rounds": rounds,
    "names": names,
    "leaderboard": leaderboard,
    "gallery": gallery,
    "citation": citation,
    "commands": commands,
}
ROOT = Path(__file__).parent.parent
RULES = "╭─ Rules"  # the start of the panel with the rules in a command's help
ROUND = re.compile(r"stb_gym/\w+Round-v\d+")
PICTURE = re.compile(  # groups: dark picture, alternative text, light picture
    r'<picture>.*?srcset="(.*?)".*?<img(?=[^>]*alt="(.*?)")[^>]*src="(.*?)"[^>]*>.*?</picture>', re.DOTALL
)
SITE_LINK = re.compile(r'\[([^\]]+)\]\([^)\s]+ "([^")]+\.html[^")]*)"\)')  # groups: words, page of the site
BLOCK = re.compile(rf"^```\{{({'|'.join(WRITERS)})\}}(.*?)^```$", re.MULTILINE | re.DOTALL)


def written(page: str) -> str:
    """Return the page with its blocks, pictures and links as the site needs them.

    A link to a page that only the site has names it in the title: `[Play](play.md "index.html")`. In the repository
    it leads to the first file, on the site to the second.
    """
    page = with_pictures(BLOCK.sub(lambda block: WRITERS[block[1]](block[2].strip()), page))
    return SITE_LINK.sub(r'<a href="\2">\1</a>', page)


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """Return a Markdown table; the first `left` columns are aligned left, the others right."""
    alignment = ["---"] * left + ["---:"] * (len(header) - left)
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, alignment, *rows))


def with_pictures(page: str) -> str:
    """Return the page with each light and dark picture in the syntax of the theme."""
    return PICTURE.sub(r"![\2](\3){.only-light}\n![\2](\1){.only-dark}", page)


def setup(app: "Sphinx") -> None:
    """Register a hook that passes each page through `written` before Sphinx reads it."""

    def read(_: "Sphinx", name: str, source: list[str]) -> None:
        source[0] = written(source[0])

    app.connect("source-read", read)
