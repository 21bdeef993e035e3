"""What the meter hands to agents is what the environment shows in play, through every wrapper, or it refuses."""

import pickle
from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from gymnasium.wrappers import vector

from stb_gym import MaskInObservation, RegretMeter, ShutTheBox, Threes, TurnEnv, VectorMaskInObservation, compile_game
from stb_gym.envs.wrappers import LAYOUTS

ID = "stb_gym/ShutTheBox-v0"


def make(**options):
    return gym.make(ID, tiles=5, **options)


def make_vec(count=3, **options):
    return gym.make_vec(ID, count, tiles=5, **options)


class Doubled(gym.ObservationWrapper):
    """A wrapper as people write them."""

    def __init__(self, env):
        super().__init__(env)
        self.observation_space = gym.spaces.Box(0.0, 40.0, env.observation_space.shape)

    def observation(self, observation):
        return observation * np.float32(2)


class Buffered(gym.vector.VectorObservationWrapper):
    """A wrapper that answers with the same array every time."""

    def __init__(self, envs):
        super().__init__(envs)
        self.buffer = np.empty(envs.observation_space.shape, np.uint8)

    def observations(self, observations):
        self.buffer[:] = observations
        return self.buffer


def flat():
    return wrappers.FlattenObservation(MaskInObservation(make()))


def from_zero_to_one(env):
    return wrappers.RescaleObservation(wrappers.DtypeObservation(env, np.float32), 0, 1)


SINGLE = {
    "as it is": make,
    "floats": lambda: make(observation_dtype="float32"),
    "mask": lambda: MaskInObservation(make()),
    **{f"mask of {library}": partial(MaskInObservation, make(), library) for library in LAYOUTS},
    "masked id": lambda: gym.make("stb_gym/ShutTheBoxMasked-v0", tiles=5, observation_dtype="float32"),
    "mask in the same space": lambda: MaskInObservation(gym.make(ID, tiles=4, observation_dtype="float32"), "rllib"),
    "flat": flat,
    "rescaled": lambda: from_zero_to_one(make()),
    "reshaped": lambda: wrappers.ReshapeObservation(make(), (2, 8)),
    "own": lambda: Doubled(wrappers.RecordEpisodeStatistics(make())),
    "mask of own": lambda: MaskInObservation(Doubled(make())),
    "without mask": lambda: wrappers.FilterObservation(MaskInObservation(make()), ["observation"]),
    "as dictionary": lambda: wrappers.TransformObservation(
        make(), lambda seen: {"seen": seen}, gym.spaces.Dict(seen=make().observation_space)
    ),
    "other rewards": lambda: wrappers.NormalizeReward(wrappers.TimeLimit(make(), 9)),
}
MANY = {
    "as they are": make_vec,
    "floats": lambda: make_vec(observation_dtype="float32"),
    "one": lambda: vector.DtypeObservation(make_vec(1), np.float64),
    "rescaled": lambda: vector.RescaleObservation(vector.DtypeObservation(make_vec(), np.float32), 0, 1),
    "one buffer": lambda: Buffered(make_vec()),
    "changed in place": lambda: vector.TransformObservation(make_vec(), lambda seen: np.multiply(seen, 2, out=seen)),
    **{f"mask of {library}": partial(VectorMaskInObservation, make_vec(), library) for library in LAYOUTS},
    "masked id": lambda: gym.make_vec("stb_gym/ShutTheBoxMasked-v0", 3, tiles=5),
    "masked id, async": lambda: gym.make_vec("stb_gym/ShutTheBoxMasked-v0", 2, tiles=5, vectorization_mode="async"),
    "sync": lambda: vector.RecordEpisodeStatistics(make_vec(vectorization_mode="sync")),
    "sync, flat": lambda: SyncVectorEnv([flat] * 2),
    "sync, rescaled outside": lambda: vector.DtypeObservation(SyncVectorEnv([flat] * 2), np.float32),
    "async": lambda: make_vec(2, vectorization_mode="async"),
    "async, flat": lambda: AsyncVectorEnv([flat] * 2),
}


