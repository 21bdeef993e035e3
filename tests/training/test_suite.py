"""Test the protocol exact-8: its tasks, its budget, its entries, and the number of a scripted agent in closed form."""

import pickle
import runpy
import sys
from copy import deepcopy
from math import log10
from statistics import mean
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from stb_gym import evaluate, solve, strategy
from stb_gym.solver import compile_game
from tests import every
from training.commands import run_command
from training.results import TrainingTask
from training.suite import entries, tasks
from training.suite.__main__ import suite
from training.suite.environment import TaskEnv
from training.suite.score import half_width, number
from training.suite.sweep import train
from training.suite.tasks import BOX, BUDGETS, DEVELOPMENT_TASKS, DICE, KINDS, drawn

pytestmark = pytest.mark.slow
MAKERS = "tests.training.test_suite"
SMALL = dict(
    zip(
        KINDS,
        [TrainingTask(BOX, {"tiles": count}) for count in (4, 5)]
        + [TrainingTask(BOX, {"tiles": count, "objective": "at-most:2"}) for count in (4, 5)]
        + [TrainingTask(DICE, {"dice": count}) for count in (2, 3)]
        + [TrainingTask(DICE, {"dice": count, "objective": "at-most:3"}) for count in (2, 3)],
        strict=True,
    )
)


class Lowest:
    """Plays the lowest legal action, or action 0 without masks."""

    learnt: list[int] = []  # noqa: RUF012

    def learn(self, steps):
        self.learnt.append(steps)

    def predict(self, observations, deterministic=True, action_masks=None):
        if action_masks is None:
            return np.zeros(len(observations), int), None
        return action_masks.argmax(axis=1), None


def make_lowest(env):
    return Lowest()


