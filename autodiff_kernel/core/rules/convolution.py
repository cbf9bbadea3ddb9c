"""Convolution: weighted sums of the values under a window that slides over the input.

With x (N, C, *spatial), w (O, C/groups, *kernel) and y (N, O, *out), in one dimension and one group,

    y[n, o, q] = Σ_c Σ_k  x[n, c, q·stride + k·dilation − padding] · w[o, c, k].

The same sum over other indices leads cotangents back, so three rows make a closed set:

    convolution          x, w → y
    convolution_input    y, w → x   its gradient to the input, which is also the transposed convolution
    convolution_weight   x, y → w   its gradient to the weight

Each is linear in both inputs, and each one's derivatives are the other two.

How: every window becomes a column of a matrix (channels and kernel down, samples and places across), and the sum is one
product of matrices.  Channels go before samples inside, so that the columns of all samples stand side by side.
"""

from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from .. import device as devices
from ..op import Op
from ..walk import unbroadcast
from .forms import conj
from .reductions import sum_row

Sizes = tuple[int, ...]
MOST = 1 << 18  # elements of columns at a time, as many as a cache holds: more samples are done in turns


class Geometry(NamedTuple):
    """How the windows lie: one number for each spatial dimension, and the sizes of all three tensors.

    padding: how many zeros lie before the first value; behind the last there are as many as the windows need.
    """

    stride: Sizes
    padding: Sizes
    dilation: Sizes
    groups: int
    input: Sizes
    kernel: Sizes
    output: Sizes

    def plain(self) -> bool:
        """Does every window hold just one value, and every value lie in one window?"""
        return (
            prod(self.kernel) == 1 == prod(self.stride)
            and not any(self.padding)
            and self.input == self.output
        )

    def reach(self) -> Sizes:
        """The size of the padded input, as far as windows reach."""
        return tuple(
            max((o - 1) * s + (k - 1) * d + 1, n + p)
            for o, s, k, d, n, p in zip(
                self.output, self.stride, self.kernel, self.dilation, self.input, self.padding
            )
        )

    def inside(self) -> tuple[slice, ...]:
        """Where in the padded input the values lie."""
        return tuple(slice(p, p + n) for p, n in zip(self.padding, self.input))

    def places(self) -> Any:
        """For each position in the kernel: its index, and where all windows have it in the padded input."""
        for k in product(*map(range, self.kernel)):
            yield (
                k,
                tuple(
                    slice(i * d, i * d + (o - 1) * s + 1, s)
                    for i, d, o, s in zip(k, self.dilation, self.output, self.stride)
                ),
            )


