"""Rules of thumb: two beside each other, score by score, and one with exceptions: `stb-gym compare`, `stb-gym card`."""

from dataclasses import MISSING, dataclass
from typing import Any, ClassVar

from stb_gym.cli.contests import POLICY, policy_of
from stb_gym.cli.questions import (
    GameAnswer,
    Parts,
    Question,
    Tell,
    TurnAnswer,
    facts,
    flag,
    names,
    objective_flag,
    silent,
    table,
)
from stb_gym.games import Game, check_integer, words_of
from stb_gym.measure import Comparison, compare, pocket_card
from stb_gym.output import Column
from stb_gym.solver import Mistake, TurnTables, evaluate, solve, strategies

PAIR = "the two: strategies or kept policies by name, or files of saved policies (.npz)"


@dataclass(frozen=True, kw_only=True)
class Compare(Question):
    """How different the final scores of two ways to play are, and how many games it takes to see it."""

    name: ClassVar[str] = "compare"
    examples = "shut-the-box --policy optimal,biggest-first", "threes --policy ppo-threes,take-all"

    policy: tuple[str, ...] = flag(MISSING, PAIR, "A,B", names, repeated=True)

    def answer(self, game: Game, tell: Tell = silent) -> "CompareAnswer":
        """Compare the exact distributions.

        Example:
            >>> import stb_gym
            >>> asked = Compare(policy=("optimal-score", "biggest-first"))
            >>> asked.answer(stb_gym.ShutTheBox()).comparison.at
            10
        """
        if len(self.policy) != 2:
            raise ValueError(f"two policies are compared, not {len(self.policy)}")
        one, other = (evaluate(game, policy_of(game, name)).score_distribution for name in self.policy)
        scores = sorted({*one, *other}, reverse=game.more_is_better)
        chances = {score: [each.get(score, 0.0) for each in (one, other)] for score in scores}
        return CompareAnswer(game=game, policies=self.policy, comparison=compare(one, other), scores=chances)


@dataclass(frozen=True, kw_only=True)
class CompareAnswer(GameAnswer):
    """Two distributions of final scores; see `stb_gym.Comparison`. In `scores` are the two chances of each score."""

    policies: tuple[str, ...]
    comparison: Comparison
    scores: dict[int, list[float]]

    def parts(self) -> Parts:
        """The differences, then a row for every score."""
        found, (one, other) = self.comparison, self.policies
        yield facts(
            ("expected points", " and ".join(f"{mean:.6f}" for mean in found.means)),
            ("largest distance", f"{found.distance:.4%}, of the chance of at most {found.at}"),
            ("chances there", " and ".join(f"{share:.4%}" for share in found.shares)),
        )
        both = [Column(".4%", [chances[at] for chances in self.scores.values()]) for at in range(2)]
        yield table({"score": Column("d", [*self.scores]), f"1: {one}": both[0], f"2: {other}": both[1]})


@dataclass(frozen=True, kw_only=True)
class FindCard(Question):
    """A pocket card: a rule of thumb, the exceptions to it that are dearest to forget, and the regret that is left."""

    name: ClassVar[str] = "card"
    examples = "shut-the-box --policy fewest-then-biggest --exceptions 20", "threes --policy threes-only"

    policy: str = flag(MISSING, POLICY, "NAME|FILE", names)
    exceptions: int = flag(10, "how many exceptions to learn", "K", int)
    objective: str = objective_flag()

    def answer(self, game: Game, tell: Tell = silent) -> "CardAnswer":
        """Find the exceptions one after the other, each the dearest mistake that is left.

        Example:
            >>> import stb_gym
            >>> card = FindCard(policy="fewest-then-biggest", exceptions=5).answer(stb_gym.ShutTheBox())
            >>> round(card.regrets[-1], 4)
            0.1235
        """
        check_integer("exceptions", self.exceptions, 0, 1000)
        optimum = solve(game, self.objective)
        policy: Any = policy_of(game, self.policy)
        if policy.ndim > 1:
            raise ValueError(f"a card is of a policy that is certain of its moves, not of {self.policy}")
        found = pocket_card(optimum, policy, self.exceptions)
        rows = [_exception(optimum.tables, mistake) for mistake in found.exceptions]
        return CardAnswer(
            game=game,
            objective=optimum.objective,
            policy=self.policy,
            plays=strategies(game).get(self.policy),
            exceptions=rows,
            regrets=found.regrets,
        )


def _exception(tables: TurnTables, mistake: Mistake) -> dict[str, Any]:
    """An exception in words, and what it costs to forget it alone."""
    words = words_of(tables.game)
    assert mistake.plays is not None  # a policy with illegal moves was refused
    does, instead_of = (words.move_in_words(words.move(action)) for action in (mistake.best, mistake.plays))
    return {"at": tables.describe_node(mistake.node), "do": does, "instead_of": instead_of, "costs": mistake.cost}


@dataclass(frozen=True, kw_only=True)
class CardAnswer(TurnAnswer):
    """A rule of thumb, its exceptions, and the regret with none, one, two ... of them."""

    policy: str
    plays: str | None
    exceptions: list[dict[str, Any]]
    regrets: list[float]

    def parts(self) -> Parts:
        """The rule, then a row for every exception."""
        named = f"{self.policy}: {self.plays}" if self.plays else f"{self.policy}."
        yield f"{named} Regret {self.in_unit(self.regrets[0])}."
        if self.exceptions:
            columns = {name: Column("", [row[name] for row in self.exceptions]) for name in ("at", "do", "instead_of")}
            columns = {name.replace("_", " "): each for name, each in columns.items()}
            yield table({**columns, "regret left": Column(self.in_unit, self.regrets[1:])})
