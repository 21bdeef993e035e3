"""Check what a collector of experience stores, entry by entry, against a record of what happened in its environment.

The environment makes every row recognisable: the last entry of an observation is a number that no other observation
has, and no two steps have the same reward. A stored row is found in the record by its observation, its reward or its
next observation, whichever agrees best with the other entries, so shifted rows are found as well. Nothing is learned,
and no result depends on chance.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.check.results import Case, CheckResult
from stb_gym.checks import check_choice, check_integer, check_names
from stb_gym.envs import TurnEnv, TurnVectorEnv
from stb_gym.games import Game, Threes
from stb_gym.measure.tensors import as_array
from stb_gym.messages import quoted

Array = NDArray[Any]
Guess = tuple[Array, Array]  # [N] what a fault stores, and [N] bool: where that is known

SCALE = 4096  # numbers of observations become fractions of this, which float32 holds exactly
MOST_OBSERVATIONS = 2**24
FIELDS = (
    "observation", "action", "reward", "next_observation", "terminated", "truncated", "done", "episode_start",
    "action_mask", "next_action_mask", "log_prob", "valid",
)  # fmt: skip
FLAGS = ("terminated", "truncated", "done", "episode_start", "valid")
NUMBERED = ("observation", "next_observation")
MASKS = ("action_mask", "next_action_mask")
SHARE_EXPLAINED = 0.9  # of the rows that a fault must predict to be named
LOG_PROB_TOLERANCE = 1e-4


STEP = "step"
LATE = "late"  # after the end of the episode
AUTORESET = "autoreset"  # the step that begins the next episode, in NEXT_STEP mode


class Step(NamedTuple):
    """One call of `step` in one environment; observations are given by their numbers."""

    env: int
    action: int
    before: int
    after: int
    reward: float
    terminated: bool
    truncated: bool
    kind: str  # STEP, LATE or AUTORESET


class Record:
    """Everything that B environments returned, in order.

    Attributes:
        observations: the observations, each with its number as the last entry.
        masks: the action mask of each observation.
        owners: the environment of each observation.
        starts: whether a reset returned the observation.
        steps: the steps between observations.
        seeds: for each environment, the seed of each reset, or None.
        over: for each environment, whether its episode is over.
    """

    def __init__(self, num_envs: int, mode: AutoresetMode | None):
        self.observations: list[Array] = []
        self.masks: list[Array] = []
        self.owners: list[int] = []
        self.starts: list[bool] = []
        self.steps: list[Step] = []
        self.seeds: list[list[int | None]] = [[] for _ in range(num_envs)]
        self.over = np.zeros(num_envs, np.bool_)
        self._mode = mode
        self._current = [-1] * num_envs

    def reset(self, env: int, observation: Array, mask: Array, seed: int | None = None) -> Array:
        """Record a reset and return the numbered observation."""
        before, begins_itself = self._current[env], self.over[env] and self._mode == AutoresetMode.NEXT_STEP
        self.seeds[env].append(seed)
        self.over[env] = False
        shown = self._show(env, observation, mask, True)
        if begins_itself:
            self.steps.append(Step(env, -1, before, self._current[env], 0.0, False, False, AUTORESET))
        return shown

    def step(
        self, env: int, action: Any, observation: Array, mask: Array, terminated: bool, truncated: bool
    ) -> tuple[Array, float]:
        """Record a step and return the numbered observation and the reward."""
        before, kind = self._current[env], LATE if self.over[env] else STEP
        shown = self._show(env, observation, mask, False)
        after = self._current[env]
        reward = (after if after % 2 else -after) / SCALE if kind == STEP else 0.0
        self.steps.append(Step(env, int(action), before, after, reward, bool(terminated), bool(truncated), kind))
        self.over[env] = terminated or truncated
        return shown, reward

    def _show(self, env: int, observation: Array, mask: Array, is_start: bool) -> Array:
        number = len(self.observations)
        if number == MOST_OBSERVATIONS:
            raise ValueError(f"collect must make fewer than {MOST_OBSERVATIONS:,} steps")
        shown = np.append(observation, number / SCALE).astype(np.float32)
        self.observations.append(shown)
        self.masks.append(np.array(mask, np.bool_))
        self.owners.append(env)
        self.starts.append(is_start)
        self._current[env] = number
        return shown.copy()


def numbered_space(space: gym.Space[Any]) -> gym.spaces.Box:
    """Return the space of observations with a number as their last entry."""
    assert isinstance(space, gym.spaces.Box)
    high = np.append(space.high, MOST_OBSERVATIONS / SCALE).astype(np.float32)
    return gym.spaces.Box(0, high, dtype=np.float32)


class RecordedEnv(gym.Wrapper[Any, Any, Any, Any]):
    """A single environment that numbers its observations and writes into a record.

    A step after the end of the episode changes nothing, so that a collector which forgets to reset is reported.
    """

    def __init__(self, env: gym.Env[Any, Any], record: Record, index: int, reuse_buffer: bool):
        super().__init__(env)
        self.observation_space = numbered_space(env.observation_space)
        self._record = record
        self._index = index
        self._buffer = np.zeros(self.observation_space.shape, np.float32) if reuse_buffer else None
        self._last: tuple[Any, ...] = ()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._shared(self._record.reset(self._index, observation, info["action_mask"], seed)), info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take an action."""
        if not self._record.over[self._index]:
            self._last = self.env.step(action)
        observation, _, terminated, truncated, info = self._last
        shown, reward = self._record.step(self._index, action, observation, info["action_mask"], terminated, truncated)
        return self._shared(shown), reward, terminated, truncated, dict(info)

    def _shared(self, observation: Array) -> Array:
        if self._buffer is None:
            return observation
        self._buffer[:] = observation
        return self._buffer


