"""Test that agents of other code are trained, measured, continued and compared as learners of the repository are."""

import builtins
import inspect
import json
import pickle
import re
import shlex
import sys
from functools import partial
from pathlib import Path
from shutil import copytree
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from stable_baselines3 import A2C

from agents import custom
from agents.custom import AgentEnv, allow, fault_of
from agents.presets import configure
from stb_gym import RegretMeter, ShutTheBox
from stb_gym.files import read_json, write_json
from stb_gym.games import make_game
from tests.training.conftest import ENV
from tests.training.test_run import files, interrupt
from training import compare, evaluate, train, tune
from training.commands import run_command
from training.results import read_run
from training.run import Run
from training.run import train as train_run
from training.study import in_parallel
from training.suite.__main__ import suite

HERE = "tests.training.test_custom"
FIVE = ["--tiles", "5", "--measurements", "4"]
SUITE = SimpleNamespace(main=partial(run_command, "training.suite", suite), __name__="training.suite")


class Guessing:
    """Draws random numbers of actions, always plays the greatest, and keeps the numbers whose turns went best.

    Args:
        env: the environment.
        scale: multiplies the numbers that it draws from NumPy's global generator.
        extra: steps that each call of `learn` makes too many.
        vector: plays this many games at once.
    """

    def __init__(self, env, scale=1.0, extra=0, vector=0):
        self.env = env.vector(vector) if vector else env
        self.width, self.scale, self.extra = max(vector, 1), scale, extra
        self.numbers = scale * np.random.random(env.action_space.n)  # noqa: NPY002
        self.calls = []
        self.figures = {}

    def learn(self, steps):
        self.calls.append(steps)
        self.numbers = self.scale * np.random.random(len(self.numbers))  # noqa: NPY002
        self.figures = {"largest": self.numbers.max()}
        over = True
        for _ in range((steps + self.extra) // self.width):
            if over:
                self.env.reset()
            masks = np.reshape(self.env.action_masks(), (self.width, -1))
            actions, _ = self.predict(masks, action_masks=masks)
            _, _, over, _, _ = self.env.step(actions if self.width > 1 else actions[0])
            over = np.any(over) and self.width == 1

    def predict(self, observations, deterministic=True, action_masks=None):
        return np.where(action_masks, self.numbers, -np.inf).argmax(axis=1), None


class Saving(Guessing):
    """Stores all that it needs to continue."""

    def save(self, path):
        with open(path + ".pickle", "wb") as file:
            pickle.dump((self.numbers, np.random.get_state()), file)  # noqa: NPY002

    def load(self, path):
        with open(path, "rb") as file:
            self.numbers, state = pickle.load(file)
        np.random.set_state(state)  # noqa: NPY002


class Interrupting(Guessing):
    """Calls back after every ten steps."""

    def learn(self, steps, callback):
        for start in range(0, steps, 10):
            callback(start)
            super().learn(min(10, steps - start))


LOGGED = []


def remember(folder, steps, numbers):
    LOGGED.append((folder.name, steps, numbers))


def make_model(env, seed, **settings):
    return A2C("MlpPolicy", env, seed=seed, device="cpu", **settings)


def make_nothing(env):
    return "nothing"


def make_without_environment():
    return "nothing"


def make_failing(env, seed):
    raise RuntimeError("no memory\nleft")


@pytest.fixture(autouse=True)
def allowed():
    """Start without modules that an earlier test allowed."""
    custom.ALLOWED.clear()


def configured(name, **options):
    allow(HERE)
    return configure(f"{HERE}:{name}", ENV, {"tiles": 5}, steps=100, **options)


def test_an_agent_is_trained_measured_and_compared(folders, capsys):
    words = [f"{HERE}:Guessing", *FIVE, "--steps", "100", "--settings.scale", "2.5", "--seeds", "0-1"]
    assert train.main(words) == 0
    first, second = (folders / f"{HERE}.Guessing-ShutTheBox-v0-tiles-5-{seed}" for seed in (0, 1))
    said, *_, command = capsys.readouterr().err.splitlines()
    assert said == f"training.train: {HERE}:Guessing does not save its state: a killed run begins anew"
    assert command == f"python -m training.compare runs/{first.name} runs/{second.name}"
    curve = Run(first).curve()
    assert curve["steps"].tolist() == [0, 25, 50, 75, 100]
    assert 1 < curve["train/largest"].max() < 2.5
    assert curve["regret"].nunique() > 1
    assert not curve["regret"].equals(Run(second).curve()["regret"])
    assert Run(first).result()["updated"] is True
    custom.ALLOWED.clear()
    assert compare.main([str(first), str(second), "--json"]) == 0
    answer = capsys.readouterr().out
    assert (
        f"training.train {HERE}:Guessing --env {ENV} --tiles 5 --settings.scale 2.5 --steps 100 --seeds 0,1" in answer
    )
    assert evaluate.main([str(first), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["greedy"]["regret"] == curve["regret"].iloc[-1]
    assert evaluate.main([str(first), "--turns", "9", "--import", HERE]) == 2
    assert "the agent has no save and load" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "calls", "steps"),
    [("Guessing", [25] * 4, [0, 25, 50, 75, 100]), ("Interrupting", [10] * 10, [0, 30, 50, 80, 100])],
)
def test_learn_is_called_between_measurements_or_calls_back(name, calls, steps, tmp_path):
    config = configured(name)
    train_run(config, tmp_path, measurements=4)
    assert Run(tmp_path).curve()["steps"].tolist() == steps
    learner = config.make_learner(config.make_envs())
    learner.parts = 4
    learner.learn(100)
    assert learner.agent.calls == calls
    assert RegretMeter(ShutTheBox(tiles=5))(learner.agent).regret == Run(tmp_path).curve()["regret"].iloc[-1]


@pytest.mark.parametrize("settings", [{"extra": 30}, {"extra": 30, "vector": 5}])
def test_steps_in_the_environment_are_counted(settings, tmp_path):
    train_run(configured("Guessing", settings=settings), tmp_path, measurements=2)
    assert Run(tmp_path).curve()["steps"].tolist() == [0, 80, 130]


def test_dice_follow_the_seed():
    def observed(seed):
        learner = configured("Guessing", seed=seed, settings={"vector": 4}).make_learner(AgentEnv(ENV, {"tiles": 5}))
        return [learner.envs.reset()[0].tolist(), learner.agent.env.reset()[0].tolist()]

    assert observed(1) == observed(1)
    assert all(first != second for first, second in zip(observed(1), observed(2), strict=True))


def test_steps_of_callbacks_count_from_the_call():
    learner = configured("Interrupting").make_learner(AgentEnv(ENV, {"tiles": 5}))
    learner.num_steps, told = 1000, []
    learner.learn(1030, lambda: told.append(learner.num_steps))
    assert told == [1000, 1000, 1010, 1020]
    assert learner.num_steps == 1030


def test_an_agent_that_saves_all_continues_as_if_undisturbed(tmp_path):
    config = configured("Saving")
    train_run(config, tmp_path / "whole", measurements=5)
    interrupt(config, tmp_path / "parts", 3)
    assert len(Run(tmp_path / "parts").curve()) == 3
    train_run(config, tmp_path / "parts", measurements=5)
    assert files(tmp_path / "parts") == files(tmp_path / "whole")
    assert RegretMeter(ShutTheBox(tiles=5))(Run(tmp_path / "parts").learner().agent).regret == pytest.approx(
        Run(tmp_path / "whole").curve()["regret"].iloc[-1]
    )


@pytest.mark.nightly
def test_a_model_of_stable_baselines3_is_measured_before_its_rollouts(tmp_path):
    config = configured("make_model", settings={"n_steps": 7})
    train_run(config, tmp_path, measurements=4)
    curve = Run(tmp_path).curve()
    assert curve["steps"].tolist() == [0, 28, 56, 77, 105]
    assert curve["train/value_loss"].notna().any()
    assert evaluate.main([str(tmp_path), "--turns", "9", "--import", HERE]) == 0


def test_the_file_of_a_run_imports_nothing(tmp_path, capsys):
    train_run(configured("Saving"), tmp_path, measurements=1)
    entries = read_json(tmp_path / "config.json")
    write_json(tmp_path / "config.json", entries | {"algorithm": "antigravity:Saving"})
    custom.ALLOWED.clear()
    assert evaluate.main([str(tmp_path), "--turns", "9"]) == 2
    assert capsys.readouterr().err == (
        "training.evaluate: antigravity:Saving is code outside of this repository: add --import antigravity\n"
    )
    assert "antigravity" not in sys.modules


@pytest.mark.nightly
def test_measurements_are_logged_by_a_function(folders):
    LOGGED.clear()
    words = ["q-learning", "--tiles", "5", "--steps", "500", "--measurements", "2", "--settings.num-envs", "5"]
    assert train.main([*words, "--log", f"{HERE}:remember"]) == 0
    [folder] = folders.iterdir()
    curve = Run(folder).curve()
    assert {name for name, _, _ in LOGGED} == {folder.name}
    assert [steps for _, steps, _ in LOGGED] == curve["steps"].tolist()
    assert [numbers["exact/regret"] for _, _, numbers in LOGGED] == curve["regret"].tolist()
    assert LOGGED[-1][2]["train/step_size"] == curve["train/step_size"].iloc[-1]


def test_a_log_needs_its_library(folders, monkeypatch, capsys):
    monkeypatch.setattr("training.logs.find_spec", lambda name: None)
    for log in ("wandb", "wanb"):
        assert train.main(["q-learning", "--tiles", "5", "--log", log]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "training.train: --log wandb needs wandb: pip install wandb",
        "training.train: unknown log 'wanb': allowed are tensorboard, wandb, mlflow, MODULE:NAME; did you mean wandb?",
    ]


@pytest.mark.parametrize(
    ("command", "words", "message"),
    [
        (
            train,
            [f"{HERE}:Guessing", "--settings.scal", "1"],
            "unknown setting 'scal': allowed are scale, extra, vector; ",
        ),
        (train, [f"{HERE}:Gessing"], f"the code {HERE}:Gessing: AttributeError"),
        (train, ["no_such_module:Agent"], "--import no_such_module: ModuleNotFoundError"),
        (
            train,
            [f"{HERE}:make_nothing"],
            f"an agent needs the methods learn and predict: the str of {HERE}:make_nothing ",
        ),
        (train, [f"{HERE}:FIVE"], f"{HERE}:FIVE must be a function or a class of an environment, not a list\n"),
        (train, [f"{HERE}:Guessing", "--players", "2", "--opponents", "naive"], "unknown algorithm for rounds"),
        (
            train,
            [f"{HERE}:make_nothing", "--settings.rate", "1"],
            f"{HERE}:make_nothing has no settings: leave out 'rate'\n",
        ),
        (train, ["ppa"], "unknown algorithm 'ppa': allowed are MODULE:NAME, ppo, "),
        (train, ["my_ppo"], "my_ppo is a module: name the agent in it, such as my_ppo:Agent\n"),
        (SUITE, ["my_ppo"], "my_ppo is a module: name the agent in it, such as my_ppo:Agent\n"),
        (
            train,
            [f"{HERE}.py:Guessing"],
            f"--import {HERE}.py: ModuleNotFoundError: No module named '{HERE}.py'; '{HERE}' is not a package; name "
            "the module without .py\n",
        ),
        (
            train,
            [f"{HERE}:make_without_environment"],
            f"{HERE}:make_without_environment has no argument for the environment\n",
        ),
        (train, ["sb3-ppo", "--settings.net-arch", "[64,"], "'[64,' is no JSON\n"),
        (compare, ["all"], "all is not a run, but holds runs: name all/* or one of them\n"),
        (evaluate, ["all"], "all is not a run, but holds runs: name all/* or one of them\n"),
        (
            tune,
            [f"{HERE}:make_nothing", "--out", "out", "--ranges.rate", "[1, 2]"],
            f"{HERE}:make_nothing has no settings: leave out 'rate'\n",
        ),
        (
            tune,
            [f"{HERE}:Guessing", "--out", "out"],
            f"agents/search.toml has no ranges for {HERE}:Guessing: name them, such as --ranges.learning-rate "
            "[1e-4,1e-2]\n",
        ),
    ],
)
def test_errors_take_one_line_and_say_what_to_write(command, words, message, finished, folders, capsys):
    copytree(finished, folders.parent / "all" / "run")
    Path("my_ppo.py").touch()
    assert command.main(words) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"{command.__name__}: {message}")
    assert error.count("\n") == 1
    assert not folders.exists()


