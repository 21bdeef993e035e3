"""Agents of stable-baselines3: the library's own, measured truly, not disturbed by it, and going on from snapshots."""

from dataclasses import asdict
from functools import partial

import gymnasium as gym
import numpy as np
import pytest
import torch
from sb3_contrib import QRDQN, MaskablePPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.utils import LinearSchedule

from agents import config
from agents.checkpoints import load_snapshot, load_weights, save_snapshot, save_weights
from agents.config import Task
from agents.policy_array import policies
from agents.presets import read_presets
from agents.stock import STOCK, NormalisedLayers
from stb_gym import RegretMeter, evaluate
from stb_gym.sb3 import TurnVecEnv
from stb_gym.solver import compile_game
from tests import SMALL_PRESETS

BOX = "stb_gym/ShutTheBox-v0"
FIVE = Task(BOX, {"tiles": 5})
GAME, TABLES = FIVE.game(), compile_game(FIVE.game())
CLASSES = {"sb3-ppo": PPO, "sb3-a2c": A2C, "sb3-dqn": DQN, "sb3-qr-dqn": QRDQN, "sb3-maskable-ppo": MaskablePPO}
TUNED = {"sb3-maskable-ppo-tuned": MaskablePPO, "sb3-dqn-tuned": DQN}
STEPS = {"sb3-ppo": 128, "sb3-a2c": 100, "sb3-dqn": 300, "sb3-qr-dqn": 152, "sb3-maskable-ppo": 128}
EVERY = pytest.mark.parametrize("algorithm", STOCK)
NARROW = {"net_arch": [16]}
QUICK = {
    "sb3-ppo": {"n_steps": 64, "n_epochs": 4, "learning_rate": 5e-3, "policy_kwargs": NARROW},
    "sb3-a2c": {"learning_rate": 5e-3, "policy_kwargs": NARROW},
    "sb3-maskable-ppo": {"n_steps": 64, "n_epochs": 4, "learning_rate": 5e-3, "policy_kwargs": NARROW},
    "sb3-dqn": {"buffer_size": 140, "target_update_interval": 57, "policy_kwargs": NARROW},
    "sb3-qr-dqn": {"target_update_interval": 57, "policy_kwargs": {"n_quantiles": 10, **NARROW}},
}


def learner(algorithm, steps=4096, seed=0, task=FIVE, **changes):
    return read_presets(SMALL_PRESETS).config(algorithm, task, seed=seed, steps=steps, changes=changes).learner()


@pytest.fixture
def quick(monkeypatch):
    """Stock agents that do sooner, with narrower networks, what takes them thousands of steps."""
    for name, options in QUICK.items():
        settings, made = STOCK[name]
        learner, algorithm = made.args
        quicker = partial(made.func, learner, partial(algorithm, **options))
        monkeypatch.setitem(config.ALGORITHMS, name, (settings, quicker))


def weights(agent):
    return np.concatenate([array.ravel() for array in agent.weights().values()])


def plain(settings):
    """The attributes of an agent that are numbers or words, and its schedules at half time."""
    found = {name: value for name, value in vars(settings).items() if isinstance(value, int | float | str | None)}
    found.pop("exploration_rate", None)  # which the library sets after a step, and the learner before
    schedules = {
        name: value(0.5) for name, value in vars(settings).items() if name.endswith(("schedule", "clip_range"))
    }
    groups = settings.policy.optimizer.state_dict()["param_groups"]
    return {**found, **schedules, "groups": groups, "kwargs": settings.policy_kwargs, "networks": str(settings.policy)}


@pytest.mark.parametrize("algorithm", ["sb3-dqn", "sb3-qr-dqn", "sb3-dqn-tuned"])
def test_before_it_learns_it_explores_as_it_will_begin_to(algorithm):
    agent = learner(algorithm)
    nodes = TABLES.decisions[:2]
    probabilities = agent.probabilities(TABLES.observation[nodes], TABLES.legal[nodes])
    first = agent.model.exploration_schedule(1.0)
    assert probabilities.min(axis=1) == pytest.approx(first / probabilities.shape[1])
    assert first > 0


def test_every_stock_agent_is_tested():
    assert CLASSES.keys() == STEPS.keys()
    assert {**CLASSES, **TUNED}.keys() == STOCK.keys()


@pytest.mark.parametrize("algorithm", CLASSES)
def test_a_stock_agent_is_the_librarys_own(algorithm):
    stock = CLASSES[algorithm]("MlpPolicy", gym.make(BOX, tiles=5), seed=3)
    agent = learner(algorithm, seed=3)
    assert type(agent.model) is type(stock)
    assert plain(agent.model) == plain(stock)
    assert asdict(read_presets().config(algorithm, FIVE).settings) == {"reward_scale": 1.0}


