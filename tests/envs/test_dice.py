"""The generator decides the dice: its state, another one, seeds; and snapshots of a single turn."""

import copy
import json
import pickle

import gymnasium as gym
import numpy as np
import pytest
from scipy import stats

from stb_gym import Threes
from stb_gym.solver import compile_game

BOX, THREES = "stb_gym/ShutTheBox-v0", "stb_gym/Threes-v0"


def go_on(env, steps=30):
    """What is seen while the lowest legal actions are played, turn after turn."""
    seen = []
    for _ in range(steps):
        mask = env.unwrapped.action_masks()
        if mask.any():
            observation, reward, over, _, info = env.step(int(mask.argmax()))
            seen.append((observation.tolist(), reward, over, info.get("final_score")))
        else:
            seen.append(env.reset()[0].tolist())
    return seen


@pytest.mark.parametrize("steps", [0, 1, 3])
@pytest.mark.parametrize("name", [BOX, THREES, "CartPole-v1"])
def test_the_same_state_of_the_generator_throws_the_same_dice(name, steps):
    env = gym.make(name)
    env.reset(seed=3)
    for _ in range(steps):
        env.step(env.action_space.n - 1)
        env.reset()
    runs = []
    state = env.np_random.bit_generator.state
    for _ in range(2):
        env.np_random.bit_generator.state = state
        runs.append([env.reset()[0].tolist() for _ in range(40)])
    assert runs[0] == runs[1]
    assert len(set(map(tuple, runs[0]))) > 8


def test_the_state_decides_the_next_throw_in_the_middle_of_a_turn():
    env = gym.make(THREES)
    env.reset(seed=3)
    rng, turn = env.np_random, env.unwrapped.snapshot()
    state, seen = rng.bit_generator.state, []
    for _ in range(2):
        env.unwrapped.restore({**turn, "throw": 0, "random": rng.bit_generator.state})
        rng.bit_generator.state = state
        seen.append([env.step(0)[0].tolist() for _ in range(4)])
    assert seen[0] == seen[1]


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64])
def test_any_generator_can_be_given(bits):
    runs = []
    for seed in (1, 1, 2):
        env = gym.make(THREES)
        env.np_random = np.random.Generator(bits(seed))
        env.reset()
        runs.append(go_on(env))
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.slow
def test_every_throw_is_as_likely_as_another_in_every_step():
    env, tables = gym.make(THREES), compile_game(Threes())
    env.reset(seed=2)
    for kept in (0, 2):
        nodes = []
        for _ in range(20_000):
            env.reset()
            nodes.append(int(env.unwrapped.node(env.step(kept)[0])))
        dice = 4 - kept
        rolled = np.array(nodes) - tables.node_start[tables.node_state[nodes]]
        chances = tables.node_probability[slice(*tables.node_start[tables.find_state(0, dice) :][:2])]
        assert stats.chisquare(np.bincount(rolled, minlength=len(chances)), 20_000 * chances).pvalue > 1e-3


def test_a_step_draws_one_number_legal_or_not():
    env = gym.make(BOX)
    env.reset(seed=1)
    for action in (env.unwrapped.action_masks().argmax(), env.unwrapped.action_masks().argmin()):
        env.reset(seed=1)
        expected = np.random.Generator(np.random.PCG64())
        expected.bit_generator.state = env.np_random.bit_generator.state
        expected.bit_generator.random_raw()
        env.step(action)
        assert env.np_random.bit_generator.state == expected.bit_generator.state


@pytest.mark.parametrize("name", [BOX, THREES])
def test_a_turn_goes_on_from_a_snapshot_as_it_would_have(name):
    env, other = gym.make(name, render_mode="ansi").unwrapped, gym.make(name, render_mode="ansi").unwrapped
    env.reset(seed=1)
    for _ in range(12):
        go_on(env, 1)
        snapshot, shown = env.snapshot(), env.render()
        assert isinstance(snapshot["node"], int)
        as_json, expected = json.loads(json.dumps(snapshot)), go_on(env)
        for kept in (snapshot, as_json, pickle.loads(pickle.dumps(snapshot))):
            other.restore(kept)
            assert other.render() == shown
            assert go_on(copy.deepcopy(other)) == go_on(other) == expected
        env.restore(snapshot)
        go_on(env, 2)


def test_a_snapshot_of_a_turn_not_begun_or_over_stays_that():
    env, other = gym.make(BOX).unwrapped, gym.make(BOX).unwrapped
    other.reset(seed=1)
    other.restore(env.snapshot())
    with pytest.raises(RuntimeError, match="no turn has begun"):
        other.step(0)
    env.reset(seed=1)
    env.step(0)
    other.restore(env.snapshot())
    with pytest.raises(RuntimeError, match="the turn is over"):
        other.step(0)


