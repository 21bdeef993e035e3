"""Exact checks of the formulas of other libraries: each passes, or its failure is explained."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from ray.rllib.algorithms.impala.torch.vtrace_torch_v2 import vtrace_torch
from ray.rllib.utils.postprocessing.value_predictions import compute_value_targets
from skrl.agents.torch.ppo.ppo import compute_gae
from tianshou.algorithm.algorithm_base import _gae, _nstep_return
from torchrl.objectives.value import functional

from stb_gym import check


def in_torchrl(function):
    """Return an estimator of TorchRL, whose arrays are [B, T, 1], as a function of a batch [B, T]."""

    def estimate(batch):
        seen = batch.map(lambda array: torch.as_tensor(array)[..., None])
        ends = (seen.done, seen.terminated)
        return function(batch, seen.value, seen.next_value, seen.reward, ends)[..., 0]

    return estimate


def gae_by(name):
    function = getattr(functional, name)
    return in_torchrl(
        lambda batch, value, following, reward, ends: function(
            batch.discount, batch.lam, value, following, reward, *ends
        )[0]
    )


def test_advantages_of_torchrl():
    assert check.advantages(gae_by("generalized_advantage_estimate"), layout="BT")
    assert check.advantages(gae_by("vec_generalized_advantage_estimate"), layout="BT", lam=[0.5, 0.95, 1.0])
    with pytest.raises(TypeError, match="raised IndexError"):  # TorchRL 0.14.1 dies at lambda 0
        check.advantages(gae_by("vec_generalized_advantage_estimate"), layout="BT", lam=[0.0])


@pytest.mark.parametrize("name", ["td_lambda_return_estimate", "vec_td_lambda_return_estimate"])
def test_returns_of_torchrl(name):
    function = in_torchrl(
        lambda batch, _, following, reward, ends: getattr(functional, name)(
            batch.discount, batch.lam, following, reward, *ends
        )
    )
    assert check.advantages(function, kind="lambda-return", layout="BT", lam=[0.5, 0.95, 1.0])


def test_v_trace_of_torchrl():
    def estimate(batch):
        seen = batch.map(lambda array: torch.as_tensor(array)[..., None])
        log_ratio = seen.ratio.log()
        values = (seen.value, seen.next_value, seen.reward)
        ends = (seen.done, seen.terminated)
        return functional.vtrace_advantage_estimate(batch.discount, log_ratio, 0 * log_ratio, *values, *ends)[1][..., 0]

    assert check.advantages(estimate, kind="v-trace", layout="BT", lam=[1.0])


def test_advantages_of_tianshou():
    def estimate(batch):
        following = np.where(batch.terminated, 0, batch.next_value)
        return _gae(batch.value, following, batch.reward, batch.done, batch.discount, batch.lam)

    assert check.advantages(estimate, layout="T")


def test_targets_of_several_steps_of_tianshou():
    def target(batch):
        length = len(batch.reward)
        best = np.where(batch.next_mask, batch.next_q, -np.inf).max(axis=-1)
        at_end = np.where(batch.terminated, 0, best)
        rows = [np.arange(length)]
        for _ in range(batch.num_steps - 1):
            goes_on = ~batch.done[rows[-1]] & (rows[-1] < length - 1)
            rows.append(rows[-1] + goes_on)
        ends = batch.done.copy()
        ends[-1] = True  # its buffer marks the newest row of a turn that goes on
        return _nstep_return(batch.reward, ends, at_end[rows[-1]][:, None], np.array(rows), batch.discount, len(rows))[
            :, 0
        ]

    assert check.q_targets(target, num_steps=3, layout="T")


def test_value_targets_of_rllib():
    """RLlib adds a row after each turn and after the data, with the value of the state that follows."""

    def estimate(batch):
        ends = batch.done.copy()
        ends[-1] = True
        after = np.flatnonzero(ends) + 1
        values = np.insert(batch.value, after, batch.next_value[ends])
        rewards = np.insert(batch.reward, after, 0.0)
        terminated = np.insert(batch.terminated, after, False)
        truncated = np.insert(ends & ~batch.terminated, after, True)
        found = compute_value_targets(values, rewards, terminated, truncated, batch.discount, batch.lam)
        return np.delete(found, after + np.arange(len(after)))

    assert check.advantages(estimate, kind="lambda-return", layout="T")


def test_v_trace_of_rllib():
    def estimate(batch):
        seen = batch.map(torch.as_tensor)
        log_ratio = seen.ratio.log()
        discounts = batch.discount * (~seen.terminated).double()
        return vtrace_torch(
            target_action_log_probs=log_ratio,
            behaviour_action_log_probs=0 * log_ratio,
            discounts=discounts,
            rewards=seen.reward,
            values=seen.value,
            bootstrap_values=seen.last_value,
        )[0]

    assert check.advantages(estimate, kind="v-trace", layout="TB", lam=[1.0], truncation=False)


def returns_of_skrl(batch, **options):
    seen = batch.map(torch.as_tensor)
    ends = {"terminated": seen.terminated, "truncated": seen.truncated}
    values = {"values": seen.value, "last_values": seen.last_value}
    how = {"discount_factor": batch.discount, "lambda_coefficient": batch.lam}
    return compute_gae(rewards=seen.reward, **ends, **values, **how, **options)[0]


def test_returns_of_skrl():
    """By default skrl sums over a truncation; with `time_limit_bootstrap` its agent adds the value to the reward."""
    result = check.advantages(returns_of_skrl, kind="lambda-return", layout="TB")
    assert result.likely == ("a truncation is ignored: the next turn's value and sum follow",)
    assert all(case.passed or "time limit" in case.name for case in result.cases)

    def with_bootstrap(batch):
        reward = batch.reward + batch.discount * batch.next_value * (batch.truncated & ~batch.terminated)
        return returns_of_skrl(replace(batch, reward=reward), time_limit_bootstrap=True)

    assert check.advantages(with_bootstrap, kind="lambda-return", layout="TB")
