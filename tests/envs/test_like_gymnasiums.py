"""The vector environments against Gymnasium's own, which steps single ones, as the dice fall alike in both."""

import copy
import json

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from stb_gym.envs import TurnVectorEnv

BOX, THREES = "stb_gym/ShutTheBox-v0", "stb_gym/Threes-v0"
GAMES = 4


class Dice:
    """A generator that throws what it is told: every game its own throw, and all that begin anew in the same step one.

    Args:
        game: the game that throws, or None for all of them at once.
    """

    def __init__(self, game=None):
        self.game = game
        self.bit_generator = self

    def told(self, throws, anew):
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
    """A native vector environment and Gymnasium's, of which all that they answer is compared."""

    def __init__(self, name, mode, **options):
        self.native = gym.make_vec(name, GAMES, autoreset_mode=mode, **options)
        vector_kwargs = {"autoreset_mode": mode}
        self.sync = gym.make_vec(name, GAMES, vectorization_mode="sync", vector_kwargs=vector_kwargs, **options)
        self.random, self.dice = np.random.default_rng(5), [Dice(), *map(Dice, range(GAMES))]
        for env, dice in zip((self.native, *self.sync.envs), self.dice, strict=True):
            env.unwrapped.np_random = dice

    def ask(self, question, alike=False):
        """Ask both the same, and compare the answers."""
        throws = self.random.integers(self.native.transitions.throws, size=GAMES + 1)
        for dice in self.dice:
            dice.told(np.full(GAMES, throws[0]) if alike else throws[:GAMES], throws[-1])
        ours, theirs = question(self.native), question(self.sync)
        for one, other in zip(ours[:-1], theirs[:-1], strict=True):
            assert one.dtype == other.dtype
            assert (one == other).all()
        same_infos(ours[-1], theirs[-1])
        return ours

    def actions(self):
        """Random actions, most of them legal."""
        legal = self.native.legal_sample()
        return np.where(self.random.random(GAMES) < 0.05, self.native.action_space.sample(), legal)


def same_infos(ours, theirs):
    """The same keys, types, masks and values; ours tell more where Gymnasium's masks say that there is nothing."""
    assert ours.keys() == theirs.keys()
    for key, told in theirs.items():
        if isinstance(told, dict):
            same_infos(ours[key], told)
        elif key == "final_obs":
            assert told.dtype == object  # ours is an array [B, O]
            for game in np.flatnonzero(theirs["_final_obs"]):
                assert ours[key].dtype == told[game].dtype
                assert (ours[key][game] == told[game]).all()
        else:
            assert (ours[key].dtype, ours[key].shape) == (told.dtype, told.shape)
            assert (ours[key] == told).all(), key


