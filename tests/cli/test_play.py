"""Test the commands `play` and `watch`: seeds, given dice, rounds, saved policies and films."""

import io

import pytest


@pytest.fixture(autouse=True)
def _typed(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n" * 9))


@pytest.mark.parametrize(
    "words",
    [
        "play threes --dice 2 --coach --seed 3 --objective shut",
        "play threes --dice 2 --against optimal,random --seat 2 --coach --ties all-win --seed 3",
        "watch threes --dice 2 --policy random,worst --turns 2 --objective at-most:3 --seed 1",
        "watch threes --dice 2 --policy random,worst --together --turns 2 --ties nobody --shut-wins --seed 1",
        "watch threes --dice 2 --rolls 3+5,4 --pause 0",
        "watch shut-the-box --tiles 4 --rolls 4,7",
        "watch --policy ppo-nine-tiles-shut --seed 3",
        "watch shut-the-box --policy ppo-nine-tiles-shut --seed 3",
        "watch --policy ppo-nine-tiles-shut --objective at-most:5 --seed 3",
    ],
)
def test_games_are_printed(words, printed, snapshot):
    assert printed(words) == snapshot


@pytest.mark.slow
def test_a_film_holds_all_turns(printed, tmp_path):
    film = tmp_path / "film.gif"
    words = f"watch shut-the-box --tiles 4 --turns 2 --seed 1 --out {film}"
    assert printed(words) == f"wrote {film}: 9 pictures, 14 seconds\n"
    assert film.read_bytes().startswith(b"GIF")
