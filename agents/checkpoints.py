"""A learner on disk: arrays in safetensors, everything else in JSON.

A file is written whole or not at all, and loading one executes no code from it.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from agents.learner import Learner, Snapshot
from stb_gym.output import check_file, from_json, write_aside

ENTRIES = "entries"  # where the metadata of a file has what is no array


def save_weights(path: Path, learner: Learner) -> None:
    """Write the weights of a learner."""
    _write(path, learner.weights(), None)


def load_weights(path: Path, learner: Learner) -> None:
    """Read weights that `save_weights` wrote into a learner of the same configuration.

    Raises:
        ValueError: if the file is missing, is damaged, or does not fit the learner.
    """
    weights, _ = _read(path)
    wanted = learner.weights()
    if {n: (a.shape, a.dtype) for n, a in weights.items()} != {n: (a.shape, a.dtype) for n, a in wanted.items()}:
        raise ValueError(f"{path} does not fit its configuration")
    if not all(np.isfinite(array).all() for array in weights.values()):
        raise ValueError(f"{path} holds numbers that are not finite")
    learner.load_weights(weights)


def save_snapshot(path: Path, snapshot: Snapshot) -> None:
    """Write a snapshot of a learner, whose entries are arrays or anything that JSON can hold."""
    arrays = {name: entry for name, entry in snapshot.items() if isinstance(entry, np.ndarray)}
    others = {name: entry for name, entry in snapshot.items() if name not in arrays}
    _write(path, arrays, {ENTRIES: json.dumps(others)})


def load_snapshot(path: Path) -> dict[str, Any]:
    """Read a snapshot that `save_snapshot` wrote.

    Raises:
        ValueError: if the file is missing, is damaged or holds no snapshot.
    """
    arrays, metadata = _read(path)
    try:
        return {**from_json(metadata[ENTRIES]), **arrays}
    except (KeyError, ValueError, TypeError):
        raise ValueError(f"{path} holds no snapshot") from None


def _write(path: Path, arrays: dict[str, NDArray[Any]], metadata: dict[str, str] | None) -> None:
    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}  # one number stays one number
    # If safetensors wrote the file itself, a full disk would be an error of its own, and no OSError.
    with write_aside(path) as aside:
        aside.write_bytes(save(contiguous, metadata))


def _read(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    try:
        check_file(path)
        with safe_open(path, "numpy") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except FileNotFoundError:
        raise ValueError(f"there is no {path}") from None
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path} is damaged or no file of a learner: {error}") from None
