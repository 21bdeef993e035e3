"""Test that the regret of an agent in any wrapped environment is what it loses there, or that the meter refuses."""

import re
from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from stable_baselines3 import A2C
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnvWrapper, VecFrameStack, VecNormalize

from stb_gym import RecordRegret, RegretMeter, solve
from stb_gym.sb3 import RegretCallback, TurnVecEnv
from tests import every
from tests.measure.test_meter import first_legal
from tests.measure.test_recording import MODES
from tests.measure.test_wrapped import make, make_vec
from tests.own_wrappers import (
    Cheat,
    Clumsy,
    Curriculum,
    FewerLegal,
    Frozen,
    Generous,
    Helpful,
    Hurried,
    Impatient,
    Negative,
    Noisy,
    Opposite,
    Own,
    OwnEnv,
    Reversed,
    ReversedActions,
    SameDice,
    Scaled,
    Strict,
    Twice,
    Unseeded,
)


def frozen_means(env):
    env = wrappers.NormalizeObservation(env)
    env.obs_rms.mean += 0.3  # not by a reset: some wrappers inside ignore its seed
    env.update_running_mean = False
    return env


CHANGES = {
    "the actions or the dice": [Clumsy, Twice, ReversedActions, Reversed],
    "what illegal actions do": [Helpful, Strict],
    "the action masks": [FewerLegal],
    "when turns end": [Impatient],
    "where turns begin": [Generous, SameDice, Curriculum],
}
HARMLESS = [
    Own,
    OwnEnv,
    Scaled,
    Unseeded,
    frozen_means,
    Monitor,
    wrappers.NormalizeReward,
    wrappers.RecordEpisodeStatistics,
    wrappers.FlattenObservation,
    lambda env: wrappers.TransformReward(env, lambda reward: 0.1 * reward),
    lambda env: wrappers.TransformObservation(env, lambda seen: 1 - seen, None),
    lambda env: wrappers.TransformAction(env, lambda action: action, env.action_space),
]
OF_LIBRARIES = [
    wrappers.NormalizeObservation,
    lambda env: wrappers.TimeAwareObservation(wrappers.TimeLimit(env, 99)),
    lambda env: wrappers.StickyAction(env, 0.1),
    lambda env: wrappers.FrameStackObservation(env, 2),
    lambda env: wrappers.ClipReward(env, -1, 0),
    lambda env: wrappers.TransformReward(env, lambda reward: -reward),
    lambda env: wrappers.TimeLimit(env, 2),
]
CHANGING = [wrapper for changing in CHANGES.values() for wrapper in changing if wrapper is not Strict]
ANY = [*HARMLESS, *CHANGING, *OF_LIBRARIES, Cheat, Negative, Noisy, Opposite, Hurried]
REFUSED = re.compile(
    r"changes (the|what|when|where) .*RecordRegret|changes the rewards: name|truncates it after|"
    r"shows may depend on more than the position(| until its update_running_mean is False): record"
)


def chooser(observations, masks):
    """Return a legal action that depends on all numbers of the observation."""
    flat = np.asarray(observations, float).reshape(len(masks), -1)
    weights = np.sin(np.arange(1, flat.shape[1] + 1))
    rank = (np.abs(flat @ weights) * 7).astype(int) % masks.sum(axis=1)
    return (masks.cumsum(axis=1) == rank[:, None] + 1).argmax(axis=1)


def careless(observations, masks):
    """Return the first legal action, or an illegal one where few are legal."""
    return np.where(masks.sum(axis=1) < 2, masks.argmin(axis=1), masks.argmax(axis=1))


def played(env, agent):
    """Return the mean regret of an agent at play, and its standard error."""
    env = RecordRegret(env)
    for turn in range(300):
        observation, info = env.reset(seed=turn)
        over = False
        while not over:
            mask = info["action_mask"].astype(bool)
            action = agent(np.asarray(observation)[None], mask[None])[0]
            observation, _, terminated, truncated, info = env.step(action)
            over = terminated or truncated
    return env.regret, env.standard_error


def measured(env, agent):
    """Return the exact regret of an agent, or the sampled one where only that is possible; None if both are refused."""
    refusal = ""
    for measure in (lambda: RegretMeter(env)(agent), lambda: RegretMeter(env).sample(agent, 100)):
        try:
            result = measure()
            return result.regret, getattr(result, "standard_error", 0)
        except ValueError as error:
            refusal = str(error)
    assert REFUSED.search(refusal)
    return None


