"""Train a learner and measure its exact regret on the way: `python -m training.train ppo|dqn --env ID ...`."""

import importlib.util
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import tyro
from stable_baselines3.common.callbacks import BaseCallback
from tqdm import tqdm

from agents.config import Config, Settings
from agents.dqn import DQNSettings
from agents.ppo import PPOSettings
from stb_gym.game import check_integer
from training.run import RunWriter

# How often stable-baselines3 writes its own log: in updates of PPO, in episodes of DQN.
LOG_INTERVALS = {"ppo": 1, "dqn": 10_000}


@dataclass(frozen=True)
class Task:
    """What to train on, how long, and where to put it."""

    env: str = "stb_gym/ShutTheBox-v0"
    """Environment: stb_gym/ShutTheBox-v0 or stb_gym/Threes-v0."""
    objective: str = "score"
    """What is rewarded: score, shut or at-most:T."""
    rules: dict[str, int | str] = field(default_factory=dict)
    """Rules that differ from the environment's own, as names and values: --rules tiles 12 score count."""
    steps: int = 6_000_000
    """Steps of all games together."""
    seed: int = 0
    """Seed of the dice, the network and the exploration."""
    out: Path | None = None
    """Folder of the run (default: runs/ALGORITHM-ENVIRONMENT-SEED)."""
    overwrite: bool = False
    """Replace a run that is there already."""
    measurements: int = 40
    """How often the exact regret is measured and the run saved."""
    threads: int = 1
    """Threads of torch. Runs are repeatable to the bit with one."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""

    def ppo(task: Task, settings: PPOSettings) -> int:
        """Masked PPO."""
        return run("ppo", task, settings)

    def dqn(task: Task, settings: DQNSettings) -> int:
        """Masked double DQN."""
        return run("dqn", task, settings)

    return tyro.extras.subcommand_cli_from_dict(
        {"ppo": ppo, "dqn": dqn}, args=arguments, prog="training.train", config=(tyro.conf.OmitArgPrefixes,)
    )


def run(algorithm: str, task: Task, settings: Settings) -> int:
    """Train as the command line says; returns the exit status."""
    out = task.out or Path("runs") / f"{algorithm}-{task.env.split('/')[-1]}-{task.seed}"
    try:
        config = Config(algorithm, task.env, settings, task.rules, task.objective, task.steps, task.seed)
        check_integer("measurements", task.measurements, 1, 10**6)
        check_integer("threads", task.threads, 1, 1024)
        torch.set_num_threads(task.threads)
        train(config, out, task.measurements, task.overwrite)
    except (ValueError, OSError) as error:
        print(f"training.train: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"training.train: interrupted; the last measurement, if there was one, is in {out}", file=sys.stderr)
        return 130
    print(f"the run is in {out}: python -m training.evaluate {out}", file=sys.stderr)
    return 0


def train(config: Config, out: Path, measurements: int = 40, overwrite: bool = False) -> None:
    """Train a learner, measuring and saving it `measurements` times and once at the end.

    Raises:
        ValueError: if the configuration is not allowed, or `out` holds a run already and `overwrite` is false.
    """
    writer = RunWriter(out, config, overwrite)
    tensorboard = str(out / "tensorboard") if importlib.util.find_spec("tensorboard") else None
    learner = config.learner(tensorboard)
    name = f"{config.algorithm} on {config.env.split('/')[-1]}"
    with tqdm(total=config.steps, desc=name, unit=" steps", unit_scale=True, mininterval=0.5) as bar:
        callback = _Measuring(writer, bar, max(1, config.steps // measurements))
        learner.learn(config.steps, callback, log_interval=LOG_INTERVALS[config.algorithm])


class _Measuring(BaseCallback):
    """Measures at the start, between updates about every `interval` steps, and at the end."""

    def __init__(self, writer: RunWriter, bar: Any, interval: int):
        super().__init__()
        self._writer = writer
        self._bar = bar
        self._interval = interval
        self._next = 0
        self._began = time.monotonic()

    def _on_rollout_start(self) -> None:
        if self.num_timesteps >= self._next:
            self._next += self._interval
            self._measure()

    def _on_step(self) -> bool:
        self._bar.update(min(self.num_timesteps, self._bar.total) - self._bar.n)
        return True

    def _on_training_end(self) -> None:
        self._measure()

    def _measure(self) -> None:
        point = self._writer.measure(self.model, self.num_timesteps, time.monotonic() - self._began)  # type: ignore[arg-type]
        self._bar.set_postfix_str(f"regret {point.regret:.4f}, exploring {point.exploring_regret:.4f}")
        self.logger.record("exact/regret", point.regret)
        self.logger.record("exact/exploring_regret", point.exploring_regret)
        self.logger.record("exact/agreement_by_visits", point.agreement_by_visits)


if __name__ == "__main__":
    sys.exit(main())
