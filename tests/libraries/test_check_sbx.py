"""Collectors and replay buffers of sbx pass. Its updates are in JAX, which `check.update` does not take."""

import sbx
from stable_baselines3.common.vec_env import DummyVecEnv

from stb_gym import check


def vectorised(envs):
    return DummyVecEnv([lambda env=env: env for env in envs])


def test_the_collector_of_ppo_passes():
    def collect(envs):
        model = sbx.PPO("MlpPolicy", vectorised(envs), n_steps=64, gamma=0.0, seed=0)  # no bootstrapping in rewards
        _, callback = model._setup_learn(1)
        buffer = model.rollout_buffer
        model.collect_rollouts(model.env, callback, buffer, model.n_steps)
        return {
            "observation": buffer.observations,
            "action": buffer.actions,
            "reward": buffer.rewards,
            "episode_start": buffer.episode_starts,
        }

    result = check.rollout(collect, num_envs=4, autoreset=None)
    assert result, result


def test_samples_of_the_replay_buffer_pass():
    def collect(envs):
        model = sbx.DQN("MlpPolicy", vectorised(envs), learning_starts=1000, buffer_size=2000, seed=0)
        rows = model.learn(400).replay_buffer.sample(256)
        return {
            "observation": rows.observations,
            "action": rows.actions,
            "next_observation": rows.next_observations,
            "reward": rows.rewards,
            "terminated": rows.dones,
        }

    result = check.rollout(collect, num_envs=4, autoreset=None, shuffled=True)
    assert result, result
