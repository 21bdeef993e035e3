"""The games that are known: the rules of each, and everything that is said of it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass
from typing import Any

from stb_gym.games.fields import Variant, check_choice, make_game
from stb_gym.games.game import Game, RuleOfThumb
from stb_gym.games.words import Words


@dataclass(frozen=True)
class Entry:
    """A game and everything that is said of it.

    Attributes:
        rules: the rules class.
        words: how the game is described to people.
        rules_of_thumb: how people choose a move, by name.
        variants: rules that have a name.
        environments: the fields of the rules, and perhaps the objective, of every environment by the name of its id;
            by default one environment that is called like the rules class.
        reward_thresholds: the mean reward of perfect play in them, by the name of the id, as far as it is known.
    """

    rules: type[Game]
    words: type[Words[Any]] = Words
    rules_of_thumb: Mapping[str, RuleOfThumb] = field(default_factory=dict)
    variants: Mapping[str, Variant] = field(default_factory=dict)
    environments: Mapping[str, Mapping[str, Any]] | None = None
    reward_thresholds: Mapping[str, float] = field(default_factory=dict)


GAMES: dict[str, type[Game]] = {}
_ENTRIES: dict[type[Game], Entry] = {}


def enter(entry: Entry) -> None:
    """Make a game known; one of the same class is replaced.

    Raises:
        ValueError: as `check_entry` does.
    """
    check_entry(entry)
    GAMES[entry.rules.name] = entry.rules
    _ENTRIES[entry.rules] = entry


def check_entry(entry: Entry) -> None:
    """Check that a game can be made known.

    Raises:
        ValueError: if the rules are no frozen dataclass of a game, or the name is not allowed or another game's.
    """
    rules = entry.rules
    if not (isinstance(rules, type) and issubclass(rules, Game) and is_dataclass(rules)):
        raise ValueError(f"rules must be a frozen dataclass that is a stb_gym.Game, not {rules!r}")
    name = getattr(rules, "name", None)
    if not isinstance(name, str) or not re.fullmatch(r"[a-z0-9][a-z0-9-]*", name):
        raise ValueError(f"the name of a game has small letters, digits and hyphens only, unlike {name!r}")
    if not rules.__dataclass_params__.frozen:
        raise ValueError(f"rules must be a frozen dataclass, for what is made of a game is kept by them: {rules!r}")
    for called, thumb in dict(entry.rules_of_thumb).items():
        if not callable(thumb):
            raise ValueError(f"the rule of thumb {called} must be a function of moves, not {thumb!r}")
    known = GAMES.get(name, rules)
    known_as, called = (f"{each.__module__}.{each.__qualname__}" for each in (known, rules))
    if known_as != called:  # a class made anew, as in a notebook, is called the same
        raise ValueError(f"there is a game {name} already: {known_as}")


def entry_of(game: Game | type[Game]) -> Entry:
    """What is said of a game, given it or its rules class; of one not registered, what can be said of any."""
    rules = game if isinstance(game, type) else type(game)
    return _ENTRIES.get(rules) or Entry(rules)


def words_of(game: Game) -> Words[Any]:
    """The words of a game.

    Example:
        >>> import stb_gym
        >>> words_of(stb_gym.ShutTheBox()).goal(5)
        'at most 5 points'
    """
    return entry_of(game).words(game)


def rules_class_of(game: Game | str) -> type[Game]:
    """The rules class of a game, given its name or a rules object.

    Raises:
        ValueError: if there is no such game.
    """
    if isinstance(game, str):
        check_choice("game", game, list(GAMES))
        return GAMES[game]
    if not isinstance(game, Game):
        raise ValueError(f"a game is a rules object or one of the names {', '.join(GAMES)}, not {game!r}")
    return type(game)


def game_of(game: Game | str, rules: Mapping[str, Any] | None = None) -> Game:
    """A game from its name and the fields of its rules, or as it is.

    Raises:
        ValueError: if there is no such game, a field is unknown, or its value is not allowed.
    """
    rules_class = rules_class_of(game)
    if isinstance(game, str):
        return make_game(rules_class, rules or {})
    if rules:
        raise ValueError(f"{game} has its rules already: {', '.join(rules)} cannot be given beside it")
    return game
