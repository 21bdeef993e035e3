"""Test the pictures, tables and pages of the results."""

import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from docs import front_chart, hardness_page, pictures, results
from stb_gym import ShutTheBox, Threes, solve
from stb_gym.solver import compile_game
from tests.training.fake_runs import fake_run
from tests.training.test_compare import curves_on
from training.experiments import diagnoses, estimators, mistakes, representations, rest, throws
from training.results import by_agent, by_task, read_measurements, save_results

# Pictures


@pytest.fixture
def drawn(monkeypatch):
    """Return a dictionary of the figures that are saved, by the names of their files."""
    figures, save = {}, Figure.savefig

    def keep(figure, path, **options):
        figures[path.name] = figure
        save(figure, path, **options | {"dpi": 20})

    monkeypatch.setattr(Figure, "savefig", keep)
    return figures


@pytest.mark.nightly
def test_the_picture_of_the_readme_shows_agents_and_baselines(tmp_path, monkeypatch, drawn):
    learners = ("q-learning", "tabular-afterstates")
    monkeypatch.setattr(results, "DRAWN", learners)
    monkeypatch.setattr(results, "BUDGET", 2000)
    monkeypatch.setattr("tests.training.fake_runs.GAME", ShutTheBox())
    runs = [fake_run(tmp_path / name, ["worst", "lowest-first", "optimal"], name) for name in learners]
    longer = fake_run(tmp_path / "longer", ["worst"], steps=3000)
    save_results(tmp_path / "curves.csv.gz", read_measurements([*runs, longer]).assign(arguments="{}"))
    results.draw_nine_tiles(tmp_path, tmp_path / "curves.csv.gz")
    [axes] = drawn["curves.png"].axes
    assert [text.get_text() for text in axes.texts] == [*learners, "planning with pooled throws", *results.BASELINES]


@pytest.mark.nightly
def test_a_picture_shows_every_curve_with_its_interval_and_its_name(tmp_path, drawn):
    steps = [0, 40_000, 1_000_000]
    curves = {
        "one": pd.DataFrame({"steps": steps, "median": [5, 0.5, 0.05], "low": [4, 0.4, 0.02], "high": [6, 0.9, 0.08]}),
        "other": pd.DataFrame({"steps": steps, "median": [5, 1, 0], "low": [5, 1, 0], "high": [5, 1, 0]}),
    }
    pictures.draw_curves(tmp_path / "some.png", curves, {"random": 9.0}, "regret")
    assert {*drawn} == {"some.png", "some-dark.png"}
    [axes] = drawn["some.png"].axes
    lines = [line.get_xydata().tolist() for line in axes.lines[:2]]
    # A regret of 0 is drawn at the lower edge.
    assert lines == [[[40_000, 0.5], [1_000_000, 0.05]], [[40_000, 1], [1_000_000, pictures.LEAST]]]
    assert axes.collections[0].get_paths()[0].vertices[:, 1].max() == 0.9
    ends = [(text.get_text(), text.xy[1]) for text in axes.texts]
    assert ends == [("one", 0.05), ("other", pictures.LEAST), ("random", 9)]
    assert axes.yaxis.get_major_formatter()(pictures.LEAST) == "0"


def test_names_that_would_overlap_are_moved_apart():
    heights = np.array([0.5, 0.98, 0.51, 0.99, 0.1, 0.5])
    places = pictures.spread(heights, 0.05)
    assert (np.diff(np.sort(places)) > 0.05 - 1e-9).all()
    assert (places.argsort(kind="stable") == heights.argsort(kind="stable")).all()
    assert places[[0, 1, 4]].tolist() == [0.5, 0.98, 0.1]


# The page of curves


@pytest.mark.nightly
def test_the_page_of_curves_has_all_tasks_and_its_mistakes_are_in_the_explorer(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "HEADINGS", {name: results.HEADINGS[name] for name in ("nine-tiles", "the-300")})
    results.write_curves(tmp_path / "curves.html")
    tasks = curves_on(tmp_path / "curves.html")
    assert [task["title"] for task in tasks.values()] == list(results.HEADINGS.values())
    links = set()
    for agent in tasks["nine-tiles"]["agents"]:
        assert agent["budget"] == 1_000_000 or agent["mistakes"] is None
        for mistake in agent["mistakes"] or ():
            links.add(mistake["link"])
            assert mistake["loss"] > 0
            assert 0 < mistake["visits"] < 1
    tables = compile_game(ShutTheBox())
    known = {tables.describe_state(state) for state in tables.decisions.tolist()}
    assert len(links) > 5
    assert {re.sub(r"index\.html#board\?open=([\d,]+)&roll=", r"open \1, roll ", link) for link in links} <= known


def test_plans_with_pooled_throws_come_to_perfect_play(tmp_path, monkeypatch):
    optimum = solve(ShutTheBox(tiles=5))
    assert throws.regret_of_plan(optimum, 10**12, 0) == pytest.approx(0, abs=1e-12)
    assert throws.regret_of_plan(optimum, 3, 0) > 0
    with pytest.raises(ValueError, match="must have the same number of dice"):
        throws.regret_of_plan(solve(Threes(dice=2)), 3, 0)
    monkeypatch.setattr(throws, "THROWS", (100, 10_000))
    monkeypatch.setattr(throws, "SEEDS", 3)
    throws.plan(out=tmp_path / "throws.csv")
    regrets = pd.read_csv(tmp_path / "throws.csv").groupby("throws")["regret"].mean()
    assert regrets[10_000] < regrets[100]


