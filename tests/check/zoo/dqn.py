"""Textbook deep Q-learning (Mnih et al., 2015): double, n-step, with priorities and masks, in pieces."""

from functools import partial

import gymnasium as gym
import numpy as np
import torch
from torch import nn

from stb_gym import check
from tests.check.zoo.ppo import Player, Seat, perceptron, settings

LENGTH = 5000  # steps of a collection; fewer do not show how often actions are explored
ON_THE_LADDER = {"learning_rate": 3e-3, "max_grad_norm": 10.0, "tau": 1.0}  # settings
DECAY, FINAL = 100, 0.05  # the schedule of epsilon: steps until the final value


class DQN(Player):
    capacity = 6000
    num_steps = 1
    interval = 1  # updates between two of the target network
    alpha = 0.6  # exponent of priorities
    decay = DECAY
    on_the_ladder = ON_THE_LADDER

    def __init__(self, task, seed=0, optimiser=torch.optim.SGD):
        torch.manual_seed(seed)
        self.task, self.random = task, np.random.default_rng(seed)
        self.online, self.target_network = (perceptron(task.num_features, task.num_actions) for _ in range(2))
        self.network = nn.ModuleDict({"online": self.online})
        with torch.no_grad():
            for weight in self.online[-1].parameters():
                weight *= 0.1  # so that no error of an untrained network is above 1
        self.copy_weights()
        self.optimiser = optimiser(self.held(), task.learning_rate)
        self.memory, self.priority = [], []
        self.count = self.games = self.updates = 0

    # The networks

    def copy_weights(self):
        self.target_network.load_state_dict(self.online.state_dict())

    def held(self):
        return self.network.parameters()

    def q_values(self, observation):
        return self.online(observation)

    def target_q_values(self, observation):
        return self.target_network(observation)

    def is_due(self):
        """Return whether the target network follows now."""
        return self.updates % self.interval == 0

    def update_target(self):
        if self.is_due():
            with torch.no_grad():
                for old, new in self.followed():
                    old += self.task.tau * (new - old)

    def followed(self):
        """Return pairs of a parameter of the target network and of the network that it follows."""
        return zip(self.target_network.parameters(), self.online.parameters(), strict=True)

    # Play

    def epsilon(self, seat):
        return max(1 - self.count / self.decay, FINAL)

    def masked(self, q, mask):
        """Return the action values with those of illegal actions set to a very low number."""
        return q.masked_fill(~mask, -1e9)

    def greedy(self, q, mask):
        """Return the best action of one state."""
        return int(self.masked(q, mask).argmax())

    def draw(self, best, mask, epsilon):
        """Return an action of epsilon-greedy play."""
        return int(self.random.choice(np.flatnonzero(mask))) if self.random.random() < epsilon else best

    def act(self, seat):
        """Return an action and its log-probability."""
        epsilon = self.epsilon(seat)
        with torch.no_grad():
            q = self.q_values(torch.as_tensor(seat.observation[None]).float())[0]
        best = self.greedy(q, torch.as_tensor(seat.mask))
        action = self.draw(best, seat.mask, epsilon)
        return action, np.log(epsilon / seat.mask.sum() * seat.mask[action] + (1 - epsilon) * (action == best) + 1e-12)

    def finish(self, env, seat, row):
        self.games += 1
        super().finish(env, seat, row)

    def store(self, row, seat):
        del row["done"], row["episode_start"]
        self.remember(row)
        self.count += 1

    def remember(self, row):
        """Store a row in a ring."""
        if len(self.memory) < self.capacity:
            self.memory.append(row)
            self.priority.append(0.0)
        slot = self.count % self.capacity
        self.memory[slot] = row
        self.priority[slot] = max(self.priority) or 1.0

    def collect(self, env, length=LENGTH):
        """Play some steps and return the rows of the memory, oldest first."""
        seat = Seat(0)
        self.reset(env, seat, seat.index)
        for _ in range(length):
            self.play(env, seat)
        self.seat = seat
        return self.rows(self.in_order())

    def in_order(self):
        """Return the slots of the memory, oldest first."""
        first = self.count % self.capacity if len(self.memory) == self.capacity else 0
        return np.roll(np.arange(len(self.memory)), -first)

    def rows(self, slots):
        rows = [self.memory[slot] for slot in slots]
        return {name: np.array([row[name] for row in rows]) for name in rows[0]}

    # Priorities (Schaul et al., 2016)

    def chances(self, priority):
        """Return the probability of each row."""
        power = np.asarray(priority) ** self.alpha
        return power / power.sum()

    def importance_weights(self, chances, beta):
        weights = (len(chances) * chances) ** -beta
        return weights / weights.max()

    # Targets

    def windows(self, reward, done, discount, num_steps):
        """Return, by first step of a window: the sum of its rewards, the discount after them, and its last step."""
        index = np.arange(len(reward))
        total, factor, last = reward.astype(float), np.full(len(reward), discount), index
        for _ in range(num_steps - 1):
            goes_on = self.goes_on(last, done, len(reward))
            last = last + goes_on
            total = total + np.where(goes_on, factor * reward[last], 0)
            factor = np.where(goes_on, factor * discount, factor)
        return total, factor, last

    def goes_on(self, last, done, length):
        """Return whether windows that have reached these steps continue with the next one."""
        return ~done[last] & (last < length - 1)

    def best_next(self, next_q, next_q_online, mask):
        """Return the value of the action that the other network selects (van Hasselt et al., 2016)."""
        return next_q.gather(-1, self.masked(next_q_online, mask).argmax(dim=-1, keepdim=True))[..., 0]

    def target(self, reward, discount, terminated, next_value):
        return reward + discount * ~terminated * next_value

    def targets(self, batch):
        """Return the targets of n steps of a `check.Batch`."""
        total, factor, last = self.windows(batch.reward, batch.done, batch.discount, batch.num_steps)
        tensors = (torch.as_tensor(each) for each in (batch.next_q, batch.next_q_online, batch.next_mask))
        return self.target(total, factor, batch.terminated[last], self.best_next(*tensors).numpy()[last])

    # The update

    def predicted(self, q, batch):
        return q.gather(1, batch.action[:, None])[:, 0]

    def td_target(self, q, next_q, batch):
        """Return the targets of a `check.LossBatch`."""
        next_value = self.best_next(next_q, batch.next_q_online, batch.next_mask)
        return self.target(batch.reward, batch.discount, batch.terminated, next_value)

    def squares(self, q, next_q, batch):
        with torch.no_grad():
            target = self.td_target(q, next_q, batch)
        return (self.predicted(q, batch) - target) ** 2

    def td_loss(self, q, next_q, batch, weight=1.0):
        return 0.5 * (weight * self.squares(q, next_q, batch)).mean()

    def improve(self, rows, discount, weight=1.0):
        tensors = {
            name: torch.as_tensor(array.astype(np.float32) if array.dtype.kind == "f" else array)
            for name, array in rows.items()
        }
        ahead = tensors["next_observation"].float()
        with torch.no_grad():
            online = self.q_values(ahead)
        batch = check.LossBatch(
            tensors["action"].long(), torch.ones(len(ahead), dtype=torch.bool), None, reward=tensors["reward"].float(),
            terminated=tensors["terminated"], next_mask=tensors["next_action_mask"], next_q_online=online,
            discount=discount,
        )  # fmt: skip
        loss = self.td_loss(self.q_values(tensors["observation"].float()), self.target_q_values(ahead), batch, weight)
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), self.task.max_grad_norm)
        self.optimiser.step()
        self.updates += 1

    def update(self, transitions):
        rows = dict(vars(transitions))
        self.improve(rows | {"next_action_mask": rows["next_mask"]}, self.task.discount)

    def replay(self, size, beta):
        """Improve with a sample of windows."""
        slots = self.in_order()
        chances = self.chances(np.array(self.priority)[slots])
        chosen = self.random.choice(len(slots), size, p=chances)
        rows = self.rows(slots)
        done = rows["terminated"] | rows["truncated"]
        total, factor, last = self.windows(rows["reward"], done, self.task.discount, self.num_steps)
        begins = {name: rows[name][chosen] for name in ("observation", "action")}
        ends = {name: rows[name][last[chosen]] for name in ("next_observation", "terminated", "next_action_mask")}
        weight = torch.as_tensor(self.importance_weights(chances, beta)[chosen]).float()
        self.improve(begins | ends | {"reward": total[chosen]}, torch.as_tensor(factor[chosen]).float(), weight)
        for slot, reward in zip(slots[chosen], abs(total[chosen]), strict=True):
            self.priority[slot] = float(reward) + 0.1

    def learn(self, envs, steps):
        """Train in the first of a list of environments."""
        env = envs[0]
        self.num_steps, self.interval, self.capacity, self.decay = 3, 25, 400, steps // 2
        seat = Seat(0)
        self.reset(env, seat, seat.index)
        for step in range(steps):
            self.play(env, seat)
            if step >= 50 and step % 2 == 0:
                self.replay(32, beta=0.5)
                self.update_target()

    def predict(self, observation, deterministic=True, action_masks=None):
        with torch.no_grad():
            q = self.q_values(torch.as_tensor(np.array(observation)).float())
        masks = torch.as_tensor(np.array(action_masks))
        return np.array([self.greedy(row, mask) for row, mask in zip(q, masks, strict=True)]), None


