"""Faults planted in the textbook PPO."""

from dataclasses import replace

import numpy as np
import torch
from torch import nn

from stb_gym.check.faults import next_row
from tests.check.zoo.ppo import PPO, Stack
from tests.check.zoo.registry import fault

STORAGE, OBSERVATIONS, RESETS = "rollout storage", "observations", "resets"
ENDS, REWARDS, ADVANTAGES = "termination and truncation", "rewards and discount", "returns and advantages"
POLICY, ENTROPY, VALUE = "policy loss, ratio and clipping", "entropy", "value loss"
UPDATE, EVALUATION, SEEDS = "optimiser, schedule and detach", "evaluation", "seeds"
MASKS = "masks, log-probabilities and temperature"


# Storage


@fault("done-double-write", STORAGE, "RoboVerse PR 814", "is shifted: each row holds that of the step before")
class DoneDoubleWrite(PPO):
    def store(self, row, seat):
        flags = {name: row[name] for name in ("terminated", "truncated", "done")}
        row |= seat.last or dict.fromkeys(flags, False)
        seat.last = flags
        return row


@fault("view-not-transpose", STORAGE, "ikostrikov a2c-ppo #97", "mixes environments")
class ViewNotTranspose(PPO):
    def lay_out(self, array):
        return array.reshape(array.shape[1], array.shape[0], *array.shape[2:])


@fault("one-minibatch", STORAGE, "bmazoure/ppo_jax #1", "only the first minibatch of each epoch")
class OneMinibatch(PPO):
    def minibatches(self, size):
        for _ in range(self.task.num_epochs):
            yield torch.randperm(size)[: self.task.batch_size]


@fault("no-reshuffle", STORAGE, "skrl #311", "same minibatches")
class NoReshuffle(PPO):
    def minibatches(self, size):
        for _ in range(self.task.num_epochs):
            yield from torch.arange(size).split(self.task.batch_size)


@fault("obs-alias", OBSERVATIONS, "SuperSuit PR 116", "all rows hold the same array", "an array was written over")
class ObsAlias(PPO):
    def see(self, observation):
        return observation


class Uncleared(Stack):
    def clear(self, observation):
        self.older = getattr(self, "newer", np.zeros_like(observation))
        self.newer = observation.copy()


@fault("stack-not-cleared", OBSERVATIONS, "ml-agents PR 3727", "from a last observation to the next episode's first")
class StackNotCleared(PPO):
    stack = Uncleared


@fault("greedy-on-old-state", OBSERVATIONS, "jidiai 3v3snakes #4", "log-probability is that of other actions")
class GreedyOnOldState(PPO):
    def chances(self, seat):
        return super().chances(replace(seat, observation=seat.first))


# Resets


@fault("stale-first-obs", RESETS, "devsisters DQN-tensorflow #48", "stale first observation")
class StaleFirstObs(PPO):
    def finish(self, env, seat, row):
        self.reset(env, seat)
        seat.observation = row["next_observation"]


@fault("final-obs-lost", RESETS, "mujoco_playground #305", "last observation of an episode is lost")
class FinalObsLost(PPO):
    def finish(self, env, seat, row):
        self.reset(env, seat)
        row["next_observation"] = seat.observation


@fault("no-reset", RESETS, "higgsfield #12", "no reset")
class NoReset(PPO):
    def finish(self, env, seat, row):
        pass


@fault("reset-each-step", RESETS, "minimal-isaac-gym #2", "reset after each step")
class ResetEachStep(PPO):
    def play(self, env, seat):
        self.reset(env, seat)
        return super().play(env, seat)


# Ends


@fault("cleanrl-408", ENDS, "CleanRL PR 408", "truncation is stored as termination")
class TruncationStoredAsEnd(PPO):
    def store(self, row, seat):
        return row | {"terminated": row["done"]}


@fault("mava-951", ENDS, "Mava #951", "bootstraps from the first state of the next turn")
class NextGamesValue(PPO):
    def next_value(self, batch):
        return np.where(batch.terminated, 0, next_row(batch.value, batch.last_value))


