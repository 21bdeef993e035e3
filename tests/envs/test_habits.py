"""What users and Gymnasium's tools ask of an environment besides playing: specs, words for mistakes, single games."""

import copy
import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode

import stb_gym
from stb_gym import ShutTheBox, Threes, strategy
from stb_gym.envs import TurnEnv, TurnVectorEnv, transitions
from stb_gym.solver import Player, compile_game, objective_of
from tests.twins import MostThrees

BOX, THREES = "stb_gym/ShutTheBox-v0", "stb_gym/Threes-v0"


# The longest turn


def most_moves(tables):
    """The most moves from each state, by depth first search."""
    known = {}

    def moves(state):
        if state not in known:
            edges = [edge for node in tables.nodes_of(state) for edge in tables.edges_of(node)]
            known[state] = 1 + max((moves(int(tables.edge_next[edge])) for edge in edges), default=-1)
        return known[state]

    return max(map(moves, range(tables.states)))


@pytest.mark.parametrize(
    ("game", "longest"),
    [
        (ShutTheBox(), 8),  # no roll shuts the 1 alone
        (ShutTheBox(one_die="low-sum"), 9),
        (ShutTheBox(tiles=3), 2),
        (ShutTheBox(tiles=10, match="one-tile"), 10),
        (Threes(), 5),
        (Threes(dice=2, moon=True), 2),
        (MostThrees(dice=3), 3),
    ],
    ids=str,
)
def test_the_longest_turn_is_that_of_the_arrays(game, longest):
    env = TurnEnv(game)
    assert env.transitions.longest == most_moves(compile_game(game)) == longest
    seen = 0
    player = Player(game, strategy(game, "random"), 1)
    for seed in range(200):
        observation, _ = env.reset(seed=seed)
        over, steps = False, 0
        while not over:
            observation, _, over, _, _ = env.step(player(observation))
            steps += 1
        seen = max(seen, steps)
    assert longest - 3 <= seen <= longest


@pytest.mark.parametrize("identity", stb_gym.ENVIRONMENTS)
def test_specs_bound_the_turn_and_make_the_same_environment_again(identity):
    env, envs = gym.make(identity), gym.make_vec(identity, 2)
    bound = env.unwrapped.stepper.longest + 1
    assert env.spec.max_episode_steps == envs.spec.max_episode_steps == bound
    assert isinstance(env, TurnEnv)  # without a wrapper that counts
    assert pickle.loads(pickle.dumps(env.spec)) == copy.deepcopy(env.spec) == env.spec
    assert EnvSpec.from_json(env.spec.to_json()) == env.spec
    for again in (gym.make(env.spec), gym.make(EnvSpec.from_json(env.spec.to_json()))):
        assert again.unwrapped.game == env.unwrapped.game
        assert again.unwrapped.objective == env.unwrapped.objective
        assert again.spec.max_episode_steps == bound
    again = gym.make_vec(envs.spec)
    assert (again.game, again.num_envs, again.spec.max_episode_steps) == (envs.game, 2, bound)
    assert again.snapshot().keys() == envs.snapshot().keys()


def test_what_is_made_of_a_spec_never_truncates():
    env = gym.make(THREES)
    again, longest = gym.make(env.spec), 0
    for seed in range(20):
        for each in (env, again):
            each.reset(seed=seed)
        for step in range(5):
            kept = 0 if seed % 2 else min(1, env.unwrapped.action_masks().sum() - 1)
            one, other = env.step(kept), again.step(kept)
            assert (one[0] == other[0]).all()
            assert one[1:4] == other[1:4]
            assert one[3] is False
            if one[2]:
                longest = max(longest, step + 1)
                break
    assert longest == 5


@pytest.mark.parametrize("normalize", [False, True])
def test_the_time_can_stand_in_the_observation(normalize):
    env = gym.wrappers.TimeAwareObservation(gym.make(BOX), normalize_time=normalize)
    env.reset(seed=1)
    observation, *_ = env.step(0)
    assert env.observation_space.contains(observation)
    assert observation[-1] == (np.float32(1 / 9) if normalize else 1)


