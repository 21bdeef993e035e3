"""Compare observations of the meter with those of play through every wrapper, and test that others are refused."""

from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from gymnasium.wrappers import vector

from stb_gym import MaskInObservation, RegretMeter, ShutTheBox
from stb_gym.envs import (
    RepresentObservation,
    TurnEnv,
    TurnVectorEnv,
    VectorMaskInObservation,
    VectorRepresentObservation,
)
from stb_gym.envs.wrappers import LAYOUTS
from stb_gym.solver import compile_game
from tests import every
from tests.measure.test_meter import first_legal

ID = "stb_gym/ShutTheBox-v0"
FIVE = compile_game(ShutTheBox(tiles=5))


def make(**options):
    return gym.make(ID, tiles=5, **options)


def make_vec(count=3, **options):
    return gym.make_vec(ID, count, tiles=5, **options)


class Doubled(gym.ObservationWrapper):
    """A user-defined wrapper that reuses one observation buffer."""

    def __init__(self, env):
        super().__init__(env)
        self.observation_space = gym.spaces.Box(0.0, 40.0, env.observation_space.shape)
        self.buffer = np.empty(env.observation_space.shape, np.float32)

    def observation(self, observation):
        self.buffer[:] = 2 * observation
        return self.buffer


class Buffered(gym.vector.VectorObservationWrapper):
    """A vector wrapper that reuses one observation buffer."""

    def __init__(self, envs):
        super().__init__(envs)
        self.buffer = np.empty(envs.observation_space.shape, np.float32)

    def observations(self, observations):
        self.buffer[:] = observations
        return self.buffer


SINGLE = {
    "plain": make,
    "mask": lambda: MaskInObservation(make()),
    "flat": lambda: wrappers.FlattenObservation(MaskInObservation(make())),
    "rescaled": lambda: wrappers.RescaleObservation(wrappers.DtypeObservation(make(), np.float32), 0, 1),
    "own": lambda: Doubled(wrappers.NormalizeReward(make())),
    "mask of own": lambda: MaskInObservation(Doubled(make())),
    "without mask": lambda: wrappers.FilterObservation(MaskInObservation(make()), ["observation"]),
    "represented": lambda: RepresentObservation(make(), "index"),
    "as dictionary": lambda: wrappers.TransformObservation(
        make(), lambda seen: {"seen": seen}, gym.spaces.Dict(seen=make().observation_space)
    ),
}
ENVIRONMENTS = {
    **{f"single, {name}": partial(SyncVectorEnv, [make_one]) for name, make_one in SINGLE.items()},
    "plain": make_vec,
    "uint8": lambda: vector.DtypeObservation(make_vec(1, observation_dtype="uint8"), np.float64),
    "rescaled": lambda: vector.RescaleObservation(vector.DtypeObservation(make_vec(), np.float32), 0, 1),
    "represented": lambda: VectorRepresentObservation(make_vec(), "index"),
    "one buffer": lambda: Buffered(make_vec()),
    "changed in place": lambda: vector.TransformObservation(make_vec(), lambda seen: np.multiply(seen, 2, out=seen)),
    **{f"mask for {library}": partial(VectorMaskInObservation, make_vec(), library) for library in LAYOUTS},
    "masked id, async": lambda: gym.make_vec("stb_gym/ShutTheBoxMasked-v0", 2, tiles=5, vectorization_mode="async"),
    "async, own": lambda: AsyncVectorEnv([lambda: Doubled(make())] * 2),
}


def shown(meter):
    """Return the observations of all decisions that the meter passes to agents."""
    received = []

    def agent(observations, masks):
        received.append(observations)
        return masks.argmax(axis=1)

    meter.policy(agent)
    return received[0]


def row(observations, index):
    if isinstance(observations, dict):
        return {name: row(entry, index) for name, entry in observations.items()}
    return observations[index]


def matches(observations, mask, observation):
    """Return the decisions that have this mask and this observation."""
    alike = (FIVE.legal[FIVE.decisions] == mask).all(axis=1)
    return [place for place in np.flatnonzero(alike) if data_equivalence(row(observations, place), observation)]


