"""The form of rules: what a class, its fields, its attributes and the parameters of its methods must be like."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, fields, is_dataclass
from difflib import get_close_matches
from functools import lru_cache, wraps
from inspect import getattr_static, isfunction, signature
from itertools import islice
from typing import Any, TypeVar, cast

import numpy as np

from stb_gym.checks import check_bool, check_integer
from stb_gym.games.game import LARGEST_THROW_TABLE, MAX_DICE, Afterstate, Game, Roll
from stb_gym.messages import quoted

F = TypeVar("F", bound=Callable[..., Any])

SAMPLE = 256  # about how many answers are asked for again where asking for all would take long

# The arguments that the library passes to each method.
ARGUMENTS = {
    name: [*signature(method).parameters][1:]
    for name, method in vars(Game).items()
    if isfunction(method) and not name.startswith("_")
}

# Attributes that change values and have a default, with the similarity from which another name is taken for a mistake.
SIMILAR = {"more_is_better": 0.72, "roll_of": 0.85}


def check_rules(game: Any) -> None:
    """Raise unless the class, the fields and the constants of rules are as `Game` describes them.

    Raises:
        TypeError: if `game` is not a `Game`.
        ValueError: naming the first fault.
    """
    if not isinstance(game, Game):
        raise TypeError(f"{quoted(game)} is not a game: make one, such as stb_gym.Threes()")
    rules = type(game).__name__
    _check_class(type(game))
    try:
        hash(game)
    except TypeError as error:
        raise ValueError(f"fields of {rules} must be hashable, such as tuples instead of lists: {error}") from None
    check_integer(f"dice of {rules}", _attribute(game, "dice"), 1, MAX_DICE)
    check_integer(f"faces of {rules}", _attribute(game, "faces"), 1, LARGEST_THROW_TABLE)
    check_bool(f"more_is_better of {rules}", game.more_is_better)
    if game.sign != (1 if game.more_is_better else -1):
        raise ValueError(f"sign of {rules} must not be overridden: set more_is_better")
    name, options = _attribute(game, "name"), game.position_options
    if not isinstance(name, str) or not re.fullmatch(r"[a-z0-9][a-z0-9-]*", name):
        raise ValueError(f"the name of a game has lower-case letters, digits and hyphens only, not {quoted(name)}")
    if not (isinstance(options, Mapping) and {"dice", "roll"} <= {*[*options][1:]}):
        raise ValueError(
            f"position_options of {rules} must be a dictionary whose first name is that of progress and whose others "
            f"are dice and roll, not {quoted(options, 40)}"
        )


def number_of_actions(game: Game) -> int:
    """Return how many actions rules have; raise ValueError if they are not in a tuple, or there is none."""
    actions = _attribute(game, "actions")
    if not (isinstance(actions, tuple) and actions):
        raise ValueError(f"actions of {type(game).__name__} must be a tuple of one or more, not {quoted(actions)}")
    return len(actions)


def observation_high(game: Game) -> list[int]:
    """Return [O] the largest value of each number in an observation.

    Raises:
        ValueError: if they are not integers from 0 to 255, in a list, a tuple or an array.
    """
    high = _attribute(game, "observation_high")
    try:
        if isinstance(high, list | tuple | np.ndarray) and len(high):
            return [*bytes([*high])]  # only of integers from 0 to 255
    except (TypeError, ValueError):
        pass
    raise ValueError(
        f"observation_high of {type(game).__name__} must be a list of integers from 0 to 255, not {quoted(high)}"
    )


def cached_by_rules(maxsize: int) -> Callable[[F], F]:
    """Return a decorator that caches the results of a function of a game, and checks the rules before each call.

    Args:
        maxsize: how many results to keep.
    """

    def decorate(function: F) -> F:
        cached = lru_cache(maxsize, typed=True)(function)

        @wraps(function)
        def call(game: Game, *others: Any, **named: Any) -> Any:
            check_rules(game)
            return cached(game, *others, **named)

        vars(call)["cache_clear"] = cached.cache_clear
        return cast(F, call)

    return decorate


def check_answers(
    game: Game, method: str, ask: Callable[..., Any], answers: Iterable[tuple[tuple[Any, ...], Any]], every: int = 1
) -> None:
    """Raise ValueError unless rules give the same answers when they are asked for again.

    Args:
        game: the rules.
        method: the name of the method that was asked.
        ask: a function that asks it again.
        answers: pairs of arguments and the first answer.
        every: ask for the first answer and every so many after it.
    """
    for arguments, before in islice(answers, 0, None, every):
        if ask(*arguments) != before:
            where = f" for {quoted(arguments)}" if arguments else ""
            raise ValueError(
                f"{method} of {type(game).__name__} must return the same whenever it is called, but does not{where}"
            )


def check_words(game: Game, start: Afterstate, roll: Roll, action: int) -> None:
    """Raise ValueError unless the methods that describe a game return text and options, at its first state."""
    texts = {
        "describe_afterstate": game.describe_afterstate(*start),
        "describe_roll": game.describe_roll(roll),
        "describe_move": game.describe_move(action, True, roll),
    }
    for method, text in texts.items():
        if not isinstance(text, str):
            raise ValueError(f"{method} of {type(game).__name__} must return a string, not {quoted(text)}")
    options, names = game.options_at(*start), {*game.position_options} - {"roll"}
    if not (isinstance(options, dict) and options.keys() == names):
        raise ValueError(
            f"options_at of {type(game).__name__} must return a dictionary with {', '.join(sorted(names))}, not "
            f"{quoted(options)}"
        )


def _attribute(game: Game, name: str) -> Any:
    """Return an attribute of rules, None if they have none; errors inside of a property are raised."""
    try:
        return getattr(game, name)
    except AttributeError as error:
        if error.obj is game and error.name == name:
            return None
        raise


@lru_cache(maxsize=256)
def _check_class(rules: type[Game]) -> None:
    """Raise ValueError unless equal objects of a class have equal rules, and its methods take their arguments."""
    name = rules.__name__
    forgotten = any(isinstance(value, Field) for parent in rules.__mro__ for value in vars(parent).values())
    if forgotten or not (is_dataclass(rules) and rules.__dataclass_params__.frozen):
        raise ValueError(
            f"{name} must be a frozen dataclass, because results are cached by the rules: write "
            "@dataclass(frozen=True, repr=False) above the class"
        )
    for field in fields(rules):
        if not field.compare:
            raise ValueError(f"{field.name} of {name} must not have compare=False: results are cached by the rules")
        attribute = getattr_static(rules, field.name, field.default)
        if not (hasattr(attribute, "__get__") or attribute is field.default or attribute == field.default):
            raise ValueError(
                f"{field.name} of {name} is a field, which an attribute does not change: write {field.name}: "
                f"{type(attribute).__name__} = {quoted(attribute, 20)} below @dataclass(frozen=True, repr=False)"
            )
    known = {field.name for field in fields(rules)}
    for parameter in signature(rules).parameters.values():
        if parameter.name not in known and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise ValueError(
                f"{parameter.name} of {name} must be a field, because results are cached by the fields: write "
                f"{parameter.name}: int = 1 (or another type) below @dataclass(frozen=True, repr=False)"
            )
    for attribute, similarity in SIMILAR.items():
        others = sorted({*dir(rules)} - {*dir(Game)}) if getattr(rules, attribute) is vars(Game)[attribute] else []
        if similar := get_close_matches(attribute, others, 1, similarity):
            raise ValueError(f"{similar[0]} of {name} has no effect on a game: did you mean {attribute}?")
    for method, arguments in ARGUMENTS.items():
        called, stored = getattr(rules, method), getattr_static(rules, method)
        if stored is vars(Game)[method]:
            continue
        if not callable(called):
            raise ValueError(f"{method} of {name} must be a method, not {quoted(called)}")
        is_bound = hasattr(stored, "__get__") and not isinstance(stored, staticmethod | classmethod)
        try:
            parameters = signature(called)
        except ValueError:  # builtin functions may have none
            continue
        try:
            parameters.bind(*["self"] * is_bound, *arguments)
        except TypeError as error:
            raise ValueError(f"{method} of {name} must take ({', '.join(arguments)}): {error}") from None
