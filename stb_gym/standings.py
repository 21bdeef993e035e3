"""What the players of a round see of each other, and what becomes of it.

All that matters of the final scores so far is the standing: the lead, and how many hold it.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.game import IntArray, check_choice, check_integer

TIES = {
    "all-win": "all tied players win",
    "split": "tied players share the win",
    "nobody": "a tie wins for nobody",
}


class Standing(NamedTuple):
    """What the next player of a round sees of the others.

    Attributes:
        lead: the lowest final score so far, None if nobody has played; the next player is then the first of after + 1.
        holders: how many players have it, counted no further than the tie rule asks: 1 if all win, 2 if nobody does.
        after: how many players play after the next one.
    """

    lead: int | None = None
    holders: int = 0
    after: int = 0


@dataclass(frozen=True, eq=False)
class Standings:
    """Every standing of a round, by index: Z of them, the last of which is "nobody has played".

    Attributes:
        scores: [T] every final score of the game, ascending. A score below 0 ends the round.
        players: how many play.
        ties: "all-win", "split" or "nobody".
        shut_wins: a score of 0 ends the round.

    Raises:
        ValueError: if there is no such tie rule, or the number of players is out of range.
    """

    scores: IntArray
    players: int
    ties: str
    shut_wins: bool

    def __post_init__(self) -> None:
        check_integer("players", self.players, 1, 100)
        check_choice("ties", self.ties, list(TIES))

    @property
    def most(self) -> int:
        """How far the holders of a lead have to be counted."""
        return {"all-win": 1, "split": self.players, "nobody": 2}[self.ties]

    @cached_property
    def lead(self) -> IntArray:
        """[Z] where in `scores` the lowest so far is; T if nobody has played, for any score is less than that."""
        return np.append(np.repeat(np.arange(len(self.scores)), self.most), len(self.scores))

    @cached_property
    def holders(self) -> IntArray:
        """[Z] how many have the lead, counted up to `most`."""
        return np.append(np.tile(np.arange(1, self.most + 1), len(self.scores)), 0)

    @cached_property
    def over(self) -> NDArray[np.bool_]:
        """[Z] True where nobody plays any more."""
        return np.append(self.scores, 1)[self.lead] < int(self.shut_wins)

    @cached_property
    def after(self) -> IntArray:
        """[Z, T] the standing after another final score."""
        standing, score = np.indices((len(self.lead), len(self.scores)))
        lead, one_more = self.lead[:, None], np.minimum(self.holders + 1, self.most)[:, None]
        index = score * self.most + np.where(score < lead, 1, one_more) - 1
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

    def met_by(self, seat: int) -> IntArray:
        """The standings at which a seat may have to play."""
        if seat == 0:
            return np.flatnonzero(self.holders == 0)
        return np.flatnonzero((self.holders > 0) & (self.holders <= seat) & ~self.over)

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
        check_integer("lead", lead, int(self.shut_wins), int(self.scores[-1]))
        check_integer("holders of the lead", holders, 1, self.players - 1 - after)
        return self.place(lead) * self.most + min(holders, self.most) - 1

    def standing(self, index: int, after: int) -> Standing:
        """The standing of an index."""
        holders = int(self.holders[index])
        return Standing(int(self.scores[self.lead[index]]) if holders else None, holders, after)

    def place(self, score: int) -> int:
        """Where in `scores` a final score is.

        Raises:
            ValueError: if no turn ends with it.
        """
        place = int(np.searchsorted(self.scores, score))
        if place == len(self.scores) or self.scores[place] != score:
            raise ValueError(f"no turn ends with a score of {score}")
        return place
