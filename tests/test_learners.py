"""Every learner changes its policy and acts by it. What they learn, and how well, is tested in tests/agents."""

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("stable_baselines3")

from agents.presets import ALGORITHMS, configure
from stb_gym import ShutTheBox
from stb_gym.solver import compile_game

SETTINGS = {
    "ppo": {"num_steps": 2, "learning_rate": 0.02, "epochs": 2, "width": 16},
    "dqn": {"warm_up": 4000, "learning_rate": 0.02, "width": 16},
    "fitted-q": {"warm_up": 0, "width": 16},
    "afterstates": {"width": 16},
}
RANDOM = "monte-carlo"  # it plays at random while it learns


@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if not name.startswith("sb3-")])
def test_a_learner_plays_legally_by_its_probabilities_and_changes_them(algorithm):
    settings = {"num_envs": 4000} | SETTINGS.get(algorithm, {})
    config = configure(algorithm, "stb_gym/ShutTheBox-v0", {"tiles": 6}, steps=60_000, settings=settings)
    envs, tables = config.make_envs(), compile_game(ShutTheBox(tiles=6))
    step, told, likeliest = envs.step, [], []

    def watched(actions):
        nodes = envs.nodes
        assert tables.legal[nodes, actions].all()
        node = np.bincount(nodes, tables.choices[nodes]).argmax()
        expected = learner.probabilities(tables.observation[[node]], tables.legal[[node]])[0]
        frequencies = np.bincount(actions[nodes == node], minlength=tables.actions) / (nodes == node).sum()
        assert algorithm == RANDOM or frequencies == pytest.approx(expected, abs=0.12)
        likeliest.append(expected.max())
        return step(actions)

    envs.step = watched
    learner = config.make_learner(envs)
    seen = tables.observation[tables.decisions], tables.legal[tables.decisions]
    before = learner.probabilities(*seen)
    learner.learn(config.steps, lambda: told.append(learner.num_steps))
    assert (learner.probabilities(*seen) != before).any()
    assert likeliest[-1] > 0.6
    assert (told[0], learner.num_steps) == (0, 4000 * len(likeliest))
    assert told == sorted(set(told))
    assert told[-1] < config.steps <= learner.num_steps
