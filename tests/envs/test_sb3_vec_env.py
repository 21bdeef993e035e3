"""Test that the adapter to stable-baselines3 returns what the vector environment returns."""

import gymnasium as gym
import numpy as np
import pytest
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor

import stb_gym
from stb_gym.sb3 import TurnVecEnv

pytestmark = pytest.mark.slow

BOX, THREES = "stb_gym/ShutTheBox-v0", "stb_gym/Threes-v0"


def same_step(name, num_envs, **options):
    return gym.make_vec(name, num_envs, autoreset_mode="SameStep", **options)


@pytest.mark.parametrize(("name", "options"), [(BOX, {}), (THREES, {}), (BOX, {"max_episode_steps": 2})], ids=str)
def test_steps_are_those_of_the_vector_environment(name, options):
    vec_env, envs = TurnVecEnv(same_step(name, 32, **options)), same_step(name, 32, **options)
    vec_env.reset()
    vec_env.step(np.stack(vec_env.env_method("action_masks")).argmax(axis=1))  # the next reset forgets it
    assert vec_env.seed(3)[0] == 3
    seen, (observation, _) = vec_env.reset(), envs.reset(seed=3)
    lengths, ended = np.zeros(32, int), []
    for step in range(20):
        np.testing.assert_array_equal(seen, observation, strict=True)
        assert (np.stack(vec_env.env_method("action_masks")) == envs.action_masks()).all()
        actions = envs.legal_sample() if step % 5 else np.full(32, envs.single_action_space.n - 1)
        seen, rewards, dones, infos = vec_env.step(actions)
        observation, reward, terminated, truncated, expected = envs.step(actions)
        np.testing.assert_array_equal(rewards, reward.astype(np.float32), strict=True)
        assert (dones == terminated | truncated).all()
        lengths += 1
        assert len({*map(id, infos)}) == 32
        for place, info in enumerate(infos):
            if not dones[place]:
                assert info == {}
                continue
            assert info["episode"].pop("t") >= 0
            keys = ["action_mask", *(["final_score", "illegal_action"] if terminated[place] else [])]
            last = {key: expected["final_info"][key][place] for key in keys} | {
                "terminal_observation": expected["final_obs"][place],
                "TimeLimit.truncated": not terminated[place],
                "episode": {"r": reward[place], "l": lengths[place]},
            }
            np.testing.assert_equal(info, last)
            ended.append(last)
        lengths[dones] = 0
    illegal = sum(last.get("illegal_action", 0) for last in ended)
    assert len(ended) > illegal > 10
    assert (sum(last["TimeLimit.truncated"] for last in ended) > 10) is bool(options)


def test_observations_may_contain_masks():
    vec_env = TurnVecEnv(same_step("stb_gym/ShutTheBoxMasked-v0", 16))
    seen = vec_env.reset()
    assert (seen["action_mask"] == np.stack(vec_env.env_method("action_masks"))).all()
    seen, _, dones, infos = vec_env.step(seen["action_mask"].argmin(axis=1))  # illegal actions
    assert dones.all()
    assert vec_env.observation_space.contains({name: rows[3] for name, rows in seen.items()})
    last = infos[3]["terminal_observation"]
    assert vec_env.observation_space.contains(last)
    assert not last["observation"].any()
    assert last["action_mask"].all()
    PPO("MultiInputPolicy", vec_env, n_steps=16, device="cpu").learn(256)


def test_returns_are_sums_of_the_rewards_that_wrappers_change():
    wrapped = gym.wrappers.vector.TransformReward(same_step(BOX, 4), lambda rewards: rewards - 1)
    vec_env = TurnVecEnv(wrapped)
    vec_env.reset()
    total, ended = np.zeros(4), 0
    for _ in range(20):
        _, rewards, dones, infos = vec_env.step(wrapped.unwrapped.legal_sample())
        total += rewards
        assert [info["episode"]["r"] for info in infos if info] == total[dones].tolist()
        ended += dones.sum()
        total[dones] = 0
    assert ended > 4