def compare(agent, chosen):
    """Test that the regret of an agent in chosen wrappers, the first innermost, is what it loses there."""
    # Both want the same entry of infos.
    assume(sum(each in (Monitor, wrappers.RecordEpisodeStatistics) for each in chosen) < 2)
    result = measured(wrapped(chosen), agent)
    if result is not None:
        regret, error = played(wrapped(chosen), agent)
        assert abs(regret - result[0]) <= 4 * np.hypot(error, result[1]) + 1e-6


def wrapped(chosen):
    env = make()
    for wrapper in chosen:
        env = wrapper(env)
    return env


CHOSEN = st.lists(st.sampled_from(ANY), min_size=1, max_size=3)


@settings(max_examples=3)
@given(agent=st.sampled_from([chooser, careless]), chosen=CHOSEN)
def test_the_regret_is_what_the_agent_loses_at_play(agent, chosen):
    compare(agent, chosen)


@pytest.mark.nightly
@settings(max_examples=150)
@given(agent=st.sampled_from([chooser, careless]), chosen=CHOSEN)
def test_many_regrets_are_what_agents_lose_at_play(agent, chosen):
    compare(agent, chosen)


@pytest.mark.parametrize(
    ("change", "wrapper"), every(3, [(change, each) for change, some in CHANGES.items() for each in some])
)
def test_what_a_wrapper_changes_is_named(change, wrapper):
    message = f"{wrapper.__name__} changes {change}: record the losses of play with RecordRegret"
    for env in (
        wrapper(make()),
        wrappers.FlattenObservation(wrapper(Monitor(make()))),
        SyncVectorEnv([lambda: wrapper(make())] * 2),
        DummyVecEnv([make, lambda: wrapper(make())]),
    ):
        with pytest.raises(ValueError, match=message):
            RegretMeter(env)
    with pytest.raises(ValueError, match=message):
        solve(wrapper(make()))


def test_a_wrapper_of_one_member_in_another_process_is_named():
    with pytest.raises(ValueError, match="ReversedActions changes the actions or the dice"):
        RegretMeter(AsyncVectorEnv([make, lambda: ReversedActions(make())]))
    assert RegretMeter(AsyncVectorEnv([make, lambda: Own(make())]))(first_legal).regret > 0


@pytest.mark.parametrize("wrapper", every(2, [Hurried, Opposite]))
def test_other_rewards_need_an_objective(wrapper):
    env = SyncVectorEnv([lambda: wrapper(make())])
    for refused in (env, env.envs[0]):
        with pytest.raises(ValueError, match=f"{wrapper.__name__} changes the rewards: name the objective"):
            RegretMeter(refused)
    assert RegretMeter(env, "score")(chooser).regret == RegretMeter(make())(chooser).regret


@pytest.mark.parametrize("wrapper", every(3, HARMLESS))
def test_harmless_wrappers_are_measured_exactly(wrapper):
    assert RegretMeter(wrapper(make()))(first_legal).regret == RegretMeter(make())(first_legal).regret


def test_what_cannot_be_copied_is_refused():
    with pytest.raises(ValueError, match=r"Frozen cannot be copied to try it out \(cannot pickle"):
        RegretMeter(Frozen(make()))
    with pytest.raises(
        ValueError, match=r"OwnMany cannot be copied to try it out \(its members are in other processes"
    ):
        RegretMeter(OwnMany(AsyncVectorEnv([make] * 2)))


def test_the_environment_itself_is_not_played():
    env = Own(make())
    env.reset(seed=5)
    before = env.unwrapped.snapshot(), env.random.bit_generator.state
    RegretMeter(env)
    assert (env.unwrapped.snapshot(), env.random.bit_generator.state) == before


# Vector environments


class OwnMany(gym.vector.VectorWrapper):
    """A user's wrapper of vector environments that changes nothing."""

    def step(self, actions):
        return self.env.step(actions)


class ReversedMany(OwnMany):
    """Reverse the actions."""

    def step(self, actions):
        return self.env.step(self.single_action_space.n - 1 - actions)


class NegativeMany(OwnMany):
    """Show other observations, which the meter cannot know."""

    def step(self, actions):
        observation, *rest = self.env.step(actions)
        return 1 - observation, *rest


class OwnVec(VecEnvWrapper):
    """A user's wrapper of stable-baselines3 that changes nothing."""

    def reset(self):
        return self.venv.reset()

    def step_wait(self):
        return self.venv.step_wait()


class ReversedVec(OwnVec):
    """Reverse the actions."""

    def step_async(self, actions):
        self.venv.step_async(self.action_space.n - 1 - actions)


