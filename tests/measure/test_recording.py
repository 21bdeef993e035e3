"""Test that recorded losses are exact in every mode and under every wrapper."""

import copy
import math
import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv
from gymnasium.wrappers import vector as of_vectors

from stb_gym import RecordRegret, RegretMeter, VectorRecordRegret, solve

BOX, THREES, ROUND = "stb_gym/ShutTheBox-v0", "stb_gym/Threes-v0", "stb_gym/ThreesRound-v0"
MODES = ["NextStep", "SameStep", "Disabled"]
RANDOM = np.random.default_rng(5)


def at_random(masks):
    """Return a random legal action, or [B] of them; where the game is over, any."""
    return (RANDOM.random(masks.shape) * masks).argmax(axis=-1)


def first(masks):
    """Return the lowest legal action, or [B] of them."""
    return masks.argmax(axis=-1)


def play(env, turns, choose=at_random):
    """Play turns; return the last info and the last reward of each."""
    ends = []
    for turn in range(turns):
        _, info = env.reset(seed=None if turn else 0)
        over = False
        while not over:
            _, reward, terminated, truncated, info = env.step(choose(info["action_mask"]))
            over = terminated or truncated
        ends.append((info, reward))
    return ends


def play_many(envs, episodes, choose=at_random):
    """Play until every environment has ended some episodes; return the infos of all steps."""
    _, infos = envs.reset(seed=0)
    assert not infos["_loss"].any()
    steps, ended = [], np.zeros(envs.num_envs, int)
    while (ended < episodes).any():
        _, _, terminated, truncated, infos = envs.step(choose(infos["action_mask"]))
        over = terminated | truncated
        ended += over
        steps.append(infos)
        if over.any() and envs.metadata["autoreset_mode"].value == "Disabled":
            _, infos = envs.reset(options={"reset_mask": over})
    return steps


@pytest.mark.parametrize(
    ("env", "rules"), [(BOX, {}), (BOX, {"objective": "shut"}), (THREES, {"reward_scale": 0.1}), (BOX, {"tiles": 16})]
)
def test_value_luck_and_regret_make_the_result(env, rules):
    recorded = RecordRegret(gym.make(env, **rules))
    base = recorded.unwrapped
    start = float(base.objective.sign * RegretMeter(recorded).optimum.value)
    ends = play(recorded, 30)
    for info, reward in ends:
        assert "episode" not in info  # that belongs to RecordEpisodeStatistics
        assert reward == pytest.approx(base.reward_scale * (start + info["luck"] - info["regret"]), abs=1e-9)
    regrets = [info["regret"] for info, _ in ends]
    assert (recorded.episodes, recorded.regret) == (30, pytest.approx(np.mean(regrets)))
    assert recorded.standard_error == pytest.approx(np.std(regrets, ddof=1) / 30**0.5)


def test_an_illegal_action_loses_what_it_costs_and_the_first_throw_is_luck():
    env = RecordRegret(gym.make(BOX))
    assert math.isnan(env.regret)
    _, info = env.reset(seed=0, options={"open": [1, 4, 5, 8], "roll": 9})
    assert info["luck"] == pytest.approx(11.071245 - 6.888889, abs=1e-6)
    _, reward, _, _, info = env.step(info["action_mask"].argmin())
    assert (reward, info["loss"]) == (-45, pytest.approx(45 - 6.888889, abs=1e-6))
    assert math.isnan(env.standard_error)


