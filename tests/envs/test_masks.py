"""Test that masks are never empty, so that code which draws actions from them works wherever actions are ignored."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import Autoreset

from stb_gym import ShutTheBox
from stb_gym.rounds import SelfPlayVectorEnv

BOX, MODES = "stb_gym/ShutTheBox-v0", ["NextStep", "SameStep", "Disabled"]
KINDS = {
    "tables": lambda mode: gym.make_vec(BOX, 8, autoreset_mode=mode),
    "boards": lambda mode: gym.make_vec(BOX, 8, autoreset_mode=mode, stepper="boards"),
    "truncated": lambda mode: gym.make_vec(BOX, 8, autoreset_mode=mode, max_episode_steps=2),
    "rounds": lambda mode: gym.make_vec("stb_gym/ThreesRound-v0", 8, autoreset_mode=mode),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_mask_is_all_ones_where_a_turn_is_over_and_else_the_legal_actions(kind, mode):
    envs = KINDS[kind](mode)
    tables = gym.make(BOX if kind != "rounds" else "stb_gym/Threes-v0").unwrapped.transitions.tables
    _, infos = envs.reset(seed=0)
    random, over, ended = np.random.default_rng(0), np.zeros(8, np.bool_), 0
    for _ in range(40):
        masks = infos["action_mask"]
        assert (masks == envs.action_masks()).all()
        assert masks[over].all()
        observations = envs.turn.stepper.observe(envs.states) if kind == "rounds" else envs.stepper.observe(envs.states)
        assert (masks[~over] == tables.legal[tables.find_states(observations[~over])]).all()
        sampled = envs.legal_sample()
        assert masks[np.arange(8), sampled].all()
        actions = np.where(random.random(8) < 0.9, sampled, 0)
        _, _, over, truncated, infos = envs.step(actions)
        if "final_info" in infos:
            final = infos["final_info"]["action_mask"]
            assert final[over].all()
            assert not final[~over & ~truncated].any()
        ended += over.sum()
        if mode == "Disabled" and (over | truncated).any():
            _, infos = envs.reset(options={"reset_mask": over | truncated})
        if mode != "NextStep":
            over = np.zeros(8, np.bool_)
    assert ended > 10


def test_single_turns_and_self_play_have_no_empty_mask():
    env = Autoreset(gym.make(BOX))
    _, info = env.reset(seed=0)
    for _ in range(100):
        action = int(info["action_mask"].nonzero()[0][-1])
        _, _, over, _, info = env.step(action)
        assert info["action_mask"].all() == over
        assert (info["action_mask"] == env.unwrapped.action_masks()).all()
    envs = SelfPlayVectorEnv(ShutTheBox(tiles=4), 8)
    _, infos = envs.reset(seed=0)
    for _ in range(20):
        *_, infos = envs.step(infos["action_mask"].argmax(axis=1))
        assert infos["action_mask"].any(axis=1).all()
