"""What every moment of a game was worth, exactly, and so how much was luck and how much was lost by choices.

With u the expected utility under perfect play from there on,

    u(start) + sum over throws of (u(node) - u(state)) + sum over choices of (u(next state) - u(node)) = u(end)

and u(end) is what the player gets. A choice never gains anything, and the luck of a throw averages to zero (Zinkevich,
Bowling, Bard, Kan and Billings, "Optimal unbiased estimators for evaluating agent performance", 2006). In a round the
turns of the others are a third cause, their dice and choices together.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.exact import TIE, BoardValues, Policy, Values
from stb_gym.games import Game, Move, words_of
from stb_gym.output import Column, Table
from stb_gym.rounds import Reply, Round, Standings, blocks, worth_before
from stb_gym.terminal.turns import Position, Step, move_in_words, step_in_words

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


def _chance(heading: str) -> Unit:
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
    def table(self) -> Table:
        """A row for the start, for everything that happened, and for the whole."""
        causes = [cause for cause in CAUSES if any(cause in event.changes for event in self.events)]
        worths = [self.start]
        for _, changes in self.events:
            worths.append(worths[-1] + sum(changes.values()))
        happened = ["at the start", *(event.words for event in self.events), "in all"]
        columns = {"": Column("", happened)}
        for cause in causes:
            added = [event.changes.get(cause) for event in self.events]
            columns[cause] = Column(self.unit.change, [None, *added, self.total(cause)])
        columns[self.unit.heading] = Column(self.unit.value, [*worths, self.end])
        return Table("", "", columns)

    def __str__(self) -> str:
        """The account as a table and, below it, the sum in a sentence."""
        return f"{self.table}\n\n{self._sentence([cause for cause in CAUSES if cause in self.table.columns])}"

    def _sentence(self, causes: list[str]) -> str:
        parts = []
        for cause in causes:
            added = self.total(cause)
            did = f"{'helped you by' if added > 0 else 'cost you'} {self.unit.size(added)}"
            parts.append(f"{CAUSES[cause]} {did if abs(added) > TIE else 'cost you nothing'}")
        return f"In {self.unit.name}: {', '.join(parts)}."


@dataclass(frozen=True, eq=False)
class Coach:
    """What every moment of a turn is worth under perfect play.

    Attributes:
        game: the rules.
        unit: how utilities are shown to people.
        worth: the expected utility at a state (held, dice) before its throw or, without dice, of a turn ending there.
    """

    game: Game
    unit: Unit
    worth: Callable[[int, int], float]

    @property
    def start(self) -> float:
        """What the turn is worth before its first throw."""
        return self.worth(*self.game.start())

    def thrown(self, position: Position) -> float:
        """What the turn is worth before a choice."""
        return max((self._after(move) for move in position.moves), default=self.worth(position.held, 0))

    def _after(self, move: Move) -> float:
        return self.worth(move.held, move.dice)

    def remark(self, position: Position, chosen: Move) -> str:
        """What is to be said of a choice."""
        worth = self.thrown(position)
        losses = {move: worth - self._after(move) for move in position.moves}
        best = [move_in_words(self.game, position, move) for move in losses if abs(losses[move]) <= TIE * abs(worth)]
        if abs(losses[chosen]) <= TIE * abs(worth):
            return "all moves were equally good." if len(best) == len(losses) else "best move."
        return f"{self.unit.size(losses[chosen])} {self.unit.name} lost: {' or '.join(best)} was best."

    def account(self, steps: Sequence[Step]) -> Account:
        """The account of a turn."""
        events, worth = [], self.start
        for number, step in enumerate(steps, 1):
            thrown = self.thrown(step.position)
            changes = {"dice": thrown - worth}
            worth = thrown if step.move is None else self._after(step.move)
            if len(step.position.moves) > 1:
                changes["choices"] = worth - thrown
            dice, move, _ = step_in_words(self.game, step)
            events.append(Event(f"throw {number}: {dice}, {move}", changes))
        return Account(self.unit, self.start, events)


def coach_alone(known: Values | BoardValues) -> Coach:
    """The coach of a turn for nobody but oneself, by what is known of perfect play."""
    goal = known.objective
    if goal.target is not None:
        unit = _chance(f"chance of {words_of(known.game).goal(goal.target)}")
    else:
        unit = Unit(goal.sign, "", goal.unit, f"expected {goal.unit}")
    return Coach(known.game, unit, known.worth)


@dataclass(frozen=True, eq=False)
class Chances:
    """A player's expected win in a round against given opponents.

    Attributes:
        seat: where the player sits, from 0.
        reply: the player's best play.
        before: players + 1 times [Z]: what each standing is worth to the player before each seat's turn and at the end;
            after the player's own turn: if the player then holds the lead.
    """

    seat: int
    reply: Reply
    before: list[NDArray[np.float64]]

    @property
    def standings(self) -> Standings:
        """All standings of the round."""
        return self.reply.standings

    @property
    def unit(self) -> Unit:
        """How the chances are shown."""
        return _chance("expected share of the win" if self.standings.ties == "split" else "chance to win")

    def coach(self, standing: int) -> Coach:
        """The coach of the player's turn at the standing of an index."""
        after = self.standings.players - 1 - self.seat
        return Coach(self.reply.tables.game, self.unit, self.reply.worth_at(self.standings.standing(standing, after)))

    def account(self, names: Sequence[str], scores: Sequence[int], steps: Sequence[Step]) -> Account:
        """The account of a round.

        Args:
            names: of all players, in turn order.
            scores: the final scores of those who played.
            steps: the player's own turn.
        """
        standings, standing, wins = self.standings, len(self.standings.lead) - 1, True
        start = float(self.before[0][standing])
        events, words = [], words_of(self.reply.tables.game)
        for seat, score in enumerate(scores):
            worth, place = wins * self.before[seat][standing], standings.place(score)
            if seat == self.seat:
                events += self.coach(standing).account(steps).events
                wins = bool(standings.holds[standing, place])
            elif seat > self.seat:
                wins = wins and bool(standings.keeps[standing, place])
            standing = standings.after[standing, place]
            if seat != self.seat:
                change = float(wins * self.before[seat + 1][standing] - worth)
                events.append(Event(f"{names[seat]}: {words.score(score)}", {"others": change}))
        return Account(self.unit, start, events)


def chances(rules: Round, lineup: Sequence[str | Policy], seat: int) -> Chances:
    """The chances of one seat of a line-up, whose own strategy there does not matter.

    Raises:
        ValueError: if a strategy is unknown or does not fit the game.
    """
    evaluation = rules.evaluate(lineup)
    standings, played = evaluation.standings, evaluation.played
    after = [standings.share]
    for other in reversed(played[seat + 1 :]):
        after.insert(0, worth_before(standings, other, after[0]))
    reply = Reply(rules.tables, standings, after[0])
    before = [np.zeros(len(standings.lead))]
    for block in blocks(rules.tables, standings, seat):
        before[0][block] = reply.values(block)
    for other in reversed(played[:seat]):
        before.insert(0, (other.chances * before[0][standings.after]).sum(axis=1))
    return Chances(seat, reply, before + after)
