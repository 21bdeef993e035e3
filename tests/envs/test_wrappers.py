"""Test the mask in the observation, under the names of every library, in single and vector environments."""

import copy
import pickle
from itertools import product

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, MultiBinary
from gymnasium.vector import AutoresetMode

from stb_gym.envs import VectorMaskInObservation
from tests import every

BOX, MASKED = "stb_gym/ShutTheBox-v0", "stb_gym/ShutTheBoxMasked-v0"
GAMES = 64
ASKED_FOR = {
    "gymnasium": ("observation", "action_mask", MultiBinary(62)),
    "rllib": ("observations", "action_mask", Box(0, 1, (62,), np.float32)),
    "skrl": ("observation", "action_mask", Box(0, 1, (62,), np.float32)),
    "tianshou": ("obs", "mask", Box(0, 1, (62,), np.bool_)),
    "torchrl": ("observation", "action_mask", Box(0, 1, (62,), np.bool_)),
}


def check(seen, space, names, observation, mask):
    """Check that `seen` is in its space and holds this observation and this mask in the layout of the library."""
    name, mask_name, mask_space = ASKED_FOR[names]
    assert space.contains(seen)
    assert seen.keys() == {name, mask_name}
    assert seen[mask_name].dtype == mask_space.dtype
    np.testing.assert_array_equal(seen[name], observation, strict=True)
    np.testing.assert_array_equal(seen[mask_name], mask)


@pytest.mark.parametrize("names", ASKED_FOR)
def test_one_environment_shows_both_as_the_library_wants(names):
    name, mask_name, mask_space = ASKED_FOR[names]
    env, plain = gym.make(MASKED, mask_names=names), gym.make(BOX)
    assert env.observation_space == Dict({name: plain.observation_space, mask_name: mask_space})
    (seen, info), (observation, plain_infos) = env.reset(seed=1), plain.reset(seed=1)
    over = False
    while not over:
        check(seen, env.observation_space, names, observation, plain_infos["action_mask"])
        assert (env.action_masks() == seen[mask_name].astype(bool)).all()
        action = int(info["action_mask"].argmax())
        (seen, *result, info), (observation, *expected, plain_infos) = env.step(action), plain.step(action)
        assert result == expected
        np.testing.assert_equal(info, plain_infos)
        over = result[1]
    check(seen, env.observation_space, names, observation, np.ones(62))
    assert gym.make(env.spec).observation_space == env.observation_space


@pytest.mark.parametrize(("names", "mode", "limit"), every(4, [*product(ASKED_FOR, AutoresetMode, [None, 2])]))
def test_many_environments_show_both_as_the_library_wants(names, mode, limit):
    name, mask_name, mask_space = ASKED_FOR[names]
    options = {"autoreset_mode": mode, "max_episode_steps": limit}
    env, plain = gym.make_vec(MASKED, GAMES, mask_names=names, **options), gym.make_vec(BOX, GAMES, **options)
    assert env.single_observation_space == Dict({name: plain.single_observation_space, mask_name: mask_space})
    (seen, infos), (observation, plain_infos) = env.reset(seed=3), plain.reset(seed=3)
    ended = 0
    for _ in range(15):
        check(seen, env.observation_space, names, observation, plain_infos["action_mask"])
        if mode == AutoresetMode.DISABLED:
            (seen, infos), (observation, plain_infos) = env.reset(), plain.reset()
        actions = plain.legal_sample()
        (seen, *result, infos), (observation, *expected, plain_infos) = env.step(actions), plain.step(actions)
        np.testing.assert_equal(result, expected)
        if "final_obs" in plain_infos:
            final, ended = infos.pop("final_obs"), ended + plain_infos["_final_obs"].sum()
            check(
                final,
                env.observation_space,
                names,
                plain_infos.pop("final_obs"),
                plain_infos["final_info"]["action_mask"],
            )
            assert (final[mask_name].all(axis=1) == expected[1]).all()  # some actions, where truncated alone
        np.testing.assert_equal(infos, plain_infos)
    assert (ended > 100) == (mode == AutoresetMode.SAME_STEP)
    assert type(gym.make_vec(env.spec)) is VectorMaskInObservation


@pytest.mark.parametrize("how", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"])
def test_other_attributes_are_those_of_the_environment(how):
    env = how(gym.make_vec(MASKED, GAMES, mask_names="tianshou", illegal="raise", score="count"))
    assert env.illegal == "raise"
    observations, _ = env.reset(seed=4)
    assert (env.action_masks() == observations["mask"]).all()
    assert (env.find_states(observations["obs"]) == env.states).all()
    with pytest.raises(AttributeError, match="nothing_like_it"):
        env.nothing_like_it  # noqa: B018


def test_gymnasium_knows_the_render_modes():
    with pytest.warns(UserWarning, match="render_modes"), pytest.raises(ValueError, match="window"):
        gym.make(MASKED, render_mode="window")
