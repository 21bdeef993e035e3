"""Values by board: the same as those of stored edges, however boards are split, and files that tell their damage."""

import dataclasses
import json
import zlib

import numpy as np
import pytest

from stb_gym import ShutTheBox, Threes, board_values, solve, streaming
from stb_gym.exact import load_board_values, open_board_values
from stb_gym.games import rolls
from stb_gym.exact import solve_boards

NINE = ShutTheBox()
GAMES = [
    (ShutTheBox(tiles=4), 2, "score"),
    (ShutTheBox(tiles=5, dice=3, faces=8), 1, "shut"),
    (ShutTheBox(tiles=8, dice=1), 3, "at-most:4"),
    (NINE, 1, "score"),
    (NINE, 4, "shut"),
    (NINE, 9, "at-most:7"),
    (ShutTheBox(tiles=9, score="digits"), 5, "score"),
    (ShutTheBox(tiles=9, match="two-at-most"), 4, "score"),
    (ShutTheBox(tiles=9, dice=3, match="two-at-most", ending_roll=9), 6, "shut"),
    (ShutTheBox(tiles=10, open="odd", ending_roll=4), 2, "score"),
    (ShutTheBox(tiles=10, dice=4, faces=5, score="count"), 6, "at-most:2"),
    (ShutTheBox(tiles=12, open="4-up", faces=8), 5, "score"),
    (ShutTheBox(tiles=13, dice=3, faces=7), 6, "score"),
]


@pytest.fixture
def nine_file(tmp_path, monkeypatch):
    """Values of nine tiles in 16 blocks of 32 boards."""
    monkeypatch.setattr(board_values, "BLOCK", 256)
    solve_boards(NINE).save(tmp_path / "nine.values")
    return tmp_path / "nine.values"


def split(monkeypatch, column_tiles):
    monkeypatch.setattr(streaming, "COLUMN_TILES", column_tiles)


def board_of(*tiles):
    return sum(1 << tile - 1 for tile in tiles)


@pytest.mark.parametrize(("game", "column_tiles", "objective"), GAMES)
def test_the_value_of_every_board_is_that_of_stored_edges(monkeypatch, game, column_tiles, objective):
    split(monkeypatch, column_tiles)
    solution, values = solve(game, objective), solve_boards(game, objective)
    tables = solution.tables
    boards = np.flatnonzero((tables.dice > 0) | (tables.held == 0))
    assert len(boards) == values.utility.size == 2 ** len(game.start_tiles)
    assert values.utility.shape[1] == 2 ** min(column_tiles, len(game.start_tiles))
    found = [values.value_of(board) for board in tables.held[boards].tolist()]
    np.testing.assert_allclose(found, solution.state_value[boards], rtol=1e-12, atol=0)
    assert values.value == pytest.approx(solution.value, rel=1e-12)


def test_nine_tiles():
    assert solve_boards(NINE).value == pytest.approx(11.15750844420262, abs=1e-12)


@pytest.mark.parametrize(("game", "column_tiles", "objective"), GAMES[:-3])
def test_moves_are_ranked_as_by_stored_edges(monkeypatch, game, column_tiles, objective):
    split(monkeypatch, column_tiles)
    solution, values = solve(game, objective), solve_boards(game, objective)
    tables = solution.tables
    sums = rolls(game, game.dice).shown[:, 0].tolist()
    for state in np.flatnonzero(tables.dice > 0).tolist():
        board = int(tables.held[state])
        for node, roll in zip(range(*tables.node_start[state : state + 2].tolist()), sums, strict=True):
            edges = np.arange(*tables.edge_start[node : node + 2])
            ranked = values.moves(board, roll)
            after = solution.state_value[tables.edge_next[edges]]
            expected = dict(zip(tables.edge_action[edges].tolist(), after, strict=True))
            assert dict(ranked) == pytest.approx(expected, rel=1e-12)
            optimal = tables.edge_action[edges[solution.optimal[edges]]].tolist()
            assert [action for action, _ in ranked[: len(optimal)]] == optimal
            assert values.node_value(board, roll) == pytest.approx(solution.node_value[node], rel=1e-12)


def test_worse_moves_follow_by_value_and_ties_among_them_by_action():
    game = ShutTheBox(tiles=7, score="count")
    solved = solve_boards(game, "at-most:6")
    utility = solved.utility.copy()
    actions = [action for action, tiles in enumerate(game.moves) if sum(tiles) == 7]  # 7, 1+6, 2+5, 3+4, 1+2+4
    worth = dict(zip(actions, [0.5, 0.25 * (1 + 1e-13), 0.75, 0.25, 0.25 * (1 - 1e-13)], strict=True))
    start = game.start()[0]
    for action, value in worth.items():
        places = board_values.tile_places(game.start_tiles, utility.shape[1])
        utility.flat[sum(places[tile] for tile in game.start_tiles if tile not in game.moves[action])] = value
    ranked = dataclasses.replace(solved, utility=utility).moves(start, 7)
    a, b, c, d, e = actions
    assert [action for action, _ in ranked] == [c, a, b, d, e]
    assert [value for _, value in ranked] == [worth[action] for action in (c, a, b, d, e)]


