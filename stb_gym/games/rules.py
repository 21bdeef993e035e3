"""The fields of rules: what they mean and which values are allowed."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, field, fields
from typing import Any, NamedTuple, TypeVar

from stb_gym.checks import check_names

T = TypeVar("T")


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
    """Make a dataclass field that says what it means and which values are allowed.

    Args:
        default: its default value.
        words: its meaning, in a line.
        **known: the other attributes of `Rule`.

    Returns:
        A value for the body of a dataclass.

    Example:
        >>> from dataclasses import dataclass
        >>> from stb_gym.games import rule, rules_of
        >>> @dataclass(frozen=True)
        ... class Coin:
        ...     sides: int = rule(2, "sides of the coin", low=1, high=3)
        >>> rules_of(Coin)["sides"].words
        'sides of the coin'
    """
    check_names("attribute of a rule", known, Rule._fields)
    return field(default=default, metadata={"rule": Rule(words, **known)})


def rules_of(rules_class: Any) -> dict[str, Rule]:
    """Return the `Rule` of every field of a rules class, by name; `Rule()` for fields that `rule` did not make."""
    return {each.name: each.metadata.get("rule", Rule()) for each in fields(rules_class)}


def all_rules(game: Any) -> dict[str, Any]:
    """Return every field of a game, by name."""
    return asdict(game)


def own_rules(game: Any) -> dict[str, Any]:
    """Return the fields of a game that differ from their defaults, by name."""
    return {each.name: value for each in fields(game) if (value := getattr(game, each.name)) != each.default}


def document_fields(rules_class: type[T]) -> type[T]:
    """Add the meaning and the default of every field to the docstring of a rules class."""
    description, raises, rest = (rules_class.__doc__ or "").partition("    Raises:\n")
    lines = "".join(
        f"        {each.name}: {each.metadata['rule'].words}; by default {each.default!r}.\n"
        for each in fields(rules_class)  # type: ignore[arg-type]
    )
    rules_class.__doc__ = f"{description}    Args:\n{lines}\n{raises}{rest}"
    return rules_class
