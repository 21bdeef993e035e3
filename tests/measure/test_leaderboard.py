"""The leaderboard: what is judged, the cards, and the page that is made of them."""

import re
import shutil
from dataclasses import fields

import pytest
from stb_gym.measure.cards import LARGEST_ENTRY

import stb_gym
from stb_gym import ShutTheBox, Threes, compile_game, evaluate, judge, kept_policies, save_policy, solve, strategy
from stb_gym.cli import main
from stb_gym.measure import Card, leaderboard, read_cards, write_card
from stb_gym.measure.policy_files import KEPT
from tests import ROOT

PAGE = ROOT / "docs" / "leaderboard.md"
SAID = {"who": "I", "how": "by hand", "command": "none", "settings": "none", "steps": 1, "seeds": 1, "licence": "MIT"}


@pytest.fixture
def folder(tmp_path):
    """A copy of the kept policies and their cards."""
    return shutil.copytree(KEPT, tmp_path / "policies")


def enter(folder, name, game, policy, objective="score", illegal="raise", **said):
    save_policy(folder / f"{name}.npz", game, policy, illegal, objective)
    write_card(folder / f"{name}.npz", **SAID | said)


def rows(page, heading):
    """The cells of the table below a heading, row by row."""
    below = page[page.index(f"## {heading}\n") :].split("\n## ")[0]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in below.split("\n") if line.startswith("| ")][2:]


# Judging


def test_a_policy_is_judged_by_what_its_file_says(tmp_path):
    game, policy = ShutTheBox(tiles=5), strategy(ShutTheBox(tiles=5), "biggest-first")
    for objective in ("score", "shut", "at-most:3"):
        save_policy(tmp_path / "mine.npz", game, policy, objective=objective)
        judged = judge(tmp_path / "mine.npz")
        assert (judged.name, judged.game, judged.objective) == (str(tmp_path / "mine.npz"), game, objective)
        assert judged.evaluation.summary() == evaluate(game, policy, objective).summary()
        assert judge(tmp_path / "mine.npz", "at-most:1").evaluation.regret == evaluate(game, policy, "at-most:1").regret


def test_illegal_actions_end_the_turn_where_the_file_says_so(tmp_path):
    game = Threes(dice=2)
    policy = solve(game).policy * 0 + 1  # keeps two dice, even of one
    save_policy(tmp_path / "mine.npz", game, policy, "end")
    judged = judge(tmp_path / "mine.npz")
    assert judged.evaluation.regret == evaluate(game, policy, illegal="end").regret
    game = ShutTheBox(tiles=6)
    save_policy(tmp_path / "mine.npz", game, (~compile_game(game).legal()).argmax(axis=1), "end")
    judged = judge(tmp_path / "mine.npz")
    assert judged.evaluation.illegal_mass == pytest.approx(1)
    assert re.fullmatch(
        r"open 1,2,3,4,5,6, roll \d+: an illegal action instead of shut [\d,]+ loses [\d.]+, once in \d+ turns",
        judged.evaluation.dearest_mistake,
    )


def test_perfect_play_has_no_dearest_mistake():
    best = solve(Threes(dice=2))
    assert best.evaluate(best.policy).dearest_mistake == ""


# The page


def test_the_page_is_what_the_files_and_cards_say():
    """If this fails, make it again: stb-gym judge --page docs/leaderboard.md."""
    assert PAGE.read_text() == leaderboard()


def test_the_kept_policies_are_small_and_have_cards_that_tell_the_truth():
    cards = read_cards()
    assert list(cards) == kept_policies()
    assert all((KEPT / f"{name}.npz").stat().st_size <= LARGEST_ENTRY <= 100_000 for name in cards)
    assert {path.suffix for path in KEPT.iterdir()} == {".npz", ".toml"}


def test_no_kept_policy_is_called_like_a_strategy():
    assert not {*kept_policies()} & {name for rules in stb_gym.GAMES.values() for name in stb_gym.strategies(rules())}


