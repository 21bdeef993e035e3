"""Plant mistakes in the library one at a time, and count those that the tests catch: `python -m tests.mutants`."""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from tqdm import tqdm

from tests import ROOT
from tests.mutants.mistakes import Mutant, mutants_of, sample

FOLDERS = [f"stb_gym/{name}" for name in ("games", "solver", "large", "rounds", "envs", "measure")] + ["agents"]
PICTURES = "drawing.py"  # where a mistake is a matter of taste
HERE = Path(__file__).parent
RESULTS, REASONS = HERE / "results.tsv", HERE / "explained.toml"
SURVIVED = "survived"
PYTEST = [sys.executable, "-m", "pytest", "-x", "-o", "addopts=", "-q", "-m", "not slow", "--hypothesis-seed=0"]


def main() -> int:
    """Run the command; return 1 if a survivor is unexplained."""
    parser = argparse.ArgumentParser(
        prog="tests.mutants",
        description="Plant mistakes in the library one at a time, and count those that the tests catch. A mistake with "
        "a line in results.tsv is not tried again, so an interrupted run goes on where it was.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("number", type=int, nargs="?", default=320, help="how many mistakes to plant")
    parser.add_argument("--seed", type=int, default=0, help="the same number and seed plant the same mistakes")
    parser.add_argument("--workers", type=int, default=1, help="how many mistakes to try at a time")
    options = parser.parse_args()
    modules = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py")) if path.name != PICTURES]
    every = (mutant for path in modules for mutant in mutants_of(path.relative_to(ROOT).as_posix()))
    mutants = sample(every, options.number, options.seed)
    results = dict(line.split("\t") for line in RESULTS.read_text().splitlines())
    if todo := [mutant for mutant in mutants if mutant.name not in results]:
        try_all(todo, options.workers, results)
    return report(mutants, results)


def try_all(mutants: list[Mutant], workers: int, results: dict[str, str]) -> None:
    """Try each mutant in a copy of the checkout, and write every result down at once.

    Tests may take three times the processor time that they take without a mistake, and 15 seconds.
    """
    temporary = TemporaryDirectory(prefix="stb-gym-mutants-", ignore_cleanup_errors=True)
    with temporary as folder, ThreadPoolExecutor(workers) as pool:
        clean = Path(folder) / "clean"
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
        for name in listed.stdout.split("\0"):
            if (ROOT / name).is_file():
                (clean / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, clean / name)
        seconds = {}
        for package, files in tqdm(tests_by_package().items(), "packages tested without a mistake"):
            before = os.times()
            if caught := run_tests(clean, files, seconds=1800):
                raise SystemExit(f"fails without any mistake: {caught}")
            after = os.times()
            used = after.children_user - before.children_user + after.children_system - before.children_system
            seconds[package] = 15 + 3 * int(used)
        try:
            waiting = {pool.submit(try_one, mutant, clean, seconds): mutant for mutant in mutants}
            for future in tqdm(as_completed(waiting), "mutants tried", len(mutants)):
                results[waiting[future].name] = future.result()
                RESULTS.write_text("".join(f"{name}\t{result}\n" for name, result in sorted(results.items())))
        finally:
            pool.shutdown(cancel_futures=True)


def tests_by_package() -> dict[str, list[str]]:
    """Return the files of tests of each package, and of those about the whole library."""
    patterns = {folder.split("/")[-1]: f"{folder.split('/')[-1]}/test_*.py" for folder in FOLDERS}
    patterns = {"library": "test_[egy]*.py", **patterns}
    tests = ROOT / "tests"
    return {name: [f"tests/{path.relative_to(tests)}" for path in tests.glob(each)] for name, each in patterns.items()}


def try_one(mutant: Mutant, clean: Path, seconds: dict[str, int]) -> str:
    """Return the test that catches a mutant, or "survived".

    The tests of its module come first, then those of its package, then all others; only their own use the learners.
    """
    with TemporaryDirectory(dir=clean.parent, ignore_cleanup_errors=True) as folder:
        tree = Path(shutil.copytree(clean, folder, dirs_exist_ok=True))
        module = (clean / mutant.path).read_bytes()
        (tree / mutant.path).write_bytes(module[: mutant.start] + mutant.source.encode() + module[mutant.stop :])
        *_, own, name = Path(mutant.path).parts
        for package, files in sorted(tests_by_package().items(), key=lambda each: each[0] != own):
            if package == own or own != "agents":
                ordered = sorted(files, key=lambda file: (not file.endswith(f"/test_{name}"), file))
                if caught := run_tests(tree, ordered, seconds[package]):
                    return caught
    return SURVIVED


def run_tests(tree: Path, files: list[str], seconds: int) -> str:
    """Return the first test that fails in a copy of the checkout, or "" if all pass.

    Tests are killed after some seconds of processor time, or if they wait for twenty times as long.
    """
    environment = {**os.environ, "PYTHONPATH": str(tree), "TMPDIR": str(tree.parent), "PYTHONDONTWRITEBYTECODE": ""}
    command = ["sh", "-c", f'ulimit -t {seconds}; exec "$@"', "pytest", *PYTEST, *files]
    with (tree / "output").open("w+") as output:
        process = subprocess.Popen(command, cwd=tree, env=environment, stdout=output, stderr=output, process_group=0)
        try:
            status = process.wait(20 * seconds)
        except subprocess.TimeoutExpired:
            status = -signal.SIGKILL
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # with the processes that tests have started
        output.seek(0)
        failed = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", output.read(), re.MULTILINE)
    if status <= 0:
        return "out of time" if status else ""
    return failed[1] if failed else "tests cannot be collected"


def report(mutants: list[Mutant], results: dict[str, str]) -> int:
    """Print what was caught by package and by kind, and the unexplained survivors; return 1 if there are any."""
    explained = tomllib.loads(REASONS.read_text())
    verdicts = []
    for mutant in mutants:
        why = "survivor explained" if mutant.name in explained else "unexplained"
        verdicts.append(why if results[mutant.name] == SURVIVED else "caught")
    for title, rows in (
        ("package", [mutant.path.split("/")[-2] for mutant in mutants]),
        ("mistake", [mutant.kind for mutant in mutants]),
    ):
        table = pd.crosstab(pd.Series(rows, name=title), pd.Series(verdicts, name=""), margins=True, margins_name="all")
        print(table, end="\n\n")
    left = [mutant for mutant, verdict in zip(mutants, verdicts, strict=True) if verdict == "unexplained"]
    for mutant in left:
        print(f"{mutant.path}:{mutant.line} {mutant.name}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
