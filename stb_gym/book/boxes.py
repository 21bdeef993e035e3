"""The chapter of Shut the Box: its boards, the largest tile kept, and the ways to shut the box."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np

from stb_gym.book.chapters import Answer, Page, Scoring
from stb_gym.book.pictures import draw_boards
from stb_gym.book.positions import least_loss
from stb_gym.book.words import drawn_states, moves_in_words, where
from stb_gym.exact import compile_game, edge_weights, expected, solve, strategy, ways_to_shut
from stb_gym.games import ShutTheBox
from stb_gym.output import Table, column

RULES_OF_THUMB = ("fewest-then-biggest", "biggest-first", "most-ways")
PICTURED = ("optimal-score", "biggest-first", "nine-eight-seven", "random", "worst")
ROUNDING = 1e-9
LARGEST_BOX = 12  # tiles; what the counting rule loses is worked out at least up to there


def pages(game: ShutTheBox) -> dict[str, Page]:
    """The pages of this game alone."""
    by_sum, *others = scorings(game)
    return {
        f"states-{by_sum.name}": Page(partial(states, game, by_sum, RULES_OF_THUMB), draw_boards),
        "dearest-states": Page(partial(dearest_states, game)),
        "largest-kept": Page(partial(largest_kept, game)),
        "counting-rule": Page(partial(counting_rule, game), part="players"),
        "ways": Page(partial(ways, game), part="tables"),
        **{f"states-{each.name}": Page(partial(states, game, each, RULES_OF_THUMB), part="tables") for each in others},
    }


def scorings(game: ShutTheBox) -> list[Scoring]:
    """Three views of the tiles that are shut; they do not depend on what the rules count as the score of a turn."""
    held = compile_game(game).held
    open_sum, open_tiles = (replace(game, score=score).final_score(held) for score in ("sum", "count"))
    return [
        Scoring("sum", "sum of the tiles shut, most is best", open_sum.max() - open_sum, False, ".4f"),
        Scoring("shut", "chance to shut the box, greatest is best", open_sum == 0, False, ".4%"),
        Scoring("count", "number of tiles shut, most is best", game.tiles - open_tiles, False, ".4f"),
    ]


def states(game: ShutTheBox, scoring: Scoring, names: Sequence[str] = ()) -> Table:
    """Every board with its value under best and worst play and under strategies.

    Args:
        game: the rules.
        scoring: what a turn is counted in.
        names: the strategies.
    """
    tables = compile_game(game)
    worth = scoring.worth.astype(float)
    best, worst = scoring.best(tables)[0], scoring.worst(tables)[0]
    open_tiles = replace(game, score="count").final_score(tables.held)
    open_sum = replace(game, score="sum").final_score(tables.held)
    columns = {
        "state": drawn_states(tables),
        "open tiles": column("d", open_tiles),
        "highest open": column("d", (board.bit_length() for board in tables.held.tolist())),
        "open sum": column("d", open_sum),
        "closed tiles": column("d", game.tiles - open_tiles),
        "closed sum": column("d", open_sum.max() - open_sum),
        "best": column(scoring.format, best),
        "worst": column(scoring.format, worst),
    }
    for name in names:
        weights = edge_weights(tables, strategy(game, name))
        columns[name] = column(scoring.format, expected(tables, weights, worth)[0])
    columns["best minus worst"] = column(scoring.format, best - worst)
    boards = np.flatnonzero((tables.dice > 0) | (tables.held == 0))
    return Table(
        f"Every board: {scoring.counts}",
        "The expectation of what is counted at the end of the turn, tiles shut so far included, before the dice are "
        "thrown: under the best play, the worst play, and strategies.",
        columns,
    ).take(boards[np.argsort(-tables.held[boards])])


def dearest_states(game: ShutTheBox) -> Table:
    """The boards on which most points are to be expected, dearest first."""
    solution, chance = solve(game), solve(game, "shut")
    tables = solution.tables
    columns = {
        "state": drawn_states(tables),
        "points on the board": column("d", tables.final_score),
        "expected points": column(".4f", solution.state_value),
        "chance to shut": column(".4%", chance.state_value),
    }
    order = np.argsort(-solution.state_value, kind="stable")
    return Table(
        "Boards by what they cost, dearest first",
        "Expected points at the end of the turn under the play that makes them fewest, and the chance to shut the box "
        "under the play that makes it greatest.",
        columns,
    ).take(order[tables.dice[order] > 0])


def largest_kept(game: ShutTheBox) -> Table:
    """The nodes where the best play does not shut the largest tile that could be shut."""
    solution = solve(game)
    tables = solution.tables
    largest = np.array([max(tiles, default=0) for tiles in game.moves])[tables.edge_action]
    could = tables.reduce(np.maximum, largest)
    shuts = largest == tables.spread(could)
    loss = least_loss(solution, shuts)
    kept = ~tables.reduce(np.logical_or, shuts & solution.optimal)
    order = np.argsort(-loss, kind="stable")
    columns = where(tables) | {
        "largest that could be shut": column("d", could),
        "best moves": column("", moves_in_words(tables, solution.optimal)),
        "expected points": column(".4f", solution.node_value[tables.decisions]),
        "loss of the largest": column(".4f", loss),
    }
    return Table(
        "Where the best play keeps the largest tile",
        "Every position where no best move shuts the largest tile that could be shut, and how many points the best of "
        "the moves that shut it would lose.",
        columns,
    ).take(order[kept[order]])


def ways(game: ShutTheBox) -> Table:
    """In how many ways the box is shut in exactly so many throws."""
    tables = compile_game(game)
    count = ways_to_shut(tables)[tables.start]
    throws = np.flatnonzero(count)
    sequences = float(game.faces**game.dice) ** throws
    return Table(
        "Ways to shut the box, by the number of throws",
        "Every throw of the dice, told apart, and every legal move counts as a way of its own. Ways per sequence: how "
        "many ways there are for a sequence of as many throws, on average. Whole numbers are exact up to 2**53.",
        {
            "throws": column("d", throws),
            "ways": column(",d", (int(number) for number in count[throws])),
            "ways per sequence": column(".6f", count[throws] / sequences),
        },
    )


def counting_rule(game: ShutTheBox) -> Table:
    """What is lost against the best chance to shut by leaving the most ways to shut, for boxes of every size."""
    boxes = list(_of_every_size(game))
    solutions = [solve(box, "shut") for box in boxes]
    random, counting, best = (
        [solution.evaluate(strategy(box, name)) for box, solution in zip(boxes, solutions, strict=True)]
        for name in ("random", "most-ways", "optimal-shut")
    )
    return Table(
        "Boxes of every size: counting the ways against the best chance to shut",
        "The chance to shut the box by random play, by always leaving the board with the most ways to shut it, and by "
        "the best play for that chance; and what counting loses of it.",
        {
            "tiles": column("d", (box.tiles for box in boxes)),
            "random": column(".4%", (play.value for play in random)),
            "most-ways": column(".4%", (play.value for play in counting)),
            "best": column(".4%", (play.value for play in best)),
            "counting loses": column(".4%", (play.regret for play in counting)),
        },
    )


def _of_every_size(game: ShutTheBox) -> Iterator[ShutTheBox]:
    """The same rules for all numbers of tiles that they allow."""
    for tiles in range(1, max(LARGEST_BOX, game.tiles) + 1):
        with suppress(ValueError):  # too few tiles for those that have to be open
            yield replace(game, tiles=tiles)


def answers(game: ShutTheBox, tables: Mapping[str, Table]) -> list[Answer]:
    """What people ask about the tiles."""
    said = []
    if "largest-kept" in tables:
        kept = tables["largest-kept"]
        state, roll, largest, best, _, loses = kept.rows[0]
        said.append(
            Answer(
                "Should one always shut the largest tile?",
                f"No: at {len(kept):,} positions every move that shuts the largest tile is wrong. It costs most with "
                f"{state} and a {roll}: {best} is better than shutting the {largest} by {loses:.2f} points.",
                "largest-kept",
            )
        )
    if "counting-rule" in tables:
        [(*_, counting, best, loses)] = [row for row in tables["counting-rule"].rows if row[0] == game.tiles]
        said.append(
            Answer(
                "Is it best to leave the most ways to shut the box?",
                f"{'Yes' if loses < ROUNDING else 'Not quite'}: who counts them shuts the box in {counting:.3%} of the "
                f"turns, the best play for that in {best:.3%}.",
                "counting-rule",
            )
        )
    return said
