"""The limit: certainty equivalence, which counts what it sees and solves the game that the counts describe.

    value(position) = max over moves seen there of the mean reward + mean over what followed of value(next position)

What learns from the same plays can hardly know more, so a learner's regret above this one's is its algorithm's, and the
rest the data's. Kumar and Varaiya, "Stochastic systems", 1986; it plays the model's best move, and a random legal one
now and then. Two kinds differ in which counts are shared:

- "pairs" is given nothing. Positions are told apart by what is shown of them, and what follows is counted for every
  pair of a position and an action by itself.
- "afterstates" is given the rules of moves: a function tells what is left on the table after an action, before the
  dice are thrown. Pairs that lead to the same share their counts. These are rolls counted state by state.

A learner whose network generalises may beat both, as it may find that all states share one pair of dice. What would be
known of the game then, `shared_dice` tells: it is given the rules of moves, and counts rolls whatever is left.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.learner import explored
from agents.plain.replay import Positions
from stb_gym import Objective, Policy, TurnTables
from stb_gym.envs import TurnVectorEnv
from stb_gym.games import IntArray

After = Callable[[NDArray[Any], IntArray], IntArray]

GROWTH = 1.25  # the model is solved anew whenever it has this many times as many steps


@dataclass(frozen=True)
class CountingSettings:
    """Settings of the limit."""

    num_envs: int = 1024
    """Games that are played at once."""
    exploration: float = 0.1
    """Probability of a random legal action."""


class Counting:
    """Counts what follows every move, and plays what is best if chances are as counted.

    Args:
        envs: a Gymnasium vector environment in SAME_STEP mode, whose infos tell the `action_mask`.
        settings: its settings.
        seed: of the dice and the exploration.
        after: of observations [B, O] and actions [B], numbers [B] from 0 that are equal where what the actions lead to
            is, before the dice are thrown; by default every pair of position and action is by itself.
    """

    def __init__(self, envs: Any, settings: CountingSettings, seed: int, after: After | None = None):
        self._envs, self._settings, self._after = envs, settings, after
        self._random = np.random.default_rng([seed, 1])  # other numbers than those of the dice
        space, self._actions = envs.single_observation_space, int(envs.single_action_space.n)
        self._positions = Positions(np.zeros(space.shape, space.dtype), self._actions)
        self._seen: list[tuple[IntArray, NDArray[np.float64]]] = []  # [M, 2] left by, next; [M, 2] how often, reward
        self.num_timesteps, self._solved = 0, 0
        observations, infos = envs.reset(seed=seed)
        self._here = self._positions.numbers(observations, infos["action_mask"])
        self._solve()

    def learn_until(self, steps: int, before_rollout: Callable[[], None]) -> None:
        """Play and count until `num_timesteps` is `steps`, or a little more; then solve what was counted."""
        while self.num_timesteps < steps:
            before_rollout()
            self._play()
            if self.num_timesteps >= GROWTH * self._solved:
                self._solve()
        self._solve()

    def _play(self) -> None:
        """Make a move in every game and count what it led to."""
        here, masks = self._here, self._positions.masks[self._here]
        actions = (self._random.random(masks.shape, np.float32) * masks).argmax(axis=1)
        known = np.append(self._best, np.full(len(self._positions) - len(self._best), -1))[here]  # -1: not in the model
        greedy = (self._random.random(len(here)) >= self._settings.exploration) & (known >= 0)
        actions[greedy] = known[greedy]
        observations, rewards, over, _, infos = self._envs.step(actions)
        self._here = following = self._positions.numbers(observations, infos["action_mask"])
        if over.any():  # what they show now is the next turn
            following = following.copy()
            last = np.stack(infos["final_obs"][over].tolist()).astype(observations.dtype)
            following[over] = self._positions.numbers(last, np.zeros((len(last), self._actions), np.bool_))
        moves = np.stack([self._left_by(here, actions), following], axis=1)
        self._seen.append((moves, np.stack([np.ones(len(here)), rewards], axis=1)))
        self.num_timesteps += len(here)

    def _left_by(self, positions: IntArray, actions: IntArray) -> IntArray:
        if self._after is None:
            return positions.astype(np.int64) * self._actions + actions
        return self._after(self._positions.observations[positions], actions)

    def _solve(self) -> None:
        """Add up what was seen, and find by value iteration what is best if it happens as often again.

        What was never seen to be left by an action is never chosen, if there is a choice. It ends when nothing changes:
        after as many rounds as a turn has moves, as no position comes twice in a turn.
        """
        moves = np.concatenate([np.zeros((0, 2), np.int64), *(moves for moves, _ in self._seen)])
        sums = np.concatenate([np.zeros((0, 2)), *(sums for _, sums in self._seen)])
        moves, of_move = np.unique(moves, axis=0, return_inverse=True)
        count, reward = (np.bincount(of_move.ravel(), column, len(moves)) for column in sums.T)
        self._seen = [(moves, np.stack([count, reward], axis=1))]
        left, of_left = np.unique(moves[:, 0], return_inverse=True)
        often, rewards = np.bincount(of_left, count), np.bincount(of_left, reward)
        here, action = self._positions.masks.nonzero()
        pair_left = self._left_by(here, action)
        met = np.isin(pair_left, left)
        here, action, place = here[met], action[met], np.searchsorted(left, pair_left[met])
        values = np.full(self._positions.masks.shape, -np.inf)
        self._value, before = np.zeros(len(self._positions)), None
        while before is None or (self._value != before).any():
            before = self._value
            values[here, action] = ((rewards + np.bincount(of_left, count * before[moves[:, 1]])) / often)[place]
            self._value = values.max(axis=1, initial=-np.inf)
            self._value[np.isneginf(self._value)] = 0.0
        self._best = np.where(np.isfinite(values).any(axis=1), values.argmax(axis=1), -1)
        self._solved = self.num_timesteps

    @property
    def followed(self) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """[M, O] what moves led to, and [M] how often."""
        (moves, sums), *_ = self._seen
        return self._positions.observations[moves[:, 1]], sums[:, 0]

    def probabilities(self, observations: NDArray[Any], masks: NDArray[Any]) -> NDArray[np.float32]:
        """[B, A] the probability of each action while exploring; the greedy one has the highest."""
        best = np.append(self._best, np.full(len(self._positions) - len(self._best), -1))
        known = best[self._known(observations, masks)]
        greedy = np.where(known >= 0, known, masks.argmax(axis=1))
        return explored(masks.astype(np.bool_), greedy, self._settings.exploration)

    def values(self, observations: NDArray[Any], masks: NDArray[Any]) -> NDArray[np.float64]:
        """[B] the sum of rewards it expects to the end of the turn; 0 at positions that it never met."""
        value = np.append(self._value, np.zeros(len(self._positions) - len(self._value)))
        return value[self._known(observations, masks)]

    def _known(self, observations: NDArray[Any], masks: NDArray[Any]) -> NDArray[np.int32]:
        return self._positions.find(observations, masks)


def afterstates(envs: TurnVectorEnv) -> After:
    """The rules of moves: which state, before its throw, an action leads to."""
    tables, following = envs.transitions.tables, envs.transitions.next_state
    return lambda observations, actions: following[tables.observation_index.find(observations), actions].astype(int)


def shared_dice(tables: TurnTables, objective: Objective, shown: NDArray[Any], count: NDArray[np.float64]) -> Policy:
    """[N] what is best if each roll has its share of those seen as its chance, whatever is left: one pair of dice.

    Args:
        tables: the rules, whose own chances are not used.
        objective: what is wanted.
        shown: [M, O] what throws led to, as `Counting.followed` tells.
        count: [M] how often.
    """
    seen = np.bincount(tables.observation_index.find(shown), count, tables.nodes)
    dice = [int(tables.dice[level.states.start]) for level in tables.levels]
    by_roll = {number: np.zeros(len(level.rolls.counts)) for number, level in zip(dice, tables.levels, strict=True)}
    for number, level in zip(dice, tables.levels, strict=True):
        by_roll[number] += seen[level.nodes].reshape(-1, len(level.rolls.counts)).sum(axis=0)
    share = {number: counts / max(counts.sum(), 1) for number, counts in by_roll.items()}
    # A sweep divides by how many throws there are.
    rolls = [
        level.rolls._replace(counts=share[n] * len(level.rolls.of_throw))
        for n, level in zip(dice, tables.levels, strict=True)
    ]
    levels = tuple(level._replace(rolls=of_level) for level, of_level in zip(tables.levels, rolls, strict=True))
    utility = objective.utilities(tables.final_score).astype(np.float64)
    counted = replace(tables, levels=levels)
    value, _ = counted.sweep(utility, lambda values, level: level.reduce(np.maximum, values))
    best = tables.after_edges(value)
    return tables.lowest_actions(best == tables.spread(tables.reduce(np.maximum, best)))
