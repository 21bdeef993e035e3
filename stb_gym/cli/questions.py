"""What a command asks and what it answers.

A question is a dataclass whose fields are its flags and whose docstring is its help. An answer is data for Python and
JSON, and knows what people see of it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, NamedTuple

from stb_gym.games import Game, all_rules, title
from stb_gym.output import Column, Table, escaped
from stb_gym.output import expect as expect
from stb_gym.solver import Branch, Objective

SCHEMA = 1  # of the JSON, see docs/json.md: one more when an entry goes, is renamed or comes to mean something else
Parts = Iterable[str | Table | Branch]  # sentences, tables and trees
Tell = Callable[..., None]  # takes what `stb_gym.output.Progress.tell` takes


def silent(done: float | None = None, total: float | None = None, *, note: str | None = None) -> None:
    """Tell nobody how far the work is."""


@dataclass(frozen=True)
class Question(ABC):
    """A question about a game.

    Attributes:
        name: of the command.
        examples: what may follow the name, for the help.
        of_a_game: whether it is about a game at all; the command of one that is not takes no game and no rules.
        needs_game: whether a game must be named.
        interactive: whether a person takes part: then the command prints by itself, and there is no answer to print.
    """

    name: ClassVar[str]
    examples: ClassVar[tuple[str, str]]
    of_a_game: ClassVar[bool] = True
    needs_game: ClassVar[bool] = True
    interactive: ClassVar[bool] = False

    @classmethod
    def usual_game(cls) -> str | None:
        """The name of the game that is meant if none is named; None if the question is then of no game."""
        return None

    @abstractmethod
    def answer(self, game: Any, tell: Tell = silent) -> Any:
        """Answer the question.

        Args:
            game: the rules it is about; None if it may be of no game.
            tell: called now and then with how far the work is.

        Returns:
            An `Answer`; None if the question is interactive.

        Raises:
            ValueError: if something that was asked for is not allowed.
        """


class Flag(NamedTuple):
    """What is known of a field of a question.

    Attributes:
        words: what it means, in a line without a full stop.
        sample: a value as a person might type it, for the help.
        kind: makes the value of what is typed.
        repeated: True if the flag takes several `names`, with commas or by the flag again.
        position: True for the field that holds a position, whose flags depend on the game.
        bare: True for the field whose values are typed without a flag, any number of them.
    """

    words: str
    sample: str | None = None
    kind: Callable[[str], Any] = str
    repeated: bool = False
    position: bool = False
    bare: bool = False


def flag(default: Any, words: str, sample: str | None = None, kind: Callable[[str], Any] = str, **known: bool) -> Any:
    """A field of a question; without a default (`MISSING`) its flag is required. For the others see `Flag`."""
    metadata = {"flag": Flag(words, sample, kind, **known)}
    if default is MISSING:
        return field(metadata=metadata)
    if isinstance(default, dict):
        return field(default_factory=dict, metadata=metadata)
    return field(default=default, metadata=metadata)


def names(text: str) -> tuple[str, ...]:
    """Names separated by commas."""
    return tuple(text.split(","))


OBJECTIVE = (
    "what a turn is played for: its points, the chance of its perfect score, or that of at most T points "
    "(at-least:T where more are better)"
)


def objective_flag() -> Any:
    """The field of what a turn is played for."""
    return flag("score", OBJECTIVE, "score|shut|at-most:T")


@dataclass(frozen=True, kw_only=True)
class Answer(ABC):
    """An answer; its fields are the entries of its JSON, but for those that are None."""

    def to_json(self) -> dict[str, Any]:
        """The answer as plain JSON: the number of its schema, what was asked about, then what was found."""
        return {"schema": SCHEMA} | self.about() | self.entries()

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
    def parts(self) -> Parts:
        """What people see below the heading: sentences, tables and trees, with an empty line between them."""

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
        return {"game": self.game.name, "rules": all_rules(self.game), "title": title(self.game)}

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
    """A table without a title."""
    return Table(columns)


def facts(*rows: tuple[str, str] | None) -> Table:
    """A table of names and values without headings; None for a row that there is not."""
    return Table.from_rows([], [row for row in rows if row is not None])


def _plain(value: Any) -> Any:
    if hasattr(value, "_asdict"):  # a named tuple
        return _plain(value._asdict())
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value