# ------------------------------------------------------------------------------------------------ columns
def columns(x: Any, p: Geometry) -> Any:
    """The windows of x (N, C, *spatial) as columns: (groups, C/groups · kernel, N · out)."""
    count, channels = x.shape[:2]
    x = x.swapaxes(0, 1)
    reach = p.reach()
    if reach != p.input:
        padded = devices.zeros((channels, count, *reach), x.dtype, like=x)
        padded[(slice(None), slice(None), *p.inside())] = x
        x = padded
    made = devices.empty((channels, *p.kernel, count, *p.output), x.dtype, like=x)
    for k, place in p.places():
        made[(slice(None), *k)] = x[(slice(None), slice(None), *place)]
    return made.reshape((p.groups, channels // p.groups * prod(p.kernel), count * prod(p.output)))


def from_columns(made: Any, count: int, p: Geometry) -> Any:
    """Columns back to the values that they hold, each the sum over all windows: (N, C, *spatial)."""
    channels = made.shape[0] * made.shape[1] // prod(p.kernel)
    made = made.reshape((channels, *p.kernel, count, *p.output))
    reach = p.reach()
    x = devices.zeros((channels, count, *reach), made.dtype, like=made)
    for k, place in p.places():
        x[(slice(None), slice(None), *place)] += made[(slice(None), *k)]
    if reach != p.input:
        x = x[(slice(None), slice(None), *p.inside())]
    return x.swapaxes(0, 1)


def rows_of(g: Any, p: Geometry) -> Any:
    """(N, O, *out) as (groups, O/groups, N · out)."""
    count, channels = g.shape[:2]
    return g.swapaxes(0, 1).reshape((p.groups, channels // p.groups, count * prod(p.output)))


def matrix(w: Any, p: Geometry) -> Any:
    """(O, C/groups, *kernel) as (groups, O/groups, C/groups · kernel)."""
    return w.reshape((p.groups, w.shape[0] // p.groups, w.shape[1] * prod(p.kernel)))


def times(a: Any, b: Any) -> Any:
    """The products of matrices, group by group; one group by `.dot`."""
    return a[0].dot(b[0])[None] if a.shape[0] == 1 else np.matmul(a, b)


def turns(count: int, each: int) -> Any:
    """Slices of the samples, as many at a time as `MOST` allows."""
    step = max(1, MOST // max(each, 1))
    return [slice(i, min(i + step, count)) for i in range(0, count, step)]


def wide(*xs: Any) -> Any:
    """Half precision as single precision: sums of many products need the digits."""
    return [x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind in "fV" else x for x in xs]


# ------------------------------------------------------------------------------------------------ each channel alone
def alone(channels: int, out: int, p: Geometry) -> bool:
    """Has every channel a kernel of its own (a depthwise convolution)?  Then sums by place beat products of matrices."""
    return 1 < p.groups == channels == out


def _bordered(x: Any, p: Geometry) -> Any:
    """The input with its zeros around it."""
    reach = p.reach()
    if reach == p.input:
        return x
    padded = devices.zeros((*x.shape[:2], *reach), x.dtype, like=x)
    padded[(slice(None), slice(None), *p.inside())] = x
    return padded


def _weigh(x: Any, w: Any, p: Geometry) -> Any:
    """The convolution of every channel with its own kernel, one place of the kernel after the other."""
    x, shape = _bordered(x, p), (1, -1, *[1] * len(p.kernel))
    y: Any = None
    for k, place in p.places():
        term = x[(slice(None), slice(None), *place)] * w[(slice(None), 0, *k)].reshape(shape)
        y = term if y is None else np.add(y, term, out=y)
    return y


def _spread(g: Any, w: Any, p: Geometry) -> Any:
    """The transposed one."""
    x = devices.zeros((*g.shape[:2], *p.reach()), g.dtype, like=g)
    for k, place in p.places():
        x[(slice(None), slice(None), *place)] += g * w[(slice(None), 0, *k)].reshape(
            (1, -1, *[1] * len(p.kernel))
        )
    return x[(slice(None), slice(None), *p.inside())].copy()


def _under(x: Any, g: Any, p: Geometry) -> Any:
    """What lies under each place of every channel's kernel: (C, 1, *kernel)."""
    w = devices.empty((g.shape[1], 1, *p.kernel), g.dtype, like=g)
    x, across = _bordered(x, p), (0, *range(2, g.ndim))
    for k, place in p.places():
        w[(slice(None), 0, *k)] = (x[(slice(None), slice(None), *place)] * g).sum(across)
    return w


# ------------------------------------------------------------------------------------------------ the three sums
def _forward(x: Any, w: Any, p: Geometry) -> Any:
    dtype = x.dtype
    x, w = wide(x, w)
    count, channels, out = x.shape[0], w.shape[0], prod(p.output)
    weights = matrix(w, p)
    if p.groups == 1 and p.plain():
        y = np.matmul(weights[0], x.reshape((count, x.shape[1], out)))
    elif alone(x.shape[1], channels, p):
        y = _weigh(x, w, p)
    else:
        y = devices.empty((count, channels, out), x.dtype, like=x)
        for part in turns(count, x.shape[1] * prod(p.kernel) * out):
            made = times(weights, columns(x[part], p))
            y[part] = made.reshape((channels, -1, out)).swapaxes(0, 1)
    return y.reshape((count, channels, *p.output)).astype(dtype, copy=False)


def _to_input(g: Any, w: Any, p: Geometry) -> Any:
    dtype = g.dtype
    g, w = wide(g, w)
    count, out = g.shape[0], prod(p.output)
    channels = w.shape[1] * p.groups
    weights = matrix(w, p).swapaxes(1, 2)
    if p.groups == 1 and p.plain():
        x = np.matmul(weights[0], g.reshape((count, g.shape[1], out))).reshape((count, channels, *p.input))
    elif alone(channels, g.shape[1], p):
        x = _spread(g, w, p)
    else:
        x = devices.empty((count, channels, *p.input), g.dtype, like=g)
        for part in turns(count, channels * prod(p.kernel) * out):
            some = g[part]
            x[part] = from_columns(times(weights, rows_of(some, p)), some.shape[0], p)
    return x.astype(dtype, copy=False)


def _to_weight(x: Any, g: Any, p: Geometry) -> Any:
    dtype = x.dtype
    x, g = wide(x, g)
    if alone(x.shape[1], g.shape[1], p):
        return _under(x, g, p).astype(dtype, copy=False)
    each = x.shape[1] // p.groups
    w: Any = None
    for part in turns(x.shape[0], x.shape[1] * prod(p.kernel) * prod(p.output)):
        made = times(columns(x[part], p), rows_of(g[part], p).swapaxes(1, 2)).swapaxes(
            1, 2
        )  # so it is faster
        w = made if w is None else w + made
    shape = (g.shape[1], each, *p.kernel)
    if w is None:  # no samples
        return devices.zeros(shape, dtype, like=x)
    return w.reshape(shape).astype(dtype, copy=False)


def column(b: Any, ndim: int) -> Any:
    """A bias in the channels' place."""
    return b.reshape((-1, *[1] * (ndim - 2)))


def _with_bias(x: Any, w: Any, b: Any, p: Geometry) -> Any:
    y = _forward(x, w, p)
    y += column(b, y.ndim)
    return y


def _transposed_with_bias(g: Any, w: Any, b: Any, p: Geometry) -> Any:
    x = _to_input(g, w, p)
    x += column(b, x.ndim)
    return x


# ------------------------------------------------------------------------------------------------ the rows
NODE = "ConvolutionBackward0"
FIRST, SECOND, THIRD = "the transposed convolution with {b}", "the sum over all windows of {a}", "1"


def _to_bias(g: Any, n: Any) -> Any:
    ndim = len(n.sy)
    return unbroadcast(sum_row(g, p=((0, *range(2, ndim)), False)), n.sc)


def tangent(plain: Any) -> Any:
    """Forward mode of a row with a bias: the sum of what each input's tangent gives."""

    def jvp(ts: Any, n: Any) -> Any:
        tx, tw, tb = ts
        terms = [] if tx is None else [plain(tx, n.b, p=n.p)]
        if tw is not None:
            terms.append(plain(n.a, tw, p=n.p))
        if tb is not None:
            terms.append(channel_row(tb, p=n.sy))
        total = terms[0]
        for t in terms[1:]:
            total = total + t
        return total

    return jvp


def _to_channels(g: Any, n: Any) -> Any:
    return sum_row(g, p=((0, *range(2, len(n.sy))), False))


# p is the shape of the result
channel_row: Op = Op(
    "expand_channels", lambda b, p: np.broadcast_to(column(b, len(p)), p).copy(), a=_to_channels, mode="linear",
    params=True, node="ExpandBackward0", symbol="expand", partials=("1, summed over all but the channels",),
    latex="{a}", batch="channels", doc="One value for each channel, repeated for all samples and places.",
)  # fmt: skip
convolution: Op = Op(
    "convolution", _with_bias, lambda g, n: convolution_input(g, conj(n.b), p=n.p),
    lambda g, n: convolution_weight(conj(n.a), g, p=n.p), _to_bias, reads=("b", "a", ""),
    jvp=lambda ts, n: tangent(convolution_plain)(ts, n), params=True, node=NODE, symbol="conv",
    partials=(FIRST, SECOND, THIRD), latex=r"{a} \star {b} + {c}", batch="convolution",
    doc="A convolution: weighted sums of the values under a sliding window, plus the bias.",
)  # fmt: skip
convolution_plain: Op = Op(
    "convolution_no_bias", _forward, lambda g, n: convolution_input(g, conj(n.b), p=n.p),
    lambda g, n: convolution_weight(conj(n.a), g, p=n.p), reads=("b", "a"), mode="linear", params=True, node=NODE,
    symbol="conv", partials=(FIRST, SECOND), latex=r"{a} \star {b}", batch="convolution",
    doc="A convolution without bias: weighted sums of the values under a sliding window.",
)  # fmt: skip
transposed: Op = Op(
    "convolution_transposed", _transposed_with_bias, lambda g, n: convolution_plain(g, conj(n.b), p=n.p),
    lambda g, n: convolution_weight(g, conj(n.a), p=n.p), _to_bias, reads=("b", "a", ""),
    jvp=lambda ts, n: tangent(convolution_input)(ts, n), params=True, node=NODE, symbol="convᵀ",
    partials=("the convolution with {b}", "the sum over all windows of g", "1"), latex=r"{a} \star^T {b} + {c}",
    batch="convolution_input",
    doc="A transposed convolution: every value spreads the kernel over its window, plus the bias.",
)  # fmt: skip
convolution_input: Op = Op(
    "convolution_input", _to_input, lambda g, n: convolution_plain(g, conj(n.b), p=n.p),
    lambda g, n: convolution_weight(g, conj(n.a), p=n.p), reads=("b", "a"), mode="linear", params=True, node=NODE,
    symbol="convᵀ", partials=("the convolution with {b}", "the sum over all windows of g"), latex=r"{a} \star^T {b}",
    batch="convolution_input",
    doc="A transposed convolution: every value spreads the kernel over its window; a convolution's gradient to its input.",
)  # fmt: skip
convolution_weight: Op = Op(
    "convolution_weight", _to_weight, lambda g, n: convolution_input(conj(n.b), g, p=n.p),
    lambda g, n: convolution_plain(conj(n.a), g, p=n.p), reads=("b", "a"), mode="linear", params=True,
    node="ConvolutionBackwardBackward0", symbol="conv∂w",
    partials=("the transposed convolution of {b}", "the convolution of {a}"), latex=r"{a} \star {b}",
    batch="convolution_weight", doc="A convolution's gradient to its weight: what lies under each value of the kernel.",
)  # fmt: skip
