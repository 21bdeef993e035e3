"""Which tests run through which functions, and what they cost: watched once for each file of tests, and kept."""

import hashlib
import json
from pathlib import Path

from stb_gym.output import Progress, write_text
from tests import ROOT
from tests.mutants import watching
from tests.mutants.workshop import Workshop

LIMIT = 600  # processor seconds that a file of tests may take to be watched
QUICK = 0.05  # seconds that a test costs of those that run first

# By test of one file: the processor seconds that it costs, and the places of the functions it runs through.
Watched = dict[str, tuple[float, list[str]]]


def test_files(pattern: str) -> list[str]:
    """The files of tests of a pattern."""
    return [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "tests").glob(pattern))]


def watch(workshop: Workshop, files: list[str], keep: Path) -> list[Watched]:
    """Watch files of tests, but those that were watched before and have not changed since, nor has the library.

    Raises:
        RuntimeError: if tests fail without a mistake.
    """
    found = []
    library = b"".join(path.read_bytes() for package in ("stb_gym", "agents") for path in _sources(package))
    with Progress("files of tests watched", total=len(files)) as progress:
        for number, name in enumerate(files):
            digest = hashlib.sha256(library + (ROOT / name).read_bytes()).hexdigest()
            kept = keep / f"{name.replace('/', '.')}.json"
            known = json.loads(kept.read_text()) if kept.exists() else {}
            if known.get("digest") != digest:
                known = {"digest": digest, "tests": _watched(workshop, name)}
                write_text(kept, json.dumps(known))
            found.append(known["tests"])
            progress.tell(number + 1, note=name)
    return found


def _sources(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def _watched(workshop: Workshop, name: str) -> Watched:
    status = workshop.pytest([name, "-m", "not slow"], LIMIT)
    if status not in (0, 5):  # there may be slow tests alone
        raise RuntimeError(f"{name} fails without any mistake:\n{workshop.note('output')[-2000:]}")
    return json.loads(workshop.note(watching.SEEN))


def choose(watched: list[Watched], place: str, seconds: float) -> tuple[list[str], float]:
    """The tests to try a mistake with, the likeliest to catch it first, and what they cost together.

    First come those that run through the function, then those that run through the module, then all others in their
    files, as what is computed once and shared is seen only in the test that was first, and then the rest; among these
    those of the package, and the quick ones, come first.

    Args:
        watched: what is known of the tests.
        place: where the mistake is.
        seconds: how much they may cost together; a test that would make it more is left out.
    """
    ranked = []
    for tests in watched:
        near = {test for test, (_, places) in tests.items() if place in places}
        inside = {test for test, (_, places) in tests.items() if any(_is_in(each, place) for each in places)}
        near_cost = sum(tests[test][0] for test in near)
        for test, (cost, _) in tests.items():
            rank = 0 if test in near else 1 if test in inside else 2 if inside else 3
            file = test.split("::")[0]
            elsewhere = file.split("/")[-2] not in place.split("/")
            ranked.append((rank, elsewhere, cost > QUICK, near_cost, file, cost, test))
    chosen, total = [], 0.0
    for *_, cost, test in sorted(ranked):
        if total + cost <= seconds:
            chosen.append(test)
            total += cost
    return chosen, total


def _is_in(function: str, place: str) -> bool:
    return function.split("::")[0] == place.split("::")[0]
