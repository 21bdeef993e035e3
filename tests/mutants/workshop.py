"""A copy of the checkout in a temporary folder, in which tests are run: the checkout itself is never touched.

Each run is a process of its own, forked off one that has imported the libraries of others already, but nothing of ours.
"""

import gc
import multiprocessing
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests import ROOT
from tests.mutants import watching

FLAGS = ["-p", watching.__name__, "-p", "no:cacheprovider", "-o", "addopts=", "-n", "0", "-q", "--hypothesis-seed=0"]
PREPARED = ["pytest", "numpy", "gymnasium", "scipy.stats", "sb3_contrib"]
ASLEEP = 20  # times as long as the processor may be used, tests may wait: a mutant that waits forever is ended, too


class Workshop:
    """A copy of what the checkout tracks or could track, and pytest in it.

    Args:
        folder: an empty folder for it.
    """

    def __init__(self, folder: Path):
        self.tree, self.notes, self._planted = folder / "tree", folder / "notes", 0
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        for name in subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0"):
            if (ROOT / name).is_file():
                (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.tree / name)
        self._processes = multiprocessing.get_context("forkserver")
        self._processes.set_forkserver_preload(PREPARED)

    @contextmanager
    def changed(self, name: str, source: bytes) -> Iterator[None]:
        """While the block runs, a file of the copy has another content."""
        path = self.tree / name
        before, times = path.read_bytes(), path.stat()
        path.write_bytes(source)
        self._planted += 1
        os.utime(path, (self._planted, self._planted))  # Python knows compiled files by the second of their source
        try:
            yield
        finally:
            path.write_bytes(before)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def pytest(self, words: Sequence[str], seconds: int, chosen: Sequence[str] | None = None) -> int:
        """Run pytest, and answer its exit status, which is below 0 if it was ended; see `watching` for the notes.

        Args:
            words: files and flags.
            seconds: how long the processor may work on it: how busy the machine is then changes nothing.
            chosen: the tests to run, in this order (default: all of the files).
        """
        shutil.rmtree(self.notes, ignore_errors=True)
        self.notes.mkdir()
        if chosen is not None:
            (self.notes / watching.CHOSEN).write_text("\n".join(chosen))
        process = self._processes.Process(target=_pytest, args=(self.tree, self.notes, seconds, [*FLAGS, *words]))
        process.start()
        process.join(ASLEEP * seconds)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # with whatever the tests have left running
        process.join()
        return process.exitcode

    def note(self, name: str) -> str:
        """What the last run left under a name; "" if nothing."""
        path = self.notes / name
        return path.read_text(errors="replace") if path.exists() else ""


def _pytest(tree: Path, notes: Path, seconds: int, words: list[str]) -> None:
    """Run pytest in a copy; what was imported of the checkout to come here is forgotten."""
    os.setsid()
    gc.freeze()  # what was there before is nobody's garbage
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    output = os.open(notes / "output", os.O_WRONLY | os.O_CREAT)
    for stream in (1, 2):
        os.dup2(output, stream)
    os.chdir(tree)
    for name, module in list(sys.modules.items()):
        if Path(getattr(module, "__file__", None) or os.sep).is_relative_to(ROOT):
            del sys.modules[name]
    sys.path.insert(0, str(tree))
    sys.dont_write_bytecode = False  # what is compiled in the copy is of use to the next run
    os.environ |= {"TMPDIR": str(notes), "HYPOTHESIS_STORAGE_DIRECTORY": str(notes), watching.FOLDER: str(notes)}
    sys.exit(pytest.main([*words, f"--basetemp={notes / 'temp'}"]))


@contextmanager
def workshop() -> Iterator[Workshop]:
    """A workshop that is gone after the block."""
    with TemporaryDirectory(prefix="stb-gym-mutants-", ignore_cleanup_errors=True) as folder:
        yield Workshop(Path(folder))
