"""Test the commands train, evaluate and tune: their output, errors of one line, and interrupts."""

import json
import re
import signal

import numpy as np
import optuna
import pandas as pd
import pytest
from matplotlib.figure import Figure
from PIL import Image

from agents import custom
from stb_gym import ShutTheBox, strategy
from stb_gym import evaluate as evaluate_exactly
from tests import every
from tests.training.conftest import small
from training import compare, evaluate, train, tune
from training.picture import curve_as_text, draw_runs
from training.results import NEVER_UPDATED
from training.run import Run
from training.study import run_study

FIVE = ["--tiles", "5", "--steps", "384", "--settings.num-envs", "8", "--measurements", "2"]


def test_a_run_is_trained_in_a_folder_named_after_it(folders, capsys):
    assert train.main(["q-learning", *FIVE, "--objective", "shut", "--settings.exploration=0.5"]) == 0
    folder = folders / "q-learning-ShutTheBox-v0-tiles-5-objective-shut-0"
    config = Run(folder).config
    assert (config.game().tiles, config.objective, config.steps, config.seed) == (5, "shut", 384, 0)
    assert (config.settings.num_envs, config.settings.exploration, config.settings.horizon) == (8, 0.5, 10.0)
    assert len(Run(folder).curve()) == 3
    shown = folder.relative_to(folders.parent)
    sentence, *others = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"The regret \(probability\) of q-learning goes from [\d.]+ to [\d.]+ in 384 steps\.", sentence)
    assert others == [f"wrote {shown}/curve.png", f"python -m training.evaluate {shown}"]
    with Image.open(folder / "curve.png") as drawn:
        assert len(drawn.convert("RGB").getcolors(2**24)) > 20


def test_a_round_is_trained_and_its_gains_are_shown(folders, capsys):
    words = ["--env", "stb_gym/Threes-v0", "--dice", "2", "--players", "2", "--opponents", "random", *FIVE[2:]]
    assert train.main(["afterstates", *words]) == 0
    *_, command = capsys.readouterr().err.splitlines()
    [folder] = folders.iterdir()
    assert command == f"python -m training.compare {folder.relative_to(folders.parent)}"
    assert compare.main([str(folder)]) == 0
    assert "its largest\ngain (expected wins) is" in capsys.readouterr().out
    assert evaluate.main([str(folder)]) == 2
    assert capsys.readouterr().err.endswith(" learned rounds: training.compare shows its gains\n")


@pytest.mark.usefixtures("own_games")
def test_the_next_command_imports_a_game_of_your_own(folders, capsys):
    words = ["--import", "docs.pig", "--env", "stb_gym/Pig-v0", "--most-points", "5", *FIVE[2:]]
    assert train.main(["q-learning", *words]) == 0
    custom.ALLOWED.clear()  # else later trainings register the game again
    *_, command = capsys.readouterr().err.splitlines()
    [folder] = folders.iterdir()
    assert command == f"python -m training.evaluate --import docs.pig {folder.relative_to(folders.parent)}"


def test_the_axes_of_a_picture_have_plain_numbers(finished, tmp_path, monkeypatch):
    figure = Figure()
    monkeypatch.setattr("training.picture.Figure", lambda *_, **__: figure)
    draw_runs([finished], tmp_path / "curve.png")
    [axes] = figure.axes
    labels = [*axes.get_xticklabels(which="both"), *axes.get_yticklabels(which="both")]
    texts = [label.get_text() for label in labels if label.get_text()]
    assert len(texts) >= 4
    assert [text for text in texts if not re.fullmatch(r"[\d.]+k?", text)] == []


