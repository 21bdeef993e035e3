"""Test that runs and results files merge into one table and report."""

import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from agents.baselines import greedy_step
from stb_gym import evaluate, strategies, strategy
from tests import ROOT
from tests.training.fake_runs import GAME, fake_round, fake_run, fake_runs
from training import report
from training.compare import compare_agents, main
from training.results import (
    by_agent,
    by_task,
    curve_over_seeds,
    read_measurements,
    read_results,
    save_results,
)
from training.seeds import coverage, interval

NAME = "ShutTheBox-v0-tiles-5"
LEARNED = ["worst", "biggest-first", "optimal-score"]
REGRETS = {name: evaluate(GAME, strategy(GAME, name)).regret for name in ("biggest-first", "optimal-shut", "random")}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return fake_runs(tmp_path_factory.mktemp("runs"))


def curves_on(page):
    """Return the data of a page of curves."""
    [data] = re.findall(r'<script id="data" type="application/json">(.*?)</script>', page.read_text(), re.DOTALL)
    return json.loads(data)


def curves_of(runs, folder):
    """Write a page of the curves of runs to a folder; return its data."""
    assert main([*map(str, runs), "--out", str(folder / "page.html")]) == 0
    return curves_on(folder / "page.html")


@pytest.fixture(scope="module")
def curves(runs, tmp_path_factory):
    """Return the curves of the task of `runs`, as on their page."""
    return curves_of(runs, tmp_path_factory.mktemp("page"))[NAME]


def rows_of(paths, name=NAME):
    return pd.DataFrame(compare_agents(*by_task(read_measurements(paths))[name])).set_index("agent")


# Statistics


@pytest.mark.parametrize("seeds", [2, 3, 4, 5, 7, 8, 9, 10, 20])
def test_intervals_contain_the_median_as_often_as_they_say(seeds):
    values = np.random.default_rng(1).pareto(0.5, (seeds, 20_000))  # a distribution without a mean
    low, high = interval(values)
    contained = np.mean((low <= 3) & (high >= 3))  # its median
    assert contained == pytest.approx(coverage(seeds), abs=0.01)
    assert seeds < 5 or coverage(seeds) >= 0.93


def test_seeds_are_compared_at_the_same_steps():
    one = pd.DataFrame({"seed": 0, "steps": [0, 5, 20, 30], "regret": [8.0, 4, 2, 1], "seconds": 1})
    other = pd.DataFrame({"seed": 1, "steps": [0, 20], "regret": [6.0, 2], "seconds": [0, 6]})
    curve = curve_over_seeds(pd.concat([other, one]), "regret")
    assert (curve["low"] <= curve["median"]).all()
    assert curve[["steps", "median", "seconds", "high"]].to_numpy().tolist() == [
        [0, 7, 0.5, 8], [5, 4.5, 1.25, 5], [20, 2, 3.5, 2],
    ]  # fmt: skip


# The table


def test_a_row_has_the_median_of_the_last_measurements_over_seeds(runs):
    rows = rows_of(runs)
    assert rows["regret"].is_monotonic_increasing
    row, other = rows.loc["q-learning"], rows.loc["tabular-afterstates"]
    seeds = [REGRETS["biggest-first"], REGRETS["optimal-shut"]]
    assert row[["regret", "low", "high"]].tolist() == pytest.approx([np.median(seeds), min(seeds), max(seeds)])
    assert row[["steps", "seconds", "seeds"]].tolist() == [2000, 20, 2]
    assert other[["regret", "agreement_by_visits", "illegal_mass", "seeds"]].tolist() == [0, 1, 0, 1]
    assert np.isnan(other["low"])


def test_the_baselines_are_the_strategies_that_are_not_perfect_play_and_the_greedy_step(runs):
    rows = rows_of(runs)
    trained = {"q-learning", "tabular-afterstates"}
    assert {*rows.index} - trained == {*strategies(GAME), "greedy-step"} - {"optimal", "optimal-score", "worst"}
    for name, regret in REGRETS.items():
        assert rows.loc[name, "regret"] == pytest.approx(regret)
    assert rows.loc["greedy-step", "regret"] == pytest.approx(evaluate(GAME, greedy_step(GAME)).regret)


def test_equal_tasks_are_merged(runs):
    rows = read_measurements(runs)
    written = [rows.assign(arguments=arguments) for arguments in ("{}", '{"tiles": 9}')]
    [(_, frame)] = by_task(pd.concat(written)).values()
    assert len(frame) == 2 * len(rows)


