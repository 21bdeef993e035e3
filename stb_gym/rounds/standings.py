"""The standings of a round: all that matters of the final scores so far.

A standing is the lead, which is the best final score so far, and the number of players who hold it.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import FloatArray, IntArray, freeze
from stb_gym.checks import check_choice, check_integer
from stb_gym.games import perfect_score
from stb_gym.messages import quoted
from stb_gym.solver import Standing, TurnTables
from stb_gym.tracking import tracked

MOST_PLAYERS = 101  # a hundred after the first
LARGEST_STANDINGS = 2**25  # pairs of a standing and a score: 256 MiB for every array of them
LARGEST_BLOCK = 2**22  # pairs x standings in one pass over the tables
TIES = {
    "split": "tied players share the win",
    "all-win": "all tied players win",
    "nobody": "a tie wins for nobody",
}


class Standings:
    """The Z standings of a round as arrays. The last one is that before anybody has played.

    A *place* is the index of a final score in `scores`.

    Args:
        tables: the arrays of the game.
        players: how many play.
        ties: one of `TIES`.
        shut_wins: whether the perfect score (0 in Shut the Box and Threes) ends the round. A better score always does.

    Attributes:
        scores: [T] the final scores of the game, best first.
        lead: [Z] the place of the lead; T if nobody has played.
        holders: [Z] how many players hold the lead.
        over: [Z] True where the round has ended early.
        holds: [Z, T] True where the player with that final score takes or shares the lead.
        keeps: [Z, T] True where the earlier holders keep the lead.
        after: [Z, T] the standing after another final score.
        share: [Z] what each holder wins if the round ends there.
        begun: [Z] the chances of the standings before the first turn.

    Raises:
        ValueError: if the tie rule is unknown, the number of players is out of range, or the arrays are too large.
    """

    def __init__(self, tables: TurnTables, players: int, ties: str, shut_wins: bool):
        check_integer("players", players, 1, MOST_PLAYERS)
        check_choice("ties", ties, list(TIES))
        self.tables = tables
        self.players = players
        self.ties = ties
        self.scores = tables.scores
        places = np.arange(len(self.scores))
        size = (len(places) * players + 1) * len(places)
        if size > LARGEST_STANDINGS:
            raise ValueError(
                f"a round of {players} players of {tables.game} has {size:,} pairs of a standing and a score; "
                f"at most {LARGEST_STANDINGS:,} fit"
            )
        self.lead = np.append(places.repeat(players), len(places))
        self.holders = np.append(np.tile(np.arange(1, players + 1), len(places)), 0)
        self.begun = (self.holders == 0).astype(float)
        perfect = perfect_score(tables.game)
        self.over = self.lead < tables.place_of(perfect) + (shut_wins and perfect in self.scores)
        lead, holders = self.lead[:, None], self.holders[:, None]
        self.holds = places <= lead
        self.keeps = places >= lead
        taken = places * players + np.where(self.keeps, np.minimum(holders, players - 1), 0)
        self.after = np.where(self.holds, taken, np.arange(len(lead))[:, None])
        shares = {"all-win": self.holders > 0, "split": 1 / np.maximum(self.holders, 1), "nobody": self.holders == 1}
        self.share = shares[ties].astype(float)
        freeze(vars(self))

    def met_by(self, seat: int) -> NDArray[np.bool_]:
        """Return [Z] True for the standings at which a seat may have to play."""
        has_played = self.holders > 0
        return has_played & (self.holders <= seat) & ~self.over if seat else ~has_played

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
        if lead not in self.scores:
            raise ValueError(f"no turn ends with a score of {lead}")
        index = int(self.tables.place_of(lead)) * self.players + holders - 1
        if self.over[index]:
            raise ValueError(f"a lead of {lead} ends the round: nobody plays after it")
        return index

    def standing(self, index: int, after: int) -> Standing:
        """Return the standing of an index, with `after` players still to play after the next."""
        holders = int(self.holders[index])
        return Standing(int(self.scores[self.lead[index]]) if holders else None, holders, after)

    def places(self, final_score: Any, illegal: Any) -> Any:
        """Return the places of final scores; T where an illegal action ended the turn."""
        return np.where(illegal, len(self.scores), self.tables.place_of(final_score))

    def reached_after(self, reached: FloatArray, chances: FloatArray) -> FloatArray:
        """Return [Z] the chances of the standings after a turn, given those before it.

        Args:
            reached: [Z] the chances of the standings before the turn.
            chances: [Z, T] the chances of the final scores of the turn.
        """
        arriving = reached[:, None] * chances
        return np.bincount(self.after.ravel(), arriving.ravel(), len(reached)).astype(float, copy=False)

    def worth_before(self, worth: FloatArray, chances: FloatArray) -> FloatArray:
        """Return [Z] what each standing is worth to each holder before a turn.

        Args:
            worth: [Z] what it is worth to each holder after the turn.
            chances: [Z, T] the chances of the final scores of the turn.
        """
        return (chances * self.keeps * worth[self.after]).sum(axis=1)


def blocks(tables: TurnTables, chosen: NDArray[np.bool_]) -> Iterator[IntArray]:
    """Yield the indices of the True entries of `chosen`, as many at a time as one pass over the tables can take."""
    index = np.flatnonzero(chosen)
    size = max(1, LARGEST_BLOCK // max(1, len(tables.pair_state)))
    firsts = range(0, len(index), size)
    for first in tracked(firsts, "standings of a round solved", "blocks", len(firsts)):
        yield index[first : first + size]


def check_lineup(contest: str, strategies: Any, players: int | None = None) -> None:
    """Raise a ValueError unless there is one strategy per player, if the number of players is known."""
    if isinstance(strategies, str) or not isinstance(strategies, Sequence):
        raise ValueError(f"a {contest} takes a list of strategies, not {quoted(strategies)}")
    if players is not None and len(strategies) != players:
        raise ValueError(f"a {contest} of {players} players needs {players} strategies, not {len(strategies)}")
