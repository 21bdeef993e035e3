"""How a game is described to people: its positions, moves and scores in words, and as text and pictures.

`Words` describes any game plainly; a game with words of its own overrides the methods that are to say it differently.
"""

import re
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from stb_gym.games.drawing import Picture, points_and_dice
from stb_gym.games.fields import check_choice, check_integer, check_names, integers, own_rules
from stb_gym.games.game import Game, rolls

G = TypeVar("G", bound=Game)
Faces = tuple[int, ...]


class Where(NamedTuple):
    """A word by which a person says part of a position, such as the open tiles.

    Attributes:
        words: what it says.
        sample: a value as a person might type it.
        listed: True if the value is a list of integers even where it has only one.
        flag: the name of its flag, where that is not the word itself.
    """

    words: str
    sample: str
    listed: bool = True
    flag: str | None = None


@dataclass(frozen=True)
class Words(Generic[G]):
    """The words of a game.

    Attributes:
        game: the rules.
        positions: the words by which a position is named, in `locate` and as flags of the commands.
        prompt: what a person is asked for a move.
    """

    game: G

    positions: ClassVar[Mapping[str, Where]] = {
        "held": Where("what the player holds (default that of the start)", "N", listed=False),
        "dice": Where("how many dice were thrown", "K", listed=False, flag="dice-in-hand"),
        "roll": Where("the dice as thrown", "3,1,6"),
    }
    prompt: ClassVar[str] = "Your move? "

    def locate(self, where: Mapping[str, Any]) -> tuple[int, int, NDArray[np.uint8] | None]:
        """(held, dice, roll or None) named by a person's words, such as {"open": [1, 4], "roll": 5}.

        Raises:
            ValueError: naming the entry that is no part of this game, and what is allowed.
        """
        start_held, start_dice = self.game.start()
        held_word = next(iter(self.positions))
        check_names("position", where, list(self.positions))
        roll = where.get("roll")
        if roll is not None:
            roll = integers("roll", [roll] if isinstance(roll, int | np.integer) else roll, 1, self.game.faces)
        dice = where.get("dice", start_dice if roll is None else len(roll))
        held = where.get(held_word, start_held)
        all_held, all_dice = self.game.states()
        thrown = sorted(set(all_dice[all_dice > 0].tolist()))
        check_choice("number of dice", dice, thrown)
        there = sorted(all_held[all_dice == dice].tolist())
        named = held_word if len(thrown) == 1 else f"{held_word} with {dice_in_words(dice)}"
        check_integer(named, held, there[0], there[-1])
        check_choice(named, held, there)
        if roll is None:
            return int(held), int(dice), None
        if len(roll) != dice:
            raise ValueError(f"roll shows {len(roll)} dice, but {dice} are thrown")
        return int(held), int(dice), self.game.roll_of(np.array([roll], np.uint8))[0]

    def where(self, held: int, dice: int) -> dict[str, Any]:
        """A state by the words that `locate` takes: {"open": [1, 4], "dice": 2}; of other words say both."""
        return {next(iter(self.positions)): held, "dice": dice}

    def state(self, held: int, dice: int) -> str:
        """A state."""
        return f"{next(iter(self.positions))} {held}, {dice_in_words(dice)}"

    def roll(self, roll: NDArray[np.uint8]) -> str:
        """A roll: its numbers, separated by commas."""
        return ",".join(map(str, roll)) or "none"

    def node(self, held: int, dice: int, roll: NDArray[np.uint8]) -> str:
        """A node: its state and its roll."""
        return f"{self.state(held, dice)}, roll {self.roll(roll)}"

    def throw(self, faces: Faces) -> str:
        """The dice as they fell."""
        return " ".join(map(str, faces))

    def move(self, action: int, goes_on: bool = True) -> dict[str, Any]:
        """A move as a person would name it, ready for JSON: {"tiles": [3, 5]} or {"keep": 2}.

        Args:
            action: the action.
            goes_on: whether dice are thrown after it; if not, a choice of dice need not be named.
        """
        return {"move": self.game.moves[action]}

    def move_in_words(self, move: Mapping[str, Any], roll: NDArray[np.uint8] | None = None) -> str:
        """A move as `move` names it, at a roll if that is known."""
        return ", ".join(map(str, move.values()))

    def score(self, points: int) -> str:
        """A number of points."""
        return "1 point" if points == 1 else f"{points} points"

    def goal(self, target: int) -> str:
        """A final score at least as good as the target."""
        if target == self.game.perfect_score:
            return self.score(target)
        return f"at {'least' if self.game.more_is_better else 'most'} {self.score(target)}"

    @property
    def perfection(self) -> str:
        """What the chance of the perfect score is called."""
        return f"chance of {self.score(self.game.perfect_score)}"

    @property
    def best(self) -> str:
        """Which number of points is best."""
        return "most" if self.game.more_is_better else "fewest"

    def how_to_play(self) -> str:
        """What a player does, and what counts: by default the first line of the rules' docstring."""
        return (type(self.game).__doc__ or "").strip().partition("\n")[0]

    def introduction(self) -> str:
        """The name of the game, and where its rules are its own."""
        name = self.game.name.replace("-", " ").capitalize()
        own = ", ".join(f"{rule} {value}".replace("_", " ") for rule, value in own_rules(self.game).items())
        return f"{name} ({own})" if own else name

    def ended(self, points: int) -> str:
        """What a person reads at the end of a turn."""
        return f"You end with {self.score(points)}."

    def no_move(self, held: int, dice: int, faces: Faces) -> str:
        """Why a turn ends at a throw that leaves no move."""
        return "There is no move."

    def understood(self, typed: str) -> Hashable:
        """What a person means who types a line, in lower case: equal to `typed_as` of the move, or of none."""
        return typed

    def typed_as(self, action: int) -> Hashable:
        """What a move is when a person types it, empty for that of having none.

        Moves alike in this differ only in the dice thrown next.
        """
        return str(self.game.moves[action]).lower()

    def hint(self, held: int, dice: int, roll: NDArray[np.uint8], typed: Hashable) -> str:
        """What is wrong with a line that is no move, and what is allowed."""
        return f"Type {' or '.join(dict.fromkeys(str(self.typed_as(a)) for a in range(len(self.game.moves))))}."

    def text(self, held: int, dice: int, shown: Faces) -> str:
        """A position in a few lines of plain text, as many for all positions of a game.

        Args:
            held: what the player holds.
            dice: number of dice in hand.
            shown: the faces of the dice just thrown; empty when nothing is thrown.
        """
        return f"dice   {' '.join(map(str, shown)) or 'none'}\npoints {self.points(held)}"

    def picture(self, held: int, dice: int, shown: Faces, told: str = "", before: int | None = None) -> Picture:
        """A position as an image [height, width, 3] uint8, of one size for all positions of a game; see `text`.

        Args:
            held: what the player holds.
            dice: number of dice in hand.
            shown: the faces of the dice just thrown; empty when nothing is thrown.
            told: a line that is to stand above it, such as the last move.
            before: what the player held before the last move, if its traces are to be shown.

        Raises:
            ImportError: if Pillow is not installed, saying how it is.
        """
        total = f"= {sum(shown)}" if len(shown) > 1 else ""
        return points_and_dice(self.points(held), dice, self.game.dice, shown, total=total, told=told)

    def points(self, held: int) -> int:
        """The points of a turn that ends holding `held`."""
        return int(self.game.final_score(np.array([held]))[0])


def dice_in_words(dice: int) -> str:
    """How many dice."""
    return "1 die" if dice == 1 else f"{dice} dice"


def states_in_words(words: Words[Any], held: NDArray[Any], dice: NDArray[Any]) -> list[str]:
    """[S] states."""
    return [words.state(*at) for at in zip(held.tolist(), dice.tolist(), strict=True)]


def rolls_in_words(words: Words[Any], dice: int) -> list[str]:
    """[R] every roll of a number of dice."""
    return [words.roll(roll) for roll in rolls(words.game, dice).shown]


def positions_of(words: type[Words[Any]]) -> Iterator[tuple[str, str, Where]]:
    """The word, the flag and what is known of each word by which a position is named."""
    for word, known in words.positions.items():
        yield word, known.flag or word, known


def numbers_typed(typed: str) -> tuple[int, ...]:
    """Numbers with spaces, commas or plus signs between them, in ascending order; none if it is anything else."""
    if not re.fullmatch(r"\d{1,3}([\s,+]+\d{1,3})*", typed):
        return ()
    return tuple(sorted(map(int, re.findall(r"\d+", typed))))
