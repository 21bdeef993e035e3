"""Saved policies on the leaderboard: `stb-gym judge`."""

from dataclasses import dataclass
from typing import Any, ClassVar

from stb_gym.cli.questions import Answer, Parts, Question, Tell, flag, silent, table
from stb_gym.games import all_rules, title
from stb_gym.measure import kept_policies, leaderboard, mistakes_in_json, read_policy
from stb_gym.output import Column, write_text
from stb_gym.solver import Evaluation


@dataclass(frozen=True, kw_only=True)
class Judge(Question):
    """Judge saved policies exactly, each by the rules and the objective that its file names."""

    name: ClassVar[str] = "judge"
    examples = "", "ppo-threes dqn-threes --json"
    of_a_game: ClassVar[bool] = False

    files: tuple[str, ...] = flag(
        (), "files of saved policies, or names of kept ones; by default all kept ones", "FILE", bare=True
    )
    objective: str | None = flag(None, "judge by this instead of what the files say", "score|shut|at-most:T")
    out: str | None = flag(None, "also write the leaderboard of the kept policies as a page of Markdown", "PAGE.md")

    def answer(self, game: None = None, tell: Tell = silent) -> "JudgeAnswer":
        """Judge them all; if one file is damaged, none.

        Example:
            >>> [found] = Judge(files=("ppo-threes",)).answer().judgements
            >>> found[1].agreement_by_visits > 0.99999
            True
        """
        if self.out is not None and (self.files or self.objective is not None):
            raise ValueError("the leaderboard is of the kept policies, each by its own objective: say --out alone")
        files, judgements = self.files or kept_policies(), []
        for done, file in enumerate(files):
            tell(done, len(files), note=file)
            judgements.append((file, read_policy(file).evaluate(self.objective)))
        if self.out is not None:
            write_text(self.out, leaderboard())
        return JudgeAnswer(judgements=judgements)


@dataclass(frozen=True, kw_only=True)
class JudgeAnswer(Answer):
    """Policies and their exact measure."""

    judgements: list[tuple[str, Evaluation]]

    def entries(self) -> dict[str, Any]:
        """An entry for every policy: its rules and objective, the numbers, and the dearest mistake."""
        return {"policies": [_in_json(name, evaluation) for name, evaluation in self.judgements]}

    def parts(self) -> Parts:
        """A row for every policy."""
        found = [evaluation for _, evaluation in self.judgements]
        yield table(
            {
                "policy": Column("", [name for name, _ in self.judgements]),
                "rules": Column("", [title(each.tables.game) for each in found]),
                "objective": Column("", [each.optimum.objective.name for each in found]),
                "value": Column(".6f", [each.value for each in found]),
                "regret": Column(".3g", [each.regret for each in found]),
                "normalised score": Column("z.4%", [each.normalised_score for each in found]),
                "choices optimal": Column(".4%", [each.agreement_by_visits for each in found]),
                "ended illegally": Column(".4%", [each.illegal_mass for each in found]),
                "dearest mistake": Column("", [each.dearest_mistake for each in found]),
            }
        )


def _in_json(name: str, evaluation: Evaluation) -> dict[str, Any]:
    game, objective = evaluation.tables.game, evaluation.optimum.objective
    return {
        "policy": name,
        "game": game.name,
        "rules": all_rules(game),
        "title": title(game),
        "objective": objective.name,
        "unit": objective.unit,
        **evaluation.summary(),
        "dearest_mistake": next(iter(mistakes_in_json(evaluation, 1)), None),
    }
