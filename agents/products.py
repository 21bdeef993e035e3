"""Some entries of a product of two matrices, each computed alone, with a gradient that is as cheap."""

import warnings
from typing import Any

import torch
from torch.nn.functional import embedding_bag


class Products(torch.autograd.Function):
    """The products of rows of a matrix [B, W] with rows of another one [A, W], for P of the B * A pairs.

    That of rows b and a is the entry at the place b * A + a of `left @ right.T`, read row by row. The gradient which
    torch itself has of `sampled_addmm` takes three times as long as all of this.
    """

    @staticmethod
    def forward(context: Any, left: torch.Tensor, right: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
        """[P] the products at rising places [P]."""
        context.save_for_backward(left, right, place)
        shape = len(left), len(right)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
            wanted = torch.sparse_csr_tensor(
                begins(place, *shape), place % len(right), left.new_zeros(len(place)), shape, check_invariants=False
            )
        return torch.sparse.sampled_addmm(wanted, left, right.T).values()

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """The gradients of both matrices: weighted sums of rows of the other one."""
        left, right, place = context.saved_tensors
        row, column = place.div(len(right), rounding_mode="floor"), place % len(right)
        turned, order = (column * len(left) + row).sort()
        return (
            weighted_sums(column, right, begins(place, len(left), len(right)), gradient),
            weighted_sums(turned % len(left), left, begins(turned, len(right), len(left)), gradient[order]),
            None,
        )


def weighted_sums(rows: torch.Tensor, matrix: torch.Tensor, begin: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """[B, W] sums of some rows [P] of a matrix by their weights [P]; sum b begins where `begin` [B + 1] tells."""
    return embedding_bag(rows, matrix, begin[:-1], mode="sum", per_sample_weights=weight)


def begins(place: torch.Tensor, rows: int, columns: int) -> torch.Tensor:
    """[rows + 1] where the places of each row begin among places that rise, and their end."""
    return torch.searchsorted(place, torch.arange(rows + 1, device=place.device) * columns)