def test_a_limit_that_is_given_stands_in_the_spec():
    assert gym.make(THREES, max_episode_steps=2).spec.max_episode_steps == 2
    for envs in (gym.make_vec(THREES, 2, max_episode_steps=2), gym.make_vec(THREES, 2, max_episode_steps=20)):
        given = envs.max_episode_steps
        assert envs.spec.max_episode_steps == envs.spec.kwargs["max_episode_steps"] == given
        assert gym.make_vec(envs.spec).max_episode_steps == given
    assert TurnEnv("threes").spec is None
    assert TurnVectorEnv("threes").spec is None


# Words for mistakes


@pytest.mark.parametrize(
    ("action", "error", "message"),
    [
        (1.0, TypeError, "action must be an integer from 0 to 61, not 1.0"),
        ("1", TypeError, "action must be an integer from 0 to 61, not '1'"),
        (None, TypeError, "action must be an integer from 0 to 61, not None"),
        ([1, 2], TypeError, r"action must be an integer from 0 to 61, not \[1, 2\]"),
        (np.array([1, 2]), TypeError, r"action must be an integer from 0 to 61, not array\(\[1, 2\]\)"),
        (np.array([1]), TypeError, r"action must be an integer from 0 to 61, not array\(\[1\]\)"),
        (np.float32(3), TypeError, r"action must be an integer from 0 to 61, not np.float32\(3.0\)"),
        (62, ValueError, "action must be from 0 to 61, not 62"),
        (-1, ValueError, "action must be from 0 to 61, not -1"),
        (-62, ValueError, "action must be from 0 to 61, not -62"),
        (np.array(62), ValueError, "action must be from 0 to 61, not 62"),
        (10**30, ValueError, f"action must be from 0 to 61, not {10**30}"),
    ],
)
def test_a_wrong_action_is_told_and_changes_nothing(action, error, message):
    env = gym.make(BOX)
    env.reset(seed=0)
    before = env.unwrapped.snapshot()
    with pytest.raises(error, match=f"^{message}$") as caught:
        env.step(action)
    assert caught.value.__suppress_context__
    assert env.unwrapped.snapshot() == before


def test_a_step_before_the_reset_and_one_after_the_end_are_told_apart():
    env, envs = gym.make(BOX), gym.make_vec(BOX, 2, autoreset_mode=AutoresetMode.DISABLED)
    with pytest.raises(RuntimeError, match=r"^no turn has begun: call reset\(\)$"):
        env.step(0)
    with pytest.raises(RuntimeError, match=r"^no game has begun: call reset\(\)$"):
        envs.step([0, 0])
    env.reset(seed=1)
    envs.reset(seed=1)
    env.step(0)
    envs.step([0, 0])
    with pytest.raises(RuntimeError, match=r"^the turn is over: call reset\(\)$"):
        env.step(0)
    with pytest.raises(RuntimeError, match=r"^a game is over: call reset\(options="):
        envs.step([0, 0])


@pytest.mark.parametrize("action", [0, 0.0, [0], [[0, 0]], [0.0, 0.0], None, "ab"])
def test_actions_that_are_not_one_for_each_game_are_told(action):
    envs = gym.make_vec(BOX, 2)
    envs.reset(seed=1)
    with pytest.raises(ValueError, match=r"^actions must be 2 integers, not shape \(.*\) of type "):
        envs.step(action)


def test_a_mask_that_chooses_no_game_is_refused():
    envs = gym.make_vec(BOX, 2)
    envs.reset(seed=1)
    before = envs.snapshot()
    with pytest.raises(ValueError, match=r"^reset_mask must be an array of 2 booleans, of which one or more are True$"):
        envs.reset(seed=2, options={"reset_mask": np.zeros(2, bool)})
    np.testing.assert_equal(envs.snapshot(), before)


def test_what_illegal_actions_do_is_public():
    for made in (TurnEnv, TurnVectorEnv):
        assert made("threes").illegal == "end"
        assert made("threes", illegal="raise").illegal == "raise"


# Single games of a vector environment


