"""Lines that a person types, and all that is printed then."""

from itertools import chain

import pytest


@pytest.fixture
def printed(monkeypatch, capsys):
    """Return a function that plays while a person types lines and then leaves, and returns all that is printed."""

    def play(game, *lines):
        typed = chain(lines, [EOFError])

        def answer(prompt):
            print(prompt, end="")
            line = next(typed)
            if line is EOFError:
                raise EOFError
            return line

        monkeypatch.setattr("builtins.input", answer)
        game()
        return capsys.readouterr().out

    return play
