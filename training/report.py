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

from stb_gym import strategies
from stb_gym.envs import Stepper, stepper_of
from stb_gym.exact import Measured
from stb_gym.games import throw_faces, words_of
from stb_gym.measure import AnyEvaluation, mistakes_in_words
from stb_gym.output import Column, Table, reader_may_leave, write_text
from training.arguments import read_arguments
from training.compare import compare, comparison_table
from training.plots import plot_regret, plot_scores, regret_of
from training.run import Run

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
    try:
        with reader_may_leave():
            print(comparison_table(report([Run.open(folder) for folder in options.runs], options.out)))
    except (ValueError, OSError) as error:
        print(f"training.report: {error}", file=sys.stderr)
        return 2
    print(f"the report is {options.out / 'report.html'}", file=sys.stderr)
    return 0


def report(runs: list[Run], out: Path) -> dict[str, Measured]:
    """Write report.html, regret.png and scores.png into a folder.

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
    agents, curves = {name: run.evaluation() for name, run in names.items()}, [run.curve() for run in names.values()]
    evaluations = compare(agents)
    unit = evaluations["optimum"].optimum.objective.unit
    known = [name for name in strategies(game) if name in evaluations]
    scripted = {name: evaluations[name].regret for name in known if evaluations[name].regret > 0}
    best_scripted = min(scripted, key=lambda name: scripted[name], default="random")
    plot_regret(out / "regret.png", dict(zip(names, curves, strict=True)), scripted, unit)
    plot_scores(out / "scores.png", {name: evaluations[name] for name in ("optimum", *names, best_scripted, "random")})
    page = _template().render(
        title=f"How close to perfect play? {runs[0].config.task.env.split('/')[-1]}",
        summary=f"Perfect play of {game} is worth {evaluations['optimum'].value:.6g} {unit} ({objective}).",
        sampled=any(run.is_sampled() for run in runs),
        regret_of=regret_of(chain(*curves)),
        unit_note=f"regret is what a policy loses against perfect play, in {unit}.",
        comparison=comparison_table(evaluations).to_html(),
        rows_of_agents=[row for row, name in enumerate(evaluations, 1) if name in names],
        regret_png=_base64((out / "regret.png").read_bytes()),
        scores_png=_base64((out / "scores.png").read_bytes()),
        agents=[
            {"name": name, "regret": agents[name].regret, "mistakes": _mistakes(agents[name], run)}
            for name, run in names.items()
        ],
        trainings=_trainings(names).to_html(),
    )
    write_text(out / "report.html", page)
    return evaluations


def _names(runs: list[Run]) -> Mapping[str, Run]:
    """Runs by the shortest names that differ: by algorithm, by name of the folder, or by the path of the folder."""
    by_algorithm = {run.config.algorithm: run for run in runs}
    by_name = {run.folder.resolve().name: run for run in runs}
    return max(by_algorithm, by_name, {str(run.folder): run for run in runs}, key=len)


def _template() -> jinja2.Template:
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True)
    return environment.get_template("report.html.j2")


def _mistakes(evaluation: AnyEvaluation, run: Run) -> list[dict[str, Any]]:
    """The dearest mistakes in words, with a picture of each and the steps since which it is made, if that is known.

    Args:
        evaluation: of the policy at the end.
        run: the run, which knows those of the measurements before it.
    """
    nodes = [mistake.node for mistake in evaluation.mistakes(MISTAKES)]
    stepper = stepper_of(run.game(), evaluation.optimum.objective)
    pictures = [_base64(_picture(stepper, node)) for node in nodes]
    policies = {} if run.is_sampled() else run.policies()
    since = [_since({steps: int(policy[node]) for steps, policy in policies.items()}) for node in nodes]
    in_words = mistakes_in_words(evaluation, MISTAKES)
    return [{**words, "png": png, "since": n} for words, png, n in zip(in_words, pictures, since, strict=True)]


def _since(actions: Mapping[int, int]) -> int | None:
    """The steps of the first measurement from which on the action was what it is at the last one; None of none."""
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
    settings = [" ".join(f"{name}={value}" for name, value in asdict(config.settings).items()) for config in configs]
    columns = {
        "run": Column("", list(runs)),
        "algorithm": Column("", [config.algorithm for config in configs]),
        "seed": Column("d", [config.seed for config in configs]),
        "steps": Column(str, [run.progress() for run in runs.values()]),
        "seconds": Column(".0f", [run.result()["seconds"] for run in runs.values()]),
        "settings": Column("", settings),
    }
    return Table("", "", columns)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


if __name__ == "__main__":
    sys.exit(main())
