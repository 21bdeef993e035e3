"""Search settings by exact regret after a number of steps: `python -m training.tune ppo --steps 200000`."""

import json
import math
import sys
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path

import optuna
import torch

from agents import presets
from agents.presets import STANDARD, Config, configure, read_preset, task_name
from stb_gym.games import check_choice, check_integer
from stb_gym.output import Progress, read_text, say
from training.commands import choose_task, run_command
from training.run import locked, measure

COMMAND = "training.tune"
SPACES = Path(presets.__file__).with_name("search.toml")


def main(words: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run_command(COMMAND, tune, words, "the same command continues the search")


def tune(
    algorithm: str,
    /,
    *,
    out: Path,
    env: str | None = None,
    task: str | None = None,
    objective: str | None = None,
    variant: str = STANDARD,
    steps: int | None = None,
    trials: int = 50,
    seed: int = 0,
    minutes: float = math.inf,
    **rules: str,
) -> None:
    """Search settings by exact regret, and print the best as a table for agents/presets.toml.

    Args:
        algorithm: One that agents/search.toml has ranges for, such as ppo or fitted-q.
        out: Folder of the search; the same command continues it.
        env: Id of the environment (default: that of the task nine-tiles).
        task: Environment, rules and objective by one name, such as twelve-tiles.
        objective: What is rewarded: score, shut or at-most:T.
        variant: Variant of the preset, whose other settings are kept.
        steps: Steps of a trial (default: those of the preset).
        trials: Number of trials.
        seed: Seed of all trials, and of the search.
        minutes: Processor minutes after which a trial is given up.
        rules: Rules of the game, such as --tiles 12.
    """
    spaces = tomllib.loads(read_text(SPACES))
    check_choice("algorithm with a search space", algorithm, list(spaces))
    check_integer("trials", trials, 1, 10**6)
    chosen_env, arguments = choose_task(env, task, objective, rules)
    base = configure(algorithm, chosen_env, arguments, variant, seed=seed, steps=steps)
    torch.set_num_threads(1)
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def regret_of(trial: optuna.Trial) -> float:
        settings = {
            name: (trial.suggest_int if isinstance(low, int) else trial.suggest_float)(name, low, high, log=True)
            for name, (low, high) in spaces[algorithm].items()
        }
        try:
            config = configure(
                algorithm, chosen_env, arguments, variant, seed=seed, steps=base.steps, settings=settings
            )
            return _train(config, minutes)
        except ValueError:  # settings exclude each other, or learning diverged
            raise optuna.TrialPruned from None

    with locked(out), Progress("search", trials, "trials") as progress:
        storage = f"sqlite:///{out / 'search.db'}"
        study = optuna.create_study(storage=storage, study_name=COMMAND, load_if_exists=True)
        description = json.dumps(base.to_json(), sort_keys=True)
        if study.user_attrs.get("search", description) != description:
            raise ValueError(f"{out} holds another search: name another folder by --out")
        study.set_user_attr("search", description)
        for number in range(len(study.trials), trials):
            study.sampler = optuna.samplers.TPESampler(seed=seed + number)
            study.optimize(regret_of, n_trials=1)
            progress.tell(number + 1)
    if not any(trial.state == optuna.trial.TrialState.COMPLETE for trial in study.trials):
        raise ValueError("no trial was completed: allow more --minutes, or fewer --steps")
    preset = read_preset(algorithm, task_name(chosen_env, arguments), variant)
    say(f"# regret {study.best_value:.4g} with seed {seed}\n[{algorithm}.tuned]")
    for name, value in {**preset, "steps": base.steps, **study.best_params}.items():
        say(f"{name} = {json.dumps(value)}")


def _train(config: Config, minutes: float) -> float:
    """Return the regret of a learner; raise TrialPruned if it takes more processor minutes."""
    began = time.process_time()

    def check_time() -> None:
        if time.process_time() - began > 60 * minutes:
            raise optuna.TrialPruned

    learner = config.make_learner(config.make_envs())
    learner.learn(config.steps, check_time)
    return measure(config, learner).greedy.regret


if __name__ == "__main__":
    sys.exit(main())
