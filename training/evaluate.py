"""Measure a run again, from its weights: `python -m training.evaluate RUN`."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import tyro

from agents.policy_array import value_error
from stb_gym.output import reader_may_leave
from training.arguments import read_arguments
from training.compare import compare, comparison_table
from training.run import Run, measure


@dataclass(frozen=True)
class Arguments:
    """Measure a run again, from its weights: exactly where its box has tables, else by turns that it plays."""

    run: tyro.conf.Positional[Path]
    """Folder of the run."""
    turns: int | None = None
    """Play so many turns, of which the loss of every choice is known exactly, whatever the size of the box."""
    json: bool = False
    """Print JSON instead of a table."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = read_arguments(Arguments, arguments, "training.evaluate")
    try:
        run = Run.open(options.run)
        result = run.result()
        if not result["finished"]:
            print(f"{run.folder} is not finished: {run.progress()} steps", file=sys.stderr)
        learner = run.learner()
        _, greedy, exploring = measure(run.config, learner, options.turns)
        expects = value_error(learner, greedy)
        name = run.config.algorithm
        made = {"finished": result["finished"], "steps_made": result["steps"]}
        both = {"greedy": greedy.summary(), "exploring": exploring.summary(), "value_error": expects}
        with reader_may_leave():
            if options.json:
                print(json.dumps({**run.config.to_json(), **made, **both}))
            else:
                print(comparison_table(compare({f"{name} (greedy)": greedy, f"{name} (exploring)": exploring})))
    except (ValueError, OSError) as error:
        print(f"training.evaluate: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
