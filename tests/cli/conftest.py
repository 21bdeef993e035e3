"""The command in the process of the tests."""

import json
import sys

import pytest

from stb_gym.cli import main


@pytest.fixture
def run(capsys, monkeypatch):
    """Return a function from the words of a command, split at spaces, to its status, standard output and error."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "path", [*sys.path])  # --import and --agent add the working directory

    def ran(*words):
        return main([word for part in words for word in part.split(" ")]), *capsys.readouterr()

    return ran


@pytest.fixture
def printed(run):
    """Return a function from the words of a command to all that it prints, which must include no error."""

    def text(*words):
        status, out, err = run(*words)
        assert (status, err) == (0, "")
        return out

    return text


@pytest.fixture
def ask(printed):
    """Return a function from the words of a command to its JSON, with rounded floats."""

    def asked(*words):
        return json.loads(printed(*words, "--json"), parse_float=lambda digits: round(float(digits), 9))

    return asked
