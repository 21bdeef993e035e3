"""Test a game of your own: Pig, in docs/pig.py, where more points are better.

The expected values come from `turn_value`, which shares no code with the package.
"""

from fractions import Fraction
from functools import cache

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import stb_gym
from stb_gym.games import check_game

HOLD, AGAIN = 0, 1


def turn_value(choose=lambda points, hold, again: max(hold, again), limit=100):
    """Return the expected points of a turn as a fraction, by recursion over the points so far.

    `choose` combines the values of holding and of throwing again; `limit` is the most points of a turn.
    """

    @cache
    def throw(points):
        total = Fraction(0)  # a 1
        for face in range(2, 7):
            now = min(points + face, limit)
            total += now if now == limit else choose(now, now, throw(now))
        return total / 6

    return throw(0)


def hold_at(least):
    """Return a policy that holds at `least` points or more."""
    return lambda points, hold, again: hold if points >= least else again


def test_value_of_a_turn(pig):
    game = pig()
    check_game(game)
    assert stb_gym.solve(game, exact=True).value == turn_value() == Fraction(492303203, 60466176)
    assert stb_gym.certify(game).value == turn_value()
    for limit in (1, 3, 20, 255):
        assert stb_gym.solve(pig(most_points=limit), exact=True).value == turn_value(limit=limit)


@pytest.mark.parametrize(
    ("name", "choose"),
    [
        ("random", lambda _, hold, again: (hold + again) / 2),
        ("hold-at-25", hold_at(25)),
        ("optimal-shut", hold_at(100)),
        ("worst", lambda _, *both: min(both)),
    ],
)
def test_strategies_have_the_value_of_the_reference(pig, name, choose):
    game = pig()
    evaluation = stb_gym.evaluate(game, stb_gym.strategy(game, name))
    assert evaluation.value == pytest.approx(float(turn_value(choose)), rel=1e-12)


@pytest.mark.usefixtures("pig")
def test_environments():
    env = gym.make("stb_gym/Pig-v0")
    check_env(gym.make("stb_gym/Pig-v0", render_mode="rgb_array", most_points=30).unwrapped)
    random = np.random.default_rng(1)
    for seed in range(200):
        (before, face), info = env.reset(seed=seed)
        over = False
        while not over:
            now = 0 if face == 1 else min(before + face, 100)
            assert info["action_mask"].tolist() == [1, 0 < now < 100]
            action = AGAIN if 0 < now < 100 and random.random() < 0.8 else HOLD
            (before, face), reward, over, _, info = env.step(action)
            assert (before, over, reward) == (now, action == HOLD, now if over else 0)
    env.reset(options={"progress": 30, "roll": 1}, seed=1)
    assert env.step(AGAIN)[1:3] == (0, True)  # an illegal action ends the turn
