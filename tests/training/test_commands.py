"""The commands of the laboratory, when somebody interrupts them."""

from importlib import import_module

import pytest


def interrupted(*arguments, **options):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("command", "words", "begins_with"),
    [
        ("evaluate", ["runs/none"], "Run.open"),
        ("film", ["runs/none", "--out", "film.gif"], "Run.open"),
        ("keep", ["runs/none", "--who", "I"], "read_presets"),
        ("ladder", ["runs/none"], "read_presets"),
        ("merge", ["runs/none", "runs/other"], "read_presets"),
        ("mistakes", ["none.npz"], "evaluations_of"),
        ("report", ["runs/none"], "Run.open"),
        ("results", ["runs/none"], "read_presets"),
    ],
)
def test_an_interruption_is_told_in_a_line(command, words, begins_with, monkeypatch, capsys, tmp_path):
    module = import_module(f"training.{command}")
    for name in ("Ledger", "rungs"):  # which the ladder asks first
        monkeypatch.setattr(module, name, interrupted, raising=False)
    monkeypatch.setattr(f"training.{command}.{begins_with}", interrupted)
    monkeypatch.chdir(tmp_path)
    assert module.main(words) == 130
    assert capsys.readouterr() == ("", f"training.{command}: interrupted\n")
