"""Everything that a page is told of a game: facts and arrays."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from stb_gym.explorer.graph import graph_arrays, graph_facts
from stb_gym.explorer.leads import lead_arrays, lead_facts
from stb_gym.explorer.players import player_arrays, player_facts, player_names, read_history
from stb_gym.explorer.words import end_words, game_words, move_words, position_words
from stb_gym.games import Game
from stb_gym.solver import compile_game


def contents(
    game: Game, policies: Sequence[str], runs: Sequence[str]
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The facts and the arrays of a page; for the arguments see `explorer_page`."""
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
    return facts, arrays
