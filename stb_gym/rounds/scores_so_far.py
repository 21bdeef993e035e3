"""The scores so far in a round, as the next player sees them: the lead, and how many players hold it.

The lead is the best final score so far. Nothing else about the earlier turns matters to the players still to come.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from stb_gym.arrays import BoolArray, FloatArray, IntArray, freeze
from stb_gym.checks import check_choice, check_integer
from stb_gym.games import Game, perfect_score
from stb_gym.solver import TurnTables
from stb_gym.tracking import tracked
from stb_gym.words import words_of

MOST_PLAYERS = 101  # a hundred after the first
LARGEST_TABLE = 2**25  # rows x final scores: 256 MiB for every array
LARGEST_BATCH = 2**22  # pairs x rows in one pass over the arrays of a turn
TIES = {
    "split": "tied players share the win",
    "all-win": "all tied players win",
    "nobody": "a tie wins for nobody",
}


class ScoresSoFar(NamedTuple):
    """What the next player of a round sees of the others.

    Attributes:
        lead: the best final score so far; None if nobody has played, so that the next player is the first of after + 1.
        holders: how many players have it.
        after: how many players play after the next one.
    """

    lead: int | None = None
    holders: int = 0
    after: int = 0

    def in_words(self, game: Game) -> str:
        """Describe the scores so far to the next player.

        Args:
            game: the rules of each turn.

        Returns:
            A line of text.

        Example:
            >>> import stb_gym
            >>> stb_gym.rounds.ScoresSoFar(lead=8, holders=1, after=2).in_words(stb_gym.Threes())
            '1 player leads with 8 points, 2 play after you'
        """
        before = "nobody has a score"
        if self.lead is not None:
            who = "1 player leads" if self.holders == 1 else f"{self.holders} players lead"
            before = f"{who} with {words_of(game).score(self.lead)}"
        return f"{before}, {self.after or 'none'} play{'s' * (self.after == 1)} after you"


class ScoresSoFarTable:
    """All scores so far that a round may have, as a table of Z rows. The last row is that before anybody has played.

    The *rank* of a final score is its index in `scores`: 0 is the best.

    Args:
        tables: the arrays of the game.
        players: how many play.
        ties: one of `TIES`.
        shut_wins: whether the perfect score (0 in Shut the Box and Threes) ends the round. A better score always does.

    Attributes:
        scores: [T] the final scores of the game, best first.
        lead: [Z] the rank of the lead; T if nobody has played.
        holders: [Z] how many players hold the lead.
        over: [Z] True where the round has ended early.
        takes_lead: [Z, T] True where the player with that final score takes or shares the lead.
        keeps_lead: [Z, T] True where the earlier holders keep the lead.
        next_row: [Z, T] the row after another final score.
        share: [Z] what each holder wins if the round ends there.
        initial: [Z] the probabilities of the rows before the first turn.

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
        ranks = np.arange(len(self.scores))
        size = (len(ranks) * players + 1) * len(ranks)
        if size > LARGEST_TABLE:
            raise ValueError(
                f"a round of {players} players of {tables.game} is too large: its table of leads and final scores has "
                f"{size:,} entries; at most {LARGEST_TABLE:,} fit"
            )
        self.lead = np.append(ranks.repeat(players), len(ranks))
        self.holders = np.append(np.tile(np.arange(1, players + 1), len(ranks)), 0)
        self.initial = (self.holders == 0).astype(float)
        perfect = perfect_score(tables.game)
        self.over = self.lead < tables.place_of(perfect) + (shut_wins and perfect in self.scores)
        lead, holders = self.lead[:, None], self.holders[:, None]
        self.takes_lead = (ranks <= lead) & ~self.over[:, None]
        self.keeps_lead = (ranks >= lead) | self.over[:, None]
        taken = ranks * players + np.where(self.keeps_lead, np.minimum(holders, players - 1), 0)
        self.next_row = np.where(self.takes_lead, taken, np.arange(len(lead))[:, None])
        shares = {"all-win": self.holders > 0, "split": 1 / np.maximum(self.holders, 1), "nobody": self.holders == 1}
        self.share = shares[ties].astype(float)
        freeze(vars(self))

    def reachable_by(self, seat: int) -> BoolArray:
        """Return [Z] True for the rows at which a seat may have to play."""
        has_played = self.holders > 0
        return has_played & (self.holders <= seat) & ~self.over if seat else ~has_played

    def find(self, scores_so_far: ScoresSoFar) -> int:
        """Return the row of the scores so far.

        Raises:
            ValueError: if they cannot occur in this round.
        """
        lead, holders, after = scores_so_far
        check_integer("players after", after, 0, self.players - 1)
        if lead is None:
            if holders != 0:
                raise ValueError(f"before anybody has played there are no holders of the lead, not {holders}")
            return len(self.lead) - 1
        if after == self.players - 1:
            raise ValueError(f"the first of {self.players} players sees no lead: leave it out, or lower players after")
        check_integer("lead", lead, int(self.scores.min()), int(self.scores.max()))
        check_integer("holders of the lead", holders, 1, self.players - 1 - after)
        if lead not in self.scores:
            raise ValueError(f"no turn ends with a score of {lead}")
        row = int(self.tables.place_of(lead)) * self.players + holders - 1
        if self.over[row]:
            raise ValueError(f"a lead of {lead} ends the round: nobody plays after it")
        return row

    def at_row(self, row: int, after: int) -> ScoresSoFar:
        """Return the scores so far of a row, with `after` players still to play after the next."""
        holders = int(self.holders[row])
        return ScoresSoFar(int(self.scores[self.lead[row]]) if holders else None, holders, after)

    def ranks(self, final_score: Any, illegal: Any) -> Any:
        """Return the ranks of final scores; T where an illegal action ended the turn."""
        return np.where(illegal, len(self.scores), self.tables.place_of(final_score))

    def reached_after(self, reached: FloatArray, chances: FloatArray) -> FloatArray:
        """Return [Z] the probabilities of the rows after a turn.

        Args:
            reached: [Z] the probabilities of the rows before the turn.
            chances: [Z, T] the probabilities of the final scores of the turn.
        """
        arriving = reached[:, None] * chances
        return np.bincount(self.next_row.ravel(), arriving.ravel(), len(reached)).astype(float, copy=False)

    def value_before(self, value: FloatArray, chances: FloatArray) -> FloatArray:
        """Return [Z] the value of each row to each holder of the lead before a turn.

        Args:
            value: [Z] the value of each row to each holder after the turn.
            chances: [Z, T] the probabilities of the final scores of the turn.
        """
        return (chances * self.keeps_lead * value[self.next_row]).sum(axis=1)


def batches(tables: TurnTables, chosen: BoolArray) -> Iterator[IntArray]:
    """Yield the indices of the True entries of `chosen`, as many at a time as one pass over the tables can take."""
    rows = np.flatnonzero(chosen)
    size = max(1, LARGEST_BATCH // max(1, len(tables.pair_state)))
    firsts = range(0, len(rows), size)
    for first in tracked(firsts, "scores so far solved", "batches", len(firsts)):
        yield rows[first : first + size]
