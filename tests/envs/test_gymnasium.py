"""What Gymnasium's own tests ask of environments and of vector environments, asked of every id of the registry.

Where an answer is another than theirs, and why; each has a test below:

- `gym.make` adds neither the checker of every step nor that of the order of calls, each of which makes a step a tenth
  slower: the environments pass the first if asked, and refuse a step before the reset themselves.
- The checker warns that a masked id is an environment in a wrapper, as it warns of every wrapper.
- The native vector environment throws the dice of all games at once, which makes it fast: it has one seed, not one for
  each game, and its only game throws other dice than the single environment of the same seed.
- `spec.max_episode_steps` is the longest turn and one more. Turns end by themselves, so that no `TimeLimit` stands
  around an environment, where Gymnasium's have one; around what is made of the spec one does.
- What is wrong with an argument is a ValueError with a reason, where Gymnasium's vector environments fail an assertion.
- The `final_obs` of the native vector environment are arrays over all games, as everything else is, where Gymnasium's
  own has an array of objects: its Python loop would take longer than all the rest of a step.
"""

import copy
import pickle
import warnings
from functools import cache

import cloudpickle
import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.utils.env_match import check_environments_match
from gymnasium.vector import AutoresetMode

from stb_gym import ENVIRONMENTS, ShutTheBox, solve
from stb_gym.envs import masked_id, round_id
from stb_gym.games import GAMES, fits
from stb_gym.large import solve_boards

PLAIN = list(ENVIRONMENTS)
TURNS = [*PLAIN, *map(masked_id, PLAIN)]
ROUNDS = [round_id(game) for game in GAMES.values()]
IDS = [*TURNS, *ROUNDS, *map(masked_id, ROUNDS)]
BOX, MASKED = PLAIN[0], masked_id(PLAIN[0])
COUNT = 3
FIRST = {BOX, MASKED, *ROUNDS}
of_every_id = pytest.mark.parametrize(
    "identity", [pytest.param(each, marks=[] if each in FIRST else pytest.mark.slow) for each in IDS]
)
in_every_mode = pytest.mark.parametrize("mode", AutoresetMode)
of_either_kind = pytest.mark.parametrize("identity", [BOX, MASKED])


def play(env, steps=20):
    """Take steps at random, legal or not; every observation is in its space, and what is returned has its type."""
    env.action_space.seed(0)
    observation, info = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    assert isinstance(info, dict)
    for _ in range(steps):
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        assert env.observation_space.contains(observation)
        assert isinstance(reward, float)
        assert isinstance(terminated, bool)
        assert isinstance(truncated, bool)
        assert isinstance(info, dict)
        if terminated or truncated:
            observation, info = env.reset()
            assert env.observation_space.contains(observation)


# One environment


@of_every_id
def test_the_checker_finds_nothing(identity):
    env = gym.make(identity)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        check_env(env)
    expected = ["is different from the unwrapped version"] if env is not env.unwrapped else []
    assert [words for words, warning in zip(expected, warned, strict=True) if words not in str(warning.message)] == []


@of_every_id
def test_equal_seeds_and_actions_lead_to_equal_steps(identity):
    check_environments_match(gym.make(identity, render_mode="ansi"), gym.make(identity, render_mode="ansi"), 50)
    play(gym.make(identity), 50)


@of_every_id
def test_every_render_mode_gives_what_it_says(identity):
    for mode, kind in (("ansi", str), ("rgb_array", np.ndarray), ("ansi_list", list), ("rgb_array_list", list)):
        env = gym.make(identity, render_mode=mode)
        assert env.render_mode == mode
        assert mode.removesuffix("_list") in env.metadata["render_modes"]
        for begin in (lambda: env.reset(seed=0), lambda: env.step(0)):  # noqa: B023
            begin()
            shown = env.render()
            assert isinstance(shown, kind)
            last = shown[-1] if kind is list else shown
            assert len(last) > 0
            if mode.startswith("rgb_array"):
                assert (last.dtype, last.ndim, last.shape[2]) == (np.uint8, 3, 3)