@pytest.mark.nightly
def test_rounds_are_compared_by_the_largest_gain(tmp_path, capsys):
    folder = fake_round(tmp_path / "round", [0.3, 0.2, 0.125])
    name = f"{NAME}-2-players-league"
    rows = rows_of([folder], name)
    assert rows["gain"].to_dict() == {"ppo": 0.125}
    assert rows["exploitability"].to_dict() == {"ppo": 0.1875}
    assert "--players 2 --opponents league" in rows.loc["ppo", "command"]
    [agent] = curves_of([folder], tmp_path)[name]["agents"]
    assert agent["median"] == [0.3, 0.2, 0.125]
    printed = capsys.readouterr().out
    assert "largest gain (expected wins)" in printed.replace("\n", " ")
    assert " 0.12" in printed
    assert re.search(r"exploitability.*\n.* 0\.19", printed, re.DOTALL)


# Names and commands


def test_agents_of_one_algorithm_are_named_by_what_differs(tmp_path):
    wide, narrow = {"settings": {"exploration": 0.5}}, {"settings": {"exploration": 0.25}}
    options = [wide, narrow, {**narrow, "steps": 7000}, {**narrow, "steps": 7000, "seed": 5}]
    paths = [fake_run(tmp_path / str(number), LEARNED, **each) for number, each in enumerate(options)]
    assert {name: len(runs) for name, runs in by_agent(read_measurements(paths)).items()} == {
        "q-learning, 2,000 steps, exploration 0.5": 3,
        "q-learning, 2,000 steps, exploration 0.25": 3,
        "q-learning, 7,000 steps": 6,
    }
    assert list(by_agent(read_measurements(paths[2:]))) == ["q-learning"]
    agents = curves_of(paths[1:], tmp_path)[NAME]["agents"]
    found = [(agent["name"], agent["budget"], agent["seeds"], agent["colour"]) for agent in agents]
    assert found == [("q-learning", 2000, 1, found[0][-1]), ("q-learning", 7000, 2, found[0][-1])]


def test_equal_settings_that_are_written_in_other_ways_are_of_one_agent(runs):
    rows = read_measurements(runs[:1])
    written = [rows.assign(settings=text, seed=seed) for seed, text in enumerate(('{"width": 1}', '{"width": 1.0}'))]
    [(_, found)] = by_agent(pd.concat(written)).items()
    assert found["seed"].nunique() == 2


def test_agents_are_grouped_by_the_steps_that_they_made(tmp_path, capsys):
    made = {"q-learning": 8192, "ppo": 8150, "dqn": 262_144, "sb3-a2c": 4000}
    paths = [fake_run(tmp_path / name, LEARNED, name, steps, steps=8192) for name, steps in made.items()]
    names = ["q-learning", "ppo", "dqn, 262,144 of 8,192 steps", "sb3-a2c, 4,000 of 8,192 steps"]
    assert sorted(by_agent(read_measurements(paths))) == sorted(names)
    agents = curves_of(paths, tmp_path)[NAME]["agents"]
    assert "sb3-a2c is not finished: 4,000 of 8,190 steps" in capsys.readouterr().err
    assert {agent["name"]: agent["budget"] for agent in agents} == dict(
        zip(names, [8192, 8192, 262_144, 4000], strict=True)
    )


def test_a_command_has_all_that_differs_from_the_preset(tmp_path, monkeypatch):
    presets = tmp_path / "presets.toml"
    presets.write_text("[q-learning]\nsteps = 2000\nnum_envs = 8\n[q-learning.quick]\nexploration = 0.25\n")
    monkeypatch.setattr("agents.presets.FILE", presets)
    quick, changed = {"variant": "quick"}, {"settings": {"exploration": 0.5}, "steps": 3000}
    options = [quick, {**quick, "seed": 2}, changed]
    runs = [fake_run(tmp_path / str(number), LEARNED, **each) for number, each in enumerate(options)]
    commands = rows_of(runs)["command"]
    begin = "python -m training.train q-learning --env stb_gym/ShutTheBox-v0 --tiles 5"
    assert commands["q-learning, quick"] == f"{begin} --variant quick --steps 2000 --seeds 0,2"
    assert commands["q-learning"] == f"{begin} --settings.exploration 0.5 --steps 3000 --seeds 0"
    presets.write_text("[q-learning]\nsteps = 2000\n# without the variant\n")
    monkeypatch.setattr("agents.presets.FILE", presets.rename(tmp_path / "later.toml"))
    save_results(tmp_path / "all.csv.gz", read_measurements(runs))
    assert rows_of([tmp_path / "all.csv.gz"]).loc["q-learning, quick", "command"] == ""


