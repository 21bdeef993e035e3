"""Train a learner and measure its exact regret on the way: `python -m training.train ppo --env ID ...`."""

import math
import shlex
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import torch
import tyro

from agents.config import Config, Task, task_of
from agents.learner import Learner
from agents.networks import check_device
from agents.presets import FILE, STANDARD, read_presets
from stb_gym.envs import environment_of
from stb_gym.games import check_choice, check_integer
from stb_gym.output import Progress, refuse, say
from training.arguments import read_arguments, rules_from
from training.commands import import_words, run_name, task_name
from training.logs import Log, check_logs, open_logs
from training.run import Run
from training.run_writer import RunWriter, alone, begin, clear, resume


@dataclass(frozen=True)
class Arguments:
    """Train a learner by the preset of its algorithm and task; agents/presets.toml has them all."""

    algorithm: tyro.conf.Positional[
        Literal[
            "ppo",
            "dqn",
            "afterstate-network",
            "q-learning",
            "afterstates",
            "limit",
            "sb3-ppo",
            "sb3-a2c",
            "sb3-dqn",
            "sb3-qr-dqn",
            "sb3-maskable-ppo",
            "sb3-maskable-ppo-tuned",
            "sb3-dqn-tuned",
        ]
    ]
    """Masked PPO, masked DQN, a network of afterstates, tabular Q-learning, the same over afterstates, the limit that
    counts the rolls, or an agent of stable-baselines3 (sb3)."""
    env: str = "stb_gym/ShutTheBox-v0"
    """Environment, by its id."""
    objective: str | None = None
    """What is rewarded: score, shut or at-most:T (default: what the environment rewards, mostly the score)."""
    variant: str = STANDARD
    """Variant of the preset, such as quick, long or no-masks."""
    steps: int | None = None
    """Steps of all environments together (default: those of the preset); the rollout that reaches them is the last."""
    presets: Path = FILE
    """File of the presets."""
    settings: dict[str, bool | int | float] = field(default_factory=dict)
    """Settings that differ from those of the preset, as names and values: --settings width 64 learning_rate 0.001."""
    seed: int = 0
    """Seed of the dice, the network and the exploration."""
    out: Path | None = None
    """Folder of the run (default: runs/ALGORITHM-TASK-VARIANT-SEED)."""
    overwrite: bool = False
    """Replace a run that is there already."""
    resume: bool = False
    """Go on with an interrupted run from its last checkpoint; begin a new run if there is none."""
    measurements: int = 40
    """How often the exact regret is measured and the run saved."""
    checkpoint_seconds: float = 30.0
    """The least processor time between two checkpoints, which are saved at measurements."""
    log: tuple[Literal["csv", "tensorboard", "wandb"], ...] = ("csv",)
    """Where measurements are logged, losses and the like beside them: log.csv in the folder of the run, TensorBoard,
    Weights & Biases, or several of them."""
    device: str = "cpu"
    """Where the networks are, such as cuda."""
    threads: int = 1
    """Threads of torch. With one, the same command gives the same weights, bit by bit."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options, flags = read_arguments(Arguments, arguments, "training.train", rules=True)
    out = options.out
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that unfinished files are cleared away
    try:
        task, presets = task_from_flags(options.env, options.objective, flags), read_presets(options.presets)
        config = presets.config(options.algorithm, task, options.variant, options.seed, options.steps, options.settings)
        name = presets.name(task) or task_name(task)
        out = out or Path("runs") / run_name(options.algorithm, name, options.variant, options.seed)
        check_integer("measurements", options.measurements, 1, 10**6)
        check_integer("threads", options.threads, 1, 1024)
        if not 0 <= options.checkpoint_seconds < math.inf:
            raise ValueError(f"checkpoint-seconds must be a number, 0 or more, not {options.checkpoint_seconds}")
        if options.resume and options.overwrite:
            raise ValueError("a run is either resumed or overwritten")
        existing = "resume" if options.resume else "overwrite" if options.overwrite else "refuse"
        torch.set_num_threads(options.threads)
        train(
            config,
            out,
            existing,
            options.measurements,
            options.checkpoint_seconds,
            logs=options.log,
            device=options.device,
        )
    except (ValueError, OSError, MemoryError) as error:
        return refuse("training.train", error)
    except KeyboardInterrupt:
        say(f"training.train: interrupted; --resume goes on from the last checkpoint in {out}", error=True)
        return 130
    evaluate = shlex.join(["python", "-m", "training.evaluate", *import_words(config.task), str(out)])
    say(f"the run is in {out}: {evaluate}", error=True)
    return 0


def task_from_flags(env: str, objective: str | None, flags: list[str]) -> Task:
    """The task of a command.

    Args:
        env: id of the environment.
        objective: what is rewarded, or None for the objective of the environment.
        flags: the words that say which rules differ from those of the environment.

    Raises:
        ValueError: naming the first flag or entry that is not allowed.
    """
    return task_of(env, rules_from(flags, environment_of(env).rules), objective)


def train(
    config: Config,
    out: Path,
    existing: str = "refuse",
    measurements: int = 40,
    checkpoint_seconds: float = 30.0,
    *,
    logs: Sequence[str] = ("csv",),
    device: str = "cpu",
) -> None:
    """Train a learner, measuring and saving it `measurements` times and once at the end.

    Args:
        config: what to train.
        out: folder of the run.
        existing: what to do if the folder holds a run already. "refuse" raises an error, "overwrite" trains anew, and
            "resume" goes on with it, unless it is finished and none of its files is missing or damaged; "resume" also
            waits for another process that writes to the folder.
        measurements: how often it is measured, at equal distances.
        checkpoint_seconds: the least processor time between two checkpoints.
        logs: where measurements are logged, see `logs.open_logs`.
        device: where the networks are.

    Raises:
        ValueError: if the folder holds a run and `existing` is "refuse", or it holds one of another configuration and
            `existing` is "resume"; if another process writes to the folder; if there is no such device, or a package
            that logs is not installed; or if learning diverges.
    """
    check_choice("treatment of a run that is there", existing, ["refuse", "overwrite", "resume"])
    check_device(device)
    check_logs(logs)
    resumes = existing == "resume"
    with alone(out, waits=resumes):
        if resumes and is_finished(out, config):
            clear(out)
            return
        learner, writer = (
            resume(out, config, device) if resumes else begin(out, config, existing == "overwrite", device)
        )
        with open_logs(logs, out, config, writer.measured) as log:
            _train(config, learner, writer, max(1, config.steps // measurements), checkpoint_seconds, log)


def _train(
    config: Config, learner: Learner, writer: RunWriter, interval: int, checkpoint_seconds: float, log: Log
) -> None:
    measured = writer.measured
    began = time.process_time() - (measured[-1].point.seconds if measured else 0)
    name = f"{config.algorithm} on {config.task.game()}"
    with Progress(name, config.steps, "steps", initial=learner.num_timesteps) as progress:

        def measure() -> None:
            point = writer.measure(learner, time.process_time() - began, checkpoint_seconds, log)
            noise = f" +- {point.standard_error:.2g}" if point.turns else ""
            note = f"regret {point.regret:.4g}{noise}, exploring {point.exploring_regret:.4g}"
            progress.tell(min(point.steps, config.steps), note=note)

        def before_rollout() -> None:
            progress.tell(learner.num_timesteps)
            if not measured or learner.num_timesteps // interval > measured[-1].point.steps // interval:
                measure()

        learner.learn_until(config.steps, before_rollout)
        measure()


def is_finished(out: Path, config: Config) -> bool:
    """Whether a folder holds a finished run of a configuration, of which no file is missing or damaged."""
    try:
        run = Run.open(out)
        if run.config != config or not run.result()["finished"]:
            return False
    except ValueError:
        return False
    try:
        for read in (run.learner, *(() if run.is_sampled() else (run.policy, run.policies))):
            read()
    except ValueError as error:
        say(f"{error}; the run is trained again", error=True)
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
