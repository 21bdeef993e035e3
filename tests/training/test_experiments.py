"""The scripts of experiments: films, pictures of mistakes, the leaderboard, departures, and the README's picture."""

import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

import stb_gym
from docs import curves
from stb_gym import ShutTheBox, Threes, evaluate, kept_policies, load_policy, save_policy, strategy
from stb_gym.measure.policy_files import KEPT
from tests import ROOT
from tests.training.fake_runs import GAME, fake_run
from training.experiments import film as filming
from training.experiments.leaderboard import LARGEST_ENTRY, leaderboard, read_cards, write_card
from training.experiments.mistakes import GROUPS, mistakes, shares_of_groups
from training.results import read_measurements, save_results

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


# Films


@pytest.mark.parametrize(
    ("steps", "moments"), [((), (0, 1000, 3000)), ((1,), (1000,)), ((1001, 9000), (2000, 3000)), ((0,), (0,))]
)
def test_policies_of_several_measurements_play_the_same_dice(steps, moments, tmp_path, monkeypatch):
    run = fake_run(tmp_path / "run", ["worst", "lowest-first", "optimal-shut", "optimal-score"])
    turns = []
    play = filming.play
    monkeypatch.setattr(filming, "play", lambda *arguments: turns.append(play(*arguments)) or turns[-1])
    filming.film(run, steps=steps, seed=3, out=tmp_path / "film.gif")
    assert [turn.name for turn in turns] == [f"after {moment:,} steps" for moment in moments]
    assert len({turn.steps[0].position.faces for turn in turns}) == 1
    with Image.open(tmp_path / "film.gif") as film:
        assert film.n_frames > 2 * len(moments)
    filming.film(run, steps=steps, seed=4, out=tmp_path / "other.gif")
    assert (tmp_path / "other.gif").read_bytes() != (tmp_path / "film.gif").read_bytes()


# Mistakes


def test_the_shares_are_those_of_the_mistakes_one_by_one():
    game = ShutTheBox()
    evaluation = evaluate(game, load_policy("ppo-nine-tiles", game))
    random = evaluate(game, strategy(game, "random"))
    sums = dict.fromkeys(GROUPS, 0.0)
    for mistake in evaluation.mistakes():
        kind = "near tie" if mistake.loss < random.regret / 100 else "clear"
        sums[f"{kind}, {'often' if mistake.visits >= 1 / 1000 else 'rare'}"] += mistake.cost / evaluation.regret
    assert shares_of_groups(evaluation) == pytest.approx(list(sums.values()))
    assert sum(share > 0.05 for share in sums.values()) > 1
    assert shares_of_groups(evaluate(GAME, strategy(GAME, "optimal"))).tolist() == [0] * 4


def test_every_mistake_that_costs_something_is_a_point(tmp_path, monkeypatch, capsys):
    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: drawn.append(figure))
    run = fake_run(tmp_path / "run", ["biggest-first"])
    mistakes("ppo-threes", str(run), out=tmp_path / "picture.png")
    _, axes = drawn[0].axes
    costly = evaluate(GAME, strategy(GAME, "biggest-first")).mistakes()
    points = np.array(axes.collections[0].get_offsets())
    assert sorted(points.prod(axis=1)) == pytest.approx(sorted(mistake.cost for mistake in costly))
    areas = axes.collections[0].get_sizes()
    assert areas / areas.sum() == pytest.approx(points.prod(axis=1) / points.prod(axis=1).sum())
    heading, first, second = capsys.readouterr().out.splitlines()
    assert heading.startswith("policy")
    assert first.startswith("ppo-threes")
    assert second.startswith(str(run))
    with pytest.raises(ValueError, match="name at least one policy"):
        mistakes()


# The picture of the README


def test_the_picture_of_the_readme_shows_agents_and_baselines(tmp_path, monkeypatch):
    drawn = {}
    monkeypatch.setattr(Figure, "savefig", lambda figure, path, **_: drawn.update({path.name: figure}))
    monkeypatch.setattr(curves, "AGENTS", ("q-learning", "tabular-afterstates"))
    monkeypatch.setattr("tests.training.fake_runs.GAME", ShutTheBox())
    runs = [fake_run(tmp_path / name, ["worst", "lowest-first", "optimal"], name) for name in curves.AGENTS]
    measurements = read_measurements(runs).assign(arguments="{}")
    save_results(tmp_path / "curves.csv.gz", measurements)
    curves.draw(tmp_path, tmp_path / "curves.csv.gz")
    assert list(drawn) == ["curves.png", "curves-dark.png"]
    for figure in drawn.values():
        [axes] = figure.axes
        assert [text.get_text() for text in axes.texts] == [*curves.AGENTS, *curves.BASELINES]
        assert axes.get_ylabel() == "regret (points)"


# The leaderboard


@pytest.fixture
def folder(tmp_path):
    """Copy the saved policies and their cards."""
    return shutil.copytree(KEPT, tmp_path / "policies")


def enter(folder, name, game, policy, objective="score"):
    save_policy(folder / f"{name}.npz", game, policy, objective=objective)
    write_card(folder / f"{name}.npz", **ENTRIES)


def test_the_page_is_what_the_files_and_cards_say():
    assert PAGE.read_text() == leaderboard()


def test_saved_policies_and_cards_come_in_pairs_and_are_not_named_like_strategies():
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


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("", "licence"),
        ('licence = " "', "licence"),
        ('licence = "a\\nb"', "licence"),
        ('licence = "MIT"\nnote = "mine"', "note"),
        ('licence = "MIT"\nwho = 5', "who"),
        ('licence = "MIT"\nsteps = 0', "steps"),
        ('licence = "MIT"\nseeds = "5"', "seeds"),
        ("licence =", "Invalid value"),
    ],
)
def test_a_card_with_other_entries_is_refused(folder, line, wrong):
    card = folder / "ppo-threes.toml"
    kept = [known for known in card.read_text().splitlines() if not known.startswith(("licence", wrong))]
    card.write_text("\n".join([*kept, line]))
    with pytest.raises(ValueError, match=rf"ppo-threes\.toml: .*{wrong}") as refusal:
        leaderboard(folder)
    assert "\n" not in str(refusal.value)


def exchange(folder):
    shutil.copy(folder / "ppo-threes.npz", folder / "fitted-q-threes.npz")


def rename_card(folder):
    (folder / "ppo-threes.toml").rename(folder / "nobody.toml")


def remove_card(folder):
    (folder / "ppo-threes.toml").unlink()


def enlarge(folder):
    path = folder / "ppo-threes.npz"
    path.write_bytes(path.read_bytes() + bytes(LARGEST_ENTRY))


@pytest.mark.parametrize(
    ("change", "word"),
    [(exchange, "SHA-256"), (rename_card, "nobody"), (remove_card, "needs both"), (enlarge, "bytes")],
)
def test_a_policy_and_its_card_belong_together(change, word, folder):
    change(folder)
    with pytest.raises(ValueError, match=word):
        leaderboard(folder)