@fault("rlevo-170-342-344", ENDS, "rlevo PR 344", "end flags are those of the next step")
class FlagsOfNextStep(PPO):
    def advantages(self, batch):
        terminated, truncated = next_row(batch.terminated, True), next_row(batch.truncated, False)
        return super().advantages(replace(batch, terminated=terminated, truncated=truncated))


@fault("embodichain-610-612", ENDS, "EmbodiChain PR 612", "bootstraps from the state before the cut")
class ValueBeforeTheCut(PPO):
    def next_value(self, batch):
        return np.where(batch.truncated, batch.value, super().next_value(batch))


@fault("coursia-7825", ENDS, "CoursIA PR 7825", "truncation is treated as termination")
class JoinedFlag(PPO):
    def next_value(self, batch):
        return np.where(batch.done, 0, batch.next_value)


@fault("trunc-no-cut", ENDS, "skrl #224", "sums go on over a truncation")
class NoCut(PPO):
    def sums(self, errors, done, batch):
        return super().sums(errors, batch.terminated, batch)


@fault("forced-reset-as-end", ENDS, "PufferDrive PR 365", "an unfinished episode is stored as terminated")
class ForcedReset(PPO):
    def collect(self, envs, length=60):
        rows = super().collect(envs, length)
        rows["terminated"][-1] = rows["done"][-1] = True
        return rows


# Rewards and discount


@fault("spinningup-50", REWARDS, "spinningup #50", "reward is shifted: each row holds that of the step before")
class RewardLate(PPO):
    def store(self, row, seat):
        seat.last, late = row["reward"], seat.last
        return row | {"reward": late}


@fault("reward-scale-carry", REWARDS, "Gymnasium #760", "sums go on over the ends of turns")
class ScaleCarry(PPO):
    def running_returns(self, reward, begins, discount):
        return super().running_returns(reward, np.zeros_like(begins), discount)


@fault("reward-normaliser-stage", REWARDS, "Rahtz 2018", "rewards were scaled, clipped or normalized")
class NormaliserStage(PPO):
    def store(self, row, seat):
        seat.last = 0.99 * seat.last + 0.01 * row["reward"]
        return row | {"reward": row["reward"] - seat.last}


@fault("gamma-overwritten", REWARDS, "pytorch/rl #2462", "discount")
class GammaOverwritten(PPO):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.discount, self.lam = 0.99, 0.95


# Advantages


@fault("ray-57683", ADVANTAGES, "ray #57683", "value of the state before a last step is taken as 0")
class ValueBeforeEnd(PPO):
    def next_value(self, batch):
        return np.where(next_row(batch.terminated, False), 0, super().next_value(batch))


@fault("dones-current", ADVANTAGES, "stable-baselines3 #105", "end flag of the step itself")
class DonesCurrent(PPO):
    def store(self, row, seat):
        return row | {"episode_start": row["done"]}


@fault("mask-bracket", ADVANTAGES, "ElegantRL #183", "removes the value of the state itself")
class MaskBracket(PPO):
    def advantages(self, batch):
        difference = batch.discount * batch.next_value - batch.value
        return self.sums(batch.reward + np.where(batch.terminated, 0, difference), batch.done, batch)


@fault("rewards-not-returns", ADVANTAGES, "rlhf-book PR 216", "subtracted from the reward of the step")
class RewardsNotReturns(PPO):
    def advantages(self, batch):
        return batch.reward - batch.value


@fault("no-reverse", ADVANTAGES, "RLMutation 'No Reverse'", "sums run forwards")
class NoReverse(PPO):
    def sums(self, errors, done, batch):
        sums = np.array(errors, float)
        for step in range(1, len(sums)):
            sums[step] += batch.discount * batch.lam * ~done[step - 1] * sums[step - 1]
        return sums


@fault("denorm-one-branch", ADVANTAGES, "marlbenchmark on-policy PR 13", "is not denormalised", "scale of the value")
class DenormOneBranch(PPO):
    scale = 5.0

    def advantages(self, batch):
        return super().advantages(replace(batch, value=batch.value / self.scale))


# Policy loss


@fault("normalise-between", POLICY, "pytorch/rl PR 1033", "normalised between the two terms")
class NormaliseBetween(PPO):
    def objective(self, ratio, advantage, batch):
        first = ratio * advantage
        advantage = (advantage - advantage.mean()) / (advantage.std(correction=0) + 1e-8)
        return torch.minimum(first, ratio.clamp(1 - batch.clip, 1 + batch.clip) * advantage)


