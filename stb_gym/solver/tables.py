"""A game as arrays of its afterstates, states and pairs.

Afterstates are sorted by level and every pair leads to a strictly lower level, so one pass over the levels, lowest
first, is backward induction:

    u(state)  = choose over legal actions of u(next afterstate), or utility(afterstate) if there is none: the turn ends
    u(afterstate) = sum over rolls of P(roll) u(state)
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import BoolArray, FloatArray, IntArray, cached_arrays, freeze
from stb_gym.games import Afterstate, Game, Roll, Rolls, cached_by_rules, final_scores, observations, rolls, walk

Policy = NDArray[Any]  # [S] actions or [S, A] probabilities: see `stb_gym.solver.policies`


class Level(NamedTuple):
    """The afterstates of one level with the same number of dice; they, their states and their pairs are contiguous.

    Attributes:
        afterstates, states, pairs: their slices of the arrays of `TurnTables`. Each afterstate has one state per roll.
        rolls: the rolls of these afterstates.
        live: [L] states with a legal action, counted from the level's first state.
        first_pair: [L] the first pair of each live state, counted from the level's first pair.
    """

    afterstates: slice
    states: slice
    pairs: slice
    rolls: Rolls
    live: IntArray
    first_pair: IntArray

    def reduce(self, operation: np.ufunc, values: NDArray[Any]) -> NDArray[Any]:
        """Return [L, *K]: an operation such as `np.maximum` over the level's pairs [e, *K] of every live state."""
        return operation.reduceat(values, self.first_pair)


