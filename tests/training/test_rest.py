"""Test the helps of the study of the rest: exact targets, and starts at all states alike."""

import numpy as np
import pytest
import torch

from agents.dqn import DQN, DQNSettings
from agents.fitted_q import FittedQSettings
from agents.ppo import PPOSettings
from agents.tabular import QLearningSettings
from stb_gym import RegretMeter, Threes, solve
from stb_gym.envs import TurnVectorEnv
from tests.training.test_studies import run_twice
from training.experiments import rest

GAME = Threes(dice=3)
OPTIMUM = solve(GAME)
TABLES = OPTIMUM.tables
DECISIONS = TABLES.decisions
PAIRS = np.zeros(TABLES.legal.shape, int)  # of states and actions
PAIRS[TABLES.pair_state, TABLES.pair_action] = np.arange(len(TABLES.pair_state))


def make_envs(kind=TurnVectorEnv, num_envs=50):
    return kind(GAME, num_envs, autoreset_mode="SameStep", observation_dtype="uint8")


def test_values_after_moves_obey_the_equation_of_optimality():
    after = rest.values_after(make_envs(), OPTIMUM.state_utilities[DECISIONS])
    assert after == pytest.approx(OPTIMUM.afterstate_utilities, abs=1e-12)


def test_dqn_learns_from_means_over_throws(monkeypatch):
    """Compare the targets with a loop over all states that can follow."""
    batches = []
    monkeypatch.setattr(DQN, "_update", lambda learner, batch: batches.append(batch))
    learner = rest.ExactDQN(make_envs(), DQNSettings(num_envs=50, batch_size=20, warm_up=100), seed=1)
    learner._target_network[-1].weight.data.neg_()  # so that it prefers other actions
    learner.learn(150)
    batch = batches[-1]
    for observation, action, target in zip(batch.observation, batch.action, batch.reward, strict=True):
        state = TABLES.find_states(observation)
        mean = 0.0
        for following in TABLES.states_of(TABLES.pair_afterstate[PAIRS[state, action]]):
            value = -float(TABLES.final_score[TABLES.state_origin[following]])
            if TABLES.choices[following]:
                seen, legal = (torch.tensor(array[[following]]) for array in (TABLES.observation, TABLES.legal))
                best = learner._network(seen).masked_fill(~legal, -torch.inf).argmax()
                value = learner._target_network(seen)[0, best].item()
            mean += TABLES.state_probability[following] * value
        assert target == pytest.approx(mean, abs=1e-5)
    assert batch.terminated.all()


def test_fitted_q_learns_from_means_over_throws():
    learner = rest.ExactFittedQ(make_envs(), FittedQSettings(num_envs=50, warm_up=100, gradient_steps=1), seed=1)
    learner.learn(300)
    values = np.zeros(len(learner._positions))
    numbers = learner._positions.numbers(TABLES.observation[DECISIONS].astype(np.uint8), TABLES.legal[DECISIONS])
    values[numbers] = OPTIMUM.state_utilities[DECISIONS]
    position, action = np.divmod(learner._model.moves, TABLES.num_actions)
    states = DECISIONS[numbers.argsort()[position - 1]]
    exact = OPTIMUM.afterstate_utilities[TABLES.pair_afterstate[PAIRS[states, action]]]
    assert learner._model.means(values) == pytest.approx(exact, abs=1e-9)


def test_ppo_learns_from_the_exact_advantages_of_its_policy():
    learner = rest.ExactPPO(make_envs(), PPOSettings(num_envs=50, num_steps=4), seed=1)
    rows, samples = learner._play()
    seen, legal = torch.as_tensor(TABLES.observation[DECISIONS]), torch.as_tensor(TABLES.legal[DECISIONS])
    policy = np.zeros(TABLES.legal.shape)
    policy[DECISIONS] = learner._logits(seen, legal).double().softmax(dim=1).detach().numpy()
    found = OPTIMUM.evaluate(policy)
    at_afterstates, at_states = found.utilities
    states = TABLES.find_states(rows.observation.numpy())[samples.row.numpy()]
    assert samples.value_target.numpy() == pytest.approx(at_states[states], abs=1e-5)
    exact = at_afterstates[TABLES.pair_afterstate[PAIRS[states, samples.action.numpy()]]] - at_states[states]
    assert np.corrcoef(exact, samples.advantage.numpy())[0, 1] == pytest.approx(1, abs=1e-6)


def test_q_learning_with_exact_targets_becomes_perfect():
    """With a step size of 1 it is value iteration."""
    envs = make_envs(rest.UniformStarts, 500)
    learner = rest.ExactQLearning(envs, QLearningSettings(num_envs=500, exploration=0.5, horizon=1e9), seed=1)
    learner.learn(200_000)
    assert learner._table[:-1] == pytest.approx(OPTIMUM.afterstate_utilities[TABLES.pair_afterstate], abs=1e-6)
    assert RegretMeter(GAME)(learner.act).regret == 0


def test_uniform_starts_cover_all_states_alike():
    envs = make_envs(rest.UniformStarts, 100 * len(DECISIONS))
    envs.reset(seed=0)
    counts = np.bincount(envs.states, minlength=TABLES.num_states)
    assert (counts[TABLES.choices == 0] == 0).all()
    assert abs(counts[DECISIONS] - 100).max() < 60  # six standard deviations


@pytest.mark.nightly
def test_the_study_of_the_rest_continues_from_its_file(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(rest, "STEPS", 5000)
    monkeypatch.setattr(rest, "STUDIED", ("threes",))
    rows = run_twice(rest.main, tmp_path / "rest.csv.gz")
    assert len(rows) == 4 * len(rest.EXACT) - 1
    assert rows.groupby("agent")["regret"].nunique().tolist() == rows.groupby("agent").size().tolist()
    assert capsys.readouterr().out.count("is complete") == 2
