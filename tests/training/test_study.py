"""Studies: what is planned, that a killed one goes on, what its ledger says, and its statistics."""

import csv
import multiprocessing
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock
from matplotlib.image import imread
from pebble import ProcessExpired

import stb_gym
from agents.presets import read_presets
from stb_gym import ShutTheBox, evaluate, load_policy, strategy
from tests import PATIENCE, ROOT, SMALL_PRESETS
from tests.training.faults import Killed, killed
from training import engines, keep, merge, pictured, results, study, study_plots
from training import train as training
from training.commands import train_command
from training.engines import Engine
from training.leaderboard import read_cards
from training.ledger import Ledger
from training.pictured import agent_in_words
from training.results import config_of
from training.run import Run
from training.statistics import interquartile_interval, interquartile_mean, interval
from training.tables import markdown

SHELF = tempfile.TemporaryDirectory(prefix="study-")
FILE = Path(SHELF.name) / "presets.toml"  # what a study tells needs no runs that have learned much
LESS = re.sub("steps = [0-9]+_000", "steps = 5_000", SMALL_PRESETS.read_text())
FILE.write_text(re.sub("(n_epochs|minibatches|gradient_steps) = [0-9]+", r"\1 = 1", LESS))
PRESETS = read_presets(FILE)
STUDIES = """
[[small]]
algorithms = ["afterstates", "ppo"]
tasks = ["five-tiles", "five-tiles-shut"]
seeds = 2

[[small]]
algorithms = ["dqn"]
tasks = ["five-tiles"]
variants = ["no-masks"]
seeds = 1
"""
RUNS = {f"{a}-{t}-{s}" for a in ("afterstates", "ppo") for t in ("five-tiles", "five-tiles-shut") for s in (0, 1)}
TWO = '[[small]]\nalgorithms = ["afterstates"]\ntasks = ["three-tiles"]\nseeds = 2\n'
PART = '[[small]]\nalgorithms = ["ppo"]\ntasks = ["five-tiles"]\n'
RUNS |= {"dqn-five-tiles-no-masks-0"}


def command(folder, studies=STUDIES):
    (folder / "studies.toml").write_text(studies)
    options = ["--studies", str(folder / "studies.toml"), "--presets", str(FILE), "--out", str(folder / "out")]
    return ["small", *options, "--workers", "2"]


@contextmanager
def at_once(workers, device="cpu"):
    """Stands for a pool of processes: every training runs in this one, at once."""

    def begin(config, folder):
        training = Future()
        try:
            training.set_result(engines.train_run(config.to_json(), folder, device))
        except ValueError as error:
            training.set_exception(error)
        return training

    yield Engine(begin, lambda: workers)


def run_study(words, pool=at_once):
    """Run a study whose trainings are run by `pool`; its exit status."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "pool", pool)
        return study.main(words)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of a study that was killed, and went on."""
    folder = tmp_path_factory.mktemp("study")
    kill_and_go_on(folder)
    return folder / "out"


