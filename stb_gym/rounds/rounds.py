"""Rounds of several players: the subgame-perfect equilibrium, and the exact chances of any line-up.

N players in turn order play one turn each of the same game, each sees the final scores so far, and the best wins. All
that matters of those scores is the standing z = (lead, how many hold it), so a player in a round merely has another
utility of the final score t: with k players still to come, and z' the standing after the turn,

    U(t | z) = W_k(z') if t takes or shares the lead, else 0

where W_k (see `lineups`) is what holding the lead is worth. In the equilibrium everyone maximises the expectation of
their own U: backward induction over the seats (Kuhn, "Extensive games and the problem of information", 1953). All
standings are solved for at once. Where that leaves a choice, a rule for the indifferent makes it (see `replies`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Game, IntArray, check_choice, check_flag, check_game, check_lineup
from stb_gym.rounds.lineups import RoundEvaluation, RoundSolution, Seat, worth_before
from stb_gym.rounds.replies import INDIFFERENT, Reply
from stb_gym.rounds.standings import Standings
from stb_gym.solver import (
    ROUND_STRATEGIES,
    Policy,
    Standing,
    TurnTables,
    compile_game,
    edge_weights,
    expected_visits,
    score_chances,
    strategy,
)

ROUNDING = 1e-12  # of chances
LARGEST_STANDINGS = 2**25  # pairs of a standing and a score: 256 MiB for every array of them

Weights = NDArray[np.float64]
RoundStrategy = str | Policy | Callable[[TurnTables, Standing], Policy]


class Range(NamedTuple):
    """The least and the greatest that numbers of a round can be, arrays of one shape."""

    least: NDArray[np.float64]
    most: NDArray[np.float64]

    @classmethod
    def over(cls, found: Sequence[Any]) -> "Range":
        """The range of the same numbers, found several times."""
        return cls(np.min(found, axis=0), np.max(found, axis=0))

    @property
    def is_wide(self) -> bool:
        """Whether any number differs by more than rounding."""
        return bool((self.most - self.least > ROUNDING).any())


@dataclass(frozen=True)
class Round:
    """A round of several players.

    Attributes:
        game: the rules of each turn.
        players: how many play, 1 to 101.
        ties: "split": tied players share one win; "all-win": every one of them wins; "nobody": a tie wins for no one.
        shut_wins: the perfect score (0 in Shut the Box and Threes) wins at once; nobody plays after it.
        may_stop: the last player stops as soon as ahead. Needs a game whose points only get better during a turn;
            hence it cannot change who wins, and only saves throws.
        indifferent: which of equally good moves a player of the equilibrium takes: "fewer": one after which the player
            must expect to share the lead with as few as may be; "company": with as many; "lowest": the one of lowest
            action, as it also is where that number is equal.

    Raises:
        ValueError: if a value is not allowed, naming those that are.

    Example:
        >>> import stb_gym
        >>> stb_gym.Round(stb_gym.ShutTheBox(), players=2).solve().seats.round(4).tolist()
        [0.498, 0.502]
    """

    game: Game
    players: int = 2
    ties: str = "split"
    shut_wins: bool = False
    may_stop: bool = False
    indifferent: str = "fewer"

    def __post_init__(self) -> None:
        check_game(self.game)
        check_flag("shut_wins", self.shut_wins)
        check_flag("may_stop", self.may_stop)
        check_choice("rule for the indifferent", self.indifferent, list(INDIFFERENT))
        tables, standings = self.tables, self.standings
        size = len(standings.lead) * len(standings.scores)
        if size > LARGEST_STANDINGS:
            raise ValueError(
                f"a round of {self.players} players of {self.game} has {size:,} pairs of a standing and a score; "
                f"at most {LARGEST_STANDINGS:,} fit"
            )
        before = tables.at_edges(tables.score_index[tables.node_state])
        if self.may_stop and (tables.after_edges(tables.score_index) > before).any():
            raise ValueError(
                f"may_stop needs a game whose points only get better during a turn; in {self.game.name} they get worse"
            )

    @property
    def tables(self) -> TurnTables:
        """The arrays of the game."""
        return compile_game(self.game)

    @cached_property
    def standings(self) -> Standings:
        """Everything that the scores so far can amount to."""
        return Standings(self.tables, self.players, self.ties, bool(self.shut_wins))

    def solve(self) -> "RoundSolution":
        """The subgame-perfect equilibrium in which players follow the rule for the indifferent.

        It is one of several, for what others win may depend on that rule: see `range_of`. Equality is decided to
        within `stb_gym.solver.TIE`; chances below 1e-300, as of the highest leads against dozens of players, count as
        none.
        """
        return self._solution

    def range_of(self, numbers: Callable[["Round"], Any]) -> Range:
        """The least and the greatest of numbers over the rules for the indifferent, all else being as it is here.

        For the first of two players, and for a lead that one player is still to meet, these are the bounds over all
        equilibria; where more players are involved, there may be others beyond.

        Args:
            numbers: a function of a round.

        Example:
            >>> import stb_gym
            >>> rules = stb_gym.Round(stb_gym.ShutTheBox(), ties="all-win")
            >>> least, most = rules.range_of(lambda rules: rules.solve().seats)
            >>> least.round(4).tolist(), most.round(4).tolist()
            ([0.52, 0.5231], [0.5348, 0.5231])
        """
        return Range.over([numbers(rules) for rules in self.conventions])

    @cached_property
    def conventions(self) -> list["Round"]:
        """The round with its own rule for the indifferent, then with every other."""
        return [self, *(replace(self, indifferent=rule) for rule in INDIFFERENT if rule != self.indifferent)]

    @cached_property
    def _solution(self) -> "RoundSolution":
        standings, replies, seats = self.standings, [], []
        worth, company = standings.share, standings.company
        sign = {"fewer": 1, "company": -1, "lowest": None}[self.indifferent]
        for seat in reversed(range(self.players)):
            replies.append(Reply(self.tables, standings, worth, None if sign is None else sign * company))
            seats.append(self._play(seat, replies[-1].weights))
            worth = worth_before(standings, seats[-1], worth)
            company = worth_before(standings, seats[-1], company)
        return RoundSolution(RoundEvaluation(self.tables, self.standings, tuple(reversed(seats))), tuple(replies))

    def evaluate(self, strategies: Sequence[RoundStrategy]) -> RoundEvaluation:
        """The exact chances of a line-up.

        Args:
            strategies: one for each seat: a name; or the policy of a player who does not look at the others; or a
                function of the arrays and the `Standing` that returns the policy to play there. The name "optimal"
                means the equilibrium of this round.

        Raises:
            ValueError: if there are not as many strategies as players, or if one is unknown or does not fit the game.
        """
        check_lineup("round", strategies, self.players)
        played = tuple(self.seat(seat, plays) for seat, plays in enumerate(strategies))
        return RoundEvaluation(self.tables, self.standings, played)

    def policy(self, plays: RoundStrategy, standing: Standing) -> Policy:
        """What a strategy does at a standing.

        Raises:
            ValueError: if this game has no such strategy, if the standing cannot come about in this round, or if what a
                function answers is no policy of the game.
        """
        plays = self._named(plays)
        return self._asked(plays if callable(plays) else lambda tables, standing: plays, standing)[0]

    def _asked(
        self, plays: Callable[[TurnTables, Standing], Policy], standing: Standing
    ) -> tuple[Policy, NDArray[np.float64]]:
        """The policy that a function of the standing answers, and its weights [E]."""
        self.standings.find(standing)
        try:
            policy = np.asarray(plays(self.tables, standing))
            return policy, edge_weights(self.tables, policy)
        except (AttributeError, TypeError, ValueError) as error:
            raise ValueError(f"the strategy asked at {standing}: {error}") from error

    def _named(self, plays: RoundStrategy) -> Policy | Callable[[TurnTables, Standing], Policy]:
        """A strategy, by name or not, as a policy or a function of the standing."""
        if not isinstance(plays, str):
            return plays
        if plays == "optimal":
            return lambda _, standing: self.solve().policy(standing)
        return ROUND_STRATEGIES.get(plays) or strategy(self.game, plays)

    def seat(self, seat: int, plays: RoundStrategy) -> Seat:
        """What the play of a strategy in a seat amounts to; see `evaluate`."""
        if isinstance(plays, str) and plays == "optimal":
            return self.solve().evaluation.played[seat]
        plays = self._named(plays)
        if not callable(plays):
            weights = edge_weights(self.tables, plays)[:, None]
            return self._play(seat, lambda block: weights)

        def weights_at(block: IntArray) -> Weights:
            met = [self.standings.standing(index, self.players - 1 - seat) for index in block.tolist()]
            return np.stack([self._asked(plays, at)[1] for at in met], axis=1)

        return self._play(seat, weights_at)

    def _play(self, seat: int, weights: Callable[[IntArray], Weights]) -> Seat:
        """A seat's play; `weights` says what it does at standings [B]: [E, B], or [E, 1] if the same."""
        tables, standings = self.tables, self.standings
        chances, throws = np.zeros(standings.after.shape), np.zeros(len(standings.lead))
        chances[standings.over, -1] = 1  # who need not play any more loses, as with the worst score
        score, throwing = tables.score_index[tables.node_state, None], tables.dice[tables.node_state, None] > 0
        for block in standings.blocks(seat):
            visits = expected_visits(tables, weights(block))
            chances[block] = score_chances(tables, visits).T
            counted = throwing
            if self.may_stop and 0 < seat == self.players - 1:
                counted = throwing & (score >= standings.lead[block])  # once ahead, always ahead
            throws[block] = (visits * counted).sum(axis=0)
        return Seat(chances, throws)
