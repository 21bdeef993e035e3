"""Check what a collector of experience stores, entry by entry, against a record of what happened in its environment.

Rows are matched with calls of `step` by their observations or by their rewards, whichever agree better with the other
entries, so a shift of either is found. Nothing is learned. One case depends on chance: how often actions are played.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from stb_gym.arguments import checked
from stb_gym.check.batches import check_accepts, name_of
from stb_gym.check.recording import LATE, RESET, SCALE, STEP, UNKNOWN, Array, Call, RecordedEnv, truth_of
from stb_gym.check.results import Case, CheckResult, Judged, combined
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
SHARE = 0.5  # of the rows that a fault must predict to be named; it may miss the first and last of a column
SHIFTED = "is shifted: each row holds that of the step {}"
VIEWED = "mixes environments: a [B, T] batch was viewed as [T, B] without a transpose"
CHANGED = "observations were scaled, cast to another type, or written over"
FLATTER = "actions are played more randomly than the policy says: it explores twice, or the temperature is too high"
SHARPER = "actions are played less randomly than the policy says: exploration is missing, or the temperature too low"
ONE_SIDED = "actions are not drawn from the policy: some actions are played more often than the policy says"
UNLIKELY = 1e6  # a right collector fails at most once in so many runs
SAME_ARRAY = "all rows hold the same array: it was stored without a copy"

FAULTS: dict[str, dict[str, str]] = {  # what is wrong with a field, and the column of the truth that it then holds
    "observation": {
        "each observation is the one after its step: an array was written over": "next_observation",
        "stale first observation: a new episode starts from the last observation of the one before": "previous",
    },
    "next_observation": {
        "the last observation of an episode is lost: the first one after the reset is stored in its place": (
            "next_observation_played"
        ),
        "the next observation is the one before the step: the same array, or read early": "observation",
    },
    "terminated": {
        "truncation is stored as termination": "done",
        "termination is never stored": "never",
        "terminated and truncated are swapped": "truncated",
        "an unfinished episode is stored as terminated where the collector stops": "terminated_or_stop",
        "the joined end flag is shifted: each row holds that of the step before": "done_before",
    },
    "truncated": {
        "termination is stored as truncation": "done",
        "truncation is never stored": "never",
        "terminated and truncated are swapped": "terminated",
    },
    "done": {
        "truncation is not stored as an end": "terminated",
        "termination is not stored as an end": "truncated",
        "an unfinished episode is stored as done where the collector stops": "done_or_stop",
    },
    "episode_start": {"the end flag of the step itself is stored where that of the step before belongs": "done"},
    "action_mask": {
        "the mask is that of the next observation": "next_action_mask",
        "all actions are stored as legal": "all_legal",
    },
    "next_action_mask": {
        "the next mask is that of the observation before the step": "action_mask",
        "the last mask of an episode is lost: the first one after the reset is stored in its place": (
            "next_action_mask_played"
        ),
        "all actions are stored as legal": "all_legal",
    },
    "log_prob": {"the log-probability is that of the policy without the mask": "log_prob_unmasked"},
}
OTHERWISE = {
    "observation": CHANGED,
    "next_observation": CHANGED,
    "reward": "rewards were scaled, clipped or normalized, or belong to other steps",
    "log_prob": "the log-probability is that of other actions, weights, mode, temperature or exploration rate",
}
NO_STEPS = {
    RESET: "rows of the autoreset step are stored as transitions, from a last observation to the next episode's first",
    LATE: "the environment is stepped on after the end of an episode: no reset",
    UNKNOWN: f"{CHANGED}, or no action was played there",
}
ALIGN = "write all entries of a step after it, in one place, at the same index"
ENDS = (
    "store both flags as step returns them, leave them False where you stop collecting, and bootstrap from the last "
    "observation where only truncated is true"
)
MASK = "store the mask with which the action was chosen as action_mask, and the one after the step as the next"
RAW = "check with raw observations and rewards, store copies of arrays, and normalize what comes out of the buffer"
LAST = "take what belongs to the last observation: final_obs and final_info (SAME_STEP), or what step returned"
REMEDIES = {  # by the first case that fails
    "seeds of environments": "add its index to each seed",
    "seeds of episodes": "seed the first reset only",
    "resets": "reset an environment where its episode ended, and only there",
    "legal actions": "mask the actions in play",
    "each row is a step": "reset where an episode ended, and leave out rows of autoresets or mark them in `valid`",
    "each step once": "store a copy: np.array(observation)",
    "each step is stored": "store every step, also the last one of an episode; mark only rows of autoresets invalid",
    "order of rows": "store all steps in order; pass shuffled=True for samples, or a ring that has wrapped around",
    "ends of cut episodes": "store truncated=True where you reset in mid-episode, or do not reset there",
    "observation": RAW,
    "reward": RAW,
    "next_observation": LAST,
    "terminated": ENDS,
    "truncated": ENDS,
    "done": ENDS,
    "action_mask": MASK,
    "next_action_mask": MASK,
    "log_prob": "store the logarithm of the probability from which the action was drawn, in the same call",
    "how often actions are played": "draw each action once, from the probabilities of the policy",
}


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
    - `episode_start`: [...] whether a reset returned the observation, as stable-baselines3 stores it, and CleanRL as
      `dones`;
    - `action_mask`, `next_action_mask`: [..., A] the legal actions at the two observations;
    - `log_prob`: [...] the logarithm of the action's probability; needs `policy`;
    - `valid`: [...] False in rows that the learner leaves out, such as those of the autoreset step. The steps of an
      episode that ended must all be there, except those before the first and after the last row of an environment.

    The leading axes are [T] for one environment, [T, B] for B, or [N] for rows of B environments in any order. Entries
    that are not given are reported as skipped. What no learner needs, such as the observation after a terminal step, is
    not compared.

    The environment is a small game with a limit, in which turns end by termination, by truncation, or by both at once.
    Infos hold `action_mask`. Some actions are illegal from the first move on; a legal one is played in place of an
    illegal one. The last entry of an observation is different in every observation, and the reward is
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
            collector plays. Then the check also compares how often actions are played; some hundred steps show strong
            differences only, and a thousand a greedy action in three of ten steps. A right collector fails this case at
            most once in a million runs.

    Returns:
        The result. The error of a case is its number of wrong rows. Observations are reported by the number of the call
        of `reset` or `step` that returned them, which is 4096 times their last entry, or as -1 if no call did.

    Raises:
        ValueError: if an argument is not allowed, `collect` returns other rows, or no stored episode ended.

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
        check_choice("autoreset", getattr(autoreset, "value", autoreset), [mode.value for mode in AutoresetMode])
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
    check_accepts(collect, name_of(collect), env)
    answer = collect(env)
    if not calls:
        raise ValueError("collect must play in the environment that it is given: it made no step there")
    truth = truth_of(calls, policy)
    rows = read_rows(answer, truth, len(envs), shuffled)
    judged = [*_played(truth, rows), *_stored(truth, rows), *_compared(truth, rows), *_drawn(truth)]
    failed = next((case.name for case, _ in judged if not case.passed), "")
    if not (failed or truth["done"][rows.taken].any()):
        raise ValueError("collect must store some hundred steps: no episode ended in those that it returned")
    return combined("rollout", judged, REMEDIES.get(failed, ALIGN))


@dataclass(frozen=True)
class Rows:
    """The N rows that a collector returned.

    Attributes:
        fields: the entries by name: [N], or [N, A] for masks. Observations are the numbers of the calls that returned
            them, or -1.
        shape: the leading axes: [T, B] or [N].
        num_envs: the number of environments.
        shuffled: whether rows may come in any order, and twice.
        step: [N] the number of the step that each row holds, or -1.
        valid: [N] False in rows that the learner leaves out.
        chosen: [M] the indices of the valid rows that hold a step.
        in_order: whether each row should follow the one `num_envs` rows before.
    """

    fields: dict[str, Array]
    shape: tuple[int, ...]
    num_envs: int
    shuffled: bool
    step: Array
    valid: Array
    chosen: Array
    in_order: bool

    @property
    def taken(self) -> Array:
        """[M] the steps in those rows."""
        return self.step[self.chosen]

    def name(self, index: Any) -> str:
        """Return the index of a row in the arrays of the collector."""
        return "row " + ", ".join(map(str, np.unravel_index(index, self.shape)))


def _judged(name: str, error: Any, where: str, *faults: str) -> Judged:
    """Return a case that fails if there is an error."""
    return Case(name, int(error), where=where), faults


def _played(truth: dict[str, Array], rows: Rows) -> Iterator[Judged]:
    """Check seeds, resets and actions."""
    is_step = truth["kind"] == STEP
    steps = is_step.sum()
    is_reset = truth["kind"] == RESET
    resets = is_reset.sum()
    seeded = [pair for pair in zip(truth["env"], truth["seed"], strict=True) if pair[1] is not None]
    firsts = dict(reversed(seeded))
    yield _judged(
        "seeds of environments",
        len(firsts) - len(set(firsts.values())),
        f"first seeds {quoted(list(firsts.values()))}",
        "all environments have the same seed and play the same dice",
    )
    repeats = len(seeded) - len(set(seeded))
    yield _judged(
        "seeds of episodes",
        max(repeats - resets // 2, 0),
        f"{repeats} of {resets} resets set a seed again",
        "each reset sets the same seed: the same game is played again",
    )
    forced = (truth["is_cut"] & is_step & (truth["following"] >= 0)).sum()
    yield _judged(
        "resets",
        max(forced - steps // 2, 0),
        f"{forced} resets in {steps} steps cut off an episode",
        "the environment is reset after each step: only first moves are played",
    )
    if "action_mask" in rows.fields:
        illegal = (is_step & ~np.take_along_axis(truth["action_mask"], truth["action"][:, None], 1)[:, 0]).sum()
        yield _judged(
            "legal actions",
            illegal,
            f"{illegal} of {steps} actions were illegal",
            "actions are chosen without the mask, or with another one",
        )


def _stored(truth: dict[str, Array], rows: Rows) -> Iterator[Judged]:
    """Check that each row is a step, stored once, and that rows follow one another."""
    kinds = truth["kind"][rows.step]
    wrong = rows.valid & (kinds != STEP)
    present = Counter(kinds[wrong].tolist()).most_common()
    where = f"{rows.name(wrong.argmax())} is the first that is no step"
    yield _judged("each row is a step", wrong.sum(), where, *(NO_STEPS[kind] for kind, _ in present))
    if not rows.shuffled:
        twice = len(rows.taken) - len(np.unique(rows.taken))
        fault = "steps are stored twice: a list, an array or a slot is stored again, or written twice"
        yield _judged("each step once", twice, f"{twice} rows hold the step of another row", fault)
    if len(rows.taken) and not wrong.any():
        yield _all_stored(truth, rows)
    if rows.in_order:
        ends = [rows.fields[name] for name in ("truncated", "done") if name in rows.fields]
        if "episode_start" in rows.fields:
            ends.append(np.roll(rows.fields["episode_start"], -rows.num_envs))
        cut = rows.chosen[truth["is_cut"][rows.taken] & (rows.chosen < len(rows.step) - rows.num_envs)]
        open_ends = cut[~np.any([end[cut] for end in ends], axis=0)] if ends else cut[:0]
        yield _judged(
            "ends of cut episodes",
            len(open_ends),
            f"the episode of {rows.name(open_ends.min(initial=len(kinds) - 1))} is the first that was cut",
            "an episode was cut by a reset, and no end is stored: sums go on into the next episode",
        )
        before = np.roll(rows.step, rows.num_envs)
        follows = (before == truth["previous"][rows.step]) | (truth["kind"][before] != STEP)
        broken = rows.chosen[~follows[rows.chosen] & (rows.chosen >= rows.num_envs)]
        neighbors = (truth["following"][rows.taken[:-1]] == rows.taken[1:]).sum()
        is_viewed = rows.num_envs > 1 and neighbors > SHARE * len(rows.taken)
        yield _judged(
            "order of rows",
            len(broken),
            f"{rows.name(broken.min(initial=len(kinds) - 1))} is the first that is wrong",
            f"the batch {VIEWED}"
            if is_viewed
            else "rows do not follow one another: steps are left out, or rows are shuffled",
        )


def _all_stored(truth: dict[str, Array], rows: Rows) -> Judged:
    """Check that no step is missing between the first and the last stored step of each environment.

    Samples may lack steps: among them a step that terminates an episode must occur, if these are frequent.
    """
    taken, numbers = rows.taken, np.arange(len(truth["kind"]))
    within = np.zeros(len(numbers), np.bool_)
    for env in np.unique(truth["env"][taken]):
        own = taken[truth["env"][taken] == env]
        within |= (truth["env"] == env) & (numbers >= own.min()) & (numbers <= own.max())
    within &= truth["kind"] == STEP
    if rows.shuffled:
        share = truth["terminated"][within].mean()
        evidence = 0.0 if truth["terminated"][taken].any() else -len(taken) * np.log1p(-share)
        where = f"{share:.0%} of the steps that were played terminate an episode, and none of {len(taken)} rows"
        fault = "no row is the last one of an episode that terminated: it is left out, or marked invalid"
        return Case("samples of last steps", float(evidence), float(np.log(UNLIKELY)), where), (fault,)
    missing = np.setdiff1d(numbers[within & truth["is_finished"]], taken)  # unfinished episodes may be left out
    where = f"{len(missing)} of {within.sum()} steps are missing; call {missing.min(initial=len(numbers))} is the first"
    which = "the last step of each episode is" if truth["done"][missing].all() else "steps are"
    return _judged("each step is stored", len(missing), where, f"{which} left out, or marked invalid")


def _compared(truth: dict[str, Array], rows: Rows) -> Iterator[Judged]:
    """Compare each field with the record, and find the fault that best predicts its entries."""
    step = rows.taken
    if not len(step):
        return
    before, after = truth["previous"][step], truth["following"][step]
    if rows.in_order:  # rows before and after may be those of autoresets
        before, after = (np.roll(rows.step, shift)[rows.chosen] for shift in (rows.num_envs, -rows.num_envs))
    elsewhere = {SHIFTED.format("before"): before, SHIFTED.format("after"): after}
    if rows.in_order:
        elsewhere[VIEWED] = rows.step.reshape(-1, rows.num_envs).T.ravel()[rows.chosen]
    is_last = truth["terminated"][step]
    is_cut = truth["is_cut"][step]
    truncated = rows.fields.get("truncated", np.zeros(len(rows.step), np.bool_))[rows.chosen]
    unused = {  # True where no learner needs a field; the row after an autoreset may be marked as the start
        "next_observation": is_last,
        "next_action_mask": is_last,
        "truncated": np.where(truncated, is_cut, is_last),  # True may mean that the collector stops
        "done": truncated & is_cut,
        "episode_start": (truth["previous"][step] < 0) | (truth["kind"][before] == RESET),
    }
    for field in FIELDS:
        if field not in rows.fields or field not in truth:
            yield Case(field, skipped="needs policy=" if field in rows.fields else "not given"), ()
            continue
        stored = rows.fields[field][rows.chosen]
        happened = truth[field][step]
        compared = ~unused.get(field, np.zeros_like(is_last))
        wrong = compared & ~equal(stored, happened)
        worst = int(wrong.argmax())
        unit = "the observation of call " if field in OBSERVATIONS else ""
        where = (
            f"{wrong.sum()} of {len(wrong)} rows; {rows.name(rows.chosen[worst])} holds {unit}"
            f"{quoted(stored[worst].tolist())}, but {unit}{quoted(happened[worst].tolist())} happened"
        )
        name = field.replace("_", " ")
        otherwise = OTHERWISE.get(field, f"{name} is not what happened")
        if field in OBSERVATIONS and stored[wrong].min(initial=0) >= 0:
            otherwise = f"{name} is that of another step or environment"
        scores = {otherwise: SHARE}
        if wrong.any():
            predicted = {fault: truth[column][step] for fault, column in FAULTS.get(field, {}).items()}
            predicted |= {f"{name} {place}": truth[field][at] for place, at in elsewhere.items()}
            for fault, values in predicted.items():
                same = equal(stored, values)
                scores[fault] = min(same[wrong].mean(), same[compared].mean())
        if field in OBSERVATIONS and stored.min() >= 0 and len(np.unique(stored)) <= rows.num_envs:
            scores = {SAME_ARRAY: SHARE}
        yield _judged(field, wrong.sum(), where, max(scores, key=scores.__getitem__))
    if not (truth["truncated"][step] & ~is_last).any():
        yield Case("truncation", skipped="no stored episode reached the limit"), ()


def _drawn(truth: dict[str, Array]) -> Iterator[Judged]:
    """Check that actions were drawn from the probabilities of the policy, and not from others.

    If they were, the likelihood of any other policy divided by that of this one has a mean of 1, so it is greater than
    `UNLIKELY` at most once in so many runs (Ville, "Étude critique de la notion de collectif", 1939). The others are
    sharper or flatter; or they prefer actions by their number, by their place among the legal ones, or by the state.
    """
    if "chances" not in truth:
        return
    is_step = truth["kind"] == STEP
    chances = truth["chances"][is_step]
    powers = np.array([0.25, 0.5, 0.7, 0.85, 1.2, 1.5, 2.0, 4.0])
    sums = (chances[..., None] ** powers).sum(axis=1)
    of_powers = ((powers - 1) * truth["log_prob"][is_step, None] - np.log(sums)).sum(axis=0)
    seen = truth["shown"][truth["observation"][is_step], :-1]
    state = np.unique(seen, axis=0, return_inverse=True)[1].reshape(-1, 1)
    number = np.broadcast_to(np.arange(chances.shape[1]), chances.shape)
    cells = (number, np.cumsum(chances > 0, axis=1), state * chances.shape[1] + number)
    of_cells = [_preference(chances, truth["action"][is_step], each) for each in cells]
    evidence = np.nan_to_num([*of_powers, *of_cells], nan=-np.inf, posinf=np.inf) - np.log(len(powers) + len(cells))
    limit = float(np.log(UNLIKELY))
    best = int(evidence[: len(powers)].argmax())
    where, fault = f"probabilities to the power of {powers[best]:g} fit", FLATTER if powers[best] < 1 else SHARPER
    if evidence[best] <= limit:
        best = int(evidence.argmax())
        where, fault = "those that the actions before suggest fit", ONE_SIDED
    where = f"{where} the {is_step.sum()} actions better"
    yield Case("how often actions are played", float(evidence[best]), limit, where), (fault,)


def _preference(chances: Array, action: Array, cells: Array) -> float:
    """Return the log-likelihood of actions under a policy fitted to the actions before, minus that under `chances`.

    The fitted policy multiplies the probability of each action by how often its cell was played so far, divided by the
    number of plays that `chances` predict.

    Args:
        chances: [N, A] the probabilities of actions.
        action: [N] the actions.
        cells: [N, A] the number of the cell of each action.
    """
    played = np.ones(cells.max() + 1)
    expected = played.copy()
    sum_of_logs = 0.0
    for chance, chosen, cell in zip(chances, action, cells, strict=True):
        weight = played[cell] / expected[cell]
        sum_of_logs += np.log(weight[chosen] / (chance @ weight))
        played[cell[chosen]] += 1
        np.add.at(expected, cell, chance)
    return float(sum_of_logs)


def equal(stored: Array, values: Array) -> Array:
    """Return [N] True where a field holds `values`."""
    same = np.isclose(stored, values, rtol=0, atol=TOLERANCE)
    return np.asarray(same.reshape(len(same), -1).all(axis=1))


def read_rows(answer: Any, truth: dict[str, Array], num_envs: int, shuffled: bool) -> Rows:
    """Return the rows that a collector returned.

    Raises:
        ValueError: if a name is unknown or a shape is wrong.
    """
    if not (isinstance(answer, Mapping) and "observation" in answer):
        raise ValueError(f"collect must return a dictionary with the entry observation, not {quoted(answer)}")
    check_names("entry of the rows", answer, [*FIELDS, "valid"])
    widths = dict.fromkeys(OBSERVATIONS, truth["shown"].shape[1:]) | dict.fromkeys(MASKS, truth["all_legal"].shape[1:])
    leading: tuple[int, ...] = ()
    fields = {}
    for name in ("observation", *answer):  # the observation first: it gives the leading axes
        try:
            array = as_array(answer[name]).astype(float)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} must be an array of numbers: {reason(error)}") from None
        leading = leading or array.shape[:-1]
        if 0 in array.shape:
            raise ValueError(f"{name} must have some hundred rows, not shape {array.shape}")
        if not leading or leading[1:] not in ((), (num_envs,)):
            raise ValueError(f"observation must have the shape [T, B, O] or [N, O], B = {num_envs}, not {array.shape}")
        width = widths.get(name, ())
        wanted = leading + width
        if array.shape not in (wanted, (*wanted, 1)):
            one_more = array.shape[:1] == (leading[0] - 1,)
            hint = ": leave out the last observation, with which no step began" if one_more else ""
            raise ValueError(f"{name} must have the shape {wanted}, not {array.shape}{hint}")
        entries = array.reshape(-1, *width)
        if name in OBSERVATIONS:
            number = numbers_of(entries[:, -1], truth)
            fields[name] = np.where((entries == truth["shown"][number]).all(axis=1), number, -1)
        else:
            fields[name] = entries != 0 if name in BOOLEANS else entries

    def agreeing(step: Array) -> int:
        """Return how many stored entries agree with the record of these steps."""
        names = fields.keys() & truth.keys()
        return sum(int(equal(fields[name], truth[name][step])[step >= 0].sum()) for name in names)

    candidates = [truth["leaving"][fields["observation"]]]
    if "reward" in fields:
        candidates.append(numbers_of(fields["reward"], truth))
    step = max(candidates, key=agreeing)
    valid = fields.pop("valid", np.ones(len(step), np.bool_))
    chosen = np.flatnonzero(valid & (truth["kind"][step] == STEP))
    in_order = not shuffled and (len(leading) == 2 or num_envs == 1)
    return Rows(fields, leading, num_envs, shuffled, step, valid, chosen, in_order)


def numbers_of(fractions: Array, truth: dict[str, Array]) -> Array:
    """Return the numbers [N] of the calls that returned these observations or rewards; -1 where there is none."""
    numbers = np.abs(fractions) * SCALE
    return np.where(numbers < len(truth["kind"]), numbers, -1).round().astype(np.int64)
