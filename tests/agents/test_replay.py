"""The replay: positions by number, means over all that followed, moves that share it, and samples."""

from collections import defaultdict

import numpy as np
import pytest

from agents.replay import OVER, Positions, Replay

ACTIONS = 3
RANDOM = np.random.default_rng


def transitions(seed, size=4000, positions=30):
    """Random ones, each of a move that may lead to few positions, with rewards of few values."""
    random = RANDOM(seed)
    position, action = random.integers(1, positions, size), random.integers(ACTIONS, size=size)
    following = (position * 7 + action * 3 + random.integers(3, size=size)) % positions
    return position, action, following, (following % 4 - 1).astype(np.float32)


def filled(pooled, *parts):
    replay = Replay(ACTIONS, pooled)
    for part in parts:
        replay.add(*part)
        replay.count()
    return replay


def followed(rows):
    """What followed each move, as a list, by the definition."""
    found = defaultdict(list)
    for position, action, following, reward in zip(*rows, strict=True):
        found[int(position) * ACTIONS + int(action)].append((float(reward), int(following)))
    return found


def shared(found):
    """The same if moves share what followed them when they have an outcome in common, directly or by others."""
    groups = [({move}, {outcome for outcome in outcomes if outcome[1] != OVER}) for move, outcomes in found.items()]
    joined = []
    while groups:
        moves, outcomes = groups.pop()
        near = [group for group in groups if group[1] & outcomes]
        if near:
            groups = [group for group in groups if group not in near]
            groups.append((moves.union(*(m for m, _ in near)), outcomes.union(*(o for _, o in near))))
        else:
            joined.append(moves)
    return {move: [each for other in moves for each in found[other]] for moves in joined for move in moves}


def test_the_moves_at_positions_are_found():
    rows = transitions(2)
    replay = filled(True, rows)
    positions = np.array([7, 0, 3, 99, 7])
    place, move = replay.moves_at(positions)
    made = set(zip(*rows[:2], strict=True))
    expected = [
        (at, action) for at, each in enumerate(positions) for action in range(ACTIONS) if (each, action) in made
    ]
    assert [*zip(place, replay.moves[move] % ACTIONS, strict=True)] == expected
    assert (replay.moves[move] // ACTIONS == positions[place]).all()


def test_positions_have_numbers_by_observation_and_mask():
    random = RANDOM(0)
    seen, legal = random.integers(2, size=(3000, 12), dtype=np.uint8), random.random((3000, ACTIONS)) < 0.5
    positions, known = Positions(seen[0], ACTIONS), {}
    for part in np.split(np.arange(3000), [1, 40, 1000]):
        numbers, before = positions.numbers(seen[part], legal[part]), len(known)
        for row, number in zip(part, numbers.tolist(), strict=True):
            assert known.setdefault((*seen[row], *legal[row]), number) == number
        assert sorted(known.values())[before:] == list(range(before + 1, len(known) + 1))
        assert (positions.observations[numbers] == seen[part]).all()
        assert (positions.masks(numbers) == legal[part]).all()
    assert len(positions) == len(known) + 1 > 1024
    assert not positions.masks(np.array([OVER])).any()
    assert (positions.decisions == sorted(number for (*_, a, b, c), number in known.items() if a or b or c)).all()
    again = Positions(seen[0], ACTIONS)
    again.restore(positions.snapshot())
    assert (again.numbers(seen, legal) == positions.numbers(seen, legal)).all()
    assert len(again) == len(positions)
    assert len(positions.numbers(seen[:0], legal[:0])) == 0


@pytest.mark.parametrize("pooled", [False, True])
def test_returns_are_means_over_all_that_followed(pooled):
    rows = transitions(1, 300, positions=60)
    replay = filled(pooled, *(tuple(column[part] for column in rows) for part in np.split(np.arange(300), [100, 103])))
    values, found = RANDOM(2).normal(size=(60, 1)), followed(rows)
    assert replay.moves.tolist() == sorted(found)
    assert replay.counts.tolist() == [len(found[move]) for move in sorted(found)]
    expected = shared(found) if pooled else found
    means = [np.mean([reward / 2.5 + values[next] for reward, next in expected[move]]) for move in sorted(found)]
    assert replay.returns(values, 2.5, RANDOM(0))[:, 0] == pytest.approx(means)
    assert pooled == any(len(expected[move]) > len(found[move]) for move in found)


def test_moves_share_only_what_led_on_and_was_rewarded_alike():
    rows = [(1, 0, OVER, -1), (2, 0, OVER, -1), (1, 1, 5, 0), (2, 1, 5, 0), (2, 1, 6, 0), (3, 0, 6, 0), (3, 1, 5, 1)]
    replay = filled(True, tuple(np.array(column) for column in zip(*rows, strict=True)))
    values = np.array([0, 0, 0, 0, 0, 8, 2.0])[:, None]
    worth = dict(zip(replay.moves.tolist(), replay.returns(values, 1, RANDOM(0))[:, 0], strict=True))
    assert worth == {3: -1, 4: 5, 6: -1, 7: 5, 9: 5, 10: 9}


@pytest.mark.parametrize("pooled", [False, True])
def test_samples_are_as_frequent_as_what_followed(pooled):
    rows, quantiles = transitions(3, 200, positions=40), 50_000
    replay, found = filled(pooled, rows), followed(rows)
    values = np.arange(40.0)[:, None] + np.linspace(0, 0.5, quantiles)
    drawn = replay.returns(values, 1.0, RANDOM(4)) - np.linspace(0, 0.5, quantiles)
    for samples, outcomes in zip(
        drawn, ((shared(found) if pooled else found)[move] for move in replay.moves), strict=True
    ):
        worth = np.array([reward + following for reward, following in outcomes])
        assert set(samples.round(6)) == set(worth)
        for each in set(worth):
            assert np.mean(samples.round(6) == each) == pytest.approx(np.mean(worth == each), abs=0.012)


def test_little_that_is_new_waits_and_is_kept_in_a_snapshot():
    first, few, many = (transitions(seed, size) for seed, size in ((5, 2000), (6, 20), (7, 100)))
    replay = filled(True, first, few)
    assert replay.counts.sum() == 2000
    other = Replay(ACTIONS, True)
    other.restore(replay.snapshot())
    assert (other.moves == replay.moves).all()
    assert (other.counts == replay.counts).all()
    for each in (replay, other):
        each.add(*many)
        each.count()
        assert each.counts.sum() == 2120
    values = RANDOM(8).normal(size=(30, 1))
    assert (replay.returns(values, 1.0, RANDOM(0)) == other.returns(values, 1.0, RANDOM(0))).all()
