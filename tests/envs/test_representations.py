"""Test other observations of the same positions: nothing but the observation changes, in every autoreset mode."""

import copy
import pickle

import gymnasium as gym
import numpy as np
import pytest

from stb_gym.envs import REPRESENTATIONS, RepresentObservation, VectorRepresentObservation

ALIASING = {"without-roll", "roll-alone"}
QUICK = [name for name in REPRESENTATIONS if name != "picture"]  # which is drawn position by position
TURNS = 12
OTHER_MODES = [("unary", "NextStep"), ("unary", "Disabled")]


@pytest.mark.parametrize(("representation", "mode"), [*((name, "SameStep") for name in QUICK), *OTHER_MODES])
@pytest.mark.parametrize(
    ("identity", "rules"),
    [("stb_gym/ShutTheBox-v0", {"tiles": 4}), ("stb_gym/Threes-v0", {"dice": 3})],
    ids=["box", "threes"],
)
def test_turns_stay_the_same(identity, rules, representation, mode):
    """Each observation, those of ends included, is what the position has in an environment of its own."""
    envs, plain = (gym.make_vec(identity, TURNS, autoreset_mode=mode, **rules) for _ in range(2))
    envs = VectorRepresentObservation(envs, representation)
    env = RepresentObservation(gym.make(identity, **rules), representation)
    codes = {}  # what each observation is shown as

    def check(shown, expected):
        for code, observation in zip(shown, expected, strict=True):
            np.testing.assert_array_equal(codes.setdefault(observation.tobytes(), code), code)
            np.testing.assert_array_equal(env.observation(observation), code, strict=True)
            assert envs.single_observation_space.contains(code)

    (shown, _), (expected, infos) = envs.reset(seed=3), plain.reset(seed=3)
    for _ in range(8):
        check(shown, expected)
        actions = infos["action_mask"].argmax(axis=1)
        shown, *transition, shown_infos = envs.step(actions)
        expected, *same, infos = plain.step(actions)
        if "final_obs" in infos:
            check(shown_infos["final_obs"], infos["final_obs"])
        np.testing.assert_equal(transition, same)
        np.testing.assert_array_equal(shown_infos["action_mask"], infos["action_mask"])
        if mode == "Disabled" and (over := transition[1]).any():
            (shown, _), (expected, infos) = (each.reset(options={"reset_mask": over}) for each in (envs, plain))
    assert (len({code.tobytes() for code in codes.values()}) == len(codes)) == (representation not in ALIASING)


def test_the_meaning_of_each_is_as_documented():
    env = gym.make("stb_gym/Threes-v0", dice=3)
    observation, _ = env.reset(options={"points": 3, "roll": (2, 6)})
    show = {name: RepresentObservation(env, name).observation(observation) for name in ("unary", *ALIASING, "hash")}
    assert show["unary"].sum() == 3 + 2  # points and dice
    assert show["without-roll"].tolist() == [3, 0, 0, 0, 0, 0, 0, 2]
    assert show["roll-alone"].tolist() == [0, 0, 1, 0, 0, 0, 1]
    assert np.packbits(show["hash"]).tobytes().hex() == "3056f892a59adca8"  # in every process
    words = RepresentObservation(env, "words")
    other, _ = env.reset(options={"points": 4, "roll": (2, 6)})
    assert (words.observation(observation) != words.observation(other)).sum() == 2  # one letter: 3 becomes 4


def test_pictures_are_those_of_the_environment():
    image = pytest.importorskip("PIL.Image")
    env = gym.make("stb_gym/ShutTheBox-v0", tiles=2, dice=1, faces=3, render_mode="rgb_array")
    observation, _ = env.reset(seed=5)
    small = RepresentObservation(env, "picture").observation(observation).reshape(24, 48)
    drawn = np.asarray(image.fromarray(env.render()).convert("L").resize((48, 24))) / 127.5 - 1
    lower = slice(6, None)  # the caption of the environment is above
    np.testing.assert_allclose(small[lower], drawn[lower], atol=0.05)


def test_observations_that_an_agent_changes_are_its_own():
    first, _ = RepresentObservation(gym.make("stb_gym/Threes-v0"), "projection").reset(seed=1)
    kept = first.copy()
    first[:] = 0
    again, _ = RepresentObservation(gym.make("stb_gym/Threes-v0"), "projection").reset(seed=1)
    np.testing.assert_array_equal(again, kept)


def test_copies_and_pickles_step_alike():
    envs = VectorRepresentObservation(gym.make_vec("stb_gym/Threes-v0", 5), "unary")
    envs.reset(seed=1)
    copies = [envs, copy.deepcopy(envs), pickle.loads(pickle.dumps(envs))]
    results = [each.step(each.action_masks().argmax(axis=1))[0] for each in copies]
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])
    single = RepresentObservation(gym.make("stb_gym/Threes-v0"), "hash")
    assert gym.make(single.spec).observation_space == single.observation_space


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RepresentObservation(gym.make("stb_gym/Threes-v0"), "indices"), "unknown representation 'indices'"),
        (lambda: RepresentObservation(gym.make("CartPole-v1"), "index"), "an environment of turns"),
        (lambda: RepresentObservation(gym.make("stb_gym/ShutTheBox300-v0"), "index"), "fits into tables"),
        (lambda: RepresentObservation(gym.make("stb_gym/ThreesRound-v0"), "unary"), "an environment of turns"),
        (lambda: RepresentObservation(gym.make("stb_gym/ShutTheBox12-v0"), "index"), "too many for one bit each"),
        (lambda: VectorRepresentObservation(gym.make_vec("stb_gym/ThreesMasked-v0", 2), "index"), "inside"),
        (
            lambda: RepresentObservation(RepresentObservation(gym.make("stb_gym/Threes-v0"), "unary"), "hash"),
            "put it inside",
        ),
        (
            lambda: RepresentObservation(
                gym.wrappers.RescaleObservation(gym.make("stb_gym/Threes-v0"), np.float32(0), np.float32(1)), "hash"
            ).reset(seed=1),
            "put it inside",
        ),
    ],
)
def test_what_cannot_be_represented_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
