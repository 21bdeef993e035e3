"""The nodes of an environment as text and pictures, among them the one that an illegal action leads to."""

from typing import Any

from stb_gym.exact import TurnTables
from stb_gym.games import forbidden, throw_faces, words_of


def draw(tables: TurnTables, node: int, throw: int, render_mode: str | None) -> Any:
    """A node, reached by a throw, in a render mode; None without one.

    A turn that an illegal action ended is drawn as a position of its points, without dice, and marked.
    """
    if render_mode is None:
        return None
    forfeit = node == tables.nodes
    state = int(tables.score_index.argmax()) if forfeit else tables.node_state[node]
    held, dice = int(tables.held[state]), int(tables.dice[state])
    shown = () if forfeit else throw_faces(throw, dice, tables.game.faces)
    words = words_of(tables.game)
    if render_mode == "ansi":
        text = words.text(held, dice, shown)
        return f"illegal action: the turn ends with {words.score(int(tables.scores[-1]))}\n{text}" if forfeit else text
    picture = words.picture(held, dice, shown)
    return forbidden(picture) if forfeit else picture