@fault("sign-through-min", POLICY, "safe-grid-agents PR 28", "sign is inside the minimum")
class SignThroughMin(PPO):
    def objective(self, ratio, advantage, batch):
        return -torch.minimum(-ratio * advantage, -ratio.clamp(1 - batch.clip, 1 + batch.clip) * advantage)


@fault("actor-sign", POLICY, "Truxify PR 11885", "sign is wrong", "wrong sign")
class ActorSign(PPO):
    def objective(self, ratio, advantage, batch):
        return -super().objective(ratio, advantage, batch)


@fault("min-before-adv", POLICY, "takuseno/ppo #3", "before the advantage multiplies it")
class MinBeforeAdvantage(PPO):
    def objective(self, ratio, advantage, batch):
        return torch.minimum(ratio, ratio.clamp(1 - batch.clip, 1 + batch.clip)) * advantage


@fault("dual-clip-everywhere", POLICY, "tianshou #433", "acts on positive advantages, too")
class DualClipEverywhere(PPO):
    kind = "dual-clip"

    def objective(self, ratio, advantage, batch):
        return torch.maximum(super().objective(ratio, advantage, batch), batch.dual_clip * advantage)


@fault("rollout-eval-mismatch", MASKS, "trlx #107", "temperature")
class RolloutMismatch(PPO):
    def chances(self, seat):
        sharp = super().chances(seat) ** 2
        return sharp / sharp.sum()


# Entropy


@fault("entropy-of-chosen", ENTROPY, "rlx PR 3", "only the action taken counts")
class EntropyOfChosen(PPO):
    def policy_loss(self, logits, batch):
        log_prob = self.log_prob(logits, batch)
        ratio = (log_prob - batch.old_log_prob).exp()
        gain = self.objective(ratio, batch.advantage, batch)
        return -(gain - batch.entropy_weight * log_prob.exp() * log_prob).mean()


@fault("entropy-no-grad", ENTROPY, "trl PR 6140", "the entropy bonus: no gradient")
class EntropyDetached(PPO):
    def entropy(self, logits, batch):
        return super().entropy(logits, batch).detach()


@fault("entropy-counts-dead-parts", ENTROPY, "multi_action_head_PPO #1", "the entropy bonus: illegal actions")
class EntropyOfIllegal(PPO):
    def entropy(self, logits, batch):
        log_prob = logits.log_softmax(dim=-1)
        return -(log_prob.exp() * log_prob).sum(dim=-1)


# Value loss


@fault("vf-clip-dead", VALUE, "ray #19291", "clipped value has no gradient")
class ValueClipDead(PPO):
    def squares(self, values, batch):
        near = batch.old_value + (values - batch.old_value).clamp(-batch.clip, batch.clip).detach()
        return torch.maximum((values - batch.returns) ** 2, (near - batch.returns) ** 2)


@fault("critic-detached", VALUE, "CoursIA PR 15256", "no gradient")
class CriticDetached(PPO):
    def value_loss(self, values, batch):
        return super().value_loss(values.detach(), batch)


@fault("critic-sign", VALUE, "rl4co PR 186", "sign is wrong")
class CriticSign(PPO):
    def value_loss(self, values, batch):
        return -super().value_loss(values, batch)


@fault("square-broadcast", VALUE, "pytorch #19699", "regressed on all targets")
class SquareBroadcast(PPO):
    def value_loss(self, values, batch):
        return ((values[:, None] - batch.returns) ** 2).mean()


# Masks and log-probabilities


@fault("mask-first-move", MASKS, "ml-agents #5830", "without the mask", "all actions are stored as legal")
class MaskFirstMove(PPO):
    def reset(self, env, seat, seed=None):
        super().reset(env, seat, seed)
        seat.mask = np.ones_like(seat.mask)


@fault("agilerl-487", MASKS, "AgileRL PR 487", "not masked in the update")
class MaskMissingInUpdate(PPO):
    def log_prob(self, logits, batch):
        return logits.log_softmax(dim=-1).gather(-1, batch.action[..., None])[..., 0]


