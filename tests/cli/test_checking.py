"""Test the command that checks learning code: its sentence, its exit status and its JSON."""

import json
import sys

import numpy as np
import pytest

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


def grpo(groups):
    """Return returns that are standardised in their groups of three."""
    returns = groups.returns.reshape(-1, 3)
    centred = returns - returns.mean(axis=1, keepdims=True)
    return (centred / (returns.std(axis=1, keepdims=True) + 1e-8)).ravel()


def test_advantages_of_groups(run):
    status, out, _ = run(f"check group-advantages {CODE}:grpo --group-size 3 --scaled")
    assert (status, "passes" in out) == (0, True)
    status, out, _ = run(f"check group-advantages {CODE}:grpo --group-size 3")
    assert (status, "FAILS" in out) == (1, True)


def test_json_stands_alone_on_standard_output(run, tmp_path, monkeypatch):
    """Code under test may print, and its error may not be a number, which JSON lacks."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prints.py").write_text(
        "print('hello')\ndef returns(batch):\n    print(1)\n    return 0 * batch.reward"
    )
    status, out, err = run("check returns prints:returns --json")
    assert (status, json.loads(out)["passed"]) == (1, False)
    assert err.startswith("hello\n1\n")
    (tmp_path / "prints.py").write_text("def returns(batch):\n    return batch.reward * float('inf')")
    monkeypatch.delitem(sys.modules, "prints")
    _, out, _ = run("check returns prints:returns --json")
    found = json.loads(out, parse_constant=pytest.fail)
    assert found["cases"][0]["error"] is None
