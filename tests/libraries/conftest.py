"""Use one torch thread and the same random numbers in every run."""

import pytest
import torch

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def same_networks():
    torch.manual_seed(0)
