"""Searches: their regrets are those of trainings, one that was interrupted goes on, and mistakes are named."""

import csv
import json
import math
import re
import signal
import tomllib

import pytest

from agents.config import Task
from agents.presets import read_presets
from tests import SMALL_PRESETS
from tests.training.faults import signalled
from training import train as training
from training import tune as tuning
from training.run import Run
from training.search import SPACES, Search, Trial, best_of, mean_log, read_space

SMALL = read_presets(SMALL_PRESETS)
TASK = ["--presets", str(SMALL_PRESETS), "--tiles", "5", "--steps", "2000"]
TABLE = """[q-learning]
num_envs = [4, 16]
exploration = [0, 0.5]"""
SPACE = f"{TABLE}\n\n[ppo]\nnum_envs = [16, 100]\n"


@pytest.fixture
def words(tmp_path):
    """The command of a short search, without the number of its trials."""
    (tmp_path / "spaces.toml").write_text(SPACE)
    return [
        *("q-learning", *TASK, "--spaces", str(tmp_path / "spaces.toml"), "--out", str(tmp_path / "search")),
        *("--seeds", "2", "--finalists", "2", "--fresh-seeds", "3", "--seed", "5"),
    ]


def trials_in(folder):
    return [Trial(**trial) for trial in json.loads((folder / "search.json").read_text())["trials"]]


def without_minutes(trials):
    return [vars(trial) | {"minutes": None} for trial in trials]


def search_of(algorithm="q-learning", seeds=2, limit_minutes=None, **space):
    """A search of the task of five tiles."""
    return Search(SMALL.config(algorithm, SMALL.tasks["five-tiles"], steps=2000), space, seeds, limit_minutes)


