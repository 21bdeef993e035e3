"""Boxes of many sizes and numbers of dice as one environment, so that one network of afterstates may learn them all.

What a board will cost in points depends on its open tiles and on the dice alone: a box of nine tiles is one of twelve
of which three are shut. So every box is seen as one of `TILES` tiles: each tile, 1 = open, then a 1 in the place of the
roll among all rolls of one die, of two dice and so on; the last number of an afterstate is, as ever, the dice that are
thrown next. That is all there is of rules: how many tiles, which of them are open at the start, how many dice.

Rewards are shares of the points of a whole box, which has all the tiles that its dice can shut, so that errors on small
boxes count as those on large ones do.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from agents.afterstate_network import AfterstateNetwork
from agents.snapshots import named, part
from stb_gym import ShutTheBox
from stb_gym.envs import TurnVectorEnv
from stb_gym.games import IntArray, rolls
from stb_gym.solver import StateScorePolicy

TILES, DICE = 24, 4  # the most there are
FEWEST_OPEN, MOST_OPEN = 4, 12  # tiles of boards with gaps
DRAWN = 2000  # boards with gaps for each number of dice, of which some are equal


def whole_box(dice: int) -> ShutTheBox:
    """The box of all tiles that a roll of so many dice can shut."""
    return ShutTheBox(tiles=dice * ShutTheBox.faces, dice=dice)


def boards_with_gaps(dice: Iterable[int], seed: int) -> dict[int, IntArray]:
    """Boards to begin with, by the number of dice: of boxes of any size some tiles are open, but never all.

    Args:
        dice: the numbers of dice.
        seed: of what is drawn.

    Returns:
        Boards as bit masks, in ascending order.
    """
    random, boards = np.random.default_rng([seed, 2]), {}
    for number in dice:
        tiles = whole_box(number).tiles
        size = random.integers(FEWEST_OPEN + 1, tiles + 1, size=(DRAWN, 1))
        count = random.integers(FEWEST_OPEN, np.minimum(MOST_OPEN, size - 1) + 1)
        order = np.where(np.arange(tiles) < size, random.random((DRAWN, tiles)), 1).argsort().argsort()
        whole = (1 << np.arange(tiles + 1)) - 1
        boards[number] = np.setdiff1d((order < count) @ (1 << np.arange(tiles)), whole)
    return boards


class AnyStart(TurnVectorEnv):
    """Turns of one number of dice, each of which begins with one of some boards and a roll that leaves a move there.

    Args:
        dice: how many dice.
        boards: the boards as bit masks, all of them as likely.
        num_envs: turns at once.

    Attributes:
        rolls: [R] the numbers of what is seen of all boxes that tell of rolls of so many dice.
        seen: [O] all numbers that tell of these boxes.
    """

    def __init__(self, dice: int, boards: IntArray, num_envs: int):
        game = whole_box(dice)
        points = game.final_score(game.start()[0])
        super().__init__(game, num_envs, autoreset_mode="SameStep", reward_scale=1 / points)
        self._boards = np.array([self.stepper.find_state(board, dice) for board in boards.tolist()])
        self.rolls = TILES + _rolls_of(range(1, dice)) + np.arange(_rolls_of([dice]))
        self.seen = np.append(np.arange(game.tiles), self.rolls)

    def _begin(self, games: IntArray, state: int, throws: IntArray) -> None:
        self._over[games] = False
        self._steps[games] = 0
        while len(games):
            self._throw[games] = self.np_random.integers(self.stepper.throws, size=len(games))
            self._node[games] = self.stepper.nodes(self.np_random.choice(self._boards, len(games)), self._throw[games])
            games = games[self.stepper.ending(self._node[games]) > 0]


class ManyBoxes(gym.vector.VectorEnv[NDArray[Any], IntArray, NDArray[Any]]):
    """Turns in many boxes at once, in SAME_STEP mode, all of them seen alike.

    Args:
        boards: the boards that turns begin with, as bit masks, by the number of dice; each of these has as many turns.
        num_envs: turns at once.

    Example:
        >>> envs = ManyBoxes({1: np.array([0b11111]), 2: np.array([0b111111111])}, num_envs=2)
        >>> envs.reset(seed=0)[0][:, :12].tolist()
        [[1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0]]
    """

    def __init__(self, boards: Mapping[int, IntArray], num_envs: int):
        shares = np.array_split(np.arange(num_envs), len(boards))
        pairs = zip(boards.items(), shares, strict=True)
        self.parts = {dice: AnyStart(dice, starts, len(share)) for (dice, starts), share in pairs}
        self._cuts = [int(share[0]) for share in shares[1:]]
        self._of_dice = list(self.parts.values())
        self.num_envs, self.metadata = num_envs, self._of_dice[0].metadata
        self.actions = max(each.stepper.actions for each in self._of_dice)
        high = np.ones(TILES + _rolls_of(range(1, DICE + 1)), np.uint8)
        self.single_observation_space = gym.spaces.Box(0, high, dtype=np.uint8)
        self.afterstate_space = gym.spaces.Box(0, np.append(high, np.uint8(DICE)), dtype=np.uint8)
        self.single_action_space = gym.spaces.Discrete(self.actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin all turns; each number of dice has random numbers of its own."""
        count = len(self.parts)
        seeds = [None] * count if seed is None else np.random.SeedSequence(seed).generate_state(count).tolist()
        seen, infos = zip(*[each.reset(seed=own) for each, own in zip(self._of_dice, seeds, strict=True)], strict=True)
        return self._seen(seen), self._infos(infos)

    def step(
        self, actions: IntArray
    ) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Make a move in every turn; those that end begin anew, and `final_obs` has their ends."""
        of_dice = zip(self._of_dice, np.split(actions, self._cuts), strict=True)
        seen, *ends, infos = zip(*[each.step(own) for each, own in of_dice], strict=True)
        last = [own.get("final_obs", now) for own, now in zip(infos, seen, strict=True)]
        reward, over, truncated = map(np.concatenate, ends)
        return self._seen(seen), reward, over, truncated, {**self._infos(infos), "final_obs": self._seen(last)}

    def afterstates(self, observations: NDArray[Any]) -> tuple[IntArray, IntArray, NDArray[Any]]:
        """What every legal move leads to, as `TurnVectorEnv.afterstates` tells it."""
        found = [self._afterstates(each, observations) for each in self._of_dice]
        place, action, rows = (np.concatenate(parts) for parts in zip(*found, strict=True))
        order = place.argsort(kind="stable")
        return place[order], action[order], rows[order]

    def _afterstates(self, part: AnyStart, observations: NDArray[Any]) -> tuple[IntArray, IntArray, NDArray[Any]]:
        places = np.flatnonzero(observations[:, part.rolls].any(axis=1))
        place, action, own = part.afterstates(observations[places][:, part.seen])
        rows = np.zeros((len(own), *self.afterstate_space.shape), np.uint8)
        rows[:, np.append(part.seen, -1)] = own
        return places[place], action, rows

    def snapshot(self) -> dict[str, Any]:
        """The turns as they stand and the dice to come; see `restore`."""
        parts = [named(str(dice), each.snapshot()) for dice, each in self.parts.items()]
        return {name: entry for entries in parts for name, entry in entries.items()}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Go on from a snapshot of an environment made alike; a ValueError if it is of another."""
        for dice, each in self.parts.items():
            each.restore(part(snapshot, str(dice)))

    def _seen(self, of_parts: Iterable[NDArray[Any]]) -> NDArray[Any]:
        """[B, O] what is seen of all turns, from what their environments show."""
        seen = np.zeros(self.observation_space.shape or (), np.uint8)
        for rows, each, own in zip(np.split(seen, self._cuts), self._of_dice, of_parts, strict=True):
            rows[:, each.seen] = own
        return seen

    def _infos(self, of_parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        masks = np.zeros((self.num_envs, self.actions), np.int8)
        for rows, own in zip(np.split(masks, self._cuts), of_parts, strict=True):
            rows[:, : own["action_mask"].shape[1]] = own["action_mask"]
        return {"action_mask": masks}


def preference(network: AfterstateNetwork) -> StateScorePolicy:
    """The greedy policy, in any box, of a network that learned from `ManyBoxes`."""

    def wanted(held: IntArray, dice: IntArray) -> NDArray[np.float64]:
        rows = np.zeros((len(held), TILES + _rolls_of(range(1, DICE + 1)) + 1), np.uint8)
        rows[:, :TILES] = held[:, None] >> np.arange(TILES) & 1
        rows[:, -1] = dice
        return network.afterstate_values(rows)

    return StateScorePolicy(wanted)


def _rolls_of(dice: Iterable[int]) -> int:
    """How many rolls there are of these numbers of dice."""
    return sum(len(rolls(whole_box(number), number).counts) for number in dice)
