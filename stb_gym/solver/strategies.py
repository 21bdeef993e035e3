"""Strategies by name, as policies: perfect play, its opposite, random play, and the heuristics of each game.

Among moves that are equal for a strategy, it plays the lowest action.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import FloatArray, freeze
from stb_gym.checks import check_choice
from stb_gym.games import Game, Heuristic, Moves, entry_of, perfect_score
from stb_gym.solver.induction import optimal_pairs, optimise
from stb_gym.solver.objectives import finite_numbers, objective_of
from stb_gym.solver.policies import UniformRandom, policy_array
from stb_gym.solver.solution import solve_tables
from stb_gym.solver.tables import Policy, TurnTables, compile_game

TARGETS_AT_ONCE = 64  # scores to beat that are solved for side by side, which bounds memory


def optimal_policy(tables: TurnTables, goal: str = "score", worst: bool = False) -> Policy:
    """Return the policy of perfect play for a named objective, or of the worst play."""
    return solve_tables(tables.game, objective_of(tables.game, goal), worst=worst).policy


def most_ways(tables: TurnTables) -> Policy:
    """Return the policy whose moves leave the most ways to the perfect score, summed over numbers of throws."""
    return tables.greedy(tables.after_pairs(ways_to_shut(tables).sum(axis=1)))


def ways_to_shut(tables: TurnTables, exact: bool = False) -> NDArray[Any]:
    """Return [Y, K] the number of ways to the perfect score in exactly 0, 1, ... K - 1 throws.

    Every throw of the dice and every legal move counts as one way.

    Args:
        tables: the arrays of the game.
        exact: count in Python integers, which are slower; floats are exact below 2**53.
    """
    longest, kind = len(tables.levels), object if exact else float  # every throw leads to a lower level
    ways = np.zeros((tables.num_afterstates, longest + 1), kind)
    is_perfect = tables.final_score == perfect_score(tables.game)
    is_over = tables.dice == 0
    ways[:, 0] = np.int64(is_perfect & is_over)
    for level in tables.levels:
        counts = level.rolls.counts.astype(kind)
        at_states = np.zeros((level.states.stop - level.states.start, longest), kind)
        at_states[:, 0] = (is_perfect & ~is_over)[tables.state_origin[level.states]]  # where no move is left
        at_states[level.live] = level.reduce(np.add, ways[tables.pair_afterstate[level.pairs], :-1])
        ways[level.afterstates, 1:] = np.tensordot(at_states.reshape(-1, len(counts), longest), counts, (1, 0))
    return ways


def approximation(tables: TurnTables, lead: int | None = None, after: int = 1) -> Policy:
    """Return an approximation of the play of a round that is won by the best final score.

    It assumes that every later player does nothing but try to beat the new score. A final score t that ties or beats
    the lead then has the value (1 - P(t))**after, where P(t) is the greatest probability with which a turn beats t;
    other scores have the value 0. The policy maximises the expected value.

    Args:
        tables: the arrays of the game.
        lead: the best final score so far; None if nobody has played.
        after: how many players play later.
    """
    utility = (1 - chance_to_beat(tables)[tables.start]) ** after
    if lead is not None:
        utility[tables.game.sign * tables.scores < tables.game.sign * lead] = 0
    return tables.lowest_actions(optimal_pairs(tables, *optimise(tables, utility[tables.score_index])))


@lru_cache(maxsize=16)
def chance_to_beat(tables: TurnTables) -> FloatArray:
    """Return [Y, T] the greatest probability of a final score strictly better than each of `scores`."""
    chances = np.empty((tables.num_afterstates, len(tables.scores)))
    for first in range(0, len(tables.scores), TARGETS_AT_ONCE):
        targets = slice(first, first + TARGETS_AT_ONCE)
        better = tables.score_index[:, None] < np.arange(len(tables.scores))[targets]
        chances[:, targets] = optimise(tables, better.astype(float))[0]
    return freeze(chances)


def by_heuristic(tables: TurnTables, heuristic: Heuristic) -> Policy:
    """Return the policy of a heuristic: at every state the move of least cost, the lowest action among equals."""
    costs = []
    for level in tables.levels:
        if not level.live.size:
            continue
        states, after = tables.pair_state[level.pairs], tables.pair_afterstate[level.pairs]
        moves = Moves(
            progress=tables.progress[tables.state_origin[states]],
            roll=np.array(level.rolls.shown)[(states - level.states.start) % len(level.rolls.counts)],
            action=tables.pair_action[level.pairs],
            next_progress=tables.progress[after],
            next_dice=tables.dice[after],
        )
        fault = f"a heuristic of {tables.game} must return a finite number for each of {len(states)} moves"
        costs.append(finite_numbers(heuristic(tables.game, moves), states.shape, fault))
    return tables.greedy(np.concatenate(costs), np.minimum)


# The strategies of every game, each with how it plays; the heuristics of the game are listed after the first of them.
COMMON: dict[str, tuple[str, Callable[[TurnTables], Policy]]] = {
    "random": ("Every legal move with the same probability.", lambda tables: policy_array(tables, UniformRandom())),
    "most-ways": (
        "Make the move after which there are the most ways to the perfect score, all numbers of throws together.",
        most_ways,
    ),
    "optimal-score": ("Perfect play for the points.", optimal_policy),
    "optimal-shut": ("Perfect play for the chance of the perfect score.", partial(optimal_policy, goal="shut")),
    "worst": ("The play that makes the expected points as bad as possible.", partial(optimal_policy, worst=True)),
    "approximation": (
        "Tie or beat the lead, as if later players only tried to beat the new one; alone: as the first of two players.",
        approximation,
    ),
    "optimal": ("Perfect play: in a round, its equilibrium; alone, for the points.", optimal_policy),
}


def table_strategies(game: Game) -> dict[str, str]:
    """Return the strategies of a game that has tables, by name, with a line on how each plays."""
    heuristics = entry_of(game).heuristics.items()
    own = {name: (heuristic.__doc__ or "").partition("\n")[0] for name, heuristic in heuristics}
    first, *others = ((name, line) for name, (line, _) in COMMON.items())
    return dict([first, *own.items(), *others])


def table_strategy(game: Game, name: str) -> Policy:
    """Return the policy of a named strategy of a game that has tables; see `stb_gym.strategy`."""
    check_choice(f"strategy of {game.name}", name, list(table_strategies(game)))
    if heuristic := entry_of(game).heuristics.get(name):
        return by_heuristic(compile_game(game), heuristic)
    return COMMON[name][1](compile_game(game))


def refuse_names_of_strategies(names: Iterable[str]) -> None:
    """Raise ValueError if a heuristic has the name of a strategy that every game has."""
    for name in names:
        if name in COMMON:
            raise ValueError(f"every game has a strategy {name}: give the heuristic another name")
