"""What a policy is: an array over nodes, and how one is played.

Two forms: [N] integers, an action per node, or [N, A] floats, the probability of every action at every node. Entries of
nodes without a legal action are ignored (`solve` and the strategies put -1 there). What `stb_gym.solver.preferences`
says of policies stands for such an array, too.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import ILLEGAL, Game, IntArray, check_choice
from stb_gym.solver.compiling import compile_game
from stb_gym.solver.preferences import BoardPolicy, policy_of_preference
from stb_gym.solver.tables import Policy, TurnTables

Playable = Policy | BoardPolicy


def edge_weights(tables: TurnTables, policy: Playable, illegal: str = "raise") -> NDArray[np.float64]:
    """[E] the probability with which a policy takes each edge at its node.

    Raises:
        ValueError: if the array does not fit the game, has weight on an illegal action, or is no distribution, naming
            the first (state, roll) where it is not.
    """
    return edge_weights_and_forfeits(tables, policy, illegal)[0]


def edge_weights_and_forfeits(
    tables: TurnTables, policy: Playable, illegal: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same weights [E], and the probability [N] with which the policy takes an illegal action at each node.

    Raises:
        ValueError: as `edge_weights` does; weight on an illegal action is refused only if `illegal` is "raise".
    """
    check_choice("treatment of illegal actions", illegal, ILLEGAL)
    policy = policy_array(tables, policy)
    weights, forfeits = _weights_and_forfeits(tables, policy)
    if illegal == "raise":
        _refuse(tables, forfeits > 0, lambda node: _illegal_weight(tables, policy, node))
    return weights, forfeits


def policy_array(tables: TurnTables, policy: Playable) -> Policy:
    """A policy as an array: of what looks at where moves lead, the one that plays the same."""
    return np.asarray(policy_of_preference(tables, policy) if isinstance(policy, BoardPolicy) else policy)


def _weights_and_forfeits(tables: TurnTables, policy: Policy) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if policy.shape == (tables.nodes,) and np.issubdtype(policy.dtype, np.integer):
        unknown = (policy < 0) | (policy >= tables.actions)
        _refuse(tables, unknown, lambda node: f"takes the action {policy[node]}, of 0 to {tables.actions - 1},")
        weights = (tables.edge_action == tables.at_edges(policy)).astype(float)
        return weights, np.where(tables.choices > 0, 1 - tables.sum_at_nodes(weights), 0)
    if policy.shape == (tables.nodes, tables.actions) and np.issubdtype(policy.dtype, np.floating):
        return _weights_of_probabilities(tables, policy)
    arrays = f"an array of {tables.nodes} integers, or of {tables.nodes} x {tables.actions} floats"
    if policy.ndim == 0:
        raise ValueError(
            f"a policy of {tables.game} is {arrays}, not {policy.item()!r:.80}: stb_gym.strategy makes one of a name, "
            "and stb_gym.RegretMeter measures agents"
        )
    raise ValueError(f"a policy of {tables.game} is {arrays}, not of shape {policy.shape} and type {policy.dtype}")


def _weights_of_probabilities(tables: TurnTables, policy: Policy) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    weights = policy[tables.edge_node, tables.edge_action].astype(float)
    total = policy.sum(axis=1, dtype=float)
    at = tables.decisions
    _refuse(tables, ~(policy >= 0).all(axis=1), lambda node: "has a probability that is negative or not a number")
    _refuse(tables, abs(total - 1) > 1e-5, lambda node: f"has probabilities that sum to {total[node]:g}, not 1")
    illegal = np.zeros(tables.nodes)
    illegal[at] = policy[at].sum(axis=1, where=~tables.legal(at), dtype=float) / total[at]
    return weights / tables.at_edges(total), illegal


def _illegal_weight(tables: TurnTables, policy: Policy, node: int) -> str:
    """What is illegal of a policy at a node, in words."""
    if policy.ndim == 1:
        return f"takes the illegal action {policy[node]}"
    first = ((policy[node] != 0) & ~tables.legal(np.array([node]))[0]).argmax()
    return f"has weight on the illegal action {first}"


def _refuse(tables: TurnTables, broken: Any, fault: Callable[[int], str]) -> None:
    """Refuse a policy that is broken [N] at a node that has a legal action."""
    broken = broken[tables.decisions]
    if broken.any():
        node = int(tables.decisions[broken.argmax()])
        raise ValueError(f"the policy {fault(node)} at {tables.describe_node(node)}")


class Player:
    """Plays a policy: observations in, actions out.

    Args:
        game: the rules.
        policy: the policy to play.
        seed: of the random choices of a policy that makes any.

    Raises:
        ValueError: if the policy does not fit the game.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> game = stb_gym.ShutTheBox()
        >>> player = stb_gym.Player(game, stb_gym.solve(game).policy)
        >>> observation, info = gym.make("stb_gym/ShutTheBox-v0").reset(seed=1)
        >>> bool(info["action_mask"][player(observation)])
        True
    """

    def __init__(self, game: Game, policy: Playable, seed: int | None = None):
        self._tables = compile_game(game)
        # Weights sum to 1 at every node, so the running sum passes one integer a node: one search samples any batch.
        self._upper = np.cumsum(edge_weights(self._tables, policy))
        self._nodes_before = np.append(0, np.cumsum(self._tables.choices > 0))
        self._random = np.random.default_rng(seed)

    def __call__(self, observation: Any) -> Any:
        """The action for one observation [O], or actions [B] for a batch [B, O]; 0 where the turn is over.

        Raises:
            ValueError: if an observation is none of this game.
        """
        observation = np.asarray(observation)
        nodes = node_of(self._tables, observation)
        drawn = self._nodes_before[nodes] + self._random.random(nodes.shape)
        first, last = self._tables.edge_start[nodes], self._tables.edge_start[nodes + 1] - 1
        edge = np.clip(np.searchsorted(self._upper, drawn, side="right"), first, last)
        actions = np.where(first > last, 0, self._tables.edge_action[edge])
        return actions if observation.ndim == 2 else int(actions)


@np.errstate(invalid="ignore")  # what is no number from 0 to 255 is looked up as another one, unlike it
def node_of(tables: TurnTables, observation: NDArray[Any]) -> IntArray:
    """The node of one observation [O], or the nodes [B] of a batch [B, O].

    Raises:
        ValueError: if an observation is none of this game.
    """
    width = tables.observation.shape[1]
    if observation.ndim not in (1, 2) or observation.shape[-1] != width:
        raise ValueError(f"an observation of {tables.game} has {width} numbers, not shape {observation.shape}")
    nodes = tables.observation_index.find(np.atleast_2d(observation))
    if (nodes < 0).any():
        raise ValueError(f"{np.atleast_2d(observation)[nodes.argmin()].tolist()} is no observation of {tables.game}")
    return nodes.reshape(observation.shape[:-1])