@of_every_id
@pytest.mark.parametrize("library", [pickle, cloudpickle])
def test_environments_can_be_pickled(identity, library):
    env = gym.make(identity)
    env.reset(seed=5)
    other = library.loads(library.dumps(env))
    for _ in range(3):
        assert data_equivalence(env.reset(), other.reset())
        assert data_equivalence(env.step(0), other.step(0))


@of_every_id
def test_an_environment_is_made_again_from_its_spec(identity):
    env = gym.make(identity)
    for spec in (env.spec, EnvSpec.from_json(env.spec.to_json()), pickle.loads(pickle.dumps(env.spec))):
        again = gym.make(spec)
        assert again.spec == env.spec
        check_environments_match(env, again, 5)
    assert type(gym.spec(identity).make()) is type(env)


@of_every_id
def test_gymnasium_may_watch_every_step(identity):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gym.make(identity, disable_env_checker=False)
        play(env)


@of_every_id
def test_a_step_before_the_reset_is_refused(identity):
    spec = gym.spec(identity)
    assert (spec.order_enforce, spec.disable_env_checker) == (False, True)
    env = gym.make(identity)
    for made in (env, wrappers.OrderEnforcing(env), gym.make_vec(identity)):
        with pytest.raises((RuntimeError, gym.error.ResetNeeded), match=r"reset\(\)"):
            made.step(made.action_space.sample())


@of_every_id
def test_a_limit_of_steps_cuts_turns_off(identity):
    env = gym.make(identity, max_episode_steps=1, illegal="raise")
    assert env.spec.max_episode_steps == 1
    _, info = env.reset(options=None, seed=1)
    *_, truncated, _ = env.step(int(info["action_mask"].argmax()))
    assert truncated is True


@of_every_id
def test_an_action_that_is_none_is_refused(identity):
    env = gym.make(identity)
    env.reset(seed=0)
    for action in (0.5, np.float32(0.5), np.array([0.5, 0.5])):
        with pytest.raises(TypeError):
            env.step(action)
    env.step(env.action_space.sample())


ANY_OBSERVATION = {
    "Autoreset": wrappers.Autoreset,
    "ClipReward": lambda env: wrappers.ClipReward(env, -1.0, 1.0),
    "DelayObservation": lambda env: wrappers.DelayObservation(env, 2),
    "FlattenObservation": wrappers.FlattenObservation,
    "FrameStackObservation": lambda env: wrappers.FrameStackObservation(env, 3),
    "NormalizeReward": wrappers.NormalizeReward,
    "OrderEnforcing": wrappers.OrderEnforcing,
    "RecordEpisodeStatistics": wrappers.RecordEpisodeStatistics,
    "StickyAction": lambda env: wrappers.StickyAction(env, 0.5),
    "TimeAwareObservation": wrappers.TimeAwareObservation,
    "TimeLimit": lambda env: wrappers.TimeLimit(env, 3),
}
BOX_OBSERVATION = {
    "DiscretizeObservation": lambda env: wrappers.DiscretizeObservation(env, 2),
    "DtypeObservation": lambda env: wrappers.DtypeObservation(env, np.float32),
    "MaxAndSkipObservation": lambda env: wrappers.MaxAndSkipObservation(env, 2),
    "NormalizeObservation": wrappers.NormalizeObservation,
    "RescaleObservation": lambda env: wrappers.RescaleObservation(env, np.float32(-1), np.float32(1)),
    "ReshapeObservation": lambda env: wrappers.ReshapeObservation(env, (1, 20)),
}
DICT_OBSERVATION = {"FilterObservation": lambda env: wrappers.FilterObservation(env, ["action_mask"])}
WRAPPED = [(BOX, each) for each in {**ANY_OBSERVATION, **BOX_OBSERVATION}.items()]
WRAPPED += [(MASKED, each) for each in {**ANY_OBSERVATION, **DICT_OBSERVATION}.items()]


@pytest.mark.parametrize(("identity", "wrapper"), WRAPPED, ids=lambda each: each if isinstance(each, str) else each[0])
def test_gymnasiums_wrappers_work(identity, wrapper):
    play(wrapper[1](gym.make(identity, observation_dtype="float32")))


# Many environments


def native(identity, mode=AutoresetMode.NEXT_STEP, **options):
    return gym.make_vec(identity, COUNT, autoreset_mode=mode, **options)