@pytest.mark.nightly
def test_seeds_are_trained_in_processes_and_not_overwritten(folders, capsys):
    words = [f"{HERE}:Saving", *FIVE, "--steps", "100", "--seeds", "0-1,3"]
    assert train.main([*words, "--workers", "2"]) == 0
    assert train.main([*words, "--out", "alone"]) == 0
    trained = sorted(folders.iterdir())
    assert [folder.name[-2:] for folder in trained] == ["-0", "-1", "-3"]
    for folder in trained:
        assert files(folder) == files(folders.parent / "alone" / folder.name)
    assert train.main(words) == 2
    assert "holds a run: add --resume or --overwrite" in capsys.readouterr().err


@pytest.mark.nightly
def test_settings_of_an_agent_are_searched_in_the_ranges_that_are_named(folders, capsys):
    words = [f"{HERE}:Guessing", "--tiles", "5", "--steps", "100", "--trials", "2", "--out", "search"]
    assert tune.main([*words, "--ranges.scale", "[0.5, 2]"]) == 0
    comment, command = capsys.readouterr().out.splitlines()
    words_of_command = shlex.split(command)
    assert words_of_command[:3] == ["python", "-m", "training.train"]
    assert 0.5 <= float(words_of_command[words_of_command.index("--settings.scale") + 1]) <= 2
    assert train.main([*words_of_command[3:-2], "--seeds", "5", "--measurements", "1"]) == 0
    [folder] = folders.iterdir()
    assert comment == f"# regret {Run(folder).result()['greedy']['regret']:.4g} with seed 5"
    capsys.readouterr()
    assert tune.main([*words, "--ranges.scal", "[0.5, 2]"]) == 2
    assert tune.main([*words, "--ranges.scale", "2"]) == 2
    assert tune.main(["sb3-ppo", *words[1:], "--ranges.n-steps", "[101, 102]"]) == 2
    assert [line.partition(": ")[2] for line in capsys.readouterr().err.splitlines()] == [
        "unknown setting 'scal': allowed are scale, extra, vector; did you mean scale?",
        f"{HERE}:Guessing.scale must be two numbers above 0, lowest first, not 2",
        "no trial ended within 100 steps, the first: a rollout has more steps than the budget; "
        "for another search, name another --out",
    ]


