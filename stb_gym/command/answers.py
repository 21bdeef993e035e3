"""What every answer of a command is: data for Python and JSON, and what people see of it."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from stb_gym.exact import Objective
from stb_gym.games import Game, title
from stb_gym.output import Column, Table, escaped


@dataclass(frozen=True, kw_only=True)
class Answer(ABC):
    """An answer; its fields are the entries of its JSON, but for those that are None."""

    def to_json(self) -> dict[str, Any]:
        """The answer as plain JSON: what was asked about, then what was found."""
        return self.about() | self.entries()

    def about(self) -> dict[str, Any]:
        """What was asked about, as plain JSON."""
        return {}

    def entries(self) -> dict[str, Any]:
        """What was found, as plain JSON."""
        own = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("game", "objective")}
        return {name: _plain(value) for name, value in own.items() if value is not None}

    def heading(self) -> list[str]:
        """The lines above all else."""
        return []

    @abstractmethod
    def parts(self) -> Iterable[str | Table]:
        """What people see below the heading: sentences and tables, with an empty line between them."""

    def __str__(self) -> str:
        """The whole as text."""
        above = "\n".join(map(escaped, self.heading()))
        below = [escaped(part) if isinstance(part, str) else str(part) for part in self.parts()]
        return "\n\n".join(filter(None, [above, *below]))


@dataclass(frozen=True, kw_only=True)
class GameAnswer(Answer):
    """An answer about a game."""

    game: Game

    def about(self) -> dict[str, Any]:
        """The game's name, its rules, and both in a line."""
        return {"game": self.game.name, "rules": rules_in_json(self.game), "title": title(self.game)}

    def heading(self) -> list[str]:
        """The game in a line."""
        return [title(self.game)]


@dataclass(frozen=True, kw_only=True)
class TurnAnswer(GameAnswer):
    """An answer about a turn that is played for an objective; its values are in the objective's unit."""

    objective: Objective

    def about(self) -> dict[str, Any]:
        """The game, the objective and its unit."""
        return super().about() | {"objective": self.objective.name, "unit": self.objective.unit}

    def heading(self) -> list[str]:
        """The game in a line, and what it is played for in another."""
        return [*super().heading(), f"objective {self.objective.name}"]

    def in_unit(self, value: float) -> str:
        """A value as people read it."""
        return f"{value:.6%}" if self.objective.unit == "probability" else f"{value:.6f}"


def table(columns: Mapping[str, Column]) -> Table:
    """A table without title and note."""
    return Table("", "", columns)


def facts(*rows: tuple[str, str] | None) -> Table:
    """A table of names and values without headings; None for a row that there is not."""
    return Table.from_rows([], [row for row in rows if row is not None])


def rules_in_json(game: Game) -> dict[str, Any]:
    """Every field of a game's rules."""
    return asdict(game)  # type: ignore[call-overload]


def _plain(value: Any) -> Any:
    if hasattr(value, "_asdict"):  # a named tuple
        return _plain(value._asdict())
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value
