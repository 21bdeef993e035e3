"""What agents observe in each state of a game, as an array."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games.afterstates import states_of
from stb_gym.games.contract import SAMPLE, check_answers, observation_high
from stb_gym.games.game import Afterstate, Game, Roll
from stb_gym.messages import quoted
from stb_gym.tracking import tracked


def observations(game: Game, afterstates: Iterable[Afterstate], thorough: bool = False) -> NDArray[np.uint8]:
    """Return [S, O] the observation of each state of afterstates.

    Args:
        game: the rules.
        afterstates: the afterstates.
        thorough: ask for all observations twice, not for a sample.

    Raises:
        ValueError: if one is not of integers from 0 to those of `observation_high`, two are the same, or one changes
            when it is asked for again.
    """
    high = observation_high(game)
    rules = type(game).__name__
    states = [*states_of(game, afterstates)]
    rows = [_row(game.observe(*state)) for state in tracked(states, "states observed", "states", len(states))]
    wrong = [number for number, row in enumerate(rows) if len(row) != len(high)]
    if not wrong:
        observed = np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), len(high))
        wrong = np.flatnonzero((observed > np.array(high, np.uint8)).any(axis=1)).tolist()
    if wrong:
        afterstate, roll = states[wrong[0]]
        raise ValueError(
            f"observe of {rules} must return integers between 0 and observation_high, {quoted(high, 40)}, not "
            f"{quoted(game.observe(afterstate, roll), 40)}, for {afterstate} and {roll}"
        )
    if len({*rows}) < len(rows):
        first_state: dict[bytes, tuple[Afterstate, Roll]] = {}
        for row, state in zip(rows, states, strict=True):
            if first_state.setdefault(row, state) is not state:
                raise ValueError(
                    f"observe of {rules} must differ between states: {quoted([*row])} is at {first_state[row]} and "
                    f"{state}"
                )
    every = 1 if thorough else 1 + len(rows) // SAMPLE
    check_answers(game, "observe", lambda *state: _row(game.observe(*state)), zip(states, rows, strict=True), every)
    return observed


def _row(given: Any) -> bytes:
    """Return an observation as bytes, b"" unless it is a list, a tuple or an array of integers from 0 to 255."""
    if isinstance(given, np.ndarray):
        given = given.tolist()
    try:
        return bytes(given) if isinstance(given, (list, tuple)) else b""  # faster than with a union
    except (TypeError, ValueError):
        return b""
