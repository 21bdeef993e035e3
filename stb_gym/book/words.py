"""States, rolls and moves in words, for all nodes of a game at once, and how pages draw them.

A page draws tiles that are open or shut, and dice; what cannot be drawn stands there in words.
"""

from collections.abc import Callable
from functools import cached_property
from html import escape
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.exact import TurnTables
from stb_gym.games import dice_in_words, rolls_in_words, states_in_words, words_of
from stb_gym.output import Column, column

PIPS = 6  # the most that a face shows


def every_state(tables: TurnTables) -> list[str]:
    """[S] every state."""
    return states_in_words(words_of(tables.game), tables.held, tables.dice)


def every_roll(tables: TurnTables) -> list[str]:
    """[N] the roll of every node."""
    words, numbers = words_of(tables.game), tables.dice.tolist()
    shown = {dice: rolls_in_words(words, dice) for dice in set(numbers)}
    return [roll for dice in numbers for roll in shown[dice]]


def moves_in_words(tables: TurnTables, marked: NDArray[Any]) -> list[str]:
    """[D] the marked moves of every node that has a move, such as "shut 3,5 or shut 8".

    Args:
        tables: the arrays of the game.
        marked: [E] True for at least one edge of every such node.
    """
    words = words_of(tables.game)
    told = [words.move_in_words(words.move(action)) for action in range(tables.actions)]
    moves = iter(tables.edge_action[marked].tolist())
    counts = tables.reduce(np.add, marked.astype(int))
    return [" or ".join(told[action] for action in islice(moves, count)) for count in counts.tolist()]


def where(tables: TurnTables) -> dict[str, Column]:
    """The columns that say where one is, for every node that has a move; a page draws them."""
    return {"state": drawn_states(tables, tables.node_state[tables.decisions]), "roll": drawn_rolls(tables)}


def drawn_states(tables: TurnTables, states: NDArray[Any] | None = None) -> Column:
    """The column of some states (all by default), which a page draws."""
    words, draw = every_state(tables), Drawing(tables).state
    places = range(tables.states) if states is None else states.tolist()
    return column("", (At.speak(words[state], state, draw) for state in places))


def drawn_rolls(tables: TurnTables, nodes: NDArray[Any] | None = None) -> Column:
    """The column of the rolls of some nodes (all that have a move by default), which a page draws."""
    words, draw = every_roll(tables), Drawing(tables).roll
    places = tables.decisions if nodes is None else nodes
    return column("", (At.speak(words[node], node, draw) for node in places.tolist()))


def perfect_score(tables: TurnTables) -> str:
    """The perfect score, and where the game has better ones these too: "0", or "20 or more"."""
    game = tables.game
    if tables.place_of(game.perfect_score) == 0:
        return str(game.perfect_score)
    return f"{game.perfect_score} or {'more' if game.more_is_better else 'less'}"


class At(str):
    """A state or a roll in words, which a page draws. To all others, such as files, it is just words.

    Attributes:
        place: the state, or the node of the roll.
        draw: makes HTML of the place and the words.
    """

    place: int
    draw: Callable[[int, str], str]

    @classmethod
    def speak(cls, words: str, place: int, draw: Callable[[int, str], str]) -> "At":
        """The words for a place."""
        at = cls(words)
        at.place, at.draw = place, draw
        return at

    def __html__(self) -> str:
        """What stands on a page."""
        return self.draw(self.place, str(self))


class Drawing:
    """How the positions of a game are drawn.

    Where a position is named by a list of numbers, as open tiles are, these are tiles. A roll that shows every die is
    drawn as dice.
    """

    def __init__(self, tables: TurnTables):
        self.tables, self.words = tables, words_of(tables.game)
        self._drawn: dict[tuple[int, str], str] = {}

    def state(self, state: int, words: str) -> str:
        """A state as HTML, given its words."""
        if (state, words) not in self._drawn:
            self._drawn[state, words] = self._tiles(state, words) if self._all_tiles else escape(words)
        return self._drawn[state, words]

    def roll(self, node: int, words: str) -> str:
        """The roll of a node as HTML, given its words: dice if it shows each of them."""
        faces, dice = self.tables.node_roll(node).tolist(), self.tables.dice[self.tables.node_state[node]]
        if len(faces) != dice or not 0 < min(faces, default=0) <= max(faces) <= PIPS:
            return f'<b class="sum">{escape(words)}</b>'
        shown = "".join(f'<svg><use href="#die-{face}"/></svg>' for face in faces)
        return f'<span class="dice" role="img" aria-label="{escape(words)}">{shown}</span>'

    def _tiles(self, state: int, words: str) -> str:
        """Open tiles stand, shut ones are struck; then how many dice are thrown, where that differs."""
        dice = int(self.tables.dice[state])
        tiles = "".join(f"<b>{tile}</b>" if tile in self._open(state) else f"<s>{tile}</s>" for tile in self._all_tiles)
        thrown = f"<small>{dice_in_words(dice)}</small>" if dice and self._dice_differ else ""
        return f'<span class="board" role="img" aria-label="{escape(words)}">{tiles}{thrown}</span>'

    def _open(self, state: int) -> list[int]:
        """The numbers of a state that are listed."""
        where = self.words.where(int(self.tables.held[state]), int(self.tables.dice[state]))
        return next((where[name] for name, word in self.words.positions.items() if word.listed and name != "roll"), [])

    @cached_property
    def _all_tiles(self) -> list[int]:
        """The tiles that are open in any state; none if positions are named otherwise."""
        return sorted({tile for state in range(self.tables.states) for tile in self._open(state)})

    @cached_property
    def _dice_differ(self) -> bool:
        return len({*self.tables.dice[self.tables.dice > 0].tolist()}) > 1
