"""Tests, laid out like the library; `reference` is a second opinion that shares no code with the package."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PATIENCE = 600  # seconds that tests wait for what comes at once, as the machine may be busy


class Code:
    """Unpickling this writes a file "executed" to the working directory."""

    def __reduce__(self):
        return open, ("executed", "w")


def every(step, cases, marks=pytest.mark.nightly):
    """Return cases as parameters of a test. All but every `step`-th are marked, if not otherwise for `make nightly`."""
    rows = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [pytest.param(*row, marks=marks if place % step else ()) for place, row in enumerate(rows)]


def mostly_nightly(cases, quick):
    """Return cases as parameters of a test; those for which `quick` is false are left to `make nightly`."""
    return [pytest.param(case, marks=() if quick(case) else pytest.mark.nightly) for case in cases]
