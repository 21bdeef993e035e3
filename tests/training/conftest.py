"""One torch thread: the networks are small, the test processes share the cores, and one thread is repeatable."""

import torch

torch.set_num_threads(1)
