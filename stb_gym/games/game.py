"""What a game is here: a turn of "throw the dice, then choose".

The words used throughout the package:

afterstate   what the player has before a throw: a pair (progress, dice). `progress` is an integer that stands for the
             past of the turn (a bit mask of open tiles, or the points so far), and `dice` is the number of dice thrown
             next. The turn ends at an afterstate without dice. The start of a turn is an afterstate, too. (Sutton and
             Barto, Reinforcement Learning, 6.8.)
roll         what counts of a throw: the sum of the dice, or the dice sorted. Its exact probability is an integer count
             of equally likely throws over faces**dice.
state        (afterstate, roll): where the player chooses an action, and what an agent observes. It is the state of the
             Markov decision process.
action       index into the game's list of actions; a mask says which are legal in a state, True = legal.
pair         (state, legal action), which leads to the next afterstate.
final score  what the turn is worth when it ends: a function of the afterstate alone.

A turn ends in a state without a legal action, or at an afterstate without dice. The methods of `Game` state the
rules for one afterstate at a time. `walk` finds all afterstates from the start.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import IntArray
from stb_gym.checks import check_bool, check_choice, check_integer, check_names
from stb_gym.games.rules import own_rules, rules_of

Afterstate = tuple[int, int]  # (progress, dice)
Roll = tuple[int, ...]
MAX_DICE = 64  # more dice have too many throws, even with two faces
LARGEST_THROW_TABLE = 2**22  # throws, which take a second to count
LARGEST_PROGRESS = 2**53  # of `progress`: floats represent all smaller integers exactly
LARGEST_SCORE = 2**62  # of final scores: 64 bits hold their differences


class Game(ABC):
    """The rules of a turn. Subclasses are frozen dataclasses (with `repr=False`), whose fields vary the rules.

    Attributes:
        name: the name of the game: small letters, digits and hyphens.
        more_is_better: True if more points are better, False (the default) if fewer are.
        position_options: the options that name a position, for example in a reset, and what each means. The first
            names `progress`; the others are "dice" and "roll".
        dice: dice of the first throw, and the most that are ever thrown.
        faces: faces of every die, numbered from 1.
        actions: a tuple of what each action does, by action index; an attribute or a property.
        observation_high: [O] the largest value of each number in an observation, at most 255; the smallest is 0.

    Example:
        >>> from dataclasses import dataclass
        >>> import stb_gym
        >>> @dataclass(frozen=True, repr=False)
        ... class Reroll(stb_gym.Game):  # throw a die, and once more if you like; the last face is the score
        ...     name, more_is_better, dice, faces = "reroll", True, 1, 6
        ...     actions, observation_high = ("stop", "throw again"), [6, 1]
        ...     def start(self):
        ...         return 0, 1
        ...     def moves(self, afterstate, roll):
        ...         stop = {0: (roll[0], 0)}
        ...         return stop | {1: (7, 1)} if afterstate == self.start() else stop
        ...     def final_score(self, progress):
        ...         return progress
        ...     def observe(self, afterstate, roll):
        ...         return [roll[0], int(afterstate == self.start())]
        >>> stb_gym.solve(Reroll()).value
        4.25
    """

    name: ClassVar[str]
    more_is_better: ClassVar[bool] = False
    position_options: ClassVar[Mapping[str, str]] = {
        "progress": "what the player has (default that of the start)",
        "dice": "how many dice were thrown",
        "roll": "the dice as thrown",
    }
    dice: int
    faces: int
    actions: Any  # not a tuple, so that type checkers accept attributes and properties
    observation_high: Any

    def __post_init__(self) -> None:
        """Check the fields, and turn NumPy numbers into Python numbers."""
        for name, known in rules_of(self).items():
            value = getattr(self, name)
            if isinstance(value, np.generic):
                value = value.item()
                object.__setattr__(self, name, value)
            if isinstance(getattr(type(self), name, None), bool):
                check_bool(name, value)
            elif known.choices:
                check_choice(name, value, known.choices)
            elif known.low is not None and known.high is not None:
                check_integer(name, value, known.low, known.high)

    def __repr__(self) -> str:
        """Return the Python expression that makes the game."""
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in own_rules(self).items())})"

    @abstractmethod
    def start(self) -> Afterstate:
        """Return the afterstate that a turn begins with."""

    @abstractmethod
    def moves(self, afterstate: Afterstate, roll: Roll, /) -> dict[int, Afterstate]:
        """Return the legal actions after a throw, each with the afterstate it leads to; {} where the turn ends.

        The first throw of a turn must leave a move, such as to pass. A turn that ends here has the score of
        `afterstate`, as it was before the throw. If the throw itself changes the score, as a 1 does that loses
        everything, return one move, to the afterstate that counts.

        Args:
            afterstate: (progress, dice), with one die or more.
            roll: as `roll_of` returns it.
        """

    @abstractmethod
    def final_score(self, progress: int, /) -> int:
        """Return the points of a turn that ends with `progress`."""

    @abstractmethod
    def observe(self, afterstate: Afterstate, roll: Roll, /) -> Sequence[int]:
        """Return the O integers that an agent observes in a state; no two states have the same.

        Args:
            afterstate: (progress, dice).
            roll: the roll; () where no dice are thrown.
        """

    def roll_of(self, throw: Roll, /) -> Roll:
        """Return the roll of a throw, which does not depend on the order of its dice: by default the dice sorted."""
        return tuple(sorted(throw))

    def positions(self) -> Iterator[Afterstate]:
        """Yield further afterstates at which a turn can be set up, even if no turn leads there; by default none."""
        return iter(())

    def max_states(self) -> int | None:
        """Return an upper bound on the number of states if the rules imply one, else None (the default)."""
        return None

    def find_progress(self, options: Mapping[str, Any], /) -> tuple[int, list[int]] | None:
        """Return the progress that options name, and how many dice can be thrown there, most first.

        The default is None: then `locate` reads the first of `position_options` as an integer, and finds the dice by
        visiting all afterstates.

        Raises:
            ValueError: if there is no such position.
        """
        return None

    def options_at(self, progress: int, dice: int, /) -> dict[str, Any]:
        """Return the options that name an afterstate, such as {"points": 4, "dice": 2}."""
        return {next(iter(self.position_options)): progress, "dice": dice}

    def describe_afterstate(self, progress: int, dice: int, /) -> str:
        """Return an afterstate in words, such as "points 4, 2 dice"."""
        return f"{next(iter(self.position_options))} {progress}, {dice_in_words(dice)}"

    def describe_roll(self, roll: Roll, /) -> str:
        """Return a roll in words: its numbers, separated by commas."""
        return ",".join(map(str, roll)) or "none"

    def describe_state(self, progress: int, dice: int, roll: Roll) -> str:
        """Return a state in words: its afterstate and its roll."""
        return f"{self.describe_afterstate(progress, dice)}, roll {self.describe_roll(roll)}"

    def describe_move(self, action: int, goes_on: bool = True, roll: Roll | None = None) -> str:
        """Return a move in words, such as "keep 2 (3 1)".

        Args:
            action: the action.
            goes_on: whether dice are thrown after it; if not, a choice of dice is left out.
            roll: the roll before it, to name the dice that are kept.
        """
        return str(self.actions[action])

    @property
    def sign(self) -> int:
        """The sign of a utility that counts points: 1 if more are better, else -1."""
        return 1 if self.more_is_better else -1


def dice_in_words(dice: int) -> str:
    """Return a number of dice in words."""
    return "1 die" if dice == 1 else f"{dice} dice"


class Moves(NamedTuple):
    """The legal moves of many states, as the arguments of a heuristic.

    Attributes:
        progress: [M] the progress before the move.
        roll: [M, k] the roll.
        action: [M] the move.
        next_progress, next_dice: [M] the afterstate it leads to.
    """

    progress: IntArray
    roll: IntArray
    action: IntArray
    next_progress: IntArray
    next_dice: IntArray


# A function of the rules and of moves [M] that returns the cost of each, [M] numbers: the move of least cost is played,
# the lowest action among equals. The first line of its docstring says how it plays.
Heuristic = Callable[[Any, Moves], NDArray[Any]]


def make_game(rules_class: type[Game], options: Mapping[str, Any]) -> Game:
    """Return a game, given its rules class and some of its fields.

    Raises:
        ValueError: if an option is not a field of the rules, or its value is not allowed.
    """
    check_names("rule", options, list(rules_of(rules_class)))
    return rules_class(**options)
