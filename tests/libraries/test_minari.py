"""Minari: play is recorded with its infos, reloaded, cloned, and the clone is measured."""

from collections import Counter, defaultdict

import gymnasium as gym
import minari
import numpy as np

import stb_gym
from tests.libraries import BOX


def test_play_is_recorded_reloaded_and_cloned(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    policy = stb_gym.solve(stb_gym.ShutTheBox()).policy
    env = minari.DataCollector(gym.make(BOX), record_infos=True)
    for seed in range(300):
        observation, _ = env.reset(seed=seed)
        over = False
        while not over:
            observation, _, over, _, info = env.step(policy[env.unwrapped.node(observation)])
        assert info["final_score"] >= 0
    env.create_dataset("shut-the-box/perfect-v0", algorithm_name="perfect play", description="300 turns")

    dataset = minari.load_dataset("shut-the-box/perfect-v0")
    assert dataset.total_episodes == 300
    seen = defaultdict(Counter)
    for episode in dataset.iterate_episodes():
        assert (episode.infos["final_score"][:-1] == -1).all()
        assert episode.infos["final_score"][-1] == -episode.rewards.sum()
        for observation, action in zip(episode.observations[:-1], episode.actions, strict=True):
            seen[observation.tobytes()][int(action)] += 1

    def clone(observations, masks):
        known = [seen[row.tobytes()].most_common(1) for row in observations]
        return np.array([each[0][0] if each else mask.argmax() for each, mask in zip(known, masks, strict=True)])

    evaluation = stb_gym.RegretMeter(dataset.recover_environment())(clone)
    assert 0 < evaluation.regret < 6
