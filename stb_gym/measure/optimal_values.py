"""The values of perfect play at the states and afterstates of an environment, for its recorders."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from stb_gym.arrays import FloatArray
from stb_gym.envs import TableStepper, TurnEnv, TurnVectorEnv
from stb_gym.solver import Solution
from stb_gym.solving import perfect_play


class TableValues:
    """The expected utility of perfect play at the states and afterstates of an environment's stepper, from tables.

    In a round it depends on the scores so far, too: there is a row of values for each of these. A turn has one row.

    Args:
        states: [C, S] the utilities at states, in C rows.
        afterstates: [C, Y] the utilities at afterstates.
        illegal: the utility of an illegal action.
    """

    def __init__(self, states: FloatArray, afterstates: FloatArray, illegal: float):
        self._row_of_states, self._row_of_afterstates = states.shape[1] + 1, afterstates.shape[1] + 1
        self._states, self._afterstates = (
            np.pad(values, ((0, 0), (0, 1)), constant_values=illegal).ravel() for values in (states, afterstates)
        )

    def of_states(self, states: Any, row: Any = 0) -> Any:
        """Return the utilities at states, before the choice of an action or at the end of a turn; a number or [B]."""
        return self._states.take(row * self._row_of_states + states)

    def of_afterstates(self, afterstates: Any, row: Any = 0) -> Any:
        """Return the utilities at afterstates, before a throw or after an illegal action; a number or [B]."""
        return self._afterstates.take(row * self._row_of_afterstates + afterstates)


class ComputedValues:
    """The same as `TableValues`, computed when it is needed, for turns of games too large for tables.

    Args:
        env: the environment, without wrappers.
    """

    def __init__(self, env: TurnEnv | TurnVectorEnv):
        self._env = env
        self._optimum = perfect_play(env.game, env.objective)

    def of_states(self, states: Any, row: Any = 0) -> Any:
        """Return the utilities at states."""
        env, many = self._env, np.atleast_1d(states)
        utilities = env.rewards_at(many) / env.reward_scale
        index, actions = env.stepper.legal_moves(many)
        if len(index):
            first = np.flatnonzero(np.diff(index, prepend=-1))
            after = self.of_afterstates(env.stepper.after_actions(many[index], actions))
            utilities[index[first]] = np.maximum.reduceat(after, first)
        return utilities if np.ndim(states) else utilities[0]

    def of_afterstates(self, afterstates: Any, row: Any = 0) -> Any:
        """Return the utilities at afterstates."""
        env, many = self._env, np.atleast_1d(afterstates)
        utilities = self._optimum.utilities_at(*env.stepper.position(many)).astype(np.float64)
        utilities[many == env.stepper.illegal_afterstate] = env.illegal_reward / env.reward_scale
        return utilities if np.ndim(afterstates) else utilities[0]


OptimalValues = TableValues | ComputedValues


def optimal_values(env: TurnEnv | TurnVectorEnv) -> OptimalValues:
    """Return the values of perfect play in an environment of turns without wrappers."""
    optimum = perfect_play(env.game, env.objective)
    if not (isinstance(optimum, Solution) and isinstance(env.stepper, TableStepper)):
        return ComputedValues(env)
    states, afterstates = (
        np.asarray(array, np.float64)[None] for array in (optimum.state_utilities, optimum.afterstate_utilities)
    )
    return TableValues(states, afterstates, env.illegal_reward / env.reward_scale)


def values_of(env: Any) -> Callable[[], tuple[OptimalValues, Any]]:
    """Return a function that returns the optimal values of an environment, and their current row, or [B] rows.

    An environment of rounds has its own method `optimal_values`; the values change with the opponents.
    """
    base = env.unwrapped
    if hasattr(base, "optimal_values"):
        method: Callable[[], tuple[OptimalValues, Any]] = base.optimal_values
        return method
    values = optimal_values(base)
    return partial(_of_turns, values)


def _of_turns(values: OptimalValues) -> tuple[OptimalValues, Any]:
    """Return the values and row 0, the only one that turns have."""
    return values, 0
