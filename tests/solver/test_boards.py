"""Values by board: the same as those of stored edges, however boards are split."""

import numpy as np
import pytest

from stb_gym import Objective, ShutTheBox, Threes, solve, solve_boards
from stb_gym.large import rows as board_rows
from stb_gym.solver import optimal_edges

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
    (ShutTheBox(tiles=9, match="one-tile", score="digits"), 3, "score"),
    (ShutTheBox(tiles=9, dice=3, faces=4, match="faces-or-sum", ending_roll=9), 5, "shut"),
    (ShutTheBox(tiles=10, open="odd", ending_roll=4), 2, "score"),
    (ShutTheBox(tiles=10, dice=4, faces=5, score="count"), 6, "at-most:2"),
    (ShutTheBox(tiles=12, open="4-up", faces=8), 5, "score"),
    (ShutTheBox(tiles=11, dice=3, faces=7), 6, "score"),
]
BY_STATE = [
    (ShutTheBox(tiles=8, one_die="low-sum"), 3, "score"),
    (ShutTheBox(one_die="low-sum", one_die_forced=True), 4, "shut"),
    (ShutTheBox(one_die="high-shut", match="two-at-most"), 9, "at-most:3"),
    (ShutTheBox(one_die="any-time"), 5, "score"),
    (ShutTheBox(tiles=8, one_die="any-time", match="one-tile"), 4, "score"),
    (ShutTheBox(tiles=8, dice=3, one_die="high-shut", match="faces-or-sum", first_move=3), 5, "score"),
    (ShutTheBox(tiles=10, dice=3, faces=4, one_die="any-time", one_die_forced=True, ending_roll=5), 2, "score"),
    (ShutTheBox(first_move=2), 4, "score"),
    (ShutTheBox(tiles=11, open="odd", dice=3, one_die="any-time", first_move=9), 2, "shut"),
]


def split(monkeypatch, column_tiles):
    monkeypatch.setattr(board_rows, "COLUMN_TILES", column_tiles)


def board_of(*tiles):
    return sum(1 << tile - 1 for tile in tiles)


@pytest.mark.parametrize(("game", "column_tiles", "objective"), GAMES)
def test_the_value_of_every_board_is_that_of_stored_edges(monkeypatch, game, column_tiles, objective):
    split(monkeypatch, column_tiles)
    solution, values = solve(game, objective), solve_boards(game, objective)
    tables = solution.tables
    states = np.flatnonzero((tables.dice > 0) | (tables.held == 0))
    assert len(states) == values.utility.size == 2 ** len(game.start_tiles)
    assert values.utility.shape[1] == 2 ** min(column_tiles, len(game.start_tiles))
    found = [values.value_of(board) for board in tables.held[states].tolist()]
    np.testing.assert_allclose(found, solution.state_value[states], rtol=1e-12, atol=0)
    assert values.value == pytest.approx(solution.value, rel=1e-12)


@pytest.mark.parametrize(("game", "column_tiles", "objective"), BY_STATE)
def test_the_worth_of_every_state_is_that_of_stored_edges(monkeypatch, game, column_tiles, objective):
    """Where the number of dice is chosen, or the first move is not free."""
    split(monkeypatch, column_tiles)
    solution, values = solve(game, objective), solve_boards(game, objective)
    tables = solution.tables
    assert values.utility.size == len(game.throws) * 2 ** len(game.start_tiles)
    np.testing.assert_allclose(values.worths(tables.held, tables.dice), solution.state_utility, rtol=1e-12, atol=0)
    assert values.value == pytest.approx(solution.value, rel=1e-12)


def test_nine_tiles():
    assert solve_boards(NINE).value == pytest.approx(11.15750844420262, abs=1e-12)


@pytest.mark.parametrize(("game", "column_tiles", "objective"), [*GAMES[1:-3:2], *BY_STATE])
def test_every_move_is_worth_what_it_is_by_stored_edges(monkeypatch, game, column_tiles, objective):
    """So who asks for the worth of the states that the legal moves lead to ranks them alike."""
    split(monkeypatch, column_tiles)
    solution, values = solve(game, objective), solve_boards(game, objective)
    tables = solution.tables
    places = list(zip(tables.held.tolist(), tables.dice.tolist(), strict=True))
    worth = np.array([values.worth(*place) for place in places])
    np.testing.assert_allclose(worth, [solution.worth(*place) for place in places], rtol=1e-12, atol=0)
    ends = np.array([values.worth(held, 0) for held, _ in places])
    nodes = ends[tables.node_state]
    nodes[tables.decisions] = tables.reduce(np.maximum, tables.after_edges(worth))
    np.testing.assert_allclose(nodes, solution.node_utility, rtol=1e-12, atol=0)
    assert (optimal_edges(tables, worth, nodes) == solution.optimal).all()


