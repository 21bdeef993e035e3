"""Test agents of stable-baselines3: they learn and play as in their library, and their weights are stored."""

import gymnasium as gym
import pytest
from stable_baselines3.common.torch_layers import FlattenExtractor

from agents.custom import allow
from agents.presets import configure, make_settings
from agents.registry import LEARNERS
from agents.sb3 import StockLearner
from stb_gym import ShutTheBox, evaluate
from stb_gym.solver import compile_game
from tests import every
from tests.agents import BOX, seen
from tests.learners import SMALL

TABLES = compile_game(ShutTheBox(tiles=5))
SEEN = seen(TABLES)
NAMES = [name for name, learner in LEARNERS.items() if learner.of_library]
TUNED = "sb3-maskable-ppo-tuned"


def learner_of(name, seed=3, **settings):
    settings = make_settings(name, SMALL[name] | settings)
    envs = LEARNERS[name].make_envs(BOX, {"tiles": 5}, settings)
    return LEARNERS[name](envs, settings, seed)


def regret_of(learner):
    policy = TABLES.policy(learner.act(*SEEN))
    return evaluate(TABLES.game, policy, illegal="raise" if learner.uses_masks else "end").regret


def weights_of(model):
    return {name: weights.tolist() for name, weights in model.policy.state_dict().items()}


@pytest.mark.parametrize(("name", "steps"), every(3, [("sb3-a2c", 50), ("sb3-dqn", 200), ("sb3-ppo", 2048)]))
def test_stock_agents_learn_as_if_they_were_not_measured(name, steps):
    model = LEARNERS[name].maker("MlpPolicy", gym.make(BOX, tiles=5), seed=3, device="cpu")
    model.learn(steps)  # before the other is made, as both draw from the same generators
    learner, regrets = learner_of(name), []
    assert isinstance(learner, StockLearner)
    learner.learn(steps, lambda: regrets.append(regret_of(learner)))
    assert learner.num_steps == model.num_timesteps == steps
    assert weights_of(learner.agent) == weights_of(model)
    assert regrets[0] != regret_of(learner)
    assert "loss" in learner.figures or "value_loss" in learner.figures


@pytest.mark.parametrize("name", NAMES)
def test_act_returns_the_actions_that_the_library_predicts(name):
    learner = learner_of(name)
    masks = {"action_masks": SEEN[1]} if learner.uses_masks else {}
    greedy, _ = learner.agent.predict(SEEN[0], deterministic=True, **masks)
    actions = learner.act(*SEEN)
    assert (actions == greedy).all()
    assert TABLES.legal[TABLES.decisions, actions].all() == learner.uses_masks


def test_settings_of_the_tuned_agent_reach_the_library():
    model = learner_of(TUNED, learning_rate=0.25, gamma=0.75).agent
    assert [model.lr_schedule(left) for left in (1.0, 0.5, 0.0)] == [0.25, 0.125, 0.0]
    assert (model.gamma, model.batch_size, model.n_envs) == (0.75, 64, 8)
    assert "(1): Linear(in_features=16, out_features=32" in str(model.policy)


def test_rewards_of_the_tuned_agent_are_divided_by_the_largest():
    learner = learner_of(TUNED)
    learner.learn(200)
    rewards = 15 * learner.agent.rollout_buffer.rewards
    assert set(rewards.round(4).ravel().tolist()) <= set(range(-15, 1))
    assert rewards.min() < -1


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["sb3-maskable-ppo", TUNED])
def test_agents_with_masks_learn(name):
    learner = learner_of(name)
    before = regret_of(learner)
    learner.learn(4096)
    assert regret_of(learner) < 0.5 * before


class Extractor(FlattenExtractor):
    pass


def test_settings_reach_the_class_and_its_policy():
    allow(__name__)
    settings = {"learning_rate": 0.25, "n_steps": 6, "features_extractor_class": f"{__name__}:Extractor"}
    learner = learner_of("sb3-a2c", **settings, num_envs=4, policy_kwargs={"net_arch": [7]})
    model = learner.agent
    assert (model.learning_rate, model.n_steps, model.n_envs) == (0.25, 6, 4)
    assert type(model.policy.features_extractor) is Extractor
    assert model.policy.mlp_extractor.policy_net[0].out_features == 7
    assert learner.rollout_steps(learner.settings) == 24
    learner.learn(24)
    assert learner.num_steps == 24
    assert learner_of("sb3-dqn", train_freq=[2, "episode"]).agent.train_freq.frequency == 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"learnin_rate": 0.1}, "unknown setting 'learnin_rate': .*; did you mean learning_rate?"),
        ({"tensorboard_log": "here"}, "unknown setting 'tensorboard_log'"),
        ({"learning_rate": "fast"}, "A2C refuses its settings: .*fast"),
        ({"policy_kwargs": {"net_arc": [3]}}, "A2C refuses its settings: .*net_arc"),
        ({"policy_kwargs": 3, "net_arch": [3]}, "A2C refuses its settings: .*int"),
        ({"policy": "antigravity:Policy"}, "antigravity:Policy is code outside of this repository"),
        ({"num_envs": 0}, "num_envs must be an integer from 1"),
    ],
)
def test_settings_that_the_library_does_not_have_are_refused_in_one_line(settings, message):
    def make():
        config = configure("sb3-a2c", BOX, {"tiles": 5}, steps=100, settings=settings)
        return config.make_learner(config.make_envs())

    with pytest.raises(ValueError, match=message) as refused:
        make()
    assert len(str(refused.value)) <= 200
    assert str(refused.value).isprintable()
