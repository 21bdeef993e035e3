"""The leaderboard, and the picture of the README."""

import re
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import stb_gym
from docs import results
from stb_gym import ShutTheBox, kept_policies, save_policy, strategy
from stb_gym.measure.policy_files import KEPT
from tests import ROOT
from tests.training.fake_runs import fake_run
from training.experiments.leaderboard import leaderboard, write_card
from training.results import Task, bootstrap_interval, read_measurements, save_results

PAGE = ROOT / "docs" / "leaderboard.md"
ENTRIES = {
    "who": 'Ä "quoted" \\ name',
    "how": "by hand",
    "masked": False,
    "command": "none",
    "settings": "none",
    "steps": 2_000,
    "seeds": 3,
    "licence": "MIT",
}


# The picture of the README


def test_the_picture_of_the_readme_shows_agents_and_baselines(tmp_path, monkeypatch):
    drawn = {}
    monkeypatch.setattr(Figure, "savefig", lambda figure, path, **_: drawn.update({path.name: figure}))
    monkeypatch.setattr(results, "AGENTS", ("q-learning", "tabular-afterstates"))
    monkeypatch.setattr("tests.training.fake_runs.GAME", ShutTheBox())
    runs = [fake_run(tmp_path / name, ["worst", "lowest-first", "optimal"], name) for name in results.AGENTS]
    measurements = read_measurements(runs).assign(arguments="{}")
    save_results(tmp_path / "curves.csv.gz", measurements)
    results.draw(tmp_path, tmp_path / "curves.csv.gz")
    [axes] = drawn.pop("curves.png").axes
    assert [text.get_text() for text in axes.texts] == [*results.AGENTS, *results.BASELINES]
    assert axes.get_ylabel() == "regret (points)"
    assert not drawn


def test_the_page_of_agents_has_the_tables_of_its_results():
    page = results.PAGE.read_text()
    assert results.with_tables(page) == page
    changed = page.replace("| `ppo` | none |", "| `ppo` | nothing |")
    assert changed != page == results.with_tables(changed)


def test_a_table_has_a_row_for_each_algorithm_and_a_column_for_each_number_of_steps():
    seeds = [[0.1, 0.2, 0.4, 0.5], [0.000001] * 4]
    rows = [
        (algorithm, budget, seed, regret, 90.0, budget)
        for algorithm, budget, regrets in zip(("ppo", "dqn"), (200_000, 1_000_000), seeds, strict=True)
        for seed, regret in enumerate(regrets)
    ]
    frame = pd.DataFrame(rows, columns=["algorithm", "budget", "seed", "regret", "seconds", "steps"])
    low, high = bootstrap_interval(np.array(seeds[0]))
    assert results.table(Task("stb_gym/ShutTheBox-v0", {}), frame).splitlines() == [
        "| agent | 0.2M | 1M |",
        "| --- | ---: | ---: |",
        f"| `ppo` | 0.3<br><small>{results.rounded(low, 2)} to {results.rounded(high, 2)}<br>1.5 min</small> |  |",
        "| `dqn` |  | 0<br><small>0 to 0<br>1.5 min</small> |",
    ]


# The leaderboard


@pytest.fixture
def folder(tmp_path):
    """Copy the saved policies and their cards."""
    return shutil.copytree(KEPT, tmp_path / "policies")


def enter(folder, name, game, policy, objective="score"):
    save_policy(folder / f"{name}.npz", game, policy, objective=objective)
    write_card(folder / f"{name}.npz", **ENTRIES)


def test_the_page_is_what_the_files_and_cards_say():
    assert PAGE.read_text() == leaderboard() + "\n"


def test_saved_policies_are_small_have_cards_and_are_not_named_like_strategies():
    assert max(path.stat().st_size for path in KEPT.iterdir()) <= 100_000  # as the page says
    files = {path.name for path in KEPT.iterdir()}
    assert files == {f"{name}.{kind}" for name in kept_policies() for kind in ("npz", "toml")}
    assert not {*kept_policies()} & {
        name for rules in stb_gym.games.GAMES.values() for name in stb_gym.strategies(rules())
    }


def test_a_table_has_the_least_regret_first_and_perfect_play_and_the_best_heuristic(tmp_path, snapshot):
    game = ShutTheBox(tiles=8)
    for name in ("worst", "optimal-shut", "random"):
        enter(tmp_path, name, game, strategy(game, name), "shut")
    enter(tmp_path, "other", game, strategy(game, "worst"))
    page = leaderboard(tmp_path)
    assert page[page.index("## shut") : page.index("## Enter")] == snapshot


@pytest.mark.nightly
def test_the_instructions_for_entering_work(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    [code], [command] = (re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text(), re.DOTALL) for kind in ("python", "sh"))
    exec(code.replace("stb_gym/measure/policies", "policies"), {})
    assert "\n| my-agent | the algorithm in a few words, your name | yes |" in leaderboard(folder)
    (tmp_path / "docs").mkdir()
    subprocess.run(command.replace("python", sys.executable, 1), shell=True, check=True)
    assert (tmp_path / "docs" / "leaderboard.md").read_text() == PAGE.read_text()


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("", "licence"),
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
    with pytest.raises(ValueError, match=wrong):
        leaderboard(folder)


def test_a_policy_and_its_card_belong_together(folder):
    shutil.copy(folder / "ppo-threes.npz", folder / "fitted-q-threes.npz")
    with pytest.raises(ValueError, match="SHA-256"):
        leaderboard(folder)
    (folder / "fitted-q-threes.toml").unlink()
    with pytest.raises(ValueError, match=r"fitted-q-threes\.toml"):
        leaderboard(folder)
