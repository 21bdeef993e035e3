"""Test that boards and tables measure policies alike, under all rules."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stb_gym import ShutTheBox, solve
from stb_gym.large import flow, solve_large
from stb_gym.large import grid as board_grid
from stb_gym.solver import AfterstateScorePolicy, UniformRandom
from tests import every
from tests.twins import GOALS, boxes

NINE = ShutTheBox()
NOISE = np.random.default_rng(1).integers(0, 20, (8, 2**13))
POLICIES = {
    "random": UniformRandom(),
    "greatest board": AfterstateScorePolicy(lambda progress, dice: progress),
    "often the same": AfterstateScorePolicy(lambda progress, dice: NOISE[dice, progress]),
    "floats": AfterstateScorePolicy(lambda progress, dice: np.sin(progress * 1.7 + dice)),
    "all the same": AfterstateScorePolicy(lambda progress, dice: progress > 0),
}


def check_evaluation(game, column_tiles, policy, goal, worst=False, kept=100):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(board_grid, "COLUMN_TILES", column_tiles)
        patch.setattr(flow, "MISTAKES_STORED", kept)
        found = solve_large(game, goal, worst=worst).evaluate(policy)
        expected = solve(game, goal, worst=worst).evaluate(policy)
        mistakes = found.mistakes()
    places = 1e-12 * (1 + abs(expected.optimum.afterstate_utilities).max())
    summary = {name: expected.summary()[name] for name in found.summary()}
    assert found.summary() == pytest.approx(summary, rel=1e-9, abs=places)
    assert (found.agreement_by_visits is None) == isinstance(policy, UniformRandom)
    assert found.score_distribution == pytest.approx(expected.score_distribution, rel=1e-9)
    assert list(found.score_distribution) == list(expected.score_distribution)
    costs = [mistake.cost for mistake in expected.mistakes(kept)]
    assert [mistake.cost for mistake in mistakes] == pytest.approx(costs, rel=1e-9)
    assert found.mistakes(3) == mistakes[:3]
    by_state = {mistake.position: mistake for mistake in expected.mistakes()}
    for mistake in mistakes:
        same = by_state[mistake.position]
        assert (mistake.plays, mistake.best) == (same.plays, same.best)
        assert mistake.plays != mistake.best
        assert (mistake.visits, mistake.loss) == pytest.approx((same.visits, same.loss), rel=1e-9)


@pytest.mark.slow
@given(boxes(), st.integers(1, 6), st.sampled_from(sorted(POLICIES)), st.sampled_from(GOALS), st.booleans())
def test_policies_are_measured_as_by_tables(game, column_tiles, name, goal, worst):
    check_evaluation(game, column_tiles, POLICIES[name], goal, worst)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rules", "name"),
    every(3, product([{"tiles": 10, "dice": 3, "open": "4-up"}, {"one_die": "high-shut", "first_move": 2}], POLICIES)),
)
def test_policies_of_larger_boxes_are_measured_as_by_tables(rules, name):
    check_evaluation(ShutTheBox(**rules), 5, POLICIES[name], "score", kept=8)


@pytest.mark.parametrize(
    ("game", "goal"),
    [
        (NINE, "score"),
        (ShutTheBox(one_die="low-sum"), "shut"),
        # On a 3, shutting 3 and shutting 1,2 are both worth 0, but for rounding.
        (ShutTheBox(tiles=3, dice=1, faces=4), lambda score: np.array([-0.9, 0.4, 1.0, 0.3, -1, -1, -1])[score]),
    ],
)
def test_perfect_play_loses_nothing(game, goal):
    values = solve_large(game, goal)
    for score in (values.utilities_at, lambda progress, dice: values.utilities_at(progress, dice).round(12)):
        found = values.evaluate(AfterstateScorePolicy(score))
        assert (found.regret, found.agreement_by_visits, found.mistakes(), found.normalised_score) == (0, 1, [], 1)


def test_arrays_and_scores_that_are_not_finite_are_refused():
    values = solve_large(NINE)
    with pytest.raises(ValueError, match="score"):
        values.evaluate(AfterstateScorePolicy(lambda progress, dice: progress * np.nan))
    with pytest.raises(TypeError, match="UniformRandom"):
        values.evaluate(np.zeros(5622, int))


def test_evaluations_are_shown(snapshot):
    policy = AfterstateScorePolicy(lambda boards, dice: -boards)
    found = solve_large(ShutTheBox(tiles=13)).evaluate(policy)
    assert [repr(found), found.costliest_mistake] == snapshot
