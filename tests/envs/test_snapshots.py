"""Test that every kind of environment continues from its own snapshots and refuses all others."""

import copy
import json
import pickle

import numpy as np
import pytest

from stb_gym import ShutTheBox, Threes
from stb_gym.envs import TurnEnv, TurnVectorEnv, make_turn, make_turns
from stb_gym.rounds import RoundEnv, RoundVectorEnv, SelfPlayVectorEnv

NINE, DICE = ShutTheBox(), Threes(dice=3)
MAKERS = {
    "tables": lambda: make_turn(NINE, render_mode="ansi"),
    "boards": lambda: make_turn(NINE, render_mode="ansi", stepper="boards"),
    "another game": lambda: TurnEnv(ShutTheBox(tiles=3)),
    "many": lambda: make_turns(NINE, num_envs=30, render_mode="ansi"),
    "many on boards": lambda: make_turns(NINE, num_envs=30, stepper="boards", max_episode_steps=3),
    "many in the same step": lambda: TurnVectorEnv(
        ShutTheBox(tiles=6), 30, autoreset_mode="SameStep", max_episode_steps=3
    ),
    "fewer": lambda: TurnVectorEnv(NINE, 3),
    "a seat": lambda: RoundEnv(DICE, 3),
    "a seat of more players": lambda: RoundEnv(DICE, 4),
    "many seats": lambda: RoundVectorEnv(DICE, 30, players=3),
    "all seats": lambda: SelfPlayVectorEnv(DICE, 30, players=3),
    "all seats with other ties": lambda: SelfPlayVectorEnv(DICE, 30, players=3, ties="nobody"),
}


def go_on(env, steps=15):
    """Return the results of steps with the lowest legal actions; reset a single turn that is over."""
    answers = []
    for _ in range(steps):
        masks = env.action_masks()
        answers.append(env.step(masks.argmax(axis=-1)) if masks.any() else env.reset())
    return answers


@pytest.mark.parametrize("name", MAKERS)
def test_play_goes_on_from_a_snapshot_or_a_copy_as_it_would_have(name):
    env, other = MAKERS[name](), MAKERS[name]()
    env.reset(seed=1)
    for _ in range(4):
        go_on(env, 3)
        snapshot, shown = env.snapshot(), env.render() if env.render_mode else None
        copies = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
        expected = go_on(env)
        for given in (snapshot, json.loads(json.dumps(snapshot, default=np.ndarray.tolist))):
            other.restore(given)
            assert env.render_mode is None or other.render() == shown
            np.testing.assert_equal(go_on(other), expected)
        for each in copies:
            np.testing.assert_equal(go_on(each), expected)


@pytest.mark.parametrize("name", MAKERS)
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
        wrong += [{**whole, key: other} for other in others]
    wrong += [{**whole, "throw": np.array(whole["throw"]) + 1}]  # not the throw that led to the state
    for other in MAKERS.keys() - {name}:
        foreign = MAKERS[other]()
        foreign.reset(seed=1)
        wrong.append(foreign.snapshot())
    env.reset(seed=2)
    later = env.snapshot()
    for snapshot in wrong:
        with pytest.raises(ValueError, match="snapshot"):
            env.restore(snapshot)
        np.testing.assert_equal(env.snapshot(), later)
