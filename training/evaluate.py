"""Measure a run again from its weights, or a saved policy: `python -m training.evaluate runs/ppo-nine-tiles-0`."""

import json as json_text
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]

from agents.afterstates import Afterstates
from stb_gym import evaluate as evaluate_policy
from stb_gym import strategies, strategy
from stb_gym.large import evaluate_boards, solve_boards
from stb_gym.measure import SampledEvaluation, read_policy
from stb_gym.output import Progress, say
from stb_gym.solver import Measured
from training.commands import run_command
from training.run import Run, measure

COMMAND = "training.evaluate"


def main(words: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run_command(COMMAND, evaluate, words)


def evaluate(run: str, /, *, turns: int | None = None, exact: bool = False, json: bool = False) -> None:
    """Measure a run again from its weights, or a saved policy, beside the named strategies of the game.

    Args:
        run: Folder of a run, a policy file (.npz), or the name of a policy that comes with the library.
        turns: Play this many turns, whatever the size of the game; losses of choices are exact.
        exact: Measure an afterstate network exactly by a sweep over all boards, whatever the size of the game.
        json: Print JSON instead of a table.
    """
    about: dict[str, Any] = {"run": run}
    evaluations: dict[str, Measured]
    with Progress(f"{run} measured"):
        if (Path(run) / "config.json").exists():
            config, result, learner = Run(run).config, Run(run).result(), Run(run).learner()
            if config.opponents is not None:
                raise ValueError(f"{run} learned rounds: its gains are in its curve.csv")
            if not result["finished"]:
                say(f"{run} is not finished: {result['steps']:,} of {config.steps:,} steps", error=True)
            measured = measure(config, learner, turns)
            evaluations = {"greedy": measured.greedy, "exploring": measured.exploring}
            about |= {"config": config.to_json(), "finished": result["finished"], "steps": result["steps"]}
            about["value_error"] = measured.value_error
            if exact and isinstance(measured.greedy, SampledEvaluation):
                if not isinstance(learner, Afterstates):
                    raise ValueError(f"--exact needs a network of afterstates, not {config.algorithm}")
                optimum = solve_boards(config.game(), config.objective)
                evaluations["greedy"] = evaluate_boards(optimum, learner.score_policy(config.game()))
        elif turns is not None or exact:
            raise ValueError("--turns and --exact are for the folder of a run")
        else:
            evaluations = {"greedy": read_policy(run).evaluate()}
    if json:
        say(json_text.dumps(about | {name: found.summary() for name, found in evaluations.items()}))
        return
    agents = {run if len(evaluations) == 1 else f"{run} ({name})": found for name, found in evaluations.items()}
    best = evaluations["greedy"].optimum
    names = [name for name in strategies(best.game) if name != "optimal-score"]  # another name of "optimal"
    with Progress("strategies measured", len(names)) as progress:
        for number, name in enumerate(names, 1):
            agents[name] = evaluate_policy(best.game, strategy(best.game, name), best.objective)
            progress.tell(number, note=name)
    frame = pd.DataFrame({name: found.summary() for name, found in agents.items()}).T.drop(columns="optimum")
    say(frame.sort_values("regret").to_string(float_format="{:.5f}".format, na_rep=""))


if __name__ == "__main__":
    sys.exit(main())
