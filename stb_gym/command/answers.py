"""What every answer of a command is: data that Python and JSON can read, and what people see of it."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import Any

from stb_gym.exact import Objective
from stb_gym.games import Game, title
from stb_gym.output import Table


@dataclass(frozen=True, kw_only=True)
class Answer(ABC):
    """An answer; its fields are the entries of its JSON, but for those that are None.

    Attributes:
        game: the rules asked about; None if the question was of no game.
        objective: what a turn was played for; None if that does not matter.
    """

    game: Game | None = None
    objective: Objective | None = None

    def to_json(self) -> dict[str, Any]:
        """The answer as plain JSON."""
        entries: dict[str, Any] = {}
        if self.game is not None:
            entries |= {"game": self.game.name, "rules": asdict(self.game), "title": title(self.game)}  # type: ignore[call-overload]
        if self.objective is not None:
            entries |= {"objective": self.objective.name, "unit": self.objective.unit}
        own = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("game", "objective")}
        return entries | {name: _plain(value) for name, value in own.items() if value is not None}

    @abstractmethod
    def parts(self) -> Iterable[str | Table]:
        """What people see, below the heading: sentences and tables, with an empty line between them."""

    def __str__(self) -> str:
        """The whole as text."""
        return "\n\n".join(str(part) for part in (self.heading, *self.parts()) if str(part))

    @property
    def heading(self) -> str:
        """The game in a line, and what it is played for in another."""
        lines = [title(self.game)] if self.game is not None else []
        return "\n".join([*lines, *([f"objective {self.objective.name}"] if self.objective else [])])

    def in_unit(self, value: float) -> str:
        """A value in the objective's unit."""
        assert self.objective is not None
        return f"{value:.6%}" if self.objective.unit == "probability" else f"{value:.6f}"


def facts(*rows: tuple[str, str] | None) -> Table:
    """A table of facts: what each is, and what it is worth; None for a fact that there is not."""
    return Table.from_rows(["", " "], [row for row in rows if row is not None])


def _plain(value: Any) -> Any:
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value
