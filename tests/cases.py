"""Games, rounds and strategies for which tests compare the package with the reference.

Like the reference, this module shares no code with the package.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any
from zlib import crc32

from tests import reference, reference_rounds
from tests.reference import Game, Policy, ShutTheBox, Threes


def best_for_score(game: Game) -> Policy:
    """Return perfect play for the score."""
    return reference.perfect(game, reference.fewest)


COMMON = {
    "random": reference.uniform,
    "worst": lambda game: reference.perfect(game, reference.most),
    "approximation": lambda game: reference_rounds.approximation(game, None, 1),
    "optimal": best_for_score,
}
POLICIES: dict[type, dict[str, Callable[[Any], Policy]]] = {
    ShutTheBox: COMMON
    | {
        "biggest-first": reference.biggest_first,
        "fewest-then-biggest": reference.fewest_tiles,
        "most-first": reference.most_tiles,
        "nine-eight-seven": reference.high_three_then_lowest,
        "lowest-first": reference.lowest_first,
        "one-to-four-first": reference.one_to_four_first,
        "most-ways": reference.most_ways,
        "optimal-score": best_for_score,
        "optimal-shut": lambda game: reference.perfect(game, reference.shut),
    },
    Threes: COMMON
    | {
        "threes-only": reference.threes_only,
        "take-all": lambda game: reference.take_all,
        "record-setter": best_for_score,
    },
}


def scores_so_far(scores: tuple[int, ...], players: int) -> tuple[int | None, int, int]:
    """Return the lead, how many hold it, and how many players come after."""
    after = players - 1 - len(scores)
    if not scores:
        return None, 0, after
    return min(scores), scores.count(min(scores)), after


def arbitrary_move(game: Game, seed: int, seen: Any, position: Any, roll: Any) -> dict[Any, Fraction]:
    """Return arbitrary probabilities of moves that depend on all arguments: a checksum places every quarter."""
    moves = sorted(move for move, _ in game.moves(position, roll))
    where = (sorted(position[0]), position[1]) if isinstance(game, ShutTheBox) else position
    found = dict.fromkeys(moves, Fraction(0))
    for quarter in range(4):
        found[moves[crc32(repr((seed, tuple(seen), where, roll, quarter)).encode()) % len(moves)]] += Fraction(1, 4)
    return {move: share for move, share in found.items() if share}


def arbitrary_strategy(game: Game, seed: int, players: int) -> reference_rounds.Strategy:
    """Return the strategy that plays by `arbitrary_move`."""

    @cache
    def at(seen: tuple[int | None, int, int]) -> Policy:
        return cache(lambda position, roll: arbitrary_move(game, seed, seen, position, roll))

    return lambda scores: at(scores_so_far(scores, players))


def arbitrary_players(game: Game, players: int, ties: str, shut_wins: bool) -> tuple[list[Fraction], list[Fraction]]:
    """Return the expected wins of the seats (the first plays at random, others arbitrarily), and of best responses."""
    uniform = reference.uniform(game)
    strategies = [lambda scores: uniform, *(arbitrary_strategy(game, seed, players) for seed in range(1, players))]
    best = []
    for seat in range(players):
        others = [*strategies[:seat], None, *strategies[seat + 1 :]]
        best.append(reference_rounds.seat_values(game, others, ties, shut_wins)[seat])
    return list(reference_rounds.seat_values(game, strategies, ties, shut_wins)), best


def observable_scores(game: Game, players: int, shut_wins: bool) -> list[tuple[int, ...]]:
    """Return lists of scores that the next player may see: none, any one score, and some pairs."""
    chances = reference.score_distribution(game, reference.uniform(game))
    possible = [score for score, chance in chances.items() if chance]
    ones = [(score,) for score in possible] if players > 1 else []
    twos = list(product(possible[:3], repeat=2)) if players > 2 else []
    return [(), *(scores for scores in ones + twos if min(scores) >= int(shut_wins))]