def kill_and_go_on(folder):
    """Kill a study while it enters its third run, and go on; the two that were entered are not run again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("training.ledger.time.monotonic", lambda: 0.0)  # so writing takes no time: every run is written
        with pytest.raises(Killed), killed(3, "runs.csv"):
            run_study(command(folder))
    entered = set(Ledger(folder / "out").rows)
    assert len(entered) == 2
    assert len((folder / "out" / "curves.csv").read_text().split("afterstates-five-tiles-shut-0")) > 1
    before = {name: (folder / "out" / name / "result.json").stat().st_mtime_ns for name in entered}
    assert run_study(command(folder)) == 0
    assert before == {name: (folder / "out" / name / "result.json").stat().st_mtime_ns for name in entered}


@pytest.mark.usefixtures("no_ink")
def test_a_study_that_is_killed_with_its_trainings_is_gone_on_with(tmp_path):
    """One true SIGKILL, while the second training runs."""
    words = command(tmp_path, TWO)
    process = subprocess.Popen(
        [sys.executable, "-m", "training.study", *words, "--workers", "1"],
        cwd=ROOT,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + PATIENCE
    while not (tmp_path / "out" / "afterstates-three-tiles-1").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    with FileLock(tmp_path / "out" / ".lock", timeout=PATIENCE):  # a training just being started dies a little later
        assert set(Ledger(tmp_path / "out").rows) == {"afterstates-three-tiles-0"}
    result = tmp_path / "out" / "afterstates-three-tiles-0" / "result.json"
    before = result.stat().st_mtime_ns
    assert run_study(words) == 0
    assert result.stat().st_mtime_ns == before
    assert set(Ledger(tmp_path / "out").rows) == {"afterstates-three-tiles-0", "afterstates-three-tiles-1"}


def begin_one_more(writer):
    """A process that begins another, which has nothing to do for a minute."""
    child = multiprocessing.get_context("fork").Process(target=idle, args=(writer,))
    child.start()
    child.join()


def idle(writer):
    engines.end_with_parent()
    writer.send("begun")
    time.sleep(60)
    writer.send("still there")


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_the_processes_of_a_pool_end_when_the_study_is_killed():
    reader, writer = multiprocessing.Pipe(duplex=False)
    study = multiprocessing.get_context("fork").Process(target=begin_one_more, args=(writer,))
    study.start()
    writer.close()
    assert reader.recv() == "begun"
    study.kill()
    with pytest.raises(EOFError):  # as nobody is left who could write
        reader.recv()
    study.join()


def test_a_killed_study_goes_on_and_ends_with_all_its_runs(folder):
    ledger = Ledger(folder)
    assert set(ledger.rows) == set(ledger.curves) == RUNS
    for name, row in ledger.rows.items():
        run = Run.open(folder / name)
        assert run.result()["finished"] is True
        assert row.config == run.config.digest()
        assert (row.algorithm, row.seed) == (run.config.algorithm, run.config.seed)
        assert run.config == PRESETS.config(row.algorithm, PRESETS.tasks[row.task], row.variant, row.seed)
        evaluation = evaluate(run.game(), run.policy(), run.config.task.objective, run.config.illegal)
        assert row.regret == evaluation.regret
        assert row.illegal_mass == evaluation.illegal_mass
        assert ledger.curves[name][-1].regret == pytest.approx(row.regret, rel=1e-5)
        assert [point.steps for point in ledger.curves[name]] == [point.steps for point in run.curve()]
    assert ledger.rows["dqn-five-tiles-no-masks-0"].illegal_mass > 0


@pytest.mark.usefixtures("no_ink")
def test_a_finished_study_runs_nothing_even_without_its_runs(folder, tmp_path):
    for name in ("runs.csv", "curves.csv"):
        (tmp_path / "out").mkdir(exist_ok=True)
        (tmp_path / "out" / name).write_text((folder / name).read_text())
    none = Engine(lambda *_: pytest.fail("nothing is left to run"), lambda: 1)
    assert run_study(command(tmp_path), lambda *_: nullcontext(none)) == 0
    assert (tmp_path / "out" / "README.md").read_text() == (folder / "README.md").read_text()


def test_runs_of_other_settings_are_run_again(folder, tmp_path):
    other = tmp_path / "presets.toml"
    other.write_text(FILE.read_text().replace("horizon = 10.0", "horizon = 11.0"))
    planned = study.plan("small", folder.parent / "studies.toml", read_presets(other))
    assert study.unentered(planned, Ledger(folder)) == [run for run in planned if run.config.algorithm == "afterstates"]
    message = "afterstates-five-tiles-0 in .* was trained with other settings than its preset has now"
    with pytest.raises(ValueError, match=message):
        results.results_tables(folder, read_presets(other))


def test_the_page_has_the_tables_and_pictures_of_all_tasks(folder, capsys):
    page = (folder / "README.md").read_text()
    assert results.main([str(folder), "--presets", str(FILE)]) == 0
    assert capsys.readouterr().out == page
    assert re.findall("^## (.*)", page, re.MULTILINE) == ["five-tiles", "five-tiles-shut"]
    shown = re.findall(r"!\[.*\]\((.*)\)", page)
    assert shown == ["five-tiles.png", "five-tiles-ablations.png", "five-tiles-shut.png", "profile.png"]


def test_pictures_say_what_comes_out(folder):
    page, ledger = (folder / "README.md").read_text(), Ledger(folder)
    said = {name: alt for alt, name in re.findall(r"!\[(.*)\]\((.*)\.png\)", page)}
    ends = {name: [ledger.rows[f"{name}-five-tiles-{seed}"] for seed in (0, 1)] for name in ("afterstates", "ppo")}
    best, other = sorted(ends, key=lambda name: np.mean([row.regret for row in ends[name]]))
    told = [
        f"{agent_in_words(ends[name][0])} {np.mean([row.regret for row in ends[name]]):.5f}" for name in (best, other)
    ]
    assert said["five-tiles"].startswith(f"five-tiles: regret against steps. At the end: {told[0]}; {told[1]}")
    without = ledger.rows["dqn-five-tiles-no-masks-0"]
    assert f": DQN, no masks {without.regret:.5f}." in said["five-tiles-ablations"]
    assert "afterstates" not in said["five-tiles-ablations"]
    for name in ends:
        rows = [row for row in ledger.rows.values() if row.agent == name]
        half = min(
            level
            for level in (1 - row.normalised_score for row in rows)
            if sum(1 - row.normalised_score <= level for row in rows) >= len(rows) / 2
        )
        assert f"{agent_in_words(rows[0])} {pictured.regret_in_words(half)}" in said["profile"]


def test_a_picture_of_mistakes_says_which_kind_is_dearest():
    game = ShutTheBox()
    found = evaluate(game, load_policy("ppo-nine-tiles", game))
    near = 0.01 * abs(found.random_value - found.optimum.value)
    shares = Counter()
    for each in found.mistakes():
        kind = f"{'near tie' if each.loss < near else 'clear'}, {'often' if each.visits >= 0.001 else 'rare'}"
        shares[kind] += each.cost / found.regret
    [(kind, share)] = shares.most_common(1)
    said = pictured.picture_in_words("-mistakes", "nine-tiles", game, [])
    mine = f"ppo-nine-tiles loses {found.regret:.5f} by {len(found.mistakes())} choices, {share:.0%} of it "
    assert f"{mine}by the kind '{kind}'; dqn-nine-tiles loses " in said


def test_the_table_says_what_the_runs_say(folder):
    tables = results.results_tables(folder, PRESETS)
    page = (folder / "README.md").read_text()
    assert all(markdown(table) in page for table in tables.values())
    table = markdown(tables["five-tiles"])
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    assert {len(row) for row in rows} == {len(rows[0])}
    by_agent = {row[0]: row for row in rows[2:]}
    ledger = Ledger(folder)
    for algorithm, name in (("afterstates", "afterstates, tabular"), ("ppo", "masked PPO")):
        runs = [ledger.rows[f"{algorithm}-five-tiles-{seed}"] for seed in (0, 1)]
        row = by_agent[name]
        assert row[1].startswith(f"**{np.mean([run.regret for run in runs]):.5f}** (")
        assert row[5:7] == ["0 to 1", f"{runs[0].steps / 1e6:.3g}M"]
        train = f"python -m training.train {algorithm} --env stb_gym/ShutTheBox-v0"
        assert row[8] == f"`{train} --presets {FILE} --tiles 5 --seed S`"
    game = PRESETS.tasks["five-tiles"].game()
    assert by_agent["random"][1] == f"{evaluate(game, strategy(game, 'random')).regret:.5f}"
    illegal = ledger.rows["dqn-five-tiles-no-masks-0"].illegal_mass
    assert by_agent["DQN, no masks"][4] == f"{illegal:.2%}"
    assert by_agent["masked PPO"][4] == ""  # there are none
    assert by_agent["DQN, no masks"][8].endswith("--tiles 5 --variant no-masks --seed 0`")
    regrets = [float(row[1].split("*")[2]) for row in rows if "*" in row[1]]
    assert regrets == sorted(regrets, reverse=True)


def test_commands_of_the_table_train_what_they_stand_beside():
    for algorithm, task, variant in (("ppo", "five-tiles-shut", "standard"), ("dqn", "five-tiles", "no-masks")):
        config = PRESETS.config(algorithm, PRESETS.tasks[task], variant, seed=4)
        words = train_command(config, variant, PRESETS)
        options, flags = training.tyro.cli(training.Arguments, args=words[3:], return_unknown_args=True)
        again = training.task_from_flags(options.env, options.objective, flags)
        assert PRESETS.config(options.algorithm, again, options.variant, options.seed) == config
        assert words[:3] == ["python", "-m", "training.train"]


def test_pictures_are_drawn_for_every_task(folder):
    names = {"five-tiles.png", "five-tiles-ablations.png", "five-tiles-shut.png", "profile.png"}
    assert {path.name for path in folder.glob("*.png")} == names
    for path in folder.glob("*.png"):
        assert imread(path)[:, :, :3].std() > 0.05


@pytest.mark.usefixtures("no_ink")
def test_pictures_leave_out_variants_only_beside_the_standard_one(folder, tmp_path, monkeypatch):
    drawn = {}
    monkeypatch.setattr(
        study_plots, "_plot_task", lambda path, by_agent, panels, draw: drawn.update({path.stem: list(by_agent)})
    )

    def agents(keep, variant="quick"):
        for name in ("runs.csv", "curves.csv"):
            text = (folder / name).read_text().replace("no-masks", variant)
            head, *lines = text.replace("ppo,five-tiles,standard,1", f"ppo,five-tiles,{variant},1").splitlines()
            (tmp_path / name).write_text("\n".join([head, *(line for line in lines if keep in line)]) + "\n")
        drawn.clear()
        assert study_plots.plot_study(tmp_path, PRESETS)[-1].exists()
        return drawn

    assert agents("dqn") == {"five-tiles": ["masked DQN, quick"]}
    assert agents("five-tiles-") == {
        "five-tiles": ["afterstates, tabular", "masked DQN, quick", "masked PPO"],
        "five-tiles-budgets": ["afterstates, tabular", "masked PPO"],
        "five-tiles-shut": ["afterstates, tabular", "masked PPO"],
    }
    assert agents("five-tiles-", "double") == {
        "five-tiles": ["afterstates, tabular", "masked PPO"],
        "five-tiles-shut": ["afterstates, tabular", "masked PPO"],
        "five-tiles-ablations": ["masked DQN, double", "masked PPO", "masked PPO, double"],
    }


def test_trainings_of_different_lengths_are_compared_by_their_ends(folder, tmp_path, monkeypatch):
    for name in ("runs.csv", "curves.csv"):
        text = (folder / name).read_text()
        (tmp_path / name).write_text(text.replace("ppo,five-tiles,standard,1", "ppo,five-tiles,quick,1"))
    runs = tmp_path / "runs.csv"
    runs.write_text(runs.read_text().replace("ppo-five-tiles-1,", "ppo-five-tiles-quick-1,"))
    curves = tmp_path / "curves.csv"
    shorter = [line for line in curves.read_text().splitlines() if not re.match("[45]...,.*,ppo-five-tiles-1", line)]
    curves.write_text("\n".join(shorter).replace(",ppo-five-tiles-1", ",ppo-five-tiles-quick-1") + "\n")
    figures = {}
    monkeypatch.setattr(study_plots, "save", lambda path, figure: figures.update({path.stem: figure}))
    study_plots.plot_study(tmp_path, PRESETS)
    ledger = Ledger(tmp_path)
    [steps, minutes] = figures["five-tiles-budgets"].axes
    drawn = {line.get_label(): line.get_xydata() for line in steps.get_lines()}
    ends = [ledger.curves[name][-1] for name in ("ppo-five-tiles-quick-1", "ppo-five-tiles-0")]
    assert ends[0].steps < ends[1].steps
    assert drawn["masked PPO"].tolist() == [[end.steps, end.regret] for end in ends]
    of_table = [ledger.curves[f"afterstates-five-tiles-{seed}"][1:] for seed in (0, 1)]
    assert drawn["afterstates, tabular"][:, 0].tolist() == [point.steps for point in of_table[0]]
    means = np.mean([[point.regret for point in curve] for curve in of_table], axis=0)
    assert drawn["afterstates, tabular"][:, 1] == pytest.approx(np.maximum(means, 1e-6))
    [line] = [line for line in minutes.get_lines() if line.get_label() == "masked PPO"]
    assert line.get_xdata() == pytest.approx([end.seconds / 60 for end in ends])


def test_stock_agents_have_a_picture_of_their_own(folder, tmp_path, monkeypatch):
    for name in ("runs.csv", "curves.csv"):
        text = (folder / name).read_text()
        text = text.replace("dqn,five-tiles,no-masks", "sb3-dqn,five-tiles,standard")
        (tmp_path / name).write_text(text.replace("ppo,five-tiles,standard,1", "sb3-ppo,five-tiles,million,1"))
    figures = {}
    monkeypatch.setattr(study_plots, "save", lambda path, figure: figures.update({path.stem: figure}))
    study_plots.plot_study(tmp_path, PRESETS)
    assert set(figures) == {"five-tiles", "five-tiles-stock", "five-tiles-shut", "profile"}
    drawn = {name: figure.axes[0].get_legend_handles_labels()[1] for name, figure in figures.items()}
    assert drawn.pop("five-tiles-stock") == ["stock DQN (stable-baselines3)"]
    assert all(names == ["afterstates, tabular", "masked PPO"] for names in drawn.values())


@pytest.mark.usefixtures("no_ink")
def test_results_of_two_studies_are_brought_together(folder, tmp_path, capsys):
    whole = {name: (folder / name).read_text().splitlines(keepends=True) for name in ("runs.csv", "curves.csv")}
    for part, kept in (("one", "tiles-0"), ("other", "tiles-1"), ("third", "shut-0")):
        (tmp_path / part).mkdir()
        for name, (head, *lines) in whole.items():
            (tmp_path / part / name).write_text(head + "".join(line for line in lines if kept in line))
    options = [str(tmp_path / "one"), "--presets", str(FILE)]
    assert merge.main([str(tmp_path / "other"), *options]) == 0
    assert merge.main([str(tmp_path / "third"), *options]) == 0
    for name, (head, *lines) in whole.items():
        kept = [line for line in lines if re.search("tiles-0|tiles-1|shut-0", line)]
        assert 0 < len(kept) < len(lines)
        assert (tmp_path / "one" / name).read_text() == head + "".join(kept)
    assert (tmp_path / "one" / "profile.png").exists()
    before = (tmp_path / "one" / "runs.csv").read_text()
    assert merge.main([str(tmp_path / "other"), str(tmp_path / "one")]) == 2
    assert "unknown task of" in capsys.readouterr().err
    assert merge.main([str(tmp_path / "none"), *options]) == 2
    assert (tmp_path / "one" / "runs.csv").read_text() == before


def test_the_profile_compares_whole_agents_only(folder, tmp_path, monkeypatch):
    for name in ("runs.csv", "curves.csv"):
        text = (folder / name).read_text()
        (tmp_path / name).write_text(text.replace("ppo,five-tiles,standard,1", "ppo,five-tiles,double,1"))
    figures = {}
    monkeypatch.setattr(study_plots, "save", lambda path, figure: figures.update({path.name: figure}))
    study_plots.plot_study(tmp_path, PRESETS)
    _, names = figures["profile.png"].axes[0].get_legend_handles_labels()
    assert names == ["afterstates, tabular", "masked PPO"]


def test_an_agent_has_one_colour_in_all_pictures_and_its_variants_other_lines(folder, tmp_path, monkeypatch):
    for name in ("runs.csv", "curves.csv"):
        text = (folder / name).read_text()
        (tmp_path / name).write_text(text.replace("ppo,five-tiles,standard,1", "ppo,five-tiles,double,1"))
    figures = {}
    monkeypatch.setattr(study_plots, "save", lambda path, figure: figures.update({path.stem: figure}))
    study_plots.plot_study(tmp_path, PRESETS)
    lines = {
        (line.get_label(), line.get_color(), str(line._dash_pattern))
        for figure in figures.values()
        for axes in figure.axes
        for line in axes.get_lines()
    }
    colours = {name: {colour for each, colour, _ in lines if each.endswith(name)} for name in ("PPO", "tabular")}
    assert [len(found) for found in colours.values()] == [1, 1]
    of_ppo = {name: (colour, dashes) for name, colour, dashes in lines if "PPO" in name}
    (colour, solid), (other_colour, dashes) = of_ppo["masked PPO"], of_ppo["masked PPO, double"]
    assert colour == other_colour
    assert solid != dashes
    assert colours["PPO"] != colours["tabular"]


@pytest.mark.usefixtures("no_ink")
def test_a_run_that_fails_is_named_and_the_others_go_on(tmp_path, capsys):
    arguments = command(tmp_path, TWO)
    stale = tmp_path / "out" / "afterstates-three-tiles-0"
    config = PRESETS.config("afterstates", PRESETS.tasks["three-tiles"])
    training.train(replace(config, steps=2000), stale)
    assert run_study(arguments) == 1
    err = capsys.readouterr().err
    assert f"afterstates-three-tiles-0 failed: {stale} holds a run of another configuration" in err
    assert f"; see {stale / 'log.txt'}" in err
    assert "holds a run of another configuration" in (stale / "log.txt").read_text()
    assert set(Ledger(tmp_path / "out").rows) == {"afterstates-three-tiles-1"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[large]]", "unknown study 'small': allowed are large"),
        ('[[small]]\nalgorithm = "ppo"', "unknown entry of a study 'algorithm'"),
        (f"{PART}", "seeds of a study must be an integer from 1 to 10000, not None"),
        (f"{PART}seeds = 0", "seeds of a study must be an integer from 1 to 10000, not 0"),
        (f'{PART}seeds = "x"', "seeds of a study must be an integer from 1"),
        (f"{PART}seeds = 1\nvariants = []", "variants of a study must be a list of names"),
        (f'{PART}seeds = 1\nvariants = ["slow"]', "unknown variant of ppo on five-tiles 'slow'"),
        (f"{PART}seeds = 1\n{PART}seeds = 2", "the study small has the run ppo-five-tiles-0 twice"),
        (PART.replace('["ppo"]', '"ppo"'), "algorithms of a study must be a list of names"),
        (PART.replace('["ppo"]', "3"), "algorithms of a study must be a list of names"),
        (PART.replace('["ppo"]', "[3]"), "algorithms of a study must be a list of names"),
        (PART.replace('["ppo"]', '[["ppo"]]'), "algorithms of a study must be a list of names"),
        (f"{PART}seeds = 1\nvariants = [5]", "variants of a study must be a list of names"),
        (f"{PART}seeds = 1".replace('"ppo"', '"a2c"'), "unknown algorithm 'a2c'"),
        (f"{PART}seeds = 1".replace('"five-tiles"', '"six"'), "unknown task 'six': allowed are three-tiles"),
        ("small = 3", "the study small has no parts"),
        ("small = [3]", "a part of a study is a table, not 3"),
        ("small = []", "the study small has no parts"),
        ("[[small]", "Expected"),
    ],
)
def test_studies_that_are_none_are_refused(text, message, tmp_path, capsys):
    assert study.main(command(tmp_path, text)) == 2
    printed = capsys.readouterr().err
    assert message in printed
    assert "studies.toml: " in printed
    assert printed.count("\n") == 1


def test_the_studies_of_the_project_train_what_its_results_hold():
    planned = [run.name for name in ("reference", "stock") for run in study.plan(name, study.STUDIES, read_presets())]
    assert sorted(planned) == sorted(Ledger(results.RESULTS).rows)


def test_a_damaged_ledger_is_named(folder, tmp_path, capsys):
    def printed(runs, curves):
        (tmp_path / "runs.csv").write_text(runs)
        (tmp_path / "curves.csv").write_text(curves)
        assert results.main([str(tmp_path), "--presets", str(FILE)]) == 2
        return capsys.readouterr().err

    runs, curves = (folder / "runs.csv").read_text(), (folder / "curves.csv").read_text()
    assert "runs.csv" in printed(runs[: len(runs) // 2], curves)
    heading, first, *others = runs.splitlines()
    assert "it is not whole" in printed("\n".join([heading, first.rpartition(",")[0], *others, ""]), curves)
    assert "it has other columns" in printed(runs.replace("regret", "loss", 1), curves)
    assert "they are not of the same runs" in printed(runs, "\n".join(curves.splitlines()[:10]) + "\n")
    assert "unknown task of ppo-five-tiles-0 in" in printed(runs.replace("ppo,five-tiles,", "ppo,six,"), curves)
    assert results.main([str(tmp_path / "none")]) == 2
    assert "there are no runs in" in capsys.readouterr().err


def test_a_study_killed_while_it_entered_a_run_has_not_entered_it(folder, tmp_path):
    runs, curves = (folder / "runs.csv").read_text(), (folder / "curves.csv").read_text()
    (tmp_path / "curves.csv").write_text(curves)
    others = [line for line in runs.splitlines(keepends=True) if "ppo-five-tiles-1" not in line]
    (tmp_path / "runs.csv").write_text("".join(others))
    ledger = Ledger(tmp_path)
    assert set(ledger.rows) == set(ledger.curves) == RUNS - {"ppo-five-tiles-1"}
    run = Run.open(folder / "ppo-five-tiles-1")
    ledger.enter("ppo-five-tiles-1", "five-tiles", "standard", run)
    assert ((tmp_path / "runs.csv").read_text(), (tmp_path / "curves.csv").read_text()) == (runs, curves)


def test_of_seeds_that_are_not_all_there_the_table_names_those_that_are(folder, tmp_path):
    for name in ("runs.csv", "curves.csv"):
        lines = (folder / name).read_text().splitlines()
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines if "ppo-five-tiles-0" not in line))
    lines = markdown(results.results_tables(tmp_path, PRESETS)["five-tiles"]).splitlines()
    [line] = [each for each in lines if each.startswith("| masked PPO")]
    assert f"**{Ledger(folder).rows['ppo-five-tiles-1'].regret:.5f}** |" in line
    assert line.endswith("--seed 1` |")
    assert results._in_words([0, 1, 2]) == "0 to 2"
    assert results._in_words([0, 2, 3]) == "0, 2, 3"


def test_a_study_is_run_by_one_process(tmp_path, capsys):
    (tmp_path / "out").mkdir()
    with FileLock(tmp_path / "out" / ".lock"):
        assert study.main(command(tmp_path)) == 2
    assert f"{tmp_path / 'out'} is written to by another process" in capsys.readouterr().err


def test_a_study_that_is_ended_ends_its_trainings(tmp_path):
    told = []

    def begin(*_):
        told.append("begun")
        if len(told) == 2:
            signal.setitimer(signal.ITIMER_REAL, 0.1)  # by when the study waits for its trainings
        return Future()

    @contextmanager
    def endless(workers, device):
        try:
            yield Engine(begin, lambda: workers - told.count("ended"))
        except SystemExit:
            told.append("ended")
            raise

    before = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGTERM))
    with pytest.raises(SystemExit) as stopped:
        run_study(command(tmp_path), endless)
    signal.signal(signal.SIGALRM, before)
    assert stopped.value.code == 143
    assert told == ["begun", "begun", "ended"]
    with FileLock(tmp_path / "out" / ".lock", timeout=0):
        pass


def test_a_training_that_ends_its_process_fails_alone_and_the_pool_ends_what_is_left(tmp_path):
    """In true processes."""
    config = PRESETS.config("afterstates", PRESETS.tasks["three-tiles"])

    def begin_endless(engine, folder):
        training = engine.begin(replace(config, steps=10**12), folder)
        while not (folder / "result.json").exists():
            time.sleep(0.02)
        return training

    def interrupted():
        with engines.pool(1) as engine:
            training = begin_endless(engine, tmp_path / "killed")
            [process] = multiprocessing.active_children()
            process.kill()
            assert isinstance(training.exception(PATIENCE), ProcessExpired)
            assert engine.begin(config, tmp_path / "another").exception(PATIENCE) is None
            begin_endless(engine, tmp_path / "ended")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert Run.open(tmp_path / "another").result()["finished"]
    with FileLock(tmp_path / "ended" / ".lock", timeout=PATIENCE):
        assert not Run.open(tmp_path / "ended").result()["finished"]


@pytest.mark.usefixtures("no_ink")
def test_the_commands_that_are_printed_train_what_the_study_takes_up(folder, tmp_path, capsys):
    words = command(tmp_path, TWO)
    assert study.main([*words, "--print"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("--out ")[1] for line in lines] == [
        f"{tmp_path / 'out' / name} --resume" for name in ("afterstates-three-tiles-0", "afterstates-three-tiles-1")
    ]
    assert not (tmp_path / "out").exists()
    for line in lines:
        assert training.main(shlex.split(line)[3:]) == 0
    assert study.main([*words, "--print"]) == 0
    assert capsys.readouterr().out == ""
    assert not (tmp_path / "out" / "runs.csv").exists()  # it might be another process that writes it
    none = Engine(lambda *_: pytest.fail("nothing is left to run"), lambda: 1)
    assert run_study(words, lambda *_: nullcontext(none)) == 0
    assert len(Ledger(tmp_path / "out").rows) == 2
    capsys.readouterr()
    assert study.main([*words, "--print"]) == 0
    assert capsys.readouterr().out == ""


def test_a_ledger_of_many_runs_is_written_now_and_then_and_at_the_end(folder, tmp_path, monkeypatch):
    rows, now = list(Ledger(folder).rows.values()), count()
    monkeypatch.setattr("training.ledger.time.monotonic", now.__next__)  # so writing takes a second, as does entering
    written = []
    monkeypatch.setattr("training.ledger.write_text", lambda path, text: written.append(path.name))
    with Ledger(tmp_path) as ledger:
        for number in range(100):
            row = rows[number % len(rows)]
            ledger.enter(f"run-{number}", row.task, row.variant, Run.open(folder / row.run))
        assert 4 <= written.count("runs.csv") <= 6
        before = len(written)
    assert len(written) == before + 2
    assert len(ledger.rows) == 100


def test_curves_are_rounded_and_runs_are_not(folder):
    runs = list(csv.DictReader((folder / "runs.csv").read_text().splitlines()))
    curves = list(csv.DictReader((folder / "curves.csv").read_text().splitlines()))
    assert max(len(row["value"]) for row in curves) <= 8 < max(len(row["value"]) for row in runs)


def test_the_interquartile_mean_leaves_out_the_extremes():
    values = np.array([[100.0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [-50, 6], [2, 7], [3, 8]])
    assert interquartile_mean(values).tolist() == [2.5, 4.5]
    assert interquartile_mean(np.array([[1.0], [2], [6]])).tolist() == [3.0]  # too few to leave one out


def test_the_interval_covers_the_mean_of_many_seeds_about_as_often_as_it_says():
    random = np.random.default_rng(0)
    low, high = interquartile_interval(random.normal(size=(12, 400)))
    assert 0.85 < ((low < 0) & (high > 0)).mean() < 0.97
    low, high = interquartile_interval(np.full((5, 1), 3.0))
    assert low == high == 3


def test_the_interval_of_a_mean_is_that_of_95_percent():
    values = np.random.default_rng(0).normal(size=(400, 1))
    low, high = interval([values], lambda drawn: drawn[0].mean(axis=1))
    error = values.std() / 20
    assert [low[0], high[0]] == pytest.approx(
        [values.mean() - 1.96 * error, values.mean() + 1.96 * error], abs=error / 8
    )


def test_seeds_are_drawn_within_their_strata():
    strata = [np.zeros((4, 1)), np.ones((4, 1))]
    low, high = interval(strata, lambda drawn: np.mean(np.concatenate(drawn, axis=1), axis=1))
    assert low == high == 0.5


def test_the_best_policies_are_kept_with_a_card_that_tells_the_truth(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    options = ["--algorithms", "ppo", "afterstates", "--presets", str(FILE), "--out", "kept", "--who", "I and you"]
    assert keep.main([str(folder), *options]) == 0
    names = {
        f"{algorithm}-{task}" for algorithm in ("ppo", "afterstates") for task in ("five-tiles", "five-tiles-shut")
    }
    cards = read_cards(Path("kept"))
    assert cards.keys() == names
    for name, card in cards.items():
        rows = [row for row in Ledger(folder).rows.values() if f"{row.algorithm}-{row.task}" == name]
        best = min(rows, key=lambda row: row.regret)
        saved = stb_gym.measure.read_policy(f"kept/{name}.npz")
        assert (saved.game, saved.objective.name) == (stb_gym.ShutTheBox(tiles=5), PRESETS.tasks[best.task].objective)
        assert saved.evaluate().regret == best.regret
        assert (
            stb_gym.measure.read_policy(folder / best.run / "policy.npz").evaluate().summary()
            == saved.evaluate().summary()
        )
        assert (card.who, card.licence) == ("I and you", "MIT")
        assert card.how == agent_in_words(best)
        assert card.command.startswith(f"python -m training.train {best.algorithm} --env stb_gym/ShutTheBox-v0 ")
        assert card.command.endswith(f" --seed {best.seed}")
        assert (card.steps, card.seeds) == (best.steps, len(rows))
        settings = dict(each.split(" ", 1) for each in card.settings.split(", "))
        assert settings["num_envs"] == str(config_of(best, folder, PRESETS).settings.num_envs)
    for options, message in (
        (["--algorithms", "a2c"], "unknown algorithm 'a2c'"),
        (["--algorithms", "sb3-a2c"], "there are no runs of sb3-a2c in"),
    ):
        assert keep.main([str(folder), *options]) == 2
        assert message in capsys.readouterr().err


def test_a_run_that_is_not_the_one_of_the_ledger_is_not_kept(folder, tmp_path, capsys):
    shutil.copytree(folder, tmp_path / "study")
    for seed in (0, 1):
        policy = tmp_path / "study" / f"ppo-five-tiles-{seed}" / "policy.npz"
        stb_gym.save_policy(policy, stb_gym.ShutTheBox(tiles=5), stb_gym.strategy(stb_gym.ShutTheBox(tiles=5), "worst"))
    assert keep.main([str(tmp_path / "study"), "--presets", str(FILE), "--out", str(tmp_path / "kept")]) == 2
    assert "has another policy than the one recorded in" in capsys.readouterr().err


def test_policies_that_are_kept_need_their_runs_no_more(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    options = ["study", "--algorithms", "afterstates", "--presets", str(FILE), "--out", "kept"]
    shutil.copytree(folder, "study")
    assert keep.main(options) == 0
    files = {path: path.read_bytes() for path in Path("kept").iterdir()}
    for run in Path("study").glob("afterstates-*"):
        shutil.rmtree(run)
    assert keep.main(options) == 0
    assert {path: path.read_bytes() for path in Path("kept").iterdir()} == files
    box = stb_gym.ShutTheBox(tiles=5)
    stb_gym.save_policy("kept/afterstates-five-tiles.npz", box, stb_gym.strategy(box, "worst"))
    assert keep.main(options) == 2
    assert "afterstates-five-tiles.npz has another policy than" in capsys.readouterr().err
    shutil.rmtree("kept")
    assert keep.main(options) == 2
    assert "there is no folder" in capsys.readouterr().err
