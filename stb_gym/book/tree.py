"""The tree of one position: its moves, the next rolls after each, and the best replies to them."""

from typing import Any

import numpy as np

from stb_gym.book.words import every_roll, every_state, moves_in_words
from stb_gym.exact import Evaluation, evaluate, solve, strategy
from stb_gym.games import Game, words_of
from stb_gym.output import Table, column

LEAVES = (6, 36)  # how many next rolls a tree has that people look at
OVER = "the turn ends"


def tree(game: Game, name: str) -> Table:
    """The tree of the position where a strategy makes its dearest mistake, of those whose tree people can look at.

    Args:
        game: the rules.
        name: the strategy.
    """
    node = _telling_node(evaluate(game, strategy(game, name)))
    solution = solve(game)
    tables = solution.tables
    words, states, rolled = words_of(game), every_state(tables), every_roll(tables)
    replies = dict(zip(tables.decisions.tolist(), moves_in_words(tables, solution.optimal), strict=True))
    rows: list[tuple[Any, ...]] = []
    edges = tables.edges_of(node) if node >= 0 else range(0)
    for edge in sorted(edges, key=lambda edge: -solution.advantage[edge]):
        action, after = int(tables.edge_action[edge]), int(tables.edge_next[edge])
        move = (words.move_in_words(words.move(action)), abs(float(solution.advantage[edge])), states[after])
        rows += [
            (*move, rolled[leaf], float(tables.node_probability[leaf]), replies.get(leaf, OVER),
             float(solution.node_value[leaf]))
            for leaf in tables.nodes_of(after)
        ] or [(*move, None, 1.0, OVER, float(solution.state_value[after]))]  # fmt: skip
    headings = {"move": "", "loses": ".4f", "leads to": "", "next roll": "", "chance": ".4%", "best reply": "",
                "expected points": ".4f"}  # fmt: skip
    where = f"{states[tables.node_state[node]]}, roll {rolled[node]}" if rows else ""
    return Table(
        f"The tree of one position: {where}",
        f"The dearest mistake of {name}, of those whose tree can be looked at: every move with what it loses, every "
        "next roll, the best reply to it and the points to be expected then.",
        {heading: column(spec, (row[place] for row in rows)) for place, (heading, spec) in enumerate(headings.items())},
    )


def _telling_node(evaluation: Evaluation) -> int:
    """The node whose tree is shown, -1 if there is none."""
    tables = evaluation.tables
    leaves = tables.sum_at_nodes(tables.after_edges(np.maximum(1, np.diff(tables.node_start))))
    cost = np.where((leaves >= LEAVES[0]) & (leaves <= LEAVES[1]), evaluation.visits * evaluation.loss, 0)
    return int(cost.argmax()) if cost.max() > 1e-9 else -1
