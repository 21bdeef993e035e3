"""What a single game reads of boards: one entry at a time, with integers where arrays of one would take longer."""

from operator import index
from typing import Any

import numpy as np

from stb_gym.envs.stepping.stepper import Known

MOST_KEPT = 4096  # nodes that are remembered: a game meets its last one twice, and its first ones often


class NodeOfThrow:
    """By a state times T plus a throw, the node that the throw leads to."""

    def __init__(self, stepper: Any):
        self._throws, self._bits, self._board_mask = stepper.throws, stepper.bits, stepper.board_mask
        self._case_of_throw = stepper.case_of_throw.data
        self._taken = [case.taken for case in stepper.cases.all]

    def __getitem__(self, place: int) -> int:
        state, throw = divmod(place, self._throws)
        board = state & self._board_mask
        case = self._case_of_throw[(state >> self._bits) * self._throws + throw]
        taken = self._taken[case]
        over = not (board & taken == taken).any()
        return (case << self._bits | board) << 1 | over


class Nodes(dict[int, Known]):
    """What is known of the nodes that were met last."""

    def __init__(self, stepper: Any):
        super().__init__()
        self._stepper = stepper

    def __missing__(self, node: int) -> Known:
        stepper, end, places = self._stepper, None, None
        case, board = node >> stepper.bits + 1, node >> 1 & stepper.board_mask
        mask = np.zeros(stepper.actions, np.int8)
        if node & 1:
            forfeit, score = node == stepper.forfeit, stepper.endings.scores(np.array(board))
            score, reward = stepper.endings.worst if forfeit else (score, stepper.endings.rewards(score))
            end = float(reward), int(score), forfeit
        else:
            mask[stepper.cases.all[case].actions] = stepper.cases.legal(case, np.array([board]))[:, 0]
            places = Places(stepper, board, mask.data)
        if len(self) >= MOST_KEPT:
            self.clear()
        self[node] = stepper.sight.of(board, case).copy, mask.copy, end, places
        return self[node]


class Places:
    """By action, the state that it leads to times T, None where it is illegal."""

    def __init__(self, stepper: Any, board: int, mask: memoryview):
        self._stepper, self._board, self._mask = stepper, board, mask

    def __getitem__(self, action: Any) -> int | None:
        stepper, action = self._stepper, index(action)
        if not self._mask[action]:
            return None
        taken = int(stepper.taken[action])
        board = self._board & ~taken
        if stepper.next_dice is not None:
            dice = int(stepper.next_dice(np.array([board]), np.array([action]))[0])
        else:
            dice = stepper.game.dice if board and taken else 0
        return (dice << stepper.bits | board) * stepper.throws
