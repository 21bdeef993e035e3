"""Train several runs, a study: in processes of this machine, or as tasks on a Ray cluster."""

import logging
import signal
import socket
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed  # type: ignore[import-untyped]

from agents.presets import Config
from stb_gym.games import check_integer
from stb_gym.output import Progress
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
        ValueError: if `workers` is not allowed, or there is no Ray or no such cluster.
    """
    check_integer("workers", workers, 1, 1024)
    folders = list(runs)
    total = sum(config.steps for config in runs.values())
    finished = 0
    failures = {}
    with Progress("training", total, "steps") as progress:
        if ray is None and workers == 1:
            options["progress"] = lambda steps, note: progress.tell(min(finished + steps, total), note=note or None)
        tasks = [
            (number, folder.resolve(), config.to_json(), type(config.game()).__module__, options)
            for number, (folder, config) in enumerate(runs.items())
        ]
        if ray is None:
            ended = Parallel(n_jobs=workers, return_as="generator_unordered")(delayed(_train)(*task) for task in tasks)
        else:
            ended = _on_ray(tasks, options.get("device", "cpu"), *ray)
        for number, failure in ended:
            folder = folders[number]
            finished += runs[folder].steps
            progress.tell(finished, note=f"{folder.name} {'failed' if failure else 'finished'}")
            if failure:
                failures[folder] = failure
    return failures


def _train(number: int, folder: Path, config: dict[str, Any], module: str, options: dict[str, Any]) -> tuple[int, str]:
    """Train a run whose game a module registers; return its number and why it failed, or ""."""
    try:
        import_module(module)
        train(Config.from_json(config), folder, resume=True, wait=LOCK_SECONDS, **options)
    except Exception as error:  # whatever it is, other runs continue
        return number, f"{error}".partition("\n")[0] or type(error).__name__
    return number, ""


def _on_ray(tasks: Sequence[tuple[Any, ...]], device: str, address: str = "auto") -> Iterator[tuple[int, str]]:
    """Train runs as tasks of a Ray cluster, and yield what `_train` returns as they end."""
    try:
        import ray

        terminate = signal.getsignal(signal.SIGTERM)
        if address != "auto":  # Ray would try for minutes
            host, _, port = address.rpartition(":")
            socket.create_connection((host, int(port)), timeout=10).close()
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
        signal.signal(signal.SIGTERM, terminate)  # which Ray replaced
    except ImportError:
        raise ValueError("--ray needs Ray: pip install ray") from None
    except (OSError, ValueError) as error:
        raise ValueError(f"there is no Ray cluster at {address}: {error}".partition("\n")[0]) from None
    try:
        on_cpu = int(device == "cpu")
        remote: Any = ray.remote(max_retries=-1, num_cpus=on_cpu, num_gpus=1 - on_cpu)(_train)
        waiting = {remote.remote(*task): task[0] for task in tasks}
        while waiting:
            [done], _ = ray.wait(list(waiting))
            number = waiting.pop(done)
            try:
                yield ray.get(done)
            except ray.exceptions.RayError as error:
                cause = getattr(error, "cause", error)  # that of an error in the task
                yield number, f"{cause}".partition("\n")[0]
    finally:
        ray.shutdown()
