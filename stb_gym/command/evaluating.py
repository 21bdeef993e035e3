"""How good a strategy or a saved policy is: `stb-gym evaluate` and `stb-gym simulate`."""

import math
from dataclasses import MISSING, dataclass
from typing import Any, ClassVar

from stb_gym.command.contests import POLICY, policy_of
from stb_gym.command.questions import (
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
from stb_gym.command.solving import measured, perfect_play
from stb_gym.exact import Measured, objective_of
from stb_gym.games import ILLEGAL, Game, words_of
from stb_gym.measure import is_policy, mistakes_in_json, mistakes_in_words, read_policy, simulate
from stb_gym.output import Column, Table

MISTAKES = 10


@dataclass(frozen=True, kw_only=True)
class Evaluate(Question):
    """Evaluate a strategy or a saved policy exactly."""

    name: ClassVar[str] = "evaluate"
    examples = "shut-the-box --policy biggest-first", "threes --policy ppo-threes --objective shut"

    policy: str = flag(MISSING, POLICY, "NAME|FILE", names)
    objective: str = objective_flag()
    illegal: str | None = flag(
        None,
        "illegal actions: raise refuses the policy, end ends the turn with the worst score (default: as its file says)",
        "|".join(ILLEGAL),
    )

    def answer(self, game: Game, tell: Tell = silent) -> "EvaluateAnswer":
        """Evaluate a policy.

        Example:
            >>> import stb_gym
            >>> round(Evaluate(policy="random").answer(stb_gym.Threes()).evaluation.regret, 5)
            5.42565
        """
        illegal = self.illegal or (read_policy(self.policy).illegal if is_policy(self.policy) else "raise")
        policy = policy_of(game, self.policy, illegal)
        evaluation = measured(perfect_play(game, self.objective, None, tell), policy, illegal, tell)
        goal = evaluation.optimum.objective
        return EvaluateAnswer(game=game, objective=goal, policy=self.policy, evaluation=evaluation)


@dataclass(frozen=True, kw_only=True)
class PolicyAnswer(TurnAnswer):
    """An answer about a policy: the name of its strategy, or its file."""

    policy: str

    def heading(self) -> list[str]:
        """The game, the objective and the policy."""
        return [*super().heading(), f"policy {self.policy}"]


@dataclass(frozen=True, kw_only=True)
class EvaluateAnswer(PolicyAnswer):
    """A policy and what is known of it."""

    evaluation: Measured

    def entries(self) -> dict[str, Any]:
        """The numbers of the evaluation, the chances of the scores, and the dearest mistakes."""
        scores = {str(score): chance for score, chance in self.evaluation.score_distribution.items()}
        found = {**self.evaluation.summary(), "score_distribution": scores}
        return {"policy": self.policy, **found, "mistakes": mistakes_in_json(self.evaluation, MISTAKES)}

    def parts(self) -> Parts:
        """The numbers, the dearest mistakes, and the chances of the scores."""
        found = self.evaluation
        yield facts(
            ("value", self.in_unit(found.value)),
            ("optimum", self.in_unit(found.optimum.value)),
            ("regret", self.in_unit(found.regret)),
            ("normalised score", f"{found.normalised_score:z.4%}"),
            _agreement(found),
            (words_of(found.optimum.game).perfection, f"{found.shut_probability:.6%}"),
            ("mean throws", f"{found.mean_throws:.4f}"),
            ("ended illegally", f"{found.illegal_mass:.6%}") if found.illegal_mass else None,
        )
        if found.mistakes(1):
            yield mistake_table(found, MISTAKES)
        scores = found.score_distribution
        yield table({"score": Column("d", list(scores)), "chance": Column(".4%", list(scores.values()))})


def _agreement(found: Measured) -> tuple[str, str] | None:
    """How often the policy agrees with perfect play, as far as it is known."""
    shares = {"nodes": found.agreement, "choices": found.agreement_by_visits}
    known = [f"{share:.4%} of the {what}" for what, share in shares.items() if share is not None]
    return ("agreement", ", ".join(known)) if known else None


def mistake_table(evaluation: Measured, limit: int) -> Table:
    """The dearest mistakes of a policy: visits per turn, the value lost at each, and what that costs a turn."""
    found = mistakes_in_words(evaluation, limit)
    return table(
        {
            "dearest mistakes": Column("", [m["node"] for m in found]),
            **{name: Column("", [m[name] for m in found]) for name in ("plays", "best")},
            **{name: Column(".5f", [m[name] for m in found]) for name in ("visits", "loss", "cost")},
        }
    )


@dataclass(frozen=True, kw_only=True)
class Simulate(Question):
    """Play sampled turns and compare their mean with the exact value."""

    name: ClassVar[str] = "simulate"
    examples = "threes --policy threes-only --turns 100000 --seed 1", "shut-the-box --policy ppo-nine-tiles"

    policy: str = flag(MISSING, POLICY, "NAME|FILE", names)
    objective: str = objective_flag()
    turns: int = flag(100_000, "how many turns", "N", int)
    seed: int | None = flag(None, "same seed, same turns", "S", int)

    def answer(self, game: Game, tell: Tell = silent) -> "SimulateAnswer":
        """Play the turns."""
        policy = policy_of(game, self.policy)
        played = simulate(
            game, policy, self.turns, self.seed, self.objective, lambda done: tell(done, self.turns, note="turns")
        )
        return SimulateAnswer(
            game=game,
            objective=objective_of(game, self.objective),
            policy=self.policy,
            turns=self.turns,
            seed=self.seed,
            mean=played.mean,
            standard_error=played.standard_error,
            exact=played.exact,
            z=played.z if math.isfinite(played.z) else None,
        )


@dataclass(frozen=True, kw_only=True)
class SimulateAnswer(PolicyAnswer):
    """The mean of sampled turns beside the exact value; `z` is their difference in standard errors, if finite."""

    turns: int
    seed: int | None
    mean: float
    standard_error: float
    exact: float
    z: float | None

    def entries(self) -> dict[str, Any]:
        """All of it, the seed and `z` even where there is none."""
        return {**super().entries(), "seed": self.seed, "z": self.z}

    def parts(self) -> Parts:
        """The mean and the exact value."""
        yield facts(
            ("mean", f"{self.in_unit(self.mean)} of {self.turns:,} turns"),
            ("standard error", self.in_unit(self.standard_error)),
            ("exact", self.in_unit(self.exact)),
            ("z", "none" if self.z is None else f"{self.z:.3f}"),
        )
