"""A certificate of perfect play: the value of every state in exact fractions, checked against the rules move by move.

    v(node)  = best of v(next state) over legal moves, or what the final score is worth if there is none
    v(state) = sum over rolls of count(roll) v(node) / faces**dice

As every move leads to a lower level, these equations have one solution. `stb_gym.solve` finds it level by level in the
compiled arrays. Here the rules are asked again, and plain loops over their answers check the solution, in whole numbers
of the common denominator of all values.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain
from math import inf, lcm
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from stb_gym.games import Game, all_rules, check_game, rolls, words_of
from stb_gym.output import write_aside
from stb_gym.solver.objectives import Goal, objective_of
from stb_gym.solver.solution import Solution, solve

STATES_AT_ONCE = 1024  # states whose moves the rules are asked for in one call

State = tuple[int, int]  # (held, dice)
Node = tuple[int, int, int]  # (held, dice, place of the roll among all rolls of these dice)
Throw = tuple[int, list[State]]  # how many throws give a roll, and the states that its moves lead to
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Certificate:
    """What is certain of the solution of a game.

    Attributes:
        game: the rules.
        objective: the name of what a turn is played for.
        value: the value of a turn, in the objective's unit.
        states, nodes: how many there are; the Bellman equation holds at every one.
        largest_error: the largest |float - fraction| of a state or node, in the objective's unit.
        largest_relative_error: the largest |float - fraction| / |fraction|; infinite if a float is not 0 where it must.
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
        """The SHA-256 of the text in hexadecimal: what `sha256sum` says of the file that `save` writes."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def save(self, path: str | Path) -> None:
        """Write the text to a file."""
        with write_aside(path) as aside:
            aside.write_bytes(self.text.encode())


def certify(game: Game, objective: Goal = "score", progress: Progress = lambda message: None) -> Certificate:
    """Solve a turn of a game in fractions and in floats; check the fractions by the rules, and the floats by them.

    Args:
        game: the rules.
        objective: what a turn is played for, see `stb_gym.solve`.
        progress: called now and then with a message that says what is done.

    Raises:
        TypeError: if it is no game.
        ValueError: if there is no such objective, or the game does not fit into arrays; and as `check_bellman` does.

    Example:
        >>> import stb_gym
        >>> certificate = stb_gym.certify(stb_gym.Threes())
        >>> certificate.value, certificate.sha256[:16]
        (Fraction(504205555, 80621568), '9632c154802612f4')
    """
    check_game(game)
    exact, floats = solve(game, objective, exact=True), solve(game, objective)
    name = exact.objective.name
    states, nodes = values_of(exact)
    progress(f"solved {len(states):,} states in fractions")
    check_bellman(game, objective, states, nodes, progress)
    error, relative_error = map(max, zip(*_errors(exact, floats), strict=True))
    progress("compared floats with fractions")
    return Certificate(
        game=game,
        objective=name,
        value=states[game.start()],
        states=len(states),
        nodes=len(nodes),
        largest_error=error,
        largest_relative_error=relative_error,
        optimal_actions_agree=bool((exact.optimal == floats.optimal).all()),
        text=value_text(game, name, states),
    )


def _errors(exact: Solution, floats: Solution) -> Iterator[tuple[float, float]]:
    """|float - fraction| of every state and node, and the same as a share of |fraction|."""
    fractions = chain(exact.state_value, exact.node_value)
    for value, inexact in zip(fractions, chain(floats.state_value, floats.node_value), strict=True):
        error = abs(Fraction(inexact) - value)
        yield float(error), float(error / abs(value)) if value else inf if error else 0.0


def values_of(solution: Solution) -> tuple[dict[State, Fraction], dict[Node, Fraction]]:
    """The values of an exact solution by state and by node, in the objective's unit."""
    tables = solution.tables
    at = tables.node_state
    of_node = tables.held[at], tables.dice[at], tables.node_place
    states = zip(tables.held.tolist(), tables.dice.tolist(), strict=True)
    nodes = zip(*(column.tolist() for column in of_node), strict=True)
    return dict(zip(states, solution.state_value, strict=True)), dict(zip(nodes, solution.node_value, strict=True))


def value_text(game: Game, objective: str, states: Mapping[State, Fraction]) -> str:
    """The value of every state as text.

    A line each: the name of the game; its rules as JSON with sorted keys; the objective; then every state, in ascending
    order: held, dice and the value as numerator/denominator in lowest terms.
    """
    rules = json.dumps(all_rules(game), sort_keys=True, default=int)
    values = (f"{held} {dice} {v.numerator}/{v.denominator}" for (held, dice), v in sorted(states.items()))
    return "\n".join([game.name, rules, objective, *values, ""])


