"""Tables about the dice that players of Threes keep of their first throw, in the equilibrium of a round."""

from collections.abc import Iterator

import numpy as np

from stb_gym.exact import Policy, Standing, TurnTables, compile_game, strategy
from stb_gym.games import IntArray, Threes, rolls
from stb_gym.output import Table, column
from stb_gym.rounds import Round

PLAYERS = 6
EQUILIBRIUM = "All tied players win; of equally good keeps a player takes the one of fewest dice."


def keeps(game: Threes, players: int = PLAYERS) -> Table:
    """How many dice the first player of a round keeps of every first throw, beside `optimal-score`.

    Args:
        game: the rules.
        players: of the largest round.
    """
    tables, solution = compile_game(game), Round(game, players).solve()
    first = _first_nodes(tables)
    kept = {"optimal-score": strategy(game, "optimal-score")}
    kept |= {f"{after} after": solution.policy(Standing(after=after)) for after in range(1, players)}
    numbers = np.array([policy[first] + 1 for policy in kept.values()])
    columns = {
        "roll": column("", map(_faces, rolls(game, game.dice).shown)),
        "chance": column(".4%", tables.node_probability[first]),
        **{name: column("d", number) for name, number in zip(kept, numbers, strict=True)},
    }
    alike = (numbers == numbers[0]).all(axis=0)
    return Table(
        "How many dice the first player keeps",
        "Every first throw, cheapest dice first, as they are kept: by optimal-score, the play of the lowest expected "
        "total, and by the first player of a round with 1, 2, 3 ... players to come, in the equilibrium. First come "
        f"the throws on which they differ. {EQUILIBRIUM}",
        columns,
    ).take(np.argsort(alike, kind="stable"))


def unusual_keeps(game: Threes, players: int = PLAYERS) -> Table:
    """The first throws of which the equilibrium keeps a 2 beside other dice, or several 1s, by standing.

    Args:
        game: the rules.
        players: of the round.
    """
    tables, solution = compile_game(game), Round(game, players).solve()
    chance, shown = tables.node_probability[_first_nodes(tables)], rolls(game, game.dice).shown
    usual = _kept(tables, strategy(game, "optimal-score"))
    found = []
    for standing in _standings(tables, players):
        kept = _kept(tables, solution.policy(standing))
        twos = (kept == 2).any(axis=1) & (np.count_nonzero(kept, axis=1) > 1)
        ones = (kept == 1).sum(axis=1) > 1
        unusual = np.flatnonzero(twos | ones)
        for roll in unusual[np.argsort(-chance[unusual], kind="stable")]:
            dice = (_faces(row[roll]) for row in (shown, kept, usual))
            found.append((standing.after, standing.lead, float(chance[roll]), *dice))
    headings = {"players after": "d", "lead": "d", "chance": ".4%", "roll": "", "keeps": "", "optimal-score keeps": ""}
    return Table(
        "Twos and several ones that are worth keeping",
        "The first throws of which a player in the equilibrium keeps a 2 beside other dice, or several 1s, by how many "
        "players are to come and by the lead of one player (empty: nobody has played), likeliest throws first. "
        f"{EQUILIBRIUM}",
        {
            heading: column(spec, (row[place] for row in found))
            for place, (heading, spec) in enumerate(headings.items())
        },
    )


def _standings(tables: TurnTables, players: int) -> Iterator[Standing]:
    """What a player may meet: somebody's lead, or before the first turn none; a last player has always a lead."""
    for after in range(players):
        if after > 0:
            yield Standing(after=after)
        if after < players - 1:
            yield from (Standing(lead, 1, after) for lead in tables.scores.tolist() if lead >= 0)


def _kept(tables: TurnTables, policy: Policy) -> IntArray:
    """[R, dice] the faces a policy keeps of each first throw, 0 for the others."""
    dice = tables.game.dice
    keeps_more = np.arange(dice) <= policy[_first_nodes(tables), None]
    return np.where(keeps_more, rolls(tables.game, dice).shown, 0)


def _faces(kept: IntArray) -> str:
    return ",".join(str(face) for face in kept.tolist() if face)


def _first_nodes(tables: TurnTables) -> IntArray:
    """The nodes of the first throw."""
    return np.array(tables.nodes_of(tables.start))