@pytest.mark.parametrize("name", every(6, ENVIRONMENTS))
def test_observations_are_those_of_play(name):
    envs, met = ENVIRONMENTS[name](), set()
    observations = shown(RegretMeter(envs))
    seen, infos = envs.reset(seed=1)
    for _ in range(60):
        masks = infos["action_mask"].astype(bool)
        for game, mask in enumerate(masks):
            places = [] if mask.all() else matches(observations, mask, row(seen, game))  # all where a turn is over
            assert len(places) == (not mask.all())
            met.update(places)
        seen, _, _, _, infos = envs.step(masks.argmax(axis=1))
    assert len(met) > 6
    envs.close()


# Refusals


class OtherSpaces(gym.Wrapper):
    def __init__(self, env, **spaces):
        super().__init__(env)
        for name, space in spaces.items():
            setattr(self, name, space)


REMEMBERING = {
    "frames": lambda: MaskInObservation(wrappers.FrameStackObservation(make(), 2)),
    "an own space": lambda: OtherSpaces(make(), observation_space=gym.spaces.Box(0.0, 1.0, (2,))),
    "own actions": lambda: OtherSpaces(make(), action_space=gym.spaces.Discrete(2)),
    "running means of many": lambda: vector.NormalizeObservation(vector.DtypeObservation(make_vec(), np.float32)),
    "frames of many": lambda: SyncVectorEnv([lambda: wrappers.FrameStackObservation(make(), 2)] * 2),
    "pictures": lambda: wrappers.AddRenderObservation(make(render_mode="rgb_array")),
}


@pytest.mark.parametrize(
    "name",
    every(3, REMEMBERING, pytest.mark.nightly),
)
def test_agents_that_see_more_than_the_position_are_measured_at_play(name):
    meter = RegretMeter(REMEMBERING[name]())
    with pytest.raises(ValueError, match=r"may depend on more than the position.*: use RegretMeter\.sample "):
        meter(first_legal)
    if name == "running means of many":
        with pytest.raises(ValueError, match="record the losses of play with RecordRegret"):
            meter.sample(first_legal, 25)
    else:
        turns = 10 if name == "pictures" else 25
        sampled, exact = meter.sample(first_legal, turns), RegretMeter(make())(first_legal).regret
        assert abs(sampled.regret - exact) <= 4 * sampled.standard_error > 0
        assert name != "frames" or sampled.regret == meter.sample(first_legal, turns).regret


def test_agents_at_play_see_what_the_wrappers_show():
    asked = []

    def agent(observations, masks, turns):
        for frames, turn in zip(observations, turns, strict=True):
            earlier = [seen for number, seen in asked if number == turn]
            assert (frames[0] == (earlier[-1] if earlier else frames[1])).all()
            asked.append((turn, frames[1]))
        return masks.argmax(axis=1)

    evaluation = RegretMeter(wrappers.FrameStackObservation(make(), 2, padding_type="reset")).sample(agent, 20)
    assert {turn for turn, _ in asked} >= set(range(20))
    assert len(asked) == len(evaluation.state) > 20


def limited_without_spec(max_episode_steps):
    return wrappers.TimeLimit(TurnEnv(ShutTheBox(tiles=5)), max_episode_steps)


def many_limited_without_spec(max_episode_steps):
    return TurnVectorEnv(ShutTheBox(tiles=5), 3, max_episode_steps=np.int64(max_episode_steps))


def second_limited(max_episode_steps):
    return SyncVectorEnv([make, lambda: make(max_episode_steps=max_episode_steps)])


def second_limited_elsewhere(max_episode_steps):
    return AsyncVectorEnv([make, lambda: make(max_episode_steps=max_episode_steps)])


@pytest.mark.parametrize(
    "limited",
    [
        *(make, make_vec, limited_without_spec, many_limited_without_spec),
        *(second_limited, second_limited_elsewhere),
    ],
)
def test_limits_that_truncate_turns_are_refused(limited):
    longest = make().unwrapped.stepper.longest
    with pytest.raises(ValueError, match="truncates"):
        RegretMeter(limited(max_episode_steps=longest - 1))
    assert RegretMeter(limited(max_episode_steps=longest)).optimum.value == RegretMeter(make()).optimum.value
