"""Test the single environment: steps against the tables, objectives, dice, and errors."""

import gymnasium as gym
import numpy as np
import pytest

from stb_gym import Objective, ShutTheBox
from stb_gym.envs import TurnEnv, TurnVectorEnv, make_turn, make_turns
from stb_gym.games import throw_faces
from stb_gym.rounds import RoundEnv, RoundVectorEnv
from stb_gym.solver import compile_game, objective_of
from tests import every
from tests.twins import squares

BOX, THREES = "stb_gym/ShutTheBox-v0", "stb_gym/Threes-v0"
VARIANTS = [
    (BOX, {}),
    (BOX, {"tiles": 3, "objective": "shut"}),
    (BOX, {"tiles": 8, "dice": 3, "score": "count", "objective": "at-most:2"}),
    (THREES, {}),
    (THREES, {"dice": 3, "faces": 4, "objective": "at-most:5"}),
]


def twenty(points):
    return -abs(points.astype(np.int64) - 20) + 3


def play(env, player, seed):
    """Play a turn; return its states, its actions, the last reward and the last info."""
    observation, info = env.reset(seed=seed)
    states, actions = [int(env.unwrapped.find_states(observation))], []
    while True:
        assert (info["action_mask"] == env.unwrapped.action_masks()).all()
        actions.append(player(observation))
        observation, reward, terminated, truncated, info = env.step(actions[-1])
        states.append(int(env.unwrapped.find_states(observation)))
        assert (type(reward), truncated) == (float, False)
        if terminated:
            return states, actions, reward, info
        assert (reward, info["final_score"], info["illegal_action"]) == (0, -1, False)


OWN = [(BOX, {"objective": squares}), (THREES, {"objective": Objective("cost", twenty, "coins", -1)})]


@pytest.mark.parametrize(
    ("name", "options", "scale"),
    every(4, [(*each, scale) for each in VARIANTS + OWN for scale in (1, 1 / 45, np.float32(0.5))]),
)
def test_every_step_follows_the_tables_and_the_end_is_rewarded(name, options, scale):
    env = gym.make(name, reward_scale=scale, **options)
    game = env.unwrapped.game
    tables = compile_game(game)
    legal = tables.legal
    random = np.random.default_rng(3)

    def player(observation):
        return int(random.choice(np.flatnonzero(legal[tables.find_states(observation)])))

    objective = objective_of(game, options.get("objective", "score"))
    for seed in range(50):
        states, actions, reward, info = play(env, player, seed)
        afterstates = tables.state_origin[states]
        assert afterstates[0] == tables.start
        for state, action, after in zip(states, actions, afterstates[1:], strict=False):
            assert legal[state].any()
            [pair] = [pair for pair in tables.pairs_of(state) if tables.pair_action[pair] == action]
            assert tables.pair_afterstate[pair] == after
        score = int(tables.final_score[afterstates[-1]])
        assert (info["final_score"], info["illegal_action"]) == (score, False)
        assert reward == objective.utility(np.array([score]))[0] * float(scale)
        assert info["action_mask"].all()


@pytest.mark.parametrize(
    ("objective", "worst"), [("score", -45), ("shut", 0), ("at-most:45", 1), (squares, -2025), (twenty, -22)]
)
def test_an_illegal_action_ends_the_turn_with_the_worst_reward(objective, worst):
    """The worst for the objective, even if it is not the reward of the worst score."""
    for games in (gym.make(BOX, objective=objective), gym.make_vec(BOX, 3, objective=objective)):
        _, info = games.reset(seed=0)
        observation, *result, info = games.step(info["action_mask"].argmin(axis=-1))
        result += info["illegal_action"], info["final_score"]
        for found, expected in zip(result, (worst, True, False, True, 45), strict=True):
            assert np.all(found == expected)
        assert not observation.any()
        assert info["action_mask"].all()


@pytest.mark.parametrize("kind", ["tables", "boards"])
def test_an_illegal_action_raises_if_asked_to_and_changes_nothing(kind):
    where = {"open": [1, 4, 6], "roll": 5}
    env = make_turn(ShutTheBox(tiles=6), illegal="raise", stepper=kind)
    envs = make_turns(ShutTheBox(tiles=6), illegal="raise", stepper=kind, max_episode_steps=3)
    for games, wrong in ((env, 0), (envs, [0])):
        games.reset(seed=0, options=where)
        before = games.snapshot()
        with pytest.raises(ValueError, match="illegal at open 1,4,6, roll 5"):
            games.step(wrong)
        np.testing.assert_equal(games.snapshot(), before)


# Dice


def test_a_reset_without_a_roll_draws_from_the_throws_with_a_legal_move():
    stepper = TurnEnv("shut-the-box").stepper
    afterstate, throws = stepper.beginnings({"open": [2, 3]})
    totals = [sum(throw_faces(throw, 2, 6)) for throw in throws.tolist()]
    assert afterstate == stepper.find_afterstate(0b110, 2)
    assert sorted(totals) == [2, 3, 3, 5, 5, 5, 5]


