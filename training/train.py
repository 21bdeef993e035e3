"""Train a learner and measure its exact regret on the way: `python -m training.train ppo --task threes`."""

import re
import shlex
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from agents.custom import allow, names_in
from agents.presets import STANDARD, TASKS, Config, configure
from agents.registry import is_custom, learner_named
from stb_gym.checks import check_integer
from stb_gym.console import say
from training.commands import Algorithm, choose_task, parsed, run_command
from training.logs import check_log
from training.picture import PICTURE, draw_runs
from training.results import TrainingTask
from training.run import clear
from training.study import run_study

TaskName = Annotated[str | None, Parameter(help=f"Environment, rules and objective by one name: {', '.join(TASKS)}.")]


def train(
    algorithm: Algorithm,
    /,
    *,
    env: str | None = None,
    task: TaskName = None,
    objective: str | None = None,
    variant: str = STANDARD,
    steps: int | None = None,
    seeds: str = "0",
    settings: dict[str, str] | None = None,
    opponents: str | None = None,
    players: int | None = None,
    out: Path = Path("runs"),
    resume: bool = False,
    overwrite: bool = False,
    measurements: int = 40,
    device: str = "cpu",
    log: str | None = None,
    workers: int = 1,
    ray: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    **rules: str,
) -> int:
    """Train an algorithm with one seed or several, by its preset in agents/presets.toml.

    Args:
        algorithm: One of `agents.registry.LEARNERS`, or an agent MODULE:NAME.
        env: Id of the environment (default: that of the task nine-tiles).
        task: Environment, rules and objective by one name of `agents.presets.TASKS`.
        objective: What is rewarded: score, shut or at-most:T (default: what the environment rewards).
        variant: Variant of the preset, such as quick.
        steps: Budget in steps of all environments together (default: that of the preset). Settings follow it.
        seeds: Seeds, such as 0-4 or 3,5.
        settings: Settings that differ from the preset, such as --settings.learning-rate 0.001. Those of MODULE:NAME are
            its arguments. Those of sb3-... are arguments of the library's class and its policy, as JSON; classes are
            named MODULE:NAME.
        opponents: Learn a seat of a round: against naive, fictitious or league self-play, or against a strategy.
        players: Number of players of the round.
        out: Folder of the runs, each in a folder ALGORITHM-TASK-VARIANT-SEED.
        resume: Continue interrupted runs, and skip finished ones.
        overwrite: Replace runs that are there already.
        measurements: How often the regret is measured after the start, at most once after each rollout.
        device: Where networks are, such as cuda.
        log: Log every measurement to tensorboard, wandb or mlflow, or to a function MODULE:NAME.
        workers: Runs that are trained at a time.
        ray: Train on a Ray cluster: that of this machine, or the one at an address.
        rules: Rules of the game, such as --tiles 12 --one-die low-sum; stb-gym list explains them.

    Returns:
        0, or 2 if a run failed.
    """
    if resume and overwrite:
        raise ValueError("--resume and --overwrite exclude each other")
    if variant == "round" and opponents is None:
        raise ValueError("the variant round is for rounds: add --opponents and --players, such as naive and 2")
    chosen_env, arguments = choose_task(env, task, objective, rules)
    changes = {name.replace("-", "_"): parsed(value) for name, value in (settings or {}).items()}
    for name in [*names_in(log), *([algorithm] if is_custom(algorithm) else names_in(changes))]:
        allow(name)
    if log is not None:
        check_log(log)
    runs = {}
    for seed in _parsed_seeds(seeds):
        config = configure(
            algorithm,
            chosen_env,
            arguments,
            variant,
            seed=seed,
            steps=steps,
            settings=changes,
            opponents=opponents,
            players=players,
        )
        runs[out / run_name(config)] = config
    # Wrong flags are refused before anything is overwritten.
    check_integer("measurements", measurements, 1, 10**6)
    check_integer("workers", workers, 1, 1000)
    resumes = learner_named(algorithm).resumes
    if isinstance(config.settings, dict):
        resumes = config.make_learner(config.make_envs(), device).resumes
    if not resume:
        for folder in runs:
            clear(folder, overwrite)
    rollouts, each = config.rollouts
    made, asked = rollouts * each, config.budget or config.steps
    if made != asked:
        say(f"training.train: {algorithm} makes {made:,} steps, not {asked:,}, in rollouts of {each:,}", error=True)
    if rollouts < measurements:
        say(f"training.train: {rollouts} of {measurements} measurements, one after each rollout", error=True)
    if not resumes:
        say(f"training.train: {algorithm} does not save its state: a killed run begins anew", error=True)
    failures = run_study(runs, workers=workers, ray=ray, measurements=measurements, device=device, log=log)
    for folder, failure in failures.items():
        say(f"training.train: {folder} failed: {failure}", error=True)
    finished = [folder for folder in runs if folder not in failures]
    if finished:
        sentence, drawn = draw_runs(finished, finished[0] / PICTURE)
        say(sentence, error=True, wrapped=True)
        if sys.stderr.isatty():
            say(drawn, error=True)
        say(f"wrote {finished[0] / PICTURE}", error=True)
    if failures:
        return 2
    command = "evaluate" if len(runs) == 1 and opponents is None else "compare"
    imports = TrainingTask(config.env, config.arguments).import_flag
    say(shlex.join(["python", "-m", f"training.{command}", *imports, *map(str, runs)]), error=True)
    return 0


def run_name(config: Config) -> str:
    """Return the name of a run's folder, such as "ppo-nine-tiles-quick-0"."""
    task = TrainingTask(config.env, config.arguments, config.opponents or "", str(config.players or ""))
    variant = [] if config.variant == STANDARD else [config.variant]
    return "-".join([config.algorithm.replace(":", "."), task.name, *variant, str(config.seed)])


def _parsed_seeds(text: str) -> list[int]:
    """Return the seeds of a text such as "0-4,7"."""
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", text):
        raise ValueError(f"seeds must be numbers such as 0-4 or 3,5, not {text!r}")
    pairs = [part.partition("-") for part in text.split(",")]
    seeds = [seed for first, _, last in pairs for seed in range(int(first), int(last or first) + 1)]
    if not seeds:
        raise ValueError(f"seeds must ascend, unlike {text}")
    return seeds


main = partial(run_command, "training.train", train, how_to_continue="the same command with --resume continues")


if __name__ == "__main__":
    sys.exit(main())
