"""Compiling a game: its rules are asked for every move once, and checked while they are."""

import itertools

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Edges, Game, IntArray, Rolls, check_game, kept, rolls, words_of
from stb_gym.solver.row_index import StateIndex
from stb_gym.solver.tables import Level, TurnTables

LARGEST_TABLE = 2**24  # nodes or edges: 128 MiB for each array of them
CHUNK = 2**22  # (state, action) pairs the rules look at in one call


@kept(mebibytes=512)
def compile_game(game: Game) -> TurnTables:
    """The arrays of a game; made once, and kept for the next call.

    Args:
        game: the rules.

    Example:
        >>> from stb_gym import ShutTheBox, compile_game
        >>> tables = compile_game(ShutTheBox(tiles=9))
        >>> tables.states, tables.nodes, tables.actions
        (512, 5622, 62)

    Raises:
        TypeError: if it is no game.
        ValueError: if the arrays would be larger than LARGEST_TABLE, or if the rules break their contract (states named
            twice, points that are no integers, moves out of order, a move to no state or to one that is not of a lower
            level), naming the first offender.
    """
    check_game(game)
    _check_size(game, "edges", game.most_edges())
    held, dice, level = _states(game)
    rolls_of = {d: rolls(game, d) for d in sorted(set(dice.tolist()))}
    rolls_at = np.array([len(rolls_of[d].counts) for d in dice.tolist()])
    node_start = np.append(0, np.cumsum(rolls_at))
    _check_size(game, "nodes", int(node_start[-1]))

    bounds = np.flatnonzero(np.diff(level, prepend=-1, append=-1) | np.diff(dice, prepend=-1, append=-1)).tolist()
    blocks = [slice(first, last) for first, last in itertools.pairwise(bounds)]
    edge_node, edge_action, next_held, next_dice = _edges(game, held, dice, blocks, node_start)
    edge_start = np.append(0, np.cumsum(np.bincount(edge_node, minlength=node_start[-1])))

    index = StateIndex(held, dice)
    edge_next, start = index.find(next_held, next_dice), int(index.find(*map(np.array, game.start())))
    if start < 0:
        raise ValueError(f"{game} starts with {game.start()}, which is none of its states")
    tables = TurnTables(
        game=game,
        levels=tuple(_level(block, node_start, edge_start, rolls_of[int(dice[block.start])]) for block in blocks),
        start=start,
        held=held,
        dice=dice,
        final_score=_final_score(game, held),
        node_start=node_start,
        node_state=np.repeat(np.arange(len(held)), rolls_at),
        node_probability=np.concatenate([rolls_of[d].counts / game.faces**d for d in dice.tolist()]),
        edge_start=edge_start,
        edge_node=edge_node,
        edge_action=edge_action,
        edge_next=edge_next,
    )
    _check_actions(tables)
    _check_edges(tables, "leads to no state", edge_next < 0)
    rises = level[edge_next] >= level[tables.node_state[edge_node]]
    _check_edges(tables, "leads to a state that is not of a lower level", rises)
    return tables


def _states(game: Game) -> tuple[IntArray, IntArray, IntArray]:
    """[S] what is held, the dice and the level of every state, sorted by level."""
    held, dice = (np.asarray(column, np.int64) for column in game.states())
    if held.shape != dice.shape or held.ndim != 1 or not held.size:
        raise ValueError(f"states of {game} must be two arrays [S], not of shapes {held.shape} and {dice.shape}")
    if dice.min() < 0 or dice.max() > game.dice:
        raise ValueError(f"states of {game} must throw 0 to {game.dice} dice, as many as the first throw has")
    level = np.asarray(game.level(held, dice), np.int64)
    order = np.lexsort((held, dice, level))
    again = np.flatnonzero((np.diff(held[order]) == 0) & (np.diff(dice[order]) == 0))
    if again.size:
        state = int(order[again[0]])
        raise ValueError(f"{game} names the state {words_of(game).state(int(held[state]), int(dice[state]))} twice")
    return held[order], dice[order], level[order]


def _final_score(game: Game, held: IntArray) -> IntArray:
    final_score = np.asarray(game.final_score(held))
    if final_score.shape != held.shape or final_score.dtype.kind not in "iu":
        raise ValueError(
            f"final_score of {game} must give an integer for each of {len(held)} states, not {final_score.dtype} of "
            f"shape {final_score.shape}"
        )
    return final_score.astype(np.int64)