def test_a_terminal_shows_the_curve(folders, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert train.main(["tabular-afterstates", *FIVE, "--settings.num-steps", "4"]) == 0
    *picture, wrote, _ = re.sub(r".*\r", "", capsys.readouterr().err).splitlines()
    [heading] = [at for at, line in enumerate(picture) if line.startswith("The regret (points) of tabular-afterstates")]
    assert re.fullmatch(r"random 0\.88 \|[.*]{60}", picture[heading + 1])
    assert len(picture[heading:]) == 17
    assert picture[-1].split() == ["192", "384", "steps"]
    assert wrote == "wrote runs/tabular-afterstates-ShutTheBox-v0-tiles-5-0/curve.png"
    assert folders.exists()


def test_a_picture_of_characters_has_logarithmic_axes():
    curve = pd.DataFrame({"steps": [0, 100, 1000, 10_000], "median": [9.0, 100.0, 10.0, 1.0]})
    drawn = curve_as_text(curve, {"random": 100.0, "perfect": 0.0, "greedy-step": 0.01}, width=20, height=9)
    columns = {line.index("*") + line.count("*") / 2: row for row, line in enumerate(drawn.splitlines()) if "*" in line}
    assert [*columns.values()] == [0, 1, 2, 3, 4]
    assert np.diff([*columns]).tolist() == pytest.approx([5] * 4, abs=1.5)
    labels = [line.partition("|")[0].strip() for line in drawn.splitlines()]
    assert labels == ["random 100", "", "", "", "1.0", "", "", "", "greedy-step 0.010", "100     10,000 steps"]
    assert "." * 20 in drawn.splitlines()[8]
    assert curve_as_text(curve.head(2), {}) == "there are too few numbers above 0 to draw"


@pytest.mark.nightly
def test_what_a_budget_does_not_allow_is_said_before_and_after(folders, capsys):
    begin = ["--tiles", "5", "--measurements", "2"]
    assert train.main(["sb3-dqn", *begin, "--steps", "3"]) == 0
    folder = "runs/sb3-dqn-ShutTheBox-v0-tiles-5-0"
    lines = [
        "sb3-dqn makes 4 steps, not 3, in rollouts of 4",
        "1 of 2 measurements, one after each rollout",
    ]
    *said, no_update, _, _, _ = capsys.readouterr().err.splitlines()
    assert said == [f"training.train: {line}" for line in lines]
    assert no_update == f"{folder} {NEVER_UPDATED}"
    assert (Run(folder).config.steps, Run(folder).config.budget) == (4, 3)
    for command in (evaluate, compare):
        assert command.main([folder]) == 0
        answer = capsys.readouterr()
        assert answer.err == f"{folder} {NEVER_UPDATED}\n"
    assert re.search(r"sb3-dqn +4 ", answer.out)
    assert train.main(["q-learning", *begin, "--variant", "1m", "--ray", "nowhere:1"]) == 2
    assert "makes 1,015,808 steps, not 1,000,000, in rollouts of 16,384" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"arguments": {"tiles": 12}, "seed": 7}, "tabular-afterstates-twelve-tiles-7"),
        ({"arguments": {"objective": "at-most:5"}}, "tabular-afterstates-ShutTheBox-v0-objective-at-most-5-0"),
        ({"env": "stb_gym/Threes-v0", "arguments": {}, "variant": "quick"}, "tabular-afterstates-threes-quick-0"),
        ({"algorithm": "ppo", "opponents": "naive", "players": 3}, "ppo-ShutTheBox-v0-tiles-5-3-players-naive-0"),
    ],
)
def test_the_names_of_runs(options, name):
    assert train.run_name(small(**options)) == name


@pytest.mark.nightly
def test_nothing_is_overwritten_if_a_flag_is_wrong(folders):
    assert train.main(["q-learning", *FIVE]) == 0
    assert train.main(["q-learning", *FIVE, "--overwrite", "--workers", "0"]) == 2
    assert Run(folders / "q-learning-ShutTheBox-v0-tiles-5-0").result()["finished"]


