"""Every move at a position, best first: `stb-gym advise`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from stb_gym.command.questions import Parts, Question, Tell, TurnAnswer, flag, objective_flag, silent, table
from stb_gym.command.solving import VALUES, perfect_play
from stb_gym.games import Game, legal_moves, words_of
from stb_gym.output import Column


@dataclass(frozen=True, kw_only=True)
class Advise(Question):
    """Every legal move at a position, best first."""

    name: ClassVar[str] = "advise"

    where: Mapping[str, Any] = flag({}, "the position", position=True)
    objective: str = objective_flag()
    values: str | None = flag(None, VALUES, "FILE")

    def answer(self, game: Game, tell: Tell = silent) -> "AdviseAnswer":
        """Rank the moves.

        Example:
            >>> import stb_gym
            >>> Advise(where={"open": [1, 4, 5, 8], "roll": 9}).answer(stb_gym.ShutTheBox()).moves[0]["tiles"]
            [4, 5]
        """
        words = words_of(game)
        held, dice, roll = words.locate(self.where)
        if roll is None:
            raise ValueError("what was thrown is missing: give the roll")
        known = perfect_play(game, self.objective, self.values, tell)
        sign, end = known.objective.sign, known.worth(held, 0)
        worth = {move: known.worth(move.held, move.dice) for move in legal_moves(game, held, dice, roll)}
        best = max(worth.values(), default=end)
        moves = [
            {
                **words.move(move.action, goes_on=move.dice > 0),
                "value": sign * worth[move] + 0.0,
                "regret": max(0.0, best - worth[move]),
            }
            for move in sorted(worth, key=lambda move: -worth[move])
        ]
        node = words.node(held, dice, np.asarray(roll))
        return AdviseAnswer(game=game, objective=known.objective, node=node, value=sign * best + 0.0, moves=moves)


@dataclass(frozen=True, kw_only=True)
class AdviseAnswer(TurnAnswer):
    """A node, what it is worth, and its moves with the value and the regret of each, best first."""

    node: str
    value: float
    moves: list[dict[str, Any]]

    def heading(self) -> list[str]:
        """The game, the objective and the node."""
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
