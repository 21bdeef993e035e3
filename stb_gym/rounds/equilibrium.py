"""Rounds of several players: the subgame-perfect equilibrium, and the exact chances of any lineup.

N players take one turn each of the same game, one after the other. Each sees the final scores so far, and the best
final score wins. All that matters of the scores is the standing z = (lead, number of holders). With k players still to
come, W_k(z) is what the standing z is worth to each holder of the lead. If the next player ends with the final score t
with probability P(t | z), and z' is the standing after t,

    W_0(z) = what the tie rule gives to each holder
    W_k(z) = sum over t of P(t | z) [t leaves the holders the lead] W_{k-1}(z')

The next player's utility of t is W_{k-1}(z') if t takes or shares the lead, else 0. In the equilibrium every player
maximises this utility: backward induction over the seats (Kuhn, "Extensive games and the problem of information",
1953), for all standings at once.

Several moves may be equally good for a player while the chances of others depend on the choice: a player who is sure
to win, if all tied players do, need not care who ties. So an equilibrium need not be unique. `INDIFFERENT` names the
rules that choose among equally good moves. Two of them compare the expected number of others with whom the player
shares the lead in the end, which counts even where it does not change the win.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.arrays import FloatArray, IntArray, cached_arrays, freeze
from stb_gym.checks import check_bool, check_choice, check_integer
from stb_gym.games import Game, check_game
from stb_gym.measure import is_policy, load_policy
from stb_gym.rounds.standings import Standings, blocks, check_lineup
from stb_gym.solver import (
    Level,
    Objective,
    Policy,
    Solution,
    Standing,
    TurnTables,
    approximation,
    compile_game,
    expected_visits,
    optimal_pairs,
    optimise,
    pair_weights,
    score_chances,
    solve_tables,
    sweep,
    table_strategy,
)
from stb_gym.tracking import tracked

INDIFFERENT = {
    "fewer": "among equally good moves, players prefer to share the lead with fewer",
    "company": "among equally good moves, players prefer to share the lead with more",
    "lowest": "among equally good moves, players take the lowest action",
}

RoundStrategy = str | Path | Policy | Callable[[TurnTables, Standing], Policy]


class Seat(NamedTuple):
    """The play of one seat: chances [Z, T] of its final scores and expected throws [Z], by standing.

    Both are 0 at standings that the seat cannot meet. Where the round is over, the seat has the worst score.
    """

    chances: FloatArray
    throws: FloatArray


class Outcome(NamedTuple):
    """The chances of the first of two players; they sum to 1."""

    win: float
    loss: float
    tie: float


def best_values(tables: TurnTables, utility: FloatArray) -> FloatArray:
    """Return [B] the greatest expected utility of a turn, given B utilities [B, T] of its final scores."""
    values = np.zeros(len(utility))
    for block in blocks(tables, np.ones(len(utility), np.bool_)):
        afterstates, _ = optimise(tables, utility[block].T[tables.score_index])
        values[block] = afterstates[tables.start]
    return values


@dataclass(frozen=True, eq=False, repr=False)
class Reply:
    """Optimal play of a turn at every standing.

    Attributes:
        standings: the standings of the round.
        worth: [Z] what each standing is worth after the turn to each holder of the lead.
        disliked: [Z] what a holder of the lead minimises among equally good moves; None to take the lowest action.
    """

    standings: Standings
    worth: FloatArray
    disliked: FloatArray | None = None

    def __post_init__(self) -> None:
        freeze(vars(self))

    def utility(self, chosen: NDArray[Any]) -> FloatArray:
        """Return [B, T] the player's expected win by final score at standings: a mask [Z] or indices [B]."""
        return self.standings.holds[chosen] * self.worth[self.standings.after[chosen]]

    def values(self, chosen: NDArray[Any]) -> FloatArray:
        """Return [B] the player's expected win before the turn at standings: a mask [Z] or indices [B]."""
        return best_values(self.standings.tables, self.utility(chosen))

    def optimal(self, block: IntArray) -> NDArray[np.bool_]:
        """Return [E, B] True for every pair that is as good as the best of its state at standings [B]."""
        tables = self.standings.tables
        return optimal_pairs(tables, *optimise(tables, self.utility(block).T[tables.score_index]))

    def weights(self, block: IntArray) -> FloatArray:
        """Return [E, B] the probability (0 or 1) of every pair at standings [B]."""
        tables, best = self.standings.tables, self.optimal(block)
        preferred = best
        if self.disliked is not None:

            def least(pair_value: FloatArray, level: Level) -> FloatArray:
                return level.reduce(np.minimum, np.where(best[level.pairs], pair_value, np.inf))

            disliked = self.standings.holds[block] * self.disliked[self.standings.after[block]]
            preferred = best & optimal_pairs(tables, *sweep(tables, disliked.T[tables.score_index], least))
        weights = np.zeros(best.shape)
        weights[tables.lowest(preferred), np.arange(len(block))] = 1
        return weights

    @checked
    def policy(self, standing: Standing) -> Policy:
        """Return [N] the actions at a standing.

        Raises:
            ValueError: if the standing cannot occur in this round.
        """
        weights = self.weights(np.array([self.standings.find(standing)]))
        return self.standings.tables.lowest_actions(weights[:, 0] > 0)

    @checked
    def at(self, standing: Standing) -> Solution:
        """Return optimal play at a standing as a `Solution` whose values are the player's expected win.

        Raises:
            ValueError: if the standing cannot occur in this round.
        """
        tables = self.standings.tables
        [wins] = self.utility(np.array([self.standings.find(standing)]))
        name = "share of the win" if self.standings.ties == "split" else "chance to win"
        return solve_tables(tables.game, Objective(name, lambda score: wins[tables.place_of(score)], "probability"))


