"""What to do at a position, and what it is worth before the dice are thrown: `stb-gym advise`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stb_gym.cli.contests import StandingAnswer, StandingQuestion
from stb_gym.cli.questions import Parts, Tell, flag, objective_flag, silent, table
from stb_gym.cli.solving import VALUES, perfect_play
from stb_gym.games import Game, rolls, words_of
from stb_gym.output import Column
from stb_gym.solver import BoardValues, Values, choice_at


@dataclass(frozen=True, kw_only=True)
class Advise(StandingQuestion):
    """Every legal move at a position, best first; or, before the dice are thrown, what to do on every roll."""

    name: ClassVar[str] = "advise"
    examples = "shut-the-box --open 1,4,5,8 --roll 9", "threes --lead 8 --after 3 --roll 3,1,3,2,4"

    where: Mapping[str, Any] = flag({}, "the position", position=True)
    objective: str = objective_flag()
    values: str | None = flag(None, VALUES, "FILE")

    def answer(self, game: Game, tell: Tell = silent) -> "AdviseAnswer | BoardAnswer":
        """Rank the moves, or tell the best of every roll.

        Example:
            >>> import stb_gym
            >>> Advise(where={"open": [1, 4, 5, 8], "roll": 9}).answer(stb_gym.ShutTheBox()).moves[0]["tiles"]
            [4, 5]
            >>> Advise(lead=8, after=3, where={"roll": [3, 1, 3, 2, 4]}).answer(stb_gym.Threes()).moves[0]["keep"]
            2
        """
        words = words_of(game)
        held, dice, roll = words.locate(self.where)
        turn = self.turn(game, self.objective, self.values)
        known = turn.best if turn else perfect_play(game, self.objective, self.values, tell)
        found: dict[str, Any] = {"game": game, "objective": known.objective, "seen": turn and turn.seen}
        if roll is None:
            return BoardAnswer(**found, board=words.state(held, dice), **_of_rolls(known, held, dice))
        roll = np.asarray(roll)
        return AdviseAnswer(**found, node=words.node(held, dice, roll), **_of_moves(known, held, dice, roll))


def _of_moves(known: Values | BoardValues, held: int, dice: int, roll: NDArray[np.uint8]) -> dict[str, Any]:
    """The moves at a node, best first, with value and regret; and what the node is worth."""
    words, sign = words_of(known.game), known.objective.sign
    moves, after, losses, utility = choice_at(known, held, dice, roll)
    ranked = sorted(zip(moves, after, losses, strict=True), key=lambda each: each[2])
    told = [
        words.move(move.action, goes_on=move.dice > 0) | {"value": sign * worth + 0.0, "regret": loss}
        for move, worth, loss in ranked
    ]
    return {"value": sign * utility + 0.0, "moves": told}


def _of_rolls(known: Values | BoardValues, held: int, dice: int) -> dict[str, Any]:
    """What a state is worth before its throw, and what to do on every roll."""
    words, shown = words_of(known.game), rolls(known.game, dice)
    found = []
    for roll, count in zip(shown.shown, shown.counts.tolist(), strict=True):
        choice = choice_at(known, held, dice, roll)
        found.append(
            {
                "roll": words.roll(roll),
                "chance": count / len(shown.of_throw),
                "moves": [words.move(move.action, goes_on=move.dice > 0) for move in choice.best],
                "leaves": [words.state(move.held, move.dice) for move in choice.best],
                "value": known.objective.sign * choice.utility + 0.0,
            }
        )
    return {"value": sum(row["chance"] * row["value"] for row in found), "rolls": found}


@dataclass(frozen=True, kw_only=True)
class AdviseAnswer(StandingAnswer):
    """A node, what it is worth, and its moves with the value and the regret of each, best first."""

    node: str
    value: float
    moves: list[dict[str, Any]]

    def heading(self) -> list[str]:
        """The node below all that."""
        return [*super().heading(), self.node]

    def parts(self) -> Parts:
        """A row for every move."""
        if not self.moves:
            yield f"no legal move: the turn ends, worth {self.in_unit(self.value)}"
            return
        words = words_of(self.game)
        named = [{key: m[key] for key in m if key not in ("value", "regret")} for m in self.moves]
        columns = {"move": Column("", [words.move_in_words(move) for move in named])}
        numbers = {key: Column(self.in_unit, [m[key] for m in self.moves]) for key in ("value", "regret")}
        yield table(columns | numbers)


@dataclass(frozen=True, kw_only=True)
class BoardAnswer(StandingAnswer):
    """A state before its throw, what it is worth, and every roll: chance, best moves, what they leave, and value."""

    board: str
    value: float
    rolls: list[dict[str, Any]]

    def heading(self) -> list[str]:
        """The state and its value below all that."""
        return [*super().heading(), f"{self.board}: worth {self.in_unit(self.value)} before the throw"]

    def parts(self) -> Parts:
        """A row for every roll."""
        words = words_of(self.game)
        moves = [" or ".join(map(words.move_in_words, row["moves"])) or "none" for row in self.rolls]
        yield table(
            {
                "roll": Column("", [row["roll"] for row in self.rolls]),
                "chance": Column(".4%", [row["chance"] for row in self.rolls]),
                "best move": Column("", moves),
                "leaves": Column("", [" or ".join(dict.fromkeys(row["leaves"])) for row in self.rolls]),
                "value": Column(self.in_unit, [row["value"] for row in self.rolls]),
            }
        )
