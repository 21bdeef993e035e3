"""The command that writes a page to look at a game with."""

import pytest

from stb_gym.cli import main
from stb_gym.cli.exploring import Explore
from stb_gym.explorer import explorer_page
from stb_gym.games import ShutTheBox, Threes

WORDS = ["explore", "shut-the-box", "--tiles", "3"]


def test_the_page_is_that_of_python(tmp_path, capsys):
    assert main([*WORDS, "--policy", "worst", "--policy", "random", "--out", str(tmp_path / "page.html")]) == 0
    assert capsys.readouterr().out == f"open {tmp_path / 'page.html'} in a browser\n"
    assert (tmp_path / "page.html").read_text() == explorer_page(ShutTheBox(tiles=3), ["worst", "random"])


def test_python_asks_the_same_and_json_says_where_the_page_is(tmp_path, ask):
    answer = Explore(out=str(tmp_path / "page.html")).answer(Threes(dice=2))
    assert (tmp_path / "page.html").read_text() == explorer_page(Threes(dice=2))
    asked = ask("explore", "threes", "--dice", "2", "--out", str(tmp_path / "page.html"))
    assert asked == answer.to_json()
    assert asked["out"] == str(tmp_path / "page.html")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--policy", "nobody"], "there is no policy file nobody"),
        (["--run", "nowhere"], "nowhere is no run, or not a whole one"),
        (["--tiles", "24", "--dice", "4"], "arrays hold at most"),
    ],
)
def test_what_is_wrong_is_said_in_a_line_and_nothing_is_written(more, message, tmp_path, capsys):
    assert main([*WORDS, *more, "--out", str(tmp_path / "page.html")]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
