"""What every moment of a game was worth, exactly, and so how much was luck and how much was lost by choices.

With u the expected utility under perfect play from there on,

    u(start) + sum over throws of (u(node) - u(state)) + sum over choices of (u(next state) - u(node)) = u(end)

and u(end) is what the player gets. A choice never gains anything, and the luck of a throw averages to zero (Zinkevich,
Bowling, Bard, Kan and Billings, "Optimal unbiased estimators for evaluating agent performance", 2006). In a round the
turns of the others are a third cause, their dice and choices together; see `chances`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stb_gym.games import Game, Move, words_of
from stb_gym.output import Column, Table
from stb_gym.solver import TIE, BoardValues, Choice, Values, choice_at
from stb_gym.terminal.turns import Position, Step, move_in_words, step_in_words

MOST_RANKED = 10  # moves
CAUSES = {"others": "the others", "dice": "the dice", "choices": "your choices"}


class Unit(NamedTuple):
    """How utilities are shown to people.

    Attributes:
        scale: what a utility is multiplied by.
        mark: what follows a value.
        name: what differences are counted in.
        heading: what is valued.
    """

    scale: int
    mark: str
    name: str
    heading: str

    def value(self, utility: float) -> str:
        """A utility as people read it."""
        return f"{self.scale * utility:z.2f}{self.mark}"

    def change(self, utility: float) -> str:
        """A difference of utilities, with its sign."""
        change = f"{self.scale * utility:+z.2f}"
        return "0.00" if change == "+0.00" else change

    def size(self, utility: float) -> str:
        """A difference of utilities, without its sign."""
        size = abs(self.scale * utility)
        return f"{size:.2f}" if size >= 0.005 else "less than 0.01"


def chance_unit(heading: str) -> Unit:
    """Chances in percent, and their differences in percentage points."""
    return Unit(100, "%", "percentage points", heading)


class Event(NamedTuple):
    """Something that happened, and the utility that each cause in it added to the player's prospects."""

    words: str
    changes: dict[str, float]


@dataclass(frozen=True)
class Account:
    """A whole game: what it was worth at the start, in utility, and everything that changed it."""

    unit: Unit
    start: float
    events: list[Event]

    def total(self, cause: str) -> float:
        """What a cause added in all: the choices never more than 0."""
        return sum(event.changes.get(cause, 0.0) for event in self.events)

    @property
    def end(self) -> float:
        """What the player got: the start and all that was added."""
        return self.start + sum(map(self.total, CAUSES))

    @property
    def _causes(self) -> list[str]:
        return [cause for cause in CAUSES if any(cause in event.changes for event in self.events)]

    @property
    def table(self) -> Table:
        """A row for the start, for everything that happened, and for the whole."""
        worths = [self.start]
        for _, changes in self.events:
            worths.append(worths[-1] + sum(changes.values()))
        happened = ["at the start", *(event.words for event in self.events), "in all"]
        columns = {"": Column("", happened)}
        for cause in self._causes:
            added = [event.changes.get(cause) for event in self.events]
            columns[cause] = Column(self.unit.change, [None, *added, self.total(cause)])
        columns[self.unit.heading] = Column(self.unit.value, [*worths, self.end])
        return Table(columns)

    def __str__(self) -> str:
        """The account as a table and, below it, the sum in a sentence."""
        return f"{self.table}\n\n{self.sentence}"

    @property
    def sentence(self) -> str:
        """What every cause did in all."""
        parts = []
        for cause in self._causes:
            added = self.total(cause)
            did = f"{'helped you by' if added > 0 else 'cost you'} {self.unit.size(added)}"
            parts.append(f"{CAUSES[cause]} {did if abs(added) > TIE else 'cost you nothing'}")
        return f"In {self.unit.name}: {', '.join(parts)}."


@dataclass(frozen=True, eq=False)
class Coach:
    """What every moment of a turn is worth under perfect play.

    Attributes:
        known: the values of perfect play.
        unit: how utilities are shown to people.
    """

    known: Values | BoardValues
    unit: Unit

    @property
    def game(self) -> Game:
        """The rules."""
        return self.known.game

    @property
    def start(self) -> float:
        """What the turn is worth before its first throw."""
        return self.known.worth(*self.game.start())

    def choice(self, position: Position) -> Choice:
        """What every move is worth and loses."""
        return choice_at(self.known, position.held, position.dice, position.roll)

    def remark(self, position: Position, chosen: Move) -> str:
        """What is to be said of a choice."""
        choice = self.choice(position)
        if (lost := choice.loss[choice.moves.index(chosen)]) == 0:
            return "best move." if any(choice.loss) else "all moves were equally good."
        named = " or ".join(move_in_words(self.game, position, move) for move in choice.best)
        return f"{self.unit.size(lost)} {self.unit.name} lost: {named} was best."

    def ranking(self, position: Position, chosen: Move) -> Table:
        """The moves, best first, with what each is worth and loses; of many the best ones and the chosen one."""
        moves, after, losses, _ = self.choice(position)
        ranked = sorted(zip(moves, after, losses, strict=True), key=lambda each: each[2])
        shown = [each for place, each in enumerate(ranked) if place < MOST_RANKED or each[0] == chosen]
        columns = {
            "": Column("", [move_in_words(self.game, position, move) for move, _, _ in shown]),
            self.unit.heading: Column(self.unit.value, [worth for _, worth, _ in shown]),
            "lost": Column(lambda loss: self.unit.size(loss) if loss else "0.00", [loss for _, _, loss in shown]),
            " ": Column("", ["yours" if move == chosen else "" for move, _, _ in shown]),
        }
        return Table(columns)

    def account(self, steps: Sequence[Step]) -> Account:
        """The account of a turn."""
        events, worth = [], self.start
        for number, step in enumerate(steps, 1):
            choice = self.choice(step.position)
            changes, worth = {"dice": choice.utility - worth}, choice.utility
            if step.move is not None:
                worth = choice.after[choice.moves.index(step.move)]
            if len(choice.moves) > 1:
                changes["choices"] = 0.0 if step.move is None else -choice.loss[choice.moves.index(step.move)]
            dice, move, _ = step_in_words(self.game, step)
            events.append(Event(f"throw {number}: {dice}, {move}", changes))
        return Account(self.unit, self.start, events)


def coach_alone(known: Values | BoardValues) -> Coach:
    """The coach of a turn for nobody but oneself, by what is known of perfect play."""
    goal = known.objective
    if goal.target is not None:
        unit = chance_unit(f"chance of {words_of(known.game).goal(goal.target)}")
    else:
        unit = Unit(goal.sign, "", goal.unit, f"expected {goal.unit}")
    return Coach(known, unit)
