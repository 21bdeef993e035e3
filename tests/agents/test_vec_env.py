"""The adaptor to stable-baselines3: it gives what the vector environment gives, in stable-baselines3's words."""

import gymnasium as gym
import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecMonitor

import stb_gym
from stb_gym.sb3 import TurnVecEnv

BOX, THREES = "stb_gym/ShutTheBox-v0", "stb_gym/Threes-v0"


def same_step(name, num_envs, **options):
    return gym.make_vec(name, num_envs, autoreset_mode="SameStep", **options)


def test_whose_rewards_come_with_the_end_of_a_round_alone_is_refused():
    with pytest.raises(ValueError, match=r"TurnVecEnv adapts what gym\.make_vec makes of an id of stb_gym"):
        TurnVecEnv(stb_gym.SelfPlayVectorEnv("threes", 4))


@pytest.mark.parametrize(("name", "options"), [(BOX, {}), (THREES, {}), (BOX, {"max_episode_steps": 2})], ids=str)
def test_it_gives_what_the_vector_environment_gives(name, options):
    vec_env, envs = TurnVecEnv(same_step(name, 32, **options)), same_step(name, 32, **options)
    assert vec_env.seed(3)[0] == 3
    seen, (observation, _) = vec_env.reset(), envs.reset(seed=3)
    lengths, ended, illegal, cut = np.zeros(32, int), 0, 0, 0
    for step in range(20):
        assert (seen == observation).all()
        assert seen.dtype == vec_env.observation_space.dtype
        assert (np.stack(vec_env.env_method("action_masks")) == envs.action_masks()).all()
        actions = envs.legal_sample() if step % 5 else np.full(32, envs.single_action_space.n - 1)
        seen, rewards, dones, infos = vec_env.step(actions)
        observation, reward, terminated, truncated, told = envs.step(actions)
        over = terminated | truncated
        assert rewards.dtype == np.float32
        assert (rewards == reward).all()
        assert (dones == over).all()
        lengths += 1
        for game, info in enumerate(infos):
            if not over[game]:
                assert info == {}
                continue
            illegal += info.get("illegal_action", 0)
            if terminated[game]:
                assert info["final_score"] == told["final_info"]["final_score"][game]
                assert info["illegal_action"] == told["final_info"]["illegal_action"][game]
            else:
                assert "final_score" not in info
            assert (info["terminal_observation"] == told["final_obs"][game]).all()
            assert info["TimeLimit.truncated"] is bool(truncated[game] and not terminated[game])
            assert info["episode"].pop("t") >= 0
            assert info["episode"] == {"r": reward[game], "l": lengths[game]}
            ended, cut = ended + 1, cut + info["TimeLimit.truncated"]
        lengths[over] = 0
    assert ended > illegal > 10
    assert (cut > 10) is bool(options)


def test_masks_may_stand_in_the_observation():
    vec_env = TurnVecEnv(same_step("stb_gym/ShutTheBoxMasked-v0", 16))
    seen = vec_env.reset()
    assert (seen["action_mask"] == np.stack(vec_env.env_method("action_masks"))).all()
    seen, _, dones, infos = vec_env.step(seen["action_mask"].argmin(axis=1))  # illegal actions
    assert dones.all()
    assert vec_env.observation_space.contains({name: rows[3] for name, rows in seen.items()})
    last = infos[3]["terminal_observation"]
    assert vec_env.observation_space.contains(last)
    assert not any(entry.any() for entry in last.values())
    PPO("MultiInputPolicy", vec_env, n_steps=16, device="cpu").learn(256)


def test_infos_of_one_step_are_not_those_of_the_next():
    vec_env = TurnVecEnv(same_step(THREES, 8))
    vec_env.reset()
    _, _, _, infos = vec_env.step(np.zeros(8, int))
    infos[0]["note"] = 1
    assert vec_env.step(np.zeros(8, int))[3][0] == {}


