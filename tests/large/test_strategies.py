"""Test that strategies play the same with and without tables."""

import numpy as np
import pytest

from stb_gym import ShutTheBox, evaluate, solve, strategies, strategy
from stb_gym.games import entry_of
from stb_gym.large import LargeEvaluation, large_strategies, large_strategy, solve_large
from stb_gym.solver import UniformRandom, policy_array
from stb_gym.solving import perfect_play
from tests import every

NINE = ShutTheBox()
TABLES_ONLY = ["most-ways", "approximation"]


@pytest.mark.parametrize(
    "game",
    every(3, [ShutTheBox(tiles=7, one_die="any-time"), NINE, ShutTheBox(tiles=7, first_move=2)], pytest.mark.slow),
    ids=str,
)
def test_strategies_play_as_with_tables(solved, game):
    tables = solved(game).tables
    assert [*large_strategies(game)] == [name for name in strategies(game) if name not in TABLES_ONLY]
    for name in large_strategies(game):
        by_boards, by_tables = policy_array(tables, large_strategy(game, name)), strategy(game, name)
        assert (by_boards == by_tables)[tables.decisions].all(), name
    found = solve_large(game).evaluate(large_strategy(game, "optimal"))
    assert (found.regret, found.mistakes()) == (0, [])


def test_the_costs_of_a_heuristic_may_be_unsigned(monkeypatch):
    game = ShutTheBox(tiles=6)
    monkeypatch.setitem(entry_of(game).heuristics, "own", lambda game, moves: np.uint8(moves.next_progress % 4))
    by_boards = solve_large(game).evaluate(large_strategy(game, "own"))
    assert by_boards.value == pytest.approx(evaluate(game, strategy(game, "own")).value)


@pytest.mark.parametrize("name", TABLES_ONLY)
def test_strategies_that_need_tables_are_refused(name):
    with pytest.raises(ValueError, match=name):
        large_strategy(NINE, name)


def test_boxes_too_large_for_tables_are_measured_by_boards(monkeypatch):
    monkeypatch.setattr("stb_gym.games.afterstates.LARGEST_TABLE", 1000)
    found = perfect_play(NINE, "shut").evaluate(strategy(NINE, "fewest-then-biggest"))
    assert isinstance(found, LargeEvaluation)
    assert found.value == found.shut_probability == pytest.approx(0.0699922778, abs=1e-10)
    assert strategy(NINE, "random") == UniformRandom()
    assert strategies(NINE) == large_strategies(NINE)
    for refused in (lambda: solve(NINE), lambda: evaluate(NINE, UniformRandom())):
        with pytest.raises(ValueError, match="solve_large"):
            refused()
