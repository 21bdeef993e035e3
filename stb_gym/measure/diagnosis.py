"""Diagnose why an agent loses: its regret in parts, the errors of its critic, the exact gradient of its policy.

Nothing is sampled. The parts come from a chain of policies from perfect play to the agent. Each policy may use less
than the one before. A part is the regret that this step adds.
"""

import sys
from collections.abc import Callable
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.arrays import FloatArray
from stb_gym.checks import check_integer
from stb_gym.measure.agents import module_scores
from stb_gym.measure.meter import RegretMeter
from stb_gym.measure.sb3_models import ModelNetwork
from stb_gym.measure.tensors import as_array, is_module
from stb_gym.measure.visits import Visits
from stb_gym.solver import Evaluation, is_as_good

EQUAL = 1e-9  # share of random play's regret below which an advantage counts as 0


@dataclass(frozen=True)
class CriticErrors:
    """The errors of a critic against the exact values of the policy that it criticises, in the unit of rewards.

    Attributes:
        bias: the mean error, weighted by the visits of the policy.
        root_mean_square: the root of the mean square of the error, weighted in the same way.
        wrong_signs: the share of advantages with the wrong sign. Positions are weighted by visits, and the legal
            actions of one equally. Actions that are exactly as good as the policy are left out.
    """

    bias: float
    root_mean_square: float
    wrong_signs: float


@dataclass(frozen=True)
class Diagnosis:
    """Why an agent loses; regrets are in the objective's unit.

    The parts sum to the regret. Exploration is never negative. Another part is negative if the agent makes up for what
    an earlier part lost. For example, a network generalises across positions. So it may play better than the best
    policy that learns each position separately. Then its representation or optimisation is negative.

    Attributes:
        evaluation: the exact measurement of the agent.
        exploration: the regret of the best policy that, at each position, plays as the agent does or takes an action
            that was tried.
        sampling: the regret added by planning with the observed frequencies of throws instead of their probabilities,
            among actions that were tried. Where none was tried, the policy plays as the agent does.
        representation: the regret added by a new copy of the agent's network that is trained on exact optimal actions;
            None if none was trained. Then it is a part of `optimisation`.
        optimisation: the regret that remains.
        critic: the errors of the critic; None without one.
        gradient_cosine: the cosine between a given gradient and the exact policy gradient; None without one.
    """

    evaluation: Evaluation
    exploration: float
    sampling: float
    representation: float | None
    optimisation: float
    critic: CriticErrors | None = None
    gradient_cosine: float | None = None

    def summary(self) -> dict[str, float]:
        """Return the numbers by name, ready for JSON; unknown ones are left out."""
        parts = ("exploration", "sampling", "representation", "optimisation", "gradient_cosine")
        numbers = {"regret": self.evaluation.regret} | {name: getattr(self, name) for name in parts}
        if self.critic is not None:
            numbers |= {f"critic_{name}": number for name, number in asdict(self.critic).items()}
        return {name: number for name, number in numbers.items() if number is not None}


