"""Embedding: vectors by number, one for each, or added up in bags."""

from typing import Any

from ...core import modes
from ...core.api import FUNCTIONS
from ...core.errors import explain
from ...core.late import function
from ...core.rules import embeddings as rows
from ...core.tensor import Tensor

__all__ = ["embedding", "embedding_bag"]


def _check(input: Any, count: int) -> None:
    if not isinstance(input, Tensor):
        raise TypeError(
            f"embedding(): argument 'indices' (position 2) must be Tensor, not {type(input).__name__}"
        )
    if input.raw.dtype.kind not in "iu":
        kind = input.dtype.scalar_type
        raise explain(
            RuntimeError,
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"torch.{kind}Tensor instead (while checking arguments for embedding)",
            "The input of an embedding is the numbers of its rows.",
            "make it whole numbers: x.long().",
        )
    i = input.raw
    if i.size and ((i < 0) | (i >= count)).any():
        bad = int(i[(i < 0) | (i >= count)].reshape(-1)[0])
        raise explain(
            IndexError,
            "index out of range in self",
            f"The index {bad} is none of the {count} rows, 0 to {count - 1}.",
            "give the embedding as many rows as there are different numbers (num_embeddings = the greatest + 1).",
        )


def embedding(
    input: Any, weight: Any, padding_idx: int | None = None, max_norm: float | None = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Any:  # fmt: skip
    """The rows of `weight` (count, dim) that `input` (…) names: (…, dim).

    padding_idx: a row that gets no gradient. max_norm: rows that are longer are shortened first, in place.
    Raises IndexError for a number that is no row, RuntimeError for an input that holds no whole numbers.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.embedding(torch.tensor([1, 0]), torch.tensor([[1., 2.], [3., 4.]]))
    tensor([[3., 4.],
            [1., 2.]])
    """
    count = weight.shape[0]
    _check(input, count)
    padding = -1
    if padding_idx is not None:
        assert -count <= padding_idx < count, "Padding_idx must be within num_embeddings"
        padding = padding_idx % count
    if max_norm is not None:
        _shorten(weight, input, max_norm, norm_type)
    return rows.embedding_row(weight, input.detach(), p=(count, padding, bool(scale_grad_by_freq)))


def _shorten(weight: Any, input: Any, max_norm: float, norm_type: float) -> None:
    with modes.no_grad():
        used = function("unique")(input.reshape(-1)) if input.numel() else input.reshape(-1)
        if used.numel():
            part = weight[used]
            norms = part.norm(norm_type, 1, keepdim=True)
            factor = FUNCTIONS["where"](
                norms > max_norm, max_norm / (norms + 1e-7), FUNCTIONS["ones_like"](norms)
            )
            weight[used] = part * factor


def embedding_bag(
    input: Any, weight: Any, offsets: Any = None, max_norm: float | None = None, norm_type: float = 2,
    scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, per_sample_weights: Any = None,
    include_last_offset: bool = False, padding_idx: int | None = None,
) -> Any:  # fmt: skip
    """The sum, mean or maximum of each bag of rows of `weight`.

    input: (B, L), one bag a row; or (N) with offsets (B), where each bag begins. Raises ValueError for other shapes.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.embedding_bag(torch.tensor([[0, 1]]), torch.tensor([[1.], [3.]]))
    tensor([[2.]])
    """
    import numpy as np

    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences. "
                f"However, found offsets of type {type(offsets)}"
            )
        starts = np.arange(input.shape[0]) * input.shape[1]
        bags = input.shape[0]
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    elif input.dim() == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.dim() != 1:
            raise ValueError("offsets has to be a 1D Tensor")
        starts = offsets.cpu().numpy()
        if include_last_offset:
            starts = starts[:-1]
        bags = len(starts)
    else:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
            f"mode='{mode}'). Please open a feature request on GitHub."
        )
    flat = input.reshape(-1)
    rows_ = embedding(flat, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq)
    which = np.searchsorted(starts, np.arange(flat.numel()), side="right") - 1
    bag = FUNCTIONS["tensor"](which, device=weight.device)
    if padding_idx is not None:
        keep = flat != padding_idx % weight.shape[0]
        rows_, bag = rows_[keep], bag[keep]
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights[keep]
    if per_sample_weights is not None:
        rows_ = rows_ * per_sample_weights.unsqueeze(1)
    zeros = FUNCTIONS["zeros"](bags, weight.shape[1], dtype=weight.dtype, device=weight.device)
    if mode == "max":
        at = bag.unsqueeze(1).expand(rows_.shape)
        return zeros.scatter_reduce(0, at, rows_, "amax", include_self=False)
    total = zeros.index_add(0, bag, rows_)
    if mode == "mean":
        counts = function("bincount")(bag, minlength=bags).clamp(min=1)
        total = total / counts.unsqueeze(1).to(weight.dtype)
    return total
