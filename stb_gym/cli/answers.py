"""Answers of commands: named values, printed as JSON or as text with a sentence, single values and tables."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from stb_gym.cli.flags import RoundTurn
from stb_gym.console import Column, Table, columns
from stb_gym.games import Game, all_rules, title
from stb_gym.games.registry import NOTHING
from stb_gym.messages import escaped, in_lines
from stb_gym.solver import Objective
from stb_gym.words import words_of

Format = str | Callable[[Any], str]
PERCENT, CHANCE, POINTS = "z.4%", "z.6%", "z.6f"
NOT_FACTS = ("game", "title", "unit")  # the sentence names the game, and values show their unit


class Answer:
    """The answer of a command.

    Args:
        sentence: the first line of the text; {game} stands for the game, {name} for the value of that
            name, and {unit} for a unit to be added to it.
        game: the game that it is about, if any.
        objective: the objective of its values, if any.
        turn: the turn of a round that it is about, if any.
        tables: by the name of a value that is a list or a dictionary, the line before its table. The text shows no
            other lists and dictionaries.
        columns: by the name of a table, the names of its columns. By default it shows all entries of its rows. A
            dictionary has its keys in the first column.
        formats: by name, the formats of values that are neither texts nor integers nor in the unit of the objective.
        status: the exit status of the command.
        **values: by name; those that are None are left out.

    Attributes:
        json: the values by name, which --json prints.
        status: the exit status of the command.

    Example:
        >>> from stb_gym.cli.answers import Answer
        >>> sides = [{"side": "heads", "times": 3}, {"side": "tails", "times": 3}]
        >>> tables = {"sides": "Its sides:"}
        >>> answer = Answer("A {coin} was tossed.", coin="penny", sides=sides, tables=tables)
        >>> print(answer)
        A penny was tossed.
        <BLANKLINE>
        coin  penny
        <BLANKLINE>
        Its sides:
        side   times
        heads      3
        tails      3
    """

    def __init__(
        self,
        sentence: str,
        game: Game | None = None,
        objective: Objective | None = None,
        turn: RoundTurn | None = None,
        *,
        tables: Mapping[str, str] = NOTHING,
        columns: Mapping[str, Sequence[str]] = NOTHING,
        formats: Mapping[str, Format] = NOTHING,
        status: int = 0,
        **values: Any,
    ) -> None:
        self.sentence = sentence
        self.status = status
        self.game = game
        self.tables = tables
        self.columns = columns
        self.formats = formats
        self.json: dict[str, Any] = {}
        if game is not None:
            self.json |= {"game": game.name, "rules": all_rules(game), "title": title(game)}
        if objective is not None:
            self.json |= {"objective": objective.name, "unit": objective.unit}
        if turn is not None:
            self.json["scores_so_far"] = f"{turn.scores_so_far.in_words(turn.rules.game)}, ties {turn.rules.ties}"
        self.json |= {name: value for name, value in values.items() if value is not None}

    def __str__(self) -> str:
        """Return the answer as text."""
        facts = {
            name: self._cell(value, self.formats.get(name))
            for name, value in self.json.items()
            if name not in NOT_FACTS
            and (isinstance(value, str | int | float) or (isinstance(value, list | tuple) and name in self.formats))
        }
        game = self.game and words_of(self.game).introduction()
        unit = " points" if self.json.get("unit") == "points" else ""
        parts = [_wrapped(self.sentence.format(**facts, game=game, unit=unit))]
        parts.append(self._table("", {self._label(name): fact for name, fact in facts.items()}))
        for name, line in self.tables.items():
            if self.json.get(name):
                parts.append("\n".join(filter(None, [_wrapped(line), self._table(name, self.json[name])])))
        return "\n\n".join(filter(None, parts))

    def _table(self, name: str, value: Any) -> str:
        """Return the table of a list of rows or texts, or of a dictionary."""
        if isinstance(value, dict):
            headings = self.columns.get(name, ["", " "])
            entries = [[key, *(entry if isinstance(entry, list) else [entry])] for key, entry in value.items()]
            rows = [dict(zip(headings, entry, strict=True)) for entry in entries]
        else:
            rows = [row if isinstance(row, dict) else {"": row} for row in value]
        table = {}
        for column in self.columns.get(name) or dict.fromkeys(key for row in rows for key in row):
            form = self.formats.get(column, self.formats.get(name))
            cells = [self._cell(row.get(column), form, row.get("unit")) for row in rows]
            are_words = any(map(str.isalpha, "".join(cells)))
            table[self._label(column)] = Column("" if are_words else str, cells)
        return str(Table(table)) if table else ""

    def _cell(self, value: Any, form: Format | None, unit: str | None = None) -> str:
        """Return a value as text, in its format or, if it has none, in that of its type."""
        match value:
            case None:
                return ""
            case str():
                return value
            case list() | tuple():
                separator = " or " if value and isinstance(value[0], str | dict) else ", "
                return separator.join(self._cell(entry, form, unit) for entry in value)
            case _ if callable(form):
                return form(value)
            case dict():
                return ", ".join(f"{key} {self._cell(entry, form, unit)}" for key, entry in value.items())
            case bool():
                return "yes" if value else "no"
            case int():
                return format(value, form or ",d")
        return format(value, form or form_of(unit or self.json.get("unit")))

    def _label(self, name: str) -> str:
        if name == "shut_probability" and self.game is not None:
            return words_of(self.game).perfection
        return name.replace("_", " ")


def rows_of(columns: Mapping[str, Iterable[Any]]) -> list[dict[str, Any]]:
    """Return the rows of a table as dictionaries, from its columns by name."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def form_of(unit: str | None) -> str:
    """Return the format of numbers in the unit of an objective."""
    return CHANCE if unit == "probability" else POINTS


def _wrapped(line: str) -> str:
    return "\n".join(in_lines(escaped(line), columns()))


def moves_in_words(game: Game) -> Callable[[Mapping[str, Any]], str]:
    """Return a function that describes the moves of a game, given as the dictionaries that JSON has."""
    words = words_of(game)
    lines = {
        repr(words.move(action, goes_on)): game.describe_move(action, goes_on)
        for action in range(len(game.actions))
        for goes_on in (True, False)
    }
    return lambda move: lines[repr(move)]