class NegativeVec(OwnVec):
    """Show other observations, which the meter cannot know."""

    def step_wait(self):
        observation, *rest = self.venv.step_wait()
        return 1 - observation, *rest


MANY = [
    *(partial(make_vec, autoreset_mode=mode) for mode in MODES),
    *(partial(SyncVectorEnv, [make] * 3, autoreset_mode=mode) for mode in MODES),
]
VECS = [
    lambda: DummyVecEnv([make] * 3),
    lambda: VecNormalize(DummyVecEnv([make])),
    lambda: TurnVecEnv(make_vec(autoreset_mode="SameStep")),
]


@pytest.mark.parametrize("inside", every(4, MANY))
def test_wrappers_of_vector_environments_are_tried(inside):
    assert RegretMeter(OwnMany(inside()))(chooser).regret == RegretMeter(make())(chooser).regret
    with pytest.raises(ValueError, match="ReversedMany changes the actions or the dice"):
        RegretMeter(ReversedMany(inside()))
    with pytest.raises(ValueError, match="what NegativeMany shows may depend on more than the position"):
        RegretMeter(NegativeMany(inside()))(chooser)


@pytest.mark.parametrize("inside", every(3, VECS))
def test_wrappers_of_stable_baselines3_are_tried(inside):
    assert RegretMeter(OwnVec(inside()))(first_legal).regret == RegretMeter(make())(first_legal).regret
    with pytest.raises(ValueError, match="ReversedVec changes the actions or the dice"):
        RegretMeter(ReversedVec(inside()))
    meter = RegretMeter(NegativeVec(inside()))
    with pytest.raises(ValueError, match="what NegativeVec shows may depend on more than the position"):
        meter(first_legal)
    sampled = meter.sample(first_legal, 100)
    assert abs(sampled.regret - RegretMeter(make())(first_legal).regret) < 4 * sampled.standard_error


# Models that learn in other environments


def negative(env):
    return wrappers.TransformObservation(env, lambda seen: 1 - seen, env.observation_space)


@pytest.mark.parametrize(
    ("learns", "message"),
    [
        (lambda: negative(make()), "own environment shows other observations"),
        (lambda: Negative(make()), "own environment shows other observations"),
        (lambda: TurnVecEnv(NegativeMany(make_vec(autoreset_mode="SameStep"))), "own environment shows"),
        (lambda: wrappers.RescaleObservation(make(), -1, 1), "the agent observes numbers"),
        (lambda: wrappers.NormalizeObservation(make()), "the agent observes numbers"),
        (lambda: VecNormalize(DummyVecEnv([make])), "the agent's observations are normalised"),
        (lambda: ReversedActions(make()), "ReversedActions of the agent's environment changes the actions"),
        (lambda: VecFrameStack(DummyVecEnv([make]), 2), "the agent observes"),
    ],
)
def test_models_that_learn_from_other_observations_are_refused(learns, message):
    model = A2C("MlpPolicy", learns(), device="cpu")
    with pytest.raises(ValueError, match=message):
        RegretMeter(make())(model, masked=True)
    with pytest.raises(ValueError, match=message):
        model.learn(1, RegretCallback(RegretMeter(make()), masked=True))


def test_models_without_masks_may_learn_where_masks_are_hidden():
    model = A2C("MlpPolicy", FewerLegal(make()), device="cpu")
    assert RegretMeter(make())(model, masked=False).illegal_mass > 0
    with pytest.raises(ValueError, match="FewerLegal of the agent's environment changes the action masks"):
        RegretMeter(make())(model, masked=True)


@pytest.mark.parametrize(
    "wrapper", [Own, Impatient, Opposite, Curriculum, Monitor, lambda env: wrappers.TimeLimit(env, 2)]
)
def test_models_may_learn_from_other_turns(wrapper):
    model = A2C("MlpPolicy", wrapper(make()), device="cpu")
    alone = A2C("MlpPolicy", make(), device="cpu")
    alone.policy.load_state_dict(model.policy.state_dict())
    meter = RegretMeter(make())
    assert meter(model, masked=True).regret == meter(alone, masked=True).regret


def test_normalised_models_need_the_same_statistics():
    envs = VecNormalize(DummyVecEnv([make]))
    model = A2C("MlpPolicy", envs, device="cpu")
    other = VecNormalize(DummyVecEnv([make]), training=False)
    assert RegretMeter(other)(model, masked=True).regret == RegretMeter(envs)(model, masked=True).regret
    envs.obs_rms.mean += 1
    RegretMeter(envs)(model, masked=True)
    with pytest.raises(ValueError, match="same wrappers and statistics"):
        RegretMeter(other)(model, masked=True)
