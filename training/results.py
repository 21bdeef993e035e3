"""Measurements of runs as one table: read them from folders of runs and from results files, and save them.

A row is one measurement of one run. It has the configuration of the run (`CONFIGURATION`) and the columns of its
curve.csv, without the losses of the learner (`train/...`).
"""

import io
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]

from agents.presets import STANDARD, game_and_objective, is_close, task_name
from stb_gym.console import say
from stb_gym.files import from_json, read_bytes, reading, write_aside
from stb_gym.games import Game
from stb_gym.solver import Objective, objective_of
from training.run import Run
from training.seeds import interval

TASK = ["env", "arguments", "opponents", "players"]
AGENT = ["algorithm", "variant", "settings", "budget"]
CONFIGURATION = [*TASK, *AGENT, "seed"]
TYPES = dict.fromkeys([*TASK, *AGENT], str) | {"budget": int, "seed": int, "steps": int, "seconds": float}
METRICS = {"regret": float, "gain": float}
NEVER_UPDATED = "made no update: the policy that is measured is the one that it began with"


@dataclass(frozen=True)
class TrainingTask:
    """What runs were trained on.

    Attributes:
        env: id of the environment.
        arguments: its rules and objective, where they differ from those of the id.
        opponents: the opponents of a run in rounds; "" for a run on single turns.
        players: the number of players in a round; "" for a run on single turns.
    """

    env: str
    arguments: dict[str, Any]
    opponents: str = ""
    players: str = ""

    @property
    def metric(self) -> str:
        """The column that agents are compared by: the largest gain of a seat in rounds, else the regret."""
        return "gain" if self.opponents else "regret"

    @property
    def game(self) -> Game:
        """The rules of the turn."""
        return game_and_objective(self.env, self.arguments)[0]

    @property
    def import_flag(self) -> list[str]:
        """The words --import MODULE of commands about a game of your own; none for a game of the library."""
        module = type(self.game).__module__
        return [] if module.startswith("stb_gym.") else ["--import", module]

    @property
    def objective(self) -> Objective:
        """The objective of a turn."""
        return objective_of(*game_and_objective(self.env, self.arguments))

    @property
    def heading(self) -> str:
        """The metric and its unit, such as "regret (points)"."""
        return "largest gain (expected wins)" if self.opponents else f"regret ({self.objective.unit})"

    @property
    def name(self) -> str:
        """The name of the task in agents/presets.py, or one made of the environment and its arguments; for files."""
        words = [self.env.rpartition("/")[2], *(str(word) for pair in self.arguments.items() for word in pair)]
        name = task_name(self.env, self.arguments) or "-".join(words)
        if self.opponents:
            name += f"-{self.players}-players-{self.opponents}"
        return re.sub("[^a-zA-Z0-9_.-]", "-", name)


def read_measurements(paths: Iterable[Path]) -> pd.DataFrame:
    """Read runs and results files into one table.

    Args:
        paths: folders of runs, and files that `save_results` wrote.

    Returns:
        Their rows, with two more columns: `made` has the steps of the run, or its budget if they are close to it;
        `folder` has the folder of the run, or "" for rows of a file.

    Raises:
        ValueError: if there is no path, a file is missing or damaged, or two runs have the same configuration and seed.
    """
    frames = [
        read_run(path).assign(folder=str(path)) if path.is_dir() else read_results(path).assign(folder="")
        for path in paths
    ]
    if not frames:
        raise ValueError("name at least one run or results file")
    measurements = pd.concat(frames, ignore_index=True)
    if measurements.duplicated([*CONFIGURATION, "steps"]).any():
        raise ValueError("two of the runs have the same configuration and the same seed")
    made, budget = measurements.groupby(CONFIGURATION)["steps"].transform("max"), measurements["budget"]
    return measurements.assign(made=made.where(~is_close(made, budget), budget))


def read_run(folder: Path) -> pd.DataFrame:
    """Read the measurements of one run; warn if it is not finished or made no update.

    Raises:
        ValueError: if a file is missing or damaged.
    """
    run = Run(folder)
    curve = run.curve()
    steps = curve["steps"].iloc[-1]
    result = run.result() if (folder / "result.json").exists() else {"finished": steps >= run.config.steps}
    if not result["finished"]:
        say(f"{folder} is not finished: {steps:,} of {run.config.steps:,} steps", error=True)
    elif not result.get("updated", True):
        say(f"{folder} {NEVER_UPDATED}", error=True)
    entries = run.config.to_json()
    planned, asked = entries.pop("steps"), entries["budget"]
    entries["budget"] = asked if asked is not None and is_close(planned, asked) else planned
    entries |= {name: json.dumps(entries[name], sort_keys=True) for name in ("arguments", "settings")}
    entries |= {name: str(entries[name] or "") for name in ("opponents", "players")}
    return curve.loc[:, ~curve.columns.str.startswith("train/")].assign(**entries)


