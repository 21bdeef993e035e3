"""The pictures and tables of the results."""

import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from docs import results
from stb_gym import ShutTheBox
from tests.training.fake_runs import fake_run
from training.experiments import diagnoses
from training.results import Task, bootstrap_interval, read_measurements, save_results

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


def test_the_pages_have_the_tables_of_their_results():
    tables = results.tables()
    for path in results.PAGES:
        page = path.read_text()
        assert results.with_tables(page, tables) == page
        changed = re.sub(r"(\n\| (?:`certainty-equivalence`|1,000) \| -?)\d", r"\1x", page)
        assert changed != page == results.with_tables(changed, tables)


def test_the_parts_of_a_mean_regret_add_up():
    rows = [("a", "threes", 0, 0.1, 0.2, 0.0, 0.3), ("b", "threes", 0, 0.1, 0.1, -0.1, 0.2)]
    rows += [("a", "threes", 1, 0.3, 0.2, 0.0, 0.7), ("a", "nine-tiles", 0, 9.0, 9.0, 9.0, 9.0)]
    parts = results.mean_parts(pd.DataFrame(rows, columns=[*diagnoses.KEY, *diagnoses.PARTS]), "threes")
    assert parts.index.tolist() == ["b", "a"]
    assert parts.loc["a"].tolist()[:-1] == pytest.approx([0.9, 0.2, 0.2, 0.5])
    assert parts.loc["b"].tolist() == pytest.approx([0.3, 0.1, 0.1, 0.1, 0.1])


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
