"""Work that is disturbed: its process is killed, its disk is full, its folder is read-only; and what that leaves."""

import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

PROCESSES = multiprocessing.get_context("forkserver")  # whose children begin with everything imported, and no threads
KILLED = -signal.SIGKILL
ROOMY = "size=1g"  # of a small disk that is not full
# A process of its own file systems: nobody else sees what it mounts, and when it ends, or is killed, all of it is gone.
UNSHARE = ("unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")


class Work(NamedTuple):
    """A command that writes files, and that is given again when it was disturbed.

    Attributes:
        name: what is done.
        module: the module whose `main` is the command.
        words: those of the command; {out} is the folder that it writes to, {whole} that of all undisturbed results.
        goes_on: whether the files on the way to the result are others than those of the result.
    """

    name: str
    module: str
    words: tuple[str, ...]
    goes_on: bool = False

    def refused(self, life: "Life") -> bool:
        """Whether a process of it ended by saying in one line why it could not do it."""
        command = self.module.removesuffix(".command").replace("_", "-") + ": "
        last = (life.said.splitlines() or [""])[-1]
        return life.status in (1, 2) and last.startswith(command) and "Traceback" not in life.said


class Life(NamedTuple):
    """A process that did some work.

    Attributes:
        status: its exit status, or minus the signal that ended it.
        said: what it said.
        seconds: how long it lived.
    """

    status: int
    said: str
    seconds: float


class Disk:
    """Where work is disturbed: a small file system or, where this process may mount none, a plain folder.

    Args:
        folder: the folder, which is there.
        mounted: whether it is a file system of this process alone, see `mounting`.
    """

    def __init__(self, folder: Path, mounted: bool):
        self.folder, self.mounted = folder, mounted

    @contextmanager
    def full(self, room: int) -> Iterator[int | None]:
        """Have room for so many bytes more; yields the largest size of a file, if only that can be limited."""
        if not self.mounted:
            yield max(room, 4096)  # which is enough for what is said
            return
        found = os.statvfs(self.folder)
        self._remount(f"size={(found.f_blocks - found.f_bfree) * found.f_frsize + room}")
        try:
            yield None
        finally:
            self._remount(ROOMY)

    @contextmanager
    def read_only(self) -> Iterator[None]:
        """Let nothing be written."""
        try:
            self._remount("ro") if self.mounted else self._change_modes(0o555)
            yield
        finally:
            self._remount("rw") if self.mounted else self._change_modes(0o755)

    def close(self) -> None:
        """Leave a plain and empty folder."""
        if self.mounted:
            subprocess.run(["umount", self.folder], check=True)

    def _change_modes(self, mode: int) -> None:
        for folder in [self.folder, *(path for path in self.folder.rglob("*") if path.is_dir())]:
            folder.chmod(mode)

    def _remount(self, options: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{options}", self.folder], check=True)


def mounting(disk: Path, command: list[str]) -> list[str] | None:
    """A command in a process that has a small file system of its own on a folder; None where that is not allowed."""
    words = [*UNSHARE, "sh", "-c", f'mount -t tmpfs -o {ROOMY} soak "$0" && "$@"; exit $?', str(disk)]
    with suppress(FileNotFoundError):
        if subprocess.run([*words, "true"], check=False, stderr=subprocess.DEVNULL).returncode == 0:
            return [*words, *command]
    return None


def live(
    work: Work,
    out: Path,
    whole: Path,
    kill_after: float | None = None,
    until: Callable[[], object] | None = None,
    limit: int | None = None,
) -> Life:
    """Let a process do some work, or a part of it.

    Args:
        work: the work.
        out: the folder that it writes to.
        whole: the folder of all undisturbed results; what the process says is in a file beside it.
        kill_after: the seconds after which it is killed; None: it is not.
        until: it is killed only when this is so, which is asked again and again.
        limit: the largest size of a file that it may write; None: any.
    """
    began, said = time.monotonic(), whole.with_name("said.txt")
    words = [word.format(out=out, whole=whole) for word in work.words]
    said.write_text("")
    process = PROCESSES.Process(target=_live, args=(work.module, words, said, limit))
    process.start()
    try:
        process.join(kill_after)
        while until is not None and process.is_alive() and not until():
            time.sleep(0.001)
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid or 0, signal.SIGKILL)  # with whatever it has begun itself
        process.kill()
        process.join()
    status = process.exitcode or 0
    process.close()
    return Life(status, said.read_text("utf-8", "replace"), time.monotonic() - began)


def _live(module: str, words: list[str], said: Path, limit: int | None) -> None:
    os.setsid()
    sys.stdout = sys.stderr = said.open("w", encoding="utf-8", buffering=1)
    for stream in (1, 2):
        os.dup2(sys.stderr.fileno(), stream)
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    sys.exit(import_module(module).main(words))
