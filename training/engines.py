"""Where the trainings of a study run: in processes of this machine, or as tasks of a Ray cluster.

Every training goes on from the last checkpoint in its folder, so whatever becomes of a process or of a machine, another
one goes on with it and comes to the same result, bit by bit.
"""

import contextlib
import importlib
import multiprocessing
import os
import socket
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple

import torch
from pebble import ProcessPool

from agents.config import Config
from training.commands import module_of
from training.train import train


class Engine(NamedTuple):
    """What trains runs.

    Attributes:
        begin: begins to train a configuration in a folder, or goes on with it; what it returns is done when the
            training has ended, and has an exception if it failed.
        room: how many trainings may run at a time, now.
    """

    begin: Callable[[Config, Path], "Future[None]"]
    room: Callable[[], int]


@contextmanager
def pool(workers: int, device: str = "cpu") -> Iterator[Engine]:
    """Processes of this machine; a training that ends its process fails, and the others go on.

    They end with this process, even if it is killed.

    Args:
        workers: how many trainings run at a time.
        device: where their networks are.
    """
    with ProcessPool(workers, initializer=end_with_parent, context=multiprocessing.get_context("spawn")) as processes:
        try:
            yield Engine(
                lambda config, folder: processes.schedule(
                    train_run, args=(config.to_json(), folder, device, module_of(config.task))
                ),
                lambda: workers,
            )
        except BaseException:
            processes.stop()
            raise


def end_with_parent() -> None:
    """Let this process end, from now on, when the one that began it has: nobody else would tell it."""
    threading.Thread(target=_end_after, args=(multiprocessing.parent_process(),), daemon=True).start()


def _end_after(process: BaseProcess) -> None:
    process.join()
    os._exit(1)


@contextmanager
def cluster(address: Sequence[str], device: str = "cpu") -> Iterator[Engine]:
    """The nodes of a Ray cluster, as many trainings at a time as they have cores or accelerators.

    All nodes must see the folders of the runs by the same paths. A training whose node dies goes on elsewhere, as often
    as that happens.

    Args:
        address: the address of the cluster; if it is empty, the one this machine is part of. "local" begins one of this
            machine alone.
        device: where the networks are; each training takes a core, or an accelerator unless this is "cpu".

    Raises:
        ValueError: if Ray is not installed, or there is no such cluster.
    """
    try:
        import ray
    except ImportError:
        raise ValueError("a cluster needs Ray, which is not installed: pip install ray") from None

    # Within a function it is sent to a node as code, which can say so where the node has no package to import it from.
    def task(config: dict[str, Any], folder: Path, module: str) -> None:
        try:
            from training.engines import train_run
        except ImportError as error:
            node = ray.util.get_node_ip_address()
            raise ValueError(f"node {node} cannot import the trainings: {error}") from None
        train_run(config, folder, device, module)

    kind = "CPU" if device == "cpu" else "GPU"
    remote = ray.remote(num_cpus=kind == "CPU", num_gpus=kind == "GPU", max_retries=-1)(task)
    try:
        if address and address[0] != "local":  # which Ray itself would try for minutes
            host, port = address[0].rsplit("/")[-1].rsplit(":", 1)
            socket.create_connection((host, int(port)), timeout=10).close()
        ray.init(*address or ["auto"], log_to_driver=False, logging_level="error")
    except (OSError, ValueError) as error:
        at = f" at {address[0]}" if address else " that this machine is part of"
        raise ValueError(f"there is no Ray cluster{at}: {error}".partition("\n")[0]) from None
    try:
        yield Engine(
            lambda config, folder: remote.remote(config.to_json(), folder, module_of(config.task)).future(),
            lambda: int(ray.cluster_resources().get(kind, 0)),
        )
    finally:
        ray.shutdown()


def train_run(config: dict[str, Any], folder: Path, device: str, module: str = "stb_gym") -> None:
    """Train a run, or go on with it; what is said of it stands in its `log.txt`.

    Args:
        config: the configuration, see `agents.config.Config.to_json`.
        folder: the folder of the run.
        device: where the networks are.
        module: the module that registers its game, which may be your own.

    Raises:
        Exception: that the training failed of; it stands in `log.txt`, too.
    """
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "log.txt").open("a", encoding="utf-8") as log, contextlib.redirect_stderr(log):
        try:
            importlib.import_module(module)
            train(Config.from_json(config), folder, "resume", device=device)
        except Exception:
            traceback.print_exc()
            raise
