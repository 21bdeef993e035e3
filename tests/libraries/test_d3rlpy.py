"""d3rlpy: a buffer made from an environment, and DQN that learns online."""

import d3rlpy
import gymnasium as gym
import pytest

import stb_gym
from tests.libraries import BOX, THREES


@pytest.mark.parametrize("name", [BOX, THREES])
def test_first_lines_and_a_little_learning(name):
    env = gym.make(name)
    dqn = d3rlpy.algos.DQNConfig(batch_size=16, learning_rate=0.01, target_update_interval=50).create(device="cpu:0")
    dqn.build_with_env(env)
    meter = stb_gym.RegretMeter(env)
    before = meter(lambda seen: dqn.predict(seen)).regret
    dqn.fit_online(
        env,
        d3rlpy.dataset.create_fifo_replay_buffer(limit=1000, env=env),
        n_steps=300,
        n_steps_per_epoch=300,
        update_start_step=50,
        random_steps=50,
        show_progress=False,
        logger_adapter=d3rlpy.logging.NoopAdapterFactory(),
    )
    assert meter(lambda seen: dqn.predict(seen)).regret != before
