"""Policies measured by boards: the same as by tables, under all rules."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stb_gym import ShutTheBox, solve
from stb_gym.large import evaluate as board_evaluation
from stb_gym.large import evaluate_boards, solve_boards
from stb_gym.large import solve as board_solver
from stb_gym.solver import StateScorePolicy, UniformRandom
from tests.twins import GOALS, boxes

NINE = ShutTheBox()
NOISE = np.random.default_rng(1).integers(0, 20, (8, 2**13))
POLICIES = {
    "random": UniformRandom(),
    "greatest board": StateScorePolicy(lambda held, dice: held),
    "often the same": StateScorePolicy(lambda held, dice: NOISE[dice, held]),
    "floats": StateScorePolicy(lambda held, dice: np.sin(held * 1.7 + dice)),
    "all the same": StateScorePolicy(lambda held, dice: held > 0),
}
LARGER = [
    (ShutTheBox(tiles=10, dice=3, open="4-up"), 5),
    (NINE, 4),
    (ShutTheBox(one_die="low-sum", first_move=2), 9),
    (ShutTheBox(tiles=8, dice=3, faces=4, one_die="high-shut", one_die_forced=True), 2),
]


def check_evaluation(game, column_tiles, policy, goal="score", kept=100):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(board_solver, "COLUMN_TILES", column_tiles)
        patch.setattr(board_evaluation, "MISTAKES_KEPT", kept)
        found, expected = evaluate_boards(solve_boards(game, goal), policy), solve(game, goal).evaluate(policy)
        mistakes = found.mistakes()
    places = 1e-12 * (1 + abs(expected.optimum.state_utility).max())
    summary = found.summary()
    assert summary == pytest.approx({name: expected.summary()[name] for name in summary}, rel=1e-9, abs=places)
    assert set(expected.summary()) - set(summary) <= {"agreement", "agreement_by_visits"}
    assert found.score_distribution == pytest.approx(expected.score_distribution, rel=1e-9)
    assert list(found.score_distribution) == list(expected.score_distribution)
    assert found.regret == pytest.approx(abs(found.value - found.optimum.value), abs=places)
    by_node = {expected.describe_node(mistake.node): mistake for mistake in expected.mistakes()}
    costs = [mistake.cost for mistake in expected.mistakes(kept)]
    assert [mistake.cost for mistake in mistakes] == pytest.approx(costs, rel=1e-9)
    assert found.mistakes(3) == mistakes[:3]
    for mistake in mistakes:
        same = by_node[found.describe_node(mistake.node)]
        assert (mistake.plays, mistake.best) == (same.plays, same.best)
        assert (mistake.visits, mistake.loss) == pytest.approx((same.visits, same.loss), rel=1e-9)


@given(boxes(), st.integers(1, 6), st.sampled_from(sorted(POLICIES)), st.sampled_from(GOALS))
def test_policies_are_measured_as_by_tables(game, column_tiles, name, goal):
    check_evaluation(game, column_tiles, POLICIES[name], goal)


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize(("game", "column_tiles"), LARGER)
def test_policies_of_larger_boxes_are_measured_as_by_tables(game, column_tiles, name):
    check_evaluation(game, column_tiles, POLICIES[name], kept=8)


def test_perfect_play_loses_nothing():
    for game, goal in ((NINE, "score"), (ShutTheBox(one_die="low-sum"), "shut")):
        values = solve_boards(game, goal)
        found = evaluate_boards(values, StateScorePolicy(values.utilities_at))
        assert (found.regret, found.agreement_by_visits, found.mistakes(), found.normalised_score) == (0, 1, [], 1)
        assert found.value == pytest.approx(values.value, abs=1e-12)


def test_play_is_measured_against_the_worst():
    game = ShutTheBox(tiles=5)
    for policy in (POLICIES["random"], POLICIES["floats"]):
        found = evaluate_boards(solve_boards(game, worst=True), policy)
        assert found.regret == pytest.approx(solve(game, worst=True).evaluate(policy).regret)


def test_moves_worth_nothing_are_equally_good_where_utilities_of_both_signs_cancel():
    """On a 3, shutting 3 and shutting 1,2 are both worth 0, but for rounding."""
    utilities = np.array([-0.9, 0.4, 1.0, 0.3, -1, -1, -1])
    values = solve_boards(ShutTheBox(tiles=3, dice=1, faces=4), lambda score: utilities[score])
    assert 0 < abs(values.utilities_at(np.array([0b100, 0b011]), 1)).max() < 1e-15
    for sign in (-1, 1):
        policy = StateScorePolicy(lambda held, dice, sign=sign: sign * held)
        assert evaluate_boards(values, policy).agreement_by_visits == 1


def test_arrays_and_scores_that_are_not_finite_are_refused():
    values = solve_boards(NINE)
    with pytest.raises(ValueError, match="score"):
        evaluate_boards(values, StateScorePolicy(lambda held, dice: held * np.nan))
    for wrong in ((values, np.zeros(5622, int)), (solve(NINE), UniformRandom())):
        with pytest.raises(TypeError, match="solve_boards"):
            evaluate_boards(*wrong)


def test_progress_is_reported_now_and_then_and_at_the_end():
    calls = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(board_solver, "COLUMN_TILES", 1)
        evaluate_boards(solve_boards(NINE), UniformRandom(), lambda done, rows: calls.append((done, rows)))
    assert calls == [(done, 256) for done in range(4, 257, 4)]


def test_evaluations_are_shown(snapshot):
    found = evaluate_boards(solve_boards(NINE), StateScorePolicy(lambda boards, dice: -boards))
    assert [repr(found), found.costliest_mistake, found._repr_html_()] == snapshot
