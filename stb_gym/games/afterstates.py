"""Every afterstate of a game, found from its start by asking the rules for every move once."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from types import MappingProxyType
from typing import Any

from stb_gym.arguments import checked
from stb_gym.games.game import LARGEST_PROGRESS, Afterstate, Game, ask
from stb_gym.games.throws import rolls
from stb_gym.messages import quoted
from stb_gym.tracking import tracked

LARGEST_TABLE = 2**18  # states of a game; a walk through as many takes some seconds


@checked
@lru_cache(maxsize=4)
def walk(game: Game) -> Mapping[Afterstate, Sequence[Mapping[int, Afterstate]]]:
    """Find every afterstate of a game from its start and its `positions`, asking the rules for every move once.

    Args:
        game: the rules.

    Returns:
        For every afterstate, its moves after each roll, in the order of `rolls(game, dice).shown`. Every move leads to
        an afterstate that comes earlier in the mapping.

    Raises:
        ValueError: if there are more states than LARGEST_TABLE; if a move is not an action or does not lead to an
            afterstate; or if moves lead back to an afterstate, so that a turn may never end.
    """
    found: dict[Afterstate, list[dict[int, Afterstate]]] = {}
    sorter = TopologicalSorter[Afterstate]()
    rules = type(game).__name__
    actions = frozenset(range(len(game.actions)))
    states = 0
    if not fits(game):
        raise ValueError(
            f"{quoted(game)} has too many positions for tables, which hold at most {LARGEST_TABLE:,} states"
        )
    given = [ask(game, "start"), *ask(game, "positions")]
    for afterstate in given:
        check_afterstate(f"start and positions of {rules} must be", game, afterstate)
    known = {*given}
    to_visit = list(dict.fromkeys(given))  # grows while the loop goes through it
    for afterstate in tracked(to_visit, "positions found", "positions", len(to_visit)):
        shown = rolls(game, afterstate[1]).shown
        states += len(shown)
        if states > LARGEST_TABLE:
            raise ValueError(f"moves of {rules} lead to more than {LARGEST_TABLE:,} states: does every turn end?")
        by_roll = [ask(game, "moves", afterstate, roll) if afterstate[1] else {} for roll in shown]
        for roll, moves in zip(shown, by_roll, strict=True):
            if not (isinstance(moves, dict) and actions.issuperset(moves)):
                raise ValueError(
                    f"moves of {rules} at {afterstate} with roll {roll} must be {{action: afterstate}} with actions "
                    f"from 0 to {len(actions) - 1}, not {quoted(moves)}"
                )
        reached = [next_afterstate for moves in by_roll for next_afterstate in moves.values()]
        try:
            new: Iterable[Afterstate] = set(reached) - known
        except TypeError:  # what cannot be hashed is no pair of integers
            new = reached
        for next_afterstate in new:
            check_afterstate(f"moves of {rules} at {afterstate} must lead to", game, next_afterstate)
        sorter.add(afterstate, *set(reached))
        known.update(new)
        to_visit += new
        found[afterstate] = by_roll
    try:
        order = list(sorter.static_order())
    except CycleError as error:
        raise ValueError(f"a turn of {rules} need not end: moves lead from {error.args[1][0]} back to it") from None
    return MappingProxyType({afterstate: tuple(map(MappingProxyType, found[afterstate])) for afterstate in order})


@checked
def fits(game: Game) -> bool:
    """Return whether tables can hold a game; a game without a bound on its states is assumed to fit."""
    max_states = game.max_states()
    return max_states is None or max_states <= LARGEST_TABLE


def check_afterstate(claim: str, game: Game, afterstate: Any) -> None:
    """Raise ValueError unless `afterstate` is a pair of integers (progress, dice) with at most `game.dice` dice."""
    match afterstate:
        case (int(progress), int(dice)) if (
            isinstance(afterstate, tuple) and 0 <= dice <= game.dice and abs(progress) < LARGEST_PROGRESS
        ):
            return
    raise ValueError(
        f"{claim} a pair of integers (progress, dice) with 0 to {game.dice} dice, not {quoted(afterstate)}"
    )


@lru_cache(maxsize=32)
def perfect_score(game: Game) -> int:
    """Return the target of the objective "shut": 0 or, where more points are better, the most points of a turn."""
    return max(game.final_score(progress) for progress, _ in walk(game)) if game.more_is_better else 0
