"""Test that losses, regret, luck and visits are exact under wrappers of Gymnasium and others in any order."""

import itertools

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers
from gymnasium.wrappers import vector as of_vectors
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from stb_gym import RecordRegret, RecordVisits, VectorRecordRegret, VectorRecordVisits
from stb_gym.measure.optimal_values import values_of
from stb_gym.measure.tensors import map_entries
from tests.measure.test_recording import BOX, MODES, ROUND

pytestmark = pytest.mark.filterwarnings("ignore:.*precision lowered")  # by DtypeObservation


class Witness:
    """The innermost wrapper: sums what every action loses and every throw gains, as they happen.

    A throw gains what perfect play expects at the state, minus what it expected at the afterstate.
    """

    def __init__(self, env):
        super().__init__(env)
        self._turns = getattr(env.unwrapped, "turn", env.unwrapped)

    def reset(self, *, seed=None, options=None):
        result = self.env.reset(seed=seed, options=options)
        if not hasattr(self, "values"):
            self.values = values_of(self.env)
            count = getattr(self, "num_envs", 1)
            self.regret, self.luck, self.loss = np.zeros((3, count))
            tables = self._turns.stepper.tables
            self.taken = np.zeros((tables.num_states + 1, tables.num_actions), int)
            self.reached = np.zeros(tables.num_states + 1, int)
            self.ended = np.ones(count, np.bool_)
        games = np.asarray((options or {}).get("reset_mask", np.ones_like(self.ended)))
        self.loss = np.where(games, 0, self.loss)
        self.begin(games, are_random="roll" not in (options or {}))
        return result

    def begin(self, games, are_random=True):
        """Begin the turns of games [B], bool; `are_random` says whether their dice are."""
        values, row = self.values()
        states = self._turns.states
        first = values.of_states(states, row) - values.of_afterstates(self._turns.stepper.origin_of(states), row)
        self.regret = np.where(games, 0, self.regret)
        self.luck = np.where(games, first, self.luck)
        self.ended = self.ended & ~games
        if are_random:
            np.add.at(self.reached, states[games], 1)

    def step(self, action):
        (values, row), states, before = self.values(), self._turns.states, self.ended
        result = self.env.step(action)
        last = self._turns.last_step
        at = values.of_afterstates(last.afterstates, row)
        self.loss = np.where(before, 0, values.of_states(states, row) - at)
        self.regret = self.regret + self.loss
        self.luck = self.luck + values.of_states(last.reached, row) - at
        self.ends = self.regret, self.luck
        reached = np.ravel(last.reached)
        played = (reached != self._turns.stepper.illegal_state) & ~before
        np.add.at(self.taken, (states[played], np.ravel(action)[played]), 1)
        np.add.at(self.reached, reached[played], 1)
        self.ended = np.atleast_1d(result[2] | result[3])
        mode = self.metadata.get("autoreset_mode")
        if mode is not None and mode.value != "Disabled":
            self.begin(before if mode.value == "NextStep" else self.ended)
        return result

    def check(self, visits):
        """Compare the counts of a recorder of visits."""
        tables = visits.tables
        assert (visits.states == self.reached[:-1]).all()
        assert (visits.pairs == self.taken[tables.pair_state, tables.pair_action]).all()


class OneWitness(Witness, gym.Wrapper):
    """The witness of a single environment."""


class VectorWitness(Witness, gym.vector.VectorWrapper):
    """The witness of a vector environment."""


class Lists(gym.vector.VectorWrapper):
    """Make lists of all arrays, as NumpyToTorch makes tensors of them."""

    def reset(self, **arguments):
        return tuple(map_entries(np.ndarray.tolist, part) for part in self.env.reset(**arguments))

    def step(self, actions):
        return tuple(map_entries(np.ndarray.tolist, part) for part in self.env.step(actions))


