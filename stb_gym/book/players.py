"""Tables about the strategies of a game: what they are worth, and the scores they make, exactly and sampled."""

import numpy as np
from numpy.typing import NDArray

from stb_gym.book.words import perfect_score
from stb_gym.exact import compile_game, score_chances, solve, strategy
from stb_gym.exact import strategies as strategies_of
from stb_gym.games import Game, IntArray, words_of
from stb_gym.measure import simulate
from stb_gym.output import Table, column

GAMES = 20_000
SEED = 1


def ranking(game: Game) -> Table:
    """Every strategy, best first."""
    known, optimum = strategies_of(game), solve(game)
    evaluations = [optimum.evaluate(strategy(game, name)) for name in known]
    values = np.array([evaluation.value for evaluation in evaluations])
    chances = (evaluation.shut_probability for evaluation in evaluations)
    return Table(
        "Strategies, best first",
        "Exact. Regret: by how many points the expected points are worse than under the play that makes them "
        f"{words_of(game).best}.",
        {
            "strategy": column("", known),
            "expected points": column(".6f", values),
            "regret": column(".6f", (evaluation.regret for evaluation in evaluations)),
            f"chance of score {perfect_score(optimum.tables)}": column(".4%", chances),
            "mean throws": column(".4f", (evaluation.mean_throws for evaluation in evaluations)),
            "how it plays": column("", known.values()),
        },
    ).take(np.argsort(-game.sign * values, kind="stable"))


def exact_scores(game: Game) -> Table:
    """The exact chance of every final score under every strategy."""
    optimum = solve(game)
    tables = optimum.tables
    chances = {
        name: score_chances(tables, optimum.evaluate(strategy(game, name)).visits) for name in strategies_of(game)
    }
    note = "The chance of every final score."
    return _by_score("Final scores of the strategies, exactly", note, tables.scores, chances)


def sampled_scores(game: Game, games: int = GAMES) -> Table:
    """The share of every final score among sampled games of every strategy; for each the same seed."""
    tables = compile_game(game)
    shares = {}
    for name in strategies_of(game):
        played = simulate(game, strategy(game, name), games, SEED).final_scores
        shares[name] = np.bincount(tables.place_of(played), minlength=len(tables.scores)) / games
    note = f"The share of every final score in {games:,} games of each strategy, played with seed {SEED}."
    return _by_score("Final scores of the strategies, sampled", note, tables.scores, shares)


def _by_score(title: str, note: str, known: IntArray, chances: dict[str, NDArray[np.float64]]) -> Table:
    """A row for every score that comes about, a column for every strategy; `chances` [T] each of the `known` ones."""
    reached = np.flatnonzero(np.any(list(chances.values()), axis=0))
    columns = {name: column(".3%", chance[reached]) for name, chance in chances.items()}
    return Table(title, note, {"score": column("d", known[reached]), **columns})
