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
from openenv.validation.policy import load_policy
from openenv.validation.runner import run_validation
from openenv.validation.types import ProviderCapability

import stb_gym
from stb_gym import ShutTheBox, strategy
from stb_gym.text import TextGame
from tests.libraries import BOX, losses_of
from tests.text.test_game import player
from tests.tutorials import FOLDER

PACKAGE = FOLDER / "openenv"
CHECKS = {"startup", "reward_well_formed", "observation_schema", "state_contract"}


@pytest.fixture(scope="module")
def url():
    server = uvicorn.Server(uvicorn.Config(runpy.run_path(str(PACKAGE / "server.py"))["app"]))
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
    for seed in range(100):
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


def test_it_accepts_the_declarations():
    command = [str(Path(sys.executable).with_name("openenv")), "validate", str(PACKAGE), "--level", "static", "--json"]
    report = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert report["verdict"] == "pass"
    assert [(check["check_id"], check["status"]) for check in report["results"]] == [("static.manifest", "pass")]


class Local:
    """A provider without containers: it measures the running server of this file, and not its network."""

    name, capabilities = "local", frozenset({ProviderCapability.IMAGE_BUILD})
    supported_network_modes = frozenset({"no-network"})

    def __init__(self, url):
        self.base_url = url

    def build(self, root, execution):
        return "sha256:" + "0" * 64

    def start(self, spec):
        return self

    def inspect(self):
        return {}

    def stop(self):
        pass


def test_it_accepts_the_turn_of_the_plan(url):
    report = run_validation(PACKAGE, policy=load_policy("v2"), provider=Local(url))
    passed = {check.check_id for check in report.results if check.status.value == "pass"}
    assert passed == {"static.manifest", *(f"runtime.{name}" for name in CHECKS)}
    rest = {check.check_id: (check.status.value, check.evidence[0]) for check in report.results}
    missing = {status for name, status in rest.items() if name not in passed and name != "runtime.network_policy"}
    assert missing == {("skip", "grader not implemented in this build")}


def test_the_oracle_has_the_maximum_and_the_floor_is_below_it(url):
    rewards, answers = runpy.run_path(str(PACKAGE / "oracle.py"))["main"](url, 20)
    assert [sum(turn) for turn in rewards] == [0] * 20
    plan = json.loads((PACKAGE / "runtime.json").read_text())
    assert [action["text"] for action in plan["actions"]] == answers[0]
    [lost], _ = play(url, lambda prompt: "I pass", 0)
    assert lost < -1  # the declared margin of the floor


def test_a_turn_can_be_replayed(url):
    model = player(TextGame(ShutTheBox()), strategy(ShutTheBox(), "lowest-first"))
    assert [play(url, model, seed)[0] for seed in (3, 4, 3)] == [play(url, model, seed)[0] for seed in (3, 4, 3)]
    assert play(url, model, 3)[0] != play(url, model, 4)[0]
