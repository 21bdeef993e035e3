"""Compare the meter of stock models of stable-baselines3 and sb3-contrib with what these models do in play."""

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.wrappers import FlattenObservation
from sb3_contrib import ARS, QRDQN, TRPO, MaskablePPO, RecurrentPPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecFrameStack, VecMonitor, VecNormalize

from stb_gym import MaskInObservation, RegretMeter, evaluate
from stb_gym.sb3 import RegretCallback, TurnVecEnv
from stb_gym.text import TextEnv
from tests import every
from tests.measure.test_wrapped import row, shown

pytestmark = pytest.mark.slow

ID = "stb_gym/ShutTheBox-v0"


def make(**options):
    return gym.make(ID, tiles=4, **options)


def model_of(algorithm, env, policy="MlpPolicy", **options):
    if algorithm in (DQN, QRDQN):
        options["buffer_size"] = 100
    return algorithm(policy, env, seed=3, device="cpu", **options)


def stacked_vector():
    return VecFrameStack(TurnVecEnv(gym.make_vec(ID, 8, tiles=4, autoreset_mode="SameStep")), 3)


def rows(meter):
    """Return (state, observation, mask) of every third decision, as the agent sees it."""
    tables, observations = meter.optimum.tables, shown(meter)
    states = enumerate(tables.decisions.tolist())
    return [(state, row(observations, place), tables.legal[state].copy()) for place, state in states][::3]


@pytest.mark.parametrize(
    ("algorithm", "wrap"),
    [
        *every(3, [(algorithm, lambda env: env) for algorithm in (PPO, A2C, TRPO, DQN, QRDQN, ARS, MaskablePPO)]),
        (MaskablePPO, MaskInObservation),
        (MaskablePPO, lambda env: FlattenObservation(MaskInObservation(env))),
    ],
)
def test_a_stock_model_is_measured_by_what_it_predicts(algorithm, wrap):
    """A model that takes masks is given them; illegal actions of other models count."""
    env = DummyVecEnv([lambda: wrap(make())])
    name = "MultiInputPolicy" if wrap is MaskInObservation else "MlpPolicy"
    meter, model, is_maskable = RegretMeter(env), model_of(algorithm, env, name), algorithm is MaskablePPO
    for agent in (model, model.policy):
        policy = meter.policy(agent)
        for state, observation, mask in rows(meter):
            masks = {"action_masks": mask} if is_maskable else {}
            assert policy[state] == model.predict(observation, deterministic=True, **masks)[0]
        assert meter(agent).regret == evaluate(env, policy).regret
        assert meter(agent).illegal_mass == 0 if is_maskable else meter(agent).illegal_mass > 0.5
        assert meter(agent, masked=False).illegal_mass > 0.5


@pytest.mark.parametrize("algorithm", every(3, [PPO, A2C, TRPO, MaskablePPO]))
def test_probabilities_are_those_of_the_model(algorithm):
    env = make()
    meter, model = RegretMeter(env), model_of(algorithm, env)
    policy, masked = (meter.policy(model, deterministic=False, masked=answer) for answer in (None, True))
    assert (policy == meter.policy(model.policy, deterministic=False)).all()
    states = meter.optimum.tables.decisions
    assert (meter.policy(model, masked=True)[states] == masked[states].argmax(axis=1)).all()
    for state, observation, mask in rows(meter):
        masks = {"action_masks": mask} if algorithm is MaskablePPO else {}
        sampled_from = model.policy.get_distribution(model.policy.obs_to_tensor(observation)[0], **masks)
        chances = sampled_from.distribution.probs.detach().numpy()[0]
        assert policy[state] == pytest.approx(chances, abs=1e-6)
        assert masked[state] == pytest.approx(chances * mask / chances[mask].sum(), abs=1e-6)


@pytest.mark.parametrize("deterministic", [True, False])
def test_a_model_is_measured_as_it_plays_not_as_it_learns(deterministic):
    meter, model = RegretMeter(make()), model_of(PPO, make())
    model.policy.mlp_extractor.policy_net.append(torch.nn.Dropout(0.5))
    model.policy.set_training_mode(True)
    first = meter.policy(model, deterministic)
    model.policy.set_training_mode(True)
    assert (meter.policy(model, deterministic) == first).all()


