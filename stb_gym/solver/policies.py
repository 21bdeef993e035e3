"""Policies: arrays over states, or rules that score the afterstates of the moves.

An array has one of two forms: [S] integers, an action per state, or [S, A] floats, the probability of every action at
every state. Entries of states without a legal action are ignored; -1 is usual there. A rule needs no array, so it plays
games of any size.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.arrays import FloatArray, IntArray
from stb_gym.checks import check_choice
from stb_gym.messages import quoted
from stb_gym.solver.choices import Move
from stb_gym.solver.objectives import finite_numbers
from stb_gym.solver.tables import Policy, TurnTables
from stb_gym.solver.tasks import ILLEGAL


@dataclass(frozen=True)
class AfterstateScorePolicy:
    """Play the legal move that leads to the afterstate of highest score; the lowest action among equals.

    Args:
        score: a function `(progress, dice) -> scores` of B afterstates: `progress` [B], such as boards as bit
            masks, and `dice` [B] the number of dice thrown next, 0 where the turn ends. It returns
            [B] finite numbers, such as the values of an afterstate network.

    Example:
        >>> import stb_gym
        >>> from stb_gym.solver import AfterstateScorePolicy
        >>> game = stb_gym.ShutTheBox()
        >>> high_tiles_first = AfterstateScorePolicy(lambda boards, dice: -boards)
        >>> round(stb_gym.evaluate(game, high_tiles_first).regret, 6)
        0.215747
        >>> stb_gym.evaluate(game, AfterstateScorePolicy(stb_gym.solve(game).utilities_at)).regret
        0.0
    """

    score: Callable[[IntArray, IntArray], NDArray[Any]]

    @checked
    def scores(self, progress: IntArray, dice: IntArray) -> NDArray[Any]:
        """Return the scores [B] of afterstates.

        Raises:
            ValueError: unless there is a finite number for each.
        """
        progress = np.asarray(progress)
        fault = f"score must give a finite number for each of {progress.size} afterstates"
        return finite_numbers(self.score(progress, np.asarray(dice)), progress.shape, fault)

    def probabilities(self, moves: Sequence[Move]) -> FloatArray:
        """Return [M] the probability of each move of a state."""
        _, progress, dice = np.array(moves).T
        return np.eye(len(moves))[self.scores(progress, dice).argmax()]


@dataclass(frozen=True)
class UniformRandom:
    """Play every legal move with the same probability."""

    def probabilities(self, moves: Sequence[Move]) -> FloatArray:
        """Return [M] the probability of each move of a state."""
        return np.ones(len(moves)) / len(moves)


RulePolicy = AfterstateScorePolicy | UniformRandom
Playable = Policy | RulePolicy


def policy_array(tables: TurnTables, policy: Playable) -> Policy:
    """Return a policy as an array; a rule as the array that plays the same."""
    if isinstance(policy, UniformRandom):
        probabilities = np.zeros((tables.num_states, tables.num_actions))
        probabilities[tables.pair_state, tables.pair_action] = tables.uniform
        return probabilities
    if isinstance(policy, AfterstateScorePolicy):
        return tables.greedy(tables.after_pairs(policy.scores(tables.progress, tables.dice)))
    return np.asarray(policy)


def pair_weights(tables: TurnTables, policy: Playable, illegal: str = "raise") -> tuple[FloatArray, FloatArray]:
    """Return the probabilities with which a policy takes every pair, and an illegal action.

    Args:
        tables: the arrays of the game.
        policy: the policy.
        illegal: "raise" refuses a probability above 0 of an illegal action, "end" allows it.

    Returns:
        [P] the probability of each pair at its state, and [S] that of an illegal action.

    Raises:
        ValueError: if the array does not fit the game; or naming the first (afterstate, roll) where it takes an illegal
            action that is refused, or its probabilities do not sum to 1.
    """
    check_choice("treatment of illegal actions", illegal, ILLEGAL)
    policy = policy_array(tables, policy)
    if policy.shape == (tables.num_states,) and np.issubdtype(policy.dtype, np.integer):
        unknown = (policy < 0) | (policy >= tables.num_actions)
        _refuse(tables, unknown, f"takes an action that is not one of 0 to {tables.num_actions - 1}")
        weights = (tables.pair_action == tables.at_pairs(policy)).astype(float)
        on_illegal = np.where(tables.choices > 0, 1 - tables.sum_at_states(weights), 0)
    elif policy.shape == (tables.num_states, tables.num_actions) and np.issubdtype(policy.dtype, np.floating):
        total = policy.sum(axis=1, dtype=float)
        _refuse(tables, ~(policy >= 0).all(axis=1), "has a probability that is negative or not a number")
        _refuse(tables, abs(total - 1) > 1e-5, "has probabilities that do not sum to 1")
        weights = policy[tables.pair_state, tables.pair_action].astype(float) / tables.at_pairs(total)
        at = tables.decisions
        on_illegal = np.zeros(tables.num_states)
        on_illegal[at] = policy[at].sum(axis=1, where=~tables.legal[at], dtype=float) / total[at]
    else:
        given = quoted(policy.item()) if policy.ndim == 0 else f"of shape {policy.shape} and type {policy.dtype}"
        arrays = f"an array of {tables.num_states} integers, or of {tables.num_states} x {tables.num_actions} floats"
        hint = ": stb_gym.strategy(game, name) makes that of a strategy" if policy.dtype.kind == "U" else ""
        raise ValueError(f"a policy of {tables.game} is {arrays}, not {given}{hint}")
    if illegal == "raise":
        _refuse(tables, on_illegal > 0, "takes an illegal action")
    return weights, on_illegal


def _refuse(tables: TurnTables, broken: Any, fault: str) -> None:
    """Raise a ValueError about the first state with a legal action where a policy is broken [S]."""
    broken = broken[tables.decisions]
    if broken.any():
        state = int(tables.decisions[broken.argmax()])
        raise ValueError(f"the policy {fault} at {tables.describe_state(state)}")
