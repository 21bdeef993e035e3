"""The registered games: the rules of each, its description, heuristics, variants and environments."""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import is_dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

from stb_gym.arguments import checked
from stb_gym.checks import check_choice, listed
from stb_gym.games.contract import check_game
from stb_gym.games.game import Game, Heuristic, make_game
from stb_gym.games.rules import Variant, rules_of
from stb_gym.games.text import Words
from stb_gym.messages import quoted, shortened

NOTHING: Mapping[str, Any] = MappingProxyType({})


class Entry(NamedTuple):
    """A game and everything that belongs to it.

    Attributes:
        rules: the rules class.
        words: the class that describes the game to people.
        heuristics: how people choose a move, by name.
        variants: named rules.
        environments: by the name of its id, the rules of each environment: fields that differ from the defaults, and
            the objective unless it is "score".
        reward_thresholds: by the name of its id, the mean reward of perfect play in an environment, where it is known.
    """

    rules: type[Game]
    words: type[Words] = Words
    heuristics: Mapping[str, Heuristic] = NOTHING
    variants: Mapping[str, Variant] = NOTHING
    environments: Mapping[str, Mapping[str, Any]] = NOTHING
    reward_thresholds: Mapping[str, float] = NOTHING


GAMES: dict[str, type[Game]] = {}
_ENTRIES: dict[type[Game], Entry] = {}
_followers: list[Callable[[Entry], None]] = []


@checked
def register_game(
    rules: type[Game],
    *,
    words: type[Words] = Words,
    heuristics: Mapping[str, Heuristic] = NOTHING,
    variants: Mapping[str, Variant] = NOTHING,
    environments: Mapping[str, Mapping[str, Any]] | None = None,
    reward_thresholds: Mapping[str, float] = NOTHING,
) -> None:
    """Register a game of your own, so that it has environments, strategies and rounds and is known by its name.

    The rules are checked by `check_game`, with the smallest values of the fields that are sizes and with the defaults.
    A class of the same name and module is replaced, as in a notebook cell that runs again.

    Args:
        rules: the rules, a frozen dataclass that is a `Game`.
        words: the class that describes the game to people.
        heuristics: how people choose a move, by name; they become strategies.
        variants: named rules.
        environments: by the name of its id without the namespace, the rules of each environment: fields that differ
            from the defaults, and the objective unless it is "score"; by default {"RULES_CLASS-v0": {}}.
        reward_thresholds: by the name of its id, the mean reward of perfect play in an environment.

    Raises:
        TypeError: if another argument has a wrong type.
        ValueError: if the rules break the contract of `Game`, or a name is not allowed or taken by another game.

    Example:
        See `docs/your_own_game.md`, which registers Pig in one file.
    """
    if not (isinstance(rules, type) and issubclass(rules, Game) and is_dataclass(rules)):
        raise ValueError(f"rules must be a frozen dataclass that is a stb_gym.Game, not {quoted(rules)}")
    if not (isinstance(words, type) and issubclass(words, Words)):
        raise TypeError(f"words must be a class that is a stb_gym.games.Words, not {quoted(words)}")
    smallest = rules()
    for field, known in rules_of(rules).items():
        if known.size and known.low is not None:
            with suppress(ValueError):  # the lowest values may exclude each other
                smallest = replace(smallest, **{field: known.low})
    check_game(smallest)
    if not rules.__module__.startswith(f"{__name__.partition('.')[0]}."):  # whose own games are checked by tests
        check_game(rules())
    name = getattr(rules, "name", None)
    if not isinstance(name, str) or not re.fullmatch(r"[a-z0-9][a-z0-9-]*", name):
        raise ValueError(f"the name of a game has lower-case letters, digits and hyphens only, not {quoted(name)}")
    taken_by = GAMES.get(name, rules)
    if (taken_by.__module__, taken_by.__qualname__) != (rules.__module__, rules.__qualname__):
        raise ValueError(f"there is a game {name} already: {taken_by.__module__}.{taken_by.__qualname__}")
    environments = {f"{rules.__name__}-v0": {}} if environments is None else environments
    for arguments in environments.values():
        make_game(rules, {field: value for field, value in arguments.items() if field != "objective"})
    entry = Entry(rules, words, heuristics, variants, environments, reward_thresholds)
    for follow in _followers:
        follow(entry)
    GAMES[name] = rules
    _ENTRIES[rules] = entry


def follow_registrations(action: Callable[[Entry], None]) -> None:
    """Call `action` with every game that is registered, now and later; it raises a ValueError to refuse one."""
    for entry in _ENTRIES.values():
        action(entry)
    _followers.append(action)


def entry_of(game: Game | type[Game]) -> Entry:
    """Return the entry of a game, given it or its rules class; a plain one if it is not registered."""
    rules = game if isinstance(game, type) else type(game)
    return _ENTRIES.get(rules) or Entry(rules)


def words_of(game: Game) -> Words:
    """Return the object that describes a game to people.

    Example:
        >>> import stb_gym
        >>> words_of(stb_gym.ShutTheBox()).goal(5)
        'at most 5 points'
    """
    return entry_of(game).words(game)


def rules_class_of(game: Game | str) -> type[Game]:
    """Return the rules class of a game, given its name or a rules object.

    Raises:
        ValueError: if there is no such game.
    """
    if isinstance(game, str):
        check_choice("game", game, list(GAMES))
        return GAMES[game]
    if not isinstance(game, Game):
        raise ValueError(f"a game is a rules object or one of the names {listed(GAMES, 80)}, not {quoted(game)}")
    return type(game)


def game_of(game: Game | str, rules: Mapping[str, Any] | None = None) -> Game:
    """Return a game, given its name and fields of its rules; a rules object is returned as it is.

    Raises:
        ValueError: if there is no such game, a field is unknown, or its value is not allowed.
    """
    rules_class = rules_class_of(game)
    if isinstance(game, str):
        return make_game(rules_class, rules or {})
    if rules:
        raise ValueError(f"{game} has its rules already: {shortened(', '.join(rules), 80)} cannot be given beside it")
    return game
