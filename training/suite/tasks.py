"""The tasks of exact-8: eight kinds, of which each edition draws one task each.

The tasks of an edition are drawn by the hash of the commit that closes its entries, so nobody can tune on them. The
development tasks, one of each kind, are never ranked. All games fit into tables, so regret is exact. The lists leave
out games that most learners solve to the last decision, and those where all stay near random play.
"""

from hashlib import sha256
from itertools import product
from typing import Any

from stb_gym.checks import check_choice
from training.results import TrainingTask

BUDGETS = {"200k": 200_000, "1m": 1_000_000}  # steps
SEEDS = 10
DEVELOPMENT = "development"
EDITIONS = {"1": "3d98968bd7e0748e7c137ef95ecf8ebed6f8e344"}  # hashes of the commits that closed their entries

BOX, DICE = "stb_gym/ShutTheBox-v0", "stb_gym/Threes-v0"


def grid(env: str, **choices: list[Any]) -> list[TrainingTask]:
    """Return the tasks of an environment for all combinations of choices for its arguments."""
    return [TrainingTask(env, dict(zip(choices, values, strict=True))) for values in product(*choices.values())]


KINDS = {
    "points": grid(BOX, tiles=[8, 9, 10], faces=[5, 7, 8]),
    "target": grid(BOX, tiles=[8, 9, 10], objective=["at-most:2", "at-most:3", "at-most:4", "at-most:5"]),
    "one-die": grid(BOX, tiles=[8, 9, 10], faces=[5, 7], one_die=["low-sum", "high-shut", "any-time"]),
    "matches": grid(BOX, tiles=[8, 9], faces=[5, 7], match=["one-tile", "two-at-most", "faces-or-sum"]),
    "ending-roll": grid(BOX, tiles=[8, 9, 10], ending_roll=[6, 8], objective=["shut"]),
    "three-dice": grid(BOX, tiles=[8, 10], dice=[3], faces=[4], objective=["shut", "at-most:2", "at-most:4"]),
    "threes": grid(DICE, dice=[5, 6], faces=[7], free_face=[1, 2, 4, 5]),
    "threes-target": grid(DICE, dice=[5, 6], free_face=[2, 4, 5], objective=["at-most:4", "at-most:6", "at-most:8"]),
}
DEVELOPMENT_TASKS = {
    "points": TrainingTask(BOX, {}),
    "target": TrainingTask(BOX, {"objective": "at-most:6"}),
    "one-die": TrainingTask(BOX, {"one_die": "high-shut"}),
    "matches": TrainingTask(BOX, {"match": "two-at-most"}),
    "ending-roll": TrainingTask(BOX, {"ending_roll": 7, "objective": "shut"}),
    "three-dice": TrainingTask(BOX, {"dice": 3, "faces": 4, "objective": "shut"}),
    "threes": TrainingTask(DICE, {}),
    "threes-target": TrainingTask(DICE, {"objective": "at-most:5"}),
}


def drawn(commit: str) -> dict[str, TrainingTask]:
    """Return a task of each kind, drawn by the hash of a commit."""

    def draw(kind: str) -> int:
        return int(sha256(f"{commit} {kind}".encode()).hexdigest(), 16)

    return {kind: tasks[draw(kind) % len(tasks)] for kind, tasks in KINDS.items()}


def tasks_of(edition: str) -> dict[str, TrainingTask]:
    """Return the eight tasks of an edition by kind.

    Raises:
        ValueError: if there is no such edition.
    """
    check_choice("edition", edition, [*EDITIONS, DEVELOPMENT])
    return DEVELOPMENT_TASKS if edition == DEVELOPMENT else drawn(EDITIONS[edition])
