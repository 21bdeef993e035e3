"""Tables about the strategies of a game: what they are worth, and the scores they make, exactly and sampled."""

import numpy as np
from numpy.typing import NDArray

from stb_gym.book.table import Table, column
from stb_gym.evaluate import evaluate, score_chances
from stb_gym.game import Game, IntArray
from stb_gym.simulate import simulate
from stb_gym.strategies import STRATEGIES, in_words, strategy
from stb_gym.tables import compile_game

GAMES = 20_000
SEED = 1


def strategies(game: Game) -> Table:
    """Every strategy, best first."""
    known = STRATEGIES[game.name]
    evaluations = [evaluate(game, strategy(game, name)) for name in known]
    values = [evaluation.value for evaluation in evaluations]
    return Table(
        "Strategies, best first",
        "Exact. Regret: what a turn costs more than under the play of fewest expected points.",
        {
            "strategy": column("", known),
            "expected points": column(".6f", values),
            "regret": column(".6f", (evaluation.regret for evaluation in evaluations)),
            "chance of score 0": column(".4%", (evaluation.shut_probability for evaluation in evaluations)),
            "mean throws": column(".4f", (evaluation.mean_throws for evaluation in evaluations)),
            "how it plays": column("", in_words(game.name).values()),
        },
    ).take(np.argsort(values, kind="stable"))


def scores(game: Game) -> Table:
    """The exact chance of every final score under every strategy."""
    tables = compile_game(game)
    chances = {
        name: score_chances(tables, evaluate(game, strategy(game, name)).visits) for name in STRATEGIES[game.name]
    }
    note = "The chance of every final score."
    return _by_score("Final scores of the strategies, exactly", note, tables.scores, chances)


def sampled_scores(game: Game, games: int = GAMES) -> Table:
    """The share of every final score among sampled games of every strategy; for each the same seed."""
    known = compile_game(game).scores
    shares = {}
    for name in STRATEGIES[game.name]:
        played = simulate(game, strategy(game, name), games, SEED).final_scores
        shares[name] = np.bincount(np.searchsorted(known, played), minlength=len(known)) / games
    note = f"The share of every final score in {games:,} games of each strategy, played with seed {SEED}."
    return _by_score("Final scores of the strategies, sampled", note, known, shares)


def _by_score(title: str, note: str, known: IntArray, chances: dict[str, NDArray[np.float64]]) -> Table:
    """A row for every score that comes about, a column for every strategy; `chances` [T] each of the `known` ones."""
    reached = np.flatnonzero(np.any(list(chances.values()), axis=0))
    columns = {name: column(".3%", chance[reached]) for name, chance in chances.items()}
    return Table(title, note, {"score": column("d", known[reached]), **columns})
