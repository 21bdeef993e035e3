"""The mask in the observation: under every library's names, in one environment and in many, by wrapper and by id."""

import copy
import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, MultiBinary
from gymnasium.vector import AutoresetMode

from stb_gym import ENVIRONMENTS, MaskInObservation
from stb_gym.envs import TurnEnv, TurnVectorEnv, VectorMaskInObservation, masked_id

BOX, THREES = "stb_gym/ShutTheBox-v0", "stb_gym/Threes-v0"
GAMES = 64
ASKED_FOR = {
    "gymnasium": ("observation", "action_mask", MultiBinary(62)),
    "rllib": ("observations", "action_mask", Box(0, 1, (62,), np.float32)),
    "skrl": ("observation", "action_mask", Box(0, 1, (62,), np.float32)),
    "tianshou": ("obs", "mask", Box(0, 1, (62,), np.bool_)),
    "torchrl": ("observation", "action_mask", Box(0, 1, (62,), np.bool_)),
}
by_library = pytest.mark.parametrize("names", ASKED_FOR)
in_every_mode = pytest.mark.parametrize("mode", AutoresetMode)


def vector(names, mode=AutoresetMode.NEXT_STEP, **options):
    return gym.make_vec(masked_id(BOX), GAMES, mask_names=names, autoreset_mode=mode, **options)


def check(seen, space, names, observation, mask):
    """An observation is in its space, and is this one with this mask, as the library asks for it."""
    name, mask_name, mask_space = ASKED_FOR[names]
    assert space.contains(seen)
    assert seen.keys() == {name, mask_name}
    assert seen[mask_name].dtype == mask_space.dtype
    np.testing.assert_array_equal(seen[name], observation, strict=True)
    np.testing.assert_array_equal(seen[mask_name], mask)


@by_library
def test_one_environment_shows_both_as_the_library_asks(names):
    name, mask_name, mask_space = ASKED_FOR[names]
    for env in (MaskInObservation(gym.make(BOX), names), gym.make(masked_id(BOX), mask_names=names)):
        plain = gym.make(BOX)
        assert env.observation_space == Dict({name: plain.observation_space, mask_name: mask_space})
        for seed in range(10):
            (seen, info), (observation, told) = env.reset(seed=seed), plain.reset(seed=seed)
            over = False
            while not over:
                check(seen, env.observation_space, names, observation, told["action_mask"])
                assert (env.action_masks() == seen[mask_name].astype(bool)).all()
                action = int(info["action_mask"].argmax())
                (seen, *result, info), (observation, *expected, told) = env.step(action), plain.step(action)
                assert result == expected
                over = result[1]
                np.testing.assert_equal(info, told)
            check(seen, env.observation_space, names, observation, np.zeros(62))


@by_library
@in_every_mode
@pytest.mark.parametrize("limit", [{}, {"max_episode_steps": 2}], ids=["no limit", "two steps"])
def test_many_environments_show_both_as_the_library_asks(names, mode, limit):
    name, mask_name, mask_space = ASKED_FOR[names]
    env, plain = vector(names, mode, **limit), gym.make_vec(BOX, GAMES, autoreset_mode=mode, **limit)
    assert env.single_observation_space == Dict({name: plain.single_observation_space, mask_name: mask_space})
    (seen, infos), (observation, told) = env.reset(seed=3), plain.reset(seed=3)
    ended = 0
    for _ in range(30):
        check(seen, env.observation_space, names, observation, told["action_mask"])
        actions = plain.legal_sample()
        (seen, *result, infos), (observation, *expected, told) = env.step(actions), plain.step(actions)
        np.testing.assert_equal(result, expected)
        check(seen, env.observation_space, names, observation, told["action_mask"])
        if mode == AutoresetMode.DISABLED:
            over = expected[1] | expected[2]
            again = {"reset_mask": over} if over.any() else {}
            (seen, infos), (observation, told) = env.reset(options=again), plain.reset(options=again)
        if "final_obs" in told:
            final, ended = infos.pop("final_obs"), ended + told["_final_obs"].sum()
            check(final, env.observation_space, names, told.pop("final_obs"), told["final_info"]["action_mask"])
            assert (final[mask_name].any(axis=1) == (expected[2] & ~expected[1])).all()  # truncated alone
        np.testing.assert_equal(infos, told)
    assert (ended > 100) == (mode == AutoresetMode.SAME_STEP)


