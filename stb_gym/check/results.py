"""The result of a check: whether it passed, how far off the code is and where, and which faults look like this."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from math import isfinite
from typing import Any

from stb_gym.messages import in_lines, shortened

WIDTH = 100  # characters of a line of a report


@dataclass(frozen=True)
class Case:
    """One of the situations in which a check ran the code.

    Attributes:
        name: the situation in words, such as "time limit, discount 0.9, lambda 0.95".
        error: the greatest difference from the exact answer, in the unit of the check.
        tolerance: the greatest error that passes.
        where: where the error is greatest, in words; "" if the case passed.
        skipped: why the case does not apply; "" if it was run.
    """

    name: str
    error: float = 0.0
    tolerance: float = 0.0
    where: str = ""
    skipped: str = ""

    @property
    def passed(self) -> bool:
        """Whether the error is within the tolerance; NaN is not."""
        return self.error <= self.tolerance


@dataclass(frozen=True, repr=False)
class CheckResult:
    """What a check found. It is true if the check passed, so a test is `assert check.advantages(my_gae)`.

    Attributes:
        id: the name of the check, such as "advantages".
        cases: the situations in which the code ran.
        likely: faults that look like this, most likely first; () if the check passed.
        remedy: what to do; "" if the check passed.
        versions: the versions of the libraries that took part, such as {"stable-baselines3": "2.9.0"}.

    Raises:
        ValueError: if no case was run, as that would look like a check that passed.
    """

    id: str
    cases: tuple[Case, ...]
    likely: tuple[str, ...] = ()
    remedy: str = ""
    versions: dict[str, str] | None = None

    def __post_init__(self) -> None:
        if all(case.skipped for case in self.cases):
            reasons = "; ".join(f"{case.name}: {case.skipped}" for case in self.cases) or "there is no case"
            raise ValueError(f"the check of {self.id} ran nothing: {shortened(reasons)}")

    @property
    def passed(self) -> bool:
        """Whether all cases passed."""
        return all(case.passed for case in self.cases)

    @property
    def worst(self) -> Case:
        """The case whose error is greatest in tolerances."""
        return max(self.cases, key=lambda case: (not case.passed, case.error / max(case.tolerance, 1e-300)))

    @property
    def error(self) -> float:
        """The greatest error of all cases."""
        return self.worst.error

    @property
    def where(self) -> str:
        """Where the error is greatest, in words; "" if the check passed."""
        return self.worst.where

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        failed = [case for case in self.cases if not case.passed]
        skipped = [case for case in self.cases if case.skipped]
        count = len(self.cases) - len(skipped)
        if failed:
            yield f"{self.id} FAILED in {len(failed)} of {count} cases"
            details = {
                "likely": "; or ".join(self.likely),  # first, because pytest prints only the first line or two
                "worst": f"{self.worst.name}, error {self.error:.3g}",
                "where": self.where,
                "try": self.remedy,
            }
            for title, text in details.items():
                if text:
                    yield "\n    ".join(in_lines(f"  {title}: {text}", WIDTH - 4))
        else:
            yield f"{self.id} passed: {count} cases, greatest error {max(case.error for case in self.cases):.1e}"
        for case in failed[:12]:
            yield f"  failed: {case.name} ({case.error:.3g})"
        for case in skipped:
            yield f"  skipped: {case.name} ({case.skipped})"
        if self.versions:
            yield "  with " + ", ".join(f"{name} {version}" for name, version in self.versions.items())

    def summary(self) -> dict[str, Any]:
        """Return the result by name, ready for JSON, which has no NaN and no infinity: such an error is None."""

        def finite(error: float) -> float | None:
            return error if isfinite(error) else None

        return {
            "id": self.id,
            "passed": self.passed,
            "error": finite(self.error),
            "where": self.where,
            "likely": list(self.likely),
            "remedy": self.remedy,
            "versions": self.versions or {},
            "cases": [asdict(case) | {"error": finite(case.error), "passed": case.passed} for case in self.cases],
        }


Judged = tuple[Case, Sequence[str]]  # a case, and the faults that look like its error


def combined(id: str, judged: Iterable[Judged], remedy: str, versions: dict[str, str] | None = None) -> CheckResult:
    """Return the result of some cases; for those that passed, leave out where they erred and the faults."""
    pairs = [*judged]
    cases = tuple(replace(case, where="") if case.passed else case for case, _ in pairs)
    failed = [faults for case, faults in pairs if not case.passed]
    likely = dict.fromkeys(chain.from_iterable(failed))
    return CheckResult(id, cases, tuple(likely), remedy if failed else "", versions)