@pytest.mark.parametrize("stepper", ["tables", "boards"])
@pytest.mark.parametrize("mode", MODES)
def test_many_environments_record_the_losses_of_the_solution(mode, stepper):
    many = gym.make_vec(BOX, 3, autoreset_mode=mode, tiles=6, stepper=stepper)
    envs, best = VectorRecordRegret(of_vectors.RecordEpisodeStatistics(many)), solve(many)
    observations, infos = envs.reset(seed=0)
    over = np.zeros(3, bool)
    for _ in range(30):
        actions, acts = first(infos["action_mask"]), ~over if mode == "NextStep" else np.ones(3, bool)
        after = many.stepper.position(many.stepper.after_actions(many.states[acts], actions[acts]))
        losses = best.state_utilities[best.tables.find_states(observations[acts])] - best.utilities_at(*after)
        observations, rewards, over, _, infos = envs.step(actions)
        assert infos["loss"][acts] == pytest.approx(losses, abs=1e-12)
        if over.any():
            if mode != "SameStep":  # where Gymnasium 1.1 does not sum the rewards
                assert infos["episode"]["r"][over] == pytest.approx(rewards[over])
            ends = infos.get("final_info", infos)
            result = ends["luck"] - ends["regret"] - best.value
            assert result[over] == pytest.approx(rewards[over], abs=1e-12)
        if mode == "Disabled" and over.any():
            observations, infos = envs.reset(options={"reset_mask": over})


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*already wrapped with a `Monitor`")
def test_monitors_of_stable_baselines3_keep_it_and_may_write_it():
    vec_env = pytest.importorskip("stable_baselines3.common.vec_env")
    from stable_baselines3.common.monitor import Monitor

    from stb_gym.sb3 import TurnVecEnv

    keywords = ("regret", "luck")
    single = [
        lambda: Monitor(RecordRegret(gym.make(BOX)), info_keywords=keywords),
        lambda: RecordRegret(Monitor(gym.make(BOX))),
    ]
    many = TurnVecEnv(VectorRecordRegret(gym.make_vec(BOX, 4, autoreset_mode="SameStep")))
    for envs in (
        vec_env.VecNormalize(vec_env.DummyVecEnv(single)),
        vec_env.VecMonitor(vec_env.VecNormalize(many), info_keywords=keywords),
    ):
        envs.seed(1)
        envs.reset()
        for _ in range(20):
            _, _, over, infos = envs.step(first(np.stack(envs.env_method("action_masks"))))
            for info in [infos[game] for game in np.flatnonzero(over)]:
                assert 11.157508 + info["regret"] - info["luck"] == pytest.approx(info["final_score"], abs=1e-6)
                assert [info["episode"].get(name, info[name]) for name in keywords] == [info[name] for name in keywords]


def test_other_environments_are_refused():
    with pytest.raises(TypeError, match="needs an environment of stb_gym, not"):
        RecordRegret(gym.make("CartPole-v1"))
    with pytest.raises(TypeError, match=r"needs a vector environment of stb_gym.*, wrap each in RecordRegret"):
        VectorRecordRegret(SyncVectorEnv([lambda: gym.make(BOX)]))


@pytest.mark.parametrize(("wrapper", "make"), [(RecordRegret, gym.make), (VectorRecordRegret, gym.make_vec)])
def test_copies_and_pickles_record_alike(wrapper, make):
    env = wrapper(make(BOX))
    env.reset(seed=1)
    action = env.unwrapped.action_masks().argmax(axis=-1)
    losses = [each.step(action)[-1]["loss"] for each in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env), env)]
    np.testing.assert_array_equal(losses[0], losses[2])
    np.testing.assert_array_equal(losses[1], losses[2])


@pytest.mark.parametrize(("wrapper", "make"), [(RecordRegret, gym.make), (VectorRecordRegret, gym.make_vec)])
def test_a_snapshot_restores_the_scores_so_far(wrapper, make):
    env = wrapper(make(ROUND, seat=1))
    action = 4 if make is gym.make else np.array([4])
    recorded = []
    for lead in (3, 9):
        env.reset(options={"lead": lead, "roll": [1, 1, 1, 3, 6]})
        before = env.unwrapped.snapshot()
        once = env.step(action)[4]["loss"]
        env.reset(options={"lead": 20})
        env.unwrapped.restore(before)
        assert env.step(action)[4]["loss"] == once
        recorded.append(once)
    assert recorded[0] != recorded[1]
