"""Test the command that checks learning code: its sentence, its exit status and its JSON."""

import json

import numpy as np

CODE = "tests.cli.test_checking"


def returns_to_go(batch):
    """Return the discounted sum of the rewards to the end of each turn."""
    returns, last = np.zeros(batch.reward.shape), 0.0
    for step in reversed(range(len(returns))):
        last = batch.reward[step] + batch.discount * ~batch.done[step] * last
        returns[step] = last
    return returns


def undiscounted(batch):
    """Return the sum of the rewards to the end of each turn."""
    returns, last = np.zeros(batch.reward.shape), 0.0
    for step in reversed(range(len(returns))):
        last = batch.reward[step] + ~batch.done[step] * last
        returns[step] = last
    return returns


def test_code_that_passes(run):
    status, out, err = run(f"check returns {CODE}:returns_to_go")
    assert (status, err) == (0, "")
    assert " ".join(out.split()).startswith(f"{CODE}:returns_to_go passes the check of returns in all 8 cases.")


def test_code_that_fails(run):
    status, out, _ = run(f"check returns {CODE}:undiscounted --layout T")
    assert status == 1
    assert " ".join(out.split()).startswith(f"{CODE}:undiscounted FAILS the check of returns in 4 of 8 cases.")
    assert "It looks like this:\nthe discount is taken as 1\n" in out
    status, out, _ = run(f"check returns {CODE}:undiscounted --json")
    found = json.loads(out)
    assert status == 1
    assert (found["id"], found["passed"], len(found["cases"])) == ("returns", False, 8)