def sync(identity, mode=AutoresetMode.NEXT_STEP, **options):
    """Gymnasium's own vector environment of the same."""
    return gym.make_vec(identity, COUNT, "sync", {"autoreset_mode": mode}, **options)


def steps(env, count=30):
    """A reset and steps at random, mostly legal; in DISABLED mode what is over begins anew before the next step."""
    env.action_space.seed(0)
    random = np.random.default_rng(0)
    yield env.reset(seed=0)
    for _ in range(count):
        masks = np.array(env.unwrapped.call("action_masks"))
        legal = (masks * random.random(masks.shape)).argmax(axis=1)
        step = env.step(np.where(random.random(COUNT) < 0.2, env.action_space.sample(), legal))
        yield step
        if env.metadata["autoreset_mode"] == AutoresetMode.DISABLED and step[2].any():
            yield env.reset(options={"reset_mask": step[2]})


def layout(infos):
    """The names, types and shapes of what infos hold; of the last observations, those of one that is over."""
    if isinstance(infos, dict):
        infos = dict(infos)
        if "final_obs" in infos:
            infos["final_obs"] = of_game(infos["_final_obs"].argmax(), infos["final_obs"])
        return {key: layout(infos[key]) for key in sorted(infos)}
    return infos.shape, infos.dtype


def of_game(number, observations):
    """What one of many games shows."""
    if isinstance(observations, dict):
        return {key: value[number] for key, value in observations.items()}
    return observations[number]


@of_every_id
@in_every_mode
@pytest.mark.parametrize("make", [native, sync])
def test_every_step_of_many_games_is_in_their_spaces(identity, mode, make):
    env = make(identity, mode)
    ended = 0
    for observation, *step, infos in steps(env):
        assert env.observation_space.contains(observation)
        assert isinstance(infos, dict)
        for array, kind in zip(step, "fbb", strict=False):
            assert (array.shape, array.dtype.kind) == ((COUNT,), kind)
        if "final_obs" in infos:
            assert env.single_observation_space.contains(of_game(step[1].argmax(), infos["final_obs"]))
            ended += 1
    assert (ended > 0) == (mode == AutoresetMode.SAME_STEP)
    env.reset()
    env.step([env.single_action_space.sample() for _ in range(COUNT)])
    env.close()
    assert env.closed


@of_every_id
@in_every_mode
def test_many_games_look_like_gymnasiums_own_vector_environment(identity, mode):
    env, theirs = native(identity, mode), sync(identity, mode)
    for space in ("observation_space", "single_observation_space", "action_space", "single_action_space"):
        assert getattr(env, space) == getattr(theirs, space)
    assert env.metadata == theirs.metadata
    assert env.num_envs == theirs.num_envs == COUNT
    for games in (env, theirs):
        games.action_space.seed(3)
    assert (env.action_space.sample() == theirs.action_space.sample()).all()
    infos = [{(len(step), str(layout(step[-1]))) for step in steps(games, 100)} for games in (env, theirs)]
    assert infos[0] == infos[1]


@of_every_id
@in_every_mode
def test_equal_seeds_and_actions_lead_to_equal_steps_of_many_games(identity, mode):
    env, other = native(identity, mode), native(identity, mode)
    for step, again in zip(steps(env), steps(other), strict=True):
        assert data_equivalence(step, again)
    again = pickle.loads(pickle.dumps(env)), copy.deepcopy(env)
    for games in again:
        mask = {"reset_mask": np.ones(COUNT, np.bool_)}
        assert data_equivalence(games.reset(seed=4, options=mask), other.reset(seed=4))


@of_every_id
def test_many_games_are_made_again_from_their_spec(identity):
    for make in (native, sync):
        env = make(identity, AutoresetMode.SAME_STEP, illegal="raise", render_mode="ansi", max_episode_steps=4)
        again = gym.make_vec(env.spec)
        assert again.spec == env.spec
        assert type(again) is type(env)
        assert again.num_envs == COUNT
        assert again.observation_space == env.observation_space
        assert again.metadata == env.metadata


