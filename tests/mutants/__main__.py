"""Plant mistakes in the library one at a time, and count those that the tests catch: `python -m tests.mutants`."""

import sys
import tomllib
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser, Namespace
from collections.abc import Container, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue

from stb_gym.output import Column, Progress, Table, say, write_text
from tests import ROOT
from tests.mutants import watching
from tests.mutants.knowledge import Watched, choose, test_files, watch
from tests.mutants.mistakes import KINDS
from tests.mutants.planting import Mutant, mutants_of, sample
from tests.mutants.workshop import Workshop, workshop

# The packages and their tests; in the end what has survived these is tried with those of all together.
PACKAGES = {
    **{f"stb_gym/{name}/": f"{name}/test_*.py" for name in ("games", "solver", "large", "rounds", "envs", "measure")},
    "agents/": "agents/test_*.py",
    "": "test_[egy]*.py",
}
PICTURES = {"drawing.py"}  # where a mistake is a matter of taste
HERE = Path(__file__).parent
RESULTS, REASONS, KEPT = HERE / "results.tsv", HERE / "explained.toml", ROOT / "build" / "mutants"
SURVIVED, AT_IMPORT, LATE = "survived", "tests cannot be collected", "out of time: "
UNTRIED, CAUGHT, EXPLAINED, LEFT = "untried", "caught", "survivors explained", "unexplained"
START = 15  # processor seconds that pytest and the libraries may take to start


def parser() -> ArgumentParser:
    """What the command is told."""
    made = ArgumentParser(
        prog="tests.mutants",
        description="Plant mistakes in the library one at a time, and count those that the tests catch. What has a "
        "result is not tried again: the command may be interrupted, and goes on when it is called anew.",
        formatter_class=ArgumentDefaultsHelpFormatter,
    )
    made.add_argument("number", type=int, nargs="?", default=320, help="how many mistakes to plant")
    made.add_argument("--seed", type=int, default=0, help="which: the same number and seed plant the same mistakes")
    made.add_argument(
        "--workers", type=int, default=1, help="how many to try at a time, each in a copy of the checkout"
    )
    made.add_argument("--seconds", type=float, default=8, help="processor seconds of tests before one has survived")
    made.add_argument("--again", action="store_true", help="try survivors that nobody has explained once more")
    return made


def main(arguments: list[str] | None = None) -> int:
    """Run the command; its exit status is 1 if a survivor is unexplained."""
    options = parser().parse_args(arguments)
    mutants = sample(all_mutants(), options.number, options.seed)
    known, explained = results(), tomllib.loads(REASONS.read_text())
    found = {each.name: known[each.name] for each in mutants if each.name in known}
    left = [each for each in survivors(mutants, found) if each.name not in explained]
    try:
        if todo := [each for each in mutants if each.name not in found or (options.again and each in left)]:
            try_all(todo, options, found)
    except KeyboardInterrupt:
        say("interrupted; what was tried is kept", error=True)
    say(table(mutants, found, explained))
    left = [each for each in survivors(mutants, found) if each.name not in explained]
    for mutant in left:
        say(f"{mutant.path}:{mutant.line} {mutant.name}")
    return 1 if left else 0


def all_mutants() -> Iterator[Mutant]:
    """Every mistake that can be planted."""
    for package in filter(None, PACKAGES):
        for path in sorted((ROOT / package).rglob("*.py")):
            if path.name not in PICTURES:
                yield from mutants_of(path.relative_to(ROOT).as_posix(), path.read_bytes())


def results() -> dict[str, str]:
    """By the names of mutants that were tried what caught them, if anything did."""
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    return dict(line.split("\t") for line in lines)


def try_all(todo: list[Mutant], options: Namespace, found: dict[str, str]) -> None:
    """Try the mutants of one package after the other with the tests watched so far, and in the end survivors with all.

    Every result is written down at once.
    """
    with ExitStack() as stack:
        workshops = [stack.enter_context(workshop()) for _ in range(options.workers)]
        progress = stack.enter_context(Progress("mutants tried", total=len(todo)))
        watched: list[Watched] = []
        for package, tests in PACKAGES.items():
            watched += watch(workshops[0], test_files(tests), KEPT)
            of_package = [each for each in todo if each.path.startswith(package)] if package else survivors(todo, found)
            for mutant, result in tried(of_package, workshops, watched, options.seconds):
                found[mutant.name] = result
                write_text(RESULTS, "".join(f"{name}\t{result}\n" for name, result in sorted(found.items())))
                progress.tell(sum(each.name in found for each in todo), note=f"{len(survivors(todo, found))} survived")


def survivors(mutants: list[Mutant], found: dict[str, str]) -> list[Mutant]:
    """Those that no test has caught."""
    return [mutant for mutant in mutants if found.get(mutant.name) == SURVIVED]


def tried(
    mutants: list[Mutant], workshops: list[Workshop], watched: list[Watched], seconds: float
) -> Iterator[tuple[Mutant, str]]:
    """Mutants and what came of them, as soon as it is known."""
    free: SimpleQueue[Workshop] = SimpleQueue()
    for each in workshops:
        free.put(each)

    def one(mutant: Mutant) -> str:
        here = free.get()
        try:
            return try_one(here, mutant, watched, seconds)
        finally:
            free.put(here)

    with ThreadPoolExecutor(len(workshops)) as pool:
        waiting = {pool.submit(one, mutant): mutant for mutant in mutants}
        try:
            yield from ((waiting[future], future.result()) for future in as_completed(waiting))
        finally:
            pool.shutdown(cancel_futures=True)


def try_one(here: Workshop, mutant: Mutant, watched: list[Watched], seconds: float) -> str:
    """What catches a mutant: the name of a test, or why none came to run; or that it survived.

    Raises:
        RuntimeError: if pytest itself fails.
    """
    chosen, cost = choose(watched, mutant.place, seconds)
    if not chosen:
        return SURVIVED
    files = dict.fromkeys(test.split("::")[0] for test in chosen)
    with here.changed(mutant.path, mutant.planted_in((ROOT / mutant.path).read_bytes())):
        status = here.pytest(["-x", *files], round(START + 3 * cost), chosen)
    begun = here.note(watching.BEGUN)
    if status < 0:
        return LATE + begun
    if status == 1 and begun:
        return begun
    if status in (1, 2, 4) and "ERROR" in here.note("output"):
        return AT_IMPORT
    if status in (0, 5):  # 5: the mistake has changed the names of the tests
        return SURVIVED
    raise RuntimeError(f"pytest ended with {status} for {mutant.name}:\n{here.note('output')[-2000:]}")


def table(mutants: list[Mutant], found: dict[str, str], explained: Container[str]) -> Table:
    """A row for every kind of mistake, and one for all."""
    verdicts = {each.name: verdict(found.get(each.name), each.name in explained) for each in mutants}
    kinds = {kind: [verdicts[each.name] for each in mutants if each.kind == kind] for kind in KINDS}
    rows = {**kinds, "all": list(verdicts.values())}
    columns = {
        "mistake": Column("", list(rows)),
        "planted": Column("d", [sum(each != UNTRIED for each in row) for row in rows.values()]),
        **{name: Column("d", [row.count(name) for row in rows.values()]) for name in (CAUGHT, EXPLAINED, LEFT)},
    }
    return Table(columns)


def verdict(result: str | None, explained: bool) -> str:
    """What a result counts as."""
    if result != SURVIVED:
        return UNTRIED if result is None else CAUGHT
    return EXPLAINED if explained else LEFT


if __name__ == "__main__":
    sys.exit(main())
