"""Tabular Q-learning that passes the ladder, with faults by name that fail it."""

from collections import Counter

import numpy as np
from gymnasium.vector import AutoresetMode


class QLearner:
    """Q-learning with masks in one environment, with step sizes that fall from 1 as 10 / (9 + n)."""

    def __init__(self, env, discount=0.99, seed=0, fault=""):
        self.env = env
        self.discount = 1.0 if fault == "discount ignored" else discount
        self.fault = fault
        self.random = np.random.default_rng(seed)
        self.exploration = 0.3
        self.values = {}
        self.updates = Counter()

    def of(self, observation):
        """Return the values of the actions after an observation."""
        actions = getattr(self.env, "single_action_space", self.env.action_space).n
        return self.values.setdefault(observation.tobytes(), np.zeros(actions))

    def greedy(self, observation, mask):
        """Return the best action; the lowest of several."""
        values = self.of(observation)
        if self.fault == "no mask in greedy play":
            return int(values.argmax())
        legal = np.flatnonzero(mask)
        if self.fault == "falsy action":
            best, action = 0.0, None
            for candidate in legal:
                if values[candidate] > best:
                    best, action = values[candidate], candidate
            return action or self.random.choice(legal)
        return int(legal[values[legal].argmax()])

    def act(self, observation, mask):
        """Explore or act greedily."""
        if self.random.random() < self.exploration:
            self.exploration -= 0.03 * (self.fault == "epsilon falls at once")
            if self.fault == "no mask in exploration":
                return int(self.random.integers(len(mask)))
            return int(self.random.choice(np.flatnonzero(mask)))
        return self.greedy(observation, mask)

    def update(self, observation, action, reward, following, mask, terminated):
        """Move the value of an action towards its target."""
        following_values = self.of(following)
        if self.fault != "no mask in targets":
            following_values = following_values[mask]
        if self.fault == "negated reward":
            reward = -reward
        if self.fault == "absolute reward":
            reward = abs(reward)
        bootstraps = not terminated and self.fault != "no bootstrap"
        target = reward + self.discount * bootstraps * following_values.max()
        values = self.of(observation)
        error = target - values[action]
        if self.fault == "lucky target":
            error = max(error, 0)
        if self.fault == "median target":
            error = 0.1 * np.sign(error)
        if self.fault == "others to zero":
            values[np.arange(len(values)) != action] *= 0.5
        key = observation.tobytes(), action
        self.updates[key] += 1
        values[action] += 10 / (9 + self.updates[key]) * error

    def learn(self, steps):
        observation, info = self.env.reset()
        mask = info["action_mask"] != 0
        last_reward = 0.0
        for _ in range(steps):
            action = self.act(observation, mask)
            following, reward, terminated, truncated, info = self.env.step(action)
            over = terminated or truncated
            next_mask = info["action_mask"] != 0
            seen = following
            if over:
                following, info = self.env.reset()
            if self.fault == "observation of the next episode":
                seen, next_mask = following, info["action_mask"] != 0
            if self.fault == "truncation ends":
                terminated = over
            stored = last_reward if self.fault == "reward one step late" else reward
            self.update(observation, action, stored, seen, next_mask, terminated)
            last_reward = reward
            observation = following
            if self.fault != "mask of the last episode" or not over:
                mask = info["action_mask"] != 0

    def predict(self, observations, deterministic=True, action_masks=None):
        return np.array([*map(self.greedy, observations, action_masks)]), None


class WithoutMasks(QLearner):
    """The same without masks."""

    def act(self, observation, mask):
        return super().act(observation, np.ones_like(mask))

    def predict(self, observations, deterministic=True):
        everything = np.ones((len(observations), self.env.action_space.n), bool)
        return super().predict(observations, deterministic, everything)


class VectorQLearner(QLearner):
    """Q-learning in a vector environment, in SAME_STEP or NEXT_STEP mode."""

    def learn(self, steps):
        observations, infos = self.env.reset()
        masks = infos["action_mask"] != 0
        resets = np.zeros(self.env.num_envs, bool)
        for _ in range(steps // self.env.num_envs):
            actions = np.array([*map(self.act, observations, masks)])
            following, rewards, terminated, truncated, infos = self.env.step(actions)
            next_masks = infos["action_mask"] != 0
            over = terminated | truncated
            for row in range(self.env.num_envs):
                if resets[row] and self.fault != "rows of resets":
                    continue
                seen = following[row]
                if over[row] and "final_obs" in infos and self.fault != "observation of the next episode":
                    seen = infos["final_obs"][row]
                self.update(observations[row], actions[row], rewards[row], seen, next_masks[row], terminated[row])
            if self.env.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP:
                resets = over
            observations, masks = following.copy(), next_masks
