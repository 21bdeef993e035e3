"""verifiers: strategies behind an endpoint play the turns of the tutorial by the runner of `vf-eval`."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from verifiers.v1.cli.eval.runner import run_eval
from verifiers.v1.configs.cli.eval import EvalConfig
from verifiers.v1.runtimes.subprocess import SubprocessRuntime

import stb_gym
from stb_gym import Threes, strategy
from stb_gym.text import TextGame
from tests import ROOT
from tests.docs.test_language_models import endpoint
from tests.libraries import THREES, losses_of
from tests.text.test_game import player
from tests.tutorials import FOLDER

TURNS = 2


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    """Find the tutorial, write files elsewhere, and use no proxy."""
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def run(monkeypatch):
    """Return a function that plays turns of Threes with a model; it returns (reward, losses) of each."""

    async def with_this_python(runtime, script, *_, **__):
        """Write the program that chats, as uv would, but download nothing for it."""
        await runtime.write("chat.py", script.encode())
        return [sys.executable, "chat.py"]

    monkeypatch.setattr(SubprocessRuntime, "prepare_uv_script", with_this_python)

    def play(model, turns=TURNS, **player):
        with endpoint(model) as (url, _):
            env = {"taskset": {"id": "with_verifiers", "game": THREES}, "player": player}
            options = {"env": env, "client": {"base_url": url}, "select": {"limit": turns}, "max_concurrent": 2}
            episodes = asyncio.run(run_eval(EvalConfig.model_validate({**options, "rich": None, "push": False})))
        assert all(episode.ok for episode in episodes)
        return [(trace.reward, trace.info["losses"]) for episode in episodes for trace in episode.traces]

    return play


@pytest.mark.parametrize(("name", "turns"), [("optimal", TURNS), ("most-ways", 10)])
def test_strategies_have_the_regret_of_their_turns(run, name, turns):
    policy = strategy(Threes(), name)
    played = run(player(TextGame(Threes()), policy), turns)
    assert len(played) == turns
    for seed, (reward, losses) in enumerate(played):
        assert losses == pytest.approx(losses_of(THREES, policy, seed), abs=1e-12)
        assert reward == pytest.approx(-sum(losses), abs=1e-12)
    rewards = [reward for reward, _ in played]
    assert max(map(abs, rewards)) < 1e-12 if name == "optimal" else min(rewards) < -1


def test_answers_that_name_nothing_have_the_loss_of_the_worst_score(run):
    rolls = [(2, 4, 4, 5, 6), (2, 2, 5, 5, 6)]
    for (reward, losses), roll in zip(run(lambda prompt: "I keep the threes"), rolls, strict=True):
        assert -reward == pytest.approx(5 * 6 - stb_gym.solve(Threes()).value_at(roll=roll))
        assert losses == [-reward]


def test_a_conversation_that_is_cut_short_ends_with_the_worst_score(run):
    for reward, losses in run(lambda prompt: "keep 1", max_turns=1):
        assert len(losses) == 2
        assert losses[1] > 10
        assert -reward == pytest.approx(sum(losses))


def test_it_accepts_the_tasks():
    words = "with_verifiers --select.limit 3 --runtime.type subprocess --no-rich --output-dir ."
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{FOLDER}"}
    command = [str(Path(sys.executable).with_name("vf-validate")), *words.split()]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    found = json.loads(said.partition("\n")[2])
    assert (found["total"], found["owed"], found["outcomes"]["unchecked"]) == (3, 0, 3)
