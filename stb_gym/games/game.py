"""What a game is here: a turn of "throw the dice, then choose".

The words used throughout the package:

afterstate   what the player has before a throw: a pair (progress, dice). `progress` is an integer that stands for the
             past of the turn (a bit mask of open tiles, or the points so far), and `dice` is the number of dice thrown
             next. The turn ends at an afterstate without dice. The start of a turn is an afterstate, too. (Sutton and
             Barto, Reinforcement Learning, 6.8.)
roll         what the rules see of a throw: the sum of the dice, or the dice sorted. Exact probability: an integer
             count of equally likely throws over faces**dice.
state        (afterstate, roll): where the player chooses an action, and what an agent observes. It is the state of the
             Markov decision process.
action       index into the game's list of actions; a mask says which are legal in a state, True = legal.
pair         (state, legal action), which leads to the next afterstate.
final score  what the turn is worth when it ends: a function of the afterstate alone.

A turn ends in a state without a legal action, or at an afterstate without dice. The methods of `Game` state the
rules for one afterstate at a time. `walk` finds all afterstates from the start.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, field, fields, is_dataclass
from difflib import get_close_matches
from functools import cached_property, lru_cache, wraps
from graphlib import CycleError, TopologicalSorter
from itertools import chain, combinations_with_replacement, product
from textwrap import shorten
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.output import LONGEST_MESSAGE, quoted, shortened, tracked

T = TypeVar("T")
IntArray = NDArray[np.integer[Any]]
FloatArray = NDArray[np.float64]
INTEGER = (int, np.integer)  # for isinstance
Afterstate = tuple[int, int]  # (progress, dice)
Roll = tuple[int, ...]

ILLEGAL = ("end", "raise")  # what an illegal action does: it ends the turn, or raises an error
MOST_DICE = 64  # more dice have too many throws, whatever their faces are
LARGEST_THROW_TABLE = 2**22  # throws, which take a second to count
LARGEST_PROGRESS = 2**53  # of `progress` and of final scores: floats represent all smaller integers exactly
LARGEST_TABLE = 2**18  # states of a game; a walk through as many takes some seconds


class Game(ABC):
    """The rules of a turn. Subclasses are frozen dataclasses (with `repr=False`), whose fields vary the rules.

    Attributes:
        name: the name of the game: small letters, digits and hyphens.
        more_is_better: True if more points are better, False (the default) if fewer are.
        dice: dice of the first throw, and the most that are ever thrown.
        faces: faces of every die, numbered from 1.
    """

    name: ClassVar[str]
    more_is_better: ClassVar[bool] = False
    dice: int
    faces: int

    def __post_init__(self) -> None:
        """Check the fields whose allowed values are known, and turn NumPy numbers into Python numbers."""
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

    @property
    @abstractmethod
    def actions(self) -> tuple[Any, ...]:
        """What each action does, by action index."""

    @abstractmethod
    def start(self) -> Afterstate:
        """Return the afterstate that a turn begins with."""

    @abstractmethod
    def moves(self, afterstate: Afterstate, roll: Roll) -> dict[int, Afterstate]:
        """Return the legal actions after a throw, each with the afterstate it leads to; {} where the turn ends.

        The first throw of a turn must leave a move, such as to pass. A turn that ends here has the score of
        `afterstate`, as it was before the throw. If the throw itself changes the score, as a 1 does that loses
        everything, return one move, to the afterstate that counts.

        Args:
            afterstate: (progress, dice), with one die or more.
            roll: as `roll_of` returns it.
        """

    @abstractmethod
    def final_score(self, progress: int) -> int:
        """Return the points of a turn that ends holding `progress`."""

    @property
    @abstractmethod
    def observation_high(self) -> Sequence[int]:
        """[O] the largest value of each number in an observation, at most 255; the smallest is 0."""

    @abstractmethod
    def observe(self, afterstate: Afterstate, roll: Roll) -> Sequence[int]:
        """Return the O integers that an agent sees at a state; they differ between states.

        Args:
            afterstate: (progress, dice).
            roll: the roll; () where no dice are thrown.
        """

    def roll_of(self, throw: Roll) -> Roll:
        """Return what the rules see of a throw, whatever the order of its dice: by default the dice sorted."""
        return tuple(sorted(throw))

    def positions(self) -> Iterator[Afterstate]:
        """Yield further afterstates at which a turn can be set up, even if no turn leads there; by default none."""
        return iter(())

    def max_states(self) -> int | None:
        """Return a bound on the number of states, if one is known without a walk through the game; else None."""
        return None

    @property
    def sign(self) -> int:
        """The sign of a utility that counts points: 1 if more are better, else -1."""
        return 1 if self.more_is_better else -1

    @cached_property
    def perfect_score(self) -> int:
        """The target of the objective "shut": 0 or, where more is better, the most points."""
        return max(self.final_score(progress) for progress, _ in walk(self)) if self.more_is_better else 0


# Arrays of objects that are cached, so that every caller gets the same ones


def freeze(values: T) -> T:
    """Make all arrays in nested dictionaries, lists and tuples read-only, and return the values."""
    if isinstance(values, np.ndarray):
        values.flags.writeable = False
    elif isinstance(values, dict | list | tuple):
        for each in values.values() if isinstance(values, dict) else values:
            freeze(each)
    return values


def cached_arrays(function: Callable[[Any], T]) -> cached_property[T]:
    """Return a `cached_property` whose arrays are read-only."""

    @wraps(function)
    def frozen(instance: Any) -> T:
        return freeze(function(instance))

    return cached_property(frozen)


class Rule(NamedTuple):
    """The meaning of a field of rules and its allowed values.

    Attributes:
        words: its meaning, in a line without a full stop.
        low, high: the least and the largest integer allowed; None if the rules check the value themselves.
        choices: the allowed strings.
        size: True if `title` always names it, even with its default value.
    """

    words: str = ""
    low: int | None = None
    high: int | None = None
    choices: Sequence[str] = ()
    size: bool = False


class Variant(NamedTuple):
    """Named rules: the fields that differ from the defaults, and the rules in a sentence."""

    fields: Mapping[str, Any]
    rules: str


def rule(default: Any, words: str, **known: Any) -> Any:
    """Return a dataclass field of rules, which states its meaning and its allowed values.

    Args:
        default: its default value.
        words: its meaning, in a line.
        **known: the other attributes of `Rule`.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass(frozen=True)
        ... class Coin:
        ...     sides: int = rule(2, "sides of the coin", low=1, high=3)
        >>> rules_of(Coin)["sides"].words
        'sides of the coin'
    """
    check_names("attribute of a rule", known, Rule._fields)
    return field(default=default, metadata={"rule": Rule(words, **known)})


def rules_of(rules_class: Any) -> dict[str, Rule]:
    """Return the `Rule` of every field of a rules class, by name; `Rule()` for fields not made by `rule`."""
    return {each.name: each.metadata.get("rule", Rule()) for each in fields(rules_class)}


def all_rules(game: Any) -> dict[str, Any]:
    """Return every field of a game, by name."""
    return asdict(game)


def own_rules(game: Any) -> dict[str, Any]:
    """Return the fields of a game that differ from the defaults."""
    defaults = {each.name: each.default for each in fields(game)}
    return {name: value for name, value in all_rules(game).items() if value != defaults[name]}


def make_game(rules_class: type[Game], options: Mapping[str, Any]) -> Game:
    """Return a game, given its rules class and some of its fields.

    Raises:
        ValueError: if an option is no field of the rules, or its value is not allowed.
    """
    check_names("rule", options, list(rules_of(rules_class)))
    return rules_class(**options)


@checked
def title(game: Game) -> str:
    """Return a line about a game: its name, its sizes, and the fields that differ from the defaults."""
    sizes = {name: getattr(game, name) for name, known in rules_of(game).items() if known.size}
    named = ", ".join(f"{name} {value}" for name, value in (sizes | own_rules(game)).items())
    return f"{game.name}: {named}" if named else game.name


class Rolls(NamedTuple):
    """Every roll of a number of dice.

    Attributes:
        shown: the R rolls, as `Game.roll_of` returns them, in ascending order.
        counts: [R] int64, how many of the equally likely throws give the roll; they sum to faces**dice.
        of_throw: [faces**dice] index of the roll that each throw gives. The base-`faces` digits of a throw's number,
            each plus one, are the faces of its dice, first die first.
    """

    shown: tuple[Roll, ...]
    counts: NDArray[np.int64]
    of_throw: NDArray[np.int64]


@lru_cache(maxsize=256, typed=True)
def rolls(game: Game, dice: int) -> Rolls:
    """Return every roll of a number of dice, counted over all faces**dice throws.

    Args:
        game: the rules.
        dice: how many dice are thrown.

    Raises:
        ValueError: if there are more throws than LARGEST_THROW_TABLE.

    Example:
        >>> import stb_gym
        >>> sums = rolls(stb_gym.ShutTheBox(), 2)
        >>> sums.shown[:3], sums.counts[:3].tolist()
        (((2,), (3,), (4,)), [1, 2, 3])
    """
    if not isinstance(game, Game):
        raise TypeError(f"{quoted(game)} is not a game: make one, such as stb_gym.Threes()")
    check_integer("dice", dice, 0, MOST_DICE)
    if game.faces**dice > LARGEST_THROW_TABLE:
        raise ValueError(
            f"{dice} dice of {game.faces} faces have {game.faces**dice:,} throws; at most {LARGEST_THROW_TABLE:,} fit"
        )
    faces = range(1, game.faces + 1)
    sorted_throws = combinations_with_replacement(faces, dice)
    roll_of = {throw: _ask(game, "roll_of", throw) if throw else () for throw in sorted_throws}
    found = [*roll_of.values()]
    are_tuples = all(isinstance(roll, tuple) and len(roll) == len(found[0]) for roll in found)
    if not (are_tuples and all(isinstance(number, int) and 0 <= number <= 255 for roll in found for number in roll)):
        rules = type(game).__name__
        raise ValueError(f"roll_of of {rules} must return tuples of integers to 255, all as long, not {quoted(found)}")
    shown = tuple(sorted(set(roll_of.values())))
    index = {roll: place for place, roll in enumerate(shown)}
    shape = (game.faces,) * dice
    of_sorted = np.zeros(shape, np.int64)  # the order of the dice does not matter
    for throw, roll in roll_of.items():
        of_sorted[tuple(face - 1 for face in throw)] = index[roll]
    throws = np.indices(shape).reshape(dice, game.faces**dice)
    of_throw = of_sorted[tuple(np.sort(throws, axis=0))].reshape(-1)
    return freeze(Rolls(shown, np.bincount(of_throw), of_throw))


def throw_faces(throw: int, dice: int, faces: int) -> tuple[int, ...]:
    """Return the faces of the dice of throw number `throw`, as `Rolls.of_throw` numbers them."""
    return tuple(throw // faces**place % faces + 1 for place in reversed(range(dice)))


@checked
@lru_cache(maxsize=4)
def walk(game: Game) -> Mapping[Afterstate, Sequence[Mapping[int, Afterstate]]]:
    """Find every afterstate of a game from its start and its `positions`, asking the rules for every move once.

    Args:
        game: the rules.

    Returns:
        The moves of every afterstate at each of its rolls, in the order of `rolls(game, dice).shown`. Every move leads
        to an afterstate that comes earlier.

    Raises:
        ValueError: if there are more states than LARGEST_TABLE, if a move is not an action or leads to no afterstate,
            or if moves lead back to an afterstate, so that a turn need not end.
    """
    found: dict[Afterstate, list[dict[int, Afterstate]]] = {}
    sorter = TopologicalSorter[Afterstate]()
    rules = type(game).__name__
    actions = frozenset(range(len(game.actions)))
    states = 0
    too_large = ValueError(
        f"{quoted(game)} has too many positions for tables, which hold at most {LARGEST_TABLE:,} states"
    )
    if not fits(game):
        raise too_large
    waiting = [_ask(game, "start"), *_ask(game, "positions")]
    for afterstate in waiting:
        check_afterstate(f"start and positions of {rules} must be", game, afterstate)
    known = {*waiting}

    def unvisited() -> Iterator[Afterstate]:
        while waiting:
            if (afterstate := waiting.pop()) not in found:
                yield afterstate

    for afterstate in tracked(unvisited(), "positions found", "positions", len(waiting)):
        shown = rolls(game, afterstate[1]).shown
        states += len(shown)
        if states > LARGEST_TABLE:
            raise too_large
        by_roll = [_ask(game, "moves", afterstate, roll) if afterstate[1] else {} for roll in shown]
        # All at once, because a look at each takes long.
        are_dicts = {*map(type, by_roll)} == {dict}
        given = [*chain.from_iterable(by_roll)] if are_dicts else []
        is_usual = are_dicts and {*map(type, given)} <= {int} and actions.issuperset(given)
        for roll, moves in () if is_usual else zip(shown, by_roll, strict=True):
            if not (isinstance(moves, dict) and all(isinstance(each, INTEGER) and each in actions for each in moves)):
                raise ValueError(
                    f"moves of {rules} at {afterstate} with roll {roll} must be {{action: afterstate}} with actions "
                    f"from 0 to {len(actions) - 1}, not {quoted(moves)}"
                )
        reached = [next_afterstate for moves in by_roll for next_afterstate in moves.values()]
        try:
            new: Iterable[Afterstate] = set(reached) - known
        except TypeError:  # what cannot be hashed is no pair of integers
            new = reached
        for next_afterstate in new:
            check_afterstate(f"moves of {rules} at {afterstate} must lead to", game, next_afterstate)
        following = set(reached)
        sorter.add(afterstate, *following)
        known |= following
        waiting += new
        found[afterstate] = by_roll
    try:
        order = list(sorter.static_order())
    except CycleError as error:
        raise ValueError(f"a turn of {rules} need not end: moves lead from {error.args[1][0]} back to it") from None
    return MappingProxyType({afterstate: tuple(map(MappingProxyType, found[afterstate])) for afterstate in order})


@checked
def fits(game: Game) -> bool:
    """Return whether tables can hold a game, as far as is known without a walk through it."""
    max_states = game.max_states()
    return max_states is None or max_states <= LARGEST_TABLE


def check_afterstate(claim: str, game: Game, afterstate: Any) -> None:
    """Raise ValueError unless `afterstate` is a pair of integers (progress, dice) with at most `game.dice` dice."""
    match afterstate:
        case (int(progress), int(dice)) if (
            isinstance(afterstate, tuple) and 0 <= dice <= game.dice and abs(progress) < LARGEST_PROGRESS
        ):
            return
    raise ValueError(
        f"{claim} a pair of integers (progress, dice) with 0 to {game.dice} dice, not {quoted(afterstate)}"
    )


def _ask(game: Game, method: str, *arguments: Any) -> Any:
    """Return what a method of rules returns, or an attribute; raise a ValueError that names it if it fails."""
    try:
        member = getattr(game, method)
        return member if method in ("actions", "observation_high") else member(*arguments)
    except Exception as error:
        at = f" for {quoted(arguments)}" if arguments else ""
        raise ValueError(
            f"{method} of {type(game).__name__} fails{at}: {type(error).__name__}: {shortened(str(error), 60)}"
        ) from error


def check_game(game: Any) -> None:
    """Check that rules keep the contract of `Game` in each of their afterstates.

    Args:
        game: the rules; small ones are checked faster.

    Raises:
        TypeError: if it is not a `Game`.
        ValueError: naming the first violation and its method: a method that fails or returns a wrong type, fields that
            can change, a roll that depends on the order of the dice, an afterstate or an action that does not exist, a
            first throw without a move, moves that lead back to an afterstate, a score that is not an integer, or
            observations that are out of range or not distinct.

    Example:
        >>> import stb_gym
        >>> stb_gym.games.check_game(stb_gym.ShutTheBox(tiles=4))
    """
    if not isinstance(game, Game):
        raise TypeError(f"{quoted(game)} is not a game: make one, such as stb_gym.Threes()")
    rules = type(game).__name__
    if not (is_dataclass(game) and type(game).__dataclass_params__.frozen):
        raise ValueError(f"{rules} must be a frozen dataclass, because results are cached by the rules")
    _check_rules(game, repr(game))  # True equals 1, but has another repr


@lru_cache(maxsize=32)  # a round checks its game every time that it is made
def _check_rules(game: Any, shown: str) -> None:
    """Check each afterstate of a frozen dataclass; see `check_game`."""
    rules = type(game).__name__
    check_integer(f"dice of {rules}", getattr(game, "dice", None), 1, MOST_DICE)
    check_integer(f"faces of {rules}", getattr(game, "faces", None), 1, LARGEST_THROW_TABLE)
    check_bool(f"more_is_better of {rules}", game.more_is_better)
    actions = _ask(game, "actions")
    if not (isinstance(actions, tuple) and actions):
        raise ValueError(f"actions of {rules} must be a tuple of one or more, not {quoted(actions)}")
    known = rolls(game, game.dice)  # refuses too many throws
    throws = product(range(1, game.faces + 1), repeat=game.dice)
    for throw, number in zip(throws, known.of_throw.tolist(), strict=True):
        if _ask(game, "roll_of", throw) != known.shown[number]:
            raise ValueError(f"roll_of of {rules} must not depend on the order of the dice, as it does of {throw}")
    start = _ask(game, "start")
    check_afterstate(f"start of {rules} must be", game, start)
    first_moves = zip(rolls(game, start[1]).shown, walk(game)[start], strict=True)
    if blocked := [roll for roll, moves in first_moves if not moves]:
        raise ValueError(
            f"moves of {rules} must leave a move after each throw at start {start}, and not {{}} for {blocked[0]}"
        )
    high = integers(f"observation_high of {rules}", _ask(game, "observation_high"), 0, 255)
    seen: dict[tuple[int, ...], tuple[Afterstate, Roll]] = {}
    afterstates = walk(game)
    for afterstate in tracked(afterstates, "positions checked", "positions", len(afterstates)):
        score = _ask(game, "final_score", afterstate[0])
        if (
            isinstance(score, bool)
            or not isinstance(score, INTEGER)
            or not -LARGEST_PROGRESS < score < LARGEST_PROGRESS
        ):
            raise ValueError(
                f"final_score of {rules} must be an integer, not {quoted(score)}, which it is at {afterstate}"
            )
        for roll in rolls(game, afterstate[1]).shown:
            given = _ask(game, "observe", afterstate, roll)
            if isinstance(given, np.ndarray):
                given = given.tolist()
            row = tuple(given) if isinstance(given, list | tuple) else ()
            if len(row) != len(high) or not all(
                isinstance(number, INTEGER) and 0 <= number <= most for number, most in zip(row, high, strict=True)
            ):
                raise ValueError(
                    f"observe of {rules} must return integers from 0 to those of observation_high, {quoted(high)}, not "
                    f"{quoted(given, 40)}, for {afterstate} and {roll}"
                )
            if row in seen:
                raise ValueError(
                    f"observe of {rules} must differ between states: {quoted(row)} is at {seen[row]} "
                    f"and {(afterstate, roll)}"
                )
            seen[row] = (afterstate, roll)


class Moves(NamedTuple):
    """Legal moves as a heuristic sees them.

    Attributes:
        progress: [M] what the player holds before the move.
        roll: [M, k] what the rules see of the throw.
        action: [M] the move.
        next_progress, next_dice: [M] the afterstate it leads to.
    """

    progress: IntArray
    roll: NDArray[np.uint8]
    action: IntArray
    next_progress: IntArray
    next_dice: IntArray


# A function of the rules and of moves [M] that returns the cost of each, [M] numbers: the move of least cost is played,
# the lowest action among equals. The first line of its docstring says how it plays.
Heuristic = Callable[[Any, Moves], NDArray[Any]]


# Checks of arguments. Each raises a ValueError that says in one line what was wrong and what is allowed.


def check_bool(name: str, value: Any) -> None:
    """Raise a ValueError unless `value` is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, not {quoted(value)}")