def test_its_regrets_are_those_of_trainings(words, tmp_path, capsys):
    assert tuning.main([*words, "--trials", "4", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    trials = trials_in(tmp_path / "search")
    best = next(trial for trial in trials if trial.settings == printed["settings"])
    assert printed["steps"] == 2000
    assert printed["regrets"] == best.fresh
    assert printed["regret"] == pytest.approx(math.prod(best.fresh) ** (1 / 3))
    assert len({trial.settings["exploration"] for trial in trials}) == 4
    assert trials[0].settings == {"num_envs": 16, "exploration": 0.15}  # as the preset, which has 64
    settings = [str(word) for setting in best.settings.items() for word in setting]
    for seed, regret in zip(range(5, 10), best.regrets + best.fresh, strict=True):
        out = tmp_path / str(seed)
        assert (
            training.main(["q-learning", *TASK, "--settings", *settings, "--seed", str(seed), "--out", str(out)]) == 0
        )
        assert Run.open(out).result()["greedy"]["regret"] == regret


def test_what_is_printed_is_a_budget_of_the_presets(words, tmp_path, capsys):
    words = ["ppo", *words[1:], "--seeds", "1", "--trials", "2", "--fresh-seeds", "1"]
    assert tuning.main(words) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"# python -m training.tune {' '.join(words)}\n# regret ")
    [budget] = tomllib.loads(printed)["ppo"]["budget"]
    assert list(budget) == ["steps", "num_envs"]
    text = SMALL_PRESETS.read_text().replace("num_envs = 64\n", "", 1)
    (tmp_path / "presets.toml").write_text(f"{text}\n{printed}")
    config = read_presets(tmp_path / "presets.toml").config("ppo", SMALL.tasks["five-tiles"], steps=2000)
    assert config.settings.num_envs == budget["num_envs"]


def test_the_table_has_all_trials(words, tmp_path):
    assert tuning.main([*words, "--trials", "4"]) == 0
    with (tmp_path / "search" / "trials.csv").open() as file:
        rows = list(csv.DictReader(file))
    trials = trials_in(tmp_path / "search")
    assert [float(row["exploration"]) for row in rows] == [trial.settings["exploration"] for trial in trials]
    assert [row["outcome"] for row in rows] == [trial.outcome for trial in trials]
    assert sum(row["fresh_regret"] != "" for row in rows) == 2
    for row, trial in zip(rows, trials, strict=True):
        assert float(row["regret"]) == pytest.approx(math.prod(trial.regrets) ** (1 / 2))


@pytest.mark.parametrize("moment", [1, 3, 5])  # the first trials, and the first finalist
def test_an_interrupted_search_goes_on_as_if_it_had_not_been(moment, words, tmp_path, capsys):
    whole = [tmp_path / "whole" if word == str(tmp_path / "search") else word for word in words]
    assert tuning.main([*map(str, whole), "--trials", "4", "--json"]) == 0
    expected = json.loads(capsys.readouterr().out)
    with signalled(signal.SIGINT, "search.json", after=moment):
        assert tuning.main([*words, "--trials", "4"]) == 130
    assert "interrupted; the same command goes on" in capsys.readouterr().err
    assert len(trials_in(tmp_path / "search")) == min(moment, 4)
    assert tuning.main([*words, "--trials", "4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) | {"minutes": 0} == expected | {"minutes": 0}
    assert without_minutes(trials_in(tmp_path / "search")) == without_minutes(trials_in(tmp_path / "whole"))


def test_a_finished_search_is_not_made_again_and_a_longer_one_goes_on(words, tmp_path, capsys):
    assert tuning.main([*words, "--trials", "2"]) == 0
    before, printed = (tmp_path / "search" / "search.json").read_bytes(), capsys.readouterr().out
    assert tuning.main([*words, "--trials", "2"]) == 0
    assert (tmp_path / "search" / "search.json").read_bytes() == before
    assert capsys.readouterr().out == printed
    assert tuning.main([*words, "--trials", "3"]) == 0
    after = trials_in(tmp_path / "search")
    assert len(after) == 3
    assert [trial.regrets for trial in after[:2]] == [trial["regrets"] for trial in json.loads(before)["trials"]]


def test_the_best_is_the_best_by_fresh_seeds(words, tmp_path, capsys):
    assert tuning.main([*words, "--trials", "3"]) == 0
    path = tmp_path / "search" / "search.json"
    entries = json.loads(path.read_text())
    for first, second in ((0.3, 0.2), (0.2, 0.3)):
        finalists = best_of([Trial(**trial) for trial in entries["trials"]], 2)
        for trial, regret in zip(finalists, (first, second), strict=True):
            trial.fresh[:] = [regret, 0.1, 0.1]  # which is the list among the entries
        path.write_text(json.dumps(entries))
        capsys.readouterr()
        assert tuning.main([*words, "--trials", "3", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["settings"] == finalists[first > second].settings


def test_what_was_good_is_proposed():
    search = search_of(seeds=1, limit_minutes=1e-9, horizon=(1, 1000), exploration=(0, 0.5))
    made = []
    for number in range(30):  # the shorter the horizon, the less is left
        horizon = round(10 ** (3 - number / 10))
        settings = {"horizon": horizon, "exploration": number % 3 / 10}
        made.append(Trial(settings, curve=[math.log(horizon)] * 4, regrets=[horizon]))
    proposed = [search.next_trial([*made, *made[:more]]) for more in range(10)]
    assert sum(trial.settings["horizon"] < 10 for trial in proposed) >= 8
    assert {trial.outcome for trial in proposed} == {"too slow"}


def test_a_trial_that_is_worse_than_three_of_four_is_given_up():
    search = search_of(horizon=(1.0, 100.0))
    others = [Trial({"horizon": 1.0 + n}, curve=[-20.0] * 8, regrets=[2e-9, 2e-9]) for n in range(8)]
    trial = search.next_trial(others)
    assert (trial.outcome, len(trial.curve), trial.regrets) == ("worse than others", 1, [])
    for other in others[:3]:
        other.curve = [20.0] * 8
    trial = search.next_trial(others)
    assert trial.finished
    assert len(trial.curve) == 8
    assert [math.exp(trial.curve[3]), math.exp(trial.curve[7])] == pytest.approx(trial.regrets)


def test_settings_that_do_not_go_together_are_given_up():
    trial = search_of(horizon=(0.2, 0.5)).next_trial([])
    assert trial.settings == {"horizon": 0.5}
    assert trial.outcome == "horizon must be 1 or more, not 0.5"
    assert not trial.finished
    assert search_of(horizon=(0.2, 0.5)).next_trial([trial] * 20).settings != trial.settings


def test_settings_that_make_many_more_steps_are_given_up():
    trial = search_of(num_envs=(125, 126)).next_trial([])
    assert trial.finished
    trial = search_of(num_envs=(140, 150)).next_trial([])
    assert trial.outcome == "its rollouts end after 2,240 steps"


@pytest.mark.parametrize("algorithm", ["ppo", "dqn"])
def test_learning_that_diverges_is_given_up(algorithm):
    outcome = search_of(algorithm, learning_rate=(1e29, 1e30)).next_trial([]).outcome
    assert outcome.startswith("learning has diverged: ")


def test_a_limit_of_time_leaves_what_is_too_slow(words, tmp_path, capsys):
    assert tuning.main([*words, "--trials", "2", "--limit-minutes", "1e-9"]) == 2
    assert capsys.readouterr().err.endswith(f"no trial was finished; {tmp_path / 'search' / 'trials.csv'} says why\n")
    assert {trial.outcome for trial in trials_in(tmp_path / "search")} == {"too slow"}


def test_the_best_have_the_least_regret_and_are_finished():
    trials = [Trial({}, regrets=regrets) for regrets in ([0.1, 0.1], [1e-4, 0.5], [0.2, 0.2], [1e-9, 1e-9])]
    trials[3].outcome = "too slow"
    assert best_of(trials, 2) == [trials[1], trials[0]]
    assert math.exp(mean_log([1e-4, 1e-2])) == pytest.approx(1e-3)
    assert mean_log([0.0]) < mean_log([1e-11])  # of perfect play


@pytest.mark.parametrize("algorithm", ["ppo", "dqn"])
def test_the_spaces_hold_the_presets(algorithm):
    presets = read_presets()
    for steps in (200_000, 1_000_000):
        config = presets.config(algorithm, Task("stb_gym/ShutTheBox-v0"), steps=steps)
        for name, (low, high) in read_space(SPACES, config).items():
            assert low <= getattr(config.settings, name) <= high, name


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[q-learning]", "[q]", "unknown space 'q-learning': allowed are q, ppo"),
        ("num_envs = [4, 16]", "num_env = [4, 16]", "unknown setting 'num_env': allowed are num_envs"),
        ("num_envs = [4, 16]", "num_envs = [4.5, 16]", r"num_envs must be an integer from 1 to \d+, not 4.5"),
        ("num_envs = [4, 16]", "num_envs = [4]", r"num_envs must be the lowest and the highest value, not \[4\]"),
        ("num_envs = [4, 16]", "num_envs = 4", "num_envs must be the lowest and the highest value, not 4"),
        ("num_envs = [4, 16]", "horizon = [false, true]", "horizon must be the lowest and the highest value"),
        ("num_envs = [4, 16]", "num_envs = [16, 16]", "the lowest value of num_envs must be below the highest"),
        (
            "[q-learning]\nnum_envs = [4, 16]\nexploration = [0, 0.5]",
            "q-learning = 3",
            r"\[q-learning\] is empty, or no table",
        ),
        (
            "[q-learning]\nnum_envs = [4, 16]\nexploration = [0, 0.5]",
            "[q-learning]",
            r"\[q-learning\] is empty, or no table",
        ),
        ("[q-learning]", "[q-learning", "Expected"),
    ],
)
def test_mistakes_in_the_spaces_are_named(old, new, message, words, tmp_path, capsys):
    assert old in SPACE
    (tmp_path / "spaces.toml").write_text(SPACE.replace(old, new, 1))
    assert tuning.main(words) == 2
    path = re.escape(str(tmp_path / "spaces.toml"))
    assert re.match(f"training.tune: {path}: .*{message}.*\n$", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--trials", "0"], "trials must be an integer from 1 to 1000000, not 0"),
        (["--fresh-seeds", "0"], "fresh-seeds must be an integer from 1 to 1000000, not 0"),
        (["--limit-minutes", "0"], "limit-minutes must be a number above 0, not 0.0"),
        (["--limit-minutes", "nan"], "limit-minutes must be a number above 0, not nan"),
        (["--settings", "num_envs", "8"], "num_envs is searched, and cannot be given"),
        (["--variant", "quick"], "unknown variant of q-learning on five-tiles 'quick': allowed are standard"),
    ],
)
def test_mistakes_in_the_command_are_named(more, message, words, tmp_path, capsys):
    assert tuning.main([*words, *more]) == 2
    assert capsys.readouterr().err == f"training.tune: {message}\n"
    assert not (tmp_path / "search").exists()


def test_the_folder_of_another_search_is_refused_and_a_damaged_one_is_named(words, tmp_path, capsys):
    assert tuning.main([*words, "--trials", "1"]) == 0
    capsys.readouterr()
    assert tuning.main([*words, "--trials", "1", "--seeds", "1"]) == 2
    assert "holds another search: remove it, or name another folder by --out" in capsys.readouterr().err
    path = tmp_path / "search" / "search.json"
    for text in ("", "3", "{}", path.read_text()[:200], path.read_text().replace("outcome", "outcme", 1)):
        path.write_text(text)
        assert tuning.main([*words, "--trials", "1"]) == 2
        assert capsys.readouterr().err.startswith(f"training.tune: {path} is damaged or no file of a search: ")