def shown(env):
    """The observations of all decisions, as an agent gets them."""
    meter, seen = RegretMeter(env), []
    meter.policy(lambda observations, masks: [seen.append(observations), masks.argmax(axis=1)][1])
    return seen[0], meter.optimum.tables.decisions


def row(observations, index):
    if isinstance(observations, dict):
        return {name: row(entry, index) for name, entry in observations.items()}
    return observations[index]


def same(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    one, other = np.asarray(one), np.asarray(other)
    return one.dtype == other.dtype and one.shape == other.shape and bool((one == other).all())


@pytest.mark.parametrize("name", SINGLE)
def test_observations_are_those_of_play(name):
    env, met = SINGLE[name](), set()
    observations, decisions = shown(env)
    turn = env.unwrapped
    for game in range(60):
        seen, info = env.reset(seed=game)
        over = False
        while not over:
            node = int(turn.node(turn.transitions.observation[turn._node]))
            place = int(np.searchsorted(decisions, node))
            assert decisions[place] == node
            assert same(row(observations, place), seen)
            assert env.observation_space.contains(row(observations, place))
            met.add(place)
            action = np.random.default_rng(game).choice(np.flatnonzero(info["action_mask"]))
            seen, _, over, _, info = env.step(int(action))
    assert len(met) > 15


@pytest.mark.parametrize("name", MANY)
def test_observations_are_those_of_play_in_vector_environments(name):
    envs, met = MANY[name](), set()
    observations, decisions = shown(envs)
    masks = compile_game(ShutTheBox(tiles=5)).legal(decisions)
    seen, infos = envs.reset(seed=1)
    for _ in range(60):
        legal = infos["action_mask"].astype(bool)
        for game in range(envs.num_envs):
            alike = (masks == legal[game]).all(axis=1)
            fits = [place for place in np.flatnonzero(alike) if same(row(observations, place), row(seen, game))]
            assert len(fits) == legal[game].any()
            met.update(fits)
        seen, _, _, _, infos = envs.step(np.where(legal.any(axis=1), legal.argmax(axis=1), 0))
    assert len(met) > 10
    envs.close()


@pytest.mark.parametrize("game", [ShutTheBox(tiles=5), Threes()])
def test_observations_of_a_game_are_those_of_its_plain_environment(game):
    tables = compile_game(game)
    observations, _ = shown(game)
    assert same(observations, tables.observation[tables.decisions])


REFUSED = {
    "TimeAwareObservation": lambda: wrappers.TimeAwareObservation(make(max_episode_steps=9)),
    "FrameStackObservation": lambda: MaskInObservation(wrappers.FrameStackObservation(make(), 2)),
    "DelayObservation": lambda: wrappers.DelayObservation(make(), 1),
    "MaxAndSkipObservation": lambda: wrappers.MaxAndSkipObservation(make()),
    "NormalizeObservation": lambda: wrappers.NormalizeObservation(make()),
    "AddRenderObservation": lambda: wrappers.AddRenderObservation(make(render_mode="rgb_array")),
    "StickyAction": lambda: wrappers.StickyAction(make(), 0.5),
    **({"RepeatAction": lambda: wrappers.RepeatAction(make(), 2)} if hasattr(wrappers, "RepeatAction") else {}),
    "TransformAction": lambda: wrappers.TransformAction(make(), lambda action: action, make().action_space),
    "Remembers": lambda: Remembers(make()),
    "Counts": lambda: Counts(make()),
    "ChangesSpace": lambda: ChangesSpace(make()),
    "FewerActions": lambda: FewerActions(make()),
}


class Remembers(Doubled):
    def reset(self, **options):
        return super().reset(**options)


class Counts(Doubled):
    def step(self, action):
        return super().step(action)


class ChangesSpace(gym.Wrapper):
    def __init__(self, env):
        super().__init__(env)
        self.observation_space = gym.spaces.Box(0.0, 1.0, (2,))


class FewerActions(gym.Wrapper):
    def __init__(self, env):
        super().__init__(env)
        self.action_space = gym.spaces.Discrete(2)


@pytest.mark.parametrize("name", REFUSED)
def test_wrappers_that_show_more_than_the_position_are_refused(name):
    with pytest.raises(
        ValueError, match=f"^{name} shows or does something that does not depend on the position alone, or cannot be "
    ):
        RegretMeter(REFUSED[name]())


def test_vector_wrappers_that_show_more_than_the_position_are_refused():
    with pytest.raises(ValueError, match=r"^NormalizeObservation shows or does something"):
        RegretMeter(vector.NormalizeObservation(vector.DtypeObservation(make_vec(), np.float32)))
    with pytest.raises(ValueError, match=r"^TransformAction shows or does something"):
        RegretMeter(vector.TransformAction(make_vec(), lambda actions: actions))
    with pytest.raises(ValueError, match=r"^FrameStackObservation shows or does something"):
        RegretMeter(SyncVectorEnv([lambda: wrappers.FrameStackObservation(make(), 2)]))


def test_wrappers_in_other_processes_that_cannot_be_made_again_are_refused():
    halved = wrappers.TransformReward(make(), lambda reward: reward / 2)
    for inside in (lambda: Doubled(make()), lambda: TurnEnv(ShutTheBox(tiles=5)), lambda: halved):
        envs = AsyncVectorEnv([inside] * 2)
        with pytest.raises(
            ValueError, match="AsyncVectorEnv show cannot be seen from this process: make the meter with"
        ):
            RegretMeter(envs)
        assert len(envs.reset()[0]) == 2  # they go on
        envs.close()


def test_an_objective_of_ones_own_stays_in_its_process():
    envs = AsyncVectorEnv([lambda: make(objective=lambda points: -(points**2))] * 2)
    with pytest.raises(ValueError, match="the objective of AsyncVectorEnv is a function, which cannot be seen from"):
        RegretMeter(envs)
    assert len(envs.reset()[0]) == 2
    envs.close()
    here = SyncVectorEnv([partial(make, objective=squares)] * 2)
    assert RegretMeter(here).optimum.value == RegretMeter(make(objective=squares)).optimum.value


def squares(points):
    return -(points**2)


@pytest.mark.parametrize(
    "limited",
    [
        lambda steps: make(max_episode_steps=steps),
        lambda steps: Doubled(wrappers.TimeLimit(make(), steps)),
        lambda steps: make_vec(max_episode_steps=steps),
        lambda steps: make_vec(max_episode_steps=steps, vectorization_mode="sync"),
    ],
)
def test_turns_that_are_truncated_are_not_measured(limited):
    longest = make().unwrapped.stepper.longest
    message = f"a turn may take {longest} steps, and what is truncated after {longest - 1} cannot be measured"
    with pytest.raises(ValueError, match=message):
        RegretMeter(limited(longest - 1))
    assert RegretMeter(limited(longest)).optimum.value == RegretMeter(make()).optimum.value


@pytest.mark.parametrize("name", ["as it is", "masked id", "own", "mask of own"])
def test_a_meter_can_be_sent_to_another_process(name):
    meter = RegretMeter(SINGLE[name]())
    sent = pickle.loads(pickle.dumps(meter))
    assert (
        sent(lambda observations, masks: masks.argmax(axis=1)).regret == meter(lambda o, masks: masks.argmax(1)).regret
    )


@pytest.mark.parametrize(
    "reads", [lambda observations, masks: observations["action_mask"], lambda observations, masks: masks]
)
def test_agents_may_write_into_what_they_are_handed(reads):
    meter = RegretMeter(MaskInObservation(make()))
    before = meter(lambda observations, masks: masks.argmax(axis=1)).regret

    def careless(observations, masks):
        actions = reads(observations, masks).argmax(axis=1)
        for entry in (*observations.values(), masks):
            entry[:] = 0
        return actions

    assert [meter(careless).regret for _ in range(2)] == [before, before]