class RecordedTurns(gym.vector.VectorWrapper):
    """A `TurnVectorEnv` that numbers its observations and writes into a record."""

    def __init__(self, envs: TurnVectorEnv, record: Record):
        super().__init__(envs)
        self.single_observation_space = numbered_space(envs.single_observation_space)
        self.observation_space = batch_space(self.single_observation_space, envs.num_envs)
        self._record = record
        self._shown = np.zeros(self.observation_space.shape or (), np.float32)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin episodes."""
        chosen = (options or {}).get("reset_mask", np.ones(self.num_envs, np.bool_))
        observations, infos = self.env.reset(seed=seed, options=options)
        for env in np.flatnonzero(chosen).tolist():
            self._shown[env] = self._record.reset(env, observations[env], infos["action_mask"][env])
        return self._shown.copy(), infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take an action in every environment."""
        mode = self.metadata["autoreset_mode"]
        begins = self._record.over & (mode == AutoresetMode.NEXT_STEP)
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        over = (terminated | truncated) & (mode == AutoresetMode.SAME_STEP)
        final = infos["final_obs"] if over.any() else observations
        final_shown = np.zeros_like(self._shown)
        for env in range(self.num_envs):
            mask = infos["action_mask"][env]
            if begins[env]:
                self._shown[env] = self._record.reset(env, observations[env], mask)
                continue
            last_mask = infos["final_info"]["action_mask"][env] if over[env] else mask
            final_shown[env], rewards[env] = self._record.step(
                env, actions[env], final[env], last_mask, terminated[env], truncated[env]
            )
            self._shown[env] = self._record.reset(env, observations[env], mask) if over[env] else final_shown[env]
        if over.any():
            infos["final_obs"] = final_shown
        return self._shown.copy(), rewards, terminated, truncated, infos


class Truth:
    """The record as arrays over its K calls of `step`, and what a column of a buffer should hold.

    Attributes:
        env, action, before, after, reward, terminated, truncated, kind: [K] the entries of the steps.
        done: [K] True where an episode ended.
        is_cut: [K] True where an unfinished episode has no further step.
        count: [K] how many steps its environment made before; late ones and autoresets do not count.
        next_start: [K] the number of the first observation of the next episode, or -1.
        neighbors: pairs of [K] indices of the call before and after in the same environment, or -1: among all calls,
            and among steps that are neither late nor autoresets.
        observations, masks, starts: what the record holds of each observation, as arrays.
        leaving, reaching: for each observation, the index of the step that leaves it, or reaches it, or -1.
    """

    def __init__(self, record: Record, policy: Callable[..., Any] | None):
        columns = [np.array(column) for column in zip(*record.steps, strict=True)]
        self.env, self.action, self.before, self.after, self.reward = columns[:5]
        self.terminated, self.truncated, self.kind = columns[5:]
        self.done = self.terminated | self.truncated
        self.masks = np.array(record.masks)
        self.observations = np.array(record.observations)
        self.starts = np.array(record.starts)
        size, owners = len(self.env), np.array(record.owners)
        self.neighbors = [(np.full(size, -1), np.full(size, -1)) for _ in range(2)]
        self.count = np.full(size, -1)
        self.next_start = np.full(size, -1)
        for env in range(len(record.seeds)):
            calls = np.flatnonzero(self.env == env)
            steps = calls[self.kind[calls] == STEP]
            for (previous, following), chosen in zip(self.neighbors, (calls, steps), strict=True):
                previous[chosen[1:]] = chosen[:-1]
                following[chosen[:-1]] = chosen[1:]
            self.count[steps] = np.arange(len(steps))
            starts = np.flatnonzero(self.starts & (owners == env))
            self.next_start[calls] = np.append(starts, -1)[np.searchsorted(starts, self.after[calls], "right")]
        following = self.neighbors[0][1]
        self.is_cut = ~self.done & ((following < 0) | (self.before[following] != self.after))
        self.leaving = np.full(len(owners), -1)
        self.reaching = np.full(len(owners), -1)
        self.leaving[self.before] = np.arange(size)
        self.reaching[self.after] = np.arange(size)
        self.has_policy = policy is not None
        self._policy = policy

    def of(self, field: str, step: Array) -> Guess:
        """Return what a field of steps [N] should hold, and whether there is such a step (not -1)."""
        derived = {
            "observation": self.before,
            "next_observation": self.after,
            "action_mask": self.masks[self.before],
            "next_action_mask": self.masks[self.after],
            "episode_start": self.starts[self.before],
        }
        return (derived[field] if field in derived else getattr(self, field))[step], step >= 0

    @cached_property
    def log_prob(self) -> Array:
        """[K] the logarithm of the probability of each action."""
        return self._log_prob(self.masks[self.before])

    @cached_property
    def unmasked_log_prob(self) -> Array:
        """[K] the logarithm of the probability of each action if every action were legal."""
        return self._log_prob(np.ones_like(self.masks[self.before]))

    def _log_prob(self, masks: Array) -> Array:
        assert self._policy is not None
        probabilities = as_array(self._policy(self.observations[self.before], masks))
        if probabilities.shape != masks.shape or not np.allclose(probabilities.sum(axis=1), 1, atol=1e-4):
            raise ValueError(
                f"policy(observation, action_mask) must return probabilities {masks.shape} that sum to 1 in each row, "
                f"not {quoted(probabilities)}"
            )
        with np.errstate(divide="ignore"):
            return np.log(np.take_along_axis(probabilities, self.action[:, None], 1)[:, 0])


