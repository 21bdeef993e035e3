"""Masked PPO: sb3-contrib's MaskablePPO with a policy over nodes and settings for episodes of a few moves.

Schulman et al., "Proximal policy optimization algorithms", 2017; Huang and Ontanon, "A closer look at invalid action
masking in policy gradient algorithms", 2020. Unlike sb3-contrib's defaults, rewards are not discounted and the units
are ReLU; `PPOSettings` says which other settings differ.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.buffers import RolloutBuffer

from agents.networks import NodeNetwork
from agents.node_learner import NodeLearner
from agents.vec_env import NodeVecEnv
from stb_gym.envs import TurnVectorEnv
from stb_gym.games import IntArray, check_integer

IMPOSSIBLE = -1e8  # logit of an illegal action: finite, so that its share of the entropy is 0 and not NaN


@dataclass(frozen=True)
class PPOSettings:
    """Settings of PPO."""

    masks: bool
    """Whether illegal actions are masked; without masks they end the turn with the worst score."""
    num_envs: int
    """Environments that are stepped at once."""
    n_steps: int
    """Steps in every environment between two updates (sb3: 2048 in one environment)."""
    batch_size: int
    """Samples in a minibatch (sb3: 64)."""
    n_epochs: int
    """Passes over the samples of an update (sb3: 10)."""
    learning_rate: float
    """Learning rate at the start; it falls linearly to 0 (sb3: 0.0003, constant)."""
    entropy: float
    """Weight of the entropy bonus at the start; it falls linearly to 0 (sb3: 0)."""
    gae_lambda: float
    """Trade-off of bias and variance in the advantages (sb3: 0.95)."""
    clip_range: float
    """How far an update may change the probability of an action (sb3: 0.2)."""
    width: int
    """Units in each of the two hidden layers of policy and value network (sb3: 64)."""
    embedding: int
    """Length of the embedding of a state, and of that of a node; 0, as in sb3, for none."""

    def check(self) -> None:
        """Raise a ValueError where a setting has no meaning."""
        check_integer("width", self.width, 1, 4096)
        check_integer("embedding", self.embedding, 0, 4096)
        samples = self.num_envs * self.n_steps
        if not 2 <= self.batch_size <= samples:
            raise ValueError(f"batch_size must be from 2 to num_envs x n_steps, {samples}, not {self.batch_size}")
        if samples % self.batch_size == 1:
            raise ValueError(f"batch_size {self.batch_size} leaves one of {samples} samples for a batch of its own")
        if not 0 < self.clip_range < 1:
            raise ValueError(f"clip_range must lie between 0 and 1, not be {self.clip_range}")
        if self.gae_lambda > 1:
            raise ValueError(f"gae_lambda must not be above 1, as {self.gae_lambda} is")

    @property
    def first_update(self) -> int:
        """After how many steps it begins to learn."""
        return self.num_envs * self.n_steps


class NodePolicy(MaskableActorCriticPolicy):
    """Actor and critic over nodes.

    Which actions are legal follows from the node, so masks are looked up and those that MaskablePPO passes are ignored.
    Between two updates the networks are computed once for every node that is met; after that, values and probabilities
    of the node are looked up, too.

    Args:
        args: what MaskablePPO passes to its policies.
        network: function of a number of outputs that makes a network. Actor and critic get one each and share no
            weights, so that training one of them does not change the embeddings of the other.
        kwargs: what MaskablePPO passes to its policies.
    """

    def __init__(self, *args: Any, network: Any, **kwargs: Any):
        self._make_network = network
        super().__init__(*args, **kwargs)

    def _build(self, lr_schedule: Any) -> None:
        self.actor: NodeNetwork = self._make_network(self.action_space.n)  # type: ignore[attr-defined]
        self.critic: NodeNetwork = self._make_network(1)
        for network, gain in ((self.actor, 0.01), (self.critic, 1.0)):
            for layer, scale in zip(list(network.perceptron)[::2], (2**0.5, 2**0.5, gain), strict=True):
                torch.nn.init.orthogonal_(layer.weight, scale)  # as sb3 does
                torch.nn.init.zeros_(layer.bias)
        self.optimizer = torch.optim.Adam(self.parameters(), lr_schedule(1), eps=1e-5, fused=True)  # sb3's eps for PPO
        nodes, actions = self.actor.legal.shape
        self._met = torch.zeros(nodes, dtype=torch.bool)
        self._value, self._log_probability = torch.zeros(nodes), torch.zeros(nodes, actions)
        self._upper = torch.zeros(nodes, actions)

    def set_training_mode(self, mode: bool) -> None:
        """Forget what was computed, as it is out of date; called before every rollout and every update."""
        super().set_training_mode(mode)
        self._met.zero_()

    def log_probabilities(self, nodes: torch.Tensor) -> torch.Tensor:
        """[B, A] the logarithms of the probabilities of all actions at nodes [B]."""
        return torch.log_softmax(self.actor(nodes).masked_fill(~self.actor.legal[nodes], IMPOSSIBLE), dim=1)

    @torch.no_grad()
    def _meet(self, observation: torch.Tensor) -> torch.Tensor:
        """The observed nodes [B], after computing what is not there yet to be looked up of them."""
        nodes = observation[:, 0].long()
        new = torch.unique(nodes[~self._met[nodes]])
        self._met[new] = True
        self._value[new], self._log_probability[new] = self.critic(new)[:, 0], self.log_probabilities(new)
        upper = self._log_probability[new].exp().cumsum(dim=1)
        self._upper[new] = torch.where(upper < upper[:, -1:], upper, 1.0)  # above every random number
        return nodes

    def forward(
        self, obs: torch.Tensor, deterministic: bool = False, action_masks: Any = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Actions [B], values [B, 1] and log probabilities [B] of the actions."""
        nodes = self._meet(obs)
        if deterministic:
            actions = self._log_probability[nodes].argmax(dim=1)
        else:
            actions = (self._upper[nodes] <= torch.rand(len(nodes), 1)).sum(dim=1)
        return actions, self._value[nodes, None], self._log_probability[nodes, actions]

    def predict_values(self, obs: Any) -> torch.Tensor:
        """[B, 1] values."""
        return self._value[self._meet(obs), None]

    def _predict(self, observation: Any, deterministic: bool = False, action_masks: Any = None) -> torch.Tensor:
        return self(observation, deterministic)[0]

    def evaluate_actions(
        self, obs: torch.Tensor, actions: torch.Tensor, action_masks: Any = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Values [B], log probabilities [B] of the actions and entropies [B], with their gradients."""
        nodes, place = torch.unique(obs[:, 0].long(), return_inverse=True)
        value, log_probability = self.critic(nodes), self.log_probabilities(nodes)
        entropy = -(log_probability.exp() * log_probability).sum(dim=1)
        return value[place, 0], log_probability[place, actions.long()], entropy[place]


class NodeRolloutBuffer(MaskableRolloutBuffer):
    """A rollout buffer that stores no masks, as the policy looks them up."""

    def reset(self) -> None:
        """Forget everything."""
        self.mask_dims = 1
        self.action_masks = np.ones((self.buffer_size, self.n_envs, 1), np.float32)
        RolloutBuffer.reset(self)


class MaskedPPO(NodeLearner, MaskablePPO):
    """MaskablePPO over nodes, whose entropy bonus falls linearly to 0 over the training."""

    policy: NodePolicy

    def __init__(self, *args: Any, entropy: float = 0.0, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.entropy = entropy

    def learn(self, *args: Any, **options: Any) -> "MaskedPPO":
        """Learn as MaskablePPO does, without asking the environments for masks."""
        return super().learn(*args, **{**options, "use_masking": False})

    def train(self) -> None:
        """Make one update, with the weight that the entropy bonus has fallen to by now."""
        self.ent_coef = self.entropy * max(self._current_progress_remaining, 0.0)
        super().train()

    @torch.no_grad()
    def probabilities(self, nodes: IntArray) -> NDArray[np.float32]:
        """See `Learner`."""
        return np.asarray(self.policy.log_probabilities(torch.as_tensor(nodes)).exp())

    @torch.no_grad()
    def values(self, nodes: IntArray) -> NDArray[np.float64]:
        """See `Learner`."""
        value = self.policy.critic(torch.as_tensor(nodes))[:, 0]
        return np.asarray(value, np.float64) / self.vec_env.reward_scale


def make_ppo(envs: TurnVectorEnv, settings: PPOSettings, seed: int) -> MaskedPPO:
    """A PPO that has learned nothing yet."""
    tables = envs.transitions.tables

    def network(outputs: int) -> NodeNetwork:
        return NodeNetwork(tables, outputs, settings.width, settings.embedding, settings.masks)

    return MaskedPPO(
        NodePolicy,
        NodeVecEnv(envs),
        entropy=settings.entropy,
        learning_rate=lambda remaining: settings.learning_rate * max(remaining, 0.0),
        n_steps=settings.n_steps,
        batch_size=settings.batch_size,
        n_epochs=settings.n_epochs,
        gamma=1.0,
        gae_lambda=settings.gae_lambda,
        clip_range=settings.clip_range,
        rollout_buffer_class=NodeRolloutBuffer,
        policy_kwargs={"network": network},
        seed=seed,
        device="cpu",
    )
