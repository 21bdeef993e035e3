"""The exact solvers: against each other, and against QuantEcon's backward induction for discrete dynamic programs."""

import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Comparison, Timer, installed, timer
from stb_gym import Game, ShutTheBox, Threes, solve
from stb_gym.games import rolls, walk
from stb_gym.large import solve_boards
from stb_gym.rounds import Round
from stb_gym.solver import Solution, compile_game

BackwardInduction = Callable[[int], NDArray[np.float64]]


def solving() -> Iterator[Comparison]:
    """Solving boards of 9 and 12 tiles; their arrays stand already, on both sides.

    QuantEcon finds the policy along with the values, ours is made when it is asked for; so there is a line for each.
    """
    nine, twelve = ShutTheBox(), ShutTheBox(tiles=12)
    for game, most_seconds in ((nine, 0.3e-3), (twelve, 2e-3)):
        solve(game)
        yield Comparison(f"solve, {game.tiles} tiles", "ms", _solving(game), most_seconds=most_seconds)
    for tiles, most_seconds in ((20, 0.7), (24, 12.0)):
        name, by_boards = f"boards of {tiles} tiles, 4 dice", _solving_boards(ShutTheBox(tiles=tiles, dice=4))
        yield Comparison(name, "ms", by_boards, most_seconds=most_seconds)
    yield Comparison("boards of 12 tiles", "ms", _solving_boards(twelve), "ours, tables made before", _solving(twelve))
    for game, most_seconds in ((nine, 60e-3), (twelve, 0.6)):
        yield Comparison(f"compile, {game.tiles} tiles", "ms", _compiling(game), most_seconds=most_seconds)
    yield Comparison("round, 9 tiles, 2 players", "ms", _round(nine, 2), most_seconds=0.1)
    yield Comparison("round, Threes, 5 players", "ms", _round(Threes(), 5), most_seconds=1.0)

    peer = "QuantEcon backward_induction"
    for game, least_ratio in ((nine, 5.0), (twelve, None)):
        name, theirs = f"solve, {game.tiles} tiles", _quantecon(solve(game))
        yield Comparison(name, "ms", _solving(game), peer, theirs, least_ratio)
        yield Comparison(f"{name}, and the policy", "ms", _solving_policy(game), peer, theirs)


def _solving(game: Game) -> Timer:
    return timer(lambda _: solve(game))


def _solving_boards(box: ShutTheBox) -> Timer:
    return timer(lambda _: solve_boards(box))


def _solving_policy(game: Game) -> Timer:
    return timer(lambda _: solve(game).policy)


def _round(game: Game, players: int) -> Timer:
    return timer(lambda _: Round(game, players).solve())


def _compiling(game: Game) -> Timer:
    def forget() -> None:
        compile_game.cache_clear()
        walk.cache_clear()
        rolls.cache_clear()

    return timer(lambda _: compile_game(game), forget)


def _quantecon(solution: Solution) -> Timer | None:
    """A timer of QuantEcon's backward induction; it gives the values and the policy.

    It runs as many steps as the longest turn has moves: the fewest after which its values equal ours at every node.

    Raises:
        ArithmeticError: if they never do.
    """
    quantecon = installed("quantecon.markov.ddp")
    if quantecon is None:
        return None
    backward_induction = _formulate(quantecon, solution)
    for steps in range(1, len(solution.tables.levels) + 1):
        if abs(backward_induction(steps) - solution.node_utility).max() < 1e-9:
            return timer(backward_induction, itertools.repeat(steps).__next__)
    raise ArithmeticError(f"QuantEcon's value of {solution.tables.game} is not ours, {solution.value}")


def _formulate(quantecon: Any, solution: Solution) -> BackwardInduction:
    """The same game for QuantEcon: from a number of steps to the values [N] that its backward induction finds.

    Its states are the nodes; its actions the legal ones, each with the chances of the next nodes. Where the turn is
    over, the only action stays there. The utilities of the ends are the terminal values, which saves the step that it
    would take to collect them as rewards; so there are no rewards.
    """
    sparse: Any = installed("scipy.sparse")  # QuantEcon brings it
    tables = solution.tables
    over = np.flatnonzero(np.diff(tables.edge_start) == 0)
    throw = sparse.csr_matrix(
        (tables.node_probability, np.arange(tables.nodes), tables.node_start), shape=(tables.states, tables.nodes)
    )
    chances = sparse.vstack([throw[tables.edge_next], sparse.identity(tables.nodes, format="csr")[over]])
    states = np.append(tables.edge_node, over)
    actions = np.append(tables.edge_action, np.zeros_like(over))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a discount of 1 is for a finite horizon only, and that is what we want
        program = quantecon.DiscreteDP(np.zeros(len(states)), chances, 1, states, actions)
    ends = np.zeros(tables.nodes)
    ends[over] = solution.node_utility[over]
    return lambda steps: np.asarray(quantecon.backward_induction(program, steps, ends)[0][0])