def test_observations_are_normalised_by_the_current_statistics():
    env = VecMonitor(VecNormalize(DummyVecEnv([make] * 2)))
    meter, model = RegretMeter(env), model_of(PPO, env, n_steps=32, n_epochs=1)
    tables = meter.optimum.tables
    for _ in range(2):
        model.learn(64)
        policy = meter.policy(model)
        for state, observation, _ in rows(meter):
            assert (observation == env.normalize_obs(tables.observation[state])).all()
            assert policy[state] == model.predict(observation, deterministic=True)[0]
    model = model_of(PPO, VecNormalize(DummyVecEnv([make]), norm_obs=False))
    assert RegretMeter(make())(model).regret == RegretMeter(make())(model.policy).regret


def test_models_with_memory_or_hidden_probabilities_are_refused():
    env = make()
    meter = RegretMeter(env)
    for deterministic in (True, False):
        with pytest.raises(ValueError, match="memory"):
            meter(model_of(RecurrentPPO, env, "MlpLstmPolicy"), deterministic)
    with pytest.raises(ValueError, match="VecFrameStack"):
        RegretMeter(VecFrameStack(DummyVecEnv([make]), 2))(model_of(PPO, VecFrameStack(DummyVecEnv([make]), 2)))
    for algorithm in (ARS, DQN, QRDQN):
        with pytest.raises(ValueError, match="probabilities"):
            meter(model_of(algorithm, env), deterministic=False)


def test_a_model_that_has_diverged_is_refused():
    model = model_of(PPO, make())
    with torch.no_grad():
        next(model.policy.parameters())[0] = torch.nan
    for agent in (model, model.policy):
        with pytest.raises(ValueError, match=r"^the agent has weights that are infinite or not a number$"):
            RegretMeter(make())(agent)


@pytest.mark.parametrize("deterministic", every(2, [True, False]))
def test_a_recurrent_model_is_measured_at_play(deterministic):
    model = model_of(RecurrentPPO, make(), "MlpLstmPolicy")
    with torch.no_grad():
        model.policy.action_net.weight *= 100
    meter = RegretMeter(make())
    sampled = meter.sample(model, 500, deterministic=deterministic)
    assert sampled.masked is False
    envs = VecMonitor(DummyVecEnv([make] * 100))
    envs.seed(1)
    returns, _ = evaluate_policy(model, envs, 500, deterministic, return_episode_rewards=True)
    noise = np.hypot(sampled.standard_error, np.std(returns) / np.sqrt(500))
    assert abs(sampled.value + np.mean(returns)) <= 4 * noise


@pytest.mark.parametrize("stack", every(2, [lambda: VecFrameStack(DummyVecEnv([make] * 8), 3), stacked_vector]))
def test_stacked_frames_are_measured_at_play(stack):
    """The agent uses the last frame only, so its exact regret is known."""
    exact = RegretMeter(make())(lambda observations: observations.sum(axis=1).astype(int) % 15)
    sampled = RegretMeter(stack()).sample(lambda frames: frames[:, -15:].sum(axis=1).astype(int) % 15, 1000)
    assert abs(sampled.regret - exact.regret) <= 4 * sampled.standard_error > 0


@pytest.mark.parametrize(("algorithm", "network"), [(DQN, "q_net"), (QRDQN, "quantile_net")])
def test_the_network_of_a_model_has_the_same_regret(algorithm, network):
    meter, model = RegretMeter(make()), model_of(algorithm, make())
    for masked in (True, False):
        assert meter(getattr(model, network), masked=masked).regret == meter(model, masked=masked).regret


def test_a_callback_plays_a_copy_of_the_environment_that_a_model_learns_from():
    learned = []
    for meter in (lambda envs: RegretMeter(envs), lambda envs: RegretMeter(stacked_vector())):
        envs = stacked_vector()
        model = model_of(PPO, envs, n_steps=4, batch_size=16, n_epochs=2)
        callback = RegretCallback(meter(envs), turns=50)
        model.learn(64, callback)
        assert callback.curve[-1][1]["regret"] > 0
        learned.append(model.policy.state_dict())
    assert all((weights == learned[1][name]).all() for name, weights in learned[0].items())


def test_environments_in_other_processes_are_refused():
    envs = SubprocVecEnv([make], "fork")
    with pytest.raises(ValueError, match="SubprocVecEnv hides the wrappers"):
        RegretMeter(VecMonitor(envs))
    assert len(envs.reset()) == 1  # the process still runs
    envs.close()


def test_a_monitor_inside_of_words_is_refused():
    with pytest.raises(ValueError, match="Monitor misses answers that name no action"):
        TextEnv(Monitor(gym.make("stb_gym/Threes-v0")))
