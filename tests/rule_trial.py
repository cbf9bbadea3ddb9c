"""One example of a row of the table, and what the engine makes of it: values, gradients, tangents.

What the checks of `rule_checks.py`, the walk through forward mode and the composition of all rows have in common.
"""

from typing import Any

import numpy as np
from rule_cases import Case, Draw

from autodiff_kernel.core import backward, device, dual, late
from autodiff_kernel.core.op import TABLE
from autodiff_kernel.core.tensor import Tensor, wrap

late.load_all()  # the whole table

STEP = 1e-6


class Trial:
    """One example of a case: its inputs, which of them are differentiated, cotangents and directions."""

    def __init__(self, case: Case, d: Draw, dtype: Any = np.float64) -> None:
        d = d.fresh()
        self.case, self.op = case, TABLE[case.row]
        xs, self.p = case.example(d)
        self.xs = [cast(x, dtype) for x in xs]
        if not case.storage:
            self.xs = [d.laid(x) if isinstance(x, np.ndarray) else x for x in self.xs]
        op = self.op
        ruled = [True] * len(xs) if op.each is not None else [r is not None for r in (op.a, op.b, op.c)]
        self.moving = [i for i, x in enumerate(self.xs) if moves(x) and ruled[i]]
        self.ds = {i: d.laid(self.direction(i, d.rng)) for i in self.moving}
        self.ys = self.values()
        self.ws = [d.laid(random_like(y, d.rng), cotangent=True) if moves(y) else None for y in self.ys]
        if sum(w is not None for w in self.ws) > 1 and d.flag():  # outputs that nobody used
            used = d.choice([k for k, w in enumerate(self.ws) if w is not None])
            self.ws = [w if k == used else None for k, w in enumerate(self.ws)]

    def __repr__(self) -> str:
        """What a failure shows."""
        parts = [f"{x.dtype}{list(x.shape)} strides {list(x.strides)}" if isinstance(x, np.ndarray) else repr(x)
                 for x in self.xs]  # fmt: skip
        return f"{self.case}: {'; '.join(parts)}" + (f"; p={self.p!r}" if self.op.params else "")

    def direction(self, i: int, rng: np.random.Generator) -> Any:
        """A random direction in which input i may move."""
        r = random_like(self.xs[i], rng)
        return (r + r.swapaxes(-2, -1)) / 2 if self.case.symmetric else r

    def shifted(self, h: float) -> list[Any]:
        return [x + h * self.ds[i] if i in self.ds else x for i, x in enumerate(self.xs)]

    def call(self, xs: list[Any]) -> list[Any]:
        """The row on Tensors or dual numbers: the list of its outputs."""
        out = self.op(*xs, p=self.p)
        return list(out) if self.op.outputs else [out]

    def values(self, xs: Any = None) -> list[Any]:
        """The outputs as NumPy arrays."""
        return [numpy(y) for y in self.call(tensors(self.xs if xs is None else xs))]

    def numeric(self) -> float:
        """The central difference of <w, f(x)> along d."""
        up, down = (inner_all(self.ws, self.values(self.shifted(h))) for h in (STEP, -STEP))
        return (up - down) / (2 * STEP)

    def gradients(
        self, xs: Any = None, create_graph: bool = False, where: Any = None
    ) -> tuple[Any, Any, Any]:
        """Leaves, cotangents and gradients of the moving inputs, as Tensors."""
        leaves = tensors(self.xs if xs is None else xs, self.moving, where)
        ws = [None if w is None else tensors([w], [0], where)[0] for w in self.ws]
        pairs = [(y, w) for y, w in zip(self.call(leaves), ws, strict=True) if w is not None]
        gs = backward.grad(
            [y for y, _ in pairs], [leaves[i] for i in self.moving], [w for _, w in pairs],
            create_graph=create_graph, allow_unused=True,
        )  # fmt: skip
        return leaves, [w for _, w in pairs], dict(zip(self.moving, gs, strict=True))

    def duals(self, xs: list[Any], level: int, moving: Any = None, where: Any = None) -> list[Any]:
        """The inputs as dual numbers that move along d."""
        moving = self.moving if moving is None else moving
        ds = {i: tensors([self.ds[i]], where=where)[0] for i in moving}
        return [dual.make(x, ds[i], level) if i in ds else x for i, x in enumerate(xs)]

    def jvp(self, moving: Any = None, where: Any = None) -> list[Any]:
        """The tangents of the outputs for the directions of the moving inputs, as Tensors."""
        with dual.level() as k:
            return [
                dual.parts(y, k)[1]
                for y in self.call(self.duals(tensors(self.xs, where=where), k, moving, where))
            ]

    def useful(self) -> bool:
        return bool(self.moving) and any(w is not None for w in self.ws)


def cast(x: Any, dtype: Any) -> Any:
    return x.astype(dtype) if getattr(x, "dtype", None) == np.float64 and dtype != np.float64 else x


def moves(x: Any) -> bool:
    return getattr(x, "dtype", None) is not None and x.dtype.kind in "fc"


def random_like(x: Any, rng: np.random.Generator) -> Any:
    r = rng.normal(size=x.shape)
    return np.asarray(r + 1j * rng.normal(size=x.shape) if x.dtype.kind == "c" else r).astype(x.dtype)


def inner(a: Any, b: Any) -> float:
    """The real inner product."""
    return float(np.real(np.vdot(np.asarray(a), np.asarray(b))))


def inner_all(ws: Any, ys: Any) -> float:
    """The sum of <w, y> over the outputs that have a cotangent."""
    return sum(inner(w, numpy(y)) for w, y in zip(ws, ys, strict=True) if w is not None)


def tensors(xs: Any, moving: Any = (), where: Any = None) -> list[Any]:
    """Tensors of the arrays among xs; those at the places `moving` require grad."""
    out = []
    for i, x in enumerate(xs):
        if isinstance(x, (np.ndarray, np.generic)):
            x = (
                wrap(x[()] if x.ndim == 0 else x)
                if where is None
                else wrap(device.asarray(x, x.dtype, where))
            )
            if i in moving:
                x.requires_grad_()
        out.append(x)
    return out


def numpy(x: Any) -> Any:
    return np.asarray(device.to_numpy(x.raw if isinstance(x, Tensor) else x))


def close(a: Any, b: Any, tolerance: float, scale: float = 1.0) -> None:
    assert abs(a - b) <= tolerance * (scale + abs(a) + abs(b)), f"{a} and {b} differ"
