"""The command that checks pieces of learning code, and learners."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from stb_gym import check as checks
from stb_gym.checks import check_choice
from stb_gym.cli.answers import Answer
from stb_gym.cli.flags import imported

CHECKS: Mapping[str, Callable[..., checks.CheckResult]] = {
    "advantages": checks.advantages,
    "returns": checks.returns,
    "q-targets": checks.q_targets,
}
FAILS = "{code} FAILS the check of {check} in {failed} of {run} cases."
PASSES = "{code} passes the check of {check} in all {run} cases."


def check(
    what: str,
    code: str,
    /,
    *,
    kind: str | None = None,
    layout: str | None = None,
    num_steps: int | None = None,
) -> Answer:
    """Check a piece of your learning code, or a learner, against exact answers.

    The page "Is your learner right?" of the documentation says what each check gives to your code and expects of it.
    The exit status is 1 if the check fails.

    Args:
        what: The check: advantages, returns or q-targets.
        code: Your function or class, as MODULE:NAME; the module may be in the working directory.
        kind: The kind of estimator or target, such as gae or double.
        layout: The shape of streams that your code takes: both, T, TB or BT.
        num_steps: How many steps an estimator or a target looks ahead.
    """
    check_choice("check", what, list(CHECKS))
    function = CHECKS[what]
    given = {"kind": kind, "layout": layout, "num_steps": num_steps}
    options = {name: value for name, value in given.items() if value is not None}
    for name in options:
        if name not in inspect.signature(function).parameters:
            raise ValueError(f"the check of {what} has no --{name.replace('_', '-')}")
    result = function(imported(code, "stb-gym check"), **options)
    failed = [case for case in result.cases if not case.passed]
    run = [case for case in result.cases if not case.skipped]
    sentence = (PASSES if result.passed else FAILS).format(code=code, check=what, failed=len(failed), run=len(run))
    found: dict[str, Any] = {name: None if value == "" else value for name, value in result.summary().items()}
    return Answer(
        sentence,
        tables={} if result else {"likely": "It looks like this:", "cases": "All cases:"},
        columns={"cases": ["name", "error", "passed", "skipped"]},
        formats={"error": ".3g"},
        status=0 if result.passed else 1,
        **found,
    )