SINGLE = {
    "RecordEpisodeStatistics": wrappers.RecordEpisodeStatistics,
    "TimeLimit": lambda env: wrappers.TimeLimit(env, 2),
    "OrderEnforcing": wrappers.OrderEnforcing,
    "PassiveEnvChecker": wrappers.PassiveEnvChecker,
    "Autoreset": wrappers.Autoreset,
    "TransformReward": lambda env: wrappers.TransformReward(env, lambda reward: reward / 45),
    "ClipReward": lambda env: wrappers.ClipReward(env, -1, 1),
    "NormalizeReward": wrappers.NormalizeReward,
    "NormalizeObservation": wrappers.NormalizeObservation,
    "FlattenObservation": wrappers.FlattenObservation,
    "DtypeObservation": lambda env: wrappers.DtypeObservation(env, np.float16),
    "RescaleObservation": lambda env: wrappers.RescaleObservation(env, np.float32(0), np.float32(1)),
    "TransformAction": lambda env: wrappers.TransformAction(env, lambda action: action, env.action_space),
    "StickyAction": lambda env: wrappers.StickyAction(env, 0.2),
    "RenderCollection": wrappers.RenderCollection,
}
MANY = {
    "RecordEpisodeStatistics": of_vectors.RecordEpisodeStatistics,
    "TransformReward": lambda envs: of_vectors.TransformReward(envs, lambda reward: reward / 45),
    "ClipReward": lambda envs: of_vectors.ClipReward(envs, -1, 1),
    "NormalizeReward": of_vectors.NormalizeReward,
    "NormalizeObservation": of_vectors.NormalizeObservation,
    "FlattenObservation": of_vectors.FlattenObservation,
    "DtypeObservation": lambda envs: of_vectors.DtypeObservation(envs, np.float16),
    "TransformAction": lambda envs: of_vectors.TransformAction(envs, lambda actions: actions, envs.action_space),
    "Lists": Lists,
}


IDS = [BOX, "stb_gym/ShutTheBoxMasked-v0", ROUND]
PLACES = {BOX: {"open": [1, 4, 5, 8], "roll": 9}, ROUND: {"points": 4, "roll": [1, 3, 6], "lead": 9}}


def stack(env, layers, table):
    """Return an environment in its layers, the innermost first, and the layers by name."""
    made = {}
    for name in layers:
        env = made[name] = table[name](env)
    return env, made


def drawn_actions(env, random):
    """Return a random action for every turn, mostly legal ones."""
    masks = np.atleast_2d(env.unwrapped.action_masks())
    return np.where(random.random((len(masks), 1)) < 0.9, masks, 1) * random.random(masks.shape)


def check_single(identity, layers, options, seed):
    """Play a single environment in layers, and compare what the recorder says with the witness."""
    random, regrets = np.random.default_rng(seed), []
    table = SINGLE | {"witness": OneWitness, "recorder": RecordRegret, "visits": RecordVisits}
    env, made = stack(gym.make(identity, render_mode="ansi"), ["witness", *layers], table)
    witness, recorder = made["witness"], made["recorder"]
    _, info = env.reset(seed=seed, options=options)
    while len(regrets) < 4:
        numbers = [info[name] for name in ("loss", "regret", "luck")]
        assert numbers == pytest.approx([witness.loss[0], witness.regret[0], witness.luck[0]], abs=1e-9)
        *_, terminated, truncated, info = env.step(int(drawn_actions(env, random).argmax()))
        if terminated or truncated:
            regrets.append(info["regret"])
            if "Autoreset" not in layers:
                _, info = env.reset(options=options)
    env.reset()
    assert (recorder.episodes, recorder.regret) == (4, pytest.approx(np.mean(regrets)))
    witness.check(made["visits"].visits)


def fit(layers, is_masked, mode=None):
    """Return whether Gymnasium accepts a stack of wrappers, the innermost first."""
    boxes = {"NormalizeObservation", "DtypeObservation", "RescaleObservation"}
    outside = {name: {*layers[place + 1 :]} for place, name in enumerate(layers)}
    return not (
        (is_masked and boxes & {*layers})
        or {"NormalizeObservation", "RescaleObservation"} <= {*layers}  # rescaling needs bounds
        or "TimeLimit" in outside.get("Autoreset", ())  # it would count the steps of all episodes together
        or outside.get("Lists", set()) - {"recorder", "visits"}
        or (mode == "SameStep" and {*boxes, "FlattenObservation"} & {*layers})
        or (mode == "Disabled" and "NormalizeObservation" in layers)
    )


