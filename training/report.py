"""A page of HTML about runs of one game, its tables and pictures: `python -m training.report RUN... --out FOLDER`."""

import base64
import io
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import chain, takewhile
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import tyro
from matplotlib.image import imsave

from stb_gym.envs import Stepper, stepper_of
from stb_gym.games import throw_faces, words_of
from stb_gym.measure import mistakes_in_json
from stb_gym.output import Column, Table, say, write_text
from stb_gym.solver import Measured
from stb_gym.solving import strategies
from training.arguments import answer, answered, read_arguments
from training.compare import compare, comparison_table
from training.palette import INK, Style, styles_of
from training.plots import plot_regret, plot_scores, regret_of
from training.run import Point, Run
from training.sentences import learning_in_words, loss_in_words, opening, scores_in_words, task_in_words
from training.tables import html

MISTAKES = 6


@dataclass(frozen=True)
class Arguments:
    """Write a report about runs of one game: a page of HTML and its pictures."""

    runs: tyro.conf.Positional[tuple[Path, ...]]
    """Folders of the runs."""
    out: Path = Path("runs/report")
    """Folder of the report."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = read_arguments(Arguments, arguments, "training.report")

    def work() -> None:
        answer(comparison_table(report([Run.open(folder) for folder in options.runs], options.out)))
        say(f"the report is {options.out / 'report.html'}", error=True)

    return answered("training.report", work)


def report(runs: list[Run], out: Path) -> dict[str, Measured]:
    """Write report.html, regret.svg and scores.svg into a folder.

    Returns the evaluations of the report by name: those of `compare.compare`.

    Raises:
        ValueError: if there is no run, a run is damaged, or the runs are not of one game and objective.
    """
    if not runs:
        raise ValueError("name at least one run")
    game, objective = runs[0].game(), runs[0].config.task.objective
    for run in runs[1:]:
        if (run.game(), run.config.task.objective) != (game, objective):
            raise ValueError(f"{run.folder} is not of the same game and objective as {runs[0].folder}")
    names = _names(runs)
    curves = {name: run.curve() for name, run in names.items()}
    evaluations = compare({name: run.evaluation() for name, run in names.items()})
    styles = styles_of(["optimum", *names, *evaluations])
    goal = evaluations["optimum"].optimum.objective
    page = _template().render(
        game=words_of(game).introduction(),
        task=task_in_words(game, goal),
        opening=opening(evaluations, list(names)),
        unit="percentage points" if goal.unit == "probability" else goal.unit,
        counts_points=goal.name == "score",
        sampled=any(run.is_sampled() for run in runs),
        comparison=html(comparison_table(evaluations), "Agents and strategies, the best first"),
        rows=[(row, styles[name], name in names) for row, name in enumerate(evaluations, 1)],
        pictures=_draw(out, evaluations, curves, styles),
        regret_of=regret_of(chain(*curves.values())),
        ink=INK,
        agents=[
            {"name": name, "style": styles[name], "mistakes": _mistakes(evaluations[name], run)}
            for name, run in names.items()
        ],
        trainings=html(_trainings(names), "The trainings"),
        settings={name: asdict(run.config.settings) for name, run in names.items()},
    )
    write_text(out / "report.html", page)
    return evaluations


def _draw(
    out: Path, evaluations: Mapping[str, Measured], curves: Mapping[str, list[Point]], styles: Mapping[str, Style]
) -> dict[str, dict[str, str]]:
    """Write the two pictures; of each there are for the page the SVG as base64 and what it shows in words."""
    optimum = evaluations["optimum"]
    unit = optimum.optimum.objective.unit
    scripted = {name: each.regret for name, each in evaluations.items() if name not in curves and each.regret > 0}
    plot_regret(out / "regret.svg", curves, scripted, unit, styles)
    best = min(scripted, key=lambda name: scripted[name], default="random")
    shown = {name: evaluations[name] for name in (*curves, best, "random")}
    plot_scores(out / "scores.svg", optimum, "random", shown, styles)
    told = {"regret": learning_in_words(curves, unit), "scores": scores_in_words(optimum, shown)}
    return {name: {"svg": _base64((out / f"{name}.svg").read_bytes()), "alt": alt} for name, alt in told.items()}


def _names(runs: list[Run]) -> Mapping[str, Run]:
    """Runs by the shortest names that differ: by algorithm, by name of the folder, or by the path of the folder."""
    by_algorithm = {run.config.algorithm: run for run in runs}
    by_name = {run.folder.resolve().name: run for run in runs}
    named = max(by_algorithm, by_name, {str(run.folder): run for run in runs}, key=len)
    taken = {"optimum", *strategies(runs[0].game())}
    return {f"the run {name}" if name in taken else name: run for name, run in named.items()}


def _template() -> jinja2.Template:
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True)
    return environment.get_template("report.html.j2")


def mistakes_in_words(evaluation: Measured, limit: int) -> list[dict[str, Any]]:
    """Return the costliest mistakes of a policy with the moves in words."""
    words = words_of(evaluation.optimum.game)
    rows = mistakes_in_json(evaluation, limit)
    for row in rows:
        row["plays"] = "an illegal action" if row["plays"] is None else words.move_in_words(row["plays"])
        row["best"] = words.move_in_words(row["best"])
    return rows


def _mistakes(evaluation: Measured, run: Run) -> list[dict[str, Any]]:
    """The dearest mistakes in words, with a picture of each and the steps since which it is made, if that is known.

    Args:
        evaluation: of the policy at the end.
        run: the run, which knows those of the measurements before it.
    """
    nodes = [mistake.node for mistake in evaluation.mistakes(MISTAKES)]
    stepper = stepper_of(run.game())
    pictures = [_base64(_picture(stepper, node)) for node in nodes]
    policies = {} if run.is_sampled() else run.policies()
    since = [_since({steps: int(policy[node]) for steps, policy in policies.items()}) for node in nodes]
    unit, in_words = evaluation.optimum.objective.unit, mistakes_in_words(evaluation, MISTAKES)
    return [
        {
            **words,
            "loss": loss_in_words(words["loss"], unit),
            "share": words["cost"] / evaluation.regret,
            "png": png,
            "since": n,
        }
        for words, png, n in zip(in_words, pictures, since, strict=True)
    ]


def _since(actions: Mapping[int, int]) -> int | None:
    """The steps of the earliest measurement since which the action has not changed; None without measurements."""
    newest_first = list(reversed(actions))
    same = list(takewhile(lambda steps: actions[steps] == actions[newest_first[0]], newest_first))
    return same[-1] if same else None


def _picture(stepper: Stepper, node: int) -> bytes:
    """A picture of a node as PNG; of the throws that give its roll it shows the middle one."""
    state = stepper.state_of(np.array([node]))
    held, dice = (int(number[0]) for number in stepper.position(state))
    throws = np.flatnonzero(stepper.nodes(state.repeat(stepper.throws), np.arange(stepper.throws)) == node)
    shown = throw_faces(int(throws[len(throws) // 2]), dice, stepper.game.faces)
    png = io.BytesIO()
    imsave(png, words_of(stepper.game).picture(held, dice, shown), format="png")
    return png.getvalue()


def _trainings(runs: Mapping[str, Run]) -> Table:
    configs = [run.config for run in runs.values()]
    columns = {
        "run": Column("", list(runs)),
        "algorithm": Column("", [config.algorithm for config in configs]),
        "seed": Column("d", [config.seed for config in configs]),
        "steps": Column(str, [run.progress() for run in runs.values()]),
        "processor seconds": Column(".0f", [run.result()["seconds"] for run in runs.values()]),
    }
    return Table(columns)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


if __name__ == "__main__":
    sys.exit(main())
