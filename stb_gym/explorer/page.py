"""The HTML file of a page, with its data, script and style inside, so that it needs nothing else."""

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.explorer.contents import game_contents
from stb_gym.explorer.players import player_contents
from stb_gym.games import Game
from stb_gym.output import write_text
from stb_gym.solver import compile_game

HERE = Path(__file__).parent
ALIGNED = 8  # bytes: the script needs every array to begin at a multiple of this


def write_explorer(path: str | Path, game: Game, policies: Sequence[str] = (), runs: Sequence[str] = ()) -> None:
    """Write a page to explore a game, whole or not at all; see `explorer_page`."""
    write_text(path, explorer_page(game, policies, runs))


def explorer_page(game: Game, policies: Sequence[str] = (), runs: Sequence[str] = ()) -> str:
    """Return a page to explore a game.

    Args:
        game: the rules.
        policies: names of strategies or files of policies to show besides the game's heuristics and kept policies.
        runs: folders of trainings to show.

    Returns:
        The text of one HTML file that works without a network.

    Raises:
        ValueError: if the game is too large for tables, or a policy or training cannot be read or is of another game.

    Example:
        >>> import stb_gym
        >>> explorer_page(stb_gym.Threes(dice=2)).startswith("<!doctype html>")
        True
    """
    tables = compile_game(game)
    facts, arrays = game_contents(tables)
    player_facts, player_arrays = player_contents(tables, policies, runs)
    page = (HERE / "page.html").read_text(encoding="utf-8")
    for hole, text in {
        "title": escape(facts["title"]),
        "introduction": escape(facts["introduction"]),
        "style": (HERE / "page.css").read_text(encoding="utf-8"),
        "data": pack(facts | player_facts, arrays | player_arrays),
        "script": (HERE / "page.js").read_text(encoding="utf-8"),
    }.items():
        page = page.replace(f"<!-- {hole} -->", text, 1)
    return page


def pack(facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Pack facts and arrays into a text that a script unpacks without a library.

    The text is base64 of zlib-compressed bytes: the length of a header (4 bytes, lowest first), the header, and the
    arrays one after the other. The header is JSON: the facts, and under "arrays" the type, the first byte and the
    length of each array. Integers are stored in the smallest type that holds them.

    Args:
        facts: values by name, ready for JSON.
        arrays: arrays of any shape by name, stored row by row.
    """
    places, body = {}, bytearray()
    for name, array in arrays.items():
        if array.dtype.kind != "f":
            low, high = int(array.min(initial=0)), int(array.max(initial=0))
            array = array.astype(np.min_scalar_type(min(low, -1 - high) if low < 0 else high))
        places[name] = [array.dtype.name, len(body), array.size]
        body += array.astype(array.dtype.newbyteorder("<")).tobytes()
        body += bytes(-len(body) % ALIGNED)
    header = json.dumps({**facts, "arrays": places}, separators=(",", ":")).encode()
    header += b" " * (-(len(header) + 4) % ALIGNED)
    return base64.b64encode(zlib.compress(len(header).to_bytes(4, "little") + header + body, 9)).decode()
