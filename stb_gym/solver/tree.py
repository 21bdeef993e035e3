"""The tree of moves and rolls below a position."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import check_integer, words_of
from stb_gym.solver.solution import Solution
from stb_gym.solver.tables import TurnTables

DEEPEST = 3  # throws
LARGEST_TREE = 4096  # branches


@dataclass(frozen=True)
class Branch:
    """A position, a move or a roll in a tree, with everything below it.

    Attributes:
        label: the move, the roll or, at the root, the position, in words.
        state: the state that a move leads to, in words; "" for other branches.
        value: the value of perfect play from here on, in the objective's unit.
        loss: the loss of a move against the best one, in the objective's unit; None for other branches.
        probability: the probability of a roll, or of all rolls without a move; None for other branches.
        branches: the moves after a roll, best first, or the rolls after a state.
    """

    label: str
    state: str
    value: float
    loss: float | None = None
    probability: float | None = None
    branches: "tuple[Branch, ...]" = ()

    def __str__(self) -> str:
        """Return the tree as text: a line per branch, indented by two spaces per level."""
        state = f" -> {self.state}" if self.state else ""
        probability = "" if self.probability is None else f" ({self.probability:.2%})"
        loss = f", loss {self.loss:.6g}" if self.loss else ""
        below = [line for branch in self.branches for line in str(branch).splitlines()]
        return "\n  ".join([f"{self.label}{state}{probability}: {self.value:.6g}{loss}", *below])


def move_tree(solution: Solution, depth: int = 1, **where: Any) -> Branch:
    """Return the tree of moves and rolls below a position.

    Below a roll come its legal moves, best first; below a state the rolls that have a move, in order, and one branch
    "no move" for all others together.

    Args:
        solution: perfect play, such as `stb_gym.solve(game)`.
        depth: how many throws to look ahead, 1 to 3; the roll of the position counts as the first.
        **where: words that name the position: open tiles, points, dice; `roll` if they are thrown.

    Raises:
        ValueError: if there is no such position, or the tree has more than 4,096 branches.

    Example:
        >>> import stb_gym
        >>> from stb_gym.solver import move_tree
        >>> print(move_tree(stb_gym.solve(stb_gym.ShutTheBox()), open=[1, 4, 5, 8], roll=9))
        open 1,4,5,8, roll 9: 6.88889
          shut 4,5 -> open 1,8: 6.88889
          shut 1,8 -> open 4,5: 7.02778, loss 0.138889
    """
    check_integer("depth", depth, 1, DEEPEST)
    tables, words = solution.tables, words_of(solution.game)
    held, dice, roll = words.locate(where)
    state = tables.find_state(held, dice)
    if roll is None:
        _check_size(_branches_below(tables, depth)[state], depth)
        value, branches = solution.state_value[state], _rolls(solution, state, depth)
        return Branch(words.state(held, dice), "", float(value), branches=branches)
    node = tables.find_node(state, roll)
    left = tables.edge_next[tables.edges_of(node)]
    _check_size((1 + _branches_below(tables, depth - 1)[left]).sum(), depth)
    value, branches = solution.node_value[node], _moves(solution, node, depth - 1)
    return Branch(words.node(held, dice, roll), "", float(value), branches=branches)


def _branches_below(tables: TurnTables, throws: int) -> NDArray[np.float64]:
    """Return [S] the number of branches below every state."""
    has_move = tables.choices > 0
    below: NDArray[Any] = np.zeros(tables.states)
    has_end = np.bincount(tables.node_state[~has_move], minlength=tables.states) > 0
    for _ in range(throws):
        at_nodes = has_move + tables.sum_at_nodes(1 + tables.after_edges(below))
        below = (np.bincount(tables.node_state, at_nodes) + has_end) * (tables.dice > 0)
    return below


def _check_size(branches: float, depth: int) -> None:
    if branches > LARGEST_TREE:
        raise ValueError(
            f"the tree has {branches:,.0f} branches to a depth of {depth}; at most {LARGEST_TREE:,} are allowed"
        )


def _rolls(solution: Solution, state: int, throws: int) -> tuple[Branch, ...]:
    """Return the rolls below a state that have a move, then all others as one branch."""
    tables, words = solution.tables, words_of(solution.game)
    if throws == 0 or tables.dice[state] == 0:
        return ()
    branches, without_move = [], []
    for node in tables.nodes_of(state):
        if tables.choices[node] == 0:
            without_move.append(node)
            continue
        roll = f"roll {words.roll(tables.node_roll(node))}"
        value, probability = float(solution.node_value[node]), float(tables.node_probability[node])
        branches.append(Branch(roll, "", value, None, probability, _moves(solution, node, throws - 1)))
    if without_move:
        value = float(solution.node_value[without_move[0]])  # each has that of a turn that ends here
        branches.append(Branch("no move", "", value, None, float(tables.node_probability[without_move].sum())))
    return tuple(branches)


def _moves(solution: Solution, node: int, throws: int) -> tuple[Branch, ...]:
    """Return the moves below a node, best first."""
    tables = solution.tables
    roll, branches = tables.node_roll(node), []
    for edge, loss in zip(*(each.tolist() for each in solution.ranked_edges(node)), strict=True):
        left = int(tables.edge_next[edge])
        state = words_of(solution.game).state(int(tables.held[left]), int(tables.dice[left]))
        value, below = float(solution.state_value[left]), _rolls(solution, left, throws)
        branches.append(Branch(tables.move_in_words(edge, roll), state, value, float(loss), None, below))
    return tuple(branches)
