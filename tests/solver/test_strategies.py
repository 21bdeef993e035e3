"""Strategies by name; `test_evaluation` compares their scores with those of the reference."""

import numpy as np
import pytest

from stb_gym import ShutTheBox, Threes, solve, strategy
from stb_gym.games import entry_of, rolls, walk
from stb_gym.solver import (
    COMMON,
    ROUND_STRATEGIES,
    Standing,
    approximation,
    chance_to_beat,
    compile_game,
    optimal_edges,
    optimise,
    table_strategies,
    ways_to_shut,
)
from tests import reference
from tests.twins import MostThrees, throwing_states, twin

NINE, THREES = ShutTheBox(), Threes()


@pytest.mark.parametrize(("lead", "after", "keep"), [(8, 0, 5), (8, 10, 2), (2, 0, 2)])
def test_the_approximation_keeps_what_its_account_keeps(lead, after, keep):
    tables = compile_game(THREES)
    policy = approximation(tables, Standing(lead, 1, after))
    assert THREES.actions[policy[tables.find_node(tables.start, (3, 3, 1, 2, 4))]] == keep


def test_chances_to_win_by_the_approximation():
    tables = compile_game(THREES)
    unbeaten = 1 - chance_to_beat(tables)[tables.start]
    assert unbeaten[tables.place_of(10)] == pytest.approx(0.1236, abs=5e-5)
    assert unbeaten[tables.place_of(4)] ** 4 == pytest.approx(0.2886, abs=5e-5)
    utility = np.where(tables.scores <= 1, unbeaten**4, 0)[tables.score_index]
    assert optimise(tables, utility)[0][tables.start] == pytest.approx(0.0685, abs=5e-5)


@pytest.mark.parametrize("game", [ShutTheBox(tiles=5), Threes(dice=3), MostThrees(dice=2)], ids=str)
def test_chances_to_beat_each_score(game):
    tables = compile_game(game)
    for place, score in enumerate(tables.scores):
        better = solve(game, lambda points, score=score: game.sign * points > game.sign * score)
        assert chance_to_beat(tables)[:, place] == pytest.approx(better.state_utility)


def test_the_approximation_alone_is_that_of_the_first_of_two():
    tables = compile_game(ShutTheBox(tiles=6))
    utility = (1 - chance_to_beat(tables)[tables.start])[tables.score_index]
    expected = tables.lowest_actions(optimal_edges(tables, *optimise(tables, utility)))
    assert (strategy(tables.game, "approximation") == expected).all()
    assert {"approximation": approximation} == ROUND_STRATEGIES


@pytest.mark.parametrize(
    "game", [ShutTheBox(tiles=4), ShutTheBox(tiles=5, faces=3, one_die="any-time", first_move=2)], ids=str
)
def test_ways_to_shut_are_those_of_the_reference(game):
    tables, other = compile_game(game), twin(game)
    for ways in (ways_to_shut(tables), ways_to_shut(tables, exact=True)):
        for state, where in throwing_states(tables):
            known = reference.ways_to_shut(other, where)
            assert ways[state].tolist() == [known[throws] for throws in range(ways.shape[1])]


@pytest.mark.parametrize(
    ("name", "objective", "worst"),
    [
        ("optimal-score", "score", False),
        ("optimal-shut", "shut", False),
        ("worst", "score", True),
        ("optimal", "score", False),
    ],
)
def test_strategies_of_perfect_play(name, objective, worst):
    assert (strategy(NINE, name) == solve(NINE, objective, worst=worst).policy).all()


def test_heuristics_are_between_random_and_perfect_play_in_the_list(snapshot):
    for game in (NINE, THREES, MostThrees()):
        names = list(table_strategies(game))
        assert names == ["random", *entry_of(game).heuristics, *[name for name in COMMON if name != "random"]]
    assert table_strategies(NINE) | table_strategies(THREES) == snapshot


def test_standings_in_words(snapshot):
    standings = [Standing(), Standing(after=1), Standing(8, 1, 2), Standing(0, 3, 1), Standing(-1, 1, 0)]
    assert [standing.in_words(Threes(moon=True)) for standing in standings] == snapshot


def test_unknown_strategies_are_refused():
    with pytest.raises(ValueError, match="biggest-first"):
        strategy(THREES, "biggest-first")


@pytest.mark.parametrize(
    "wrong",
    [lambda game, moves: None, lambda game, moves: moves.action[:-1], lambda game, moves: moves.action * np.nan],
)
def test_a_heuristic_must_return_a_number_for_every_move(monkeypatch, wrong):
    monkeypatch.setitem(entry_of(THREES).heuristics, "wrong", wrong)
    with pytest.raises(ValueError, match="heuristic"):
        strategy(THREES, "wrong")


def test_a_heuristic_sees_the_moves(monkeypatch):
    seen = []
    monkeypatch.setitem(entry_of(THREES).heuristics, "seen", lambda game, moves: seen.append(moves) or moves.action)
    assert (strategy(THREES, "seen") == np.sign(compile_game(THREES).choices) - 1).all()
    rows = {
        ((int(held), len(roll)), tuple(roll), int(action), (int(next_held), int(next_dice)))
        for moves in seen
        for held, roll, action, next_held, next_dice in zip(moves.held, moves.roll.tolist(), *moves[2:], strict=True)
    }
    assert rows == {
        (state, roll, action, after)
        for state, by_roll in walk(THREES).items()
        for roll, moves in zip(rolls(THREES, state[1]).shown, by_roll, strict=True)
        for action, after in moves.items()
    }
