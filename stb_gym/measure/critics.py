"""Measure a critic against the exact values of the policy that it criticises."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from stb_gym.measure.meter import RegretMeter
from stb_gym.measure.sb3_models import ModelNetwork
from stb_gym.measure.tensors import as_array
from stb_gym.solver import Policy

EQUAL = 1e-9  # share of random play's regret below which an advantage counts as 0


@dataclass(frozen=True)
class CriticErrors:
    """The errors of a critic against the exact values of the policy that it criticises, in the objective's unit.

    Attributes:
        bias: the mean error, weighted by the visits of the policy.
        root_mean_square: the root of the mean square of the error, weighted in the same way.
        wrong_signs: the share of advantages with the wrong sign. Positions are weighted by visits, and the legal
            actions of one equally. Actions that are exactly as good as the policy are left out.
    """

    bias: float
    root_mean_square: float
    wrong_signs: float


def errors_of_critic(
    meter: RegretMeter, agent: Any, masked: bool | None, policy: Policy, critic: Callable[..., Any] | None
) -> CriticErrors | None:
    """Return the errors of a given critic, or of the critic of a model; None without one.

    It is also None if the rewards from which the critic learns are not a multiple of the utility, or are all 0. The
    errors are against the exact values of the agent's `policy`, or of the stochastic policy of an actor-critic model.
    """
    scale = meter.view.reward_scale
    if critic is None and hasattr(agent, "policy") and (network := ModelNetwork(agent)).has_critic:
        critic = network.critic
        policy = meter.policy(agent, False, masked) if network.reveals_probabilities else policy
        scale = meter.view.learned_scale(agent)
    if critic is None or not scale:
        return None
    found = meter.solution.evaluate(policy, meter.illegal)
    tables, goal = found.tables, found.optimum.objective
    at = tables.decisions
    estimate = as_array(critic(meter.view(tables.observation[at], tables.legal[at])), "the critic").astype(float)
    if estimate.shape not in {(len(at),), (len(at), 1), (len(at), tables.num_actions)}:
        raise ValueError(
            f"a critic must return values [B] or [B, A], not shape {estimate.shape} for {len(at)} positions"
        )
    _, at_states = found.utilities
    exact = found.pair_advantage
    if estimate.size > len(at):
        of_actions = tables.policy(estimate)
        of_pairs = of_actions[tables.pair_state, tables.pair_action]
        # Illegal actions count as the policy takes them; those that it never takes may have any estimate.
        taken = policy if policy.ndim == 2 else np.eye(tables.num_actions)[policy]
        of_states = np.multiply(taken, of_actions, out=np.zeros(taken.shape), where=taken > 0).sum(axis=1)
        estimated = of_pairs - tables.at_pairs(of_states)
    else:
        of_states = scale * goal.utilities(tables.final_score).astype(float)[tables.state_origin]
        of_states[at] = estimate.ravel()
        estimated = tables.after_pairs(tables.mean_over_rolls(of_states)) - tables.at_pairs(of_states)
    errors = of_states[at] / scale - at_states[at]
    visits = found.visits[at] / found.visits[at].sum()
    is_known = abs(exact) > EQUAL * abs(found.optimum.value - found.random_value)
    weights = tables.at_pairs(found.visits) * tables.uniform * is_known
    wrong = np.sign(estimated) != np.sign(exact)
    return CriticErrors(
        float(visits @ errors),
        float(np.sqrt(visits @ errors**2)),
        float(weights @ wrong / weights.sum()) if weights.any() else 0.0,
    )
