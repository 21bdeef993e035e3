"""Strategies without tables: the same play as with them."""

import pytest

from stb_gym import ShutTheBox, evaluate, solve, strategies, strategy
from stb_gym.games import entry_of
from stb_gym.large import BoardEvaluation, board_strategies, board_strategy, evaluate_boards, solve_boards
from stb_gym.solver import UniformRandom, policy_array

NINE = ShutTheBox()


@pytest.mark.parametrize(
    "game", [NINE, ShutTheBox(tiles=7, one_die="any-time"), ShutTheBox(tiles=7, first_move=2)], ids=str
)
def test_strategies_play_as_with_tables(solved, game):
    tables = solved(game).tables
    assert board_strategies(game) == [name for name in strategies(game) if name != "approximation"]
    for name in board_strategies(game):
        by_boards, by_tables = policy_array(tables, board_strategy(game, name)), strategy(game, name)
        assert (by_boards == by_tables)[tables.decisions].all(), name
    found = evaluate_boards(solve_boards(game), board_strategy(game, "optimal"))
    assert (found.regret, found.mistakes()) == (0, [])


def test_other_names_and_heuristics_that_look_at_the_roll_are_refused(monkeypatch):
    with pytest.raises(ValueError, match="approximation"):
        board_strategy(NINE, "approximation")
    monkeypatch.setitem(entry_of(NINE).heuristics, "by-roll", lambda game, moves: moves.roll[:, 0])
    with pytest.raises(ValueError, match="by-roll"):
        evaluate_boards(solve_boards(NINE), board_strategy(NINE, "by-roll"))


def test_boxes_too_large_for_tables_are_measured_by_boards(monkeypatch):
    monkeypatch.setattr("stb_gym.games.game.LARGEST_TABLE", 1000)
    found = evaluate(NINE, strategy(NINE, "fewest-then-biggest"), "shut")
    assert isinstance(found, BoardEvaluation)
    assert found.value == found.shut_probability == pytest.approx(0.0699922778, abs=1e-10)
    assert strategy(NINE, "random") == UniformRandom()
    assert list(strategies(NINE)) == board_strategies(NINE)
    with pytest.raises(ValueError, match="solve_boards"):
        solve(NINE)
