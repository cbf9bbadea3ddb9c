"""Cases of indexing: views, index tensors, masks, what is written where they say."""

from typing import Any

import numpy as np

from autodiff_kernel.core.rules.slices import decode

from . import Case, Draw, booleans, inputs, number, real


# ------------------------------------------------------------------------------------------------ views
def parts(d: Draw, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Parameters of getitem for that shape: ints, slices, None, whole dimensions."""
    p: list[Any] = []
    for n in shape:
        if d.integer(0, 4) == 0:
            p.append(None)
        kind = d.integer(0, 3) if n else 2
        if kind == 0:
            p.append(d.integer(0, n - 1))
        elif kind == 1:
            start = d.integer(0, n)
            p.append((start, d.integer(start, n), d.integer(1, 2)))
        elif kind == 2:
            p.append(())
        else:
            p.append((0, n, 1))
    if d.flag():
        p.append(None)
    return tuple(p)


def draw_getitem(d: Draw) -> Any:
    a = d.array(d.shape())
    return [a], parts(d, a.shape)


def draw_getitem_back(d: Draw) -> Any:
    shape = d.shape()
    p = parts(d, shape)
    return [d.array(np.zeros(shape)[decode(p)].shape)], (p, shape)


def ref_getitem_back(g: Any, p: Any) -> Any:
    out = np.zeros(p[1])
    out[decode(p[0])] = g
    return out


def draw_slice_scatter(d: Draw) -> Any:
    a = d.array(d.shape(1))
    p = parts(d, a.shape)
    return [a, d.array(a[decode(p)].shape)], ("Slice", p)


def ref_slice_scatter(a: Any, b: Any, p: Any) -> Any:
    out = a.copy()
    out[decode(p[1])] = b
    return out


def draw_diagonal_scatter(d: Draw) -> Any:
    a = d.array(d.shape(2, empty=False))
    p = (d.integer(-1, 1), 0, 1)
    return [a, d.array(np.diagonal(a, *p).shape)], p


def ref_diagonal_scatter(a: Any, b: Any, p: Any) -> Any:
    out = a.copy()
    np.einsum("ii...->i...", out[max(-p[0], 0) :, max(p[0], 0) :][: b.shape[-1], : b.shape[-1]])[...] = (
        np.moveaxis(b, -1, 0)
    )
    return out


# ------------------------------------------------------------------------------------------------ index tensors
def index_of(d: Draw, shape: tuple[int, ...], repeat: bool = True) -> tuple[Any, Any]:
    """An index array for a shape without empty dimensions, and where it stands: one array, several, or a mask."""
    kind = d.integer(0, 2)
    if kind == 0:  # a mask over the first dimensions
        k = d.integer(1, len(shape))
        return booleans(d.rng, shape[:k]), ((True,), False)
    index_shape = d.shape(1, 2)
    if kind == 1 or len(shape) < 2:  # one array
        dim = d.integer(0, len(shape) - 1)
        if not repeat:
            return d.rng.permutation(shape[dim])[: d.integer(1, shape[dim])], ((*[False] * dim, True), False)
        return signed(d, index_shape, shape[dim]), ((*[False] * dim, True), False)
    if not repeat:
        n = min(shape[0], shape[-1])
        both = np.stack([d.rng.permutation(n), d.rng.permutation(n)])
    else:
        both = np.stack([signed(d, index_shape, n) for n in (shape[0], shape[-1])])
    return both, ((True, *[False] * (len(shape) - 2), True), True)


def signed(d: Draw, shape: tuple[int, ...], size: int) -> Any:
    """Indices, some counted from the end."""
    return np.asarray(d.rng.integers(-size, size, shape))


def spot(index: Any, where: Any) -> Any:
    """NumPy's index."""
    pattern, packed = where
    arrays = iter(index if packed else [index])
    return tuple(next(arrays) if here else slice(None) for here in pattern)


def draw_index(d: Draw) -> Any:
    a = d.array(d.shape(1, empty=False))
    index, where = index_of(d, a.shape)
    return [a, index], where


def draw_index_back(d: Draw) -> Any:
    shape = d.shape(1, empty=False)
    index, where = index_of(d, shape)
    return [d.array(np.zeros(shape)[spot(index, where)].shape), index], (where, shape)


def ref_index_back(g: Any, index: Any, p: Any) -> Any:
    out = np.zeros(p[1])
    np.add.at(out, spot(index, p[0]), g)
    return out


def draw_index_put(accumulate: bool) -> Any:
    def draw(d: Draw) -> Any:
        a = d.array(d.shape(1, empty=False))
        index, where = index_of(d, a.shape, repeat=accumulate)
        shape = a[spot(index, where)].shape
        if shape and d.flag():  # the values broadcast
            shape = shape[d.integer(0, len(shape) - 1) :]
        return [a, d.array(shape), index], (*where, accumulate)

    return draw


def ref_index_put(a: Any, b: Any, index: Any, p: Any) -> Any:
    out = a.copy()
    where = spot(index, p[:2])
    if p[2]:
        np.add.at(out, where, np.broadcast_to(b, out[where].shape))
    else:
        out[where] = b
    return out


# ------------------------------------------------------------------------------------------------ along a dimension
def draw_index_select(d: Draw) -> Any:
    a = d.array(d.shape(1, empty=False))
    dim = d.integer(0, a.ndim - 1)
    return [a, d.indices((d.integer(0, 5),), a.shape[dim])], dim


def draw_index_add(repeat: bool) -> Any:
    def draw(d: Draw) -> Any:
        a = d.array(d.shape(1, empty=False))
        dim = d.integer(0, a.ndim - 1)
        n = a.shape[dim]
        index = d.indices((d.integer(1, 5),), n) if repeat else d.rng.permutation(n)[: d.integer(1, n)]
        b = d.array((*a.shape[:dim], len(index), *a.shape[dim + 1 :]))
        return [a, b, index], (dim, d.choice([1, 2.5])) if repeat else dim

    return draw


def ref_index_add(a: Any, b: Any, index: Any, p: Any) -> Any:
    out = a.copy()
    np.add.at(out, (*[slice(None)] * p[0], index), b * p[1])
    return out


def ref_index_copy(a: Any, b: Any, index: Any, p: Any) -> Any:
    out = a.copy()
    out[(*[slice(None)] * p, index)] = b
    return out


# ------------------------------------------------------------------------------------------------ flattened
def draw_take(d: Draw) -> Any:
    a = d.array(d.shape(empty=False))
    return [a, signed(d, d.shape(0, 2), a.size)]


def draw_put(accumulate: bool) -> Any:
    def draw(d: Draw) -> Any:
        a = d.array(d.shape(empty=False))
        index = (
            signed(d, (d.integer(0, 4),), a.size)
            if accumulate
            else d.rng.permutation(a.size)[: d.integer(0, a.size)]
        )
        return [a, d.array(index.shape), index], accumulate

    return draw


def ref_put(a: Any, b: Any, index: Any, p: Any) -> Any:
    out = a.copy().reshape(-1)
    if p:
        np.add.at(out, index, b)
    else:
        out[index] = b
    return out.reshape(a.shape)


# ------------------------------------------------------------------------------------------------ masks
def draw_masked_fill(value: Any) -> Any:
    def draw(d: Draw) -> Any:
        shape, mask_shape = d.shapes(2)
        name = "MaskedFillBackward0" if isinstance(value, float) else "MaskedFillBackward1"
        return [d.array(shape), real(d.rng, ()) if value is None else value, booleans(d.rng, mask_shape)], (
            name,
            None,
        )

    return draw


def draw_masked_select(d: Draw) -> Any:
    shape, mask_shape = d.shapes(2)
    return [d.array(shape), booleans(d.rng, mask_shape)]


def ref_masked_select(a: Any, mask: Any) -> Any:
    a, mask = np.broadcast_arrays(a, mask)
    return a[mask]


def draw_masked_scatter(d: Draw) -> Any:
    a = d.array(d.shape())
    return [a, d.array((a.size + d.integer(0, 2),)), booleans(d.rng, a.shape)]


def ref_masked_scatter(a: Any, b: Any, mask: Any) -> Any:
    out = a.copy()
    out[mask] = b[: mask.sum()]
    return out


def draw_to_source(d: Draw) -> Any:
    a = d.array(d.shape())
    return [a, booleans(d.rng, a.shape)], (a.size + 1,)


def ref_to_source(g: Any, mask: Any, p: Any) -> Any:
    out = np.zeros(p)
    out[: mask.sum()] = g[mask]
    return out


def draw_from_source(d: Draw) -> Any:
    shape = d.shape()
    return [d.array((int(np.prod(shape)) + 1,)), booleans(d.rng, shape)]


def ref_from_source(g: Any, mask: Any) -> Any:
    return ref_masked_scatter(np.zeros(mask.shape), g, mask)


# ------------------------------------------------------------------------------------------------ overwriting
def draw_copy(d: Draw) -> Any:
    shape = d.shape()
    return [d.array(shape), d.array(shape[d.integer(0, len(shape)) :])], None


def draw_fill(d: Draw) -> Any:
    return [d.array(d.shape()), real(d.rng, ())], None


def overwritten(a: Any, b: Any, p: Any = None) -> Any:
    return np.broadcast_to(b, a.shape)


CASES = [
    Case("getitem", draw_getitem, ref=lambda a, p: a[decode(p)]),
    Case("getitem_back", draw_getitem_back, ref=ref_getitem_back),
    Case("slice_scatter", draw_slice_scatter, ref=ref_slice_scatter),
    Case("diagonal_scatter", draw_diagonal_scatter, ref=ref_diagonal_scatter),
    Case("index", draw_index, ref=lambda a, b, p: a[spot(b, p)]),
    Case("index_back", draw_index_back, ref=ref_index_back),
    Case("index_put", draw_index_put(False), ref=ref_index_put),
    Case("index_put", draw_index_put(True), ref=ref_index_put, name="accumulate"),
    Case("index_select", draw_index_select, ref=lambda a, b, p: np.take(a, b, p)),
    Case("index_add", draw_index_add(True), ref=ref_index_add),
    Case("index_copy", draw_index_add(False), ref=ref_index_copy),
    Case("take", draw_take, ref=np.take),
    Case("put", draw_put(False), ref=ref_put),
    Case("put", draw_put(True), ref=ref_put, name="accumulate"),
    Case("masked_fill", draw_masked_fill(None), ref=lambda a, b, c, p: np.where(c, b, a)),
    Case("masked_fill", draw_masked_fill(1.5), ref=lambda a, b, c, p: np.where(c, b, a), name="number"),
    # how many elements a mask chooses has to be known on the CPU
    Case("masked_select", draw_masked_select, ref=ref_masked_select, syncs=True),
    Case("masked_scatter", draw_masked_scatter, ref=ref_masked_scatter, syncs=True),
    Case("masked_scatter_backward", draw_to_source, ref=ref_to_source, syncs=True),
    Case("masked_scatter_of", draw_from_source, ref=ref_from_source, syncs=True),
    Case("zero", inputs(real), ref=np.zeros_like),
    Case("copy", draw_copy, ref=overwritten),
    Case("fill", draw_fill, ref=overwritten),
    Case("fill_number", inputs(real, number(-2, 2)), ref=overwritten),
]
