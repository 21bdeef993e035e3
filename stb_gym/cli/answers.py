"""Answers of commands: named values, printed as JSON or as text with a sentence, single values and tables."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from string import Formatter
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
NOT_FACTS = ("game", "title", "objective", "unit", "scores_so_far")  # they are in the sentence


class Answer:
    """The answer of a command.

    Args:
        sentence: the first line of the text; {game} stands for the game, {name} for the value of that
            name, and {unit} for a unit to be added to it.
        words: more texts for the sentence, by their names in braces.
        game: the game that it is about, if any.
        objective: the objective of its values, if any.
        turn: the turn of a round that it is about, if any.
        tables: by the name of a value that is a list or a dictionary, the line before its table; "facts" is the table
            of all other values.
        more_tables: tables that the text shows only with --full, after the facts.
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
        >>> print(answer.text())
        A penny was tossed.
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
        words: Mapping[str, str] = NOTHING,
        tables: Mapping[str, str] = NOTHING,
        more_tables: Mapping[str, str] = NOTHING,
        columns: Mapping[str, Sequence[str]] = NOTHING,
        formats: Mapping[str, Format] = NOTHING,
        status: int = 0,
        **values: Any,
    ) -> None:
        self.sentence = sentence
        self.words = words
        self.status = status
        self.game = game
        self.objective = objective
        self.tables = tables
        self.more_tables = more_tables
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

    def text(self, full: bool = False) -> str:
        """Return the answer as text: its sentence and tables, with all values and tables if `full` is true."""
        facts = {
            name: self._cell(value, self.formats.get(name))
            for name, value in self.json.items()
            if isinstance(value, str | int | float) or (isinstance(value, list | tuple) and name in self.formats)
        }
        said = {*NOT_FACTS, *(name for _, name, _, _ in Formatter().parse(self.sentence))}
        others = {self._label(name): fact for name, fact in facts.items() if name not in said}
        values = {**self.json, "facts": others}
        parts = [_wrapped(self.sentence.format(**{**facts, **self.words, **self._about()}))]
        every = {**self.tables, "facts": "", **self.more_tables}
        shown = every if full else self.tables
        for name, line in shown.items():
            if values.get(name):
                parts.append("\n".join(filter(None, [_wrapped(line), self._table(name, values[name])])))
        if any(map(values.get, every.keys() - shown.keys())):
            parts.append("Add --full for all numbers.")
        return "\n\n".join(filter(None, parts))

    def _about(self) -> dict[str, str]:
        """Return the game and the unit for the sentence."""
        unit = " points" if self.json.get("unit") == "points" else ""
        if self.game is None:
            return {"unit": unit}
        words = words_of(self.game)
        game = words.introduction()
        if self.objective is not None and self.objective.target is not None:
            game += f" for {words.goal(self.objective.target)}"
        if "scores_so_far" in self.json:
            game += f" in a round ({self.json['scores_so_far']})"
        return {"game": game, "unit": unit}

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
            are_words = any(map(str.isalpha, "".join(cells))) or any(", " in cell for cell in cells)
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