class Rows(NamedTuple):
    """The N stored rows that were found in the record.

    Attributes:
        truth: the record.
        step: [N] the step of each row.
        stored: the fields of the rows, [N] or masks [N, A]; observations by their numbers, -1 if unknown.
        is_last: [N] True in the last row of each column.
        viewed: [N] the step whose entries are in a row if a [B, T] batch is read as [T, B], or -1.
    """

    truth: Truth
    step: Array
    stored: dict[str, Array]
    is_last: Array
    viewed: Array

    def of(self, field: str) -> Array:
        """Return what a field should hold."""
        return self.truth.of(field, self.step)[0]

    @property
    def is_cut(self) -> Array:
        """[N] True where the collector stopped or reset before the end of an episode."""
        return self.of("is_cut") | (self.is_last & ~self.of("done"))

    def compared(self, field: str) -> Array:
        """Return [N] True where a field matters: nobody needs the observation after a terminal step, for example."""
        matters = np.ones(len(self.step), np.bool_)
        if field in ("next_observation", "next_action_mask"):
            matters = ~self.of("terminated")
        elif field == "truncated":  # a collector may truncate where it stops, and need not where an episode terminated
            matters = ~np.where(self.stored[field], self.is_cut, self.of("terminated"))
        elif field == "episode_start":  # true in the row of the autoreset, if there is one
            call = self.truth.neighbors[0][0][self.step]
            matters = (call >= 0) & (self.truth.kind[call] != AUTORESET)
        return matters

    def equal(self, field: str, values: Array) -> Array:
        """Return [N] True where a field holds `values`."""
        stored = self.stored[field]
        if field == "log_prob":
            return np.isclose(stored, values, rtol=0, atol=LOG_PROB_TOLERANCE)
        same = np.isclose(stored, values, rtol=1e-6, atol=1e-7) if field == "reward" else stored == values
        return np.asarray(same.reshape(len(same), -1).all(axis=1))


class Fault(NamedTuple):
    """A fault, what to do about it, and functions from rows to what a field holds if the collector has the fault."""

    text: str
    remedy: str
    guesses: tuple[Callable[[Rows], Guess], ...] = ()

    def score(self, rows: Rows, field: str, wrong: Array) -> float:
        """Return the share of rows that the fault predicts: of wrong rows or of right ones, whichever is smaller."""
        best = 0.0
        for guess in self.guesses:
            values, is_known = guess(rows)
            is_known = is_known & rows.compared(field)
            predicted = rows.equal(field, values)
            parts = [predicted[is_known & part] for part in (wrong, ~wrong)]
            if 2 * len(parts[0]) >= wrong.sum():
                best = max(best, min(float(part.mean()) for part in parts if part.size))
        return best


def always(guess: Callable[[Rows], Array]) -> tuple[Callable[[Rows], Guess]]:
    """Return the guess of a fault that predicts all rows."""

    def guess_all(rows: Rows) -> Guess:
        values = guess(rows)
        return values, np.ones(len(values), np.bool_)

    return (guess_all,)


def other(field: str) -> tuple[Callable[[Rows], Guess]]:
    """Return the guess that a row holds another field of its step."""
    return always(lambda rows: rows.of(field))


