"""One torch thread: the networks are small, the test processes share the cores, and one thread is repeatable."""

import pytest
import torch

torch.set_num_threads(1)


@pytest.fixture
def no_ink(monkeypatch):
    """Pictures are made, and written without being drawn."""

    def written(figure, where, **options):
        where.write("<svg></svg>") if options.get("format") == "svg" else where.write_bytes(b"\x89PNG")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", written)
