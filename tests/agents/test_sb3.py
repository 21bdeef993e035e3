"""Test agents of stable-baselines3: they learn and play as in their library, and their weights are stored."""

import gymnasium as gym
import pytest

from agents.registry import LEARNERS
from agents.sb3 import StockLearner
from stb_gym import ShutTheBox, evaluate
from stb_gym.solver import compile_game
from tests.agents import BOX, seen
from tests.learners import SMALL

TABLES = compile_game(ShutTheBox(tiles=5))
SEEN = seen(TABLES)
NAMES = [name for name, learner in LEARNERS.items() if learner.of_library]
TUNED = "sb3-maskable-ppo-tuned"


def learner_of(name, seed=3, **settings):
    learner_class = LEARNERS[name]
    settings = learner_class.settings_class(**SMALL[name] | settings)
    envs = learner_class.make_envs(BOX, {"tiles": 5}, settings.num_envs)
    return learner_class(envs, settings, seed)


def regret_of(learner):
    policy = TABLES.policy(learner.act(*SEEN))
    return evaluate(TABLES.game, policy, illegal="raise" if learner.uses_masks else "end").regret


def weights_of(model):
    return {name: weights.tolist() for name, weights in model.policy.state_dict().items()}


@pytest.mark.parametrize(
    ("name", "steps"), [pytest.param("sb3-ppo", 2048, marks=pytest.mark.nightly), ("sb3-a2c", 50), ("sb3-dqn", 200)]
)
def test_stock_agents_learn_as_if_they_were_not_measured(name, steps):
    model = LEARNERS[name].model_class("MlpPolicy", gym.make(BOX, tiles=5), seed=3, device="cpu")
    model.learn(steps)  # before the other is made, as both draw from the same generators
    learner, regrets = learner_of(name), []
    assert isinstance(learner, StockLearner)
    learner.learn(steps, lambda: regrets.append(regret_of(learner)))
    assert learner.num_steps == model.num_timesteps == steps
    assert weights_of(learner.model) == weights_of(model)
    assert regrets[0] != regret_of(learner)
    assert "loss" in learner.figures or "value_loss" in learner.figures


@pytest.mark.parametrize("name", NAMES)
def test_act_returns_the_actions_that_the_library_predicts(name):
    learner = learner_of(name)
    masks = {"action_masks": SEEN[1]} if learner.uses_masks else {}
    greedy, _ = learner.model.predict(SEEN[0], deterministic=True, **masks)
    actions = learner.act(*SEEN)
    assert (actions == greedy).all()
    assert TABLES.legal[TABLES.decisions, actions].all() == learner.uses_masks


@pytest.mark.parametrize("name", NAMES)
def test_weights_survive_a_state_dict(name):
    learner, other = learner_of(name), learner_of(name, seed=4)
    assert (learner.act(*SEEN) != other.act(*SEEN)).any()
    other.load_state_dict(learner.state_dict())
    assert weights_of(other.model) == weights_of(learner.model)
    assert (learner.act(*SEEN) == other.act(*SEEN)).all()


def test_settings_of_the_tuned_agent_reach_the_library():
    model = learner_of(TUNED, learning_rate=0.25, gamma=0.75).model
    assert [model.lr_schedule(left) for left in (1.0, 0.5, 0.0)] == [0.25, 0.125, 0.0]
    assert (model.gamma, model.batch_size, model.n_envs) == (0.75, 64, 8)
    assert "(1): Linear(in_features=16, out_features=32" in str(model.policy)


def test_rewards_of_the_tuned_agent_are_divided_by_the_largest():
    learner = learner_of(TUNED)
    learner.learn(200)
    rewards = 15 * learner.model.rollout_buffer.rewards
    assert set(rewards.round(4).ravel().tolist()) <= set(range(-15, 1))
    assert rewards.min() < -1


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["sb3-maskable-ppo", TUNED])
def test_agents_with_masks_learn(name):
    learner = learner_of(name)
    before = regret_of(learner)
    learner.learn(4096)
    assert regret_of(learner) < 0.5 * before
