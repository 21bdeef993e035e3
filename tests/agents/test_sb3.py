"""Agents of stable-baselines3: the library's own, measured as they play, and stored by the library."""

import zipfile
from functools import partial

import gymnasium as gym
import pytest
import torch
from sb3_contrib import MaskablePPO

from agents.presets import ALGORITHMS
from agents.sb3 import STOCK, NormalisedLayers, make_stock
from stb_gym import ShutTheBox, evaluate
from stb_gym.solver import compile_game
from tests.agents import seen

BOX, FIVE = "stb_gym/ShutTheBox-v0", ShutTheBox(tiles=5)
TABLES = compile_game(FIVE)
SEEN = seen(TABLES)
SMALL = {
    "sb3-maskable-ppo-tuned": {"num_envs": 8, "width": 32, "batch_size": 64},
}
EVERY = pytest.mark.parametrize("name", [*STOCK, *SMALL])


def learner_of(name, seed=3, options=None, **settings):
    """Return a learner; `options` are further arguments of its model."""
    settings = ALGORITHMS[name].settings_class(**(SMALL.get(name, {}) | settings))
    if name in STOCK:
        model_class = partial(STOCK[name], **(options or {}))
        return make_stock(model_class, gym.make(BOX, tiles=5), settings, seed, "cpu")
    envs = gym.make_vec(BOX, settings.num_envs, autoreset_mode="SameStep", tiles=5)
    return ALGORITHMS[name].make(envs, settings, seed, "cpu")


def regret_of(learner):
    policy = TABLES.policy(learner.act(*SEEN))
    return evaluate(FIVE, policy, illegal="raise" if learner.masks else "end").regret


SHORT = {"n_steps": 64, "n_epochs": 2, "policy_kwargs": {"net_arch": [16]}}


@pytest.mark.parametrize(
    ("name", "steps", "options"), [("sb3-ppo", 128, SHORT), ("sb3-a2c", 50, {}), ("sb3-dqn", 400, {})]
)
def test_stock_agents_learn_as_if_they_were_not_measured(name, steps, options):
    model = STOCK[name]("MlpPolicy", gym.make(BOX, tiles=5), seed=3, device="cpu", **options)
    model.learn(steps)  # before the other is made, as both draw from the same generators
    learner, regrets = learner_of(name, options=options), []
    learner.learn(steps, lambda: regrets.append(regret_of(learner)))
    assert learner.num_steps == model.num_timesteps == steps
    ours, theirs = learner.model.policy.state_dict(), model.policy.state_dict()
    assert all((ours[entry] == theirs[entry]).all() for entry in theirs)
    assert regrets[0] != regret_of(learner)
    assert "loss" in learner.figures or "value_loss" in learner.figures


@EVERY
def test_it_is_measured_as_it_plays(name):
    learner = learner_of(name)
    masks = {"action_masks": SEEN[1]} if learner.masks else {}
    greedy, _ = learner.model.predict(SEEN[0], deterministic=True, **masks)
    actions = learner.act(*SEEN)
    assert (actions == greedy).all()
    assert TABLES.legal[TABLES.decisions, actions].all() == learner.masks


@pytest.mark.parametrize("name", SMALL)
def test_settings_reach_the_library(name):
    model = learner_of(name, learning_rate=0.25, gamma=0.75).model
    assert [model.lr_schedule(left) for left in (1.0, 0.5, 0.0)] == [0.25, 0.125, 0.0]
    assert (model.gamma, model.batch_size, model.n_envs) == (0.75, 64, 8)
    assert "(1): Linear(in_features=16, out_features=32" in str(model.policy)


def test_the_features_are_of_unary_inputs_with_layer_normalisation():
    layers = NormalisedLayers(gym.make(BOX, tiles=5).observation_space, 32)
    features = layers(torch.as_tensor(SEEN[0]))
    assert features.shape == (len(TABLES.decisions), 32)
    assert len(features.unique(dim=0)) == len(SEEN[0])
    assert [type(layer).__name__ for layer in layers.layers] == ["Unary", *["Linear", "LayerNorm", "ReLU"] * 2]


def test_rewards_of_tuned_agents_are_divided_by_the_largest():
    learner = learner_of("sb3-maskable-ppo-tuned")
    learner.learn(200)
    rewards = 15 * learner.model.rollout_buffer.rewards
    assert set(rewards.round(4).ravel().tolist()) <= set(range(-15, 1))
    assert rewards.min() < -1


@EVERY
def test_it_is_saved_and_loaded(name, tmp_path):
    learner, other = learner_of(name), learner_of(name, seed=4)
    assert (learner.act(*SEEN) != other.act(*SEEN)).any()
    learner.save(tmp_path / "model.zip")
    other.load(tmp_path / "model.zip")
    loaded = STOCK.get(name, MaskablePPO).load(tmp_path / "model.zip", device="cpu")
    assert (learner.act(*SEEN) == other.act(*SEEN)).all()
    for model in (other.model, loaded):
        theirs = model.policy.state_dict()
        assert all((ours == theirs[entry]).all() for entry, ours in learner.model.policy.state_dict().items())


def test_damaged_and_foreign_files_are_refused(tmp_path, monkeypatch):
    learner, path = learner_of("sb3-a2c"), tmp_path / "model.zip"
    monkeypatch.chdir(tmp_path)
    path.write_bytes(b"no zip file")
    with pytest.raises(ValueError, match="cannot read the weights"):
        learner.load(path)
    for weights in (b"no weights", b"cos\nsystem\n(S'touch harm'\ntR."):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("policy.pth", weights)
        with pytest.raises(ValueError, match="cannot read the weights"):
            learner.load(path)
    assert not (tmp_path / "harm").exists()
    learner_of("sb3-dqn").save(path)
    with pytest.raises(ValueError, match="cannot read the weights"):
        learner.load(path)


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "options"), [("sb3-maskable-ppo", {"n_steps": 256}), ("sb3-maskable-ppo-tuned", {})])
def test_agents_with_masks_learn(name, options):
    learner = learner_of(name, options=options)
    before = regret_of(learner)
    learner.learn(2048)
    assert regret_of(learner) < 0.5 * before
