"""A game as its page shows it: arrays to solve it and to walk through it, and words for all that people read."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import rolls, throw_faces, title, words_of
from stb_gym.rounds import TIES, Round
from stb_gym.solver import TurnTables

PLAYERS = 4  # of the largest round
TIE_RULES = ("split", "all-win")  # the first is the default


def game_contents(tables: TurnTables) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return what a page knows of a game, for `stb_gym.explorer.page.pack`.

    Returns:
        Facts by name, ready for JSON, and these arrays. Nodes follow in the order of their states, edges in that of
        their nodes.

        dice, score: [S] the dice to throw, and the index of the final score among all scores.
        choices: [N] the number of edges of each node.
        next: [E] the state that each edge leads to; the page solves it before the edge's own state.
        move: [E] the index of each edge's words in the fact "moves".
        end: [N - D] the index of the reason why each node without a move ends the turn, in the fact "ends".
        counts-d, throws-d: for each number of dice d, [R] how many throws give each roll, and [faces**d] which roll.
        worth-T: for the tie rule T, see `_lead_values`.
    """
    game, words, scores = tables.game, words_of(tables.game), tables.scores.tolist()
    thrown = np.unique(tables.dice).tolist()
    states = list(zip(tables.held.tolist(), tables.dice.tolist(), strict=True))
    edges = enumerate(tables.edge_node.tolist())
    moves, move = _distinct([tables.move_in_words(edge, tables.node_roll(node)) for edge, node in edges])
    ends, end = _distinct([_end_in_words(tables, node) for node in np.flatnonzero(tables.choices == 0).tolist()])
    facts = {
        "start": tables.start,
        "scores": scores,
        "sign": game.sign,
        "perfect": game.perfect_score,
        "faces": game.faces,
        "throws": thrown,
        "title": title(game),
        "introduction": words.introduction(),
        "how": words.how_to_play().split("\n"),
        "perfection": words.perfection,
        "best": "most" if game.more_is_better else "fewest",
        "points": [words.score(score) for score in scores],
        "goals": [words.goal(score) for score in scores],
        "ended": [words.ended(score) for score in scores],
        "states": [words.state(*state) for state in states],
        "parts": [
            {
                "name": name,
                "words": meaning.partition(" (")[0],
                "listed": isinstance(words.where(*states[0])[name], list),
                "of": [words.where(*state)[name] for state in states],
            }
            for name, meaning in words.positions.items()
            if name != "roll"
        ],
        "rolls": {dice: [words.roll(roll) for roll in rolls(game, dice).shown] for dice in thrown},
        "moves": moves,
        "ends": ends,
        "leads": {"players": PLAYERS, "ties": {ties: TIES[ties] for ties in TIE_RULES}},
    }
    arrays: dict[str, NDArray[Any]] = {
        "dice": tables.dice,
        "score": tables.score_index,
        "choices": tables.choices,
        "next": tables.edge_next,
        "move": move,
        "end": end,
    }
    for dice in thrown:
        table = rolls(game, dice)
        arrays |= {f"counts-{dice}": table.counts, f"throws-{dice}": table.of_throw}
    for ties in TIE_RULES:
        arrays[f"worth-{ties}"] = _lead_values(Round(game, players=PLAYERS, ties=ties))
    return facts, arrays


def _distinct(texts: list[str]) -> tuple[list[str], NDArray[np.intp]]:
    """Return each text once, and [K] the index of every text there."""
    distinct, index = np.unique(np.array(texts, str), return_inverse=True)
    return distinct.tolist(), index


def _end_in_words(tables: TurnTables, node: int) -> str:
    """Return why a turn ends at a node without a move, or "" where it was over before."""
    state = int(tables.node_state[node])
    dice, roll = int(tables.dice[state]), node - int(tables.node_start[state])
    if dice == 0:
        return ""
    throw = int((rolls(tables.game, dice).of_throw == roll).argmax())
    faces = throw_faces(throw, dice, tables.game.faces)
    return words_of(tables.game).no_move(int(tables.held[state]), dice, faces)


def _lead_values(rules: Round) -> NDArray[np.float64]:
    """Return [players, T, players] the expected win of a lead against perfect players.

    By the number of players still to come, the final score, and the number of players who have it, one to all; 0 for
    more players than can be.
    """
    replies = rules.solve().replies
    return np.stack([reply.worth[:-1].reshape(-1, rules.players) for reply in replies])
