"""The choice at one node, by tables and by boards."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stb_gym import ShutTheBox, Threes, solve
from stb_gym.large import solve_boards
from stb_gym.solver import choice_at
from tests.twins import games


@given(games(), st.sampled_from(["score", "shut"]))
def test_every_choice_agrees_with_the_tables(game, objective):
    best = solve(game, objective)
    tables = best.tables
    boards = solve_boards(game, objective) if isinstance(game, ShutTheBox) else None
    for node in range(tables.nodes):
        state, edges = tables.node_state[node], tables.edges_of(node)
        where = int(tables.held[state]), int(tables.dice[state]), tables.node_roll(node)
        choice, after = choice_at(best, *where), tables.edge_next[edges]
        states = zip(tables.edge_action[edges], tables.held[after], tables.dice[after], strict=True)
        assert choice.moves == list(states)
        assert choice.after == best.state_utility[after].tolist()
        assert choice.loss == np.where(best.optimal[edges], 0, -best.advantage[edges]).tolist()
        assert [move.action for move in choice.best] == tables.edge_action[edges][best.optimal[edges]].tolist()
        assert choice.utility == best.node_utility[node]
        if boards:
            moves, after, loss, utility = choice_at(boards, *where)
            assert moves == choice.moves
            assert [*after, *loss, utility] == pytest.approx([*choice.after, *choice.loss, choice.utility])


@pytest.mark.parametrize("solver", [solve, solve_boards])
def test_moves_worth_nothing_are_equally_good_where_utilities_of_both_signs_cancel(solver):
    """On a 3, shutting 3 and shutting 1,2 are both worth 0, but for rounding."""
    utilities = np.array([-0.9, 0.4, 1.0, 0.3, -1, -1, -1])
    known = solver(ShutTheBox(tiles=3, dice=1, faces=4), lambda score: utilities[score])
    choice = choice_at(known, 0b111, 1, (3,))
    assert 0 < max(map(abs, choice.after)) < 1e-15
    assert len(choice.best) == 2


def test_states_that_do_not_exist_are_refused(solved):
    with pytest.raises(ValueError, match="state"):
        choice_at(solved(Threes()), 200, 5, (3, 3, 3, 3, 3))
