"""Train PPO with masks in one file in the style of CleanRL: plain torch, top to bottom, one loop.

Illegal actions get a logit of -1e8, both when actions are sampled and in the update, so the rollout stores the masks
with the observations. The program prints the exact regret after every tenth update.

    python docs/tutorials/in_cleanrl_style.py --steps 200000
"""

import argparse

import gymnasium as gym
import torch
from torch import nn

import stb_gym

GAMES, ROLLOUT, EPOCHS, MINIBATCH = 32, 64, 4, 256
BATCH = GAMES * ROLLOUT
LEARNING_RATE, LAMBDA, CLIP, ENTROPY, VALUE = 1e-3, 0.95, 0.2, 0.01, 0.5


def network(inputs, outputs):
    """Return a network with two hidden layers of 64 units."""
    return nn.Sequential(nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs))


def choices(actor, observation, mask):
    """Return the distribution over legal actions."""
    return torch.distributions.Categorical(logits=torch.where(mask, actor(observation), -1e8))


def main(steps, seed=0):
    """Train for `steps` steps, summed over all games, and print the learning curve."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # small networks are faster with one thread
    options = {"observation_dtype": "float32", "reward_scale": 1 / 45}
    envs = gym.make_vec("stb_gym/ShutTheBox-v0", num_envs=GAMES, autoreset_mode="SameStep", **options)
    meter = stb_gym.RegretMeter(envs)
    inputs, actions = envs.single_observation_space.shape[0], int(envs.single_action_space.n)
    actor, critic = network(inputs, actions), network(inputs, 1)
    weights = [*actor.parameters(), *critic.parameters()]
    optimizer = torch.optim.Adam(weights, LEARNING_RATE, eps=1e-5)
    observation, info = envs.reset(seed=seed)
    for done in range(0, steps, BATCH):
        if done % (10 * BATCH) == 0:
            print(f"{done:>9,} steps: regret {meter(actor, masked=True).regret:.4f}")
        rows = []
        for _ in range(ROLLOUT):
            state, mask = torch.as_tensor(observation), torch.as_tensor(info["action_mask"]).bool()
            with torch.no_grad():
                distribution = choices(actor, state, mask)
                action, value = distribution.sample(), critic(state)[:, 0]
            observation, reward, over, _, info = envs.step(action.numpy())
            ended = torch.as_tensor(reward).float(), torch.as_tensor(over)
            rows.append((state, mask, action, distribution.log_prob(action), value, *ended))
        state, mask, action, before, value, reward, over = (torch.stack(column) for column in zip(*rows, strict=True))
        ahead, advantage = critic(torch.as_tensor(observation))[:, 0].detach(), 0
        advantages = torch.zeros_like(value)
        for t in reversed(range(ROLLOUT)):  # a turn that is over does not bootstrap from the next one
            advantages[t] = advantage = reward[t] + ~over[t] * (ahead + LAMBDA * advantage) - value[t]
            ahead = value[t]
        columns = (state, mask, action, before, advantages, advantages + value)
        state, mask, action, before, advantages, returns = (column.flatten(0, 1) for column in columns)
        for part in torch.cat([torch.randperm(len(state)) for _ in range(EPOCHS)]).split(MINIBATCH):
            now = choices(actor, state[part], mask[part])
            ratio = (now.log_prob(action[part]) - before[part]).exp()
            gain = (advantages[part] - advantages[part].mean()) / (advantages[part].std() + 1e-8)
            objective = torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
            error = (critic(state[part])[:, 0] - returns[part]).square().mean()
            optimizer.zero_grad()
            (VALUE * error - objective - ENTROPY * now.entropy().mean()).backward()
            nn.utils.clip_grad_norm_(weights, 0.5)
            optimizer.step()
    print(f"{done + BATCH:>9,} steps: regret {meter(actor, masked=True).regret:.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200_000)
    main(parser.parse_args().steps)
