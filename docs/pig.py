"""Define Pig, a game of your own in one file; docs/your_own_game.md explains it.

One turn, in pseudo-code:

    points = 0
    repeat:
        throw a die
        on a 1: the turn ends without any points
        points = points + what the die shows
        choose: hold, and keep the points, or throw again
    most points are best

`python docs/pig.py solve pig` solves it, as `stb-gym --import docs.pig solve pig` does.
"""

import sys
from dataclasses import dataclass

from stb_gym import register_game
from stb_gym.games import Game, rule

HOLD, AGAIN = 0, 1


@dataclass(frozen=True, repr=False)
class Pig(Game):
    """Throw a die as often as you like and add up what it shows; hold in time, because a 1 loses everything.

    `progress` is the number of points so far. With `most_points` you must hold, so that every turn ends.
    """

    faces: int = rule(6, "faces of the die", low=2, high=20)
    most_points: int = rule(100, "the most points of a turn, with which you must hold", low=1, high=255)

    name = "pig"
    more_is_better = True
    dice = 1
    actions = ("hold", "throw again")

    def start(self):
        """Return the first afterstate: no points, and one die to throw."""
        return 0, 1

    def moves(self, afterstate, roll):
        """Return the afterstate of each legal action; after a 1, you can only hold, with no points."""
        if roll == (1,):
            return {HOLD: (0, 0)}
        points = min(afterstate[0] + roll[0], self.most_points)
        if points == self.most_points:
            return {HOLD: (points, 0)}
        return {HOLD: (points, 0), AGAIN: (points, 1)}

    def final_score(self, progress):
        """Return the points of a turn that ends."""
        return progress

    @property
    def observation_high(self):
        """Return the largest entries of `observe`."""
        return [self.most_points, self.faces]

    def observe(self, afterstate, roll):
        """Return the points before the throw and the face of the die, or 0 after the turn."""
        return [afterstate[0], sum(roll)]


def hold_at_20(game, moves):
    """Hold with 20 points or more."""
    return (moves.next_progress >= 20) == (moves.action == AGAIN)


def hold_at_25(game, moves):
    """Hold with 25 points or more."""
    return (moves.next_progress >= 25) == (moves.action == AGAIN)


register_game(Pig, heuristics={"hold-at-20": hold_at_20, "hold-at-25": hold_at_25})

if __name__ == "__main__":
    from stb_gym.cli import main

    sys.exit(main())