def test_the_end_of_a_turn():
    values = solve_boards(NINE)
    assert values.moves(board_of(8, 9), 5) == []
    assert values.node_value(board_of(8, 9), 5) == 17
    assert values.value_of(0) == 0
    assert (
        solve_boards(ShutTheBox(tiles=4, dice=4), "shut").value_of(0) == 1
    )  # whose probabilities sum to less in floats


@pytest.mark.parametrize(("board", "roll"), [(2**9, 5), (-1, 5), (3, 1), (3, 13), (3, 4.0)])
def test_what_is_no_board_or_no_roll_is_refused(board, roll):
    values = solve_boards(NINE)
    with pytest.raises(ValueError, match=r"board|roll"):
        values.moves(board, roll)
    with pytest.raises(ValueError, match=r"board|roll"):
        values.node_value(board, roll)


def test_a_tile_that_is_shut_at_the_start_is_refused():
    values = solve_boards(ShutTheBox(open="odd"))
    with pytest.raises(ValueError, match=r"out of \(1, 3, 5, 7, 9\)"):
        values.value_of(board_of(1, 2))


@pytest.mark.parametrize(
    ("rules", "words"),
    [({"one_die": "low-sum"}, "one_die"), ({"match": "one-tile"}, "one-tile"), ({"first_move": 2}, "first_move")],
)
def test_rules_that_boards_alone_do_not_tell_are_refused(rules, words):
    with pytest.raises(ValueError, match=f"^.*{words}.*$"):
        solve_boards(ShutTheBox(**rules))


def test_an_unknown_objective_is_refused():
    with pytest.raises(ValueError, match="unknown objective 'win'"):
        solve_boards(NINE, "win")


def test_progress_is_told_now_and_then_and_at_the_end(monkeypatch):
    split(monkeypatch, 1)
    calls = []
    solve_boards(NINE, progress=lambda done, rows: calls.append((done, rows)))
    assert calls == [(done, 256) for done in range(4, 257, 4)]


@pytest.mark.parametrize(("game", "objective"), [(NINE, "at-most:3"), (ShutTheBox(tiles=6, open=(2, 5, 6)), "score")])
def test_a_file_holds_the_same_values(tmp_path, game, objective):
    values = solve_boards(game, objective)
    values.save(tmp_path / "new" / "x.values")
    loaded = load_board_values(tmp_path / "new" / "x.values", game, objective)
    assert (loaded.game, loaded.objective) == (game, values.objective)
    assert loaded.utility.tolist() == values.utility.tolist()
    assert not loaded.utility.flags.writeable
    assert loaded.value == values.value
    assert loaded.moves(game.start()[0], 7) == values.moves(game.start()[0], 7)
    assert open_board_values(tmp_path / "new" / "x.values").game == game
    loaded.save(tmp_path / "copy.values")
    assert (tmp_path / "copy.values").read_bytes() == (tmp_path / "new" / "x.values").read_bytes()


def test_the_header_is_json_and_the_data_little_endian_floats(nine_file):
    content = nine_file.read_bytes()
    first, rest = content.split(b"\n", 1)
    header = json.loads(rest[: int(first.split()[-2])])
    assert header["game"] == "shut-the-box"
    assert header["rules"] == json.loads(json.dumps(dataclasses.asdict(NINE)))
    assert (header["objective"], header["shape"], header["block"]) == ("score", [1, 512], 256)
    data = content[-512 * 8 :]
    assert header["checksums"] == [zlib.crc32(data[i : i + 256]) for i in range(0, len(data), 256)]
    assert np.frombuffer(data, "<f8").tolist() == solve_boards(NINE).utility[0].tolist()


def test_a_lookup_checks_only_the_blocks_it_needs_and_those_once(nine_file, monkeypatch):
    values = load_board_values(nine_file, NINE)
    checked = []
    crc32 = zlib.crc32
    monkeypatch.setattr(zlib, "crc32", lambda data: checked.append(len(data)) or crc32(data))
    best = values.moves(NINE.start()[0], 2)
    assert checked == [256]
    assert values.moves(NINE.start()[0], 2) == best
    assert checked == [256]


