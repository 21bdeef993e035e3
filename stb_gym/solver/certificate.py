"""A certificate of perfect play: all values in exact fractions, checked against the rules move by move.

    v(state)  = best of v(next afterstate) over legal moves, or the utility of the final score if there is none
    v(afterstate) = sum over rolls of count(roll) v(state) / faces**dice

As no moves lead back to an afterstate, these equations have one solution. `stb_gym.solve` finds it in arrays. Here
plain loops ask the rules for every move again and check that solution in integers, over the common denominator of all
values.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import inf
from pathlib import Path
from typing import NoReturn

import numpy as np

from stb_gym.files import write_text
from stb_gym.games import Afterstate, Game, Roll, all_rules, final_scores, name_of, rolls, states_of, walk
from stb_gym.solver.objectives import Goal, objective_of
from stb_gym.solver.solution import Solution, solve_tables
from stb_gym.solver.tasks import GameOrEnv, task_of
from stb_gym.tracking import tracked

State = tuple[int, int, Roll]  # (progress, dice, roll)


@dataclass(frozen=True)
class Certificate:
    """The result of certifying the solution of a game.

    Attributes:
        game: the rules.
        objective: the name of the objective.
        value: the value of a turn, in the objective's unit.
        afterstates, states: how many there are; the Bellman equation holds at every one.
        largest_error: the largest |float - fraction| of an afterstate or state, in the objective's unit.
        largest_relative_error: the largest |float - fraction| / |fraction|; infinite if a float is not 0 where
            the fraction is.
        optimal_actions_agree: whether floats and fractions have the same optimal actions at every state.
        text: the values of all afterstates, as `value_text` writes them.
    """

    game: Game
    objective: str
    value: Fraction
    afterstates: int
    states: int
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

    Returns:
        The value as a fraction, the largest error of the floats, and a SHA-256 of the values of all afterstates.

    Raises:
        TypeError: if `what` is neither a game nor an environment of one.
        ValueError: if there is no such objective, the game is too large for tables, or a check fails; the error then
            names the first state or afterstate where the Bellman equation does not hold.

    Example:
        >>> import stb_gym
        >>> certificate = stb_gym.certify(stb_gym.Threes())
        >>> certificate.value, certificate.sha256[:16]
        (Fraction(504205555, 80621568), '9632c154802612f4')
    """
    game, goal, _ = task_of(what, objective)
    exact, floats = solve_tables(game, goal, exact=True), solve_tables(game, goal)
    afterstates, states = values_of(exact)
    check_bellman(game, goal, afterstates, states)
    values = np.concatenate((exact.afterstate_values, exact.state_values)).tolist()
    inexact = np.concatenate((floats.afterstate_values, floats.state_values)).tolist()
    errors = [abs(Fraction(rounded) - value) for rounded, value in zip(inexact, values, strict=True)]
    relative = [error / abs(value) if value else inf for error, value in zip(errors, values, strict=True) if error]
    return Certificate(
        game=game,
        objective=goal.name,
        value=afterstates[game.start()],
        afterstates=len(afterstates),
        states=len(states),
        largest_error=float(max(errors)),
        largest_relative_error=float(max(relative, default=0)),
        optimal_actions_agree=bool((exact.optimal == floats.optimal).all()),
        text=value_text(game, goal.name, afterstates),
    )


def values_of(solution: Solution) -> tuple[dict[Afterstate, Fraction], dict[State, Fraction]]:
    """Return the values of an exact solution by afterstate and by state, in the objective's unit."""
    tables = solution.tables
    afterstates = dict(zip(tables.index, solution.afterstate_values, strict=True))
    states = ((*afterstate, roll) for afterstate, roll in states_of(tables.game, tables.index))
    return afterstates, dict(zip(states, solution.state_values, strict=True))


def value_text(game: Game, objective: str, afterstates: Mapping[Afterstate, Fraction]) -> str:
    """Return the value of every afterstate as text.

    The first three lines are the name of the game, its rules as JSON with sorted keys, and the objective. Then comes a
    line for every afterstate, in ascending order: progress, dice, and the value as numerator/denominator in lowest
    terms.

    Raises:
        ValueError: if the game has the name of another, registered game.
    """
    rules = json.dumps(all_rules(game), sort_keys=True, default=int)
    values = (f"{progress} {dice} {v.numerator}/{v.denominator}" for (progress, dice), v in sorted(afterstates.items()))
    return "\n".join([name_of(game), rules, objective, *values, ""])


def check_bellman(
    game: Game, objective: Goal, afterstates: Mapping[Afterstate, Fraction], states: Mapping[State, Fraction]
) -> None:
    """Check by the rules that values are those of perfect play.

    Args:
        game: the rules.
        objective: what is maximised, see `stb_gym.solve`.
        afterstates: the value of every afterstate before its throw, in the objective's unit.
        states: the value of every state before its choice.

    Raises:
        ValueError: if the values are not of the afterstates and states of the game, or naming the first state or
            afterstate where the Bellman equation fails.
    """
    known = {afterstate: rolls(game, afterstate[1]) for afterstate in walk(game)}
    known_states = {(*afterstate, roll) for afterstate in known for roll in known[afterstate].shown}
    if afterstates.keys() != known.keys() or states.keys() != known_states:
        raise ValueError(f"values must be of the {len(known):,} afterstates and {len(known_states):,} states of {game}")
    goal = objective_of(game, objective)
    best = max if goal.sign > 0 else min
    utilities = goal.utilities(final_scores(game, [progress for progress, _ in known])).tolist()
    afterstates_and_ends = zip(known.items(), utilities, strict=True)
    for (afterstate, (shown, counts, of_throw)), utility in tracked(
        afterstates_and_ends, "positions checked", "positions", len(known)
    ):
        end = goal.sign * Fraction(utility)
        total = Fraction(0)
        for roll, count in zip(shown, counts.tolist(), strict=True):
            state = (*afterstate, roll)
            moves = game.moves(afterstate, roll) if afterstate[1] else {}
            found = best((afterstates[left] for left in moves.values()), default=end)
            if states[state] != found:
                _refuse(game.describe_state(*state), states[state], found)
            total += count * found
        mean = total / len(of_throw)
        if afterstates[afterstate] != mean:
            _refuse(game.describe_afterstate(*afterstate), afterstates[afterstate], mean)


def _refuse(where: str, stored: Fraction, found: Fraction) -> NoReturn:
    raise ValueError(f"the Bellman equation fails at {where}: the value is {found}, not {stored}")