def test_the_costliest_mistakes_of_runs_are_written_to_a_file(tmp_path):
    runs = fake_run(tmp_path / "one", ["worst"]), fake_run(tmp_path / "other", ["lowest-first"], "ppo")
    mistakes.mistakes(*runs, out=tmp_path / "mistakes.csv")
    rows = pd.read_csv(tmp_path / "mistakes.csv")
    assert rows["algorithm"].tolist() == ["q-learning"] * 5 + ["ppo"] * 5
    costs = (rows["loss"] * rows["visits"]).to_numpy().reshape(2, 5)
    assert (np.diff(costs) <= 0).all()
    assert costs[0].sum() > costs[1].sum()


def test_visitors_can_play_against_all_learners_of_the_first_page_but_those_that_play_illegal_actions():
    _, measurements = by_task(read_measurements([front_chart.RESULTS]))[front_chart.TASK]
    runs = by_agent(measurements[measurements["budget"] == front_chart.BUDGET])
    last = {name: runs[name].groupby("seed").last() for name in front_chart.DRAWN}
    illegal = {name for name, measured in last.items() if (measured["illegal_mass"] > 0).any()}
    assert illegal == {name for name, policy in front_chart.DRAWN.items() if not policy}


# Tables


@pytest.mark.nightly
@pytest.mark.parametrize("made", [results.tables, results.tables_of_solved_tasks])
def test_the_pages_have_the_tables_of_their_results(made):
    tables, pages = made(), [path.read_text() for path in results.PAGES]
    for rows in tables.values():
        assert any(rows in page for page in pages)
        assert [results.with_tables(page.replace(rows, "| x |"), tables) for page in pages] == pages


def test_parts_are_written_for_every_threshold_and_both_orders():
    """With five seeds a mean has half the width of a t interval: 2.776 standard errors."""
    rows = []
    for seed in range(5):
        of_visits = [[0.1 * factor, 0.2, 0.15 * factor, 0.25] for factor in range(1, 4)]
        rows.append(("a", "threes", seed, 1.0 + seed, 0.0, *np.ravel(of_visits)))
    rows += [("b", "threes", 0, 0.9, 0.0, *[0.3] * 12), ("c", "nine-tiles", 0, 9.0, 0.0, *[0.3] * 12)]
    found = pd.DataFrame(rows, columns=[*diagnoses.KEY, *diagnoses.NUMBERS])
    table = [line.split(" | ") for line in hardness_page.parts_table(found, "threes").splitlines()]
    assert table[2:] == [
        ["| `b`", "1", "0.90", "0.30", "0.30, 0.30", "0.30", "0.30, 0.30", "0.30 |"],
        ["| `a`", "5", "3.0 ± 2.0", "0.10 ± 0", "0.15, 0.050", "0.20 ± 0", "0.25, 0.15", "2.7 ± 2.0 |"],
    ]
    assert "| Threes | `a` | 0.10 | 0.20 | 0.30 | 0.20 | 0.20 | 0.20 |" in hardness_page.thresholds_table(found)


def test_the_drops_of_a_regret_are_those_of_the_same_seed():
    rows = [("dqn", "threes", "none", seed, 1.0 + seed, 0.5) for seed in (0, 1)]
    rows += [("dqn", "threes", "uniform starts", seed, 0.5 + seed, 0.1) for seed in (0, 1)]
    table = hardness_page.rest_table(pd.DataFrame(rows, columns=[*rest.KEY, *rest.NUMBERS]))
    assert table.splitlines()[2] == "| Threes | `dqn` | 2 | 1.5 | 0.50 |  | 0.50 |  |"


def test_representations_have_a_row_each_in_their_order_with_means_over_seeds():
    rows = []
    for name in ("hash", "as it is"):
        rows += [("ppo", "threes", name, seed, 0.5 + seed, 0.1, 0.2, 0.2 + seed) for seed in (0, 1)]
    rows.append(("dqn", "threes", "hash", 0, 2.0, 0.0, 0.0, 2.0))
    found = pd.DataFrame(rows, columns=[*representations.KEY, *representations.NUMBERS])
    table = hardness_page.representations_table(found)
    assert [line.split(" | ") for line in table.splitlines()[2:]] == [
        ["| as it is", "1.0<br><small>0.10, 0.20, 0.70</small>", " |"],
        ["| hash", "1.0<br><small>0.10, 0.20, 0.70</small>", "2.0<br><small>0, 0, 2.0</small> |"],
    ]


# Estimators


def test_estimators_are_compared_with_the_exact_gradient(tmp_path, monkeypatch):
    monkeypatch.setattr(estimators, "GAMES", {"threes": Threes(dice=3)})
    monkeypatch.setattr(estimators, "TEMPERATURES", {"middle": 2.0})
    estimators.estimators(seeds=1, batches=40, out=tmp_path / "estimators.csv")
    found = pd.read_csv(tmp_path / "estimators.csv")
    rows = found.set_index("estimator")
    assert len(rows) == 14
    biased = {*rows.index[rows["high"] < 1]}
    assert {"GRPO", "GRPO without deviation", "per-turn baselines", "per-turn baselines, summed"} <= biased
    unbiased = ["REINFORCE", "RLOO", "return to go", "exact losses, RLOO", "exact losses to go", "exact advantage"]
    assert not biased & {*unbiased, "Dr. GRPO"}
    assert rows["length"][unbiased[1:]].to_numpy() == pytest.approx(1, abs=0.05)
    assert rows["length"]["Dr. GRPO"] == pytest.approx(7 / 8, abs=0.01)
    assert rows["batch_cosine"].idxmax() == "exact advantage"
    table = results.estimators_table(found, "threes").splitlines()
    assert table[0] == "| estimator | middle | one batch |"
    assert any(line.startswith("| RLOO | 1 | 0.") for line in table)