def neighbor(field: str, is_following: bool) -> tuple[Callable[[Rows], Guess], ...]:
    """Return the guesses that a row holds a field of the step before, or of the step after."""

    def among(neighbors: int) -> Callable[[Rows], Guess]:
        return lambda rows: rows.truth.of(field, rows.truth.neighbors[neighbors][is_following][rows.step])

    return among(0), among(1)


def at_ends(field: str) -> tuple[Callable[[Rows], Guess]]:
    """Return the guess that a row at an end holds what belongs to the first observation of the next episode."""

    def guess(rows: Rows) -> Guess:
        number = rows.of("next_start")
        first = number if field == "next_observation" else rows.truth.masks[number]
        done = rows.of("done")
        return np.where(done.reshape(-1, *[1] * (first.ndim - 1)), first, rows.of(field)), ~done | (number >= 0)

    return (guess,)


def stale_starts(rows: Rows) -> Guess:
    """Guess that the first observation of an episode is the last one of the episode before."""
    previous = rows.truth.neighbors[1][0][rows.step]
    is_start = rows.of("episode_start")
    return np.where(is_start, rows.truth.after[previous], rows.of("observation")), ~is_start | (previous >= 0)


def same_array(field: str) -> tuple[Callable[[Rows], Guess]]:
    """Return the guess that all rows of an environment hold what its last row holds."""

    def guess(rows: Rows) -> Array:
        env, values = rows.of("env"), rows.stored[field].copy()
        for each in np.unique(env):
            values[env == each] = values[env == each][-1]
        return values

    return always(guess)


def shifts(field: str) -> tuple[Fault, ...]:
    """Return the faults that may occur in any field: it is shifted, or its axes are mixed up."""
    name = field.replace("_", " ")
    return (
        Fault(f"{name} is shifted: each row holds that of the step before", ALIGN, neighbor(field, False)),
        Fault(f"{name} is shifted: each row holds that of the step after", ALIGN, neighbor(field, True)),
        Fault(f"{name} {VIEWED}", TRANSPOSE, (lambda rows: rows.truth.of(field, rows.viewed),)),
    )


VIEWED = "mixes environments: a [B, T] batch was viewed as [T, B] without a transpose"
ALIGN = "write all entries of a step after it, in one place, at the same index"
COPY = "store a copy: np.array(observation)"
ENDS = "store both flags as step returns them, and bootstrap from the last observation where only truncated is true"
FORCED = "leave the flags False where you stop collecting, and bootstrap from the next observation"
FRESH = "replace the agent's observation by the one that reset returns"
LAST = "take what belongs to the last observation: final_obs and final_info (SAME_STEP), or what step returned"
LEGAL = "choose actions with the mask of the current observation"
LOG_PROB = "store the logarithm of the probability from which the action was drawn, in the same call"
MASK = "store the mask with which the action was chosen as action_mask, and the one after the step as the next"
ONCE = "write each step to an index or a list of its own"
TRANSPOSE = "use reshape(B, T, ...).swapaxes(0, 1)"
UNCHANGED = "check with raw observations and rewards; normalize what comes out of the buffer"
ARRAY = "all rows hold the same array: it was stored without a copy"

