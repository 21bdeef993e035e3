"""Step through a box that is too large for tables: moves are worked out from the board when they are needed.

A *board* is a bit mask of open tiles. A *case* is what was thrown beside it: a number of dice and a roll, or nothing
where the turn has ended, or nothing because of the forfeit. A move of a case takes tiles. It is legal at boards that
have all of them:

    board & taken == taken
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.envs.table_stepper import LegalMoves, Stepper
from stb_gym.games import Game, IntArray, rolls, words_of
from stb_gym.large import boards_of

NEVER = 1 << 30  # a tile that no board has: the move is not allowed


class LargeStepper(Stepper):
    """A stepper that works everything out.

    A state is a number of dice to throw and a board, packed into one integer. A node is a case, a board, and whether
    the turn is over. The start board is met on the first throw of a turn only, which may allow other moves.

    Args:
        game: the rules.
        observation_dtype: the type of observations, by its NumPy name.

    Raises:
        ValueError: if moves of this game do not take tiles off a board.
    """

    def __init__(self, game: Game, observation_dtype: str):
        boards = boards_of(game)
        self.game = game
        self.throws = game.faces**game.dice
        self.actions = len(game.actions)
        self._full = game.start()[0]
        self._bits = self._full.bit_length()
        self._boards = boards
        self._sorted_scores = boards.scores
        best_first = self._sorted_scores[:: -game.sign]
        self.scores = np.concatenate(([0], best_first, best_first[-1:]))

        # The cases: every roll of every number of dice, then the end and the forfeit, which have no roll.
        self._cases = [(dice, roll) for dice in boards.game.throws for roll in range(len(rolls(game, dice).counts))]
        self._end = len(self._cases)
        self._cases += [(0, 0), (game.dice + 1, 0)]  # the forfeit has a number of dice of its own
        first_case = {dice: case for case, (dice, roll) in enumerate(self._cases) if roll == 0}
        self._case_of_throw = np.zeros((game.dice + 2, self.throws), np.int64)
        for dice, case in first_case.items():
            of_throw = rolls(game, dice).of_throw if dice in boards.game.throws else np.zeros(1, np.int64)
            self._case_of_throw[dice] = case + of_throw[np.arange(self.throws) % len(of_throw)]

        # By case, the slice of actions where its moves lie, and the tiles that each of these actions takes: first on
        # later throws, then on the first throw. By action, the tiles; and whether it is a move of a case.
        of_moves = np.array([first_case[dice] for dice in boards.dice.tolist()]) + boards.roll
        self._is_move = np.zeros((2, len(self._cases), self.actions), np.bool_)
        self._is_move[0, of_moves, boards.action] = boards.later
        self._is_move[1, of_moves, boards.action] = boards.first
        self._taken = np.zeros(self.actions, np.int64)
        self._taken[boards.action] = boards.taken
        self._moves = []
        for is_move in self._is_move.reshape(-1, self.actions):
            action = is_move.nonzero()[0] if is_move.any() else np.zeros(1, np.int64)
            actions = slice(int(action[0]), int(action[-1]) + 1)
            taken = np.where(is_move[actions], self._taken[actions], NEVER).astype(np.int32)
            self._moves.append((actions, taken[:, None]))

        # In an observation, the first numbers stand for one tile each, and the others for one roll each.
        self._tiles = len(game.observation_high) - self._end
        self._shown_rolls = np.eye(len(self._cases), self._end, dtype=observation_dtype)

        self.start = self._state(self._full, game.dice)
        self.forfeit_state = self._state(0, game.dice + 1)
        self.forfeit = int(self.nodes(self.forfeit_state, 0))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles of an environment share the stepper of their process."""
        return large_stepper, (self.game, self._shown_rolls.dtype.name)

    @property
    def longest(self) -> int:
        return self._full.bit_count()  # every move takes a tile or ends the turn

    def nodes(self, states: Any, throws: Any) -> Any:
        board, dice = self._split_state(states)
        case = self._case_of_throw[dice, throws]
        return self._node(np.broadcast_to(board, case.shape), case)

    def after(self, nodes: Any, actions: Any) -> Any:
        board, case, over = self._split(nodes)
        taken = self._taken.take(actions)
        dice = self._next_dice(board & ~taken, actions)
        is_move = self._is_move[(board == self._full) * 1, case, actions]
        legal = is_move & (board & taken == taken) & (dice >= 0)
        state = np.where(legal, self._state(board & ~taken, dice), self.forfeit_state)
        return np.where(over, self.start, state)[()]

    def ending(self, nodes: Any) -> Any:
        board, _, over = self._split(np.asarray(nodes))
        index = self._sorted_scores.searchsorted(self._boards.final_scores(board[over]))
        ending = np.zeros(np.shape(nodes), np.int64)
        ending[over] = len(self._sorted_scores) - index if self.game.more_is_better else index + 1
        ending[np.equal(nodes, self.forfeit)] = len(self.scores) - 1
        return ending[()]

    def observe(self, nodes: Any) -> NDArray[Any]:
        board, case, _ = self._split(np.asarray(nodes))
        return self._seen(board, case)

    def masks(self, nodes: Any) -> NDArray[np.int8]:
        board, case, _ = self._split(np.ravel(nodes))
        masks = np.zeros((len(board), self.actions), np.bool_)
        for places, actions, legal in self._legal(board, case):
            masks[places, actions] = legal.T
        return masks.view(np.int8).reshape(*np.shape(nodes), self.actions)

    def choose(self, nodes: IntArray, fractions: NDArray[np.float64]) -> IntArray:
        first, counts, _, action = self.legal_moves(nodes)
        chosen = np.append(action, 0).take(first + (fractions * counts).astype(np.intp))
        return np.where(counts > 0, chosen, 0)

    def legal_moves(self, nodes: IntArray) -> LegalMoves:
        place, action = self.masks(nodes).view(np.bool_).nonzero()
        counts = np.bincount(place, minlength=len(nodes))
        return LegalMoves(np.cumsum(counts) - counts, counts, place, action)

    def state_of(self, nodes: Any) -> Any:
        board, case, _ = self._split(nodes)
        return self._state(board, np.array([dice for dice, _ in self._cases]).take(case))

    def position(self, states: Any) -> tuple[Any, Any]:
        board, dice = self._split_state(states)
        forfeit = np.equal(states, self.forfeit_state)
        return np.where(forfeit, self._full, board)[()], np.where(forfeit, 0, dice)[()]

    def find_state(self, held: Any, dice: Any) -> Any:
        return self._state(held, dice)

    def find(self, observations: NDArray[Any]) -> Any:
        width = len(self.game.observation_high)
        if observations.ndim not in (1, 2) or observations.shape[-1] != width:
            raise ValueError(f"an observation of {self.game} has {width} numbers, not shape {observations.shape}")
        rows = np.atleast_2d(observations)
        board = (rows[:, : self._tiles] > 0) @ (1 << np.arange(self._tiles))
        shown = rows[:, self._tiles :] > 0
        thrown = shown.any(axis=1)
        case = np.where(thrown, shown.argmax(axis=1), self._end)
        first_throw = case < len(rolls(self.game, self.game.dice).counts)
        may_stay = (self._taken == 0).any()  # there is an action for a first throw that leaves no move
        occurs = np.where(board == self._full, first_throw | ~thrown & may_stay, thrown == (board > 0))
        occurs &= (board & ~self._full == 0) & (self._seen(board, case) == rows).all(axis=1)
        if not occurs.all():
            raise ValueError(f"{rows[occurs.argmin()].tolist()} is no observation of {self.game}")
        return self._node(board, case).reshape(observations.shape[:-1])[()]

    def unthrown(self, states: IntArray) -> NDArray[Any]:
        _, dice = self.position(states)
        board, _ = self._split_state(states)
        seen = self._seen(board, np.full(len(states), self._end))
        return np.column_stack((seen, dice.astype(seen.dtype)))

    def describe(self, node: int) -> str:
        board, case, _ = self._split(node)
        dice, roll = self._cases[case]
        return words_of(self.game).node(int(board), dice, rolls(self.game, dice).shown[roll])

    def _state(self, board: Any, dice: Any) -> Any:
        return dice << self._bits | board

    def _split_state(self, states: Any) -> tuple[Any, Any]:
        """Return the boards and the dice of states."""
        return states & (1 << self._bits) - 1, states >> self._bits

    def _node(self, board: IntArray, case: IntArray) -> Any:
        """Return the nodes of boards and cases of the same shape."""
        over = np.ones(case.size, np.int64)
        for places, _, legal in self._legal(board.ravel(), case.ravel()):
            over[places] = ~legal.any(axis=0)
        return ((case << self._bits | board) << 1 | over.reshape(case.shape))[()]

    def _split(self, nodes: Any) -> tuple[Any, Any, Any]:
        """Return the boards and the cases of nodes, and whether the turn is over."""
        board_and_case = nodes >> 1
        return board_and_case & (1 << self._bits) - 1, board_and_case >> self._bits, nodes & 1 == 1

    def _legal(self, board: IntArray, case: IntArray) -> Iterator[tuple[IntArray, slice, NDArray[np.bool_]]]:
        """Yield the legal moves at boards [B] and cases [B], one case after another.

        Yields:
            [P] the places among the B that have the same case, the slice of K actions where the moves of the case lie,
            and [K, P] whether these are legal there.
        """
        kind = (case + len(self._cases) * (board == self._full)).astype(np.uint16)
        order = kind.argsort(kind="stable")  # a radix sort, because the numbers are small
        counts = np.bincount(kind)
        last = counts.cumsum()
        for one in counts.nonzero()[0].tolist():
            places = order[last[one] - counts[one] : last[one]]
            actions, taken = self._moves[one]
            legal = board.astype(np.int32).take(places) & taken == taken
            if len(self._boards.game.throws) > 1:  # the number of dice that an action chooses may not be allowed
                move, place = legal.nonzero()
                left = board[places[place]] & ~self._taken[actions][move]
                legal[move, place] = self._next_dice(left, move + actions.start) >= 0
            yield places, actions, legal

    def _next_dice(self, left: IntArray, action: IntArray) -> IntArray:
        """Return how many dice are thrown at boards that actions leave, -1 if the action may not choose its number."""
        if len(self._boards.game.throws) == 1:
            return np.where((left > 0) & (self._taken.take(action) > 0), self.game.dice, 0)
        return self._boards.next_dice(left, action)

    def _seen(self, board: IntArray, case: IntArray) -> NDArray[Any]:
        """Return the observations [..., O] at boards and cases."""
        four_bytes = np.asarray(board, "<u4")[..., None].view(np.uint8)
        tiles = np.unpackbits(four_bytes, axis=-1, count=self._tiles, bitorder="little")
        return np.concatenate((tiles.astype(self._shown_rolls.dtype), self._shown_rolls.take(case, axis=0)), axis=-1)


@lru_cache(maxsize=16)
def large_stepper(game: Game, observation_dtype: str = "uint8") -> LargeStepper:
    """Return the stepper of a box, from a cache; see `LargeStepper`."""
    return LargeStepper(game, observation_dtype)
