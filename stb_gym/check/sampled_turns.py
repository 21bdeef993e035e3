"""Sampled turns of an agent, as estimators of its policy gradient see them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import BoolArray, FloatArray, IntArray
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
    mask: BoolArray
    action: IntArray
    reward: FloatArray
    valid: BoolArray
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
        self._throws = np.append(0, np.cumsum(tables.state_probability))
        self._choices = policy.cumsum(axis=1)
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

        def thrown(afterstate: IntArray) -> IntArray:
            first = tables.state_start[afterstate]
            chance = self._throws[first] + draws.random(len(first))
            found = self._throws[1:].searchsorted(chance, side="right")
            return found.clip(first, tables.state_start[afterstate + 1] - 1)

        row = np.arange(turns)
        state = thrown(np.full(turns // group_size, tables.start)).repeat(group_size)
        is_over = tables.choices[state] == 0
        moves = []
        while not is_over.all():
            row = row[~is_over]
            state = state[~is_over]
            chances = self._choices[state]
            action = (chances > draws.random((len(row), 1)) * chances[:, -1:]).argmax(axis=1)
            pair = self._pair[state, action]
            afterstate = np.where(pair < 0, tables.num_afterstates, tables.pair_afterstate[pair])
            next_state = thrown(np.where(pair < 0, tables.start, afterstate))
            is_over = (pair < 0) | (tables.choices[next_state] == 0)
            moves.append((row, state, action, pair, np.where(is_over, self._utility[afterstate], 0)))
            state = next_state

        rows, *columns = (np.concatenate(arrays) for arrays in zip(*moves, strict=True))
        by_turn = rows.argsort(kind="stable")
        states, actions, pairs, rewards = (column[by_turn] for column in columns)
        valid = np.arange(len(moves)) < np.bincount(rows, minlength=turns)[:, None]

        def in_turns(of_moves: NDArray[Any]) -> NDArray[Any]:
            filled = np.zeros((*valid.shape, *of_moves.shape[1:]), of_moves.dtype)
            filled[valid] = of_moves
            return filled

        observations = tables.observation[states]
        if self._view is not None:
            observations = self._view(observations, tables.legal[states])
        return Turns(
            map_entries(in_turns, observations),
            mask=in_turns(tables.legal[states]) | ~valid[..., None],
            action=in_turns(actions),
            reward=in_turns(rewards),
            valid=valid,
            state=in_turns(states),
            pair=in_turns(pairs),
            group_size=group_size,
            seed=int(seed.generate_state(1)[0]),
        )
