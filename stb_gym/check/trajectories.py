"""All that can happen in a small game under a stochastic policy, with its probability, so that means have no noise.

A stream is what one environment produces: turns back to back, cut after some steps. An estimator of advantages or
targets looks ahead from a step until its turn ends, until a time limit cuts the turn, or until the stream is cut. The
mean of what it returns for a state and an action is therefore a matter of the process alone and of the number of steps
to the next cut, `steps_left`. `Process` computes it from the tables of the game by one backup a step.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stb_gym.arrays import BoolArray, FloatArray, IntArray, cached_arrays
from stb_gym.check.batches import Batch
from stb_gym.games import Game
from stb_gym.solver import compile_game
from stb_gym.solver.tables import TurnTables

Row = tuple[int, int, bool, int]  # of `Steps`: a pair, the next state, whether it is truncated, the steps left


@dataclass(frozen=True, eq=False)
class Process:
    """A game with rewards on moves, a discount and a stochastic policy.

    A step gives `move_reward` of its pair and, if the turn ends, `final_reward` of the afterstate.

    Attributes:
        tables: the arrays of the game: S states, P pairs, Y afterstates.
        discount: the factor of the value of the next state.
        move_reward: [P] the reward of each pair.
        final_reward: [Y] the reward of a turn that ends at the afterstate.
        policy: [P] the probability of each pair at its state.
    """

    tables: TurnTables
    discount: float
    move_reward: FloatArray
    final_reward: FloatArray
    policy: FloatArray

    @cached_arrays
    def is_over(self) -> BoolArray:
        """[S] True where the turn is over."""
        return self.tables.choices == 0

    @cached_arrays
    def reward(self) -> FloatArray:
        """[P] the mean reward of the step that takes a pair."""
        of_ends = np.where(self.is_over, self.final_reward[self.tables.state_origin], 0)
        return self.move_reward + self._after_throw(of_ends)

    @cached_arrays
    def value(self) -> FloatArray:
        """[S] the exact value of the policy, 0 where the turn is over."""
        value = np.zeros(self.tables.num_states)
        for _ in range(self.longest_turn):
            value = self.mean_at_states(self.backup(value))
        return value

    @property
    def longest_turn(self) -> int:
        """A number of moves that no turn exceeds."""
        return len(self.tables.levels)

    def _after_throw(self, values: FloatArray) -> FloatArray:
        """Return [P] the mean value [S] of the state that follows a pair."""
        weighted = values * self.tables.state_probability
        return self.tables.after_pairs(np.add.reduceat(weighted, self.tables.state_start[:-1]))

    def next_mean(self, values: FloatArray) -> FloatArray:
        """Return [P] the discounted mean value [S] of the state that follows a pair; 0 for turns that are over."""
        return self.discount * self._after_throw(np.where(self.is_over, 0, values))

    def backup(self, values: FloatArray) -> FloatArray:
        """Return [P] the Bellman backup of values [S]: the mean reward of a step and the next mean value."""
        return self.reward + self.next_mean(values)

    def td_error(self, values: FloatArray) -> FloatArray:
        """Return [P] the mean temporal difference of values [S]: the backup minus the value of the pair's state."""
        return self.backup(values) - self.tables.at_pairs(values)

    def mean_at_states(self, values: FloatArray) -> FloatArray:
        """Return [S] the mean over actions of values [P] under the policy."""
        return self.tables.sum_at_states(self.policy * values)

    def look_ahead(self, step: FloatArray, factor: FloatArray | float, longest: int) -> FloatArray:
        """Return the mean of a sum that an estimator collects over 0, 1, 2 ... steps.

        Args:
            step: [P] the mean contribution of each step.
            factor: [P] or a number: how much of the sum of the next state is added, besides the discount.
            longest: the greatest number of steps.

        Returns:
            [longest + 1, P] the sum, by the number of steps and the pair of the first one.
        """
        sums = [np.zeros(len(step))]
        for _ in range(longest):
            sums.append(step + factor * self.next_mean(self.mean_at_states(sums[-1])))
        return np.array(sums)


