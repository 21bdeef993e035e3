"""What a command asks: a dataclass whose fields are its flags and whose docstring is its help."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field
from typing import Any, ClassVar, NamedTuple

Tell = Callable[..., None]  # takes what `stb_gym.output.Progress.tell` takes


def silent(done: float | None = None, total: float | None = None, *, note: str | None = None) -> None:
    """Tell nobody how far the work is."""


@dataclass(frozen=True)
class Question(ABC):
    """A question about a game.

    Attributes:
        name: of the command.
        needs_game: whether a game must be named.
        interactive: whether a person takes part: then the command prints by itself, and there is no answer to print.
    """

    name: ClassVar[str]
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
        repeated: True if the flag may be given several times, once for each value.
        position: True for the field that holds a position, whose flags depend on the game.
    """

    words: str
    sample: str | None = None
    kind: Callable[[str], Any] = str
    repeated: bool = False
    position: bool = False


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
