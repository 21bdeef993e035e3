"""Threes in words: how positions are named, how it is played, and what a person at the terminal reads."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games.drawing import Picture, points_and_dice
from stb_gym.games.fields import check_integer, check_names, integers
from stb_gym.games.threes.rules import MOON, Threes
from stb_gym.games.words import Faces, Where, Words, numbers_typed


class ThreesWords(Words[Threes]):
    """The words of Threes."""

    positions = {  # noqa: RUF012 (a ClassVar of `Words`)
        "points": Where("points so far (default 0)", "N", listed=False),
        "roll": Where("the dice as thrown", "3,1,6"),
        "dice": Where("how many dice were thrown", "K", listed=False, flag="dice-in-hand"),
    }
    prompt = "Keep how many dice? "

    def locate(self, where: Mapping[str, Any]) -> tuple[int, int, NDArray[np.uint8] | None]:
        """See `Words`: the points so far, the dice as thrown, and how many they are."""
        game = self.game
        check_names("position", where, ("points", "dice", "roll"))
        roll = where.get("roll")
        if roll is not None:
            roll = integers("roll", [roll] if isinstance(roll, int | np.integer) else roll, 1, game.faces)
        dice = where.get("dice", game.dice if roll is None else len(roll))
        check_integer("number of dice", dice, 1, game.dice)
        if roll is not None and len(roll) != dice:
            raise ValueError(f"roll shows {len(roll)} dice, but {dice} are thrown")
        points = where.get("points", 0)
        check_integer(f"points with {dice} of {game.dice} dice left", points, 0, (game.dice - dice) * game.faces)
        return points, dice, None if roll is None else game.roll_of(np.array([roll], np.uint8))[0]

    def where(self, held: int, dice: int) -> dict[str, Any]:
        """The points so far, and how many dice are left."""
        return {"points": held, "dice": dice}

    def state(self, held: int, dice: int) -> str:
        """The points so far, and the dice left."""
        if held == MOON:
            return "the moon"
        return f"{self.score(held)}, {dice} {'die' if dice == 1 else 'dice'} left"

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
