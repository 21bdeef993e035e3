"""Perfect play in vector environments for as long as one likes, which must come to what is known exactly."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from stb_gym import Game, solve
from stb_gym.envs import TurnVectorEnv

GAMES, STEPS = 256, 100  # of a spell in a vector environment
DEVIATIONS = 5.0  # a mean may be off its exact value by so many standard errors


@dataclass
class Mean:
    """The mean of a number in many turns, which is known exactly.

    Attributes:
        exact: what it is known to be.
        turns, total, squares: how many turns there were, and the sums of the number and of its square.
    """

    exact: float
    turns: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, numbers: NDArray[Any]) -> None:
        """Count turns in."""
        self.turns += len(numbers)
        self.total += float(numbers.sum())
        self.squares += float((numbers.astype(float) ** 2).sum())

    @property
    def mean(self) -> float:
        """What it was; not a number of no turns."""
        return self.total / self.turns if self.turns else math.nan

    @property
    def deviations(self) -> float:
        """How many standard errors it was above the exact one."""
        turns = max(self.turns, 1)
        return (self.mean - self.exact) / math.sqrt((self.squares / turns - self.mean**2) / turns)


class Play:
    """Perfect play in a vector environment, which goes on for as long as a soak does.

    Args:
        game: the rules.
        mode: what follows the end of a turn.
        seed: of the dice.
    """

    def __init__(self, game: Game, mode: AutoresetMode, seed: int):
        self.name = f"{game.name}, {mode.value}"
        self._env, self._twin = (TurnVectorEnv(game, GAMES, autoreset_mode=mode) for _ in range(2))
        solution = solve(game)
        self._actions = solution.policy.clip(0)
        measured = solution.evaluate(solution.policy)
        self.points = Mean(solution.value)
        self.moves = Mean(float(measured.visits[solution.tables.decisions].sum()))
        self._wrong: dict[str, bool] = {}
        self._env.reset(seed=seed)
        self._moves, self._over = np.zeros(GAMES, np.int64), np.zeros(GAMES, np.bool_)

    def spell(self) -> None:
        """Play on, beside a twin that was restored from a snapshot."""
        self._twin.restore(self._env.snapshot())
        for _ in range(STEPS):
            actions = self._actions[self._env.nodes]
            told, again = self._env.step(actions), self._twin.step(actions)
            self._check(data_equivalence(told, again), "what was restored from a snapshot goes on otherwise")
            self._count(told[2], told[4])

    def _count(self, over: NDArray[np.bool_], infos: dict[str, Any]) -> None:
        mode = self._env.autoreset_mode
        self._moves += ~self._over if mode == AutoresetMode.NEXT_STEP else 1
        ends = infos.get("final_info", infos)
        told = ends.get("_final_score", np.zeros(GAMES, np.bool_))
        self._check((told == over).all(), "scores are told of other turns than those that ended")
        if told.any():
            self.points.add(ends["final_score"][told])
        self.moves.add(self._moves[over])
        self._moves[over], self._over = 0, over
        if mode == AutoresetMode.DISABLED and over.any():
            for env in (self._env, self._twin):
                env.reset(options={"reset_mask": over})

    def _check(self, fine: Any, otherwise: str) -> None:
        if not fine:
            self._wrong[f"{self.name}: {otherwise}"] = True

    def failures(self) -> list[str]:
        """What went wrong, and which means are not what they are known to be."""
        means = {"points": self.points, "moves": self.moves}
        off = [
            f"{self.name}: {what} are {mean.deviations:.1f} standard errors off {mean.exact}"
            for what, mean in means.items()
            if mean.turns and not abs(mean.deviations) <= DEVIATIONS
        ]
        return [*self._wrong, *off]
