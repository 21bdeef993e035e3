"""Wrappers that count what is visited while anything plays: the actions that were taken, and what the dice showed."""

from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs

from stb_gym.arguments import checked
from stb_gym.arrays import IntArray
from stb_gym.envs import TableStepper, TurnEnv, TurnVectorEnv
from stb_gym.measure.steps import games_begun, last_step_of, last_steps_of, turn_of
from stb_gym.solver import TurnTables


@dataclass(frozen=True, eq=False)
class Visits:
    """What was visited in a game; those of several environments can be added, also by `sum`.

    Attributes:
        tables: the arrays of the game, with S states and P pairs of a state and a legal action.
        states: [S] how often each state was reached by a throw, except where the options of a reset chose the dice.
        pairs: [P] how often each pair was taken; actions that lead to the same afterstate count as the lowest of them.
    """

    tables: TurnTables
    states: IntArray
    pairs: IntArray

    def __add__(self, other: "Visits") -> "Visits":
        if not isinstance(other, Visits) or other.tables.game != self.tables.game:
            raise ValueError("visits can be added only if they are of the same game")
        return Visits(self.tables, self.states + other.states, self.pairs + other.pairs)

    def __radd__(self, zero: int) -> "Visits":
        return self


class CountsVisits:
    """The counts of visits in one or more environments of a game, which both wrappers keep."""

    def _count_in(self, env: TurnEnv | TurnVectorEnv) -> None:
        """Begin to count visits.

        Args:
            env: the environment inside all wrappers.

        Raises:
            ValueError: if the game has too many positions to count the visits of each.
        """
        if not isinstance(env.stepper, TableStepper):
            raise ValueError(f"{env.game} has too many positions to count the visits of each")
        tables = env.stepper.tables
        self._num_afterstates = tables.num_afterstates
        pairs = tables.pair_state * tables.num_afterstates + tables.pair_afterstate
        self._order = np.argsort(pairs, kind="stable")
        self._pairs = pairs[self._order]
        self._visits = Visits(tables, np.zeros(tables.num_states + 1, int), np.zeros(len(pairs), int))

    def _reach(self, states: Any) -> None:
        """Count throws that led to states; the illegal state is counted at the end of the array."""
        np.add.at(self._visits.states, states, 1)

    def _take(self, states: Any, afterstates: Any) -> None:
        """Count the legal actions that were taken at states and led to afterstates."""
        legal = afterstates < self._num_afterstates
        pairs = np.extract(legal, states * self._num_afterstates + afterstates)
        np.add.at(self._visits.pairs, self._order[np.searchsorted(self._pairs, pairs)], 1)

    @property
    def visits(self) -> Visits:
        """A copy of the visits so far, without the illegal state."""
        return Visits(self._visits.tables, self._visits.states[:-1].copy(), self._visits.pairs.copy())


class RecordVisits(CountsVisits, gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Count every action that is taken and every throw, for `stb_gym.diagnose`.

    Args:
        env: an environment of stb_gym with tables, however wrapped.

    Attributes:
        visits: the `stb_gym.measure.Visits` so far, a copy: counts by state and by pair.

    Raises:
        TypeError: if `env` is not a single environment of stb_gym.
        RuntimeError: in a step, if the wrappers inside take none or several.
        ValueError: if the game has too many positions to count the visits of each.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> env = stb_gym.RecordVisits(gym.make("stb_gym/ShutTheBox-v0"))
        >>> _, info = env.reset(seed=0)
        >>> _ = env.step(info["action_mask"].argmax())
        >>> int(env.visits.states.sum()), int(env.visits.pairs.sum())
        (2, 1)
    """

    @checked
    def __init__(self, env: gym.Env[Any, Any]):
        RecordConstructorArgs.__init__(self)
        super().__init__(env)
        self._turn: TurnEnv = turn_of(env, TurnEnv, "RecordVisits needs an environment")
        self._count_in(self._turn)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        result = self.env.reset(seed=seed, options=options)
        self._begin()
        return result

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take an action, and count it."""
        turn, before = self._turn, self._turn.state
        result = self.env.step(action)
        last = last_step_of(turn, before)
        if last is not None:
            self._take(last.states, last.afterstates)
            self._reach(last.reached)
        if turn.num_steps == 0:  # a wrapper has begun another episode
            self._begin()
        return result

    def _begin(self) -> None:
        """Count the first throw, unless a reset chose it."""
        if not self._turn.chose_throws:
            self._reach(self._turn.state)


class VectorRecordVisits(CountsVisits, gym.vector.VectorWrapper):
    """The vector version of `RecordVisits`, in every autoreset mode.

    Args:
        envs: a vector environment of stb_gym with tables, however wrapped. For a `SyncVectorEnv`, wrap each environment
            in `RecordVisits` instead, and add their visits.

    Attributes:
        visits: the visits of all environments together.

    Raises:
        TypeError: if `envs` is not a vector environment of stb_gym.
        RuntimeError: in a step, if the wrappers inside take none or several.
        ValueError: if the game has too many positions to count the visits of each.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> envs = stb_gym.VectorRecordVisits(gym.make_vec("stb_gym/ShutTheBox-v0", num_envs=100))
        >>> _, infos = envs.reset(seed=0)
        >>> _ = envs.step(infos["action_mask"].argmax(axis=1))
        >>> int(envs.visits.states.sum()), int(envs.visits.pairs.sum())
        (200, 100)
    """

    @checked
    def __init__(self, envs: gym.vector.VectorEnv[Any, Any, Any]):
        super().__init__(envs)
        self._turns: TurnVectorEnv = turn_of(envs, TurnVectorEnv, "VectorRecordVisits needs a vector environment")
        self._count_in(self._turns)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin all episodes, or those of `options["reset_mask"]`."""
        observations, infos = self.env.reset(seed=seed, options=options)
        games = games_begun(infos)
        if not self._turns.chose_throws:
            self._reach(self._turns.states[games])
        return observations, infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take an action in every environment, and count it."""
        turns, before = self._turns, self._turns.states
        result = self.env.step(actions)
        last, states = last_steps_of(turns, before), turns.states
        self._take(last.states[last.acted], last.afterstates[last.acted])
        self._reach(last.reached)
        self._reach(states[states != last.reached])  # turns that have begun in the same step
        return result
