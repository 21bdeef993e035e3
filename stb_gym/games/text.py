"""The description of games to people: positions, moves and scores in words, as text and as pictures.

`Words` describes any game plainly; a game with its own words overrides some methods.
"""

import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from stb_gym.arguments import guarded
from stb_gym.checks import check_choice, check_integer, check_names, integers
from stb_gym.games.drawing import Picture, below, board_picture, points_picture
from stb_gym.games.game import Game, Roll
from stb_gym.games.rolls import rolls
from stb_gym.games.rules import own_rules
from stb_gym.games.shut_the_box import BY_SUM, MATCH, ONE_DIE, ShutTheBox, board_of, open_tiles
from stb_gym.games.threes import MOON, Threes
from stb_gym.games.walk import perfect_score, walk
from stb_gym.messages import in_lines

SCORE = {"sum": "sum", "count": "number", "digits": "number read from the digits"}
CHARACTER = 10  # pixels that a character of a note takes in a picture, on average
LONGEST_LINE = 15  # tiles in a line of text, which fits into 80 columns


@guarded
@dataclass(frozen=True)
class Words:
    """The description of a game to people.

    Attributes:
        game: the rules.
        positions: the entries of a position and what each means; the first entry stands for `progress`.
        prompt: the question for a move.
        verb: a word that may be typed before the numbers of a move.
    """

    game: Game

    positions: ClassVar[Mapping[str, str]] = {
        "progress": "what the player holds (default that of the start)",
        "dice": "how many dice were thrown",
        "roll": "the dice as thrown",
    }
    prompt: ClassVar[str] = "Your move? "
    verb: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        guarded(cls)

    def locate(self, where: Mapping[Any, Any]) -> tuple[int, int, Roll | None]:
        """Return a named position as (progress, dice, roll); the roll is None if it is not named.

        If "dice" is not named, `dice` is the most dice that can be thrown there and fit the roll.

        Args:
            where: such as {"open": [1, 4], "roll": 5}. A roll is named by its dice or, if the rules see only one
                number of it, by that number.

        Raises:
            ValueError: naming the entry that is not part of this game, and what is allowed.
        """
        check_names("position", where, list(self.positions))
        progress, allowed = self.progress_at(where)
        if "dice" in where:
            check_choice("number of dice there", where["dice"], allowed)
            allowed = [int(where["dice"])]
        roll = where.get("roll")
        if roll is None:
            return progress, allowed[0], None
        if isinstance(roll, Iterable):
            throw = integers("roll", roll, 1, self.game.faces)
            check_choice("number of dice in roll", len(throw), allowed)
            return progress, len(throw), self.game.roll_of(tuple(throw))
        check_integer("roll", roll, min(allowed), max(allowed) * self.game.faces)
        for dice in allowed:
            if (roll,) in rolls(self.game, dice).shown:
                return progress, dice, (int(roll),)
        raise ValueError(f"roll {roll} is ambiguous or impossible there: name all dice, such as 3,1")

    def progress_at(self, where: Mapping[str, Any]) -> tuple[int, list[int]]:
        """Return what the player holds at a position, and how many dice can be thrown there, most first."""
        word = next(iter(self.positions))
        afterstates = [afterstate for afterstate in walk(self.game) if afterstate[1]]
        progress = where.get(word, self.game.start()[0])
        check_integer(word, progress, min(afterstates)[0], max(afterstates)[0])
        allowed = sorted((dice for other, dice in afterstates if other == progress), reverse=True)
        if not allowed:
            raise ValueError(f"no dice are thrown at {word} {progress}")
        return int(progress), allowed

    def where(self, progress: int, dice: int) -> dict[str, Any]:
        """Return an afterstate as `locate` takes it, such as {"open": [1, 4], "dice": 2}."""
        return {next(iter(self.positions)): progress, "dice": dice}

    def afterstate(self, progress: int, dice: int) -> str:
        """Return an afterstate in words."""
        return f"{next(iter(self.positions))} {progress}, {dice_in_words(dice)}"

    def roll(self, roll: Roll) -> str:
        """Return a roll in words: its numbers, separated by commas."""
        return ",".join(map(str, roll)) or "none"

    def state(self, progress: int, dice: int, roll: Roll) -> str:
        """Return a state in words: its afterstate and its roll."""
        return f"{self.afterstate(progress, dice)}, roll {self.roll(roll)}"

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

    def move_in_words(self, move: Mapping[str, Any], roll: Roll | None = None) -> str:
        """Return a move, as `move` returns it, in words, with its dice if the roll is given."""
        return ", ".join(map(str, move.values()))

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
        """The rules that a picture would not show otherwise, a sentence each: by default none."""
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
        """Parse a typed line (in lower case); the result equals `typed_as` of the move that the line names.

        Numbers, separated by spaces, commas or plus signs, become a sorted tuple; other text stays as it is.
        """
        numbers = typed.removeprefix(self.verb).strip()
        if not re.fullmatch(r"\d{1,3}([\s,+]+\d{1,3})*", numbers):
            return typed
        return tuple(sorted(map(int, re.findall(r"\d+", numbers))))

    def typed_as(self, action: int) -> Hashable:
        """Return what `understood` makes of a typed move; it is empty for the move that does nothing.

        Moves that are typed alike differ only in the number of dice thrown next.
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

    def _noted(self, picture: Picture) -> Picture:
        """Return a picture with the notes below it."""
        return below(picture, in_lines(" ".join(self.notes), picture.shape[1] // CHARACTER)) if self.notes else picture


def dice_in_words(dice: int) -> str:
    """Return a number of dice in words."""
    return "1 die" if dice == 1 else f"{dice} dice"


class BoxWords(Words):
    """The description of Shut the Box."""

    game: ShutTheBox

    positions = {  # noqa: RUF012 (a ClassVar of `Words`)
        "open": "open tiles (such as 1,4,5,8; default those of the start)",
        "roll": "sum of the dice, or the dice",
        "dice": "how many dice were thrown",
    }
    prompt = "Shut which tiles? "
    verb = "shut"

    def progress_at(self, where: Mapping[str, Any]) -> tuple[int, list[int]]:
        """Return the board at a position, and how many dice can be thrown there, most first."""
        named = where.get("open", self.game.start_tiles)
        tiles = integers("open tiles", named if isinstance(named, Iterable) else [named], 1, self.game.tiles)
        if not tiles or len(set(tiles)) < len(tiles):
            raise ValueError(f"open must name at least one tile, and each once, not {tiles}")
        for tile in tiles:
            check_choice("open tile", tile, self.game.start_tiles)
        board = board_of(tiles)
        return board, sorted(self.game.throws_at(board), reverse=True)

    def where(self, progress: int, dice: int) -> dict[str, Any]:
        """Return the open tiles, and how many dice are thrown."""
        return {"open": open_tiles(progress), "dice": dice}

    def afterstate(self, progress: int, dice: int) -> str:
        """Return the open tiles, and how many dice are thrown where that can differ."""
        board = f"open {','.join(map(str, open_tiles(progress))) or 'none'}"
        return board if len(self.game.throws) == 1 or dice == 0 else f"{board}, {dice_in_words(dice)}"

    def throw(self, faces: Roll) -> str:
        """Return the dice and their sum."""
        return f"{' + '.join(map(str, faces))} = {sum(faces)}" if len(faces) > 1 else super().throw(faces)

    def move(self, action: int, goes_on: bool = True) -> dict[str, Any]:
        """Return the tiles, and how many dice are thrown next where that is chosen."""
        dice = self.game.dice_after[action]
        return {"tiles": list(self.game.actions[action]), **({"dice": dice} if dice and goes_on else {})}

    def move_in_words(self, move: Mapping[str, Any], roll: Roll | None = None) -> str:
        """Return a move such as "shut 3,5, throw 1 die"."""
        if not move["tiles"]:
            return "no move"
        dice = f", throw {dice_in_words(move['dice'])}" if "dice" in move else ""
        return f"shut {','.join(map(str, move['tiles']))}{dice}"

    @property
    def perfection(self) -> str:
        """The name of the probability of the perfect score."""
        return "chance to shut"

    def how_to_play(self) -> str:
        """Return how to play and how a turn is scored."""
        match, score = MATCH[self.game.match], SCORE[self.game.score]
        how = f"Shut {match}; the {score} of those still open at the end is your score."
        return "\n".join([how, *self._exceptions])

    @property
    def notes(self) -> list[str]:
        """The rules that are not those of the classic box."""
        match, score = MATCH[self.game.match], SCORE[self.game.score]
        notes = [] if self.game.match == "sum" else [f"A roll shuts {match}."]
        notes += [] if self.game.score == "sum" else [f"The score is the {score} of open tiles."]
        return [*notes, *self._exceptions]

    @property
    def _exceptions(self) -> list[str]:
        game, lines = self.game, []
        if len(game.throws) > 1:
            must = "must" if game.one_die_forced else "may"
            lines.append(f"After the first throw you {must} throw one die {ONE_DIE[game.one_die]}.")
        if game.first_move is not None:
            lines.append(f"The first move must shut the {game.first_move}.")
        if game.ending_roll is not None:
            lines.append(f"A roll of {game.ending_roll} ends the turn.")
        return lines

    def ended(self, points: int) -> str:
        """Return the line printed at the end of a turn."""
        return "You shut the box!" if points == 0 else super().ended(points)

    def no_move(self, progress: int, dice: int, faces: Roll) -> str:
        """Return why a throw leaves no move."""
        game = self.game
        if sum(faces) == game.ending_roll:
            return f"A roll of {game.ending_roll} ends the turn."
        if game.first_move is not None and progress == game.start()[0]:
            return f"The first move must shut the {game.first_move}, and no tiles with it match."
        return f"No open tiles add up to {sum(faces)}." if game.match in BY_SUM else "No open tiles match the dice."

    def text(self, progress: int, dice: int, shown: Roll) -> str:
        """Return the board, the dice and the points as text: five lines, and three more for a second row of tiles."""
        tiles, points = self.game.tiles, self.game.final_score(progress)
        rows = -(-tiles // LONGEST_LINE)
        a_row = -(-tiles // rows)
        lines = []
        for first in range(0, tiles, a_row):
            row = range(first, min(first + a_row, tiles))
            lines.append("".join("╭───╮" if progress >> i & 1 else "     " for i in row))
            lines.append("".join(f"│{i + 1:^3}│" if progress >> i & 1 else "     " for i in row))
            lines.append("".join("╰───╯" if progress >> i & 1 else "╶───╴" for i in row))
        return "\n".join([*lines, f"dice   {self.throw(shown)}", f"points {points}" if progress else "shut the box!"])

    def picture(self, progress: int, dice: int, shown: Roll, caption: str = "") -> Picture:
        """Return a picture of the board."""
        game, score = self.game, self.score(self.game.final_score(progress))
        return self._noted(board_picture(game.tiles, dice, progress, shown, game.dice, caption, score))


class ThreesWords(Words):
    """The description of Threes."""

    game: Threes

    positions = {  # noqa: RUF012 (a ClassVar of `Words`)
        "points": "points so far (default 0)",
        "roll": "the dice as thrown",
        "dice": "how many dice were thrown",
    }
    prompt = "Keep how many dice? "
    verb = "keep"

    def afterstate(self, progress: int, dice: int) -> str:
        """Return the points so far, and the dice left."""
        return f"{self.score(progress)}, {dice_in_words(dice)} left"

    def move(self, action: int, goes_on: bool = True) -> dict[str, Any]:
        """Return how many dice are kept."""
        return {"keep": self.game.actions[action]}

    def move_in_words(self, move: Mapping[str, Any], roll: Roll | None = None) -> str:
        """Return a move such as "keep 2 (3 1)"."""
        dice = "" if roll is None else f" ({' '.join(map(str, roll[: move['keep']]))})"
        return f"keep {move['keep']}{dice}"

    def score(self, points: int) -> str:
        """Return a number of points, or the moon."""
        return "the moon" if points == MOON else super().score(points)

    def how_to_play(self) -> str:
        """Return how to play and how a turn is scored."""
        free = f"; {self._free}" if self._free else ""
        return "\n".join([f"Keep the lowest dice of every throw, at least one, until none is left{free}.", *self._moon])

    @property
    def notes(self) -> list[str]:
        """What faces count, and the moon."""
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
