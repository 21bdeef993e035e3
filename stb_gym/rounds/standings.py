"""The standings of a round: all that matters of the final scores so far.

A standing is the lead, which is the best final score so far, and the number of players who hold it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import IntArray, check_choice, check_integer
from stb_gym.solver import Standing, TurnTables

MOST_PLAYERS = 101  # a hundred after the first
LARGEST_BLOCK = 2**22  # edges x standings in one pass over the tables
TIES = {
    "split": "tied players share the win",
    "all-win": "all tied players win",
    "nobody": "a tie wins for nobody",
}


@dataclass(frozen=True, eq=False, repr=False)
class Standings:
    """The Z standings of a round as arrays. The last one is that before anybody has played.

    A *place* is the index of a final score in `scores`, where the best score is first.

    Attributes:
        tables: the arrays of the game.
        players: how many play.
        ties: one of `TIES`.
        shut_wins: whether the perfect score (0 in Shut the Box and Threes) ends the round. A better score always does.

    Raises:
        ValueError: if the tie rule is unknown, or the number of players is out of range.
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
        """[T] the final scores of the game, best first."""
        return self.tables.scores

    @cached_property
    def lead(self) -> IntArray:
        """[Z] the place of the lead; T if nobody has played."""
        return np.append(np.repeat(np.arange(len(self.scores)), self.players), len(self.scores))

    @cached_property
    def holders(self) -> IntArray:
        """[Z] how many players hold the lead."""
        return np.append(np.tile(np.arange(1, self.players + 1), len(self.scores)), 0)

    @cached_property
    def over(self) -> NDArray[np.bool_]:
        """[Z] True where the round has ended early."""
        perfect = self.tables.game.perfect_score
        ends_it = self.shut_wins and bool(np.isin(perfect, self.scores))
        return self.lead < int(self.tables.place_of(perfect)) + ends_it

    @cached_property
    def after(self) -> IntArray:
        """[Z, T] the standing after another final score."""
        standing, score = np.indices((len(self.lead), len(self.scores)))
        lead, one_more = self.lead[:, None], np.minimum(self.holders + 1, self.players)[:, None]
        index = score * self.players + np.where(score < lead, 1, one_more) - 1
        return np.where(score > lead, standing, index)

    @cached_property
    def holds(self) -> NDArray[np.bool_]:
        """[Z, T] True where the player with that final score takes or shares the lead."""
        return np.arange(len(self.scores)) <= self.lead[:, None]

    @cached_property
    def keeps(self) -> NDArray[np.bool_]:
        """[Z, T] True where the earlier holders keep the lead."""
        return np.arange(len(self.scores)) >= self.lead[:, None]

    @cached_property
    def share(self) -> NDArray[np.float64]:
        """[Z] what each holder wins if the round ends there."""
        shares = {"all-win": self.holders > 0, "split": 1 / np.maximum(self.holders, 1), "nobody": self.holders == 1}
        return shares[self.ties].astype(float)

    def met_by(self, seat: int) -> IntArray:
        """Return the standings at which a seat may have to play."""
        if seat == 0:
            return np.flatnonzero(self.holders == 0)
        return np.flatnonzero((self.holders > 0) & (self.holders <= seat) & ~self.over)

    def blocks(self, seat: int) -> Iterator[IntArray]:
        """Yield the standings of `met_by` in blocks small enough for one pass."""
        met = self.met_by(seat)
        size = max(1, LARGEST_BLOCK // max(1, len(self.tables.edge_node)))
        for first in range(0, len(met), size):
            yield met[first : first + size]

    def find(self, standing: Standing) -> int:
        """Return the index of a standing.

        Raises:
            ValueError: if it cannot occur in this round.
        """
        lead, holders, after = standing
        check_integer("players after", after, 0, self.players - 1)
        if lead is None:
            if holders != 0:
                raise ValueError(f"before anybody has played there are no holders of the lead, not {holders}")
            return len(self.lead) - 1
        if after == self.players - 1:
            raise ValueError(f"the first of {self.players} players, with {after} players after, sees no lead")
        check_integer("lead", lead, int(self.scores.min()), int(self.scores.max()))
        check_integer("holders of the lead", holders, 1, self.players - 1 - after)
        index = self.place(lead) * self.players + holders - 1
        if self.over[index]:
            raise ValueError(f"a lead of {lead} ends the round: nobody plays after it")
        return index

    def standing(self, index: int, after: int) -> Standing:
        """Return the standing of an index, with `after` players still to play after the next."""
        holders = int(self.holders[index])
        return Standing(int(self.scores[self.lead[index]]) if holders else None, holders, after)

    def place(self, score: int) -> int:
        """Return the place of a final score.

        Raises:
            ValueError: if no turn ends with it.
        """
        place = int(self.tables.place_of(score))
        if place == len(self.scores) or self.scores[place] != score:
            raise ValueError(f"no turn ends with a score of {score}")
        return place

    def places(self, final_score: Any, illegal: Any) -> Any:
        """Return the places of final scores; T + 1, below any lead, where an illegal action ended the turn."""
        return np.where(illegal, len(self.scores) + 1, self.tables.place_of(final_score))


def check_lineup(contest: str, strategies: Any, players: int | None = None) -> None:
    """Raise a ValueError unless there is one strategy per player, if the number of players is known."""
    if isinstance(strategies, str):
        raise ValueError(f"a {contest} takes a list of strategies, not {strategies!r} alone")
    if players is not None and len(strategies) != players:
        raise ValueError(f"a {contest} of {players} players needs as many strategies, not {len(strategies)}")
