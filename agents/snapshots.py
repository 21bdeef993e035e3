"""Snapshots of learners: their parts by name, and whether one that was read from a file is of the learner it is for."""

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from agents.learner import Learner, Snapshot
from stb_gym.envs import restore_generator

CHECKED_APART = ("envs", "optimizer", "playing", "positions", "replay")  # parts that check what they are given
SEEN = ("observation", "observations")  # whose numbers may be negative
COUNT_BITS = 128  # of the largest integers, which are states of random numbers


def part(snapshot: Snapshot, name: str) -> dict[str, Any]:
    """The entries of a snapshot whose names begin with `name.`, by the rest of their names."""
    return {key.removeprefix(f"{name}."): value for key, value in snapshot.items() if key.startswith(f"{name}.")}


def named(name: str, entries: Snapshot) -> dict[str, Any]:
    """Entries with `name.` before their names, from which `part` finds them again."""
    return {f"{name}.{key}": value for key, value in entries.items()}


def take_up(
    learner: Learner,
    snapshot: Snapshot,
    random: np.random.Generator,
    parts: Mapping[str, Callable[[dict[str, Any]], None]],
    growing: Collection[str] = (),
) -> None:
    """Check that a snapshot is like a learner's own, and let its random numbers and its parts go on from it.

    Args:
        learner: the learner.
        snapshot: what was read.
        random: the learner's random numbers, which are the entry `random`.
        parts: what restores the entries of each part; those of CHECKED_APART are checked by it, too.
        growing: see `check_like`.

    Raises:
        ValueError: if an entry is missing, or is unlike the learner's own.
    """
    check_like(snapshot, learner.snapshot(), growing, CHECKED_APART)
    restore_generator(random, snapshot["random"])
    for name, restore in parts.items():
        restore(part(snapshot, name))


def check_like(snapshot: Snapshot, own: Snapshot, growing: Collection[str] = (), but: Collection[str] = ()) -> None:
    """Raise a ValueError unless a snapshot holds what a learner's own does, and under each name something like it.

    Arrays are alike that are of one type and shape, and whose numbers are finite and, if they are integers and not what
    was seen, not negative. What JSON holds is alike if it is of one type, with the same names in objects.

    Args:
        snapshot: what was read.
        own: the snapshot of the learner that is to go on from it.
        growing: the parts, which are names up to their first dot, of arrays that may have any number of rows.
        but: the parts that others check.

    Example:
        >>> check_like({"steps": 5}, {"steps": 0})
        >>> check_like({"steps": 5.0}, {"steps": 0})
        Traceback (most recent call last):
        ValueError: the entry 'steps' is no snapshot's of this learner
    """
    of = {name: name.partition(".")[0] for name in (*snapshot, *own) if name.partition(".")[0] not in but}
    for name in of:
        lowest = -math.inf if name.rpartition(".")[2] in SEEN else 0
        if not (name in snapshot and name in own and _is_like(snapshot[name], own[name], of[name] in growing, lowest)):
            raise ValueError(f"the entry {name!r} is no snapshot's of this learner")


def _is_like(entry: Any, mine: Any, grows: bool = False, lowest: float = 0) -> bool:
    if type(entry) is not type(mine):
        return False
    if isinstance(mine, np.ndarray):
        same = entry.dtype == mine.dtype and entry.ndim == mine.ndim and entry.shape[grows:] == mine.shape[grows:]
        return same and bool(np.isfinite(entry).all() if entry.dtype.kind == "f" else (entry >= lowest).all())
    if isinstance(mine, dict):
        return entry.keys() == mine.keys() and all(_is_like(entry[name], mine[name]) for name in mine)
    if isinstance(mine, int):
        return 0 <= entry < 2**COUNT_BITS
    return math.isfinite(entry) if isinstance(mine, float) else True
