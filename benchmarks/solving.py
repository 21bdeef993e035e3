"""The exact solvers beside QuantEcon's backward induction for discrete dynamic programs, and the regret meter."""

import warnings
from collections.abc import Iterator
from functools import cache, partial
from itertools import combinations, product

import numpy as np
from scipy import sparse

from benchmarks.timing import Comparison, Timer, installed, time_limit, timer
from stb_gym import Game, RegretMeter, ShutTheBox, Threes, solve
from stb_gym.envs import stepper_of
from stb_gym.games import rolls, walk
from stb_gym.large import solve_large
from stb_gym.rounds import Round
from stb_gym.solver import Policy, Solution, compile_game


def solving() -> Iterator[Comparison]:
    """Yield comparisons of solving, compiling and measuring; the tables of "solve" are compiled before.

    QuantEcon computes an optimal policy along with the values. Ours computes it on demand, so each has a line.
    """
    yield Comparison("first solve, 9 tiles", timer(_first_solve), "a memoised program", timer(memoised_value), 1)
    for tiles, compile_seconds in ((9, 60e-3), (12, 0.6)):
        game = ShutTheBox(tiles=tiles)
        theirs = quantecon(solve(game))
        yield Comparison(f"solve, {tiles} tiles", timer(partial(solve, game)), "QuantEcon", theirs, 5)
        with_policy = timer(partial(_policy, game))
        yield Comparison(f"solve, {tiles} tiles, and the policy", with_policy, "QuantEcon", theirs, 1)
        yield time_limit(f"compile, {tiles} tiles", compile_seconds, timer(partial(_compile, game)))
    for tiles, seconds in ((20, 0.7), (24, 12.0)):
        boards = timer(partial(solve_large, ShutTheBox(tiles=tiles, dice=4)))
        yield time_limit(f"solve boards, {tiles} tiles, 4 dice", seconds, boards)
    for rules, seconds in ((Round(ShutTheBox(), 2), 0.1), (Round(Threes(), 5), 1.0)):
        equilibrium = timer(partial(Round.solve.__wrapped__, rules))  # without its cache
        yield time_limit(f"solve a round of {rules.players} players", seconds, equilibrium)
    meter = RegretMeter(ShutTheBox())
    yield time_limit("measure the regret", 5e-3, timer(lambda: meter(first_legal).summary()))


def quantecon(solution: Solution) -> Timer | None:
    """Return a timer of QuantEcon's backward induction on the same game; None if it is not installed.

    It runs as many steps as the longest turn has moves, the fewest after which its values equal ours at every state.

    Its states are those of the game. Its actions are the legal ones, each with the probabilities of the next states.
    Where the turn is over, the only action stays there. The utilities of the ends are the terminal values, so there
    are no rewards, and no step is needed to collect them.

    Raises:
        ArithmeticError: if its values differ from ours.
    """
    library = installed("quantecon.markov.ddp")
    if library is None:
        return None
    tables = solution.tables
    over = np.flatnonzero(np.diff(tables.pair_start) == 0)
    throw = sparse.csr_matrix(
        (tables.state_probability, np.arange(tables.num_states), tables.state_start),
        shape=(tables.num_afterstates, tables.num_states),
    )
    transitions = sparse.vstack([throw[tables.pair_afterstate], sparse.identity(tables.num_states, format="csr")[over]])
    states = np.append(tables.pair_state, over)
    actions = np.append(tables.pair_action, np.zeros_like(over))
    with warnings.catch_warnings(action="ignore"):  # a discount of 1 needs a finite horizon, and this one is finite
        program = library.DiscreteDP(np.zeros(len(states)), transitions, 1, states, actions)
    ends = np.zeros(tables.num_states)
    ends[over] = solution.state_utilities[over]
    call = partial(library.backward_induction, program, stepper_of(tables.game).longest, ends)
    if abs(call()[0][0] - solution.state_utilities).max() > 1e-9:
        raise ArithmeticError(f"QuantEcon's value of {tables.game} differs from ours, {solution.value}")
    return timer(call)


def first_legal(_observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """Play the first legal action, an agent that takes next to no time."""
    return masks.argmax(axis=1)


def memoised_value() -> float:
    """Return the value of nine tiles by recursion over tuples of open tiles, the program that one writes first."""

    @cache
    def sets(tiles: tuple[int, ...], total: int) -> list[tuple[int, ...]]:
        sizes = range(1, len(tiles) + 1)
        return [shut for size in sizes for shut in combinations(tiles, size) if sum(shut) == total]

    @cache
    def value(tiles: tuple[int, ...]) -> float:
        if not tiles:
            return 0.0
        total = 0.0
        for throw in product(range(1, 7), repeat=2):
            after = [value(tuple(tile for tile in tiles if tile not in shut)) for shut in sets(tiles, sum(throw))]
            total += min(after, default=sum(tiles))
        return total / 36

    return value(tuple(range(1, 10)))


def _first_solve() -> None:
    _compile(ShutTheBox(tiles=9))
    solve(ShutTheBox(tiles=9))


def _policy(game: Game) -> Policy:
    return solve(game).policy


def _compile(game: Game) -> None:
    for function in (compile_game, walk, rolls):
        vars(function)["cache_clear"]()
    compile_game(game)
