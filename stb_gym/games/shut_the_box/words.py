"""Shut the Box in words: how positions are named, how it is played, and what a person at the terminal reads."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games.drawing import Picture
from stb_gym.games.fields import check_choice, check_integer, check_names, integers
from stb_gym.games.shut_the_box.drawing import board_picture, board_text
from stb_gym.games.shut_the_box.matching import BY_SUM, MATCHES, board_of
from stb_gym.games.shut_the_box.rules import ShutTheBox
from stb_gym.games.words import Faces, Where, Words, dice_in_words, numbers_typed


class BoxWords(Words[ShutTheBox]):
    """The words of Shut the Box."""

    positions = {  # noqa: RUF012 (a ClassVar of `Words`)
        "open": Where("open tiles (default those of the start)", "1,4,5,8"),
        "roll": Where("sum of the dice, or the dice", "9|3,4", listed=False),
        "dice": Where("how many dice were thrown", "K", listed=False, flag="dice-in-hand"),
    }
    prompt = "Shut which tiles? "

    def locate(self, where: Mapping[str, Any]) -> tuple[int, int, NDArray[np.uint8] | None]:
        """See `Words`: the open tiles, the roll (the sum of the dice, or the dice), and how many dice were thrown."""
        game = self.game
        check_names("position", where, ("open", "dice", "roll"))
        tiles = integers("open tiles", where.get("open", game.start_tiles), 1, game.tiles)
        if not tiles or len(set(tiles)) < len(tiles):
            raise ValueError(f"open must name at least one tile, and each once, not {tiles}")
        for tile in tiles:
            check_choice("open tile", tile, game.start_tiles)
        board = board_of(tiles)
        allowed = [dice for dice in game.throws if self._is_state(board, dice)]
        if "dice" in where:
            check_choice("number of dice there", where["dice"], allowed)
            allowed = [where["dice"]]
        if where.get("roll") is None:
            return board, allowed[0], None
        return board, *self._locate_roll(where["roll"], allowed)

    def _is_state(self, board: int, dice: int) -> bool:
        if board == self.game.start()[0]:
            return dice == self.game.dice
        return bool(self.game.hand.may_throw(np.array([board]), dice)[0])

    def _locate_roll(self, roll: Any, allowed: list[int]) -> tuple[int, NDArray[np.uint8]]:
        """The number of dice and the roll, given by its dice or, if nothing else matters, by their sum."""
        faces = self.game.faces
        if self.game.match in BY_SUM and isinstance(roll, int | np.integer):
            check_integer("roll", roll, min(allowed), max(allowed) * faces)
            if showing := [dice for dice in allowed if dice <= roll <= dice * faces]:
                return showing[0], np.array([roll], np.uint8)
            raise ValueError(f"no roll of {' or '.join(map(str, allowed))} dice of {faces} faces is {roll}")
        if isinstance(roll, int | np.integer) and allowed != [1]:
            raise ValueError(f"single dice matter here: roll must be the faces of {allowed[0]} dice, not {roll}")
        shown = integers("roll", [roll] if isinstance(roll, int | np.integer) else roll, 1, faces)
        check_choice("number of dice in roll", len(shown), allowed)
        return len(shown), self.game.roll_of(np.array([shown], np.uint8))[0]

    def where(self, held: int, dice: int) -> dict[str, Any]:
        """The open tiles, and how many dice are thrown."""
        return {"open": [tile for tile in range(1, self.game.tiles + 1) if held >> tile - 1 & 1], "dice": dice}

    def state(self, held: int, dice: int) -> str:
        """The open tiles, and how many dice are thrown where that differs."""
        board = f"open {','.join(map(str, self.where(held, dice)['open'])) or 'none'}"
        return board if len(self.game.throws) == 1 or dice == 0 else f"{board}, {dice_in_words(dice)}"

    def roll(self, roll: NDArray[np.uint8]) -> str:
        """The sum of the dice, or the dice where single ones matter."""
        return ",".join(map(str, roll[roll > 0])) or "none"

    def throw(self, faces: Faces) -> str:
        """The dice and their sum."""
        return f"{' + '.join(map(str, faces))} = {sum(faces)}" if len(faces) > 1 else super().throw(faces)

    def move(self, action: int, goes_on: bool = True) -> dict[str, Any]:
        """The tiles, and how many dice are thrown next where that is chosen."""
        dice = self.game.dice_after[action]
        return {"tiles": list(self.game.moves[action]), **({"dice": dice} if dice and goes_on else {})}

    def move_in_words(self, move: Mapping[str, Any], roll: NDArray[np.uint8] | None = None) -> str:
        """Such as "shut 3,5, throw 1 die"."""
        if not move["tiles"]:
            return "no move"
        dice = f", throw {dice_in_words(move['dice'])}" if "dice" in move else ""
        return f"shut {','.join(map(str, move['tiles']))}{dice}"

    @property
    def perfection(self) -> str:
        """What the chance of the perfect score is called."""
        return "chance to shut"

    def how_to_play(self) -> str:
        """What a player does, and what counts."""
        game = self.game
        matching = (MATCHES[game.match].__doc__ or "").rstrip(".")
        score = {"sum": "sum", "count": "number", "digits": "number read from the digits"}[game.score]
        how = [f"Shut {matching[0].lower()}{matching[1:]}; the {score} of those still open at the end is your score."]
        if len(game.throws) > 1:
            must = "must" if game.one_die_forced else "may"
            how.append(f"After the first throw you {must} throw one die {game.hand.when}.")
        if game.first_move is not None:
            how.append(f"The first move must shut the {game.first_move}.")
        if game.ending_roll is not None:
            how.append(f"A roll of {game.ending_roll} ends the turn.")
        return "\n".join(how)

    def ended(self, points: int) -> str:
        """What a person reads at the end of a turn."""
        return "You shut the box!" if points == 0 else super().ended(points)

    def no_move(self, held: int, dice: int, faces: Faces) -> str:
        """Why a turn ends at a throw that leaves no move."""
        game = self.game
        if sum(faces) == game.ending_roll:
            return f"A roll of {game.ending_roll} ends the turn."
        if game.first_move is not None and held == game.start()[0]:
            return f"The first move must shut the {game.first_move}, and no tiles with it match."
        return f"No open tiles add up to {sum(faces)}." if game.match in BY_SUM else "No open tiles match the dice."

    def understood(self, typed: str) -> Hashable:
        """Tile numbers, in ascending order, perhaps after the word "shut"."""
        return numbers_typed(typed.removeprefix("shut").lstrip())

    def typed_as(self, action: int) -> Hashable:
        """The tiles of a move."""
        return self.game.moves[action]

    def hint(self, held: int, dice: int, roll: NDArray[np.uint8], typed: Hashable) -> str:
        """What is wrong with tiles that are no move, and what is allowed."""
        game, numbers = self.game, typed if isinstance(typed, tuple) else ()
        shut = [tile for tile in numbers if not held << 1 >> tile & 1]
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

    def text(self, held: int, dice: int, shown: Faces) -> str:
        """See `Words`."""
        return board_text(self.game.tiles, held, shown, self.points(held))

    def picture(self, held: int, dice: int, shown: Faces, told: str = "", before: int | None = None) -> Picture:
        """See `Words`; the tiles that the last move shut have a golden rim."""
        just_shut = 0 if before is None else before & ~held
        score = self.score(self.points(held))
        return board_picture(self.game.tiles, self.game.dice, held, shown, told, score, just_shut)