class BestResponse(NamedTuple):
    """The best response of a seat to the other players of a lineup.

    Attributes:
        value: the seat's expected win.
        gain: by how much that exceeds its expected win in the lineup.
        reply: the play.
    """

    value: float
    gain: float
    reply: Reply


@dataclass(frozen=True, eq=False, repr=False)
class RoundEvaluation:
    """The exact chances of a lineup.

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
        """[Z] for each seat: the chances of the standings before its turn."""
        standings, chances = self.rules.standings, [seat.chances for seat in self.played[:-1]]
        return [*accumulate(chances, standings.reached_after, initial=standings.begun)]

    def _worth_after(self, worth: FloatArray) -> list[FloatArray]:
        """Return [Z] for each seat: what a standing is worth to each holder after its turn; `worth` [Z] at the end."""
        chances = [seat.chances for seat in reversed(self.played[1:])]
        return [*accumulate(chances, self.rules.standings.worth_before, initial=worth)][::-1]

    @cached_arrays
    def worth_after(self) -> list[FloatArray]:
        """[Z] for each seat: what a standing is worth to each holder of the lead after its turn."""
        return self._worth_after(self.rules.standings.share)

    @cached_arrays
    def seats(self) -> FloatArray:
        """[players] the expected win of each seat: its chance to win or, under "split", its share of the win."""
        standings = self.rules.standings
        wins = []
        for reached, seat, worth in zip(self._reached, self.played, self.worth_after, strict=True):
            wins.append(reached @ (seat.chances * standings.holds * worth[standings.after]).sum(axis=1))
        return np.array(wins)

    @cached_arrays
    def throws(self) -> FloatArray:
        """[players] the expected number of throws of each seat."""
        return np.array([reached @ seat.throws for reached, seat in zip(self._reached, self.played, strict=True)])

    @cached_arrays
    def survival(self) -> FloatArray:
        """[players, T] the chance that none of the last 0, 1 ... players beats a player who leads alone.

        By the number of players still to play and the place of the lead.
        """
        stands = self._worth_after(np.ones(len(self.rules.standings.lead)))
        return np.minimum(np.stack(stands[::-1])[:, self.rules.standings.holders == 1], 1)  # rounding may exceed 1

    @cached_arrays
    def worth(self) -> FloatArray:
        """[players, T] the expected win of a player who leads alone, by players still to play and place of the lead."""
        return np.stack(self.worth_after[::-1])[:, self.rules.standings.holders == 1]

    def best_response(self, seat: int) -> BestResponse:
        """Return the best response of a seat to the other seats."""
        check_integer("seat", seat, 0, self.rules.players - 1)
        reply = Reply(self.rules.standings, self.worth_after[seat])
        met = self.rules.standings.met_by(seat)
        value = float(self._reached[seat][met] @ reply.values(met))
        return BestResponse(value, max(0.0, value - float(self.seats[seat])), reply)

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
        holds, keeps = self.rules.standings.holds, self.rules.standings.keeps
        second = self._reached[1][:, None] * self.played[1].chances
        return Outcome(*(float(second[how].sum()) for how in (~holds, ~keeps, keeps & holds)))


@dataclass(frozen=True, eq=False, repr=False)
class RoundSolution(RoundEvaluation):
    """The equilibrium of a round: the lineup in which every seat plays optimally against the seats after it.

    Attributes:
        replies: the play of a seat with 0, 1, 2 ... players after it.
    """

    replies: tuple[Reply, ...]

    def __repr__(self) -> str:
        return f"<equilibrium of {super().__repr__()[1:]}"

    def _reply(self, standing: Standing) -> Reply:
        check_integer("players after", standing.after, 0, self.rules.players - 1)
        return self.replies[standing.after]

    @checked
    def at(self, standing: Standing) -> Solution:
        """Return optimal play of a turn at a standing, as a `Solution` whose values are the player's expected win.

        Args:
            standing: what the player sees of the others.

        Raises:
            ValueError: if it cannot occur in this round.

        Example:
            >>> import stb_gym
            >>> rules = stb_gym.rounds.Round(stb_gym.Threes(), players=5)
            >>> last = rules.solve().at(stb_gym.solver.Standing(lead=8, holders=1, after=0))
            >>> last.moves(roll=[3, 1, 3, 2, 4])["move"][0]
            'keep 5 (3 3 1 2 4)'
        """
        return self._reply(standing).at(standing)

    @checked
    def policy(self, standing: Standing) -> Policy:
        """Return [N] the equilibrium's actions at a standing.

        Raises:
            ValueError: if it cannot occur in this round.
        """
        return self._reply(standing).policy(standing)


@dataclass(frozen=True)
class Round:
    """A round of several players.

    Attributes:
        game: the rules of each turn.
        players: how many play, 1 to 101.
        ties: "split": tied players share one win; "all-win": every one of them wins; "nobody": a tie wins for no one.
        shut_wins: the perfect score (0 in Shut the Box and Threes) wins at once; nobody plays after it.
        indifferent: which of equally good moves a player of the equilibrium takes: "fewer": one after which the player
            expects to share the lead with the fewest others; "company": with the most; "lowest": the lowest action,
            which also decides where that number is equal.
        standings: the standings of the round as arrays.

    Raises:
        TypeError: if `game` is no game.
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
    standings: Standings = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_game(self.game)
        check_bool("shut_wins", self.shut_wins)
        check_choice("rule for equally good moves", self.indifferent, list(INDIFFERENT))
        standings = Standings(compile_game(self.game), self.players, self.ties, bool(self.shut_wins))
        plain = {"players": int(self.players), "shut_wins": bool(self.shut_wins)}  # NumPy's numbers have another repr
        for name, value in {**plain, "standings": standings}.items():
            object.__setattr__(self, name, value)

    @property
    def tables(self) -> TurnTables:
        """The arrays of the game."""
        return self.standings.tables

    @lru_cache(maxsize=8, typed=True)  # noqa: B019 - equal rounds share their solution
    def solve(self) -> RoundSolution:
        """Return the subgame-perfect equilibrium in which players follow `indifferent`.

        With other rules for equally good moves, players may win more or less, unless there are two and they split
        ties. Moves are equally good if their values differ by at most the relative tolerance `stb_gym.solver.TIE`.
        Chances below 1e-300, as of the highest leads against dozens of players, count as 0.
        """
        standings = self.standings
        worth = standings.share
        company = np.maximum(standings.holders - 1, 0).astype(float)  # with how many others each holder shares the lead
        sign = {"fewer": 1, "company": -1}.get(self.indifferent)
        replies, seats = [], []
        in_order = reversed(range(self.players))
        for seat in tracked(in_order, "seats of a round solved", "seats", self.players):
            replies.append(Reply(standings, worth, None if sign is None else sign * company))
            seats.append(self._play(seat, replies[-1].weights))
            worth = standings.worth_before(worth, seats[-1].chances)
            company = standings.worth_before(company, seats[-1].chances)
        return RoundSolution(self, tuple(reversed(seats)), tuple(replies))

    def evaluate(self, strategies: Sequence[RoundStrategy]) -> RoundEvaluation:
        """Return the exact chances of a lineup.

        Args:
            strategies: one for each seat: a name, where "optimal" means the equilibrium; the policy of a player who
                ignores the standing, or the file, the folder or the name of a saved one; or a function of the arrays
                and the `Standing` that returns a policy.

        Raises:
            ValueError: if there is not one strategy per player, or one is unknown or does not fit the game.
        """
        check_lineup("round", strategies, self.players)
        seats = tracked(enumerate(strategies), "seats of a round evaluated", "seats", self.players)
        return RoundEvaluation(self, tuple(self.seat(seat, plays) for seat, plays in seats))

    @checked
    def policy(self, plays: RoundStrategy, standing: Standing) -> Policy:
        """Return the policy of a strategy at a standing.

        Raises:
            ValueError: if the strategy is unknown, or the standing cannot occur in this round.
        """
        self.standings.find(standing)
        plays = self._named(plays)
        return np.asarray(plays(self.tables, standing) if callable(plays) else plays)

    def _named(self, plays: RoundStrategy) -> Policy | Callable[[TurnTables, Standing], Policy]:
        """Return a strategy, named or not, as a policy or a function of the standing."""
        if isinstance(plays, Path) or (isinstance(plays, str) and is_policy(plays)):
            return load_policy(plays, self.game)
        if not isinstance(plays, str):
            return plays
        if plays == "optimal":
            return lambda _, standing: self.solve().policy(standing)
        return approximation if plays == "approximation" else table_strategy(self.game, plays)

    def seat(self, seat: int, plays: RoundStrategy) -> Seat:
        """Return the play of a strategy in a seat; see `evaluate`."""
        check_integer("seat", seat, 0, self.players - 1)
        if isinstance(plays, str) and plays == "optimal":
            return self.solve().played[seat]
        plays = self._named(plays)
        if not callable(plays):
            weights = pair_weights(self.tables, plays)[0][:, None]
            return self._play(seat, lambda block: weights)

        def weights_at(index: int) -> FloatArray:
            standing = self.standings.standing(index, self.players - 1 - seat)
            try:
                return pair_weights(self.tables, self.policy(plays, standing))[0]
            except (TypeError, ValueError) as error:
                raise ValueError(f"the strategy at {standing}: {error}") from error

        return self._play(seat, lambda block: np.stack([weights_at(index) for index in block.tolist()], axis=1))

    def _play(self, seat: int, weights: Callable[[IntArray], FloatArray]) -> Seat:
        """Return a seat's play; `weights` of standings [B] returns pair weights [E, B], or [E, 1] for all of them."""
        tables, standings = self.tables, self.standings
        chances, throws = np.zeros(standings.after.shape), np.zeros(len(standings.lead))
        chances[standings.over, -1] = 1
        throwing = tables.dice[tables.state_origin, None] > 0
        for block in blocks(tables, standings.met_by(seat)):
            visits = expected_visits(tables, weights(block))
            chances[block] = score_chances(tables, visits).T
            throws[block] = (visits * throwing).sum(axis=0)
        return Seat(chances, throws)
