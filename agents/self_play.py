"""Self-play in rounds: the opponents of a learner are selves of its own, each known by what it does in every seat.

    naive       the newest self: in effect backward induction, as the last player's best play depends on nobody, that
                of the one before on the last alone, and so on
    fictitious  any self so far, each as likely (Heinrich et al., "Fictitious self-play in extensive-form games", 2015)
    league      the newest self in 80 % of the turns, in the others any self (Berner et al., "Dota 2 with large scale
                deep reinforcement learning", 2019)

A self is the greedy policy of a moment. As nobody has more than one turn in a round, players who draw a self for each
turn end it with each final score as often as the selves do on average: nothing else is kept of the past.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from stb_gym.rounds import Round, RoundEvaluation, Seat

SELVES = {"naive": 1.0, "fictitious": 0.0, "league": 0.8}  # how likely it is the newest self, and not any


@dataclass
class Selves:
    """The selves of a learner.

    Args:
        kind: one of `SELVES`.
        newest: the round in which the first self plays in every seat.

    Attributes:
        average: the round in which every player is any of the selves so far, each as likely.
        count: how many selves there were.

    Example:
        >>> import stb_gym
        >>> rules = stb_gym.rounds.Round(stb_gym.Threes())
        >>> selves = Selves("fictitious", rules.evaluate(["random"] * 2))
        >>> selves.add(rules.evaluate(["approximation"] * 2))
        >>> [played.seats.round(3).tolist() for played in (selves.newest, selves.opponents)]
        [[0.497, 0.503], [0.503, 0.497]]
    """

    kind: str
    newest: RoundEvaluation

    def __post_init__(self) -> None:
        self.average, self.count = self.newest, 1

    def add(self, newest: RoundEvaluation) -> None:
        """Add a self."""
        self.count += 1
        self.newest, self.average = newest, mixed(newest, self.average, 1 / self.count)

    @property
    def opponents(self) -> RoundEvaluation:
        """The round in which every player is what the learner is to play against."""
        return mixed(self.newest, self.average, SELVES[self.kind])

    def snapshot(self) -> dict[str, Any]:
        """The selves, as arrays and a number; see `restored`."""
        return {"count": self.count, "newest": _arrays(self.newest), "average": _arrays(self.average)}

    @staticmethod
    def restored(kind: str, rules: Round, snapshot: Mapping[str, Any]) -> "Selves":
        """The selves of a snapshot of the same round."""
        selves = Selves(kind, _from_arrays(rules, snapshot["newest"]))
        selves.average, selves.count = _from_arrays(rules, snapshot["average"]), snapshot["count"]
        return selves


def mixed(one: RoundEvaluation, other: RoundEvaluation, share: float) -> RoundEvaluation:
    """The round in which every player is drawn for the turn: one with the probability `share`, else the other."""

    def seat(first: Seat, second: Seat) -> Seat:
        return Seat(*(share * a + (1 - share) * b for a, b in zip(first, second, strict=True)))

    return RoundEvaluation(one.rules, tuple(map(seat, one.played, other.played)))


def _arrays(played: RoundEvaluation) -> Any:
    """[N, Z, T + 1] what each seat's play amounts to: the chances of final scores, then the throws."""
    return np.stack([np.column_stack(seat) for seat in played.played])


def _from_arrays(rules: Round, arrays: Any) -> RoundEvaluation:
    seats = tuple(Seat(each[:, :-1], each[:, -1]) for each in arrays)
    return RoundEvaluation(rules, seats)
