"""Game after game, as long as a person at a terminal wants another one, and what all of them came to."""

import sys
from collections.abc import Callable
from typing import NamedTuple

from stb_gym.terminal.coach import CAUSES, Account, Event
from stb_gym.terminal.dialogue import read, say


class Result(NamedTuple):
    """How a game ended for the person.

    Attributes:
        score: the points; None if the person had no turn.
        won: the share of the win; None if there was nothing to win.
        account: of the coach, if there was one.
    """

    score: int | None
    won: float | None
    account: Account | None


def again_and_again(play: Callable[[], Result], games: str) -> None:
    """Play, ask for another game where somebody sits at a terminal, and tell what all games came to.

    Args:
        play: plays a game; an EOFError of it ends all.
        games: what several games are called.
    """
    results: list[Result] = []
    try:
        while True:
            results.append(play())
            if len(results) > 1:
                say(f"\n{totals(results, games)}")
            if not _another(games.removesuffix("s")):
                return
            say()
    except EOFError:
        say("Goodbye.")


def totals(results: list[Result], games: str) -> str:
    """What several games came to, in sentences."""
    scores = [result.score for result in results if result.score is not None]
    won = [result.won for result in results if result.won is not None]
    accounts = [result.account for result in results if result.account is not None]
    said = f"{len(results)} {games}: "
    said += f"{sum(scores) / len(scores):.2f} points each" if scores else "no turn of yours"
    if won:
        said += f", {sum(won):.4g} won"
    if accounts:
        mean = _mean(accounts).sentence
        said += f".\nIn the mean, {mean[0].lower()}{mean[1:-1]}"
    return f"{said}."


def _mean(accounts: list[Account]) -> Account:
    """An account of what every cause did in the mean."""
    causes = {
        cause: sum(each.total(cause) for each in accounts) / len(accounts)
        for cause in CAUSES
        if any(cause in event.changes for each in accounts for event in each.events)
    }
    start = sum(each.start for each in accounts) / len(accounts)
    return Account(accounts[0].unit, start, [Event("in the mean", causes)])


def _another(game: str) -> bool:
    """Whether the person wants another game; who types into a pipe has said it by what is in it."""
    if sys.stdin is None or not sys.stdin.isatty():
        return False
    while True:
        try:
            typed = read(f"\nAnother {game}? (y or n) ")
        except EOFError:
            return False
        if typed in ("y", "yes", "n", "no"):
            return typed[0] == "y"
        say("Type y or n.")