@pytest.mark.filterwarnings("ignore:The environment is already wrapped")
def test_the_monitor_of_stable_baselines_counts_the_same():
    monitored = VecMonitor(TurnVecEnv(same_step(BOX, 16)))
    monitored.seed(0)
    monitored.reset()
    own, step_wait, counted = [], monitored.venv.step_wait, 0

    def kept():
        own.append(step_wait())
        return own[-1]

    monitored.venv.step_wait = kept
    for _ in range(20):
        _, _, dones, infos = monitored.step(monitored.venv.envs.legal_sample())
        for game in dones.nonzero()[0]:
            ours, theirs = own[-1][3][game]["episode"], infos[game]["episode"]
            assert (ours["r"], ours["l"]) == (theirs["r"], theirs["l"])
            counted += 1
    assert counted > 50


def test_policies_are_evaluated_without_a_warning_that_no_monitor_is_there():
    vec_env = TurnVecEnv(same_step(BOX, 8, illegal="end"))
    model = DQN("MlpPolicy", vec_env, device="cpu", buffer_size=10)
    rewards, lengths = evaluate_policy(model, vec_env, n_eval_episodes=20, return_episode_rewards=True)
    assert len(rewards) >= 20
    assert min(rewards) >= -45
    assert min(lengths) >= 1
    assert vec_env.env_is_wrapped(Monitor, indices=[0, 1]) == [True, True]
    assert not any(vec_env.env_is_wrapped(gym.wrappers.TimeLimit))


def test_options_are_those_of_the_next_reset():
    vec_env = TurnVecEnv(same_step(BOX, 4))
    vec_env.set_options({"open": [9], "roll": 9})
    vec_env.reset()
    assert np.stack(vec_env.env_method("action_masks")).sum(axis=1).tolist() == [1] * 4
    assert len(np.unique(vec_env.reset()[:, :9])) == 1
    vec_env.set_options([{}, {"open": [9]}, {}, {}])
    with pytest.raises(ValueError, match="all turns begin alike: call set_options with one dictionary"):
        vec_env.reset()


def test_seeds_are_those_of_the_next_reset():
    vec_env = TurnVecEnv(same_step(BOX, 64))
    vec_env.seed(1)
    first, second = vec_env.reset(), vec_env.reset()
    assert (first != second).any()
    vec_env.seed(1)
    assert (vec_env.reset() == first).all()


def test_attributes_and_methods():
    vec_env = TurnVecEnv(same_step(BOX, 4, render_mode="rgb_array"))
    vec_env.reset()
    assert vec_env.get_attr("game", indices=[1, 3]) == [vec_env.envs.game] * 2
    assert vec_env.get_attr("action_space") == [gym.spaces.Discrete(62)] * 4
    third = vec_env.env_method("action_masks", indices=2)
    assert np.array_equal(third, vec_env.envs.action_masks()[2:3])
    assert vec_env.render().ndim == 3
    with pytest.raises(NotImplementedError, match="no attributes of their own"):
        vec_env.set_attr("game", None)
    with pytest.raises(AttributeError, match="nothing"):
        vec_env.get_attr("nothing")
    vec_env.close()


def test_it_may_be_wrapped_before():
    envs = gym.wrappers.vector.RecordEpisodeStatistics(same_step(BOX, 3))
    vec_env = TurnVecEnv(envs)
    vec_env.reset()
    assert np.array_equal(vec_env.env_method("action_masks"), envs.unwrapped.action_masks())
    assert stb_gym.RegretMeter(vec_env).game == envs.unwrapped.game
    assert MaskablePPO("MlpPolicy", vec_env, n_steps=32, device="cpu").learn(96).num_timesteps == 96


def test_infos_of_one_game_are_not_those_of_another():
    vec_env = TurnVecEnv(same_step(BOX, 2))
    vec_env.seed(1)
    vec_env.reset()
    _, _, over, infos = vec_env.step(np.argmax(vec_env.env_method("action_masks"), axis=1))
    assert not over.any()
    infos[0]["mine"] = 1
    assert infos[1] == {}


def test_what_it_refuses():
    with pytest.raises(ValueError, match="needs autoreset mode SameStep, not NextStep"):
        TurnVecEnv(gym.make_vec(BOX, 4))
    with pytest.raises(ValueError, match=r"what gym\.make_vec makes of an id of stb_gym, not "):
        TurnVecEnv(gym.make_vec("CartPole-v1", 2))
    with pytest.raises(ValueError, match=r"what gym\.make_vec makes of an id of stb_gym, not "):
        TurnVecEnv(gym.make(BOX))
    with pytest.raises(ValueError, match=f"not {BOX}"):
        TurnVecEnv(BOX)
