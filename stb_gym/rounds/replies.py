"""What a player does in a round who knows what every standing is worth after the turn.

Several moves may be equally good to a player while the others' chances depend on them: who is sure to win, if all tied
players do, need not care who ties. Theory leaves such a player free, so a rule has to say what the indifferent do. They
look at how many others they must expect to share the lead with at the end, and take the move of

    fewer     the fewest
    company   the most
    lowest    the lowest action, as it also is where that number is equal

How many hold the lead before the turn and in the end counts here even if the win does not depend on it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import IntArray
from stb_gym.rounds.standings import Standings
from stb_gym.solver import Level, Objective, Policy, Solution, Standing, TurnTables, optimal_edges, optimise

INDIFFERENT = {
    "fewer": "who is indifferent prefers to share the lead with fewer",
    "company": "who is indifferent prefers company",
    "lowest": "who is indifferent takes the lowest action",
}


@dataclass(frozen=True, eq=False, repr=False)
class Reply:
    """Best play at a standing, given what each standing is worth afterwards.

    Attributes:
        tables: the arrays of the game.
        standings: the standings of the round.
        worth: [Z] what a standing is worth after the turn to each holder of the lead.
        disliked: [Z] what a holder of the lead wants least of, among equally good moves; None for the lowest action.
    """

    tables: TurnTables
    standings: Standings
    worth: NDArray[np.float64]
    disliked: NDArray[np.float64] | None = None

    def utility(self, block: IntArray) -> NDArray[np.float64]:
        """[B, T] the player's expected win at standings [B] from each final score."""
        return self._to_who_holds(self.worth, block)

    def _to_who_holds(self, worth: NDArray[np.float64], block: IntArray) -> NDArray[np.float64]:
        """[B, T] what the final scores bring if standings bring `worth` [Z] to each holder of the lead."""
        return self.standings.holds[block] * worth[self.standings.after[block]]

    def _optimise(self, block: IntArray) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The player's expected win [S, B] at every state and [N, B] at every node."""
        return optimise(self.tables, self.utility(block).T[self.tables.score_index])

    def values(self, block: IntArray) -> NDArray[np.float64]:
        """[B] the player's expected win at standings [B], before the turn."""
        return self._optimise(block)[0][self.tables.start]

    def best(self, block: IntArray) -> NDArray[np.bool_]:
        """[E, B] True for every edge that is as good as the best of its node at standings [B]."""
        return optimal_edges(self.tables, *self._optimise(block))

    def _edges(self, block: IntArray) -> IntArray:
        """[D, B] the best edges: of equally good ones the least disliked, of these the one of lowest action."""
        best = self.best(block)
        if self.disliked is not None:
            disliked = self._to_who_holds(self.disliked, block)
            best = least_of(self.tables, best, disliked.T[self.tables.score_index])
        return self.tables.lowest(best)

    def weights(self, block: IntArray) -> NDArray[np.float64]:
        """[E, B] the same as probabilities of the edges."""
        weights = np.zeros((len(self.tables.edge_node), len(block)))
        weights[self._edges(block), np.arange(len(block))] = 1
        return weights

    def policy(self, standing: Standing) -> Policy:
        """[N] what the player does at a standing."""
        edges = self._edges(np.array([self.standings.find(standing)]))
        return self.tables.policy(self.tables.edge_action[edges[:, 0]])

    def values_at(self, standing: Standing) -> Solution:
        """Return the best play of a turn at a standing; its values are the player's expected win."""
        block = np.array([self.standings.find(standing)])
        [wins] = self.utility(block)
        states, nodes = self._optimise(block)
        name = "share of the win" if self.standings.ties == "split" else "chance to win"
        objective = Objective(name, lambda score: wins[self.tables.place_of(score)], "probability")
        return Solution(self.tables, objective, states[:, 0], nodes[:, 0])


def least_of(tables: TurnTables, marked: NDArray[np.bool_], disliked: NDArray[np.float64]) -> NDArray[np.bool_]:
    """[E, B] of the marked edges those after which least is to be expected of what is disliked at the ends [S, B]."""

    def choose(edge_value: NDArray[np.float64], level: Level) -> NDArray[np.float64]:
        return level.reduce(np.minimum, np.where(marked[level.edges], edge_value, np.inf))

    return marked & optimal_edges(tables, *tables.sweep(disliked, choose))
