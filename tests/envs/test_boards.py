"""Moves worked out from boards: on small boxes they agree with the tables, on large ones with the rules in words."""

import copy
import json
import pickle
import re

import gymnasium as gym
import numpy as np
import pytest
import stb_gym.envs.stepping.one_board
from gymnasium.vector import AutoresetMode
from stb_gym.envs.stepping.boards import board_stepper

from stb_gym import Objective, ShutTheBox, Threes
from stb_gym.envs import TurnEnv, TurnVectorEnv, stepper_of
from stb_gym.games import throw_faces
from stb_gym.solver import objective_of

BOX, THE_300 = "shut-the-box", "stb_gym/ShutTheBox300-v0"
GAMES = 64
COLUMNS = ("over", "observation", "action_mask", "reward", "final_score")
BOXES = [
    ShutTheBox(tiles=6),
    ShutTheBox(tiles=8, dice=1),
    ShutTheBox(tiles=7, dice=3, faces=4),
    ShutTheBox(tiles=7, score="count"),
    ShutTheBox(tiles=10, open=(1, 2, 5, 7, 10), score="digits"),
    ShutTheBox(tiles=9, open="even", one_die="low-sum"),
    ShutTheBox(tiles=9, open="odd", one_die="high-shut", one_die_forced=True),
    ShutTheBox(tiles=6, one_die="any-time"),
    ShutTheBox(tiles=5, dice=3, faces=3, one_die="low-sum", one_die_forced=True),
    ShutTheBox(tiles=6, match="two-at-most", ending_roll=7),
    ShutTheBox(tiles=7, match="one-tile", one_die="any-time"),
    ShutTheBox(tiles=6, dice=3, match="faces-or-sum"),
    ShutTheBox(tiles=6, first_move=5),
    ShutTheBox(tiles=6, match="faces-or-sum", first_move=3, one_die="high-shut", ending_roll=4),
    ShutTheBox(tiles=3, one_die="any-time"),  # the first roll may leave no move
    ShutTheBox(tiles=7, open=(7,)),
]


@pytest.fixture(scope="module", params=BOXES, ids=str)
def both(request):
    return [stepper_of(request.param, objective_of(request.param, "score"), kind=kind) for kind in ("tables", "boards")]


def everywhere(both):
    """For each stepper the nodes that every throw leads to from every state."""
    tables, boards = both
    position = tables.position(np.arange(tables.forfeit_state))
    there = [boards.find_state(*each) for each in zip(*(column.tolist() for column in position), strict=True)]
    states = np.arange(tables.forfeit_state), np.array(there)
    throws = np.tile(np.arange(tables.throws), len(there))
    assert tables.throws == boards.throws
    return [each.nodes(state.repeat(each.throws), throws) for each, state in zip(both, states, strict=True)]


def same(ours, others):
    """Whether two answers are alike, entry by entry, and of the same types."""
    if isinstance(ours, dict):
        assert ours.keys() == others.keys()
        for name in ours:
            same(ours[name], others[name])
    else:
        assert np.asarray(ours).dtype == np.asarray(others).dtype
        assert np.array_equal(ours, others)


# Both steppers, at every node of small boxes


