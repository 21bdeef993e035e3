"""Which stepper an environment has: tables while they fit, else boards, or the one that was asked for."""

from collections.abc import Callable
from functools import lru_cache

from stb_gym.envs.stepping.boards import board_stepper
from stb_gym.envs.stepping.stepper import Stepper
from stb_gym.envs.stepping.transitions import fits_tables, transitions
from stb_gym.games import Game, check_choice
from stb_gym.solver import Objective

STEPPERS: dict[str, Callable[[Game, Objective, str, float], Stepper]] = {"tables": transitions, "boards": board_stepper}


def stepper_of(
    game: Game,
    objective: Objective,
    observation_dtype: str = "uint8",
    reward_scale: float = 1.0,
    kind: str | None = None,
) -> Stepper:
    """The stepper of a game and an objective; made once, and kept for the next call.

    Args:
        game: the rules.
        objective: what is rewarded.
        observation_dtype: the type of observations, by NumPy's name.
        reward_scale: what rewards are multiplied by.
        kind: "tables" or "boards", which are the same in all they do; by default tables if they are not too large.

    Raises:
        ValueError: if there is no such stepper of these rules.

    Example:
        >>> import stb_gym
        >>> from stb_gym.envs import stepper_of
        >>> from stb_gym.solver import objective_of
        >>> the_300 = stb_gym.ShutTheBox.preset("the-300")
        >>> stepper_of(the_300, objective_of(the_300, "score")).actions
        757
    """
    check_choice("stepper", kind, [None, *STEPPERS])
    return STEPPERS[kind or kind_for(game)](game, objective, observation_dtype, reward_scale)


@lru_cache(maxsize=64)
def kind_for(game: Game) -> str:
    """The kind of stepper that a game has by default."""
    if fits_tables(game):
        return "tables"
    try:
        game.boards()
    except ValueError:
        return "tables"  # which say how large they may be
    return "boards"
