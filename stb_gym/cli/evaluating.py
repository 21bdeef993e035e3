"""How good a strategy or a saved policy is: `stb-gym evaluate` and `stb-gym simulate`."""

import math
from dataclasses import MISSING, dataclass
from typing import Any, ClassVar

from stb_gym.cli.contests import POLICY, StandingAnswer, StandingQuestion, policy_of
from stb_gym.cli.questions import Parts, Question, Tell, facts, flag, names, objective_flag, silent, table
from stb_gym.cli.solving import measured, perfect_play
from stb_gym.games import ILLEGAL, Game, words_of
from stb_gym.measure import is_policy, load_policy, mistakes_in_json, mistakes_in_words, read_policy, simulate
from stb_gym.output import Column, Table
from stb_gym.solver import Evaluation, Measured, fits, objective_of

MISTAKES = 10


@dataclass(frozen=True, kw_only=True)
class Evaluate(StandingQuestion):
    """Evaluate a strategy or a saved policy exactly, in a turn alone or at a standing of a round."""

    name: ClassVar[str] = "evaluate"
    examples = "shut-the-box --policy biggest-first --departures", "threes --policy ppo-threes --objective shut"

    policy: str = flag(MISSING, POLICY, "NAME|FILE", names)
    objective: str = objective_flag()
    illegal: str | None = flag(
        None,
        "illegal actions: raise refuses the policy, end ends the turn with the worst score (default: as its file says)",
        "|".join(ILLEGAL),
    )
    departures: bool = flag(False, "list every position where the policy plays a move that is not optimal")

    def answer(self, game: Game, tell: Tell = silent) -> "EvaluateAnswer":
        """Evaluate a policy.

        Raises:
            ValueError: if the policy, the objective or the standing is not allowed, or if departures are to be listed
                and the game does not fit into arrays.

        Example:
            >>> import stb_gym
            >>> round(Evaluate(policy="random").answer(stb_gym.Threes()).evaluation.regret, 5)
            5.42565
        """
        if self.departures and not fits(game):
            raise ValueError(f"departures can be listed only for games that fit into arrays, not for {game}")
        illegal = self.illegal or (read_policy(self.policy).illegal if is_policy(self.policy) else "raise")
        turn = self.turn(game, self.objective)
        if turn is None:
            evaluation = measured(
                perfect_play(game, self.objective, None, tell), policy_of(game, self.policy, illegal), illegal, tell
            )
        elif is_policy(self.policy):
            evaluation = turn.best.evaluate(load_policy(self.policy, game, illegal), illegal)
        else:
            evaluation = turn.best.evaluate(turn.rules.policy(self.policy, turn.standing))
        return EvaluateAnswer(
            game=game,
            objective=evaluation.optimum.objective,
            policy=self.policy,
            seen=turn and turn.seen,
            evaluation=evaluation,
            departures=evaluation.departures() if self.departures and isinstance(evaluation, Evaluation) else None,
        )


@dataclass(frozen=True, kw_only=True)
class PolicyAnswer(StandingAnswer):
    """An answer about a policy: the name of its strategy, or its file."""

    policy: str

    def heading(self) -> list[str]:
        """The game, the objective, the standing if there is one, and the policy."""
        return [*super().heading(), f"policy {self.policy}"]


@dataclass(frozen=True, kw_only=True)
class EvaluateAnswer(PolicyAnswer):
    """A policy and what is known of it; with `departures` as columns, see `stb_gym.Evaluation.departures`."""

    evaluation: Measured
    departures: dict[str, list[Any]] | None = None

    def entries(self) -> dict[str, Any]:
        """The numbers of the evaluation, the chances of the scores, the dearest mistakes, and the departures."""
        scores = {str(score): chance for score, chance in self.evaluation.score_distribution.items()}
        found: dict[str, Any] = {} if self.seen is None else {"seen": self.seen}
        found |= {"policy": self.policy, **self.evaluation.summary(), "score_distribution": scores}
        found |= {"mistakes": mistakes_in_json(self.evaluation, MISTAKES)}
        if self.departures is not None:
            rows = zip(*self.departures.values(), strict=True)
            found["departures"] = [dict(zip(self.departures, row, strict=True)) for row in rows]
        return found

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
        if self.departures is not None:
            yield f"{len(self.departures['state'])} departures from optimal play, greatest loss first"
        if self.departures and self.departures["state"]:
            formats = {"state": "", "roll": "", "plays": "", "best": "", "loss": ".5f", "visits": ".3g", "cost": ".3g"}
            yield table({name: Column(form, self.departures[name]) for name, form in formats.items()})
        elif found.mistakes(1):
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
