"""Which tests run through which lines, and what they cost: measured once for each file of tests, and kept."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from stb_gym.output import Progress, write_text
from tests import ROOT
from tests.mutants import watching
from tests.mutants.workshop import Workshop

LIMIT = 600  # processor seconds that a file of tests may take to be watched
QUICK = 0.05  # seconds that a test costs of those that run first
CONTEXTS = "[run]\nsource = stb_gym, agents\n[json]\nshow_contexts = true\n"


class Watched(NamedTuple):
    """What was seen of one file of tests.

    Attributes:
        costs: processor seconds by test, a little more than without the watching.
        lines: by module of ours and line the tests that run through it; import runs through no line.
    """

    costs: dict[str, float]
    lines: dict[str, dict[str, list[str]]]


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
                watched = _watched(workshop, name)
                known = {"digest": digest, **watched._asdict()}
                write_text(kept, json.dumps(known))
            found.append(Watched(known["costs"], known["lines"]))
            progress.tell(number + 1, note=name, milestone=True)
    return found


def _sources(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def _watched(workshop: Workshop, name: str) -> Watched:
    report, settings = workshop.tree / "coverage.json", workshop.tree / "contexts.cfg"
    settings.write_text(CONTEXTS)
    words = ["--cov", "--cov-config", str(settings), "--cov-context=test", f"--cov-report=json:{report}"]
    status = workshop.pytest([name, "-m", "not slow", *words], LIMIT)
    if status not in (0, 5):  # there may be slow tests alone
        raise RuntimeError(f"{name} fails without any mistake:\n{workshop.note('output')[-2000:]}")
    seen = json.loads(report.read_text())["files"] if status == 0 else {}
    lines = {path: dict(_run_through(module["contexts"])) for path, module in seen.items()}
    return Watched(json.loads(workshop.note(watching.COSTS) or "{}"), {path: at for path, at in lines.items() if at})


def _run_through(contexts: dict[str, list[str]]) -> Iterator[tuple[str, list[str]]]:
    """(Line, tests) of one module; a context is a test and the part of it, and "" what was imported."""
    for line, names in contexts.items():
        if tests := sorted({name.rpartition("|")[0] for name in names if name}):
            yield line, tests


def choose(watched: list[Watched], module: str, lines: range, seconds: float) -> tuple[list[str], float]:
    """The tests to try a mistake with, the likeliest to catch it first, and what they cost together.

    First come quick tests that run through the lines, then slower ones; then those that run through the module, and
    then all others in their files, as what is computed once and shared is seen only in the test that was first.

    Args:
        watched: what is known of the tests.
        module: where the mistake is.
        lines: the lines of it.
        seconds: how much they may cost together; a test that would make it more is left out.
    """
    ranked = []
    for each in watched:
        at = each.lines.get(module, {})
        near = {test for line in lines for test in at.get(str(line), [])}
        inside = {test for tests in at.values() for test in tests}
        if inside:
            file_cost = sum(each.costs[test] for test in near)
            for test, cost in each.costs.items():
                rank = 0 if test in near else 1 if test in inside else 2
                ranked.append((rank, cost > QUICK, file_cost, test.split("::")[0], cost, test))
    chosen, total = [], 0.0
    for *_, cost, test in sorted(ranked):
        if total + cost <= seconds:
            chosen.append(test)
            total += cost
    return chosen, total
