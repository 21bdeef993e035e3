"""Test every id with Gymnasium's checkers and wrappers; test the specs and reward thresholds of the ids."""

import pickle
import warnings

import gymnasium as gym
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.utils.env_match import check_environments_match
from gymnasium.vector import AutoresetMode

from stb_gym import ENVIRONMENTS, Threes
from stb_gym.envs import TurnEnv, masked_id
from stb_gym.envs.registration import register_environments
from stb_gym.games import GAMES, Entry, fits
from stb_gym.large import solve_large
from tests import mostly_nightly

PLAIN = list(ENVIRONMENTS)
TURNS = [*PLAIN, *map(masked_id, PLAIN)]
ROUNDS = [f"stb_gym/{game.__name__}Round-v0" for game in GAMES.values()]
IDS = [*TURNS, *ROUNDS, *map(masked_id, ROUNDS)]
BOX, THREES, MASKED = "stb_gym/ShutTheBox-v0", "stb_gym/Threes-v0", "stb_gym/ShutTheBoxMasked-v0"
COUNT = 3
MARKS = {BOX: (), MASKED: (), "stb_gym/ThreesRound-v0": pytest.mark.slow}
of_every_id = pytest.mark.parametrize(
    "identity", [pytest.param(each, marks=MARKS.get(each, pytest.mark.nightly)) for each in IDS]
)


def test_importing_the_package_registers_the_environments():
    registered = {spec.id for spec in gym.registry.values() if spec.namespace == "stb_gym"}
    assert registered == set(IDS)


@pytest.mark.parametrize("name", ["ShutTheBox-v0", "ShutTheBoxRound-v0"])
def test_an_id_belongs_to_one_game(name):
    with pytest.raises(ValueError, match="is the id of an environment of shut-the-box"):
        register_environments(Entry(Threes, environments={name: {}}))


# One environment


@of_every_id
def test_the_checkers_find_nothing(identity):
    env = gym.make(identity)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        check_env(env)
        gym.make(identity, disable_env_checker=False).reset(seed=0)
    expected = ["is different from the unwrapped version"] if env is not env.unwrapped else []
    assert [words for words, warning in zip(expected, warned, strict=True) if words not in str(warning.message)] == []
    check_environments_match(gym.make(identity, render_mode="ansi"), gym.make(identity, render_mode="ansi"), 30)


@of_every_id
def test_an_environment_is_made_again_from_its_spec(identity):
    env = gym.make(identity)
    for spec in (env.spec, EnvSpec.from_json(env.spec.to_json()), pickle.loads(pickle.dumps(env.spec))):
        assert gym.make(spec).spec == env.spec
        check_environments_match(env, gym.make(spec), 5)


# Many environments


def native(identity, mode=AutoresetMode.NEXT_STEP, **options):
    return gym.make_vec(identity, COUNT, autoreset_mode=mode, **options)


def sync(identity, mode=AutoresetMode.NEXT_STEP, **options):
    """Return Gymnasium's own vector environment of the same id."""
    return gym.make_vec(identity, COUNT, "sync", {"autoreset_mode": mode}, **options)


@pytest.mark.slow
@of_every_id
@pytest.mark.parametrize("mode", AutoresetMode)
def test_many_games_look_like_gymnasiums_own_vector_environment(identity, mode):
    env, theirs = native(identity, mode), sync(identity, mode)
    for attribute in ("observation_space", "single_observation_space", "action_space", "single_action_space"):
        assert getattr(env, attribute) == getattr(theirs, attribute)
    assert env.metadata == theirs.metadata
    assert env.num_envs == theirs.num_envs == COUNT
    assert env.observation_space.contains(env.reset(seed=0)[0])
    observation, *step, _ = env.step(env.unwrapped.legal_sample())
    assert env.observation_space.contains(observation)
    assert [(array.shape, array.dtype.kind) for array in step] == [((COUNT,), kind) for kind in "fbb"]


@of_every_id
def test_many_games_are_made_again_from_their_spec(identity):
    for make in (native, sync):
        env = make(identity, AutoresetMode.SAME_STEP, illegal="raise", render_mode="ansi", max_episode_steps=4)
        again = gym.make_vec(env.spec)
        assert again.spec == env.spec
        assert type(again) is type(env)
        assert (again.num_envs, again.metadata) == (COUNT, env.metadata)
    for limit in (None, 2):
        assert gym.make_vec(native(identity, max_episode_steps=limit).spec).max_episode_steps == limit


# The threshold of rewards


@pytest.mark.parametrize(
    "identity", mostly_nightly(TURNS, {BOX, MASKED, THREES, BOX.replace("-v0", "16-v0")}.__contains__)
)
def test_the_reward_threshold_is_the_mean_reward_of_perfect_play(identity, solved):
    env = gym.make(identity).unwrapped
    threshold = gym.spec(identity).reward_threshold
    best = solved(env.game, env.objective.name) if fits(env.game) else solve_large(env.game, env.objective)
    assert threshold == pytest.approx(best.objective.sign * best.value, rel=1e-13)
    for made in (env, gym.make_vec(identity), gym.make(identity, illegal="raise")):
        assert made.spec.reward_threshold == threshold
    scaled = gym.make(identity, reward_scale=0.25)
    assert gym.make(scaled.spec).spec.reward_threshold == scaled.spec.reward_threshold == 0.25 * threshold


@pytest.mark.slow
def test_other_rules_and_objectives_have_no_threshold():
    for other in ({"tiles": 5}, {"objective": "shut"}, {"dice": 1}):
        assert gym.make(BOX, **other).spec.reward_threshold is None
    assert gym.make("stb_gym/ShutTheBoxShut-v0", objective="score").spec.reward_threshold is None
    assert gym.make(BOX, tiles=9, objective="score").spec.reward_threshold == gym.spec(BOX).reward_threshold
    assert TurnEnv("threes").spec is None
    gym.register("mine/Box-v0", "stb_gym.envs.env:TurnEnv", reward_threshold=-12.5, kwargs={"game": "shut-the-box"})
    try:
        assert gym.make("mine/Box-v0", tiles=6).spec.reward_threshold == -12.5
    finally:
        del gym.registry["mine/Box-v0"]
