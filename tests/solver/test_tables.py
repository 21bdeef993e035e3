"""Test the levels, the lookup of observations and the limits of tables; `test_choices` compares them with the rules."""

import numpy as np
import pytest
from hypothesis import given

from stb_gym import ShutTheBox, Threes
from stb_gym.solver import compile_game
from tests.twins import games


@given(games())
def test_pairs_lead_to_lower_levels_and_observations_name_their_states(game):
    tables = compile_game(game)
    sizes = [level.afterstates.stop - level.afterstates.start for level in tables.levels]
    level_of = np.repeat(np.arange(len(sizes)), sizes)
    assert (level_of[tables.pair_afterstate] < level_of[tables.state_origin[tables.pair_state]]).all()
    assert (tables.find_states(tables.observation) == np.arange(tables.num_states)).all()


def test_tables_are_compiled_once():
    assert compile_game(ShutTheBox(tiles=9)) is compile_game(ShutTheBox())


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
