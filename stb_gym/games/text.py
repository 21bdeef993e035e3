"""The description of games to people: positions, moves and scores in words, as text and as pictures.

`Words` describes any game plainly; a game with its own words overrides some methods.
"""

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from stb_gym.games.drawing import Picture, board_picture, board_text, points_and_dice
from stb_gym.games.fields import check_choice, check_integer, check_names, integers, own_rules
from stb_gym.games.game import Game, Roll, walk
from stb_gym.games.shut_the_box import BY_SUM, MATCH, ONE_DIE, ShutTheBox, board_of, open_tiles
from stb_gym.games.threes import MOON, Threes

G = TypeVar("G", bound=Game)


class Where(NamedTuple):
    """A word that names part of a position, such as the open tiles.

    Attributes:
        words: its meaning.
        sample: a value as a person might type it.
        listed: True if the value is always a list of integers.
        flag: the name of its flag, if that is not the word itself.
    """

    words: str
    sample: str
    listed: bool = True
    flag: str | None = None


@dataclass(frozen=True)
class Words(Generic[G]):
    """The description of a game to people.

    Attributes:
        game: the rules.
        positions: the words that name a position, in `locate` and as flags of commands.
        prompt: the line that asks a person for a move.
    """

    game: G

    positions: ClassVar[Mapping[str, Where]] = {
        "held": Where("what the player holds (default that of the start)", "N", listed=False),
        "dice": Where("how many dice were thrown", "K", listed=False, flag="dice-in-hand"),
        "roll": Where("the dice as thrown", "3,1,6"),
    }
    prompt: ClassVar[str] = "Your move? "

    def locate(self, where: Mapping[str, Any]) -> tuple[int, int, Roll | None]:
        """Return the position that words name, as (held, dice, roll); the roll is None if none is named.

        Args:
            where: such as {"open": [1, 4], "roll": 5}.

        Raises:
            ValueError: naming the entry that is not part of this game, and what is allowed.
        """
        start_held, start_dice = self.game.start()
        held_word = next(iter(self.positions))
        check_names("position", where, list(self.positions))
        roll = where.get("roll")
        if roll is not None:
            roll = integers("roll", roll if hasattr(roll, "__iter__") else [roll], 1, self.game.faces)
        dice = where.get("dice", start_dice if roll is None else len(roll))
        held = where.get(held_word, start_held)
        states = walk(self.game)
        thrown = sorted({dice for _, dice in states if dice})
        check_choice("number of dice", dice, thrown)
        there = sorted(held for held, dice_there in states if dice_there == dice)
        named = held_word if len(thrown) == 1 else f"{held_word} with {dice_in_words(dice)}"
        check_integer(named, held, there[0], there[-1])
        check_choice(named, held, there)
        if roll is None:
            return int(held), int(dice), None
        if len(roll) != dice:
            raise ValueError(f"roll shows {len(roll)} dice, but {dice} are thrown")
        return int(held), int(dice), self.game.roll_of(tuple(roll))

    def where(self, held: int, dice: int) -> dict[str, Any]:
        """Return a state in the words that `locate` takes, such as {"open": [1, 4], "dice": 2}."""
        return {next(iter(self.positions)): held, "dice": dice}

    def state(self, held: int, dice: int) -> str:
        """Return a state in words."""
        return f"{next(iter(self.positions))} {held}, {dice_in_words(dice)}"

    def roll(self, roll: Roll) -> str:
        """Return a roll in words: its numbers, separated by commas."""
        return ",".join(map(str, roll)) or "none"

    def node(self, held: int, dice: int, roll: Roll) -> str:
        """Return a node in words: its state and its roll."""
        return f"{self.state(held, dice)}, roll {self.roll(roll)}"

    def throw(self, faces: Roll) -> str:
        """Return the dice as they fell."""
        return " ".join(map(str, faces))

    def move(self, action: int, goes_on: bool = True) -> dict[str, Any]:
        """Return a move as a dictionary for JSON, such as {"tiles": [3, 5]} or {"keep": 2}.

        Args:
            action: the action.
            goes_on: whether dice are thrown after it; if not, a choice of dice is left out.
        """
        return {"move": self.game.actions[action]}

    def move_in_words(self, move: Mapping[str, Any], roll: Roll | None = None) -> str:
        """Return a move, as `move` returns it, in words; with the dice, if the roll is given."""
        return ", ".join(map(str, move.values()))

    def score(self, points: int) -> str:
        """Return a number of points in words."""
        return "1 point" if points == 1 else f"{points} points"

    def goal(self, target: int) -> str:
        """Return the goal of a final score at least as good as the target, in words."""
        if target == self.game.perfect_score:
            return self.score(target)
        return f"at {'least' if self.game.more_is_better else 'most'} {self.score(target)}"

    @property
    def perfection(self) -> str:
        """The name of the probability of the perfect score."""
        return f"chance of {self.score(self.game.perfect_score)}"

    @property
    def best(self) -> str:
        """Which number of points is best, "most" or "fewest"."""
        return "most" if self.game.more_is_better else "fewest"

    def how_to_play(self) -> str:
        """Return what a player does, and how the turn is scored: by default the first line of the rules' docstring."""
        return (type(self.game).__doc__ or "").strip().partition("\n")[0]

    def introduction(self) -> str:
        """Return the name of the game, and the fields of its rules that differ from the defaults."""
        name = self.game.name.replace("-", " ").capitalize()
        own = ", ".join(f"{rule} {value}".replace("_", " ") for rule, value in own_rules(self.game).items())
        return f"{name} ({own})" if own else name

    def ended(self, points: int) -> str:
        """Return the line that a person reads at the end of a turn."""
        return f"You end with {self.score(points)}."

    def no_move(self, held: int, dice: int, faces: Roll) -> str:
        """Return why a turn ends at a throw that leaves no move."""
        return "There is no move."

    def understood(self, typed: str) -> Hashable:
        """Return the meaning of a typed line (in lower case), which equals `typed_as` of the move it names."""
        return typed

    def typed_as(self, action: int) -> Hashable:
        """Return the meaning of a move as a person types it, empty for the move that does nothing.

        Moves with the same meaning differ only in the number of dice thrown next.
        """
        return str(self.game.actions[action]).lower()

    def hint(self, held: int, dice: int, roll: Roll, typed: Hashable) -> str:
        """Return why a typed line is no move, and what is allowed."""
        return f"Type {' or '.join(dict.fromkeys(str(self.typed_as(a)) for a in range(len(self.game.actions))))}."

    def text(self, held: int, dice: int, shown: Roll) -> str:
        """Return a position as plain text, with as many lines for all positions of a game.

        Args:
            held: what the player holds.
            dice: number of dice in hand.
            shown: the faces of the dice just thrown; empty when nothing is thrown.
        """
        return f"dice   {' '.join(map(str, shown)) or 'none'}\npoints {self.game.final_score(held)}"

    def picture(self, held: int, dice: int, shown: Roll, told: str = "", before: int | None = None) -> Picture:
        """Return a position as a picture [height, width, 3] uint8, of one size for all positions of a game.

        Args:
            held: what the player holds.
            dice: number of dice in hand.
            shown: the faces of the dice just thrown; empty when nothing is thrown.
            told: a line above it, such as the last move.
            before: what the player held before the last move, to mark the change.

        Raises:
            ImportError: if Pillow is not installed, with the command that installs it.
        """
        total = f"= {sum(shown)}" if len(shown) > 1 else ""
        return points_and_dice(self.game.final_score(held), dice, self.game.dice, shown, total=total, told=told)


