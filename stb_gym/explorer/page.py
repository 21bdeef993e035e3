"""Write one HTML file with the data of a game, the script and the style, which needs no other file."""

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

Arrays = dict[str, NDArray[Any]]

HERE = Path(__file__).parent
ALIGNED = 8  # bytes; every array begins at a multiple of it, as typed arrays of the script require
PLAYERS = 4  # in the largest round
TIE_RULES = ("split", "all-win")  # the first is the default
PROMISE = "Play against perfect play, and see the value of every move, exactly."
OPTIMUM = "optimal"  # the name of perfect play, which the page computes
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")  # the palette of Okabe and Ito
DASHES = ((), (6.0, 2.0), (2.0, 1.5))  # lengths of dashes and gaps, in line widths


def explorer_page(game: Game, policies: Sequence[str] = (), runs: Sequence[str] = ()) -> str:
    """Return a page to explore a game.

    Args:
        game: the rules.
        policies: names of strategies or policy files to show besides the game's heuristics and bundled policies.
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


def pack(facts: Mapping[str, Any], arrays: Arrays) -> str:
    """Pack facts and arrays into a text that the script unpacks without a library.

    The text is base64 of zlib-compressed bytes: the length of the header (4 bytes, little-endian), the header, and the
    arrays. The header is JSON: the facts, and under "arrays" the type, the offset in bytes and the length of each
    array. Integers are stored in the smallest type that fits.

    Args:
        facts: JSON values by name.
        arrays: arrays of any shape by name; they are stored in C order.
    """
    layout, body = {}, bytearray()
    for name, array in arrays.items():
        if array.dtype.kind != "f":
            low, high = int(array.min(initial=0)), int(array.max(initial=0))
            array = array.astype(np.min_scalar_type(min(low, -1 - high) if low < 0 else high))
        layout[name] = [array.dtype.name, len(body), array.size]
        body += array.astype(array.dtype.newbyteorder("<")).tobytes()
        body += bytes(-len(body) % ALIGNED)
    header = json.dumps({**facts, "arrays": layout}, separators=(",", ":")).encode()
    header += b" " * (-(len(header) + 4) % ALIGNED)
    return base64.b64encode(zlib.compress(len(header).to_bytes(4, "little") + header + body, 9)).decode()


# The game


def game_contents(tables: TurnTables) -> tuple[dict[str, Any], Arrays]:
    """Return the data of a game, for `pack`.

    Returns:
        JSON values by name, and these arrays. States are sorted by their afterstates, pairs by their states.

        dice: [Y] the number of dice to throw at each afterstate.
        score: [Y] the index of the final score in the fact "scores" if the turn ends at the afterstate.
        choices: [S] the number of pairs of each state.
        next: [P] the afterstate that each pair leads to. It is smaller than the pair's own afterstate, so that one
            pass over the afterstates solves the game.
        move: [P] the index of each pair's text in the fact "moves".
        end: [S - D] for each state without a move, the index of the text in the fact "ends" that says why the turn
            ends.
        counts-d: [R] for d dice, the number of throws that give each roll.
        throws-d: [faces**d] for d dice, the roll of each throw.
        lead-values-T: [players, scores, players] for the tie rule T, the expected win of a lead against perfect
            players: by the number of players still to come, the index of the score, and the number of players who
            share the lead, from 1 to all; 0 for impossible numbers of players.
    """
    game, words, scores = tables.game, words_of(tables.game), tables.scores.tolist()
    name, rules = _name_and_rules(game)
    thrown = np.unique(tables.dice).tolist()
    afterstates = list(zip(tables.progress.tolist(), tables.dice.tolist(), strict=True))
    states = tables.pair_state.tolist()
    taken = {}  # the faces of the dice that each move takes, by its text
    texts = []
    for pair, state in enumerate(tracked(states, "moves described", "moves", len(states))):
        roll = tables.state_roll(state)
        texts.append(tables.describe_move(pair, roll))
        taken[texts[-1]] = words.dice_taken(int(tables.pair_action[pair]), roll)
    moves, move = _distinct(texts)
    ends, end = _distinct([_end_in_words(tables, state) for state in np.flatnonzero(tables.choices == 0).tolist()])
    facts = {
        "start": tables.start,
        "scores": scores,
        "sign": game.sign,
        "perfect": perfect_score(game),
        "faces": game.faces,
        "throws": thrown,
        "title": title(game),
        "introduction": name,
        "how": rules,
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
        "taken": [taken[text] for text in moves] if any(taken.values()) else None,
        "ends": ends,
        "leads": {"players": PLAYERS, "ties": {ties: TIES[ties] for ties in TIE_RULES}},
    }
    arrays: Arrays = {
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
        turns = Round(game, players=PLAYERS, ties=ties).solve().turns
        arrays[f"lead-values-{ties}"] = np.stack([turn.holder_value[:-1].reshape(-1, PLAYERS) for turn in turns])
    return facts, arrays


def _name_and_rules(game: Game) -> tuple[str, list[str]]:
    """Return the name of a game and its rules in sentences; a named variant has its own."""
    words = words_of(game)
    rules = words.how_to_play().split("\n")
    for name, variant in entry_of(game).variants.items():
        if variant.fields and game == type(game)(**variant.fields):
            return name.replace("-", " ").capitalize(), [variant.rules, rules[0]]
    return words.introduction(), rules


def _distinct(texts: list[str]) -> tuple[list[str], NDArray[np.intp]]:
    """Return the distinct texts, and [K] the index of every text among them."""
    distinct, index = np.unique(np.array(texts, str), return_inverse=True)
    return distinct.tolist(), index


def _end_in_words(tables: TurnTables, state: int) -> str:
    """Return why the turn ends at a state without a move; "" if it was over before the throw."""
    afterstate = int(tables.state_origin[state])
    dice, roll = int(tables.dice[afterstate]), state - int(tables.state_start[afterstate])
    if dice == 0:
        return ""
    throw = int((rolls(tables.game, dice).of_throw == roll).argmax())
    faces = throw_faces(throw, dice, tables.game.faces)
    return words_of(tables.game).no_move(int(tables.progress[afterstate]), dice, faces)


# The players


def player_contents(tables: TurnTables, policies: Sequence[str], runs: Sequence[str]) -> tuple[dict[str, Any], Arrays]:
    """Return the data of the players, for `pack`.

    Args:
        tables: the compiled game.
        policies: names of strategies or policy files, besides the heuristics and bundled policies of the game.
        runs: folders of trainings.

    Returns:
        JSON values by name, and these arrays. The index of a move counts the legal moves of its state from 0; it is -1
        for an illegal action.

        player-n: [D] the index of the move of a deterministic policy at each decision, or [P] the probabilities of a
            stochastic policy.
        run-n: [D, K] the index of the move at each decision and measurement.

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
    # Use all colours with one pattern of dashes before the next pattern.
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
    arrays: Arrays = {}
    for number, name in enumerate(players):
        policy = policy_array(tables, strategy(game, name) if name in descriptions else load_policy(name, game))
        weights, _ = pair_weights(tables, policy)
        arrays[f"player-{number}"] = _move_indices(tables, policy) if policy.ndim == 1 else weights.astype(np.float32)
    for number, (_, moves) in enumerate(trainings):
        arrays[f"run-{number}"] = moves
    return facts, arrays


def _read_training(tables: TurnTables, folder: str) -> tuple[dict[str, Any], NDArray[np.intp]]:
    """Return the JSON values of a training, and [D, K] the indices of the moves of its K measured policies.

    Raises:
        ValueError: if the folder has no finished training, if the training is of another game, or if a file is damaged.
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
    return facts, np.stack([_move_indices(tables, policy) for policy in policies.values()], axis=1)


def _move_indices(tables: TurnTables, policy: Policy) -> NDArray[np.intp]:
    """Return [D] the index of a policy's action [S] among the legal moves of each decision; -1 if it is illegal."""
    index = np.arange(len(tables.pair_state)) - tables.at_pairs(tables.pair_start[:-1])
    chosen = tables.pair_action == tables.at_pairs(np.asarray(policy))
    return tables.reduce(np.maximum, np.where(chosen, index, -1))
