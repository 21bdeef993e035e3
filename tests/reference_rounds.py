"""Rounds of several players in plain Python with exact fractions, on the rules of `tests.reference`: a second opinion.

The players play one turn each, in order, and everybody knows the totals so far; the lowest total wins. `scores` is
always the list of the totals so far, in the order of the players. A total below zero ends the round, and with
`shut_wins` the first of zero, too. A `Strategy` says, for the scores so far, by which policy the next player plays.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from tests.reference import Game, Policy, Utility, at_most, first_best, perfect, value

Scores = tuple[int, ...]
Strategy = Callable[[Scores], Policy]
Payoffs = tuple[Fraction | float, ...]  # one per player


@dataclass(frozen=True)
class Round:
    """What is played, and how: a strategy for each player, None for one who always does what is best for oneself."""

    game: Game
    strategies: tuple[Strategy | None, ...]
    ties: str = "all-win"
    shut_wins: bool = False

    def is_over(self, scores: Scores) -> bool:
        """All have played, or one has shut and that wins."""
        return len(scores) == len(self.strategies) or any(ends_the_round(score, self.shut_wins) for score in scores)

    def payoffs(self, scores: Scores) -> Payoffs:
        """What each player gets; those who did not come to play get nothing."""
        got = round_payoffs(scores, self.ties, self.shut_wins)
        return got + (Fraction(0),) * (len(self.strategies) - len(scores))


def round_payoffs(scores: Scores, ties: str, shut_wins: bool) -> Payoffs:
    """What each of those who have played in a finished round gets."""
    ends = [ends_the_round(score, shut_wins) for score in scores]
    if any(ends):
        return tuple(Fraction(player == ends.index(True)) for player in range(len(scores)))
    winners = scores.count(min(scores))
    win = {"all-win": Fraction(1), "split": Fraction(1, winners), "nobody": Fraction(winners == 1)}[ties]
    return tuple(win if score == min(scores) else Fraction(0) for score in scores)


def ends_the_round(score: int, shut_wins: bool) -> bool:
    """A moon wins at once, and where that is agreed a shut box."""
    return score < 0 or (shut_wins and score == 0)


@cache
def round_values(played: Round, scores: Scores) -> Payoffs:
    """The expected win of each player before the next turn."""
    return played.payoffs(scores) if played.is_over(scores) else turn_values(played, scores, played.game.start())


@cache
def turn_values(played: Round, scores: Scores, position: Any) -> Payoffs:
    """The expected win of each player before a throw of the next player, who has come to the position."""
    if played.game.is_over(position):
        return round_values(played, (*scores, played.game.final_score(position)))
    return mean(
        (chance, throw_values(played, scores, position, roll)) for roll, chance in played.game.outcomes(position)
    )


def throw_values(played: Round, scores: Scores, position: Any, roll: Any) -> Payoffs:
    """The expected win of each player after that throw."""
    after = after_moves(played, scores, position, roll)
    if not after:
        return round_values(played, (*scores, played.game.final_score(position)))
    player = len(scores)
    strategy = played.strategies[player]
    if strategy is None:
        return after[best_for(player, after)]
    return mean((share, after[move]) for move, share in strategy(scores)(position, roll).items())


def after_moves(played: Round, scores: Scores, position: Any, roll: Any) -> dict[Any, Payoffs]:
    """The expected win of each player after each legal move."""
    return {move: turn_values(played, scores, after) for move, after in played.game.moves(position, roll)}


def best_for(player: int, after: dict[Any, Payoffs]) -> Any:
    """The move that is best for the player, whatever it does for the others; the first of equals."""
    return first_best({move: values[player] for move, values in after.items()})


def mean(weighted: Iterable[tuple[float | Fraction, Payoffs]]) -> Payoffs:
    """The mean of the payoffs, player by player, with their weights."""
    rows = [[weight * payoff for payoff in payoffs] for weight, payoffs in weighted]
    return tuple(sum(column) for column in zip(*rows, strict=True))


def equilibrium(game: Game, players: int, ties: str, shut_wins: bool = False) -> Payoffs:
    """The expected win of each player if every one does what is best for that one."""
    return lineup(game, [None] * players, ties, shut_wins)


def equilibrium_policy(game: Game, players: int, ties: str, shut_wins: bool, scores_so_far: Scores) -> Policy:
    """How the next player plays then, after these scores."""
    played = Round(game, (None,) * players, ties, shut_wins)

    def policy(position: Any, roll: Any) -> dict[Any, Fraction]:
        return {best_for(len(scores_so_far), after_moves(played, scores_so_far, position, roll)): Fraction(1)}

    return policy


def lineup(game: Game, policies: list[Strategy | None], ties: str, shut_wins: bool = False) -> Payoffs:
    """The expected win of each player if each plays by their strategy."""
    return round_values(Round(game, tuple(policies), ties, shut_wins), ())


def best_response_value(
    game: Game, seat: int, policies: list[Strategy | None], ties: str, shut_wins: bool = False
) -> Fraction | float:
    """The most that the player in the seat can get, counted from 0, if the others play by their strategies."""
    return lineup(game, [*policies[:seat], None, *policies[seat + 1 :]], ties, shut_wins)[seat]


def whatever_the_scores(policy: Policy) -> Strategy:
    """The strategy of a player who does not look at the scores."""
    return lambda scores: policy


def beat_chance(game: Game, score: int) -> Fraction:
    """The greatest chance of a total below the score."""
    return value(game, game.start(), at_most(score - 1))


@cache  # the same function for the same arguments, so that `value` knows it again
def unbeaten(game: Game, lead: int | None, players_after: int) -> Utility:
    """The chance that a total is no worse than the lead, and that no later player beats it if each one tries to."""

    def utility(score: int) -> Fraction:
        good = lead is None or score <= lead
        return (1 - beat_chance(game, score)) ** players_after if good else Fraction(0)

    return utility


def approximation(game: Game, lead: int | None, players_after: int) -> Policy:
    """The move with the greatest chance to be unbeaten; the first of equals."""
    return perfect(game, unbeaten(game, lead, players_after))