@pytest.mark.slow
@pytest.mark.parametrize("limit", [{}, *({"max_episode_steps": steps} for steps in (1, 2, 3, 5, 8, 9))], ids=str)
@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize(("name", "options"), [(BOX, {}), (THREES, {"objective": "shut"})], ids=str)
def test_all_answers_are_those_of_gymnasiums_own_environment(name, options, mode, limit):
    pair = Pair(name, mode, **options, **limit)
    pair.native._choices = np.random.default_rng(1)
    pair.native.action_space.seed(2)
    pair.ask(lambda env: env.reset())
    seen = {"terminated": 0, "truncated": 0, "both": 0, "illegal": 0, "none": 0, "some": 0}
    for _ in range(200):
        actions = pair.actions()
        _, _, terminated, truncated, infos = pair.ask(lambda env, actions=actions: env.step(actions))
        ended, told = terminated | truncated, infos.get("final_info", infos)
        seen["terminated"] += (terminated & ~truncated).sum()
        seen["truncated"] += (truncated & ~terminated).sum()
        seen["both"] += (truncated & terminated).sum()
        seen["illegal"] += told.get("illegal_action", np.zeros(1)).sum()
        seen["none"] += not ended.any()
        seen["some"] += ended.any() and not ended.all()
        if mode == AutoresetMode.DISABLED and ended.any():
            with pytest.raises(RuntimeError, match="a game is over"):
                pair.native.step(actions)
            options = {"reset_mask": ended}
            for dice in pair.dice:
                dice.told(np.full(GAMES, 3), 3)
            (ours, mine), (theirs, told) = (env.reset(options=options.copy()) for env in (pair.native, pair.sync))
            assert (ours == theirs).all()
            assert mine.keys() == told.keys()
            assert (mine["_action_mask"] == told["_action_mask"]).all()
            assert (mine["action_mask"][ended] == told["action_mask"][ended]).all()
            assert (mine["action_mask"] == pair.native.action_masks()).all()
    steps = limit.get("max_episode_steps", 99)
    steps, longest = limit.get("max_episode_steps", 99), pair.native.transitions.longest
    assert seen["illegal"] > 0 or steps == 1
    assert (seen["terminated"] > 0) == (steps > 1)
    if steps in (2, 3):
        assert min(seen["truncated"], seen["both"]) > 3
    if steps > longest:
        assert seen["truncated"] == seen["both"] == 0
        assert min(seen["none"], seen["some"]) > 3


def test_a_limit_longer_than_any_turn_costs_and_changes_nothing():
    plain, limited = gym.make_vec(BOX, 3), gym.make_vec(BOX, 3, max_episode_steps=9)
    assert plain.transitions.longest == 8
    assert limited.snapshot().keys() == plain.snapshot().keys()
    assert gym.make_vec(BOX, 3, max_episode_steps=8).snapshot().keys() > plain.snapshot().keys()


@pytest.mark.parametrize("steps", [0, -1, 2.5, True, "9"])
def test_limits_that_are_none_are_refused(steps):
    with pytest.raises(ValueError, match=r"^max_episode_steps must be an integer from 1 to \d+, not "):
        gym.make_vec(BOX, 2, max_episode_steps=steps)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_limited_turns_go_on_from_a_snapshot(mode):
    env, other = (TurnVectorEnv("threes", GAMES, autoreset_mode=mode, max_episode_steps=3) for _ in range(2))
    env.reset(seed=1)

    def go_on(env):
        return [[part.tolist() for part in env.step(np.zeros(GAMES, int))[:4]] for _ in range(9)]

    for _ in range(2):
        env.step(np.where(np.arange(GAMES) % 2, 4, 0))  # some end at once, the others are never finished
    snapshot = env.snapshot()
    expected = go_on(env)
    assert np.array([step[3] for step in expected]).any(axis=1).sum() > 4
    for kept in (snapshot, json.loads(json.dumps(snapshot, default=np.ndarray.tolist))):
        other.restore(kept)
        assert go_on(other) == expected
    assert go_on(copy.deepcopy(env)) == go_on(env)
    for wrong in (snapshot | {"left": snapshot["left"] + 1}, TurnVectorEnv("threes", GAMES).snapshot()):
        with pytest.raises(ValueError, match=r"^the snapshot is not of 4 turns of Threes\(\)$"):
            other.restore(wrong)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED])
def test_wrappers_of_gymnasium_count_limited_turns(mode):
    env = gym.wrappers.vector.RecordEpisodeStatistics(
        gym.make_vec(THREES, GAMES, autoreset_mode=mode, max_episode_steps=2)
    )
    env.reset(seed=1)
    lengths = []
    for _ in range(12):
        *_, truncated, infos = env.step(np.zeros(GAMES, int))
        if truncated.any():
            assert truncated.all()
            lengths += infos["episode"]["l"].tolist()
            if mode == AutoresetMode.DISABLED:
                env.reset(options={"reset_mask": truncated})
    assert set(lengths) == {2}
    assert len(lengths) == GAMES * (4 if mode == AutoresetMode.NEXT_STEP else 6)
