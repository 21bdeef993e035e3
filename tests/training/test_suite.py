"""Test the protocol exact-8: its tasks, resumption, and the number of a scripted agent in closed form."""

import runpy
import sys
from math import log10
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from agents.presets import configure
from stb_gym import evaluate, strategy
from training.commands import run_command
from training.results import read_numbers, save_results
from training.run import measure
from training.suite.__main__ import suite
from training.suite.score import number
from training.suite.sweep import KEY, train
from training.suite.tasks import BOX, BUDGETS, DICE, TASKS, SuiteTask

pytestmark = pytest.mark.slow
MAKERS = "tests.training.test_suite"

SMALL = {
    "box": SuiteTask(BOX, {"tiles": 4}),
    "box-unmasked": SuiteTask(BOX, {"tiles": 4}, masked=False),
    "shut": SuiteTask(BOX, {"tiles": 5, "objective": "shut"}),
    "dice": SuiteTask(DICE, {"dice": 3}),
}


class Lowest:
    """Plays the lowest legal action, or action 0 without masks."""

    learnt: list[int] = []  # noqa: RUF012

    def learn(self, steps):
        self.learnt.append(steps)

    def predict(self, observations, deterministic=True, action_masks=None):
        if action_masks is None:
            return np.zeros(len(observations), int), None
        return action_masks.argmax(axis=1), None


def make_lowest(env, seed):
    env.reset(seed=seed)
    return Lowest()


def make_failing(env, seed):
    raise RuntimeError("no memory left")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that runs the command on small tasks."""
    monkeypatch.setattr(Lowest, "learnt", [])

    def run(agent="make_lowest", *words):
        with patch.dict(TASKS, SMALL, clear=True):
            name = f"{MAKERS}:{agent}"
            return run_command("training.suite", suite, [name, "--out", str(tmp_path), *words])

    return run


def scores_of_lowest():
    """Return the scores of `Lowest`, each from the regrets of its policy and of random play."""
    scores = []
    for task in SMALL.values():
        random = evaluate(task.game, strategy(task.game, "random"), task.objective)
        policy = random.tables.legal.argmax(axis=1) if task.masked else np.zeros(random.tables.num_states, int)
        scores.append(evaluate(task.game, policy, task.objective, "end").regret / random.regret)
    return scores


def test_the_number_of_a_scripted_agent_is_known(run, tmp_path, capsys):
    assert run() == 0
    expected = sorted(map(log10, scores_of_lowest()))
    known = sum(expected[1:3]) / 2  # five equal seeds for each of four tasks: the middle half are two tasks
    assert f"exact-8 at 200k steps, 5 seeds: {known:.3f} ({known:.3f} to {known:.3f})" in capsys.readouterr().out
    assert Lowest.learnt == [200_000] * 20
    with Image.open(next(tmp_path.glob("*.png"))) as picture:
        assert len(picture.convert("RGB").getcolors(2**24)) > 20


def test_the_package_is_a_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["training.suite", "--help"])
    monkeypatch.delitem(sys.modules, "training.suite.__main__")
    with pytest.raises(SystemExit):
        runpy.run_module("training.suite", run_name="__main__")
    assert "--budgets" in capsys.readouterr().out


def test_results_are_kept_and_continued(run, tmp_path, monkeypatch):
    monkeypatch.setattr("training.suite.__main__.draw", lambda *_: None)
    assert run("make_lowest", "--seeds", "1") == 0
    before = read_numbers(tmp_path / "results.csv.gz", KEY)
    assert run("make_lowest", "--seeds", "2", "--budgets", "200k,1m") == 0
    assert sorted(Lowest.learnt) == [200_000] * 8 + [1_000_000] * 8
    after = read_numbers(tmp_path / "results.csv.gz", KEY)
    assert after[:4].equals(before)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["make_lowest", "--budgets", "2k"], "unknown budget '2k': allowed are 200k, 1m"),
        (["nobody"], "no attribute 'nobody'"),
        (["make_failing", "--seeds", "1"], "4 of 4 trainings failed, the first: "),
        (["make_failing"], f"{MAKERS}:make_failing box 200k 0: no memory left"),
    ],
)
def test_errors_and_failures_are_reported(run, capsys, words, message):
    assert run(*words) == 2
    assert message in capsys.readouterr().err


def test_damaged_results_are_refused(run, tmp_path, capsys):
    file = tmp_path / "results.csv.gz"
    row = {"agent": "a", "task": "box", "budget": "200k", "seed": 0, "regret": 1.0, "score": np.nan, "seconds": 1.0}
    save_results(file, pd.DataFrame([row]))
    for content in (file.read_bytes(), b"agent,task"):
        file.write_bytes(content)
        assert run() == 2
        assert str(file) in capsys.readouterr().err
        assert file.read_bytes() == content


def test_without_masks_all_actions_seem_legal():
    env = SMALL["box-unmasked"].make()
    _, info = env.reset(seed=0)
    illegal = int(env.unwrapped.action_masks().argmin())
    assert info["action_mask"].all()
    assert env.action_masks().all()
    _, _, _, _, info = env.step(illegal)
    assert info["illegal_action"]
    assert info["action_mask"].all()

    envs = env.vector(3)
    _, infos = envs.reset(seed=0)
    assert infos["action_mask"].all()
    _, _, terminated, _, infos = envs.step(envs.unwrapped.action_masks().argmin(axis=1))
    assert terminated.all()
    assert infos["action_mask"].all()
    assert infos["final_info"]["action_mask"].all()


def test_a_solved_task_counts_as_one_in_a_million():
    results = pd.DataFrame({"task": list(TASKS), "score": [0.0] * len(TASKS)})
    assert number(results) == (-6, -6, -6)
    with pytest.raises(ValueError, match="no result for the task threes"):
        number(results[results["task"] != "threes"])


@pytest.mark.parametrize(
    "algorithm",
    [
        "certainty-equivalence",
        "sb3-maskable-ppo-tuned",
        *(pytest.param(name, marks=pytest.mark.nightly) for name in ("afterstates", "sb3-dqn")),
    ],
)
def test_a_learner_of_this_repository_is_trained_as_by_its_command(algorithm):
    with patch.dict(BUDGETS, {"200k": 256}):
        regrets = {name: train(SMALL, algorithm, name, "200k", 3)[0] for name in ("box", "box-unmasked", "dice")}
    config = configure(algorithm, DICE, {"dice": 3}, "200k", seed=3)
    learner = config.make_learner(config.make_envs())
    learner.learn(256)
    assert regrets["dice"] == measure(config, learner).greedy.regret
    # The others know the moves, or never use masks.
    assert (regrets["box-unmasked"] != regrets["box"]) == (algorithm == "sb3-maskable-ppo-tuned")


def test_tabular_learners_play_randomly_without_tables():
    _, score, _ = train(TASKS, "q-learning", "sixteen-tiles", "200k", 0)
    assert score == pytest.approx(1, abs=0.05)
