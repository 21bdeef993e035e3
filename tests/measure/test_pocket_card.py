"""Rules of thumb with their dearest exceptions."""

import numpy as np
import pytest

from stb_gym import ShutTheBox, Threes, pocket_card, solve, strategy

NINE = ShutTheBox()


def test_the_card_of_fewest_then_biggest():
    best, thumb = solve(NINE), strategy(NINE, "fewest-then-biggest")
    before = thumb.copy()
    card = pocket_card(best, thumb, 60)
    known = {0: 0.1656, 5: 0.1235, 10: 0.1021, 20: 0.0709, 40: 0.0383, 60: 0.0211}
    assert {count: card.regrets[count] for count in known} == pytest.approx(known, abs=5e-5)
    assert card.regrets == sorted(card.regrets, reverse=True)
    assert best.evaluate(card.policy).regret == card.regrets[-1]
    assert len(card.exceptions) == 60
    changed = np.flatnonzero(card.policy != thumb).tolist()
    assert changed == sorted(mistake.node for mistake in card.exceptions)
    assert (thumb == before).all()  # the rule itself stays as it was


def test_every_exception_is_the_dearest_mistake_that_is_left():
    best = solve(NINE, "shut")
    policy = strategy(NINE, "biggest-first")
    for mistake in pocket_card(best, policy, 4).exceptions:
        assert mistake == best.evaluate(policy).mistakes(1)[0]
        assert policy[mistake.node] == mistake.plays
        policy[mistake.node] = mistake.best


def test_who_makes_no_mistakes_needs_no_exceptions():
    game = Threes(dice=2)
    best = solve(game)
    assert pocket_card(best, best.policy, 5)[:2] == ([], [0])
    all_learnt = pocket_card(best, strategy(game, "take-all"), 1000)
    assert all_learnt.regrets[-1] == pytest.approx(0, abs=1e-12)
    assert len(all_learnt.exceptions) < 50
