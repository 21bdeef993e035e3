"""Test that tables and boards step alike on small boxes, and that large boxes follow the rules in plain Python."""

import copy
import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from hypothesis import given

from stb_gym import ShutTheBox, Threes
from stb_gym.envs import TurnEnv, make_turn, make_turns, stepper_of
from stb_gym.games import throw_faces
from tests.twins import MostThrees, boxes

THE_300 = "stb_gym/ShutTheBox300-v0"
KINDS = ("tables", "boards")


def both(game):
    """Return both steppers, each with the states after every throw at every afterstate, in the same order."""
    tables, boards = (stepper_of(game, kind=kind) for kind in KINDS)
    afterstates, throws = np.arange(tables.illegal_afterstate), np.arange(tables.num_throws)
    positions = zip(*(column.tolist() for column in tables.position(afterstates)), strict=True)
    same_afterstates = np.array([boards.find_afterstate(*position) for position in positions])
    pairs = ((tables, afterstates), (boards, same_afterstates))
    return [(stepper, stepper.after_throws(each[:, None], throws).ravel()) for stepper, each in pairs]


@given(boxes(8))
def test_every_state_is_the_same(game):
    answers = []
    for stepper, states in both(game):
        states = np.append(states, stepper.illegal_state)
        assert stepper.masks(states)[stepper.is_over(states)].all()
        some = states[: -1 : len(states) // 300 + 1]
        answers.append([stepper.observe(states), stepper.masks(states), stepper.is_over(states)])
        answers[-1] += [stepper.scores[stepper.score_index(states)]]
        answers[-1] += [*stepper.position(stepper.origin_of(states)), stepper.num_throws, stepper.num_actions]
        answers[-1] += [stepper.describe(state) for state in some.tolist()]
        assert (stepper.find_states(stepper.observe(some)) == some).all()
        one = int(states[0])  # an integer instead of an array
        for answer in (stepper.observe, stepper.masks, stepper.is_over, stepper.score_index, stepper.origin_of):
            np.testing.assert_array_equal(answer(one), answer(states)[0], strict=True)
        assert stepper.find_states(stepper.observe(one)) == one
    assert data_equivalence(*answers, exact=True)
    tables, boards = (stepper_of(game, kind=kind).longest for kind in KINDS)
    assert tables <= boards


@given(boxes(8))
def test_every_move_leads_to_the_same(game):
    answers = []
    for stepper, states in both(game):
        fractions = np.random.default_rng(1).random(len(states))
        after = stepper.after_actions(states[:, None], np.arange(stepper.num_actions))
        index, action = moves = stepper.legal_moves(states)
        answers.append([*stepper.position(after), after == stepper.illegal_afterstate, *moves])
        answers[-1] += [stepper.observe_afterstates(after[moves]), stepper.choose(states, fractions)]
        assert (np.bincount(index, minlength=len(states)) > 0).tolist() == (~stepper.is_over(states)).tolist()
        assert stepper.after_actions(int(states[0]), 0) == after[0, 0]
        assert stepper.choose(np.array([stepper.illegal_state]), fractions[:1]).tolist() == [0]
        assert [len(column) for column in stepper.legal_moves(states[:0])] == [0, 0]
        rank = np.arange(len(index)) - index.searchsorted(index)  # of each action in its state
        assert (stepper.choose(states[index], (rank + 0.5) / np.bincount(index)[index]) == action).all()
    assert data_equivalence(*answers, exact=True)


@pytest.mark.parametrize("rules", [{}, {"one_die": "any-time"}, {"dice": 3, "match": "faces-or-sum"}, {"open": (1, 2)}])
def test_what_is_no_observation_is_refused(rules):
    for stepper, states in both(ShutTheBox(tiles=6, **rules)):
        width = len(stepper.game.observation_high)
        seen = stepper.observe(states[0])
        for wrong in (np.ones(width), np.eye(width)[0], np.eye(width)[-1]):
            for observations in (wrong, np.stack((seen, wrong, seen))):
                with pytest.raises(ValueError, match="no observation"):
                    stepper.find_states(observations.astype(np.uint8))
        with pytest.raises(ValueError, match="shape"):
            stepper.find_states(np.zeros(width + 1, np.uint8))


@pytest.mark.parametrize(
    ("game", "longest"),
    [
        (ShutTheBox(), 8),  # no roll shuts the 1 alone
        (ShutTheBox(one_die="low-sum"), 9),
        (ShutTheBox(tiles=3), 2),
        (ShutTheBox(tiles=6, match="one-tile"), 6),
        (Threes(), 5),
        (MostThrees(dice=3), 3),
    ],
    ids=str,
)
def test_the_longest_turn(game, longest):
    assert stepper_of(game).longest == longest


@pytest.mark.parametrize("identity", [THE_300, "stb_gym/ShutTheBox16-v0"])
def test_turns_of_large_boxes_go_by_the_rules(identity):
    env = gym.make(identity).unwrapped
    game, random = env.game, np.random.default_rng(6)
    for seed in range(20):
        observation, info = env.reset(seed=seed)
        opened, over, reward = set(range(1, game.tiles + 1)), False, 0
        while True:
            total = sum(throw_faces(env.snapshot()["throw"], game.dice, game.faces))
            assert set(np.flatnonzero(observation[: game.tiles]) + 1) == opened
            if opened:
                assert np.flatnonzero(observation[game.tiles :]).tolist() == [total - game.dice]
            fitting = [bool(opened) and set(tiles) <= opened and sum(tiles) == total for tiles in game.actions]
            assert (info["action_mask"] == (fitting if any(fitting) else 1)).all()
            assert over == (not any(fitting))
            if over:
                assert (reward, info["final_score"]) == (-sum(opened), sum(opened))
                break
            action = random.choice(np.flatnonzero(fitting))
            opened -= set(game.actions[action])
            observation, reward, over, _, info = env.step(action)


def test_boxes_too_large_for_tables_step_through_boards_unless_tables_are_asked_for():
    assert not hasattr(make_turn(ShutTheBox.preset("the-300")).stepper, "tables")
    for make in (gym.make, gym.make_vec):
        assert make("stb_gym/ShutTheBox-v0", stepper="tables", tiles=24, dice=4, open=[24]).reset(seed=0)
        with pytest.raises(ValueError, match="too large"):
            make("stb_gym/ShutTheBox-v0", stepper="tables", tiles=18)
    with pytest.raises(ValueError, match="boards"):
        make_turn(Threes(), stepper="boards")
    with pytest.raises(ValueError, match="tables"):
        make_turn(ShutTheBox(), stepper="boards").transitions  # noqa: B018


@pytest.mark.parametrize("kind", KINDS)
def test_environments_and_their_copies_share_a_stepper(kind):
    game = ShutTheBox(tiles=5)
    env = make_turn(game, stepper=kind, observation_dtype="float32")
    many = make_turns(game, objective="shut", stepper=kind, reward_scale=2, observation_dtype=np.float32)
    assert all(other.stepper is env.stepper for other in (many, copy.deepcopy(env), pickle.loads(pickle.dumps(env))))
    if kind == "tables":
        assert TurnEnv(game, observation_dtype="uint8").stepper.next_afterstate is env.stepper.next_afterstate
