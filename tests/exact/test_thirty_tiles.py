"""Boxes cut into shards: the formulas hold for boxes that are solved so, and the page has the tables of its script."""

import importlib.util
from itertools import product

import numpy as np
import pytest

from stb_gym import ShutTheBox
from stb_gym.exact import solve_boards
from tests import ROOT

DOCS = ROOT / "docs"
SPEC = importlib.util.spec_from_file_location("thirty_tiles", DOCS / "thirty_tiles.py")
page = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(page)

CUTS = [
    (ShutTheBox(tiles=9), (8, 9)),
    (ShutTheBox(tiles=9), (1, 2, 3)),
    (ShutTheBox(tiles=10, dice=3, faces=3), (1, 2)),  # tile 10 is above every roll
    (ShutTheBox(tiles=10, dice=3, faces=3), (8, 9, 10)),
    (ShutTheBox(tiles=9, dice=4, faces=2), (1,)),  # 2 alone does not complete a move with 1
    (ShutTheBox(tiles=8, dice=5, faces=2), (1, 3, 6)),
    (ShutTheBox(tiles=6, dice=7), (2, 5)),
]


def shard_and_board(tiles, game, prefix):
    rest = [tile for tile in game.start_tiles if tile not in prefix]
    return tuple(sum(2 ** part.index(tile) for tile in tiles if tile in part) for part in (list(prefix), rest))


def all_boards(game):
    for is_open in product((False, True), repeat=game.tiles):
        yield {tile for tile, there in zip(game.start_tiles, is_open, strict=True) if there}


@pytest.mark.parametrize(("game", "prefix"), CUTS)
def test_shards_find_the_values_of_the_whole_box(game, prefix):
    utility, _ = page.solve_in_shards(game, prefix)
    values = solve_boards(game)
    assert utility.size == 2**game.tiles
    for tiles in all_boards(game):
        board = sum(2 ** (tile - 1) for tile in tiles)
        found = utility[shard_and_board(tiles, game, prefix)]
        assert found == pytest.approx(-values.value_of(board), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("game", "prefix"), CUTS)
def test_costs_are_what_one_counts_move_by_move(game, prefix):
    edges, needed = np.zeros(2 ** len(prefix), int), {}
    for tiles in all_boards(game):
        shard, _ = shard_and_board(tiles, game, prefix)
        for move in filter(None, game.moves):
            if tiles.issuperset(move):
                edges[shard] += 1
                after, board = shard_and_board(tiles.difference(move), game, prefix)
                if after != shard:
                    needed.setdefault((after, shard), set()).add(board)
    found, values = page.cost_of(game.tiles, game.dice, prefix, game.faces)
    assert found.tolist() == edges.tolist()
    pairs = [(shard - shut, shard) for shard in range(len(values)) for shut in page.sources(values, shard).tolist()]
    assert {pair: values[pair[1] - pair[0]] for pair in pairs} == {pair: len(boards) for pair, boards in needed.items()}
    assert page.total(values) == sum(map(len, needed.values()))
    utility, messages = page.solve_in_shards(game, prefix)
    sent = {pair: utility[pair[0], sorted(boards)].tolist() for pair, boards in needed.items()}
    assert {pair: message.tolist() for pair, message in messages.items()} == sent


def test_a_shard_sees_nothing_but_what_it_was_sent(monkeypatch):
    seen, solve_shard = [], page.solve_shard

    def watched(moves, probability, stopping, received):
        seen.extend(np.isfinite(values).sum() for values in received.values())
        return solve_shard(moves, probability, stopping, received)

    monkeypatch.setattr(page, "solve_shard", watched)
    _, messages = page.solve_in_shards(*CUTS[2])
    assert sorted(seen) == sorted(map(len, messages.values()))
    assert min(seen) < 2**8


def test_a_shard_that_is_not_sent_what_it_needs_has_no_value(monkeypatch):
    solve_shard = page.solve_shard

    def without_one(moves, probability, stopping, received):
        for values in received.values():
            values[-1] = np.nan
        return solve_shard(moves, probability, stopping, received)

    monkeypatch.setattr(page, "solve_shard", without_one)
    utility, _ = page.solve_in_shards(ShutTheBox(), (8, 9))
    assert not np.isnan(utility[0]).any()
    assert np.isnan(utility[1:, -1]).all()


@pytest.mark.parametrize("count", page.PREFIXES)
def test_what_the_page_says_of_thirty_tiles(count):
    edges, values = page.cost_of(30, 5, page.prefix_of("highest", 30, count))
    assert page.total(values > 0) == count * 2 ** (count - 1)
    assert page.total(values) == 4 * count * page.VALUES_PER_GIB
    assert page.longest_chains(values, np.ones_like(edges)).max() == count + 1
    _, values = page.cost_of(30, 5, page.prefix_of("lowest", 30, count))
    assert page.total(values > 0) == 3**count - 2**count - 27 * (count == 8)  # eight tiles may add up to more than 30
    _, values = page.cost_of(30, 4, page.prefix_of("highest", 30, count))
    assert (page.total(values) == 0) == (count <= 6)


def test_a_schedule_waits_for_what_is_sent_and_keeps_what_is_there():
    edges = np.array([2, 3]) * round(1 / page.SECONDS_PER_EDGE)
    values = np.array([0, round(4 / page.SECONDS_PER_VALUE)])  # two seconds, three seconds, and four to send
    assert page.speed_up(edges, values, 2, fixed=True) == pytest.approx(5 / (2 + 4 + 3))
    assert page.speed_up(edges, values, 2) == 1
    assert page.speed_up(edges, 0 * values, 2) == pytest.approx(5 / 3)
    assert page.speed_up(edges, 0 * values, 1) == 1


def test_a_schedule_begins_with_the_longest_chain():
    edges = np.array([1, 1, 1, 3]) * round(1 / page.SECONDS_PER_EDGE)
    assert page.speed_up(edges, np.zeros(4, int), 2) == pytest.approx(2)  # 6/4 if that of three seconds came last


@pytest.mark.parametrize("side", page.SIDES)
def test_no_schedule_beats_its_bounds(side):
    edges, values = page.cost_of(30, 5, page.prefix_of(side, 30, 6))
    bound = edges.sum() / page.longest_chains(values, edges).max()
    for machines, fixed in product((1, 2, 4, 64), (False, True)):
        assert page.speed_up(edges, values, machines, fixed) <= min(machines, bound) + 1e-9


@pytest.mark.slow
def test_the_tables_of_the_page_are_those_of_the_script():
    text = (DOCS / "thirty-tiles.md").read_text()
    assert page.cost_table(5) in text
    assert page.cost_table(4) in text
    for row in page.small_table().splitlines()[2:]:
        same_everywhere, error = row.rstrip("| ").rsplit("|", 1)
        assert same_everywhere in text
        assert float(error) < 1e-12


@pytest.mark.slow
def test_the_picture_is_written(tmp_path):
    page.draw(tmp_path / "page.png", 5)
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")
