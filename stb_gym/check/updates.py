"""Check whole updates of learners: one update on all turns of a small game, each as often as it is likely.

The data have no sampling error, so one update by plain gradient descent moves the parameters exactly along the
gradient that follows from the tables of the game.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from importlib import import_module
from importlib.metadata import version
from math import lcm
from typing import Any, Protocol

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.arrays import FloatArray
from stb_gym.check.batches import Batch
from stb_gym.check.results import Case, CheckResult
from stb_gym.check.trajectories import Steps, random_process, turns
from stb_gym.check.update_faults import Losses, Movement, policy_faults, q_faults
from stb_gym.games import ShutTheBox
from stb_gym.messages import quoted, reason

FEATURES = 8  # numbers in an observation
SPREAD = 0.5  # standard deviation of them
REWARD = 0.1  # standard deviation of rewards: small, so that the Huber loss of action values is half a square
NOISE = 0.03  # standard deviation of what is added to the parameters of a target network
FIT = 1e-4  # how close log-probabilities of the learner must come to those of the policy of the data
EXACT, NEARLY = 1e-3, 0.1  # tolerances of one step, which is linear in the learning rate, and of several
COPY = 1e-6  # tolerance of the parameters of a target network
REMEDY = "make one update by hand on two transitions: print the loss, the gradients and what the optimiser holds"


@dataclass(frozen=True, repr=False)
class MoreActions(ShutTheBox):
    """Shut the Box in which illegal actions are allowed and end the turn; with masks only every second one is."""

    name = "more-actions"
    masked: bool = True

    def moves(self, afterstate: tuple[int, int], roll: tuple[int, ...]) -> dict[int, tuple[int, int]]:
        """Return the afterstate of each action, without dice if it ends the turn; {} where the turn is over."""
        legal = super().moves(afterstate, roll)
        others = range(1, len(self.actions), 2) if self.masked else range(len(self.actions))
        return dict.fromkeys(others, (afterstate[0], 0)) | legal if legal else {}


@dataclass(frozen=True)
class UpdateTask:
    """The settings with which a learner must be made. Its optimiser must be plain SGD.

    Attributes:
        num_actions: A, the number of actions.
        num_steps: N, the number of transitions of one update.
        batch_size: the number of transitions in a minibatch; it divides `num_steps`.
        num_epochs: how often an update uses each transition.
        learning_rate: of all parameters.
        max_grad_norm: the norm to which the gradient of all parameters together is clipped.
        entropy_coefficient: the factor of the entropy bonus.
        value_coefficient: the factor of the value loss, which is the mean square of the error.
        discount: the discount of a step.
        lam: lambda of generalised advantage estimation; 1 for a learner without a critic, which learns from returns.
            The critic learns from the advantage plus the value.
        tau: how far a target network follows in one update of it; 1 would copy the network.
        num_features: O, the numbers of an observation.
    """

    num_actions: int
    num_steps: int
    batch_size: int
    num_epochs: int = 1
    learning_rate: float = 0.3
    max_grad_norm: float = 1e9
    entropy_coefficient: float = 0.05
    value_coefficient: float = 0.5
    discount: float = 0.9
    lam: float = 0.95
    tau: float = 0.25
    num_features: int = FEATURES

    @property
    def env(self) -> gym.Env[Any, Any]:
        """An environment that has the spaces of the task alone: it cannot be stepped."""
        env: gym.Env[Any, Any] = gym.Env()
        env.observation_space = gym.spaces.Box(-np.inf, np.inf, (self.num_features,), np.float32)
        env.action_space = gym.spaces.Discrete(self.num_actions)
        return env


@dataclass(frozen=True)
class Transitions:
    """N transitions of whole turns, back to back; nothing is truncated.

    Attributes:
        observation: [N, O] float32.
        action: [N] int64.
        reward: [N] float32.
        terminated: [N] True where the turn ends.
        mask: [N, A] True where an action is legal.
        next_observation: [N, O] float32, before any reset.
        next_mask: [N, A] True where an action is legal next; all True where the turn is over.
        log_prob: [N] float32, the log-probability of the action; zeros for a learner of action values.
        value: [N] float32, the learner's critic of the observation; zeros without one.
    """

    observation: NDArray[np.float32]
    action: NDArray[np.int64]
    reward: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    mask: NDArray[np.bool_]
    next_observation: NDArray[np.float32]
    next_mask: NDArray[np.bool_]
    log_prob: NDArray[np.float32]
    value: NDArray[np.float32]

    @property
    def begins(self) -> NDArray[np.bool_]:
        """[N] True where a turn begins."""
        return np.append(True, self.terminated[:-1])


class Learner(Protocol):
    """A learner as `update` takes it: a library behind some methods.

    A learner of a policy also has `logits(observation)`, the scores [B, A] before any mask, and, if it has a critic,
    `values(observation)` [B]. A learner of action values has `q_values(observation)` [B, A] instead. If it has a target
    network, it has the module `target_network`, `target_q_values(observation)`, and perhaps `update_target()`, which
    makes one update of it with `tau`. All take a float32 tensor [B, O] and return tensors, with gradients.

    `distributions`, if present, are the names of installed packages whose versions the result should have.

    Attributes:
        network: a torch module with all parameters that an update may move.
    """

    network: Any

    def update(self, transitions: Transitions) -> None:
        """Put the transitions into the buffer of the library, and let it make one update."""


@dataclass(frozen=True, eq=False)
class Data:
    """Turns of a game, each as often as it is likely.

    Attributes:
        steps: [N, 1] the steps, in one stream.
        features: [S, O] float32, the observation of each state.
        share: [P] the share of the steps that take each pair.
    """

    steps: Steps
    features: NDArray[np.float32]
    share: FloatArray


@cache
def exact_data(masked: bool, discount: float) -> Data:
    """Return turns under a policy of simple fractions, each as often as it is likely, in random order."""
    game = MoreActions(tiles=3, dice=1, faces=4 if masked else 3, masked=masked)
    draws = np.random.default_rng(0)
    process = random_process(game, discount, seed=0)
    tables = process.tables
    weight = np.ones(len(process.policy))
    weight[tables.pair_start[tables.decisions]] = 2.0  # of the first action of each state
    process = replace(
        process,
        policy=weight / tables.at_pairs(tables.sum_at_states(weight)),
        move_reward=REWARD * process.move_reward,
        final_reward=REWARD * draws.normal(size=tables.num_afterstates),
    )
    once = turns(process)
    last = np.flatnonzero(once.terminated[:, 0])
    chances = [Fraction(weight).limit_denominator(10**6) for weight in once.weight[last, 0]]
    copies = lcm(*(chance.denominator for chance in chances))
    ranges = zip(np.append(0, last[:-1] + 1), last + 1, chances, strict=True)
    rows = [np.arange(first, end) for first, end, chance in ranges for _ in range(int(chance * copies))]
    order = np.concatenate([rows[number] for number in draws.permutation(len(rows))])
    columns = (once.pair, once.next_state, once.truncated, once.steps_left, once.weight)
    steps = Steps(process, *(column[order] for column in columns))
    share = np.bincount(steps.pair[:, 0], minlength=len(process.policy)) / len(order)
    features = SPREAD * draws.normal(size=(tables.num_states, FEATURES))
    return Data(steps, features.astype(np.float32), share)


@checked
def update(
    make: Callable[[UpdateTask], Any],
    *,
    masked: bool = True,
    double: bool = False,
    minibatches: bool = True,
    clipping: bool = True,
    entropy: bool = True,
    normalised: bool = False,
) -> CheckResult:
    """Check one whole update of a learner: buffer, advantages, losses, masks, gradients, clipping and optimiser.

    The learner's policy is first fitted to simple fractions. So all turns of a small game, each as often as it is
    likely, are some thousand transitions of equal weight. Rewards on moves, a discount and the learner's own critic
    make every part of the update matter.

    Args:
        make: takes an `UpdateTask` and returns a `Learner`, or a class of stable-baselines3 or sb3-contrib: PPO, A2C,
            DQN or MaskablePPO, for which `masked` and `minibatches` are known.
        masked: whether the learner uses masks. Without masks all actions are in the data, and illegal ones end the
            turn.
        double: whether a learner of action values selects the next action by the network that it trains.
        minibatches: whether a learner of a policy divides the data into minibatches, several times.
        clipping: whether the norm of the gradient of all parameters together is clipped.
        entropy: whether a learner of a policy has an entropy bonus.
        normalised: whether it normalises advantages and cannot do without. Then the policy loss may have any positive
            factor, and clipping is not checked.

    Returns:
        The result; an error is the difference from the exact step, relative to its length.

    Raises:
        TypeError: if `make` returns no learner, or a method of it fails.
        ValueError: if a method returns another shape, or the network cannot represent the policy of the data.

    Example:
        >>> import stable_baselines3
        >>> from stb_gym import check
        >>> check.update(stable_baselines3.A2C).passed
        True
    """
    if any(base.__module__.startswith("stable_baselines3.") for base in getattr(make, "__mro__", ())):
        make, masked, minibatches = import_module("stb_gym.check.adapters").stable_baselines3(make)
    data = exact_data(masked, UpdateTask.discount)
    size = len(data.steps.pair)
    number = next(number for number in range(4, size + 1) if size % number == 0)
    whole = UpdateTask(data.steps.process.tables.num_actions, size, size)
    whole = whole if entropy else replace(whole, entropy_coefficient=0.0)
    learner = make(whole)
    if not (hasattr(learner, "network") and (hasattr(learner, "logits") or hasattr(learner, "q_values"))):
        raise TypeError(
            f"make must return a learner with network, update, and logits or q_values, not {quoted(learner)}"
        )
    of_values = hasattr(learner, "q_values")
    if getattr(learner, "values", None) is None:
        whole = replace(whole, lam=1.0)
        learner = make(whole)
    tasks = {
        "one step on all data": (whole, True),
        f"{number} minibatches, twice": (
            replace(whole, batch_size=size // number, num_epochs=2, learning_rate=2e-4),
            minibatches and not of_values,
        ),
        "clipped gradient": (replace(whole, learning_rate=10.0, max_grad_norm=0.02), clipping and not normalised),
    }
    judged = [*_check_target_network(learner, whole, data)]
    for name, (task, applies) in tasks.items():
        if not applies:
            continue
        if all(case.passed for case, _ in judged):
            judged.append(_judge(name, make(task), task, data, double, normalised))
        else:
            judged.append((Case(name, skipped="an earlier case failed"), []))
    cases = tuple(case for case, _ in judged)
    passed = all(case.passed for case in cases)
    versions = {name: version(name) for name in ("torch", *getattr(learner, "distributions", ()))}
    likely = dict.fromkeys(words for _, named in judged for words in named)
    return CheckResult("update", cases, tuple(likely), "" if passed else REMEDY, versions)


Judged = tuple[Case, list[str]]  # a case, and what looks like its error


def _check_target_network(learner: Any, task: UpdateTask, data: Data) -> Iterator[Judged]:
    """Check that a target network is another one, and follows the network that is trained."""
    if not _follows(learner):
        return
    before = _joined(learner.network.parameters())
    _disturb(learner)
    online, target = (_joined(each.parameters()) for each in (learner.network, learner.target_network))
    same = float(abs(online - before).max())
    words = "the target network is the network that is trained, not a copy"
    yield Case("a target network of its own", same, where="both changed at once" * (same > 0)), [words] * (same > 0)
    if same:
        return
    if not hasattr(learner, "update_target"):
        yield Case("the target network follows", skipped="the learner has no update_target"), []
        return
    _called(learner, "update_target")
    after = _joined(learner.target_network.parameters())
    error = float(abs(after - target - task.tau * (online - target)).max())
    wrong = {
        "the target network does not change: the update copies it to itself, or does not reach it": target,
        "the target network is copied at once: tau is ignored": online,
        "tau and 1 - tau are exchanged": (1 - task.tau) * online + task.tau * target,
    }
    likely = [words for words, numbers in wrong.items() if error > COPY and abs(after - numbers).max() <= COPY]
    yield Case("the target network follows", error, COPY, "its parameters, all in one update"), likely


def _judge(name: str, learner: Any, task: UpdateTask, data: Data, double: bool, normalised: bool) -> Judged:
    """Let a learner make its update, and compare it with the exact gradients of its losses."""
    torch = import_module("torch")
    if hasattr(learner, "q_values"):
        losses, transitions = _q_loss(learner, task, data, double)
    else:
        losses, transitions = _policy_losses(learner, task, data)
    factors = dict(zip(losses, (1.0, task.value_coefficient, task.entropy_coefficient), strict=False))
    named = dict(learner.network.named_parameters())
    weights = list(named.values())
    minibatches = task.num_steps // task.batch_size

    def slope(loss: Any) -> FloatArray:
        """Return [K] minus the derivatives of a loss."""
        found = torch.autograd.grad(loss, weights, allow_unused=True, retain_graph=True)
        return -_joined(weight * 0 if each is None else each for each, weight in zip(found, weights, strict=True))

    slopes = {part: slope(loss) for part, loss in losses.items()}
    right = np.asarray(sum(factor * slopes[part] for part, factor in factors.items()))
    norm = float(np.linalg.norm(right))
    if norm == 0:
        raise ValueError("what the learner's methods return must depend on the parameters of its network")
    rate = task.learning_rate * task.num_epochs * minibatches
    length = rate * min(1.0, task.max_grad_norm / (norm + 1e-6))
    before = _joined(weights)
    followers = learner.target_network.parameters() if _follows(learner) else ()
    saved = [(weight, weight.detach().clone()) for weight in (*weights, *followers)]
    _called(learner, "update", Transitions(*map(np.copy, vars(transitions).values())))
    movement = Movement(
        tuple(named),
        np.repeat(np.arange(len(named)), [weight.numel() for weight in weights]),
        before,
        _joined(weights) - before,
        {part: length * each for part, each in slopes.items()},
        factors,
        EXACT if task.num_epochs == 1 else NEARLY,
    )
    if normalised:
        policy = movement.parts["the policy loss"]
        factor = 1 + float(policy @ (movement.moved - movement.exact) / (policy @ policy))
        movement = replace(movement, factors=factors | {"the policy loss": max(factor, 0.01)})
    case = Case(name, movement.error, movement.tolerance, movement.where)
    if case.passed:
        return case, []
    if task.max_grad_norm < norm:
        return case, ["the gradient is not clipped by the norm of all parameters together"]
    if task.num_epochs > 1:
        shares = {
            "only the first of all minibatches is used": 1 / minibatches / task.num_epochs,
            "only the first minibatch of each epoch is used": 1 / minibatches,
            "only one epoch is done": 1 / task.num_epochs,
        }
        found = [words for words, share in shares.items() if abs(movement.ratio / share - 1) < 0.25]
        return case, found or ["minibatches are left out, overlap, or are weighted in another way"]

    def wrong() -> Iterator[tuple[str, FloatArray]]:
        with torch.no_grad():
            for weight, number in saved:
                weight.copy_(number)
        for words, loss in _wrong_losses(learner, task, data, transitions, double).items():
            yield words, rate * slope(loss())

    lengths = {
        "the learning rate is applied twice": task.learning_rate,
        "the sign of the whole loss is wrong": -1.0,
        "the loss is a sum over steps, not a mean": task.num_steps,
        "the loss is a mean over turns, not over steps": task.num_steps / transitions.terminated.sum(),
        "the loss is divided by the number of steps twice": 1 / task.num_steps,
    }
    return case, [*movement.explanations(lengths, wrong)]


# The truth, from the tables of the game


def _policy_losses(learner: Any, task: UpdateTask, data: Data) -> tuple[dict[str, Any], Transitions]:
    """Return losses with the exact gradients of a policy, a critic and an entropy, and what the learner gets."""
    torch = import_module("torch")
    process, tables = data.steps.process, data.steps.process.tables
    at = tables.decisions
    parameters = list(learner.network.parameters())
    observation = torch.as_tensor(data.features[at])
    legal, row, action, wanted, share, states = (
        torch.as_tensor(np.array(each))
        for each in (
            tables.legal[at],
            np.searchsorted(at, tables.pair_state),
            tables.pair_action,
            np.log(process.policy),
            data.share,
            tables.at_pairs(tables.sum_at_states(data.share)),
        )
    )

    def log_probs() -> Any:
        logits = _answer(learner, "logits", observation, tables.num_actions).double()
        return logits.masked_fill(~legal, -1e9).log_softmax(dim=1)[row, action]

    def values() -> Any:
        return _answer(learner, "values", observation).double()

    _fit(lambda: log_probs() - wanted, parameters)
    has_critic = getattr(learner, "values", None) is not None
    value = np.zeros(tables.num_states)
    value[at] = _array(values()) if has_critic else 0.0
    error = process.backup(value) - tables.at_pairs(value)
    advantage = process.look_ahead(error, task.lam, process.longest_turn)[-1]
    target = torch.as_tensor((value + process.mean_at_states(advantage))[at])
    taken = log_probs()
    losses = {
        "the policy loss": -(share * torch.as_tensor(advantage) * taken).sum(),
        "the value loss": (share * (values() - target)[row] ** 2).sum() if has_critic else taken.sum() * 0,
        "the entropy bonus": (states * taken.exp() * taken).sum(),
    }
    return losses, _transitions(data, _array(taken), value)


def _q_loss(learner: Any, task: UpdateTask, data: Data, double: bool) -> tuple[dict[str, Any], Transitions]:
    """Return half the mean square of the exact errors of action values, and what the learner gets."""
    torch = import_module("torch")
    process, tables = data.steps.process, data.steps.process.tables
    _disturb(learner)
    observation = torch.as_tensor(data.features)
    online = _answer(learner, "q_values", observation, tables.num_actions)
    target = _answer(learner, "target_q_values", observation, tables.num_actions) if _follows(learner) else online
    evaluated = _array(target)
    selects = np.where(tables.legal, _array(online) if double else evaluated, -np.inf)
    best = np.where(process.is_over, 0, np.take_along_axis(evaluated, selects.argmax(axis=1)[:, None], axis=1)[:, 0])
    taken = online[tables.pair_state.copy(), tables.pair_action.copy()].double()
    error = taken - torch.as_tensor(process.backup(best))
    pair, next_state = data.steps.pair[:, 0], data.steps.next_state[:, 0]
    if abs(_array(taken)[pair] - data.steps.reward[:, 0] - task.discount * best[next_state]).max() >= 1:
        raise ValueError("action values of a new network must be near 0, so that no error is 1 or more")
    losses = {"the loss": 0.5 * (torch.as_tensor(data.share) * error**2).sum()}
    return losses, _transitions(data, np.zeros(len(process.policy)), np.zeros(tables.num_states))


def _follows(learner: Any) -> bool:
    return hasattr(learner, "target_network")


def _transitions(data: Data, log_prob: FloatArray, value: FloatArray) -> Transitions:
    """Return the data for a learner, given the log-probability [P] of each pair and the value [S] of each state."""
    steps, tables = data.steps, data.steps.process.tables
    pair, state, next_state = (each[:, 0] for each in (steps.pair, steps.state, steps.next_state))
    return Transitions(
        data.features[state],
        tables.pair_action[pair].astype(np.int64),
        steps.reward[:, 0].astype(np.float32),
        steps.terminated[:, 0],
        tables.legal[state],
        data.features[next_state],
        tables.legal[next_state] | steps.terminated,
        log_prob[pair].astype(np.float32),
        value[state].astype(np.float32),
    )


def _wrong_losses(learner: Any, task: UpdateTask, data: Data, transitions: Transitions, double: bool) -> Losses:
    """Return wrong losses by name."""
    tensors = {name: import_module("torch").as_tensor(array) for name, array in vars(transitions).items()}
    observation, ahead = tensors["observation"], tensors["next_observation"]
    value = transitions.value.astype(float)[:, None]
    batch = Batch(
        transitions.reward.astype(float)[:, None],
        transitions.terminated[:, None],
        data.steps.truncated,
        task.discount,
        value=value,
        next_value=np.append(value[1:], [[0.0]], axis=0),
        last_value=np.zeros(1),
        lam=task.lam,
        ratio=1.0,
    )
    if not hasattr(learner, "q_values"):
        critic = learner.values(observation) if getattr(learner, "values", None) else tensors["value"]
        factors = (task.value_coefficient, task.entropy_coefficient)
        return policy_faults(batch, tensors, learner.logits(observation), critic, factors)
    online = learner.q_values(ahead)
    mask = transitions.next_mask[:, None]
    batch = replace(
        batch,
        next_q=_array(learner.target_q_values(ahead) if _follows(learner) else online)[:, None],
        next_q_online=_array(online)[:, None],
        next_mask=mask,
        next_policy=mask / mask.sum(axis=2, keepdims=True),
    )
    return q_faults(batch, tensors["action"], learner.q_values(observation), online, double)


def _fit(errors: Callable[[], Any], parameters: list[Any]) -> None:
    """Change parameters until errors are 0; raise ValueError if they do not become so."""
    optimiser = import_module("torch").optim.LBFGS(
        parameters, max_iter=20, tolerance_change=0.0, line_search_fn="strong_wolfe"
    )

    def evaluate() -> Any:
        optimiser.zero_grad()
        loss = (errors() ** 2).sum()
        loss.backward()
        return loss

    for _ in range(50):
        off = float(abs(_array(errors())).max())
        if off <= FIT:
            break
        optimiser.step(evaluate)
    else:
        raise ValueError(f"the network cannot represent the policy of the data: log-probabilities are off by {off:.2g}")
    optimiser.zero_grad()


def _disturb(learner: Any) -> None:
    """Add noise to the target network, so that it differs from the network that is trained."""
    torch = import_module("torch")
    draws = np.random.default_rng(0)
    if _follows(learner):
        with torch.no_grad():
            for weight in learner.target_network.parameters():
                weight += torch.as_tensor(NOISE * draws.normal(size=weight.shape)).to(weight)


def _array(tensor: Any) -> FloatArray:
    """Return a tensor as an array."""
    return np.asarray(tensor.detach().cpu().double())


def _joined(tensors: Any) -> FloatArray:
    """Return all numbers of tensors in one array."""
    return np.concatenate([_array(tensor).ravel() for tensor in tensors])


def _called(learner: Any, method: str, *arguments: Any) -> Any:
    """Return the answer of a method; raise TypeError in one line if it fails."""
    try:
        return getattr(learner, method)(*arguments)
    except Exception as error:
        name = f"{type(learner).__name__}.{method}"
        raise TypeError(f"{name} raised {type(error).__name__}: {quoted(reason(error), 90)}") from error


def _answer(learner: Any, method: str, observation: Any, *width: int) -> Any:
    """Return the tensor that a method of a learner answers; raise ValueError if it has another shape."""
    answer = _called(learner, method, observation)
    shape = (len(observation), *width)
    if getattr(answer, "shape", None) != shape:
        found = getattr(answer, "shape", type(answer).__name__)
        raise ValueError(f"{type(learner).__name__}.{method} must return a tensor of shape {shape}, not {found}")
    if not (answer.requires_grad or method == "target_q_values"):
        raise ValueError(f"{type(learner).__name__}.{method} must return a tensor with gradients")
    return answer
