"""Threes in words: how positions are named, how it is played, and what a person at the terminal reads."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games.drawing import Picture, points_and_dice
from stb_gym.games.threes.rules import MOON, Threes
from stb_gym.games.words import Faces, Where, Words, dice_in_words, numbers_typed


class ThreesWords(Words[Threes]):
    """The words of Threes."""

    positions = {  # noqa: RUF012 (a ClassVar of `Words`)
        "points": Where("points so far (default 0)", "N", listed=False),
        "roll": Where("the dice as thrown", "3,1,6"),
        "dice": Where("how many dice were thrown", "K", listed=False, flag="dice-in-hand"),
    }
    prompt = "Keep how many dice? "

    def state(self, held: int, dice: int) -> str:
        """The points so far, and the dice left."""
        if held == MOON:
            return "the moon"
        return f"{self.score(held)}, {dice_in_words(dice)} left"

    def move(self, action: int, goes_on: bool = True) -> dict[str, Any]:
        """How many dice are kept."""
        return {"keep": self.game.moves[action]}

    def move_in_words(self, move: Mapping[str, Any], roll: NDArray[np.uint8] | None = None) -> str:
        """Such as "keep 2 (3 1)"."""
        dice = "" if roll is None else f" ({' '.join(map(str, roll[: move['keep']]))})"
        return f"keep {move['keep']}{dice}"

    def score(self, points: int) -> str:
        """A number of points, or the moon."""
        return "the moon" if points < 0 else super().score(points)

    def how_to_play(self) -> str:
        """What a player does, and what counts."""
        game = self.game
        free = f"; a {game.free_face} counts nothing" if 1 <= game.free_face <= game.faces else ""
        moon = f"\nA first throw of nothing but {game.faces} is the moon, better than 0." if game.moon else ""
        return f"Keep the lowest dice of every throw, at least one, until none is left{free}.{moon}"

    def understood(self, typed: str) -> Hashable:
        """One number, perhaps after the word "keep" and before the dice, as moves are told."""
        return numbers_typed(typed.removeprefix("keep").partition("(")[0].strip())

    def typed_as(self, action: int) -> Hashable:
        """How many dice are kept."""
        return (self.game.moves[action],)

    def hint(self, held: int, dice: int, roll: NDArray[np.uint8], typed: Hashable) -> str:
        """What is allowed."""
        return f"Type how many dice to keep, from 1 to {dice}. ? shows which they are."

    def text(self, held: int, dice: int, shown: Faces) -> str:
        """See `Words`."""
        kept = f"kept   {self.game.dice - dice} of {self.game.dice}"
        return f"dice   {' '.join(map(str, shown)) or 'none'}\n{kept}\npoints {held}"

    def picture(self, held: int, dice: int, shown: Faces, told: str = "", before: int | None = None) -> Picture:
        """See `Words`; dice worth nothing are golden, and beside the dice stands what all of them are worth."""
        free = self.game.free_face
        total = f"= {sum(face for face in shown if face != free)}" if len(shown) > 1 else ""
        return points_and_dice(held, dice, self.game.dice, shown, (free,), total, told)