def make_failing(env, seed):
    raise RuntimeError("no memory left")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that runs the command on small tasks."""
    monkeypatch.setattr(Lowest, "learnt", [])

    def run(agent="make_lowest", *words):
        with patch.dict(DEVELOPMENT_TASKS, SMALL, clear=True):
            name = f"{MAKERS}:{agent}"
            return run_command("training.suite", suite, [name, "--out", str(tmp_path), *words])

    return run


def score_of_lowest(task, masked):
    random = evaluate(task.game, strategy(task.game, "random"), task.objective)
    policy = random.tables.legal.argmax(axis=1) if masked else np.zeros(random.tables.num_states, int)
    return max(evaluate(task.game, policy, task.objective, "end").regret / random.regret, 1e-6)


@pytest.mark.parametrize("track", every(2, ["masks", "observations"]))
def test_the_number_of_a_scripted_agent_is_known(run, capsys, track):
    assert run("make_lowest", "--track", track) == 0
    expected = [log10(score_of_lowest(task, track == "masks")) for task in SMALL.values()]
    said = capsys.readouterr().out.replace("\n", " ")
    assert f" has {mean(expected):.2f} ({mean(expected):.2f} to {mean(expected):.2f})" in said
    assert f"with {max(expected):.2f}." in said
    assert Lowest.learnt == [200_000] * 80


def test_the_package_is_a_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["training.suite", "--help"])
    monkeypatch.delitem(sys.modules, "training.suite.__main__")
    with pytest.raises(SystemExit):
        runpy.run_module("training.suite", run_name="__main__")
    text = capsys.readouterr().out
    assert "--budgets" in text
    assert "--import MODULE" in text


def test_entries_are_kept_and_continued(run, tmp_path):
    assert run("make_lowest", "--seeds", "1") == 0
    entry = tmp_path / "development" / "masks" / f"{MAKERS}.make_lowest"
    before = entries.grade(entry, SMALL)
    assert run("make_lowest", "--seeds", "2", "--budgets", "200k,1m") == 0
    assert sorted(Lowest.learnt) == [200_000] * 16 + [1_000_000] * 16
    after = entries.grade(entry, SMALL)
    assert len(after) == 32
    assert before.merge(after).equals(before)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["make_lowest", "--budgets", "2k"], "unknown budget '2k': allowed are 200k, 1m"),
        (["make_lowest", "--track", "mask"], "unknown track 'mask': .*; did you mean masks?"),
        (["make_lowest", "--edition", "0"], "unknown edition '0'"),
        (["make_lowest", "--seeds", "0"], "seeds must be an integer from 1 to 1000, not 0"),
        (
            ["make_failing", "--seeds", "1"],
            f"the first: points 200k 0: {MAKERS}:make_failing fails: RuntimeError: no memory",
        ),
    ],
)
def test_errors_and_failures_are_reported(run, capsys, words, message):
    assert run(*words) == 2
    assert message.partition(".*")[0] in capsys.readouterr().err


def test_the_first_failure_is_printed_before_the_others_are_trained(run, capsys, monkeypatch):
    printed = []
    monkeypatch.setattr(
        "training.study.in_parallel",
        lambda _, calls, *__: ((call, printed.append(capsys.readouterr().err), "it broke") for call in calls),
    )
    assert run("make_lowest", "--seeds", "1") == 2
    before, failed, *others = [each.replace("\r", "") for each in printed]
    assert failed == "the first failure: points 200k 0: it broke\n"
    assert [before, *others] == [""] * 7


def test_damaged_entries_are_refused(run, tmp_path, capsys):
    assert run("make_lowest", "--seeds", "1") == 0
    file = next(tmp_path.glob("*/*/*/200k-threes.npz"))
    file.write_bytes(file.read_bytes()[:-50])
    content = file.read_bytes()
    assert run() == 2
    assert "File is not a zip file" in capsys.readouterr().err
    assert file.read_bytes() == content


# The environment


def test_without_masks_all_actions_seem_legal():
    env = TaskEnv(SMALL["points"], "observations", 100)
    _, info = env.reset(seed=0)
    illegal = int(env.env.unwrapped.action_masks().argmin())
    assert info["action_mask"].all()
    assert env.action_masks().all()
    _, _, _, _, info = env.step(illegal)
    assert info["illegal_action"]
    assert info["action_mask"].all()

    envs = env.vector(3)
    _, infos = envs.reset(seed=0)
    assert infos["action_mask"].all()
    _, _, terminated, _, infos = envs.step(envs.env.unwrapped.action_masks().argmin(axis=1))
    assert terminated.all()
    assert infos["action_mask"].all()
    assert infos["final_info"]["action_mask"].all()


@pytest.mark.parametrize("track", ["afterstates", "masks"])
def test_only_some_tracks_hand_out_the_rules(track):
    env = TaskEnv(SMALL["points"], track, 100)
    envs = env.vector(2)
    assert (hasattr(envs, "afterstates"), hasattr(env.unwrapped, "game")) == ((track == "afterstates"),) * 2


def test_steps_in_all_environments_are_counted():
    env = TaskEnv(SMALL["points"], "masks", 40)
    envs = env.vector(20)
    env.reset(seed=0)
    envs.reset(seed=0)
    for _ in range(2):
        envs.step(np.zeros(20, int))
    env.step(0)
    with pytest.raises(RuntimeError, match="the budget of 40 steps is used up"):
        envs.step(np.zeros(20, int))


def test_steps_of_copies_are_counted_and_positions_are_not_chosen():
    """A copy that is stepped to look ahead uses the budget, too."""
    env = TaskEnv(SMALL["points"], "masks", 40)
    envs = env.vector(20)
    env.reset(seed=0)
    deepcopy(env).step(0)
    deepcopy(envs).step(np.zeros(20, int))
    assert env.num_steps == 21
    for each in (env, envs):
        with pytest.raises(ValueError, match=r"begins turns at random, without the options \['roll'\]"):
            each.reset(options={"roll": 3})
    envs.reset(options={"reset_mask": np.ones(20, bool)})


def test_steps_in_other_processes_are_refused(monkeypatch):
    """Each process would have a budget of its own."""
    env = TaskEnv(SMALL["points"], "masks", 40)
    env.reset(seed=0)
    copy = pickle.loads(pickle.dumps(env))
    monkeypatch.setattr("os.getpid", lambda: 0)
    for each in (env, copy):
        with pytest.raises(RuntimeError, match="another process are not counted: use env"):
            each.step(0)


# The tasks and the number


@pytest.mark.nightly
def test_editions_draw_a_task_of_each_kind_that_is_not_for_development():
    editions = [drawn(f"{commit:040x}") for commit in range(300)]
    assert drawn(f"{7:040x}") == editions[7]
    for kind, candidates in KINDS.items():
        games = [(task.game, task.objective) for task in candidates]
        assert (DEVELOPMENT_TASKS[kind].game, DEVELOPMENT_TASKS[kind].objective) not in games
        found = [candidates.index(edition[kind]) for edition in editions]
        assert {*found} == {*range(len(candidates))}
    assert max(len(compile_game(task.game).decisions) for task in editions[0].values()) < 12_000


def rows_of(scores):
    """Return rows of grades: scores by kind and seed."""
    rows = [("200k", kind, seed, score) for kind, given in scores.items() for seed, score in enumerate(given)]
    return pd.DataFrame(rows, columns=["budget", "kind", "seed", "score"])


def test_the_number_is_the_mean_of_logarithms_and_the_worst_task_moves_it():
    assert number(rows_of({kind: [0.0, 0.0] for kind in KINDS}))[:3] == (-6, -6, -6)
    good = {kind: [0.01, 0.0001] for kind in KINDS}
    bad = good | {"points": [10.0, 1000.0]}
    found = number(rows_of(bad))
    assert number(rows_of(good)).mean == pytest.approx(-3)
    assert found.mean == pytest.approx(-3 + 5 / 8)
    assert (found.worst, found.worst_mean) == ("points", pytest.approx(2))


@pytest.mark.parametrize("seeds", [5, 10])
@pytest.mark.parametrize(
    "noise",
    [
        np.random.default_rng(0).normal,
        lambda size: np.random.default_rng(0).exponential(size=size) - 1,
        lambda size: np.random.default_rng(0).choice([-1.0, 1.0], size),
    ],
    ids=["normal", "exponential", "two values"],
)
def test_the_interval_of_the_number_covers_the_mean(noise, seeds):
    spreads = np.array([0.01, 0.05, 0.1, 0.1, 0.2, 0.3, 0.5, 1.0])[:, None, None]  # wider than those of learners
    logarithms = spreads * noise(size=(8, seeds, 10_000))
    assert np.mean(abs(logarithms.mean(axis=(0, 1))) <= half_width(logarithms)) >= 0.93


@pytest.mark.nightly
def test_an_entry_that_solves_half_of_the_tasks_knows_the_rules(tmp_path):
    with patch.dict(tasks.EDITIONS, {"9": "0" * 40}):
        edition = tasks.tasks_of("9")
        for name, solved in (("solver", 6), ("learner", 3)):
            for number_of_kind, (kind, task) in enumerate(edition.items()):
                optimum = solve(task.game, task.objective)
                worst = strategy(task.game, "worst")
                for seed in range(3):  # one bad seed does not hide a solver
                    policy = optimum.policy if number_of_kind < solved and (seed or name == "learner") else worst
                    entries.add(tmp_path / "9" / "masks" / name, "200k", kind, task, seed, policy)
        assert {*entries.grade_edition(tmp_path, "9")} == {("rules", "solver"), ("masks", "learner")}


@pytest.mark.parametrize(
    "algorithm",
    [
        "certainty-equivalence",
        *(pytest.param(name, marks=pytest.mark.nightly) for name in ("afterstates", "sb3-dqn", "ppo")),
    ],
)
def test_learners_of_this_repository_stay_within_the_budget(algorithm):
    track = "observations" if algorithm == "sb3-dqn" else "afterstates"
    with patch.dict(BUDGETS, {"200k": 20_000}):
        policy = train(SMALL, track, algorithm, "points", "200k", 0)
    tables = compile_game(SMALL["points"].game)
    assert policy.shape == (tables.num_states,)


def test_the_number_needs_the_same_seeds_in_each_task():
    rows = rows_of({kind: [0.1, 0.2] for kind in KINDS})
    rows.loc[rows["kind"].eq("threes") & rows["seed"].eq(1), "seed"] = 2
    with pytest.raises(ValueError, match="all tasks need the same seeds: points has 0, 1, but threes 0, 2"):
        number(rows)
    with pytest.raises(ValueError, match="all tasks need the same seeds: points has 0, 1, but target none"):
        number(rows[rows["kind"] != "target"])


def test_the_number_counts_all_seeds_from_0():
    """Else the best of many seeds could be chosen."""
    rows = rows_of({kind: [0.1, 0.2, 0.3] for kind in KINDS})
    with pytest.raises(ValueError, match="all seeds from 0 count, good and bad: there are 0, 2, but not 1"):
        number(rows[rows["seed"] != 1])


def test_files_of_other_tasks_are_not_graded(tmp_path):
    for kind, task in DEVELOPMENT_TASKS.items():
        entries.add(tmp_path, "200k", kind, task, 0, solve(task.game, task.objective).policy)
    points, target = (tmp_path / f"200k-{kind}.npz" for kind in ("points", "target"))
    assert entries.grade(tmp_path, DEVELOPMENT_TASKS)["regret"].max() < 1e-9
    target.write_bytes(points.read_bytes())
    with pytest.raises(ValueError, match="its policies play for score, not for at-most:6"):
        entries.grade(tmp_path, DEVELOPMENT_TASKS)
    with pytest.raises(ValueError, match=r"it is a policy of ShutTheBox\(\), not of "):
        entries.grade(tmp_path, tasks.tasks_of("1"))
