"""A game of one's own is trained, evaluated and reported like those of the package."""

import json
import sys

import gymnasium as gym
import pytest

from agents.config import Config
from stb_gym import ENVIRONMENTS, GAMES
from tests import ROOT
from training import evaluate, report, train
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
