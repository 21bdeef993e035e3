"""Games of the package beside their twins in `tests.reference`, the translation between the two, and random rules.

A twin's position is (open tiles, dice) or (points, dice), its move (tiles to shut, dice to throw next) or dice to keep.
"""

from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from hypothesis import strategies as st

from stb_gym.games import GAMES, ShutTheBox, Threes
from tests import reference


@dataclass(frozen=True, repr=False)
class MostThrees(Threes):
    """Threes in which the most points are best; it is not registered."""

    name: ClassVar[str] = "most-threes"
    more_is_better: ClassVar[bool] = True


@dataclass(frozen=True)
class Mirrored(reference.Threes):
    """The twin of `MostThrees`: it counts the points missing from the maximum, and the fewest are best."""

    def final_score(self, position):
        return self.dice * self.faces - position[0]


OURS = {reference.ShutTheBox: ShutTheBox, reference.Threes: Threes, Mirrored: MostThrees}
THEIRS = {ours: theirs for theirs, ours in OURS.items()}


def ours(other):
    """Return the package's game for a game of the reference."""
    return OURS[type(other)](**asdict(other))


def twin(game):
    """Return the reference's game for a game of the package."""
    return THEIRS[type(game)](**asdict(game))


STANDARD = [game() for game in GAMES.values()]


@st.composite
def boxes(draw, most_tiles=6, most_dice=3):
    """Draw rules of Shut the Box."""
    tiles = draw(st.integers(1, most_tiles))
    dice = draw(st.integers(1, most_dice))
    faces = draw(st.integers(2, 6 if dice < 3 else 4))
    opened = draw(st.sets(st.integers(1, tiles), min_size=1))
    one_die = draw(st.sampled_from(["never", "low-sum", "high-shut", "any-time"]))
    fewest_dice = dice if one_die == "never" else 1
    return ShutTheBox(
        tiles=tiles,
        dice=dice,
        faces=faces,
        score=draw(st.sampled_from(["sum", "count", "digits"])),
        open=tuple(opened),
        one_die=one_die,
        one_die_forced=one_die != "never" and draw(st.booleans()),
        match=draw(st.sampled_from(["sum", "sum", "one-tile", "two-at-most", "faces-or-sum"])),
        first_move=draw(st.none() | st.sampled_from(sorted(opened))),
        ending_roll=draw(st.none() | st.integers(fewest_dice, dice * faces)),
    )


def games(most_tiles=6, most_dice=3):
    """Draw rules of either game."""
    dice, faces = st.integers(1, most_dice), st.integers(2, 5)
    threes = [st.builds(rules, dice, faces, st.integers(0, 5)) for rules in (Threes, MostThrees)]
    moons = st.builds(Threes, dice, faces, moon=st.just(True))
    either = boxes(most_tiles, most_dice)
    return st.one_of(either, either, *threes, moons)


def squares(points):
    return -(points.astype(np.int64) ** 2)


def around_four(points):
    """Return utilities of both signs, whose expectations cancel."""
    return np.clip(4 - points.astype(np.int64), -9, 4) ** 3


def halves(points):
    """Return utilities that halve with each point; after 30 points they stay, so that sums with 1 keep their digits."""
    return 0.5 ** np.minimum(points, 30).astype(float)


def thirds(points):
    """Return fractions that no float equals."""
    return np.array([Fraction(7, 3) - Fraction(int(p), 3) for p in points], object)


def is_even(points):
    return points % 2 == 0


UTILITIES = [squares, around_four, halves, thirds, is_even]
GOALS = ["score", "shut", *UTILITIES]


def our_score(game, score):
    """Return a score of the twin as ours, and the other way round; None stays None."""
    return game.dice * game.faces - score if isinstance(game, MostThrees) and score is not None else score


def their_utility(game, goal):
    """Convert an objective to the twin's function of one score: "score", "shut" or a function of our scores [T]."""

    def utility(score):
        points = our_score(game, score)
        if isinstance(goal, str):
            return Fraction({"score": points if game.more_is_better else -points, "shut": score <= 0}[goal])
        return Fraction(goal(np.array([points])).tolist()[0])

    return utility


def position(game, progress, dice):
    """Return the twin's position of an afterstate."""
    if isinstance(game, Threes):
        return progress, dice
    return frozenset(tile for tile in range(1, game.tiles + 1) if progress >> (tile - 1) & 1), dice


def roll_at(tables, state):
    """Return the twin's roll of a state."""
    shown = tables.state_roll(state)
    by_sum = isinstance(tables.game, ShutTheBox) and tables.game.match in ("sum", "two-at-most")
    return shown[0] if by_sum else tuple(sorted(shown))


def move_of(tables, pair):
    """Return the twin's move of a pair; its "no move", which is no move of the twin, is ((), 0)."""
    move = tables.game.actions[tables.pair_action[pair]]
    return move if isinstance(tables.game, Threes) else (move, int(tables.dice[tables.pair_afterstate[pair]]))


def throwing_afterstates(tables):
    """Yield every afterstate with dice, and its twin's position."""
    for afterstate in range(tables.num_afterstates):
        if tables.dice[afterstate] > 0:
            yield afterstate, position(tables.game, int(tables.progress[afterstate]), int(tables.dice[afterstate]))


def throwing_states(tables):
    """Yield every state with dice, and its twin's position and roll."""
    for afterstate, where in throwing_afterstates(tables):
        for state in tables.states_of(afterstate):
            yield state, where, roll_at(tables, state)


def moves_at(tables, state):
    """Return the next afterstate of each move of the twin."""
    moves = {move_of(tables, pair): int(tables.pair_afterstate[pair]) for pair in tables.pairs_of(state)}
    return {move: afterstate for move, afterstate in moves.items() if move != ((), 0)}


def choice(tables, state, policy):
    """Return the probabilities of a policy [S] or [S, A] at a state, by move of the twin or ("illegal", action)."""
    moves = {int(tables.pair_action[pair]): move_of(tables, pair) for pair in tables.pairs_of(state)}
    shares = {int(policy[state]): 1} if policy.ndim == 1 else dict(enumerate(policy[state].tolist()))
    return {moves.get(action, ("illegal", action)): share for action, share in shares.items() if share}


def in_our_words(tables, plays):
    """Return the twin's policy as ours [S, A]: the inverse of `choice`."""
    policy = np.zeros((tables.num_states, tables.num_actions))
    for state, where, roll in throwing_states(tables):
        moves = {move_of(tables, pair): int(tables.pair_action[pair]) for pair in tables.pairs_of(state)}
        shares = plays(where, roll) if set(moves) - {((), 0)} else dict.fromkeys(moves, 1)
        for move, share in shares.items():
            policy[state, moves[move]] = share
    return policy


def in_their_words(tables, policy):
    """Return our policy as the twin's, see `choice`."""
    answers = {(where, roll): choice(tables, state, policy) for state, where, roll in throwing_states(tables)}
    return lambda where, roll: answers[where, roll]
