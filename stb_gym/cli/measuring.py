"""How good an agent of one's own is: `stb-gym measure`."""

import os
import sys
from dataclasses import MISSING, dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar

from stb_gym.cli.evaluating import MISTAKES, EvaluateAnswer, PolicyAnswer, mistake_table
from stb_gym.cli.questions import Parts, Question, Tell, facts, flag, objective_flag, silent
from stb_gym.games import ILLEGAL, Game, words_of
from stb_gym.measure import RegretMeter, SampledEvaluation, mistakes_in_json

TURNS = 10_000


@dataclass(frozen=True, kw_only=True)
class Measure(Question):
    """Measure an agent of your own, exactly or by turns that it plays."""

    name: ClassVar[str] = "measure"
    examples = "shut-the-box --agent MODULE:NAME", "threes --agent MODULE:NAME --turns 10000"

    agent: str = flag(
        MISSING,
        "what stb_gym.RegretMeter takes, by its name in a Python module that can be imported from here: a function of "
        "observations and masks, a torch module, a model of stable-baselines3",
        "MODULE:NAME",
    )
    turns: int | None = flag(
        None,
        f"play so many turns, in which the loss of every choice is known exactly; by default nothing is sampled, but "
        f"{TURNS:,} turns of a box of too many positions",
        "N",
        int,
    )
    seed: int = flag(0, "same seed, same turns", "S", int)
    objective: str = objective_flag()
    illegal: str = flag(
        "end", "illegal actions: end ends the turn with the worst score, raise refuses the agent", "|".join(ILLEGAL)
    )

    def answer(self, game: Game, tell: Tell = silent) -> "EvaluateAnswer | SampledAnswer":
        """Measure the agent."""
        agent = _imported(self.agent)
        meter = RegretMeter(game, self.objective, self.illegal)
        try:
            if self.turns is None and meter.is_exact:
                exact = meter(agent)
                return EvaluateAnswer(game=game, objective=meter.objective, policy=self.agent, evaluation=exact)
            turns = TURNS if self.turns is None else self.turns
            sampled = meter.sample(
                agent, turns, self.seed, progress=lambda played, all: tell(played, all, note="turns")
            )
        except TypeError as error:
            raise ValueError(f"--agent {self.agent}: {error}") from error
        return SampledAnswer(
            game=game, objective=meter.objective, policy=self.agent, seed=self.seed, evaluation=sampled
        )


def imported(module: str, flag: str) -> ModuleType:
    """A module that somebody names in a flag; it may lie in the working directory.

    Raises:
        ValueError: if it cannot be imported, saying why.
    """
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return import_module(module)
    except (Exception, SystemExit) as error:  # whatever a file of somebody else does
        raise ValueError(f"{flag}: {type(error).__name__}: {error}") from error


def _imported(named: str) -> Any:
    """What a module has by a name, both in the words MODULE:NAME.

    Raises:
        ValueError: if there is no such thing.
    """
    module, _, name = named.partition(":")
    if not name:
        raise ValueError(f"--agent must be MODULE:NAME, such as mine:agent, not {named}")
    found = imported(module, f"--agent {named}")
    if not hasattr(found, name):
        raise ValueError(f"--agent {named}: the module {module} has no {name}")
    return getattr(found, name)


@dataclass(frozen=True, kw_only=True)
class SampledAnswer(PolicyAnswer):
    """An agent and its `stb_gym.SampledEvaluation`."""

    seed: int
    evaluation: SampledEvaluation

    def entries(self) -> dict[str, Any]:
        """The numbers of the evaluation, and the dearest mistakes that were met."""
        found = {**self.evaluation.summary(), "interval": list(self.evaluation.interval)}
        mistakes = mistakes_in_json(self.evaluation, MISTAKES)
        return {"policy": self.policy, "seed": self.seed, **found, "mistakes": mistakes}

    def parts(self) -> Parts:
        """The numbers and the dearest mistakes."""
        found = self.evaluation
        low, high = map(self.in_unit, found.interval)
        yield facts(
            ("turns", f"{found.turns:,} sampled, with the exact loss of every choice"),
            ("value", self.in_unit(found.value)),
            ("optimum", self.in_unit(found.optimum.value)),
            ("regret", f"{self.in_unit(found.regret)}, standard error {self.in_unit(found.standard_error)}"),
            ("95 % interval", f"{low} to {high}"),
            ("choices optimal", f"{found.agreement_by_visits:.4%}"),
            (words_of(found.optimum.game).perfection, f"{found.shut_probability:.6%}"),
            ("ended illegally", f"{found.illegal_mass:.6%}") if found.illegal_mass else None,
        )
        if found.mistakes(1):
            yield mistake_table(found, MISTAKES)
