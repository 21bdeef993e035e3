"""Train TorchRL's PPO with masks, and print its exact regret while it learns.

Use an id with `Masked` in it and `mask_names="torchrl"`: they put the mask into the tensordict, where the distribution
`MaskedCategorical` and the transform `ActionMask` find it. TorchRL needs vector environments with autoreset disabled.

    python docs/tutorials/with_torchrl.py --steps 100000
"""

import argparse

import gymnasium as gym
import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torchrl.collectors import Collector
from torchrl.envs import ActionMask, GymWrapper, TransformedEnv
from torchrl.envs.utils import ExplorationType, set_exploration_type
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import stb_gym

GAMES, BATCH, MINIBATCH, EPOCHS = 32, 2048, 256, 4


def networks(observations, actions):
    """Return an actor and a critic with two hidden layers of 64 units each."""
    sizes = {"in_features": observations, "num_cells": [64, 64], "activation_class": torch.nn.Tanh}
    scores = TensorDictModule(MLP(out_features=actions, **sizes), in_keys=["observation"], out_keys=["logits"])
    actor = ProbabilisticActor(
        scores,
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    return actor, ValueOperator(MLP(out_features=1, **sizes), in_keys=["observation"])


def best(actor, observations):
    """Return the most probable actions [B] for a dictionary of the environment's observations, as arrays."""
    with torch.no_grad(), set_exploration_type(ExplorationType.DETERMINISTIC):
        return actor(TensorDict(observations, len(observations["observation"])))["action"]


def main(steps, seed=0):
    """Train for `steps` steps, summed over all games, and print the learning curve."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # small networks are faster with one thread
    options = {"mask_names": "torchrl", "observation_dtype": "float32", "reward_scale": 1 / 45}
    envs = gym.make_vec("stb_gym/ShutTheBoxMasked-v0", num_envs=GAMES, autoreset_mode="Disabled", **options)
    meter = stb_gym.RegretMeter(envs)
    env = TransformedEnv(GymWrapper(envs, categorical_action_encoding=True), ActionMask())
    env.set_seed(seed)
    actor, critic = networks(envs.single_observation_space["observation"].shape[0], int(envs.single_action_space.n))
    advantage = GAE(gamma=1.0, lmbda=0.95, value_network=critic)
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.01, critic_coeff=0.5, normalize_advantage=True)
    optimizer = torch.optim.Adam(loss.parameters(), 1e-3)

    def report(done):
        evaluation = meter(lambda observations, masks: best(actor, observations))
        print(f"{done:>9,} steps: regret {evaluation.regret:.4f}")

    collector = Collector(env, actor, frames_per_batch=BATCH, total_frames=steps, auto_register_policy_transforms=False)
    for update, batch in enumerate(collector):
        if update % 5 == 0:
            report(update * BATCH)
        with torch.no_grad():
            flat = advantage(batch).reshape(-1)
        for part in torch.cat([torch.randperm(len(flat)) for _ in range(EPOCHS)]).split(MINIBATCH):
            losses = loss(flat[part])
            optimizer.zero_grad()
            sum(value for name, value in losses.items() if name.startswith("loss_")).backward()
            torch.nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
            optimizer.step()
    collector.shutdown()
    report((update + 1) * BATCH)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000)
    main(parser.parse_args().steps)