class Counted(gym.Wrapper):
    """Remembers how many steps were made before each observation."""

    def __init__(self, env, counts):
        super().__init__(env)
        self.counts, self.steps = counts, 0

    def reset(self, **options):
        observation, info = self.env.reset(**options)
        self.counts[observation.tobytes()] = self.steps
        return observation, info

    def step(self, action):
        observation, *rest = self.env.step(action)
        self.steps += 1
        self.counts[observation.tobytes()] = self.steps
        return observation, *rest


def exploring(learner, counts, observation, mask):
    """Return the probabilities of epsilon-greedy play, by the schedule that the settings ask for."""
    with torch.no_grad():
        q = learner.q_values(torch.as_tensor(np.array(observation)).float())
    best = q.masked_fill(~torch.as_tensor(np.array(mask)), -1e9).argmax(dim=1).numpy()
    steps = np.array([counts.get(row.tobytes(), 0) for row in observation])
    epsilon = np.maximum(1 - steps / DECAY, FINAL)[:, None]
    is_best = np.arange(mask.shape[1]) == best[:, None]
    return epsilon * mask / mask.sum(axis=1, keepdims=True) + (1 - epsilon) * is_best


def windows_of(learner, env):
    """Play, sample windows of a full ring, and return the pairs of steps that follow one another in a window."""
    learner.capacity = 64
    learner.collect(env)
    while learner.seat.begins:  # stop in the middle of a game
        learner.play(env, learner.seat)
    slots = learner.in_order()
    rows = learner.rows(slots)
    done = rows["terminated"] | rows["truncated"]
    goes_on = learner.goes_on(np.arange(len(done)), done, len(done))
    following = np.roll(rows["observation"], -1, axis=0)
    shown = np.where(goes_on[:, None], following, rows["next_observation"])
    kept = {name: array for name, array in rows.items() if name != "log_prob"}
    return kept | {"next_observation": shown}


def with_priorities(learner, q, next_q, batch):
    """Return the mean loss of rows that are drawn by priorities and weighted for that."""
    chances = learner.chances(np.random.default_rng(0).uniform(0.5, 2.0, len(q)))
    weight = len(q) * chances * learner.importance_weights(chances, 1.0)
    return learner.td_loss(q, next_q, batch, torch.as_tensor(weight).float())


def checks(make):
    """Return the checks of a learner's pieces by name."""
    learner, other = (make(settings()) for _ in range(2))
    counts = {}
    return {
        "rollout": lambda: check.rollout(
            lambda env: learner.collect(Counted(env, counts)), policy=partial(exploring, learner, counts)
        ),
        "rollout of windows": lambda: check.rollout(partial(windows_of, other), shuffled=True),
        "q_targets": lambda: check.q_targets(learner.targets, kind="double", num_steps=3),
        "td_loss": lambda: check.td_loss(learner.td_loss, kind="double"),
        "td_loss with priorities": lambda: check.td_loss(partial(with_priorities, learner), kind="double"),
        "update": lambda: check.update(make, double=True),
    }
