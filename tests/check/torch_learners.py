"""Textbook DQN and PPO with masks in one environment, short enough to read, each with faults that can be planted."""

from copy import deepcopy

import numpy as np
import torch
from torch.nn.functional import huber_loss, mse_loss

LOW = torch.finfo(torch.float32).min


def perceptron(inputs, outputs):
    return torch.nn.Sequential(torch.nn.Linear(inputs, 64), torch.nn.Tanh(), torch.nn.Linear(64, outputs))


class TorchLearner:
    """Common parts of the two: play, and the environment's steps with the last observation of each episode."""

    def __init__(self, env, discount=0.99, seed=0, fault=""):
        torch.manual_seed(seed)
        self.env, self.fault = env, fault
        self.discount = 0.99 if fault == "discount ignored" else discount
        self.random = np.random.default_rng(seed)
        self.observation, info = env.reset()
        self.mask = info["action_mask"] != 0

    def step(self, action):
        """Return (observation, mask, action, reward, next observation, next mask, terminated, over)."""
        observation, mask = self.observation, self.mask
        following, reward, terminated, truncated, info = self.env.step(int(action))
        last, last_mask = following, info["action_mask"] != 0
        over = terminated or truncated
        if over:
            following, info = self.env.reset()
        self.observation, self.mask = following, info["action_mask"] != 0
        if self.fault == "observation of the next episode":
            last, last_mask = self.observation, self.mask
        if self.fault == "truncation ends":
            terminated = over
        return observation, mask, action, reward, last, last_mask, terminated, over

    def scores(self, observations, masks):
        """Return the scores [B, A] of the network that plays, the lowest number for illegal actions."""
        with torch.no_grad():
            scores = self.network(torch.as_tensor(observations))
        return scores if self.fault == "no mask in play" else scores.masked_fill(~torch.as_tensor(masks), LOW)

    def predict(self, observations, deterministic=True, action_masks=None):
        return self.scores(observations, action_masks).argmax(1).numpy(), None


def columns(rows):
    """Return tensors of the columns of transitions; numbers are float32."""
    arrays = [np.array(column) for column in zip(*rows, strict=True)]
    return [torch.as_tensor(each.astype(np.float32) if each.dtype == np.float64 else each) for each in arrays]


class DQN(TorchLearner):
    """Mnih et al. (2015)."""

    def __init__(self, env, discount=0.99, seed=0, fault=""):
        super().__init__(env, discount, seed, fault)
        self.network = perceptron(env.observation_space.shape[0], int(env.action_space.n))
        self.target = deepcopy(self.network)
        self.optimiser = torch.optim.Adam(self.network.parameters(), 2e-3)

    def learn(self, steps):
        replay = []
        for step in range(steps):
            epsilon = max(1 - 2 * step / steps, 0.1)
            action = self.scores(self.observation[None], self.mask[None]).argmax()
            if self.random.random() < epsilon:
                action = self.random.choice(np.flatnonzero(self.mask))
            replay.append(self.step(int(action)))
            if step % 2 == 0 and step > 100:
                self.update(columns([replay[row] for row in self.random.integers(len(replay), size=32)]))
            if step % 100 == 0 and self.fault != "target network is never updated":
                self.target.load_state_dict(self.network.state_dict())

    def update(self, batch):
        observation, _, action, reward, following, mask, terminated, _ = batch
        with torch.no_grad():
            values = self.target(following)
            if self.fault != "no mask in targets":
                values = values.masked_fill(~mask, LOW)
            target = reward + self.discount * ~terminated * values.max(1).values
        predicted = self.network(observation).gather(1, action[:, None])
        if self.fault == "action of another row":
            predicted = self.network(observation).gather(1, action.roll(1)[:, None])
        target = target[:, None]
        if self.fault == "narrow Huber loss":
            loss = huber_loss(predicted, target, delta=0.01) * 100
        else:
            loss = (predicted - target).square().mean()
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()


class PPO(TorchLearner):
    """Schulman et al. (2017)."""

    def __init__(self, env, discount=0.99, seed=0, fault=""):
        super().__init__(env, discount, seed, fault)
        inputs = env.observation_space.shape[0]
        self.network, self.critic = perceptron(inputs, int(env.action_space.n)), perceptron(inputs, 1)
        self.optimiser = torch.optim.Adam([*self.network.parameters(), *self.critic.parameters()], 2e-3)

    def learn(self, steps):
        for _ in range(steps // 256):
            rows = []
            for _ in range(256):
                scores = self.scores(self.observation[None], self.mask[None])
                draw = torch.distributions.Categorical(logits=scores).sample()
                rows.append(self.step(int(scores.argmax() if self.fault == "greedy in training" else draw)))
            self.update(columns(rows))

    def update(self, batch):
        observation, mask, action, reward, following, _, terminated, over = batch
        with torch.no_grad():
            values, next_values = self.critic(observation)[:, 0], self.critic(following)[:, 0]
            advantage, running = torch.zeros(len(reward)), 0.0
            delta = reward + self.discount * ~terminated * next_values - values
            for step in reversed(range(len(reward))):
                running = delta[step] + self.discount * 0.95 * ~over[step] * running
                advantage[step] = running
            returns = advantage + values
            if self.fault == "reward in place of the return":
                advantage = reward - values
            old = self.log_probability(observation, mask, action)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        if self.fault == "negated loss":
            advantage = -advantage
        for _ in range(4):
            for rows in torch.randperm(len(reward)).split(64):
                ratio = (self.log_probability(observation[rows], mask[rows], action[rows]) - old[rows]).exp()
                gain = torch.minimum(ratio * advantage[rows], ratio.clamp(0.8, 1.2) * advantage[rows]).mean()
                loss = mse_loss(self.critic(observation[rows])[:, 0], returns[rows]) - gain
                self.optimiser.zero_grad()
                loss.backward()
                self.optimiser.step()

    def log_probability(self, observation, mask, action):
        scores = self.network(observation).masked_fill(~mask, LOW)
        return torch.distributions.Categorical(logits=scores).log_prob(action)
