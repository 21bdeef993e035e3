"""A textbook estimator of groups for language models: leave one out (Ahmadian et al., 2024), in pieces.

Each move of a turn is a token here. Turns are padded [N, L], as trainers of language models keep them.
"""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import torch
from torch import nn

from stb_gym import RegretMeter, check
from stb_gym.check.sampled_turns import TurnSampler
from tests.check.zoo.ppo import GAME, perceptron

METER = RegretMeter(GAME)


class Group:
    temperature = 0.7
    micro_batches = 4

    def __init__(self, seed=0):
        torch.manual_seed(seed)
        self.network = perceptron(METER.view.space.shape[0], len(METER.game.actions))
        self.calls = 0

    # Advantages

    def returns(self, reward, tokens, discount=1.0):
        """Return [N, L] the sum of the rewards from each token on; `tokens` is False for those of the environment."""
        sums = np.array(reward, float)
        for token in reversed(range(sums.shape[1] - 1)):
            sums[:, token] += np.where(tokens[:, token], discount, 1.0) * sums[:, token + 1]
        return sums

    def rewards(self, turns):
        """Return [N, L] the rewards of turns."""
        return turns.reward

    def accepted(self, turns):
        """Return [N] whether a turn is trained on: those of one move are rejected."""
        return np.ones(len(turns.reward), bool)

    def baseline(self, total, length):
        """Return [G, M] what is subtracted from the return of each turn of G groups."""
        return (total.sum(axis=1, keepdims=True) - total) / (total.shape[1] - 1)

    def scale(self, total):
        """Return what divides the advantages [G, M]."""
        return np.ones_like(total)

    def advantages(self, turns):
        """Return [N, L] the advantage of each move."""
        reward = self.rewards(turns)
        total = reward.sum(axis=1).reshape(-1, turns.group_size)
        length = turns.length.reshape(total.shape)
        baseline, scale = self.baseline(total, length), self.scale(total)
        to_go = self.returns(reward, turns.valid)
        return (to_go - baseline.reshape(-1, 1)) / scale.reshape(-1, 1) * turns.valid

    # Losses

    def masked(self, values, mask):
        """Return the sum of [N, L] values over tokens that exist, for each turn."""
        return (values * mask).sum(dim=1)

    def log_prob(self, logits, batch):
        logits = (logits / batch.temperature).masked_fill(~batch.mask, -1e9)
        return logits.log_softmax(dim=-1).gather(-1, batch.action[..., None])[..., 0]

    def token_loss(self, logits, batch):
        ratio = (self.log_prob(logits, batch) - batch.old_log_prob).exp()
        inside = ratio.clamp(1 - batch.clip, 1 + batch.clip)
        return -torch.minimum(ratio * batch.advantage, inside * batch.advantage)

    def policy_loss(self, logits, batch):
        """Return the mean over tokens, accumulated over parts of the batch."""
        losses = self.token_loss(logits, batch)
        parts = zip(self.parts(losses), self.parts(batch.step_mask), strict=True)
        return sum(self.part_loss(part, mask, batch.step_mask.sum()) for part, mask in parts)

    def parts(self, array):
        return array.tensor_split(self.micro_batches)

    def part_loss(self, losses, mask, tokens):
        """Return the share of a part of the batch in the mean over all tokens."""
        return self.masked(losses, mask).sum() / tokens

    def value_loss(self, values, batch):
        return self.masked((values - batch.returns) ** 2, self.value_mask(batch.step_mask)).sum()

    def value_mask(self, mask):
        return mask

    # Training

    def gradient(self, turns, temperature=1.0):
        """Return the direction in which an update moves the parameters."""
        self.calls += 1
        logits = self.network(torch.as_tensor(turns.observation).float())
        batch = check.LossBatch(
            torch.as_tensor(turns.action), torch.as_tensor(turns.valid), None, mask=torch.as_tensor(turns.mask),
            advantage=torch.as_tensor(self.advantages(turns)).float(), temperature=temperature,
        )  # fmt: skip
        with torch.no_grad():
            old = self.log_prob(logits, batch)
        loss = self.policy_loss(logits, replace(batch, old_log_prob=old))
        return [
            -each
            for each in torch.autograd.grad(
                loss * turns.valid.sum() / len(turns.valid), list(self.network.parameters())
            )
        ]

    def learn(self, updates, turns=64):
        """Train on sampled turns, and return the value of the policy."""
        optimiser = torch.optim.Adam(self.network.parameters(), 0.01)
        for update in range(updates):
            policy = METER.policy(self.network, False, True)
            sampler = TurnSampler(METER(self.network, False, True), policy, METER.view)
            sample = sampler(turns, 8, np.random.SeedSequence(update))
            for weight, slope in zip(self.network.parameters(), self.gradient(sample), strict=True):
                weight.grad = -slope
            nn.utils.clip_grad_norm_(self.network.parameters(), 0.5)
            optimiser.step()
        return METER(self.network, False, True).value


def of_stream(learner, batch):
    """Return the returns of a stream of turns, whose moves are each followed by a token of the environment."""
    answer = np.zeros(len(batch.reward))
    ends = np.flatnonzero(batch.done) + 1
    for steps in np.split(np.arange(len(answer)), ends):
        reward = np.zeros((1, 2 * len(steps)))
        reward[0, ::2] = batch.reward[steps]
        tokens = np.arange(2 * len(steps))[None] % 2 == 0
        answer[steps] = learner.returns(reward, tokens, batch.discount)[0, ::2]
    return answer


def of_groups(learner, groups):
    """Return the advantages of turns of one move."""
    valid = np.ones((len(groups.group), 1), bool)
    turns = SimpleNamespace(
        reward=groups.returns[:, None], valid=valid, length=valid.sum(axis=1), group_size=groups.group_size
    )
    return learner.advantages(turns)[:, 0]


def checks(make):
    """Return the checks of an estimator's pieces by name."""
    learner = make()
    return {
        "group_advantages": lambda: check.group_advantages(partial(of_groups, learner)),
        "returns": lambda: check.returns(partial(of_stream, learner), layout="T"),
        "policy_loss": lambda: check.policy_loss(learner.policy_loss, layout="padded", temperature=make.temperature),
        "value_loss": lambda: check.value_loss(learner.value_loss, layout="padded"),
        **{
            f"gradient of groups of {size}": lambda size=size: check.gradient(
                METER, learner.network, learner.gradient, turns=1024, batches=100, group_size=size, masked=True
            )
            for size in (8, 2)
        },
    }
