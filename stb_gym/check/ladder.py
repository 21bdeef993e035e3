"""A ladder of tiny solved tasks for whole learners; each isolates one ability.

Every task is a table of a few states. Its values are computed exactly by dynamic programming, so the regret of an agent
has no noise: only its training does. The tasks are small enough for default settings of common libraries.
"""

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.arrays import BoolArray, FloatArray
from stb_gym.check.batches import check_accepts, name_of
from stb_gym.check.results import Case, CheckResult
from stb_gym.checks import action_index, check_integer, check_names
from stb_gym.measure.agents import Batch, arguments_of, player_of
from stb_gym.measure.wrapped import AgentView
from stb_gym.tracking import tracked

Outcome = tuple[float, float, str]  # probability, reward, next state
Move = float | str | tuple[Outcome, ...]  # the last reward, the next state, or two outcomes
Seen = tuple[NDArray[np.float32], dict[str, Any]]  # the observation and the info

TOLERANCE = 0.03  # share of the greatest regret; one wrong decision costs more on every rung
ATTEMPTS = 3  # trainings with different seeds, of which one must pass
NUM_ENVS = 4  # of a vector environment
SWEEPS = 100  # of value iteration; no episode of a task without a limit is longer
END = ""
COPIES = 100  # rows of a batch in which all states are the same
WORST = "the worst play"
CHANGES = "its answer for a state changes with the other states that it is asked about"


def outcomes(move: Move | None) -> tuple[Outcome, ...]:
    """Return the one or two outcomes of a move; none if it is illegal."""
    if isinstance(move, str):
        return ((1.0, 0.0, move),)
    if isinstance(move, float):
        return ((1.0, move, END),)
    return move or ()


@dataclass(frozen=True)
class Rung:
    """A task of the ladder.

    Attributes:
        name: its name, for the argument `rungs`.
        moves: the moves of each state by action. A number ends the episode with this reward, a name leads to this
            state, and None is illegal.
        starts: the states where episodes begin, with equal probabilities.
        likely: the faults that fail it, by the first words of where it fails: a state, or WORST if the whole play is
            the worst there is. The first that fit count; "" fits all.
        checks: the checks that find the line.
        limit: the number of steps after which episodes are truncated; 0 for no limit. Truncation is not the end: the
            value of an action counts what the later states are worth.
        discount: the discount per step that the values use.
    """

    name: str
    moves: dict[str, tuple[Move | None, ...]]
    starts: tuple[str, ...]
    likely: dict[str, tuple[str, ...]]
    checks: str
    limit: int = 0
    discount: float = 0.99

    @property
    def masks(self) -> BoolArray:
        """[S, A] True where an action is legal."""
        return np.array([[move is not None for move in moves] for moves in self.moves.values()])

    def observe(self, state: str) -> NDArray[np.float32]:
        """Return [S] a one-hot code of a state, zeros for the end."""
        return np.array([state == other for other in self.moves], np.float32)

    def tables(self) -> tuple[FloatArray, FloatArray]:
        """Return the mean rewards [S, A], NaN for illegal actions, and the probabilities [S, A, S] of next states."""
        rewards = np.where(self.masks, 0, np.nan)
        transitions = np.zeros((*rewards.shape, len(self.moves)))
        for row, moves in enumerate(self.moves.values()):
            for action, move in enumerate(moves):
                for probability, reward, following in outcomes(move):
                    rewards[row, action] += probability * reward
                    transitions[row, action] += probability * self.observe(following)
        return rewards, transitions

    def action_values(self, best: bool = True) -> FloatArray:
        """Return [S, A] the exact action values of perfect play, or of the worst; NaN for illegal actions."""
        rewards, transitions = self.tables()
        values = rewards
        for _ in range(SWEEPS):
            values = rewards + self.discount * transitions @ (np.nanmax if best else np.nanmin)(values, axis=1)
        return values

    def losses(self, policy: FloatArray) -> FloatArray:
        """Return [S] the regret of a policy [S, A] of legal actions by state, as shares of the greatest regret.

        Their sum is the regret of the policy.
        """
        _, transitions = self.tables()
        best = self.action_values()
        optimum = np.nanmax(best, axis=1)
        worst = np.nanmin(self.action_values(best=False), axis=1)
        start = np.mean([self.observe(state) for state in self.starts], axis=0)
        following = np.einsum("sa,sat->ts", policy, transitions)
        visits = np.linalg.solve(np.eye(len(start)) - self.discount * following, start)  # discounted
        return visits * np.nansum(policy * (optimum[:, None] - best), axis=1) / (start @ (optimum - worst))