FAULTS: dict[str, tuple[Fault, ...]] = {
    "observation": (
        Fault(
            "each observation is the one after its step: the array was stored without a copy and then written over",
            COPY,
            other("next_observation"),
        ),
        Fault(ARRAY, COPY, same_array("observation")),
        Fault(
            "stale first observation: a new episode starts from the last observation of the one before",
            FRESH,
            (stale_starts,),
        ),
    ),
    "next_observation": (
        Fault(
            "the last observation of an episode is lost: the first one after the reset is stored in its place",
            LAST,
            at_ends("next_observation"),
        ),
        Fault(
            "the next observation is the one before the step: the same array, or read early", COPY, other("observation")
        ),
        Fault(ARRAY, COPY, same_array("next_observation")),
    ),
    "terminated": (
        Fault("truncation is stored as termination", ENDS, other("done")),
        Fault("terminated and truncated are swapped", ENDS, other("truncated")),
        Fault("termination is never stored", ENDS, always(lambda rows: np.zeros_like(rows.step, np.bool_))),
        Fault(
            "an unfinished episode is stored as terminated where the collector stops or resets",
            FORCED,
            always(lambda rows: rows.of("terminated") | rows.is_cut),
        ),
        Fault("the joined end flag is shifted: each row holds that of the step before", ALIGN, neighbor("done", False)),
        Fault("the joined end flag is shifted: each row holds that of the step after", ALIGN, neighbor("done", True)),
    ),
    "truncated": (
        Fault("terminated and truncated are swapped", ENDS, other("terminated")),
        Fault("truncation is never stored", ENDS, always(lambda rows: np.zeros_like(rows.step, np.bool_))),
        Fault("termination is stored as truncation", ENDS, other("done")),
    ),
    "done": (
        Fault("truncation is not stored as an end", ENDS, other("terminated")),
        Fault("termination is not stored as an end", ENDS, other("truncated")),
        Fault(
            "an unfinished episode is stored as done where the collector stops or resets",
            FORCED,
            always(lambda rows: rows.of("done") | rows.is_cut),
        ),
    ),
    "episode_start": (
        Fault("the end flag of the step itself is stored where that of the step before belongs", ALIGN, other("done")),
    ),
    "action_mask": (
        Fault("the mask is that of the next observation", MASK, other("next_action_mask")),
        Fault("all actions are stored as legal", MASK, always(lambda rows: np.ones_like(rows.of("action_mask")))),
        Fault("the mask is inverted", MASK, always(lambda rows: ~rows.of("action_mask"))),
    ),
    "next_action_mask": (
        Fault("the next mask is that of the observation before the step", MASK, other("action_mask")),
        Fault(
            "the last mask of an episode is lost: the first one after the reset is stored in its place",
            LAST,
            at_ends("next_action_mask"),
        ),
        Fault("all actions are stored as legal", MASK, always(lambda rows: np.ones_like(rows.of("next_action_mask")))),
    ),
    "log_prob": (
        Fault("the log-probability is that of the policy without the mask", LOG_PROB, other("unmasked_log_prob")),
        Fault(
            "the probability is stored, not its logarithm", LOG_PROB, always(lambda rows: np.exp(rows.of("log_prob")))
        ),
        Fault("the sign of the log-probability is wrong", LOG_PROB, always(lambda rows: -rows.of("log_prob"))),
    ),
}
OTHERWISE = {
    "observation": Fault("observations were scaled, cast to another type, or written over", UNCHANGED),
    "next_observation": Fault("the next observation is that of another step, or was changed", UNCHANGED),
    "reward": Fault("rewards were scaled, clipped or normalized, or belong to another step", UNCHANGED),
    "log_prob": Fault(
        "the log-probability is that of another action, or of a policy with other weights, mode or temperature",
        LOG_PROB,
    ),
}


@checked
def rollout(
    collect: Callable[..., Any],
    *,
    num_envs: int | None = None,
    autoreset: AutoresetMode | str | None = "NextStep",
    vector: str = "sync",
    game: Game | None = None,
    limit: int = 3,
    shuffled: bool = False,
    reuse_buffer: bool = False,
    policy: Callable[..., Any] | None = None,
) -> CheckResult:
    """Check the rows that a collector stores against what happened in the environment.

    `collect(env)` plays some hundred steps and returns a mapping, or an object, with any of these arrays:

    - `observation` (required), `next_observation`: [..., O] as the environment returned them;
    - `action`, `reward`, `terminated`, `truncated`: [...];
    - `done`: [...] terminated or truncated; it may stand in for both flags;
    - `episode_start`: [...] whether a reset returned the observation, as stable-baselines3 stores it;
    - `action_mask`, `next_action_mask`: [..., A] the legal actions at the two observations;
    - `log_prob`: [...] the logarithm of the action's probability; needs `policy`;
    - `valid`: [...] False in rows that the learner leaves out, such as those of the autoreset step.

    The leading axes are [T] for one environment, [T, B] or [B, T] for B, or [N] for rows of B environments in any
    order. Entries that are not given are reported as skipped. What no learner needs, such as the observation after a
    terminal step, is not compared.

    The environment is a small game with a limit, in which turns end by termination, by truncation, or by both at once.
    Infos hold `action_mask`. The last entry of an observation is different in every observation, and the reward is
    different in every step. So hand in a collector that neither normalizes nor clips them.

    Args:
        collect: the collector.
        num_envs: None for one environment, or the number of environments B.
        autoreset: the mode of the vector environment: "NextStep", "SameStep" or "Disabled"; or None for a list of B
            single environments, which you put into a vector environment of your own, such as a `DummyVecEnv`.
        vector: "sync" for Gymnasium's `SyncVectorEnv`, or "turns" for a `TurnVectorEnv`.
        game: the game; by default Threes with six dice of two faces.
        limit: the number of steps after which an episode is truncated.
        shuffled: whether rows are samples, such as those of a replay buffer: in any order, some of them twice.
        reuse_buffer: whether the environment writes every observation into the same array, as some do against the
            rules of Gymnasium; not with "turns".
        policy: `policy(observation [K, O], action_mask [K, A])` returns the probabilities [K, A] with which the
            collector plays.

    Returns:
        The result. The error of a case is its number of wrong rows.

    Raises:
        ValueError: if an argument is not allowed, `collect` returns something else, or no stored episode ended.

    Example:
        >>> import numpy as np
        >>> from stb_gym.check import rollout
        >>> def collect(env):
        ...     rows = {"observation": [], "reward": [], "done": []}
        ...     observation, info = env.reset(seed=0)
        ...     for _ in range(100):
        ...         rows["observation"].append(observation)
        ...         action = np.flatnonzero(info["action_mask"])[0]
        ...         observation, reward, terminated, truncated, info = env.step(action)
        ...         rows["reward"].append(reward)
        ...         rows["done"].append(terminated or truncated)
        ...         if rows["done"][-1]:
        ...             observation, info = env.reset()
        ...     return rows
        >>> bool(rollout(collect))
        True
    """
    check_choice("vector", vector, ["sync", "turns"])
    check_integer("limit", limit, 2, 1000)
    if num_envs is not None:
        check_integer("num_envs", num_envs, 1, 1000)
    mode = None
    if autoreset is not None:
        name = getattr(autoreset, "value", autoreset)
        check_choice("autoreset", name, [each.value for each in AutoresetMode])
        mode = AutoresetMode(name) if num_envs else None
    record = Record(num_envs or 1, mode)
    game = game or Threes(dice=6, faces=2)
    if mode and vector == "turns":
        envs = TurnVectorEnv(game, num_envs or 1, autoreset_mode=mode, max_episode_steps=limit)
        envs.reset(seed=0)
        env: Any = RecordedTurns(envs, record)
    else:
        singles = []
        for index in range(num_envs or 1):
            single = gym.wrappers.TimeLimit(TurnEnv(game), limit)
            single.reset(seed=index)  # so that the result does not change from run to run
            singles.append(RecordedEnv(single, record, index, reuse_buffer and not mode))
        env = singles if num_envs else singles[0]
        if mode:
            makers = [partial(singles.__getitem__, index) for index in range(len(singles))]
            env = SyncVectorEnv(makers, copy=not reuse_buffer, autoreset_mode=mode)
    answer = collect(env)
    if not record.steps:
        raise ValueError("collect must play in the environment that it is given: it made no step there")
    truth = Truth(record, policy)
    fields, shape = read_rows(answer, truth, num_envs or 1)
    cases: list[Case] = []
    faults: list[Fault] = []
    for case, found in findings(record, truth, fields, shape, shuffled):
        cases.append(case)
        faults.extend(found)
    likely = tuple(dict.fromkeys(fault.text for fault in faults))
    return CheckResult("rollout", tuple(cases), likely, faults[0].remedy if faults else "")


