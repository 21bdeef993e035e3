"""Rounds of several players: the subgame-perfect equilibrium, the exact results of any players, and best responses.

N players take one turn each of the same game, one after the other. Each sees the final scores so far, and the best
final score wins. All that matters of the scores so far is z = (lead, number of holders). With k players still to come,
W_k(z) is the expected win of each holder of the lead. If the next player ends with the final score t with probability
P(t | z), and z' are the scores so far after t,

    W_0(z) = what the tie rule gives to each holder
    W_k(z) = sum over t of P(t | z) [t leaves the holders the lead] W_{k-1}(z')

The next player's utility of t is W_{k-1}(z') if t takes or shares the lead, else 0. In the equilibrium every player
maximises this utility: backward induction over the seats (Kuhn, "Extensive games and the problem of information",
1953), for all z at once.

Several moves may be equally good for a player while the chances of others depend on the choice. For example, if all
tied players win, a player who is sure to win has no reason to prevent a tie. So an equilibrium need not be unique.
`INDIFFERENT` names the rules that choose among equally good moves. Two of them compare the expected number of others
with whom the player shares the lead in the end, which counts even where it does not change the win.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from stb_gym.arguments import checked
from stb_gym.arrays import FloatArray, cached_arrays, freeze
from stb_gym.checks import check_bool, check_choice, check_integer
from stb_gym.games import Game, check_game
from stb_gym.rounds.optimal_turn import OptimalTurn
from stb_gym.rounds.scores_so_far import ScoresSoFar, ScoresSoFarTable
from stb_gym.rounds.seats import Seat, play_seat
from stb_gym.rounds.strategies import RoundStrategy, check_strategies, policy_at, strategy_of, weights_at
from stb_gym.solver import Policy, Solution, TurnTables, compile_game
from stb_gym.tracking import tracked

INDIFFERENT = {
    "fewer": "among equally good moves, players prefer to share the lead with fewer",
    "company": "among equally good moves, players prefer to share the lead with more",
    "lowest": "among equally good moves, players take the lowest action",
}


class Outcome(NamedTuple):
    """The chances of the first of two players; they sum to 1."""

    win: float
    loss: float
    tie: float


class BestResponse(NamedTuple):
    """The best response of a seat to the other players of a round.

    Attributes:
        value: the seat's expected win.
        gain: by how much that exceeds its expected win as evaluated.
        turn: the play.
    """

    value: float
    gain: float
    turn: OptimalTurn


@dataclass(frozen=True, eq=False, repr=False)
class RoundEvaluation:
    """The exact results of a round whose players follow given strategies.

    Attributes:
        rules: the round.
        played: the play of every seat, in turn order.
    """

    rules: "Round"
    played: tuple[Seat, ...]

    def __post_init__(self) -> None:
        freeze(vars(self))

    def __repr__(self) -> str:
        wins = np.array2string(self.seats, precision=4, threshold=10)
        return f"<{self.rules.players} players of {self.rules.game}, ties {self.rules.ties}: seats win {wins}>"

    @cached_arrays
    def _reached(self) -> list[FloatArray]:
        """[Z] for each seat: the probabilities of the scores so far before its turn."""
        table, chances = self.rules.scores_so_far, [seat.chances for seat in self.played[:-1]]
        return [*accumulate(chances, table.reached_after, initial=table.initial)]

    def _value_after(self, final_value: FloatArray) -> list[FloatArray]:
        """Return [Z] for each seat: the value of each row to a holder of the lead after its turn.

        Args:
            final_value: [Z] the value at the end of the round.
        """
        chances = [seat.chances for seat in reversed(self.played[1:])]
        return [*accumulate(chances, self.rules.scores_so_far.value_before, initial=final_value)][::-1]

    @cached_arrays
    def value_after(self) -> list[FloatArray]:
        """[Z] for each seat: the expected win of each holder of the lead after its turn."""
        return self._value_after(self.rules.scores_so_far.share)

    @cached_arrays
    def seats(self) -> FloatArray:
        """[players] the expected win of each seat: its chance to win or, under "split", its share of the win."""
        table = self.rules.scores_so_far
        wins = []
        for reached, seat, value in zip(self._reached, self.played, self.value_after, strict=True):
            wins.append(reached @ (seat.chances * table.takes_lead * value[table.next_row]).sum(axis=1))
        return np.array(wins)

    @cached_arrays
    def throws(self) -> FloatArray:
        """[players] the expected number of throws of each seat."""
        return np.array([reached @ seat.throws for reached, seat in zip(self._reached, self.played, strict=True)])

    @cached_arrays
    def survival(self) -> FloatArray:
        """[players, T] the chance that nobody beats a player who leads alone.

        The rows are the numbers of players still to play, 0, 1 ..., and the columns are ranks of the lead.
        """
        stands = self._value_after(np.ones(len(self.rules.scores_so_far.lead)))
        return np.minimum(np.stack(stands[::-1])[:, self.rules.scores_so_far.holders == 1], 1)  # rounding may exceed 1

    @cached_arrays
    def lead_value(self) -> FloatArray:
        """[players, T] the expected win of a player who leads alone, by players still to play and rank of the lead."""
        return np.stack(self.value_after[::-1])[:, self.rules.scores_so_far.holders == 1]

    def best_response(self, seat: int) -> BestResponse:
        """Compute the best response of a seat to the other seats.

        Args:
            seat: the index in turn order, from 0.

        Returns:
            Its value, its gain and its play.
        """
        check_integer("seat", seat, 0, self.rules.players - 1)
        turn = OptimalTurn(self.rules.scores_so_far, self.value_after[seat])
        met = self.rules.scores_so_far.reachable_by(seat)
        value = float(self._reached[seat][met] @ turn.values(met))
        return BestResponse(value, max(0.0, value - float(self.seats[seat])), turn)

    @cached_property
    def exploitability(self) -> float:
        """The sum of the gains of the seats' best responses; 0 at an equilibrium."""
        return sum(self.best_response(seat).gain for seat in range(self.rules.players))

    @property
    def outcome(self) -> Outcome:
        """Win, loss and tie of the first of two players.

        Raises:
            ValueError: if the round has another number of players.
        """
        if self.rules.players != 2:
            raise ValueError(f"only a round of 2 players has an outcome, not one of {self.rules.players}")
        takes, keeps = self.rules.scores_so_far.takes_lead, self.rules.scores_so_far.keeps_lead
        second = self._reached[1][:, None] * self.played[1].chances
        return Outcome(*(float(second[how].sum()) for how in (~takes, ~keeps, keeps & takes)))