def dice_in_words(dice: int) -> str:
    """Return a number of dice in words."""
    return "1 die" if dice == 1 else f"{dice} dice"


def numbers_typed(typed: str) -> tuple[int, ...]:
    """Parse typed numbers, separated by spaces, commas or plus signs, and sort them; return () for other text."""
    if not re.fullmatch(r"\d{1,3}([\s,+]+\d{1,3})*", typed):
        return ()
    return tuple(sorted(map(int, re.findall(r"\d+", typed))))


class BoxWords(Words[ShutTheBox]):
    """The description of Shut the Box."""

    positions = {  # noqa: RUF012 (a ClassVar of `Words`)
        "open": Where("open tiles (default those of the start)", "1,4,5,8"),
        "roll": Where("sum of the dice, or the dice", "9|3,4", listed=False),
        "dice": Where("how many dice were thrown", "K", listed=False, flag="dice-in-hand"),
    }
    prompt = "Shut which tiles? "

    def locate(self, where: Mapping[str, Any]) -> tuple[int, int, Roll | None]:
        """Return (held, dice, roll); a roll is given by its dice or, if nothing else matters, by their sum."""
        game = self.game
        check_names("position", where, list(self.positions))
        tiles = integers("open tiles", where.get("open", game.start_tiles), 1, game.tiles)
        if not tiles or len(set(tiles)) < len(tiles):
            raise ValueError(f"open must name at least one tile, and each once, not {tiles}")
        for tile in tiles:
            check_choice("open tile", tile, game.start_tiles)
        board = board_of(tiles)
        allowed = list(game.throws_at(board))
        if "dice" in where:
            check_choice("number of dice there", where["dice"], allowed)
            allowed = [where["dice"]]
        roll = where.get("roll")
        if roll is None:
            return board, allowed[0], None
        if not hasattr(roll, "__iter__"):
            if game.match in BY_SUM:
                check_integer("roll", roll, min(allowed), max(allowed) * game.faces)
                for dice in allowed:
                    if dice <= roll <= dice * game.faces:
                        return board, dice, (int(roll),)
                named = " or ".join(map(str, allowed))
                raise ValueError(f"no roll of {named} dice of {game.faces} faces is {roll}")
            if allowed != [1]:
                raise ValueError(f"single dice matter here: roll must be the faces of {allowed[0]} dice, not {roll}")
            roll = [roll]
        throw = integers("roll", roll, 1, game.faces)
        check_choice("number of dice in roll", len(throw), allowed)
        return board, len(throw), game.roll_of(tuple(throw))

    def where(self, held: int, dice: int) -> dict[str, Any]:
        """Return the open tiles, and how many dice are thrown."""
        return {"open": open_tiles(held), "dice": dice}

    def state(self, held: int, dice: int) -> str:
        """Return the open tiles, and how many dice are thrown where that can differ."""
        board = f"open {','.join(map(str, open_tiles(held))) or 'none'}"
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
        """Return what a player does, and how the turn is scored."""
        game = self.game
        score = {"sum": "sum", "count": "number", "digits": "number read from the digits"}[game.score]
        how = [f"Shut {MATCH[game.match]}; the {score} of those still open at the end is your score."]
        if len(game.throws) > 1:
            must = "must" if game.one_die_forced else "may"
            how.append(f"After the first throw you {must} throw one die {ONE_DIE[game.one_die]}.")
        if game.first_move is not None:
            how.append(f"The first move must shut the {game.first_move}.")
        if game.ending_roll is not None:
            how.append(f"A roll of {game.ending_roll} ends the turn.")
        return "\n".join(how)

    def ended(self, points: int) -> str:
        """Return the line that a person reads at the end of a turn."""
        return "You shut the box!" if points == 0 else super().ended(points)

    def no_move(self, held: int, dice: int, faces: Roll) -> str:
        """Return why a turn ends at a throw that leaves no move."""
        game = self.game
        if sum(faces) == game.ending_roll:
            return f"A roll of {game.ending_roll} ends the turn."
        if game.first_move is not None and held == game.start()[0]:
            return f"The first move must shut the {game.first_move}, and no tiles with it match."
        return f"No open tiles add up to {sum(faces)}." if game.match in BY_SUM else "No open tiles match the dice."

    def understood(self, typed: str) -> Hashable:
        """Return the tile numbers of a typed line, sorted; the word "shut" may stand before them."""
        return numbers_typed(typed.removeprefix("shut").lstrip())

    def typed_as(self, action: int) -> Hashable:
        """Return the tiles of a move."""
        return self.game.actions[action]

    def hint(self, held: int, dice: int, roll: Roll, typed: Hashable) -> str:
        """Return why typed tiles are no move, and what is allowed."""
        game, numbers = self.game, typed if isinstance(typed, tuple) else ()
        shut = [tile for tile in numbers if tile not in open_tiles(held)]
        if not numbers:
            fault = "These are no tiles"
        elif shut:
            fault = f"Tile {shut[0]} is not open"
        elif len(set(numbers)) < len(numbers):
            fault = "Every tile is there only once"
        elif game.match in BY_SUM:
            fault = f"{' + '.join(map(str, numbers))} = {sum(numbers)}" if len(numbers) > 1 else f"That is {numbers[0]}"
        else:
            fault = "These do not match"
        wanted = {
            "sum": f"open tiles that add up to {self.roll(roll)}",
            "two-at-most": f"one open tile or two that add up to {self.roll(roll)}",
            "one-tile": "one open tile, that of a die or of their sum",
            "faces-or-sum": "the open tiles of all dice, or that of their sum",
        }[game.match]
        first = f", the {game.first_move} among them" if game.first_move and held == game.start()[0] else ""
        return f"{fault}. Type {wanted}{first}. ? shows which you can shut."

    def text(self, held: int, dice: int, shown: Roll) -> str:
        """Return the board, the dice and the points as text."""
        return board_text(self.game.tiles, held, shown, self.game.final_score(held))

    def picture(self, held: int, dice: int, shown: Roll, told: str = "", before: int | None = None) -> Picture:
        """Return a picture of the board; the tiles that the last move shut have a golden rim."""
        just_shut = 0 if before is None else before & ~held
        score = self.score(self.game.final_score(held))
        return board_picture(self.game.tiles, self.game.dice, held, shown, told, score, just_shut)