def test_policies_are_evaluated_without_a_warning_about_a_missing_monitor():
    vec_env = TurnVecEnv(same_step(BOX, 8, illegal="end"))
    model = DQN("MlpPolicy", vec_env, device="cpu", buffer_size=10)
    rewards, _ = evaluate_policy(model, vec_env, n_eval_episodes=20, return_episode_rewards=True)
    assert len(rewards) >= 20
    assert vec_env.env_is_wrapped(Monitor, indices=[0, 1]) == [True, True]
    assert not any(vec_env.env_is_wrapped(gym.wrappers.TimeLimit))


def test_seeds_and_options_are_those_of_the_next_reset():
    vec_env = TurnVecEnv(same_step(BOX, 64))
    vec_env.seed(1)
    first, second = vec_env.reset(), vec_env.reset()
    assert (first != second).any()
    vec_env.seed(1)
    assert (vec_env.reset() == first).all()
    vec_env.set_options({"open": [9], "roll": 9})
    vec_env.reset()
    assert (np.stack(vec_env.env_method("action_masks")).sum(axis=1) == 1).all()
    assert vec_env.reset()[:, :9].all()
    vec_env.set_options([{"open": [9]}, *[{}] * 63])
    with pytest.raises(ValueError, match="set_options"):
        vec_env.reset()


def test_attributes_and_methods():
    vec_env = TurnVecEnv(same_step(BOX, 4, render_mode="rgb_array"))
    vec_env.reset()
    assert vec_env.get_attr("game", indices=[1, 3]) == [vec_env.envs.game] * 2
    assert vec_env.get_attr("action_space") == [gym.spaces.Discrete(62)] * 4
    assert np.array_equal(vec_env.env_method("action_masks", indices=2), vec_env.envs.action_masks()[2:3])
    assert vec_env.render().ndim == 3
    with pytest.raises(NotImplementedError):
        vec_env.set_attr("game", None)
    with pytest.raises(AttributeError, match="nothing"):
        vec_env.get_attr("nothing")
    vec_env.close()


def test_the_masks_of_a_wrapper_are_used():
    class FirstActionOnly(gym.vector.VectorWrapper):
        def action_masks(self):
            return np.eye(envs.single_action_space.n, dtype=bool)[[0, 0, 0]]

    envs = same_step(BOX, 3)
    vec_env = TurnVecEnv(FirstActionOnly(envs))
    vec_env.reset()
    assert np.stack(vec_env.env_method("action_masks")).sum() == 3


@pytest.mark.parametrize(
    "make",
    [
        lambda: gym.make_vec(BOX, 4),
        lambda: gym.make_vec("CartPole-v1", 2),
        lambda: gym.make(BOX),
        lambda: stb_gym.rounds.SelfPlayVectorEnv("threes", 4),
        lambda: "CartPole-v1",
    ],
    ids=["another autoreset mode", "another game", "one environment", "self-play", "another id"],
)
def test_anything_else_is_refused_with_what_to_write(make):
    with pytest.raises(
        ValueError, match=r'write gym.make_vec\(..., autoreset_mode="SameStep"\)|write TurnVecEnv\("stb_gym/'
    ):
        TurnVecEnv(make())
    with pytest.raises(ValueError, match=r'need an id, such as TurnVecEnv\("stb_gym/'):
        TurnVecEnv(make(), 8)


def test_an_id_makes_the_vector_environment():
    vec_env, wrapped = TurnVecEnv(THREES, 8, dice=3), TurnVecEnv(same_step(THREES, 8, dice=3))
    for each in (vec_env, wrapped):
        each.seed(1)
    assert (vec_env.num_envs, TurnVecEnv(f"stb_gym:{BOX}").num_envs) == (8, 1)
    assert (vec_env.reset() == wrapped.reset()).all()
    with pytest.raises(ValueError, match="SameStep"):
        TurnVecEnv(BOX, 8, autoreset_mode="NextStep")