@dataclass(frozen=True, eq=False, repr=False)
class RoundSolution(RoundEvaluation):
    """The equilibrium of a round, in which every seat plays optimally against the seats after it.

    Attributes:
        turns: the play of a seat with 0, 1, 2 ... players after it.
    """

    turns: tuple[OptimalTurn, ...]

    def __repr__(self) -> str:
        return f"<equilibrium of {super().__repr__()[1:]}"

    def _turn(self, scores_so_far: ScoresSoFar) -> OptimalTurn:
        check_integer("players after", scores_so_far.after, 0, self.rules.players - 1)
        return self.turns[scores_so_far.after]

    @checked
    def at(self, scores_so_far: ScoresSoFar) -> Solution:
        """Solve a turn, given the scores so far.

        Args:
            scores_so_far: what the player sees of the others.

        Returns:
            Optimal play as a `Solution` whose values are the player's expected win.

        Raises:
            ValueError: if they cannot occur in this round.

        Example:
            >>> import stb_gym
            >>> rules = stb_gym.rounds.Round(stb_gym.Threes(), players=5)
            >>> last = rules.solve().at(stb_gym.rounds.ScoresSoFar(lead=8, holders=1, after=0))
            >>> last.moves(roll=[3, 1, 3, 2, 4])["move"][0]
            'keep 5 (3 3 1 2 4)'
        """
        return self._turn(scores_so_far).at(scores_so_far)

    @checked
    def policy(self, scores_so_far: ScoresSoFar) -> Policy:
        """Compute the equilibrium's play of a turn.

        Args:
            scores_so_far: what the player sees of the others.

        Returns:
            [S] the actions.

        Raises:
            ValueError: if they cannot occur in this round.
        """
        return self._turn(scores_so_far).policy(scores_so_far)


