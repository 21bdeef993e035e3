"""One torch thread, and the same weights to begin with: tests are repeatable."""

import pytest
import torch

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def same_networks():
    """Networks begin with the same weights in every run; with random ones a test might fail once in a while."""
    torch.manual_seed(0)
