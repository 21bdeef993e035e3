"""Textbook proximal policy optimisation (Schulman et al., 2017) with masks, in pieces."""

from dataclasses import dataclass
from functools import partial

import gymnasium as gym
import numpy as np
import torch
from torch import nn

from stb_gym import ShutTheBox, check

GAME = ShutTheBox(tiles=5, dice=2, faces=3)  # some actions are illegal in every state
LENGTH = 60  # steps of a rollout
ON_THE_LADDER = {  # settings
    "num_steps": 256, "batch_size": 64, "num_epochs": 4, "learning_rate": 3e-3, "max_grad_norm": 0.5,
    "entropy_coefficient": 0.01,
}  # fmt: skip


def perceptron(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 32), nn.Tanh(), nn.Linear(32, outputs))


def mask_of(info, num_actions):
    return np.array(info["action_mask"]) != 0 if "action_mask" in info else np.ones(num_actions, bool)


@dataclass
class Seat:
    """What the learner remembers of one environment."""

    index: int
    observation: np.ndarray | None = None
    mask: np.ndarray | None = None
    begins: bool = True
    first: np.ndarray | None = None
    last: object = 0.0


class Stack(gym.Wrapper):
    """Shows the observation before (zeros at first) and the present one."""

    def reset(self, **options):
        observation, info = self.env.reset(**options)
        self.clear(observation)
        return np.concatenate([self.older, observation]), info

    def step(self, action):
        observation, *rest = self.env.step(action)
        self.older, self.newer = self.newer, observation.copy()
        return np.concatenate([self.older, observation]), *rest

    def clear(self, observation):
        self.older, self.newer = np.zeros_like(observation), observation.copy()


class Player:
    """What learners share: they play step by step, and store a row of each step."""

    def see(self, observation):
        """Return what is stored of an observation."""
        return np.array(observation)

    def next_seed(self, seat):
        """Return the seed of all other resets."""

    def reset(self, env, seat, seed=None):
        observation, info = env.reset(seed=seed)
        seat.observation, seat.mask = self.see(observation), mask_of(info, self.task.num_actions)
        seat.first = seat.observation.copy()

    def play(self, env, seat):
        """Make one step and return the row that is stored."""
        observation, mask = seat.observation, seat.mask
        action, log_prob = self.act(seat)
        following, reward, terminated, truncated, info = env.step(action)
        done = terminated or truncated
        row = {
            "observation": observation, "action": action, "reward": reward, "next_observation": self.see(following),
            "terminated": terminated, "truncated": truncated, "done": done, "episode_start": seat.begins,
            "action_mask": mask, "next_action_mask": mask_of(info, self.task.num_actions), "log_prob": log_prob,
        }  # fmt: skip
        seat.observation, seat.mask, seat.begins = row["next_observation"], row["next_action_mask"], done
        if done:
            self.finish(env, seat, row)
        return self.store(row, seat)

    def finish(self, env, seat, row):
        """Begin the next episode."""
        self.reset(env, seat, self.next_seed(seat))

    def store(self, row, seat):
        """Return a row as it is stored."""
        return row


