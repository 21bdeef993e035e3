"""Every command about a box too large for arrays says the same as by arrays, or in a line what there is instead.

A small box is taken for a large one, so that both can be asked.
"""

import pytest

from stb_gym import ShutTheBox
from stb_gym.cli import main
from stb_gym.solver import compiling, fits

BOX = ["shut-the-box", "--tiles", "8", "--faces", "5", "--one-die", "low-sum"]
STRATEGY = "fewest-then-biggest"
NEAR = {"rel": 1e-9, "abs": 1e-12}


@pytest.fixture
def large(monkeypatch):
    """Makes the box too large."""

    def make():
        monkeypatch.setattr(compiling, "LARGEST_TABLE", 1000)
        assert not fits(ShutTheBox(tiles=8, faces=5, one_die="low-sum"))

    return make


def assert_near(found, expected):
    """The same JSON, but for what only arrays tell, and to rounding."""
    if isinstance(found, dict):
        for key in found:
            assert_near(found[key], expected[key])
    elif isinstance(found, list):
        for each, same in zip(found, expected, strict=True):
            assert_near(each, same)
    else:
        assert found == (pytest.approx(expected, **NEAR) if isinstance(found, float) else expected)


@pytest.mark.parametrize("objective", ["score", "shut", "at-most:6"])
@pytest.mark.parametrize("play", [[], ["--worst"]])
def test_solve(ask, large, objective, play):
    question = ["solve", *BOX, "--objective", objective, *play]
    expected = ask(*question)
    large()
    found = ask(*question)
    assert found.pop("states") == 2 * 2**8
    assert {"value", "by_first_roll", "play", "unit"} < set(found)
    assert_near(found, expected)


@pytest.mark.parametrize("objective", ["score", "shut"])
@pytest.mark.parametrize("name", ["random", STRATEGY, "worst"])
def test_evaluate(ask, large, name, objective):
    question = ["evaluate", *BOX, "--policy", name, "--objective", objective]
    expected = ask(*question)
    large()
    found = ask(*question)
    absent = {"agreement"} | ({"agreement_by_visits"} if name == "random" else set())
    assert expected.keys() - found.keys() == absent
    mistakes, same = ({each["node"]: each for each in some.pop("mistakes")} for some in (found, expected))
    assert_near(found, expected)
    assert len(mistakes) == len(same)
    assert_near({node: mistakes[node] for node in mistakes.keys() & same.keys()}, same)


def test_evaluate_in_words(large, capsys):
    large()
    assert main(["evaluate", *BOX, "--policy", STRATEGY]) == 0
    assert "of the choices" in (shown := capsys.readouterr().out)
    assert "of the nodes" not in shown
    assert main(["evaluate", *BOX, "--policy", "random"]) == 0
    assert "agreement" not in capsys.readouterr().out


def test_strategies(ask, large, capsys):
    expected = {each["name"]: each for each in ask("strategies", *BOX)["strategies"]}
    large()
    found = {each["name"]: each for each in ask("strategies", *BOX)["strategies"]}
    assert expected.keys() - found.keys() == {"approximation"}
    assert_near(found, expected)
    assert main(["evaluate", *BOX, "--policy", "approximation"]) == 2
    assert "unknown strategy of shut-the-box 'approximation': allowed are random" in capsys.readouterr().err
    assert main(["strategies", *BOX]) == 0
    assert STRATEGY in capsys.readouterr().out


@pytest.mark.parametrize("name", ["random", STRATEGY])
def test_simulate(ask, large, name):
    question = ["simulate", *BOX, "--policy", name, "--turns", "5000", "--seed", "3"]
    expected = ask(*question)
    large()
    found = ask(*question)
    assert found["exact"] == pytest.approx(expected["exact"], **NEAR)
    assert abs(found["z"]) < 4
    assert found["standard_error"] == pytest.approx(expected["standard_error"], rel=0.1)
    assert ask(*question) == found


@pytest.mark.parametrize("rule", [["--roll", "7"], ["--roll", "3,4", "--match", "one-tile"]])
def test_advise(ask, large, rule):
    question = ["advise", *BOX, "--open", "1,2,4,6,7", *rule]
    expected = ask(*question)
    large()
    assert_near(ask(*question), expected)


@pytest.mark.parametrize(
    "question",
    [
        ["round", "shut-the-box"],
        ["match", "shut-the-box", "--policy", "random,random"],
        ["tournament", "shut-the-box", "--policy", "random,random"],
        ["certify", "shut-the-box"],
        ["play", "shut-the-box", "--against", "random"],
    ],
    ids=lambda question: question[0],
)
def test_what_needs_arrays_says_what_there_is_instead(question, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main([*question, "--variant", "the-300"]) == 2
    error = capsys.readouterr().err
    assert "solve_boards" in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())
