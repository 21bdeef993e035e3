"""The command in the process of the tests."""

import json
from functools import partial

import pytest

from stb_gym.cli import main, program
from stb_gym.output import Progress

AN_HOUR = 3600.0


@pytest.fixture(autouse=True)
def _nobody_is_impatient(monkeypatch):
    """The machine may be busy, and tests compare all that is printed."""
    monkeypatch.setattr(program, "Progress", partial(Progress, patience=AN_HOUR))


@pytest.fixture
def ask(capsys):
    """A function of the words of a command: its JSON, where nothing else is printed."""

    def asked(*words):
        assert main([*words, "--json"]) == 0
        printed = capsys.readouterr()
        told = f"stb-gym {words[0]}: "  # on a busy machine, that the work goes on
        assert all(line.startswith(told) for line in printed.err.splitlines())
        return json.loads(printed.out)

    return asked
