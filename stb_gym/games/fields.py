"""Fields of rules, with their meaning and allowed values, and checks of arguments.

Rules are frozen dataclasses whose fields are the variants of a game. A field made by `rule` states its meaning and its
allowed values once; its check and its flag in commands follow from them. Every check raises a ValueError that says in
one line what was wrong and what is allowed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, field, fields
from difflib import get_close_matches
from typing import Any, NamedTuple, TypeVar

import numpy as np

G = TypeVar("G")


class Rule(NamedTuple):
    """The meaning of a field of rules and its allowed values.

    Attributes:
        words: its meaning, in a line without a full stop.
        low, high: the least and the largest integer allowed; None if the rules check the value themselves.
        choices: the allowed strings.
        flag: the name of its flag, if that is not the name of the field.
        size: True if `title` always names it, even with its default value.
        sample: a value as a person might type it, for the help.
    """

    words: str = ""
    low: int | None = None
    high: int | None = None
    choices: Sequence[str] = ()
    flag: str | None = None
    size: bool = False
    sample: str | None = None


class Variant(NamedTuple):
    """Named rules: the fields that differ from the defaults, and the rules in a sentence."""

    fields: Mapping[str, Any]
    rules: str


def rule(default: Any, words: str, **known: Any) -> Any:
    """Return a dataclass field for rules.

    Args:
        default: its default value.
        words: its meaning, in a line.
        **known: the other attributes of `Rule`.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass(frozen=True)
        ... class Coin:
        ...     sides: int = rule(2, "sides of the coin", low=1, high=3)
        >>> rules_of(Coin)["sides"].words
        'sides of the coin'
    """
    return field(default=default, metadata={"rule": Rule(words, **known)})


def rules_of(rules_class: Any) -> dict[str, Rule]:
    """Return the `Rule` of every field of a rules class; an empty one for fields that `rule` did not make."""
    return {each.name: each.metadata.get("rule", Rule()) for each in fields(rules_class)}


def check_rules(game: Any) -> None:
    """Check the fields whose allowed values are known, and turn NumPy numbers into Python numbers.

    Raises:
        ValueError: naming the first field that is out of range, and the range.
    """
    for name, known in rules_of(game).items():
        value = getattr(game, name)
        default = type(game).__dataclass_fields__[name].default
        if isinstance(value, np.generic):
            value = value.item()
            object.__setattr__(game, name, value)
        if isinstance(default, bool):
            check_flag(name, value)
        elif known.choices:
            check_choice(name, value, list(known.choices))
        elif known.low is not None and known.high is not None:
            check_integer(name, value, known.low, known.high)


def all_rules(game: Any) -> dict[str, Any]:
    """Return every field of a game, by name."""
    return asdict(game)


def own_rules(game: Any) -> dict[str, Any]:
    """Return the fields of a game that differ from the defaults."""
    values = {field.name: (getattr(game, field.name), field.default) for field in fields(game)}
    return {name: value for name, (value, standard) in values.items() if value != standard}


def title(game: Any) -> str:
    """Return a line about a game: its name, its sizes, and the fields that differ from the defaults."""
    sizes = {name: getattr(game, name) for name, known in rules_of(game).items() if known.size}
    named = ", ".join(f"{name} {value}" for name, value in (sizes | own_rules(game)).items())
    return f"{game.name}: {named}" if named else str(game.name)


def rules_in_words(game: Any) -> str:
    """Return the Python expression that makes a game."""
    return f"{type(game).__name__}({', '.join(f'{name}={value!r}' for name, value in own_rules(game).items())})"


def rule_flags(game: Any) -> list[str]:
    """Return the command-line flags that select the rules of a game."""
    words = []
    known = rules_of(game)
    for name, value in own_rules(game).items():
        flag = known[name].flag or name.replace("_", "-")
        words.append(f"--no-{flag}" if value is False else f"--{flag}")
        if not isinstance(value, bool):
            words.append(",".join(map(str, value)) if isinstance(value, tuple) else str(value))
    return words


def same_rules(game: Any, rules: Any) -> bool:
    """Return whether rules that were read from a file equal those of a game; missing fields have their defaults."""
    try:
        return bool(make_game(type(game), rules) == game)
    except (TypeError, ValueError):
        return False


def make_game(rules_class: type[G], options: Mapping[str, Any]) -> G:
    """Return a game, given its rules class and some of its fields.

    Raises:
        ValueError: if an option is no field of the rules, or its value is not allowed.
    """
    check_names("rule", options, [field.name for field in fields(rules_class)])  # type: ignore[arg-type]
    return rules_class(**options)


def check_names(kind: str, given: Iterable[str], allowed: Iterable[str]) -> None:
    """Raise a ValueError unless each of the names `given` is allowed."""
    names = list(allowed)
    for name in given:
        check_choice(kind, name, names)


def check_integer(name: str, value: Any, low: int, high: int) -> None:
    """Raise a ValueError unless `value` is an integer from `low` to `high`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
        raise ValueError(f"{name} must be an integer from {low} to {high}, not {value!r}")


def check_flag(name: str, value: Any) -> None:
    """Raise a ValueError unless `value` is true or false."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, not {value!r}")


def check_chances(name: str, chances: Iterable[float]) -> None:
    """Raise a ValueError unless numbers are probabilities that sum to 1."""
    given = list(chances)
    if not (min(given, default=0) >= 0 and abs(sum(given) - 1) <= 1e-6):
        raise ValueError(f"{name} must be probabilities that sum to 1, not {given}")


def check_lineup(contest: str, strategies: Any, players: int | None = None) -> None:
    """Raise a ValueError unless there is one strategy per player, if the number of players is known."""
    if isinstance(strategies, str):
        raise ValueError(f"a {contest} takes a list of strategies, not {strategies!r} alone")
    if players is not None and len(strategies) != players:
        raise ValueError(f"a {contest} of {players} players needs as many strategies, not {len(strategies)}")


def check_choice(name: str, value: Any, allowed: Sequence[Any]) -> None:
    """Raise a ValueError unless `value` is one of `allowed`."""
    if value not in allowed:
        raise ValueError(f"unknown {name} {value!r}: allowed are {', '.join(map(str, allowed))}{meant(value, allowed)}")


def meant(value: Any, allowed: Iterable[Any]) -> str:
    """Return "; did you mean X?" for the closest allowed name, or "".

    >>> meant("biggest-frist", ["random", "biggest-first"])
    '; did you mean biggest-first?'
    """
    like = get_close_matches(str(value), [each for each in allowed if isinstance(each, str)], 1)
    return f"; did you mean {like[0]}?" if like else ""


def integers(name: str, values: Any, low: int, high: int) -> list[int]:
    """Return values as a list; raise a ValueError unless they are integers from `low` to `high`."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a list of integers from {low} to {high}, not {values!r}")
    listed = list(values)
    for value in listed:
        check_integer(f"each of {name}", value, low, high)
    return [int(value) for value in listed]