@dataclass(frozen=True, eq=False, repr=False)
class TurnTables:
    """The arrays of a game: S states (D of them decisions, with a legal action), A actions, P pairs and Y afterstates.

    Attributes:
        game: the rules.
        levels: the levels, lowest first.
        index: the index of each afterstate (progress, dice), in ascending order.
        start: the afterstate that a turn begins with.
        progress, dice: [Y] the afterstates.
        final_score: [Y] points of a turn that ends at the afterstate.
        state_start: [Y + 1] first state of each afterstate; its states follow in the order of its rolls.
        state_origin: [S] the afterstate whose throw leads to each state.
        state_probability: [S] the probability of the state's roll.
        pair_start: [S + 1] first pair of each state; its pairs follow in the order of their actions.
        pair_state, pair_action, pair_afterstate: [P] state, action and next afterstate of each pair.
    """

    game: Game
    levels: tuple[Level, ...]
    index: dict[Afterstate, int]
    start: int
    progress: IntArray
    dice: IntArray
    final_score: IntArray
    state_start: IntArray
    state_origin: IntArray
    state_probability: FloatArray
    pair_start: IntArray
    pair_state: IntArray
    pair_action: IntArray
    pair_afterstate: IntArray

    def __repr__(self) -> str:
        sizes = f"{self.num_states:,} states, {len(self.pair_state):,} pairs, {self.num_afterstates:,} afterstates"
        return f"<{self.game}: {sizes}>"

    @property
    def num_afterstates(self) -> int:
        """The number of afterstates, Y."""
        return len(self.progress)

    @property
    def num_states(self) -> int:
        """The number of states, S."""
        return len(self.state_origin)

    @property
    def num_actions(self) -> int:
        """The number of actions, A."""
        return len(self.game.actions)

    @cached_arrays
    def choices(self) -> IntArray:
        """[S] the number of legal actions."""
        return np.diff(self.pair_start)

    @cached_arrays
    def decisions(self) -> IntArray:
        """[D] the states that have a legal action."""
        return np.flatnonzero(self.choices)

    @cached_arrays
    def scores(self) -> IntArray:
        """[T] every final score, best first."""
        return np.unique(self.final_score)[:: -self.game.sign]

    @cached_arrays
    def score_index(self) -> IntArray:
        """[Y] the index in `scores` of the final score of each afterstate."""
        return self.place_of(self.final_score)

    def place_of(self, score: IntArray | int) -> Any:
        """Return the index in `scores` of final scores, or where they would be inserted."""
        return np.searchsorted(-self.game.sign * self.scores, -self.game.sign * score)

    @cached_arrays
    def observation(self) -> NDArray[np.uint8]:
        """[S, O] the observation of each state."""
        return observations(self.game, self.index)

    @cached_property
    def _state_of(self) -> dict[bytes, int]:
        """The state of every observation."""
        return {row: state for state, row in enumerate(_as_bytes(self.observation))}

    @np.errstate(invalid="ignore")  # casting to uint8 may change a number; the comparison below finds it
    def find_states(self, observation: NDArray[Any]) -> IntArray:
        """Return the states [...] of observations [..., O].

        Raises:
            ValueError: if an observation is not one of this game.
        """
        width = self.observation.shape[1]
        if observation.shape[-1:] != (width,):
            raise ValueError(f"an observation of {self.game} has {width} numbers, not shape {observation.shape}")
        rows = observation.reshape(-1, width)
        known = (self._state_of.get(row, -1) for row in _as_bytes(rows.astype(np.uint8)))
        states = np.fromiter(known, np.int64, len(rows))
        unknown = (self.observation[states] != rows).any(axis=1)
        if unknown.any():
            raise ValueError(f"{rows[unknown.argmax()].tolist()} is no observation of {self.game}")
        return states.reshape(observation.shape[:-1])

    @cached_arrays
    def uniform(self) -> FloatArray:
        """[P] the probability of each pair under uniformly random play."""
        return 1 / self.at_pairs(self.choices)

    @cached_arrays
    def legal(self) -> BoolArray:
        """[S, A] True where the action is legal."""
        legal = np.zeros((self.num_states, self.num_actions), np.bool_)
        legal[self.pair_state, self.pair_action] = True
        return legal

    def states_of(self, afterstate: int) -> range:
        """Return the states of an afterstate, one for each of its rolls."""
        return range(self.state_start[afterstate], self.state_start[afterstate + 1])

    def pairs_of(self, state: int) -> range:
        """Return the pairs of a state, one for each of its legal actions."""
        return range(self.pair_start[state], self.pair_start[state + 1])

    def at_pairs(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return [P, *K]: at every pair the value [S, *K] of its state."""
        return values.take(self.pair_state, axis=0)

    def after_pairs(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return [P, *K]: at every pair the value [Y, *K] of the afterstate it leads to."""
        return values.take(self.pair_afterstate, axis=0)

    def reduce(self, operation: np.ufunc, values: NDArray[Any]) -> NDArray[Any]:
        """Return [D, *K]: an operation such as `np.maximum` over the pairs [P, *K] of every state with a move."""
        return operation.reduceat(values, self.pair_start[self.decisions])

    def mean_over_rolls(self, values: FloatArray) -> FloatArray:
        """Return [Y]: at every afterstate the expectation over its rolls of the values [S] of states."""
        return np.add.reduceat(values * self.state_probability, self.state_start[:-1])

    def sum_at_states(self, values: NDArray[Any]) -> FloatArray:
        """Return [S]: the sum over the pairs [P] of every state, 0 where there are none."""
        return np.asarray(np.bincount(self.pair_state, values, self.num_states), np.float64)

    def lowest(self, marked: BoolArray) -> IntArray:
        """Return [D, *K]: the marked pair [P, *K] of lowest action at every state with a legal action."""
        pair = np.arange(len(marked)).reshape(-1, *[1] * (marked.ndim - 1))
        return self.reduce(np.minimum, np.where(marked, pair, len(marked)))

    def policy(self, answers: NDArray[Any]) -> Policy:
        """Expand actions [D] or probabilities [D, A] at the decisions to all states; other states get -1, or 0."""
        policy = np.full((self.num_states, *answers.shape[1:]), -1 if answers.ndim == 1 else 0, answers.dtype)
        policy[self.decisions] = answers
        return policy

    def lowest_actions(self, marked: BoolArray) -> Policy:
        """Return the policy [S] of the lowest action among the marked pairs [P] of every state."""
        return self.policy(self.pair_action[self.lowest(marked)])

    def greedy(self, value: NDArray[Any], best: np.ufunc = np.maximum) -> Policy:
        """Return the policy [S] that plays the pair of greatest value [P]; the lowest action among equals.

        With `best=np.minimum` it plays the pair of least value.
        """
        at_best = self.reduce(best, value).repeat(self.choices[self.decisions], axis=0)
        return self.lowest_actions(value == at_best)

    def find_afterstates(self, progress: IntArray, dice: IntArray) -> IntArray:
        """Return the indices of afterstates of any shape, -1 where there is no such afterstate."""
        afterstates = zip(progress.ravel().tolist(), dice.ravel().tolist(), strict=True)
        return np.array([self.index.get(afterstate, -1) for afterstate in afterstates], np.int64).reshape(
            progress.shape
        )

    def find_afterstate(self, progress: int, dice: int) -> int:
        """Return the index of an afterstate; raise ValueError if there is no such afterstate."""
        if (progress, dice) not in self.index:
            raise ValueError(f"a turn of {self.game} never comes to {self.game.describe_afterstate(progress, dice)}")
        return self.index[progress, dice]

    def find_state(self, progress: int, dice: int, roll: Roll) -> int:
        """Return the state of an afterstate and a roll of its dice."""
        afterstate = self.find_afterstate(progress, dice)
        return int(self.state_start[afterstate]) + rolls(self.game, dice).shown.index(roll)

    def state_roll(self, state: int) -> Roll:
        """Return the roll at a state."""
        afterstate = self.state_origin[state]
        return rolls(self.game, int(self.dice[afterstate])).shown[state - self.state_start[afterstate]]

    def describe_state(self, state: int) -> str:
        """Return a state in words."""
        origin = self.state_origin[state]
        return self.game.describe_state(int(self.progress[origin]), int(self.dice[origin]), self.state_roll(state))

    def describe_move(self, pair: int, roll: Roll | None = None) -> str:
        """Return the move of a pair in words, such as "keep 2 (3 1)"; without the dice if no roll is given."""
        goes_on = bool(self.dice[self.pair_afterstate[pair]] > 0)
        return self.game.describe_move(int(self.pair_action[pair]), goes_on, roll)

    def describe_moves(self, marked: BoolArray) -> list[str]:
        """Return the marked moves of every state that has a move, such as "shut 3,5 or shut 8".

        Args:
            marked: [P] True for the moves to name.

        Returns:
            [D] strings, "" where no move is marked.
        """
        moves = map(self.describe_move, np.flatnonzero(marked).tolist())
        counts = self.reduce(np.add, marked.astype(int)).tolist()
        return [" or ".join(islice(moves, count)) for count in counts]

    def positions(self, afterstates: IntArray) -> dict[str, list[Any]]:
        """Return the positions of afterstates as columns.

        Args:
            afterstates: [M] indices of afterstates; one may come more than once.

        Returns:
            Columns of M rows: "afterstate" in words, and in Shut the Box "open" and "dice", in Threes "points" and
                "dice".
        """
        game = self.game
        positions = zip(self.progress[afterstates].tolist(), self.dice[afterstates].tolist(), strict=True)
        rows = [{"afterstate": game.describe_afterstate(*at), **game.options_at(*at)} for at in positions]
        return {name: [row[name] for row in rows] for name in ("afterstate", *game.options_at(*game.start()))}


def _as_bytes(rows: NDArray[np.uint8]) -> list[bytes]:
    return np.ascontiguousarray(rows).view(f"S{rows.shape[1]}").ravel().tolist()


@cached_by_rules(32)
def compile_game(game: Game) -> TurnTables:
    """Return the arrays of a game.

    Args:
        game: the rules.

    Raises:
        ValueError: if the game is too large for tables, or its rules break their contract; see `stb_gym.games.walk`.

    Example:
        >>> import stb_gym
        >>> from stb_gym.solver import compile_game
        >>> tables = compile_game(stb_gym.ShutTheBox(tiles=9))
        >>> tables.num_afterstates, tables.num_states, tables.num_actions
        (512, 5622, 62)
    """
    moves_of = walk(game)
    level_of: dict[Afterstate, int] = {}
    for afterstate, by_roll in moves_of.items():  # every move leads to an afterstate that comes earlier
        reached = chain.from_iterable(moves.values() for moves in by_roll)
        level_of[afterstate] = 1 + max(map(level_of.__getitem__, reached), default=-1)
    afterstates = sorted(moves_of, key=lambda afterstate: (level_of[afterstate], afterstate[1], afterstate[0]))
    index = {afterstate: number for number, afterstate in enumerate(afterstates)}
    progress, dice = np.array(afterstates, np.int64).T
    at_states = [moves for afterstate in afterstates for moves in moves_of[afterstate]]
    choices = [len(moves) for moves in at_states]
    pair_state = np.repeat(np.arange(len(choices)), choices)
    pair_action = np.array([*chain.from_iterable(at_states)], np.int64)
    pair_afterstate = np.array([index[after] for moves in at_states for after in moves.values()], np.int64)
    in_order = np.lexsort((pair_action, pair_state))

    rolls_at = [len(moves_of[afterstate]) for afterstate in afterstates]
    state_start = np.append(0, np.cumsum(rolls_at))
    pair_start = np.append(0, np.cumsum(choices))

    levels = []
    for (_, number), block in groupby(afterstates, key=lambda afterstate: (level_of[afterstate], afterstate[1])):
        members = [index[afterstate] for afterstate in block]
        of_afterstates = slice(members[0], members[-1] + 1)
        of_states = slice(int(state_start[of_afterstates.start]), int(state_start[of_afterstates.stop]))
        starts = pair_start[of_states.start : of_states.stop + 1]
        of_pairs = slice(int(starts[0]), int(starts[-1]))
        live = freeze(np.flatnonzero(np.diff(starts)))
        first_pair = freeze(starts[live] - starts[0])
        levels.append(Level(of_afterstates, of_states, of_pairs, rolls(game, number), live, first_pair))

    chances = {number: rolls(game, number).counts / game.faces**number for number in {*dice.tolist()}}
    tables = TurnTables(
        game=game,
        levels=tuple(levels),
        index=index,
        start=index[game.start()],
        progress=progress,
        dice=dice,
        final_score=final_scores(game, progress.tolist()),
        state_start=state_start,
        state_origin=np.repeat(np.arange(len(afterstates)), rolls_at),
        state_probability=np.concatenate([chances[number] for number in dice.tolist()]),
        pair_start=pair_start,
        pair_state=pair_state,
        pair_action=pair_action[in_order],
        pair_afterstate=pair_afterstate[in_order],
    )
    freeze([value for value in vars(tables).values() if isinstance(value, np.ndarray)])
    return tables
