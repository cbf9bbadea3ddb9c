"""Embedding: rows of a matrix by number, and the sum of what comes back for each of them."""

from typing import Any

import numpy as np

from .. import device as devices
from ..op import Op


def _back(g: Any, i: Any, p: Any) -> Any:
    count, padding, by_frequency = p
    out = devices.zeros((count, g.shape[-1]), g.dtype, like=g)
    index, rows = i.reshape(-1), g.reshape(-1, g.shape[-1])
    if padding >= 0:
        keep = index != padding
        index, rows = index[keep], rows[keep]
    if by_frequency and index.size:
        rows = rows / np.bincount(index, minlength=count)[index][:, None].astype(g.dtype)
    devices.add_at(out, index, rows)
    return out


def _padded(g: Any, i: Any, p: Any) -> Any:
    """The rows of a cotangent, with what the backward leaves out left out: the transpose of `_back`."""
    count, padding, by_frequency = p
    y = g[i]
    if padding >= 0:
        y = y * np.expand_dims(i != padding, -1).astype(g.dtype)
    if by_frequency:
        y = y / np.expand_dims(np.bincount(i.reshape(-1), minlength=count)[i], -1).astype(g.dtype)
    return y


# p is (number of rows, number of the row that gets no gradient or -1, divide by how often each occurs?)
embedding_row: Op = Op(
    "embedding", lambda a, i, p: a[i], a=lambda g, n: embedding_back(g, n.b, p=n.p), reads=("b",),
    jvp=lambda ts, n: embedding_row(ts[0], n.b, p=n.p), params=True, batch="rows", partials=("1 in the row that was picked",),
    latex="{a}_{{{b}}}", doc="Rows of a matrix by number.",
)  # fmt: skip
embedding_back: Op = Op(
    "embedding_dense_backward", _back, a=lambda g, n: embedding_picked(g, n.b, p=n.p), reads=("b",),
    jvp=lambda ts, n: embedding_back(ts[0], n.b, p=n.p), params=True, symbol="embeddingᵀ", partials=("1",),
    doc="For each row, the sum of the cotangents where it was picked.",
)  # fmt: skip
embedding_picked: Op = Op(
    "embedding_picked", _padded, a=lambda g, n: embedding_back(g, n.b, p=n.p), reads=("b",),
    jvp=lambda ts, n: embedding_picked(ts[0], n.b, p=n.p), params=True, symbol="embedding", partials=("1",),
    batch="rows", node="EmbeddingBackward0", doc="Rows of a matrix by number, zero where the backward leaves them out.",
)  # fmt: skip
