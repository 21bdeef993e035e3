"""`stb-gym measure`: an agent of one's own, by the name it has in a module."""

import sys

import pytest

from stb_gym import RegretMeter, ShutTheBox, Threes
from stb_gym.cli import main
from tests.measure.test_meter import first_legal

NAMED = "tests.measure.test_meter:first_legal"
SIX = ("measure", "shut-the-box", "--tiles", "6", "--agent", NAMED)


def test_it_is_measured_exactly_where_that_can_be(ask):
    exact = RegretMeter(ShutTheBox(tiles=6))(first_legal)
    told = ask(*SIX)
    assert {name: told[name] for name in exact.summary()} == exact.summary()
    assert (told["policy"], "turns" in told) == (NAMED, False)
    shut = ask(*SIX, "--objective", "shut")
    assert shut["regret"] == RegretMeter(ShutTheBox(tiles=6), "shut")(first_legal).regret


def test_as_many_turns_as_are_asked_for_are_sampled(ask, capsys):
    sampled = RegretMeter(Threes()).sample(first_legal, 3000, seed=4)
    words = ("measure", "threes", "--agent", NAMED, "--turns", "3000", "--seed", "4")
    told = ask(*words)
    assert {name: told[name] for name in sampled.summary()} == sampled.summary()
    assert told["interval"] == list(sampled.interval)
    assert [found["loss"] for found in told["mistakes"]] == [mistake.loss for mistake in sampled.mistakes(10)]
    assert main(list(words)) == 0
    shown = capsys.readouterr().out
    assert "3,000 sampled, with the exact loss of every choice" in shown
    assert f"{sampled.regret:.6f}, standard error {sampled.standard_error:.6f}" in shown
    assert told["mistakes"][0]["node"] in shown


def test_an_agent_of_the_working_directory(ask, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("def play(seen, masks):\n    return masks.argmax(axis=1)\n")
    monkeypatch.chdir(tmp_path)
    told = ask("measure", "shut-the-box", "--tiles", "6", "--agent", "mine:play")
    assert told["regret"] == RegretMeter(ShutTheBox(tiles=6))(first_legal).regret


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--agent", "no.such:play"), "--agent no.such:play: ModuleNotFoundError: No module named 'no'"),
        (("--agent", "tests.measure.test_meter:nobody"), "the module tests.measure.test_meter has no nobody"),
        (("--agent", "tests.measure.test_meter"), "--agent must be MODULE:NAME, such as mine:agent, not tests.measure"),
        (("--agent", "tests.measure.test_meter:SIX"), "--agent tests.measure.test_meter:SIX: ShutTheBox(tiles=6)"),
        (("--agent", NAMED, "--turns", "1"), "turns must be an integer from 2 to 1000000, not 1"),
        (("--agent", NAMED, "--turns", "9", "--seed", "-1"), "seed must be an integer from 0"),
        ((), "the following arguments are required: --agent"),
    ],
)
def test_what_cannot_be_measured_is_told_in_one_line(capsys, words, message):
    assert main(["measure", "shut-the-box", "--tiles", "6", *words]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert message in said


def test_an_illegal_action_ends_the_turn_or_refuses_the_agent(ask, capsys):
    careless = (*SIX[:-1], "tests.cli.test_measuring:careless", "--turns", "500")
    assert ask(*careless)["illegal_mass"] == 1
    assert main([*careless, "--illegal", "raise"]) == 2
    assert "the agent takes an illegal action at open 1,2,3,4,5,6, roll" in capsys.readouterr().err


def careless(observations, masks):
    """An illegal action."""
    return masks.argmin(axis=1)


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        ("os", "--agent must be MODULE:NAME, such as mine:agent, not os"),
        ("os:nothing", "--agent os:nothing: the module os has no nothing"),
        ("leaves:agent", "--agent leaves:agent: SystemExit: 0"),
        ("moves_away:nothing", "--agent moves_away:nothing: the module moves_away has no nothing"),
    ],
)
def test_a_module_that_is_not_as_it_should_be(agent, said, tmp_path, monkeypatch, capsys):
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit(0)\n")
    (tmp_path / "moves_away.py").write_text("import os\nos.chdir('/')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    assert main(["measure", "threes", "--dice", "2", "--agent", agent]) == 2
    assert capsys.readouterr().err == f"stb-gym: {said}\n"
    if agent.startswith("leaves"):
        assert main(["--import", "leaves", "solve", "threes"]) == 2
        assert capsys.readouterr().err == "stb-gym: --import leaves: SystemExit: 0\n"