@pytest.mark.parametrize("algorithm", CLASSES)
def test_a_stock_agent_learns_as_if_it_were_not_measured(algorithm, quick):
    steps, measured = STEPS[algorithm], []
    stock = CLASSES[algorithm]("MlpPolicy", gym.make(BOX, tiles=5), seed=3, **QUICK.get(algorithm, {}))
    stock.learn(steps)  # before the other is made, as all draw from the same generators
    agent = learner(algorithm, steps, seed=3)
    untrained = weights(agent).copy()
    agent.learn_until(steps, lambda: measured.append(policies(GAME, agent)))
    assert measured
    assert agent.num_timesteps == stock.num_timesteps == steps
    learned = stock.policy.state_dict()
    assert all((array == learned[name].numpy()).all() for name, array in agent.weights().items() if name in learned)
    assert learned.keys() <= agent.weights().keys()
    assert (weights(agent) != untrained).any()


TUNED_ARGUMENTS = {
    "sb3-maskable-ppo-tuned": {
        "n_steps": 16,
        "n_epochs": 4,
        "batch_size": 22,
        "gae_lambda": 0.6,
        "clip_range": 0.2,
        "ent_coef": 0.02,
        "vf_coef": 0.5,
        "max_grad_norm": 0.5,
    },
    "sb3-dqn-tuned": {
        "batch_size": 64,
        "buffer_size": 140,
        "learning_starts": 50,
        "gradient_steps": 2,
        "train_freq": 1,
        "target_update_interval": 57,
        "exploration_initial_eps": 0.3,
        "exploration_final_eps": 0.05,
        "exploration_fraction": 1.0,
        "max_grad_norm": 10.0,
    },
}
POLICY = {"sb3-maskable-ppo-tuned": {"share_features_extractor": False}, "sb3-dqn-tuned": {}}


@pytest.mark.parametrize("algorithm", TUNED)
def test_a_tuned_agent_is_the_librarys_own_with_these_arguments(algorithm):
    made = {"num_envs": 4, "autoreset_mode": "SameStep", "reward_scale": 0.05}
    layers = {"features_extractor_class": NormalisedLayers, "features_extractor_kwargs": {"width": 32}, "net_arch": []}
    tuned = TUNED[algorithm](
        "MlpPolicy",
        TurnVecEnv(gym.make_vec(BOX, tiles=5, **made)),
        learning_rate=LinearSchedule(2e-3, 0.0, 1.0),
        gamma=1.0,
        policy_kwargs=layers | POLICY[algorithm],
        seed=3,
        **TUNED_ARGUMENTS[algorithm],
    )
    before = plain(tuned)
    tuned.learn(256)
    agent = learner(algorithm, 256, seed=3)
    assert type(agent.model) is type(tuned)
    assert plain(agent.model) == before
    agent.learn_until(256, lambda: policies(GAME, agent))
    learned = tuned.policy.state_dict()
    assert agent.num_timesteps == tuned.num_timesteps == 256
    assert all((array == learned[name].numpy()).all() for name, array in agent.weights().items() if name in learned)
    assert agent.figures["learning_rate"] < 2e-3 / 20


def test_tuned_agents_see_what_our_networks_see_by_normalised_layers():
    seen = torch.as_tensor(TABLES.observation[TABLES.decisions])
    layers = NormalisedLayers(gym.make(BOX, tiles=5).observation_space, 32)
    features = layers(seen)
    assert features.shape == (len(seen), 32)
    assert len(features.unique(dim=0)) == len(seen.unique(dim=0))
    assert [type(layer).__name__ for layer in layers._network.layers] == ["Linear", "LayerNorm", "ReLU"] * 2


@pytest.mark.parametrize(
    ("algorithm", "changes", "message"),
    [
        ("sb3-maskable-ppo-tuned", {"width": 2**21}, "width must be an integer from 1 to"),
        ("sb3-maskable-ppo-tuned", {"minibatches": 33}, "minibatches must be an integer from 1 to 32"),
        ("sb3-maskable-ppo-tuned", {"minibatches": 22}, "minibatches must leave no sample alone: 22 of 64 do"),
        ("sb3-maskable-ppo-tuned", {"num_envs": 1, "n_steps": 1}, "num_envs x n_steps must be an integer from 2"),
        ("sb3-maskable-ppo-tuned", {"gae_lambda": 1.5}, "gae_lambda must be from 0 to 1, not 1.5"),
        ("sb3-dqn-tuned", {"gamma": 2.0}, "gamma must be from 0 to 1, not 2.0"),
        ("sb3-dqn-tuned", {"exploration_final_eps": 1.5}, "exploration_final_eps must be from 0 to 1, not 1.5"),
        ("sb3-dqn-tuned", {"reward_scale": 0}, "reward_scale must be above 0"),
    ],
)
def test_settings_of_tuned_agents_without_a_meaning_are_refused(algorithm, changes, message):
    with pytest.raises(ValueError, match=message):
        learner(algorithm, **changes)


