"""Train several runs, a study: in processes of this machine, or as tasks on a Ray cluster."""

import logging
import signal
import socket
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
from filelock import FileLock
from joblib import Parallel, delayed  # type: ignore[import-untyped]

from agents.custom import ALLOWED, allow, fault_of
from agents.presets import Config
from stb_gym.files import read_json
from stb_gym.messages import reason
from stb_gym.tracking import ProgressBar
from training.results import read_numbers, save_results
from training.run import train

LOCK_SECONDS = 60.0  # until the process of a lost machine has ended
MOST_KILLS = 9  # a run on a cluster that was killed so often is not tried again
GLANCE_SECONDS = 1.0  # between two looks at the progress of runs
Call = tuple[Any, ...]  # the arguments of a call


def run_study(
    runs: Mapping[Path, Config], *, workers: int = 1, ray: Sequence[str] | None = None, **options: Any
) -> dict[Path, str]:
    """Train runs that are not finished yet; interrupted runs continue from their checkpoints.

    Args:
        runs: configurations by the folders of their runs.
        workers: how many runs are trained at a time on this machine.
        ray: train on a Ray cluster instead: its address, or an empty list for the cluster of this machine. All nodes of
            the cluster must see the folders by the same paths. If a node is lost, its runs continue on another one.
        options: options of `training.run.train`.

    Returns:
        The reason of each failure, by folder.

    Raises:
        ImportError: if there is no Ray.
        ValueError: if `workers` is 0, or there is no such cluster.
    """
    total = sum(config.steps for config in runs.values())
    finished = 0
    failures = {}
    with ProgressBar("training", total, "steps") as bar:
        if ray is None and workers == 1:
            options["progress"] = lambda steps, result: bar.tell(
                min(finished + steps, total), note=None if result is None else f"{result:.4g}"
            )
        over = Event()

        def watch() -> None:
            while not over.wait(GLANCE_SECONDS):
                bar.tell(sum(map(_steps_of, runs)))

        watcher = Thread(target=watch, daemon=True)
        if "progress" not in options:
            watcher.start()
        calls = [
            (folder, Path.cwd(), config, {type(config.game()).__module__, *ALLOWED}, options)
            for folder, config in runs.items()
        ]
        try:
            for (folder, *_), _, failure in in_parallel(_train, calls, workers, ray, options.get("device", "cpu")):
                finished += runs[folder].steps
                bar.tell(sum(map(_steps_of, runs)), note=f"{folder.name} failed" if failure else folder.name)
                if failure:
                    failures[folder] = failure
        finally:
            over.set()
            if watcher.is_alive():
                watcher.join()
    return failures