EVALUATION = "evaluation changes the agent: it updates statistics of observations, or takes those of the batch"
_EXACT = "check.advantages for policy gradients, check.q_targets for Q-learning"
RUNGS = (
    Rung(
        "one decision",
        {
            f"at choice {number}": tuple((-0.5, 1.0, 0.0, 0.5)[(number + action) % 4] for action in range(4))
            for number in range(6)
        },
        tuple(f"at choice {number}" for number in range(6)),
        {
            WORST: ("the sign of the loss or of the reward is wrong",),
            "": (
                "rewards are stored one step late",
                "the loss takes the action of another row",
                "the optimiser does not hold the network that plays",
                "it does not explore",
            ),
        },
        "check.policy_loss or check.td_loss, then check.rollout",
    ),
    Rung(
        "chance",
        {
            "before the long shot": (((0.15, 1.0, END), (0.85, 0.0, END)), 0.4),
            "before the good bet": (0.15, ((0.4, 0.9, END), (0.6, 0.0, END))),
        },
        ("before the long shot", "before the good bet"),
        {
            "before the long shot": (
                "the target is the luckiest outcome and not the mean",
                "only good outcomes are reinforced: advantages without a baseline, or cut off below 0",
            ),
            "before the good bet": (
                "the target is the median or the worst outcome: a Huber loss whose delta is far below the rewards",
                "each update replaces the value by the last outcome",
            ),
        },
        _EXACT,
    ),
    Rung(
        "credit",
        {
            "two moves before the prize": (0.4, "one move before it"),
            "one move before it": (1.0, 1.0),
            "four moves before the prize": ("three moves before it", 0.4),
            "three moves before it": ("two moves before it", "two moves before it"),
            "two moves before it": ("one move before it", "one move before it"),
        },
        ("two moves before the prize", "four moves before the prize"),
        {
            "": (
                "targets do not bootstrap, or the target network is never updated",
                "the advantage uses the reward in place of the return",
                "end flags are one step off",
                "the discount is far too low",
                "the values of actions that were not taken are pulled to 0",
            )
        },
        _EXACT,
    ),
    Rung(
        "sign",
        {
            "at the first": (-0.2, -1.0, -0.6),
            "at the second": (-0.1, -0.9, -0.9),
            "at the third": (-1.0, -0.3, -0.7),
            "at the fourth": (-0.4, -0.8, -1.0),
        },
        ("at the first", "at the second", "at the third", "at the fourth"),
        {
            WORST: ("the absolute value or the square of the reward or advantage is used",),
            "": (
                "the greedy choice starts its maximum at 0, or takes action 0 for no action",
                "the values of actions that were not taken are pulled to 0",
            )
        },
        "check.policy_loss or check.td_loss",
    ),
    Rung(
        "masks in play",
        {
            "at the first": (((1.0, -0.1, "at the second"),), None, -0.8),
            "at the second": (None, ((1.0, -0.1, "at the third"),), None),
            "at the third": (-0.6, -0.2, None),
        },
        ("at the first",),
        {
            "": (
                "the mask is missing in the greedy or in the random choice",
                "the mask of another step or of the last episode is used",
                "the mask subtracts too little",
            )
        },
        "check.rollout, which compares the masks of each step",
    ),
    Rung(
        "masks in targets",
        {
            "before the choice": (-0.2, "where masks matter", None, None),
            "where masks matter": (-0.5, -0.7, None, None),
            "where all is well": (None, None, 1.0, 0.7),
        },
        ("before the choice", "where all is well"),
        {
            "": (
                "the target takes its maximum over illegal actions, too",
                "the target uses the mask of the state before",
            )
        },
        "check.q_targets",
    ),
    Rung(
        "time limit",
        {
            "one move before the limit": (0.15, "at the prize"),
            "at the prize": (1.0, 1.0),
        },
        ("one move before the limit", "at the prize"),
        {
            "": ("truncation is treated as termination, and the target does not bootstrap",),
        },
        _EXACT + ": their cases with a time limit",
        limit=1,
    ),
    Rung(
        "autoreset",
        {
            "before the turning": (((1.0, 0.4, "on the bad side"),), "on the good side"),
            "on the bad side": (-0.4, -0.4),
            "on the good side": (0.4, 0.4),
        },
        (*["before the turning"] * 4, "on the bad side", "on the good side"),
        {
            "": (
                "the first observation of the next episode takes the place of the last of this one: look for final_obs",
                "the step that only resets an environment is stored as a transition",
                "truncation is treated as termination",
            )
        },
        "check.rollout",
        limit=1,
    ),
    Rung(
        "discount",
        {
            "three moves before the prize": (0.35, "two moves before the prize"),
            "two moves before the prize": ("one move before the prize",) * 2,
            "one move before the prize": (1.0, 1.0),
            "before the quick prize": (0.3, "one move before the prize"),
        },
        ("three moves before the prize", "before the quick prize"),
        {
            "three moves before the prize": (
                "the discount is ignored, overwritten by a default, or applied once after several steps",
            ),
            "before the quick prize": ("the discount is applied twice, or the target does not bootstrap",),
        },
        "check.returns",
        discount=0.5,
    ),
    Rung(
        "exploration",
        {
            "at the trap": (0.05, "behind the trap", *[0.0] * 3),
            "behind the trap": (*[0.0] * 3, 1.0, 0.0),
        },
        ("at the trap",),
        {
            "": (
                "it does not explore: it acts greedily in training, or epsilon falls at once",
                "the entropy bonus or the exploration schedule has the wrong sign or unit",
            )
        },
        "check.policy_loss, which compares the entropy bonus,",
    ),
)  # fmt: skip