@EVERY
def test_what_is_measured_is_what_the_agent_does(algorithm, quick):
    """The library's `predict`, asked about every node, and again and again about one."""
    agent = learner(algorithm)
    agent.learn_until(152, lambda: None)
    masked = "maskable" in algorithm

    def play(observations, masks, **options):
        return agent.model.predict(observations, **options, **({"action_masks": masks} if masked else {}))[0]

    greedy, exploring = policies(GAME, agent)
    theirs = RegretMeter(GAME).policy(partial(play, deterministic=True))
    illegal = "raise" if masked else "end"
    measured = evaluate(GAME, greedy, illegal=illegal)
    assert measured.regret == evaluate(GAME, theirs, illegal=illegal).regret > 0
    assert (measured.illegal_mass > 0) != masked
    node = int(TABLES.decisions[TABLES.legal[TABLES.decisions].sum(axis=1).argmax()])
    calls, rows = (1000, 1) if hasattr(agent.model, "exploration_rate") else (1, 2000)  # which is rolled once a call
    agent.model.exploration_rate = 0.5  # of the agents that have one
    seen, mask = (array.repeat(rows, axis=0) for array in (TABLES.observation[[node]], TABLES.legal[np.array([node])]))
    drawn = np.concatenate([play(seen, mask) for _ in range(calls)])
    share = np.bincount(drawn, minlength=TABLES.actions) / len(drawn)
    assert share == pytest.approx(agent.probabilities(seen[:1], mask[:1])[0], abs=0.08)
    assert exploring[TABLES.decisions].sum(axis=1) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("algorithm", ["sb3-ppo", "sb3-a2c", "sb3-maskable-ppo", *TUNED])  # the others take far longer
def test_a_stock_agent_learns(algorithm, quick):
    """Three tiles and one die of three faces: what is legal, and a little more."""
    task = read_presets(SMALL_PRESETS).tasks["three-tiles"]
    steps = 1000 if algorithm == "sb3-ppo" else 512  # the only one that has to learn, without masks, from few updates
    agent, game = learner(algorithm, steps, seed=2, task=task), task.game()
    illegal = "raise" if "maskable" in algorithm else "end"
    before = evaluate(game, policies(game, agent)[1], illegal=illegal).regret
    agent.learn_until(steps, lambda: None)
    assert evaluate(game, policies(game, agent)[1], illegal=illegal).regret < 0.7 * before


@EVERY
def test_a_scale_of_rewards_is_taken_out_of_values(algorithm):
    seen = TABLES.observation[TABLES.decisions], TABLES.legal[TABLES.decisions]
    whole, third = (learner(algorithm, reward_scale=scale).values(*seen) for scale in (1.0, 1 / 3))
    assert third == pytest.approx(3 * whole)
    with pytest.raises(ValueError, match="reward_scale must be above 0"):
        learner(algorithm, reward_scale=0)


def test_rewards_are_scaled():
    agent = learner("sb3-dqn", reward_scale=1 / 4)
    agent.learn_until(152, lambda: None)
    rewards = agent.model.replay_buffer.rewards[:152]
    assert set(4 * rewards.ravel()) <= set(range(-15, 1))
    assert rewards.min() == -15 / 4


@EVERY
def test_a_stock_agent_that_went_on_goes_back_to_its_snapshot(algorithm, quick, tmp_path):
    agent = learner(algorithm)
    agent.learn_until(150, lambda: None)
    save_snapshot(tmp_path / "snapshot", agent.snapshot())
    save_weights(tmp_path / "weights", agent)
    rate = getattr(agent.model, "exploration_rate", None)
    agent.learn_until(280, lambda: None)
    end, steps = weights(agent), agent.num_timesteps
    assert 280 <= steps < 400
    for other in (agent, learner(algorithm, seed=5)):
        other.restore(load_snapshot(tmp_path / "snapshot"))
        assert other is agent or other.figures == {}
        assert 150 <= other.num_timesteps < 250
        other.learn_until(280, lambda: None)
        assert other.num_timesteps == steps
        assert (weights(other) == end).all()
    agent.model.exploration_rate = 0.7
    load_weights(tmp_path / "weights", agent)
    assert rate in (None, agent.model.exploration_rate)
