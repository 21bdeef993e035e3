"""What an environment is asked for, checked: a game, seeds and states of dice, games to begin anew, actions."""

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Game, game_of, integers, rules_class_of

# What all games do at once, and never one alone.
TOGETHER = ("afterstates", "close", "reset", "restore", "snapshot", "step")


def seeded(seeds: Any, num_envs: int) -> np.random.Generator:
    """A generator of all numbers of a list of seeds, one for each game.

    Raises:
        ValueError: if they are not `num_envs` integers.
    """
    listed = integers("seeds", seeds, 0, 2**64 - 1)
    if len(listed) != num_envs:
        raise ValueError(f"seed must be an integer or a list of {num_envs}, not of {len(listed)}")
    return np.random.default_rng(listed)


def game_for(kind: type[Any], game: Game | str, rules: Mapping[str, Any]) -> Game:
    """The game of an environment of some kind, given it or its name, and its rules.

    Raises:
        TypeError: like Python's own for a keyword that is none, on which libraries drop theirs.
        ValueError: if there is no such game, or a rule has a value that is not allowed.
    """
    known = [field.name for field in fields(rules_class_of(game))]  # type: ignore[arg-type]
    for name in rules:
        if name not in known:
            own = [name for name in inspect.signature(kind).parameters if name not in ("game", "rules")]
            raise TypeError(
                f"{kind.__name__}() got an unexpected keyword argument {name!r}: allowed are the rules "
                f"{', '.join(known)} and the arguments {', '.join(own)}"
            )
    return game_of(game, rules)


def restore_generator(generator: np.random.Generator, state: Any) -> None:
    """Let a generator go on from the state of one of its kind; whatever else is given, it stays as it is.

    Raises:
        ValueError: if it is no such state.
    """
    bits: Any = type(generator.bit_generator)()
    try:
        bits.state = state
        if repr(bits.state) != repr(state) or state.get("has_uint32", 0) not in (0, 1):
            raise ValueError
    except (ValueError, TypeError, KeyError, OverflowError):
        raise ValueError(f"the state of random numbers is none of {type(bits).__name__}") from None
    generator.bit_generator.state = state


def chosen_games(mask: Any, num_envs: int) -> NDArray[np.bool_]:
    """The mask [B] of the games to begin anew.

    Raises:
        ValueError: if it is none, or chooses no game.
    """
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (num_envs,) or not mask.any():
        raise ValueError(f"reset_mask must be an array of {num_envs} booleans, of which one or more are True")
    return mask


def checked_actions(given: Any, num_envs: int, count: int) -> NDArray[np.int64]:
    """Actions [B] from 0 to `count` - 1.

    Raises:
        ValueError: if they are not that.
    """
    actions = np.asarray(given)
    if actions.shape != (num_envs,) or actions.dtype.kind not in "iu":
        raise ValueError(f"actions must be {num_envs} integers, not shape {actions.shape} of type {actions.dtype}")
    indices = actions.astype(np.int64, copy=False)
    if indices.view(np.uint64).max() >= count:  # seen so, a negative number is a large one
        wrong = actions[(actions < 0) | (actions >= count)][0]
        raise ValueError(f"actions must be from 0 to {count - 1}, not {wrong}")
    return indices


def of_each(
    envs: Any, name: str, arguments: Iterable[Any] = (), named: dict[str, Any] | None = None
) -> tuple[Any, ...]:
    """What an attribute or method of a vector environment is for each of its games.

    Arrays and tuples over the games are taken apart; what all games have in common is told once for each.

    Raises:
        ValueError: if a game alone has no such method.
        AttributeError: if there is no such attribute.
    """
    if name in TOGETHER:
        raise ValueError(f"{name} is for all games at once: call it of the vector environment itself")
    value = getattr(envs, f"single_{name}" if name in ("action_space", "observation_space") else name)
    if callable(value):
        value = value(*arguments, **(named or {}))
    over_games = isinstance(value, tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)
    return tuple(value) if over_games and len(value) == envs.num_envs else (value,) * envs.num_envs


def for_all(name: str, values: Any, num_envs: int) -> Any:
    """The one value of an attribute that all games have in common, given it or a list of it for each game.

    Raises:
        ValueError: if the list has other values, or another length.
    """
    listed = values if isinstance(values, list | tuple) else [values] * num_envs
    if len(listed) != num_envs or any(value != listed[0] for value in listed):
        raise ValueError(f"all games have one {name}: give one value, or {num_envs} that are equal, not {values!r}")
    return listed[0]