class RungEnv(gym.Env[NDArray[np.float32], np.int64]):
    """A rung as a Gymnasium environment, with `action_mask` in its infos and the method `action_masks`.

    Args:
        rung: the task.
        seed: seeds the starts and the outcomes.
        illegal: receives a line for each illegal action.
    """

    def __init__(self, rung: Rung, seed: int, illegal: list[str]):
        self.observation_space = gym.spaces.Box(0, 1, (len(rung.moves),), np.float32)
        self.action_space = gym.spaces.Discrete(rung.masks.shape[1])
        self._rung = rung
        self._illegal = illegal
        self.reset(seed=seed)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Seen:
        """Begin an episode."""
        super().reset(seed=seed)
        self._state = self._rung.starts[self.np_random.integers(len(self._rung.starts))]
        self._steps = 0
        return self._seen()

    def _seen(self) -> Seen:
        """Return the observation and the info of the state."""
        return self._rung.observe(self._state), {"action_mask": self.action_masks().astype(np.int8)}

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Make a move.

        Raises:
            RuntimeError: if the episode is over.
            TypeError: if the action is not an integer.
            ValueError: if it is outside the action space.
        """
        if self._state == END or self._steps == self._rung.limit > 0:
            raise RuntimeError("the episode is over: call reset()")
        action = action_index(action, self._rung.masks.shape[1])
        found = outcomes(self._rung.moves[self._state][action])
        if not found:
            self._illegal.append(f"{action} {self._state}")
            found = outcomes(0.0)  # more than legal actions bring where masks matter
        is_first = self.np_random.random() < found[0][0]
        _, reward, self._state = found[0 if is_first else 1]
        self._steps += 1
        is_over = self._state == END
        is_cut = self._steps == self._rung.limit  # also where the episode ends, as in Gymnasium
        observation, info = self._seen()
        return observation, reward, is_over, is_cut, info

    def action_masks(self) -> BoolArray:
        """Return [A] True where an action is legal; all are at the end."""
        if self._state == END:
            return np.ones(self._rung.masks.shape[1], np.bool_)
        return np.array([move is not None for move in self._rung.moves[self._state]])


@checked
def agent(
    make_agent: Callable[..., Any],
    rungs: Iterable[str] | None = None,
    steps: int = 8192,
    seed: int = 0,
    vectorize: Callable[..., Any] | None = None,
) -> CheckResult:
    """Train an agent on a ladder of tiny solved tasks, and measure its exact regret on each.

    The rungs are: one decision, chance, credit, sign, masks in play, masks in targets, time limit, autoreset,
    discount, exploration. An agent fails a rung if it fails with three seeds. The first rung that fails says what
    to look for. Later ones are skipped, because they build on it. The rungs with masks are skipped for agents that
    take none, and the discount is skipped if `make_agent` has no argument for it. Illegal actions in training fail
    the rungs with masks.

    Args:
        make_agent: a function of an environment that returns a new agent. It also receives `discount` and `seed` if it
            has arguments of these names; use the seed for the networks and the exploration. The agent is one that
            `stb_gym.RegretMeter` takes, and has `learn(steps)`, such as a model of stable-baselines3; without `learn`
            it must be trained already. Its best actions are measured, for all states at once and for each alone. The
            environment has observations [S] float32, one-hot, and masks as sb3-contrib and Gymnasium's infos have them.
            Agents with a memory, such as recurrent networks, are refused.
        rungs: the names of the rungs to climb; None for all.
        steps: the steps of each training.
        seed: the first of the three seeds.
        vectorize: makes a vector environment of a list of functions that return environments, such as `DummyVecEnv` of
            stable-baselines3 or `gymnasium.vector.SyncVectorEnv`, for agents that step four at once; None for a single
            environment.

    Returns:
        A result with a case for each rung. Errors are regrets as shares of the greatest possible.

    Raises:
        TypeError: if `make_agent` returns no agent.
        ValueError: if a rung is unknown, the agent has a memory, or it answers with wrong shapes.

    Example:
        >>> from stb_gym import check
        >>> def make_agent(env):
        ...     return lambda observations: observations[:, 0].astype(int)  # not trained at all
        >>> result = check.agent(make_agent, rungs=["one decision"])
        >>> result.passed, round(result.error, 3), result.where
        (False, 0.333, 'at choice 4, where action 1 is best, it plays action 0')
    """
    check_integer("steps", steps, 1, 10**9)
    check_integer("seed", seed, 0, 2**31 - 1 - ATTEMPTS)
    names = [rung.name for rung in RUNGS]
    wanted = names if rungs is None else list(rungs)
    check_names("rung", wanted, names)
    chosen = [rung for rung in RUNGS if rung.name in wanted]
    cases = []
    failed: Rung | None = None
    for rung in tracked(chosen, "rungs climbed", "rungs", len(chosen)):
        if failed:
            cases.append(Case(rung.name, skipped=f"{failed.name} failed"))
            continue
        for attempt in range(ATTEMPTS):
            case = _climb(rung, make_agent, steps, seed + attempt, vectorize)
            if case.passed or case.where == CHANGES:  # another seed would not help
                break
        cases.append(case)
        if not case.passed:
            failed = rung
    result = CheckResult("agent", tuple(cases))
    if failed is None:
        return result
    if result.where == CHANGES:
        return replace(result, likely=(EVALUATION,), remedy="ask the agent for one state alone, and for many at once")
    likely = next(faults for beginning, faults in failed.likely.items() if result.where.startswith(beginning))
    remedy = f"repair {failed.name} first, because later rungs build on it; {failed.checks} can find the line"
    return replace(result, likely=likely, remedy=remedy)


def _climb(
    rung: Rung, make_agent: Callable[..., Any], steps: int, seed: int, vectorize: Callable[..., Any] | None
) -> Case:
    """Train an agent on a rung and measure it."""
    accepted = arguments_of(make_agent)
    if rung.name == "discount" and "discount" not in accepted:
        return Case(rung.name, skipped="make_agent has no argument `discount`")
    illegal: list[str] = []
    if vectorize is None:
        env: Any = RungEnv(rung, seed, illegal)
    else:
        env = vectorize([partial(RungEnv, rung, NUM_ENVS * seed + copy, illegal) for copy in range(NUM_ENVS)])
    options = {"discount": rung.discount, "seed": seed}
    options = {name: value for name, value in options.items() if name in accepted}
    check_accepts(make_agent, name_of(make_agent), env, **options)
    agent = make_agent(env, **options)
    view = SimpleNamespace(game=f"rung {rung.name}", check_model=lambda model, masked: None)
    player = player_of(agent, cast(AgentView, view))
    masks = rung.masks
    with closing(env):
        if not (masks.all() or player.masked):
            return Case(rung.name, skipped="the agent takes no masks")
        if hasattr(agent, "learn"):
            agent.learn(steps)
        observations = np.eye(len(masks), dtype=np.float32)

        def play(rows: NDArray[Any]) -> FloatArray:
            """Return the probabilities [B, A] of the agent's actions at B states."""
            answer = player(Batch(observations[rows], masks[rows]))
            return answer if answer.ndim == 2 else np.eye(masks.shape[1])[answer]

        policy = play(np.arange(len(masks)))
        alone = np.stack([play(np.full(COPIES, row))[-1] for row in range(len(masks))])
    states = list(rung.moves)
    illegal += [f"{action} {states[row]}, when measured" for row, action in np.argwhere((policy > 0) & ~masks)]
    if illegal:
        return Case(rung.name, 1.0, TOLERANCE, f"illegal action {illegal[0]}; {len(illegal)} in all")
    losses = rung.losses(policy)
    error = float(losses.sum())
    error_alone = float(rung.losses(alone).sum())
    if error <= TOLERANCE < error_alone:
        return Case(rung.name, error_alone, TOLERANCE, CHANGES)
    row = losses.argmax()
    best = np.nanargmax(rung.action_values()[row])
    where = f"{states[row]}, where action {best} is best, it plays action {policy[row].argmax()}"
    if error > 1 - TOLERANCE:
        where = f"{WORST}: {where}"
    return Case(rung.name, error, TOLERANCE, where if error > 0 else "")
