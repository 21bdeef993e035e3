"""Many boxes as one environment: what is seen, where moves lead, how turns begin and end, and what is learned there."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from agents.afterstate_network import AfterstateNetwork, AfterstateSettings
from agents.checkpoints import load_snapshot, save_snapshot
from agents.many_boxes import ManyBoxes, boards_with_gaps, preference
from stb_gym import RegretMeter, ShutTheBox, evaluate

BOARDS = {1: np.array([0b11111, 0b101011]), 2: np.array([0b1111, 0b100000001011])}
ROLLS = {1: slice(24, 30), 2: slice(30, 41)}  # of 1 to 6, and of 2 to 12
SETTINGS = AfterstateSettings(num_envs=32, minibatches=1, learning_rate=1e-2, exploration=0.2, width=16)


def played(envs, steps, seed=0):
    """The observations, infos, actions and answers of random play."""
    random = np.random.default_rng(seed)
    seen, infos = envs.reset(seed=seed)
    for _ in range(steps):
        assert infos["action_mask"].any(axis=1).all()
        actions = np.array([random.choice(np.flatnonzero(mask)) for mask in infos["action_mask"]])
        answer = envs.step(actions)
        yield seen, actions, answer
        seen, infos = answer[0], answer[-1]


def sets_of(row):
    """The dice of an observation, its open tiles, and the sets of them that the roll may shut."""
    assert row.sum() == row[:24].sum() + 1
    [dice] = (dice for dice, place in ROLLS.items() if row[place].any())
    roll = dice + int(row[ROLLS[dice]].argmax())
    tiles = {tile for tile in range(1, 25) if row[tile - 1]}
    return dice, tiles, [each for n in range(1, 6) for each in combinations(sorted(tiles), n) if sum(each) == roll]


def learner(boards=None, seed=0, **changes):
    settings = replace(SETTINGS, **changes)
    return AfterstateNetwork(ManyBoxes(boards or BOARDS, settings.num_envs), settings, seed)


def test_moves_lead_from_the_tiles_and_the_roll_that_are_seen():
    envs = ManyBoxes(BOARDS, 20)
    for seen, actions, _ in played(envs, 12):
        shuffled = np.random.default_rng(1).permutation(20)
        place, action, after = envs.afterstates(seen[shuffled])
        assert (np.diff(place) >= 0).all()
        for number, row in enumerate(seen[shuffled]):
            dice, tiles, sets = sets_of(row)
            left = {tuple(np.flatnonzero(each[:24]) + 1) for each in after[place == number]}
            assert left == {tuple(sorted(tiles - set(each))) for each in sets}
            assert len(sets) == (place == number).sum()
            assert not after[place == number][:, 24:-1].any()
            assert (after[place == number][:, -1] == dice * after[place == number][:, :24].any(axis=1)).all()
            assert (np.diff(action[place == number]) > 0).all()
            assert actions[shuffled[number]] in action[place == number]


def test_turns_begin_with_one_of_the_boards_and_end_with_a_share_of_the_points_of_all_tiles():
    begun, ended = {1: set(), 2: set()}, 0
    bits, points = 1 << np.arange(24), np.arange(1, 25)
    for seen, _, (after, reward, over, truncated, infos) in played(ManyBoxes(BOARDS, 20), 40):
        for game in np.flatnonzero(over):
            dice, _, sets = sets_of(after[game])
            assert sets
            begun[dice].add(int(after[game, :24] @ bits))
            left = infos["final_obs"][game]
            assert (left[:24] <= seen[game, :24]).all()
            assert reward[game] == pytest.approx(-(left[:24] @ points) / {1: 21, 2: 78}[dice])
        assert not reward[~over].any()
        assert not truncated.any()
        ended += over.sum()
    assert begun == {dice: set(boards.tolist()) for dice, boards in BOARDS.items()}
    assert ended > 100


def test_boards_with_gaps_are_of_all_sizes_and_none_is_whole():
    boards = boards_with_gaps([1, 2, 4], seed=0)
    for dice, drawn in boards.items():
        size = np.array([int(board).bit_length() for board in drawn])
        count = np.bitwise_count(drawn)
        assert (count < size).all()  # of a whole box they are equal
        assert set(size) == set(range(5, 6 * dice + 1))
        assert set(count) == set(range(4, min(12, 6 * dice - 1) + 1))
    assert set(boards_with_gaps([2], seed=1)[2]) != set(boards_with_gaps([2], seed=0)[2])
    assert (boards_with_gaps([2], seed=1)[2] == boards_with_gaps([2], seed=1)[2]).all()


def test_what_is_learned_on_boards_with_gaps_carries_over_to_whole_ones():
    game, agent = ShutTheBox(tiles=6, dice=1), learner({1: boards_with_gaps([1], 0)[1], 2: BOARDS[2]}, num_envs=128)
    before = evaluate(game, preference(agent)).regret
    agent.learn_until(8000)
    after = evaluate(game, preference(agent)).regret
    assert after < 0.1 < before / 4

    def asked(seen, masks):
        rows = np.zeros((len(seen), 78), np.uint8)
        rows[:, :6], rows[:, ROLLS[1]] = seen[:, :6], seen[:, 6:]
        return agent.probabilities(rows, masks).argmax(axis=1)

    assert RegretMeter(game)(asked).regret == pytest.approx(after, abs=1e-12)


def test_a_network_that_learns_many_boxes_goes_on_from_a_file_bit_by_bit(tmp_path):
    one, other = learner(), learner(seed=1)
    one.learn_until(600)
    save_snapshot(tmp_path / "snapshot", one.snapshot())
    one.learn_until(1200)
    other.restore(load_snapshot(tmp_path / "snapshot"))
    other.learn_until(1200)
    assert all((array == other.weights()[name]).all() for name, array in one.weights().items())


def test_turns_are_those_of_the_seed_and_of_its_spaces():
    envs, again, other = (ManyBoxes(BOARDS, 40) for _ in range(3))
    assert (envs.reset(seed=5)[0] == again.reset(seed=5)[0]).all()
    assert (envs.reset()[0] != other.reset(seed=6)[0]).any()
    assert (envs.reset(seed=5)[0] == again.reset(seed=5)[0]).all()
    seen, _ = envs.reset(seed=7)
    assert envs.observation_space.contains(seen)
    assert envs.action_space.shape == (40,)
    assert envs.action_space.contains(np.full(40, envs.actions - 1))
    assert not envs.action_space.contains(np.full(40, envs.actions))
