"""One torch thread: the networks are small, the test processes share the cores, and one thread is repeatable."""

import pytest
import torch

torch.set_num_threads(1)


@pytest.fixture
def no_ink(monkeypatch):
    """Pictures are made, and written without being drawn."""
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda figure, path, dpi: path.write_bytes(b"\x89PNG"))