@fault("mask-play-only", MASKS, "stable-baselines PR 453", "policy without the mask")
class MaskPlayOnly(MaskMissingInUpdate):
    def act(self, seat):
        action, _ = super().act(seat)
        chances = self.probabilities(seat.observation[None], np.ones_like(seat.mask)[None])[0]
        return action, np.log(chances[action])


@fault("double-softmax", MASKS, "tf2rl #140", "softmax is applied twice")
class DoubleSoftmax(PPO):
    def distribution(self, logits, mask):
        return super().distribution(super().distribution(logits, mask).exp(), mask)


@fault("dropout-in-ratio", MASKS, "trl #4", "weights, mode")
class DropoutInRatio(PPO):
    def logits(self, observation):
        first, tanh, last = self.actor
        return last(nn.functional.dropout(tanh(first(observation)), 0.1))


# Optimiser


@fault("lr-ignored", UPDATE, "ray #8368", "times as long")
class RateIgnored(PPO):
    def __init__(self, task, *arguments, **options):
        super().__init__(task, *arguments, **options)
        for optimiser in self.optimisers:
            for group in optimiser.param_groups:
                group["lr"] = 3e-4

    def set_rate(self):
        pass


@fault("lr-one-ahead", UPDATE, "rlevo #324", "times as long")
class RateOneAhead(PPO):
    def progress(self):
        return (self.updates + 1) / self.total_updates


@fault("adv-with-graph", UPDATE, "Gymnasium #1494", "not detached", "keep their gradient", "carries a gradient")
class AdvantageWithGraph(PPO):
    """The critic's loss is the square of a one-step advantage that keeps its graph."""

    def improve(self, rows):
        self.rows = rows
        super().improve(rows)

    def loss(self, observation, batch):
        ahead = torch.as_tensor(self.rows["next_observation"]).reshape(len(self.rows["reward"]), -1).float()
        if len(ahead) != len(observation):
            return super().loss(observation, batch)
        reward = torch.as_tensor(self.rows["reward"]).ravel().float()
        goes_on = torch.as_tensor(~self.rows["terminated"]).ravel()
        advantage = reward + self.discount * goes_on * self.values(ahead) - self.values(observation)
        policy = self.policy_loss(self.logits(observation), batch)
        return policy + self.task.value_coefficient * (advantage**2).mean()


@fault("other-nets-params", UPDATE, "plan2explore #4", "optimiser does not hold")
class OtherNetworksParameters(PPO):
    def held(self):
        return [list(self.actor.parameters()), list(self.actor.parameters())]


@fault("clip-wrong-net", UPDATE, "DarylRodrigo rl_lib PR 10", "gradient is not clipped")
class ClipWrongNet(PPO):
    def clipped(self):
        return [parameter.detach().clone() for parameter in self.network.parameters()]


# Evaluation and seeds


@fault("eval-updates-stats", EVALUATION, "rl-baselines3-zoo #275", "evaluation changes")
class EvaluationUpdatesStatistics(PPO):
    count, mean = 1.0, 0.0

    def predict(self, observation, deterministic=True, action_masks=None):
        self.count += len(observation)
        self.mean = self.mean + (observation - self.mean).sum(axis=0) / self.count
        return super().predict(observation - self.mean, deterministic, action_masks)


@fault("eval-not-reset", EVALUATION, "genrl PR 395", "no reset")
class EvaluationNotReset(PPO):
    def evaluate(self, env, length=120):
        self.finish = lambda env, seat, row: None
        rows = super().evaluate(env, length)
        del self.finish
        return rows


@fault("eval-other-policy", EVALUATION, "cleanrl #429", "temperature", "log-probability is that of other actions")
class EvaluationIsGreedy(PPO):
    def evaluate(self, env, length=120):
        self.act = lambda seat: (int(self.chances(seat).argmax()), 0.0)
        rows = super().evaluate(env, length)
        del self.act
        return rows


@fault("all-same-seed", SEEDS, "CleanRL PR 238", "the same seed")
class AllSameSeed(PPO):
    def seed(self, seat):
        return 0


@fault("seed-each-game", SEEDS, "meltingpot #5", "each reset sets the same seed")
class SeedEachGame(PPO):
    def next_seed(self, seat):
        return seat.index