# Agents that do not keep to the steps or calls that they are asked for


class Whole(Saving):
    """Makes whole rollouts, no more steps than it is asked for; each call draws new numbers.

    Args:
        env: the environment.
        rollout: the steps of a rollout.
    """

    def __init__(self, env, rollout=30):
        super().__init__(env)
        self.rollout = rollout

    def learn(self, steps):
        super().learn(steps - steps % self.rollout)


class WholeCallingBack(Whole):
    """Calls back before each rollout."""

    def learn(self, steps, callback):
        for start in range(0, steps - self.rollout + 1, self.rollout):
            callback(start)
            super().learn(self.rollout)


@pytest.mark.parametrize(
    ("name", "rollout", "curve"),
    [
        ("Whole", 30, [0, 30, 60, 90]),  # is asked for 20, 40, 30, 50 and 40 steps
        ("Whole", 3, [0, 18, 39, 60, 78, 99]),
        ("Whole", 70, [0, 70]),
        ("WholeCallingBack", 30, [0, 30, 60, 90]),
        ("WholeCallingBack", 70, [0, 70]),
    ],
)
def test_a_run_has_the_steps_that_the_agent_made(name, rollout, curve, tmp_path, capsys):
    config = configured(name, settings={"rollout": rollout})
    train_run(config, tmp_path / "whole", measurements=5)
    run = Run(tmp_path / "whole")
    assert run.curve()["steps"].tolist() == curve
    assert (run.result()["steps"], run.result()["finished"]) == (curve[-1], True)
    rows = read_run(run.folder)
    assert rows["steps"].tolist() == curve
    assert "not finished" not in capsys.readouterr().err
    train_run(config, tmp_path / "whole", measurements=5)  # which does nothing
    for moment in range(1, len(curve)):
        parts = tmp_path / str(moment)
        interrupt(config, parts, moment)
        train_run(config, parts, measurements=5)
        assert files(parts) == files(tmp_path / "whole")


