"""d3rlpy: a buffer made from an environment, and DQN that learns online."""

import d3rlpy
import gymnasium as gym
import numpy as np
import pytest

import stb_gym
from tests.libraries import BOX, THREES


@pytest.mark.parametrize("name", [BOX, THREES])
def test_first_lines_and_a_little_learning(name):
    d3rlpy.seed(0)
    env = gym.make(name)
    shown, _ = env.reset(seed=0)
    dqn = d3rlpy.algos.DQNConfig(batch_size=16, learning_rate=0.01, target_update_interval=50).create(device="cpu:0")
    dqn.build_with_env(env)
    meter = stb_gym.RegretMeter(env)
    before = dqn.predict_value(shown[None], np.zeros(1, np.int64))
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
    assert dqn.predict_value(shown[None], np.zeros(1, np.int64)) != before
    assert meter(lambda seen: dqn.predict(seen)).regret > 0
