"""Every afterstate of a game, found from its start by asking the rules for every move once."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, islice
from types import MappingProxyType
from typing import Any

import numpy as np

from stb_gym.games.contract import (
    SAMPLE,
    cached_by_rules,
    check_answers,
    check_rules,
    check_words,
    number_of_actions,
    observation_high,
)
from stb_gym.games.game import LARGEST_PROGRESS, Afterstate, Game, Roll
from stb_gym.games.throws import rolls
from stb_gym.messages import quoted
from stb_gym.tracking import tracked

LARGEST_TABLE = 2**18  # states of a game; a walk through as many takes some seconds

Walk = Mapping[Afterstate, Sequence[Mapping[int, Afterstate]]]


@cached_by_rules(4)
def walk(game: Game) -> Walk:
    """Find every afterstate of a game from its start and its `positions`, asking the rules for every move once.

    Args:
        game: the rules.

    Returns:
        For every afterstate, its moves after each roll, in the order of `rolls(game, dice).shown`. Every move leads to
        an afterstate that comes earlier in the mapping.

    Raises:
        ValueError: if there are more states than LARGEST_TABLE; if a move is not an action or does not lead to an
            afterstate; if a first throw leaves no move; if moves lead back to an afterstate, so that a turn may never
            end; or if moves change when they are asked for again (a sample of them is).

    Example:
        >>> import stb_gym
        >>> from stb_gym.games import walk
        >>> moves = walk(stb_gym.Threes(dice=1))
        >>> dict(moves[0, 1][3])  # after a 4, the action 0 leads to 4 points and no dice
        {0: (4, 0)}
    """
    if not fits(game):
        raise ValueError(
            f"{quoted(game)} has too many positions for tables, which hold at most {LARGEST_TABLE:,} states"
        )
    rules = type(game).__name__
    actions = frozenset(range(number_of_actions(game)))
    observation_high(game)  # is checked
    shown_of = cache(lambda dice: rolls(game, dice).shown)
    states = 0
    given = starting_points(game)
    known = {*given}
    to_visit = list(dict.fromkeys(given))  # grows while the loop goes through it
    found: dict[Afterstate, list[dict[int, Afterstate]]] = {}
    reached: dict[Afterstate, set[Afterstate]] = {}
    for afterstate in tracked(to_visit, "positions found", "positions", len(to_visit)):
        shown = shown_of(afterstate[1])
        states += len(shown)
        if states > LARGEST_TABLE:
            raise ValueError(f"moves of {rules} lead to more than {LARGEST_TABLE:,} states: does every turn end?")
        by_roll = []
        for roll in shown:
            moves = game.moves(afterstate, roll) if afterstate[1] else {}
            if not (isinstance(moves, dict) and actions.issuperset(moves)):
                raise ValueError(
                    f"moves of {rules} at {afterstate} with roll {roll} must be {{action: afterstate}} with actions "
                    f"from 0 to {len(actions) - 1}, not {quoted(moves)}"
                )
            by_roll.append({**moves})  # a copy, because rules may use the dictionary again
        if kinds := {*map(type, chain.from_iterable(by_roll))} - {int, np.int64}:
            kind = kinds.pop().__name__
            raise ValueError(f"moves of {rules} at {afterstate} must have actions of type int, not {kind}")
        next_afterstates = [next_afterstate for moves in by_roll for next_afterstate in moves.values()]
        try:
            reached[afterstate] = {*next_afterstates}
            new: Iterable[Afterstate] = reached[afterstate] - known
        except TypeError:  # an object without a hash is not a pair of integers
            new = next_afterstates
        for next_afterstate in new:
            check_afterstate(f"moves of {rules} at {afterstate} must lead to", game, next_afterstate)
        known.update(new)
        to_visit += new
        found[afterstate] = by_roll
    start = given[0]
    if blocked := [roll for roll, moves in zip(shown_of(start[1]), found[start], strict=True) if not moves]:
        raise ValueError(
            f"moves of {rules} must allow a move after each throw at start {start}, but return {{}} for {blocked[0]}"
        )
    check_words(game, start, shown_of(start[1])[0], min(found[start][0]))
    check_moves(game, found)
    order = in_order(rules, reached)
    return MappingProxyType({afterstate: tuple(map(MappingProxyType, found[afterstate])) for afterstate in order})


def in_order(rules: str, reached: Mapping[Afterstate, set[Afterstate]]) -> list[Afterstate]:
    """Return afterstates after all those that their moves lead to.

    Args:
        rules: the name of the rules, for the error.
        reached: the afterstates that the moves of each afterstate lead to.

    Raises:
        ValueError: if moves lead back to an afterstate.
    """
    origins = defaultdict(list)
    for afterstate, after in reached.items():
        for next_afterstate in after:
            origins[next_afterstate].append(afterstate)
    missing = {afterstate: len(after) for afterstate, after in reached.items()}
    order = [
        afterstate for afterstate, number in missing.items() if number == 0
    ]  # grows while the loop goes through it
    for next_afterstate in order:
        for afterstate in origins[next_afterstate]:
            missing[afterstate] -= 1
            if missing[afterstate] == 0:
                order.append(afterstate)
    if len(order) < len(reached):
        afterstate = min(afterstate for afterstate, number in missing.items() if number > 0)
        raise ValueError(f"a turn of {rules} must end, but moves from {afterstate} can lead in a circle")
    return order


def starting_points(game: Game) -> list[Afterstate]:
    """Return the start of a game and its `positions`; raise ValueError unless all are afterstates."""
    rules = type(game).__name__
    start, positions = game.start(), game.positions()
    check_afterstate(f"start of {rules} must be", game, start)
    if not start[1]:
        raise ValueError(f"start of {rules} must be before a throw of one die or more, not {start}")
    if not isinstance(positions, Iterable):
        raise ValueError(f"positions of {rules} must yield pairs (progress, dice), not return {quoted(positions)}")
    given = [*islice(positions, LARGEST_TABLE)]
    if len(given) == LARGEST_TABLE:
        raise ValueError(f"positions of {rules} must yield fewer than {LARGEST_TABLE:,} pairs: does it end?")
    for afterstate in given:
        check_afterstate(f"positions of {rules} must yield", game, afterstate)
    return [start, *given]


def states_of(game: Game, afterstates: Iterable[Afterstate]) -> Iterator[tuple[Afterstate, Roll]]:
    """Yield the states of afterstates, in the order of their rolls."""
    shown_of = cache(lambda dice: rolls(game, dice).shown)
    for afterstate in afterstates:
        for roll in shown_of(afterstate[1]):
            yield afterstate, roll


def check_moves(game: Game, found: Walk, thorough: bool = False) -> None:
    """Raise ValueError unless the rules give the same moves again: at a sample of the states, or at each of them."""
    throwing = {afterstate: by_roll for afterstate, by_roll in found.items() if afterstate[1]}
    answers = zip(states_of(game, throwing), chain.from_iterable(throwing.values()), strict=True)
    every = 1 if thorough else 1 + sum(map(len, throwing.values())) // SAMPLE
    check_answers(game, "moves", game.moves, answers, every)


def fits(game: Game) -> bool:
    """Return whether tables can hold a game; a game without a bound on its states is assumed to fit."""
    check_rules(game)
    max_states = game.max_states()
    if max_states is None:
        return True
    if isinstance(max_states, bool) or not isinstance(max_states, int):
        raise ValueError(f"max_states of {type(game).__name__} must be an integer or None, not {quoted(max_states)}")
    return max_states <= LARGEST_TABLE


def check_afterstate(claim: str, game: Game, afterstate: Any) -> None:
    """Raise ValueError unless `afterstate` is a pair of integers (progress, dice) with at most `game.dice` dice."""
    match afterstate:
        case (int(progress), int(dice)) if (
            isinstance(afterstate, tuple)
            and bool not in (type(progress), type(dice))
            and 0 <= dice <= game.dice
            and abs(progress) < LARGEST_PROGRESS
        ):
            return
    raise ValueError(
        f"{claim} a pair of integers (progress, dice) with 0 to {game.dice} dice, not {quoted(afterstate)}"
    )
