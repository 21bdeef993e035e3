"""Tables of positions as a page shows them: choices first, the likeliest before the others, and each position once.

Of some games the points so far change nothing that is to be decided, as in Threes when few points are best. Positions
that differ in them alone are one position to a reader.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from stb_gym.exact import Solution, TurnTables, compile_game, solve
from stb_gym.games import Game, IntArray, dice_in_words, words_of
from stb_gym.output import Column, Table, column

ONCE = (
    " Positions that differ only in points that change nothing stand once, without these points; their visits and "
    "costs are added up."
)
DIGITS = 9  # of losses that are compared


def as_read(game: Game, table: Table) -> Table:
    """A table of positions for readers, with the chance to come there under the best play for the points.

    Args:
        game: the rules.
        table: one with the columns of `stb_gym.book.words.where`. If it has visits of its own, these are kept.
    """
    solution = solve(game)
    nodes = np.array([roll.place for roll in table.columns["roll"].values], int)
    if "visits" not in table.columns:
        visits = solution.evaluate(solution.policy).visits[nodes]
        table = replace(table, columns={**table.columns, "visits": column(".4%", visits)})
    table = _once(solution, table, nodes)
    nodes = np.array([roll.place for roll in table.columns["roll"].values], int)
    likely = np.array(table.columns.get("cost", table.columns["visits"]).values)
    return table.take(np.lexsort((-likely, solution.tables.choices[nodes] < 2)))


def at_stake(game: Game, table: Table) -> Table:
    """Of `choices` what there is to win or lose, instead of the worst moves; for readers."""
    best, worst = (table.columns[f"{which} value"] for which in ("best", "worst"))
    stake = (abs(one - other) for one, other in zip(best.values, worst.values, strict=True))
    columns = {name: known for name, known in table.columns.items() if not name.startswith("worst")}
    return as_read(game, replace(table, columns={**columns, "at stake": column(best.format, stake)}))


def chosen(game: Game, table: Table) -> Table:
    """Of `openings` the moves that are chosen: where there is one move only, none."""
    choices, nodes = compile_game(game).choices, [roll.place for roll in table.columns["roll"].values]
    columns = dict(table.columns)
    for heading in (heading for heading in columns if heading.startswith("best for")):
        moves = zip(nodes, columns[heading].values, strict=True)
        columns[heading] = column("", (move if choices[node] > 1 else None for node, move in moves))
    note = f"{table.note} Where there is only one move, none is named."
    return replace(table, columns=columns, note=note)


def only(table: Table, headings: Sequence[str]) -> Table:
    """The table of some of its columns, as far as it has them."""
    return replace(table, columns={heading: table.columns[heading] for heading in headings if heading in table.columns})


def _once(solution: Solution, table: Table, nodes: IntArray) -> Table:
    """Rows of positions that are alike, and in whose words all else is alike, become one, that of the fewest points."""
    tables = solution.tables
    kinds, states = _kinds(solution), tables.node_state[nodes]
    words = [column.values for heading, column in table.columns.items() if not column.is_number and heading != "state"]
    alike: dict[tuple[object, ...], list[int]] = {}
    for row, key in enumerate(zip(kinds[states].tolist(), *words, strict=True)):
        alike.setdefault(key, []).append(row)
    if len(alike) == len(table):
        return table
    groups = [sorted(rows, key=lambda row: abs(tables.final_score[states[row]])) for rows in alike.values()]
    columns = dict(table.take(rows[0] for rows in groups).columns)
    columns["state"] = _common_words(tables, table.columns["state"], groups)
    for heading in {"visits", "cost"} & columns.keys():
        spec, values = table.columns[heading]
        columns[heading] = Column(spec, [sum(values[row] for row in rows) for rows in groups])
    return Table(table.title, table.note + ONCE, columns)


def _kinds(solution: Solution) -> IntArray:
    """[S] a number for every state, the same for those where the same moves lose as much."""
    tables, known = solution.tables, dict[tuple[object, ...], int]()
    losses = solution.advantage.round(DIGITS) + 0.0
    first = tables.edge_start[tables.node_start]
    kinds = []
    for state in range(tables.states):
        edges, nodes = (slice(each[state], each[state + 1]) for each in (first, tables.node_start))
        moves = (tables.choices[nodes], tables.edge_action[edges], losses[edges])
        kinds.append(known.setdefault((int(tables.dice[state]), *(each.tobytes() for each in moves)), len(known)))
    return np.array(kinds)


def _common_words(tables: TurnTables, states: Column, groups: list[list[int]]) -> Column:
    """What is said of all states of each group: the words of one, or what the names of several have in common."""
    words, said = words_of(tables.game), []
    for rows in groups:
        here = [states.values[row] for row in rows]
        named = [words.where(int(tables.held[at.place]), int(tables.dice[at.place])) for at in here]
        common = {part: value for part, value in named[0].items() if all(each[part] == value for each in named)}
        said.append(here[0] if len({at.place for at in here}) == 1 else ", ".join(map(_part, common, common.values())))
    return Column("", said)


def _part(name: str, value: Any) -> str:
    """A part of the name of a position in words."""
    if name == "dice":
        return dice_in_words(value)
    return f"{name} {value}"
