"""Faults planted in the textbook DQN."""

import numpy as np
import torch

from tests.check.zoo.dqn import DQN
from tests.check.zoo.ppo_faults import MASKS, REWARDS, UPDATE
from tests.check.zoo.registry import fault

TARGET_NETWORK, TARGETS, REPLAY = "target network", "targets of Q-learning", "replay and n-step"
EXPLORATION = "exploration schedule"
SCHEDULE = ("schedule", "exploration rate", "epsilon")


# The target network


@fault("target-is-online", TARGET_NETWORK, "easy-rl #140", "target network is the network that is trained")
class TargetIsOnline(DQN):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.target_network = self.online


@fault("target-copies-itself", TARGET_NETWORK, "AgileRL PR 464", "target network does not change")
class TargetCopiesItself(DQN):
    def followed(self):
        return zip(self.target_network.parameters(), self.target_network.parameters(), strict=True)


@fault("target-sync-unreached", TARGET_NETWORK, "shakedzy/tic_tac_toe #1", "target network does not change")
class TargetSyncUnreached(DQN):
    def is_due(self):
        return 2 * self.updates + 1 == self.interval + 1


# Targets


@fault("gamma-mutant", REWARDS, "muPRL 'gamma'", "discount")
class GammaMutant(DQN):
    def windows(self, reward, done, discount, num_steps):
        return super().windows(reward, done, 0.5, num_steps)

    def improve(self, rows, discount, weight=1.0):
        one_step = isinstance(discount, float)
        super().improve(rows, 0.5 if one_step else discount, weight)


@fault("q-end-ignored", TARGETS, "minimalRL PR 21", "a turn that ended bootstraps from the value of its last state")
class EndIgnored(DQN):
    def target(self, reward, discount, terminated, next_value):
        return reward + discount * next_value


@fault("untaken-to-zero", TARGETS, "Packt TF2 RL Cookbook #32", "not taken are pulled to 0")
class UntakenToZero(DQN):
    def td_loss(self, q, next_q, batch, weight=1.0):
        with torch.no_grad():
            target = self.td_target(q, next_q, batch)
            row = torch.zeros_like(q).scatter(1, batch.action[:, None], target[:, None])
        return 0.5 * (q - row).square().sum(dim=1).mean()


@fault("fancy-index", TARGETS, "sherjilozair/dqn #4", "actions of all steps: wrong indices")
class FancyIndex(DQN):
    def predicted(self, q, batch):
        return q[:, batch.action]

    def squares(self, q, next_q, batch):
        return super().squares(q, next_q, batch).mean(dim=1)


@fault("falsy-action", TARGETS, "satwikkansal taxi PR 4", "starts its maximum at 0", "greedy")
class FalsyAction(DQN):
    def greedy(self, q, mask):
        best, found = 0.0, 0
        for action in torch.nonzero(mask)[:, 0].tolist():
            if q[action] > best:
                best, found = float(q[action]), action
        return found or int(self.random.choice(np.flatnonzero(mask.numpy())))


@fault("double-is-plain", TARGETS, "keon #35", "the next value is the greatest one")
class DoubleIsPlain(DQN):
    def best_next(self, next_q, next_q_online, mask):
        return self.masked(next_q, mask).amax(dim=-1)


@fault("double-off-by-one", TARGETS, "ray PR 5731", "greatest one of the current state")
class DoubleOffByOne(DQN):
    def td_target(self, q, next_q, batch):
        next_value = next_q.gather(1, q.argmax(dim=1, keepdim=True))[:, 0]
        return self.target(batch.reward, batch.discount, batch.terminated, next_value)


@fault("q-target-with-graph", UPDATE, "philtabor #16", "gradient reaches the target")
class TargetWithGraph(DQN):
    def squares(self, q, next_q, batch):
        return (self.predicted(q, batch) - self.td_target(q, next_q, batch)) ** 2


# Replay


