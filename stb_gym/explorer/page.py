"""One HTML file with a game's data, a script and a style inside, so that it needs nothing else."""

import base64
import json
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from itertools import cycle, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Game, entry_of, perfect_score, rolls, throw_faces, title
from stb_gym.measure import bundled_policies, load_policies, load_policy, read_policy
from stb_gym.rounds import TIES, Round
from stb_gym.solver import Policy, TurnTables, compile_game, pair_weights, policy_array
from stb_gym.solving import solve, strategies, strategy
from stb_gym.tracking import tracked
from stb_gym.words import words_of

HERE = Path(__file__).parent
ALIGNED = 8  # bytes: the script needs every array to begin at a multiple of this
PLAYERS = 4  # of the largest round
TIE_RULES = ("split", "all-win")  # the first is the default
PROMISE = "Play against perfect play, and see the value of every move, exactly."
OPTIMUM = "optimal"  # perfect play, which the page computes
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")  # of Okabe and Ito
DASHES = ((), (6.0, 2.0), (2.0, 1.5))  # lengths of dashes and gaps in line widths


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
        "introduction": escape(facts["introduction"]),
        "description": escape(" ".join([*facts["how"], PROMISE])),
        "style": (HERE / "page.css").read_text(encoding="utf-8"),
        "data": pack(facts | player_facts, arrays | player_arrays),
        "script": (HERE / "page.js").read_text(encoding="utf-8"),
    }.items():
        page = page.replace(f"<!-- {hole} -->", text)
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


# The game


