"""TorchRL 0.14.1: the vectorised GAE fails with an IndexError at lambda 0."""

import torch
from torchrl.objectives.value.functional import vec_generalized_advantage_estimate

values, flags = torch.zeros(1, 2, 1), torch.zeros(1, 2, 1, dtype=torch.bool)
try:
    vec_generalized_advantage_estimate(0.9, 0.0, values, values, values, flags, flags)
except IndexError as error:
    print("IndexError:", error)
