"""What the players of a round see of each other, and what becomes of it.

All that matters of the final scores so far is the standing: the lead, which is the best of them, and how many hold it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import IntArray, check_choice, check_integer
from stb_gym.solver import Standing, TurnTables

MOST_PLAYERS = 101  # a hundred after the first
LARGEST_BLOCK = 2**22  # edges x standings that are worked on at once
TIES = {
    "split": "tied players share the win",
    "all-win": "all tied players win",
    "nobody": "a tie wins for nobody",
}


@dataclass(frozen=True, eq=False, repr=False)
class Standings:
    """Every standing of a round, by index: Z of them, the last of which is "nobody has played".

    Attributes:
        tables: the arrays of the game. A score better than the perfect one, such as the moon, ends the round.
        players: how many play.
        ties: one of `TIES`.
        shut_wins: the perfect score (0 in Shut the Box and Threes) ends the round.

    Raises:
        ValueError: if there is no such tie rule, or the number of players is out of range.
    """

    tables: TurnTables
    players: int
    ties: str
    shut_wins: bool

    def __post_init__(self) -> None:
        check_integer("players", self.players, 1, MOST_PLAYERS)
        check_choice("ties", self.ties, list(TIES))

    @property
    def scores(self) -> IntArray:
        """[T] every final score of the game, the best first."""
        return self.tables.scores

    @cached_property
    def lead(self) -> IntArray:
        """[Z] where in `scores` the best so far is; T if nobody has played, for any score is better than that."""
        return np.append(np.repeat(np.arange(len(self.scores)), self.players), len(self.scores))

    @cached_property
    def holders(self) -> IntArray:
        """[Z] how many have the lead."""
        return np.append(np.tile(np.arange(1, self.players + 1), len(self.scores)), 0)

    @cached_property
    def over(self) -> NDArray[np.bool_]:
        """[Z] True where nobody plays any more."""
        perfect = int(self.tables.place_of(self.tables.game.perfect_score))
        at_perfect = bool(np.isin(self.tables.game.perfect_score, self.scores))
        return self.lead < perfect + (self.shut_wins and at_perfect)

    @cached_property
    def after(self) -> IntArray:
        """[Z, T] the standing after another final score."""
        standing, score = np.indices((len(self.lead), len(self.scores)))
        lead, one_more = self.lead[:, None], np.minimum(self.holders + 1, self.players)[:, None]
        index = score * self.players + np.where(score < lead, 1, one_more) - 1
        return np.where(score > lead, standing, index)

    @cached_property
    def holds(self) -> NDArray[np.bool_]:
        """[Z, T] True where the player of the score then holds the lead."""
        return np.arange(len(self.scores)) <= self.lead[:, None]

    @cached_property
    def keeps(self) -> NDArray[np.bool_]:
        """[Z, T] True where the former holders still hold it."""
        return np.arange(len(self.scores)) >= self.lead[:, None]

    @cached_property
    def share(self) -> NDArray[np.float64]:
        """[Z] what each holder wins if the round ends so."""
        shares = {"all-win": self.holders > 0, "split": 1 / np.maximum(self.holders, 1), "nobody": self.holders == 1}
        return shares[self.ties].astype(float)

    @cached_property
    def company(self) -> NDArray[np.float64]:
        """[Z] how many others each holder shares the lead with if the round ends so."""
        return np.maximum(self.holders - 1, 0).astype(float)

    def met_by(self, seat: int) -> IntArray:
        """The standings at which a seat may have to play."""
        if seat == 0:
            return np.flatnonzero(self.holders == 0)
        return np.flatnonzero((self.holders > 0) & (self.holders <= seat) & ~self.over)

    def blocks(self, seat: int) -> Iterator[IntArray]:
        """The same, as many at a time as fit; whoever waits is told when each is done."""
        met = self.met_by(seat)
        size = max(1, LARGEST_BLOCK // max(1, len(self.tables.edge_node)))
        for first in range(0, len(met), size):
            yield met[first : first + size]

    def find(self, standing: Standing) -> int:
        """The index of a standing.

        Raises:
            ValueError: if it cannot come about in this round.
        """
        lead, holders, after = standing
        check_integer("players after", after, 0, self.players - 1)
        if lead is None:
            if holders != 0:
                raise ValueError(f"before anybody has played there are no holders of the lead, not {holders}")
            return len(self.lead) - 1
        if after == self.players - 1:
            raise ValueError(f"who has {after} players after is the first of {self.players}: there is no lead yet")
        check_integer("lead", lead, int(self.scores.min()), int(self.scores.max()))
        check_integer("holders of the lead", holders, 1, self.players - 1 - after)
        index = self.place(lead) * self.players + holders - 1
        if self.over[index]:
            raise ValueError(f"a lead of {lead} ends the round: nobody plays after it")
        return index

    def standing(self, index: int, after: int) -> Standing:
        """The standing of an index."""
        holders = int(self.holders[index])
        return Standing(int(self.scores[self.lead[index]]) if holders else None, holders, after)

    def place(self, score: int) -> int:
        """Where in `scores` a final score is.

        Raises:
            ValueError: if no turn ends with it.
        """
        place = int(self.tables.place_of(score))
        if place == len(self.scores) or self.scores[place] != score:
            raise ValueError(f"no turn ends with a score of {score}")
        return place
