"""Test the check of advantages of groups: right estimators pass, and what only adds noise is found and named."""

from functools import partial

import numpy as np
import pytest
import torch

from stb_gym import check
from tests.check import assert_named


def by_group(function):
    """Return an estimator from a function of returns [G, K]."""
    return lambda groups: function(groups.returns.reshape(-1, groups.group_size)).ravel()


def centred(returns):
    return returns - returns.mean(1, keepdims=True)


def grpo(groups, epsilon=1e-6):
    returns = torch.as_tensor(groups.returns).float().view(-1, groups.group_size)
    return ((returns - returns.mean(1, keepdim=True)) / (returns.std(1, keepdim=True) + epsilon)).flatten()


def leave_one_out(returns):
    return returns - (returns.sum(axis=1, keepdims=True) - returns) / (returns.shape[1] - 1)


@pytest.mark.parametrize("group_size", [2, 4])
def test_right_estimators_pass(group_size):
    for function in (by_group(centred), by_group(leave_one_out)):
        assert check.group_advantages(function, group_size=group_size)
    assert check.group_advantages(grpo, group_size=group_size, scaled=True)


FAULTS = {
    "no baseline is subtracted": lambda groups: groups.returns,
    "the place of an answer matters": by_group(lambda returns: returns - returns[:, :1]),
    "all advantages are 0": lambda groups: 0 * groups.returns,
    "the sign is wrong": by_group(lambda returns: -centred(returns)),
    "divided by a deviation over all groups": by_group(lambda returns: centred(returns) / returns.std()),
    "divisor depends on the answer's own return": grpo,
    "a group of equal returns is divided by 0": partial(grpo, epsilon=0.0),
}


@pytest.mark.parametrize("words", FAULTS)
def test_faults_are_named(words):
    assert_named(check.group_advantages(FAULTS[words]), words)


def standardised(returns, ddof=0, epsilon=1e-4):
    return centred(returns) / (returns.std(1, ddof=ddof, keepdims=True) + epsilon)


def test_variants_of_scaled_estimators_pass():
    for ddof in (0, 1):
        assert check.group_advantages(by_group(partial(standardised, ddof=ddof)), scaled=True)
    assert check.group_advantages(lambda groups: grpo(groups) / 2, scaled=True).likely == ()


WRONGLY_SCALED = {
    "the sign is wrong": lambda returns: -standardised(returns),
    "not divided by the standard deviation": centred,
    "divided by the variance": lambda returns: centred(returns) / (returns.var(1, keepdims=True) + 1e-6),
    "not standardised by the mean and the standard deviation": lambda returns: (
        (returns - np.median(returns, 1, keepdims=True)) / (returns.std(1, keepdims=True) + 1e-6)
    ),
}


@pytest.mark.parametrize("words", WRONGLY_SCALED)
def test_faults_of_scaled_estimators_are_named(words):
    assert_named(check.group_advantages(by_group(WRONGLY_SCALED[words]), scaled=True), words)
