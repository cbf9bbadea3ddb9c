"""Every row of the table under vmap: the values and derivatives of all samples at once are those of a loop.

Each case of `rule_cases` is tried with all of its arrays mapped, and with each array alone: through vmap backwards,
with reverse and forward mode inside vmap, and with vmap over cotangents and tangents of one point.
"""

import warnings
from typing import Any

import numpy as np
import pytest
from rule_cases import Case, Draw, all_cases
from rule_trial import Trial, moves, numpy, random_like, tensors

import autodiff_kernel as torch
from autodiff_kernel import func
from autodiff_kernel.core import batched, batching
from autodiff_kernel.core.op import TABLE

SAMPLES = 3
STYLES = ("plain", "0-d", "empty", "size 1", "transposed")
MASKED = {"index", "index_back", "index_put", "masked"}  # a mask of its own for each sample is refused
ONE_BY_ONE = {
    "as_strided", "as_strided_backward", "bincount", "binomial", "block_diag", "dist", "embedding_dense_backward", "histc",
    "histogramdd", "isin", "linalg_ldl_solve", "masked_scatter", "masked_scatter_backward", "masked_scatter_of", "median",
    "nanmedian", "nll_loss", "nll_loss_backward", "sample_dirichlet",
}  # fmt: skip


def test_every_row_says_how_it_is_batched():
    without = {name for name, op in TABLE.items() if not op.batch}
    assert without - ONE_BY_ONE <= {"pick", "stale_view"}, "say it by `batch`, or list the row here"
    assert batching and {op.batch for op in TABLE.values() if op.batch} <= batched.WORDS.keys()


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def is_array(x: Any) -> bool:
    return isinstance(x, (np.ndarray, np.generic))


def of_sample(t: Trial, s: int) -> list[Any]:
    """The inputs of sample s: near the example's, so that they lie in the row's domain too."""
    out = []
    for x in t.xs:
        if moves(x):
            x = x * (1 + 0.02 * s)
        elif is_array(x) and x.size and (x.dtype.kind == "i" or t.op.batch == "elementwise"):
            x = np.roll(x, s, -1) if x.ndim else x
        out.append(np.asarray(x) if is_array(x) else x)
    return out


def mappings(t: Trial) -> list[list[int]]:
    """Which inputs are mapped: all arrays, and each of them alone."""
    arrays = [
        i for i, x in enumerate(t.xs) if is_array(x) and not (x.dtype.kind == "b" and t.op.batch in MASKED)
    ]
    return [arrays, *([[i] for i in arrays] if len(arrays) > 1 else [])]


class Mapped:
    """One example with some inputs mapped; the loop is what everything is compared with."""

    def __init__(self, t: Trial, mapped: list[int]) -> None:
        self.t, self.mapped = t, mapped
        every = [of_sample(t, s) for s in range(SAMPLES)]
        self.base = every[0]
        places = range(len(self.base))
        self.each = [[xs[i] if i in mapped else self.base[i] for i in places] for xs in every]
        self.stacked = [np.stack([xs[i] for xs in every]) if i in mapped else self.base[i] for i in places]
        self.dims = tuple(0 if i in mapped else None for i in places)
        rng = np.random.default_rng(0)
        self.used = [k for k, w in enumerate(t.ws) if w is not None]
        self.ws = [np.stack([random_like(t.ws[k], rng) for _ in range(SAMPLES)]) for k in self.used]
        self.ds = [np.stack([t.ds[i] * (1 + s) for s in range(SAMPLES)]) for i in t.moving]

    def outputs(self, xs: Any) -> list[Any]:
        return self.t.call(list(xs))

    def moved(self, xs: Any) -> Any:
        """The outputs that have cotangents, as a function of the inputs that move."""

        def f(*ms: Any) -> list[Any]:
            whole = list(xs)
            for i, m in zip(self.t.moving, ms, strict=True):
                whole[i] = m
            ys = self.outputs(whole)
            return [ys[k] for k in self.used]

        return f, [xs[i] for i in self.t.moving]

    def vjp(self, xs: Any, ws: Any) -> list[Any]:
        f, ms = self.moved(xs)
        return list(func.vjp(f, *ms)[1](list(ws)))

    def jvp(self, xs: Any, ds: Any) -> list[Any]:
        f, ms = self.moved(xs)
        return func.jvp(f, tuple(ms), tuple(ds))[1]

    def loop(self, f: Any, xs: list[list[Any]], vs: list[Any]) -> list[list[Any]]:
        return [[numpy(r) for r in f(tensors(x), tensors([v[s] for v in vs]))] for s, x in enumerate(xs)]


def same(got: Any, loop: list[list[Any]], what: str) -> None:
    for k, g in enumerate(got):
        agree(numpy(g), np.stack([column[k] for column in loop]), what)


def agree(got: Any, want: Any, what: str) -> None:
    assert got.shape == want.shape and got.dtype == want.dtype, what
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-11, err_msg=what)


def check(t: Trial, mapped: list[int], whole: bool) -> None:
    m = Mapped(t, mapped)
    values = [[numpy(y) for y in m.outputs(tensors(xs))] for xs in m.each]
    same(func.vmap(lambda *xs: m.outputs(xs), m.dims)(*tensors(m.stacked)), values, "value")
    if not t.useful():
        return
    pulled = m.loop(m.vjp, m.each, m.ws)
    leaves = tensors(m.stacked, t.moving)
    ys = func.vmap(lambda *xs: m.outputs(xs), m.dims)(*leaves)
    gs = torch.autograd.grad(
        [ys[k] for k in m.used], [leaves[i] for i in t.moving], tensors(m.ws), allow_unused=True
    )
    for j, (i, g) in enumerate(zip(t.moving, gs, strict=True)):
        want = np.stack([column[j] for column in pulled])
        want = want if i in mapped else want.sum(0)
        agree(numpy(g) if g is not None else np.zeros_like(want), want, "reverse mode through vmap")
    inside = (list(m.dims), 0)
    same(func.vmap(m.vjp, inside)(tensors(m.stacked), tensors(m.ws)), pulled, "reverse mode inside vmap")
    pushed = m.loop(m.jvp, m.each, m.ds)
    same(func.vmap(m.jvp, inside)(tensors(m.stacked), tensors(m.ds)), pushed, "forward mode inside vmap")
    if whole:
        point, here = tensors(m.base), [m.base] * SAMPLES
        f, ms = m.moved(point)
        pull = func.vjp(f, *ms)[1]
        same(
            func.vmap(lambda ws: list(pull(ws)))(tensors(m.ws)),
            m.loop(m.vjp, here, m.ws),
            "vmap over cotangents",
        )
        same(
            func.vmap(lambda ds: m.jvp(point, ds))(tensors(m.ds)),
            m.loop(m.jvp, here, m.ds),
            "vmap over tangents",
        )


@pytest.mark.parametrize("case", [c for c in all_cases() if c.row != "stale_view"], ids=str)
def test_rows(case: Case) -> None:
    for style in STYLES:
        t = Trial(case, Draw(style, 1))
        for k, mapped in enumerate(mappings(t)):
            try:
                check(t, mapped, not k)
            except Exception as error:
                error.add_note(f"{t!r}, style {style}, mapped inputs {mapped}")
                raise
