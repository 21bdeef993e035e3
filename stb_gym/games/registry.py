"""The registered games by name: the rules of each, its heuristics, variants and environments."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from stb_gym.checks import check_choice, listed
from stb_gym.games.contract import check_rules
from stb_gym.games.game import Game, Heuristic, make_game
from stb_gym.games.rules import Variant, own_rules, rules_of
from stb_gym.messages import quoted, shortened

NOTHING: Mapping[str, Any] = MappingProxyType({})
NO_FIELDS = ("objective", "reward_threshold")  # what environments are made with beside fields of the rules


class Entry(NamedTuple):
    """A registered game.

    Attributes:
        rules: the rules class.
        heuristics: how people choose a move, by name.
        variants: named rules.
        environments: what each environment is made with, by the name of its id: fields of the rules that differ from
            the defaults, "objective" unless it is "score", and "reward_threshold", the mean reward of perfect play, if
            it is known.
    """

    rules: type[Game]
    heuristics: Mapping[str, Heuristic] = NOTHING
    variants: Mapping[str, Variant] = NOTHING
    environments: Mapping[str, Mapping[str, Any]] = NOTHING


# `stb_gym.register_game` adds to both dictionaries.
GAMES: dict[str, type[Game]] = {}
ENTRIES: dict[type[Game], Entry] = {}


def entry_of(game: Game | type[Game]) -> Entry:
    """Return the entry of a game or a rules class; an entry without heuristics or variants if it is not registered."""
    rules = game if isinstance(game, type) else type(game)
    return ENTRIES.get(rules) or Entry(rules)


def name_of(game: Game) -> str:
    """Return the name of a game, by which files name it; raise ValueError if it is the name of another game."""
    owner = GAMES.get(game.name, type(game))
    if owner is not type(game):
        rules = type(game).__name__
        raise ValueError(f"{rules} has the name of {owner.__name__}: give it one of its own, such as {rules.lower()!r}")
    return game.name


def rules_class_of(game: Game | str) -> type[Game]:
    """Return the rules class of a game, given its name or a rules object.

    Raises:
        ValueError: if there is no such game, or its rules do not have the form that `Game` describes.
    """
    if isinstance(game, str):
        check_choice("game", game, list(GAMES))
        return GAMES[game]
    if not isinstance(game, Game):
        raise ValueError(f"a game is a rules object or one of the names {listed(GAMES, 80)}, not {quoted(game)}")
    check_rules(game)
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
        raise ValueError(f"{game} has its rules already: leave out {shortened(', '.join(rules), 80)}")
    return game


def title(game: Game) -> str:
    """Return a line about a game: its name, its sizes and the fields that differ from their defaults."""
    check_rules(game)
    sizes = {name: getattr(game, name) for name, known in rules_of(game).items() if known.size}
    named = ", ".join(f"{name} {value}" for name, value in (sizes | own_rules(game)).items())
    return f"{game.name}: {named}" if named else game.name
