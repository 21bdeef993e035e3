"""What the networks see: a node, looked up as its observation and as learned vectors; and the Q-network."""

import numpy as np
import torch
from numpy.typing import NDArray

from stb_gym import TurnTables

ILLEGAL_VALUE = -1e8  # of illegal actions, below every value there is


class NodeNetwork(torch.nn.Module):
    """A network over the nodes of a game: a multilayer perceptron of two hidden layers.

    Of a node it sees the observation in unary and two learned vectors, one of the state, one of the node itself. From
    the observation alone PPO is slow to tell neighbouring boards apart (DQN less so); the vectors give every board and
    every node a place of its own, while what is learned of one observation still carries over to its neighbours.

    Args:
        tables: the arrays of the game.
        outputs: how many numbers it puts out.
        width: units in each hidden layer.
        embedding: length of each learned vector; without any, 0, it sees the observation alone.
        masks: whether it knows which actions are legal.

    Attributes:
        legal: [N, A] True where an action is legal; without masks, everywhere until the turn is over.
    """

    legal: torch.Tensor
    _seen: torch.Tensor
    _state: torch.Tensor

    def __init__(self, tables: TurnTables, outputs: int, width: int, embedding: int, masks: bool):
        super().__init__()
        seen = unary(tables.observation, tables.game.observation_high)
        legal = tables.legal()
        if not masks:
            legal[tables.decisions] = True
        self.register_buffer("legal", torch.as_tensor(legal), persistent=False)
        self.register_buffer("_seen", torch.as_tensor(seen), persistent=False)
        self.register_buffer("_state", torch.as_tensor(tables.node_state), persistent=False)
        self.states = torch.nn.Embedding(tables.states, embedding)
        self.nodes = torch.nn.Embedding(tables.nodes, embedding)
        for vectors in (self.states, self.nodes):
            torch.nn.init.normal_(vectors.weight, std=0.1)  # at first the observation should count for more
        inputs = seen.shape[1] + 2 * embedding
        first, second, last = (torch.nn.Linear(*sizes) for sizes in ((inputs, width), (width, width), (width, outputs)))
        self.perceptron = torch.nn.Sequential(first, torch.nn.ReLU(), second, torch.nn.ReLU(), last)

    def forward(self, nodes: torch.Tensor) -> torch.Tensor:
        """[B, outputs] at nodes [B]; best called with distinct nodes, for batches hold many of them many times."""
        vectors = self.states(self._state[nodes]), self.nodes(nodes)
        output: torch.Tensor = self.perceptron(torch.cat([self._seen[nodes], *vectors], dim=1))
        return output


class MaskedQNetwork(torch.nn.Module):
    """A Q-network over the numbers of nodes that values illegal actions at ILLEGAL_VALUE.

    Args:
        network: with one output for each estimate of each action.
        estimates: K, how many estimates of an action's return it makes; their mean is the action's value.
    """

    def __init__(self, network: NodeNetwork, estimates: int):
        super().__init__()
        self.network = network
        self.estimates = estimates

    def forward(self, nodes: torch.Tensor) -> torch.Tensor:
        """[B, A, K] estimates at nodes [B]; best called with distinct nodes."""
        legal = self.network.legal[nodes]
        estimates = self.network(nodes).view(*legal.shape, self.estimates)
        return estimates.masked_fill(~legal[:, :, None], ILLEGAL_VALUE)

    def set_training_mode(self, mode: bool) -> None:
        """Nothing in the network depends on it."""
        self.train(mode)

    @torch.no_grad()
    def greedy(self, nodes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The best action [B] at nodes [B], and the estimates [B, K] of its return."""
        distinct, place = torch.unique(nodes, return_inverse=True)
        estimates = self(distinct)
        best = estimates.mean(dim=2).argmax(dim=1)
        return best[place], estimates[torch.arange(len(distinct)), best][place]


def unary(observation: NDArray[np.uint8], high: NDArray[np.integer]) -> NDArray[np.float32]:
    """[N, F] each number of observations [N, O] in unary: v, at most h, becomes h inputs, the first v of which are 1.

    For Shut the Box, whose numbers are at most 1, that is the observation itself.
    """
    column = np.repeat(np.arange(len(high)), high)
    least = np.concatenate([np.arange(1, most + 1) for most in high.tolist()])
    return (observation[:, column] >= least).astype(np.float32)