def game_contents(tables: TurnTables) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return what a page knows of a game, for `pack`.

    Returns:
        Facts by name, ready for JSON, and these arrays. States follow in the order of their afterstates, pairs in that
        of their states.

        dice, score: [Y] the dice to throw, and the index of the final score among all scores.
        choices: [S] the number of pairs of each state.
        next: [P] the afterstate that each pair leads to; the page solves it before the pair's own afterstate.
        move: [P] the index of each pair's words in the fact "moves".
        end: [S - D] the index of the reason why each state without a move ends the turn, in the fact "ends".
        counts-d, throws-d: for each number of dice d, [R] how many throws give each roll, and [faces**d] which roll.
        worth-T: for the tie rule T, [players, T, players] the expected win of a lead against perfect players: by the
            number of players still to come, the final score, and the number of players who have it, from one to all;
            0 for more players than there can be.
    """
    game, words, scores = tables.game, words_of(tables.game), tables.scores.tolist()
    thrown = np.unique(tables.dice).tolist()
    afterstates = list(zip(tables.progress.tolist(), tables.dice.tolist(), strict=True))
    states = tables.pair_state.tolist()
    pairs = enumerate(tracked(states, "moves described", "moves", len(states)))
    moves, move = _distinct([tables.describe_move(pair, tables.state_roll(state)) for pair, state in pairs])
    ends, end = _distinct([_end_in_words(tables, state) for state in np.flatnonzero(tables.choices == 0).tolist()])
    facts = {
        "start": tables.start,
        "scores": scores,
        "sign": game.sign,
        "perfect": perfect_score(game),
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
        "afterstates": [game.describe_afterstate(*afterstate) for afterstate in afterstates],
        "parts": [
            {
                "name": name,
                "words": meaning.partition(" (")[0],
                "listed": not isinstance(game.options_at(*afterstates[0])[name], int),
                "of": [game.options_at(*afterstate)[name] for afterstate in afterstates],
            }
            for name, meaning in game.position_options.items()
            if name != "roll"
        ],
        "rolls": {dice: [game.describe_roll(roll) for roll in rolls(game, dice).shown] for dice in thrown},
        "moves": moves,
        "ends": ends,
        "leads": {"players": PLAYERS, "ties": {ties: TIES[ties] for ties in TIE_RULES}},
    }
    arrays: dict[str, NDArray[Any]] = {
        "dice": tables.dice,
        "score": tables.score_index,
        "choices": tables.choices,
        "next": tables.pair_afterstate,
        "move": move,
        "end": end,
    }
    for dice in thrown:
        table = rolls(game, dice)
        arrays |= {f"counts-{dice}": table.counts, f"throws-{dice}": table.of_throw}
    for ties in TIE_RULES:
        replies = Round(game, players=PLAYERS, ties=ties).solve().replies
        arrays[f"worth-{ties}"] = np.stack([reply.worth[:-1].reshape(-1, PLAYERS) for reply in replies])
    return facts, arrays


def _distinct(texts: list[str]) -> tuple[list[str], NDArray[np.intp]]:
    """Return each text once, and [K] the index of every text there."""
    distinct, index = np.unique(np.array(texts, str), return_inverse=True)
    return distinct.tolist(), index


def _end_in_words(tables: TurnTables, state: int) -> str:
    """Return why a turn ends at a state without a move, or "" where it was over before."""
    afterstate = int(tables.state_origin[state])
    dice, roll = int(tables.dice[afterstate]), state - int(tables.state_start[afterstate])
    if dice == 0:
        return ""
    throw = int((rolls(tables.game, dice).of_throw == roll).argmax())
    faces = throw_faces(throw, dice, tables.game.faces)
    return words_of(tables.game).no_move(int(tables.progress[afterstate]), dice, faces)


# The players


def player_contents(
    tables: TurnTables, policies: Sequence[str], runs: Sequence[str]
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return what a page knows of players, for `pack`.

    Args:
        tables: the compiled game.
        policies: names of strategies or files of policies, besides the heuristics and kept policies of the game.
        runs: folders of trainings.

    Returns:
        Facts by name, and these arrays, in which a place counts the moves of a state from 0 and is -1 for an illegal
        action:

        player-n: of a policy without chance [D] the place of its move; of one with probabilities [P] those.
        run-n: [D, K] the places of the moves at each of K measurements.

    Raises:
        ValueError: if a policy or a training cannot be read or is of another game.
    """
    game = tables.game
    names = dict.fromkeys([*entry_of(game).heuristics, *bundled_policies(game), *policies])
    names.pop(OPTIMUM, None)
    players = {name: Path(name).stem for name in names}
    trainings = [_read_training(tables, folder) for folder in runs]
    everybody = [*players.values(), *(training["name"] for training, _ in trainings)]
    [(title, count)] = Counter([OPTIMUM, *everybody]).most_common(1)
    if count > 1:
        raise ValueError(f"{count} players are called {title}: rename their files or folders")
    # Colours change first, then dashes.
    styles = {
        name: {"colour": colour, "dashes": dashes}
        for name, (dashes, colour) in zip(everybody, cycle(product(DASHES, COLOURS)), strict=False)
    }
    descriptions = strategies(game)
    facts = {
        "optimum": {"name": OPTIMUM, "colour": "#000000", "dashes": ()},
        "players": [
            {"name": title, "how": descriptions.get(name, ""), **styles[title]} for name, title in players.items()
        ],
        "runs": [{**training, **styles[training["name"]]} for training, _ in trainings],
    }
    arrays: dict[str, NDArray[Any]] = {}
    for number, name in enumerate(players):
        policy = policy_array(tables, strategy(game, name) if name in descriptions else load_policy(name, game))
        weights, _ = pair_weights(tables, policy)
        arrays[f"player-{number}"] = _places(tables, policy) if policy.ndim == 1 else weights.astype(np.float32)
    for number, (_, places) in enumerate(trainings):
        arrays[f"run-{number}"] = places
    return facts, arrays


def _read_training(tables: TurnTables, folder: str) -> tuple[dict[str, Any], NDArray[np.intp]]:
    """Return the facts of a training and [D, K] the places of the moves of its K measured policies.

    Raises:
        ValueError: if the folder holds no training, one of other rules, or a damaged one.
    """
    path = Path(folder)
    if not (path / "policies.npz").exists():
        raise ValueError(f"{folder} is not the folder of a finished training: there is no policies.npz")
    saved = read_policy(path / "policy.npz")
    policies = load_policies(path / "policies.npz", tables.game, saved.illegal)
    optimum = solve(tables.game, saved.objective)
    facts = {
        "name": path.resolve().name,
        "objective": saved.objective.name,
        "steps": list(policies),
        "regret": [optimum.evaluate(policy, saved.illegal).regret for policy in policies.values()],
    }
    return facts, np.stack([_places(tables, policy) for policy in policies.values()], axis=1)


def _places(tables: TurnTables, policy: Policy) -> NDArray[np.intp]:
    """Return [D] the places of a policy's actions [S] among the moves of the states that have any; -1 if illegal."""
    pair = np.arange(len(tables.pair_state)) - tables.at_pairs(tables.pair_start[:-1])
    chosen = tables.pair_action == tables.at_pairs(np.asarray(policy))
    return tables.reduce(np.maximum, np.where(chosen, pair, -1))