@of_every_id
def test_the_limit_of_steps_in_a_spec_cuts_no_turn_off(identity):
    env, envs = gym.make(identity), native(identity)
    limit = env.spec.max_episode_steps
    assert limit == envs.spec.max_episode_steps > 2
    assert gym.spec(identity).max_episode_steps is None
    assert "TimeLimit" not in str(env)
    assert "TimeLimit" in str(gym.make(env.spec))
    again = gym.make_vec(envs.spec)
    assert again.spec.kwargs == {**envs.spec.kwargs, "max_episode_steps": limit}
    assert not any(step[3].any() for step in steps(again, 100) if len(step) == 5)


@of_either_kind
def test_there_is_one_seed_for_all_games(identity):
    env = native(identity)
    for seed, expected in ((42, 42), (None, 42), (43, 43)):
        env.reset(seed=seed)
        assert env.np_random_seed == expected
    theirs = sync(identity)
    theirs.reset(seed=42)
    assert theirs.np_random_seed == (42, 43, 44)
    begun = [of_game(0, gym.make_vec(identity).reset(seed=seed)[0]) for seed in range(20)]
    assert not data_equivalence(begun, [gym.make(identity).reset(seed=seed)[0] for seed in range(20)])


@of_either_kind
def test_last_observations_are_arrays_over_all_games(identity):
    env, theirs = (make(identity, AutoresetMode.SAME_STEP) for make in (native, sync))
    final, told = (
        next(infos["final_obs"] for *_, infos in steps(games) if "final_obs" in infos) for games in (env, theirs)
    )
    assert env.observation_space.contains(final)
    assert (told.shape, told.dtype) == ((COUNT,), object)


@of_either_kind
def test_games_in_processes_of_their_own_go_as_in_one(identity):
    theirs = gym.make_vec(identity, COUNT, "async")
    try:
        for step, other in zip(steps(sync(identity), 5), steps(theirs, 5), strict=True):
            assert data_equivalence(step, other)
    finally:
        theirs.close()


@of_either_kind
def test_many_games_are_rendered_one_by_one(identity):
    for mode, kind in (("ansi", str), ("rgb_array", np.ndarray)):
        env = native(identity, render_mode=mode)
        assert env.render_mode == mode
        env.reset(seed=0)
        shown = env.render()
        assert isinstance(shown, tuple)
        assert [type(each) for each in shown] == [kind] * COUNT


@of_either_kind
@pytest.mark.parametrize(
    "mask",
    [np.array([True]), np.array([True] * 4), np.array([[True] * 3]), np.array([1, 1, 0]), np.array([1.0, 1.0, 0.0])],
)
def test_a_mask_of_another_shape_or_type_begins_no_game(identity, mask):
    env = native(identity, AutoresetMode.DISABLED)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=f"^reset_mask must be an array of {COUNT} booleans"):
        env.reset(options={"reset_mask": mask})


@of_either_kind
def test_a_reset_of_some_games_leaves_the_others_alone(identity):
    env = native(identity, AutoresetMode.DISABLED, illegal="end")
    env.reset(seed=0)
    observation, *_ = env.step(env.unwrapped.legal_sample())
    again, _ = env.reset(options={"reset_mask": np.array([True, True, False])}, seed=1)
    assert [data_equivalence(of_game(game, again), of_game(game, observation)) for game in range(COUNT)] == [
        *(False, False, True)
    ]


vector = wrappers.vector
OF_REWARDS = {
    "ClipReward": lambda env: vector.ClipReward(env, -1.0, 1.0),
    "NormalizeReward": vector.NormalizeReward,
    "RecordEpisodeStatistics": vector.RecordEpisodeStatistics,
    "TransformReward": lambda env: vector.TransformReward(env, lambda reward: reward / 45),
    "VectorizeTransformReward": lambda env: vector.VectorizeTransformReward(
        env, wrappers.ClipReward, min_reward=-1.0, max_reward=1.0
    ),
}
OF_OBSERVATIONS = {
    "FlattenObservation": vector.FlattenObservation,
    "VectorizeTransformObservation": lambda env: vector.VectorizeTransformObservation(env, wrappers.FlattenObservation),
}
OF_BOXES = {
    "DtypeObservation": lambda env: vector.DtypeObservation(env, np.float32),
    "NormalizeObservation": vector.NormalizeObservation,
    "RescaleObservation": lambda env: vector.RescaleObservation(env, np.float32(-1), np.float32(1)),
    "ReshapeObservation": lambda env: vector.ReshapeObservation(env, (4, 5)),
}
OF_DICTIONARIES = {"FilterObservation": lambda env: vector.FilterObservation(env, ["action_mask"])}
OF_VECTORS = [(BOX, each) for each in {**OF_REWARDS, **OF_OBSERVATIONS, **OF_BOXES}.items()]
OF_VECTORS += [(MASKED, each) for each in {**OF_REWARDS, **OF_OBSERVATIONS, **OF_DICTIONARIES}.items()]


