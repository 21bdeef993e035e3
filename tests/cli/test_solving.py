"""`stb-gym solve` and `stb-gym certify`."""

import hashlib

import pytest

from stb_gym import ShutTheBox, solve
from stb_gym.cli import main
from stb_gym.games.shut_the_box.variants import OPEN


def test_solve(ask, capsys):
    result = ask("solve", "shut-the-box")
    keys = {"game", "rules", "objective", "value", "shut_probability", "states", "decision_nodes", "by_first_roll"}
    assert keys <= result.keys()
    assert "fraction" not in result
    assert result["game"] == "shut-the-box"
    assert result["rules"].items() >= {"tiles": 9, "dice": 2, "faces": 6, "score": "sum", "first_move": None}.items()
    assert result["title"] == "shut-the-box: tiles 9, dice 2, faces 6, score sum"
    assert (result["states"], result["decision_nodes"]) == (512, 4040)
    assert result["shut_probability"] == pytest.approx(0.0708885323, abs=1e-10)
    assert list(result["by_first_roll"]) == [str(roll) for roll in range(2, 13)]
    assert result["by_first_roll"]["9"] == pytest.approx(7.623689388)


def test_solve_exactly_the_worst_and_other_objectives(ask, capsys):
    assert ask("solve", "shut-the-box", "--exact")["fraction"] == "27323400707/2448880128"
    shut = ask("solve", "shut-the-box", "--exact", "--objective", "shut")
    assert shut["fraction"] == "466473281/6530347008"
    assert shut["shut_probability"] == pytest.approx(shut["value"])
    assert ask("solve", "shut-the-box", "--worst")["value"] == pytest.approx(24.344561898)
    assert ask("solve", "shut-the-box", "--score", "count")["value"] == pytest.approx(9 - 6.804460729)
    assert ask("solve", "threes", "--dice", "3", "--exact")["fraction"] == "2261/432"
    assert ask("solve", "threes", "--objective", "at-most:2")["value"] == pytest.approx(0.1621, abs=5e-5)


def test_values_of_every_board_in_a_file(ask, capsys, tmp_path, monkeypatch):
    file, box = str(tmp_path / "values"), ["shut-the-box", "--tiles", "7", "--dice", "3"]
    where = ["--open", "1,2,4,6,7", "--roll", "8"]
    solved, advice = ask("solve", *box), ask("advise", *box, *where)
    saved = ask("solve", *box, "--out", file)
    assert saved["by_first_roll"] == pytest.approx(solved["by_first_roll"])
    assert (saved["value"], saved["states"], saved["out"]) == (pytest.approx(solved["value"]), 128, file)
    looked_up = ask("advise", *box, *where, "--values", file)
    assert looked_up == {**advice, "value": pytest.approx(advice["value"]), "moves": looked_up["moves"]}
    for move, same in zip(looked_up["moves"], advice["moves"], strict=True):
        assert move == {
            **same,
            "value": pytest.approx(same["value"]),
            "regret": pytest.approx(same["regret"], abs=1e-9),
        }
    monkeypatch.setattr("stb_gym.solver.compiling.LARGEST_TABLE", 100)
    assert ask("advise", *box, *where) == looked_up
    assert ask("solve", *box)["value"] == saved["value"]
    assert main(["solve", *box, "--exact"]) == 2
    assert "fractions are for games that fit into arrays, and the worst play is not saved" in capsys.readouterr().err
    assert main(["advise", *box, *where, "--values", file, "--objective", "shut"]) == 2
    assert "objective 'score', not 'shut'" in capsys.readouterr().err
    assert main(["solve", "threes", "--out", file]) == 2
    assert "threes has no boards, by which it could be solved or stepped without arrays" in capsys.readouterr().err


def test_certificates(ask, capsys, tmp_path):
    file = tmp_path / "values.txt"
    result = ask("certify", "shut-the-box", "--out", str(file))
    assert result["fraction"] == "27323400707/2448880128"
    assert result["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert (result["states"], result["nodes"], result["optimal_actions_agree"]) == (512, 5622, True)
    assert 0 < result["largest_relative_error"] < 1e-13
    assert main(["certify", "threes", "--objective", "shut"]) == 0
    assert "holds at all" in capsys.readouterr().out


def test_every_word_for_open_tiles_may_be_typed(ask, capsys):
    for opened in ("odd", "4-up", "7,5", "1,2,3,4,5,6,7,8,9"):
        result = ask("solve", "shut-the-box", "--start-open", opened)
        given = opened if opened in OPEN else [int(tile) for tile in opened.split(",")]
        assert result["value"] == solve(ShutTheBox(open=given)).value
