"""TorchRL: `GymEnv(id)`, its checks of an environment, masks, and its DQN."""

import gymnasium as gym
import pytest
import torch
from tensordict.nn import TensorDictModule, TensorDictSequential
from torchrl.collectors import Collector
from torchrl.envs import ActionMask, GymEnv, GymWrapper, TransformedEnv
from torchrl.envs.utils import check_env_specs
from torchrl.modules import MLP, EGreedyModule, QValueModule
from torchrl.objectives import DQNLoss

import stb_gym
from tests.libraries import BOX, IDS, MASKED


@pytest.mark.parametrize("name", IDS)
def test_first_line(name):
    env = GymEnv(name)
    check_env_specs(env)
    assert env.rollout(20, break_when_any_done=False).shape == (20,)


def test_unknown_arguments_are_refused():
    """It tries again without `frameskip` after such an error, but hides no other mistake."""
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


def test_its_dqn_learns_and_is_measured():
    env = GymEnv(BOX, categorical_action_encoding=True, observation_dtype="float32", reward_scale=1 / 45)
    net = MLP(20, 62, num_cells=[32])
    values = TensorDictModule(net, in_keys=["observation"], out_keys=["action_value"])
    policy = TensorDictSequential(values, QValueModule(spec=env.action_spec))
    loss = DQNLoss(policy, action_space=env.action_spec, delay_value=False)
    optimizer = torch.optim.Adam(loss.parameters(), 0.01)
    meter = stb_gym.RegretMeter(gym.make(BOX))
    before = meter(net, masked=True).regret
    explores = TensorDictSequential(policy, EGreedyModule(env.action_spec, eps_init=0.1, eps_end=0.1))
    for batch in Collector(env, explores, frames_per_batch=64, total_frames=512, auto_register_policy_transforms=False):
        optimizer.zero_grad()
        loss(batch.reshape(-1))["loss"].backward()
        optimizer.step()
    assert meter(net, masked=True).regret != before
