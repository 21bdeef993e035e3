"""Train stock models, and print the exact regret of each with masks and without them.

Settings are the defaults, with three seeds. With 2,048 steps, one rollout of PPO, all models train for the same number
of steps, A2C for two more. The meter masks the actions of models that were trained without masks.

    python docs/tutorials/price_of_masks.py --steps 2048
"""

import argparse

import gymnasium as gym
import numpy as np
import torch
from sb3_contrib import QRDQN, MaskablePPO
from stable_baselines3 import A2C, DQN, PPO

import stb_gym

STOCK = (DQN, QRDQN, A2C, PPO, MaskablePPO)


def main(steps, seeds=3):
    """Train each algorithm with `seeds` seeds, and print a Markdown table of mean regrets."""
    torch.set_num_threads(1)
    env = gym.make("stb_gym/ShutTheBox-v0")
    meter = stb_gym.RegretMeter(env)
    print("| stock model | regret without masks | turns ended by an illegal action | regret with masks |")
    print("| --- | ---: | ---: | ---: |")
    for algorithm in STOCK:
        models = [algorithm("MlpPolicy", env, seed=seed, device="cpu").learn(steps) for seed in range(seeds)]
        without = [meter(model, masked=False) for model in models]
        masked = [meter(model, masked=True) for model in models]
        regrets = [np.mean([evaluation.regret for evaluation in some]) for some in (without, masked)]
        illegal = np.mean([evaluation.illegal_mass for evaluation in without])
        print(f"| {algorithm.__name__} | {regrets[0]:.2f} | {illegal:.0%} | {regrets[1]:.2f} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=2_048)
    main(parser.parse_args().steps)
