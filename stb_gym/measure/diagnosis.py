"""Split the regret of an agent into parts: exploration, sampling, representation and the rest.

Nothing is sampled. The parts compare the agent with policies of one class: at each state the policy plays as the agent
does, or takes an action that was tried. The policies differ in two ways. They may take only actions that were tried, or
all. They plan with the probabilities of throws, or with the frequencies that were observed.
"""

import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from stb_gym.arguments import checked
from stb_gym.arrays import BoolArray, FloatArray
from stb_gym.checks import check_integer
from stb_gym.measure.critics import CriticErrors, errors_of_critic
from stb_gym.measure.meter import RegretMeter
from stb_gym.measure.policy_gradients import cosine_with_exact, network_of
from stb_gym.measure.tensors import as_array
from stb_gym.measure.visits import Visits
from stb_gym.solver import Evaluation, is_as_good


@dataclass(frozen=True)
class Diagnosis:
    """Why an agent loses; regrets are in the objective's unit.

    The parts sum to the regret. Exploration and sampling depend on which is taken first, so each part is the mean over
    both orders (its Shapley value). Both orders follow from the attributes: the part that is taken first is
    `exploration_first` or `sampling_first`, and the other one is `exploration + sampling` minus this.

    A part is negative if the agent makes up for the loss of another part. For example, a network generalises across
    states. So it may play better than the best policy that learns each state separately. Then its representation or
    rest is negative.

    Attributes:
        evaluation: the exact measurement of the agent.
        exploration: the regret added by taking only actions that were tried instead of all.
        sampling: the regret added by planning with the observed frequencies of throws instead of their probabilities.
        representation: the regret added by a new copy of the agent's network that is trained on exact optimal actions;
            None if none was trained. Then it is a part of `rest`.
        rest: the regret that remains.
        exploration_first: the regret of the best policy that, at each state, plays as the agent does or takes an action
            that was tried. It is never negative.
        sampling_first: the regret of the policy that is best, among all actions, for the observed frequencies. It is
            never negative.
        critic: the errors of the critic; None without one.
        gradient_cosine: the cosine between a given gradient and the exact policy gradient; None without one.
    """

    evaluation: Evaluation
    exploration: float
    sampling: float
    representation: float | None
    rest: float
    exploration_first: float
    sampling_first: float
    critic: CriticErrors | None = None
    gradient_cosine: float | None = None

    def summary(self) -> dict[str, float]:
        """Return the numbers by name, ready for JSON; unknown ones are left out."""
        numbers = {"regret": self.evaluation.regret, **vars(self)}
        del numbers["evaluation"], numbers["critic"]
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
    min_visits: int = 1,
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
        min_visits: how often an action must have been taken at a state to count as tried.

    Returns:
        The exact evaluation, the parts of its regret in the objective's unit, the errors of the critic in the unit of
        rewards, and the cosine of the gradient; `summary()` has the numbers by name.

    Raises:
        TypeError: as `meter` does.
        ValueError: as `meter` does; if the visits are of another game; if a gradient or `fit_steps` is given and the
            agent is neither a torch module nor a model of stable-baselines3; or if the gradient has another size.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> envs = stb_gym.VectorRecordVisits(gym.make_vec("stb_gym/ShutTheBox-v0", 100))
        >>> _ = envs.reset(seed=0)
        >>> for _ in range(100):
        ...     _ = envs.step(envs.unwrapped.legal_sample())
        >>> meter = stb_gym.RegretMeter(envs)
        >>> found = stb_gym.diagnose(meter, lambda observations, masks: masks.argmax(axis=1), envs.visits)
        >>> round(found.exploration, 2), round(found.sampling, 2), round(found.rest, 2)
        (4.28, 0.37, 8.34)
    """
    check_integer("fit_steps", fit_steps, 0, 10**9)
    check_integer("min_visits", min_visits, 1, 2**53)
    if visits.tables.game != meter.game:
        raise ValueError(f"the visits are of {visits.tables.game}, but the meter is of {meter.game}")
    found = meter(agent, deterministic, masked)
    tried = visits.pairs >= min_visits
    throws = np.add.reduceat(visits.states, found.tables.state_start[:-1])[found.tables.state_origin]
    frequencies = np.where(throws > 0, visits.states / np.maximum(throws, 1), found.tables.state_probability)
    exploration_first = _best(found, tried, found.tables.state_probability).regret
    sampling_first = _best(found, np.ones_like(tried), frequencies).regret
    both = _best(found, tried, frequencies).regret
    fitted = _regret_of_fit(meter, agent, found, fit_steps) if fit_steps else both
    return Diagnosis(
        found,
        exploration=(exploration_first + both - sampling_first) / 2,
        sampling=(sampling_first + both - exploration_first) / 2,
        representation=fitted - both if fit_steps else None,
        rest=found.regret - fitted,
        exploration_first=exploration_first,
        sampling_first=sampling_first,
        critic=errors_of_critic(meter, agent, masked, meter.policy(agent, deterministic, masked), critic),
        gradient_cosine=None if gradient is None else cosine_with_exact(meter, agent, masked, gradient),
    )


def _best(found: Evaluation, tried: BoolArray, chances: FloatArray) -> Evaluation:
    """Return the best policy, for given chances of rolls, that plays as an agent does or takes actions that were tried.

    Args:
        found: the agent.
        tried: [P] the actions that were tried.
        chances: [S] the probability of each roll at its afterstate.
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
        changes[states] = (best > own) & ~is_as_good(own, best, utility)
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
    network, scores_of = network_of(meter, agent, copied=True)
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
