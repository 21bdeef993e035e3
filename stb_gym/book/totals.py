"""Tables of Threes alone: totals by the number of dice left, and taking one die against throwing it again."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stb_gym.book.scorings import scorings
from stb_gym.book.table import Table, column
from stb_gym.evaluate import expected
from stb_gym.policy import edge_weights
from stb_gym.strategies import chance_to_beat, strategy
from stb_gym.tables import compile_game
from stb_gym.threes import Threes


def by_dice(game: Threes, names: Sequence[str] = ()) -> Table:
    """The expected total by the number of dice still to be thrown.

    Args:
        game: the rules.
        names: strategies to show beside the best and the worst play.
    """
    tables = compile_game(game)
    [points] = scorings(game)
    at = _without_points(game)
    values = {"best": points.best(tables)[0], "worst": points.worst(tables)[0]}
    for name in names:
        weights = edge_weights(tables, strategy(game, name))
        values[name] = expected(tables, weights, points.worth.astype(float))[0]
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
        "number by taking that one and throwing the others, or by throwing all of them again. To throw all again is "
        "not a legal move, for one die at least must be kept: it is the what-if with which published accounts compare.",
        columns,
    )


def _chances_below(game: Threes) -> NDArray[np.float64]:
    """[T, dice + 1] the greatest chance of points below 0, 1, 2 ... from 0, 1, 2 ... dice."""
    tables = compile_game(game)
    return chance_to_beat(tables)[_without_points(game, least=0)].T[tables.scores >= 0]


def _without_points(game: Threes, least: int = 1) -> list[int]:
    """The states of no points so far, with `least` and more dice left."""
    tables = compile_game(game)
    return [tables.find_state(0, dice) for dice in range(least, game.dice + 1)]
