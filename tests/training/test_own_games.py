"""A game of one's own is trained, evaluated and reported like those of the package."""

import json
import sys

import gymnasium as gym
import pytest
from agents.config import Config

from stb_gym import ENVIRONMENTS
from stb_gym.games import GAMES
from tests import ROOT, SMALL_PRESETS
from training import evaluate, report, study, train
from training.run import Run


@pytest.fixture
def in_docs(monkeypatch):
    """The folder of docs/pig.py, and games as they were when the test is over."""
    monkeypatch.chdir(ROOT / "docs")
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = dict(GAMES), dict(ENVIRONMENTS), dict(gym.registry)
    yield
    for known, was in zip((GAMES, ENVIRONMENTS, gym.registry), before, strict=True):
        known.clear()
        known.update(was)
    sys.modules.pop("pig", None)


def test_pig_is_trained_evaluated_and_reported(in_docs, tmp_path, capsys):
    out = tmp_path / "run"
    words = ["afterstates", "--env", "stb_gym/Pig-v0", "--most-points", "30", "--steps", "60000", "--out", str(out)]
    assert train.main(["--import", "pig", *words]) == 0
    assert capsys.readouterr().err.endswith(f"python -m training.evaluate --import pig {out}\n")
    assert evaluate.main(["--import", "pig", str(out), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["task"] == {"env": "stb_gym/Pig-v0", "rules": {"most_points": 30}, "objective": "score"}
    assert answer["greedy"]["optimum"] == pytest.approx(8.1418, abs=1e-4)
    assert 0 <= answer["greedy"]["regret"] < 0.5
    assert report.main(["--import", "pig", str(out), "--out", str(tmp_path / "report")]) == 0
    assert "hold-at-20" in (tmp_path / "report" / "report.html").read_text()
    assert Run.open(out).result()["finished"]


def test_a_study_trains_it_in_processes_of_its_own(in_docs, tmp_path, capfd):
    pig = '[tasks.pig-to-30]\nenv = "stb_gym/Pig-v0"\nrules = { most_points = 30 }\n\n'
    files = {
        "studies": '[[own]]\nalgorithms = ["afterstates"]\ntasks = ["pig-to-30"]\nseeds = 1\n',
        "presets": pig + SMALL_PRESETS.read_text().replace("steps = 60_000", "steps = 20_000"),
    }
    options = ["--out", str(tmp_path / "out"), "--workers", "1"]
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        options += [f"--{name}", str(tmp_path / name)]
    words = ["--import", "pig", "own", *options]
    assert study.main([*words, "--print"]) == 0
    assert capfd.readouterr().out.startswith("python -m training.train afterstates --import pig --env stb_gym/Pig-v0 ")
    assert study.main(words) == 0
    page = (tmp_path / "out" / "README.md").read_text()
    assert "`python -m training.train afterstates --import pig --env stb_gym/Pig-v0 --" in page
    assert "`stb-gym --import pig evaluate pig --most-points 30 --policy hold-at-25`" in page


def test_a_module_that_cannot_be_imported_is_one_line(in_docs, capsys):
    with pytest.raises(SystemExit) as ended:
        train.main(["--import", "no_such_game", "ppo"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.splitlines() == [
        "training.train: --import no_such_game: ModuleNotFoundError: No module named 'no_such_game'"
    ]


def test_a_file_of_a_run_imports_nothing(in_docs):
    entries = {"algorithm": "ppo", "task": {"env": "pig:stb_gym/Pig-v0"}, "settings": {}, "steps": 1, "seed": 0}
    with pytest.raises(ValueError, match="unknown environment 'pig:stb_gym/Pig-v0'"):
        Config.from_json(entries)
    assert "pig" not in sys.modules
