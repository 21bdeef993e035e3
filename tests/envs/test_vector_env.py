"""Test the vector environment against Gymnasium's own under the same throws; dice, samples, copies and resets."""

import copy
import itertools

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode

from stb_gym.envs import TurnVectorEnv
from tests import every

BOX, THREES = "stb_gym/ShutTheBox-v0", "stb_gym/Threes-v0"
GAMES = 64
in_every_mode = pytest.mark.parametrize("mode", AutoresetMode)


def make(name, mode=AutoresetMode.NEXT_STEP, **options):
    return gym.make_vec(name, GAMES, autoreset_mode=mode, **options)


# Against Gymnasium's own


class Dice:
    """A generator that returns given throws: one for each game, and another one for games that begin in the same step.

    Args:
        game: the game that throws, or None for all of them at once.
    """

    def __init__(self, game=None):
        self.game = game
        self.bit_generator = self

    def give(self, throws, anew):
        self.throws, self.anew, self.thrown = throws, anew, False

    def random_raw(self):
        throw = self.anew if self.thrown else self.throws[self.game]
        self.thrown = True
        return int(throw)

    def integers(self, high, size):
        throws = np.full(size, self.anew) if self.thrown else self.throws[:size]
        self.thrown = True
        return throws % high


class Pair:
    """A native vector environment and Gymnasium's own of the same games, whose results are compared."""

    def __init__(self, name, mode, games=4, **options):
        self.games = games
        self.native = gym.make_vec(name, games, autoreset_mode=mode, **options)
        vector_kwargs = {"autoreset_mode": mode}
        self.sync = gym.make_vec(name, games, vectorization_mode="sync", vector_kwargs=vector_kwargs, **options)
        self.random = np.random.default_rng(5)
        self.dice = [Dice(), *map(Dice, range(games))]
        for env, dice in zip((self.native, *self.sync.envs), self.dice, strict=True):
            env.unwrapped.np_random = dice
        self.native._spawned = self.dice[0], np.random.default_rng(1)
        self.native.action_space.seed(2)

    def ask(self, question):
        """Ask both the same, compare the answers, and return the native one."""
        throws = self.random.integers(self.native.stepper.num_throws, size=self.games + 1)
        for dice in self.dice:
            dice.give(throws[:-1], throws[-1])
        ours, theirs = question(self.native), question(self.sync)
        for one, other in zip(ours[:-1], theirs[:-1], strict=True):
            np.testing.assert_array_equal(one, other, strict=True)
        same_infos(ours[-1], of_ended(theirs[-1]))
        return ours

    def actions(self):
        """Return random actions, most of them legal."""
        legal = self.native.legal_sample()
        return np.where(self.random.random(self.games) < 0.05, self.native.action_space.sample(), legal)


def of_ended(infos):
    """Return infos without the scores of unfinished turns, which single environments report as -1."""
    result = {key: of_ended(value) if isinstance(value, dict) else value for key, value in infos.items()}
    if "final_score" in result:
        over = result["_final_score"] & (result["final_score"] != -1)
        for key in ("final_score", "illegal_action"):
            value, _ = result.pop(key), result.pop(f"_{key}")
            if over.any():
                result |= {key: np.where(over, value, value.dtype.type(0)), f"_{key}": over}
    return result


def same_infos(ours, theirs):
    """Check keys, types, masks and values; where Gymnasium's mask is False, ours may hold other values."""
    assert ours.keys() == theirs.keys()
    for key, value in theirs.items():
        if isinstance(value, dict):
            same_infos(ours[key], value)
        elif key == "final_obs":
            assert value.dtype == object  # ours is an array [B, O]
            for game in np.flatnonzero(theirs["_final_obs"]):
                np.testing.assert_array_equal(ours[key][game], value[game], strict=True)
        else:
            np.testing.assert_array_equal(ours[key], value, strict=True)


@pytest.mark.parametrize(
    ("name", "mode", "limit"), every(5, [*itertools.product([BOX, THREES], AutoresetMode, [None, 1, 3, 8])]), ids=str
)
def test_all_answers_are_those_of_gymnasiums_own_environment(name, mode, limit):
    pair = Pair(name, mode, objective="shut" if name == THREES else "score", max_episode_steps=limit)
    pair.ask(lambda env: env.reset())
    num_ended = 0
    for _ in range(100):
        actions = pair.actions()
        _, _, terminated, truncated, _ = pair.ask(lambda env, actions=actions: env.step(actions))
        ended = terminated | truncated
        num_ended += ended.sum()
        if mode == AutoresetMode.DISABLED and ended.any():
            with pytest.raises(RuntimeError, match="reset_mask"):
                pair.native.step(actions)
            for dice in pair.dice:
                dice.give(np.full(pair.games, 3), 3)
            options = {"reset_mask": ended}
            (ours, infos), (theirs, their_infos) = (env.reset(options=options) for env in (pair.native, pair.sync))
            assert (ours == theirs).all()
            assert (infos["_action_mask"] == their_infos["_action_mask"]).all()
            assert (infos["action_mask"][ended] == their_infos["action_mask"][ended]).all()
            assert (infos["action_mask"] == pair.native.action_masks()).all()
    assert num_ended > 20