def _steps_of(folder: Path) -> int:
    """Return the steps of a run at its last measurement, 0 before the first."""
    try:
        return int(read_json(folder / "result.json")["steps"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def _train(folder: Path, parent: Path, config: Config, modules: set[str], options: dict[str, Any]) -> None:
    """Train a run in a folder below `parent`; `modules` register its game and have its agent."""
    if str(parent) not in sys.path:  # a process on another machine begins elsewhere
        sys.path.insert(0, str(parent))
    for module in modules:
        allow(module)
    train(config, parent / folder, wait=LOCK_SECONDS, **options)


def fill_table(
    function: Callable[..., Sequence[float]],
    keys: Sequence[tuple[Any, ...]],
    names: list[str],
    numbers: list[str],
    out: Path,
    workers: int = 1,
) -> pd.DataFrame:
    """Call a function for every key that a results file does not have yet; rows are added as the calls end.

    Args:
        function: trains and measures; it is called with the entries of a key, and returns the numbers of its row.
        keys: keys, of strings and integers.
        names: names of the columns of the key.
        numbers: names of the columns of numbers.
        out: the results file, .csv.gz.
        workers: calls that run at a time.

    Returns:
        The rows of the keys.

    Raises:
        ValueError: if there are no keys, the file is damaged, or, after all others, a call failed.
    """
    if not keys:
        raise ValueError("there is nothing to train")

    def read_rows() -> pd.DataFrame:
        return read_numbers(out, names) if out.exists() else pd.DataFrame(columns=names + numbers)

    done = {*read_rows().set_index(names).index}
    missing = [key for key in keys if key not in done]
    for key, result in results_of(function, missing, workers):
        with FileLock(f"{out}.lock"):  # other processes may have added rows
            rows = read_rows()
            rows.loc[len(rows)] = [*key, *result]
            save_results(out, rows)
    return read_rows().set_index(names).loc[[*keys]].reset_index()


def results_of(
    function: Callable[..., Any], calls: Sequence[Call], workers: int, ray: Sequence[str] | None = None
) -> Iterator[tuple[Call, Any]]:
    """Call a function several times with a progress bar; yield the arguments and the result of each call as it ends.

    The arguments are as for `in_parallel`.

    Raises:
        ValueError: after all others, if a call failed.
    """
    failures = []
    with ProgressBar("training", len(calls), "runs") as bar:
        for count, (call, result, failure) in enumerate(in_parallel(function, calls, workers, ray), 1):
            if failure:
                failures.append(f"{' '.join(map(str, call))}: {failure}")
                if len(failures) == 1 < len(calls):
                    bar.write(f"the first failure: {failures[0]}")
            else:
                yield call, result
            bar.tell(count)
    if failures:
        raise ValueError(f"{len(failures)} of {len(calls)} trainings failed, the first: {failures[0]}")


def in_parallel(
    function: Callable[..., Any], calls: Sequence[Call], workers: int, ray: Sequence[str] | None, device: str = "cpu"
) -> Iterator[tuple[Call, Any, str]]:
    """Call a function several times, and yield as the calls end: the arguments, the result, and why it failed or "".

    Args:
        function: the function.
        calls: the arguments of each call.
        workers: calls that run at a time on this machine.
        ray: as in `run_study`.
        device: on a cluster, "cpu" for a core for each call, else a GPU.

    Raises:
        ValueError: if `workers` is 0, or there is no such cluster.
    """
    if ray is None:
        yield from Parallel(workers, return_as="generator_unordered")(
            delayed(_attempt)(function, call) for call in calls
        )
    elif len(ray) > 1:
        raise ValueError(f"a cluster has one address, not {len(ray)}")
    else:
        yield from _on_ray(function, calls, device, *ray)


def _attempt(function: Callable[..., Any], call: Call) -> tuple[Call, Any, str]:
    try:
        return call, function(*call), ""
    except Exception as error:  # of any kind, so that the other calls continue
        return call, None, fault_of(error)


def _on_ray(
    function: Callable[..., Any], calls: Sequence[Call], device: str, address: str = "auto"
) -> Iterator[tuple[Call, Any, str]]:
    import ray

    try:
        if address != "auto":  # Ray would try for minutes
            host, _, port = address.rpartition(":")
            socket.create_connection((host, int(port)), timeout=10).close()
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # Ray replaced it
    except (OSError, ValueError) as error:
        raise ValueError(f"there is no Ray cluster at {address}: {reason(error)}") from None
    try:
        on_cpu = int(device == "cpu")
        remote: Any = ray.remote(max_retries=0, num_cpus=on_cpu, num_gpus=1 - on_cpu)(_attempt)
        queue = deque((call, 0) for call in calls)  # (call, how often its process was killed)
        waiting: dict[Any, tuple[Call, int]] = {}
        while queue or waiting:
            slots = ray.cluster_resources().get("CPU" if on_cpu else "GPU", 1)
            while queue and len(waiting) < slots:
                call, kills = queue.popleft()
                waiting[remote.remote(function, call)] = call, kills
            ended, _ = ray.wait(list(waiting), timeout=GLANCE_SECONDS)  # nodes may join before one ends
            for done in ended:
                call, kills = waiting.pop(done)
                try:
                    yield ray.get(done)
                except (ray.exceptions.NodeDiedError, ray.exceptions.WorkerCrashedError):
                    if kills == MOST_KILLS:
                        yield call, None, f"its process was killed {kills + 1} times"
                    else:
                        queue.appendleft((call, kills + 1))  # so that a killed run continues before others begin
                except ray.exceptions.RayError as error:  # such as a module that a node does not have
                    yield call, None, reason(getattr(error, "cause", error))
    finally:
        ray.shutdown()
