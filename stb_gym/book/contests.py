"""Tables about rounds of several players: strategies against each other, what a lead is worth, and the seats."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stb_gym.exact import chance_to_beat, compile_game, strategies
from stb_gym.games import Game
from stb_gym.output import Table, column
from stb_gym.rounds import INDIFFERENT, TIES, Round, RoundEvaluation, series

PLAYERS = 6
EVENING = 50  # rounds


def pairings(game: Game, ties: str) -> Table:
    """What the first of two players wins, for every pair of strategies."""
    names, rules = list(strategies(game)), Round(game, 2, ties)
    wins, wide = _wins(rules, names), rules.range_of(lambda rules: _wins(rules, names))
    order = np.argsort(-wins.mean(axis=1), kind="stable").tolist()
    changes = (wide.most - wide.least).max()
    free = f"; another rule for the indifferent changes a number beside it by {changes:.2%} at most"
    return Table(
        f"Every strategy against every other: {TIES[ties]}",
        "What the first player (row) wins of a round against the second (column), who knows the first score; "
        f"{TIES[ties]}. Exact. The strategy named optimal is the equilibrium of the round, in which "
        f"{INDIFFERENT[rules.indifferent]}{free if wide.is_wide else ''}. The best first players come first.",
        {
            "first player": column("", (names[first] for first in order)),
            **{names[second]: column(".2%", wins[order, second]) for second in order},
        },
    )


def _wins(rules: Round, names: list[str]) -> NDArray[np.float64]:
    """What the first player (row) wins against the second, for strategies by name."""
    seats = [rules.evaluate([name, name]).played for name in names]
    lineups = [[RoundEvaluation(rules.tables, rules.standings, (one, two)) for _, two in seats] for one, _ in seats]
    return np.array([[each.seats[0] for each in row] for row in lineups])


def winning(game: Game, players: int = PLAYERS) -> Table:
    """What a lead is worth before the turns of the players after, truly and by the published approximation.

    Args:
        game: the rules.
        players: of the round, 2 or more.
    """
    shared, tables = Round(game, players).solve().evaluation.worth, compile_game(game)
    least, most = Round(game, players, "all-win").range_of(lambda rules: rules.solve().evaluation.worth)
    beaten = chance_to_beat(tables)[tables.start]
    columns = {"score": column("d", tables.scores)}
    for after in range(1, players):
        columns[f"{after} after"] = column(".2%", shared[after])
        columns[f"{after} after, all win: least"] = column(".2%", least[after])
        columns[f"{after} after, all win: most"] = column(".2%", most[after])
        columns[f"{after} after, approximation"] = column(".2%", (1 - beaten) ** after)
    return Table(
        "The chance to win with a score",
        "What a player who leads alone with the score may expect to win before the turns of 1, 2, 3 ... more players, "
        "all of whom play the equilibrium of the round: first if tied players share the win; then the chance if all "
        "tied players win, which depends on what players do to whom several moves are equally good: least and most "
        "over the rules for them. Last the published approximation of that chance, (1 - P(beat the score))^players, in "
        "which every player after only tries to beat the score.",
        columns,
    )


def rounds(game: Game) -> Table:
    """What every seat of a round wins when all play its equilibrium, under every tie rule."""
    sizes = range(1, PLAYERS + 1)
    columns = {
        "players": column("d", (players for players in sizes for _ in range(players))),
        "seat": column("d", (seat for players in sizes for seat in range(1, players + 1))),
    }
    for ties in TIES:
        seats = Round(game, PLAYERS, ties).range_of(
            lambda rules: np.concatenate([each.seats for each in rules.of_fewer()])
        )
        ends = {f"{ties}: least": seats.least, f"{ties}: most": seats.most} if seats.is_wide else {ties: seats.least}
        columns |= {heading: column(".4%", wins) for heading, wins in ends.items()}
    return Table(
        f"Rounds of 1 to {PLAYERS} players: what each seat wins",
        "The expected win of every seat, in turn order, when all play the equilibrium. "
        f"{'; '.join(f'{rule}: {words}' for rule, words in TIES.items())}. Where the others' chances depend on what "
        "players do to whom several moves are equally good, they are least and most over the rules for them: "
        f"{'; '.join(INDIFFERENT.values())}.",
        columns,
    )


def evenings(game: Game, names: Sequence[str], most: int = EVENING) -> Table:
    """How surely perfect play wins more rounds of an evening than other strategies.

    Args:
        game: the rules.
        names: the strategies it plays against.
        most: rounds of the longest evening.
    """
    rules = Round(game, 2, "split")
    columns = {"rounds": column("d", range(1, most + 1))}
    for name in names:
        ended = series(rules, ["optimal", name], most, "alternating")
        columns[f"beats {name}"] = column(".2%", ended.wins[:, 0])
        columns[f"loses to {name}"] = column(".2%", ended.wins[:, 1])
    return Table(
        "Evenings: perfect play against others, by the number of rounds",
        f"The chance that the equilibrium of the round wins more of so many rounds than another strategy, and that it "
        f"wins fewer; else they are even. Two players begin in turns, and {TIES['split']}.",
        columns,
    )
