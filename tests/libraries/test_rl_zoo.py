"""rl-baselines3-zoo: its own command line trains on an id, and another of its commands plays."""

import subprocess
import sys

import gymnasium as gym
from stable_baselines3 import DQN, PPO

import stb_gym
from tests.libraries import BOX

SETTINGS = {
    "ppo": f"{BOX}:\n  n_timesteps: 2048\n  policy: MlpPolicy\n  n_envs: 4\n  n_steps: 128\n",
    "dqn": f"{BOX}:\n  n_timesteps: 1000\n  policy: MlpPolicy\n  learning_starts: 200\n  buffer_size: 1000\n",
}


def test_it_trains_and_plays_by_its_commands(tmp_path):
    meter = stb_gym.RegretMeter(gym.make(BOX))
    for algorithm, kind in (("ppo", PPO), ("dqn", DQN)):
        (tmp_path / "settings.yml").write_text(SETTINGS[algorithm])
        common = ["--algo", algorithm, "--env", BOX, "--gym-packages", "stb_gym", "--device", "cpu", "-f", "logs"]
        for command in (
            ["rl_zoo3.train", *common, "--conf-file", "settings.yml", "--seed", "1", "--eval-freq", "500"],
            ["rl_zoo3.enjoy", *common, "-n", "100", "--no-render"],
        ):
            ended = subprocess.run([sys.executable, "-m", *command], cwd=tmp_path, capture_output=True, text=True)
            assert ended.returncode == 0, ended.stderr
        assert "Mean reward" in ended.stdout
        model = kind.load(tmp_path / f"logs/{algorithm}/stb_gym-ShutTheBox-v0_1/stb_gym-ShutTheBox-v0.zip")
        assert meter(model).regret > meter(model, masked=True).regret > 0
