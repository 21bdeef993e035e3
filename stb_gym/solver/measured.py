"""What is known of a policy that was measured against perfect play, however that was done."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from stb_gym.games import title, words_of
from stb_gym.large.values import BoardValues
from stb_gym.output import html_table
from stb_gym.solver.values import Values


@dataclass(frozen=True)
class Mistake:
    """A node where a policy loses something.

    Attributes:
        node: index of the node.
        plays: the action the policy takes there most often; None for an illegal one.
        best: the optimal action of lowest index.
        visits: expected visits per turn.
        loss: what the policy's choice there loses, in the objective's unit.
    """

    node: int
    plays: int | None
    best: int
    visits: float
    loss: float

    @property
    def cost(self) -> float:
        """What the node adds to the regret."""
        return self.visits * self.loss


class Measured(ABC):
    """A policy measured against perfect play; values are in the objective's unit.

    Attributes:
        optimum: the solution it is measured against.
        value: expected value of a turn.
    """

    optimum: Values | BoardValues
    value: float

    def __repr__(self) -> str:
        goal = self.optimum.objective
        return f"<{self.optimum.game}: {goal.name} {self.value:.6g}, regret {self.regret:.4g} {goal.unit}>"

    def _repr_html_(self) -> str:
        """Return the numbers of `summary`, for notebooks."""
        summary = self.summary()
        heading = f"{title(self.optimum.game)}: {self.optimum.objective.name} in {self.optimum.objective.unit}"
        return html_table(heading, {"": [*summary], " ": [*summary.values()]})

    @property
    @abstractmethod
    def regret(self) -> float:
        """What the policy loses against perfect play, 0 or more."""

    @property
    @abstractmethod
    def random_value(self) -> float:
        """Expected value of a turn of uniformly random legal play."""

    @property
    @abstractmethod
    def agreement_by_visits(self) -> float | None:
        """The share of choices in play that are optimal; None if it is not known."""

    @property
    @abstractmethod
    def score_distribution(self) -> dict[int, float]:
        """The probability of every final score that can occur, best first."""

    @property
    @abstractmethod
    def mean_throws(self) -> float:
        """Expected number of throws in a turn."""

    @abstractmethod
    def mistakes(self, limit: int | None = None) -> Sequence[Mistake]:
        """The nodes that add to the regret, dearest first."""

    @abstractmethod
    def describe_node(self, node: int) -> str:
        """A node in words."""

    @property
    def dearest_mistake(self) -> str:
        """The mistake that adds most to the regret, in words; "" if there is none that a turn can meet.

        Example:
            >>> import stb_gym
            >>> game = stb_gym.ShutTheBox()
            >>> stb_gym.evaluate(game, stb_gym.strategy(game, "biggest-first")).dearest_mistake
            'open 1,2,3,4,5,7,9, roll 6: shut 1,5 instead of shut 2,4 loses 2.07, once in 187 turns'
        """
        words = words_of(self.optimum.game)
        for it in self.mistakes(1):
            plays = "an illegal action" if it.plays is None else words.move_in_words(words.move(it.plays))
            best = words.move_in_words(words.move(it.best))
            lost = f"loses {it.loss:.3g}, once in {1 / it.visits:,.0f} turns"
            return f"{self.describe_node(it.node)}: {plays} instead of {best} {lost}"
        return ""

    @property
    def agreement(self) -> float | None:
        """The share of nodes with a legal action at which the policy's is optimal; None if it is not known."""
        return None

    @property
    def illegal_mass(self) -> float:
        """The chance that a turn ends with an illegal action."""
        return 0.0

    @property
    def normalised_score(self) -> float:
        """(random - value) / (random - optimum): 0 for random play, 1 for perfect play."""
        gap = abs(self.random_value - self.optimum.value)
        return 1 - self.regret / gap if gap > 0 else 1.0

    @property
    def shut_probability(self) -> float:
        """The chance of the game's perfect score (0 in Shut the Box and Threes) or a better one."""
        sign, perfect = self.optimum.game.sign, self.optimum.game.perfect_score
        return sum((p for score, p in self.score_distribution.items() if sign * score >= sign * perfect), 0.0)

    def summary(self) -> dict[str, float]:
        """The numbers above by name, ready for JSON, but for those that are not known."""
        known = {
            "value": self.value,
            "optimum": float(self.optimum.value),
            "regret": self.regret,
            "normalised_score": self.normalised_score,
            "agreement": self.agreement,
            "agreement_by_visits": self.agreement_by_visits,
            "shut_probability": self.shut_probability,
            "mean_throws": self.mean_throws,
            "illegal_mass": self.illegal_mass,
        }
        return {name: number for name, number in known.items() if number is not None}
