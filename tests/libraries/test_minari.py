"""Minari: play is recorded with its infos, and reloaded."""

import gymnasium as gym
import minari

import stb_gym
from tests.libraries import BOX


def test_play_is_recorded_and_reloaded(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    policy = stb_gym.solve(stb_gym.ShutTheBox()).policy
    env = minari.DataCollector(gym.make(BOX), record_infos=True)
    for seed in range(30):
        observation, _ = env.reset(seed=seed)
        over = False
        while not over:
            observation, _, over, _, info = env.step(policy[env.unwrapped.find_states(observation)])
        assert info["final_score"] >= 0
    env.create_dataset("shut-the-box/perfect-v0", algorithm_name="perfect play", description="30 turns")

    dataset = minari.load_dataset("shut-the-box/perfect-v0")
    assert dataset.total_episodes == 30
    env = dataset.recover_environment()
    for episode in dataset.iterate_episodes():
        assert (episode.infos["final_score"][:-1] == -1).all()
        assert episode.infos["final_score"][-1] == -episode.rewards.sum()
        assert (policy[env.unwrapped.find_states(episode.observations[:-1])] == episode.actions).all()
