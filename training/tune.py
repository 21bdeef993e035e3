"""Search the settings that leave the least regret after a number of steps: `python -m training.tune ppo --steps N ...`.

The folder of a search holds `search.json`, from which the same command goes on if it was interrupted, and `trials.csv`.
"""

import json
import math
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
import tyro

from agents.presets import FILE, STANDARD, read_presets
from stb_gym.games import check_integer
from stb_gym.output import Progress, from_json, read_text, write_text
from training.arguments import answer, answered, read_arguments
from training.entries import check_entries, made_of
from training.rows import csv_text
from training.run_writer import alone
from training.search import SPACES, Search, Trial, best_of, mean_log, read_space
from training.train import task_from_flags


@dataclass(frozen=True)
class Arguments:
    """Search settings by exact regret, and print the best as a budget for agents/presets.toml."""

    algorithm: tyro.conf.Positional[str]
    """One of agents/config.py, such as ppo or dqn."""
    out: Path
    """Folder of the search."""
    env: str = "stb_gym/ShutTheBox-v0"
    """Environment, by its id."""
    objective: str | None = None
    """What is rewarded: score, shut or at-most:T (default: what the environment rewards, mostly the score)."""
    variant: str = STANDARD
    """Variant of the preset that the search starts from."""
    steps: int | None = None
    """Steps of a training (default: those of the preset)."""
    presets: Path = FILE
    """File of the presets."""
    settings: dict[str, bool | int | float] = field(default_factory=dict)
    """Settings that differ from those of the preset, and are not searched."""
    spaces: Path = SPACES
    """File of the settings that are searched, and from where to where."""
    trials: int = 50
    """How many settings are tried."""
    seeds: int = 2
    """How many times each of them is trained."""
    seed: int = 0
    """The first seed, and that of the proposals."""
    limit_minutes: float | None = None
    """The most processor minutes that a training may take (default: any)."""
    finalists: int = 3
    """How many of the best are trained again with seeds that they were not chosen by."""
    fresh_seeds: int = 4
    """How many such seeds."""
    json: bool = False
    """Print JSON instead."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options, flags = read_arguments(Arguments, arguments, "training.tune", rules=True)
    torch.set_num_threads(1)
    words = sys.argv[1:] if arguments is None else arguments
    return answered(
        "training.tune", lambda: _tune(options, flags, words), f"the same command goes on with {options.out}"
    )


def _tune(options: Arguments, flags: list[str], words: list[str]) -> None:
    for name in ("trials", "seeds", "finalists", "fresh_seeds"):
        check_integer(name.replace("_", "-"), getattr(options, name), 1, 10**6)
    if options.limit_minutes is not None and not 0 < options.limit_minutes < math.inf:
        raise ValueError(f"limit-minutes must be a number above 0, not {options.limit_minutes}")
    task, presets = task_from_flags(options.env, options.objective, flags), read_presets(options.presets)
    config = presets.config(options.algorithm, task, options.variant, options.seed, options.steps, options.settings)
    space = read_space(options.spaces, config)
    for name in (name for name in options.settings if name in space):
        raise ValueError(f"{name} is searched, and cannot be given")
    search = Search(config, space, options.seeds, options.limit_minutes)
    with alone(options.out, waits=False):
        best = tune(search, options.out, options.trials, options.finalists, options.fresh_seeds)
    following = [name for anchor in presets.budgets[options.algorithm][:1] for name in anchor if name != "steps"]
    command = ["python", "-m", "training.tune", *words]
    result = result_of(search, best, list(dict.fromkeys([*following, *space])))
    answer(json.dumps(result) if options.json else as_budget(result, shlex.join(command)))


def tune(search: Search, out: Path, trials: int, finalists: int, fresh_seeds: int) -> Trial:
    """Make the trials that a folder does not have yet; returns the best by the seeds that none was chosen by.

    Args:
        search: what is searched.
        out: folder of the search.
        trials: how many settings are tried.
        finalists: how many of the best are trained again.
        fresh_seeds: with how many seeds.

    Raises:
        ValueError: if the folder holds another search or a damaged one, or no trial was finished.
    """
    made = _read(out, search)
    with Progress("search", trials + finalists, "trials", initial=len(made)) as progress:
        while len(made) < trials:
            made.append(search.next_trial(made))
            _write(out, search, made)
            progress.tell(len(made), note=_note(made))
        while waiting := [trial for trial in best_of(made, finalists) if len(trial.fresh) < fresh_seeds]:
            search.train_afresh(waiting[0], fresh_seeds)
            _write(out, search, made)
            progress.tell(trials + finalists - len(waiting) + 1, note=_note(made))
    best = best_of(made, finalists)
    if not best:
        raise ValueError(f"no trial was finished; {out / 'trials.csv'} says why")
    return min(best, key=lambda trial: mean_log(trial.fresh))


def result_of(search: Search, best: Trial, names: Sequence[str]) -> dict[str, Any]:
    """What was found, as plain JSON.

    Args:
        search: what was searched.
        best: its best trial.
        names: settings that are told.
    """
    settings = asdict(search.config_of(best, 0).settings)
    return {
        "algorithm": search.config.algorithm,
        "steps": search.config.steps,
        "settings": {name: settings[name] for name in names},
        "regret": math.exp(mean_log(best.fresh)),
        "regrets": best.fresh,
        "minutes": best.minutes,
    }


def as_budget(result: dict[str, Any], command: str) -> str:
    """What was found as a budget for the file of presets, below the command and what it is worth."""
    lines = [
        f"# {command}",
        f"# regret {result['regret']:.3g} after {result['minutes']:.2g} processor minutes, the geometric mean of "
        f"{len(result['regrets'])} seeds that it was not chosen by",
        f"[[{result['algorithm']}.budget]]",
        f"steps = {result['steps']:_}",
    ]
    return "\n".join([*lines, *(f"{name} = {_toml(value)}" for name, value in result["settings"].items())])


def _toml(value: bool | int | float) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:_}"


def _note(made: Sequence[Trial]) -> str:
    return "".join(f"least regret {math.exp(mean_log(trial.regrets)):.4g}" for trial in best_of(made, 1))


def _record(search: Search) -> dict[str, Any]:
    space = {name: list(ends) for name, ends in search.space.items()}
    limits = {"seeds": search.seeds, "limit_minutes": search.limit_minutes}
    return {"config": search.config.to_json(), "space": space, **limits}


def _read(out: Path, search: Search) -> list[Trial]:
    """The trials that a folder has."""
    path = out / "search.json"
    if not path.exists():
        return []
    try:
        entries = from_json(read_text(path))
        check_entries(entries, {"search": Any, "trials": list[Any]})
        record, trials = entries["search"], [made_of(Trial, trial) for trial in entries["trials"]]
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} is damaged or no file of a search: {error}") from None
    if record != json.loads(json.dumps(_record(search))):
        raise ValueError(f"{out} holds another search: remove it, or name another folder by --out")
    return trials


def _write(out: Path, search: Search, made: Sequence[Trial]) -> None:
    trials = [asdict(trial) for trial in made]
    write_text(out / "search.json", json.dumps({"search": _record(search), "trials": trials}, indent=1) + "\n")
    rows = [
        {
            "trial": number,
            "regret": math.exp(mean_log(trial.regrets)) if trial.regrets else "",
            "fresh_regret": math.exp(mean_log(trial.fresh)) if trial.fresh else "",
            "minutes": trial.minutes,
            "outcome": trial.outcome,
            **trial.settings,
        }
        for number, trial in enumerate(made)
    ]
    write_text(out / "trials.csv", csv_text(rows[0], rows))


if __name__ == "__main__":
    sys.exit(main())
