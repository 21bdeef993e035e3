"""Test that every learner is complete, plays legally, explores, and changes its policy.

How well they learn is tested in tests/agents.
"""

from dataclasses import fields
from itertools import product

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("stable_baselines3")

import agents
from agents.common import Learner
from agents.presets import configure, read_preset
from agents.registry import LEARNERS
from stb_gym import ShutTheBox
from stb_gym.solver import compile_game
from tests import ROOT, every
from tests.learners import SMALL

OURS = [name for name, learner in LEARNERS.items() if not learner.of_library]


def missing(name):
    """Return what a learner of the registry still needs."""
    learner = LEARNERS[name]
    module = learner.__module__.rpartition(".")[2]
    needed = {
        "class attributes `settings_class`, `method` and `source`": all(
            hasattr(learner, attribute) for attribute in ("settings_class", "method", "source")
        ),
        "class attributes `SAVED` and `WEIGHTS`, names of which SAVED has all": (
            hasattr(learner, "SAVED") and set(getattr(learner, "WEIGHTS", [""])) <= set(learner.SAVED)
        ),
        f"`steps` in a table [{name}] of agents/presets.toml": "steps" in read_preset(name, None),
        f"a line about `{module}` in agents/__init__.py": f"`{module}`" in agents.__doc__,
        f"a test file tests/agents/test_{module}.py": (ROOT / f"tests/agents/test_{module}.py").exists(),
        "settings in SMALL of tests/learners.py": name in SMALL,
    }
    return [thing for thing, is_there in needed.items() if not is_there]


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_is_complete(name):
    things = missing(name)
    assert not things, "\n".join([f"{name} still needs:", *things])


def test_what_a_new_learner_needs_is_named(monkeypatch):
    monkeypatch.setitem(LEARNERS, "new", type("New", (Learner,), {"__module__": "agents.new"}))
    assert len(missing("new")) == 6


@pytest.mark.parametrize(
    ("algorithm", "budget"),
    [
        *every(4, [(name, 100) for name in OURS]),
        *every(len(OURS), product(OURS, (1, 3))),
        *(
            pytest.param(name, 12, marks=pytest.mark.slow if name == "sb3-a2c" else pytest.mark.nightly)
            for name, learner in LEARNERS.items()
            if learner.of_library
        ),
    ],
)
def test_a_learner_makes_the_rollouts_of_its_configuration(algorithm, budget):
    config, rollouts = configure(algorithm, "stb_gym/Threes-v0", {"dice": 3}, steps=budget, seed=1), []
    learner = config.make_learner(config.make_envs())
    learner.learn(config.steps, lambda: rollouts.append(learner.num_steps))
    number, each = config.rollouts
    assert learner.num_steps == number * each == config.steps
    assert rollouts == list(range(0, config.steps, each))
    assert learner.num_steps <= budget or learner.of_library
    assert learner.figures or budget < 100


@pytest.mark.parametrize("algorithm", OURS)
def test_a_learner_plays_legally_explores_and_changes_its_best_actions(algorithm):
    names = {field.name for field in fields(LEARNERS[algorithm].settings_class)}
    # Learners without a setting for it explore always, or by their policies; DQN can be told to.
    exploration = 0.3 if "exploration" in names else 1.0
    exploring = {"exploration": exploration, "final_exploration": 1.0}
    settings = SMALL[algorithm] | {name: exploring[name] for name in names & exploring.keys()} | {"num_envs": 4000}
    config = configure(algorithm, "stb_gym/ShutTheBox-v0", {"tiles": 6}, steps=60_000, settings=settings)
    envs, tables = config.make_envs(), compile_game(ShutTheBox(tiles=6))
    step, rollouts, found, expected = envs.step, [], [], []

    def watched(actions):
        states = envs.states
        assert tables.legal[states, actions].all()
        state = np.bincount(states, tables.choices[states]).argmax()
        best = learner.act(tables.observation[[state]], tables.legal[[state]])
        frequency = exploration * tables.legal[state] / tables.choices[state]
        frequency[best] += 1 - exploration
        expected.append(frequency)
        taken = actions[states == state]
        found.append(np.bincount(taken, minlength=tables.num_actions) / len(taken))
        return step(actions)

    envs.step = watched
    learner = config.make_learner(envs)
    seen = tables.observation[tables.decisions], tables.legal[tables.decisions]
    before = learner.act(*seen)
    learner.learn(config.steps, lambda: rollouts.append(learner.num_steps))
    after = learner.act(*seen)
    assert (after != before).any()
    assert tables.legal[tables.decisions, [before, after]].all()
    assert (rollouts[0], learner.num_steps) == (0, 4000 * len(found))
    assert rollouts == sorted(set(rollouts))
    assert rollouts[-1] < config.steps <= learner.num_steps
    frequencies, wanted = np.mean(found[1:], axis=0), np.mean(expected[1:], axis=0)  # without the warm-up
    for action, (frequency, right) in enumerate(zip(frequencies, wanted, strict=True)):
        message = f"action {action} was explored with frequency {frequency:.3f}, expected {right:.3f}"
        if LEARNERS[algorithm].on_policy:
            assert (frequency > 0) == (right > 0), message
        else:
            assert frequency == pytest.approx(right, abs=0.02), message
