"""Describe any game: scores, throws and moves in words, positions as text and as pictures, questions for models."""

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from stb_gym.games import Game, Roll, own_rules, perfect_score
from stb_gym.messages import in_lines
from stb_gym.words.drawing import Picture, below, points_picture

CHARACTER = 10  # pixels that a character of a note takes in a picture, on average


@dataclass(frozen=True)
class Words:
    """The words and pictures of a game, for people and for language models.

    A subclass describes a game its own way. Only language models need `setup`, `question`, `answer` and what follows.

    Attributes:
        game: the rules.
        names: the names of the numbers 1, 2, ... in questions for language models; empty for the numbers themselves.
        prompt: the question for a move.
        verb: a word that may be typed before the numbers of a move.
        joining: other words that may stand between the numbers of an answer.
        renamed: what `names` rename, such as "tiles".
        names_in_answers: whether answers use the names, too.
    """

    game: Game
    names: tuple[str, ...] = ()

    prompt: ClassVar[str] = "Your move? "
    verb: ClassVar[str] = ""
    joining: ClassVar[tuple[str, ...]] = ()
    renamed: ClassVar[str] = "numbers"
    names_in_answers: ClassVar[bool] = False

    def throw(self, faces: Roll) -> str:
        """Return the dice as they fell; "none" if no dice are thrown."""
        return " ".join(map(str, faces)) or "none"

    def move(self, action: int, goes_on: bool = True) -> dict[str, Any]:
        """Return a move as a dictionary for JSON, such as {"tiles": [3, 5]} or {"keep": 2}.

        Args:
            action: the action.
            goes_on: whether dice are thrown after it; if not, a choice of dice is left out.
        """
        return {"move": self.game.actions[action]}

    def dice_taken(self, action: int, roll: Roll) -> Sequence[int]:
        """Return the faces of the dice that a move takes from a roll, for a board on which dice are picked.

        None are picked by default.
        """
        return ()

    def score(self, points: int) -> str:
        """Return a number of points in words."""
        return "1 point" if points == 1 else f"{points} points"

    def goal(self, target: int) -> str:
        """Return the goal "a final score at least as good as the target" in words."""
        if target == perfect_score(self.game):
            return self.score(target)
        return f"at {'least' if self.game.more_is_better else 'most'} {self.score(target)}"

    @property
    def perfection(self) -> str:
        """The name of the probability of the perfect score."""
        return f"chance of {self.score(perfect_score(self.game))}"

    def how_to_play(self) -> str:
        """Return how to play and how a turn is scored: by default the first line of the rules' docstring."""
        return (type(self.game).__doc__ or "").strip().partition("\n")[0]

    @property
    def notes(self) -> list[str]:
        """The rules that a picture does not show, one sentence each; empty by default."""
        return []

    def introduction(self) -> str:
        """Return the name of the game, and the fields of its rules that differ from the defaults."""
        name = self.game.name.replace("-", " ").capitalize()
        own = ", ".join(f"{rule} {value}".replace("_", " ") for rule, value in own_rules(self.game).items())
        return f"{name} ({own})" if own else name

    def ended(self, points: int) -> str:
        """Return the line printed at the end of a turn."""
        return f"You end with {self.score(points)}."

    def no_move(self, progress: int, dice: int, faces: Roll) -> str:
        """Return why a throw leaves no move."""
        return "There is no move."

    def understood(self, typed: str) -> Hashable:
        """Parse a typed line in lower case.

        Returns:
            `typed_as` of the move that the line names: a sorted tuple of the numbers if there are only numbers,
            separated by spaces, commas or plus signs, and else the line.
        """
        numbers = typed.removeprefix(self.verb).strip()
        if not re.fullmatch(r"\d{1,3}([\s,+]+\d{1,3})*", numbers):
            return typed
        return tuple(sorted(map(int, re.findall(r"\d+", numbers))))

    def typed_as(self, action: int) -> Hashable:
        """Return the result of `understood` if this move is typed; "" for the move that does nothing.

        Moves with the same result differ only in the number of dice thrown next.
        """
        does = self.game.actions[action]
        return self.understood(",".join(map(str, does)) if isinstance(does, tuple) else str(does).lower())

    def text(self, progress: int, dice: int, shown: Roll) -> str:
        """Return a position as plain text, with the same number of lines for all positions of a game.

        Args:
            progress: what the player holds.
            dice: number of dice in hand.
            shown: the faces of the dice just thrown; empty when nothing is thrown.
        """
        left = f"{dice} of {self.game.dice}"
        return f"dice   {self.throw(shown)}\nleft   {left}\npoints {self.game.final_score(progress)}"

    def picture(self, progress: int, dice: int, shown: Roll, caption: str = "") -> Picture:
        """Return a position as a picture [height, width, 3] uint8, of one size for all positions of a game.

        Args:
            progress: what the player holds.
            dice: number of dice in hand.
            shown: the faces of the dice just thrown; empty when nothing is thrown.
            caption: a line above it, such as the last move.

        Raises:
            ImportError: if Pillow is not installed, with the command that installs it.
        """
        return self._noted(points_picture(self.game.final_score(progress), dice, shown, self.game.dice, caption))

    @property
    def num_renamed(self) -> int:
        """How many numbers, from 1, can have names; by default 0."""
        return 0

    def name(self, number: int) -> str:
        """Return the name of a number in questions."""
        return self.names[number - 1] if self.names else str(number)

    def setup(self) -> str:
        """Return what the player throws, in a sentence or two that come before `how_to_play`."""
        return f"You throw {self.game.dice} dice with the faces 1 to {self.game.faces}."

    def question(self, progress: int, dice: int, roll: Roll) -> str:
        """Return a state in words; no two states of a game have the same words."""
        return f"Position: {self.game.describe_afterstate(progress, dice)}\nRoll: {self.game.describe_roll(roll)}"

    def answer(self, action: int) -> str:
        """Return a move as an answer names it."""
        return self.game.describe_move(action)

    def dice_after(self, action: int) -> int:
        """Return how many dice an action chooses to throw next; 0 by default, where actions do not choose."""
        return 0

    def is_unclear(self, tokens: Sequence[str], places: Sequence[int]) -> bool:
        """Return whether an answer that lists numbers is unclear.

        Args:
            tokens: its words, numbers and signs in order, in lower case.
            places: where the numbers are among them.
        """
        return False

    def _noted(self, picture: Picture) -> Picture:
        """Return a picture with the notes below it."""
        return below(picture, in_lines(" ".join(self.notes), picture.shape[1] // CHARACTER)) if self.notes else picture