# Dice


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_the_throws_of_a_seed_stay_as_they_are(mode):
    env = make(THREES, mode)
    env.reset(seed=8)
    dice, throws = np_random(8)[0], 6**5
    assert (env.snapshot()["throw"] == dice.integers(throws, size=GAMES)).all()
    for _ in range(10):
        *_, over, _, _ = env.step(env.legal_sample())
        expected = dice.integers(throws, size=GAMES)
        if mode == AutoresetMode.SAME_STEP:
            expected[over] = dice.integers(throws, size=over.sum())
        assert (env.snapshot()["throw"] == expected).all()


def test_seeds_may_be_one_or_as_many_as_games():
    envs, thrown = gym.make_vec(THREES, 3), []
    for seed in ([1, 2, 3], np.array([1, 2, 3]), [3, 2, 1], 1, np.int64(1)):
        envs.reset(seed=seed)
        thrown.append(envs.snapshot()["throw"].tolist())
    assert thrown[0] == thrown[1] != thrown[2] != thrown[3] == thrown[4]


# Sampled actions


def test_sampling_actions_changes_no_throw():
    env, twin = make(THREES), make(THREES)
    for games in (env, twin):
        games.reset(seed=3)
    actions = env.legal_sample()
    assert (env.step(actions)[0] == twin.step(actions)[0]).all()
    samples = []
    for seed in (3, 3, 4, None):
        env.reset(seed=seed)
        samples.append(env.legal_sample())
    assert (samples[0] == samples[1]).all()
    for other in (*samples[2:], env.legal_sample()):
        assert (samples[0] != other).mean() > 0.7


@pytest.mark.parametrize("identity", [THREES, BOX, "stb_gym/ThreesRound-v0"])
def test_sampling_an_action_of_a_single_turn_changes_no_throw(identity):
    env, twin = gym.make(identity).unwrapped, gym.make(identity).unwrapped
    for game in (env, twin):
        game.reset(seed=3)
    samples = [env.legal_sample() for _ in range(200)]
    assert {*samples} == {*env.action_masks().nonzero()[0].tolist()}
    assert (env.step(samples[0])[0] == twin.step(samples[0])[0]).all()
    env.reset(seed=3)
    assert [env.legal_sample() for _ in range(200)] == samples


# Arrays and attributes


def arrays(given):
    """Return the arrays in nested dictionaries, lists and tuples."""
    if isinstance(given, np.ndarray):
        return [given]
    parts = given.values() if isinstance(given, dict) else given if isinstance(given, list | tuple) else ()
    return [array for part in parts for array in arrays(part)]


@in_every_mode
def test_what_is_returned_belongs_to_the_caller(mode):
    env = make(BOX, mode)
    given, returned = env.reset(seed=0), []
    for _ in range(6):
        over = env.stepper.is_over(env.states)
        if mode == AutoresetMode.DISABLED and over.any():
            returned += arrays(env.reset(options={"reset_mask": over}))
        returned += arrays([given, env.states, env.action_masks(), env.legal_sample(), env.snapshot()])
        copies, own = copy.deepcopy(returned), arrays(vars(env))
        given = env.step(env.action_masks().argmax(axis=1))
        np.testing.assert_equal(returned, copies)
        pairs = itertools.chain(itertools.product(returned, own), itertools.combinations(returned, 2))
        assert not any(itertools.starmap(np.may_share_memory, pairs))


def test_games_that_no_reset_has_begun_are_over():
    mask = {"reset_mask": np.array([True, False])}
    envs = TurnVectorEnv("shut-the-box", 2)
    envs.reset(seed=1, options=mask)
    assert not envs.step(envs.legal_sample())[2][1]  # its turn begins
    envs = TurnVectorEnv("shut-the-box", 2, autoreset_mode="Disabled")
    envs.reset(seed=1, options=mask)
    with pytest.raises(RuntimeError, match="a game is over"):
        envs.step(envs.legal_sample())


def test_a_refused_reset_changes_nothing_and_another_begins_only_the_chosen_games():
    envs = TurnVectorEnv("shut-the-box", 3, autoreset_mode="Disabled")
    envs.reset(seed=1)
    before = envs.snapshot()
    masks = ([True] * 3, np.ones(1, bool), np.ones((1, 3), bool), np.array([1, 1, 0]), np.zeros(3, bool))
    wrong = [{"options": {"reset_mask": mask}} for mask in masks]
    wrong += [{"seed": seed} for seed in ([1, 2], [1, None, 2], [1, -1, 2], "123", 1.5)]
    for arguments in wrong:
        with pytest.raises(ValueError, match=r"reset_mask|seed"):
            envs.reset(**arguments)
        np.testing.assert_equal(envs.snapshot(), before)
    observation, *_ = envs.step(envs.legal_sample())
    again, _ = envs.reset(options={"reset_mask": np.array([True, True, False])}, seed=1)
    assert (again != observation).any(axis=1).tolist() == [True, True, False]
