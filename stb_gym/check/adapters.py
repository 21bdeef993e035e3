"""Learners of other libraries for `stb_gym.check.update`."""

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.logger import Logger

from stb_gym.check.learners import Transitions, UpdateTask
from stb_gym.measure.sb3_models import ModelNetwork, takes_masks


def make_model(algorithm: Any, task: UpdateTask) -> Any:
    """Make a model of stable-baselines3 or sb3-contrib, with those settings of the task that its class takes."""
    # The optimiser is made with the rate at the beginning. In the middle, where it is updated, the rate is right.
    settings: dict[str, Any] = {
        "learning_rate": lambda remaining: 2 * remaining * task.learning_rate,
        "gamma": task.discount,
        "max_grad_norm": task.max_grad_norm,
        "gae_lambda": task.lam,
        "vf_coef": task.value_coefficient,
        "ent_coef": task.entropy_coefficient,
        "n_epochs": task.num_epochs,
        "batch_size": task.batch_size,
        "buffer_size": task.num_steps,
        "tau": task.tau,
        "target_update_interval": 1,
        "normalize_advantage": False,
        "policy_kwargs": {"optimizer_class": torch.optim.SGD},
    }
    accepted = signature(algorithm).parameters
    if "buffer_size" not in accepted:
        settings["n_steps"] = task.num_steps  # of a rollout; DQN would take returns of n steps
    model = algorithm(
        "MlpPolicy", task.env, seed=0, device="cpu", **{name: settings[name] for name in settings if name in accepted}
    )
    model.set_logger(Logger(None, []))
    model._current_progress_remaining = 0.5
    return model


class OnPolicy:
    """PPO, A2C or MaskablePPO as a learner."""

    def __init__(self, algorithm: Any, task: UpdateTask):
        self.model = make_model(algorithm, task)
        self.network = self.model.policy
        self.has_masks = takes_masks(algorithm.predict)
        self.distributions = ("stable-baselines3", *["sb3-contrib"] * self.has_masks)

    def logits(self, observation: Any) -> Any:
        """Return the scores of all actions."""
        return ModelNetwork(self.model).scores(observation.numpy())

    def values(self, observation: Any) -> Any:
        """Return the values of the critic."""
        return self.network.predict_values(observation)[:, 0]

    def update(self, transitions: Transitions) -> None:
        """Fill the rollout buffer and train."""
        buffer = self.model.rollout_buffer
        buffer.reset()
        columns = (
            transitions.observation,
            transitions.action,
            transitions.reward,
            transitions.begins,
            torch.as_tensor(transitions.value),
            torch.as_tensor(transitions.log_prob),
        )
        for *row, mask in zip(*columns, transitions.mask, strict=True):
            buffer.add(*row, **({"action_masks": mask} if self.has_masks else {}))
        buffer.compute_returns_and_advantage(torch.zeros(1), np.ones(1))
        self.model.train()


class OffPolicy:
    """DQN as a learner."""

    distributions = ("stable-baselines3",)

    def __init__(self, algorithm: Any, task: UpdateTask):
        self.model = make_model(algorithm, task)
        self.network = self.q_values = self.model.q_net
        self.target_network = self.target_q_values = self.model.q_net_target

    def update(self, transitions: Transitions) -> None:
        """Fill the replay buffer, and train on all of it in order."""
        buffer = self.model.replay_buffer
        columns = (
            transitions.observation,
            transitions.next_observation,
            transitions.action,
            transitions.reward,
            transitions.terminated,
        )
        for row in zip(*columns, strict=True):
            buffer.add(*row, [{}])
        everything = np.arange(len(transitions.action))
        buffer.sample = lambda batch_size, env: buffer._get_samples(everything, env)
        self.model.train(1, len(everything))

    def update_target(self) -> None:
        """Update the target network, as after a step of the environment."""
        self.model._on_step()


def stable_baselines3(algorithm: Any) -> tuple[Callable[[UpdateTask], Any], bool, bool]:
    """Return a function that makes a learner of a class, whether it uses masks, and whether it has minibatches.

    Raises:
        TypeError: unless the class is PPO, A2C, DQN or MaskablePPO.
    """
    names = {base.__name__ for base in algorithm.__mro__}
    if not names & {"PPO", "A2C", "MaskablePPO", "DQN"}:
        raise TypeError(f"update knows PPO, A2C, DQN and MaskablePPO, not {algorithm.__name__}: write a learner for it")
    make = partial(OffPolicy if "DQN" in names else OnPolicy, algorithm)
    return make, takes_masks(algorithm.predict), "n_epochs" in signature(algorithm).parameters