@by_library
def test_nothing_is_copied_but_what_becomes_a_float(names):
    name, mask_name, mask_space = ASKED_FOR[names]
    env = vector(names, AutoresetMode.SAME_STEP)
    seen, infos = env.reset(seed=0)
    alone, info = gym.make(masked_id(BOX), mask_names=names).reset(seed=0)
    for mask, told in ((seen[mask_name], infos["action_mask"]), (alone[mask_name], info["action_mask"])):
        assert np.shares_memory(mask, told) == (mask_space.dtype != np.float32)
    handed_out = []
    env.env.step = lambda actions: handed_out.append(TurnVectorEnv.step(env.env, actions)) or handed_out[-1]
    while "final_obs" not in infos:
        seen, *_, infos = env.step(env.legal_sample())
    assert seen[name] is handed_out[-1][0]


def test_the_same_arguments_are_those_of_the_plain_environment():
    for make in (gym.make, gym.make_vec):
        env = make(
            "stb_gym:stb_gym/ShutTheBox10Masked-v0", objective="at-most:3", illegal="raise", score="count"
        ).unwrapped
        plain = make("stb_gym:stb_gym/ShutTheBox10-v0", objective="at-most:3", illegal="raise", score="count").unwrapped
        assert (env.game, env.objective) == (plain.game, plain.objective)
        env.reset(seed=0)
        with pytest.raises(ValueError, match="is illegal at"):
            env.step(np.zeros_like(env.action_space.sample()))


@by_library
def test_an_environment_is_made_again_from_its_spec(names):
    for make in (gym.make, gym.make_vec):
        env = make(masked_id(THREES), mask_names=names, dice=3)
        again = make(env.spec)
        assert again.observation_space == env.observation_space
        assert again.unwrapped.game == env.unwrapped.game
    assert type(again) is VectorMaskInObservation
    env = MaskInObservation(gym.make(THREES), names)
    assert gym.make(env.spec).observation_space == env.observation_space


@pytest.mark.parametrize("identity", ENVIRONMENTS)
def test_gymnasiums_own_vector_environment_takes_them(identity):
    env = gym.make_vec(masked_id(identity), 3, vectorization_mode="sync", mask_names="tianshou")
    native = gym.make_vec(masked_id(identity), 3, mask_names="tianshou")
    assert env.observation_space == native.observation_space
    for games in (env, native):
        observations, infos = games.reset(seed=1)
        assert games.observation_space.contains(observations)
        assert (observations["mask"] == infos["action_mask"]).all()
        assert (observations["mask"] == games.call("action_masks")).all()


@pytest.mark.parametrize(
    "made_by", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"]
)
def test_all_else_is_that_of_the_environment(made_by):
    env = made_by(vector("tianshou", AutoresetMode.SAME_STEP))
    observations, _ = env.reset(seed=4)
    assert isinstance(env.unwrapped, TurnVectorEnv)
    assert (env.game, env.objective, env.illegal) == (env.unwrapped.game, env.unwrapped.objective, "end")
    assert env.autoreset_mode == env.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    assert env.transitions is env.unwrapped.transitions
    assert (env.action_masks() == observations["mask"]).all()
    assert (env.node(observations["obs"]) == env.nodes).all()
    snapshot, actions = env.snapshot(), env.legal_sample()
    assert observations["mask"][np.arange(GAMES), actions].all()
    then = env.step(actions)
    env.restore(snapshot)
    np.testing.assert_equal(env.step(actions), then)
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        env.nothing_of_the_kind  # noqa: B018


@pytest.mark.parametrize("names", ["jax", "Tianshou", None, ("obs", "mask")])
def test_names_of_no_library_are_refused(names):
    message = r"^unknown mask names .*: allowed are gymnasium, rllib, skrl, tianshou, torchrl"
    for make in (
        lambda: MaskInObservation(TurnEnv("threes"), names),
        lambda: VectorMaskInObservation(TurnVectorEnv("threes"), names),
        lambda: gym.make(masked_id(THREES), mask_names=names),
        lambda: gym.make_vec(masked_id(THREES), mask_names=names),
    ):
        with pytest.raises(ValueError, match=message):
            make()


def test_gymnasium_knows_how_they_are_rendered():
    env = gym.make(masked_id(THREES), render_mode="rgb_array_list")
    env.reset(seed=0)
    env.step(0)
    assert [picture.shape for picture in env.render()] == [(298, 524, 3)] * 2
    with pytest.warns(UserWarning, match="not in the possible render_modes"), pytest.raises(ValueError, match="window"):
        gym.make(masked_id(THREES), render_mode="window")
