"""Check what a collector of experience stores, entry by entry, against a record of what happened in its environment.

The environment makes every row recognisable: the last entry of an observation is a number that no other observation
has, and no two steps have the same reward. A stored row is found in the record by its observation, its reward or its
next observation, whichever agrees best with the other entries, so shifted rows are found as well. Nothing is learned,
and no result depends on chance.
"""

from collections.abc import Callable, Mapping
from functools import partial
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
from stb_gym.messages import quoted, reason

Array = NDArray[Any]

SCALE = 4096  # numbers of observations become fractions of this, which float32 holds exactly
FIELDS = (
    "observation", "action", "reward", "next_observation", "terminated", "truncated", "done", "episode_start",
    "action_mask", "next_action_mask", "log_prob", "valid",
)  # fmt: skip
FLAGS = ("terminated", "truncated", "done", "episode_start", "valid")
OBSERVATIONS = ("observation", "next_observation")
MASKS = ("action_mask", "next_action_mask")
TOLERANCES = {"log_prob": 1e-4, "reward": 1e-6}  # of the stored numbers; 0 for other fields
SHARE = 0.6  # of the rows that a fault must predict to be named; it may miss the first and last of a column
STEP = "step"
LATE = "late"  # after the end of the episode
AUTORESET = "autoreset"  # the step that begins the next episode, in NEXT_STEP mode


class Record:
    """Everything that B environments returned, in order.

    Attributes:
        observations: the observations, each with its number as the last entry.
        masks: the action mask of each observation.
        steps: the calls of `step`: environment, action, numbers of the observations before and after, reward,
            terminated, truncated, and STEP, LATE or AUTORESET.
        seeds: for each environment, the seeds of its resets.
        resets: for each environment, their number.
        over: for each environment, whether its episode is over.
    """

    def __init__(self, num_envs: int, mode: AutoresetMode | None):
        self.observations: list[Array] = []
        self.masks: list[Array] = []
        self.steps: list[tuple[Any, ...]] = []
        self.seeds: list[list[int]] = [[] for _ in range(num_envs)]
        self.resets = [0] * num_envs
        self.over = np.zeros(num_envs, np.bool_)
        self._mode = mode
        self._current = [-1] * num_envs

    def reset(self, env: int, observation: Array, mask: Array, seed: int | None = None) -> Array:
        """Record a reset and return the numbered observation."""
        before = self._current[env]
        shown = self._show(env, observation, mask)
        if self.over[env] and self._mode == AutoresetMode.NEXT_STEP:
            self.steps.append((env, -1, before, self._current[env], 0.0, False, False, AUTORESET))
        if seed is not None:
            self.seeds[env].append(seed)
        self.resets[env] += 1
        self.over[env] = False
        return shown

    def step(
        self, env: int, action: Any, observation: Array, mask: Array, terminated: bool, truncated: bool
    ) -> tuple[Array, float]:
        """Record a step and return the numbered observation and the reward."""
        before, kind = self._current[env], LATE if self.over[env] else STEP
        shown = self._show(env, observation, mask)
        after = self._current[env]
        reward = (after if after % 2 else -after) / SCALE if kind == STEP else 0.0
        self.steps.append((env, int(action), before, after, reward, bool(terminated), bool(truncated), kind))
        self.over[env] = terminated or truncated
        return shown, reward

    def _show(self, env: int, observation: Array, mask: Array) -> Array:
        number = len(self.observations)
        shown = np.append(observation, number / SCALE).astype(np.float32)
        self.observations.append(shown)
        self.masks.append(np.array(mask, np.bool_))
        self._current[env] = number
        return shown.copy()


