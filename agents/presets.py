"""The presets of `presets.toml`: the steps and settings that an algorithm is trained with on a task.

Some settings follow the budget, which is how many steps the training has, wherever the task has none of its own.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

from agents.budgets import Anchor, check_anchors, settings_at
from agents.config import ALGORITHMS, Config, Task, settings_from, task_from
from stb_gym.games import check_choice, check_integer, check_names
from stb_gym.output import read_text

FILE = Path(__file__).with_name("presets.toml")
STANDARD = "standard"
ANY_TASK = "any-task"  # in the place of a task: variants of an algorithm that are the same for all tasks


@dataclass(frozen=True)
class Presets:
    """The tasks that have a name, and what each algorithm is trained with.

    Attributes:
        tasks: tasks by name.
        file: the file that they were read from.
        entries: entries[algorithm][task, variant] has the `steps` and the settings, but for those that follow the
            budget; `task` is the name of a task, or None for all tasks without a name.
        budgets: budgets[algorithm] has the settings that follow the budget, where they are known.
    """

    tasks: Mapping[str, Task]
    file: Path
    entries: Mapping[str, Mapping[tuple[str | None, str], Mapping[str, Any]]]
    budgets: Mapping[str, Sequence[Anchor]]

    def name(self, task: Task) -> str | None:
        """The name of a task, None if it has none."""
        for name, each in self.tasks.items():
            if (each.env, each.game(), each.objective) == (task.env, task.game(), task.objective):
                return name
        return None

    def config(
        self,
        algorithm: str,
        task: Task,
        variant: str = STANDARD,
        seed: int = 0,
        steps: int | None = None,
        changes: Mapping[str, Any] | None = None,
    ) -> Config:
        """The training of an algorithm on a task, by its preset.

        Args:
            algorithm: one of ALGORITHMS.
            task: what is to be learned.
            variant: variant of the preset.
            seed: of the dice, the network and the exploration.
            steps: how many steps to make, or None for those of the preset; the settings follow.
            changes: settings that differ from those of the preset, by name.

        Raises:
            ValueError: naming what is not allowed, and what is.
        """
        check_choice("algorithm", algorithm, list(ALGORITHMS))
        name = self.name(task)
        variants = [known for of, known in self.entries[algorithm] if of == name] or [STANDARD]
        check_choice(f"variant of {algorithm} on {name or 'tasks without a name'}", variant, variants)
        entries = dict(self.entries[algorithm].get((name, variant), self.entries[algorithm][None, STANDARD]))
        preset_steps = entries.pop("steps")
        steps = preset_steps if steps is None else steps
        check_integer("steps", steps, 1, 10**12)
        entries = {**settings_at(self.budgets[algorithm], steps), **entries}
        check_names("setting", changes or {}, list(entries))
        return Config(algorithm, task, settings_from(algorithm, {**entries, **(changes or {})}), steps, seed)


@lru_cache
def read_presets(path: Path = FILE) -> Presets:
    """The presets of a file.

    Raises:
        ValueError: naming the file, the table and the first entry that is missing, unknown or not allowed.
    """
    try:
        tables = tomllib.loads(read_text(path))
        check_names("table", tables, ["tasks", *ALGORITHMS])
        for name in ("tasks", *ALGORITHMS):
            if not isinstance(tables.get(name), dict):
                raise ValueError(f"[{name}] is missing, or no table")
        tasks = {name: task_from(entries) for name, entries in tables["tasks"].items()}
        budgets = {name: _budgets(name, tables[name].pop("budget", []), tables[name]) for name in ALGORITHMS}
        entries = {name: _entries(name, tables[name], tasks, budgets[name]) for name in ALGORITHMS}
        return Presets(tasks, path, entries, budgets)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None


def _budgets(algorithm: str, anchors: Any, table: Mapping[str, Any]) -> Sequence[Anchor]:
    base, _ = _split(table)
    with _named(f"[{algorithm}.budget]"):
        check_anchors(anchors)
        for name in (name for anchor in anchors for name in anchor if name in base and name != "steps"):
            raise ValueError(f"{name} stands in [{algorithm}] too")
    for anchor in anchors:
        with _named(f"[{algorithm}.budget] of {anchor['steps']:,} steps"):
            _check(algorithm, base | anchor)
    return tuple(anchors)


def _entries(
    algorithm: str, table: Mapping[str, Any], tasks: Mapping[str, Task], budgets: Sequence[Anchor]
) -> dict[tuple[str | None, str], dict[str, Any]]:
    base, by_task = _split(table)
    found: dict[tuple[str | None, str], dict[str, Any]] = {(None, STANDARD): base}
    check_names("task", by_task, [*tasks, ANY_TASK])
    plain, of_any = _split(by_task.get(ANY_TASK, {}))
    if plain:
        raise ValueError(f"[{algorithm}.{ANY_TASK}]: only variants stand here, such as [{algorithm}.{ANY_TASK}.quick]")
    for task in tasks:
        of_task, by_variant = _split(by_task.get(task, {}))
        found[task, STANDARD] = base | of_task
        for variant, entries in by_variant.items():
            found[task, variant] = base | of_task | of_any.get(variant, {}) | entries
    for place in product((None, *tasks), of_any):
        found.setdefault(place, base | of_any[place[1]])
    for (of, variant), entries in found.items():
        where = ".".join([algorithm, *([of] if of else []), *([variant] if variant != STANDARD else [])])
        with _named(f"[{where}]"):
            _check_name(of or "", variant)
            _check(algorithm, entries, budgets)
    return found


@contextmanager
def _named(table: str) -> Iterator[None]:
    """Name the table in which a mistake is found."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{table}: {error}") from None


def _check_name(*names: str) -> None:
    """Raise a ValueError for a name that could not be part of a folder's name and a word of a command."""
    for name in names:
        if not re.fullmatch(r"[a-z0-9-]*", name):
            raise ValueError(f"a name has small letters, digits and hyphens only, unlike {name!r}")


def _check(algorithm: str, entries: Mapping[str, Any], budgets: Sequence[Anchor] = ()) -> None:
    settings_class, _ = ALGORITHMS[algorithm]
    check_names("setting", entries, ["steps", *(each.name for each in fields(settings_class))])
    if "steps" not in entries:
        raise ValueError("the setting 'steps' is missing")
    check_integer("steps", entries["steps"], 1, 10**12)
    settings = {**settings_at(budgets, entries["steps"]), **entries}
    settings_from(algorithm, {name: value for name, value in settings.items() if name != "steps"})


def _split(table: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The entries of a table that are no tables, and those that are."""
    tables = {name: entry for name, entry in table.items() if isinstance(entry, dict)}
    return {name: entry for name, entry in table.items() if name not in tables}, tables