def _edges(
    game: Game, held: IntArray, dice: IntArray, blocks: list[slice], node_start: IntArray
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """[E] node, action, next held and next dice of every edge, asked of the rules a chunk of states at a time."""
    parts = []
    rows = max(1, CHUNK // len(game.moves))
    for block in blocks:
        if dice[block.start] == 0:
            continue
        for first in range(block.start, block.stop, rows):
            edges = game.edges(held[first : min(first + rows, block.stop)], int(dice[block.start]))
            edges = Edges(*(_whole(game, name, column) for name, column in edges._asdict().items()))
            _check_places(game, edges, min(rows, block.stop - first), int(dice[block.start]))
            parts.append((node_start[first + edges.state] + edges.roll, edges.action, edges.next_held, edges.next_dice))
    node, action, next_held, next_dice = (np.concatenate(column) for column in zip(*parts, strict=True))
    return node, action, next_held, next_dice


def _whole(game: Game, name: str, column: IntArray) -> IntArray:
    """A column of edges, as integers; a ValueError if it has other numbers."""
    given = np.asarray(column)
    whole = given.astype(np.int64, copy=False)
    if given.dtype.kind not in "biu" and (whole != given).any():
        raise ValueError(f"{name} of the edges of {game} must be integers, not {given[whole != given][0]}")
    return whole


def _check_places(game: Game, edges: Edges, states: int, dice: int) -> None:
    """Raise a ValueError if edges are of states or rolls that there are not."""
    for name, places, most in (("state", edges.state, states), ("roll", edges.roll, len(rolls(game, dice).counts))):
        if places.size and not 0 <= places.min() <= places.max() < most:
            raise ValueError(f"edges of {game} with {dice} dice name a {name} that is not from 0 to {most - 1}")


def _level(states: slice, node_start: IntArray, edge_start: IntArray, level_rolls: Rolls) -> Level:
    nodes = slice(int(node_start[states.start]), int(node_start[states.stop]))
    starts = edge_start[nodes.start : nodes.stop + 1]
    live = np.flatnonzero(np.diff(starts))
    edges = slice(int(starts[0]), int(starts[-1]))
    return Level(states, nodes, edges, level_rolls, live, starts[live] - starts[0])


def fits(game: Game) -> bool:
    """Whether there can be arrays of a game, as far as is known without counting its nodes."""
    check_game(game)
    return game.most_edges() <= LARGEST_TABLE


def count_nodes(game: Game) -> int:
    """How many nodes a game has, known without making its moves.

    Raises:
        ValueError: if the arrays would be larger than LARGEST_TABLE.
    """
    _check_size(game, "edges", game.most_edges())
    nodes = game.nodes()
    _check_size(game, "nodes", nodes)
    return nodes


def _check_size(game: Game, kind: str, size: int) -> None:
    if size > LARGEST_TABLE:
        raise ValueError(f"{game} has {size:,} {kind}; arrays hold at most {LARGEST_TABLE:,}{_instead(game)}")


def _instead(game: Game) -> str:
    """Return what to use instead of arrays, or "" if there is nothing."""
    try:
        game.boards()
    except ValueError:
        return ""
    return ": use solve_boards, or stb-gym solve, evaluate, strategies, simulate, advise and play"


def _check_actions(tables: TurnTables) -> None:
    """Raise a ValueError unless the actions of every node are those of moves, each above the one before."""
    action = tables.edge_action
    if action.size and not (action.min() >= 0 and action.max() < tables.actions):
        raise ValueError(f"actions of {tables.game} must be from 0 to {tables.actions - 1}, as many as its moves")
    place = tables.edge_node * tables.actions + action
    _check_edges(tables, "is not in order", np.diff(place, prepend=-1) <= 0)


def _check_edges(tables: TurnTables, fault: str, broken: NDArray[np.bool_]) -> None:
    if broken.any():
        edge = int(broken.argmax())
        move = words_of(tables.game).move(int(tables.edge_action[edge]))
        raise ValueError(f"move {move} at {tables.describe_node(int(tables.edge_node[edge]))} {fault}")
