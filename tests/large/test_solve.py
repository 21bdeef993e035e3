"""Values of boards: those of tables at every state, however boards are split into rows and columns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stb_gym import ShutTheBox, Threes, evaluate, solve
from stb_gym.games.shut_the_box import ENVIRONMENTS, REWARD_THRESHOLDS
from stb_gym.large import random_value, solve_boards
from stb_gym.large import solve as board_solver
from stb_gym.large.solve import count_ways
from stb_gym.solver import UniformRandom, compile_game, objective_of, ways_to_shut
from tests.twins import GOALS, boxes

NINE = ShutTheBox()
LARGER = [
    (ShutTheBox(tiles=11, dice=3, faces=7), "score"),
    (ShutTheBox(tiles=28, dice=5, open=(1, 2, 5, 14, 15, 25, 26, 27, 28), one_die="any-time"), "shut"),
]


def split(column_tiles, solver, *given, **how):
    """Return what a solver returns if boards have so many column tiles."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(board_solver, "COLUMN_TILES", column_tiles)
        return solver(*given, **how)


def check_values(game, column_tiles, goal, worst=False):
    found, best = split(column_tiles, solve_boards, game, goal, worst=worst), solve(game, goal, worst=worst)
    tables = best.tables
    assert found.utility.size == len(game.throws) * 2 ** len(game.start_tiles)
    utilities = found.utilities_at(tables.held, tables.dice)
    places = 1e-12 * (1 + abs(best.state_utility).max())
    np.testing.assert_allclose(utilities, best.state_utility, rtol=1e-12, atol=places)
    assert found.value == pytest.approx(best.value, rel=1e-12, abs=places)
    after = tables.after_edges(utilities)
    at_best = np.repeat(tables.reduce(np.maximum, after), tables.choices[tables.decisions])
    assert (found.is_as_good(after, at_best) == best.optimal).all()


@given(boxes(), st.integers(1, 6), st.sampled_from([*GOALS, "at-most:3"]), st.booleans())
def test_values_and_optimal_moves_are_those_of_tables(game, column_tiles, goal, worst):
    check_values(game, column_tiles, goal, worst)


@pytest.mark.parametrize(("game", "goal"), LARGER)
def test_values_of_larger_boxes_are_those_of_tables(game, goal):
    check_values(game, 5, goal)


@given(boxes(), st.integers(1, 6))
def test_ways_to_shut_and_random_play_are_those_of_tables(game, column_tiles):
    tables = compile_game(game)
    known = tables.held != game.start()[0]
    ways = split(column_tiles, count_ways, game).utilities_at(tables.held[known], tables.dice[known])
    assert ways.tolist() == ways_to_shut(tables).sum(axis=1)[known].tolist()
    for goal in ("score", "shut"):
        found = split(column_tiles, random_value.__wrapped__, game, objective_of(game, goal))
        assert found == pytest.approx(evaluate(game, UniformRandom(), goal).value, rel=1e-12)


def test_values_of_single_boards():
    values = solve_boards(NINE)
    for kind in (int, np.uint8, np.uint64):
        assert values.value_of(kind(0b100010)) == pytest.approx(5.969136, abs=1e-6)
    assert values.utilities_at(np.array([0b110000000, 0]), 0).tolist() == [-17, 0]
    held = np.arange(200)
    assert (values.utilities_at(held.astype(np.uint8), 2) == values.utilities_at(held, 2)).all()
    assert f"{values.value_of(0)} {values}" == "0.0 <ShutTheBox(): score 11.1575 points>"  # and not -0.0
    certain = solve_boards(ShutTheBox(tiles=4, dice=4), "shut")
    assert certain.value_of(0) == 1  # though the probabilities of rolls sum to less in floats


@pytest.mark.parametrize(("game", "board"), [(NINE, 2**9), (NINE, -1), (NINE, 2**70), (ShutTheBox(open="odd"), 3)])
def test_boards_with_other_tiles_are_refused(game, board):
    values = solve_boards(game)
    for call in (values.value_of, lambda held: values.utilities_at([0, held], 0)):
        with pytest.raises(ValueError, match=f"mask {board}"):
            call(board)


def test_other_games_and_objectives_are_refused():
    with pytest.raises(ValueError, match="threes"):
        solve_boards(Threes())
    with pytest.raises(ValueError, match="objective"):
        solve_boards(NINE, "win")


def test_progress_is_reported_now_and_then_and_at_the_end():
    calls = []
    split(1, solve_boards, NINE, progress=lambda done, rows: calls.append((done, rows)))
    assert calls == [(done, 256) for done in range(4, 257, 4)]


@pytest.mark.parametrize(
    "name", ["ShutTheBox12-v0", "ShutTheBox16-v0", pytest.param("ShutTheBox300-v0", marks=pytest.mark.slow)]
)
def test_values_of_boxes_with_ids(name):
    value = solve_boards(ShutTheBox(**ENVIRONMENTS[name])).value
    assert -value == pytest.approx(REWARD_THRESHOLDS[name], rel=1e-13)