@dataclass(frozen=True, eq=False)
class Steps:
    """Steps of weighted streams: T steps of each of B streams.

    Attributes:
        process: the game and the policy.
        pair: [T, B] the pair that each step takes.
        next_state: [T, B] the state that it leads to; where the turn ends, its last state.
        truncated: [T, B] True at the time limit, also where the turn ends there.
        steps_left: [T, B] how many steps are left, this one included, until a time limit or the end of the stream.
        weight: [T, B] the probability of the turn.
    """

    process: Process
    pair: IntArray
    next_state: IntArray
    truncated: BoolArray
    steps_left: IntArray
    weight: FloatArray

    @property
    def state(self) -> IntArray:
        """[T, B] the state in which each step begins."""
        return self.process.tables.pair_state[self.pair]

    @property
    def longest(self) -> int:
        """The greatest number of steps that are left."""
        return int(self.steps_left.max())

    @property
    def terminated(self) -> BoolArray:
        """[T, B] True where the turn ends."""
        return self.process.is_over[self.next_state]

    @property
    def reward(self) -> FloatArray:
        """[T, B] the reward of each step."""
        final = self.process.final_reward[self.process.tables.state_origin[self.next_state]]
        return self.process.move_reward[self.pair] + np.where(self.terminated, final, 0)

    def at(self, rows: IntArray) -> "Steps":
        """Return some steps [T, B] of the first stream, given their rows."""
        columns = {name: array[rows, 0] for name, array in vars(self).items() if name != "process"}
        return replace(self, **columns)

    def batch(self, **entries: Any) -> Batch:
        """Return the steps as code under test sees them, with other entries of a batch."""
        return Batch(self.reward, self.terminated, self.truncated, self.process.discount, **entries)

    def mean(self, answers: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mean answer by number of steps left and pair, and the probability of each combination.

        Args:
            answers: [T, B] what an estimator returned.

        Returns:
            [longest + 1, P] means, 0 where a pair does not occur, and [longest + 1, P] probabilities.
        """
        num_pairs = len(self.process.policy)
        size = (self.longest + 1) * num_pairs
        key = (self.steps_left * num_pairs + self.pair).ravel()
        weight = np.bincount(key, self.weight.ravel(), size).astype(np.float64)
        total = np.bincount(key, (self.weight * answers).ravel(), size)
        mean = np.divide(total, weight, out=np.zeros(size), where=weight > 0)
        return mean.reshape(-1, num_pairs), weight.reshape(-1, num_pairs)


def random_process(game: Game, discount: float, seed: int) -> Process:
    """Return a process with random rewards on moves and a random policy."""
    tables = compile_game(game)
    draws = np.random.default_rng(seed)
    preference = np.exp(draws.normal(size=len(tables.pair_state)))
    return Process(
        tables,
        discount,
        move_reward=draws.normal(size=len(preference)),
        final_reward=game.sign * tables.final_score.astype(float),
        policy=preference / tables.at_pairs(tables.sum_at_states(preference)),
    )


def turns(process: Process, limit: int | None = None) -> Steps:
    """Return all turns back to back in one stream, B = 1, in random order.

    Args:
        process: the game and the policy.
        limit: the number of moves after which a turn is cut; None for no limit.
    """
    tables = process.tables
    most = limit or process.longest_turn + 1

    def ways(state: int, begun: list[Row], chance: float) -> Iterator[tuple[list[Row], float]]:
        """Yield all ways in which a turn goes on, with their probabilities."""
        for pair in tables.pairs_of(state):
            for next_state in tables.states_of(int(tables.pair_afterstate[pair])):
                is_over = bool(process.is_over[next_state])
                left = most - len(begun)
                rows = [*begun, (pair, next_state, left == 1, left)]
                reached = chance * process.policy[pair] * tables.state_probability[next_state]
                if is_over or left == 1:
                    yield rows, reached
                else:
                    yield from ways(next_state, rows, reached)

    found = [
        way for state in tables.states_of(tables.start) for way in ways(state, [], tables.state_probability[state])
    ]
    np.random.default_rng(0).shuffle(found)
    rows = [(*row, chance) for rows, chance in found for row in rows]
    return Steps(process, *(np.array(column)[:, None] for column in zip(*rows, strict=True)))


def streams(process: Process, length: int, limit: int | None = None) -> Steps:
    """Return streams of some steps that begin and end anywhere in a turn: each step of all turns, and those after it.

    So each step of each turn is 1, 2 ... `length` steps before the end of a stream.

    Args:
        process: the game and the policy.
        length: the number of steps of a stream, T.
        limit: the number of moves after which a turn is cut; None for no limit.
    """
    whole = turns(process, limit)
    size = len(whole.pair)
    step = np.arange(length)[:, None]
    steps = whole.at((step + np.arange(size)) % size)
    return replace(steps, steps_left=np.minimum(steps.steps_left, length - step))