def numbered_space(space: Any) -> gym.spaces.Box:
    """Return the space of observations with a number as their last entry."""
    return gym.spaces.Box(0, np.append(space.high, np.float32(np.inf)))


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
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        final, final_info = infos.get("final_obs", observations), infos.get("final_info", infos)
        last = self._shown.copy()
        for env, mask in enumerate(infos["action_mask"]):
            ends = terminated[env], truncated[env]
            if self._record.over[env]:  # in NEXT_STEP mode; in SAME_STEP mode it has begun again
                self._shown[env] = self._record.reset(env, observations[env], mask)
                continue
            last_mask = final_info["action_mask"][env] if any(ends) else mask
            last[env], rewards[env] = self._record.step(env, actions[env], final[env], last_mask, *ends)
            self._shown[env] = last[env]
            if any(ends) and "final_obs" in infos:
                self._shown[env] = self._record.reset(env, observations[env], mask)
        if "final_obs" in infos:
            infos["final_obs"] = last
        return self._shown.copy(), rewards, terminated, truncated, infos


class Fault(NamedTuple):
    """A fault: the field of a row holds another column of the truth, or that of another step.

    Attributes:
        text: the fault in words.
        remedy: what to do.
        column: what the field holds; see `Truth.columns`; "" if that cannot be predicted.
        place: of which step: "here", "before", "after" or "viewed".
    """

    text: str
    remedy: str
    column: str = ""
    place: str = "here"


ALIGN = "write all entries of a step after it, in one place, at the same index"
COPY = "store a copy: np.array(observation)"
ENDS = "store both flags as step returns them, and bootstrap from the last observation where only truncated is true"
FORCED = "leave the flags False where you stop collecting, and bootstrap from the next observation"
LAST = "take what belongs to the last observation: final_obs and final_info (SAME_STEP), or what step returned"
LOG_PROB = "store the logarithm of the probability from which the action was drawn, in the same call"
MASK = "store the mask with which the action was chosen as action_mask, and the one after the step as the next"
RESET = "reset an environment where its episode ended, and only there"
TRANSPOSE = "use reshape(B, T, ...).swapaxes(0, 1)"
VIEWED = "mixes environments: a [B, T] batch was viewed as [T, B] without a transpose"

FAULTS: dict[str, tuple[Fault, ...]] = {
    "observation": (
        Fault("each observation is the one after its step: an array was written over", COPY, "next_observation"),
        Fault(
            "stale first observation: a new episode starts from the last observation of the one before",
            "replace the agent's observation by the one that reset returns",
            "stale_observation",
        ),
    ),
    "next_observation": (
        Fault(
            "the last observation of an episode is lost: the first one after the reset is stored in its place",
            LAST,
            "next_observation_reset",
        ),
        Fault("the next observation is the one before the step: the same array, or read early", COPY, "observation"),
    ),
    "terminated": (
        Fault("truncation is stored as termination", ENDS, "done"),
        Fault("termination is never stored", ENDS, "never"),
        Fault("terminated and truncated are swapped", ENDS, "truncated"),
        Fault("an unfinished episode is stored as terminated where the collector stops", FORCED, "terminated_or_stop"),
        Fault("the joined end flag is shifted: each row holds that of the step before", ALIGN, "done", "before"),
        Fault("the joined end flag is shifted: each row holds that of the step after", ALIGN, "done", "after"),
    ),
    "truncated": (
        Fault("termination is stored as truncation", ENDS, "done"),
        Fault("terminated and truncated are swapped", ENDS, "terminated"),
        Fault("truncation is never stored", ENDS, "never"),
    ),
    "done": (
        Fault("truncation is not stored as an end", ENDS, "terminated"),
        Fault("termination is not stored as an end", ENDS, "truncated"),
        Fault("an unfinished episode is stored as done where the collector stops", FORCED, "done_or_stop"),
    ),
    "episode_start": (
        Fault("the end flag of the step itself is stored where that of the step before belongs", ALIGN, "done"),
    ),
    "action_mask": (
        Fault("the mask is that of the next observation", MASK, "next_action_mask"),
        Fault("all actions are stored as legal", MASK, "all_legal"),
        Fault("the mask is inverted", MASK, "action_mask_inverted"),
    ),
    "next_action_mask": (
        Fault("the next mask is that of the observation before the step", MASK, "action_mask"),
        Fault(
            "the last mask of an episode is lost: the first one after the reset is stored in its place",
            LAST,
            "next_action_mask_reset",
        ),
        Fault("all actions are stored as legal", MASK, "all_legal"),
    ),
    "log_prob": (
        Fault("the log-probability is that of the policy without the mask", LOG_PROB, "log_prob_unmasked"),
        Fault("the probability is stored, not its logarithm", LOG_PROB, "probability"),
    ),
}
SAME_ARRAY = Fault("all rows hold the same array: it was stored without a copy", COPY)
CHANGED = Fault(
    "observations were scaled, cast to another type, or written over",
    "check with raw observations and rewards, and normalize what comes out of the buffer",
)
OTHERWISE = {
    "observation": CHANGED,
    "next_observation": CHANGED,
    "reward": Fault("rewards were scaled, clipped or normalized, or belong to other steps", CHANGED.remedy),
    "log_prob": Fault("the log-probability is that of other actions, weights, mode or temperature", LOG_PROB),
}
NO_STEPS = {
    AUTORESET: Fault(
        "rows of the autoreset step are stored as transitions, from a last observation to the next episode's first",
        "leave out the row after each end in NEXT_STEP mode, or mark it in `valid`",
    ),
    LATE: Fault("the environment is stepped on after the end of an episode: no reset", RESET),
    "unplayed": Fault("rows are stored for observations at which no action was played", ALIGN),
    "unknown": CHANGED,
}


