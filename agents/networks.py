"""Networks over nodes, which see the observation of a node and embeddings of it; and the masked Q-network."""

import numpy as np
import torch
from numpy.typing import NDArray

from stb_gym import TurnTables

ILLEGAL_VALUE = -1e8  # of illegal actions, below every value there is


class NodeNetwork(torch.nn.Module):
    """A network over the nodes of a game: a multilayer perceptron of two hidden layers.

    Its input is the observation of a node in unary, followed by two embeddings, one of the node's state and one of the
    node itself. From the observation alone PPO is slow to tell similar boards apart (DQN less so). The embeddings give
    every board and every node weights of their own, while through the observation what is learned at one node still
    carries over to similar ones.

    Args:
        tables: the arrays of the game.
        outputs: how many numbers it puts out for a node.
        width: units in each hidden layer.
        embedding: length of each embedding; with 0 there is none, and the input is the observation alone.
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
        for embeddings in (self.states, self.nodes):
            torch.nn.init.normal_(embeddings.weight, std=0.1)  # small, so that at first the observation counts for more
        inputs = seen.shape[1] + 2 * embedding
        first, second, last = (torch.nn.Linear(*sizes) for sizes in ((inputs, width), (width, width), (width, outputs)))
        self.perceptron = torch.nn.Sequential(first, torch.nn.ReLU(), second, torch.nn.ReLU(), last)

    def forward(self, nodes: torch.Tensor) -> torch.Tensor:
        """[B, outputs] at nodes [B]; a batch holds many nodes several times, so pass each of them once."""
        embeddings = self.states(self._state[nodes]), self.nodes(nodes)
        output: torch.Tensor = self.perceptron(torch.cat([self._seen[nodes], *embeddings], dim=1))
        return output


class MaskedQNetwork(torch.nn.Module):
    """A Q-network over nodes whose estimates are ILLEGAL_VALUE for illegal actions.

    Args:
        network: has A * K outputs, K estimates for each of the A actions.
        estimates: K, how many estimates of an action's return it makes; their mean is the action's value.
    """

    def __init__(self, network: NodeNetwork, estimates: int):
        super().__init__()
        self.network = network
        self.estimates = estimates

    def forward(self, nodes: torch.Tensor) -> torch.Tensor:
        """[B, A, K] estimates at nodes [B], which had better be distinct."""
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
    """[N, F] observations in unary: a number v that is at most h becomes h inputs, the first v of them 1, the rest 0.

    If no number is above 1, as in Shut the Box, these are the observations themselves.

    Args:
        observation: [N, O] the numbers.
        high: [O] the highest that each of them can be.
    """
    column = np.repeat(np.arange(len(high)), high)
    least = np.concatenate([np.arange(1, most + 1) for most in high.tolist()])
    return (observation[:, column] >= least).astype(np.float32)
