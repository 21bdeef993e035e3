"""The chapter of Threes: totals by the number of dice left, taking a die or throwing it again, and what is kept."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from stb_gym.book.chapters import Answer, Heat, Page, points
from stb_gym.book.pictures import draw_beat, draw_take_or_rethrow
from stb_gym.book.words import drawn_rolls
from stb_gym.exact import (
    Policy,
    Standing,
    TurnTables,
    chance_to_beat,
    compile_game,
    edge_weights,
    expected,
    strategy,
)  # fmt: skip
from stb_gym.games import IntArray, Threes, rolls
from stb_gym.output import Table, column
from stb_gym.rounds import INDIFFERENT, TIES, Round

RULES_OF_THUMB = ("threes-only",)
PICTURED = ("optimal-score", "threes-only", "random", "take-all", "worst")
PLAYERS = 6
EQUILIBRIUM = f"{TIES['split'].capitalize()}; {INDIFFERENT['fewer']}, then keeps fewer dice."


def pages(game: Threes) -> dict[str, Page]:
    """The pages of this game alone."""
    kept = ("optimal-score", *(f"{after} after" for after in range(1, PLAYERS)))
    return {
        "by-dice": Page(partial(by_dice, game, RULES_OF_THUMB)),
        "beat": Page(partial(beat, game), draw_beat),
        "take-or-rethrow": Page(partial(take_or_rethrow, game), draw_take_or_rethrow),
        "keeps": Page(partial(keeps, game), part="rounds", heat=Heat(kept, middle=1, high=game.dice)),
        "unusual-keeps": Page(partial(unusual_keeps, game), part="rounds", shown=odd_first),
    }


def by_dice(game: Threes, names: Sequence[str] = ()) -> Table:
    """The expected total by the number of dice still to be thrown.

    Args:
        game: the rules.
        names: strategies to show beside the best and the worst play.
    """
    tables = compile_game(game)
    [scoring] = points(game)
    at = _without_points(game)
    values = {"best": scoring.best(tables)[0], "worst": scoring.worst(tables)[0]}
    for name in names:
        weights = edge_weights(tables, strategy(game, name))
        values[name] = expected(tables, weights, scoring.worth.astype(float))[0]
    return Table(
        "Expected total by dice left",
        "The points still to be expected before so many dice are thrown; points already kept are added.",
        {
            "dice left": column("d", range(1, game.dice + 1)),
            **{name: column(".6f", value[at]) for name, value in values.items()},
        },
    )


def beat(game: Threes) -> Table:
    """The greatest chance of a total below a number, by the number of dice still to be thrown."""
    chances = _chances_below(game)
    return Table(
        "The greatest chance of a total below a number",
        "Points of the 1, 2, 3 ... dice left, before they are thrown, under the play that makes the chance greatest; "
        "each number asks for a play of its own.",
        {
            "below": column("d", range(1, len(chances))),
            **{f"{dice} left": column(".2%", chances[1:, dice]) for dice in range(1, game.dice + 1)},
        },
    )


def take_or_rethrow(game: Threes) -> Table:
    """Taking one die of a certain face against throwing all the dice left once more, to end below a number."""
    chances = _chances_below(game)
    cases = [(left, number) for left in range(2, game.dice + 1) for number in range(1, left * game.faces + 1)]
    dice, below = np.array(cases, int).reshape(-1, 2).T
    columns = {"dice left": column("d", dice), "below": column("d", below)}
    columns["rethrow all"] = column(".2%", chances[below, dice])
    for face in sorted(range(1, game.faces + 1), key=lambda face: int(game.worth[face])):
        still_allowed = np.maximum(below - int(game.worth[face]), 0)
        columns[f"take a {face}"] = column(".2%", chances[still_allowed, dice - 1])
    return Table(
        "Take a die, or throw them all again?",
        "So many dice are left and one of them shows a face: the greatest chance of a total of these dice below a "
        "number by taking that one and throwing the others, or by throwing all of them again. That is allowed if "
        "another die of the same throw is kept: of 3,1,6 one may keep the 3 and throw both others again. Were there "
        "no other die, one of these would have to be kept.",
        columns,
    )


def keeps(game: Threes) -> Table:
    """How many dice the first player of a round keeps of every first throw, beside `optimal-score`."""
    tables, solution = compile_game(game), Round(game, PLAYERS).solve()
    first = _first_nodes(tables)
    kept = {"optimal-score": strategy(game, "optimal-score")}
    kept |= {f"{after} after": solution.policy(Standing(after=after)) for after in range(1, PLAYERS)}
    numbers = np.array([policy[first] + 1 for policy in kept.values()])
    columns = {
        "roll": drawn_rolls(tables, first),
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


def odd_first(table: Table) -> Table:
    """Of `unusual_keeps` first what the play of a single turn would not keep; for readers."""
    kept, usual = (table.columns[heading].values for heading in ("keeps", "optimal-score keeps"))
    return table.take(sorted(range(len(table)), key=lambda row: kept[row] == usual[row]))


def answers(game: Threes, tables: Mapping[str, Table]) -> list[Answer]:
    """What people ask about the dice."""
    if "keeps" not in tables:
        return []
    keeps = tables["keeps"]
    alone, *after = (name for name in keeps.columns if name not in ("roll", "chance"))
    last, chance, rolled = after[-1], keeps.columns["chance"].values, keeps.columns["roll"].values
    pairs = list(zip(keeps.columns[alone].values, keeps.columns[last].values, strict=True))
    differ = [place for place, (one, other) in enumerate(pairs) if one != other]
    if not differ:
        return []
    first = max(differ, key=lambda place: chance[place])
    return [
        Answer(
            "Does one keep other dice when others are to follow?",
            f"Yes: with {last.replace('after', 'to come')} the first player keeps another number of dice of "
            f"{len(differ)} of {len(pairs)} first throws, which is {math.fsum(chance[each] for each in differ):.1%} of "
            f"the turns. Of {rolled[first]}, the likeliest of them, one keeps {pairs[first][1]} then, and "
            f"{pairs[first][0]} for the fewest points.",
            "keeps",
        )
    ]


def _chances_below(game: Threes) -> NDArray[np.float64]:
    """[T, dice + 1] the greatest chance of points below 0, 1, 2 ... from 0, 1, 2 ... dice."""
    tables = compile_game(game)
    return chance_to_beat(tables)[_without_points(game, least=0)].T[tables.scores >= 0]


def _without_points(game: Threes, least: int = 1) -> list[int]:
    """The states of no points so far, with `least` and more dice left."""
    tables = compile_game(game)
    return [tables.find_state(0, dice) for dice in range(least, game.dice + 1)]


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
