"""Check that a game keeps the contract of `Game` at each of its afterstates."""

from dataclasses import is_dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from stb_gym.arrays import INTEGER
from stb_gym.checks import check_bool, check_integer, integers
from stb_gym.games.afterstates import check_afterstate, walk
from stb_gym.games.game import LARGEST_PROGRESS, Afterstate, Game, Roll, ask
from stb_gym.games.throws import LARGEST_THROW_TABLE, MAX_DICE, rolls
from stb_gym.messages import quoted
from stb_gym.tracking import tracked


def check_game(game: Any) -> None:
    """Check that rules keep the contract of `Game` in each of their afterstates.

    Args:
        game: the rules; small ones are checked faster.

    Raises:
        TypeError: if it is not a `Game`.
        ValueError: naming the method and the first fault: a method that fails or returns a wrong type, fields that can
            change, a roll that depends on the order of the dice, an afterstate or an action that does not exist, a
            first throw without a move, moves that lead back to an afterstate, a score that is not an integer, or
            observations that are out of range or the same in two states.

    Example:
        >>> import stb_gym
        >>> stb_gym.games.check_game(stb_gym.ShutTheBox(tiles=4))
    """
    if not isinstance(game, Game):
        raise TypeError(f"{quoted(game)} is not a game: make one, such as stb_gym.Threes()")
    rules = type(game).__name__
    if not (is_dataclass(game) and type(game).__dataclass_params__.frozen):
        raise ValueError(f"{rules} must be a frozen dataclass, because results are cached by the rules")
    _check_rules(game, repr(game))  # True equals 1, but has another repr


@lru_cache(maxsize=32)  # a round checks its game every time that it is made
def _check_rules(game: Any, shown: str) -> None:
    """Check each afterstate of a frozen dataclass; see `check_game`."""
    rules = type(game).__name__
    check_integer(f"dice of {rules}", getattr(game, "dice", None), 1, MAX_DICE)
    check_integer(f"faces of {rules}", getattr(game, "faces", None), 1, LARGEST_THROW_TABLE)
    check_bool(f"more_is_better of {rules}", game.more_is_better)
    actions = ask(game, "actions")
    if not (isinstance(actions, tuple) and actions):
        raise ValueError(f"actions of {rules} must be a tuple of one or more, not {quoted(actions)}")
    known = rolls(game, game.dice)  # refuses too many throws
    throws = product(range(1, game.faces + 1), repeat=game.dice)
    for throw, number in zip(throws, known.of_throw.tolist(), strict=True):
        if ask(game, "roll_of", throw) != known.shown[number]:
            raise ValueError(f"roll_of of {rules} must not depend on the order of the dice, as it does of {throw}")
    start = ask(game, "start")
    check_afterstate(f"start of {rules} must be", game, start)
    first_moves = zip(rolls(game, start[1]).shown, walk(game)[start], strict=True)
    if blocked := [roll for roll, moves in first_moves if not moves]:
        raise ValueError(
            f"moves of {rules} must leave a move after each throw at start {start}, and not {{}} for {blocked[0]}"
        )
    high = integers(f"observation_high of {rules}", ask(game, "observation_high"), 0, 255)
    state_of_row: dict[tuple[int, ...], tuple[Afterstate, Roll]] = {}
    afterstates = walk(game)
    for afterstate in tracked(afterstates, "positions checked", "positions", len(afterstates)):
        score = ask(game, "final_score", afterstate[0])
        check_integer(f"final_score of {rules} at {afterstate}", score, -LARGEST_PROGRESS, LARGEST_PROGRESS)
        for roll in rolls(game, afterstate[1]).shown:
            given = ask(game, "observe", afterstate, roll)
            if isinstance(given, np.ndarray):
                given = given.tolist()
            row = tuple(given) if isinstance(given, list | tuple) else ()
            if len(row) != len(high) or not all(
                isinstance(number, INTEGER) and 0 <= number <= most for number, most in zip(row, high, strict=True)
            ):
                raise ValueError(
                    f"observe of {rules} must return integers from 0 to those of observation_high, {quoted(high)}, not "
                    f"{quoted(given, 40)}, for {afterstate} and {roll}"
                )
            if row in state_of_row:
                raise ValueError(
                    f"observe of {rules} must differ between states: {quoted(row)} is at {state_of_row[row]} "
                    f"and {(afterstate, roll)}"
                )
            state_of_row[row] = (afterstate, roll)