class Truth:
    """What happened, as arrays over the K calls of `step`.

    Attributes:
        env: [K] the environment.
        kind: [K] STEP, LATE or AUTORESET.
        rank: [K] an index that goes up by 1 from step to step of an environment; -1 for other kinds.
        is_cut: [K] True where an unfinished episode has no further step.
        columns: what a field should hold, by its name, and what some faults store: [K], or [K, A] for masks.
            Observations are given by their numbers.
        previous, following: [K] the index of the step before and after in the same environment, or -1.
        leaving, reaching: for each observation, the index of the step that leaves it, or reaches it, or -1; the last
            entry is -1.
        observations, masks: what the record holds of each observation, as arrays.
    """

    def __init__(self, record: Record, policy: Callable[..., Any] | None):
        self.env, action, before, after, reward, terminated, truncated, self.kind = (
            np.array(column) for column in zip(*record.steps, strict=True)
        )
        self.observations = np.array(record.observations)
        self.masks = np.array(record.masks)
        starts = np.ones(len(record.masks), np.bool_)
        starts[after[self.kind != AUTORESET]] = False
        steps = np.argsort(self.env, kind="stable")
        steps = steps[self.kind[steps] == STEP]
        self.rank, self.previous, self.following = np.full((3, len(self.env)), -1)
        self.rank[steps] = np.arange(len(steps))
        is_same = np.diff(self.env[steps]) == 0
        self.previous[steps[1:][is_same]] = steps[:-1][is_same]
        self.following[steps[:-1][is_same]] = steps[1:][is_same]
        done = terminated | truncated
        self.is_cut = ~done & (before[self.following] != after)
        self.leaving, self.reaching = np.full((2, len(starts) + 1), -1)
        self.leaving[before] = np.arange(len(before))
        self.reaching[after] = np.arange(len(after))
        next_start = np.where(done, before[self.following], after)
        self.columns: dict[str, Array] = {
            "observation": before,
            "action": action,
            "reward": reward,
            "next_observation": after,
            "terminated": terminated,
            "truncated": truncated,
            "done": done,
            "episode_start": starts[before],
            "action_mask": self.masks[before],
            "next_action_mask": self.masks[after],
            "stale_observation": np.where(starts[before], after[self.previous], before),
            "next_observation_reset": next_start,
            "next_action_mask_reset": self.masks[next_start],
            "terminated_or_stop": terminated | self.is_cut | (self.following < 0),
            "done_or_stop": done | self.is_cut,
            "never": np.zeros_like(done),
            "all_legal": np.ones_like(self.masks[before]),
            "action_mask_inverted": ~self.masks[before],
        }
        if policy:
            for name, masks in (("log_prob", "action_mask"), ("log_prob_unmasked", "all_legal")):
                chances = as_array(policy(self.observations[before], self.columns[masks]))
                if chances.shape != self.masks[before].shape or not np.allclose(chances.sum(axis=1), 1, atol=1e-4):
                    raise ValueError(
                        "policy(observation [K, O], action_mask [K, A]) must return probabilities [K, A] that sum to "
                        f"1 in each row, not {quoted(chances)}"
                    )
                self.columns["probability"] = np.take_along_axis(chances, action[:, None], 1)[:, 0]
                with np.errstate(divide="ignore"):
                    self.columns[name] = np.log(self.columns["probability"])

    def compared(self, field: str, step: Array, truncated: Array) -> Array:
        """Return [N] True where a field matters: nobody needs the observation after a terminal step, for example.

        Args:
            field: the name of the field.
            step: [N] the steps in the rows.
            truncated: [N] True in rows that are stored as truncated.
        """
        terminated = self.columns["terminated"][step]
        if field in ("next_observation", "next_action_mask"):
            return ~terminated
        if field == "truncated":  # a collector may truncate where it stops, and need not where an episode terminated
            return ~np.where(truncated, self.is_cut[step], terminated)
        if field == "done":
            return ~(truncated & self.is_cut[step])
        if field == "episode_start":  # nobody needs the first; and it may be True in the row of the autoreset instead
            begins_itself = self.kind[self.reaching[self.columns["observation"][step]]] == AUTORESET
            return (self.previous[step] >= 0) & ~(begins_itself & self.columns[field][step])
        return np.ones_like(terminated)


