"""Agents with a memory: by turns of the meter, by recorded losses, and by their scores alone."""

import gymnasium as gym
import numpy as np
import pytest
from sb3_contrib import RecurrentPPO
from stable_baselines3 import DQN
from stable_baselines3.common.vec_env import VecFrameStack

from stb_gym import RegretMeter, VectorRecordRegret
from stb_gym.sb3 import TurnVecEnv

pytestmark = pytest.mark.nightly

GAMES, TURNS = 1000, 200  # turns in each game


def make(games):
    return gym.make_vec("stb_gym/ShutTheBox-v0", games, autoreset_mode="SameStep", tiles=5, reward_scale=0.1)


def recurrent():
    envs = TurnVecEnv(make(8))
    model = RecurrentPPO("MlpLstmPolicy", envs, n_steps=64, seed=1, device="cpu").learn(2000)
    model.policy.action_net.weight.data *= 30  # so that it plays several moves
    return envs, model


def frames():
    envs = VecFrameStack(TurnVecEnv(make(8)), 3)
    return envs, DQN("MlpPolicy", envs, learning_starts=500, buffer_size=10_000, seed=1, device="cpu").learn(10_000)


class Scripted:
    """Plays the highest tiles first, but the lowest action after a turn's second throw."""

    def __init__(self, games):
        self.moves = np.zeros(games, int)

    def __call__(self, masks, games, begins):
        self.moves[games] = np.where(begins, 1, self.moves[games] + 1)
        last = masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)
        return np.where(self.moves[games] > 2, masks.argmax(axis=1), last)


def scripted():
    met, plays = set(), Scripted(20_000)

    def agent(observations, masks, turns):
        begins = np.array([turn not in met for turn in turns.tolist()])
        met.update(turns.tolist())
        return plays(masks, turns, begins)

    return TurnVecEnv(make(8)), agent


def play(agent, stacked):
    """Return the scores and the recorded regrets [GAMES x TURNS] of an agent."""
    inner = make(GAMES)
    envs = TurnVecEnv(VectorRecordRegret(inner))
    envs.seed(7)
    envs = VecFrameStack(envs, 3) if stacked else envs
    plays, state, begins = Scripted(GAMES), None, np.ones(GAMES, bool)
    observations, found = envs.reset(), [[] for _ in range(GAMES)]
    while min(map(len, found)) < TURNS:
        if hasattr(agent, "predict"):
            actions, state = agent.predict(observations, state, begins, deterministic=True)
        else:
            actions = plays(inner.unwrapped.action_masks(), np.arange(GAMES), begins)
        observations, _, begins, infos = envs.step(actions)
        for game in begins.nonzero()[0]:
            found[game].append((infos[game]["final_score"], infos[game]["regret"]))
    return np.concatenate([np.array(turns[:TURNS]) for turns in found]).T


@pytest.mark.parametrize("of_kind", [recurrent, frames, scripted])
def test_three_ways_to_measure_a_memory_agree(of_kind):
    envs, agent = of_kind()
    meter = RegretMeter(envs)
    with pytest.raises(ValueError, match=r"memory|more than the position"):
        meter(agent)
    sampled = meter.sample(agent, 20_000)
    scores, regrets = play(agent, of_kind is frames)
    error = regrets.std() / np.sqrt(GAMES * TURNS)
    assert abs(regrets.mean() - sampled.regret) <= 4 * np.hypot(error, sampled.standard_error)
    luck = scores - meter.optimum.value - regrets
    assert abs(luck.mean()) <= 4 * luck.std() / np.sqrt(GAMES * TURNS)
    assert sampled.regret > 0.01
