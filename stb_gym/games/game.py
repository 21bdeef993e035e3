"""What a game is here: a turn of "throw the dice, then choose".

The words used throughout the package:

state        what the player holds before a throw: a pair (held, dice), where `held` is an integer that stands for the
             past of the turn (a bit mask of open tiles, or the points so far) and `dice` the number of dice thrown
             next. A state without dice is the end of the turn. (The "afterstate" of Sutton and Barto, Reinforcement
             Learning, 6.8.)
roll         what the rules see of a throw: the sum of the dice, or the dice sorted. Exact probability: an integer
             count of equally likely throws over faces**dice.
node         (state, roll): the point where the player chooses, and what an agent observes.
action       index into the game's list of actions; a mask says which are legal at a node, True = legal.
edge         (node, legal action) -> next state.
final score  what the turn is worth when it ends: a function of the state alone.

A turn ends at a node without a legal action, or at a state without dice. The rules of a game say this one state at a
time, in the methods of `Game`. `walk` finds all states from the start.
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
State = tuple[int, int]  # (held, dice)
Roll = tuple[int, ...]

ILLEGAL = ("end", "raise")  # what an illegal action does: it ends the turn, or raises an error
MOST_DICE = 64  # more dice have too many throws, whatever their faces are
LARGEST_THROW_TABLE = 2**22  # throws, which take a second to count
LARGEST_HELD = 2**53  # of `held` and of final scores: floats represent all smaller integers exactly
LARGEST_TABLE = 2**18  # nodes of a game; a walk through as many takes some seconds


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
    def start(self) -> State:
        """Return the state that a turn begins with."""

    @abstractmethod
    def moves(self, state: State, roll: Roll) -> dict[int, State]:
        """Return the legal actions after a throw, each with the state it leads to; {} where the turn ends.

        The first throw of a turn must leave a move, such as to pass. A turn that ends here has the score of `state`, as
        it was before the throw. If the throw itself changes the score, as a 1 does that loses everything, return one
        move, to the state that counts.

        Args:
            state: (held, dice), with one die or more.
            roll: as `roll_of` returns it.
        """

    @abstractmethod
    def final_score(self, held: int) -> int:
        """Return the points of a turn that ends holding `held`."""

    @property
    @abstractmethod
    def observation_high(self) -> Sequence[int]:
        """[O] the largest value of each number in an observation, at most 255; the smallest is 0."""

    @abstractmethod
    def observe(self, state: State, roll: Roll) -> Sequence[int]:
        """Return the O integers that an agent sees at a node; they differ between nodes.

        Args:
            state: (held, dice).
            roll: the roll; () where no dice are thrown.
        """

    def roll_of(self, throw: Roll) -> Roll:
        """Return what the rules see of a throw, whatever the order of its dice: by default the dice sorted."""
        return tuple(sorted(throw))

    def positions(self) -> Iterator[State]:
        """Yield further states at which a turn can be set up, even if no turn leads there; by default none."""
        return iter(())

    def most_nodes(self) -> int | None:
        """Return a bound on the number of nodes, if one is known without a walk through the game; else None."""
        return None

    @property
    def sign(self) -> int:
        """The sign of a utility that counts points: 1 if more are better, else -1."""
        return 1 if self.more_is_better else -1

    @cached_property
    def perfect_score(self) -> int:
        """The target of the objective "shut": 0 or, where more is better, the most points."""
        return max(self.final_score(held) for held, _ in walk(self)) if self.more_is_better else 0


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
def walk(game: Game) -> Mapping[State, Sequence[Mapping[int, State]]]:
    """Find every state of a game from its start and its `positions`, asking the rules for every move once.

    Args:
        game: the rules.

    Returns:
        The moves of every state at each of its rolls, in the order of `rolls(game, dice).shown`. Every move leads to
        a state that comes earlier.

    Raises:
        ValueError: if there are more nodes than LARGEST_TABLE, if a move is not an action or leads to no state, or if
            moves lead back to a state, so that a turn need not end.
    """
    found: dict[State, list[dict[int, State]]] = {}
    sorter = TopologicalSorter[State]()
    rules = type(game).__name__
    actions = frozenset(range(len(game.actions)))
    nodes = 0
    too_large = ValueError(
        f"{quoted(game)} has too many positions for tables, which hold at most {LARGEST_TABLE:,} nodes"
    )
    if not fits(game):
        raise too_large
    waiting = [_ask(game, "start"), *_ask(game, "positions")]
    for state in waiting:
        check_state(f"start and positions of {rules} must be", game, state)
    known = {*waiting}

    def unvisited() -> Iterator[State]:
        while waiting:
            if (state := waiting.pop()) not in found:
                yield state

    for state in tracked(unvisited(), "positions found", "positions", len(waiting)):
        shown = rolls(game, state[1]).shown
        nodes += len(shown)
        if nodes > LARGEST_TABLE:
            raise too_large
        by_roll = [_ask(game, "moves", state, roll) if state[1] else {} for roll in shown]
        # All at once, because a look at each takes long.
        are_dicts = {*map(type, by_roll)} == {dict}
        given = [*chain.from_iterable(by_roll)] if are_dicts else []
        is_usual = are_dicts and {*map(type, given)} <= {int} and actions.issuperset(given)
        for roll, moves in () if is_usual else zip(shown, by_roll, strict=True):
            if not (isinstance(moves, dict) and all(isinstance(each, INTEGER) and each in actions for each in moves)):
                raise ValueError(
                    f"moves of {rules} at {state} with roll {roll} must be {{action: next state}} with actions from 0 "
                    f"to {len(actions) - 1}, not {quoted(moves)}"
                )
        reached = [next_state for moves in by_roll for next_state in moves.values()]
        try:
            new: Iterable[State] = set(reached) - known
        except TypeError:  # what cannot be hashed is no pair of integers
            new = reached
        for next_state in new:
            check_state(f"moves of {rules} at {state} must lead to", game, next_state)
        following = set(reached)
        sorter.add(state, *following)
        known |= following
        waiting += new
        found[state] = by_roll
    try:
        order = list(sorter.static_order())
    except CycleError as error:
        raise ValueError(f"a turn of {rules} need not end: moves lead from {error.args[1][0]} back to it") from None
    return MappingProxyType({state: tuple(map(MappingProxyType, found[state])) for state in order})


@checked
def fits(game: Game) -> bool:
    """Return whether tables can hold a game, as far as is known without a walk through it."""
    most_nodes = game.most_nodes()
    return most_nodes is None or most_nodes <= LARGEST_TABLE


def check_state(claim: str, game: Game, state: Any) -> None:
    """Raise a ValueError unless `state` is a pair of integers (held, dice) with no more dice than the first throw."""
    match state:
        case (int(held), int(dice)) if isinstance(state, tuple) and 0 <= dice <= game.dice and abs(held) < LARGEST_HELD:
            return
    raise ValueError(f"{claim} a pair of integers (held, dice) with 0 to {game.dice} dice, not {quoted(state)}")


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
    """Check that rules keep the contract of `Game` in each of their states.

    Args:
        game: the rules; small ones are checked faster.

    Raises:
        TypeError: if it is not a `Game`.
        ValueError: naming the first violation and its method: a method that fails or returns a wrong type, fields that
            can change, a roll that depends on the order of the dice, a state or an action that does not exist, a first
            throw without a move, moves that lead back to a state, a score that is not an integer, or observations that
            are out of range or not distinct.

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
    """Check each state of a frozen dataclass; see `check_game`."""
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
    check_state(f"start of {rules} must be", game, start)
    first_moves = zip(rolls(game, start[1]).shown, walk(game)[start], strict=True)
    if blocked := [roll for roll, moves in first_moves if not moves]:
        raise ValueError(
            f"moves of {rules} must leave a move after each throw at start {start}, and not {{}} for {blocked[0]}"
        )
    high = integers(f"observation_high of {rules}", _ask(game, "observation_high"), 0, 255)
    seen: dict[tuple[int, ...], tuple[State, Roll]] = {}
    states = walk(game)
    for state in tracked(states, "positions checked", "positions", len(states)):
        score = _ask(game, "final_score", state[0])
        if isinstance(score, bool) or not isinstance(score, INTEGER) or not -LARGEST_HELD < score < LARGEST_HELD:
            raise ValueError(f"final_score of {rules} must be an integer, not {quoted(score)}, which it is at {state}")
        for roll in rolls(game, state[1]).shown:
            given = _ask(game, "observe", state, roll)
            if isinstance(given, np.ndarray):
                given = given.tolist()
            row = tuple(given) if isinstance(given, list | tuple) else ()
            if len(row) != len(high) or not all(
                isinstance(number, INTEGER) and 0 <= number <= most for number, most in zip(row, high, strict=True)
            ):
                raise ValueError(
                    f"observe of {rules} must return integers from 0 to those of observation_high, {quoted(high)}, not "
                    f"{quoted(given, 40)}, for {state} and {roll}"
                )
            if row in seen:
                raise ValueError(
                    f"observe of {rules} must differ between nodes: {quoted(row)} is at {seen[row]} and {(state, roll)}"
                )
            seen[row] = (state, roll)


class Moves(NamedTuple):
    """Legal moves as a heuristic sees them.

    Attributes:
        held: [M] what the player holds before the move.
        roll: [M, k] what the rules see of the throw.
        action: [M] the move.
        next_held, next_dice: [M] the state it leads to.
    """

    held: IntArray
    roll: NDArray[np.uint8]
    action: IntArray
    next_held: IntArray
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