@pytest.mark.parametrize(("game", "objective"), [(NINE, "score"), (ShutTheBox(tiles=14, open="even"), "at-most:9")])
def test_the_worths_of_many_boards_are_those_of_each(game, objective):
    tables, random = solve(game, objective).tables, np.random.default_rng(1)
    held, dice = tables.held, tables.dice * random.integers(0, 2, tables.states)
    for known in (solve_boards(game, objective), solve(game, objective)):
        each = [known.worth(*state) for state in zip(held.tolist(), dice.tolist(), strict=True)]
        assert known.worths(held, dice).tolist() == each
        assert known.worths(held[:0], game.dice).shape == (0,)
    assert known.worths(held, 0).tolist() == known.objective.utilities(tables.final_score).tolist()


def test_worths_where_the_number_of_dice_is_chosen():
    best = solve(ShutTheBox(one_die="any-time"), "shut")
    assert best.worths(best.tables.held, best.tables.dice).tolist() == best.state_utility.tolist()
    with pytest.raises(ValueError, match=r"has no state that holds 511 with 1 dice$"):
        best.worths(np.array([3, 511]), np.array([1, 1]))


def test_the_end_of_a_turn():
    values = solve_boards(NINE)
    assert (values.worth(board_of(8, 9), 0), values.value_of(0), values.worth(0, 0)) == (-17, 0, 0)
    assert str(values.value_of(0)) == "0.0"  # and not -0.0
    by_four = solve_boards(ShutTheBox(tiles=4, dice=4), "shut")
    assert by_four.value_of(0) == 1  # whose probabilities sum to less in floats


@pytest.mark.parametrize("board", [2**9, -1, 2**9 + 1])
def test_what_is_no_board_is_refused(board):
    values = solve_boards(NINE)
    calls = (
        values.value_of,
        lambda held: values.worth(held, 2),
        lambda held: values.worth(held, 0),
        lambda held: values.worths(np.array([0, held]), 2),
    )
    for call in calls:
        with pytest.raises(ValueError, match=rf"open tiles out of \[1, 2, 3, 4, 5, 6, 7, 8, 9\], not mask {board}$"):
            call(board)


def test_a_tile_that_is_shut_at_the_start_is_refused():
    values = solve_boards(ShutTheBox(open="odd"))
    with pytest.raises(ValueError, match=r"out of \[1, 3, 5, 7, 9\], not mask 3$"):
        values.value_of(board_of(1, 2))


def test_a_game_without_boards_is_refused():
    with pytest.raises(
        ValueError, match=r"^threes has no boards, by which it could be solved or stepped without arrays$"
    ):
        solve_boards(Threes())


def test_an_unknown_objective_is_refused():
    with pytest.raises(ValueError, match="unknown objective 'win'"):
        solve_boards(NINE, "win")


@pytest.mark.parametrize("goal", [abs, lambda score: (score - 6.5) ** 2, Objective("score", abs, "points", -1)])
@pytest.mark.parametrize(("game", "column_tiles"), [(ShutTheBox(tiles=6), 2), (ShutTheBox(one_die="any-time"), 4)])
def test_an_objective_of_ones_own_is_solved_for(monkeypatch, tmp_path, game, column_tiles, goal):
    """To stop early may be best for it, which is no move; and a file would not tell what it was."""
    split(monkeypatch, column_tiles)
    values, solution = solve_boards(game, goal), solve(game, goal)
    states = solution.tables.held, solution.tables.dice
    np.testing.assert_allclose(values.worths(*states), solution.worths(*states), rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match=r"^values are saved for score, shut and at-most:T, not for "):
        values.save(tmp_path / "values.npy")
    assert not list(tmp_path.iterdir())


def test_progress_is_told_now_and_then_and_at_the_end(monkeypatch):
    split(monkeypatch, 1)
    calls = []
    solve_boards(NINE, progress=lambda done, rows: calls.append((done, rows)))
    assert calls == [(done, 256) for done in range(4, 257, 4)]


@pytest.mark.parametrize("one_die", ["never", "any-time"])
def test_the_highest_tiles_of_the_largest_box_are_tiles_as_any(one_die):
    game = ShutTheBox(tiles=28, dice=5, open=(1, 2, 5, 14, 15, 25, 26, 27, 28), one_die=one_die)
    solution, boards = solve(game), solve_boards(game)
    assert boards.value == pytest.approx(solution.value)
    held, dice = solution.tables.held, solution.tables.dice
    thrown = dice > 0
    worths = boards.worths(held[thrown], dice[thrown])
    assert -worths == pytest.approx(solution.state_value[thrown])