def check_bellman(
    game: Game,
    objective: Goal,
    states: Mapping[State, Fraction],
    nodes: Mapping[Node, Fraction],
    progress: Progress = lambda message: None,
) -> None:
    """Check by the rules that values are those of perfect play.

    Args:
        game: the rules.
        objective: what a turn is played for, see `stb_gym.solve`.
        states: the value of every state before its throw, in the objective's unit.
        nodes: the value of every node before its choice.
        progress: called now and then with a message that says how much is checked.

    Raises:
        ValueError: if the values are not of the states and nodes of the game; or naming the first node or state where
            the Bellman equation fails, or the first node with a move that leads to no state of a lower level.
    """
    levels = _levels(game)
    if states.keys() != levels.keys():
        raise ValueError(f"values of {len(states):,} states are not those of the {len(levels):,} states of {game}")
    goal = objective_of(game, objective)
    best: Callable[..., int | Fraction] = max if goal.sign > 0 else min
    unit = lcm(*(value.denominator for value in chain(states.values(), nodes.values())))
    whole_state, whole_node = _whole(states, unit), _whole(nodes, unit)
    checked_nodes = 0
    for checked, (state, points, throws) in enumerate(_turns(game, levels), 1):
        end: int | Fraction = unit * goal.sign * Fraction(goal.utilities(np.array([points])).tolist()[0])
        end = end.numerator if end.denominator == 1 else end  # integers are added much faster
        total: int | Fraction = 0
        for roll, (count, after) in enumerate(throws):
            found = best([whole_state[later] for later in after], default=end)
            node = (*state, roll)
            if whole_node.get(node) != found:
                _refuse(_node_in_words(game, node), nodes.get(node), Fraction(found, unit))
            total += count * found
        ways = game.faces ** state[1]
        if whole_state[state] * ways != total:
            _refuse(words_of(game).state(*state), states[state], Fraction(total, ways * unit))
        checked_nodes += len(throws)
        if checked % STATES_AT_ONCE == 0:
            progress(f"checked {checked:,} of {len(levels):,} states")
    if checked_nodes != len(nodes):
        raise ValueError(f"values of {len(nodes):,} nodes are not those of the {checked_nodes:,} nodes of {game}")


def _levels(game: Game) -> dict[State, int]:
    """The level of every state, in the order in which the rules name them."""
    held, dice = game.states()
    levels = game.level(held, dice).tolist()
    return dict(zip(zip(held.tolist(), dice.tolist(), strict=True), levels, strict=True))


def _whole(values: Mapping[Any, Fraction], unit: int) -> dict[Any, int]:
    """Values in whole numbers of 1 / unit."""
    return {where: value.numerator * (unit // value.denominator) for where, value in values.items()}


def _turns(game: Game, levels: Mapping[State, int]) -> Iterator[tuple[State, int, list[Throw]]]:
    """What the rules say of every state: the points of a turn that ends there, and its throws."""
    for dice in sorted({dice for _, dice in levels}):
        counts = rolls(game, dice).counts.tolist()
        every_held = [held for held, in_hand in levels if in_hand == dice]
        for first in range(0, len(every_held), STATES_AT_ONCE):
            held = every_held[first : first + STATES_AT_ONCE]
            after = _after(game, held, dice, levels)
            for place, points in enumerate(game.final_score(np.array(held)).tolist()):
                yield (held[place], dice), points, [(n, after[place, roll]) for roll, n in enumerate(counts)]


def _after(
    game: Game, held: list[int], dice: int, levels: Mapping[State, int]
) -> defaultdict[tuple[int, int], list[State]]:
    """The states that legal moves lead to, by the place in `held` and the roll where they are legal."""
    after: defaultdict[tuple[int, int], list[State]] = defaultdict(list)
    if dice == 0:
        return after
    edges = game.edges(np.array(held), dice)
    columns = (edges.state, edges.roll, edges.next_held, edges.next_dice)
    for place, roll, next_held, next_dice in zip(*(column.tolist() for column in columns), strict=True):
        next_state = (next_held, next_dice)
        if levels.get(next_state, inf) >= levels[held[place], dice]:
            where = _node_in_words(game, (held[place], dice, roll))
            raise ValueError(f"a move at {where} leads to no state of a lower level")
        after[place, roll].append(next_state)
    return after


def _node_in_words(game: Game, node: Node) -> str:
    held, dice, roll = node
    return words_of(game).node(held, dice, rolls(game, dice).shown[roll])


def _refuse(where: str, stored: Fraction | None, found: Fraction) -> NoReturn:
    raise ValueError(f"the Bellman equation fails at {where}: the value is {found}, not {stored}")
