"""Cases of convolution in its three forms: each draws the sizes of input, kernel and result that belong together."""

from itertools import product
from typing import Any

import numpy as np
from rule_cases import Case, Draw, real

from autodiff_kernel.core.rules.convolution import Geometry


def geometry(d: Draw) -> tuple[Geometry, int, int, int]:
    """How the windows lie, and the numbers of samples and of channels before and after."""
    dims = d.integer(1, 2)
    groups = d.choice([1, 1, 2])
    kernel = tuple(d.integer(1, 3) for _ in range(dims))
    stride = tuple(d.integer(1, 2) for _ in range(dims))
    dilation = tuple(d.integer(1, 2) for _ in range(dims))
    padding = tuple(d.integer(0, 2) for _ in range(dims))
    reach = [(k - 1) * t + 1 for k, t in zip(kernel, dilation, strict=True)]
    size = tuple(max(r - 2 * p, 1) + d.integer(0, 3) for r, p in zip(reach, padding, strict=True))
    out = tuple((n + 2 * p - r) // s + 1 for n, p, r, s in zip(size, padding, reach, stride, strict=True))
    count = 0 if d.style == "empty" else d.integer(1, 3)
    p = Geometry(stride, padding, dilation, groups, size, kernel, out)
    return p, count, groups * d.integer(1, 2), groups * d.integer(1, 2)


def draw(letters: str, bias: str = "") -> Any:
    """Inputs of these letters: x of the input's sizes, w of the kernel's, y of the result's."""

    def drawn(d: Draw) -> Any:
        p, count, channels, out = geometry(d)
        shapes = {
            "x": (count, channels, *p.input),
            "w": (out, channels // p.groups, *p.kernel),
            "y": (count, out, *p.output),
        }
        arrays = [d.array(shapes[c], real) for c in letters]
        if bias:
            arrays.append(d.array((out if bias == "y" else channels,), real))
        return arrays, p

    return drawn


def term(p: Geometry, channels: int, out: int) -> Any:
    """Every term of the sum: indices of x, of w and of y without the sample."""
    each, more = channels // p.groups, out // p.groups
    for o, c in product(range(out), range(each)):
        for q, k in product(product(*map(range, p.output)), product(*map(range, p.kernel))):
            at = tuple(a * s + b * t - z for a, s, b, t, z in zip(q, p.stride, k, p.dilation, p.padding))
            if all(0 <= i < n for i, n in zip(at, p.input)):
                yield (o // more * each + c, *at), (o, c, *k), (o, *q)


def forward(x: Any, w: Any, *rest: Any) -> Any:
    p = rest[-1]
    y = np.zeros((x.shape[0], w.shape[0], *p.output))
    for i, j, k in term(p, x.shape[1], w.shape[0]):
        y[(slice(None), *k)] += x[(slice(None), *i)] * w[j]
    return y + rest[0].reshape(-1, *[1] * len(p.output)) if len(rest) > 1 else y


def backward(y: Any, w: Any, *rest: Any) -> Any:
    p = rest[-1]
    x = np.zeros((y.shape[0], w.shape[1] * p.groups, *p.input))
    for i, j, k in term(p, x.shape[1], w.shape[0]):
        x[(slice(None), *i)] += y[(slice(None), *k)] * w[j]
    return x + rest[0].reshape(-1, *[1] * len(p.output)) if len(rest) > 1 else x


def weight(x: Any, y: Any, p: Geometry) -> Any:
    w = np.zeros((y.shape[1], x.shape[1] // p.groups, *p.kernel))
    for i, j, k in term(p, x.shape[1], y.shape[1]):
        w[j] += (x[(slice(None), *i)] * y[(slice(None), *k)]).sum()
    return w


def draw_channels(d: Draw) -> Any:
    shape = (d.integer(1, 2), d.integer(1, 3), *d.shape())
    return [d.array(shape[1:2])], shape


def spread(b: Any, p: Any) -> Any:
    return np.broadcast_to(b.reshape(-1, *[1] * (len(p) - 2)), p)


CASES = [
    Case("convolution", draw("xw", "y"), forward),
    Case("convolution_no_bias", draw("xw"), forward),
    Case("convolution_transposed", draw("yw", "x"), backward),
    Case("convolution_input", draw("yw"), backward),
    Case("convolution_weight", draw("xy"), weight),
    Case("expand_channels", draw_channels, spread),
]
