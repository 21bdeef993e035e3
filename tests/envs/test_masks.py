"""Test that masks are never empty, so that code which draws actions from them works wherever actions are ignored."""

import gymnasium as gym
import pytest
from gymnasium.wrappers import Autoreset

from stb_gym import ShutTheBox
from stb_gym.rounds import SelfPlayVectorEnv


def test_single_turns_and_self_play_have_no_empty_mask():
    env = Autoreset(gym.make("stb_gym/ShutTheBox-v0"))
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


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_a_mask_of_many_rounds_is_all_ones_where_a_turn_is_over_and_else_the_legal_actions(mode):
    envs = gym.make_vec("stb_gym/ThreesRound-v0", 8, autoreset_mode=mode)
    stepper = envs.unwrapped.turn.stepper
    _, infos = envs.reset(seed=0)
    for _ in range(20):
        states = envs.unwrapped.states
        assert infos["action_mask"][stepper.is_over(states)].all()
        assert (infos["action_mask"] == stepper.masks(states)).all()
        _, _, over, _, infos = envs.step(envs.legal_sample())
        if "final_info" in infos:
            assert infos["final_info"]["action_mask"][over].all()
        if mode == "Disabled" and over.any():
            _, infos = envs.reset(options={"reset_mask": over})
