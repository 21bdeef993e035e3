"""The README is short, and what its tables and its game say is so."""

import io
import re

import gymnasium as gym

import stb_gym
from stb_gym.cli import main
from tests.docs.pages import README, blocks_of

PAGE = README.read_text()


def test_it_is_read_in_some_minutes():
    assert len(PAGE.split()) <= 900


def test_perfect_play_of_the_environments():
    rows = re.findall(r"^\| `(stb_gym/\S+)` \| .* \| ([\d.]+)(%| points) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 7
    for identity, value, unit in rows:
        threshold = abs(gym.spec(identity).reward_threshold)
        assert value == f"{100 * threshold if unit == '%' else threshold:.6f}"


def test_the_game_that_the_coach_accounts_for(monkeypatch, capsys):
    [command] = re.findall(r"`stb-gym (play .*? --seed \d+)`", PAGE)
    [account] = [block.code for block in blocks_of(README) if block.language == "text"]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(re.findall(r"shut ([\d,]+)", account))))
    assert main(command.split()) == 0
    assert account in capsys.readouterr().out


def test_a_rule_of_thumb():
    [(name, regret)] = re.findall(r"^\| \*(\S+)\*, a rule of thumb \| ([\d.]+) \|", PAGE, re.MULTILINE)
    game = stb_gym.ShutTheBox()
    assert regret == f"{stb_gym.evaluate(game, stb_gym.strategy(game, name)).regret:.5f}"
