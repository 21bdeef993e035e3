"""Find a position from the options that name it, such as those of a reset."""

from collections.abc import Iterable, Mapping
from typing import Any

from stb_gym.checks import check_choice, check_integer, check_names, integers
from stb_gym.games.afterstates import walk
from stb_gym.games.contract import check_rules
from stb_gym.games.game import Game, Roll
from stb_gym.games.throws import rolls
from stb_gym.messages import quoted


def locate(game: Game, options: Mapping[str, Any]) -> tuple[int, int, Roll | None]:
    """Return the position that options name.

    Args:
        game: the rules.
        options: such as {"open": [1, 4], "roll": 5}, see `Game.position_options`. A roll is named by its dice or, if
            the rules see only one number of it, by that number.

    Returns:
        The progress, the number of dice, and the roll, None if it is not named. If "dice" is not named, the most dice
        that can be thrown there and fit the roll.

    Raises:
        ValueError: naming the option that is not one of this game, and what is allowed.

    Example:
        >>> import stb_gym
        >>> stb_gym.games.locate(stb_gym.Threes(), {"points": 4, "roll": [6, 3, 1]})
        (4, 3, (3, 1, 6))
    """
    check_rules(game)
    check_names("position", options, list(game.position_options))
    found = game.find_progress(options)
    progress, allowed = _found_by_walk(game, options) if found is None else _checked(game, found)
    if "dice" in options:
        check_choice("number of dice there", options["dice"], allowed)
        allowed = [int(options["dice"])]
    roll = options.get("roll")
    if roll is None:
        return progress, allowed[0], None
    if isinstance(roll, Iterable):
        throw = integers("roll", roll, 1, game.faces)
        if len(throw) not in allowed:
            raise ValueError(f"roll must have {' or '.join(map(str, allowed))} dice there, not {len(throw)}")
        return progress, len(throw), game.roll_of(tuple(throw))
    check_integer("roll", roll, min(allowed), max(allowed) * game.faces)
    for dice in allowed:
        if (roll,) in rolls(game, dice).shown:
            return progress, dice, (int(roll),)
    raise ValueError(f"roll {roll} is ambiguous or impossible there: name all dice, such as 3,1")


def _checked(game: Game, found: Any) -> tuple[int, list[int]]:
    """Return what `find_progress` returned; raise ValueError unless it is progress and a list of numbers of dice."""
    match found:
        case (int(progress), list(allowed)) if allowed and all(each in range(1, game.dice + 1) for each in allowed):
            return progress, allowed
    raise ValueError(
        f"find_progress of {type(game).__name__} must return progress and a list of numbers of dice, or None, not "
        f"{quoted(found)}"
    )


def _found_by_walk(game: Game, options: Mapping[str, Any]) -> tuple[int, list[int]]:
    """Return the progress that options name as an integer, and how many dice can be thrown there, most first."""
    name = next(iter(game.position_options))
    afterstates = [afterstate for afterstate in walk(game) if afterstate[1]]
    progress = options.get(name, game.start()[0])
    check_integer(name, progress, min(afterstates)[0], max(afterstates)[0])
    allowed = sorted((dice for other, dice in afterstates if other == progress), reverse=True)
    if not allowed:
        raise ValueError(f"no dice are thrown at {name} {progress}")
    return int(progress), allowed
