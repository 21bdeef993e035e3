"""Sampled turns of an agent, as estimators of its policy gradient see them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import FloatArray, IntArray
from stb_gym.measure.tensors import map_entries
from stb_gym.measure.wrapped import AgentView
from stb_gym.solver import Evaluation


@dataclass(frozen=True, eq=False)
class Turns:
    """N turns of at most T moves each, filled up with zeros (and masks with True) after their last move.

    Turns come in groups: `group_size` turns in a row begin with the same throw.

    Attributes:
        observation: [N, T, ...] what the agent sees before each move; a dictionary of arrays if it sees one.
        mask: [N, T, A] True where an action is legal.
        action: [N, T] the action.
        reward: [N, T] the reward of each move: 0, and at the end of the turn its utility in the objective's unit.
        valid: [N, T] True for a move, False for padding.
        state: [N, T] the index of the state in the tables of the game.
        pair: [N, T] the index of the state and the action among the pairs of the tables; -1 for an illegal action.
        group_size: the number of turns in a group.
        seed: a seed that belongs to this batch, for a function that plays turns of its own.
    """

    observation: Any
    mask: NDArray[np.bool_]
    action: IntArray
    reward: FloatArray
    valid: NDArray[np.bool_]
    state: IntArray
    pair: IntArray
    group_size: int
    seed: int

    @property
    def length(self) -> IntArray:
        """[N] the number of moves of each turn."""
        return self.valid.sum(axis=1)


class TurnSampler:
    """Samples turns of an agent from the tables of its game.

    Args:
        evaluation: the exact measurement of the agent.
        policy: [S, A] the probability of each action at each state.
        view: what the agent sees; by default the observations of the rules.
    """

    def __init__(self, evaluation: Evaluation, policy: FloatArray, view: AgentView | None = None):
        self._tables = tables = evaluation.tables
        self._view = view
        objective = evaluation.optimum.objective
        # The utility of the end after each afterstate; an illegal action leads to the last one.
        final = objective.utilities(tables.final_score)
        self._utility = np.append(final, objective.illegal_utility(tables.final_score)).astype(float)
        # Throws of an afterstate, and actions of a state, are drawn by one search in sums over all of them.
        self._throws = np.cumsum(tables.state_probability)
        self._choices = np.append(0, np.cumsum(policy))
        self._pair = np.full(policy.shape, -1)
        self._pair[tables.pair_state, tables.pair_action] = np.arange(len(tables.pair_state))

    def __call__(self, turns: int, group_size: int, seed: np.random.SeedSequence) -> Turns:
        """Sample turns.

        Args:
            turns: how many, a multiple of `group_size`.
            group_size: how many turns in a row begin with the same throw.
            seed: of the throws and the actions.
        """
        tables = self._tables
        draws = np.random.default_rng(seed)
        row = np.arange(turns)
        state = self._throw(np.full(turns // group_size, tables.start), draws).repeat(group_size)
        columns = []
        while len(row):
            goes_on = tables.choices[state] > 0
            row, state = row[goes_on], state[goes_on]
            action = self._act(state, draws)
            pair = self._pair[state, action]
            afterstate = np.where(pair < 0, tables.num_afterstates, tables.pair_afterstate[pair])
            next_state = self._throw(np.where(pair < 0, tables.start, afterstate), draws)
            is_over = (pair < 0) | (tables.choices[next_state] == 0)
            columns.append((row, state, action, pair, np.where(is_over, self._utility[afterstate], 0)))
            row, state = row[~is_over], next_state[~is_over]

        shape = (turns, len(columns))
        valid = np.zeros(shape, np.bool_)
        for time, (rows, *_) in enumerate(columns):
            valid[rows, time] = True

        def padded(name: int) -> NDArray[Any]:
            filled = np.zeros(shape, columns[0][name].dtype)
            for time, column in enumerate(columns):
                filled[column[0], time] = column[name]
            return filled

        def in_turns(seen: NDArray[Any]) -> NDArray[Any]:
            filled = np.zeros((*shape, *seen.shape[1:]), seen.dtype)
            filled[valid] = seen
            return filled

        states = padded(1)
        mask = tables.legal[states] | ~valid[..., None]
        observation = tables.observation[states[valid]]
        if self._view is not None:
            observation = self._view(observation, mask[valid])
        return Turns(
            map_entries(in_turns, observation),
            mask,
            action=padded(2),
            reward=padded(4),
            valid=valid,
            state=states,
            pair=padded(3),
            group_size=group_size,
            seed=int(seed.generate_state(1)[0]),
        )

    def _throw(self, afterstate: IntArray, draws: np.random.Generator) -> IntArray:
        """Return the states that throws at afterstates lead to."""
        # The probabilities of an afterstate sum to 1, so the sum before them is its index.
        found = self._throws.searchsorted(afterstate + draws.random(len(afterstate)), side="right")
        start = self._tables.state_start
        return found.clip(start[afterstate], start[afterstate + 1] - 1)

    def _act(self, state: IntArray, draws: np.random.Generator) -> IntArray:
        """Return actions at states, drawn from the policy."""
        first = state * self._tables.num_actions
        drawn = self._choices[first] + draws.random(len(state))
        found = self._choices[1:].searchsorted(drawn, side="right")
        return found.clip(first, first + self._tables.num_actions - 1) - first
