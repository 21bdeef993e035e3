"""Train RLlib's PPO with its action-masking module, and print its exact regret after every iteration.

`mask_names="rllib"` names the entries of observations as the module expects: `observations` and `action_mask`.
`stb_gym:` before the id lets RLlib's workers import the package. The meter gets the actions of greatest logit.

    python docs/tutorials/with_rllib.py --steps 40000
"""

import argparse

import gymnasium as gym
import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

import stb_gym

ENVIRONMENT = "stb_gym:stb_gym/ShutTheBoxMasked-v0"
OPTIONS = {"mask_names": "rllib", "observation_dtype": "float32", "reward_scale": 1 / 45}
BATCH = 4000


def configuration(seed):
    """Return the configuration of PPO in this process, on eight games at once."""
    return (
        PPOConfig()
        .environment(ENVIRONMENT, env_config=OPTIONS)
        .env_runners(num_env_runners=0, num_envs_per_env_runner=8)
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
        .training(train_batch_size_per_learner=BATCH, minibatch_size=256, num_epochs=4, lr=1e-3, gamma=1.0)
        .debugging(seed=seed, log_level="ERROR")
    )


def best(module, observations):
    """Return the most probable actions [B] for a dictionary of the environment's observations, as arrays."""
    with torch.no_grad():
        tensors = {name: torch.as_tensor(array) for name, array in observations.items()}
        outputs = module.forward_inference({"obs": tensors})
    return outputs["action_dist_inputs"].argmax(dim=1)


def main(steps, seed=0):
    """Train for `steps` steps, summed over all games, and print the learning curve."""
    torch.set_num_threads(1)  # small networks are faster with one thread
    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    meter = stb_gym.RegretMeter(gym.make(ENVIRONMENT, **OPTIONS))
    algorithm = configuration(seed).build_algo()
    for done in range(0, steps + 1, BATCH):
        regret = meter(lambda observations, masks: best(algorithm.get_module(), observations)).regret
        print(f"{done:>9,} steps: regret {regret:.4f}")
        if done < steps:
            algorithm.train()
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=40_000)
    main(parser.parse_args().steps)