def test_snapshots_of_others_are_refused():
    envs, small, env = gym.make_vec(THREES, 1), gym.make(BOX, tiles=3).unwrapped, gym.make(BOX, tiles=9).unwrapped
    for each in (envs, small, env):
        each.reset(seed=1)
    whole = env.snapshot()
    wrong = [{}, envs.snapshot(), {**whole, "node": [3]}, {**whole, "throw": 36}, {**whole, "node": 1.5}]
    random = whole["random"]
    for state in (-1, 2**200, 1.5, "1", None):
        wrong += [{**whole, "random": {**random, "state": {**random["state"], "state": state}}}]
    wrong += [{**whole, "random": other} for other in ([], {}, {**random, "uinteger": 2**40}, {**random, "more": 1})]
    wrong += [{**whole, "begun": "yes"}, {**whole, "node": True}, {**whole, "node": "3"}, {**whole, "throw": 2**70}]
    wrong += [{name: whole[name] for name in whole if name != left_out} for left_out in whole]
    wrong += [[], None, {**whole, "node": [[1], [2, 3]]}]
    for snapshot in wrong:
        with pytest.raises(ValueError, match=r"^the snapshot is not of one turn of ShutTheBox\(\)$"):
            env.restore(snapshot)
        assert env.snapshot() == whole
    with pytest.raises(ValueError, match=r"^the snapshot is not of one turn of ShutTheBox\(tiles=3\)$"):
        small.restore(whole)
    with pytest.raises(ValueError, match=r"^the snapshot is not of 1 turns of Threes\(\)$"):
        envs.restore(gym.make(THREES).unwrapped.snapshot())


def test_a_list_of_seeds_seeds_all_games():
    envs, runs = gym.make_vec(THREES, 3), []
    for seed in ([1, 2, 3], (1, 2, 3), np.array([1, 2, 3]), [1, 2, 4], [3, 2, 1], 1):
        first = envs.reset(seed=seed)[0]
        runs.append([first.tolist(), envs.legal_sample().tolist(), envs.step(np.zeros(3, int))[0].tolist()])
    assert runs[0] == runs[1] == runs[2]
    assert len(set(map(str, runs))) == 4


@pytest.mark.parametrize(
    ("seed", "message"),
    [
        ([1, 2], "seed must be an integer or a list of 3, not of 2"),
        ([1, None, 2], r"each of seeds must be an integer from 0 to \d+, not None"),
        ([1, -1, 2], r"each of seeds must be an integer from 0 to \d+, not -1"),
        ([1, 1.5, 2], r"each of seeds must be an integer from 0 to \d+, not 1.5"),
        ("123", "seeds must be a list of integers from 0"),
        (1.5, "seeds must be a list of integers from 0"),
    ],
)
def test_seeds_that_are_none_are_refused_and_change_nothing(seed, message):
    envs = gym.make_vec(THREES, 3)
    envs.reset(seed=1)
    state = envs.snapshot()
    with pytest.raises(ValueError, match=f"^{message}"):
        envs.reset(seed=seed)
    np.testing.assert_equal(envs.snapshot(), state)


@pytest.mark.parametrize("stepper", ["tables", "boards"])
def test_what_is_refused_leaves_many_turns_as_they_were(stepper):
    envs = gym.make_vec(BOX, 3, stepper=stepper, max_episode_steps=2).unwrapped
    envs.reset(seed=1)
    whole = envs.snapshot()
    for name in ("node", "throw", "left"):
        numbers = whole[name]
        for other in (
            numbers + 0.5,
            numbers > 0,
            numbers[:2],
            numbers[None],
            numbers - 10**6,
            numbers.astype(str),
            None,
        ):
            with pytest.raises(ValueError, match=r"^the snapshot is not of 3 turns of ShutTheBox\(\)$"):
                envs.restore({**whole, name: other})
            np.testing.assert_equal(envs.snapshot(), whole)
    for name in ("begun", "random"):
        with pytest.raises(ValueError, match=r"^the snapshot is not of 3 turns of ShutTheBox\(\)$"):
            envs.restore({**whole, "node": whole["node"][::-1], name: None})
        np.testing.assert_equal(envs.snapshot(), whole)
    envs.restore({**whole, "node": whole["node"].astype(np.uint64), "throw": whole["throw"].astype(np.uint8)})
    assert {number.dtype for number in (envs._node, envs._throw)} == {np.dtype(np.int64)}