@dataclass(frozen=True)
class Round:
    """A round of several players.

    Args:
        game: the rules of each turn.
        players: how many play, 1 to 101.
        ties: "split": tied players share one win; "all-win": every one of them wins; "nobody": a tie wins for no one.
        shut_wins: the perfect score (0 in Shut the Box and Threes) wins at once; nobody plays after it.
        indifferent: which of equally good moves a player of the equilibrium takes: "fewer": one after which the player
            expects to share the lead with the fewest others; "company": with the most; "lowest": the lowest action,
            which also decides where that number is equal.

    Attributes:
        scores_so_far: all scores so far that the round may have.

    Raises:
        TypeError: if `game` is not a game.
        ValueError: if a value is not allowed.

    Example:
        >>> import stb_gym
        >>> stb_gym.rounds.Round(stb_gym.ShutTheBox(), players=2).solve().seats.round(4).tolist()
        [0.498, 0.502]
    """

    game: Game
    players: int = 2
    ties: str = "split"
    shut_wins: bool = False
    indifferent: str = "fewer"
    scores_so_far: ScoresSoFarTable = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_game(self.game)
        check_bool("shut_wins", self.shut_wins)
        check_choice("rule for equally good moves", self.indifferent, list(INDIFFERENT))
        table = ScoresSoFarTable(compile_game(self.game), self.players, self.ties, bool(self.shut_wins))
        plain = {"players": int(self.players), "shut_wins": bool(self.shut_wins)}  # NumPy's numbers have another repr
        for name, value in {**plain, "scores_so_far": table}.items():
            object.__setattr__(self, name, value)

    @property
    def tables(self) -> TurnTables:
        """The arrays of the game."""
        return self.scores_so_far.tables

    @lru_cache(maxsize=8, typed=True)  # noqa: B019 - equal rounds share their solution
    def solve(self) -> RoundSolution:
        """Compute the subgame-perfect equilibrium in which players follow `indifferent`.

        With other rules for equally good moves, players may win more or less, unless there are two and they split
        ties. Moves are equally good if their values differ by at most the relative tolerance `stb_gym.solver.TIE`.
        Chances below 1e-300, as of the highest leads against dozens of players, count as 0.

        Returns:
            The play of every seat, and all results.
        """
        table = self.scores_so_far
        value = table.share
        shared_with = np.maximum(table.holders - 1, 0).astype(float)  # the other holders of the lead
        sign = {"fewer": 1, "company": -1}.get(self.indifferent)
        turns, played = [], []
        for seat in tracked(reversed(range(self.players)), "seats of a round solved", "seats", self.players):
            turns.append(OptimalTurn(table, value, None if sign is None else sign * shared_with))
            played.append(play_seat(table, seat, turns[-1].weights))
            value = table.value_before(value, played[-1].chances)
            shared_with = table.value_before(shared_with, played[-1].chances)
        return RoundSolution(self, tuple(reversed(played)), tuple(turns))

    def evaluate(self, strategies: Sequence[RoundStrategy]) -> RoundEvaluation:
        """Evaluate given players exactly.

        Args:
            strategies: one for each seat: a name, where "optimal" means the equilibrium; the policy of a player who
                ignores the scores so far, or the file, the folder or the name of a saved one; or a function of the
                arrays and the `ScoresSoFar` that returns a policy.

        Returns:
            The expected win of every seat, and how much more best responses would win.

        Raises:
            ValueError: if there is not one strategy per player, or one is unknown or does not fit the game.
        """
        check_strategies("round", strategies, self.players)
        seats = tracked(enumerate(strategies), "seats of a round evaluated", "seats", self.players)
        return RoundEvaluation(self, tuple(self.seat(seat, strategy) for seat, strategy in seats))

    @checked
    def policy(self, strategy: RoundStrategy, scores_so_far: ScoresSoFar) -> Policy:
        """Look up a strategy's play of a turn.

        Args:
            strategy: as in `evaluate`.
            scores_so_far: what the player sees of the others.

        Returns:
            [S] actions, or [S, A] probabilities.

        Raises:
            ValueError: if the strategy is unknown, or the scores so far cannot occur in this round.
        """
        self.scores_so_far.find(scores_so_far)
        if isinstance(strategy, str) and strategy == "optimal":
            return self.solve().policy(scores_so_far)
        return policy_at(self.tables, strategy_of(self.game, strategy), scores_so_far)

    def seat(self, seat: int, strategy: RoundStrategy) -> Seat:
        """Compute the exact play of a strategy in a seat.

        Args:
            seat: the index in turn order, from 0.
            strategy: as in `evaluate`.

        Returns:
            The play.

        Raises:
            ValueError: if the strategy is unknown or does not fit the game, or there is no such seat.
        """
        check_integer("seat", seat, 0, self.players - 1)
        if isinstance(strategy, str) and strategy == "optimal":
            return self.solve().played[seat]
        table, plays, after = self.scores_so_far, strategy_of(self.game, strategy), self.players - 1 - seat
        return play_seat(table, seat, lambda rows: weights_at(table, plays, rows, after))
