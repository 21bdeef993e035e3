"""What every moment of a game was worth, exactly, and so how much was luck and how much was lost by choices.

With u the expected utility under perfect play from there on,

    u(start) + sum over throws of (u(node) - u(state)) + sum over choices of (u(next state) - u(node)) = u(end)

and u(end) is what the player gets. A choice never gains anything, and the luck of a throw averages to zero (Zinkevich,
Bowling, Bard, Kan and Billings, "Optimal unbiased estimators for evaluating agent performance", 2006). In a round the
turns of the others are a third cause, their dice and choices together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.board_tables import BoardTables
from stb_gym.lineups import Reply, blocks, worth_before
from stb_gym.policy import Policy
from stb_gym.rounds import Round
from stb_gym.show import table
from stb_gym.solve import TIE, Solution
from stb_gym.standings import Standings
from stb_gym.turn_arrays import TurnArrays
from stb_gym.turns import Step, at_most, edge_in_words, points_in_words, step_in_words

CAUSES = {"others": "the others", "dice": "the dice", "choices": "your choices"}


class Unit(NamedTuple):
    """How utilities are told to people.

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


class Entry(NamedTuple):
    """Something that happened, and the utility that each cause in it added to the player's prospects."""

    words: str
    changes: dict[str, float]


@dataclass(frozen=True)
class Account:
    """A whole game: what it was worth at the start, in utility, and everything that changed it."""

    unit: Unit
    start: float
    entries: list[Entry]

    def total(self, cause: str) -> float:
        """What a cause added in all: the choices never more than 0."""
        return sum(entry.changes.get(cause, 0.0) for entry in self.entries)

    @property
    def end(self) -> float:
        """What the player got: the start and all that was added."""
        return self.start + sum(map(self.total, CAUSES))

    def __str__(self) -> str:
        """The account as a table and, below it, the sum in a sentence."""
        causes = [cause for cause in CAUSES if any(cause in entry.changes for entry in self.entries)]
        worth = self.start
        rows = [("", *causes, self.unit.heading), ("at the start", *[""] * len(causes), self.unit.value(worth))]
        for words, changes in self.entries:
            worth += sum(changes.values())
            told = (self.unit.change(changes[cause]) if cause in changes else "" for cause in causes)
            rows.append((words, *told, self.unit.value(worth)))
        rows.append(("in all", *(self.unit.change(self.total(cause)) for cause in causes), self.unit.value(self.end)))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        aligned = [(row[0], *map(str.rjust, row[1:], widths[1:])) for row in rows]
        return f"{table(aligned)}\n\n{self._sentence(causes)}"

    def _sentence(self, causes: list[str]) -> str:
        parts = []
        for cause in causes:
            added = self.total(cause)
            did = f"{'helped you by' if added > 0 else 'cost you'} {self.unit.size(added)}"
            parts.append(f"{CAUSES[cause]} {did if abs(added) > TIE else 'cost you nothing'}")
        return f"In {self.unit.name}: {', '.join(parts)}."


@dataclass(frozen=True, eq=False)
class Turn:
    """The worth of every moment of a turn.

    Attributes:
        tables: the arrays of the game.
        unit: how it is told.
        state_utility, node_utility: [S] and [N] expected utility under perfect play.
    """

    tables: TurnArrays
    unit: Unit
    state_utility: Any
    node_utility: Any

    @property
    def start(self) -> float:
        """What the turn is worth before its first throw."""
        return float(self.state_utility[self.tables.start])

    def remark(self, edge: int) -> str:
        """What is to be said of a choice."""
        node = int(self.tables.edge_node[edge])
        worth = self.node_utility[node]
        loss = {each: worth - self.state_utility[self.tables.edge_next[each]] for each in self.tables.edges_of(node)}
        best = [edge_in_words(self.tables, each) for each in loss if abs(loss[each]) <= TIE * abs(worth)]
        if abs(loss[edge]) <= TIE * abs(worth):
            return "all moves were equally good." if len(best) == len(loss) else "best move."
        lost = loss[edge]
        return f"{self.unit.size(lost)} {self.unit.name} lost: {' or '.join(best)} was best."

    def account(self, steps: Sequence[Step]) -> Account:
        """The account of a turn."""
        entries, worth = [], self.start
        for number, step in enumerate(steps, 1):
            thrown = float(self.node_utility[step.node])
            changes = {"dice": thrown - worth}
            worth = thrown if step.edge is None else float(self.state_utility[self.tables.edge_next[step.edge]])
            if len(self.tables.edges_of(step.node)) > 1:
                changes["choices"] = worth - thrown
            dice, move, _ = step_in_words(self.tables, step)
            entries.append(Entry(f"throw {number}: {dice}, {move}", changes))
        return Account(self.unit, self.start, entries)


def turn_alone(solution: Solution | BoardTables) -> Turn:
    """A turn for nobody but oneself, by what is known of perfect play."""
    target = solution.objective.target
    unit = Unit(-1, "", "points", "expected points") if target is None else _chance(f"chance of {at_most(target)}")
    return Turn(solution.tables, unit, solution.state_utility, solution.node_utility)


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
        """Everything that the scores can amount to."""
        return self.reply.standings

    @property
    def unit(self) -> Unit:
        """How it is told."""
        return _chance("expected share of the win" if self.standings.ties == "split" else "chance to win")

    def turn(self, standing: int) -> Turn:
        """The player's turn at the standing of an index."""
        after = self.standings.players - 1 - self.seat
        utilities = self.reply.turn(self.standings.standing(standing, after))
        return Turn(self.reply.tables, self.unit, *utilities)

    def account(self, names: Sequence[str], scores: Sequence[int], steps: Sequence[Step]) -> Account:
        """The account of a round.

        Args:
            names: of all players, in turn order.
            scores: the final scores of those who played.
            steps: the player's own turn.
        """
        standings, standing, wins = self.standings, len(self.standings.lead) - 1, True
        start = float(self.before[0][standing])
        entries = []
        for seat, score in enumerate(scores):
            worth, place = wins * self.before[seat][standing], standings.place(score)
            if seat == self.seat:
                entries += self.turn(standing).account(steps).entries
                wins = bool(standings.holds[standing, place])
            elif seat > self.seat:
                wins = wins and bool(standings.keeps[standing, place])
            standing = standings.after[standing, place]
            if seat != self.seat:
                change = float(wins * self.before[seat + 1][standing] - worth)
                entries.append(Entry(f"{names[seat]}: {points_in_words(score)}", {"others": change}))
        return Account(self.unit, start, entries)


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
