"""Values and states of any game by plain enumeration: every throw, and every move that its methods allow.

This module asks the rules alone, and shares no code with the package.
"""

from fractions import Fraction
from functools import cache
from itertools import product


def value_by_rules(game, choose):
    """Return the expected points of a turn as a fraction, by recursion over every throw; `choose` combines moves."""

    @cache
    def before_throw(afterstate):
        if not afterstate[1]:
            return score(afterstate)
        throws = [*product(range(1, game.faces + 1), repeat=afterstate[1])]
        return sum(after_throw(afterstate, game.roll_of(throw)) for throw in throws) / len(throws)

    def after_throw(afterstate, roll):
        moves = {**game.moves(afterstate, roll)}
        return choose([before_throw(moves[action]) for action in sorted(moves)]) if moves else score(afterstate)

    def score(afterstate):
        return game.sign * Fraction(int(game.final_score(afterstate[0])))

    return game.sign * before_throw(game.start())


def states_by_rules(game):
    """Return the state (afterstate, roll) of each observation that a turn can show."""
    known, to_visit = {}, {game.start()}
    while to_visit:
        afterstate = to_visit.pop()
        for throw in product(range(1, game.faces + 1), repeat=afterstate[1]):
            roll = game.roll_of(throw) if throw else ()
            known[tuple(map(int, game.observe(afterstate, roll)))] = afterstate, roll
            to_visit |= {*game.moves(afterstate, roll).values()} if throw else set()
    return known
