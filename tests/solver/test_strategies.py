"""Strategies by name; `test_evaluation` compares their scores with those of the reference."""

import numpy as np
import pytest

from stb_gym import ShutTheBox, Threes, solve, strategy
from stb_gym.games import entry_of
from stb_gym.solver import (
    approximation,
    chance_to_beat,
    compile_game,
    table_strategies,
)
from tests.twins import MostThrees

THREES, MOST = Threes(), MostThrees(dice=2)


@pytest.mark.parametrize("game", [ShutTheBox(tiles=5), Threes(dice=3), MOST], ids=str)
def test_chances_to_beat_each_score(game):
    tables = compile_game(game)
    for place, score in enumerate(tables.scores):
        better = solve(game, lambda points, score=score: game.sign * points > game.sign * score)
        assert chance_to_beat(tables)[:, place] == pytest.approx(better.afterstate_utilities)
    alone = approximation(tables, after=1)
    assert (strategy(game, "approximation") == alone).all()


def test_strategies_in_words(snapshot):
    assert [*table_strategies(MOST)] == [
        name for name in table_strategies(THREES) if name not in entry_of(THREES).heuristics
    ]
    for lines in (
        [f"{name}: {line}" for game in (ShutTheBox(), THREES) for name, line in table_strategies(game).items()],
        list(table_strategies(MOST)),
    ):
        assert lines == snapshot


def test_unknown_strategies_are_refused():
    with pytest.raises(ValueError, match="biggest-first"):
        strategy(THREES, "biggest-first")


@pytest.mark.parametrize("wrong", [lambda game, moves: moves.action[:-1], lambda game, moves: moves.action * np.nan])
def test_a_heuristic_must_return_a_number_for_every_move(monkeypatch, wrong):
    monkeypatch.setitem(entry_of(THREES).heuristics, "wrong", wrong)
    with pytest.raises(ValueError, match="heuristic"):
        strategy(THREES, "wrong")


def test_the_numbers_that_a_heuristic_sees_do_not_overflow(monkeypatch):
    game = Threes(dice=2)
    monkeypatch.setitem(entry_of(THREES).heuristics, "own", lambda game, moves: (5 - moves.roll[:, 0]) * moves.action)
    assert strategy(game, "own")[compile_game(game).find_state(0, 2, (6, 6))] == 1


def test_a_heuristic_sees_moves_of_the_game(monkeypatch):
    def highest(game, moves):
        for progress, roll, action, *after in zip(
            moves.progress.tolist(), moves.roll.tolist(), *moves[2:], strict=True
        ):
            assert THREES.moves((progress, len(roll)), tuple(roll))[action] == tuple(after)
        return -moves.action

    monkeypatch.setitem(entry_of(THREES).heuristics, "highest", highest)
    assert (strategy(THREES, "highest") == compile_game(THREES).choices - 1).all()
