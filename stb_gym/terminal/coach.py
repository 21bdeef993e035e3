"""A coach who values every moment of a game exactly, and so separates luck from mistakes.

With u the expected utility under perfect play from there on,

    u(start) + sum over throws of (u(node) - u(state)) + sum over choices of (u(next state) - u(node)) = u(end)

and u(end) is what the player gets. A choice never gains anything, and the luck of a throw averages to zero (Zinkevich,
Bowling, Bard, Kan and Billings, "Optimal unbiased estimators for evaluating agent performance", 2006). In a round the
turns of the other players are a third cause: their dice and choices together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Game, Move, words_of
from stb_gym.output import Column, Table
from stb_gym.rounds import Reply, Round
from stb_gym.solver import TIE, BoardValues, Choice, Policy, Values, choice_at
from stb_gym.terminal.turns import Position, Step, move_in_words, moves_in_words, step_in_words

MOST_RANKED = 10  # moves
CAUSES = ("others", "dice", "choices")


class Unit(NamedTuple):
    """How people read utilities.

    Attributes:
        scale: the factor from utilities to the numbers shown.
        mark: the text after a value, such as "%".
        name: the unit of differences, such as "points".
        heading: the name of the value, such as "expected points".
    """

    scale: int
    mark: str
    name: str
    heading: str

    def value(self, utility: float) -> str:
        """Return a utility as people read it."""
        return f"{self.scale * utility:z.2f}{self.mark}"

    def change(self, utility: float) -> str:
        """Return a difference of utilities with its sign."""
        change = f"{self.scale * utility:+z.2f}"
        return "0.00" if change == "+0.00" else change

    def size(self, utility: float) -> str:
        """Return a difference of utilities without its sign."""
        size = abs(self.scale * utility)
        return f"{size:.2f}" if size >= 0.005 else "less than 0.01"


def probability_unit(heading: str) -> Unit:
    """Return the unit of probabilities: percent, and percentage points for their differences."""
    return Unit(100, "%", "percentage points", heading)


class Event(NamedTuple):
    """Something that happened in a game, and the utility that each of its causes added for the player."""

    words: str
    changes: dict[str, float]


@dataclass(frozen=True)
class Account:
    """A whole game: its utility for the player at the start, and every event that changed it."""

    unit: Unit
    start: float
    events: list[Event]

    def total(self, cause: str) -> float:
        """Return what a cause added in all; choices never add more than 0."""
        return sum(event.changes.get(cause, 0.0) for event in self.events)

    @property
    def end(self) -> float:
        """The utility that the player got: that of the start and all that was added."""
        return self.start + sum(map(self.total, CAUSES))

    @property
    def _causes(self) -> list[str]:
        return [cause for cause in CAUSES if any(cause in event.changes for event in self.events)]

    def __str__(self) -> str:
        """Return a table of all events and, below it, the totals in a sentence."""
        utilities = [self.start]
        for _, changes in self.events:
            utilities.append(utilities[-1] + sum(changes.values()))
        columns = {"": Column("", ["at the start", *(event.words for event in self.events), "in all"])}
        for cause in self._causes:
            added = [event.changes.get(cause) for event in self.events]
            columns[cause] = Column(self.unit.change, [None, *added, self.total(cause)])
        columns[self.unit.heading] = Column(self.unit.value, [*utilities, self.end])
        return f"{Table(columns)}\n\n{self.sentence}"

    @property
    def sentence(self) -> str:
        """The total of every cause, such as "In points: the dice helped by 2.10, the choices cost nothing."."""
        parts = []
        for cause in self._causes:
            added = self.total(cause)
            effect = f"{'helped by' if added > 0 else 'cost'} {self.unit.size(added)}"
            parts.append(f"the {cause} {effect if abs(added) > TIE else 'cost nothing'}")
        return f"In {self.unit.name}: {', '.join(parts)}."


@dataclass(frozen=True, eq=False)
class Coach:
    """A coach of one turn, who knows its values under perfect play.

    Attributes:
        known: the values of perfect play.
        unit: how people read them.
    """

    known: Values | BoardValues
    unit: Unit

    @property
    def game(self) -> Game:
        """The rules."""
        return self.known.game

    @property
    def start(self) -> float:
        """The utility of the turn before its first throw."""
        return self.known.worth(*self.game.start())

    def choice(self, position: Position) -> Choice:
        """Return the utility and the loss of every move."""
        return choice_at(self.known, position.held, position.dice, position.roll)

    def loss(self, position: Position, move: Move) -> float:
        """Return the utility that a move loses against the best one."""
        choice = self.choice(position)
        return choice.loss[choice.moves.index(move)]

    def remark(self, position: Position, move: Move) -> str:
        """Return what a move loses and which moves are best, in words."""
        choice, lost = self.choice(position), self.loss(position, move)
        if lost == 0:
            return "best move." if any(choice.loss) else "all moves were equally good."
        best = moves_in_words(self.game, position, choice.best)
        return f"{self.unit.size(lost)} {self.unit.name} lost: {best} was best."

    def ranking(self, position: Position, chosen: Move) -> Table:
        """Return a table of the best moves and the chosen one, with the value and the loss of each."""
        moves, after, losses, _ = self.choice(position)
        ranked = sorted(zip(moves, after, losses, strict=True), key=lambda row: row[2])
        shown = [row for place, row in enumerate(ranked) if place < MOST_RANKED or row[0] == chosen]
        columns = {
            "": Column("", [move_in_words(self.game, position, move) for move, _, _ in shown]),
            self.unit.heading: Column(self.unit.value, [utility for _, utility, _ in shown]),
            "lost": Column(lambda loss: self.unit.size(loss) if loss else "0.00", [loss for _, _, loss in shown]),
            " ": Column("", ["yours" if move == chosen else "" for move, _, _ in shown]),
        }
        return Table(columns)

    def account(self, steps: Sequence[Step]) -> Account:
        """Return the account of a turn."""
        events, utility = [], self.start
        for number, step in enumerate(steps, 1):
            choice = self.choice(step.position)
            changes, utility = {"dice": choice.utility - utility}, choice.utility
            if len(choice.moves) > 1:
                changes["choices"] = -self.loss(step.position, step.move) if step.move else 0.0
            if step.move:
                utility = choice.after[choice.moves.index(step.move)]
            dice, move, _ = step_in_words(self.game, step)
            events.append(Event(f"throw {number}: {dice}, {move}", changes))
        return Account(self.unit, self.start, events)


def coach_alone(known: Values | BoardValues) -> Coach:
    """Return the coach of a player who plays a turn alone.

    Args:
        known: the values of perfect play.
    """
    objective = known.objective
    if objective.target is not None:
        return Coach(known, probability_unit(f"chance of {words_of(known.game).goal(objective.target)}"))
    return Coach(known, Unit(objective.sign, "", objective.unit, f"expected {objective.unit}"))


@dataclass(frozen=True, eq=False)
class RoundCoach:
    """A coach of one seat of a round, who knows its expected win against given opponents.

    Attributes:
        seat: the place in turn order, from 0.
        reply: the best response of the seat.
        before: for every turn, and once more for the end of the round, [Z] the expected win of the seat at each
            standing. After its own turn: if the seat then holds the lead.
    """

    seat: int
    reply: Reply
    before: list[NDArray[np.float64]]

    @property
    def unit(self) -> Unit:
        """How people read the expected win."""
        split = self.reply.standings.ties == "split"
        return probability_unit("expected share of the win" if split else "chance to win")

    def at(self, standing: int) -> Coach:
        """Return the coach of the seat's turn at the standing with this index."""
        standings = self.reply.standings
        after = standings.players - 1 - self.seat
        return Coach(self.reply.values_at(standings.standing(standing, after)), self.unit)

    def account(self, names: Sequence[str], scores: Sequence[int], steps: Sequence[Step]) -> Account:
        """Return the account of a round.

        Args:
            names: the names of all players, in turn order.
            scores: the final scores of the players whose turns are over.
            steps: the steps of the seat's own turn, up to where it was played.
        """
        standings, words = self.reply.standings, words_of(self.reply.tables.game)
        standing, may_win = len(standings.lead) - 1, True
        events = []
        for seat, score in enumerate(scores):
            utility, place = may_win * self.before[seat][standing], standings.place(score)
            if seat == self.seat:
                events += self.at(standing).account(steps).events
                may_win = bool(standings.holds[standing, place])
            elif seat > self.seat:
                may_win = may_win and bool(standings.keeps[standing, place])
            standing = standings.after[standing, place]
            if seat != self.seat:
                change = float(may_win * self.before[seat + 1][standing] - utility)
                events.append(Event(f"{names[seat]}: {words.score(score)}", {"others": change}))
        if steps and len(scores) == self.seat:
            events += self.at(standing).account(steps).events
        return Account(self.unit, float(self.before[0][-1]), events)


def coach_in_round(rules: Round, lineup: Sequence[str | Policy], seat: int) -> RoundCoach:
    """Return the coach of one seat of a lineup.

    Args:
        rules: the rules of the round.
        lineup: the strategy of every player, in turn order; that of the seat itself makes no difference.
        seat: the place in turn order, from 0.

    Raises:
        ValueError: if a strategy is unknown or does not fit the game.
    """
    evaluation = rules.evaluate(lineup)
    standings, after = evaluation.standings, evaluation.worth_after[seat:]
    reply = Reply(rules.tables, standings, after[0])
    own = np.zeros(len(standings.lead))
    for block in standings.blocks(seat):
        own[block] = reply.values(block)
    before = [own]
    for other in reversed(evaluation.played[:seat]):
        before.insert(0, (other.chances * before[0][standings.after]).sum(axis=1))
    return RoundCoach(seat, reply, before + after)