def read_results(path: Path) -> pd.DataFrame:
    """Read a file that `save_results` wrote.

    Raises:
        ValueError: if it is missing or damaged.
    """
    with reading(path):
        content = io.BytesIO(read_bytes(path))
        frame = pd.read_csv(content, dtype=TYPES | METRICS, compression="gzip").fillna(dict.fromkeys(TASK, ""))
        # NaN where the seconds or the metric are missing
        measured = frame.reindex(columns=["seconds", *METRICS]).sum(axis=1, min_count=2)
        if frame.empty or frame[list(TYPES)].isna().any(axis=None) or not np.isfinite(measured).all():
            raise ValueError("values are missing or not finite")
        return frame


def read_numbers(path: Path, key: list[str]) -> pd.DataFrame:
    """Read a table of `fill_table`: columns of a key, and columns of finite numbers.

    Raises:
        ValueError: if it is missing or damaged.
    """
    with reading(path):
        rows = pd.read_csv(io.BytesIO(read_bytes(path)), compression="gzip")
        if not np.isfinite(rows.set_index(key).to_numpy(float)).all():
            raise ValueError("numbers are not finite")
        return rows


def save_results(path: Path, measurements: pd.DataFrame) -> None:
    """Write a table of measurements to a .csv.gz file; equal tables give equal bytes.

    Raises:
        ValueError: if the name does not end in .csv.gz.
    """
    if not path.name.endswith(".csv.gz"):
        raise ValueError(f"the name of a results file ends in .csv.gz, unlike {path}")
    with write_aside(path) as aside:
        measurements.to_csv(aside, index=False, compression={"method": "gzip", "mtime": 0})


def by_task(measurements: pd.DataFrame) -> dict[str, tuple[TrainingTask, pd.DataFrame]]:
    """Return every task with its measurements, by its name.

    Raises:
        ValueError: if an environment or its arguments are unknown.
    """
    tasks: dict[str, tuple[TrainingTask, pd.DataFrame]] = {}
    for (env, arguments, opponents, players), frame in measurements.groupby(TASK, sort=False):
        task = TrainingTask(env, from_json(arguments), opponents, players)
        same, others = tasks.get(task.name, (task, None))  # the same task, written otherwise
        tasks[task.name] = (same, pd.concat([others, frame]))
    return tasks


def by_agent(measurements: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the measurements of one task by the name of the agent: all seeds of one configuration.

    A name has the algorithm, the variant and the steps where they differ, and the settings that differ between agents
    of as many steps. Where a run did not make the steps of its budget, the name has both.
    """
    agents = {}
    variants = measurements.groupby("algorithm")["variant"].nunique()
    for (algorithm, variant), alike in measurements.groupby(["algorithm", "variant"], sort=False):
        for (made, budget), equal in alike.groupby(["made", "budget"], sort=False):
            settings = [from_json(text) for text in equal["settings"]]
            others = [own for number, own in enumerate(settings) if own not in settings[:number]]
            for own in others:  # 1 and 1.0 are equal
                words = [algorithm] if variant == STANDARD or variants[algorithm] == 1 else [algorithm, variant]
                if made != budget:
                    words.append(f"{made:,} of {budget:,} steps")
                elif alike["made"].nunique() > 1:
                    words.append(f"{made:,} steps")
                for name, value in own.items():
                    if any(other.get(name) != value for other in others):
                        words.append(f"{name} {value}")
                agents[", ".join(words)] = equal[[each == own for each in settings]]
    return agents


def curve_over_seeds(runs: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the learning curve of an agent, as far as all its seeds come.

    Seeds that were measured after other numbers of steps are interpolated linearly.

    Args:
        runs: the measurements of all its seeds.
        metric: the column to summarise.

    Returns:
        A row per measurement, with the columns steps, seconds, median, low and high (the ends of the median's
        interval). Seconds are medians, too.
    """
    by_seed = runs.pivot(index="steps", columns="seed", values=["seconds", metric])
    by_seed = by_seed.interpolate("index", limit_area="inside").dropna()
    seconds, values = (by_seed[column].to_numpy().T for column in ("seconds", metric))
    low, high = interval(values)
    columns = {"seconds": np.median(seconds, axis=0), "median": np.median(values, axis=0), "low": low, "high": high}
    return pd.DataFrame({"steps": by_seed.index, **columns})
