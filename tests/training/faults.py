"""Ends of a process, made within this one: whatever it writes, it may be ended before, half-way through and after."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


class Killed(BaseException):
    """What nobody catches: the process is gone."""


@contextmanager
def killed(moment: int, file: str = "") -> Iterator[list[str]]:
    """Die when a file is put in its place, or removed, for the `moment`-th time; only files of this name count, if any.

    Every second one that was about to be put there is left half-written. From then on nothing can be put anywhere or
    removed, so that blocks that tidy up in the end do not. Yields the names of the files that have been met.
    """
    met: list[str] = []

    def meet(path: str | Path, name: str) -> None:
        if name == ".lock":  # which the system opens
            return
        met.extend([name] if file in ("", name) else [])
        if len(met) == moment and moment % 2 and os.path.isfile(path):
            os.truncate(path, os.path.getsize(path) // 2)
        if len(met) >= moment:
            raise Killed

    with _at_files(meet):
        yield met


@contextmanager
def signalled(which: signal.Signals, file: str, after: int = 0) -> Iterator[None]:
    """Send a signal to this process when a file of this name is about to be put in its place, having been so often."""
    met: list[Path] = []

    def meet(path: str | Path, name: str) -> None:
        if name == file and os.path.isfile(path):
            met.append(Path(path))
            if len(met) == after + 1:
                signal.raise_signal(which)

    with _at_files(meet):
        yield
    assert len(met) > after, f"{file} was not written so often"


@contextmanager
def _at_files(meet: Callable[[str | Path, str], None]) -> Iterator[None]:
    """Call `meet` with the file that is there and the name it has or is to have, before it is moved or removed.

    Of a file or a folder that is removed the name alone counts.
    """
    replace, unlink, rmdir = os.replace, os.unlink, os.rmdir

    def replaced(source: str | Path, target: str | Path) -> None:
        meet(source, Path(target).name)
        replace(source, target)

    def unlinked(path: str | Path, *, dir_fd: int | None = None) -> None:
        meet(os.devnull, Path(path).name)
        unlink(path, dir_fd=dir_fd)

    def folder_removed(path: str | Path, *, dir_fd: int | None = None) -> None:
        meet(os.devnull, Path(path).name)
        rmdir(path, dir_fd=dir_fd)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", replaced)
        patch.setattr(os, "unlink", unlinked)
        patch.setattr(os, "rmdir", folder_removed)
        yield
