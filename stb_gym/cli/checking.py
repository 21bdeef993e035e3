"""The command that checks pieces of learning code, and learners."""

import inspect
from importlib import import_module
from typing import Any

from stb_gym.checks import check_choice
from stb_gym.cli.answers import Answer
from stb_gym.cli.flags import Names, imported

CHECKS = (
    "advantages", "group-advantages", "returns", "q-targets", "policy-loss", "value-loss", "td-loss", "update",
    "rollout", "agent",
)  # fmt: skip
FAILS = "{code} FAILS the check of {check} in {failed} of {run} cases."
PASSES = "{code} passes the check of {check} in all {run} cases."


def check(
    what: str,
    code: str,
    /,
    *,
    kind: str | None = None,
    layout: str | None = None,
    framework: str | None = None,
    num_steps: int | None = None,
    group_size: int | None = None,
    scaled: bool = False,
    num_envs: int | None = None,
    autoreset: str | None = None,
    rungs: Names = (),
    steps: int | None = None,
    seed: int | None = None,
    unmasked: bool = False,
    no_truncation: bool = False,
) -> Answer:
    """Check a piece of your learning code, or a learner, against exact answers.

    The page "Is your learner right?" says what each check gives to your code and expects of it. The exit status is 1 if
    the check fails.

    Args:
        what: The check: advantages, group-advantages, returns, q-targets, policy-loss, value-loss, td-loss, update,
            rollout or agent.
        code: Your function or class, as MODULE:NAME; the module may be in the working directory.
        kind: The kind of estimator, target or loss, such as gae, double or ppo.
        layout: The shape of the arrays that your code takes: both, T, TB or BT; of losses T or padded.
        framework: What differentiates your loss: torch or jax.
        num_steps: How many steps an estimator or a target looks ahead.
        group_size: How many answers a group has.
        scaled: Advantages of groups are divided by the standard deviation.
        num_envs: How many environments your collector steps at once.
        autoreset: The mode of its vector environment: NextStep, SameStep or Disabled.
        rungs: The tasks for your learner, separated by commas (default: all).
        steps: How many steps it learns on each.
        seed: The seed of its first training.
        unmasked: Your code knows no action masks.
        no_truncation: Your code knows no time limits.
    """
    check_choice("check", what, CHECKS)
    # Imported here, because no other command needs it.
    function = getattr(import_module("stb_gym.check"), what.replace("-", "_"))
    given = {
        "kind": kind,
        "layout": layout,
        "framework": framework,
        "num_steps": num_steps,
        "group_size": group_size,
        "scaled": scaled or None,
        "num_envs": num_envs,
        "autoreset": autoreset,
        "rungs": rungs or None,
        "steps": steps,
        "seed": seed,
        "masked": False if unmasked else None,
        "truncation": False if no_truncation else None,
    }
    options = {name: value for name, value in given.items() if value is not None}
    for name in options.keys() - inspect.signature(function).parameters.keys():
        flag = {"masked": "unmasked", "truncation": "no-truncation"}.get(name, name.replace("_", "-"))
        raise ValueError(f"the check of {what} has no --{flag}")
    try:
        result = function(imported(code, f"check {what}"), **options)
    except TypeError as error:  # the code takes or returns something else
        raise ValueError(str(error)) from error
    failed = [case for case in result.cases if not case.passed]
    run = [case for case in result.cases if not case.skipped]
    sentence = (PASSES if result else FAILS).format(code=code, check=what, failed=len(failed), run=len(run))
    found: dict[str, Any] = {name: None if value == "" else value for name, value in result.summary().items()}
    return Answer(
        sentence,
        tables={} if result else {"likely": "It looks like this:", "cases": "All cases:"},
        columns={"cases": ["name", "error", "passed", "skipped"]},
        formats={"error": ".3g"},
        status=0 if result else 1,
        **found,
    )
