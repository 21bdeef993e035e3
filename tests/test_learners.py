"""Every learner plays legally, explores, and changes its policy. How well they learn is tested in tests/agents."""

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("stable_baselines3")

from agents.presets import ALGORITHMS, configure
from stb_gym import ShutTheBox
from stb_gym.solver import compile_game

SETTINGS = {
    "ppo": {"num_steps": 2, "learning_rate": 0.02, "epochs": 2, "width": 16},
    "dqn": {"warm_up": 4000, "learning_rate": 0.02, "width": 16, "final_exploration": 1},
    "fitted-q": {"warm_up": 0, "width": 16, "exploration": 0.3},
    "afterstates": {"width": 16, "exploration": 0.3},
    "q-learning": {"exploration": 0.3},
    "tabular-afterstates": {"exploration": 0.3},
    "certainty-equivalence": {"exploration": 0.3},
}


@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if not name.startswith("sb3-")])
def test_a_learner_plays_legally_explores_and_changes_its_best_actions(algorithm):
    settings = {"num_envs": 4000} | SETTINGS.get(algorithm, {})
    config = configure(algorithm, "stb_gym/ShutTheBox-v0", {"tiles": 6}, steps=60_000, settings=settings)
    envs, tables = config.make_envs(), compile_game(ShutTheBox(tiles=6))
    step, told, errors = envs.step, [], []
    exploration = settings.get("exploration", 1)  # DQN and Monte Carlo play at random here; PPO draws by its network

    def watched(actions):
        states = envs.states
        assert tables.legal[states, actions].all()
        state = np.bincount(states, tables.choices[states]).argmax()
        expected = exploration * tables.legal[state] / tables.choices[state]
        expected[learner.act(tables.observation[[state]], tables.legal[[state]])] += 1 - exploration
        frequencies = np.bincount(actions[states == state], minlength=tables.num_actions) / (states == state).sum()
        errors.append(frequencies - expected)
        return step(actions)

    envs.step = watched
    learner = config.make_learner(envs)
    seen = tables.observation[tables.decisions], tables.legal[tables.decisions]
    before = learner.act(*seen)
    learner.learn(config.steps, lambda: told.append(learner.num_steps))
    after = learner.act(*seen)
    assert (after != before).any()
    assert tables.legal[tables.decisions, [before, after]].all()
    assert algorithm == "ppo" or np.mean(errors, axis=0) == pytest.approx(0, abs=0.02)
    assert (told[0], learner.num_steps) == (0, 4000 * len(errors))
    assert told == sorted(set(told))
    assert told[-1] < config.steps <= learner.num_steps
