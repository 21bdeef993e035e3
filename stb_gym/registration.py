"""Registration of games: a name, environments, strategies and rounds for each."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass, replace
from typing import Any

from stb_gym.arguments import checked
from stb_gym.envs.registration import register_environments
from stb_gym.games import (
    GAMES,
    Entry,
    Game,
    Heuristic,
    ShutTheBox,
    Threes,
    Variant,
    check_game,
    make_game,
    rules_of,
    shut_the_box,
    threes,
)
from stb_gym.games.registry import ENTRIES, NO_FIELDS, NOTHING
from stb_gym.messages import quoted
from stb_gym.rounds.env import register_rounds
from stb_gym.solver import refuse_names_of_strategies
from stb_gym.words import WORDS, BoxWords, ThreesWords, Words


@checked
def register_game(
    rules: type[Game],
    *,
    words: type[Words] = Words,
    heuristics: Mapping[str, Heuristic] = NOTHING,
    variants: Mapping[str, Variant] = NOTHING,
    environments: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Register a game of your own, so that it has environments, strategies and rounds and is known by its name.

    The rules are checked by `check_game`, with the smallest values of the fields that are sizes and with the defaults.
    A class of the same name and module is replaced, as in a notebook cell that runs again.

    Args:
        rules: the rules, a frozen dataclass that is a `Game`.
        words: the class that describes the game to people.
        heuristics: how people choose a move, by name; they become strategies.
        variants: named rules.
        environments: what each environment is made with, by the name of its id without the namespace: fields of the
            rules that differ from the defaults, "objective" unless it is "score", and perhaps "reward_threshold", the
            mean reward of perfect play; by default {"RULES_CLASS-v0": {}}.

    Raises:
        TypeError: if an argument has a wrong type.
        ValueError: if the rules break the contract of `Game`, or a name is not allowed or taken by another game.

    Example:
        See `docs/your_own_game.md`, which registers Pig in one file.
    """
    if not (isinstance(rules, type) and issubclass(rules, Game) and is_dataclass(rules)):
        raise ValueError(f"rules must be a frozen dataclass that is a stb_gym.Game, not {quoted(rules)}")
    if not (isinstance(words, type) and issubclass(words, Words)):
        raise TypeError(f"words must be a class that is a stb_gym.words.Words, not {quoted(words)}")
    if rules.__abstractmethods__:
        raise ValueError(f"{rules.__name__} must have the methods {', '.join(sorted(rules.__abstractmethods__))}")
    for field in fields(rules):
        if field.init and field.default is MISSING and field.default_factory is MISSING:
            raise ValueError(f"{field.name} of {rules.__name__} must have a default, by which the game is checked")
    smallest = rules()
    for name, known in rules_of(rules).items():
        if known.size and known.low is not None:
            with suppress(ValueError):  # the lowest values may exclude each other
                smallest = replace(smallest, **{name: known.low})
    check_game(smallest)
    if not rules.__module__.startswith(f"{__name__.partition('.')[0]}."):  # tests check the games of the package
        check_game(rules())
    name = rules.name
    taken_by = GAMES.get(name, rules)
    if (taken_by.__module__, taken_by.__qualname__) != (rules.__module__, rules.__qualname__):
        raise ValueError(f"there is a game {name} already: {taken_by.__module__}.{taken_by.__qualname__}")
    environments = {f"{rules.__name__}-v0": {}} if environments is None else environments
    for arguments in environments.values():
        make_game(rules, {field: value for field, value in arguments.items() if field not in NO_FIELDS})
    entry = Entry(rules, heuristics, variants, environments)
    refuse_names_of_strategies(entry.heuristics)
    register_environments(entry)
    register_rounds(entry)
    GAMES[name] = rules
    ENTRIES[rules] = entry
    WORDS[rules] = words


register_game(
    ShutTheBox,
    words=BoxWords,
    heuristics=shut_the_box.HEURISTICS,
    variants=shut_the_box.VARIANTS,
    environments=shut_the_box.ENVIRONMENTS,
)
register_game(Threes, words=ThreesWords, heuristics=threes.HEURISTICS, environments=threes.ENVIRONMENTS)