def check_vector(identity, layers, mode, options, seed):
    """Play a vector environment in layers, and compare what the recorder says with the witness."""
    random, regrets = np.random.default_rng(seed), []
    table = MANY | {"witness": VectorWitness, "recorder": VectorRecordRegret, "visits": VectorRecordVisits}
    envs = gym.make_vec(identity, 4, autoreset_mode=mode, max_episode_steps=[None, 2][seed % 2])
    envs, made = stack(envs, ["witness", *layers], table)
    witness, recorder = made["witness"], made["recorder"]
    _, infos = envs.reset(seed=seed, options=options)
    for _ in range(12):
        *_, terminated, truncated, infos = envs.step(drawn_actions(envs, random).argmax(axis=1))
        np.testing.assert_allclose(infos["loss"], witness.loss, atol=1e-9)
        assert (np.asarray(infos["loss"])[~np.asarray(infos["_loss"])] == 0).all()
        over = np.asarray(terminated) | np.asarray(truncated)
        if over.any():
            ends = infos.get("final_info", infos)
            for name, expected in zip(("regret", "luck"), witness.ends, strict=True):
                assert (np.asarray(ends[f"_{name}"]) == over).all()
                np.testing.assert_allclose(np.asarray(ends[name])[over], expected[over], atol=1e-9)
            regrets += witness.ends[0][over].tolist()
            if mode == "Disabled":
                envs.reset(options={"reset_mask": over, **(options or {})})
    assert (recorder.episodes, recorder.regret) == (len(regrets), pytest.approx(np.mean(regrets)))
    witness.check(made["visits"].visits)


def orders(table):
    """Return a strategy of layers with both recorders among them."""
    others = st.lists(st.sampled_from([*table]), unique=True, max_size=4)
    return others.flatmap(lambda names: st.permutations([*names, "recorder", "visits"]))


@pytest.mark.slow
@given(orders(SINGLE), st.sampled_from(IDS), st.booleans(), st.integers(0, 99))
@example(["recorder", "RecordEpisodeStatistics", "visits"], BOX, False, 0)
@example(["RecordEpisodeStatistics", "visits", "recorder"], BOX, False, 0)
@example(["recorder", "TimeLimit", "Autoreset", "visits"], BOX, False, 0)
@settings(max_examples=20)
def test_a_recorder_is_exact_in_any_order_of_wrappers(layers, identity, anywhere, seed):
    assume(fit(layers, "Masked" in identity))
    check_single(identity, layers, PLACES.get(identity) if anywhere else None, seed)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=6)
@given(orders(MANY), st.sampled_from(IDS), st.booleans(), st.integers(0, 99))
@example(["visits", "recorder", "RecordEpisodeStatistics"], BOX, False, 0)
@example(["RecordEpisodeStatistics", "recorder", "visits"], ROUND, True, 0)
@example(["Lists", "recorder", "visits"], ROUND, True, 0)
def test_a_vector_recorder_is_exact_in_any_order_of_wrappers(mode, layers, identity, anywhere, seed):
    assume(fit(layers, "Masked" in identity, mode))
    check_vector(identity, layers, mode, PLACES.get(identity) if anywhere else None, seed)


class Again(gym.Wrapper):
    """A wrapper that silently begins another turn in the step that ends one."""

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        if terminated:
            self.env.reset()
        return observation, reward, False, truncated, info


def test_a_turn_that_a_wrapper_begins_in_the_same_step_is_another_episode():
    witness = OneWitness(gym.make(BOX))
    env = RecordRegret(Again(RecordVisits(witness)))
    _, info = env.reset(seed=0)
    regrets, random = [], np.random.default_rng(0)
    while len(regrets) < 5:
        *_, info = env.step(int(drawn_actions(env, random).argmax()))
        if witness.unwrapped.num_steps == 0:
            regrets.append(witness.ends[0][0])
            assert info["regret"] == pytest.approx(regrets[-1])
    assert (env.episodes, env.regret) == (5, pytest.approx(np.mean(regrets)))
    witness.check(env.get_wrapper_attr("visits"))


