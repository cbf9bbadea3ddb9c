"""Batching of convolutions: samples of one weight are a larger batch, samples of many weights are groups.

A convolution in groups is many convolutions side by side, each with its own channels: so a weight for each sample makes
as many groups, and the gradients of one weight for each sample are the gradients of those.
"""

from typing import Any

from ..op import TABLE, Op
from .elementwise import reshaped, word


def over(x: Any, is_batched: bool, size: int) -> Any:
    """x with the batch as dimension 0, repeated for each sample if it has none."""
    return x if is_batched else TABLE["expand"](x, p=(size, *x.raw.shape))


def merged(x: Any) -> Any:
    """(B, N, …) as (B·N, …)."""
    s = x.raw.shape
    return reshaped(x, (s[0] * s[1], *s[2:]))


def beside(x: Any) -> Any:
    """(B, N, C, …) as (N, B·C, …): the samples' channels side by side."""
    ndim, s = x.raw.ndim, x.raw.shape
    return reshaped(TABLE["permute"](x, p=(1, 0, *range(2, ndim))), (s[1], s[0] * s[2], *s[3:]))


def apart(y: Any, size: int) -> Any:
    """(N, B·C, …) as (B, N, C, …)."""
    s = y.raw.shape
    y = reshaped(y, (s[0], size, s[1] // size, *s[2:]))
    return TABLE["permute"](y, p=(1, 0, *range(2, len(s) + 1)))


def with_bias(y: Any, rest: list[Any], batched: bool) -> Any:
    """y (B, N, O, …) plus a bias (O), or one for each sample (B, O)."""
    if not rest:
        return y
    b, ndim = rest[0], y.raw.ndim
    s = b.raw.shape
    lead = (s[0], 1) if batched else ()
    return y + reshaped(b, (*lead, s[-1], *[1] * (ndim - 3)))


def run(plain: str, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    x, w, *rest = xs
    if not batched[1] and not batched[0]:
        y = over(TABLE[plain](x, w, p=p), False, size)
    elif not batched[1]:
        y = TABLE[plain](merged(x), w, p=p)
        y = reshaped(y, (size, x.raw.shape[1], *y.raw.shape[1:]))
    else:
        many = p._replace(groups=p.groups * size)
        y = apart(TABLE[plain](beside(over(x, batched[0], size)), merged(w), p=many), size)
    return with_bias(y, rest, batched[-1])


@word("convolution")
def convolution(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """x (N, C, …), w (O, C/groups, …) and a bias, if there is one; p is the geometry."""
    return run("convolution_no_bias", xs, batched, p, size)


@word("convolution_input")
def convolution_input(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """The same with the transposed one."""
    return run("convolution_input", xs, batched, p, size)


@word("convolution_weight")
def convolution_weight(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """One gradient of the weight for each sample."""
    x, g = (beside(over(v, b, size)) for v, b in zip(xs, batched))
    y = op(x, g, p=p._replace(groups=p.groups * size))
    return reshaped(y, (size, y.raw.shape[0] // size, *y.raw.shape[1:]))


@word("channels")
def channels(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """One value for each channel; p is the shape for which it is repeated."""
    b = xs[0]
    return TABLE["expand"](reshaped(b, (size, 1, b.raw.shape[1], *[1] * (len(p) - 2))), p=(size, *p))
