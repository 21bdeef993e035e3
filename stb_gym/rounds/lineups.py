"""A line-up of players in a round, exactly: chances to win, best responses, exploitability; and the equilibrium.

With W_k what a standing z is worth to each holder of the lead while k players are still to play, and z' the standing
after a final score t of the first of them, who makes it with probability P(t | z),

    W_k(z) = sum over t of P(t | z) [t leaves the holders the lead] W_{k-1}(z')
    W_0(z) = what the tie rule gives to each holder

and a player who ends with t, while k are still to play, wins W_k(z') if t takes or shares the lead, else nothing.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import check_integer, title
from stb_gym.output import html_table
from stb_gym.rounds.replies import Reply
from stb_gym.rounds.standings import Standings
from stb_gym.solver import Policy, Solution, Standing, TurnTables


class Seat(NamedTuple):
    """What a seat's play amounts to: chances [Z, T] of its final scores and expected throws [Z], by standing.

    Both are 0 at standings that the seat cannot meet. Where it need not play, it counts as having the worst score.
    """

    chances: NDArray[np.float64]
    throws: NDArray[np.float64]


class Outcome(NamedTuple):
    """How it ends for the first of two players; the three sum to 1."""

    win: float
    loss: float
    tie: float


def worth_before(standings: Standings, seat: Seat, worth: NDArray[np.float64]) -> NDArray[np.float64]:
    """[Z] what a standing is worth to each holder before a seat's turn, given what it is after it."""
    return (seat.chances * standings.keeps * worth[standings.after]).sum(axis=1)


def reached_after(standings: Standings, seat: Seat, reached: NDArray[np.float64]) -> NDArray[np.float64]:
    """[Z] the chances of the standings after a seat's turn, given those before it."""
    arriving = reached[:, None] * seat.chances
    return np.bincount(standings.after.ravel(), arriving.ravel(), len(reached)).astype(float, copy=False)


