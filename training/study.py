"""Train several runs, a study: in processes of this machine, or as tasks on a Ray cluster."""

import logging
import signal
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
from joblib import Parallel, delayed  # type: ignore[import-untyped]

from agents.presets import Config
from stb_gym.output import Progress, reason
from training.results import read_numbers, save_results
from training.run import train

LOCK_SECONDS = 60.0  # for the process of a lost node to end


def run_study(
    runs: Mapping[Path, Config], *, workers: int = 1, ray: Sequence[str] | None = None, **options: Any
) -> dict[Path, str]:
    """Train runs that are not finished yet; interrupted runs continue from their checkpoints.

    Args:
        runs: configurations by the folders of their runs.
        workers: how many runs are trained at a time on this machine.
        ray: train on a Ray cluster instead: its address, or an empty list for the cluster of this machine. All nodes
            must see the folders by the same paths. A run whose node is lost continues on another node.
        options: options of `training.run.train`.

    Returns:
        Why runs failed, by folder.

    Raises:
        ImportError: if there is no Ray.
        ValueError: if `workers` is 0, or there is no such cluster.
    """
    total = sum(config.steps for config in runs.values())
    finished = 0
    failures = {}
    with Progress("training", total, "steps") as progress:
        if ray is None and workers == 1:
            options["progress"] = lambda steps, result: progress.tell(
                min(finished + steps, total), note=None if result is None else f"{result:.4g}"
            )
        tasks = [
            (folder, Path.cwd(), config.to_json(), type(config.game()).__module__, options)
            for folder, config in runs.items()
        ]
        if ray is None:
            ended = Parallel(n_jobs=workers, return_as="generator_unordered")(delayed(_train)(*task) for task in tasks)
        else:
            ended = on_ray(_train, tasks, options.get("device", "cpu"), *ray)
        for folder, failure in ended:
            finished += runs[folder].steps
            progress.tell(finished, note=folder.name)
            if failure:
                failures[folder] = failure
    return failures


def _train(
    folder: Path, parent: Path, config: dict[str, Any], module: str, options: dict[str, Any]
) -> tuple[Path, str]:
    """Train a run whose game a module registers; return its folder, relative to a parent, and why it failed, or ""."""
    try:
        import_module(module)
        train(Config.from_json(config), parent / folder, wait=LOCK_SECONDS, **options)
    except Exception as error:  # whatever it is, other runs continue
        return folder, reason(error)
    return folder, ""


def fill_table(
    function: Callable[..., Sequence[float]],
    keys: Sequence[tuple[Any, ...]],
    names: Sequence[str],
    numbers: Sequence[str],
    out: Path,
    workers: int = 1,
    ray: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Call a function for every key that a results file does not have yet; rows are added as the calls end.

    Args:
        function: trains and measures; it is called with the entries of a key, and returns the numbers of its row.
        keys: keys, of strings and integers.
        names: names of the columns of the key.
        numbers: names of the columns of numbers.
        out: the results file, .csv.gz.
        workers: calls that run at a time.
        ray: as in `run_study`.

    Returns:
        The rows of the keys.

    Raises:
        ValueError: if the file is damaged or a call failed; after all others.
    """
    rows = read_numbers(out, [*names]) if out.exists() else pd.DataFrame(columns=[*names, *numbers])
    done = {*rows.set_index([*names]).index}
    missing = [(key, function) for key in keys if key not in done]
    if ray is None:
        ended = Parallel(n_jobs=workers, return_as="generator_unordered")(delayed(_numbers)(*each) for each in missing)
    else:
        ended = on_ray(_numbers, missing, "cpu", *ray)
    failures = []
    with Progress("training", len(missing), "runs") as progress:
        for count, (key, result) in enumerate(ended, 1):
            if isinstance(result, str):
                failures.append(f"{' '.join(map(str, key))}: {result}")
            else:
                rows.loc[len(rows)] = [*key, *result]
                save_results(out, rows)
            progress.tell(count)
    if failures:
        raise ValueError(f"{len(failures)} of {len(missing)} trainings failed, the first: {failures[0]}")
    return rows.set_index([*names]).loc[[*keys]].reset_index()


def _numbers(
    key: tuple[Any, ...], function: Callable[..., Sequence[float]]
) -> tuple[tuple[Any, ...], Sequence[float] | str]:
    """Return a key, and the numbers of its row or why there are none."""
    try:
        return key, function(*key)
    except Exception as error:  # whatever an agent does, other trainings go on
        return key, reason(error)


def on_ray(
    function: Callable[..., tuple[Any, Any]], tasks: Sequence[tuple[Any, ...]], device: str, address: str = "auto"
) -> Iterator[tuple[Any, Any]]:
    """Call a function on a Ray cluster, and yield what it returns as the calls end.

    Args:
        function: returns its first argument, and its result or why it failed.
        tasks: the arguments of each call.
        device: "cpu" for a core for each call, else a graphics card.
        address: the address of the cluster.

    Raises:
        ValueError: if there is no such cluster.
    """
    import ray

    try:
        if address != "auto":  # Ray would try for minutes
            host, _, port = address.rpartition(":")
            socket.create_connection((host, int(port)), timeout=10).close()
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # which Ray replaced
    except (OSError, ValueError) as error:
        raise ValueError(f"there is no Ray cluster at {address}: {reason(error)}") from None
    try:
        on_cpu = int(device == "cpu")
        remote: Any = ray.remote(max_retries=-1, num_cpus=on_cpu, num_gpus=1 - on_cpu)(function)
        waiting = {remote.remote(*task): task[0] for task in tasks}
        while waiting:
            [done], _ = ray.wait(list(waiting))
            first = waiting.pop(done)
            try:
                yield ray.get(done)
            except ray.exceptions.RayError as error:
                yield first, reason(getattr(error, "cause", error))  # the cause of an error in the task
    finally:
        ray.shutdown()
