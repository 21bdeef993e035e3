"""Every learner learns for 1,000 steps: a smoke test. What they learn, and how well, is tested in tests/agents."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("stable_baselines3")

from agents.presets import ALGORITHMS, TASKS, configure
from training.run import measure

WARM_UP = {"dqn": {"warm_up": 200}, "fitted-q": {"warm_up": 200}}


@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if not name.startswith("sb3-")])
def test_a_learner_changes_its_policy_and_plays_legally(algorithm):
    settings = {"num_envs": 32} | WARM_UP.get(algorithm, {})
    config = configure(algorithm, *TASKS["nine-tiles"], "quick", steps=1000, settings=settings)
    learner = config.make_learner(config.make_envs())
    before = measure(config, learner)
    learner.learn(config.steps)
    after = measure(config, learner)
    assert learner.num_steps >= 1000
    assert (after.policy != before.policy).any()
    assert after.greedy.illegal_mass == after.exploring.illegal_mass == 0