@pytest.mark.nightly
def test_a_run_that_fails_is_reported_and_others_continue(folders, capsys):
    runs = {folders / str(seed): small(seed=seed) for seed in range(3)}
    run_study({folders / "1": small(seed=9)})
    assert list(run_study(runs)) == [folders / "1"]
    assert [Run(folder).result()["finished"] for folder in runs] == [True] * 3
    first = folders / "q-learning-ShutTheBox-v0-tiles-5-0"
    words = ["q-learning", *FIVE, "--seeds", "0-1"]
    assert train.main(words) == 0
    (first / "result.json").write_text("{")
    capsys.readouterr()
    assert train.main([*words, "--resume"]) == 2
    failure, *_ = capsys.readouterr().err.splitlines()
    assert failure.startswith("training.train: runs/q-learning-ShutTheBox-v0-tiles-5-0 failed: cannot read ")


def interrupt_at_measurements(monkeypatch, action):
    """Call `action`, or raise it, at the second measurement."""
    notes = []

    def tell(self, done=None, total=None, *, note=None):
        del self, done, total
        notes.extend([note] if note else [])
        if len(notes) == 2:
            if isinstance(action, type):
                raise action
            action()

    monkeypatch.setattr("training.study.ProgressBar.tell", tell)


@pytest.mark.parametrize("action", every(2, [KeyboardInterrupt, lambda: signal.raise_signal(signal.SIGTERM)]))
def test_an_interrupted_command_says_how_to_continue(action, folders, monkeypatch, capsys):
    assert train.main(["q-learning", *FIVE, "--out", "whole"]) == 0
    capsys.readouterr()
    interrupt_at_measurements(monkeypatch, action)
    assert train.main(["q-learning", *FIVE]) == 130
    assert capsys.readouterr().err == "training.train: interrupted; the same command with --resume continues\n"
    [folder] = folders.iterdir()
    assert not list(folder.glob(".stb-gym*"))
    monkeypatch.setattr("training.study.ProgressBar.tell", lambda *_, **__: None)
    assert train.main(["q-learning", *FIVE, "--resume"]) == 0
    whole = Run(folders.parent / "whole" / folder.name).curve().drop(columns="seconds")
    assert Run(folder).curve().drop(columns="seconds").equals(whole)


@pytest.mark.parametrize(
    ("command", "words", "message"),
    [
        (train, [], "requires an argument"),
        (train, ["ppo", "--tils", "5"], "unknown flag or rule 'tils': allowed are tiles, .*did you mean tiles"),
        (train, ["ppo", "--tiles", "5.5"], "tiles must be an integer from 1 to 28, not 5.5"),
        (train, ["ppo", "--seeds", "1-"], "seeds must be numbers such as 0-4 or 3,5, not '1-'"),
        (train, ["ppo", "--task", "ten"], "unknown task 'ten': allowed are nine-tiles"),
        (train, ["ppo", "--task", "threes", "--env", "stb_gym/Threes-v0"], "--env and --task exclude each other"),
        (train, ["ppo", "--resume", "--overwrite"], "--resume and --overwrite exclude each other"),
        (train, ["ppo", "--measurements", "0"], "measurements must be an integer from 1"),
        (train, ["ppo", "--variant", "round"], "the variant round is for rounds: add --opponents and --players"),
        (train, ["ppo", "--players", "2", "--opponents", "naiv"], "unknown opponents 'naiv'.*; did you mean naive"),
        (train, ["ppo", "--seeds", "4-0"], "seeds must ascend, unlike 4-0"),
        (train, ["ppo", "--workers", "0"], "workers must be an integer from 1"),
        (train, ["ppo", "--steps", "8192", "--ray", "one:1", "other:2"], "a cluster has one address, not 2"),
        (train, ["ppo", "--steps", "8192", "--device", "abacus"], "abacus"),
        (evaluate, ["nowhere"], "cannot read nowhere/config.json: "),
        (evaluate, ["RUN", "--turns", "0"], "turns must be an integer from 2"),
        (tune, ["q-learning", "--trials", "0", "--out", "x"], "trials must be an integer from 1"),
        (tune, ["monte-carlo", "--out", "x"], "has no ranges for monte-carlo: name them, such as --ranges"),
        (tune, ["monte-carl", "--out", "x"], "unknown algorithm 'monte-carl'.*did you mean monte-carlo"),
        (compare, [], "name at least one run"),
        (compare, ["nothing"], "cannot read"),
        (compare, ["RUN", "RUN"], "same configuration"),
        (compare, ["RUN", "--save", "all.csv"], r"\.csv\.gz"),
    ],
)
def test_errors_take_one_line(command, words, message, finished, folders, capsys):
    assert command.main([str(finished) if word == "RUN" else word for word in words]) == 2
    answer = capsys.readouterr()
    assert answer.out == ""
    [line] = answer.err.splitlines()
    assert line.startswith(f"{command.__name__}: ")
    assert re.search(message, line)
    assert not [*folders.parent.rglob("result.json"), *folders.parent.glob("*.csv")]


