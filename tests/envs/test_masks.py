"""Test that masks are never empty, so that code which draws actions from them works wherever actions are ignored."""

from itertools import product

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import Autoreset

from stb_gym import ShutTheBox
from stb_gym.rounds import SelfPlayVectorEnv
from tests import every

BOX, MODES = "stb_gym/ShutTheBox-v0", ["NextStep", "SameStep", "Disabled"]
KINDS = {
    "tables": lambda mode: gym.make_vec(BOX, 8, autoreset_mode=mode),
    "boards": lambda mode: gym.make_vec(BOX, 8, autoreset_mode=mode, stepper="boards"),
    "truncated": lambda mode: gym.make_vec(BOX, 8, autoreset_mode=mode, max_episode_steps=2),
    "masks in the observation": lambda mode: gym.make_vec("stb_gym/ThreesMasked-v0", 8, autoreset_mode=mode),
    "rounds": lambda mode: gym.make_vec("stb_gym/ThreesRound-v0", 8, autoreset_mode=mode),
    "single ones side by side": lambda mode: gym.make_vec(
        BOX, 8, vectorization_mode="sync", vector_kwargs={"autoreset_mode": gym.vector.AutoresetMode(mode)}
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "kind"), every(4, [*product(MODES, KINDS)]))
def test_the_usual_loop_of_torch_goes_on(kind, mode):
    """A distribution over logits refuses NaN, which softmax gives where no action is legal."""
    torch = pytest.importorskip("torch")
    envs, ended = KINDS[kind](mode), 0
    logits = torch.zeros(8, int(envs.single_action_space.n))
    _, infos = envs.reset(seed=0)
    for _ in range(150):
        mask = torch.as_tensor(infos["action_mask"])
        actions = torch.distributions.Categorical(logits=logits.masked_fill(mask == 0, -torch.inf)).sample()
        _, rewards, terminated, truncated, infos = envs.step(actions.numpy())
        over = terminated | truncated
        last = infos.get("final_info", infos)["action_mask"] * over[:, None] + infos["action_mask"] * ~over[:, None]
        ahead = logits.masked_fill(torch.as_tensor(last) == 0, -torch.inf).max(dim=1).values
        assert not (torch.as_tensor(rewards) + ahead * ~torch.as_tensor(terminated)).isnan().any()  # the usual target
        ended += over.sum()
        if mode == "Disabled" and over.any():
            _, begun = envs.reset(options={"reset_mask": over})
            infos["action_mask"] = np.where(over[:, None], begun["action_mask"], infos["action_mask"])
    assert ended > 150


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["tables", "boards", "truncated", "rounds"])
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