@pytest.mark.parametrize("name", ["Whole", "WholeCallingBack"])
def test_an_agent_that_makes_no_step_is_refused(name, folders, capsys):
    words = [f"{HERE}:{name}", *FIVE, "--steps", "100", "--settings.rollout", "101"]
    assert train.main(words) == 2
    *_, line = capsys.readouterr().err.splitlines()
    assert "failed: the agent made none of 100 steps in the environment that it was given" in line
    [folder] = folders.iterdir()
    assert [Run(folder).result()[name] for name in ("finished", "updated")] == [False, False]


class Failing(Guessing):
    """Raises an error in its first rollout if its scale is greater than a limit."""

    def __init__(self, env, kind="ValueError", words="three", limit=0.0, scale=1.0):
        super().__init__(env, scale)
        self.error = getattr(builtins, kind)(*([words] if words else []))
        self.fails = scale > limit

    def learn(self, steps):
        super().learn(steps)
        if self.fails:
            raise self.error


class FailingOnKeys(Failing):
    def __init__(self, env, limit=0.0):
        super().__init__(env, "KeyError", limit=limit)


LINE = inspect.getsourcelines(Failing.learn)[1] + 3


@pytest.mark.parametrize(
    ("kind", "words", "fault"),
    [
        ("KeyError", "three", "KeyError: 'three'"),
        ("AssertionError", "", "AssertionError"),
        ("ValueError", "a\nb", None),
    ],
)
def test_a_failure_names_its_type_and_the_line_of_the_agent(kind, words, fault, folders, capsys):
    settings = ["--settings.kind", kind, "--settings.words", words]
    assert train.main([f"{HERE}:Failing", *FIVE, "--steps", "100", *settings]) == 2
    assert capsys.readouterr().err.endswith(f" failed: {fault or 'ValueError: a b'} (test_custom.py:{LINE})\n")


