"""The commands `play` and `watch`: seeds, given dice, rounds, saved policies and films."""

import io
import re

import pytest

DICE = re.compile(r"^dice +(.*)$", re.MULTILINE)
ALONE = "watch threes --dice 2 --policy random,worst"


@pytest.fixture
def printed(run, monkeypatch):
    """Return a function from the words of a command, and what is typed, to what it prints."""

    def play(words, typed="1\n" * 9):
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        status, out, err = run(words)
        assert (status, err) == (0, "")
        return out

    return play


@pytest.mark.nightly
@pytest.mark.parametrize(
    "words",
    [
        "play threes",
        "play threes --against random",
        "watch threes --policy random",
        "watch threes --together --policy random,worst",
    ],
)
def test_the_seed_decides_the_dice(words, printed):
    same, again, other, *any_dice = (printed(words + seed) for seed in (" --seed 5", " --seed 5", " --seed 6", "", ""))
    assert same == again != other
    assert any_dice[0] != any_dice[1]


@pytest.mark.parametrize(
    "words",
    [
        "play threes --dice 2 --coach --seed 3 --objective shut",
        "play threes --dice 2 --against optimal,random --seat 2 --coach --ties all-win --seed 3",
        f"{ALONE} --turns 2 --objective at-most:3 --seed 1",
        f"{ALONE} --together --turns 2 --ties nobody --shut-wins --seed 1",
        "watch threes --dice 2 --rolls 3+5,4",
        "watch shut-the-box --tiles 4 --rolls 4,7",
    ],
)
def test_games_are_printed(words, printed, snapshot):
    assert printed(words) == snapshot


@pytest.mark.slow
def test_players_have_the_same_dice_alone_and_their_own_in_a_round(printed):
    alone, together = (
        [DICE.search(turn)[1] for turn in printed(f"{ALONE} --turns 20 --seed 1{rules}").split(begins)[1:]]
        for rules, begins in (("", " plays Threes"), (" --together", "(to beat"))
    )
    assert len(alone) == len(together) == 40
    assert alone[::2] == alone[1::2]
    assert len({*alone}) > 10
    assert together[::2] != together[1::2]


@pytest.mark.slow
def test_a_policy_is_watched_at_its_game_and_objective_unless_another_is_named(printed):
    alone = printed("watch --policy ppo-nine-tiles-shut --seed 3")
    assert alone.startswith("ppo-nine-tiles-shut plays Shut the box. 7.14% chance of 0 points")
    assert "11.16 expected points" in printed("watch shut-the-box --policy ppo-nine-tiles-shut --seed 3")
    assert "at most 5 points" in printed("watch --policy ppo-nine-tiles-shut --objective at-most:5 --seed 3")


@pytest.mark.slow
def test_a_film_holds_all_turns(printed, tmp_path):
    film = tmp_path / "film.gif"
    words = f"watch shut-the-box --tiles 4 --turns 2 --seed 1 --out {film}"
    assert printed(words) == f"wrote {film}: 9 pictures, 14 seconds\n"
    assert film.read_bytes().startswith(b"GIF")