class ThreesWords(Words[Threes]):
    """The description of Threes."""

    positions = {  # noqa: RUF012 (a ClassVar of `Words`)
        "points": Where("points so far (default 0)", "N", listed=False),
        "roll": Where("the dice as thrown", "3,1,6"),
        "dice": Where("how many dice were thrown", "K", listed=False, flag="dice-in-hand"),
    }
    prompt = "Keep how many dice? "

    def state(self, held: int, dice: int) -> str:
        """Return the points so far, and the dice left."""
        return "the moon" if held == MOON else f"{self.score(held)}, {dice_in_words(dice)} left"

    def move(self, action: int, goes_on: bool = True) -> dict[str, Any]:
        """Return how many dice are kept."""
        return {"keep": self.game.actions[action]}

    def move_in_words(self, move: Mapping[str, Any], roll: Roll | None = None) -> str:
        """Return a move such as "keep 2 (3 1)"."""
        dice = "" if roll is None else f" ({' '.join(map(str, roll[: move['keep']]))})"
        return f"keep {move['keep']}{dice}"

    def score(self, points: int) -> str:
        """Return a number of points, or the moon."""
        return "the moon" if points < 0 else super().score(points)

    def how_to_play(self) -> str:
        """Return what a player does, and how the turn is scored."""
        game = self.game
        free = f"; a {game.free_face} counts nothing" if 1 <= game.free_face <= game.faces else ""
        moon = f"\nA first throw of nothing but {game.faces} is the moon, better than 0." if game.moon else ""
        return f"Keep the lowest dice of every throw, at least one, until none is left{free}.{moon}"

    def understood(self, typed: str) -> Hashable:
        """Return the number in a typed line; the word "keep" may stand before it, and the dice behind it."""
        return numbers_typed(typed.removeprefix("keep").partition("(")[0].strip())

    def typed_as(self, action: int) -> Hashable:
        """Return how many dice are kept."""
        return (self.game.actions[action],)

    def hint(self, held: int, dice: int, roll: Roll, typed: Hashable) -> str:
        """Return what is allowed."""
        return f"Type how many dice to keep, from 1 to {dice}. ? shows which they are."

    def text(self, held: int, dice: int, shown: Roll) -> str:
        """Return the dice, how many are kept, and the points."""
        kept = f"kept   {self.game.dice - dice} of {self.game.dice}"
        return f"dice   {' '.join(map(str, shown)) or 'none'}\n{kept}\npoints {held}"

    def picture(self, held: int, dice: int, shown: Roll, told: str = "", before: int | None = None) -> Picture:
        """Return a picture of the points and the dice; dice worth nothing are golden."""
        free = self.game.free_face
        total = f"= {sum(face for face in shown if face != free)}" if len(shown) > 1 else ""
        return points_and_dice(held, dice, self.game.dice, shown, (free,), total, told)
