"""Type lines as a person does, and return what is printed."""

from io import StringIO

import pytest


@pytest.fixture
def printed(monkeypatch, capsys):
    """Return a function that plays while a person types lines and then leaves, and returns all that is printed."""

    def play(game, *lines):
        monkeypatch.setattr("sys.stdin", StringIO("".join(f"{line}\n" for line in lines)))
        game()
        return capsys.readouterr().out

    return play
