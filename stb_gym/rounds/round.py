"""Rounds of several players: the subgame-perfect equilibrium, and the exact chances of any players.

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
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from stb_gym.arguments import checked
from stb_gym.checks import check_integer
from stb_gym.rounds.evaluation import RoundEvaluation, Seat, play_seat
from stb_gym.rounds.optimal_turn import OptimalTurn
from stb_gym.rounds.rules import RulesOfRound
from stb_gym.rounds.scores_so_far import ScoresSoFar
from stb_gym.rounds.strategies import RoundStrategy, check_strategies, strategy_of
from stb_gym.solver import Policy, Solution
from stb_gym.tracking import tracked


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


class Round(RulesOfRound):
    """A round of several players.

    Args:
        game: the rules of each turn.
        players: how many play, 1 to 101.
        ties: "split": tied players share one win; "all-win": every one of them wins; "nobody": a tie wins for no one.
        shut_wins: the perfect score (0 in Shut the Box and Threes) wins at once; nobody plays after it.
        indifferent: which of equally good moves a player of the equilibrium takes: "fewer": one after which the player
            expects to share the lead with the fewest others; "company": with the most; "lowest": the lowest action,
            which also decides where that number is equal.

    Raises:
        TypeError: if `game` is no game.
        ValueError: if a value is not allowed.

    Example:
        >>> import stb_gym
        >>> stb_gym.rounds.Round(stb_gym.ShutTheBox(), players=2).solve().seats.round(4).tolist()
        [0.498, 0.502]
    """

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
        shared_with = np.maximum(table.holders - 1, 0).astype(float)  # with how many others each holder shares the lead
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
        return strategy_of(self.scores_so_far, strategy).policy(scores_so_far)

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
        chosen, after = strategy_of(self.scores_so_far, strategy), self.players - 1 - seat
        return play_seat(self.scores_so_far, seat, lambda rows: chosen.weights(rows, after))
