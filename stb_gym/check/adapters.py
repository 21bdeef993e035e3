"""Learners of other libraries for `stb_gym.check.update`."""

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm

from stb_gym.check.updates import Transitions, UpdateTask
from stb_gym.measure.sb3_models import ModelNetwork, takes_masks


class StableBaselines:
    """A model of stable-baselines3 or sb3-contrib as a learner.

    Args:
        algorithm: the class of the model.
        task: its settings.
    """

    def __init__(self, algorithm: Any, task: UpdateTask):
        # The optimiser is made with the rate at the beginning. In the middle, where it is updated, the rate is right.
        settings: dict[str, Any] = {
            "learning_rate": lambda remaining: 2 * remaining * task.learning_rate,
            "gamma": task.discount,
            "max_grad_norm": task.max_grad_norm,
            "gae_lambda": task.lam,
            "vf_coef": task.value_coefficient,
            "ent_coef": task.entropy_coefficient,
            "n_steps": task.num_steps if issubclass(algorithm, OnPolicyAlgorithm) else 1,
            "n_epochs": task.num_epochs,
            "batch_size": task.batch_size,
            "buffer_size": task.num_steps,
            "tau": task.tau,
            "target_update_interval": 1,
            "normalize_advantage": False,
            "policy_kwargs": {"optimizer_class": torch.optim.SGD},
        }
        taken = signature(algorithm).parameters
        self.model: Any = algorithm(
            "MlpPolicy", task.env, seed=0, device="cpu", **{name: settings[name] for name in settings if name in taken}
        )
        self.model.set_logger(Logger(None, []))
        self.model._current_progress_remaining = 0.5
        package = algorithm.__module__.partition(".")[0]
        self.distributions = ("stable-baselines3", "sb3-contrib")[: 1 + (package == "sb3_contrib")]


class OnPolicy(StableBaselines):
    """PPO, A2C or MaskablePPO as a learner."""

    def __init__(self, algorithm: Any, task: UpdateTask):
        super().__init__(algorithm, task)
        self.network = self.model.policy

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
        masked = takes_masks(buffer.add)
        value, log_prob = (torch.as_tensor(each)[:, None] for each in (transitions.value, transitions.log_prob))
        for t in range(len(transitions.action)):
            masks = {"action_masks": transitions.mask[t]} if masked else {}
            buffer.add(
                transitions.observation[t],
                transitions.action[t : t + 1],
                transitions.reward[t],
                transitions.begins[t],
                value[t],
                log_prob[t],
                **masks,
            )
        buffer.compute_returns_and_advantage(torch.zeros(1), np.ones(1))
        self.model.train()


class OffPolicy(StableBaselines):
    """DQN as a learner."""

    def __init__(self, algorithm: Any, task: UpdateTask):
        super().__init__(algorithm, task)
        self.network = self.model.q_net
        self.target_network = self.model.q_net_target
        self.q_values = self.network
        self.target_q_values = self.target_network

    def update(self, transitions: Transitions) -> None:
        """Fill the replay buffer, and train on all of it in order."""
        buffer = self.model.replay_buffer
        for t in range(len(transitions.action)):
            buffer.add(
                transitions.observation[t],
                transitions.next_observation[t],
                transitions.action[t : t + 1],
                transitions.reward[t],
                transitions.terminated[t],
                [{}],
            )
        everything = np.arange(len(transitions.action))
        buffer.sample = lambda batch_size, env: buffer._get_samples(everything, env)
        self.model.train(1, len(everything))

    def update_target(self) -> None:
        """Update the target network, as after a step of the environment."""
        self.model._on_step()


def stable_baselines3(algorithm: Any) -> tuple[Callable[[UpdateTask], Any], bool, bool]:
    """Return what makes a learner of a class, whether it uses masks, and whether it has minibatches.

    Raises:
        TypeError: if the class is none of PPO, A2C, DQN and MaskablePPO.
    """
    for base in algorithm.__mro__:
        if base.__name__ in ("PPO", "A2C", "MaskablePPO", "DQN"):
            kind = OffPolicy if base.__name__ == "DQN" else OnPolicy
            has_epochs = "n_epochs" in signature(algorithm).parameters
            return partial(kind, algorithm), takes_masks(algorithm.predict), has_epochs
    raise TypeError(f"update knows PPO, A2C, DQN and MaskablePPO, not {algorithm.__name__}: write a learner for it")
