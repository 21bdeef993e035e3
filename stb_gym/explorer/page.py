"""The file of a page: its data, script and style in one, so that it needs nothing else."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from stb_gym.exact import compile_game
from stb_gym.explorer.graph import graph_arrays, graph_facts
from stb_gym.explorer.leads import lead_arrays, lead_facts
from stb_gym.explorer.packing import pack
from stb_gym.explorer.players import player_arrays, player_facts, player_names, read_history
from stb_gym.explorer.words import end_words, game_words, move_words, position_words
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
    tables = compile_game(game)
    names, histories = player_names(tables, policies), [read_history(tables, folder) for folder in runs]
    moves, move_of_edge = move_words(tables)
    ends, end_of_node = end_words(tables)
    facts = {
        **graph_facts(tables),
        **game_words(tables),
        **position_words(tables),
        "moves": moves,
        "ends": ends,
        "leads": lead_facts(),
        **player_facts(tables, names, histories),
    }
    arrays = {
        **graph_arrays(tables),
        "move": move_of_edge,
        "end": end_of_node,
        **lead_arrays(game),
        **player_arrays(tables, names, histories),
    }
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
