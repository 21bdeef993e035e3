"""A certificate of perfect play: the value of every state in exact fractions, checked against the rules move by move.

    v(node)  = best of v(next state) over legal moves, or the utility of the final score if there is none
    v(state) = sum over rolls of count(roll) v(node) / faces**dice

As no moves lead back to a state, these equations have one solution. `stb_gym.solve` finds it in arrays. Here
plain loops ask the rules for every move again and check that solution in integers, over the common denominator of all
values.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain
from math import inf, lcm
from pathlib import Path
from typing import NoReturn

import numpy as np

from stb_gym.games import Game, Roll, State, all_rules, rolls, walk, words_of
from stb_gym.output import tracked, write_text
from stb_gym.solver.objectives import GameOrEnv, Goal, objective_of, task_of
from stb_gym.solver.solution import Solution, solve_tables

Node = tuple[int, int, Roll]  # (held, dice, roll)


@dataclass(frozen=True)
class Certificate:
    """The result of certifying the solution of a game.

    Attributes:
        game: the rules.
        objective: the name of the objective.
        value: the value of a turn, in the objective's unit.
        states, nodes: how many there are; the Bellman equation holds at every one.
        largest_error: the largest |float - fraction| of a state or node, in the objective's unit.
        largest_relative_error: the largest |float - fraction| / |fraction|; infinite if a float is not 0 where
            the fraction is.
        optimal_actions_agree: whether floats and fractions have the same optimal actions at every node.
        text: the values of all states, as `value_text` writes them.
    """

    game: Game
    objective: str
    value: Fraction
    states: int
    nodes: int
    largest_error: float
    largest_relative_error: float
    optimal_actions_agree: bool
    text: str = field(repr=False)

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the text in hexadecimal: what `sha256sum` prints for the file that `save` writes."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def save(self, path: str | Path) -> None:
        """Write the text to a file."""
        write_text(path, self.text)


def certify(what: GameOrEnv, objective: Goal | None = None) -> Certificate:
    """Solve a turn in fractions and in floats; check fractions against the rules, and floats against fractions.

    Args:
        what: the rules, or an environment, see `stb_gym.solve`.
        objective: what is maximised, see `stb_gym.solve`.

    Raises:
        TypeError: if `what` is neither a game nor an environment of one.
        ValueError: if there is no such objective, or the game is too large for tables; and as `check_bellman` does.

    Example:
        >>> import stb_gym
        >>> certificate = stb_gym.certify(stb_gym.Threes())
        >>> certificate.value, certificate.sha256[:16]
        (Fraction(504205555, 80621568), '9632c154802612f4')
    """
    game, goal, _ = task_of(what, objective)
    exact, floats = solve_tables(game, goal, exact=True), solve_tables(game, goal)
    states, nodes = values_of(exact)
    check_bellman(game, goal, states, nodes)
    values = np.concatenate((exact.state_value, exact.node_value)).tolist()
    inexact = np.concatenate((floats.state_value, floats.node_value)).tolist()
    errors = [abs(Fraction(rounded) - value) for rounded, value in zip(inexact, values, strict=True)]
    relative = [error / abs(value) if value else inf for error, value in zip(errors, values, strict=True) if error]
    return Certificate(
        game=game,
        objective=goal.name,
        value=states[game.start()],
        states=len(states),
        nodes=len(nodes),
        largest_error=float(max(errors)),
        largest_relative_error=float(max(relative, default=0)),
        optimal_actions_agree=bool((exact.optimal == floats.optimal).all()),
        text=value_text(game, goal.name, states),
    )


def values_of(solution: Solution) -> tuple[dict[State, Fraction], dict[Node, Fraction]]:
    """Return the values of an exact solution by state and by node, in the objective's unit."""
    tables = solution.tables
    states = dict(zip(tables.index, solution.state_value, strict=True))
    nodes = ((*state, roll) for state in tables.index for roll in rolls(tables.game, state[1]).shown)
    return states, dict(zip(nodes, solution.node_value, strict=True))


def value_text(game: Game, objective: str, states: Mapping[State, Fraction]) -> str:
    """Return the value of every state as text.

    A line each: the name of the game; its rules as JSON with sorted keys; the objective; then every state, in ascending
    order: held, dice and the value as numerator/denominator in lowest terms.
    """
    rules = json.dumps(all_rules(game), sort_keys=True, default=int)
    values = (f"{held} {dice} {v.numerator}/{v.denominator}" for (held, dice), v in sorted(states.items()))
    return "\n".join([game.name, rules, objective, *values, ""])


def check_bellman(
    game: Game, objective: Goal, states: Mapping[State, Fraction], nodes: Mapping[Node, Fraction]
) -> None:
    """Check by the rules that values are those of perfect play.

    Args:
        game: the rules.
        objective: what is maximised, see `stb_gym.solve`.
        states: the value of every state before its throw, in the objective's unit.
        nodes: the value of every node before its choice.

    Raises:
        ValueError: if the values are not of the states and nodes of the game, or naming the first node or state where
            the Bellman equation fails.
    """
    known = {state: rolls(game, state[1]) for state in walk(game)}
    known_nodes = {(*state, roll) for state in known for roll in known[state].shown}
    if states.keys() != known.keys() or nodes.keys() != known_nodes:
        raise ValueError(f"values must be of the {len(known):,} states and {len(known_nodes):,} nodes of {game}")
    goal = objective_of(game, objective)
    best = max if goal.sign > 0 else min
    utilities = goal.utilities(np.array([game.final_score(held) for held, _ in known])).tolist()
    ends = [goal.sign * Fraction(utility) for utility in utilities]
    unit = lcm(*(value.denominator for value in chain(states.values(), nodes.values(), ends)))

    def whole(value: Fraction) -> int:
        return value.numerator * (unit // value.denominator)

    words = words_of(game)
    after = {state: whole(value) for state, value in states.items()}
    states_and_ends = zip(known.items(), ends, strict=True)
    for (state, (shown, counts, _)), end in tracked(states_and_ends, "positions checked", "positions", len(known)):
        total = 0
        for roll, count in zip(shown, counts.tolist(), strict=True):
            node = (*state, roll)
            moves = game.moves(state, roll) if state[1] else {}
            found = best((after[left] for left in moves.values()), default=whole(end))
            if whole(nodes[node]) != found:
                _refuse(words.node(*node), nodes[node], Fraction(found, unit))
            total += count * found
        ways = game.faces ** state[1]
        if after[state] * ways != total:
            _refuse(words.state(*state), states[state], Fraction(total, ways * unit))


def _refuse(where: str, stored: Fraction, found: Fraction) -> NoReturn:
    raise ValueError(f"the Bellman equation fails at {where}: the value is {found}, not {stored}")
