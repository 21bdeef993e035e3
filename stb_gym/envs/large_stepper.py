"""Step through a box that is too large for tables: moves are computed from the board when they are needed.

A *board* is a bit mask of open tiles. A *case* is what was thrown: a number of dice and a roll. Two more cases have no
roll: the end of a turn, and the illegal state. Each case has a fixed set of moves. A move takes tiles, and is legal at
boards where all of them are open:

    board & taken == taken
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import BoolArray, IntArray, freeze
from stb_gym.envs.table_stepper import Stepper
from stb_gym.games import Game, rolls
from stb_gym.large import box_of
from stb_gym.messages import quoted

NEVER = 1 << 30  # a tile that no board has: the move is not allowed


class LargeStepper(Stepper):
    """A stepper that computes everything from the board.

    Afterstates and states are packed into integers:

        afterstate = number of dice << bits | board        state = case << bits | board

    The first throw of a turn may allow other moves. The start board occurs only then.

    Args:
        game: the rules.
        observation_dtype: the type of observations, by its NumPy name.

    Raises:
        ValueError: if moves of this game do not take tiles off a board.
    """

    def __init__(self, game: Game, observation_dtype: str):
        box = box_of(game)
        self.game = game
        self.num_throws = game.faces**game.dice
        self.num_actions = len(game.actions)
        self.scores = box.scores
        self._box = box
        self._full = game.start()[0]
        self._bits = self._full.bit_length()

        # The cases: every roll of every number of dice, then the end, then the illegal state.
        dice_of_case: list[int] = []
        first_case = np.zeros(game.dice + 1, np.int64)
        self._case_of_throw = np.zeros((game.dice + 2, self.num_throws), np.int64)
        for dice in box.game.throws:
            table = rolls(game, dice)
            first_case[dice] = len(dice_of_case)
            self._case_of_throw[dice] = first_case[dice] + np.resize(table.of_throw, self.num_throws)
            dice_of_case += [dice] * len(table.counts)
        self._end = len(dice_of_case)
        illegal_dice = game.dice + 1  # a number of its own
        self._case_of_throw[0] = self._end
        self._case_of_throw[illegal_dice] = self._end + 1
        self._dice = np.array([*dice_of_case, 0, illegal_dice])

        # Which actions are moves: a row per case on later throws, then a row per case on the first throw.
        case_of_move = first_case[box.dice] + box.roll
        self._is_move = np.zeros((2 * len(self._dice), self.num_actions), np.bool_)
        self._is_move[case_of_move, box.action] = box.later
        self._is_move[len(self._dice) + case_of_move, box.action] = box.first
        self._taken = np.zeros(self.num_actions, np.int64)
        self._taken[box.action] = box.taken
        # The moves of each row lie in a slice of actions: that slice, and the tiles that each of its actions takes.
        self._moves = []
        for is_move in self._is_move:
            action = np.flatnonzero(is_move)
            actions = slice(action.min(initial=self.num_actions), action.max(initial=-1) + 1)
            self._moves.append((actions, np.where(is_move, self._taken, NEVER)[actions, None].astype(np.int32)))

        # In an observation, the first numbers stand for one tile each, and the others for one roll each.
        self._tiles = len(game.observation_high) - self._end
        self._shown_rolls = np.eye(len(self._dice), self._end, dtype=observation_dtype)

        self.start = game.dice << self._bits | self._full
        self.illegal_afterstate = illegal_dice << self._bits
        self.illegal_state = self._end + 1 << self._bits
        freeze(vars(self))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles of an environment share the stepper of their process."""
        return large_stepper, (self.game, self._shown_rolls.dtype.name)

    @property
    def longest(self) -> int:
        return self._full.bit_count()  # every move takes a tile or ends the turn

    def after_throws(self, afterstates: Any, throws: Any) -> Any:
        board, dice = self._split(afterstates)
        states = self._case_of_throw[dice, throws] << self._bits | board
        return int(states) if isinstance(afterstates, int) and isinstance(throws, int) else states

    def after_actions(self, states: Any, actions: Any) -> Any:
        board, case = self._split(states)
        taken = self._taken[actions]
        left = board & ~taken
        dice = self._next_dice(left, actions)
        legal = self._is_move[self._row(board, case), actions] & (board & taken == taken) & (dice >= 0)
        if isinstance(states, int):
            return int(dice << self._bits | left) if legal else self.illegal_afterstate
        return np.where(legal, dice << self._bits | left, self.illegal_afterstate)[()]

    def is_over(self, states: Any) -> Any:
        if isinstance(states, int):  # several times faster than as an array
            return not np.count_nonzero(self._legal_at(states)[1])
        over = np.ones(np.size(states), np.bool_)
        for indices, _, legal in self._legal(states):
            over[indices] = ~legal.any(axis=0)
        return over.reshape(np.shape(states))[()]

    def score_index(self, states: Any) -> Any:
        board, _ = self._split(states)
        index = self.scores.searchsorted(self._box.final_scores(board))
        if isinstance(states, int):
            return int(index) if states != self.illegal_state else len(self.scores) - 1
        return np.where(np.equal(states, self.illegal_state), len(self.scores) - 1, index)[()]

    def observe(self, states: Any) -> NDArray[Any]:
        board, case = self._split(states)
        four_bytes = np.asarray(board, "<u4")[..., None].view(np.uint8)
        tiles = np.unpackbits(four_bytes, axis=-1, count=self._tiles, bitorder="little")
        return np.concatenate((tiles.astype(self._shown_rolls.dtype), self._shown_rolls[case]), axis=-1)

    def masks(self, states: Any) -> NDArray[np.int8]:
        if isinstance(states, int):
            mask = np.zeros(self.num_actions, np.bool_)
            actions, legal = self._legal_at(states)
            if np.count_nonzero(legal):
                mask[actions] = legal[:, 0]
            else:
                mask[:] = True
            return mask.view(np.int8)
        masks = self._legal_actions(states)
        masks[~masks.any(axis=-1)] = True
        return masks.view(np.int8)

    def legal_moves(self, states: IntArray) -> tuple[IntArray, IntArray]:
        move = np.flatnonzero(self._legal_actions(states))
        return move // self.num_actions, move % self.num_actions

    def _legal_actions(self, states: IntArray) -> BoolArray:
        """Return [..., A] True where an action is legal at states [...]."""
        legal_actions = np.zeros((np.size(states), self.num_actions), np.bool_)
        for indices, actions, legal in self._legal(states):
            legal_actions[indices, actions] = legal.T
        return legal_actions.reshape(*np.shape(states), self.num_actions)

    def _legal(self, states: Any) -> Iterator[tuple[IntArray, slice, BoolArray]]:
        """Yield the legal moves at states of any shape, one row of `_moves` after another.

        Yields:
            The flat indices of the P states of the row, the slice of its K actions, and [K, P] whether these are legal.
        """
        board, case = self._split(np.ravel(states))
        row = self._row(board, case)
        board = board.astype(np.int32)
        for each in set(row.tolist()):
            indices = np.flatnonzero(row == each)
            yield indices, *self._legal_in_row(each, board[indices])

    def _legal_at(self, state: int) -> tuple[slice, BoolArray]:
        """Return the slice of K actions that may be legal at a state, and [K, 1] whether each is."""
        board, case = self._split(state)
        return self._legal_in_row(self._row(board, case), np.int32(board))

    def _legal_in_row(self, row: int, boards: Any) -> tuple[slice, BoolArray]:
        """Return the slice of K actions of a row of `_moves`, and [K, P] whether each is legal at boards [P] int32."""
        actions, taken = self._moves[row]
        legal = boards & taken == taken
        if len(self._box.game.throws) > 1:  # the number of dice that an action chooses may not be allowed
            action = np.arange(actions.start, actions.stop)[:, None]
            legal &= self._next_dice(boards & ~taken, action) >= 0
        return actions, legal

    def origin_of(self, states: Any) -> Any:
        board, case = self._split(states)
        return self._dice[case] << self._bits | board

    def position(self, afterstates: Any) -> tuple[Any, Any]:
        board, dice = self._split(afterstates)
        is_illegal = np.equal(afterstates, self.illegal_afterstate)
        return np.where(is_illegal, self._full, board)[()], np.where(is_illegal, 0, dice)[()]

    def find_afterstate(self, progress: Any, dice: Any) -> Any:
        if np.any((progress & ~self._full != 0) | (dice < 0) | (dice > self.game.dice)):
            raise ValueError(f"a turn of {self.game} never comes to {quoted((progress, dice))}")
        return dice << self._bits | progress

    def find_states(self, observations: NDArray[Any]) -> Any:
        width = len(self.game.observation_high)
        if observations.ndim not in (1, 2) or observations.shape[-1] != width:
            raise ValueError(f"an observation of {self.game} has {width} numbers, not shape {observations.shape}")
        rows = np.atleast_2d(observations)
        board = (rows[:, : self._tiles] > 0) @ (1 << np.arange(self._tiles)) & self._full
        shown = rows[:, self._tiles :] > 0
        thrown = shown.any(axis=1)
        states = np.where(thrown, shown.argmax(axis=1), self._end) << self._bits | board
        # Without an open tile nothing is thrown. Nor is it after a first throw that leaves no move.
        occurs = (thrown == (board > 0)) | (board == self._full)
        occurs &= (self.observe(states) == rows).all(axis=1)
        if not occurs.all():
            raise ValueError(f"{rows[occurs.argmin()].tolist()} is no observation of {self.game}")
        return states.reshape(observations.shape[:-1])[()]

    def observe_afterstates(self, afterstates: IntArray) -> NDArray[Any]:
        board, _ = self._split(afterstates)
        _, dice = self.position(afterstates)
        observations = self.observe(self._end << self._bits | board)
        return np.column_stack((observations, dice.astype(observations.dtype)))

    def _split(self, packed: Any) -> tuple[Any, Any]:
        """Return the boards of afterstates or states, and the number of dice or the case of each."""
        return packed & (1 << self._bits) - 1, packed >> self._bits

    def _row(self, board: Any, case: Any) -> Any:
        """Return the rows in `_is_move` and `_moves` of states, given what `_split` returns."""
        return case + len(self._dice) * (board == self._full)

    def _next_dice(self, left: Any, action: Any) -> Any:
        """Return how many dice are thrown at boards that actions leave, -1 if the action may not choose its number."""
        if len(self._box.game.throws) == 1:
            return self.game.dice * ((left > 0) & (self._taken[action] > 0))
        return self._box.next_dice(left, action)


@lru_cache(maxsize=16, typed=True)
def large_stepper(game: Game, observation_dtype: str) -> LargeStepper:
    """Return the stepper of a box, from a cache; see `LargeStepper`."""
    return LargeStepper(game, observation_dtype)
