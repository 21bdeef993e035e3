"""Moves worked out from boards: what the environments of boxes step through that are too large for tables.

A node is a board, its case (see `cases`) and whether the turn is over, packed into one number. A state is a board and
the kind of the next throw: how many dice, or one of two kinds beyond them, the first throw of a turn and the forfeit.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.envs.stepping.cases import NOTHING_HAS, Cases
from stb_gym.envs.stepping.endings import Endings
from stb_gym.envs.stepping.one_board import NodeOfThrow, Nodes
from stb_gym.envs.stepping.sight import Sight
from stb_gym.envs.stepping.stepper import LegalMoves, Stepper
from stb_gym.games import Game, IntArray, board_scores, kept, rolls, words_of
from stb_gym.solver import Objective, is_named


class Worked(NamedTuple):
    """A column whose entries are worked out when they are asked for."""

    entries: Callable[[IntArray], NDArray[Any]]

    def take(self, nodes: Any, axis: int | None = None) -> Any:
        """The entries of nodes of any shape."""
        entries = self.entries(np.ravel(nodes))
        return entries.reshape((*np.shape(nodes), *entries.shape[1:]))


class BoardStepper(Stepper):
    """Steps of a game in which moves take things off a board; see `Stepper`.

    Args:
        game: the rules.
        objective: what is rewarded.
        observation_dtype: the type of observations, by NumPy's name.
        reward_scale: what rewards are multiplied by.

    Raises:
        ValueError: if moves of this game do not take things off a board.
    """

    def __init__(self, game: Game, objective: Objective, observation_dtype: str, reward_scale: float):
        boards, self.full = game.boards(), game.start()[0]
        self.game, self.objective, self.reward_scale = game, objective, reward_scale
        self.cases, self.next_dice = Cases(game, boards), boards.next_dice
        self.sight, self.dtype = Sight(game, self.cases, observation_dtype), observation_dtype
        self.endings = Endings(game, objective, reward_scale)
        self.throws, self.actions = len(rolls(game, game.dice).of_throw), len(game.moves)
        self.taken = np.zeros(self.actions, np.int64)
        self.taken[boards.action] = boards.taken
        self.bits = self.full.bit_length()
        self.board_mask = (1 << self.bits) - 1  # the bits of a board in a state
        self.start = self.cases.first_throw << self.bits | self.full
        self.forfeit_state = self.cases.forfeit << self.bits
        self.forfeit = self.cases.end + 1 << self.bits + 1 | 1
        self.over = Worked(lambda nodes: (nodes & 1).astype(np.bool_))
        self.observation, self.action_mask = Worked(self._observations), Worked(self._masks)
        self.final_score, self.reward = Worked(self._final_scores), Worked(self._rewards)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles of an environment share what is known of their game in their process."""
        return board_stepper, (self.game, self.objective, self.dtype, self.reward_scale)

    @property
    def longest(self) -> int:
        return self.full.bit_count()  # every move takes something or ends the turn

    def nodes(self, states: Any, throws: IntArray) -> IntArray:
        case = self.case_of_throw.take((states >> self.bits) * self.throws + throws)
        return self._marked(case.astype(np.int64), np.broadcast_to(states & self.board_mask, case.shape))

    def after(self, nodes: IntArray, actions: IntArray) -> IntArray:
        case, board = self._unpacked(nodes)
        taken = self.taken.take(actions)
        held = board & ~taken
        if self.next_dice is None:
            dice = np.where((held > 0) & (taken > 0), self.game.dice, 0)
        else:
            dice = self.next_dice(held, actions)
        legal = self._moves.take(case * self.actions + actions) & (board & taken == taken) & (dice >= 0)
        state = np.where(legal, dice << self.bits | held, self.forfeit_state)
        return np.where(nodes & 1, self.start, state)

    def legal_moves(self, nodes: IntArray) -> LegalMoves:
        count, action = self._legal(nodes)
        return LegalMoves(np.cumsum(count) - count, count, action, self.after(nodes.repeat(count), action))

    def choose(self, nodes: IntArray, fractions: NDArray[np.float64]) -> IntArray:
        count, action = self._legal(nodes)
        first = np.where(count, np.cumsum(count) - count, len(action))
        return np.append(action, 0).take(first + (fractions * count).astype(np.intp))

    def state_of(self, nodes: Any) -> Any:
        case, board = self._unpacked(np.asarray(nodes))
        return self._kinds.take(case) << self.bits | board

    def position(self, states: Any) -> tuple[Any, Any]:
        kind, board = np.asarray(states) >> self.bits, np.asarray(states) & self.board_mask
        dice = np.array([*range(self.game.dice + 1), self.game.dice, 0])
        return np.where(kind == self.cases.forfeit, self.full, board), dice.take(kind)

    def unthrown(self, states: IntArray) -> NDArray[Any]:
        dice = self.position(states)[1]
        seen = self.sight.of(states & self.board_mask, np.full(len(states), self.cases.end))
        return np.column_stack((seen, dice.astype(seen.dtype)))

    def describe(self, node: int) -> str:
        number, board = self._unpacked(node)
        case = self.cases.all[number]
        return words_of(self.game).node(board, case.dice, rolls(self.game, case.dice).shown[case.roll])

    def find_state(self, held: int, dice: int) -> int:
        return self.start if (held, dice) == self.game.start() else dice << self.bits | held

    def find(self, observations: NDArray[Any]) -> IntArray:
        width = len(self.game.observation_high)
        if observations.ndim not in (1, 2) or observations.shape[-1] != width:
            raise ValueError(f"an observation of {self.game} has {width} numbers, not shape {observations.shape}")
        rows = np.atleast_2d(observations)
        board, case = self.sight.find(rows)
        known = (self.sight.of(board, case) == rows).all(axis=1)
        case[(board == self.full) & (case < self.cases.end - self.cases.later)] += self.cases.later  # first throws
        known &= self._occur(case, board)
        if not known.all():
            raise ValueError(f"{rows[known.argmin()].tolist()} is no observation of {self.game}")
        return self._marked(case, board).reshape(observations.shape[:-1])

    def are_nodes(self, numbers: IntArray) -> NDArray[np.bool_]:
        case, board = self._unpacked(np.ravel(numbers))
        known = (case >= 0) & (case < len(self.cases.all))
        known[known] = self._occur(case[known], board[known])
        known[known] = self._marked(case[known], board[known]) == np.ravel(numbers)[known]
        return known.reshape(np.shape(numbers))

    @cached_property
    def single(self) -> tuple[int, NodeOfThrow, Nodes]:
        return self.throws, NodeOfThrow(self), Nodes(self)

    @cached_property
    def case_of_throw(self) -> NDArray[np.int32]:
        """[kinds * T] the case of every throw, by kind. Fewer dice than `game.dice` are the last ones thrown."""
        by_kind, throws = np.zeros((self.cases.forfeit + 1, self.throws), np.int32), np.arange(self.throws)
        for number, case in enumerate(self.cases.all):
            if case.roll == 0:  # the first of its kind
                of_throw = rolls(self.game, case.dice).of_throw
                by_kind[case.kind] = number + of_throw[throws % len(of_throw)]
        return by_kind.ravel()

    @cached_property
    def _moves(self) -> NDArray[np.bool_]:
        """[C * A] whether an action is a move of a case."""
        moves = np.zeros((len(self.cases.all), self.actions), np.bool_)
        for number, case in enumerate(self.cases.all):
            moves[number, case.actions] = case.taken != NOTHING_HAS
        return moves.ravel()

    @cached_property
    def _kinds(self) -> IntArray:
        """[C] the kinds of throws of the cases."""
        return np.array([case.kind for case in self.cases.all])

    def _unpacked(self, nodes: Any) -> tuple[Any, Any]:
        """The cases and the boards of nodes."""
        return nodes >> self.bits + 1, nodes >> 1 & self.board_mask

    def _occur(self, case: IntArray, board: IntArray) -> NDArray[np.bool_]:
        """[B] whether there are such cases with such boards."""
        kind, none, whole = self._kinds.take(case), board == 0, board == self.full
        ended = none | whole & (self.taken == 0).any()  # with no move at all
        kinds = [kind == 0, kind == self.cases.first_throw, kind == self.cases.forfeit]
        return (board & ~self.full == 0) & np.select(kinds, [ended, whole, none], ~none & ~whole)

    def _marked(self, case: IntArray, board: IntArray) -> IntArray:
        """[B] the nodes of cases and boards, with the mark of those at which the turn is over."""
        narrow, over = board.astype(np.int32), np.ones(len(case), np.int64)
        for number, places in self.cases.together(case):
            over[places] = ~self.cases.fits(number, narrow.take(places)).any(axis=0)
        return (case << self.bits | board) << 1 | over

    def _masks(self, nodes: IntArray) -> NDArray[np.int8]:
        case, board = self._unpacked(nodes)
        masks, narrow = np.zeros((len(nodes), self.actions), np.bool_), board.astype(np.int32)
        for number, places in self.cases.together(case):
            masks[places, self.cases.all[number].actions] = self.cases.legal(number, narrow.take(places)).T
        return masks.view(np.int8)

    def _legal(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """How many legal actions nodes [B] have, and these [E]."""
        case, board = self._unpacked(nodes)
        node: list[IntArray] = [np.zeros(0, np.int64)]
        action = [np.zeros(0, np.int64)]
        for number, places in self.cases.together(case):
            place, move = self.cases.legal(number, board[places]).T.nonzero()
            node.append(places[place])
            action.append(move + self.cases.all[number].actions.start)
        where = np.concatenate(node)
        return np.bincount(where, minlength=len(nodes)), np.concatenate(action)[where.argsort(kind="stable")]

    def _observations(self, nodes: IntArray) -> NDArray[Any]:
        case, board = self._unpacked(nodes)
        return self.sight.of(board, case)

    def _final_scores(self, nodes: IntArray) -> IntArray:
        scores = np.zeros(len(nodes), np.int64)
        (over,) = (nodes & 1).nonzero()
        scores[over] = self.endings.scores(self._unpacked(nodes[over])[1])
        scores[nodes == self.forfeit] = self.endings.worst[0]
        return scores

    def _rewards(self, nodes: IntArray) -> NDArray[np.float64]:
        rewards = np.zeros(len(nodes))
        (over,) = (nodes & 1).nonzero()
        rewards[over] = self.endings.rewards(self.endings.scores(self._unpacked(nodes[over])[1]))
        rewards[nodes == self.forfeit] = self.endings.worst[1]
        return rewards


def _own_worths(game: Game, objective: Objective, *_: Any) -> tuple[Any, ...]:
    """The utilities of all final scores if they are of a function of one's own, which may answer otherwise now."""
    own = not is_named(game, objective)
    return tuple(objective.utilities(board_scores(game.boards(), game.final_score)).tolist()) if own else ()


@kept(mebibytes=256, told_by=_own_worths)
def board_stepper(game: Game, objective: Objective, observation_dtype: str, reward_scale: float) -> BoardStepper:
    """The stepper of a game and an objective; made once, and kept for the next call; see `BoardStepper`."""
    return BoardStepper(game, objective, observation_dtype, reward_scale)
