"""Plant mistakes in the library one at a time, and count those that the tests catch: `python -m tests.mutants`."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from coverage import CoverageData
from tqdm import tqdm

from tests import ROOT
from tests.mutants.mistakes import Mutant, mutants_of, sample
from training.commands import run_command

# Each package uses only those before it, so only its own tests and those of later packages can catch its mistakes.
LIBRARY = (
    "layers",
    "trial",
    "games",
    "solver",
    "words",
    "large",
    "envs",
    "measure",
    "rounds",
    "text",
    "check",
    "plots",
    "terminal",
    "explorer",
    "cli",
)
LABORATORY = ("agents", "training")
PICTURES = ("drawing.py", "plots.py")  # where a mistake is a matter of taste
HERE = Path(__file__).parent
RESULTS, REASONS = HERE / "results.tsv", HERE / "explained.toml"
PYTEST = [sys.executable, "-m", "pytest", "-x", "-o", "addopts=", "-q", "--hypothesis-seed=0"]
QUICK, LONG = "not slow", "slow"  # marks of the tests that are tried first and last; nightly tests are slow, too
SURVIVED = {QUICK: "survived the quick tests", LONG: "survived"}  # the first until the other tests are run
LONGEST = {QUICK: 600, LONG: 1800}  # seconds of processor time that a process of tests may take
NO_TESTS = 5  # the exit status of pytest if no test of the files has these marks


def plant(
    number: int = 320, /, *, seed: int = 0, packages: str = ",".join(LIBRARY + LABORATORY), workers: int = 1
) -> int:
    """Plant mistakes in the library one at a time, and count those that the tests catch.

    A mistake with a line in results.tsv is not tried again by the same tests, so the same command continues an
    interrupted run.

    Args:
        number: How many mistakes to plant.
        seed: The same number and seed plant the same mistakes.
        packages: Where to plant them.
        workers: How many mistakes to try at a time.

    Returns:
        1 if a survivor is unexplained.
    """
    modules = [path for name in packages.split(",") for path in modules_of(name) if path.name not in PICTURES]
    mutants = sample((mutant for path in modules for mutant in mutants_of(path)), number, seed)
    results = dict(line.split("\t") for line in RESULTS.read_text().splitlines())
    if todo := [mutant for mutant in mutants if results.get(mutant.name) in (None, SURVIVED[QUICK])]:
        try_all(todo, workers, results)
    return report(mutants, results)


def modules_of(package: str) -> list[Path]:
    """Return the modules of a package of the library or of the training code, or a single module."""
    folder = ROOT / package if package in LABORATORY else ROOT / "stb_gym" / package
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]


def try_all(mutants: list[Mutant], workers: int, results: dict[str, str]) -> None:
    """Try each mutant in a copy of the checkout, and write every result down at once: first all by the quick tests."""
    temporary = TemporaryDirectory(prefix="stb-gym-mutants-", ignore_cleanup_errors=True)
    with temporary as folder, ThreadPoolExecutor(workers) as pool:
        clean = Path(folder) / "clean"
        shutil.copytree(ROOT, clean, ignore=shutil.ignore_patterns(".*", "build", "dist", "node_modules"))
        print("running the quick tests once without a mistake, to see which lines each of them runs", file=sys.stderr)
        files = {file for mutant in mutants for package in packages_for(mutant) for file in files_of(package)}
        measured = [f"-n{workers}", "--cov", "--cov-context=test", "--cov-report="]
        if caught := run_tests(clean, [*sorted(files), *measured], QUICK, LONGEST[LONG]):
            raise SystemExit(f"fails without any mistake: {caught}")
        try:
            for marks, before in ((QUICK, None), (LONG, SURVIVED[QUICK])):
                left = [mutant for mutant in mutants if results.get(mutant.name) == before]
                waiting = {pool.submit(try_one, mutant, clean, marks): mutant for mutant in left}
                for future in tqdm(as_completed(waiting), f"mutants tried by tests that are {marks}", len(left)):
                    results[waiting[future].name] = future.result()
                    RESULTS.write_text("".join(f"{name}\t{result}\n" for name, result in sorted(results.items())))
        finally:
            pool.shutdown(cancel_futures=True)


def packages_for(mutant: Mutant) -> tuple[str, ...]:
    """Return the packages whose tests may catch a mutant, its own first."""
    top, own, *_ = Path(mutant.path).with_suffix("").parts
    if top in LABORATORY:
        return LABORATORY[LABORATORY.index(top) :]
    return (*LIBRARY[LIBRARY.index(own) :], "docs", ".")


def files_of(package: str, first: str = "") -> list[str]:
    """Return the files of tests of a package, with one of them first; "." stands for those about the whole library."""
    files = [*(ROOT / "tests").glob(f"{package}/test_*.py")] or [*(ROOT / "tests").glob(f"test_{package}.py")]
    files = [path for path in files if path.name != "test_project.py"]
    return [str(path.relative_to(ROOT)) for path in sorted(files, key=lambda path: (path.name != first, path))]


def try_one(mutant: Mutant, clean: Path, marks: str) -> str:
    """Return the test with these marks that catches a mutant, or that it survived.

    First come the quick tests that run its line; then those of its package, its module first; then those of others.
    """
    files = [files_of(package, f"test_{Path(mutant.path).name}") for package in packages_for(mutant)]
    if marks == QUICK:  # in one process, whose imports take longer than many of the tests
        ranks = {file: rank for rank, file in enumerate(chain.from_iterable(files))}
        tests = sorted(tests_of(mutant, clean), key=lambda test: (ranks.get(test.partition("::")[0], len(ranks)), test))
        files = [["--keep-duplicates", *tests, *ranks]]
    with TemporaryDirectory(dir=clean.parent, ignore_cleanup_errors=True) as folder:
        tree = Path(shutil.copytree(clean, folder, dirs_exist_ok=True))
        module = (clean / mutant.path).read_bytes()
        (tree / mutant.path).write_bytes(module[: mutant.start] + mutant.source.encode() + module[mutant.stop :])
        for some in files:
            if caught := run_tests(tree, some, marks, LONGEST[marks]):
                return caught
    return SURVIVED[marks]


def tests_of(mutant: Mutant, clean: Path) -> set[str]:
    """Return the quick tests that run the line of a mutant.

    What an import runs has none, and of what is computed once and kept only the first test is known.
    """
    data = CoverageData(str(clean / ".coverage"))
    data.read()
    contexts = data.contexts_by_lineno(str(clean / mutant.path)).get(mutant.line, [])
    return {context.partition("|")[0] for context in contexts} - {""}


def run_tests(tree: Path, files: list[str], marks: str, seconds: int) -> str:
    """Return the first test with these marks that fails in a copy of the checkout, or "" if all pass.

    Tests are killed after some seconds of processor time, or if they wait for four times as long.
    """
    environment = {**os.environ, "PYTHONPATH": str(tree), "TMPDIR": str(tree.parent), "PYTHONDONTWRITEBYTECODE": ""}
    command = ["sh", "-c", f'ulimit -t {seconds}; exec "$@"', "pytest", *PYTEST, "-m", marks, *files]
    with (tree / "output").open("w+") as output:
        process = subprocess.Popen(command, cwd=tree, env=environment, stdout=output, stderr=output, process_group=0)
        try:
            status = process.wait(4 * seconds)
        except subprocess.TimeoutExpired:
            status = -signal.SIGKILL
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # with the processes that tests have started
        output.seek(0)
        failed = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", output.read(), re.MULTILINE)
    if status in (0, NO_TESTS):
        return ""
    if status < 0:
        return "out of time"
    return failed[1] if failed else "tests cannot be collected"


def report(mutants: list[Mutant], results: dict[str, str]) -> int:
    """Print how many mistakes were caught, and the unexplained survivors; return 1 if there are any."""
    explained = tomllib.loads(REASONS.read_text())
    survivors = [mutant for mutant in mutants if results[mutant.name] == SURVIVED[LONG]]
    left = [mutant for mutant in survivors if mutant.name not in explained]
    print(f"{len(mutants) - len(survivors)} of {len(mutants)} mistakes are caught, {len(left)} not explained")
    for mutant in left:
        print(f"{mutant.path}:{mutant.line} {mutant.name}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(run_command("tests.mutants", plant, None, "the same command continues"))
