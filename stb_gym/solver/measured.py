"""The results of measuring a policy against perfect play: by tables, by boards, or by sampled turns."""

import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from numpy.typing import NDArray

from stb_gym.arrays import BoolArray, IntArray
from stb_gym.checks import check_integer
from stb_gym.games import Game, perfect_score
from stb_gym.solver.objectives import Objective


class PerfectPlay(Protocol):
    """Perfect play: a `Solution`, or a `LargeSolution` of a box too large for tables."""

    @property
    def game(self) -> Game:
        """The rules."""

    @property
    def objective(self) -> Objective:
        """What is maximised."""

    @property
    def value(self) -> Any:
        """The value of a turn in the objective's unit."""

    @property
    def num_afterstates(self) -> int:
        """The number of afterstates."""

    def utilities_at(self, progress: IntArray, dice: IntArray | int) -> NDArray[Any]:
        """Return the expected utilities [B] of afterstates."""

    def is_as_good(self, after: NDArray[Any], best: NDArray[Any]) -> BoolArray:
        """Return [P] True where moves of utility `after` [P] are as good as the best ones."""

    @property
    def random_value(self) -> float:
        """The value of a turn of uniformly random legal play, in the objective's unit."""

    def evaluate(self, policy: Any, illegal: str = "raise") -> "Measured":
        """Measure a policy against perfect play exactly."""


@dataclass(frozen=True)
class Mistake:
    """A state where a policy loses something.

    Attributes:
        state: index of the state.
        position: the state in words.
        plays: the most probable action of those that are not optimal; None for an illegal one.
        best: the optimal action of lowest index.
        visits: expected visits per turn.
        loss: the loss of the policy's choice there, in the objective's unit.
    """

    state: int
    position: str
    plays: int | None
    best: int
    visits: float
    loss: float

    @property
    def cost(self) -> float:
        """The contribution of the state to the regret."""
        return self.visits * self.loss


class Measured(ABC):
    """The results of measuring a policy against perfect play; values are in the objective's unit.

    Attributes:
        optimum: the solution that the policy is measured against.
        value: expected value of a turn.
        masked: whether the agent received masks or was masked; None if it is not known.
    """

    # What `summary` has after the value and the optimum.
    SUMMARY: ClassVar[tuple[str, ...]] = (
        "regret", "normalised_score", "agreement", "agreement_by_visits", "shut_probability", "mean_throws",
        "illegal_mass", "masked",
    )  # fmt: skip
    optimum: PerfectPlay
    value: float
    masked: bool | None

    def __repr__(self) -> str:
        goal = self.optimum.objective
        return f"<{self.optimum.game}: {goal.name} {self.value:.6g}, regret {self.regret:.4g} {goal.unit}>"

    @property
    @abstractmethod
    def regret(self) -> float:
        """What the policy loses against perfect play, 0 or more."""

    @property
    def random_value(self) -> float:
        """Expected value of a turn of uniformly random legal play."""
        return self.optimum.random_value

    @property
    @abstractmethod
    def agreement_by_visits(self) -> float | None:
        """The share of the moves of a turn, forced ones included, that are optimal; None if it is not known."""

    @property
    @abstractmethod
    def score_distribution(self) -> dict[int, float]:
        """The probability of every final score that can occur, best first."""

    @property
    @abstractmethod
    def mean_throws(self) -> float:
        """Expected number of throws in a turn."""

    @abstractmethod
    def _costliest(self, limit: int | None) -> list[Mistake]:
        """Return at most `limit` mistakes, costliest first; None returns all."""

    def mistakes(self, limit: int | None = None) -> list[Mistake]:
        """Return the mistakes that add to the regret, costliest first.

        Args:
            limit: the greatest number of mistakes; by default all that are known.

        Raises:
            ValueError: if the limit is not an integer of 0 or more.
        """
        if limit is not None:
            check_integer("limit", limit, 0, sys.maxsize)
        return self._costliest(limit)

    @property
    def costliest_mistake(self) -> str:
        """The mistake that adds most to the regret, in words; "" if a turn can meet none.

        Example:
            >>> import stb_gym
            >>> game = stb_gym.ShutTheBox()
            >>> stb_gym.evaluate(game, stb_gym.strategy(game, "biggest-first")).costliest_mistake
            'open 1,2,3,4,5,7,9, roll 6: shut 1,5 instead of shut 2,4 loses 2.07, once in 187 turns'
        """
        if not (mistakes := self.mistakes(1)):
            return ""
        [mistake] = mistakes
        describe = self.optimum.game.describe_move
        plays = "an illegal action" if mistake.plays is None else describe(mistake.plays)
        best = describe(mistake.best)
        lost = f"loses {mistake.loss:.3g}, once in {1 / mistake.visits:,.0f} turns"
        return f"{mistake.position}: {plays} instead of {best} {lost}"

    @property
    def agreement(self) -> float | None:
        """The share of states with a legal action where the policy's action is optimal; None if it is not known."""
        return None

    @property
    def illegal_mass(self) -> float:
        """The probability that a turn ends with an illegal action."""
        return 0.0

    @property
    def normalised_score(self) -> float:
        """(random - value) / (random - optimum): 0 for random play, 1 for perfect play."""
        gap = abs(self.random_value - self.optimum.value)
        return 1 - self.regret / gap if gap > 0 else 1.0

    @property
    def shut_probability(self) -> float:
        """The probability of the game's perfect score (0 in Shut the Box and Threes) or a better one."""
        sign, perfect = self.optimum.game.sign, perfect_score(self.optimum.game)
        return sum((p for score, p in self.score_distribution.items() if sign * score >= sign * perfect), 0.0)

    def summary(self) -> dict[str, float]:
        """Return the numbers above by name, ready for JSON, without those that are not known."""
        numbers = {name: getattr(self, name) for name in self.SUMMARY}
        known = {"value": self.value, "optimum": float(self.optimum.value)} | numbers
        return {name: number for name, number in known.items() if number is not None}
