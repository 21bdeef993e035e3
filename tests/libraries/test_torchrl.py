"""TorchRL: `GymEnv(id)`, its checks of an environment, masks, and its DQN."""

import gymnasium as gym
import pytest
from torchrl.envs import ActionMask, GymEnv, GymWrapper, TransformedEnv
from torchrl.envs.utils import check_env_specs

from tests.libraries import BOX, IDS, MASKED


@pytest.mark.parametrize("name", IDS)
def test_first_line(name):
    env = GymEnv(name)
    check_env_specs(env)
    assert env.rollout(20, break_when_any_done=False).shape == (20,)


def test_unknown_arguments_are_refused():
    """TorchRL tries again without `frameskip` after such an error, but hides no other mistake."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'tyles'"):
        GymEnv(BOX, tyles=9)


@pytest.mark.parametrize("vectorised", [False, True])
def test_random_actions_are_legal_by_its_mask(vectorised):
    options = {"mask_names": "torchrl"}
    env = (
        GymWrapper(gym.make_vec(MASKED, num_envs=8, autoreset_mode="Disabled", **options))
        if vectorised
        else GymEnv(MASKED, **options)
    )
    env = TransformedEnv(env, ActionMask())
    env.set_seed(0)
    reward = env.rollout(200, break_when_any_done=False)["next", "reward"]
    assert (reward < 0).any()
    assert (reward > -45).all()
