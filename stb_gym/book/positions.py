"""Tables about the nodes of any game: best and worst moves, first rolls, and where strategies go wrong."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from stb_gym.book.chapters import Scoring
from stb_gym.book.words import drawn_rolls, moves_in_words, perfect_score, where
from stb_gym.exact import Solution, advantages, compile_game, edge_weights, evaluate, optimal_edges, solve, strategy
from stb_gym.games import Game, words_of
from stb_gym.output import Table, column

PUBLISHED_TIE = 1e-4  # published tables take moves for equal whose values agree so far


def nodes(game: Game, scoring: Scoring, names: Sequence[str] = (), tie: float = 0.0) -> Table:
    """Every node that has a move, with its best and its worst moves.

    Args:
        game: the rules.
        scoring: what a turn is counted in.
        names: strategies whose moves are shown beside.
        tie: moves whose values differ by no more are taken for equal.
    """
    tables = compile_game(game)
    columns = where(tables)
    for which, (state_value, node_value) in (("best", scoring.best(tables)), ("worst", scoring.worst(tables))):
        close = abs(advantages(tables, state_value, node_value)) <= tie
        equal = close | optimal_edges(tables, state_value, node_value)
        columns[f"{which} moves"] = column("", moves_in_words(tables, equal))
        columns[f"{which} value"] = column(scoring.format, node_value[tables.decisions])
    for name in names:
        columns[name] = column("", moves_in_words(tables, edge_weights(tables, strategy(game, name)) > 0))
    return Table(
        f"Best and worst moves: {scoring.counts}",
        "Every position that has a move. Best moves belong to the best play of the rest of the turn, worst moves to "
        "the worst; the values are what is then to be expected. All moves that are equally good are listed.",
        columns,
    )


def choices(game: Game, scoring: Scoring, names: Sequence[str] = (), tie: float = PUBLISHED_TIE) -> Table:
    """The nodes at which the move matters: the best moves are not the worst ones. For the arguments see `nodes`."""
    table = nodes(game, scoring, names, tie)
    best, worst = table.columns["best moves"].values, table.columns["worst moves"].values
    differ = [place for place in range(len(best)) if best[place] != worst[place]]
    return replace(
        table.take(differ),
        title=f"Positions where the move matters: {scoring.counts}",
        note="The positions where the best moves are not the worst moves as well. Values that differ by "
        f"{tie:g} or less are taken for equal.",
    )


def openings(game: Game) -> Table:
    """The first rolls of a turn, luckiest first, with the best moves for the points and for the perfect score."""
    tables = compile_game(game)
    perfect = perfect_score(tables)
    first = np.flatnonzero(tables.node_state[tables.decisions] == tables.start)
    at = tables.decisions[first]
    columns = {
        "roll": drawn_rolls(tables, at),
        "chance of the roll": column(".4%", tables.node_probability[at]),
    }
    for objective, value, wish, spec in (
        ("score", "expected points", "the points", ".4f"),
        ("shut", f"chance of score {perfect}", f"score {perfect}", ".4%"),
    ):
        solution = solve(game, objective)
        moves = moves_in_words(tables, solution.optimal)
        columns[value] = column(spec, solution.node_value[at])
        columns[f"best for {wish}"] = column("", (moves[place] for place in first))
    luckiest = np.argsort(-solve(game).node_utility[at], kind="stable")
    return Table(
        "First rolls, luckiest first",
        "What a turn is worth once the first roll is known: the expected points under the play that makes them "
        f"{words_of(game).best}, and the chance of a final score of {perfect} under the play that makes it greatest.",
        columns,
    ).take(luckiest)


def departures(game: Game, name: str, by: str = "loss") -> Table:
    """The nodes where a strategy departs from the best play for the points.

    Args:
        game: the rules.
        name: the strategy.
        by: "loss" sorts by what a departure loses there, "cost" by what it costs in a turn.
    """
    evaluation = evaluate(game, strategy(game, name))
    tables, optimal = evaluation.tables, evaluation.optimum.optimal
    at = tables.decisions
    loss, visits = evaluation.loss[at], evaluation.visits[at]
    departs = tables.reduce(np.logical_or, (evaluation.weights > 0) & ~optimal)
    key = {"loss": loss, "cost": visits * loss}[by]
    order = np.argsort(-key, kind="stable")
    columns = where(tables) | {
        "plays": column("", moves_in_words(tables, evaluation.weights > 0)),
        "best": column("", moves_in_words(tables, optimal)),
        "loss": column(".4f", loss),
        "visits": column(".4%", visits),
        "cost": column(".6f", visits * loss),
    }
    return Table(
        f"Where {name} departs from the best play, by {by}",
        f"Every position where {name} plays a move that is not best for the points. Loss: expected points lost there "
        "if play were perfect afterwards. Visits: the chance that a turn of this strategy comes there. Cost: visits "
        f"times loss; the costs of all positions add up to its regret, {evaluation.regret:.6f} points.",
        columns,
    ).take(order[departs[order]])


def least_loss(solution: Solution, marked: NDArray[np.bool_]) -> NDArray[np.float64]:
    """[D] what the best of the marked moves [E] loses at every node that has a move; infinite if none is marked."""
    least: NDArray[np.float64] = abs(solution.tables.reduce(np.maximum, np.where(marked, solution.advantage, -np.inf)))
    return least
