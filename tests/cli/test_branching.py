"""`stb-gym tree`."""

import sys

import pytest

from stb_gym import Round, ShutTheBox, Standing, Threes, move_tree, solve
from stb_gym.cli import main

WHERE = ("shut-the-box", "--open", "1,3,4,6,7", "--roll", "7")
POSITION = {"open": [1, 3, 4, 6, 7], "roll": 7}


def printed(capsys, *words):
    assert main(["tree", *words]) == 0
    return capsys.readouterr().out


def test_the_tree_is_that_of_python(capsys):
    for depth in (1, 2):
        tree = move_tree(solve(ShutTheBox(), "shut"), depth, **POSITION)
        assert printed(capsys, *WHERE, "--depth", str(depth), "--objective", "shut").endswith(f"\n\n{tree}\n")
    tree = move_tree(solve(Threes()), points=2, roll=[3, 1, 4])
    assert printed(capsys, "threes", "--points", "2", "--roll", "3,1,4").endswith(f"\n\n{tree}\n")


def test_json_nests_the_branches(ask):
    root = ask("tree", *WHERE)["tree"]
    first, second, third = root["branches"]
    assert (root["label"], root["loss"], root["probability"]) == ("open 1,3,4,6,7, roll 7", None, None)
    assert [move["label"] for move in (first, second, third)] == ["shut 7", "shut 3,4", "shut 1,6"]
    assert first["value"] == root["value"] == pytest.approx(second["value"] - second["loss"])
    assert first["branches"] == []


def test_a_tree_at_a_standing(ask):
    found = ask("tree", *WHERE, "--lead", "4", "--after", "2")
    best = Round(ShutTheBox(), 4).solve().at(Standing(4, 1, 2))
    assert found["tree"]["value"] == best.value_at(**POSITION)
    assert found["seen"].startswith("1 player leads with 4 points, 2 play after you")


@pytest.mark.parametrize(("name", "start"), [("t.png", b"\x89PNG"), ("t.svg", b"<?xml"), ("t.PDF", b"%PDF")])
def test_a_tree_is_drawn(capsys, tmp_path, name, start):
    pytest.importorskip("matplotlib")
    path = tmp_path / name
    assert printed(capsys, *WHERE, "--out", str(path)).endswith(f"wrote {path}\n")
    assert path.read_bytes().startswith(start)


def test_what_is_wrong_is_said_in_a_line_and_nothing_is_written(capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.delitem(sys.modules, "stb_gym.plots", raising=False)
    monkeypatch.delattr("stb_gym.plots", raising=False)
    for words, message in [
        (["--out", str(tmp_path / "t.gif")], "'gif': allowed are png, svg, pdf"),
        (["--out", str(tmp_path / "t.png")], 'pip install "stb-gym[plots]"'),
        (["--depth", "4"], "from 1 to 3, not 4"),
        (["--roll", "13"], "from 2 to 12, not 13"),
    ]:
        assert main(["tree", *WHERE, *words]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert error.endswith(f"{message}\n")
    assert list(tmp_path.iterdir()) == []
