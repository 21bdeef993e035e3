"""The exact solvers beside QuantEcon's backward induction for discrete dynamic programs, and the regret meter."""

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Comparison, Timer, installed, timer
from stb_gym import Game, RegretMeter, ShutTheBox, Threes, solve
from stb_gym.games import rolls, walk
from stb_gym.large import solve_boards
from stb_gym.rounds import Round
from stb_gym.solver import Policy, Solution, compile_game, table_strategy

BackwardInduction = Callable[[int], NDArray[np.float64]]


def solving() -> Iterator[Comparison]:
    """Yield comparisons of solving and compiling games; the tables of "solve" are compiled before.

    QuantEcon computes the policy along with the values. Ours computes it on demand, so each has a line.
    """
    nine = ShutTheBox()
    twelve = ShutTheBox(tiles=12)
    peer = "QuantEcon backward_induction"
    for game, least_ratio in ((nine, 5.0), (twelve, None)):
        theirs = quantecon(solve(game))
        name = f"solve, {game.tiles} tiles"
        yield Comparison(name, "ms", timer(partial(solve, game)), peer, theirs, least_ratio)
        with_policy = timer(partial(_policy, game))
        yield Comparison(f"{name}, and the policy", "ms", with_policy, peer, theirs)
    for game, most_seconds in ((nine, 60e-3), (twelve, 0.6)):
        yield Comparison(f"compile, {game.tiles} tiles", "ms", _compiling(game), most_seconds=most_seconds)
    on_boards = timer(partial(solve_boards, twelve))
    on_tables = timer(partial(solve, twelve))
    yield Comparison("solve boards, 12 tiles", "ms", on_boards, "ours, on compiled tables", on_tables)
    for tiles, most_seconds in ((20, 0.7), (24, 12.0)):
        boards = timer(partial(solve_boards, ShutTheBox(tiles=tiles, dice=4)))
        yield Comparison(f"solve boards, {tiles} tiles, 4 dice", "ms", boards, most_seconds=most_seconds)
    for rules, players, most_seconds in ((nine, 2, 0.1), (Threes(), 5, 1.0)):
        equilibrium = timer(Round(rules, players).solve, Round.solve.cache_clear)
        name = f"solve a round, {rules}, {players} players"
        yield Comparison(name, "ms", equilibrium, most_seconds=most_seconds)


def measuring() -> Iterator[Comparison]:
    """Yield the time of a regret measurement, for agents whose answers take no time."""
    for game, most_seconds in ((ShutTheBox(), 5e-3), (ShutTheBox(tiles=12), None), (Threes(), None)):
        meter = RegretMeter(game)
        for kind, strategy in (("actions", "optimal"), ("probabilities", "random")):
            answers = table_strategy(game, strategy)[meter.solution.tables.decisions]
            call = timer(partial(_measurement, meter, answers))
            yield Comparison(f"measure {kind}, {game}", "ms", call, most_seconds=most_seconds)


def quantecon(solution: Solution) -> Timer | None:
    """Return a timer of QuantEcon's backward induction, which gives values and policy; None if it is not installed.

    It runs the fewest steps after which its values equal ours at every node: as many as the longest turn has moves.

    Raises:
        ArithmeticError: if its values differ from ours.
    """
    library = installed("quantecon.markov.ddp")
    if library is None:
        return None
    backward_induction = _formulated(library, solution)
    for steps in range(1, len(solution.tables.levels) + 1):
        if abs(backward_induction(steps) - solution.node_utility).max() < 1e-9:
            return timer(partial(backward_induction, steps))
    raise ArithmeticError(f"QuantEcon's value of {solution.tables.game} differs from ours, {solution.value}")


def _policy(game: Game) -> Policy:
    return solve(game).policy


def _measurement(meter: RegretMeter, answers: Policy) -> object:
    return meter(lambda *_: answers).summary()


def _compiling(game: Game) -> Timer:
    def forget() -> None:
        compile_game.cache_clear()
        walk.cache_clear()
        rolls.cache_clear()

    return timer(partial(compile_game, game), forget)


def _formulated(library: Any, solution: Solution) -> BackwardInduction:
    """Return QuantEcon's backward induction on the same game: a function from a number of steps to values [N].

    The states are the nodes. The actions are the legal ones, each with the probabilities of the next nodes. Where the
    turn is over, the only action stays there. The utilities of the ends are the terminal values, so there are no
    rewards, and no step is needed to collect them.
    """
    sparse: Any = installed("scipy.sparse")  # QuantEcon depends on it
    tables = solution.tables
    over = np.flatnonzero(np.diff(tables.edge_start) == 0)
    throw = sparse.csr_matrix(
        (tables.node_probability, np.arange(tables.nodes), tables.node_start), shape=(tables.states, tables.nodes)
    )
    transitions = sparse.vstack([throw[tables.edge_next], sparse.identity(tables.nodes, format="csr")[over]])
    states = np.append(tables.edge_node, over)
    actions = np.append(tables.edge_action, np.zeros_like(over))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns that a discount of 1 is for a finite horizon only, as here
        program = library.DiscreteDP(np.zeros(len(states)), transitions, 1, states, actions)
    ends = np.zeros(tables.nodes)
    ends[over] = solution.node_utility[over]
    return lambda steps: np.asarray(library.backward_induction(program, steps, ends)[0][0])
