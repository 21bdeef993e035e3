"""Operations on the compiled arrays against plain loops; `test_choices` compares the arrays with the rules."""

import numpy as np
import pytest
from hypothesis import given

from stb_gym import ShutTheBox, Threes
from stb_gym.solver import compile_game
from tests.twins import games


@given(games())
def test_levels_are_contiguous_and_edges_lead_to_lower_ones(game):
    tables = compile_game(game)
    sizes = [level.afterstates.stop - level.afterstates.start for level in tables.levels]
    level_of = np.repeat(np.arange(len(sizes)), sizes)
    assert (level_of[tables.pair_afterstate] < level_of[tables.state_origin[tables.pair_state]]).all()
    assert (tables.find_states(tables.observation) == np.arange(tables.num_states)).all()


def test_tables_are_compiled_once():
    assert compile_game(ShutTheBox(tiles=9)) is compile_game(ShutTheBox())


def numbers(rows, *columns):
    """Return random integers [rows, *columns], some of them equal."""
    return np.random.default_rng(rows).integers(0, rows, (rows, *columns))


@given(games())
def test_operations_on_edges_and_nodes(game):
    tables = compile_game(game)
    values, at_states, at_afterstates = (
        numbers(rows, 3) for rows in (len(tables.pair_afterstate), tables.num_states, tables.num_afterstates)
    )
    assert (tables.at_pairs(at_states) == [at_states[state] for state in tables.pair_state]).all()
    assert (
        tables.after_pairs(at_afterstates) == [at_afterstates[afterstate] for afterstate in tables.pair_afterstate]
    ).all()
    pairs = [tables.pairs_of(state) for state in tables.decisions]
    assert (tables.reduce(np.add, values) == [values[known].sum(axis=0) for known in pairs]).all()
    at_states[tables.decisions] = tables.reduce(np.maximum, values)
    lowest = tables.lowest(values == tables.at_pairs(at_states))
    assert (lowest == [known[0] + values[known].argmax(axis=0) for known in pairs]).all()
    assert tables.greedy(values[:, 0])[tables.decisions].tolist() == tables.pair_action[lowest[:, 0]].tolist()
    assert tables.sum_at_states(tables.uniform) == pytest.approx(np.sign(tables.choices))


@given(games())
def test_scores_are_sorted_best_first(game):
    tables = compile_game(game)
    assert (np.diff(tables.scores) * game.sign < 0).all()
    assert (tables.scores[tables.score_index] == tables.final_score).all()
    assert tables.place_of(tables.scores[0] + game.sign) == 0
    assert tables.place_of(tables.scores[-1] - game.sign) == len(tables.scores)


def test_probabilities_at_decisions_become_a_policy():
    tables = compile_game(ShutTheBox(tiles=3))
    policy = tables.policy(tables.legal[tables.decisions].astype(np.float32))
    assert policy.dtype == np.float32
    assert (policy == tables.legal).all()


def test_unknown_states_and_observations_are_not_found():
    threes, six = compile_game(Threes()), compile_game(ShutTheBox(tiles=6))
    assert threes.find_afterstates(np.array([3, 200]), np.array([8, 1])).tolist() == [-1, -1]
    no_roll = six.observation[5] * [1, 1, 1, 1, 1, 1, *[0] * 11]
    assert six.find_states(six.observation[5].astype(float)) == 5
    for wrong in (np.zeros(3), no_roll, six.observation[4:6] * 256.0):
        with pytest.raises(ValueError, match="observation"):
            six.find_states(wrong)


@pytest.mark.parametrize(
    ("game", "key_word"), [(ShutTheBox.preset("the-300"), "positions"), (ShutTheBox(dice=7, faces=20), "throws")]
)
def test_games_too_large_for_tables_are_refused(game, key_word):
    with pytest.raises(ValueError, match=key_word):
        compile_game(game)
