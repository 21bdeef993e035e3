"""sb3-contrib: MaskablePPO asks for `action_masks`."""

import gymnasium as gym
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy

import stb_gym
from tests.libraries import BOX, IDS, measured


@pytest.mark.parametrize("name", IDS)
def test_first_line(name):
    model = MaskablePPO("MlpPolicy", name, n_steps=32, batch_size=32, seed=0, device="cpu").learn(64)
    assert measured(model.get_env(), model).illegal_mass == 0


def test_masked_ppo_learns_fast_and_plays_as_measured():
    env = stb_gym.sb3.TurnVecEnv(gym.make_vec(BOX, num_envs=8, autoreset_mode="SameStep"))
    model = MaskablePPO("MlpPolicy", env, n_steps=128, seed=0, device="cpu").learn(4096)
    evaluation = stb_gym.RegretMeter(env)(model)
    assert evaluation.regret < 2
    rewards, _ = evaluate_policy(model, env, n_eval_episodes=2000, return_episode_rewards=True)
    assert -sum(rewards) / len(rewards) == pytest.approx(evaluation.value, abs=1)
