"""Check whole updates of learners: one update on all turns of a small game, each as often as it is likely.

The data have no sampling error, so one update by plain gradient descent moves the parameters exactly along the
gradient that follows from the tables of the game.
"""

import random
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.metadata import version
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.arrays import FloatArray
from stb_gym.check.batches import called, check_accepts, name_of
from stb_gym.check.faults import estimate, next_row, wrong_advantages, wrong_targets
from stb_gym.check.learners import Transitions, UpdateTask
from stb_gym.check.results import Case, CheckResult, Judged, combined
from stb_gym.check.trajectories import Steps, random_process, turns
from stb_gym.games import ShutTheBox
from stb_gym.measure.tensors import as_array
from stb_gym.messages import quoted, shortened

SPREAD = 0.5  # standard deviation of the numbers in observations
REWARD = 0.1  # standard deviation of rewards: small, so that the Huber loss of action values is half a square
NOISE = 0.03  # standard deviation of what is added to the parameters of a target network
TRIES = 1000  # draws of noise for the networks of action values
DIFFERS = 2e-3  # how much the next values of different rules must differ on average; a tenth of it would be seen
FIT = 1e-2  # how close log-probabilities of the learner must come to those of the policy of the data
SINGLE = 4  # bytes of a number in single precision
ROUNDING = 1e-7  # relative, of parameters in single precision
EXACT, NEARLY = 1e-3, 0.1  # tolerances of one step, which is linear in the learning rate, and of several
CLOSE = 0.99  # cosine with the exact step, above which a loss is hardly wrong
COPY = 1e-6  # tolerance of the parameters of a target network
REMEDY = "make one update by hand on two transitions: print the loss, the gradients and what the optimiser holds"


Wrong = tuple[str, tuple[Any, ...]]  # what is wrong, and the arguments that a learner gives to its losses


@dataclass(frozen=True, repr=False)
class MoreActions(ShutTheBox):
    """Shut the Box in which illegal actions are allowed and end the turn; with masks, only those of odd index."""

    name = "more-actions"
    masked: bool = True

    def moves(self, afterstate: tuple[int, int], roll: tuple[int, ...]) -> dict[int, tuple[int, int]]:
        """Return the afterstate of each action, without dice if it ends the turn; {} where the turn is over."""
        legal = super().moves(afterstate, roll)
        others = range(1, len(self.actions), 2) if self.masked else range(len(self.actions))
        return dict.fromkeys(others, (afterstate[0], 0)) | legal if legal else {}


@dataclass(frozen=True, eq=False)
class Data:
    """Turns of a small game, back to back, each as often as it is likely.

    Attributes:
        steps: [N, 1] the steps.
        observation: [S, O] the observation of each state.
        transitions: the data for a learner; its own log-probabilities and values are still zeros.
    """

    steps: Steps
    observation: NDArray[np.float32]
    transitions: Transitions


def exact_data(masked: bool) -> Data:
    """Return all turns under a policy of simple fractions, each as often as it is likely, in random order."""
    draws = np.random.default_rng(0)
    game = MoreActions(tiles=3, dice=1, faces=4 if masked else 3, masked=masked)
    number = 4608 if masked else 3375  # number of turns: the least common denominator of their probabilities
    process = random_process(game, UpdateTask.discount, seed=0)
    tables = process.tables
    weight = np.ones(len(process.policy))
    weight[tables.pair_start[tables.decisions]] = 2.0  # the first action of each state
    process = replace(
        process,
        policy=weight / tables.at_pairs(tables.sum_at_states(weight)),
        move_reward=REWARD * process.move_reward,
        final_reward=REWARD * draws.normal(size=tables.num_afterstates),
    )
    once = turns(process)
    of_turns = np.split(np.arange(len(once.pair)), np.flatnonzero(once.terminated)[:-1] + 1)
    copies = [rows for rows in of_turns for _ in range(round(number * once.weight[rows[0], 0]))]
    rows = np.concatenate([copies[turn] for turn in draws.permutation(number)])
    steps = once.at(rows[:, None])
    observation = SPREAD * draws.normal(size=(tables.num_states, UpdateTask.num_features)).astype(np.float32)
    state, next_state, terminated = steps.state[:, 0], steps.next_state[:, 0], steps.terminated
    transitions = Transitions(
        observation[state],
        tables.pair_action[steps.pair[:, 0]].astype(np.int64),
        steps.reward[:, 0].astype(np.float32),
        terminated[:, 0],
        tables.legal[state],
        observation[next_state],
        tables.legal[next_state] | terminated,
        log_prob=np.zeros(len(rows), np.float32),
        value=np.zeros(len(rows), np.float32),
    )
    return Data(steps, observation, transitions)


