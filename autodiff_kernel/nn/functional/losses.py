"""Losses: how far a prediction is from its target."""

import math
import warnings
from typing import Any

from ...core.api import FUNCTIONS
from ...core.errors import explain
from ...core.rules import losses as rows
from ...core.tensor import Tensor
from .activations import log_softmax, logsigmoid

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss", "cross_entropy", "gaussian_nll_loss",
    "hinge_embedding_loss", "huber_loss", "kl_div", "l1_loss", "margin_ranking_loss", "mse_loss", "multi_margin_loss",
    "multilabel_margin_loss", "multilabel_soft_margin_loss", "nll_loss", "poisson_nll_loss", "smooth_l1_loss",
    "soft_margin_loss", "triplet_margin_loss", "triplet_margin_with_distance_loss",
]  # fmt: skip


def _reduction(reduction: Any, size_average: Any = None, reduce: Any = None) -> str:
    """The reduction's name, also from PyTorch's old words. Raises ValueError for no name of one."""
    if size_average is not None or reduce is not None:
        average, all_ = size_average is not False, reduce is not False
        reduction = "none" if not all_ else "mean" if average else "sum"
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
            stacklevel=3,
        )
    if reduction not in ("none", "mean", "sum"):
        raise explain(
            ValueError,
            f"{reduction} is not a valid value for reduction",
            cure="take 'mean', 'sum' or 'none'.",
        )
    return str(reduction)


def _reduced(x: Any, reduction: str) -> Any:
    return x if reduction == "none" else x.mean() if reduction == "mean" else x.sum()


def _weighted(each: Any, weight: Any, reduction: str) -> Any:
    """The weighted losses of the elements, reduced; a mean is divided by the sum of the weights."""
    each = each * weight
    return each.sum() / weight.expand_as(each).sum() if reduction == "mean" else _reduced(each, reduction)


def _pair(input: Any, target: Any, name: str) -> tuple[Any, Any]:
    """Both in one shape and dtype; PyTorch's warning where they have to be stretched."""
    for x, which in ((input, "input"), (target, "target")):
        if not isinstance(x, Tensor):
            raise TypeError(f"{name}(): argument '{which}' must be Tensor, not {type(x).__name__}")
    if input.shape != target.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}). This will likely lead "
            "to incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=4,
        )
        input, target = FUNCTIONS["broadcast_tensors"](input, target)
    if input.dtype != target.dtype:
        both = FUNCTIONS["result_type"](input, target)
        input, target = input.to(both), target.to(both)
    return input, target


def _compared(
    row: Any, name: str, input: Any, target: Any, reduction: str, number: Any, weight: Any = None
) -> Any:
    if input.__class__ is not Tensor or target.__class__ is not Tensor or input.raw.shape != target.raw.shape or (
        input.raw.dtype is not target.raw.dtype
    ):  # fmt: skip
        input, target = _pair(input, target, name)
    if input.raw.dtype.kind not in "fc":
        kind = input.dtype.scalar_type
        raise explain(
            RuntimeError,
            f"\"{name}\" not implemented for '{kind}'",
            cure="make both of them floats: x.float().",
        )
    if weight is not None:
        return _reduced(row(input, target, p=("none", number)) * weight, reduction)
    return row(input, target, p=(reduction, number))


