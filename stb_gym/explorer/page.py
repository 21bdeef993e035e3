"""The file of a page: its data, script and style in one, so that it needs nothing else."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from stb_gym.explorer.contents import contents
from stb_gym.explorer.packing import pack
from stb_gym.games import Game, title
from stb_gym.output import write_text

HERE = Path(__file__).parent


def write_explorer(path: str | Path, game: Game, policies: Sequence[str] = (), runs: Sequence[str] = ()) -> None:
    """Write a page to look at a game with, whole or not at all; see `explorer_page`."""
    write_text(path, explorer_page(game, policies, runs))


def explorer_page(game: Game, policies: Sequence[str] = (), runs: Sequence[str] = ()) -> str:
    """A page to look at a game with.

    Args:
        game: the rules.
        policies: whose moves it shows besides those of the game's rules of thumb and kept policies: names of strategies
            or files of policies.
        runs: folders of trainings.

    Returns:
        The text of one HTML file that works without a network.

    Raises:
        ValueError: if the game does not fit into arrays, or a policy or run cannot be read or is of another game.

    Example:
        >>> import stb_gym
        >>> explorer_page(stb_gym.Threes(dice=2)).startswith("<!doctype html>")
        True
    """
    facts, arrays = contents(game, policies, runs)
    filled = (HERE / "page.html").read_text(encoding="utf-8")
    for hole, text in {
        "title": escape(title(game)),
        "introduction": escape(facts["introduction"]),
        "style": (HERE / "page.css").read_text(encoding="utf-8"),
        "data": pack(facts, arrays),
        "script": (HERE / "page.js").read_text(encoding="utf-8"),
    }.items():
        filled = filled.replace(f"<!-- {hole} -->", text, 1)
    return filled