def damage(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 4
    path.write_bytes(content)


@pytest.mark.parametrize("place", [0, 20, 25, 33, 40, 41, 45, 100, 1000, 4095])
def test_a_damaged_header_is_refused(nine_file, place):
    damage(nine_file, place)
    with pytest.raises(ValueError, match=r"^.*nine.values is not a file of board values.*$"):
        load_board_values(nine_file, NINE)


@pytest.mark.parametrize("size", [0, 10, 40, 4000])
def test_a_file_cut_short_in_its_header_is_refused(nine_file, size):
    nine_file.write_bytes(nine_file.read_bytes()[:size])
    with pytest.raises(ValueError, match=r"^.*nine.values is not a file of board values.*$"):
        load_board_values(nine_file, NINE)


@pytest.mark.parametrize("change", [lambda content: content[:-1], lambda content: content[:4096], lambda c: c + b"x"])
def test_a_file_with_too_few_or_too_many_data_is_refused(nine_file, change):
    nine_file.write_bytes(change(nine_file.read_bytes()))
    with pytest.raises(ValueError, match=r"^.*nine.values is damaged: it has [\d,]+ bytes, not 8,192$"):
        load_board_values(nine_file, NINE)


def test_no_file_is_refused(tmp_path):
    with pytest.raises(ValueError, match="there is no file"):
        load_board_values(tmp_path / "none.values", NINE)


def test_damaged_data_are_refused_where_they_are_needed(nine_file):
    whole = solve_boards(NINE)
    damage(nine_file, 4096 + 3)  # in the first block: boards of 5 to 9 with 1 to 4 shut
    values = load_board_values(nine_file, NINE)
    assert values.value == whole.value
    for _ in range(2):
        with pytest.raises(ValueError, match=r"^.*nine.values is damaged: block 0 of 16 .*$"):
            values.value_of(board_of(9))
    with pytest.raises(ValueError, match="is damaged"):
        values.moves(board_of(2, 9), 2)
    assert values.moves(board_of(2, 9), 9) == whole.moves(board_of(2, 9), 9)


def test_damaged_values_are_not_saved(nine_file, tmp_path):
    damage(nine_file, 4096 + 3)
    (tmp_path / "good.values").write_text("as it was")
    with pytest.raises(ValueError, match="is damaged"):
        load_board_values(nine_file, NINE).save(tmp_path / "good.values")
    assert (tmp_path / "good.values").read_text() == "as it was"


@pytest.mark.parametrize(
    ("rules", "objective", "words"),
    [
        ({"tiles": 10}, "score", "tiles 9, not 10"),
        ({"match": "two-at-most", "faces": 8}, "score", "faces 6, not 8; of match 'sum', not 'two-at-most'"),
        ({}, "shut", "objective 'score', not 'shut'"),
    ],
)
def test_values_of_another_game_are_refused_by_what_differs(nine_file, rules, objective, words):
    with pytest.raises(ValueError, match=f"^.*nine.values holds other values: of {words}$"):
        load_board_values(nine_file, ShutTheBox(**rules), objective)


def test_a_file_without_rules_that_came_later_still_fits(tmp_path, monkeypatch):
    monkeypatch.setattr(board_values, "asdict", lambda game: {"tiles": game.tiles, "dice": game.dice})
    solve_boards(ShutTheBox(tiles=5)).save(tmp_path / "old.values")
    monkeypatch.undo()
    assert load_board_values(tmp_path / "old.values", ShutTheBox(tiles=5)).game == ShutTheBox(tiles=5)
    with pytest.raises(ValueError, match="of tiles 5, not 6"):
        load_board_values(tmp_path / "old.values", ShutTheBox(tiles=6))


def test_a_file_of_rules_that_are_unknown_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(board_values, "asdict", lambda game: {"tiles": 5, "magic": True})
    solve_boards(ShutTheBox(tiles=5)).save(tmp_path / "new.values")
    monkeypatch.undo()
    with pytest.raises(ValueError, match=r"new.values is of rules that are unknown here: unknown rule 'magic'"):
        load_board_values(tmp_path / "new.values", ShutTheBox(tiles=5))


def test_a_file_in_blocks_of_another_size_is_refused(nine_file, monkeypatch):
    monkeypatch.setattr(board_values, "BLOCK", 512)
    with pytest.raises(ValueError, match="in blocks of 256"):
        load_board_values(nine_file, NINE)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda header: header.pop("shape"), "its header has no shape"),
        (lambda header: header["checksums"].pop(), "it has 0 checksums, not one for every block"),
    ],
)
def test_a_header_that_lacks_something_is_refused(change, message, tmp_path):
    path = tmp_path / "values"
    solve_boards(NINE).save(path)
    data = path.read_bytes()
    first, rest = data.split(b"\n", 1)
    header = json.loads(rest[: int(first[-17:-9])])
    change(header)
    path.write_bytes(board_values._head(json.dumps(header).encode()) + data[-8 * 512 :])
    with pytest.raises(ValueError, match=message):
        load_board_values(path, NINE)


def test_only_boxes_are_solved_by_boards():
    with pytest.raises(ValueError, match=r"only shut-the-box is solved by boards, not Threes\(\)"):
        solve_boards(Threes())