def mse_loss(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """The mean of the squared differences (or their sum, or each of them).

    Warns where the shapes differ, since broadcasting is hardly what was meant.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.mse_loss(torch.tensor([1., 2.]), torch.tensor([1., 4.]))
    tensor(2.)
    """
    reduction = _reduction(reduction, size_average, reduce)
    if weight is not None:
        return _weighted(_compared(rows.mse_row, "mse_loss", input, target, "none", None), weight, reduction)
    return _compared(rows.mse_row, "mse_loss", input, target, reduction, None)


def l1_loss(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """The mean of the absolute differences (or their sum, or each of them)."""
    reduction = _reduction(reduction, size_average, reduce)
    if weight is not None:
        return _weighted(_compared(rows.l1_row, "l1_loss", input, target, "none", None), weight, reduction)
    if input.is_complex() or target.is_complex():
        return _reduced((input - target).abs(), reduction)
    return _compared(rows.l1_row, "l1_loss", input, target, reduction, None)


def smooth_l1_loss(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Any:
    """Squared differences below beta, absolute ones above. Raises RuntimeError for a negative beta."""
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    row = rows.smooth_l1_row if beta else rows.l1_row
    return _compared(
        row, "smooth_l1_loss", input, target, _reduction(reduction, size_average, reduce), float(beta)
    )


def huber_loss(
    input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None
) -> Any:
    """Half the squared differences up to delta, linear above. Raises RuntimeError unless delta > 0."""
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    return _compared(rows.huber_row, "huber_loss", input, target, _reduction(reduction), float(delta), weight)


def soft_margin_loss(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """The mean of log(1 + exp(−xy)) for targets ±1."""
    return _compared(
        rows.soft_margin_row,
        "soft_margin_loss",
        input,
        target,
        _reduction(reduction, size_average, reduce),
        None,
    )


def binary_cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """−(y log x + (1−y) log(1−x)) of probabilities x; the logarithms are at least −100.

    Raises ValueError for different shapes, RuntimeError for x outside of 0 … 1.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.binary_cross_entropy(torch.tensor([0.5]), torch.tensor([1.]))
    tensor(0.6931)
    """
    reduction = _reduction(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise explain(
            ValueError,
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is deprecated. Please "
            "ensure they have the same size.",
            cure="give both one shape: target.view_as(input), or output.squeeze(1).",
        )
    if input.dtype != target.dtype:
        raise explain(
            RuntimeError,
            f"Found dtype {target.dtype.scalar_type} but expected {input.dtype.scalar_type}",
            cure="targets are probabilities: target.float().",
        )
    with_bad = input.detach()
    if input.numel() and bool(((with_bad < 0) | (with_bad > 1)).any()):
        raise explain(
            RuntimeError,
            "all elements of input should be between 0 and 1",
            cure="put a sigmoid before it, or take binary_cross_entropy_with_logits (BCEWithLogitsLoss).",
        )
    return _compared(rows.bce_row, "binary_cross_entropy", input, target, reduction, None, weight)


def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:  # fmt: skip
    """binary_cross_entropy of sigmoid(input), computed without overflow. pos_weight: of the targets that are 1.

    Raises ValueError for different shapes.
    """
    reduction = _reduction(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise explain(
            ValueError,
            f"Target size ({target.shape}) must be the same as input size ({input.shape})",
            cure="give both one shape: target.view_as(input), or output.squeeze(1).",
        )
    if pos_weight is None:
        return _compared(
            rows.bce_logits_row, "binary_cross_entropy_with_logits", input, target, reduction, None, weight
        )
    log_weight = (pos_weight - 1) * target + 1
    each = (1 - target) * input - log_weight * logsigmoid(input)
    return _reduced(each if weight is None else each * weight, reduction)


# ------------------------------------------------------------------------------------------------ classes
def nll_loss(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, ignore_index: int = -100, reduce: Any = None,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """Minus the log-probability of each sample's class.

    input: (N, C, …) or (C), log-probabilities; target: (N, …) or (), class numbers (int64). weight: of each class (C).
    ignore_index: a class number that does not count. Raises IndexError for a class that is none, RuntimeError for a target
    that holds no numbers of classes, ValueError for shapes that do not match.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.nll_loss(torch.tensor([[-1., -2.]]), torch.tensor([1]))
    tensor(2.)
    """
    reduction = _reduction(reduction, size_average, reduce)
    return _nll(input, target, weight, ignore_index, reduction)


def _nll(input: Any, target: Any, weight: Any, ignore_index: int, reduction: str) -> Any:
    x, t = input.raw, target.raw
    if t.dtype.kind not in "iu" or t.dtype.itemsize not in (1, 8):
        what = target.dtype.scalar_type
        raise explain(
            RuntimeError,
            f"expected scalar type Long but found {what}",
            "The target holds the number of each sample's class.",
            "make it whole numbers: target.long() (for regression take mse_loss).",
            tensor=target,
        )
    if x.ndim == 1 and not t.ndim:
        return _nll(
            input.unsqueeze(0),
            target.unsqueeze(0),
            weight,
            ignore_index,
            reduction if reduction != "none" else "sum",
        )
    if x.ndim < 1 or t.ndim != x.ndim - 1 and x.ndim == 2:
        raise explain(
            RuntimeError,
            "0D or 1D target tensor expected, multi-target not supported",
            f"The input has shape {list(x.shape)}, so the target must have shape "
            f"[{x.shape[0] if x.ndim else ''}], but it has {list(t.shape)}.",
            "give one class number for each sample: target.squeeze(1), or target.argmax(1) where it is one-hot.",
        )
    if t.shape[:1] != x.shape[:1]:
        raise explain(
            ValueError,
            f"Expected input batch_size ({x.shape[0]}) to match target batch_size ({t.shape[0] if t.ndim else 1}).",
            cure="input is (N, C), target (N).",
        )
    if t.shape[1:] != x.shape[2:]:
        raise explain(
            RuntimeError,
            f"size mismatch (got input: {list(x.shape)}, target: {list(t.shape)})",
            cure="input is (N, C, …), target (N, …) with the same dimensions behind.",
        )
    classes = x.shape[1]
    if weight is not None and weight.numel() != classes:
        raise RuntimeError(
            "weight tensor should be defined either for all or no classes"
            if x.ndim == 2
            else f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of "
            f"shape: {list(weight.shape)}"
        )
    bad = ((t < 0) | (t >= classes)) & (t != ignore_index)
    if bad.any():
        which = int(t[bad].reshape(-1)[0])
        raise explain(
            IndexError,
            f"Target {which} is out of bounds.",
            f"The input has {classes} classes, so class numbers go from 0 to {classes - 1}.",
            "count classes from 0, or give the last layer as many outputs as there are classes.",
            tensor=target,
        )
    return rows.nll_row(input, target.detach(), weight, p=(reduction, ignore_index, x.shape))


def cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, ignore_index: int = -100, reduce: Any = None,
    reduction: str = "mean", label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """nll_loss of log_softmax: the loss of a classifier whose outputs are scores.

    input: (N, C, …) or (C); target: class numbers (N, …), or probabilities in input's shape. Raises what nll_loss raises.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.cross_entropy(torch.zeros(1, 2), torch.tensor([0]))
    tensor(0.6931)
    """
    if not isinstance(input, Tensor) or not isinstance(target, Tensor):
        name, x = ("input", input) if not isinstance(input, Tensor) else ("target", target)
        raise TypeError(
            f"cross_entropy_loss(): argument '{name}' (position {1 if x is input else 2}) must "
            f"be Tensor, not {type(x).__name__}"
        )
    reduction = _reduction(reduction, size_average, reduce)
    dim = 0 if input.raw.ndim == 1 else 1
    if input.raw.shape == target.raw.shape and target.raw.dtype.kind == "f":
        return _with_probabilities(input, target, weight, reduction, label_smoothing, dim)
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    log_p = log_softmax(input, dim)
    loss = _nll(log_p, target, weight, ignore_index, reduction)
    if not label_smoothing:
        return loss
    kept: Any = target != ignore_index
    w = 1.0 if weight is None else weight.view(-1, *[1] * (input.dim() - 1 - dim))
    smooth = -(log_p * w).sum(dim) * kept
    if reduction == "mean":
        count = kept.sum() if weight is None else (weight[target * kept] * kept).sum()
        smooth = smooth.sum() / count
    elif reduction == "sum":
        smooth = smooth.sum()
    part = label_smoothing / input.shape[dim]
    return loss * (1 - label_smoothing) + smooth * part


def _with_probabilities(
    input: Any, target: Any, weight: Any, reduction: str, smoothing: float, dim: int
) -> Any:
    classes = input.shape[dim]
    if smoothing:
        target = target * (1 - smoothing) + smoothing / classes
    each = log_softmax(input, dim) * target
    if weight is not None:
        each = each * weight.view(-1, *[1] * (input.dim() - 1 - dim))
    if reduction == "none":
        return -each.sum(dim)
    total = -each.sum()
    return total / max(input.numel() // max(classes, 1), 1) if reduction == "mean" else total


# ------------------------------------------------------------------------------------------------ distributions
def kl_div(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    """target · (log target − input) for log-probabilities `input`; reduction 'batchmean' divides the sum by the batch."""
    batch = reduction == "batchmean"
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support "
            "size. 'batchmean' divides only by "
            "the batch size, and aligns with the KL math definition. 'mean' will be changed to "
            "behave the same as 'batchmean' in "
            "the next major release.",
            stacklevel=3,
        )
    reduction = "sum" if batch else _reduction(reduction, size_average, reduce)
    each = (
        target.exp() * (target - input) if log_target else FUNCTIONS["xlogy"](target, target) - target * input
    )
    total = _reduced(each, reduction)
    return total / input.shape[0] if batch and input.dim() else total


def poisson_nll_loss(
    input: Any, target: Any, log_input: bool = True, full: bool = False, size_average: Any = None, eps: float = 1e-8,
    reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """The loss of a Poisson count; full: with Stirling's term."""
    reduction = _reduction(reduction, size_average, reduce)
    each = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        each = each + stirling.masked_fill(target <= 1, 0)
    return _reduced(each, reduction)


def gaussian_nll_loss(
    input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Any:
    """The loss of a normal distribution with mean `input` and variance `var`.

    Raises ValueError for a variance of another size or below zero.
    """
    if isinstance(var, (int, float)):
        var = FUNCTIONS["full"](input.shape, float(var), dtype=input.dtype)
    if (var.detach() < 0).any():
        raise ValueError("var has negative entry/entries")
    if var.shape != input.shape:
        if input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        elif not (
            input.dim() == var.dim()
            and sum(a != b for a, b in zip(input.shape, var.shape)) == 1
            and 1 in var.shape
        ):
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    bounded = var + (var.detach().clamp(min=eps) - var.detach())
    each = 0.5 * (bounded.log() + (input - target) ** 2 / bounded)
    if full:
        each = each + 0.5 * math.log(2 * math.pi)
    return _reduced(each, reduction)


# ------------------------------------------------------------------------------------------------ margins
def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """max(0, −y (x1 − x2) + margin). Raises RuntimeError for a different number of dimensions."""
    reduction = _reduction(reduction, size_average, reduce)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape} "
        )
    return _reduced((-target * (input1 - input2) + margin).clamp(min=0), reduction)


def hinge_embedding_loss(
    input: Any,
    target: Any,
    margin: float = 1.0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """The input where the target is 1, max(0, margin − input) where it is −1."""
    reduction = _reduction(reduction, size_average, reduce)
    zero = FUNCTIONS["zeros_like"](input.detach())
    near = FUNCTIONS["where"](target != 1, (margin - input).clamp(min=0), zero)
    return _reduced(near + FUNCTIONS["where"](target != -1, input, zero), reduction)


def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """1 − cos of the angle where the target is 1, max(0, cos − margin) where it is −1."""
    reduction = _reduction(reduction, size_average, reduce)
    dim = target.dim()
    eps = 1e-12
    squares = ((input1 * input1).sum(dim) + eps) * ((input2 * input2).sum(dim) + eps)
    cos = (input1 * input2).sum(dim) / squares.sqrt()
    zero = FUNCTIONS["zeros_like"](cos.detach())
    same = FUNCTIONS["where"](target == 1, 1 - cos, zero)
    return _reduced(same + FUNCTIONS["where"](target == -1, (cos - margin).clamp(min=0), zero), reduction)


def multi_margin_loss(
    input: Any, target: Any, p: int = 1, margin: float = 1.0, weight: Any = None, size_average: Any = None,
    reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """The mean over classes of max(0, margin − x[y] + x[i])^p. Raises ValueError for p other than 1 and 2."""
    reduction = _reduction(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    x = input if input.dim() > 1 else input.unsqueeze(0)
    t = target.reshape(-1)
    at = t.unsqueeze(1)
    each = (margin - x.gather(1, at) + x).clamp(min=0) ** p
    if weight is not None:
        each = each * weight[t].unsqueeze(1)
    other = FUNCTIONS["ones_like"](x.detach()).scatter_(1, at, 0.0)
    each = (each * other).sum(1) / x.shape[1]
    return _reduced(each if input.dim() > 1 else each.squeeze(0), reduction)


def multilabel_margin_loss(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """For each class among the targets and each that is not: max(0, 1 − x[target] + x[i]), over the number of classes.

    target: class numbers, −1 after the last.
    """
    reduction = _reduction(reduction, size_average, reduce)
    flat = input.dim() < 2
    x = input.reshape(1, -1) if flat else input
    t = target.reshape(1, -1) if flat else target
    ended = (t < 0).long().cumsum(1) > 0
    is_target = (
        FUNCTIONS["zeros_like"](x.detach()).scatter_add_(1, t.clamp(min=0), (~ended).to(x.dtype)).clamp(max=1)
    )
    chosen = x.gather(1, t.clamp(min=0))
    pairs = (1 - chosen.unsqueeze(2) + x.unsqueeze(1)).clamp(min=0)
    pairs = pairs * (~ended).to(x.dtype).unsqueeze(2) * (1 - is_target).unsqueeze(1)
    each = pairs.sum((1, 2)) / x.shape[1]
    return _reduced(each.squeeze(0) if flat else each, reduction)


def multilabel_soft_margin_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """The mean over classes of the binary cross entropy of sigmoid(input)."""
    reduction = _reduction(reduction, size_average, reduce)
    each = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        each = each * weight
    return _reduced(each.sum(-1) / input.shape[-1], reduction)


def triplet_margin_loss(
    anchor: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2, eps: float = 1e-6, swap: bool = False,
    size_average: Any = None, reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """max(0, d(anchor, positive) − d(anchor, negative) + margin) with the p-norm's distance.

    Raises ValueError for margin ≤ 0.
    """
    from .distance import pairwise_distance

    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return triplet_margin_with_distance_loss(
        anchor, positive, negative, distance_function=lambda a, b: pairwise_distance(a, b, p, eps), margin=margin, swap=swap,
        reduction=_reduction(reduction, size_average, reduce),
    )  # fmt: skip


def triplet_margin_with_distance_loss(
    anchor: Any, positive: Any, negative: Any, *, distance_function: Any = None, margin: float = 1.0, swap: bool = False,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """triplet_margin_loss with a distance of one's own. Raises ValueError for margin ≤ 0."""
    from .distance import pairwise_distance

    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = FUNCTIONS["minimum"](far, distance(positive, negative))
    return _reduced((margin + near - far).clamp(min=0), _reduction(reduction))