def test_a_run_is_measured_again_beside_the_strategies(finished, capsys):
    assert evaluate.main([str(finished)]) == 0
    sentence, table = capsys.readouterr().out.replace("this run", "greedy").split("\n\n")
    heading, *rows = table.splitlines()
    assert heading.split()[:3] == ["policy", "value", "regret"]
    regrets = {name: float(regret) for name, _, regret, *_ in map(str.split, rows)}
    assert f"loses {regrets['greedy']:.5f} points a turn" in sentence.replace("\n", " ")
    assert list(regrets.values()) == sorted(regrets.values())
    result, game = Run(finished).result(), ShutTheBox(tiles=5)
    expected = [result["greedy"]["regret"], evaluate_exactly(game, strategy(game, "random")).regret]
    assert [regrets["greedy"], regrets["random"]] == pytest.approx(expected, abs=5e-6)


def test_a_run_is_measured_again_as_json(finished, capsys):
    assert evaluate.main([str(finished), "--json"]) == 0
    answer, result = json.loads(capsys.readouterr().out), Run(finished).result()
    assert answer["config"] == Run(finished).config.to_json()
    assert answer["greedy"] == result["greedy"]
    assert evaluate.main([str(finished), "--json", "--turns", "500"]) == 0
    sampled = json.loads(capsys.readouterr().out)
    assert sampled["greedy"]["turns"] == 500
    assert sampled["greedy"]["regret"] != result["greedy"]["regret"]


def test_a_sampled_regret_has_an_interval(finished, capsys):
    assert evaluate.main([str(finished), "--turns", "500"]) == 0
    sentence = capsys.readouterr().out.partition("\n\n")[0].replace("\n", " ")
    regret, *ends = map(float, re.findall(r"\d\.\d{5}", sentence))
    assert " (95% interval: " in sentence
    low, high = ends
    assert low < regret < high
    assert evaluate.main([str(finished), "--json", "--turns", "500"]) == 0
    error = json.loads(capsys.readouterr().out)["greedy"]["standard_error"]
    assert (high - low) / 2 == pytest.approx(1.96 * error, abs=2e-5)


def search(*words):
    return tune.main(["q-learning", "--tiles", "5", "--steps", "5000", "--out", "search", *words])


@pytest.mark.nightly
def test_a_search_prints_the_best_settings_and_continues(folders, capsys):
    assert search("--trials", "1") == 0
    first = capsys.readouterr().out.splitlines()
    assert search("--trials", "4") == 0
    comment, table, *lines = capsys.readouterr().out.splitlines()
    assert table == "[q-learning.tuned]"
    settings = {name: json.loads(value) for name, value in (line.split(" = ") for line in lines)}
    assert settings.keys() == {"steps", "num_envs", "num_steps", "exploration", "horizon"}
    assert settings["steps"] == 5000
    regrets = [float(line.split()[2]) for line in (first[0], comment)]
    assert regrets[1] <= regrets[0]
    config = small("q-learning", seed=5, steps=settings.pop("steps"), settings=settings)
    assert config.settings.num_envs == settings["num_envs"]
    assert f"regret {tune.train_and_measure(config).greedy.regret:.4g} " in comment
    assert len(optuna.load_study(study_name=None, storage="sqlite:///search/search.db").trials) == 4
