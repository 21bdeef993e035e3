"""Solve rounds of several players in plain Python with exact fractions: a second opinion, on `tests.reference`.

The players play one turn each, in order. Everybody knows the totals so far, and the lowest total wins. `scores` are the
totals so far, in the order of the players. A total below zero ends the round; with `shut_wins`, so does the first zero.
A `Strategy` maps the scores so far to the policy of the next player.

A player of the equilibrium may have several best moves. Then "fewer" takes the move after which that player expects to
share the lowest total with the fewest others at the end (with none if another total is the lowest), "company" with the
most, and "lowest" takes the first; so do both others if that number is equal.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from tests.reference import Game, Policy, Utility, at_most, first_best, perfect, value

Scores = tuple[int, ...]
Strategy = Callable[[Scores], Policy]
Payoffs = tuple[Fraction | float, ...]  # the win of each player, then with how many others each shares the lowest total


@dataclass(frozen=True)
class Round:
    """The rules of a round, and the strategy of each player; None plays the equilibrium."""

    game: Game
    strategies: tuple[Strategy | None, ...]
    ties: str = "all-win"
    shut_wins: bool = False
    indifferent: str = "fewer"

    def is_over(self, scores: Scores) -> bool:
        """Return whether all have played, or one has ended the round."""
        return len(scores) == len(self.strategies) or any(ends_the_round(score, self.shut_wins) for score in scores)

    def payoffs(self, scores: Scores) -> Payoffs:
        """Return the payoffs at the end; players without a turn get nothing."""
        nothing = (Fraction(0),) * (len(self.strategies) - len(scores))
        sharing = tuple(Fraction(scores.count(score) - 1) * (score == min(scores)) for score in scores)
        return round_payoffs(scores, self.ties, self.shut_wins) + nothing + sharing + nothing


def round_payoffs(scores: Scores, ties: str, shut_wins: bool) -> Payoffs:
    """Return the win of each player who has played in a finished round."""
    ends = [ends_the_round(score, shut_wins) for score in scores]
    if any(ends):
        return tuple(Fraction(player == ends.index(True)) for player in range(len(scores)))
    winners = scores.count(min(scores))
    win = {"all-win": Fraction(1), "split": Fraction(1, winners), "nobody": Fraction(winners == 1)}[ties]
    return tuple(win if score == min(scores) else Fraction(0) for score in scores)


def ends_the_round(score: int, shut_wins: bool) -> bool:
    """Return whether a total wins at once: a moon, and with `shut_wins` a shut box."""
    return score < 0 or (shut_wins and score == 0)


@cache
def round_values(played: Round, scores: Scores) -> Payoffs:
    """Return the expected payoffs before the next turn."""
    return played.payoffs(scores) if played.is_over(scores) else turn_values(played, scores, played.game.start())


@cache
def turn_values(played: Round, scores: Scores, position: Any) -> Payoffs:
    """Return the expected payoffs before a throw of the next player, who is in the position."""
    if played.game.is_over(position):
        return round_values(played, (*scores, played.game.final_score(position)))
    return mean(
        (chance, throw_values(played, scores, position, roll)) for roll, chance in played.game.outcomes(position)
    )


def throw_values(played: Round, scores: Scores, position: Any, roll: Any) -> Payoffs:
    """Return the expected payoffs after that throw."""
    after = after_moves(played, scores, position, roll)
    if not after:
        return round_values(played, (*scores, played.game.final_score(position)))
    player = len(scores)
    strategy = played.strategies[player]
    if strategy is None:
        return after[best_for(player, after, played.indifferent)]
    return mean((share, after[move]) for move, share in strategy(scores)(position, roll).items())


def after_moves(played: Round, scores: Scores, position: Any, roll: Any) -> dict[Any, Payoffs]:
    """Return the expected payoffs after each legal move."""
    return {move: turn_values(played, scores, after) for move, after in played.game.moves(position, roll)}


def best_for(player: int, after: dict[Any, Payoffs], indifferent: str) -> Any:
    """Return the best move for the player; of several, the one that the rule for indifferent players names."""
    best = max(values[player] for values in after.values())
    weight = {"fewer": -1, "company": 1, "lowest": 0}[indifferent]
    sharing = {move: values[len(values) // 2 + player] for move, values in after.items() if values[player] == best}
    return first_best({move: weight * others for move, others in sharing.items()})


def mean(weighted: Iterable[tuple[float | Fraction, Payoffs]]) -> Payoffs:
    """Return the weighted mean of the payoffs of each player."""
    rows = [[weight * payoff for payoff in payoffs] for weight, payoffs in weighted]
    return tuple(sum(column) for column in zip(*rows, strict=True))


def seat_values(
    game: Game,
    strategies: Iterable[Strategy | None],
    ties: str,
    shut_wins: bool = False,
    indifferent: str = "fewer",
) -> Payoffs:
    """Return the expected win of each player; None plays optimally against the players after it."""
    played = Round(game, tuple(strategies), ties, shut_wins, indifferent)
    return round_values(played, ())[: len(played.strategies)]


def equilibrium_policy(
    game: Game, players: int, ties: str, shut_wins: bool, indifferent: str, scores_so_far: Scores
) -> Policy:
    """Return the policy of the next player in the equilibrium, after these scores."""
    played = Round(game, (None,) * players, ties, shut_wins, indifferent)

    def policy(position: Any, roll: Any) -> dict[Any, Fraction]:
        after = after_moves(played, scores_so_far, position, roll)
        return {best_for(len(scores_so_far), after, indifferent): Fraction(1)}

    return policy


@cache  # the same function for the same arguments, for the cache of `value`
def unbeaten(game: Game, lead: int | None, players_after: int) -> Utility:
    """Return the chance that a total is no worse than the lead and that no later player beats it, if each one tries."""

    def utility(score: int) -> Fraction:
        if lead is not None and score > lead:
            return Fraction(0)
        return (1 - value(game, game.start(), at_most(score - 1))) ** players_after

    return utility


def approximation(game: Game, lead: int | None, players_after: int) -> Policy:
    """Return the policy with the greatest chance to be unbeaten; among equal moves the first."""
    return perfect(game, unbeaten(game, lead, players_after))