@dataclass(frozen=True, eq=False, repr=False)
class RoundEvaluation:
    """A line-up, exactly.

    Attributes:
        tables: the arrays of the game.
        standings: the standings of the round.
        played: what every seat's play amounts to, in turn order.
    """

    tables: TurnTables
    standings: Standings
    played: tuple[Seat, ...]

    def __repr__(self) -> str:
        wins = np.array2string(self.seats, precision=4, threshold=10)
        return f"<{self.standings.players} players of {self.tables.game}, ties {self.standings.ties}: seats win {wins}>"

    @cached_property
    def _reached(self) -> list[NDArray[np.float64]]:
        """[Z] each: the chances of the standings before each seat's turn."""
        reached = [(self.standings.holders == 0).astype(float)]
        for seat in self.played[:-1]:
            reached.append(reached_after(self.standings, seat, reached[-1]))
        return reached

    def _after_each(self, worth: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """[Z] each: what a standing is worth to each holder after each seat's turn, given `worth` [Z] at the end."""
        worths = [worth]
        for seat in reversed(self.played[1:]):
            worths.append(worth_before(self.standings, seat, worths[-1]))
        return worths[::-1]

    @cached_property
    def worth_after(self) -> list[NDArray[np.float64]]:
        """[Z] each: what a standing is worth to each holder after each seat's turn."""
        return self._after_each(self.standings.share)

    @cached_property
    def seats(self) -> NDArray[np.float64]:
        """[players] the expected win of each seat: its chance to win or, under "split", its share of the win."""
        standings = self.standings
        wins = []
        for reached, seat, worth in zip(self._reached, self.played, self.worth_after, strict=True):
            wins.append(reached @ (seat.chances * standings.holds * worth[standings.after]).sum(axis=1))
        return np.array(wins)

    @cached_property
    def throws(self) -> NDArray[np.float64]:
        """[players] the expected number of throws of each seat."""
        return np.array([reached @ seat.throws for reached, seat in zip(self._reached, self.played, strict=True)])

    @cached_property
    def survival(self) -> NDArray[np.float64]:
        """[players, T] the chance that who leads with each final score is not beaten by the last 0, 1 ... players."""
        stands = self._after_each(np.ones(len(self.standings.lead)))
        return np.minimum(np.stack(stands[::-1])[:, self.standings.holders == 1], 1)  # rounding may pass 1

    def table(self) -> dict[str, list[Any]]:
        """Return the seats in turn order as columns: "seat" (from 1), "wins" (expected win) and expected "throws"."""
        seats = range(1, self.standings.players + 1)
        return {"seat": [*seats], "wins": self.seats.tolist(), "throws": self.throws.tolist()}

    def leads(self) -> dict[str, list[Any]]:
        """Return the chance that a player who leads alone is not beaten, as columns.

        Returns:
            "lead": the final scores, best first; "0 after", "1 after" ...: the chance that none of the last 0, 1 ...
            players of the round ends with a better score.
        """
        chances = enumerate(self.survival.tolist())
        return {"lead": self.standings.scores.tolist()} | {f"{after} after": row for after, row in chances}

    def _repr_html_(self) -> str:
        """Return the seats, for notebooks."""
        players, ties = self.standings.players, self.standings.ties
        return html_table(f"{title(self.tables.game)}, {players} players, ties {ties}", self.table())

    @cached_property
    def worth(self) -> NDArray[np.float64]:
        """[players, T] what who leads alone with each final score may expect to win, 0, 1 ... players yet to come."""
        return np.stack(self.worth_after[::-1])[:, self.standings.holders == 1]

    def best_response(self, seat: int) -> "BestResponse":
        """The best that a seat can do if the others play as they do."""
        check_integer("seat", seat, 0, self.standings.players - 1)
        reply = Reply(self.tables, self.standings, self.worth_after[seat])
        met = self.standings.blocks(seat)
        value = float(sum(self._reached[seat][block] @ reply.values(block) for block in met))
        return BestResponse(value, max(0.0, value - float(self.seats[seat])), reply)

    @cached_property
    def exploitability(self) -> float:
        """What the seats could gain in all, each by its best response alone; 0 at an equilibrium."""
        return sum(self.best_response(seat).gain for seat in range(self.standings.players))

    @property
    def outcome(self) -> Outcome:
        """Win, loss and tie of the first of two players.

        Raises:
            ValueError: if there are not two.
        """
        if self.standings.players != 2:
            raise ValueError(f"win, loss and tie are of two players, not of {self.standings.players}")
        standings = self.standings
        second = self._reached[1][:, None] * self.played[1].chances
        tie = standings.keeps & standings.holds
        return Outcome(*(float(second[how].sum()) for how in (~standings.holds, ~standings.keeps, tie)))


@dataclass(frozen=True, eq=False)
class BestResponse:
    """The best response of a seat.

    Attributes:
        value: the seat's expected win.
        gain: how much more that is than what it wins in the line-up.
        reply: what it does.
    """

    value: float
    gain: float
    reply: Reply


@dataclass(frozen=True, eq=False, repr=False)
class RoundSolution:
    """The equilibrium of a round.

    Attributes:
        evaluation: the round in which everyone plays it.
        replies: what a player does while 0, 1, 2 ... others are still to come.
    """

    evaluation: RoundEvaluation
    replies: tuple[Reply, ...]

    def __repr__(self) -> str:
        return f"<equilibrium of {repr(self.evaluation)[1:]}"

    @property
    def seats(self) -> NDArray[np.float64]:
        """[players] the expected win of each seat."""
        return self.evaluation.seats

    @property
    def survival(self) -> NDArray[np.float64]:
        """[players, T] the chance that who leads with each final score is not beaten by the last 0, 1 ... players."""
        return self.evaluation.survival

    def table(self) -> dict[str, list[Any]]:
        """Return the seats as columns; see `RoundEvaluation.table`."""
        return self.evaluation.table()

    def leads(self) -> dict[str, list[Any]]:
        """Return the chance that a player who leads alone is not beaten; see `RoundEvaluation.leads`."""
        return self.evaluation.leads()

    def _repr_html_(self) -> str:
        return self.evaluation._repr_html_()

    def at(self, standing: Standing) -> Solution:
        """Return the best play of a turn at a standing, as a `Solution` whose values are the player's expected win.

        Args:
            standing: what the player sees of the others.

        Raises:
            ValueError: if it cannot come about in this round.

        Example:
            >>> import stb_gym
            >>> rules = stb_gym.Round(stb_gym.Threes(), players=5)
            >>> last = rules.solve().at(stb_gym.Standing(lead=8, holders=1, after=0))
            >>> last.moves(roll=[3, 1, 3, 2, 4])["move"][0]
            'keep 5 (3 3 1 2 4)'
        """
        check_integer("players after", standing.after, 0, len(self.replies) - 1)
        return self.replies[standing.after].values_at(standing)

    def policy(self, standing: Standing) -> Policy:
        """[N] what the player does who sees this standing.

        Raises:
            ValueError: if it cannot come about in this round.
        """
        check_integer("players after", standing.after, 0, len(self.replies) - 1)
        return self.replies[standing.after].policy(standing)
