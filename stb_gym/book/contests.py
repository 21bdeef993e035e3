"""Tables about rounds of several players: strategies against each other, what a lead is worth, and the seats."""

import numpy as np

from stb_gym.exact import chance_to_beat, compile_game, strategies
from stb_gym.games import Game
from stb_gym.output import Table, column
from stb_gym.rounds import TIES, Round, RoundEvaluation

PLAYERS = 6


def pairings(game: Game, ties: str) -> Table:
    """What the first of two players wins, for every pair of strategies."""
    rules, names = Round(game, 2, ties), list(strategies(game))
    seats = [rules.evaluate([name, name]).played for name in names]
    wins = np.array(
        [
            [RoundEvaluation(rules.tables, rules.standings, (first, second)).seats[0] for _, second in seats]
            for first, _ in seats
        ]
    )
    order = np.argsort(-wins.mean(axis=1), kind="stable").tolist()
    return Table(
        f"Every strategy against every other: {TIES[ties]}",
        "What the first player (row) wins of a round against the second (column), who knows the first score; "
        f"{TIES[ties]}. Exact. The strategy named optimal is the equilibrium of the round. The best first players "
        "come first.",
        {
            "first player": column("", (names[first] for first in order)),
            **{names[second]: column(".2%", wins[order, second]) for second in order},
        },
    )


def winning(game: Game, players: int = PLAYERS) -> Table:
    """The chance that a lead survives the players after, truly and by the published approximation.

    Args:
        game: the rules.
        players: of the round, 2 or more.
    """
    survival, tables = Round(game, players).solve().survival, compile_game(game)
    beaten = chance_to_beat(tables)[tables.start]
    columns = {"score": column("d", tables.scores)}
    for after in range(1, players):
        columns[f"{after} after"] = column(".2%", survival[after])
        columns[f"{after} after, approximation"] = column(".2%", (1 - beaten) ** after)
    return Table(
        "The chance to win with a score",
        "The chance that a player who leads alone with the score still holds or shares the lead after 1, 2, 3 ... more "
        "players, if all of them play the equilibrium of the round and all tied players win. Beside it the published "
        "approximation (1 - P(beat the score))^players, in which every player after only tries to beat the score.",
        columns,
    )


def rounds(game: Game, most: int = PLAYERS) -> Table:
    """What every seat of a round wins when all play its equilibrium, under every tie rule."""
    sizes = range(1, most + 1)
    seats = {ties: np.concatenate([Round(game, players, ties).solve().seats for players in sizes]) for ties in TIES}
    return Table(
        f"Rounds of 1 to {most} players: what each seat wins",
        "The expected win of every seat, in turn order, when all play the equilibrium. "
        f"{'; '.join(f'{rule}: {words}' for rule, words in TIES.items())}. Of moves that are equally good to them "
        "players take the one of lowest index; with all-win the chances of the others depend on that.",
        {
            "players": column("d", (players for players in sizes for _ in range(players))),
            "seat": column("d", (seat for players in sizes for seat in range(1, players + 1))),
            **{ties: column(".4%", values) for ties, values in seats.items()},
        },
    )
