"""Train Q-learning with a table in your own NumPy loop of 256 games, and print its exact regret.

The program prints the regret of the greedy policy every 100,000 steps. The learner does not know the rules: it uses
only observations, masks and rewards.

    python docs/tutorials/in_numpy.py --steps 1000000
"""

import argparse

import gymnasium as gym
import numpy as np

import stb_gym

GAMES, EXPLORATION = 256, 0.1
ROWS = 10_000  # more than the game has states


class Table:
    """A table of [ROWS, A] Q-values with a row for every observation met so far."""

    def __init__(self, actions):
        self.rows = {}
        self.values = np.zeros((ROWS, actions))
        self.visits = np.zeros((ROWS, actions))

    def find(self, observations):
        """Return the rows [B] of observations [B, O]."""
        keys = (observation.tobytes() for observation in observations)
        return np.array([self.rows.setdefault(key, len(self.rows)) for key in keys])

    def greedy(self, observations, masks):
        """Return the legal actions [B] of highest value; the meter needs only this function."""
        return np.where(masks, self.values[self.find(observations)], -np.inf).argmax(axis=1)

    def learn(self, row, action, target):
        """Move each value towards the mean of its targets; steps shrink with the number of visits."""
        np.add.at(self.visits, (row, action), 1)
        error = target - self.values[row, action]
        np.add.at(self.values, (row, action), error / self.visits[row, action] ** 0.8)


def main(steps, seed=0, every=100_000):
    """Train for `steps` steps, summed over all games, and print the learning curve."""
    envs = gym.make_vec("stb_gym/ShutTheBox-v0", num_envs=GAMES, autoreset_mode="SameStep")
    meter = stb_gym.RegretMeter(envs)
    random, table = np.random.default_rng(seed), Table(envs.single_action_space.n)
    observation, info = envs.reset(seed=seed)
    row = table.find(observation)
    for done in range(0, steps, GAMES):
        if done % every < GAMES:
            print(f"{done:>9,} steps: regret {meter(table.greedy).regret:.4f}")
        explore = random.random(GAMES) < EXPLORATION
        action = np.where(explore, envs.legal_sample(), table.greedy(observation, info["action_mask"]))
        observation, reward, over, _, info = envs.step(action)
        next_row = table.find(observation)
        ahead = np.where(info["action_mask"], table.values[next_row], -np.inf).max(axis=1)
        table.learn(row, action, reward + np.where(over, 0, ahead))
        row = next_row
    print(f"{steps:>9,} steps: regret {meter(table.greedy).regret:.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1_000_000)
    main(parser.parse_args().steps)
