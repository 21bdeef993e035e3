"""Wrappers as users write them, each of which changes one thing about an environment, or nothing."""

import threading

import gymnasium as gym
import numpy as np

from stb_gym.measure.tensors import map_entries


class Own(gym.Wrapper):
    """A user's wrapper that changes nothing, with methods that the others override."""

    def __init__(self, env):
        super().__init__(env)
        self.random = np.random.default_rng(0)

    def reset(self, *, seed=None, options=None):
        return self.shown(*self.env.reset(seed=seed, options=options))

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(self.acted(action))
        observation, info = self.shown(observation, info)
        return observation, self.rewarded(reward), terminated, truncated, info

    def shown(self, observation, info):
        return observation, info

    def acted(self, action):
        return action

    def rewarded(self, reward):
        return reward


class Reversed(Own):
    """Reverse the actions and their mask."""

    def shown(self, observation, info):
        return observation, info | {"action_mask": info["action_mask"][::-1].copy()}

    def acted(self, action):
        return self.action_space.n - 1 - action

    def action_masks(self):
        return self.env.get_wrapper_attr("action_masks")()[::-1]


class ReversedActions(Reversed):
    """Reverse the actions, but not their mask."""

    def shown(self, observation, info):
        return observation, info

    def action_masks(self):
        return self.env.get_wrapper_attr("action_masks")()


class Negative(Own):
    """Show other observations, always the same for a position."""

    def shown(self, observation, info):
        return map_entries(lambda entry: 1 - entry, observation), info


class Noisy(Own):
    """Show other observations now and then."""

    def shown(self, observation, info):
        if self.random.random() < 0.05:
            observation = map_entries(lambda entry: entry + 1, observation)
        return observation, info


class FewerLegal(Own):
    """Hide all legal actions but the first."""

    def shown(self, observation, info):
        mask = np.zeros_like(info["action_mask"])
        mask[info["action_mask"].argmax()] = info["action_mask"].any()
        return observation, info | {"action_mask": mask}


class Helpful(Own):
    """Replace illegal actions by legal ones."""

    def acted(self, action):
        mask = self.env.get_wrapper_attr("action_masks")()
        return action if mask[action] else mask.argmax()


class Strict(Own):
    """Raise an error at illegal actions."""

    def acted(self, action):
        assert self.env.get_wrapper_attr("action_masks")()[action]
        return action


class Clumsy(Own):
    """Choose another legal action now and then."""

    def acted(self, action):
        mask = self.env.get_wrapper_attr("action_masks")()
        return self.random.choice(mask.nonzero()[0]) if self.random.random() < 0.2 and mask.any() else action


class Twice(Own):
    """Play the first legal action after each action, if the turn goes on."""

    def step(self, action):
        step = super().step(action)
        return step if step[2] else super().step(step[4]["action_mask"].argmax())


class Impatient(Own):
    """Truncate turns."""

    def step(self, action):
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, terminated, truncated or self.random.random() < 0.1, info


class Generous(Own):
    """Throw again until three actions are legal, up to nine times."""

    def reset(self, **options):
        for _ in range(9):
            observation, info = super().reset(**options)
            options["seed"] = None
            if info["action_mask"].sum() >= 3:
                break
        return observation, info


class SameDice(Own):
    """Seed every turn alike."""

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=3, options=options)


class Curriculum(Own):
    """Begin with two tiles."""

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed, options={"open": [4, 5]})


class Cheat(Own):
    """Make a move again that ended the turn, with other dice."""

    def step(self, action):
        inner = self.env.unwrapped
        before = inner.snapshot()
        step = super().step(action)
        if step[2] and self.random.random() < 0.2:
            inner.restore(before | {"random": np.random.PCG64(self.random.integers(99)).state})
            step = super().step(action)
        return step


class Opposite(Own):
    """Negate the rewards."""

    def rewarded(self, reward):
        return -reward


class Scaled(Own):
    """Scale the rewards."""

    def rewarded(self, reward):
        return reward / 45


class Hurried(Own):
    """Subtract something from the reward of each step."""

    def rewarded(self, reward):
        return reward - 3


class Unseeded(Own):
    """Ignore the seed."""

    def reset(self, **options):
        return super().reset()


class Frozen(Own):
    """A wrapper that cannot be copied."""

    def __init__(self, env):
        super().__init__(env)
        self.lock = threading.Lock()


class OwnEnv(gym.Wrapper):
    """Leave everything as it is, without overriding a method."""