def test_every_node_is_the_same(both):
    (tables, boards), nodes = both, everywhere(both)
    nodes = [np.append(each, stepper.forfeit) for each, stepper in zip(nodes, both, strict=True)]
    for name in COLUMNS:
        same(*(getattr(stepper, name).take(each, axis=0) for stepper, each in zip(both, nodes, strict=True)))
    same(*(np.array(stepper.position(stepper.state_of(each))) for stepper, each in zip(both, nodes, strict=True)))
    for ours, others in list(zip(*(each[:-1].tolist() for each in nodes), strict=True))[:: len(nodes[0]) // 300 + 1]:
        assert tables.describe(ours) == boards.describe(others)
        assert boards.find(tables.observation[ours]) == others
    assert tables.actions == boards.actions
    assert boards.longest >= tables.longest


def test_every_action_leads_to_the_same(both):
    each = both[0].actions
    nodes = [np.unique(there).repeat(each) for there in everywhere(both)]
    order = both[1].find(both[0].observation[nodes[0][::each]]).repeat(each)
    assert set(order.tolist()) == set(nodes[1].tolist())
    actions = np.tile(np.arange(each), len(order) // each)
    after = [stepper.after(there, actions) for stepper, there in zip(both, (nodes[0], order), strict=True)]
    same(*(np.array(stepper.position(states)) for stepper, states in zip(both, after, strict=True)))
    same(*(states == stepper.forfeit_state for stepper, states in zip(both, after, strict=True)))
    over = both[0].over[nodes[0]]
    assert (after[1][over] == both[1].start).all()


def test_legal_moves_and_what_is_seen_of_what_they_lead_to_are_the_same(both):
    nodes = everywhere(both)
    moves = [stepper.legal_moves(there) for stepper, there in zip(both, nodes, strict=True)]
    for column in ("first", "counts", "action", "place"):
        same(*(getattr(each, column) for each in moves))
    same(*(np.array(stepper.position(each.after)) for stepper, each in zip(both, moves, strict=True)))
    same(*(stepper.unthrown(each.after) for stepper, each in zip(both, moves, strict=True)))
    fractions = np.random.default_rng(1).random(len(nodes[0]))
    same(*(stepper.choose(there, fractions) for stepper, there in zip(both, nodes, strict=True)))
    for stepper in both:
        assert stepper.choose(np.array([stepper.forfeit]), fractions[:1]).tolist() == [0]


def test_legal_moves_at_no_nodes_are_none(both):
    for stepper in both:
        moves = stepper.legal_moves(np.zeros(0, np.int64))
        assert [len(column) for column in moves] == [0, 0, 0, 0]


@pytest.mark.parametrize(
    "objective", ["shut", "at-most:4", Objective("far from five", lambda points: -abs(points - 5))]
)
@pytest.mark.parametrize("score", ["sum", "digits"])
def test_rewards_of_other_objectives_and_scales_are_the_same(objective, score):
    game = ShutTheBox(tiles=6, score=score)
    goal = objective_of(game, objective)
    both = [stepper_of(game, goal, "float32", 0.3, kind) for kind in ("tables", "boards")]
    nodes = [np.append(each, stepper.forfeit) for each, stepper in zip(everywhere(both), both, strict=True)]
    rewards = [stepper.reward.take(each) for stepper, each in zip(both, nodes, strict=True)]
    assert len(np.unique(rewards[0])) > 1
    same(*rewards)
    same(*(stepper.observation.take(each, axis=0) for stepper, each in zip(both, nodes, strict=True)))


def test_numbers_that_are_no_nodes_are_known(both):
    for stepper, nodes in zip(both, everywhere(both), strict=True):
        assert stepper.are_nodes(nodes).all()
        assert stepper.are_nodes(np.array(stepper.forfeit)).all()
    boards = both[1]
    whole = boards.start & boards.board_mask  # at a later throw
    wrong = np.append(nodes ^ 1, [-1, 2**62, boards.forfeit + 2, boards.forfeit - 1, whole << 1, whole << 1 | 1])
    assert not boards.are_nodes(wrong).any()


def test_what_is_no_observation_is_refused(both):
    for stepper, nodes in zip(both, everywhere(both), strict=True):
        width, seen = len(stepper.game.observation_high), stepper.observation.take(nodes[0], axis=0)
        for wrong in (np.ones(width), np.eye(width)[0], np.eye(width)[-1]):
            with pytest.raises(ValueError, match="is no observation of ShutTheBox"):
                stepper.find(wrong.astype(np.uint8))
            with pytest.raises(ValueError, match=f"^{re.escape(str(wrong.astype(int).tolist()))} is no observation"):
                stepper.find(np.stack((seen, wrong.astype(np.uint8), seen)))  # one among good ones
        with pytest.raises(ValueError, match=f"has {width} numbers, not shape"):
            stepper.find(np.zeros(width + 1, np.uint8))


# Both environments, move for move


@pytest.mark.parametrize("limit", [None, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("game", BOXES, ids=str)
def test_both_vector_environments_play_the_same(game, mode, limit):
    envs = [
        TurnVectorEnv(game, GAMES, autoreset_mode=mode, max_episode_steps=limit, stepper=kind)
        for kind in ("tables", "boards")
    ]
    random, over = np.random.default_rng(2), np.zeros(GAMES, bool)
    answers = [env.reset(seed=1) for env in envs]
    for _ in range(12):
        same(*(dict(enumerate(answer)) for answer in answers))
        same(*(dict(enumerate(env.afterstates())) for env in envs))
        same(*(env.action_masks() for env in envs))
        if mode == AutoresetMode.DISABLED and over.any():
            answers = [env.reset(options={"reset_mask": over}) for env in envs]
            over[:] = False
            continue
        actions = [env.legal_sample() for env in envs]
        same(*actions)
        wrong = random.random(GAMES) < 0.05
        actions = np.where(wrong, random.integers(envs[0].single_action_space.n, size=GAMES), actions[0])
        answers = [env.step(actions) for env in envs]
        over = answers[0][2] | answers[0][3]


@pytest.mark.parametrize("kept", [2, 4096])
@pytest.mark.parametrize("game", BOXES, ids=str)
def test_both_single_environments_play_the_same(game, kept, monkeypatch):
    monkeypatch.setattr(stb_gym.envs.stepping.one_board, "MOST_KEPT", kept)
    board_stepper.cache_clear()
    envs = [TurnEnv(game, render_mode="ansi", stepper=kind) for kind in ("tables", "boards")]
    random = np.random.default_rng(3)
    answers = [env.reset(seed=1) for env in envs]
    for _ in range(60):
        assert answers[0][1:-1] == answers[1][1:-1]
        same(answers[0][0], answers[1][0])
        same(answers[0][-1], answers[1][-1])
        same(*(env.action_masks() for env in envs))
        same(*(dict(enumerate(env.afterstates())) for env in envs))
        assert envs[0].render() == envs[1].render()
        (legal,) = answers[0][-1]["action_mask"].nonzero()
        if not len(legal):
            answers = [env.reset() for env in envs]
        else:
            action = random.choice(legal) if random.random() < 0.9 else random.integers(envs[0].action_space.n)
            answers = [env.step(action) for env in envs]


@pytest.mark.parametrize("where", [{"open": [2, 3, 6], "roll": 5}, {"open": [1, 2, 3], "dice": 1}, {"roll": 7}])
def test_both_begin_where_they_are_told(where):
    envs = [TurnVectorEnv(BOX, GAMES, tiles=6, one_die="low-sum", stepper=kind) for kind in ("tables", "boards")]
    same(*(dict(enumerate(env.reset(seed=3, options=where))) for env in envs))
    turns = [TurnEnv(BOX, tiles=6, one_die="low-sum", stepper=kind) for kind in ("tables", "boards")]
    same(*(turn.reset(seed=3, options=where)[0] for turn in turns))


@pytest.mark.parametrize("kind", ["tables", "boards"])
def test_an_illegal_action_raises_if_asked_to_naming_where(kind):
    env = TurnEnv(BOX, tiles=6, illegal="raise", stepper=kind)
    env.reset(seed=0, options={"open": [1, 4, 6], "roll": 5})
    with pytest.raises(ValueError, match="action 0 is illegal at open 1,4,6, roll 5"):
        env.step(0)
    envs = TurnVectorEnv(BOX, 3, tiles=6, illegal="raise", stepper=kind)
    envs.reset(seed=0, options={"open": [1, 4, 6], "roll": 5})
    with pytest.raises(ValueError, match="action 0 of game 1 is illegal at open 1,4,6, roll 5"):
        envs.step(np.array([envs.legal_sample()[0], 0, 0]))


@pytest.mark.parametrize("make", [TurnEnv, TurnVectorEnv])
def test_a_snapshot_of_boards_goes_on_alike(make):
    first, second = (make(BOX, tiles=6, stepper="boards") for _ in range(2))
    _, info = first.reset(seed=4)
    snapshot = json.loads(json.dumps(first.snapshot(), default=lambda array: array.tolist()))
    second.restore(snapshot)
    actions = info["action_mask"].argmax(axis=-1)
    same(first.step(actions)[0], second.step(actions)[0])
    with pytest.raises(ValueError, match="the snapshot is not of"):
        make(BOX, tiles=5, stepper="boards").restore(first.snapshot())


@pytest.mark.parametrize("how", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"])
def test_a_copy_shares_what_is_known_of_its_boards(how):
    env = gym.make(THE_300).unwrapped
    _, info = env.reset(seed=4)
    other = how(env)
    assert other.stepper is env.stepper
    action = int(info["action_mask"].argmax())
    same(env.step(action)[0], other.step(action)[0])


# Boxes too large for tables, against the words of the rules


def play_by_the_words(game, opened, faces, action):
    """What is open after a move, or a complaint about it, in plain Python."""
    chosen = set(game.actions[action])
    assert chosen <= opened
    assert sum(chosen) == sum(faces)
    return opened - chosen


@pytest.mark.parametrize("identity", [THE_300, "stb_gym/ShutTheBox16-v0"])
def test_turns_of_large_boxes_go_by_the_rules(identity):
    env = gym.make(identity).unwrapped
    game, random, shortest = env.game, np.random.default_rng(6), 99
    for seed in range(30):
        observation, info = env.reset(seed=seed)
        opened, over, reward, steps = set(range(1, game.tiles + 1)), False, 0, 0
        while True:
            faces = throw_faces(env.snapshot()["throw"], game.dice, game.faces)
            assert set(np.flatnonzero(observation[: game.tiles]) + 1) == opened
            if opened:
                assert np.flatnonzero(observation[game.tiles :]).tolist() == [sum(faces) - game.dice]
            fitting = [set(tiles) <= opened and sum(tiles) == sum(faces) for tiles in game.moves]
            assert (info["action_mask"] == (fitting if opened else np.zeros(len(fitting)))).all()
            assert over == (not info["action_mask"].any())
            if over:
                assert (reward, info["final_score"]) == (-sum(opened), sum(opened))
                break
            action = random.choice(np.flatnonzero(info["action_mask"]))
            opened, steps = play_by_the_words(game, opened, faces, action), steps + 1
            observation, reward, over, _, info = env.step(action)
            assert over or reward == 0
        shortest = min(shortest, steps)
    assert 1 <= shortest < 8


def test_the_300_has_every_set_that_four_dice_can_ask_for():
    ways = [1] + [0] * 24
    for tile in range(1, 25):
        for total in range(24, tile - 1, -1):
            ways[total] += ways[total - tile]
    envs = gym.make_vec(THE_300, 2)
    assert envs.single_action_space.n == sum(ways[4:]) == 757
    assert len(set(map(frozenset, envs.unwrapped.game.moves))) == 757


def test_many_turns_of_a_large_box_are_those_of_single_boards():
    envs = gym.make_vec(THE_300, 500, autoreset_mode="SameStep").unwrapped
    observation, info = envs.reset(seed=5)
    for _ in range(10):
        opened = [set(np.flatnonzero(row) + 1) for row in observation[:, :24]]
        totals = observation[:, 24:].argmax(axis=1) + 4
        for game in range(0, 500, 25):
            fitting = [set(tiles) <= opened[game] and sum(tiles) == totals[game] for tiles in envs.game.moves]
            assert (info["action_mask"][game] == fitting).all()
        actions = envs.legal_sample()
        place, action, after = envs.afterstates()
        chosen = after[action == actions[place]]
        observation, reward, over, _, info = envs.step(actions)
        last = info["final_obs"] if over.any() else observation
        assert (last[:, :24] == chosen[:, :24]).all()
        assert not chosen[:, 24:-1].any()
        assert (chosen[:, -1] == 4 * chosen[:, :24].any(axis=1)).all()
        assert (reward[over] == -(last[over, :24] @ np.arange(1, 25))).all()
        assert not reward[~over].any()


def test_an_illegal_action_of_a_large_box_loses_all_its_points():
    env = gym.make(THE_300, render_mode="ansi")
    _, info = env.reset(seed=0)
    observation, reward, over, _, info = env.step(int(info["action_mask"].argmin()))
    assert (reward, over, info["final_score"], info["illegal_action"]) == (-300, True, 300, True)
    assert not observation.any()
    assert env.render().startswith("illegal action: the turn ends with 300 points")


# What is asked for


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"game": BOX, "stepper": "dense"}, "unknown stepper 'dense': allowed are None, tables, boards"),
        ({"game": Threes(), "stepper": "boards"}, "threes has no boards, by which it could be solved or step"),
        ({"game": BOX, "tiles": 24, "dice": 4, "stepper": "tables"}, r"too large for tables, .* 134,217,728 entries"),
    ],
)
def test_steppers_that_there_are_not_are_refused(arguments, message):
    for make in (TurnEnv, TurnVectorEnv):
        with pytest.raises(ValueError, match=message):
            make(**arguments)


def test_tables_are_chosen_while_they_fit_and_boards_beyond():
    assert [type(TurnEnv(BOX, tiles=tiles).stepper).__name__ for tiles in (9, 18)] == ["Transitions", "BoardStepper"]


def test_who_needs_tables_is_told_that_a_large_box_has_none():
    with pytest.raises(ValueError, match=r"needs the tables of a game, and .*tiles=24, dice=4\) steps through boards"):
        _ = gym.make_vec(THE_300, 2).unwrapped.transitions


@pytest.mark.parametrize("kind", ["tables", "boards"])
def test_afterstates_are_those_of_observations_too(kind):
    envs = TurnVectorEnv(BOX, GAMES, observation_dtype="float32", stepper=kind)
    observation, info = envs.reset(seed=2)
    observation, *_, info = envs.step(envs.legal_sample())
    same(*(dict(enumerate(answer)) for answer in (envs.afterstates(), envs.afterstates(observation))))
    place, action, afterstate = envs.afterstates(observation[::-1])
    assert info["action_mask"][::-1][place, action].all()
    assert len(place) == info["action_mask"].sum()
    assert afterstate.dtype == np.float32
    assert all(row in envs.afterstate_space for row in afterstate)
    with pytest.raises(ValueError, match="afterstates is for all games at once"):
        envs.call("afterstates")


@pytest.mark.parametrize("name", ["stb_gym/ShutTheBox300Masked-v0", "stb_gym/ShutTheBox16Masked-v0"])
def test_large_boxes_show_the_mask_as_libraries_ask_for_it(name):
    envs = gym.make_vec(name, 8, mask_names="rllib", autoreset_mode="SameStep", observation_dtype="float32")
    observation, info = envs.reset(seed=3)
    for _ in range(10):
        assert observation in envs.observation_space
        assert (observation["action_mask"] == info["action_mask"]).all()
        observation, *_, info = envs.step(envs.legal_sample())
