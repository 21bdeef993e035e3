"""Test Q-learning, afterstates and Monte Carlo with tables, and the policy that Monte Carlo approaches."""

import numpy as np
import pytest

from agents.baselines import greedy_step
from agents.tabular import MonteCarlo, MonteCarloSettings, QLearning, QLearningSettings, TabularAfterstates
from stb_gym import ShutTheBox, Threes, evaluate
from stb_gym.solver import compile_game, expected
from tests.agents import BOX, make, record, regret_of, with_rewards

RULES = {"tiles": 4}
FOUR = ShutTheBox(**RULES)
SETTINGS = {QLearning: QLearningSettings, TabularAfterstates: QLearningSettings, MonteCarlo: MonteCarloSettings}


def learner_of(learner_class, num_envs=64, rules=RULES, **settings):
    return learner_class(make(BOX, num_envs, **rules), SETTINGS[learner_class](num_envs=num_envs, **settings), seed=0)


@pytest.mark.parametrize(("game", "regret"), [(ShutTheBox(), 0.0069906), (Threes(), 1.0785711)])
def test_regret_of_one_greedy_step(game, regret):
    assert evaluate(game, greedy_step(game)).regret == pytest.approx(regret, abs=5e-8)


def test_greedy_step_follows_the_objective():
    assert evaluate(FOUR, greedy_step(FOUR, "shut"), "shut").regret < evaluate(FOUR, greedy_step(FOUR), "shut").regret


@pytest.mark.parametrize("learner_class", [QLearning, TabularAfterstates])
def test_q_learning_learns_perfect_play_of_a_small_box(learner_class):
    learner = learner_of(learner_class, 256)
    before = regret_of(learner, FOUR)
    learner.learn(60_000)
    assert regret_of(learner, FOUR) < 0.02 < before


def test_an_entry_moves_to_its_mean_target_with_shrinking_steps():
    """With one tile and a coin half of the turns end at once; in the others the only action shuts the box."""
    learner = learner_of(QLearning, 8, rules={"tiles": 2, "dice": 1, "faces": 2}, horizon=3.0, exploration=0.0)
    targets, update = [], learner._update
    learner._update = lambda entries, given: targets.append((entries, given)) or update(entries, given)
    learner.learn(8 * 48)
    value, updates = np.zeros(len(learner._updates)), np.zeros(len(learner._updates))
    for entries, given in targets:
        for entry in set(entries.tolist()):
            count = (entries == entry).sum()
            updates[entry] += count
            step_size = min(3 * count / (2 + updates[entry]), 1)
            value[entry] += step_size * (given[entries == entry].mean() - value[entry])
    assert updates.max() > 50
    assert learner._table[:-1] == pytest.approx(value)


@pytest.mark.parametrize("learner_class", [QLearning, TabularAfterstates])
@pytest.mark.parametrize("limit", [None, 1])
def test_a_target_is_the_reward_and_the_value_of_what_follows(learner_class, limit):
    learner, tables = learner_of(learner_class, rules={"tiles": 4, "max_episode_steps": limit}), compile_game(FOUR)
    with_rewards(learner._envs)
    learner.learn(2000)
    cut, update = 0, learner._update
    steps, found = record(learner._episodes, "step"), []
    learner._update = lambda *given: found.append((given[1], learner._table.copy())) or update(*given)
    learner.learn(4000)
    for step, (targets, table) in zip(steps, found, strict=True):
        cut += (step.truncated & ~step.terminated).sum()
        values = table[learner._entries[tables.find_states(step.next_observation)]].max(axis=1)
        assert (targets == step.reward + np.where(step.terminated, 0, values)).all()
    assert (cut > 0) == (limit is not None)


def test_monte_carlo_counts_a_truncated_turn_as_one_that_ended():
    learner = learner_of(MonteCarlo, rules={"tiles": 4, "max_episode_steps": 1})
    steps = record(learner._episodes, "step")
    learner.learn(2000)
    assert learner._updates.sum() == learner.num_steps
    assert sum(step.truncated.sum() for step in steps) > 100
    assert not learner._length.any()


def test_actions_to_the_same_afterstate_share_an_entry():
    tables = compile_game(FOUR)
    actions, afterstates = (len(learner_of(each)._table) - 1 for each in (QLearning, TabularAfterstates))
    assert actions == len(tables.pair_afterstate)
    assert afterstates == tables.pair_afterstate.max() + 1 < actions


def test_monte_carlo_approaches_the_action_values_of_random_play():
    learner, tables = learner_of(MonteCarlo, 1024), compile_game(FOUR)
    assert (learner._table[:-1] == -10).all()
    learner.learn(400_000)
    value, _ = expected(tables, tables.uniform, -tables.final_score.astype(float))
    errors = abs(learner._table[:-1] - value[tables.pair_afterstate]) * learner._updates**0.5
    assert 1 < errors.max() < 8  # a mean of returns, which are from -10 to 0
    assert regret_of(learner, FOUR) == pytest.approx(evaluate(FOUR, greedy_step(FOUR)).regret, abs=0.01)


def test_a_game_too_large_for_tables_is_refused():
    with pytest.raises(ValueError, match="this needs tables, but the environment of ShutTheBox"):
        learner_of(QLearning, rules={"tiles": 18})
