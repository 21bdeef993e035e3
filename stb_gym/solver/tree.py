"""The tree of moves and rolls below a position."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from stb_gym.arguments import checked
from stb_gym.checks import check_integer
from stb_gym.games import locate
from stb_gym.solver.solution import Solution

DEEPEST = 3  # throws
LARGEST_TREE = 4096  # branches


@dataclass(frozen=True)
class Branch:
    """A position, a move or a roll in a tree, with everything below it.

    Attributes:
        label: the move, the roll or, at the root, the position, in words.
        value: the value of perfect play from here on, in the objective's unit.
        afterstate: the afterstate that a move leads to, in words; "" for other branches.
        loss: the loss of a move against the best one, in the objective's unit; None for other branches.
        probability: the probability of a roll, or of all rolls without a move; None for other branches.
        branches: the moves after a roll, best first, or the rolls after an afterstate.
    """

    label: str
    value: float
    afterstate: str = ""
    loss: float | None = None
    probability: float | None = None
    branches: "tuple[Branch, ...]" = ()

    def __str__(self) -> str:
        """Return the tree as text: a line per branch, indented by two spaces per level."""
        return "\n  ".join([self.line, *(line for branch in self.branches for line in str(branch).splitlines())])

    @property
    def line(self) -> str:
        """The branch alone in words, such as "shut 3,4 -> open 1,6,7: 11.1903, loss 0.3"."""
        afterstate = f" -> {self.afterstate}" if self.afterstate else ""
        probability = "" if self.probability is None else f" ({self.probability:.2%})"
        loss = f", loss {self.loss:.6g}" if self.loss else ""
        return f"{self.label}{afterstate}{probability}: {self.value:.6g}{loss}"


@checked
def move_tree(solution: Solution, depth: int = 1, **where: Any) -> Branch:
    """Return the tree of moves and rolls below a position.

    Below a roll come its legal moves, best first; below an afterstate the rolls that have a move, in order, and one
    branch "no move" for all others together.

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
    tables, game = solution.tables, solution.game
    made = count(1)

    def branch(label: str, value: Any, below: Iterable[Branch] = (), **about: Any) -> Branch:
        if next(made) > LARGEST_TREE:
            raise ValueError(f"the tree has more than {LARGEST_TREE:,} branches to a depth of {depth}")
        return Branch(label, value=float(value), branches=tuple(below), **about)

    def moves_below(state: int, throws: int) -> Iterator[Branch]:
        """Yield the moves of a state, best first."""
        pairs, losses = solution.ranked_pairs(state)
        for pair, loss in zip(pairs.tolist(), losses.tolist(), strict=True):
            left = tables.pair_afterstate[pair]
            move = tables.describe_move(pair, tables.state_roll(state))
            afterstate = game.describe_afterstate(int(tables.progress[left]), int(tables.dice[left]))
            below = rolls_below(left, throws) if throws and tables.dice[left] else ()
            yield branch(move, solution.afterstate_values[left], below, afterstate=afterstate, loss=float(loss))

    def rolls_below(afterstate: int, throws: int) -> Iterator[Branch]:
        """Yield the rolls of an afterstate that have a move, then all others as one branch."""
        states = np.array(tables.states_of(afterstate))
        has_move = tables.choices[states] > 0
        for state in states[has_move].tolist():
            roll, probability = game.describe_roll(tables.state_roll(state)), float(tables.state_probability[state])
            below = moves_below(state, throws - 1)
            yield branch(f"roll {roll}", solution.state_values[state], below, probability=probability)
        if not has_move.all():
            without_move = states[~has_move]
            value = solution.state_values[without_move[0]]  # each has that of a turn that ends here
            yield branch("no move", value, probability=float(tables.state_probability[without_move].sum()))

    progress, dice, roll = locate(game, where)
    if roll is None:
        afterstate = tables.find_afterstate(progress, dice)
        return branch(
            game.describe_afterstate(progress, dice),
            solution.afterstate_values[afterstate],
            rolls_below(afterstate, depth),
        )
    state = tables.find_state(progress, dice, roll)
    return branch(
        game.describe_state(progress, dice, roll), solution.state_values[state], moves_below(state, depth - 1)
    )
