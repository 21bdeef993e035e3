"""Fields of rules: their meaning and allowed values, and games made from some of them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, field, fields
from typing import Any, NamedTuple

from stb_gym.checks import check_names


class Rule(NamedTuple):
    """The meaning of a field of rules and its allowed values.

    Attributes:
        words: its meaning, in a line without a full stop.
        low, high: the least and the largest integer allowed; None if the rules check the value themselves.
        choices: the allowed strings.
        size: True if `title` always names it, even with its default value.
    """

    words: str = ""
    low: int | None = None
    high: int | None = None
    choices: Sequence[str] = ()
    size: bool = False


class Variant(NamedTuple):
    """Named rules: the fields that differ from the defaults, and the rules in a sentence."""

    fields: Mapping[str, Any]
    rules: str


def rule(default: Any, words: str, **known: Any) -> Any:
    """Return a dataclass field of rules, which states its meaning and its allowed values.

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
    check_names("attribute of a rule", known, Rule._fields)
    return field(default=default, metadata={"rule": Rule(words, **known)})


def rules_of(rules_class: Any) -> dict[str, Rule]:
    """Return the `Rule` of every field of a rules class, by name; `Rule()` for fields not made by `rule`."""
    return {each.name: each.metadata.get("rule", Rule()) for each in fields(rules_class)}


def all_rules(game: Any) -> dict[str, Any]:
    """Return every field of a game, by name."""
    return asdict(game)


def own_rules(game: Any) -> dict[str, Any]:
    """Return the fields of a game that differ from the defaults."""
    defaults = {each.name: each.default for each in fields(game)}
    return {name: value for name, value in all_rules(game).items() if value != defaults[name]}
