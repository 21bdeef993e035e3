"""What a page says of a game: its positions, rolls, moves and scores, each in the game's own words."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import rolls, rolls_in_words, states_in_words, throw_faces, title, words_of
from stb_gym.solver import TurnTables


def game_words(tables: TurnTables) -> dict[str, Any]:
    """The game as a whole, and its scores [T] in words."""
    words, scores = words_of(tables.game), tables.scores.tolist()
    return {
        "title": title(tables.game),
        "introduction": words.introduction(),
        "how": words.how_to_play().split("\n"),
        "perfection": words.perfection,
        "best": words.best,
        "points": [words.score(score) for score in scores],
        "goals": [words.goal(score) for score in scores],
        "ended": [words.ended(score) for score in scores],
    }


def position_words(tables: TurnTables) -> dict[str, Any]:
    """The states [S] in words, and part by part, as a person names them; the rolls of every number of dice."""
    words = words_of(tables.game)
    places = zip(tables.held.tolist(), tables.dice.tolist(), strict=True)
    where = [words.where(held, dice) for held, dice in places]
    parts = [
        {
            "name": name,
            "words": known.words.partition(" (")[0],
            "listed": known.listed,
            "of": [at[name] for at in where],
        }
        for name, known in words.positions.items()
        if name != "roll"
    ]
    return {
        "states": states_in_words(words, tables.held, tables.dice),
        "parts": parts,
        "rolls": {dice: rolls_in_words(words, dice) for dice in np.unique(tables.dice).tolist()},
    }


def move_words(tables: TurnTables) -> tuple[list[str], NDArray[np.intp]]:
    """What the moves are called, each text once, and [E] which of them every edge is called by.

    A move may be called otherwise at another roll, and where dice are thrown after it.
    """
    words, dice = words_of(tables.game), tables.dice[tables.node_state]
    goes_on = tables.dice[tables.edge_next] > 0
    edges = np.stack([tables.edge_action, tables.at_edges(dice), tables.at_edges(tables.node_place), goes_on], axis=1)
    kinds, kind_of = np.unique(edges, axis=0, return_inverse=True)
    texts = [
        words.move_in_words(words.move(action, bool(on)), rolls(tables.game, thrown_dice).shown[at])
        for action, thrown_dice, at, on in kinds.tolist()
    ]
    return _once(texts, kind_of.ravel())


def end_words(tables: TurnTables) -> tuple[list[str], NDArray[np.intp]]:
    """Why turns end at nodes without a move, each text once, and [N - D] which of them holds at each such node."""
    words, faces = words_of(tables.game), tables.game.faces
    texts = []
    for node in np.flatnonzero(tables.choices == 0).tolist():
        state = int(tables.node_state[node])
        dice, roll = int(tables.dice[state]), node - int(tables.node_start[state])
        throw = int((rolls(tables.game, dice).of_throw == roll).argmax())
        texts.append(words.no_move(int(tables.held[state]), dice, throw_faces(throw, dice, faces)) if dice else "")
    return _once(texts, np.arange(len(texts)))


def _once(texts: list[str], which: NDArray[np.intp]) -> tuple[list[str], NDArray[np.intp]]:
    """Each text once, and the place there of those that `which` asks for."""
    distinct = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    places = np.array([distinct[text] for text in texts], np.intp)
    return list(distinct), places[which] if len(which) else which
