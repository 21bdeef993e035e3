"""The choice at one state, by tables and by boards."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stb_gym import ShutTheBox, Threes, solve
from stb_gym.large import solve_large
from stb_gym.solver import choice_at
from tests.twins import games

NINE = ShutTheBox()


@given(games(), st.sampled_from(["score", "shut"]))
def test_every_choice_agrees_with_the_tables(game, objective):
    best = solve(game, objective)
    tables = best.tables
    for state in range(tables.num_states):
        afterstate, roll, pairs = tables.state_origin[state], tables.state_roll(state), tables.pairs_of(state)
        after, where = tables.pair_afterstate[pairs], (int(tables.progress[afterstate]), int(tables.dice[afterstate]))
        assert tables.find_state(*where, roll) == state
        assert tables.observation[state].tolist() == list(game.observe(where, roll))
        choice = choice_at(best, *where, roll)
        assert choice.moves == list(
            zip(tables.pair_action[pairs], tables.progress[after], tables.dice[after], strict=True)
        )
        assert choice.after == best.afterstate_utilities[after].tolist()
        assert choice.loss == np.where(best.optimal[pairs], 0, -best.advantage[pairs]).tolist()
        assert len(choice.best) == np.count_nonzero(best.optimal[pairs])
        assert choice.utility == best.state_utilities[state]


def test_boards_offer_the_same_choices(solved):
    for roll in range(2, 13):
        moves, *numbers = choice_at(solve_large(NINE), 0b1011, 2, (roll,))
        expected = choice_at(solved(NINE), 0b1011, 2, (roll,))
        assert moves == expected.moves
        assert np.hstack(numbers) == pytest.approx(np.hstack(expected[1:]))


def test_states_that_do_not_exist_are_refused(solved):
    with pytest.raises(ValueError, match="afterstate"):
        choice_at(solved(Threes()), 200, 5, (3, 3, 3, 3, 3))
