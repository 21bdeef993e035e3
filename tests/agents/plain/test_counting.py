"""The limit counts what it sees: with enough of it, it plays perfectly, and what is given to it makes that sooner."""

import gymnasium as gym
import numpy as np

import stb_gym
from agents.plain.counting import Counting, CountingSettings, afterstates, shared_dice

SETTINGS = CountingSettings(num_envs=64)


def make(seed=0, rules_known=False, env="stb_gym/ShutTheBox-v0", **rules):
    envs = gym.make_vec(env, SETTINGS.num_envs, autoreset_mode="SameStep", **rules)
    learner = Counting(envs, SETTINGS, seed, afterstates(envs) if rules_known else None)
    return learner, stb_gym.RegretMeter(envs)


def regret(learner, meter):
    return meter(lambda observations, masks: learner.probabilities(observations, masks).argmax(axis=1)).regret


def nothing():
    pass


def test_what_it_plays_comes_to_be_perfect():
    learner, meter = make(tiles=4)
    learner.learn_until(1000, nothing)
    before = regret(learner, meter)
    learner.learn_until(100_000, nothing)
    assert regret(learner, meter) < min(before, 1e-3)


def test_its_values_are_those_of_the_game_that_the_counts_describe():
    learner, meter = make(rules_known=True, tiles=4)
    learner.learn_until(100_000, nothing)
    tables = meter.optimum.tables
    nodes = tables.decisions
    values = learner.values(tables.observation[nodes], tables.legal(nodes))
    visited = meter.optimum.evaluate(meter.optimum.policy).visits[nodes] > 0.01
    np.testing.assert_allclose(values[visited], meter.optimum.node_utility[nodes][visited], atol=0.1)


def test_what_is_known_beforehand_makes_it_better():
    regrets = np.zeros((3, 3))
    for seed in range(3):
        alone, meter = make(seed)
        given, _ = make(seed, rules_known=True)
        for learner in (alone, given):
            learner.learn_until(50_000, nothing)
        shared = shared_dice(meter.optimum.tables, meter.objective, *given.followed)
        regrets[seed] = regret(alone, meter), regret(given, meter), meter.optimum.evaluate(shared).regret
    alone, given, shared = regrets.mean(axis=0)
    assert shared < 0.001 < given < 0.3 < alone


def test_dice_are_shared_by_their_number():
    learner, meter = make(rules_known=True, env="stb_gym/Threes-v0")
    learner.learn_until(200_000, nothing)
    shared = shared_dice(meter.optimum.tables, meter.objective, *learner.followed)
    assert meter.optimum.evaluate(shared).regret < 0.01
