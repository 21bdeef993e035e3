"""Test what the learners share: episodes, the unary encoding and distinct rows."""

import gymnasium as gym
import numpy as np
import pytest
import torch

from agents.common import Episodes, Unary, unique_rows

RANDOM = np.random.default_rng(1)
BOX = "stb_gym/ShutTheBox-v0"


def make(kind="vector_entry_point", limit=None, mode="SameStep", num_envs=32):
    mode = gym.vector.AutoresetMode(mode)
    if kind == "sync":
        wrappers = [lambda env: gym.wrappers.TimeLimit(env, limit)] if limit else []
        return gym.make_vec(BOX, num_envs, kind, vector_kwargs={"autoreset_mode": mode}, wrappers=wrappers, tiles=5)
    return gym.make_vec(BOX, num_envs, autoreset_mode=mode, tiles=5, max_episode_steps=limit)


@pytest.mark.parametrize("kind", ["vector_entry_point", "sync"])
@pytest.mark.parametrize("limit", [None, 2])
def test_the_next_observation_is_the_true_successor_also_where_an_episode_is_over(kind, limit):
    episodes, points, cut = Episodes(make(kind, limit), 0), np.arange(1, 6), 0
    for _ in range(60):
        before, mask = episodes.observation, episodes.mask
        action = mask.argmax(axis=1)
        assert mask.any(axis=1).all()
        step = episodes.step(action)
        roll = before[:, 5:].argmax(axis=1) + 2
        assert (step.next_observation[:, :5] @ points == before[:, :5] @ points - roll).all()
        over = step.terminated | step.truncated
        assert (step.next_observation == episodes.observation)[~over].all()
        assert (step.next_mask == episodes.mask)[~over].all()
        assert episodes.observation[over, :5].all()
        assert step.next_mask[step.terminated].all()
        cut_off = step.truncated & ~step.terminated
        assert (step.next_mask[cut_off].sum(axis=1) < 10).all()
        assert (step.reward[step.terminated] == -(step.next_observation[:, :5] @ points)[step.terminated]).all()
        cut += cut_off.sum()
    assert (cut > 0) == (limit is not None)


def test_environments_without_a_mask_or_a_snapshot_are_played_too():
    envs = gym.make_vec("CartPole-v1", 4, "sync", vector_kwargs={"autoreset_mode": gym.vector.AutoresetMode.SAME_STEP})
    episodes = Episodes(envs, 0)
    assert episodes.mask.all()
    state = episodes.state_dict()
    assert set(state) == {"observation", "mask"}
    episodes.step(np.zeros(4, np.int64))
    now = episodes.observation
    episodes.load_state_dict(state)
    assert (episodes.observation == now).all()


def test_unsupported_environments_are_refused():
    with pytest.raises(ValueError, match="SAME_STEP"):
        Episodes(make(mode="NextStep"), 0)
    with pytest.raises(ValueError, match="must be Discrete"):
        Episodes(gym.make_vec("Pendulum-v1", 2), 0)
    with pytest.raises(ValueError, match="a Box, not a Dict"):
        Episodes(gym.make_vec("stb_gym/ShutTheBoxMasked-v0", 2), 0)


def test_counts_are_encoded_in_unary_and_other_numbers_as_they_are():
    unary = Unary(gym.spaces.Box(np.zeros(3), np.array([1, 3, 2]), dtype=np.uint8))
    assert unary.size == 6
    assert unary(torch.tensor([[1, 2, 0], [0, 3, 1]])).tolist() == [[1, 1, 1, 0, 0, 0], [0, 1, 1, 1, 1, 0]]
    plain = Unary(gym.spaces.Box(-1, 1, (2, 2), np.float32))
    assert plain(torch.tensor([[[0.5, -1], [0, 1]]])).tolist() == [[0.5, -1, 0, 1]]
    assert Unary(gym.spaces.Box(np.zeros(2), np.array([3, 256]), dtype=np.int64)).size == 2


ROWS = [
    (RANDOM.integers(3, size=(500, 2, 2)), RANDOM.integers(2, size=(500, 3)).astype(bool)),
    (np.arange(40).reshape(20, 2)[::2, 1:],),
    (np.zeros((0, 3), np.uint8),),
    (RANDOM.integers(7, size=(2000, 6)).astype(np.float32), RANDOM.integers(9, size=2000)),
    (RANDOM.integers(3, size=(5000, 6), dtype=np.uint8) * np.uint64(2**56),),  # only the highest bytes differ
]


@pytest.mark.parametrize("columns", ROWS)
def test_unique_rows_are_those_of_a_comparison_one_by_one(columns):
    first, inverse = unique_rows(*columns)
    rows = list(zip(*([row.tolist() for row in column] for column in columns), strict=True))
    assert len(first) == len({str(row) for row in rows})
    assert [rows[first[which]] for which in inverse] == rows