class Endless(gym.vector.VectorWrapper):
    """A wrapper that hides that turns end, which begin anew in the same step."""

    def step(self, actions):
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        return observations, rewards, np.zeros_like(terminated), truncated, infos


def test_turns_whose_ends_are_hidden_are_episodes():
    inside = VectorRecordRegret(gym.make_vec(BOX, 4, autoreset_mode="SameStep"))
    envs, random = VectorRecordRegret(Endless(inside)), np.random.default_rng(0)
    envs.reset(seed=0)
    for _ in range(20):
        envs.step(drawn_actions(envs, random).argmax(axis=1))
    assert (envs.episodes, envs.regret) == (inside.episodes, pytest.approx(inside.regret))


class LookAhead(gym.Wrapper):
    """Try an action after each step, and take back what was tried."""

    def step(self, action):
        result, base = self.env.step(action), self.unwrapped
        snapshot = base.snapshot()
        base.step(base.action_masks().argmax())
        base.restore(snapshot)
        return result


@pytest.mark.parametrize("recorder", [RecordRegret, RecordVisits])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: wrappers.MaxAndSkipObservation(env, 2),
        LookAhead,
    ],
    ids=["skipped", "looked ahead"],
)
def test_several_steps_in_one_are_refused_and_can_be_recorded_inside(recorder, wrap):
    wide = {"open": [1, 2, 3, 4, 5, 6, 7, 8, 9], "roll": 3}
    env = recorder(wrap(gym.make(BOX)))
    _, info = env.reset(seed=5, options=wide)
    with pytest.raises(RuntimeError, match="put the recorder inside it"):
        env.step(info["action_mask"].argmax())
    inside = wrap(recorder(OneWitness(gym.make(BOX))))
    inside.reset(seed=5, options=wide)
    inside.step(info["action_mask"].argmax())


class Silent(gym.vector.VectorWrapper):
    """Leave out all infos."""

    def reset(self, **arguments):
        return self.env.reset(**arguments)[0], {}


class Twice(gym.vector.VectorWrapper):
    """Take every step twice."""

    def step(self, actions):
        self.env.step(actions)
        return self.env.step(actions)


class Undone(gym.vector.VectorWrapper):
    """Take every step back."""

    def step(self, actions):
        before = self.unwrapped.snapshot()
        result = self.env.step(actions)
        self.unwrapped.restore(before)
        return result


@pytest.mark.parametrize("recorder", [VectorRecordRegret, VectorRecordVisits])
def test_wrappers_of_many_that_hide_what_is_played_are_refused(recorder):
    for wrap in (of_vectors.DictInfoToList, Silent):
        with pytest.raises(TypeError, match="put the recorder inside it"):
            recorder(wrap(gym.make_vec(BOX, 3))).reset(seed=0)
    for wrap in (Twice, Undone):
        envs = recorder(wrap(gym.make_vec(BOX, 3)))
        _, infos = envs.reset(seed=0)
        with pytest.raises(RuntimeError, match="put the recorder inside it"):
            envs.step(infos["action_mask"].argmax(axis=1))
    listed = of_vectors.DictInfoToList(recorder(gym.make_vec(BOX, 3)))
    listed.reset(seed=0)
    listed.step(infos["action_mask"].argmax(axis=1))


def test_what_recorders_return_belongs_to_the_caller():
    envs = VectorRecordRegret(VectorRecordVisits(gym.make_vec(BOX, 4, tiles=4, autoreset_mode="SameStep")))
    _, infos = envs.reset(seed=0)
    returned = []
    for _ in range(8):
        visits = envs.env.visits
        returned += [infos["loss"], infos["_loss"], visits.states, visits.pairs, envs.unwrapped.action_masks()]
        copies = [array.copy() for array in returned]
        last = envs.unwrapped.last_step
        *_, infos = envs.step(returned[-1].argmax(axis=1))
        np.testing.assert_equal(returned, copies)
    assert not any(itertools.starmap(np.may_share_memory, itertools.combinations([*returned, *last], 2)))
