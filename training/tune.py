"""Search settings by exact regret after a number of steps: `python -m training.tune ppo --steps 200000`."""

import json
import sys
import tomllib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import optuna
import torch

from agents import presets
from agents.custom import allow, fault_of
from agents.presets import STANDARD, check_settings, configure
from agents.registry import is_custom, learner_named
from stb_gym.checks import check_integer
from stb_gym.console import say
from stb_gym.files import read_text, reading
from stb_gym.messages import quoted
from stb_gym.tracking import ProgressBar
from training.commands import choose_task, parsed, run_command
from training.measurement import train_and_measure
from training.report import train_command
from training.results import TrainingTask
from training.run import locked
from training.train import run_name

SPACES = Path(presets.__file__).with_name("search.toml")

FAULT = "fault"  # the attribute of a failed trial with the reason


def tune(
    algorithm: str,
    /,
    *,
    out: Path,
    env: str | None = None,
    task: str | None = None,
    objective: str | None = None,
    steps: int | None = None,
    ranges: dict[str, str] | None = None,
    trials: int = 50,
    seed: int = 5,
    **rules: str,
) -> None:
    """Search settings by exact regret. Print the best as a table for agents/presets.toml, or as a command.

    Args:
        algorithm: One that agents/search.toml has ranges for, such as ppo or fitted-q; or any other, with --ranges. For
            an agent MODULE:NAME, the best settings are printed as a command of training.train.
        out: Folder of searches; the same command continues its search.
        env: Id of the environment (default: that of the task nine-tiles).
        task: Environment, rules and objective by one name, such as twelve-tiles.
        objective: What is rewarded: score, shut or at-most:T.
        steps: Steps of a trial (default: those of the preset).
        ranges: What is searched instead: lowest and highest value of a setting, such as --ranges.rate [0.01,0.5].
        trials: Number of trials.
        seed: Seed of all trials and of the search. The default differs from the seeds 0 to 4 of the results.
        rules: Rules of the game, such as --tiles 12.
    """
    if is_custom(algorithm):
        allow(algorithm)
    space = read_ranges(algorithm, {name.replace("-", "_"): parsed(ends) for name, ends in (ranges or {}).items()})
    check_integer("trials", trials, 1, 10**6)
    chosen_env, arguments = choose_task(env, task, objective, rules)
    base = configure(algorithm, chosen_env, arguments, seed=seed, steps=steps)
    budget, base_settings = base.budget or base.steps, base.to_json()["settings"]
    torch.set_num_threads(1)
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def regret_of(trial: optuna.Trial) -> float:
        settings = base_settings | {
            name: (trial.suggest_int if isinstance(low, int) else trial.suggest_float)(name, low, high, log=True)
            for name, (low, high) in space.items()
        }
        try:
            config = configure(algorithm, chosen_env, arguments, seed=seed, steps=budget, settings=settings)
            if config.steps > budget:
                raise ValueError("a rollout has more steps than the budget")
            return train_and_measure(config).greedy.regret
        except (ValueError, IndexError) as error:  # settings exclude each other, or learning diverged
            trial.set_user_attr(FAULT, fault_of(error))
            raise optuna.TrialPruned from None
        except Exception as error:  # the code of an agent may do anything
            if not is_custom(algorithm):
                raise
            raise ValueError(fault_of(error)) from error

    with locked(out), ProgressBar("search", trials, "trials") as bar:
        search = optuna.create_study(
            storage=f"sqlite:///{out / 'search.db'}",
            study_name=f"{run_name(base)}, {budget} steps",
            load_if_exists=True,
        )
        for number in range(len(search.trials), trials):
            search.sampler = optuna.samplers.TPESampler(seed=seed + number)
            search.optimize(regret_of, n_trials=1)
            bar.tell(number + 1)
    faults = [trial.user_attrs[FAULT] for trial in search.trials if FAULT in trial.user_attrs]
    if not search.get_trials(states=[optuna.trial.TrialState.COMPLETE]):
        first = f", the first: {faults[0]}" if faults else ""
        raise ValueError(f"no trial ended within {budget:,} steps{first}; for another search, name another --out")
    if faults:
        say(f"training.tune: {len(faults)} of {trials} trials failed, the first: {faults[0]}", error=True)
    say(f"# regret {search.best_value:.4g} with seed {seed}")
    if is_custom(algorithm):
        agent = {"algorithm": algorithm, "variant": STANDARD, "budget": budget}
        settings = json.dumps(search.best_params)
        say(train_command(TrainingTask(chosen_env, arguments), {**agent, "settings": settings}, range(5)))
        return
    say(f"[{algorithm}.tuned]")
    for name, value in {"steps": budget, **base_settings, **search.best_params}.items():
        say(f"{name} = {json.dumps(value)}")


def read_ranges(algorithm: str, given: Mapping[str, Any] | None = None) -> dict[str, tuple[Any, Any]]:
    """Return the lowest and the highest value of each setting that is searched.

    Args:
        algorithm: the algorithm.
        given: pairs of values by setting; if there are none, those of agents/search.toml.

    Raises:
        ValueError: if the algorithm has no search space, or a setting or a pair is not allowed.
    """
    if given:
        return _checked_ranges(algorithm, given)
    with reading(SPACES):
        spaces = tomllib.loads(read_text(SPACES))
    if algorithm not in spaces:
        learner_named(algorithm)  # names the algorithms if there is no such one
        example = "--ranges.learning-rate [1e-4,1e-2]"
        raise ValueError(f"agents/search.toml has no ranges for {algorithm}: name them, such as {example}")
    with reading(SPACES):
        return _checked_ranges(algorithm, spaces[algorithm])


def _checked_ranges(algorithm: str, ranges: Any) -> dict[str, tuple[Any, Any]]:
    if not isinstance(ranges, dict):
        raise ValueError(f"{algorithm} must be a table, not {quoted(ranges)}")
    check_settings(algorithm, ranges)
    found = {}
    for name, ends in ranges.items():
        match ends:
            case [int() | float() as low, int() | float() as high] if 0 < low <= high:
                found[name] = low, high
            case _:
                raise ValueError(f"{algorithm}.{name} must be two numbers above 0, lowest first, not {quoted(ends)}")
    return found


main = partial(run_command, "training.tune", tune, how_to_continue="the same command continues the search")


if __name__ == "__main__":
    sys.exit(main())