@contextmanager
def _seeded() -> Iterator[None]:
    """Seed the global generators, so that the same learner has the same result again; restore them afterwards."""
    torch = import_module("torch")
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    of_python = random.getstate()
    of_numpy = np.random.get_state()  # noqa: NPY002, which libraries use
    with torch.random.fork_rng(devices):
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002
        torch.manual_seed(0)
        try:
            yield
        finally:
            random.setstate(of_python)
            np.random.set_state(of_numpy)  # noqa: NPY002


@checked
@_seeded()
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
    make every part of the update matter. The clip range of ratios is not compared, because all ratios are close to 1 in
    one update: see `policy_loss`. The global generators of torch, NumPy and Python are seeded meanwhile.

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
        ValueError: if a method returns another shape, or a tensor without gradients.

    Example:
        >>> import stable_baselines3
        >>> from stb_gym import check
        >>> check.update(stable_baselines3.A2C).passed
        True
    """
    if any(base.__module__.startswith("stable_baselines3.") for base in getattr(make, "__mro__", ())):
        make, masked, minibatches = import_module("stb_gym.check.adapters").stable_baselines3(make)
    data = exact_data(masked)
    size, num_actions = data.transitions.mask.shape
    whole = UpdateTask(num_actions, size, size, entropy_coefficient=0.05 if entropy else 0.0)
    check_accepts(make, name_of(make), whole)
    learner = make(whole)
    of_values = hasattr(learner, "q_values")
    if not (hasattr(learner, "network") and (of_values or hasattr(learner, "logits"))):
        raise TypeError(
            f"make must return a learner with network, update, and logits or q_values, not {quoted(learner)}"
        )
    _check_learner(learner, data)
    if not hasattr(learner, "values"):
        whole = replace(whole, lam=1.0)
    tasks = {"one step on all data": whole}
    if minibatches and not of_values:
        number = next(number for number in range(4, size + 1) if size % number == 0)
        tasks[f"{number} minibatches, twice"] = replace(
            whole, batch_size=size // number, num_epochs=2, learning_rate=2e-4
        )
    if clipping and not normalised:
        tasks["clipped gradient"] = replace(whole, learning_rate=10.0, max_grad_norm=0.02)

    judged: list[Judged] = []
    if hasattr(learner, "target_network") and hasattr(learner, "update_target"):
        judged.append(_check_target_network(learner, whole.tau))
    for name, task in tasks.items():
        if all(case.passed for case, _ in judged):
            judged.append(_check_step(name, make(task), task, data, double, normalised))
        else:
            judged.append((Case(name, skipped="an earlier case failed"), []))
    versions = {name: version(name) for name in ("torch", *getattr(learner, "distributions", ()))}
    return combined("update", judged, REMEDY, versions)


def _check_learner(learner: Any, data: Data) -> None:
    """Raise ValueError if the network of a learner draws numbers, does not learn as a whole, or has half precision."""
    method = "q_values" if hasattr(learner, "q_values") else "logits"
    if (_answer(learner, method, data) != _answer(learner, method, data)).any():
        raise ValueError(
            f"{type(learner).__name__}.{method} answers differently each time: switch off dropout and noise"
        )
    weights = dict(learner.network.named_parameters())
    frozen = [name for name, weight in weights.items() if not weight.requires_grad]
    if frozen:
        raise ValueError(f"network has frozen parameters: let {shortened(', '.join(frozen))} learn, or leave them out")
    if any(weight.element_size() < SINGLE for weight in weights.values()):
        raise ValueError("network must have parameters of single or double precision for this check, not of half")


def _check_target_network(learner: Any, tau: float) -> Judged:
    """Check that the target network has its own parameters, and follows the network that is trained."""
    before = _joined(learner.network.parameters())
    _add_noise(learner.target_network, _joined(learner.target_network.parameters()))
    online = _joined(learner.network.parameters())
    target = _joined(learner.target_network.parameters())
    if (online != before).any():
        same = "the target network is the network that is trained, not a copy"
        return Case("a target network of its own", 1.0, where="both changed at once"), [same]
    _call(learner, "update_target")
    after = _joined(learner.target_network.parameters())
    error = float(abs(after - target - tau * (online - target)).max())
    wrong = {
        "the target network does not change: the update copies it to itself, or does not reach it": target,
        "the target network is copied at once: tau is ignored": online,
        "tau and 1 - tau are exchanged": online + tau * (target - online),
    }
    likely = [words for words, numbers in wrong.items() if abs(after - numbers).max() <= COPY]
    return Case("the target network follows", error, COPY, "its parameters, all in one update"), likely


@dataclass(frozen=True, eq=False)
class Truth:
    """The exact answer that an update is compared with.

    Attributes:
        transitions: the data for the learner.
        losses: returns the parts of the loss, given advantages or targets [N] and perhaps more.
        exact: the advantages or targets, from the tables of the game.
        wrong: yields (fault, what a learner with this fault would give); several may name the same fault.
    """

    transitions: Transitions
    losses: Callable[..., dict[str, Any]]
    exact: FloatArray
    wrong: Callable[[], Iterator[Wrong]]


def _check_step(name: str, learner: Any, task: UpdateTask, data: Data, double: bool, normalised: bool) -> Judged:
    """Let a learner make its update, and compare its step with the exact one."""
    is_of_values = hasattr(learner, "q_values")
    truth = _truth_of_values(learner, data, double) if is_of_values else _truth_of_policy(learner, task, data)
    network = learner.network
    before = _joined(network.parameters())
    parts = {part: _descent(loss, network) for part, loss in truth.losses(truth.exact).items()}
    norm = float(np.linalg.norm(sum(parts.values())))
    num_minibatches = task.num_steps // task.batch_size
    scale = task.learning_rate * task.num_epochs * num_minibatches * min(1.0, task.max_grad_norm / (norm + 1e-6))
    parts = {part: scale * slopes for part, slopes in parts.items()}
    num_seen = _update(learner, truth.transitions, (task.batch_size, task.num_features))
    moved = _joined(network.parameters()) - before
    if normalised:  # the policy loss may have any positive factor
        of_policy = parts["the policy loss"]
        parts["the policy loss"] = max(1 + _times(of_policy, moved - sum(parts.values())), 0.01) * of_policy
    exact = np.sum([*parts.values()], axis=0)

    case = _compared(name, network, moved, exact, EXACT if task.num_epochs == 1 else NEARLY)
    if case.passed and 1 < num_seen <= num_minibatches:
        case = replace(case, error=1.0, where="both epochs have the same minibatches")
        return case, ["the same minibatches are used in each epoch: the rows are not shuffled again"]
    if case.passed:
        return case, []
    if task.num_epochs > 1:
        return case, [_fault_of_minibatches(_times(exact, moved), num_minibatches, task.num_epochs)]
    if task.max_grad_norm < norm:
        return case, ["the gradient is not clipped by the norm of all parameters together"]
    if not np.isfinite(moved).all():
        return case, ["parameters became infinite or NaN: look for logarithms of 0, and for masks of -inf times 0"]
    stuck = (_by_parameter(network, abs(moved)) == 0) & (_by_parameter(network, abs(exact)) > 0)
    if stuck.any():
        forgotten = ", ".join(name for name, is_stuck in zip(_names(network), stuck, strict=True) if is_stuck)
        return case, [f"the optimiser does not hold {shortened(forgotten)}, or takes no step"]

    _set_parameters(network, before)
    allowed = EXACT * np.linalg.norm(moved) + ROUNDING * np.linalg.norm(before)
    wrong = [
        *_wrong_factors(moved, parts),
        *((words, scale * _descent(sum(truth.losses(*given).values()), network)) for words, given in truth.wrong()),
    ]
    known = [words for words, movement in wrong if np.linalg.norm(moved - movement) <= allowed]
    return case, known or [_hint(moved, exact)]


def _descent(loss: Any, network: Any) -> FloatArray:
    """Return [K] minus the derivatives of a loss by the parameters of a network."""
    slopes = import_module("torch").autograd.grad(
        loss, [*network.parameters()], retain_graph=True, allow_unused=True, materialize_grads=True
    )
    return -_joined(slopes)


def _times(movement: FloatArray, moved: FloatArray) -> float:
    """Return how many times a movement [K] is in another one."""
    return float(moved @ movement / (movement @ movement))


def _names(network: Any) -> list[str]:
    """Return the names of the parameters."""
    return [name for name, _ in network.named_parameters()]


def _by_parameter(network: Any, numbers: FloatArray) -> FloatArray:
    """Return the sums of numbers [K] over the entries of each parameter."""
    ends = np.cumsum([weight.numel() for weight in network.parameters()])
    return np.array([part.sum() for part in np.split(numbers, ends[:-1])])


def _compared(name: str, network: Any, moved: FloatArray, exact: FloatArray, tolerance: float) -> Case:
    """Return the case of a step [K]; it names the parameter with the greatest error."""
    worst = _by_parameter(network, (moved - exact) ** 2).argmax()
    lengths = [_by_parameter(network, movement**2)[worst] ** 0.5 for movement in (moved, exact)]
    where = f"{_names(network)[worst]} moved by {lengths[0]:.4g}, exactly {lengths[1]:.4g}"
    return Case(name, float(np.linalg.norm(moved - exact) / np.linalg.norm(exact)), tolerance, where)


def _fault_of_minibatches(ratio: float, num_minibatches: int, num_epochs: int) -> str:
    """Return which minibatches are left out if the step is `ratio` times as long as it should be."""
    shares = {
        "only the first of all minibatches is used": 1 / num_minibatches / num_epochs,
        "only the first minibatch of each epoch is used": 1 / num_minibatches,
        "only one epoch is done": 1 / num_epochs,
    }
    otherwise = "minibatches are left out, overlap, or are weighted in another way, or the optimiser has momentum"
    return next((words for words, share in shares.items() if abs(ratio / share - 1) < 0.25), otherwise)


def _wrong_factors(moved: FloatArray, parts: dict[str, FloatArray]) -> Iterator[tuple[str, FloatArray]]:
    """Yield the steps [K] with a wrong factor of the whole loss or of a part that are closest to that of a learner."""
    exact = np.sum([*parts.values()], axis=0)
    ratio = _times(exact, moved)
    step = f"the step is {ratio:.4g} times as long as it should be, in the right direction"
    yield f"{step}: look at the learning rate, its schedule, and divisions by a number of steps", ratio * exact
    for part, movement in parts.items():
        if movement.any():
            surplus = _times(movement, moved - exact)
            yield f"{part} has {round(1 + surplus, 3) + 0:g} times the right factor", exact + surplus * movement


def _hint(moved: FloatArray, exact: FloatArray) -> str:
    """Return what a step may be that no known fault explains."""
    cosine = float(moved @ exact / np.linalg.norm(moved) / np.linalg.norm(exact))
    hint = "a part of the data is left out, a loss is wrong, or the optimiser is not plain SGD"
    if cosine > CLOSE:
        hint = "a part of the data is left out or used more often, or a small term is wrong"
    return f"the cosine with the exact step is {cosine:.4f}: {hint}"


def _update(learner: Any, transitions: Transitions, shape: tuple[int, int]) -> int:
    """Let a learner make its update, and return how many different minibatches of a shape its modules received."""
    seen: set[bytes] = set()

    def record(module: Any, inputs: tuple[Any, ...]) -> None:
        for each in inputs:
            if getattr(each, "shape", None) == shape:
                with suppress(RuntimeError):  # inside of torch.vmap tensors have no storage
                    seen.add(as_array(each).tobytes())

    hook = import_module("torch").nn.modules.module.register_module_forward_pre_hook(record)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Using `torch.compile")  # of hooks, which then run twice
            _call(learner, "update", transitions.map(np.copy))  # a learner may write into its arrays
    finally:
        hook.remove()
    return len(seen)


# The truth, from the tables of the game


def _truth_of_policy(learner: Any, task: UpdateTask, data: Data) -> Truth:
    """Return the truth of a policy loss, a value loss and an entropy bonus."""
    torch = import_module("torch")
    steps = data.steps
    process, tables = steps.process, steps.process.tables
    state, pair = steps.state[:, 0], steps.pair[:, 0]

    def log_policy(mask: Any = tables.legal) -> Any:
        """Return [S, A] log-probabilities of actions."""
        return _answer(learner, "logits", data).masked_fill(torch.from_numpy(~mask), -1e9).log_softmax(dim=1)

    def values() -> Any:
        """Return [S] the critic's values; zeros without one."""
        return _answer(learner, "values", data) if hasattr(learner, "values") else 0 * log_policy()[:, 0]

    # Fit the policy to that of the data: then a baseline that depends on the state does not change the mean gradient.
    optimiser = torch.optim.LBFGS(
        learner.network.parameters(), max_iter=1000, tolerance_grad=1e-4, line_search_fn="strong_wolfe"
    )
    wanted = torch.from_numpy(np.log(process.policy))

    def misfit() -> Any:
        optimiser.zero_grad()
        loss = ((log_policy()[tables.pair_state.copy(), tables.pair_action.copy()] - wanted) ** 2).sum()
        loss.backward()
        return loss

    optimiser.step(misfit)
    off = float(misfit().detach().sqrt())
    if off > FIT:
        raise ValueError(
            f"the network cannot represent the policy of the data: log-probabilities are off by {off:.2g}; use a "
            "hidden layer of 16 or more"
        )
    optimiser.zero_grad()

    action = data.transitions.action
    old = log_policy()[state, action].detach()
    value = as_array(values())

    def losses(advantage: FloatArray, mask: Any = tables.legal, mask_of_entropy: Any = tables.legal) -> dict[str, Any]:
        """Return the parts of the loss of PPO, each with its factor."""
        ratio = (log_policy(mask)[state, action] - old).exp()
        gain, target = torch.from_numpy(advantage), torch.from_numpy(advantage + value[state])
        log_probs = log_policy(mask_of_entropy)
        negentropy = (log_probs.exp() * log_probs).sum(dim=1)[state].mean()
        return {
            "the policy loss": -torch.minimum(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean(),
            "the value loss": task.value_coefficient * ((values()[state] - target) ** 2).mean(),
            "the entropy bonus": task.entropy_coefficient * negentropy,
        }

    def wrong() -> Iterator[Wrong]:
        of_steps = value[steps.state]
        # A learner has the values of the next rows, or of the next observations; at the end of a turn they differ.
        for next_value in (next_row(of_steps), value[steps.next_state]):
            stream = steps.batch(value=of_steps, next_value=next_value, last_value=np.zeros(1), lam=task.lam)
            for name, answer in wrong_advantages(stream, "gae").items():
                yield f"advantages: {name}", (answer[:, 0].copy(),)
        right, legal, every = estimate(stream)[:, 0], tables.legal, np.ones_like(tables.legal)
        for masks in ((every, every), (every, legal), (legal, every)):
            yield "illegal actions are not masked in the update", (right, *masks)

    advantage = process.look_ahead(process.td_error(value), task.lam, process.longest_turn)[-1]
    transitions = replace(
        data.transitions, log_prob=as_array(old).astype(np.float32), value=value[state].astype(np.float32)
    )
    return Truth(transitions, losses, advantage[pair], wrong)


def _truth_of_values(learner: Any, data: Data, double: bool) -> Truth:
    """Return the exact answer for a loss of action values: half of the mean squared error.

    Noise is added to the networks until other rules give other targets: double or single Q-learning, with masks or
    without.
    """
    torch = import_module("torch")
    steps = data.steps
    process, tables = steps.process, steps.process.tables
    state, action = steps.state[:, 0], data.transitions.action
    next_state, mask = steps.next_state[:, 0], data.transitions.next_mask[:, None]
    networks = {"q_values": learner.network}
    if hasattr(learner, "target_network"):
        networks["target_q_values"] = learner.target_network
    weights = [_joined(network.parameters()) for network in networks.values()]
    allowed = [tables.legal]
    if not mask.all():
        allowed.append(np.ones_like(tables.legal))
    for seed in range(TRIES):
        for number, network in enumerate(networks.values()):
            _add_noise(network, weights[number], seed, number)
        answers = [as_array(_answer(learner, method, data)) for method in networks]
        online, target = answers[0], answers[-1]
        scores = [np.where(each, answer, -np.inf) for answer in answers for each in allowed]
        chosen = [target[np.arange(len(target)), each.argmax(axis=1)] * ~process.is_over for each in scores]
        best = chosen[0 if double else -len(allowed)]
        error = abs(online[state, action] - steps.reward[:, 0] - process.discount * best[next_state]).max()
        differences = [abs(one - other)[next_state].mean() for one, other in combinations(chosen, 2)]
        if min(differences, default=1) > DIFFERS and error < 1:
            break
    else:
        if error >= 1:
            raise ValueError("action values of a new network must be near 0, so that no error is 1 or more")
        raise ValueError("networks with noise agree on the best actions: use a hidden layer of 16 units or more")
    stream = steps.batch(
        next_q=target[steps.next_state],
        next_q_online=online[steps.next_state],
        next_mask=mask,
        next_policy=mask / mask.sum(axis=2, keepdims=True),
    )

    def losses(target: FloatArray) -> dict[str, Any]:
        q = _answer(learner, "q_values", data)[state, action]
        return {"the loss": 0.5 * ((q - torch.from_numpy(target)) ** 2).mean()}

    def wrong() -> Iterator[Wrong]:
        for name, answer in wrong_targets(stream, "double" if double else "greedy").items():
            yield name, (answer[:, 0].copy(),)

    return Truth(data.transitions, losses, process.backup(best)[steps.pair[:, 0]], wrong)


def _add_noise(network: Any, weights: FloatArray, *seed: int) -> None:
    """Set the parameters of a network to `weights` and noise, so that it differs from others."""
    _set_parameters(network, weights + NOISE * np.random.default_rng(seed).normal(size=len(weights)))


def _set_parameters(network: Any, weights: FloatArray) -> None:
    """Set all parameters of a module to numbers [K]."""
    torch = import_module("torch")
    parameters = list(network.parameters())
    torch.nn.utils.vector_to_parameters(torch.from_numpy(weights).to(parameters[0]), parameters)


def _joined(tensors: Any) -> FloatArray:
    """Return all numbers of tensors in one array."""
    return np.concatenate([as_array(tensor).ravel() for tensor in tensors])


def _call(learner: Any, method: str, *arguments: Any) -> Any:
    """Return the answer of a method; raise TypeError in one line if it fails."""
    return called(
        lambda: getattr(learner, method)(*arguments), f"{type(learner).__name__}.{method}", "on the data of the check"
    )


def _answer(learner: Any, method: str, data: Data) -> Any:
    """Return what a method answers for all states, as float64 on the CPU; raise ValueError if the shape is wrong."""
    answer = _call(learner, method, import_module("torch").as_tensor(data.observation))
    shape = data.steps.process.tables.legal.shape[: 1 if method == "values" else 2]
    found = getattr(answer, "shape", type(answer).__name__)
    if found != shape:
        raise ValueError(f"{type(learner).__name__}.{method} must return a tensor of shape {shape}, not {found}")
    if not (answer.requires_grad or method == "target_q_values"):
        raise ValueError(f"{type(learner).__name__}.{method} must return a tensor with gradients")
    return answer.cpu().double()