def test_a_table_has_the_least_regret_first_and_yardsticks(tmp_path):
    game = ShutTheBox(tiles=8)
    best, thumbs = solve(game, "shut"), ("fewest-then-biggest", "biggest-first")
    for name in ("worst", "optimal-shut", "random"):
        enter(tmp_path, name, game, strategy(game, name), "shut", who=f"{name} me", steps=2_000, seeds=3)
    enter(tmp_path, "other", game, strategy(game, "worst"))
    page = leaderboard(tmp_path)
    regret = {name: best.evaluate(strategy(game, name)).regret for name in (*thumbs, "random", "worst")}
    thumb = min(thumbs, key=regret.get)
    found = rows(page, "shut-the-box: tiles 8, dice 2, faces 6, score sum; objective shut")
    assert [row[0] for row in found] == ["optimal-shut", "*perfect play*", f"*{thumb}*", "random", "worst"]
    assert [row[6] for row in found] == ["0", "0", *(f"{regret[name]:.3g}" for name in (thumb, "random", "worst"))]
    worst = best.evaluate(strategy(game, "worst"))
    assert found[-1][1:6] == ["by hand", "worst me", "2,000", "MIT", f"{worst.value:.6f}"]
    assert found[-1][7:] == [f"{worst.agreement_by_visits:.4%}", worst.dearest_mistake]
    assert "- worst: `none`, the best of 3 seeds; none\n" in page
    assert rows(page, "shut-the-box: tiles 8, dice 2, faces 6, score sum; objective score")[-1][0] == "other"


def test_what_the_page_says_of_entering_works(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    [code], [command] = (re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text(), re.DOTALL) for kind in ("python", "sh"))
    exec(code.replace("stb_gym/measure/policies", "policies"), {})
    assert "\n- my-agent: `what makes it again, or where the program is`, the best of 5 seeds" in leaderboard(folder)
    assert command.startswith("python -m stb_gym judge ")
    assert main(command.split()[3:]) == 0
    assert (tmp_path / "docs" / "leaderboard.md").read_text() == PAGE.read_text()


# Entries that are refused


@pytest.mark.parametrize("entry", [each.name for each in fields(Card)])
def test_a_card_that_lacks_an_entry_is_refused(folder, entry):
    card = folder / "ppo-threes.toml"
    card.write_text("".join(line for line in card.read_text().splitlines(True) if not line.startswith(f"{entry} ")))
    with pytest.raises(ValueError, match=rf"the card .*ppo-threes\.toml: the entry '{entry}' is missing$"):
        leaderboard(folder)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('note = "mine"', "unknown entry 'note': allowed are who, how"),
        ("who = 5", "who is 5, not str"),
        ('who = " "', "who must be a line of text"),
        ('who = "a\\nb"', "who must be a line of text"),
        ("steps = 0", "steps must be an integer from 1"),
        ('seeds = "5"', "seeds is '5', not int"),
        ("who =", "the card .*ppo-threes.toml: "),
    ],
)
def test_a_card_with_other_entries_is_refused(folder, line, message):
    card, name = folder / "ppo-threes.toml", line.split()[0]
    kept = [known for known in card.read_text().splitlines() if not known.startswith(f"{name} ")]
    card.write_text("\n".join([*kept, line]))
    with pytest.raises(ValueError, match=message):
        leaderboard(folder)


def test_a_card_of_other_bytes_is_refused(folder):
    shutil.copy(folder / "ppo-threes.npz", folder / "dqn-threes.npz")
    with pytest.raises(
        ValueError, match=r"the card .*dqn-threes\.toml is of another file: the SHA-256 of .* is [0-9a-f]{64}"
    ):
        leaderboard(folder)


def test_a_policy_and_its_card_come_together(folder):
    (folder / "ppo-threes.toml").rename(folder / "nobody.toml")
    with pytest.raises(ValueError, match="there is a card but no policy nobody in"):
        leaderboard(folder)
    (folder / "nobody.toml").unlink()
    with pytest.raises(ValueError, match=r"ppo-threes\.npz has no card .*ppo-threes\.toml"):
        leaderboard(folder)


def test_a_policy_that_is_too_large_is_refused(tmp_path):
    game = ShutTheBox(tiles=12)
    enter(tmp_path, "large", game, strategy(game, "random"))
    (tmp_path / "large.npz").write_bytes((tmp_path / "large.npz").read_bytes() + bytes(LARGEST_ENTRY))
    with pytest.raises(ValueError, match=r"large.npz has [\d,]+ bytes; at most 100,000 are kept"):
        leaderboard(tmp_path)


def test_cards_are_read_as_they_were_written(tmp_path):
    said = {**SAID, "who": 'Ä "quoted" \\ name', "steps": 10**9}
    enter(tmp_path, "mine", Threes(dice=1), solve(Threes(dice=1)).policy, **said)
    assert {name: getattr(read_cards(tmp_path)["mine"], name) for name in said} == said