@pytest.mark.parametrize("name", [BOX, THREES])
def test_each_game_is_told_as_gymnasiums_own_environment_tells_it(name):
    native = gym.make_vec(name, 3, render_mode="ansi")
    sync = gym.make_vec(name, 3, vectorization_mode="sync", render_mode="ansi")
    for envs in (native, sync):
        envs.reset(options={"roll": [1, 2]} if name == BOX else {"roll": [1, 2, 3, 4, 5]})
    for attribute in ("game", "objective", "illegal", "render_mode", "observation_space", "action_space"):
        assert native.get_attr(attribute) == native.call(attribute) == sync.get_attr(attribute)
    masks = zip(native.call("action_masks"), sync.call("action_masks"), strict=True)
    assert all((one == other).all() for one, other in masks)
    assert len(native.call("render")) == 3
    assert isinstance(native.call("render"), tuple)
    observation = native.transitions.observation[5]
    assert native.call("node", observation) == sync.call("node", observation) == (5, 5, 5)
    assert gym.make_vec(name, 3).call("render") == (None,) * 3
    assert native.call("render") == native.render()
    for question in (native.get_attr, native.call):
        with pytest.raises(AttributeError, match="no attribute 'tiles_left'"):
            question("tiles_left")
        with pytest.raises(ValueError, match=r"^step is for all games at once: call it of the vector environment"):
            question("step")


def test_attributes_are_set_for_all_games():
    envs = gym.make_vec(BOX, 2)
    _, info = envs.reset(seed=1)
    envs.set_attr("illegal", ["raise", "raise"])
    assert envs.get_attr("illegal") == ("raise", "raise")
    with pytest.raises(ValueError, match="is illegal at"):
        envs.step(info["action_mask"].argmin(axis=1))
    envs.set_attr("illegal", "end")
    assert envs.step(info["action_mask"].argmin(axis=1))[2].all()
    for values in (["end"], ["end", "raise"], []):
        with pytest.raises(ValueError, match=r"^all games have one illegal: give one value, or 2 that are equal, not "):
            envs.set_attr("illegal", values)
    for fixed, value in (("objective", "shut"), ("reward_scale", 1 / 45), ("game", envs.get_attr("game")[0])):
        with pytest.raises(ValueError, match=f"^{fixed} is fixed when an environment is made: make another$"):
            envs.set_attr(fixed, value)


def test_an_integer_of_numpy_is_a_seed():
    seen = [gym.make_vec(BOX, 4).reset(seed=seed)[0] for seed in (7, np.int64(7))]
    assert (seen[0] == seen[1]).all()


# How an illegal end looks


@pytest.mark.parametrize(
    ("game", "points"), [(ShutTheBox(), 45), (Threes(), 30), (ShutTheBox(tiles=2, score="digits"), 12)], ids=str
)
def test_an_illegal_end_can_be_seen(game, points):
    shown, pictures = [], []
    for made, mode in (
        (TurnEnv, "ansi"),
        (TurnEnv, "rgb_array"),
        (TurnVectorEnv, "ansi"),
        (TurnVectorEnv, "rgb_array"),
    ):
        env = made(game, render_mode=mode)
        env.reset(seed=0)
        if isinstance(game, Threes):
            env.reset(options={"roll": [2, 2]})
        before = env.render()
        env.step(env.action_masks().argmin(axis=-1))
        after = env.render()
        if made is TurnVectorEnv:
            [before], [after] = before, after
        (shown if mode == "ansi" else pictures).append((before, after))
    assert shown[0][1] == shown[1][1]
    before, after = shown[0]
    first, *rest = after.splitlines()
    assert first == f"illegal action: the turn ends with {points} points"
    assert len(rest) == len(before.splitlines())
    assert f"points {points}" in rest
    before, after = pictures[0]
    assert (pictures[1][1] == after).all()
    assert after.shape == before.shape
    red = (after[:, :, 0] > 180) & (after[:, :, 1:] < 60).all(axis=2)
    assert red.sum() > 1000
    assert not ((before[:, :, 0] > 180) & (before[:, :, 1:] < 60).all(axis=2)).any()


def test_the_worst_end_that_is_legal_looks_as_it_did():
    env = TurnEnv(Threes(), render_mode="ansi")
    env.reset(options={"roll": [6] * 5})
    assert env.step(4)[1] == -30
    assert env.render() == "dice   none\nkept   5 of 5\npoints 30"
    assert transitions(Threes(), objective_of(Threes(), "score")).reward[-1] == -30
