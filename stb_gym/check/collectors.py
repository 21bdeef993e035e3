"""Check what a collector of experience stores, entry by entry, against a record of what happened in its environment.

Rows are matched with calls of `step` by their observations or by their rewards, whichever agree better with the other
entries, so a shift of either is found. Nothing is learned, and no result depends on chance.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from stb_gym.arguments import checked
from stb_gym.check.recording import LATE, RESET, SCALE, STEP, UNKNOWN, Array, Call, RecordedEnv, Truth
from stb_gym.check.results import Case, CheckResult
from stb_gym.checks import check_choice, check_integer, check_names
from stb_gym.measure.tensors import as_array
from stb_gym.messages import quoted, reason

FIELDS = (
    "observation", "action", "reward", "next_observation", "terminated", "truncated", "done", "episode_start",
    "action_mask", "next_action_mask", "log_prob",
)  # fmt: skip
OBSERVATIONS = ("observation", "next_observation")
MASKS = ("action_mask", "next_action_mask")
BOOLEANS = (*MASKS, "terminated", "truncated", "done", "episode_start", "valid")
TOLERANCE = 1e-5  # of stored numbers; rewards are further apart
SHARE = 0.6  # of the rows that a fault must predict to be named; it may miss the first and last of a column


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
RESET_ENDED = "reset an environment where its episode ended, and only there"
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
            "next_observation_played",
        ),
        Fault("the next observation is the one before the step: the same array, or read early", COPY, "observation"),
    ),
    "terminated": (
        Fault("truncation is stored as termination", ENDS, "done"),
        Fault("termination is never stored", ENDS, "never"),
        Fault("terminated and truncated are swapped", ENDS, "truncated"),
        Fault("an unfinished episode is stored as terminated where the collector stops", FORCED, "terminated_or_stop"),
        Fault("the joined end flag is shifted: each row holds that of the step before", ALIGN, "done", "before"),
    ),
    "truncated": (
        Fault("termination is stored as truncation", ENDS, "done"),
        Fault("truncation is never stored", ENDS, "never"),
        Fault("terminated and truncated are swapped", ENDS, "terminated"),
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
    ),
    "next_action_mask": (
        Fault("the next mask is that of the observation before the step", MASK, "action_mask"),
        Fault(
            "the last mask of an episode is lost: the first one after the reset is stored in its place",
            LAST,
            "next_action_mask_played",
        ),
        Fault("all actions are stored as legal", MASK, "all_legal"),
    ),
    "log_prob": (Fault("the log-probability is that of the policy without the mask", LOG_PROB, "log_prob_unmasked"),),
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
    "log_prob": Fault(
        "the log-probability is that of other actions, weights, mode, temperature or exploration rate", LOG_PROB
    ),
}
NO_STEPS = {
    RESET: Fault(
        "rows of the autoreset step are stored as transitions, from a last observation to the next episode's first",
        "leave out the row after each end in NEXT_STEP mode, or mark it in `valid`",
    ),
    LATE: Fault("the environment is stepped on after the end of an episode: no reset", RESET_ENDED),
    UNKNOWN: Fault(f"{CHANGED.text}, or no action was played there", CHANGED.remedy),
}


def equal(stored: Array, values: Array) -> Array:
    """Return [N] True where a field holds `values`."""
    same = np.isclose(stored, values, rtol=0, atol=TOLERANCE)
    return np.asarray(same.reshape(len(same), -1).all(axis=1))


@checked
def rollout(
    collect: Callable[..., Any],
    *,
    num_envs: int | None = None,
    autoreset: AutoresetMode | str | None = "NextStep",
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

    The leading axes are [T] for one environment, [T, B] for B, or [N] for rows of B environments in any order. Entries
    that are not given are reported as skipped. What no learner needs, such as the observation after a terminal step, is
    not compared.

    The environment is a small game with a limit, in which turns end by termination, by truncation, or by both at once.
    Infos hold `action_mask`. The last entry of an observation is different in every observation, and the reward is
    different in every step. So hand in a collector that neither normalizes nor clips them.

    Args:
        collect: the collector.
        num_envs: None for one environment, or the number of environments B.
        autoreset: the mode of the `SyncVectorEnv`: "NextStep", "SameStep" or "Disabled"; or None for a list of B
            single environments, which you put into a vector environment of your own, such as a `DummyVecEnv`.
        limit: the number of steps after which an episode is truncated.
        shuffled: whether rows are samples, such as those of a replay buffer: in any order, some of them twice.
        reuse_buffer: whether the environment writes every observation into the same array, as some do against the
            rules of Gymnasium.
        policy: `policy(observation [K, O], action_mask [K, A])` returns the probabilities [K, A] with which the
            collector plays.

    Returns:
        The result. The error of a case is its number of wrong rows. Observations are reported by the number of the call
        of `reset` or `step` that returned them, which is 4096 times their last entry, or as -1 if no call did.

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
    check_integer("limit", limit, 2, 1000)
    if autoreset is not None:
        check_choice("autoreset", autoreset, [mode.value for mode in AutoresetMode])
    mode = AutoresetMode(autoreset) if autoreset else None
    if num_envs is None:
        mode = None
    else:
        check_integer("num_envs", num_envs, 1, 1000)
    calls: list[Call] = []
    envs = [RecordedEnv(index, limit, calls, reuse_buffer and not mode) for index in range(num_envs or 1)]
    env: Any = envs if num_envs else envs[0]
    if mode:
        makers = [lambda single=single: single for single in envs]
        env = SyncVectorEnv(makers, copy=not reuse_buffer, autoreset_mode=mode)
    answer = collect(env)
    if not calls:
        raise ValueError("collect must play in the environment that it is given: it made no step there")
    comparison = Comparison(Truth(calls, policy), answer, len(envs), shuffled)
    comparison.check_play(calls)
    comparison.check_rows()
    if len(comparison.taken):
        comparison.check_fields()
    likely = dict.fromkeys(fault.text for fault in comparison.faults)
    remedy = comparison.faults[0].remedy if likely else ""
    return CheckResult("rollout", tuple(comparison.cases), tuple(likely), remedy)


class Comparison:
    """The comparison of stored rows with what happened.

    Args:
        truth: what happened.
        answer: what the collector returned.
        num_envs: the number of environments.
        shuffled: whether rows may come in any order, and twice.

    Attributes:
        cases: the cases.
        faults: the faults of the failed cases, most likely first.
        taken: the numbers of the steps in the rows that hold one.
    """

    def __init__(self, truth: Truth, answer: Any, num_envs: int, shuffled: bool):
        self.cases: list[Case] = []
        self.faults: list[Fault] = []
        self._truth = truth
        self._num_envs = num_envs
        self._shuffled = shuffled
        self._fields, self._shape = read_rows(answer, truth, num_envs)
        self._step = find_steps(truth, self._fields)  # [N] the number of the step that each row holds, or -1
        self._valid = self._fields.pop("valid", np.ones(len(self._step), np.bool_))
        self._chosen = np.flatnonzero(self._valid & (truth.kind[self._step] == STEP))
        self.taken = self._step[self._chosen]
        self._places = {
            "here": self.taken,
            "before": truth.previous[self.taken],
            "after": truth.following[self.taken],
        }
        self._in_order = not shuffled and (len(self._shape) == 2 or num_envs == 1)
        if self._in_order:  # rows before and after may be those of autoresets
            self._places["before"] = np.roll(self._step, num_envs)[self._chosen]
            self._places["after"] = np.roll(self._step, -num_envs)[self._chosen]
            self._places["viewed"] = self._step.reshape(-1, num_envs).T.ravel()[self._chosen]

    def _add(self, name: str, error: Any, where: str, *faults: Fault) -> None:
        self.cases.append(Case(name, int(error), where=where if error else ""))
        if error:
            self.faults.extend(faults)

    def check_play(self, calls: list[Call]) -> None:
        """Check seeds, resets and actions."""
        truth = self._truth
        seeded = [call for call in calls if call.seed is not None]
        firsts = {call.env: call.seed for call in reversed(seeded)}
        error = len(firsts) - len(set(firsts.values()))
        fault = Fault("all environments have the same seed and play the same dice", "add its index to each seed")
        self._add("seeds of environments", error, f"first seeds {quoted(list(firsts.values()))}", fault)
        repeats = len(seeded) - len({(call.env, call.seed) for call in seeded})
        resets = (truth.kind == RESET).sum()
        fault = Fault("each reset sets the same seed: the same game is played again", "seed the first reset only")
        where = f"{repeats} of {resets} resets set a seed again"
        self._add("seeds of episodes", max(repeats - resets // 2, 0), where, fault)
        is_step = truth.kind == STEP
        steps = is_step.sum()
        forced = (truth.is_cut & is_step & (truth.following >= 0)).sum()
        fault = Fault("the environment is reset after each step: only first moves are played", RESET_ENDED)
        where = f"{forced} resets in {steps} steps cut off an episode"
        self._add("resets", max(forced - steps // 2, 0), where, fault)
        if "action_mask" in self._fields:
            masks = truth.columns["action_mask"]
            illegal = (is_step & ~masks[range(len(masks)), truth.columns["action"]]).sum()
            fault = Fault("actions are chosen without the mask, or with another one", "mask the actions in play")
            self._add("legal actions", illegal, f"{illegal} of {steps} actions were illegal", fault)

    def check_rows(self) -> None:
        """Check that each row is a step, stored once, and that rows follow one another."""
        truth = self._truth
        kinds = truth.kind[self._step]
        wrong = self._valid & (kinds != STEP)
        present = Counter(kinds[wrong].tolist()).most_common()
        where = f"row {self._row(wrong.argmax())} is the first that is no step"
        self._add("each row is a step", wrong.sum(), where, *(NO_STEPS[kind] for kind, _ in present))
        if not (self.faults or truth.columns["done"][self.taken].any()):
            raise ValueError("collect must store some hundred steps: no episode ended in those that it returned")
        if not self._shuffled:
            twice = len(self.taken) - len(np.unique(self.taken))
            fault = Fault("steps are stored twice: a list, an array or a slot is stored again, or written twice", COPY)
            self._add("each step once", twice, f"{twice} rows hold the step of another row", fault)
        if self._in_order:
            before = self._places["before"]
            follows = (before == truth.previous[self.taken]) | (truth.kind[before] != STEP)
            broken = self._chosen[~follows & (self._chosen >= self._num_envs)]
            fault = Fault("rows do not follow one another: steps are left out, or rows are shuffled", ALIGN)
            neighbors = (truth.following[self.taken[:-1]] == self.taken[1:]).sum()
            if self._num_envs > 1 and neighbors > SHARE * len(self.taken):
                fault = Fault(f"the batch {VIEWED}", TRANSPOSE)
            where = f"row {self._row(broken.min(initial=len(kinds) - 1))} is the first that is wrong"
            self._add("order of rows", len(broken), where, fault)

    def check_fields(self) -> None:
        """Compare each field, and find the fault that predicts best what it holds."""
        truth = self._truth
        step = self.taken
        is_last = truth.columns["terminated"][step]
        is_cut = truth.is_cut[step]
        truncated = self._fields.get("truncated", np.zeros(len(self._step), np.bool_))[self._chosen]
        unused = {  # where no learner needs a field; after the row of an autoreset, that one may be marked as the start
            "next_observation": is_last,
            "next_action_mask": is_last,
            "truncated": np.where(truncated, is_cut, is_last),  # True may mean that the collector stops
            "done": truncated & is_cut,
            "episode_start": (truth.previous[step] < 0) | (truth.kind[self._places["before"]] == RESET),
        }
        for field in FIELDS:
            if field not in self._fields or field not in truth.columns:
                why = "needs policy=" if field in self._fields else "not given"
                self.cases.append(Case(field, skipped=why))
                continue
            stored = self._fields[field][self._chosen]
            happened = truth.columns[field][step]
            compared = ~unused.get(field, np.zeros_like(is_last))
            wrong = compared & ~equal(stored, happened)
            worst = int(wrong.argmax())
            unit = "the observation of call " if field in OBSERVATIONS else ""
            where = (
                f"{wrong.sum()} of {len(wrong)} rows; row {self._row(self._chosen[worst])} holds {unit}"
                f"{quoted(stored[worst].tolist())}, but {unit}{quoted(happened[worst].tolist())} happened"
            )
            name = field.replace("_", " ")
            scores = {OTHERWISE.get(field, Fault(f"{name} is not what happened", ALIGN)): SHARE}
            for fault in (
                *FAULTS.get(field, ()),
                Fault(f"{name} is shifted: each row holds that of the step before", ALIGN, field, "before"),
                Fault(f"{name} is shifted: each row holds that of the step after", ALIGN, field, "after"),
                Fault(f"{name} {VIEWED}", TRANSPOSE, field, "viewed"),
            ):
                if fault.place in self._places and wrong.any():
                    predicted = equal(stored, truth.columns[fault.column][self._places[fault.place]])
                    scores[fault] = min(predicted[wrong].mean(), predicted[compared].mean())
            if field in OBSERVATIONS and stored.min() >= 0 and len(np.unique(stored)) <= self._num_envs:
                scores = {SAME_ARRAY: SHARE}
            self._add(field, wrong.sum(), where, max(scores, key=scores.__getitem__))
        if not (truth.columns["truncated"][step] & ~is_last).any():
            self.cases.append(Case("truncation", skipped="no stored episode reached the limit"))

    def _row(self, index: Any) -> str:
        return ", ".join(map(str, np.unravel_index(index, self._shape)))


def read_rows(answer: Any, truth: Truth, num_envs: int) -> tuple[dict[str, Array], tuple[int, ...]]:
    """Return the fields that a collector returned, and their leading axes: [T, B] or [N].

    Fields are [N], or [N, A] for masks. Observations become the numbers of the calls that returned them, or -1.

    Raises:
        ValueError: if a name is unknown or a shape is wrong.
    """
    if not (isinstance(answer, Mapping) and "observation" in answer):
        raise ValueError(f"collect must return a dictionary with the entry observation, not {quoted(answer)}")
    check_names("entry of the rows", answer, [*FIELDS, "valid"])
    widths = dict.fromkeys(OBSERVATIONS, truth.observations.shape[1:])
    widths |= dict.fromkeys(MASKS, truth.columns["all_legal"].shape[1:])
    leading: tuple[int, ...] = ()
    fields = {}
    for name in ("observation", *answer):  # the observation first: it gives the leading axes
        try:
            array = as_array(answer[name]).astype(float)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} must be an array of numbers: {reason(error)}") from None
        leading = leading or array.shape[:-1]
        if not leading or leading[1:] not in ((), (num_envs,)):
            raise ValueError(f"observation must have the shape [T, B, O] or [N, O], B = {num_envs}, not {array.shape}")
        width = widths.get(name, ())
        wanted = leading + width
        if array.shape not in (wanted, (*wanted, 1)):
            raise ValueError(f"{name} must have the shape {wanted}, not {array.shape}")
        rows = array.reshape(-1, *width)
        if name in OBSERVATIONS:
            number = numbers_of(rows[:, -1], truth)
            fields[name] = np.where((rows == truth.observations[number]).all(axis=1), number, -1)
        else:
            fields[name] = rows != 0 if name in BOOLEANS else rows
    return fields, leading


def numbers_of(fractions: Array, truth: Truth) -> Array:
    """Return the numbers [N] of the calls that returned these observations or rewards; -1 where there is none."""
    numbers = np.abs(fractions) * SCALE
    return np.where(numbers < len(truth.kind), numbers, -1).round().astype(np.int64)


def find_steps(truth: Truth, fields: dict[str, Array]) -> Array:
    """Return [N] the number of the step that each row holds, or -1: by its observation or its reward."""
    candidates = [truth.leaving[fields["observation"]]]
    if "reward" in fields:
        candidates.append(numbers_of(fields["reward"], truth))

    def agreeing(step: Array) -> int:
        names = fields.keys() & truth.columns.keys()
        return sum(int(equal(fields[name], truth.columns[name][step])[step >= 0].sum()) for name in names)

    return max(candidates, key=agreeing)
