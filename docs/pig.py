"""Pig, a game of your own in one file: docs/your_own_game.md builds it step by step.

One turn, in pseudo-code:

    points = 0
    repeat:
        throw a die
        on a 1: the turn ends with no points at all
        points = points + what the die shows
        choose: hold, and keep the points, or throw again
    most points are best

`python docs/pig.py solve pig` solves it; so do the other commands of `stb-gym`.
"""

import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import stb_gym
from stb_gym import IntArray, Moves

HOLD = 0


@dataclass(frozen=True, repr=False)
class Pig(stb_gym.Game):
    """Throw a die as often as you like and add up what it shows; hold in time, for a 1 loses everything.

    `held` is the points so far. With `most_points` one must hold, so that every turn ends.

    Raises:
        ValueError: naming the field that is out of range, and the range.
    """

    faces: int = stb_gym.rule(6, "faces of the die", low=2, high=20)
    most_points: int = stb_gym.rule(100, "the most points of a turn, with which one must hold", low=1, high=255)

    name = "pig"
    more_is_better = True
    dice = 1
    moves = ("hold", "throw again")

    def start(self) -> tuple[int, int]:
        """No points, and the die in hand."""
        return 0, 1

    def states(self) -> tuple[IntArray, IntArray]:
        """Fewer than the most points with the die in hand, any number of points without it."""
        held = np.concatenate([np.arange(self.most_points), np.arange(self.most_points + 1)])
        return held, np.repeat([1, 0], [self.most_points, self.most_points + 1])

    def level(self, held: IntArray, dice: IntArray) -> IntArray:
        """Points only grow while the die is in hand; without it the turn is over."""
        return dice * (self.most_points + 1 - held)

    def edges(self, held: IntArray, dice: int) -> stb_gym.Edges:
        """Hold or throw again; after a 1, or with as many points as can be, only hold."""
        state, roll, action = np.indices((len(held), self.faces, len(self.moves))).reshape(3, -1)
        face = roll + 1
        points = np.where(face == 1, 0, np.minimum(held[state] + face, self.most_points))
        legal = (action == HOLD) | ((face > 1) & (points < self.most_points))
        next_dice = np.where(action == HOLD, 0, 1)
        return stb_gym.Edges(*(column[legal] for column in (state, roll, action, points, next_dice)))

    def final_score(self, held: IntArray) -> IntArray:
        """The points that are held."""
        return held

    @property
    def observation_high(self) -> IntArray:
        """The most points, and the highest face."""
        return np.array([self.most_points, self.faces], np.uint8)

    def observe(self, held: IntArray, dice: int) -> NDArray[np.uint8]:
        """The points before the throw, and the face of the die; 0 if none is thrown."""
        shown = stb_gym.rolls(self, dice).shown.sum(axis=1)
        seen = np.zeros((len(held), len(shown), 2), np.uint8)
        seen[:, :, 0], seen[:, :, 1] = held[:, None], shown
        return seen


def hold_at_20(game: Pig, moves: Moves) -> NDArray[np.bool_]:
    """Hold with 20 points or more."""
    return (moves.next_held >= 20) == (moves.action != HOLD)  # True for the move that is not wanted


def hold_at_25(game: Pig, moves: Moves) -> NDArray[np.bool_]:
    """Hold with 25 points or more."""
    return (moves.next_held >= 25) == (moves.action != HOLD)


stb_gym.register_game(Pig, rules_of_thumb={"hold-at-20": hold_at_20, "hold-at-25": hold_at_25})

if __name__ == "__main__":
    from stb_gym.cli import main

    sys.exit(main())
