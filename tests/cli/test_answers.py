"""Test answers about files and about boxes too large for tables; test_text has all other answers."""

import hashlib
from unittest.mock import patch

import pytest

from stb_gym import ShutTheBox, Threes, evaluate, load_policy, save_policy, strategy
from stb_gym.explorer import explorer_page
from stb_gym.games import fits
from stb_gym.solving import perfect_play
from tests import every


@pytest.mark.slow
def test_saved_policies(ask, run, tmp_path):
    game, path = ShutTheBox(tiles=6), str(tmp_path / "mine.npz")
    save_policy(path, game, strategy(game, "worst"), objective="shut")
    mine, bundled = ask("evaluate --policy", f"{path},ppo-threes")["policies"]
    assert (mine["policy"], mine["rules"]["tiles"], mine["objective"]) == (path, 6, "shut")
    assert mine["regret"] == pytest.approx(evaluate(game, strategy(game, "worst"), "shut").regret)
    assert (bundled["policy"], bundled["objective"], bundled["unit"]) == ("ppo-threes", "score", "points")
    [by_other] = ask("evaluate --policy", path, "--objective at-most:3")["policies"]
    assert by_other["regret"] == pytest.approx(evaluate(game, strategy(game, "worst"), "at-most:3").regret)
    assert ask("evaluate shut-the-box --tiles 6 --policy", path)["regret"] > 0
    assert "is a policy of ShutTheBox(tiles=6)" in run("evaluate shut-the-box --policy", path)[2]
    save_policy(tmp_path / "same.npz", Threes(), load_policy("ppo-threes", Threes()))
    for command in ("round", "match", "tournament"):
        names = ("ppo-threes", str(tmp_path / "same.npz"))
        one, other = (ask(command, "threes --policy", f"threes-only,{name}") for name in names)
        assert one.pop("policies") != other.pop("policies")
        assert [row.pop("player") for row in one["seats"]] != [row.pop("player") for row in other["seats"]]
        assert one == other


@pytest.mark.slow
def test_without_a_policy_all_bundled_policies_are_evaluated(ask):
    names = ["ppo-nine-tiles", "ppo-threes"]
    with patch("stb_gym.cli.policies.bundled_policies", return_value=names):
        assert [row["policy"] for row in ask("evaluate")["policies"]] == names


def test_a_certificate_hashes_its_file(ask, tmp_path):
    file = tmp_path / "values.txt"
    result = ask("certify threes --out", str(file))
    assert result["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.mark.parametrize(("typed", "tiles"), [("1-9", "1,2,3,4,5,6,7,8,9"), ("2-4,8", "2,3,4,8"), ("5-5", "5")])
def test_open_tiles_may_be_ranges(ask, typed, tiles):
    assert ask("advise shut-the-box --roll 12", f"--open={typed}")["state"] == f"open {tiles}, roll 12"


@pytest.mark.parametrize("flag", ["--open=1_2", "--open=4-1", "--open=1-2-3", "--open=-1-3", "--roll=1-3"])
def test_other_numbers_are_refused(run, flag):
    status, _, error = run("advise shut-the-box --tiles 12 --dice 3", flag)
    assert (status, "integers separated by commas are needed" in error) == (2, True)


def test_explore_writes_the_page_that_python_returns(run, tmp_path):
    assert run("explore shut-the-box --tiles 3 --policy worst,random --out", str(tmp_path / "page.html"))[0] == 0
    assert (tmp_path / "page.html").read_text() == explorer_page(ShutTheBox(tiles=3), ["worst", "random"])


# Boxes too large for tables: a small one is taken for large, so that both answers can be compared


LARGE = "shut-the-box --tiles 8 --faces 5 --one-die low-sum"


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    every(
        3,
        [
            f"solve {LARGE}",
            f"solve {LARGE} --objective shut --worst",
            f"evaluate {LARGE} --policy fewest-then-biggest",
            f"evaluate {LARGE} --policy random --objective shut",
            f"list {LARGE}",
            f"advise {LARGE} --open 1,2,4,6,7 --roll 7",
            f"advise {LARGE} --open 1,2,4,6,7 --roll 3,4 --match one-tile",
        ],
    ),
)
def test_large_boxes_have_the_same_answers(ask, words):
    expected = ask(words)
    with patch("stb_gym.games.afterstates.LARGEST_TABLE", 1000):
        assert not fits(ShutTheBox(tiles=8, faces=5, one_die="low-sum"))
        found = ask(words)
    for answer in (expected, found):
        for name in ("afterstates", "mistakes"):  # counted otherwise; sorted otherwise where costs are equal
            answer.pop(name, None)
        if "strategies" in answer:
            with_tables_only = ("approximation", "most-ways")
            answer["strategies"] = [row for row in answer["strategies"] if row["name"] not in with_tables_only]
    assert found == {name: expected[name] for name in found}


@pytest.mark.nightly
def test_variants_of_equal_rules_are_solved_once_and_large_ones_for_points_alone(ask):
    words = "list shut-the-box --variants --tiles 8 --dice 2"
    expected = ask(words)["variants"]
    with (
        patch("stb_gym.games.afterstates.LARGEST_TABLE", 1000),
        patch("stb_gym.cli.turn.perfect_play", wraps=perfect_play) as solved,
    ):
        found = ask(words)["variants"]
        is_large = [not fits(ShutTheBox(**row["rules"])) for row in found]
    calls = [call.args for call in solved.call_args_list]
    games = {game for game, _ in calls}
    assert len(games) < len(found)  # classic, full-house and the-300 have the same rules then
    assert {goal for _, goal in calls} == {"score", "shut"}
    assert len(calls) == len({*calls})
    for row, before, large in zip(found, expected, is_large, strict=True):
        assert ("shut_probability" in row) != large
        assert row["value"] == pytest.approx(before["value"])