@checked
def diagnose(
    meter: RegretMeter,
    agent: Any,
    visits: Visits,
    *,
    deterministic: bool = True,
    masked: bool | None = None,
    critic: Callable[..., Any] | None = None,
    gradient: Any = None,
    fit_steps: int = 0,
) -> Diagnosis:
    """Split the regret of an agent into parts, and measure its critic and its gradient.

    Args:
        meter: the meter of the agent's environment, for a game with tables.
        agent: an agent as `meter` takes it.
        visits: what the agent visited while it learned, see `stb_gym.RecordVisits`.
        deterministic: see `RegretMeter`.
        masked: see `RegretMeter`.
        critic: a function from observations to [B] values of the policy, or [B, A] values of actions, in the unit of
            the environment's rewards; by default the critic of a model of stable-baselines3. The critic of an
            actor-critic model is compared with its stochastic policy. It is left out if its rewards are normalised.
        gradient: a tensor for each parameter of the agent's network, such as `[p.grad for p in net.parameters()]`, or
            all in one vector, a tensor or an array. It is compared with `policy_gradient`.
        fit_steps: steps of Adam that train a new copy of the agent's network on the exact optimal actions; 0 for none.

    Returns:
        The exact evaluation, the parts of its regret in the objective's unit, the errors of the critic in the unit of
        rewards, and the cosine of the gradient; `summary()` has the numbers by name.

    Raises:
        TypeError: as `meter` does.
        ValueError: as `meter` does; if the visits are those of another game; if a gradient or `fit_steps` is given for
            an agent that is no torch module or model of stable-baselines3; or if the gradient has another size.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> envs = stb_gym.VectorRecordVisits(gym.make_vec("stb_gym/ShutTheBox-v0", 100))
        >>> _ = envs.reset(seed=0)
        >>> for _ in range(100):
        ...     _ = envs.step(envs.unwrapped.legal_sample())
        >>> meter = stb_gym.RegretMeter(envs)
        >>> found = stb_gym.diagnose(meter, lambda observations, masks: masks.argmax(axis=1), envs.visits)
        >>> round(found.exploration, 2), round(found.sampling, 2), round(found.optimisation, 2)
        (4.43, 0.27, 8.29)
    """
    check_integer("fit_steps", fit_steps, 0, 10**9)
    tables = meter.solution.tables
    if visits.tables.game != meter.game:
        raise ValueError(f"the visits are of {visits.tables.game}, but the meter is of {meter.game}")
    found = meter(agent, deterministic, masked)
    tried = visits.pairs > 0
    regrets = [
        _best(found, tried, tables.state_probability, may_stay=True).regret,
        _best(found, tried, _frequencies(visits), may_stay=False).regret,
    ]
    if fit_steps:
        regrets.append(_regret_of_fit(meter, agent, found, fit_steps))
    regrets.append(found.regret)
    exploration, sampling, *representation, optimisation = np.diff(regrets, prepend=0.0).tolist()
    return Diagnosis(
        found,
        exploration,
        sampling,
        representation[0] if representation else None,
        optimisation,
        _errors_of_critic(meter, agent, masked, found, critic),
        None if gradient is None else _cosine(meter, agent, masked, gradient),
    )


# The chain of policies


def _frequencies(visits: Visits) -> FloatArray:
    """Return [S] the observed frequency of each roll at its afterstate; its probability if no roll was observed."""
    tables = visits.tables
    throws = np.add.reduceat(visits.states, tables.state_start[:-1])[tables.state_origin]
    return np.where(throws > 0, visits.states / np.maximum(throws, 1), tables.state_probability)


def _best(found: Evaluation, tried: NDArray[np.bool_], chances: FloatArray, may_stay: bool) -> Evaluation:
    """Return the best policy, for given chances of rolls, that plays as an agent does or takes actions that were tried.

    Args:
        found: the agent.
        tried: [P] the actions that were tried.
        chances: [S] the probability of each roll at its afterstate.
        may_stay: whether it may play as the agent does where some action was tried.
    """
    tables, goal = found.tables, found.optimum.objective
    utility = goal.utilities(tables.final_score).astype(float)
    of_illegal = goal.illegal_utility(tables.final_score)
    at_afterstates, at_states = np.empty(tables.num_afterstates), utility[tables.state_origin]
    changes = np.zeros(tables.num_states, np.bool_)
    for level in tables.levels:
        after = at_afterstates[tables.pair_afterstate[level.pairs]]
        states = level.states.start + level.live
        own = level.reduce(np.add, found.weights[level.pairs] * after) + found.illegal[states] * of_illegal
        best = level.reduce(np.maximum, np.where(tried[level.pairs], after, -np.inf))
        changes[states] = best > (own if may_stay else -np.inf)
        at_states[states] = np.where(changes[states], best, own)
        first = tables.state_start[level.afterstates]
        weighted = at_states[level.states] * chances[level.states]
        at_afterstates[level.afterstates] = np.add.reduceat(weighted, first - first[0])
    best_pairs = tried & is_as_good(tables.after_pairs(at_afterstates), tables.at_pairs(at_states), at_afterstates)
    weights = np.where(tables.at_pairs(changes), 0.0, found.weights)
    lowest = tables.lowest(best_pairs)[changes[tables.decisions]]
    weights[lowest] = 1
    return replace(found, weights=weights, illegal=np.where(changes, 0, found.illegal))


