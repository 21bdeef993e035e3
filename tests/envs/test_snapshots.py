"""Test that every kind of environment continues from its own snapshots and refuses all others."""

import copy
import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import integers

from stb_gym import ShutTheBox, Threes
from stb_gym.envs import TurnEnv, TurnVectorEnv, make_turn, make_turns
from stb_gym.rounds import RoundEnv, RoundVectorEnv, SelfPlayVectorEnv
from tests import every
from tests.twins import boxes

NINE, DICE = ShutTheBox(), Threes(dice=3)
MAKERS = {
    "tables": lambda: make_turn(NINE, render_mode="ansi"),
    "boards": lambda: make_turn(NINE, render_mode="ansi", stepper="boards"),
    "another game": lambda: TurnEnv(ShutTheBox(tiles=3)),
    "many": lambda: make_turns(NINE, num_envs=9, render_mode="ansi"),
    "many on boards": lambda: make_turns(NINE, num_envs=9, stepper="boards", max_episode_steps=3),
    "many in the same step": lambda: TurnVectorEnv(
        ShutTheBox(tiles=6), 9, autoreset_mode="SameStep", max_episode_steps=3
    ),
    "fewer": lambda: TurnVectorEnv(NINE, 3),
    "a seat": lambda: RoundEnv(DICE, 3),
    "the last seat": lambda: RoundEnv(DICE, 3, seat=2),
    "a seat of more players": lambda: RoundEnv(DICE, 4),
    "many seats": lambda: RoundVectorEnv(DICE, 9, players=3),
    "all seats": lambda: SelfPlayVectorEnv(DICE, 9, players=3),
    "all seats with other ties": lambda: SelfPlayVectorEnv(DICE, 9, players=3, ties="nobody"),
}
ALIKE = [{"tables", "boards"}, {"many", "many on boards"}, {"a seat", "the last seat"}]  # take snapshots of each other


def go_on(env, steps=15):
    """Return the results of steps with the lowest legal actions; reset a single turn that is over."""
    answers = []
    for _ in range(steps):
        is_over = not hasattr(env, "num_envs") and env.stepper.is_over(env.states).all()
        answers.append(env.reset() if is_over else env.step(env.action_masks().argmax(axis=-1)))
    return answers


@pytest.mark.parametrize("name", every(4, MAKERS))
def test_play_goes_on_from_a_snapshot_or_a_copy_as_it_would_have(name):
    env, other = MAKERS[name](), MAKERS[name]()
    env.reset(seed=1)
    for _ in range(2):
        go_on(env, 4)
        snapshot, shown = env.snapshot(), env.render() if env.render_mode else None
        copies = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
        expected = go_on(env)
        for taken in (snapshot, json.loads(json.dumps(snapshot, default=np.ndarray.tolist))):
            other.restore(taken)
            assert env.render_mode is None or other.render() == shown
            np.testing.assert_equal(go_on(other), expected)
        for each in copies:
            np.testing.assert_equal(go_on(each), expected)


@pytest.mark.parametrize("name", every(4, MAKERS))
def test_other_snapshots_are_refused_and_change_nothing(name):
    env = MAKERS[name]()
    env.reset(seed=1)
    whole, wrong = env.snapshot(), [{}, [], None]
    for key, entry in whole.items():
        number = np.array(entry)
        others = [None]
        if number.dtype.kind == "i":
            others += [
                number + 0.5,
                number > 0,
                number[None],
                number - 10**6,
                number + 10**6,
                number.astype(str),
                2**70,
            ]
            if number.ndim:
                others.append(np.append(number[:-1], 10**6))  # only one of the turns is wrong
        wrong += [{**whole, key: other} for other in others]
    random = whole["random"]
    wrong += [{**whole, "random": {**random, **other}} for other in ({"more": 1}, {"state": {}}, {"uinteger": -1})]
    wrong += [{**whole, "random": {name: random[name] for name in random if name != "uinteger"}}]
    if isinstance(env.game, ShutTheBox):
        wrong += [{**whole, "dice": whole["dice"] - 1}]  # the box is never thrown at with fewer dice
    else:
        wrong += [{**whole, "dice": 0 * whole["dice"] - 1}]  # an illegal action that does not have the worst score
    for other in MAKERS.keys() - next((names for names in ALIKE if name in names), {name}):
        foreign = MAKERS[other]()
        foreign.reset(seed=1)
        wrong.append(foreign.snapshot())
    env.reset(seed=2)
    later = env.snapshot()
    for snapshot in wrong:
        with pytest.raises(ValueError, match="snapshot"):
            env.restore(snapshot)
        np.testing.assert_equal(env.snapshot(), later)


@settings(max_examples=5)
@given(boxes(), integers(0, 99))
def test_a_snapshot_is_of_the_same_position_in_tables_and_boards(game, seed):
    for make, choices in ((make_turn, {}), (make_turns, {"num_envs": 8, "max_episode_steps": 3})):
        tables, boards = (make(game, stepper=kind, **choices) for kind in ("tables", "boards"))
        for env, other in ((tables, boards), (boards, tables)):
            env.reset(seed=seed)
            other.reset(seed=seed + 1)
            for steps in range(4):
                go_on(env, steps)
                other.restore(env.snapshot())
                np.testing.assert_equal(other.snapshot(), env.snapshot())
                np.testing.assert_equal(go_on(other, 2), go_on(env, 2))


@pytest.mark.parametrize("make", [make_turn, make_turns])
def test_a_snapshot_after_an_illegal_action_says_so(make):
    tables, boards = (make(NINE, stepper=kind) for kind in ("tables", "boards"))
    for env, other in ((tables, boards), (boards, tables)):
        env.reset(seed=1)
        other.reset(seed=1)
        env.step(np.zeros(np.shape(env.action_space.sample()), int))
        snapshot = env.snapshot()
        assert snapshot["dice"] == -1
        other.restore(snapshot)
        assert other.states == other.stepper.illegal_state


@pytest.mark.parametrize(("kind", "number"), [(RoundEnv, ()), (RoundVectorEnv, (4,))])
def test_a_snapshot_has_the_scores_so_far_and_not_their_number(kind, number):
    """A seat has a number for each of the scores so far that it may see, and other seats have others."""
    drawn, last = kind(DICE, *number, players=3), kind(DICE, *number, players=3, seat=2)
    for seed in range(30):
        drawn.reset(seed=seed)
        last.reset(seed=0)
        before = last.observed
        if (drawn.observed[:, 2] == 0).all():
            last.restore(drawn.snapshot())
            assert (last.observed == drawn.observed).all()
            drawn.restore(last.snapshot())
        else:
            with pytest.raises(ValueError, match="never sees the scores so far of the snapshot"):
                last.restore(drawn.snapshot())
            assert (last.observed == before).all()
    drawn.restore(last.snapshot())
    assert (drawn.observed == last.observed).all()


@pytest.mark.parametrize("wrong", [{"rank_1": 2}, {"seat": 1, "rank_0": 0, "rank_1": 3}, {"seat": 1, "rank_0": 0}])
def test_a_round_that_cannot_be_under_way_is_refused(wrong):
    envs = SelfPlayVectorEnv("shut-the-box", 4, players=3, shut_wins=True, tiles=4)
    envs.reset(seed=0)
    before = envs.snapshot()
    with pytest.raises(ValueError, match="snapshot has ranks"):
        envs.restore(before | {name: np.full(4, number) for name, number in wrong.items()})
    np.testing.assert_equal(envs.snapshot(), before)
