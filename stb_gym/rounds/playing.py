"""Rounds as they are played, turn by turn: what has been scored, whose turn it is, and who wins in the end."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.rounds.rounds import Round
from stb_gym.solver import Standing

IntArray = NDArray[np.int64]


class Play:
    """B rounds of N players in play; of T final scores of the game, each is told by its place, the best at 0.

    Args:
        rules: the round.
        count: B.

    Attributes:
        places: [B, N] the places of the scores so far, T + 1 of who has not played or forfeited the turn.
        seat: [B] whose turn it is.
        seen: [B, 3] what they see of the others: the place of the lead, T without one; how many hold it; how many play
            after.

    Example:
        >>> import numpy as np, stb_gym
        >>> play, only = Play(stb_gym.Round(stb_gym.Threes(), players=2), count=1), np.array([0])
        >>> [play.end_turns(only, np.array([place])).tolist() for place in (9, 4)]  # the round is over after the second
        [[], [0]]
        >>> play.wins(only).tolist()
        [[0.0, 1.0]]
    """

    def __init__(self, rules: Round, count: int):
        self._rules, self._worst = rules, len(rules.standings.scores)
        self.places: IntArray = np.full((count, rules.players), self._worst + 1)
        self.seat: IntArray = np.zeros(count, np.int64)
        self.seen: IntArray = np.zeros((count, 3), np.int64)
        self.begin(np.arange(count))

    def begin(self, rounds: IntArray) -> None:
        """Begin rounds [K] anew."""
        self.places[rounds], self.seat[rounds] = self._worst + 1, 0
        self.seen[rounds] = self._worst, 0, self._rules.players - 1

    def end_turns(self, rounds: IntArray, places: IntArray) -> IntArray:
        """End the turn of whoever plays in each of rounds [K], with scores of places [K], T for a forfeit.

        Returns:
            Those of the rounds that are over.
        """
        self.places[rounds, self.seat[rounds]] = scored = places + (places == self._worst)
        self.seat[rounds] += 1
        lead, holders, after = self.seen[rounds].T
        holders = np.where(scored < lead, 1, holders + (scored == lead))
        self.seen[rounds] = np.column_stack((np.minimum(lead, scored), holders, after - 1))
        return rounds[(after == 0) | self._rules.standings.over[self._standing(rounds)]]

    def wins(self, rounds: IntArray) -> NDArray[np.float64]:
        """[K, N] what every player wins where rounds [K] are over."""
        leads = self.places[rounds] == self.seen[rounds, :1]
        return leads * self._rules.standings.share[self._standing(rounds), None]

    def standing(self, number: int) -> Standing:
        """What who plays in a round sees of the others, as the rounds say it."""
        return self._rules.standings.standing(int(self._standing(number)), int(self.seen[number, 2]))

    def restore(self, places: Any, seat: Any) -> None:
        """Go on from copies of `places` and `seat`.

        Raises:
            ValueError: if they are not of as many such rounds.
        """
        for name, numbers, most in (("places", places, self._worst + 1), ("seat", seat, self._rules.players - 1)):
            found, known = np.asarray(numbers), getattr(self, name)
            if found.shape != known.shape or found.dtype.kind not in "iu" or not ((found >= 0) & (found <= most)).all():
                raise ValueError(f"the snapshot is not of {len(known)} rounds of {self._rules.players} players")
        self.places[:], self.seat[:] = places, seat
        lead = np.minimum(self.places.min(axis=1), self._worst)
        holders = (self.places == lead[:, None]).sum(axis=1)
        self.seen[:] = np.column_stack((lead, holders, self._rules.players - 1 - self.seat))

    def _standing(self, rounds: Any) -> Any:
        """The index of what is seen; see `Standings`."""
        lead, holders = self.seen[rounds, 0], self.seen[rounds, 1]
        return lead * self._rules.players + np.maximum(holders - 1, 0)
