"""Test fitted Q iteration: indices of positions, exact means, shared transitions, and learning."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

from agents.fitted_q import OVER, EmpiricalModel, FittedQ, FittedQSettings, PositionIndex
from stb_gym import ShutTheBox
from tests.agents import make, record, regret_of, with_rewards

ACTIONS = 3
SETTINGS = FittedQSettings(num_envs=64, batch_size=256, gradient_steps=2, warm_up=500, width=32, exploration=0.15)


def transitions(seed, size, positions=30):
    """Return random transitions: every move has few next positions, and rewards have few values."""
    random = np.random.default_rng(seed)
    position, action = random.integers(1, positions, size), random.integers(ACTIONS, size=size)
    following = (position * 7 + action * 3 + random.integers(3, size=size)) % positions
    return position, action, following, ((following + action) % 4 - 1).astype(np.float32)


def outcomes(rows):
    """Return the list of outcomes of every move, from a loop over transitions."""
    found = defaultdict(list)
    for position, action, following, reward in zip(*rows, strict=True):
        found[int(position) * ACTIONS + int(action)].append((float(reward), int(following)))
    return found


def pooled_outcomes(found):
    """Return the outcomes of every move if linked moves share them, from a slow union of groups."""
    groups = [({move}, {outcome for outcome in seen if outcome[1] != OVER}) for move, seen in found.items()]
    shared = {}
    while groups:
        moves, seen = groups.pop()
        near = [group for group in groups if group[1] & seen]
        if near:
            groups = [group for group in groups if group not in near]
            groups.append((moves.union(*(group[0] for group in near)), seen.union(*(group[1] for group in near))))
        else:
            shared |= {move: [each for other in moves for each in found[other]] for move in moves}
    return shared


def model_of(*parts):
    model = EmpiricalModel(ACTIONS)
    for part in parts:
        model.add(*part)
        model.count()
    return model


def test_positions_are_numbered_by_observation_and_mask():
    random = np.random.default_rng(0)
    seen, legal = random.integers(2, size=(3000, 12), dtype=np.uint8), random.random((3000, ACTIONS)) < 0.5
    positions, known = PositionIndex(seen[0], ACTIONS), {}
    for part in np.split(np.arange(3000), [0, 1, 40, 1000]):
        numbers, before = positions.numbers(seen[part], legal[part]), len(known)
        for row, number in zip(part, numbers.tolist(), strict=True):
            assert known.setdefault((*seen[row], *legal[row]), number) == number
        assert sorted(known.values())[before:] == list(range(before + 1, len(known) + 1))
        assert (positions.observations[numbers] == seen[part]).all()
        assert (positions.masks(numbers) == legal[part]).all()
    assert len(positions) == len(known) + 1 > 1024
    assert not positions.masks(np.array([OVER])).any()


def test_means_are_those_of_all_outcomes():
    rows = transitions(1, 300, positions=60)
    model = model_of(*(tuple(column[part] for column in rows) for part in np.split(np.arange(300), [100, 103])))
    found = outcomes(rows)
    expected = pooled_outcomes(found)
    values = np.random.default_rng(2).normal(size=60)
    assert model.moves.tolist() == sorted(found)
    means = [np.mean([reward + values[following] for reward, following in expected[move]]) for move in sorted(found)]
    assert model.means(values) == pytest.approx(np.array(means))
    assert any(len(expected[move]) > len(found[move]) for move in found)


@pytest.mark.parametrize("limit", [None, 1])
def test_the_model_gets_the_true_successors_and_all_rewards(limit):
    agent = FittedQ(with_rewards(make(max_episode_steps=limit)), replace(SETTINGS, warm_up=10_000), seed=0)
    seen, added, add = record(agent._episodes, "step"), [], agent._model.add
    agent._model.add = lambda *rows: added.append(rows) or add(*rows)
    agent.learn(1000)
    for step, (_, _, following, reward) in zip(seen, added, strict=True):
        assert (reward == step.reward).all()
        assert ((following == OVER) == step.terminated).all()
        goes_on = following[~step.terminated]
        assert (agent._positions.observations[goes_on] == step.next_observation[~step.terminated]).all()
        assert (agent._positions.masks(goes_on) == step.next_mask[~step.terminated]).all()
    assert any((step.truncated & ~step.terminated).any() for step in seen) == (limit is not None)


@pytest.mark.nightly
def test_it_learns_five_tiles():
    agent, game = FittedQ(make(), SETTINGS, seed=0), ShutTheBox(tiles=5)
    before = regret_of(agent, game)
    agent.learn(10_000)
    assert regret_of(agent, game) < 0.05 < before / 10
    assert agent._scale == 13  # of 15 points at least 2 are shut
    assert agent.figures["moves"] == len(agent._model.moves)
    assert agent.figures["loss"] < 1e-3
