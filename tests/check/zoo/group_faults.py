"""Faults planted in the textbook estimator of groups."""

import numpy as np
import torch

from tests.check.zoo.group import Group
from tests.check.zoo.ppo_faults import ADVANTAGES, MASKS, POLICY, REWARDS, VALUE
from tests.check.zoo.registry import fault

BASELINES, AGGREGATION = "baselines of groups", "aggregation and accumulation"


@fault("eval-leaks-into-reward", REWARDS, "AgileRL PR 590", "depends on the batches before")
class EvaluationLeaks(Group):
    """After each fifth batch an evaluation leaves its own rewards in the scorer."""

    scored = None

    def rewards(self, turns):
        leaked, self.scored = self.scored, turns.reward
        return (
            leaked
            if self.calls % 5 == 0 and leaked is not None and leaked.shape == turns.reward.shape
            else turns.reward
        )


@fault("same-return-for-all", ADVANTAGES, "udacity deep-reinforcement-learning #42", "return of its whole turn")
class SameReturn(Group):
    def returns(self, reward, tokens, discount=1.0):
        return np.broadcast_to(super().returns(reward, tokens, discount)[:, :1], reward.shape)


@fault("rtg-broken-by-gap", ADVANTAGES, "verl #7278", "only the step itself is counted")
class BrokenByGap(Group):
    def returns(self, reward, tokens, discount=1.0):
        sums = np.array(reward, float)
        for token in reversed(range(sums.shape[1] - 1)):
            sums[:, token] += np.where(tokens[:, token + 1], discount * sums[:, token + 1], 0.0)
        return sums


@fault("verl-7244", BASELINES, "verl RFC #7244", "summed over the moves")
class SummedMeans(Group):
    def advantages(self, turns):
        reward = turns.reward.reshape(-1, turns.group_size, turns.reward.shape[1])
        valid = turns.valid.reshape(reward.shape)
        mean = reward.sum(axis=1, keepdims=True) / np.maximum(valid.sum(axis=1, keepdims=True), 1)
        return ((reward - mean) * valid).sum(axis=2).reshape(-1, 1) * turns.valid


@fault("group-wrong-axis", BASELINES, "grpo-flat #2", "that of other groups")
class WrongAxis(Group):
    def baseline(self, total, length):
        return np.full_like(total, total.mean())


@fault("group-of-one", BASELINES, "Search-R1 #65", "no baseline")
class GroupOfOne(Group):
    def baseline(self, total, length):
        return np.zeros_like(total)


@fault("first-rollout-stats", BASELINES, "PipelineRL PR 54", "another answer is its baseline")
class FirstRollout(Group):
    def baseline(self, total, length):
        return np.broadcast_to(total[:, :1], total.shape)


@fault("turns-vote", BASELINES, "agent-lightning #489", "a baseline or a divisor depends on the action")
class TurnsVote(Group):
    def baseline(self, total, length):
        mean = (total * length).sum(axis=1, keepdims=True) / length.sum(axis=1, keepdims=True)
        return np.broadcast_to(mean, total.shape)


@fault("rejected-in-baseline", BASELINES, "verl PR 6452", "answers are left out")
class RejectedInBaseline(Group):
    """Each eighth turn is rejected, whatever happened in it, and counts in the baseline."""

    def advantages(self, turns):
        kept = np.arange(len(turns.reward)) % 8 != 0
        return super().advantages(turns) * kept[:, None]


@fault("std-residue", BASELINES, "NeMo-RL PR 4158", "divisor")
class DeviationResidue(Group):
    def rewards(self, turns):
        return turns.reward * 0.1

    def scale(self, total):
        values = total.astype(np.float32)
        count = np.float32(values.shape[1] - 1)
        mean, square = ((each.sum(axis=1, keepdims=True) - each) / count for each in (values, values**2))
        deviation = np.sqrt(np.maximum(square - mean**2, 0))
        return np.where(deviation > 0, deviation, 1.0)


@fault("mask-argument-swapped", POLICY, "verl #2506", "advantages are passed as the mask")
class MaskIsAdvantage(Group):
    def policy_loss(self, logits, batch):
        return (self.token_loss(logits, batch) * batch.advantage).sum() / batch.advantage.sum()


@fault("loss-mask-inverted", POLICY, "RAGEN #71", "step mask is inverted")
class MaskInverted(Group):
    def masked(self, values, mask):
        return super().masked(values, ~mask)


@fault("value-mask-offset", VALUE, "verl #1758", "step mask is that of the")
class ValueMaskOffset(Group):
    def value_mask(self, mask):
        return torch.cat([mask[:, 1:], torch.zeros_like(mask[:, :1])], dim=1)


@fault("temperature-missing", MASKS, "trl PR 3029", "temperature is missing")
class TemperatureMissing(Group):
    def log_prob(self, logits, batch):
        return logits.masked_fill(~batch.mask, -1e9).log_softmax(dim=-1).gather(-1, batch.action[..., None])[..., 0]


@fault("mean-of-means", AGGREGATION, "open-instruct PR 1137", "averaged on their own")
class MeanOfMeans(Group):
    def part_loss(self, losses, mask, tokens):
        return self.masked(losses, mask).sum() / mask.sum() / self.micro_batches


@fault("extra-division", AGGREGATION, "ms-swift #10117", "a factor is wrong or occurs twice")
class ExtraDivision(Group):
    def part_loss(self, losses, mask, tokens):
        return super().part_loss(losses, mask, tokens) / self.micro_batches


@fault("partial-window", AGGREGATION, "ms-swift PR 10084", "a part of the batch is left out")
class PartialWindow(Group):
    def parts(self, array):
        return super().parts(array)[:-1]