@pytest.mark.parametrize(
    ("identity", "wrapper"), OF_VECTORS, ids=lambda each: each if isinstance(each, str) else each[0]
)
@in_every_mode
def test_gymnasiums_vector_wrappers_work_as_around_its_own_vector_environment(identity, wrapper, mode):
    name, wrap = wrapper
    outcomes = []
    for make in (native, sync):
        env = make(identity, mode, observation_dtype="float32")
        try:
            wrapped = wrap(env)
        except ValueError as error:
            outcomes.append(str(error))
            continue
        for observation, *_ in steps(wrapped):
            assert wrapped.observation_space.contains(observation)
        outcomes.append((wrapped.observation_space, wrapped.single_observation_space, wrapped.action_space))
    assert outcomes[0] == outcomes[1]
    refused = name not in OF_REWARDS and mode == AutoresetMode.SAME_STEP
    refused |= name == "NormalizeObservation" and mode == AutoresetMode.DISABLED
    assert isinstance(outcomes[0], str) == refused


@of_either_kind
@in_every_mode
def test_infos_can_be_told_game_by_game(identity, mode):
    told = [
        {tuple(sorted(info)) for *_, infos in steps(vector.DictInfoToList(make(identity, mode))) for info in infos}
        for make in (native, sync)
    ]
    assert told[0] == told[1]
    of_games_not_begun = mode == AutoresetMode.DISABLED
    assert len(told[0]) == 2 + of_games_not_begun  # besides of a game that goes on, and of one that is over


# The threshold of rewards


@cache
def optimum(game, objective):
    """What the environments with and without masks in their observations share."""
    return solve(game, objective) if fits(game) else solve_boards(game, objective)


@pytest.mark.parametrize(
    "identity",
    [pytest.param(each, marks=[] if "x-v0" in each or "Threes" in each else pytest.mark.slow) for each in TURNS],
)
def test_the_reward_threshold_is_the_mean_reward_of_perfect_play(identity):
    env = gym.make(identity).unwrapped
    if env.game != ShutTheBox.preset("the-300"):  # which is solved with the pages that tell of it
        best = optimum(env.game, env.objective)
        assert gym.spec(identity).reward_threshold == pytest.approx(best.objective.sign * best.value, rel=1e-13)
    for made in (env, gym.make_vec(identity), gym.make(identity, illegal="raise")):
        assert made.spec.reward_threshold == gym.spec(identity).reward_threshold
    scaled = gym.make(identity, reward_scale=0.25)
    assert scaled.spec.reward_threshold == 0.25 * env.spec.reward_threshold
    assert gym.make(scaled.spec).spec.reward_threshold == scaled.spec.reward_threshold


def test_of_other_rules_and_objectives_there_is_no_threshold():
    for other in ({"tiles": 10}, {"objective": "shut"}, {"dice": 1}):
        assert gym.make("stb_gym/ShutTheBox-v0", **other).spec.reward_threshold is None
    assert gym.make("stb_gym/ShutTheBoxShut-v0", objective="score").spec.reward_threshold is None
    same = gym.make("stb_gym/ShutTheBox-v0", tiles=9, objective="score")
    assert same.spec.reward_threshold == gym.spec("stb_gym/ShutTheBox-v0").reward_threshold


def test_an_id_of_somebodys_own_keeps_its_threshold():
    gym.register("mine/Box-v0", "stb_gym.envs.env:TurnEnv", reward_threshold=-12.5, kwargs={"game": "shut-the-box"})
    try:
        assert gym.make("mine/Box-v0", tiles=6).spec.reward_threshold == -12.5
    finally:
        del gym.registry["mine/Box-v0"]