def _regret_of_fit(meter: RegretMeter, agent: Any, found: Evaluation, steps: int) -> float:
    """Return the least regret of a new network like the agent's while it is trained on exact optimal actions."""
    torch: Any = sys.modules.get("torch")
    network, scores_of = _network_of(meter, agent, copied=True)
    tables = found.tables
    optimal = np.zeros(tables.legal.shape, np.bool_)
    optimal[tables.pair_state, tables.pair_action] = found.optimum.optimal
    perfect = found.optimum.evaluate(found.optimum.policy)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        for part in network.modules():
            if hasattr(part, "reset_parameters"):
                part.reset_parameters()
    optimizer = torch.optim.Adam(network.parameters(), 3e-3)
    at = tables.decisions
    device = scores_of().device
    weight = torch.as_tensor(perfect.visits[at] + 1 / len(at), device=device).float()
    is_optimal, legal = (torch.as_tensor(marked[at], device=device) for marked in (optimal, tables.legal))
    least = np.inf
    for step in range(steps + 1):
        scores = scores_of()
        scores = scores.masked_fill(~legal, -np.inf) if found.masked else scores
        if step % max(steps // 20, 1) == 0:
            least = min(
                least, found.optimum.evaluate(tables.policy(as_array(scores.detach()).argmax(axis=1)), "end").regret
            )
        chances = scores.log_softmax(dim=1).masked_fill(~is_optimal, -np.inf).logsumexp(dim=1)
        optimizer.zero_grad()
        (-(weight * chances).sum() / weight.sum()).backward()
        optimizer.step()
    return float(least)


# The critic


def _errors_of_critic(
    meter: RegretMeter, agent: Any, masked: bool | None, found: Evaluation, critic: Callable[..., Any] | None
) -> CriticErrors | None:
    """Return the errors of a given critic, or of the critic of a model; None without one.

    It is also None if the rewards from which the critic learns are not a multiple of the utility. The errors are
    against the exact values of the policy of `found`, or of the stochastic policy of an actor-critic model.
    """
    scale = meter.view.reward_scale
    if critic is None and hasattr(agent, "policy") and (network := ModelNetwork(agent)).has_critic:
        critic = network.critic
        found = meter(agent, False, masked) if network.reveals_probabilities else found
        scale = meter.view.learned_scale(agent)
    if critic is None or scale is None:
        return None
    tables, goal = found.tables, found.optimum.objective
    at = tables.decisions
    estimate = as_array(critic(meter.view(tables.observation[at], tables.legal[at]))).astype(float)
    if estimate.shape not in {(len(at),), (len(at), 1), (len(at), tables.num_actions)}:
        raise ValueError(
            f"a critic must return values [B] or [B, A], not shape {estimate.shape} for {len(at)} positions"
        )
    at_afterstates, at_states = found.utilities
    exact = tables.after_pairs(at_afterstates) - tables.at_pairs(at_states)
    if estimate.size > len(at):
        of_pairs = tables.policy(estimate)[tables.pair_state, tables.pair_action]
        share = np.maximum(tables.sum_at_states(found.weights), 1e-300)
        of_states = tables.sum_at_states(found.weights * of_pairs) / share
        estimated = of_pairs - tables.at_pairs(of_states)
    else:
        of_states = scale * goal.utilities(tables.final_score).astype(float)[tables.state_origin]
        of_states[at] = estimate.ravel()
        of_afterstates = np.add.reduceat(of_states * tables.state_probability, tables.state_start[:-1])
        estimated = tables.after_pairs(of_afterstates) - tables.at_pairs(of_states)
    errors = of_states[at] - scale * at_states[at]
    visits = found.visits[at] / found.visits[at].sum()
    is_known = abs(exact) > EQUAL * abs(found.optimum.value - found.random_value)
    weights = tables.at_pairs(found.visits) * tables.uniform * is_known
    wrong = np.sign(estimated) != np.sign(exact)
    return CriticErrors(
        float(visits @ errors),
        float(np.sqrt(visits @ errors**2)),
        float(weights @ wrong / weights.sum()) if weights.any() else 0.0,
    )


# The gradient


@checked
def policy_gradient(meter: RegretMeter, agent: Any, masked: bool | None = None) -> FloatArray:
    """Return the exact gradient of the expected utility of a stochastic policy.

    It is the policy gradient theorem (Sutton et al., "Policy gradient methods for reinforcement learning with function
    approximation", 2000) with exact visits and advantages: the sum over states and actions of
    visits x advantage x the gradient of the action's probability.

    Args:
        meter: the meter of the agent's environment, for a game with tables.
        agent: a torch module that returns scores, or a model of stable-baselines3 with an actor-critic policy.
        masked: see `RegretMeter`.

    Returns:
        [P] the derivatives by all parameters of the network, in the order of `parameters()`. Utility is in the
        objective's unit, so that more is better; rewards are utility times the environment's `reward_scale`.

    Raises:
        TypeError: as `meter` does.
        ValueError: as `meter` does, or if the agent is something else.
    """
    _network_of(meter, agent)
    found = meter(agent, False, masked)
    tables = found.tables
    at_afterstates, at_states = found.utilities
    of_illegal = found.optimum.objective.illegal_utility(tables.final_score)
    advantage = np.tile((of_illegal - at_states)[:, None], tables.num_actions)
    advantage[tables.pair_state, tables.pair_action] = tables.after_pairs(at_afterstates) - tables.at_pairs(at_states)
    return probability_gradient(meter, agent, found.visits[:, None] * advantage, bool(found.masked))


def probability_gradient(meter: RegretMeter, agent: Any, weights: FloatArray, masked: bool) -> FloatArray:
    """Return the derivatives of a weighted sum of the probabilities of actions.

    Args:
        meter: as `policy_gradient` takes it.
        agent: as `policy_gradient` takes it.
        weights: [S, A] the weight of each action at each state.
        masked: whether the softmax is over legal actions only.

    Returns:
        [P] the derivatives by all parameters of the network, in the order of `parameters()`.

    Raises:
        ValueError: if the agent has no network that scores actions.
    """
    torch: Any = sys.modules.get("torch")
    network, scores_of = _network_of(meter, agent)
    tables = meter.solution.tables
    at = tables.decisions
    scores = scores_of().double()
    if masked:
        scores = scores.masked_fill(~torch.as_tensor(tables.legal[at], device=scores.device), -np.inf)
    objective = (scores.softmax(dim=1) * torch.as_tensor(weights[at], device=scores.device)).sum()
    parameters = list(network.parameters())
    derivatives = torch.autograd.grad(objective, parameters, allow_unused=True)
    return flat_gradient(derivatives, parameters)


def _network_of(meter: RegretMeter, agent: Any, copied: bool = False) -> tuple[Any, Callable[[], Any]]:
    """Return the network of an agent, and a function that returns its scores [D, A] at all decisions, with gradients.

    Raises:
        ValueError: if the agent has no network that scores actions.
    """
    is_model = hasattr(agent, "predict")
    module = getattr(agent, "policy", agent) if is_model else agent
    module = deepcopy(module) if copied else module
    tables = meter.solution.tables
    masks = tables.legal[tables.decisions]
    observations = meter.view(tables.observation[tables.decisions], masks)
    if is_model and (network := ModelNetwork(module)).scores_actions:
        return module, lambda: network.scores(observations)
    if is_module(module) and not is_model:
        return module, lambda: module_scores(module, observations, masks)
    raise ValueError(f"a gradient or fit_steps needs a network that scores actions, not a {type(agent).__name__}")


def _cosine(meter: RegretMeter, agent: Any, masked: bool | None, gradient: Any) -> float:
    """Return the cosine between a given gradient and the exact one."""
    exact = policy_gradient(meter, agent, masked)
    network, _ = _network_of(meter, agent)
    given = flat_gradient(gradient, list(network.parameters()))
    if given.shape != exact.shape:
        raise ValueError(f"the gradient has {given.size} numbers, but the agent's network {exact.size} parameters")
    return float(exact @ given / (np.linalg.norm(exact) * np.linalg.norm(given)))


def flat_gradient(slopes: Any, parameters: list[Any]) -> FloatArray:
    """Join tensors or arrays, one for each parameter or all in one, to a vector; None stands for zeros."""
    if isinstance(slopes, list | tuple):
        if len(slopes) != len(parameters):
            raise ValueError(f"the gradient has {len(slopes)} tensors, but the agent's network has {len(parameters)}")
        pairs = zip(slopes, parameters, strict=True)
        slopes = [weight.detach() * 0 if slope is None else slope for slope, weight in pairs]
    else:
        slopes = [slopes]
    as_tensor = sys.modules["torch"].as_tensor
    return np.concatenate([np.asarray(as_tensor(slope).detach().cpu().double()).ravel() for slope in slopes])