def test_a_step_draws_one_number_legal_or_not():
    env = gym.make(BOX).unwrapped
    for choose in (np.argmax, np.argmin):
        env.reset(seed=1)
        expected = np.random.Generator(np.random.PCG64())
        expected.bit_generator.state = env.np_random.bit_generator.state
        number = expected.bit_generator.random_raw()
        env.step(choose(env.action_masks()))
        assert env.np_random.bit_generator.state == expected.bit_generator.state
        assert env.snapshot()["throw"] == number % 36


# Arguments and actions


def test_actions_may_be_of_any_integer_type():
    env, found = gym.make(BOX), []
    for kind in (int, np.int8, np.uint64, np.array):
        _, info = env.reset(seed=0)
        found.append(env.step(kind(info["action_mask"].argmax()))[0])
    assert (np.array(found) == found[0]).all()


@pytest.mark.parametrize("action", [1.0, "1", None, np.array([1]), np.float32(3), 62, -1, np.array(62), 10**30])
def test_a_wrong_action_is_refused_and_changes_nothing(action):
    env = gym.make(BOX).unwrapped
    env.reset(seed=0)
    before = env.snapshot()
    with pytest.raises((TypeError, ValueError), match="action must be"):
        env.step(action)
    assert env.snapshot() == before


@pytest.mark.parametrize(
    "name", ["game", "objective", "illegal", "reward_scale", "rewards", "illegal_reward", "max_episode_steps"]
)
def test_what_the_tables_of_an_environment_follow_cannot_be_set(name):
    envs = [make_turn("threes"), make_turns("threes"), RoundEnv("threes"), RoundVectorEnv("threes")]
    for env in envs:
        if hasattr(env, name):
            with pytest.raises(AttributeError, match="no setter"):
                setattr(env, name, getattr(env, name))


def test_what_a_step_returns_belongs_to_the_caller():
    env = gym.make(BOX)
    observation, info = env.reset(seed=0)
    expected = observation.copy(), info["action_mask"].copy()
    observation[:] = 9
    info["action_mask"][:] = 9
    assert (env.reset(seed=0)[0] == expected[0]).all()
    assert (env.unwrapped.action_masks() == expected[1]).all()


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float16", np.float32, np.dtype(">f8"), float])
def test_observations_are_the_same_in_every_type(dtype):
    for make in (gym.make, gym.make_vec):
        env, plain = make(THREES, observation_dtype=dtype), make(THREES)
        observation, expected = env.reset(seed=1)[0], plain.reset(seed=1)[0]
        assert observation.dtype == env.observation_space.dtype == np.dtype(np.dtype(dtype).type)
        assert (observation == expected).all()
        assert np.all(env.unwrapped.find_states(observation) == plain.unwrapped.find_states(expected))


ERRORS = {
    "options of another type": lambda: gym.make(BOX).reset(options="x"),
    "options in a list": lambda: TurnVectorEnv("threes", 3).reset(options=["x"]),
    "no legal move at a roll": lambda: gym.make(BOX).reset(options={"open": [1, 2], "roll": 12}),
    "no such rule": lambda: gym.make(BOX, tile=5),
    "illegal": lambda: gym.make(BOX, illegal="ignore"),
    "render mode of many": lambda: TurnVectorEnv("threes", render_mode="human"),
    "type of observations": lambda: gym.make(BOX, observation_dtype="complex64"),
    "reward_scale": lambda: gym.make(BOX, reward_scale=np.nan),
    "no reward_scale": lambda: gym.make(BOX, reward_scale=0),
    "large reward_scale": lambda: TurnEnv("threes", reward_scale=10**400),
    "render mode without a renderer": lambda: TurnEnv("threes", render_mode="ansi"),
    "stepper": lambda: make_turn("threes", stepper="trees"),
    "step before reset": lambda: TurnEnv("threes").step(0),
    "step of many before reset": lambda: TurnVectorEnv("threes").step([0]),
    "snapshot before reset": lambda: TurnEnv("threes").snapshot(),
    "number of games": lambda: TurnVectorEnv("threes", 0),
    "autoreset mode": lambda: TurnVectorEnv("threes", autoreset_mode="never"),
    "limit": lambda: TurnVectorEnv("threes", max_episode_steps=0),
    "actions": lambda: begun(TurnVectorEnv("threes", 3)).step([0, 0]),
    "one of the actions": lambda: begun(TurnVectorEnv("threes", 3)).step([0, 5, -1]),
    "step of many after the end": lambda: ended(TurnVectorEnv("threes", autoreset_mode="Disabled", dice=1)).step([0]),
    "mask names": lambda: gym.make("stb_gym/ThreesMasked-v0", mask_names="jax"),
}


def begun(env):
    env.reset(seed=0)
    return env


def ended(env):
    begun(env).step([0])
    return env


def test_errors_say_what_is_allowed(snapshot):
    said = {}
    for what, wrong in ERRORS.items():
        with pytest.raises((ValueError, TypeError, RuntimeError)) as caught:
            wrong()
        said[what] = f"{caught.type.__name__}: {caught.value}"
        assert "\n" not in said[what]
    assert said == snapshot