def test_a_failure_while_an_agent_is_made_names_the_line(folders, capsys):
    assert train.main([f"{HERE}:make_failing", *FIVE]) == 2
    line = inspect.getsourcelines(make_failing)[1] + 1
    assert capsys.readouterr().err.endswith(f" fails: RuntimeError: no memory left (test_custom.py:{line})\n")


def test_a_failure_in_a_library_names_the_line_that_called_it():
    with pytest.raises(RuntimeError) as refused:
        torch.zeros(2).reshape(3)
    line = inspect.currentframe().f_lineno - 1
    assert fault_of(refused.value).endswith(f" (test_custom.py:{line})")
    [(_, _, reason)] = in_parallel(make_game, [(ShutTheBox, {"tiles": 0})], 1, None)
    assert reason == "tiles must be an integer from 1 to 28, not 0"
    [(_, _, reason)] = in_parallel(make_game, [(ShutTheBox,)], 1, None)
    assert reason.startswith("TypeError: make_game() missing 1 required")


@pytest.mark.nightly
def test_a_search_says_how_trials_failed(folders, capsys):
    words = ["--tiles", "5", "--steps", "100", "--trials", "3"]
    fault = f"ValueError: three (test_custom.py:{LINE})"
    assert tune.main([f"{HERE}:Failing", *words, "--ranges.limit", "[1e-3, 1e-2]", "--out", "all"]) == 2
    expected = (
        f"training.tune: no trial ended within 100 steps, the first: {fault}; for another search, name another --out"
    )
    assert capsys.readouterr().err.splitlines()[-1] == expected
    assert tune.main([f"{HERE}:Failing", *words, "--ranges.limit", "[0.25, 4]", "--out", "some"]) == 0
    answer = capsys.readouterr()
    assert answer.out.startswith("# regret ")
    assert re.search(
        rf"^training.tune: [12] of 3 trials failed, the first: {re.escape(fault)}$", answer.err, re.MULTILINE
    )
    assert tune.main([f"{HERE}:FailingOnKeys", *words, "--ranges.limit", "[1e-3, 1e-2]", "--out", "keys"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"training.tune: KeyError: 'three' (test_custom.py:{LINE})"


class Uncertain(Guessing):
    """Returns probabilities."""

    def predict(self, observations, deterministic=True, action_masks=None):
        actions, _ = super().predict(observations, deterministic, action_masks)
        return np.eye(self.env.action_space.n)[actions] if len(actions) > 1 else actions, None


def test_an_agent_that_predicts_probabilities_is_refused(folders, capsys):
    assert train.main([f"{HERE}:Uncertain", *FIVE, "--steps", "100"]) == 2
    assert capsys.readouterr().err.endswith(
        " failed: policies of a training are actions: predict must not return probabilities\n"
    )
