"""Test that boards and tables give the same values, for any split of boards into rows and columns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stb_gym import ShutTheBox, Threes, solve
from stb_gym.large import box_of, solve_large
from stb_gym.large import grid as board_grid
from tests.twins import GOALS, boxes

NINE = ShutTheBox()
LARGER = [
    (ShutTheBox(tiles=8, dice=3, faces=7), "score"),
    (ShutTheBox(tiles=28, dice=5, open=(1, 2, 5, 14, 15, 25, 26, 27, 28), one_die="any-time"), "shut"),
]


def split(column_tiles, solver, *given, **how):
    """Return what a solver returns if boards have so many column tiles."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(board_grid, "COLUMN_TILES", column_tiles)
        return solver(*given, **how)


def check_values(game, column_tiles, goal, worst=False):
    found, best = split(column_tiles, solve_large, game, goal, worst=worst), solve(game, goal, worst=worst)
    tables = best.tables
    assert found.utility.shape == (1 if len(game.throws) == 1 else 3, 2 ** len(game.start_tiles))
    utilities = found.utilities_at(tables.progress, tables.dice)
    places = 1e-12 * (1 + abs(best.afterstate_utilities).max())
    np.testing.assert_allclose(utilities, best.afterstate_utilities, rtol=1e-12, atol=places)
    assert found.value == pytest.approx(best.value, rel=1e-12, abs=places)
    after = tables.after_pairs(utilities)
    at_best = np.repeat(tables.reduce(np.maximum, after), tables.choices[tables.decisions])
    assert (found.is_as_good(after, at_best) == best.optimal).all()


@given(boxes(), st.integers(1, 6), st.sampled_from([*GOALS, "at-most:3"]), st.booleans())
def test_values_and_optimal_moves_are_those_of_tables(game, column_tiles, goal, worst):
    check_values(game, column_tiles, goal, worst)


@pytest.mark.slow
@pytest.mark.parametrize(("game", "goal"), LARGER)
def test_values_of_larger_boxes_are_those_of_tables(game, goal):
    check_values(game, 5, goal)


def test_values_of_single_boards():
    values = solve_large(NINE)
    for kind in (np.uint8, np.uint64):
        assert values.utilities_at(np.array([0b100010], kind), 2) == pytest.approx([-5.969136], abs=1e-6)
    assert values.utilities_at(np.array([0b110000000, 0]), 0).tolist() == [-17, 0]
    progress = np.arange(200)
    assert (values.utilities_at(progress.astype(np.uint8), 2) == values.utilities_at(progress, 2)).all()
    assert repr(values) == "<ShutTheBox(): score 11.1575 points>"
    certain = solve_large(ShutTheBox(tiles=4, dice=4), "shut")
    assert certain.utilities_at([0], 4) == 1  # though the probabilities of rolls sum to less in floats


@pytest.mark.parametrize(("game", "board"), [(NINE, 2**9), (NINE, -1), (NINE, 2**40), (ShutTheBox(open="odd"), 3)])
def test_boards_with_other_tiles_are_refused(game, board):
    with pytest.raises(ValueError, match=f"mask {board}"):
        solve_large(game).utilities_at([0, board], 0)


def test_other_games_and_objectives_are_refused():
    with pytest.raises(ValueError, match="threes"):
        solve_large(Threes())
    with pytest.raises(ValueError, match="objective"):
        solve_large(NINE, "win")


def test_scores_of_many_tiles():
    game = ShutTheBox(tiles=20)
    progress = np.random.default_rng(1).integers(0, 2**20, (5, 7))
    expected = [[game.final_score(board) for board in row] for row in progress.tolist()]
    assert box_of(game).final_scores(progress).tolist() == expected