def read_rows(answer: Any, truth: Truth, num_envs: int) -> tuple[dict[str, Array], tuple[int, ...]]:
    """Return the fields that a collector returned and their leading axes.

    Args:
        answer: what the collector returned.
        truth: the record.
        num_envs: the number of environments B.

    Returns:
        The fields [N], or [N, A] for masks, with numbers in place of observations; and (T, B) or (N,).

    Raises:
        ValueError: if a name is unknown or a shape is wrong.
    """
    if isinstance(answer, Mapping):
        check_names("entry of the rows", answer, FIELDS)
        given = dict(answer)
    else:
        given = {name: getattr(answer, name, None) for name in FIELDS}
    arrays = {name: as_array(value) for name, value in given.items() if value is not None}
    if "observation" not in arrays:
        raise ValueError(f"collect must return a mapping or an object with the field observation, not {quoted(answer)}")
    width, actions = truth.observations.shape[1], truth.masks.shape[1]
    shape = arrays["observation"].shape[:-1]
    is_swapped = len(shape) == 2 and shape[0] == num_envs != shape[1]
    if arrays["observation"].shape[-1:] != (width,) or not (len(shape) == 1 or (len(shape) == 2 and num_envs in shape)):
        raise ValueError(
            f"observation must be [T, {num_envs}, {width}], [{num_envs}, T, {width}] or [N, {width}], not "
            f"{arrays['observation'].shape}"
        )
    fields = {}
    for name, array in arrays.items():
        entries = width if name in NUMBERED else actions if name in MASKS else 1
        if array.shape[: len(shape)] != shape or array.size != np.prod(shape) * entries:
            wanted = (*shape, entries) if entries > 1 else shape
            raise ValueError(f"{name} must have the shape {wanted}, as the observation has, not {array.shape}")
        rows = array.reshape(*shape, entries)
        rows = (rows.swapaxes(0, 1) if is_swapped else rows).reshape(-1, entries)
        if name in NUMBERED:
            fields[name] = numbers_of(rows, truth.observations)
        elif name in MASKS:
            fields[name] = rows != 0
        else:
            fields[name] = rows[:, 0] != 0 if name in FLAGS else rows[:, 0]
    return fields, shape[::-1] if is_swapped else shape


def numbers_of(stored: Array, observations: Array) -> Array:
    """Return the numbers [N] of stored observations [N, O]; -1 where the environment never returned one like it."""
    numbers = np.nan_to_num(stored[:, -1].astype(float) * SCALE, nan=-1).round().astype(np.int64)
    is_number = (numbers >= 0) & (numbers < len(observations))
    numbers[~is_number] = 0
    return np.where(is_number & np.isclose(stored, observations[numbers], atol=0).all(axis=1), numbers, -1)


