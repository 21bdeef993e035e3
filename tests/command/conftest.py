"""The command in the process of the tests."""

import json

import pytest

from stb_gym.command import main


@pytest.fixture
def ask(capsys):
    """A function of the words of a command: its JSON, where nothing else is printed."""

    def asked(*words):
        assert main([*words, "--json"]) == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        return json.loads(printed.out)

    return asked