@fault("list-reused", REPLAY, "Muesli-lunarlander #1", "steps are stored twice")
class ListReused(DQN):
    """The list of a game is stored itself, and cleared for the next game."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.game, self.stored = [], []

    def remember(self, row):
        if self.game and (self.game[-1]["terminated"] or self.game[-1]["truncated"]):
            self.game.clear()
        self.game.append(row)
        if row["terminated"] or row["truncated"]:
            self.stored = [*self.stored[-100:], self.game]
        self.memory = [each for game in self.stored for each in game]
        self.priority = [1.0] * len(self.memory)


@fault("ring-seam", REPLAY, "FastTD3 #6", "write position")
class RingSeam(DQN):
    def in_order(self):
        return np.arange(len(self.memory))


@fault("priority-exponent", REPLAY, "takoika PER #1", "weight")
class PriorityExponent(DQN):
    def importance_weights(self, chances, beta):
        return super().importance_weights(chances, beta) ** -beta


@fault("priority-last-slot", REPLAY, "ptan #36", "left out")
class PriorityLastSlot(DQN):
    def chances(self, priority):
        return np.append(super().chances(priority[:-1]), 0.0)

    def importance_weights(self, chances, beta):
        return np.append(super().importance_weights(chances[:-1], beta), 0.0)


@fault("nstep-gamma-one", REPLAY, "FastTD3 PR 7", "discounted once, not n times")
class GammaOnce(DQN):
    def windows(self, reward, done, discount, num_steps):
        total, factor, last = super().windows(reward, done, discount, num_steps)
        return total, np.full_like(factor, discount), last


@fault("nstep-end-misread", REPLAY, "Kaixhin/Rainbow #11", "go on over the ends of turns")
class EndMisread(DQN):
    def goes_on(self, last, done, length):
        return last < length - 1


@fault("nstep-pairs-misaligned", REPLAY, "rainbow-is-all-you-need #10", "that of another step")
class PairsMisaligned(DQN):
    def windows(self, reward, done, discount, num_steps):
        return tuple(
            np.append(each[num_steps - 1 :], each[: num_steps - 1])
            for each in super().windows(reward, done, discount, num_steps)
        )


# Exploration


@fault("eps-restarts", EXPLORATION, "rlax #102", *SCHEDULE)
class EpsilonRestarts(DQN):
    def epsilon(self, seat):
        return max(1 - seat.last / self.decay, 0.05)

    def store(self, row, seat):
        seat.last = 0 if row["done"] else seat.last + 1
        super().store(row, seat)


@fault("eps-unit", EXPLORATION, "tensorlayer/RLzoo #26", *SCHEDULE)
class EpsilonOfGames(DQN):
    def epsilon(self, seat):
        return max(1 - self.games / self.decay, 0.05)


@fault("eps-twice", EXPLORATION, "TonghanWang/DOP #21", "explores twice")
class EpsilonTwice(DQN):
    def draw(self, best, mask, epsilon):
        return super().draw(super().draw(best, mask, epsilon), mask, epsilon)


@fault("eps-floor", EXPLORATION, "muPRL 'exploration_final_eps'", *SCHEDULE)
class EpsilonFloor(DQN):
    def epsilon(self, seat):
        return max(super().epsilon(seat), 0.3)


# Masks


@fault("mask-max-over-all", MASKS, "trfl #27", "actions are chosen without the mask")
class MaximumOverAll(DQN):
    def greedy(self, q, mask):
        return int(q.argmax())


@fault("mask-by-addition", MASKS, "open_spiel PR 847", "over illegal actions", "sees illegal actions")
class MaskByAddition(DQN):
    def masked(self, q, mask):
        return q - 10.0 * ~mask


@fault("target-unmasked", MASKS, "tianshou #309", "over illegal actions", "sees illegal actions")
class TargetUnmasked(DQN):
    def best_next(self, next_q, next_q_online, mask):
        return super().best_next(next_q, next_q_online, torch.ones_like(mask))