class PPO(Player):
    kind = "ppo"
    stack = Stack
    normalises = False
    scales = True
    total_updates = 10
    on_the_ladder = ON_THE_LADDER

    def __init__(self, task, seed=0, optimiser=torch.optim.SGD):
        torch.manual_seed(seed)
        self.task, self.random, self.updates = task, np.random.default_rng(seed), 0
        self.discount, self.lam = task.discount, task.lam
        self.actor, self.critic = perceptron(task.num_features, task.num_actions), perceptron(task.num_features, 1)
        self.network = nn.ModuleDict({"actor": self.actor, "critic": self.critic})
        self.optimisers = [optimiser(held, lr=1.0) for held in self.held()]
        self.seats, self.envs = [], None

    # The networks

    def held(self):
        """Return the parameters of each optimiser."""
        return [list(self.network.parameters())]

    def logits(self, observation):
        return self.actor(observation)

    def values(self, observation):
        return self.critic(observation)[:, 0]

    def distribution(self, logits, mask):
        return logits.masked_fill(~mask, -1e9).log_softmax(dim=-1)

    def probabilities(self, observation, mask):
        """Return [N, A] probabilities as an array."""
        with torch.no_grad():
            logits = self.logits(torch.as_tensor(np.array(observation)).float())
            return self.distribution(logits, torch.as_tensor(np.array(mask))).exp().numpy()

    # Play

    def seed(self, seat):
        """Return the seed of the first reset of an environment."""
        return seat.index

    def chances(self, seat):
        """Return [A] the probabilities with which actions are drawn."""
        return self.probabilities(seat.observation[None], seat.mask[None])[0]

    def act(self, seat):
        """Return an action and its log-probability."""
        chances = self.chances(seat)
        action = int((chances.cumsum() > self.random.random() * chances.sum()).argmax())
        return action, np.log(chances[action])

    def collect(self, envs, length=LENGTH):
        """Play T steps in each of B environments and return rows [T, B, ...]."""
        if envs is not self.envs:
            self.envs, self.seats = envs, [Seat(index) for index in range(len(envs))]
            for env, seat in zip(envs, self.seats, strict=True):
                self.reset(env, seat, self.seed(seat))
        by_env = [[self.play(env, seat) for _ in range(length)] for env, seat in zip(envs, self.seats, strict=True)]
        return {name: self.lay_out(np.array([[row[name] for row in rows] for rows in by_env])) for name in by_env[0][0]}

    def lay_out(self, array):
        """Return an array [B, T, ...] as [T, B, ...]."""
        return array.swapaxes(0, 1)

    def evaluate(self, env, length=120):
        """Play some episodes and return the rows."""
        seat = Seat(0)
        self.reset(env, seat)
        rows = [self.play(env, seat) for _ in range(length)]
        return {name: np.array([row[name] for row in rows]) for name in rows[0]}

    # Formulas

    def running_returns(self, reward, begins, discount):
        """Return [T, ...] the discounted sum of the rewards so far, whose deviation scales rewards."""
        sums = np.array(reward, float)
        for step in range(1, len(sums)):
            sums[step] += discount * ~begins[step] * sums[step - 1]
        return sums

    def scaled(self, rows):
        sums = self.running_returns(rows["reward"], rows["episode_start"], self.discount)
        return rows["reward"] / (sums.std() + 1e-8)

    def advantages(self, batch):
        """Return generalised advantages (Schulman et al., 2016)."""
        return self.sums(batch.reward + batch.discount * self.next_value(batch) - batch.value, batch.done, batch)

    def next_value(self, batch):
        """Return the values of the next states, 0 after the end of a turn."""
        return np.where(batch.terminated, 0, batch.next_value)

    def sums(self, errors, done, batch):
        sums = np.array(errors, float)
        for step in reversed(range(len(sums) - 1)):
            sums[step] += batch.discount * batch.lam * ~done[step] * sums[step + 1]
        return sums

    # Losses

    def objective(self, ratio, advantage, batch):
        return torch.minimum(ratio * advantage, ratio.clamp(1 - batch.clip, 1 + batch.clip) * advantage)

    def log_prob(self, logits, batch):
        return self.distribution(logits, batch.mask).gather(-1, batch.action[..., None])[..., 0]

    def entropy(self, logits, batch):
        log_prob = self.distribution(logits, batch.mask)
        return -(log_prob.exp() * log_prob).sum(dim=-1)

    def policy_loss(self, logits, batch):
        ratio = (self.log_prob(logits, batch) - batch.old_log_prob).exp()
        gain = self.objective(ratio, batch.advantage, batch)
        return -(gain + batch.entropy_weight * self.entropy(logits, batch)).mean()

    def value_loss(self, values, batch):
        return self.squares(values, batch).mean()

    def squares(self, values, batch):
        near = batch.old_value + (values - batch.old_value).clamp(-batch.clip, batch.clip)
        return torch.maximum((values - batch.returns) ** 2, (near - batch.returns) ** 2)

    # The update

    def minibatches(self, size):
        for _ in range(self.task.num_epochs):
            yield from torch.randperm(size).split(self.task.batch_size)

    def loss(self, observation, batch):
        value = self.value_loss(self.values(observation), batch)
        return self.policy_loss(self.logits(observation), batch) + self.task.value_coefficient * value

    def progress(self):
        """Return the share of the updates that are made."""
        return self.updates / self.total_updates

    def set_rate(self):
        for optimiser in self.optimisers:
            for group in optimiser.param_groups:
                group["lr"] = self.task.learning_rate * (1 - self.progress())

    def clipped(self):
        """Return the parameters whose gradient is clipped."""
        return self.network.parameters()

    def step(self, loss):
        for optimiser in self.optimisers:
            optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.clipped(), self.task.max_grad_norm)
        for optimiser in self.optimisers:
            optimiser.step()

    def improve(self, rows):
        """Make an update with rows [T, B, ...]."""
        shape = rows["reward"].shape

        def flat(array):
            array = np.asarray(array).reshape(-1, *np.shape(array)[2:])
            return torch.as_tensor(array.astype(np.float32) if array.dtype.kind == "f" else array)

        observation, ahead = flat(rows["observation"]), flat(rows["next_observation"])
        with torch.no_grad():
            value, next_value = (self.values(each).numpy().reshape(shape) for each in (observation, ahead))
        steps = check.Batch(
            rows["reward"], rows["terminated"], rows["truncated"], self.discount, value=value, next_value=next_value,
            last_value=next_value[-1], lam=self.lam,
        )  # fmt: skip
        advantage = self.advantages(steps)
        returns = advantage + value
        if self.normalises:
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        batch = check.LossBatch(
            flat(rows["action"]).long(), torch.ones(advantage.size, dtype=torch.bool), None,
            mask=flat(rows["action_mask"]), old_log_prob=flat(rows["log_prob"]), advantage=flat(advantage),
            returns=flat(returns), old_value=flat(value), entropy_weight=self.task.entropy_coefficient,
        )  # fmt: skip
        self.set_rate()
        for chosen in self.minibatches(advantage.size):
            self.step(self.loss(observation[chosen], batch.map(lambda each, chosen=chosen: each[chosen])))
        self.updates += 1

    def update(self, transitions):
        rows = {name: array[:, None] for name, array in vars(transitions).items()}
        rows |= {"truncated": np.zeros_like(rows["terminated"]), "action_mask": rows["mask"]}
        self.improve(rows)

    def learn(self, envs, steps):
        """Train in a list of environments."""
        self.normalises = True
        self.total_updates = steps // self.task.num_steps
        for _ in range(self.total_updates):
            rows = self.collect(envs, self.task.num_steps // len(envs))
            self.improve(rows | {"reward": self.scaled(rows)} if self.scales else rows)

    def predict(self, observation, deterministic=True, action_masks=None):
        return self.probabilities(observation, action_masks).argmax(axis=1), None


def settings(num_features=11, num_actions=11, **changes):
    """Return the settings of a learner that plays in the environment of `check.rollout`."""
    changes = {"num_steps": 128, "batch_size": 32} | changes
    return check.UpdateTask(num_actions, num_features=num_features, **changes)


def frames(make, env):
    """Play in a stacked environment and return its frames as observations before and after a step."""
    env = make(env)
    rows = {"observation": [], "next_observation": [], "valid": []}
    _, info = env.reset(seed=0)
    for _ in range(150):
        observation, _, terminated, truncated, info = env.step(info["action_mask"].argmax())
        seen = [observation]
        if terminated or truncated:
            observation, info = env.reset()
            seen.append(observation)
        for each in seen:
            older, newer = np.split(each, 2)
            for name, value in zip(rows, (older, newer, older.any()), strict=True):
                rows[name].append(value)
    return rows


def with_running_returns(learner, batch):
    """Return returns to go: the running returns of the steps in reverse."""
    return learner.running_returns(batch.reward[::-1], batch.done[::-1], batch.discount)[::-1]


def checks(make):
    """Return the checks of a learner's pieces by name."""
    learner = make(settings())
    return {
        "rollout": lambda: check.rollout(
            learner.collect, num_envs=3, autoreset=None, policy=learner.probabilities, reuse_buffer=True
        ),
        "rollout of the evaluation": lambda: check.rollout(
            learner.evaluate, policy=learner.probabilities, reuse_buffer=True
        ),
        "rollout of the history": lambda: check.rollout(partial(frames, make.stack)),
        "advantages": lambda: check.advantages(learner.advantages, layout="TB"),
        "returns": lambda: check.returns(partial(with_running_returns, learner), layout="TB"),
        "policy_loss": lambda: check.policy_loss(learner.policy_loss, kind=make.kind, entropy_weight=0.05),
        "value_loss": lambda: check.value_loss(learner.value_loss, kind="clipped"),
        "update": lambda: check.update(make),
    }


def agent(make, env, discount, seed):
    """Return a learner for the ladder."""
    task = settings(env.observation_space.shape[0], int(env.action_space.n), discount=discount, **make.on_the_ladder)
    learner = make(task, seed, torch.optim.Adam)
    learner.learn = partial(learner.learn, [env])
    return learner
