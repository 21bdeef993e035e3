"""What there is to choose from at one node, by arrays and by boards."""

import numpy as np
import pytest

from stb_gym import ShutTheBox, Threes, solve, solve_boards
from stb_gym.games import rolls
from stb_gym.solver import choice_at

NINE = ShutTheBox()


@pytest.mark.parametrize("game", [ShutTheBox(tiles=7), Threes(dice=3)], ids=str)
@pytest.mark.parametrize("objective", ["score", "shut"])
def test_every_choice_is_what_the_arrays_say(game, objective):
    best = solve(game, objective)
    tables = best.tables
    for node in range(tables.nodes):
        state, edges = tables.node_state[node], tables.edges_of(node)
        choice = choice_at(best, int(tables.held[state]), int(tables.dice[state]), tables.node_roll(node))
        assert choice.utility == pytest.approx(best.node_utility[node], rel=1e-13)
        assert [move.action for move in choice.moves] == tables.edge_action[edges].tolist()
        assert [loss == 0 for loss in choice.loss] == best.optimal[edges].tolist()
        assert choice.loss == pytest.approx(-best.advantage[edges], abs=1e-13)
        assert choice.after == pytest.approx(best.state_utility[tables.edge_next[edges]], rel=1e-13)


def test_boards_offer_the_same_choices():
    by_arrays, by_boards = solve(NINE), solve_boards(NINE)
    for roll in rolls(NINE, 2).shown:
        moves, after, loss, utility = choice_at(by_boards, 0b1011, 2, roll)
        expected = choice_at(by_arrays, 0b1011, 2, roll)
        assert moves == expected.moves
        assert [*after, *loss, utility] == pytest.approx([*expected.after, *expected.loss, expected.utility])


@pytest.mark.parametrize("solver", [solve, solve_boards])
def test_choices_worth_nothing_are_equally_good_where_utilities_of_both_signs_cancel(solver):
    """On a 3, to shut 3 or 1 and 2 is worth 0, but for rounding."""
    worth = np.array([-0.9, 0.4, 1.0, 0.3, -1, -1, -1])
    known = solver(ShutTheBox(tiles=3, dice=1, faces=4), lambda score: worth[score])
    choice = choice_at(known, 0b111, 1, np.array([3], np.uint8))
    assert 0 < max(map(abs, choice.after)) < 1e-15
    assert len(choice.best) == 2


def test_without_a_legal_move_the_turn_ends():
    choice = choice_at(solve(NINE), 0b11, 2, np.array([12], np.uint8))
    assert choice == ([], [], [], -3.0)
    assert choice.best == []


def test_a_state_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="has no state that holds"):
        choice_at(solve(Threes()), 200, 5, rolls(Threes(), 5).shown[0])
