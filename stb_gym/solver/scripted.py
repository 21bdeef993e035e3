"""Strategies by name, as policies: perfect play, its opposite, chance, and the rules of thumb of each game.

The first line of each function says how it plays; where it calls several moves equal, it plays the lowest action.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Game, Moves, RuleOfThumb, check_choice, entry_of, kept, words_of
from stb_gym.large import board_strategies, board_strategy
from stb_gym.solver.compiling import compile_game, fits
from stb_gym.solver.preferences import AnyMove, policy_of_preference
from stb_gym.solver.solution import solve
from stb_gym.solver.tables import Policy, TurnTables
from stb_gym.solver.values import optimal_edges, optimise

TARGETS_AT_ONCE = 64


class Standing(NamedTuple):
    """What the next player of a round sees of the others.

    Attributes:
        lead: the best final score so far, None if nobody has played; the next player is then the first of after + 1.
        holders: how many players have it.
        after: how many players play after the next one.
    """

    lead: int | None = None
    holders: int = 0
    after: int = 0

    def in_words(self, game: Game) -> str:
        """The same in words, to the next player.

        Example:
            >>> import stb_gym
            >>> stb_gym.Standing(lead=8, holders=1, after=2).in_words(stb_gym.Threes())
            '1 player leads with 8 points, 2 play after you'
        """
        lead, holders, after = self
        before = "nobody has a score"
        if lead is not None:
            who = f"{holders} player{'s' * (holders > 1)} lead{'s' * (holders == 1)}"
            before = f"{who} with {words_of(game).score(lead)}"
        return f"{before}, {after or 'none'} play{'s' * (after == 1)} after you"


FIRST_OF_TWO = Standing(after=1)


def random(tables: TurnTables) -> Policy:
    """Every legal move with the same probability."""
    return policy_of_preference(tables, AnyMove())


def most_ways(tables: TurnTables) -> Policy:
    """Make the move after which there are the most ways to the perfect score, all numbers of throws together."""
    return tables.greedy(tables.after_edges(ways_to_shut(tables).sum(axis=1)))


def ways_to_shut(tables: TurnTables, exact: bool = False) -> NDArray[Any]:
    """[S, K] in how many ways a turn at the state reaches the perfect score in exactly 0, 1, 2 ... K - 1 throws.

    Every throw of the dice and every legal move counts as one way of its own. In floats, which are right below 2**53;
    or, if they are to be `exact`, in Python's integers, which may be as large as they like and take longer.
    """
    longest, kind = len(tables.levels), object if exact else float  # every throw leads to a lower level
    ways = np.zeros((tables.states, longest + 1), kind)
    ways[:, 0] = np.int64(tables.dice == 0) * (tables.final_score == tables.game.perfect_score)
    for level in tables.levels:
        counts = level.rolls.counts.astype(kind)
        at_nodes = np.zeros((level.nodes.stop - level.nodes.start, longest), kind)
        at_nodes[level.live] = level.reduce(np.add, ways[tables.edge_next[level.edges], :-1])
        ways[level.states, 1:] = np.tensordot(at_nodes.reshape(-1, len(counts), longest), counts, (1, 0))
    return ways


def optimal_score(tables: TurnTables) -> Policy:
    """Perfect play for the points."""
    return solve(tables.game, "score").policy


def optimal_shut(tables: TurnTables) -> Policy:
    """Perfect play for the chance of the perfect score."""
    return solve(tables.game, "shut").policy


def worst(tables: TurnTables) -> Policy:
    """The play that makes the expected points as bad as possible."""
    return solve(tables.game, "score", worst=True).policy


def optimal(tables: TurnTables) -> Policy:
    """Perfect play: in a round, its equilibrium; alone, for the points."""
    return optimal_score(tables)


def approximation(tables: TurnTables, standing: Standing = FIRST_OF_TWO) -> Policy:
    """Tie or beat the lead, as if all players after just tried to beat that; alone: as the first of two players.

    Maximises the expectation of (1 - P(beat t))**after over final scores t up to the lead, where P(beat t) is the
    greatest chance of a final score strictly better than t.
    """
    utility = (1 - chance_to_beat(tables)[tables.start]) ** standing.after
    if standing.lead is not None:
        utility[tables.game.sign * tables.scores < tables.game.sign * standing.lead] = 0
    return tables.lowest_actions(optimal_edges(tables, *optimise(tables, utility[tables.score_index])))


@kept(mebibytes=256)
def chance_to_beat(tables: TurnTables) -> NDArray[np.float64]:
    """[S, T] the greatest chance, at every state, of a final score strictly better than each that there is."""
    chances = np.empty((tables.states, len(tables.scores)))
    for first in range(0, len(tables.scores), TARGETS_AT_ONCE):
        targets = slice(first, first + TARGETS_AT_ONCE)
        better = tables.score_index[:, None] < np.arange(len(tables.scores))[targets]
        chances[:, targets] = optimise(tables, better.astype(float))[0]
    return chances


def by_thumb(tables: TurnTables, rule: RuleOfThumb) -> Policy:
    """The policy of a rule of thumb: at every node the move it wants most, the lowest action among equals."""
    parts = []
    for level in tables.levels:
        nodes, after = tables.edge_node[level.edges], tables.edge_next[level.edges]
        if not level.live.size:
            continue
        moves = Moves(
            held=tables.held[tables.node_state[nodes]],
            roll=level.rolls.shown[(nodes - level.nodes.start) % len(level.rolls.counts)],
            action=tables.edge_action[level.edges],
            next_held=tables.held[after],
            next_dice=tables.dice[after],
        )
        part = np.asarray(rule(tables.game, moves))
        if part.shape != nodes.shape or part.dtype.kind not in "iufb" or np.isnan(part).any():
            raise ValueError(f"a rule of thumb of {tables.game} must give a number for each of {len(nodes)} moves")
        parts.append(part)
    return tables.greedy(np.concatenate(parts), np.minimum)


# The strategies of every game, with its rules of thumb after the first of them.
COMMON: dict[str, Callable[[TurnTables], Policy]] = {
    "random": random,
    "most-ways": most_ways,
    "optimal-score": optimal_score,
    "optimal-shut": optimal_shut,
    "worst": worst,
    "approximation": approximation,
    "optimal": optimal,
}

# Strategies of every game that look at the standing when they are played in a round.
ROUND_STRATEGIES: dict[str, Callable[[TurnTables, Standing], Policy]] = {"approximation": approximation}


def strategies(game: Game) -> Mapping[str, str]:
    """The strategies of a game by name: how each plays, in a line. Not all can be played without arrays of the game.

    Args:
        game: the rules.

    Example:
        >>> import stb_gym
        >>> list(stb_gym.strategies(stb_gym.Threes()))[:3]
        ['random', 'threes-only', 'take-all']
    """
    first, *others = COMMON.items()
    plays = dict([first, *entry_of(game).rules_of_thumb.items(), *others])
    names = plays if fits(game) else board_strategies(game)
    return {name: (plays[name].__doc__ or "").partition("\n")[0] for name in names}


def strategy(game: Game, name: str) -> Any:
    """The policy of a named strategy: an array or, of a game too large for arrays, a `Preference` or `AnyMove`.

    Args:
        game: the rules.
        name: one of `strategies(game)`.

    Raises:
        TypeError: if it is no game.
        ValueError: if this game has no such strategy.

    Example:
        >>> import stb_gym
        >>> game = stb_gym.ShutTheBox()
        >>> stb_gym.strategy(game, "biggest-first").shape
        (5622,)
        >>> stb_gym.strategy(stb_gym.ShutTheBox.preset("the-300"), "random")
        AnyMove()
    """
    names = list(strategies(game))
    check_choice(f"strategy of {game.name}", name, names)
    if not fits(game):
        return board_strategy(game, name)
    if rule := entry_of(game).rules_of_thumb.get(name):
        return by_thumb(compile_game(game), rule)
    return COMMON[name](compile_game(game))
