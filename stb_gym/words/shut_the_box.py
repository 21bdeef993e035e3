"""Describe Shut the Box."""

from collections.abc import Sequence
from typing import Any

from stb_gym.games import Roll, ShutTheBox
from stb_gym.games.shut_the_box import BY_SUM, MATCH, ONE_DIE, open_tiles
from stb_gym.words.drawing import Picture, board_picture
from stb_gym.words.words import Words

SCORE = {"sum": "sum", "count": "number", "digits": "number read from the digits"}
SHUTTING = frozenset({"close", "closing", "shut", "shutting"})
LONGEST_LINE = 15  # tiles in a line of text, which fits into 80 columns


class BoxWords(Words):
    """The words and pictures of Shut the Box."""

    game: ShutTheBox

    prompt = "Shut which tiles? "
    verb = "shut"
    joining = ("box", "tile", "tiles", *SHUTTING)
    renamed = "tiles"
    names_in_answers = True

    def throw(self, faces: Roll) -> str:
        """Return the dice and their sum."""
        return f"{' + '.join(map(str, faces))} = {sum(faces)}" if len(faces) > 1 else super().throw(faces)

    def move(self, action: int, goes_on: bool = True) -> dict[str, Any]:
        """Return the tiles, and how many dice are thrown next where that is chosen."""
        dice = self.dice_after(action)
        return {"tiles": list(self.game.actions[action]), **({"dice": dice} if dice and goes_on else {})}

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
        """The rules that differ from the classic box, one sentence each."""
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

    @property
    def num_renamed(self) -> int:
        """How many tiles there are."""
        return self.game.tiles

    def setup(self) -> str:
        """Return sentences that name the open tiles and describe a turn."""
        tiles = ", ".join(map(str, self.game.start_tiles))
        throw = super().setup().removesuffix(".")
        return (
            f"The tiles {tiles} are open. {throw} and shut tiles, again and again, until no move is possible or all "
            "tiles are shut. A shut tile stays shut."
        )

    def question(self, progress: int, dice: int, roll: Roll) -> str:
        """Return the open tiles, the number of dice where it varies, and the roll."""
        lines = [f"Open tiles: {', '.join(map(self.name, open_tiles(progress)))}"]
        if len(self.game.throws) > 1:
            lines.append(f"Dice thrown: {dice}")
        return "\n".join([*lines, f"Roll: {self.game.describe_roll(roll)}"])

    def answer(self, action: int) -> str:
        """Return a move with the names of its tiles."""
        tiles = self.game.actions[action]
        numbers = ",".join(map(str, tiles))
        return self.game.describe_move(action).replace(numbers, ",".join(map(self.name, tiles)), 1)

    def dice_after(self, action: int) -> int:
        """Return how many dice an action chooses to throw next; 0 if it does not choose."""
        return self.game.dice_after[action]

    def is_unclear(self, tokens: Sequence[str], places: Sequence[int]) -> bool:
        """Return whether a number may be that of the roll or of tiles, as in "3, shut 1 and 2" and "shut 2 tiles"."""
        first, last = places[0], places[-1]
        if not SHUTTING.isdisjoint(tokens[first:last]) and SHUTTING.isdisjoint(tokens[:first]):
            return True
        for place in places:
            before, number, after = ["", *tokens][place], tokens[place], [*tokens, ""][place + 1]
            counts_tiles = after == "tiles" and (place < last or first == last)
            if counts_tiles or (after == "tile" and number in ("1", "one") and before != "the"):
                return True
        return False
