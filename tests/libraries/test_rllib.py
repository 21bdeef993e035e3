"""RLlib: an id or a function as environment, in this process and in another one, and its action-masking module."""

import os
import re
import subprocess
import sys

import gymnasium as gym
import pytest
import ray
import torch
import tree
from ray.rllib.algorithms.dqn import DQNConfig
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

import stb_gym
from tests import ROOT
from tests.libraries import BOX, MASKED

FLOATS = {"observation_dtype": "float32"}
SMALL = {"train_batch_size_per_learner": 256, "minibatch_size": 128, "num_epochs": 2}


@pytest.fixture(scope="module", autouse=True)
def cluster():
    environment = {"env_vars": {"PYTHONPATH": str(ROOT)}}
    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env=environment)
    yield
    ray.shutdown()


def trained(config, iterations=2):
    algorithm = config.debugging(seed=0).build_algo()
    for _ in range(iterations):
        assert algorithm.train()["num_env_steps_sampled_lifetime"] > 0
    module = algorithm.get_module()
    algorithm.stop()
    return module


def best(module):
    """Return an agent of the most probable actions, or of those of highest value."""

    def agent(shown, masks):
        with torch.no_grad():
            output = module.forward_inference({"obs": tree.map_structure(torch.as_tensor, shown)})
        return output["actions"] if "actions" in output else output["action_dist_inputs"].argmax(dim=1)

    return agent


def test_first_line():
    """The prefix `stb_gym:` lets another process import the package."""
    config = PPOConfig().environment(f"stb_gym:{BOX}", env_config=FLOATS).training(**SMALL)
    module = trained(config.env_runners(num_env_runners=1), 1)
    assert stb_gym.RegretMeter(gym.make(BOX, **FLOATS))(best(module)).regret > 0


def test_an_example_of_rllib_runs_unchanged(tmp_path):
    example = "ray.rllib.examples.envs.async_gym_env_vectorization"
    words = ["--env", f"stb_gym:{BOX}", "--vectorize-mode", "sync", "--no-tune", "--num-env-runners", "0"]
    done = subprocess.run(
        [sys.executable, "-m", example, *words, "--stop-iters", "1"],
        cwd=tmp_path,
        env=os.environ | {"RAY_ADDRESS": "local"},
        capture_output=True,
        text=True,
        check=True,
    )
    [mean] = re.findall(r"^iter=0 R=(\S+)$", done.stdout, re.MULTILINE)
    assert -45 <= float(mean) < 0


def test_a_registered_function():
    register_env("box", lambda config: gym.make(BOX, **config))
    config = DQNConfig().environment("box", env_config={**FLOATS, "tiles": 6}).env_runners(num_env_runners=0)
    config = config.training(train_batch_size_per_learner=32, num_steps_sampled_before_learning_starts=64)
    module = trained(config)
    assert stb_gym.RegretMeter(gym.make(BOX, tiles=6, **FLOATS))(best(module)).regret > 0


def test_its_action_masking_module_takes_no_illegal_action():
    options = {**FLOATS, "mask_names": "rllib", "reward_scale": 1 / 45}
    config = PPOConfig().environment(f"stb_gym:{MASKED}", env_config=options).env_runners(num_env_runners=0)
    config = config.rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule)).training(**SMALL)
    evaluation = stb_gym.RegretMeter(gym.make(MASKED, **options))(best(trained(config)))
    assert evaluation.illegal_mass == 0
    assert 0 < evaluation.regret < 12