def check_integer(name: str, value: Any, low: int, high: int) -> None:
    """Raise a ValueError unless `value` is an integer from `low` to `high`."""
    if isinstance(value, bool) or not isinstance(value, INTEGER) or not low <= value <= high:
        raise ValueError(f"{name} must be an integer from {low} to {high}, not {quoted(value)}")


def integers(name: str, values: Any, low: int, high: int) -> list[int]:
    """Return values as a list; raise a ValueError unless they are integers from `low` to `high`."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a list of integers from {low} to {high}, not {quoted(values)}")
    listed = list(values)
    for value in listed:
        check_integer(f"each of {name}", value, low, high)
    return [int(value) for value in listed]


def check_chances(name: str, chances: Iterable[float]) -> None:
    """Raise a ValueError unless numbers are probabilities that sum to 1."""
    given = list(chances)
    if not (min(given, default=0) >= 0 and abs(sum(given) - 1) <= 1e-6):
        raise ValueError(f"{name} must be probabilities that sum to 1, not {quoted(given)}")


def check_choice(name: str, value: Any, allowed: Sequence[Any]) -> None:
    """Raise a ValueError unless `value` is one of `allowed`."""
    if not (isinstance(value, Hashable) and value in allowed):
        unknown, like = f"unknown {name} {quoted(value)}: allowed are ", meant(value, allowed)
        raise ValueError(unknown + listed(allowed, LONGEST_MESSAGE - len(unknown + like)) + like)


def listed(names: Iterable[Any], room: int) -> str:
    """Join names by commas; those that need more than `room` characters are replaced by three dots."""
    return shorten(", ".join(map(str, names)), room, placeholder=" ...")


def check_names(kind: str, given: Iterable[str], allowed: Sequence[str]) -> None:
    """Raise a ValueError unless each of the names `given` is allowed."""
    for name in given:
        check_choice(kind, name, allowed)


def meant(value: Any, allowed: Iterable[Any]) -> str:
    """Return "; did you mean X?" for the closest allowed name, or "".

    >>> meant("biggest-frist", ["random", "biggest-first"])
    '; did you mean biggest-first?'
    """
    like = get_close_matches(quoted(value).strip("'"), [each for each in allowed if isinstance(each, str)], 1)
    return f"; did you mean {like[0]}?" if like else ""
