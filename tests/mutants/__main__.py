"""Plant mistakes in the library one at a time, and count those that the tests catch: `python -m tests.mutants`."""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor, as_completed
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

    A run may take four times as long as the same tests take without a mistake.
    """
    with TemporaryDirectory(prefix="stb-gym-mutants-") as folder, ThreadPoolExecutor(workers) as pool:
        clean = Path(folder) / "clean"
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
        for name in listed.stdout.split("\0"):
            if (ROOT / name).is_file():
                (clean / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, clean / name)
        seconds = {}
        for package in tqdm(tests_by_package(), "packages tested without a mistake"):
            begun = time.monotonic()
            if caught := run_tests(clean, tests_by_package()[package], seconds=1800):
                raise SystemExit(f"fails without any mistake: {caught}")
            seconds[package] = 15 + 4 * (time.monotonic() - begun)
        try:
            waiting = {pool.submit(try_one, mutant, clean, seconds): mutant for mutant in mutants}
            for future in tqdm(as_completed(waiting), "mutants tried", len(mutants)):
                results[waiting[future].name] = future.result()
                RESULTS.write_text("".join(f"{name}\t{result}\n" for name, result in sorted(results.items())))
        finally:
            pool.shutdown(cancel_futures=True)


def tests_by_package() -> dict[str, list[str]]:
    """Return the files of tests of each package, and of those about the whole library."""
    packages = {folder.split("/")[-1]: "" for folder in FOLDERS}
    files = {name: sorted((ROOT / "tests" / name).glob("test_*.py")) for name in packages}
    files["library"] = sorted((ROOT / "tests").glob("test_[egy]*.py"))
    return {name: [path.relative_to(ROOT).as_posix() for path in paths] for name, paths in files.items()}


def try_one(mutant: Mutant, clean: Path, seconds: dict[str, float]) -> str:
    """Return the test that catches a mutant, or that it survived: first its module's tests, then its package's, all."""
    with TemporaryDirectory(prefix="mutant-", dir=clean.parent) as folder:
        tree = shutil.copytree(clean, folder, dirs_exist_ok=True)
        module = (clean / mutant.path).read_bytes()
        Path(tree, mutant.path).write_bytes(module[: mutant.start] + mutant.source.encode() + module[mutant.stop :])
        *_, own, name = Path(mutant.path).parts
        for package, files in sorted(tests_by_package().items(), key=lambda each: each[0] != own):
            ordered = sorted(files, key=lambda file: not file.endswith(f"/test_{name}"))
            if caught := run_tests(Path(tree), ordered, seconds[package]):
                return caught
    return SURVIVED


def run_tests(tree: Path, files: list[str], seconds: float) -> str:
    """Return the first test that fails in a copy of the checkout, or "" if all pass; kill pytest after some seconds."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "TMPDIR": str(tree.parent), "PYTHONDONTWRITEBYTECODE": ""}
    with (tree / "output").open("w+") as output:
        process = subprocess.Popen(
            [*PYTEST, *files], cwd=tree, env=environment, stdout=output, stderr=output, start_new_session=True
        )
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)  # with the processes that tests have started
        if status == 0:
            return ""
        output.seek(0)
        failed = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", output.read(), re.MULTILINE)
    return "out of time" if status is None else failed[1] if failed else "tests cannot be collected"


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
