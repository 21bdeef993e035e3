"""Describe Threes."""

from collections.abc import Sequence
from typing import Any

from stb_gym.games import Roll, Threes
from stb_gym.games.threes import points_in_words
from stb_gym.words.drawing import Picture, points_picture
from stb_gym.words.words import Words

# Words before a number of dice.
BEFORE_COUNT = ("", ":", "choose", "go", "is", "keep", "keeping", "lowest", "pick", "play", "select", "with")


class ThreesWords(Words):
    """The words and pictures of Threes."""

    game: Threes

    prompt = "Keep how many dice? "
    verb = "keep"
    joining = ("dice", "die", "keeping", "lowest")
    renamed = "faces"

    def move(self, action: int, goes_on: bool = True) -> dict[str, Any]:
        """Return how many dice are kept."""
        return {"keep": self.game.actions[action]}

    def dice_taken(self, action: int, roll: Roll) -> Sequence[int]:
        """Return the faces of the dice that are kept."""
        return roll[: self.game.actions[action]]

    def score(self, points: int) -> str:
        """Return a number of points, or the moon."""
        return points_in_words(points)

    def how_to_play(self) -> str:
        """Return how to play and how a turn is scored."""
        free = f"; {self._free}" if self._free else ""
        return "\n".join([f"Keep the lowest dice of every throw, at least one, until none is left{free}.", *self._moon])

    @property
    def notes(self) -> list[str]:
        """The points of each face, and the moon."""
        free = f"A{self._free[1:]}, every other face its number." if self._free else "Every face counts its number."
        return [free, *self._moon]

    @property
    def _free(self) -> str:
        face = self.game.free_face
        return f"a {face} counts nothing" if 1 <= face <= self.game.faces else ""

    @property
    def _moon(self) -> list[str]:
        faces = self.game.faces
        return [f"A first throw of nothing but {faces} is the moon, better than 0."] if self.game.moon else []

    def picture(self, progress: int, dice: int, shown: Roll, caption: str = "") -> Picture:
        """Return a picture of the points and the dice, with what each die counts."""
        counts = [self.score(self.game.worth(face)) for face in shown]
        return self._noted(points_picture(progress, dice, shown, self.game.dice, caption, counts))

    @property
    def num_renamed(self) -> int:
        """How many faces a die has."""
        return self.game.faces

    def setup(self) -> str:
        """Return what is thrown and what a die counts."""
        return f"{super().setup()} Every die that you keep scores its face, and you throw the others again."

    def question(self, progress: int, dice: int, roll: Roll) -> str:
        """Return the points, the dice left, and the names of the faces."""
        position = self.game.describe_afterstate(progress, dice)
        return f"Position: {position}\nRoll: {', '.join(map(self.name, roll))}"

    def is_unclear(self, tokens: Sequence[str], places: Sequence[int]) -> bool:
        """Return whether an answer may name a face, as "keep the 3" and "keep the 3 die" do, and no number of dice."""
        [place, *_] = places
        before, number, after = ["", *tokens][place], tokens[place], [*tokens, ""][place + 1]
        if not {"die", "dice"}.isdisjoint(tokens[:place]):  # "keep the die with 3", "keep the lowest die: 4"
            return True
        if after in ("lowest", "dice"):
            return False
        if after == "die" and number not in ("1", "one"):
            return True
        return before not in BEFORE_COUNT