def find_steps(truth: Truth, fields: dict[str, Array]) -> Array:
    """Return [N] the step that each row holds, or -1: by the entry that agrees best with the others."""
    sources = [np.where(fields["observation"] >= 0, truth.leaving[fields["observation"]], -1)]
    if "next_observation" in fields:
        sources.append(np.where(fields["next_observation"] >= 0, truth.reaching[fields["next_observation"]], -1))
    if "reward" in fields:
        order = np.argsort(truth.reward)
        nearest = np.searchsorted(truth.reward[order], fields["reward"] - 0.1 / SCALE).clip(max=len(order) - 1)
        step = order[nearest]
        is_same = np.isclose(truth.reward[step], fields["reward"], atol=1e-7) & (truth.kind[step] == STEP)
        sources.append(np.where(is_same, step, -1))
    agreeing = []
    for step in sources:
        rows = Rows(truth, step, fields, step < 0, step)
        named = [name for name in fields if name not in ("valid", "log_prob")]
        agreeing.append(sum(int((rows.equal(name, rows.of(name)) & (step >= 0)).sum()) for name in named))
    found = np.full(len(sources[0]), -1)
    for index in np.argsort(-np.array(agreeing), kind="stable"):
        found = np.where(found < 0, sources[index], found)
    return found


def findings(
    record: Record, truth: Truth, fields: dict[str, Array], shape: tuple[int, ...], shuffled: bool
) -> Iterator[tuple[Case, list[Fault]]]:
    """Yield each case with its likely faults, most likely first."""
    step = find_steps(truth, fields)
    valid = fields.pop("valid", np.ones(len(step), np.bool_))
    first = [*conduct(record, truth, fields), transitions(truth, fields["observation"], step, valid)]
    yield from first
    chosen = np.flatnonzero(valid & (step >= 0) & (truth.kind[step] == STEP))
    if all(case.passed for case, _ in first) and not truth.done[step[chosen]].any():
        raise ValueError("collect must store some hundred steps: no episode ended in those that it returned")
    if not len(chosen):
        return
    num_envs, index = len(record.seeds), np.arange(len(step))
    is_grid = not shuffled and (len(shape) == 2 or num_envs == 1)
    if not shuffled:
        yield order(truth, step, chosen, num_envs if is_grid else None)
    length = len(step) // num_envs
    view = step[index % length * num_envs + index // length] if is_grid and num_envs > 1 else np.full(len(step), -1)
    is_last = is_grid & (index >= len(step) - num_envs)
    stored = {name: values[chosen] for name, values in fields.items()}
    rows = Rows(truth, step[chosen], stored, is_last[chosen], view[chosen])
    for field in FIELDS[:-1]:
        if field not in stored:
            yield Case(field, skipped="not given"), []
        elif field == "log_prob" and not truth.has_policy:
            yield Case(field, skipped="needs policy="), []
        else:
            yield compare(rows, field, chosen)
    if not (rows.of("truncated") & ~rows.of("terminated")).any():
        yield Case("truncation", skipped="no stored episode reached the limit"), []


def conduct(record: Record, truth: Truth, fields: dict[str, Array]) -> Iterator[tuple[Case, list[Fault]]]:
    """Yield cases on seeds, resets and illegal actions."""
    given = [[seed for seed in seeds if seed is not None] for seeds in record.seeds]
    firsts = [seeds[0] for seeds in given if seeds]
    same = len(firsts) - len(set(firsts))
    fault = Fault("environments have the same seed, so they play the same dice", "add the index of each to the seed")
    where = f"seeds {quoted(firsts)}"
    yield Case("seeds of the environments", same, where=where if same else ""), [fault] if same else []
    repeats = max(max((seeds.count(seed) for seed in seeds), default=0) for seeds in given)
    resets = max(map(len, record.seeds))
    is_repeated = repeats >= 3 and 2 * repeats > resets
    fault = Fault(
        "each reset sets the same seed, so the same game is played again", "pass a seed to the first reset only"
    )
    where = f"{repeats} of {resets} resets of an environment set the same seed"
    yield (
        Case("seeds of the episodes", repeats if is_repeated else 0, where=where if is_repeated else ""),
        [fault] if is_repeated else [],
    )
    steps = int((truth.kind == STEP).sum())
    forced = int((truth.is_cut & (truth.neighbors[0][1] >= 0)).sum())
    is_often = 2 * forced > steps
    fault = Fault(
        "the environment is reset after each step, so only first moves are played", "reset where an episode ended"
    )
    where = f"{forced} resets in {steps} steps came before the end of the episode"
    yield (
        Case("resets", forced, tolerance=steps / 2, where=where if is_often else ""),
        [fault] if is_often else [],
    )
    if "action_mask" in fields:
        illegal = (truth.kind == STEP) & ~truth.masks[truth.before, truth.action]
        fault = Fault("actions are chosen without the mask, or with that of another observation", LEGAL)
        where = f"{illegal.sum()} of {steps} steps played an illegal action"
        yield (
            Case("legal actions", int(illegal.sum()), where=where if illegal.any() else ""),
            [fault] if illegal.any() else [],
        )


def transitions(truth: Truth, observation: Array, step: Array, valid: Array) -> tuple[Case, list[Fault]]:
    """Return the case that each valid row is a step that happened."""
    kind = np.where(step >= 0, truth.kind[step], np.where(observation >= 0, "none", "unknown"))
    faults: dict[str, Fault] = {
        AUTORESET: Fault(
            "rows of the autoreset step are stored as transitions, from a last observation to the next episode's first",
            "leave out the row after each end in NEXT_STEP mode, or mark it in `valid`",
        ),
        LATE: Fault(
            "the environment is stepped on after the end of the episode: no reset", "reset where an episode ended"
        ),
        "none": Fault("rows are stored for observations at which no action was played", ALIGN),
        "unknown": OTHERWISE["observation"],
    }
    wrong = np.flatnonzero(valid & (kind != STEP))
    if not len(wrong):
        return Case("each row is a step that happened"), []
    found = sorted(faults, key=lambda name: -int((kind[wrong] == name).sum()))
    named = [faults[name] for name in found if (kind[wrong] == name).any()]
    return Case("each row is a step that happened", len(wrong), where=f"row {wrong[0]} first: {named[0].text}"), named


def order(truth: Truth, step: Array, chosen: Array, num_envs: int | None) -> tuple[Case, list[Fault]]:
    """Return the case that rows hold each step once, and in the order of time.

    Args:
        truth: the record.
        step: [N] the step of each row.
        chosen: indices of rows that are compared.
        num_envs: the number of columns of a layout [T, B]; None if rows may have any order.
    """

    def breaks(columns: Array) -> Array:
        """Return rows [M] that do not follow the row before them in their column; columns are [N]."""
        sorted_by = chosen if num_envs else chosen[np.lexsort((truth.count[step[chosen]], columns[chosen]))]
        broken = []
        for column in np.unique(columns):
            rows = sorted_by[columns[sorted_by] == column]
            env, count = truth.env[step[rows]], truth.count[step[rows]]
            broken.append(rows[1:][(np.diff(count) != 1) | (np.diff(env) != 0)])
        return np.concatenate(broken)

    index = np.arange(len(step))
    broken = breaks(index % num_envs if num_envs else np.where(step >= 0, truth.env[step], -1))
    if not len(broken):
        return Case("each step once, in order"), []
    taken = step[chosen]
    if num_envs and num_envs > 1 and not len(breaks(index // (len(step) // num_envs))):
        fault = Fault(f"the batch {VIEWED}", TRANSPOSE)
    elif len(np.unique(taken)) < len(taken):
        fault = Fault("steps are stored twice: a list, an array or a slot is stored again, or written twice", ONCE)
    elif num_envs:
        fault = Fault("rows of a column do not follow one another: they are shuffled, or steps are left out", ONCE)
    else:
        fault = Fault("steps between the stored ones are left out", ONCE)
    return Case("each step once, in order", len(broken), where=f"row {broken.min()} is the first that is wrong"), [
        fault
    ]


def compare(rows: Rows, field: str, index: Array) -> tuple[Case, list[Fault]]:
    """Return the case of a field, and the faults that predict what it holds; `index` [N] numbers the rows."""
    happened = rows.of(field)
    wrong = rows.compared(field) & ~rows.equal(field, happened)
    if not wrong.any():
        return Case(field), []
    worst = int(wrong.argmax())
    step = rows.step[worst]
    where = (
        f"{wrong.sum()} of {len(wrong)} rows; first row {index[worst]}, which is step {rows.truth.count[step]} of "
        f"environment {rows.truth.env[step]}: stored {in_words(rows, field, rows.stored[field][worst])}, happened "
        f"{in_words(rows, field, happened[worst])}"
    )
    scores = {fault: fault.score(rows, field, wrong) for fault in (*FAULTS.get(field, ()), *shifts(field))}
    faults = sorted((fault for fault in scores if scores[fault] >= SHARE_EXPLAINED), key=lambda fault: -scores[fault])
    return Case(field, int(wrong.sum()), where=where), faults or [OTHERWISE.get(field, other_fault(field))]


def other_fault(field: str) -> Fault:
    """Return the fault of a field whose values no known fault predicts."""
    return Fault(f"{field} is not what happened", ALIGN)


def in_words(rows: Rows, field: str, value: Any) -> str:
    """Return an entry of a row for a message."""
    if field in NUMBERED:
        return quoted(rows.truth.observations[value].tolist()) if value >= 0 else "an unknown observation"
    return quoted(value.astype(int).tolist() if field in MASKS else value.item())
