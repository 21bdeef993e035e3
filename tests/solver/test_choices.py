"""The choice at one node, by tables and by boards."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stb_gym import ShutTheBox, Threes, solve
from stb_gym.large import solve_boards
from stb_gym.solver import choice_at
from tests.twins import games

NINE = ShutTheBox()


@given(games(), st.sampled_from(["score", "shut"]))
def test_every_choice_agrees_with_the_tables(game, objective):
    best = solve(game, objective)
    tables = best.tables
    for node in range(tables.nodes):
        state, roll, edges = tables.node_state[node], tables.node_roll(node), tables.edges_of(node)
        after, where = tables.edge_next[edges], (int(tables.held[state]), int(tables.dice[state]))
        assert tables.find_node(*where, roll) == node
        assert tables.observation[node].tolist() == list(game.observe(where, roll))
        choice = choice_at(best, *where, roll)
        assert choice.moves == list(zip(tables.edge_action[edges], tables.held[after], tables.dice[after], strict=True))
        assert choice.after == best.state_utility[after].tolist()
        assert choice.loss == np.where(best.optimal[edges], 0, -best.advantage[edges]).tolist()
        assert len(choice.best) == np.count_nonzero(best.optimal[edges])
        assert choice.utility == best.node_utility[node]


def test_boards_offer_the_same_choices(solved):
    for roll in range(2, 13):
        moves, *numbers = choice_at(solve_boards(NINE), 0b1011, 2, (roll,))
        expected = choice_at(solved(NINE), 0b1011, 2, (roll,))
        assert moves == expected.moves
        assert np.hstack(numbers) == pytest.approx(np.hstack(expected[1:]))


def test_states_that_do_not_exist_are_refused(solved):
    with pytest.raises(ValueError, match="state"):
        choice_at(solved(Threes()), 200, 5, (3, 3, 3, 3, 3))
