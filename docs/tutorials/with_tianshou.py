"""Train Tianshou's DQN with masks, and print its exact regret after every epoch.

Tianshou finds the masks in observations with the entries `obs` and `mask`: use an id with `Masked` in it and
`mask_names="tianshou"`. Tianshou's double DQN masks the next action, too.

    python docs/tutorials/with_tianshou.py --steps 40000
"""

import argparse

import gymnasium as gym
import numpy as np
import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

import stb_gym

GAMES, EPOCH = 16, 4000


def make():
    """Make one game; observations are floats and rewards from -1 to 0."""
    options = {"mask_names": "tianshou", "observation_dtype": "float32", "reward_scale": 1 / 45}
    return gym.make("stb_gym/ShutTheBoxMasked-v0", **options)


def best(policy, observations):
    """Return the legal actions [B] of highest value for a dictionary of the environment's observations."""
    with torch.no_grad():
        return policy(Batch(obs=Batch(observations), info=Batch())).act


def main(steps, seed=0):
    """Train for `steps` steps, summed over all games, and print the learning curve."""
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002 (Tianshou explores by these)
    torch.set_num_threads(1)  # small networks are faster with one thread
    env = make()
    meter = stb_gym.RegretMeter(env)
    envs = DummyVectorEnv([make for _ in range(GAMES)])
    envs.seed(seed)
    net = Net(state_shape=env.observation_space["obs"].shape, action_shape=env.action_space.n, hidden_sizes=[128, 128])
    policy = DiscreteQLearningPolicy(model=net, action_space=env.action_space, eps_training=0.1)
    algorithm = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), gamma=1.0, target_update_freq=250)
    collector = Collector(algorithm, envs, VectorReplayBuffer(50_000, GAMES), exploration_noise=True)
    collector.reset()

    def report(_, done):
        if done % EPOCH < GAMES:
            evaluation = meter(lambda observations, masks: best(policy, observations))
            print(f"{done:>9,} steps: regret {evaluation.regret:.4f}")

    algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            training_fn=report,
            max_epochs=steps // EPOCH,
            epoch_num_steps=EPOCH,
            collection_step_num_env_steps=GAMES,
            update_step_num_gradient_steps_per_sample=0.1,
            batch_size=128,
            verbose=False,
            show_progress=False,
        )
    )
    report(None, steps // EPOCH * EPOCH)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=40_000)
    main(parser.parse_args().steps)