@pytest.mark.nightly
def test_a_game_of_your_own_is_compared(tmp_path):
    folder = fake_run(tmp_path / "run", ["worst"])
    config = json.loads((folder / "config.json").read_text())
    config |= {"env": "stb_gym/Pig-v0", "arguments": {"most_points": 30}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "policy.npz").unlink()
    words = ["-m", "training.compare", "--import", "docs.pig", str(folder), "--out", str(tmp_path / "page.html")]
    printed = subprocess.run([sys.executable, *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert "hold-at-20" in printed
    assert "--env stb_gym/Pig-v0 --import docs.pig --most-points 30" in (tmp_path / "page.html").read_text()


# Results files


def test_a_results_file_holds_all_measurements_and_is_read_again(runs, tmp_path, capsys):
    path, again, page = tmp_path / "all.csv.gz", tmp_path / "again" / "all.csv.gz", tmp_path / "page.html"
    assert main([*map(str, runs), "--save", str(path)]) == 0
    printed = capsys.readouterr().out
    pd.testing.assert_frame_equal(read_results(path), read_measurements(runs).drop(columns=["folder", "made"]))
    assert "train/loss" not in read_results(path)
    assert main([str(path), "--save", str(again), "--out", str(page)]) == 0
    assert capsys.readouterr().out == printed
    assert again.read_bytes() == path.read_bytes()
    assert [agent["mistakes"] for agent in curves_on(page)[NAME]["agents"]] == [None, None]  # as it holds no policies


def test_every_task_has_its_rows_as_json(runs, tmp_path, capsys):
    assert main([*map(str, runs), str(fake_round(tmp_path / "round", [0.5])), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert list(answer) == [NAME, f"{NAME}-2-players-league"]
    assert {row["agent"]: row["regret"] for row in answer[NAME]} == rows_of(runs)["regret"].to_dict()


# The page of curves


def test_the_page_has_the_curves_of_all_agents_and_the_baselines(curves, runs):
    rows = rows_of(runs)
    measurements = by_task(read_measurements(runs))[NAME][1]
    assert (curves["title"], curves["unit"]) == (NAME, "regret (points)")
    for agent in curves["agents"]:
        curve = curve_over_seeds(by_agent(measurements)[agent["name"]], "regret")
        assert agent["steps"] == [0, 1000, 2000]
        assert agent["minutes"] == pytest.approx([0, 10 / 60, 20 / 60], rel=1e-3)
        for column in ("median", "low", "high"):
            assert agent[column] == pytest.approx(curve[column].tolist(), rel=1e-3)
        assert agent["command"] == rows.loc[agent["name"], "command"]
    assert [(agent["name"], agent["budget"], agent["seeds"]) for agent in curves["agents"]] == [
        ("q-learning", 2000, 2),
        ("tabular-afterstates", 2000, 1),
    ]
    assert len({(agent["colour"], *agent["dashes"]) for agent in curves["agents"]}) == 2
    assert curves["lines"] == rows.loc[["random", "greedy-step", "fewest-then-biggest"], "regret"].to_dict()


def test_the_page_has_the_costliest_mistakes_of_the_first_run_of_each_agent(curves):
    first, second = (agent["mistakes"] for agent in curves["agents"])
    costliest = evaluate(GAME, strategy(GAME, "biggest-first")).mistakes(report.MISTAKES)
    assert [(f"{each['afterstate']}, roll {each['roll']}", each["loss"]) for each in first] == [
        (each.position, each.loss) for each in costliest
    ]
    assert second == []


def test_data_cannot_end_the_script_of_the_page(tmp_path):
    report.write_page(tmp_path / "page.html", {"</script>": {"agents": []}})
    assert curves_on(tmp_path / "page.html") == {"</script>": {"agents": []}}


def test_numbers_have_two_significant_digits():
    texts = [report.rounded(number) for number in (130, 69.9, 0.0996, 5e-6, 4e-6, -0.0017, -4e-6)]
    assert texts == ["130", "70", "0.10", "0.0000050", "0", "-0.0017", "0"]