def equal(field: str, stored: Array, values: Array) -> Array:
    """Return [N] True where a field holds `values`."""
    same = np.isclose(stored, values, rtol=0, atol=TOLERANCES.get(field, 0))
    return np.asarray(same.reshape(len(same), -1).all(axis=1))


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

    `collect(env)` plays some hundred steps and returns a dictionary with any of these arrays:

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
    name = getattr(autoreset, "value", autoreset)
    check_choice("autoreset", name, [None, *(each.value for each in AutoresetMode)])
    mode = AutoresetMode(name) if name and num_envs else None
    if vector == "turns" and (mode is None or reuse_buffer):
        raise ValueError('vector="turns" needs num_envs and an autoreset mode, and reuses no buffer')
    record = Record(num_envs or 1, mode)
    game = game or Threes(dice=6, faces=2)
    if mode and vector == "turns":
        envs = TurnVectorEnv(game, num_envs or 1, autoreset_mode=mode, max_episode_steps=limit)
        envs.reset(seed=0)  # so that the dice do not change from run to run
        env: Any = RecordedTurns(envs, record)
    else:
        singles = []
        for index in range(num_envs or 1):
            single = gym.wrappers.TimeLimit(TurnEnv(game), limit)
            single.reset(seed=index)
            singles.append(RecordedEnv(single, record, index, reuse_buffer and not mode))
        env = singles if num_envs else singles[0]
        if mode:
            makers = [partial(singles.__getitem__, index) for index in range(len(singles))]
            env = SyncVectorEnv(makers, copy=not reuse_buffer, autoreset_mode=mode)
    answer = collect(env)
    if not record.steps:
        raise ValueError("collect must play in the environment that it is given: it made no step there")
    comparison = Comparison(record, Truth(record, policy), answer, shuffled)
    likely = dict.fromkeys(fault.text for fault in comparison.faults)
    remedy = comparison.faults[0].remedy if likely else ""
    return CheckResult("rollout", tuple(comparison.cases), tuple(likely), remedy)


