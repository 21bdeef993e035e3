"""Configurations go through JSON, and those without a meaning are refused."""

from dataclasses import replace

import pytest

from agents.config import ALGORITHMS, Config, Task
from tests.agents.small import BOX, config, learner


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_configurations_go_through_json(algorithm):
    whole = config(algorithm, Task(BOX, {"tiles": 12}, "shut"), steps=10_000, seed=7)
    assert Config.from_json(whole.to_json()) == whole
    assert whole.digest() == Config.from_json(whole.to_json()).digest()
    assert whole.digest() != replace(whole, seed=8).digest()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"algorithm": "a2c"}, "unknown algorithm 'a2c': allowed are ppo, dqn"),
        ({"task": {"env": "CartPole-v1"}}, "unknown environment 'CartPole-v1': allowed are stb_gym/ShutTheBox-v0"),
        ({"task": {"rules": {"tile": 3}}}, "unknown rule 'tile'"),
        ({"task": {"rules": {"objective": "shut"}}}, "unknown rule 'objective': allowed are tiles, dice, faces, score"),
        ({"task": {"rules": 3}}, "rules must be an object of entries"),
        ({"task": {"objective": "win"}}, "unknown objective"),
        ({"task": {"mood": "good"}}, "unknown entry 'mood'"),
        ({"steps": 0}, "steps must be an integer from 1"),
        ({"seed": -1}, "seed must be an integer from 0"),
        ({"settings": {"width": 0}}, "width must be an integer from 1"),
        ({"settings": {"masks": 1.5}}, "masks must be true or false, not 1.5"),
        ({"settings": {"learning_rate": float("nan")}}, "learning_rate must be a number, 0 or more"),
        ({"settings": {"momentum": 1}}, "unknown setting 'momentum': allowed are masks, num_envs"),
        ({"colour": 1}, "unknown entry 'colour'"),
    ],
)
def test_configurations_that_are_none_are_refused(change, message):
    whole = config("ppo").to_json()
    merged = {name: {**whole[name], **entry} if isinstance(entry, dict) else entry for name, entry in change.items()}
    with pytest.raises(ValueError, match=message):
        Config.from_json({**whole, **merged})


@pytest.mark.parametrize(
    ("algorithm", "first"), [("ppo", 0), ("dqn", 512), ("q-learning", 0), ("afterstate-network", 128)]
)
def test_a_training_that_ends_before_it_begins_to_learn_is_refused(algorithm, first):
    agent = learner(algorithm, steps=first + 1)
    before = {name: array.copy() for name, array in agent.weights().items()}
    agent.learn_until(first + 1, lambda: None)
    assert any((array != before[name]).any() for name, array in agent.weights().items())
    with pytest.raises(ValueError, match=f"steps must be {f'above {first:,}, where {algorithm}' if first else ''}"):
        config(algorithm, steps=first)


def test_configurations_that_are_not_whole_are_refused():
    whole = config("ppo").to_json()
    with pytest.raises(ValueError, match="the entry 'steps' is missing"):
        Config.from_json({name: value for name, value in whole.items() if name != "steps"})
    with pytest.raises(ValueError, match="the setting 'entropy' is missing"):
        Config.from_json({**whole, "settings": {k: v for k, v in whole["settings"].items() if k != "entropy"}})
    with pytest.raises(ValueError, match="a Config is an object of entries, not 3"):
        Config.from_json(3)


@pytest.mark.parametrize(
    ("algorithm", "changes", "message"),
    [
        ("ppo", {"gae_lambda": 5.0}, "gae_lambda must be from 0 to 1, not 5.0"),
        ("ppo", {"clip_range": 0.0}, "clip_range must lie between 0 and 1"),
        ("ppo", {"width": 10**8}, "width must be an integer from 1 to"),
        ("dqn", {"batch_size": 0}, "batch_size must be an integer from 1 to"),
        ("dqn", {"exploration": 1.0}, "exploration must be below 1"),
        ("dqn", {"averaging": 0.0}, "averaging must be a number above 0, not 0.0"),
        ("ppo", {"averaging": 1.5}, "averaging must be from 0 to 1, not 1.5"),
        ("dqn", {"learning_rate": 0.0}, "learning_rate must be a number above 0, not 0.0"),
        ("afterstate-network", {"learning_rate": 0.0}, "learning_rate must be a number above 0, not 0.0"),
        ("sb3-dqn-tuned", {"learning_rate": 0.0}, "learning_rate must be a number above 0, not 0.0"),
        ("sb3-maskable-ppo-tuned", {"clip_range": 0.0}, "clip_range must be a number above 0, not 0.0"),
        ("afterstate-network", {"exploration": 1.0}, "exploration must be below 1"),
        ("dqn", {"quantiles": 0}, "quantiles must be an integer from 1 to"),
        ("q-learning", {"exploration": 1.0}, "exploration must be below 1"),
        ("afterstates", {"horizon": 0.5}, "horizon must be 1 or more"),
        ("limit", {"exploration": 1.0}, "exploration must be below 1"),
    ],
)
def test_settings_without_a_meaning_are_refused(algorithm, changes, message):
    with pytest.raises(ValueError, match=message):
        config(algorithm, changes=changes)


def test_a_warm_up_may_be_left_out_and_a_horizon_be_one_step():
    assert config("q-learning", changes={"horizon": 1.0}).settings.horizon == 1
    assert config("dqn", changes={"warm_up": 0}).settings.warm_up == 0


def test_a_device_that_there_is_not_is_refused():
    for device in ("abacus", "xpu:7"):
        with pytest.raises(ValueError, match=f"there is no device '{device}': "):
            config("ppo").learner(device)
