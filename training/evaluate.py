"""Measure a run again, from its weights: `python -m training.evaluate RUN`."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import tyro

from agents.afterstate_network import AfterstateNetwork
from agents.learner import Learner
from agents.policy_array import preference, value_error
from stb_gym.large import BoardEvaluation, evaluate_boards, solve_boards
from stb_gym.measure import SampledEvaluation
from stb_gym.output import Progress, say
from training.arguments import answer, answered, read_arguments
from training.compare import compare, comparison_table
from training.run import Run, measure


@dataclass(frozen=True)
class Arguments:
    """Measure a run again, from its weights: exactly where its box has tables, else by turns that it plays."""

    run: tyro.conf.Positional[Path]
    """Folder of the run."""
    turns: int | None = None
    """Play so many turns, of which the loss of every choice is known exactly, whatever the size of the box."""
    exact: bool = False
    """Measure a network of afterstates exactly, whatever the size of the box, by a sweep over all boards."""
    json: bool = False
    """Print JSON instead of a table."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = read_arguments(Arguments, arguments, "training.evaluate")
    return answered("training.evaluate", lambda: _evaluate(options))


def _evaluate(options: Arguments) -> None:
    run = Run.open(options.run)
    result = run.result()
    if not result["finished"]:
        say(f"{run.folder} is not finished: {run.progress()} steps", error=True)
    with Progress(f"{run.folder} measured"):
        learner = run.learner()
        _, greedy, exploring = measure(run.config, learner, options.turns)
        expects = value_error(learner, greedy)
        measured = swept(run, learner) if options.exact and isinstance(greedy, SampledEvaluation) else greedy
        name = run.config.algorithm
        made = {"finished": result["finished"], "steps_made": result["steps"]}
        both = {"greedy": measured.summary(), "exploring": exploring.summary(), "value_error": expects}
        told = (
            json.dumps({**run.config.to_json(), **made, **both})
            if options.json
            else comparison_table(compare({f"{name} (greedy)": measured, f"{name} (exploring)": exploring}))
        )
    answer(told)


def swept(run: Run, learner: Learner) -> BoardEvaluation:
    """The exact evaluation of the greedy policy of a network of afterstates, by a sweep over all boards.

    Raises:
        ValueError: if it is another learner, whose choice depends on more than what moves lead to.
    """
    if not isinstance(learner, AfterstateNetwork):
        raise ValueError(f"--exact is for a network of afterstates, not for {run.config.algorithm}")
    optimum = solve_boards(run.game(), run.config.task.objective)
    return evaluate_boards(optimum, preference(run.game(), learner))


if __name__ == "__main__":
    sys.exit(main())
