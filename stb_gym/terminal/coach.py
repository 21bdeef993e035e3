"""A coach who knows the exact value of every state, and so separates luck from mistakes.

With u the expected utility under perfect play from there on,

    u(start) + sum over throws of (u(state) - u(afterstate)) + sum over choices of (u(next afterstate) - u(state)) =
    u(end)

and u(end) is what the player gets. A choice never gains anything, and the luck of a throw averages to zero (Zinkevich,
Bowling, Bard, Kan and Billings, "Optimal unbiased estimators for evaluating agent performance", 2006). In a round the
turns of the other players are a third cause: their dice and choices together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from stb_gym.arrays import FloatArray
from stb_gym.console import GREEN, RED, Column, Table
from stb_gym.games import Game
from stb_gym.rounds import OptimalTurn, RoundEvaluation, ScoresSoFar
from stb_gym.solver import Choice, Move, PerfectPlay, choice_at
from stb_gym.terminal.turns import Step, ThrownState, moves_in_words, step_in_words
from stb_gym.words import words_of

CAUSES = ("others", "luck", "choices")


class Unit(NamedTuple):
    """The unit in which utilities are shown; by default that of probabilities.

    Attributes:
        heading: the name of the value, such as "expected points".
        scale: the factor from utilities to values; negative where fewer points are better.
        mark: the text after a value, such as "%".
        name: the unit of differences, such as "points".
    """

    heading: str
    scale: int = 100
    mark: str = "%"
    name: str = "percentage points"

    def value(self, utility: float) -> str:
        """Return a utility as people read it."""
        return f"{self.scale * utility:z.2f}{self.mark}"

    def change(self, utility: float) -> str:
        """Return a difference of utilities with its sign: plus is good for the player."""
        return f"{abs(self.scale) * utility:+z.2f}".replace("+0.00", "0.00")

    def size(self, utility: float) -> str:
        """Return a difference of utilities without its sign."""
        size = abs(self.scale * utility)
        return "less than 0.01" if 0 < size < 0.005 else f"{size:.2f}"


class Event(NamedTuple):
    """Something that happened in a game, in words, and the utility that each cause added for the player."""

    words: str
    changes: dict[str, float]


@dataclass(frozen=True)
class Account:
    """The utility of a game for the player at the start, and every event that changed it."""

    unit: Unit
    start: float
    events: list[Event]

    def total(self, cause: str) -> float:
        """Return the sum of what a cause added; choices never add more than 0."""
        return sum(event.changes.get(cause, 0.0) for event in self.events)

    @property
    def _causes(self) -> list[str]:
        return [cause for cause in CAUSES if any(cause in event.changes for event in self.events)]

    def __str__(self) -> str:
        """Return a table of all events."""
        columns = {"": Column("", ["at the start", *(event.words for event in self.events)])}
        for cause in self._causes:
            columns[cause] = Column(self.unit.change, [None, *(event.changes.get(cause) for event in self.events)])
        utilities = accumulate((sum(event.changes.values()) for event in self.events), initial=self.start)
        columns[self.unit.heading] = Column(self.unit.value, list(utilities))
        return str(Table(columns))

    @property
    def sentence(self) -> str:
        """The total of every cause, such as "In points (plus is good for the player): luck +2.10, choices 0.00."."""
        parts = [f"{cause} {self.unit.change(self.total(cause))}" for cause in self._causes]
        return f"In {self.unit.name} (plus is good for the player): {', '.join(parts) or 'nothing happened'}."


@dataclass(frozen=True, eq=False)
class Coach:
    """A coach of one turn, with its values under perfect play.

    Attributes:
        perfect: the values of perfect play.
        unit: the unit in which they are shown.
    """

    perfect: PerfectPlay
    unit: Unit

    @property
    def game(self) -> Game:
        """The rules."""
        return self.perfect.game

    @property
    def start(self) -> float:
        """The utility of the turn before its first throw."""
        return self.utility(*self.game.start())

    def utility(self, progress: int, dice: int) -> float:
        """Return the utility of an afterstate."""
        return float(self.perfect.utilities_at(np.array([progress]), dice)[0])

    def choice(self, state: ThrownState) -> Choice:
        """Return the utility and the loss of every move."""
        return choice_at(self.perfect, state.progress, state.dice, state.roll)

    def loss(self, state: ThrownState, move: Move | None) -> float:
        """Return the utility that a move loses against the best one; 0 if there is no move."""
        choice = self.choice(state)
        return 0.0 if move is None else choice.loss[choice.moves.index(move)]

    def remark(self, state: ThrownState, move: Move | None) -> str:
        """Return a move and what it loses, or why there is none, in words."""
        words = words_of(self.game)
        if move is None or not words.typed_as(move.action):
            return words.no_move(state.progress, state.dice, state.faces)
        loss = self.loss(state, move)
        if len(state.moves) == 1:
            remark = "the only move"
        elif loss > 0:
            best = moves_in_words(self.game, state, self.choice(state).best)
            remark = f"{self.unit.size(loss)} {self.unit.name} lost, {best} was best"
        else:
            remark = "best move" if any(self.choice(state).loss) else "all moves were equally good"
        return f"{moves_in_words(self.game, state, [move])}: {remark}."

    def colour(self, state: ThrownState, move: Move | None) -> str:
        """Return the colour of a remark: red for a mistake, green for another choice, and "" without a choice."""
        if len(state.moves) < 2:
            return ""
        return RED if self.loss(state, move) > 0 else GREEN

    def account(self, steps: Sequence[Step]) -> Account:
        """Return the account of a turn."""
        events = []
        utility = self.start
        for number, step in enumerate(steps, 1):
            choice = self.choice(step.state)
            changes = {"luck": choice.utility - utility}
            if len(choice.moves) > 1:
                changes["choices"] = -self.loss(*step)
            utility = self.utility(*step.afterstate)
            dice, move, _ = step_in_words(self.game, step)
            events.append(Event(f"throw {number}: {dice}, {move}", changes))
        return Account(self.unit, self.start, events)


def coach_alone(perfect: PerfectPlay) -> Coach:
    """Return the coach of a player who plays a turn alone.

    Args:
        perfect: the values of perfect play.
    """
    objective = perfect.objective
    if objective.target is not None:
        return Coach(perfect, Unit(f"chance of {words_of(perfect.game).goal(objective.target)}"))
    return Coach(perfect, Unit(f"expected {objective.unit}", objective.sign, "", objective.unit))


@dataclass(frozen=True, eq=False)
class RoundCoach:
    """A coach of one seat of a round, with its expected win against given opponents.

    Attributes:
        evaluation: the evaluation of all players; the strategy of the seat itself makes no difference.
        seat: the seat, from 0.
    """

    evaluation: RoundEvaluation
    seat: int

    @cached_property
    def _best_turn(self) -> OptimalTurn:
        return self.evaluation.best_response(self.seat).turn

    @property
    def _unit(self) -> Unit:
        split = self.evaluation.rules.ties == "split"
        return Unit("expected share of the win" if split else "chance to win")

    def at(self, scores_so_far: ScoresSoFar) -> Coach:
        """Return the coach of the seat's turn, given the scores so far."""
        return Coach(self._best_turn.at(scores_so_far), self._unit)

    @cached_property
    def before(self) -> list[FloatArray]:
        """The expected win [Z] of the seat at all scores so far: before each turn, and at the end of the round.

        After the seat's own turn, this assumes that the seat holds the lead.
        """
        table = self.evaluation.rules.scores_so_far
        own, met = np.zeros(len(table.lead)), table.reachable_by(self.seat)
        own[met] = self._best_turn.values(met)
        before = [own, *self.evaluation.value_after[self.seat :]]
        for other in reversed(self.evaluation.played[: self.seat]):
            before.insert(0, (other.chances * before[0][table.next_row]).sum(axis=1))
        return before

    def account(self, names: Sequence[str], scores: Sequence[int], steps: Sequence[Step]) -> Account:
        """Return the account of a round.

        Args:
            names: the names of all players, in turn order.
            scores: the final scores of the players whose turns are over.
            steps: the steps of the seat's own turn so far.
        """
        table, words = self.evaluation.rules.scores_so_far, words_of(self.evaluation.rules.game)
        row, may_win = len(table.lead) - 1, True
        events: list[Event] = []
        for seat, name in enumerate(names):
            if seat == self.seat and steps:
                scores_so_far = table.at_row(row, len(names) - 1 - seat)
                events += self.at(scores_so_far).account(steps).events
            if seat == len(scores):
                break
            utility, place = may_win * self.before[seat][row], table.tables.place_of(scores[seat])
            if seat >= self.seat:
                in_lead = table.takes_lead if seat == self.seat else table.keeps_lead
                may_win = may_win and bool(in_lead[row, place])
            row = table.next_row[row, place]
            if seat != self.seat:
                change = float(may_win * self.before[seat + 1][row] - utility)
                events.append(Event(f"{name}: {words.score(scores[seat])}", {"others": change}))
        return Account(self._unit, float(self.before[0][-1]), events)
