"""Plan at every move by simulated turns: Monte Carlo tree search, and one-step rollouts.

A planner puts a vector environment into the positions that it is asked about (`restore`), one game for each, and plays
a turn to its end in all of them at once. The throws are its own: a snapshot also has the state of the random numbers,
and a planner that restored it would foresee the dice. It uses the legal moves, the rewards and the numbers of the
states, and neither the probabilities of the dice nor the solver's values.
"""

from typing import Any

import numpy as np

from agents.common import Array, BoolArray
from stb_gym.arrays import IntArray
from stb_gym.checks import check_integer, check_number
from stb_gym.envs import TurnVectorEnv
from stb_gym.messages import quoted


class TreeSearch:
    """Monte Carlo tree search: UCT (Kocsis and Szepesvari, "Bandit based Monte-Carlo planning", 2006).

    Each position has a tree of its own. In a state of the tree a simulation takes a move that it never took there, or
    else the one with the greatest

        mean return + exploration x range of rewards x sqrt(log(visits of the state) / visits of the move)

    The dice lead to the next state. The first state outside of the tree is added to it, and random legal moves end the
    turn. A chance node keeps no numbers: the mean return of a move is the mean over the throws that followed it. States
    that two orders of moves lead to are one node, as in the paper. The answer is the move with the greatest mean
    return.

    Args:
        envs: a vector environment of single turns, as `gym.make_vec` returns it; it plans for `num_envs` positions at
            once. The planner seeds it and moves its games.
        simulations: simulated turns for each answer.
        exploration: weight of the term that prefers rare moves, 0 or more.
        seed: seeds the dice and the random moves.

    Raises:
        TypeError: if `envs` is not a vector environment of single turns.
        ValueError: if the game is too large for tables, or another argument is not allowed.

    Example:
        >>> import gymnasium as gym
        >>> import stb_gym
        >>> envs = gym.make_vec("stb_gym/ShutTheBox-v0", 32, tiles=4)
        >>> meter = stb_gym.RegretMeter(stb_gym.ShutTheBox(tiles=4))
        >>> meter(TreeSearch(envs, simulations=300).act, deterministic=False).regret < 0.1
        True
    """

    grows = True  # whether states are added to the tree below the position

    def __init__(self, envs: Any, simulations: int = 1000, exploration: float = 0.35, seed: int = 0):
        if not isinstance(envs, TurnVectorEnv):
            kind = type(envs).__name__
            raise TypeError(f"envs must be a vector environment of single turns, from gym.make_vec, not {quoted(kind)}")
        check_integer("simulations", simulations, 1, 10**6)
        check_number("exploration", exploration, 0, 1000)
        self.simulations = simulations
        self._envs = envs
        self._weight = exploration * np.ptp(envs.rewards)
        self._random = np.random.default_rng([seed, 1])
        envs.reset(seed=seed)
        self._stepper = envs.transitions
        state, action = self._stepper.legal_moves(np.arange(self._stepper.illegal_state + 1))
        rank = np.arange(len(state)) - state.searchsorted(state)
        # [S + 1, K] the legal actions of each state, then -1
        self._moves: IntArray = np.full((self._stepper.illegal_state + 1, rank.max() + 1), -1)
        self._moves[state, rank] = action

    def act(self, observations: Array, masks: BoolArray) -> IntArray:
        """Return [B] the best actions at observations [B, O], of which masks [B, A] say what is legal."""
        states = self._stepper.find_states(np.asarray(observations))
        actions = self._moves[states, 0]
        [choices] = (np.count_nonzero(masks, axis=1) > 1).nonzero()
        for first in range(0, len(choices), self._envs.num_envs):
            asked = choices[first : first + self._envs.num_envs]
            roots = np.resize(states[asked], self._envs.num_envs)  # the last ones are repeated
            actions[asked] = self._search(roots)[: len(asked)]
        return actions

    def _search(self, roots: IntArray) -> IntArray:
        """Return [B] the best actions at states [B]."""
        visits = np.zeros((len(roots), *self._moves.shape), np.int32)
        returns = np.zeros(visits.shape, np.float32)
        snapshot = self._snapshot(roots)
        for _ in range(self.simulations):
            self._envs.restore({**snapshot, "random": self._envs.np_random.bit_generator.state})
            self._simulate(visits, returns)
        at_roots = np.arange(len(roots)), roots
        tried = visits[at_roots]
        means = np.where(tried, returns[at_roots] / np.maximum(tried, 1), -np.inf)
        return self._moves[roots, means.argmax(axis=1)]

    def _snapshot(self, states: IntArray) -> dict[str, Any]:
        """Return a snapshot of the environment in which the games are at states [B]."""
        stepper = self._stepper
        afterstates = stepper.origin_of(states)
        progress, dice = stepper.position(afterstates)
        reached = stepper.after_throws(afterstates[:, None], np.arange(stepper.num_throws))
        throws = (reached == states[:, None]).argmax(axis=1)
        position = {"progress": progress, "dice": dice, "throw": throws, "steps": np.zeros_like(states)}
        return self._envs.snapshot() | position

    def _simulate(self, visits: IntArray, returns: Array) -> None:
        """Play a turn to its end in every game, and add it to the numbers [B, S + 1, K] of its tree."""
        envs = self._envs
        playing = np.ones(envs.num_envs, np.bool_)
        in_tree = playing.copy()
        gained = np.zeros(envs.num_envs)
        path = []
        while playing.any():
            actions = envs.legal_sample()
            [games] = in_tree.nonzero()
            states = envs.states[games]
            moves = self._moves[states]
            tried = visits[games, states]
            priority = self._priority(tried, returns[games, states])
            priority[moves < 0] = -np.inf
            is_best = priority == priority.max(axis=1, keepdims=True)
            chosen = (is_best * self._random.random(priority.shape)).argmax(axis=1)
            actions[games] = moves[np.arange(len(games)), chosen]
            path.append((games, states, chosen))
            _, rewards, terminated, truncated, _ = envs.step(actions)
            gained += rewards * playing
            playing &= ~(terminated | truncated)
            in_tree[games] = self.grows and tried.any(axis=1)
            in_tree &= playing
        for entries in path:
            visits[entries] += 1
            returns[entries] += gained[entries[0]]

    def _priority(self, visits: IntArray, returns: Array) -> Array:
        """Return [R, K] the priorities of moves: the greatest is taken, equal ones at random.

        Args:
            visits: [R, K] how often each move was taken.
            returns: [R, K] the sum of the returns that followed.
        """
        once = np.maximum(visits, 1)
        rare = np.sqrt(np.log(np.maximum(visits.sum(axis=1, keepdims=True), 1)) / once)
        return np.where(visits, returns / once + self._weight * rare, np.inf)


class Rollouts(TreeSearch):
    """One-step rollouts (Tesauro and Galperin, "On-line policy improvement using Monte-Carlo search", 1996).

    All legal moves are tried equally often, and random legal moves end the turn. The answer is the move with the
    greatest mean return. With more simulations the regret approaches that of `agents.baselines.greedy_step`, not 0.

    Args:
        envs: see `TreeSearch`, as for all arguments; `exploration` changes nothing.

    Example:
        >>> import gymnasium as gym
        >>> envs = gym.make_vec("stb_gym/Threes-v0", 1)
        >>> observations, infos = envs.reset(options={"points": 4, "roll": [1, 3, 6]})
        >>> Rollouts(envs, simulations=100).act(observations, infos["action_mask"]).shape
        (1,)
    """

    grows = False

    def _priority(self, visits: IntArray, returns: Array) -> Array:
        return 0.0 - visits
