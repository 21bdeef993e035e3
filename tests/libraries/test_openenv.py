"""OpenEnv: strategies play the turns of the tutorial by its own client, against its own server."""

import json
import runpy
import socket
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest
import uvicorn
from openenv import GenericEnvClient

import stb_gym
from stb_gym import ShutTheBox, strategy
from stb_gym.text import TextGame
from tests.libraries import BOX, losses_of
from tests.test_text import player
from tests.tutorials import FOLDER


@pytest.fixture(scope="module")
def url():
    server = uvicorn.Server(uvicorn.Config(runpy.run_path(str(FOLDER / "with_openenv.py"))["app"]))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join()


def play(url, model, seed):
    """Return the rewards of a turn, and its state at the end."""
    with GenericEnvClient(base_url=url).sync() as client:
        result = client.reset(seed=seed)
        rewards = []
        while not result.done:
            result = client.step({"text": model(result.observation["text"])})
            rewards.append(result.reward)
        return rewards, client.state()


@pytest.mark.parametrize("name", ["optimal", "fewest-then-biggest"])
def test_strategies_have_the_losses_of_their_turns(url, name):
    policy = strategy(ShutTheBox(), name)
    regrets = []
    for seed in range(5):
        rewards, state = play(url, player(TextGame(ShutTheBox()), policy), seed)
        assert [-reward for reward in rewards] == pytest.approx(losses_of(BOX, policy, seed), abs=1e-12)
        assert state["regret"] == pytest.approx(-sum(rewards), abs=1e-12)
        assert state["step_count"] == len(rewards)
        regrets.append(state["regret"])
    assert max(regrets) < 1e-12 if name == "optimal" else max(regrets) > 0.1


def test_an_answer_that_names_nothing_has_the_loss_of_the_worst_score(url):
    [reward], _ = play(url, lambda prompt: "I shut nothing but 10", 0)
    assert reward == pytest.approx(stb_gym.solve(ShutTheBox()).value_at(roll=[2, 6]) - 45)


def test_turns_are_apart(url):
    first, second = (GenericEnvClient(base_url=url).sync() for _ in range(2))
    with first, second:
        first.reset(seed=0)
        asked = second.reset(seed=1).observation["text"]
        assert first.step({"text": "?"}).done
        assert not second.step({"text": player(TextGame(ShutTheBox()), strategy(ShutTheBox(), "optimal"))(asked)}).done


def test_it_accepts_the_server(url):
    command = [str(Path(sys.executable).with_name("openenv")), "validate", "--json", url]
    report = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert (report["passed"], report["mode"]) == (True, "simulation")