class Comparison:
    """The comparison of stored rows with what happened; making it runs it.

    Args:
        record: what happened.
        truth: the same as arrays.
        answer: what the collector returned.
        shuffled: whether rows may come in any order, and twice.

    Attributes:
        cases: the cases.
        faults: the faults of the failed cases, most likely first.
        fields: the stored fields [N], or [N, A] for masks, with numbers in place of observations.
        shape: the leading axes of the fields, (T, B) or (N,).
        step: [N] the step that each row holds, or -1.
        chosen: the indices of valid rows that hold a step.
        columns: the number of columns B if rows are in the order of time, else 0.
    """

    def __init__(self, record: Record, truth: Truth, answer: Any, shuffled: bool):
        self.cases: list[Case] = []
        self.faults: list[Fault] = []
        self.truth = truth
        self.fields, self.shape = read_rows(answer, truth, len(record.seeds))
        self.step = find_steps(truth, self.fields)
        valid = self.fields.pop("valid", np.ones(len(self.step), np.bool_))
        self.chosen = np.flatnonzero(valid & (self.step >= 0) & (truth.kind[self.step] == STEP))
        is_grid = not shuffled and (len(self.shape) == 2 or len(record.seeds) == 1)
        self.columns = len(record.seeds) if is_grid else 0
        self._check_play(record)
        self._check_kinds(valid)
        if not (self.faults or truth.columns["done"][self.step[self.chosen]].any()):
            raise ValueError("collect must store some hundred steps: no episode ended in those that it returned")
        if len(self.chosen):
            if not shuffled:
                self._check_order()
            self._check_fields()

    def _add(self, name: str, error: Any, where: str, *faults: Fault) -> None:
        self.cases.append(Case(name, int(error), where=where if error else ""))
        if error:
            self.faults.extend(faults)

    def _check_play(self, record: Record) -> None:
        """Check seeds, resets and actions."""
        truth = self.truth
        firsts = [seeds[0] for seeds in record.seeds if seeds]
        fault = Fault("all environments have the same seed and play the same dice", "add its index to each seed")
        self._add("seeds of environments", len(firsts) - len(set(firsts)), f"first seeds {quoted(firsts)}", fault)
        seeds, resets = record.seeds[0], record.resets[0]
        repeats = max(map(seeds.count, seeds), default=0)
        fault = Fault("each reset sets the same seed: the same game is played again", "seed the first reset only")
        where = f"{repeats} of {resets} resets set the same seed"
        self._add("seeds of episodes", repeats * (repeats > max(2, resets / 2)), where, fault)
        is_step = truth.kind == STEP
        forced = (truth.is_cut & (truth.following >= 0)).sum()
        fault = Fault("the environment is reset after each step: only first moves are played", RESET)
        where = f"{forced} resets in {is_step.sum()} steps cut off an episode"
        self._add("resets", forced * (forced > is_step.sum() / 2), where, fault)
        if "action_mask" in self.fields:
            legal = truth.columns["action_mask"][range(len(truth.env)), truth.columns["action"]]
            illegal = (is_step & ~legal).sum()
            fault = Fault("actions are chosen without the mask, or with another one", "mask the actions in play")
            self._add("legal actions", illegal, f"{illegal} of {is_step.sum()} actions were illegal", fault)

    def _check_kinds(self, valid: Array) -> None:
        """Check that each valid row is a step that happened."""
        unfound = np.where(self.fields["observation"] >= 0, "unplayed", "unknown")
        kinds = np.where(self.step >= 0, self.truth.kind[self.step], unfound)
        counts = {kind: int((kinds[valid] == kind).sum()) for kind in NO_STEPS}
        present = sorted(filter(counts.get, counts), key=lambda kind: -counts[kind])
        where = f"row {self._row((valid & (kinds != STEP)).argmax())} is the first that is none"
        self._add("each row is a step", sum(counts.values()), where, *(NO_STEPS[kind] for kind in present))

    def _check_order(self) -> None:
        """Check that rows hold each step once, and in the order of time if they are [T, B]."""
        truth, taken, index = self.truth, self.step[self.chosen], np.arange(len(self.step))

        def breaks(columns: Array, positions: Array) -> Array:
            """Return the rows that do not follow the one before them, given the columns and positions of rows."""
            rows = self.chosen[np.lexsort((positions[self.chosen], columns[self.chosen]))]
            gaps = (np.diff(truth.rank[self.step[rows]]) != 1) | (np.diff(truth.env[self.step[rows]]) != 0)
            return rows[1:][gaps & (np.diff(columns[rows]) == 0)]

        fault = Fault("rows do not follow one another: steps are left out, or rows are shuffled", ALIGN)
        if self.columns:
            broken = breaks(index % self.columns, index)
            if self.columns > 1 and not len(breaks(index // (len(index) // self.columns), index)):
                fault = Fault(f"the batch {VIEWED}", TRANSPOSE)
        else:
            broken = breaks(truth.env[self.step], truth.rank[self.step])
        if len(np.unique(taken)) < len(taken):
            fault = Fault("steps are stored twice: a list, an array or a slot is stored again, or written twice", COPY)
        where = f"row {self._row(broken.min(initial=index[-1]))} is the first that is wrong"
        self._add("each step once, in order", len(broken), where, fault)

    def _check_fields(self) -> None:
        """Compare each field, and find the faults that predict what it holds."""
        truth, step = self.truth, self.step[self.chosen]
        places = {"here": step, "before": truth.previous[step], "after": truth.following[step]}
        if self.columns:  # rows of autoresets are no neighbors in the record
            places["before"] = self.step[self.chosen - self.columns]
            places["after"] = np.roll(self.step, -self.columns)[self.chosen]
        if self.columns > 1:
            length = len(self.step) // self.columns
            places["viewed"] = self.step[self.chosen % length * self.columns + self.chosen // length]
        truncated = self.fields.get("truncated", np.zeros(len(self.step), np.bool_))[self.chosen]
        for field in FIELDS[:-1]:
            if field not in self.fields or field not in truth.columns:
                why = "needs policy=" if field in self.fields else "not given"
                self.cases.append(Case(field, skipped=why))
                continue
            stored, happened = self.fields[field][self.chosen], truth.columns[field][step]
            compared = truth.compared(field, step, truncated)
            wrong = compared & ~equal(field, stored, happened)
            worst = int(wrong.argmax())
            where = (
                f"{wrong.sum()} of {len(wrong)} rows; row {self._row(self.chosen[worst])} of environment "
                f"{truth.env[step[worst]]} holds {self._words(field, stored[worst])}, but "
                f"{self._words(field, happened[worst])} happened"
            )
            name = field.replace("_", " ")
            scores = {}
            for fault in (
                *FAULTS.get(field, ()),
                Fault(f"{name} is shifted: each row holds that of the step before", ALIGN, field, "before"),
                Fault(f"{name} is shifted: each row holds that of the step after", ALIGN, field, "after"),
                Fault(f"{name} {VIEWED}", TRANSPOSE, field, "viewed"),
            ):
                if fault.place in places and wrong.any():
                    predicted = equal(field, stored, truth.columns[fault.column][places[fault.place]])
                    scores[fault] = min(predicted[part].mean() for part in (wrong, compared & ~wrong) if part.any())
            likely = sorted((fault for fault in scores if scores[fault] >= SHARE), key=lambda fault: -scores[fault])
            if field in OBSERVATIONS and len(np.unique(stored)) <= len(np.unique(truth.env)):
                likely = [SAME_ARRAY]
            otherwise = OTHERWISE.get(field, Fault(f"{name} is not what happened", ALIGN))
            self._add(field, wrong.sum(), where, *(likely or [otherwise]))
        if not (truth.columns["truncated"] & ~truth.columns["terminated"])[step].any():
            self.cases.append(Case("truncation", skipped="no stored episode reached the limit"))

    def _row(self, index: Any) -> str:
        return ", ".join(map(str, np.unravel_index(index, self.shape)))

    def _words(self, field: str, value: Any) -> str:
        if field in OBSERVATIONS and value < 0:
            return "an unknown observation"
        value = self.truth.observations[value] if field in OBSERVATIONS else value
        return quoted(np.asarray(value).tolist())


def read_rows(answer: Any, truth: Truth, num_envs: int) -> tuple[dict[str, Array], Any]:
    """Return the fields that a collector returned, and their leading axes; see `Comparison`.

    Raises:
        ValueError: if a name is unknown or a shape is wrong.
    """
    if not (isinstance(answer, Mapping) and "observation" in answer):
        raise ValueError(f"collect must return a dictionary with the entry observation, not {quoted(answer)}")
    check_names("entry of the rows", answer, FIELDS)
    width, actions = truth.observations.shape[1], truth.masks.shape[1]
    widths = {"observation": width, "next_observation": width, "action_mask": actions, "next_action_mask": actions}
    leading = array_of("observation", answer["observation"]).shape[:-1]
    is_swapped = len(leading) == 2 and leading[1] != num_envs
    if len(leading) not in (1, 2) or (is_swapped and leading[0] != num_envs):
        raise ValueError(
            f"observation must have the shape [T, B, O], [B, T, O] or [N, O] with B = {num_envs}, not {(*leading, ...)}"
        )
    fields = {}
    for name, value in answer.items():
        array, width = array_of(name, value), widths.get(name, 1)
        wanted = (*leading, width) if width > 1 else leading
        if array.shape != wanted and array.shape != (*leading, width):
            raise ValueError(f"{name} must have the shape {wanted}, not {array.shape}")
        rows = array.reshape(*leading, width)
        rows = (rows.swapaxes(0, 1) if is_swapped else rows).reshape(-1, width)
        if name in OBSERVATIONS:
            index = numbers_of(rows[:, -1], truth)
            fields[name] = np.where((rows == truth.observations[index]).all(axis=1), index, -1)
        else:
            rows = rows if name in MASKS else rows[:, 0]
            fields[name] = rows != 0 if name in (*MASKS, *FLAGS) else rows
    return fields, leading[::-1] if is_swapped else leading


def array_of(name: str, value: Any) -> Array:
    """Return what a collector returned as an array; raise a ValueError if it is not one of numbers."""
    try:
        array = as_array(list(value) if isinstance(value, tuple) else value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of numbers: {reason(error)}") from None
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be an array of numbers, not {quoted(value)}")
    return array


def numbers_of(fractions: Array, truth: Truth) -> Array:
    """Return the numbers [N] of observations from their last entries; -1 where there is none."""
    numbers = np.nan_to_num(fractions.astype(float) * SCALE, nan=-1).round()
    is_known = (numbers >= 0) & (numbers < len(truth.observations))
    return np.where(is_known, numbers, -1).astype(np.int64)


def find_steps(truth: Truth, fields: dict[str, Array]) -> Array:
    """Return [N] the step that each row holds, or -1: by the entry that agrees best with the others."""
    candidates = [truth.leaving[fields["observation"]]]
    if "next_observation" in fields:
        candidates.append(truth.reaching[fields["next_observation"]])
    if "reward" in fields:
        candidates.append(truth.reaching[numbers_of(np.abs(fields["reward"]), truth)])
    agreeing = []
    for step in candidates:
        same = [equal(name, fields[name], truth.columns[name][step]) for name in fields if name in FIELDS[:-2]]
        agreeing.append(-np.sum(same, axis=0)[step >= 0].sum())
    found = np.full(len(candidates[0]), -1)
    for index in np.argsort(agreeing, kind="stable"):
        found = np.where(found < 0, candidates[index], found)
    return found
