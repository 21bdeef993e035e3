"""The leaderboard: the page is what the files and cards say, and incomplete or false entries are refused."""

import re
import shutil
import subprocess
import sys
from dataclasses import fields

import pytest

import stb_gym
from stb_gym import ShutTheBox, Threes, kept_policies, save_policy, strategy
from stb_gym.measure.policy_files import KEPT
from tests import ROOT
from training.leaderboard import LARGEST_ENTRY, Card, leaderboard, read_cards, write_card

PAGE = ROOT / "docs" / "leaderboard.md"
ENTRIES = {
    "who": 'Ä "quoted" \\ name',
    "how": "by hand",
    "command": "none",
    "settings": "none",
    "steps": 2_000,
    "seeds": 3,
    "licence": "MIT",
}


@pytest.fixture
def folder(tmp_path):
    """Copy the kept policies and their cards."""
    return shutil.copytree(KEPT, tmp_path / "policies")


def enter(folder, name, game, policy, objective="score"):
    save_policy(folder / f"{name}.npz", game, policy, objective=objective)
    write_card(folder / f"{name}.npz", **ENTRIES)


def test_the_page_is_what_the_files_and_cards_say():
    assert PAGE.read_text() == leaderboard()


def test_kept_policies_and_cards_come_in_pairs_and_are_not_named_like_strategies():
    assert list(read_cards()) == kept_policies()
    assert {path.suffix for path in KEPT.iterdir()} == {".npz", ".toml"}
    assert not {*kept_policies()} & {
        name for rules in stb_gym.games.GAMES.values() for name in stb_gym.strategies(rules())
    }


def test_cards_are_read_as_they_were_written(tmp_path):
    enter(tmp_path, "mine", Threes(dice=1), strategy(Threes(dice=1), "optimal"))
    card = read_cards(tmp_path)["mine"]
    assert {name: getattr(card, name) for name in ENTRIES} == ENTRIES


def test_a_table_has_the_least_regret_first_and_perfect_play_and_the_best_heuristic(tmp_path, snapshot):
    game = ShutTheBox(tiles=8)
    for name in ("worst", "optimal-shut", "random"):
        enter(tmp_path, name, game, strategy(game, name), "shut")
    enter(tmp_path, "other", game, strategy(game, "worst"))
    page = leaderboard(tmp_path)
    assert page[page.index("## shut") : page.index("## Enter")] == snapshot


def test_the_instructions_for_entering_work(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    [code], [command] = (re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text(), re.DOTALL) for kind in ("python", "sh"))
    exec(code.replace("stb_gym/measure/policies", "policies"), {})
    assert "\n- my-agent: `the command that trains it" in leaderboard(folder)
    (tmp_path / "docs").mkdir()
    subprocess.run(command.replace("python", sys.executable, 1), shell=True, check=True)
    assert (tmp_path / "docs" / "leaderboard.md").read_text() == PAGE.read_text()


# Entries that are refused


@pytest.mark.parametrize("entry", [each.name for each in fields(Card)])
def test_a_card_that_lacks_an_entry_is_refused(folder, entry):
    card = folder / "ppo-threes.toml"
    card.write_text("".join(line for line in card.read_text().splitlines(True) if not line.startswith(f"{entry} ")))
    with pytest.raises(ValueError, match=rf"ppo-threes\.toml.*'{entry}'"):
        leaderboard(folder)


@pytest.mark.parametrize(
    "line", ['note = "mine"', "who = 5", 'who = " "', 'who = "a\\nb"', "steps = 0", 'seeds = "5"', "who ="]
)
def test_a_card_with_other_entries_is_refused(folder, line):
    card, name = folder / "ppo-threes.toml", line.split()[0]
    kept = [known for known in card.read_text().splitlines() if not known.startswith(f"{name} ")]
    card.write_text("\n".join([*kept, line]))
    with pytest.raises(ValueError, match=r"ppo-threes\.toml"):
        leaderboard(folder)


def exchange(folder):
    shutil.copy(folder / "ppo-threes.npz", folder / "dqn-threes.npz")


def rename_card(folder):
    (folder / "ppo-threes.toml").rename(folder / "nobody.toml")


def remove_card(folder):
    (folder / "ppo-threes.toml").unlink()


def enlarge(folder):
    path = folder / "ppo-threes.npz"
    path.write_bytes(path.read_bytes() + bytes(LARGEST_ENTRY))


@pytest.mark.parametrize(
    ("change", "word"), [(exchange, "SHA-256"), (rename_card, "nobody"), (remove_card, "no card"), (enlarge, "bytes")]
)
def test_a_policy_and_its_card_belong_together(change, word, folder):
    change(folder)
    with pytest.raises(ValueError, match=word):
        leaderboard(folder)
