"""A box too large for one machine, cut into shards: what is sent, and how long it takes. Small boxes are solved so.

`python docs/thirty_tiles.py` writes thirty-tiles.png and prints the tables of thirty-tiles.md, where the cut is
explained. The p tiles of the prefix number the shards, the q others the boards within a shard: a bit of the number of a
shard is 1 where a tile of the prefix is open, and a bit of the number of a board where one of the others is. The lowest
bit is that of the lowest tile.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from stb_gym import ShutTheBox, solve_boards
from stb_gym.exact.board_values import places_of
from stb_gym.games import IntArray, rolls
from stb_gym.output import SERIES, Column, Table

TILES = 30
PREFIXES = range(2, 9)
SIDES = dict(zip(("highest", "lowest"), SERIES, strict=False))  # and their colours
SECONDS_PER_EDGE = 1e-9  # of solve_boards on one core, as measured in thirty-tiles.md
SECONDS_PER_VALUE = 64 / 10e9  # to send its bits at 10 Gbit/s
VALUES_PER_GIB = 2**27
SMALL = [(16, 3, "highest", 3), (16, 3, "lowest", 3), (14, 4, "highest", 5), (14, 4, "lowest", 5)]
Moves = list[tuple[int, int, int]]  # the prefix tiles shut, the others taken, and the roll, counted from the lowest
Floats = NDArray[np.float64]
Arrays = dict[int, Floats]  # by the prefix tiles shut


def prefix_of(side: str, tiles: int, count: int) -> tuple[int, ...]:
    """The highest or the lowest `count` tiles, as `side` says."""
    return tuple(range(1, tiles + 1)[-count:] if side == "highest" else range(1, count + 1))


def cost_of(tiles: int, dice: int, prefix: Sequence[int], faces: int = 6) -> tuple[IntArray, IntArray]:
    """How much work the shards are, and how many values they need of each other.

    Args:
        tiles: how many tiles the box has.
        dice: how many dice are thrown.
        prefix: the tiles of the prefix.
        faces: how many faces a die has.

    Returns:
        [2**p] for each shard the legal moves of all of its boards, and [2**p] for each set of prefix tiles that a move
        may shut the number of values that a shard needs of the one in which these are shut.
    """
    rest = [tile for tile in range(1, tiles + 1) if tile not in prefix]
    moves = np.array([2 ** len(rest), *[0] * (dice * faces)])  # by their sum: pairs of a board and open tiles of it
    for tile in rest:
        moves[tile:] += moves[: max(0, len(moves) - tile)] // 2  # half of the boards have this tile open, too
    windows = [(dice - shut, dice * faces - shut) for shut in subset_sums(prefix).tolist()]
    edges = np.array([moves[max(0, low) : max(0, high + 1)].sum() for low, high in windows])
    for bit in range(len(prefix)):  # a shard has the moves of every subset of its open prefix tiles
        edges.reshape(-1, 2, 2**bit)[:, 1] += edges.reshape(-1, 2, 2**bit)[:, 0]
    return edges, np.array([0, *(boards_with_room(low, high, rest) for low, high in windows[1:])])


def boards_with_room(low: int, high: int, rest: Sequence[int]) -> int:
    """How many boards have some tiles shut, maybe none, with a sum from low to high: a move may have led there.

    The others have no tile shut from low to high, and the shut ones below low add up to less: if they came to more,
    some of them would fit, because adding one at a time cannot jump over the range, as high - low >= dice >= low.
    """
    if low <= 0:
        return 2 ** len(rest) if high >= 0 else 0
    too_little = subset_sums(tile for tile in rest if tile < low) < low
    return 2 ** len(rest) - int(too_little.sum()) * 2 ** sum(tile > high for tile in rest)


def subset_sums(numbers: Iterable[int]) -> IntArray:
    """[2**k] the sum of every subset of k numbers."""
    sums = np.zeros(1, np.int64)
    for number in numbers:
        sums = np.append(sums, sums + number)
    return sums


def total(values: IntArray) -> int:
    """The sum of values [2**p] over all shards, each of which needs those of the subsets of its open prefix tiles."""
    return int(values @ (len(values) / 2.0 ** np.bitwise_count(np.arange(len(values)))))


def sources(values: IntArray, shard: int) -> IntArray:
    """The sets of prefix tiles that moves shut at a shard. It needs the shards in which these are shut."""
    sets = np.arange(shard + 1)
    return sets[(sets & ~shard == 0) & (values[sets] > 0)]


def longest_chains(values: IntArray, work: IntArray) -> IntArray:
    """[2**p] for each shard the most work in a chain that begins with it and in which each needs the one before."""
    to_end = work.copy()
    for shard in reversed(range(len(work))):
        before = shard - sources(values, shard)
        to_end[before] = np.maximum(to_end[before], work[before] + to_end[shard])
    return to_end


def speed_up(edges: IntArray, values: IntArray, machines: int, fixed: bool = False) -> float:
    """How many times as fast as one core several machines are.

    The shard with the longest chain of work behind it is solved next.

    Args:
        edges: [2**p] the work of each shard, from `cost_of`.
        values: [2**p] the values that are sent, from `cost_of`.
        machines: how many machines there are.
        fixed: whether the highest prefix tiles of a shard say which machine solves it. If not, it is the machine on
            which it is solved soonest.
    """
    work, sending = edges * SECONDS_PER_EDGE, values * SECONDS_PER_VALUE
    place, done, free = np.arange(len(work)) * machines // len(work), np.zeros(len(work)), np.zeros(machines)
    for shard in np.argsort(-longest_chains(values, edges), kind="stable").tolist():
        shut = sources(values, shard)
        before = shard - shut
        receiving = sending[shut].sum() - np.bincount(place[before], sending[shut], machines)  # less what is there
        end = np.maximum(free, done[before].max(initial=0)) + receiving + work[shard]
        place[shard] = place[shard] if fixed else end.argmin()
        done[shard] = free[place[shard]] = end[place[shard]]
    return float(work.sum() / done.max())


def solve_in_shards(game: ShutTheBox, prefix: Sequence[int]) -> tuple[Floats, dict[tuple[int, int], Floats]]:
    """Solve a box shard by shard.

    Args:
        game: the rules.
        prefix: the tiles of the prefix.

    Returns:
        [2**p, 2**q] the utility of every board, and the values that were sent, by the numbers of the shards that sent
        and received them.
    """
    rest = [tile for tile in game.start_tiles if tile not in prefix]
    bit = {tile: 2**place for part in (prefix, rest) for place, tile in enumerate(part)}
    sets = [[sum(bit[tile] for tile in move if tile in part) for part in (prefix, rest)] for move in game.moves]
    moves = [(*split, sum(move) - game.dice) for split, move in zip(sets, game.moves, strict=True) if move]
    room = {}  # by prefix tiles shut, the boards whose values are sent
    for shut, taken, _ in filter(lambda move: move[0], moves):
        room[shut] = room.get(shut, False) | (np.arange(2 ** len(rest)) & taken == 0)
    stopping = -1.0 * np.add.outer(subset_sums(prefix), subset_sums(rest))
    probability = rolls(game, game.dice).counts / game.faces**game.dice
    utility, messages = np.empty(stopping.shape), {}
    for shard in sorted(range(len(utility)), key=int.bit_count):
        received = {shut: np.full(2 ** len(rest), np.nan) for shut in room if shut & shard == shut}
        for shut, values in received.items():
            values[room[shut]] = messages[shard - shut, shard]
        utility[shard] = solve_shard(moves, probability, stopping[shard], received)
        messages |= {(shard, shard + shut): utility[shard, room[shut]] for shut in room if shut & shard == 0}
    return utility, messages


def solve_shard(moves: Moves, probability: Floats, stopping: Floats, received: Arrays) -> Floats:
    """The utility [2**q] of the boards of a shard. An unknown value is NaN, which would spread if it were used.

    Args:
        moves: all moves.
        probability: [R] that of every roll.
        stopping: [2**q] the utility of ending the turn at a board.
        received: [2**q] the values of other shards, by the set of prefix tiles that is shut in them.
    """
    after = {0: np.full(len(stopping), np.nan), **received}
    by_roll = np.tile(stopping, (len(probability), 1))
    for count in range(len(stopping).bit_length()):
        level = np.flatnonzero(np.bitwise_count(np.arange(len(stopping))) == count)
        for shut, taken, roll in moves:
            if shut in after:
                at = level[level & taken == taken]
                by_roll[roll, at] = np.maximum(by_roll[roll, at], after[shut][at - taken])
        after[0][level] = probability @ by_roll[:, level]
    return after[0]


def table(headings: str, rows: Iterable[Sequence[str]]) -> str:
    """A table of numbers in Markdown."""
    columns = zip(headings.split(" | "), zip(*rows, strict=True), strict=True)
    return Table("", "", {heading: Column(str, list(cells)) for heading, cells in columns}).to_markdown()


def cost_table(dice: int) -> str:
    """The table of cuts of the large box: by the highest tiles and, where the number differs, by the lowest ones."""
    head = "p | shards | GiB each | and received | messages | GiB sent | chain, s | bound | on 4 | on 16 | fixed 4 | 16"
    both = (zip(*(cells(*cost_of(TILES, dice, prefix_of(s, TILES, p))) for s in SIDES), strict=True) for p in PREFIXES)
    return table(head, ([high if high == low else f"{high} / {low}" for high, low in row] for row in both))


def cells(edges: IntArray, values: IntArray) -> list[str]:
    """A row of the table, of one cut."""
    own, received, sent = np.array([2**TILES / len(edges), values.sum(), total(values)]) / VALUES_PER_GIB
    chain, messages = longest_chains(values, edges).max(), total(np.sign(values))
    cut = f"{np.log2(len(edges)):g} {len(edges)} {own:.2g} {own + received:.2g} {messages:,} {sent:.3g}".split()
    speed = [edges.sum() / chain, *(speed_up(edges, values, m, fixed) for fixed in (False, True) for m in (4, 16))]
    return [*cut, f"{chain * SECONDS_PER_EDGE:.3g}", *(f"{ratio:.1f}" for ratio in speed)]


def small_table() -> str:
    """The table of small boxes: what was sent, what `cost_of` says of it, and the error against `solve_boards`."""
    rows = []
    for tiles, dice, side, count in SMALL:
        game, prefix = ShutTheBox(tiles=tiles, dice=dice), prefix_of(side, tiles, count)
        utility, messages = solve_in_shards(game, prefix)
        whole = solve_boards(game).utility
        places = places_of(game.boards().things, whole.shape[1])  # by bit, which is one less than the tile
        parts = [places.pop(tile - 1) for tile in prefix], places.values()
        error = abs(utility - whole.take(np.add.outer(*map(subset_sums, parts)))).max()
        numbers = len(messages), sum(map(len, messages.values())), total(cost_of(tiles, dice, prefix)[1])
        rows.append([f"{tiles}", f"{dice}", f"{count} {side}", *(f"{n:,}" for n in numbers), f"{error:.0e}"])
    return table("tiles | dice | prefix | messages | values sent | by the formula | largest difference", rows)


def draw(path: Path, dice: int) -> None:
    """What is sent by the number of prefix tiles, and the speed-up by the number of machines."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    machines = [1, 2, 4, 8, 16, 32, 64]
    for side, colour in SIDES.items():
        cuts = {p: cost_of(TILES, dice, prefix_of(side, TILES, p)) for p in PREFIXES}
        sent = [total(values) / VALUES_PER_GIB for _, values in cuts.values()]
        left.plot(PREFIXES, sent, "o-", color=colour, label=side)
        for p, line in ((8, "-"), (6, "--"), (4, ":")):
            right.plot(machines, [speed_up(*cuts[p], m) for m in machines], line, color=colour, label=f"{p} {side}")
    left.set(yscale="log", yticks=[8, 16, 32, 64, 128, 256], xlabel="tiles of the prefix", ylabel="GiB sent")
    right.set(xscale="log", yscale="log", xticks=machines, yticks=machines[:-1], xlabel="machines", ylabel="speed-up")
    for axes in (left, right):
        axes.minorticks_off()
        axes.xaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.grid(alpha=0.25)
        axes.legend(title="prefix", fontsize=8, title_fontsize=8)
    figure.suptitle(f"{TILES} tiles, {dice} dice, cut by their highest or lowest tiles; list scheduling", fontsize=11)
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    print(cost_table(5), cost_table(4), small_table(), sep="\n")
    draw(Path(__file__).with_name("thirty-tiles.png"), 5)
