"""`%jacobian`: the Jacobian as a coloured grid, with a product J·v (forward mode) or uᵀ·J (reverse mode) beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autodiff_kernel.autograd import functional
from autodiff_kernel.core import modes
from autodiff_kernel.core.tensor import Tensor

from .build import peek
from .page import Page, Table, Words, clip, label, page_result, room
from .quiet import quietly
from .result import Result
from .scene import Command, Path, Rect, Scene, Shape
from .style import GREY, INK, LEAF, LINE, OUTPUT, number, shape_text

WRITTEN, DRAWN = 12, 48  # rows and columns with numbers; that are drawn at all
LARGEST = 1_000_000  # numbers of a Jacobian that is computed


@dataclass(frozen=True)
class JacobianView:
    """J: a row for each element of f(x), a column for each element of x. v and product_v, u and product_u: or empty."""

    title: str
    shape_x: tuple[int, ...]
    shape_y: tuple[int, ...]
    rows: tuple[tuple[float, ...], ...]
    how: str
    v: tuple[float, ...]
    product_v: tuple[float, ...]
    u: tuple[float, ...]
    product_u: tuple[float, ...]

    @property
    def size(self) -> tuple[int, int]:
        """Elements of f(x) and of x."""
        return int(np.prod(self.shape_y)), int(np.prod(self.shape_x))


@quietly
def jacobian(
    f: Callable[[Tensor], Tensor], x: Tensor, *, v: Any = None, u: Any = None, name: str = "f"
) -> Result:
    """Show the Jacobian of f at x, and its product with v from the right or with u from the left.

    f: from one tensor to one tensor, real.  x: a tensor of floats, any shape.  v: a tensor or list of x's shape; J·v
    is computed by forward mode.  u: of f(x)'s shape; uᵀ·J is computed by reverse mode.  name: what to call f.  Raises
    TypeError where f(x) is no tensor, ValueError where v or u has another shape, and for more than a million numbers.

    >>> import autodiff_kernel as torch
    >>> result = jacobian(lambda x: torch.stack([x[0] * x[1], x[0] ** 2]), torch.tensor([2.0, 3.0]), v=[1.0, 0.0])
    >>> result.model.rows, result.model.product_v
    (((3.0, 2.0), (4.0, 0.0)), (3.0, 4.0))
    """
    if not isinstance(x, Tensor):
        raise TypeError(f"x is a tensor; this is {type(x).__name__}")
    if not x.is_floating_point():
        raise TypeError(
            f"x holds floats, for there is no derivative by {x.dtype.name}; make it float: x.float()"
        )
    with modes.recording(False):
        x = x.detach()
    apply = own_copy(f)
    y = apply(x)
    if not isinstance(y, Tensor):
        raise TypeError(f"{clip(name)} gives a tensor; this gave {type(y).__name__}")
    if y.is_complex():
        raise TypeError(
            f"{clip(name)}(x) is complex; a Jacobian is shown of real values, for example of its real part"
        )
    m, n = y.numel(), x.numel()
    if m * n > LARGEST:
        raise ValueError(
            f"a Jacobian of {m:,} × {n:,} numbers is no picture (at most {LARGEST:,} numbers): take fewer elements, or a "
            "product with it: func.jvp, func.vjp"
        )
    whole, wide = _whole(apply, x, m <= n)
    numbers = _matrix(whole, m, n)
    how = (
        f"reverse mode: {_passes(m, 'backward')} of {clip(name)}(x) (jacrev)"
        if wide
        else f"forward mode: {_passes(n, 'forward')} of x (jacfwd)"
    )
    forward: Any = ()
    backward: Any = ()
    v_numbers: tuple[float, ...] = ()
    u_numbers: tuple[float, ...] = ()
    if v is not None:
        direction = _like(v, x, "v", "x")
        v_numbers, forward = _flat(direction), _flat(functional.jvp(apply, x, direction)[1])
    if u is not None:
        direction = _like(u, y, "u", f"{name}(x)")
        u_numbers, backward = _flat(direction), _flat(functional.vjp(apply, x, direction)[1])
    title = f"Jacobian of {clip(name)}: {m} × {n}, {clip(name)} from {shape_text(x.shape)} to {shape_text(y.shape)}"
    model = JacobianView(
        title, tuple(x.shape), tuple(y.shape), numbers, how, v_numbers, forward, u_numbers, backward
    )
    return page_result(model, page)


def own_copy(f: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """f on a copy of its input, which it may change in place although the input is a leaf."""

    def apply(x: Tensor) -> Tensor:
        with modes.recording(False):  # a line of ours would be no help in an answer
            own = x.clone()  # type: ignore[attr-defined]
        return f(own)

    return apply


def _whole(f: Callable[[Tensor], Tensor], x: Tensor, wide: bool) -> tuple[Any, bool]:
    """The Jacobian in the mode with fewer passes, and whether that was reverse mode.

    Reverse mode serves too where there is no forward mode: a Function of the user's without jvp.
    """
    if not wide:
        try:
            return functional.jacobian(f, x, strategy="forward-mode"), False
        except (RuntimeError, NotImplementedError):
            pass
    return functional.jacobian(f, x), True


def _passes(n: int, kind: str) -> str:
    return f"one {kind} pass for " + ("the one element" if n == 1 else f"each of the {n} elements")


def _matrix(whole: Any, m: int, n: int) -> tuple[tuple[float, ...], ...]:
    values = np.asarray(peek(whole), dtype=np.float64).reshape(m, n)
    return tuple(tuple(float(value) for value in row) for row in values)


def _flat(t: Any) -> tuple[float, ...]:
    return tuple(float(value) for value in np.asarray(peek(t), dtype=np.float64).ravel())


def _like(given: Any, t: Tensor, name: str, other: str) -> Tensor:
    """A direction as a tensor of t's shape and dtype."""
    from autodiff_kernel.core.create import tensor

    found = given if isinstance(given, Tensor) else tensor(given)
    if tuple(found.shape) != tuple(t.shape):
        raise ValueError(
            f"{name} has the shape of {clip(other)}, {shape_text(t.shape)}; this is {shape_text(found.shape)}"
        )
    return found.detach().to(device=t.device, dtype=t.dtype)  # type: ignore[attr-defined, no-any-return]


# ------------------------------------------------------------------------------------------------------------- page
def element(name: str, shape: Sequence[int], k: int) -> str:
    """The k-th element of a tensor, as a student would write it.

    >>> element("x", (2, 3), 4), element("y", (), 0)
    ('x[1, 1]', 'y')
    """
    if not shape:
        return name
    return f"{name}[{', '.join(str(int(i)) for i in np.unravel_index(k, tuple(shape)))}]"


def page(m: JacobianView) -> Page:
    """The matrix with what its rows and columns stand for, and the product in words."""
    rows, columns = m.size
    shown_rows, shown_columns = min(rows, WRITTEN), min(columns, WRITTEN)
    heads = ["∂ row / ∂ column", *(element("x", m.shape_x, j) for j in range(shown_columns))]
    heads += ["…"] if columns > shown_columns else []
    table = []
    for i in range(shown_rows):
        cells = [number(value) for value in m.rows[i][:shown_columns]]
        table.append((element("y", m.shape_y, i), *cells, *(["…"] if columns > shown_columns else [])))
    cut = rows > shown_rows or columns > shown_columns
    blocks: list[Words | Table] = [
        Words((f"Computed by {m.how}.",), "quiet"),
        Table(tuple(heads), tuple(table), frozenset(range(1, len(heads))), twin=not cut),
    ]
    if cut:
        zeros = sum(value == 0 for row in m.rows for value in row)
        blocks.append(
            Words(
                (
                    f"(the first {shown_rows} rows and {shown_columns} columns; {zeros} of {rows * columns} entries are 0)",
                )
            )
        )
    if m.v:
        told = f"J·v = {_vector(m.product_v)} for v = {_vector(m.v)}"
        blocks.append(
            Words((f"{told}: how f(x) moves when x moves along v; one forward pass, without J (jvp).",))
        )
    if m.u:
        told = f"uᵀ·J = {_vector(m.product_u)} for u = {_vector(m.u)}"
        blocks.append(Words((f"{told}: the gradient of u·f(x); one backward pass, without J (vjp).",)))
    return Page(m.title, tuple(blocks), _alt(m), scene(m))


def _vector(values: Sequence[float]) -> str:
    return f"[{', '.join(number(v) for v in values[:WRITTEN])}{', …' if len(values) > WRITTEN else ''}]"


def _alt(m: JacobianView) -> str:
    rows, columns = m.size
    told = f"{m.title}"
    if rows * columns <= 16:
        told += ": " + "; ".join(_vector(row) for row in m.rows)
    if m.v:
        told += f"; J·v is {_vector(m.product_v)}"
    if m.u:
        told += f"; uᵀ·J is {_vector(m.product_u)}"
    return told


# ---------------------------------------------------------------------------------------------------------- picture
def tint(value: float, most: float) -> str:
    """Blue for positive, ochre for negative, white for 0; never darker than ink can be read on.

    >>> tint(0.0, 1.0), tint(1.0, 1.0) != tint(-1.0, 1.0)
    ('#ffffff', True)
    """
    if value != value or abs(value) == float("inf"):
        return "#fdeaf0"
    share = 0.5 * min(1.0, abs(value) / most) if most else 0.0
    colour = LEAF if value > 0 else OUTPUT
    parts = (round(255 + share * (int(colour[i : i + 2], 16) - 255)) for i in (1, 3, 5))
    return "#" + "".join(f"{part:02x}" for part in parts)


class _Grid:
    """A block of cells at a place of the picture."""

    def __init__(
        self, rows: Sequence[Sequence[float]], most: float, side: float, high: float, written: bool
    ) -> None:
        self.rows = [row[:DRAWN] for row in rows[:DRAWN]]
        self.most, self.side, self.high, self.written = most, side, high, written

    @property
    def width(self) -> float:
        return self.side * max((len(row) for row in self.rows), default=0)

    @property
    def height(self) -> float:
        return self.high * len(self.rows)

    def shapes(self, x: float, y: float, edge: str = LINE) -> list[Shape]:
        out: list[Shape] = []
        signs: list[Command] = []
        for i, row in enumerate(self.rows):
            for j, value in enumerate(row):
                left, top = round(x + j * self.side, 2), round(y + i * self.high, 2)
                out.append(Rect(left, top, self.side, self.high, 0, tint(value, self.most), edge, 0.8))
                if self.written:
                    at = (left + self.side / 2, top + self.high / 2 + 4)
                    out.append(label(*at, number(value), 11.5, anchor="middle"))
                else:
                    signs += _sign(value, left + self.side / 2, top + self.high / 2)
        return [*out, Path(tuple(signs), stroke=INK, width=1.2)] if signs else out


def _sign(value: float, x: float, y: float) -> list[Command]:
    """What a cell without its number shows besides its colour: a dash for less than 0, a cross for nan and inf."""
    if value != value or abs(value) == float("inf"):
        return [("M", (x - 3, y - 3)), ("L", (x + 3, y + 3)), ("M", (x - 3, y + 3)), ("L", (x + 3, y - 3))]
    return [("M", (x - 3, y)), ("L", (x + 3, y))] if value < 0 else []


def scene(m: JacobianView) -> Scene:
    """J; to its right v and J·v, to its left u, under it uᵀ·J."""
    rows, columns = m.size
    written = rows <= WRITTEN and columns <= WRITTEN
    numbers = [value for row in m.rows for value in row]
    everything = [*numbers, *m.v, *m.product_v, *m.u, *m.product_u]
    side = round(max(44.0, room([number(v) for v in everything], 11.5) + 10), 2) if written else 10.0
    high = 26.0 if written else 10.0
    finite = [abs(v) for v in numbers if v == v and abs(v) != float("inf")]

    def grid(cells: Sequence[Sequence[float]]) -> _Grid:
        values = [abs(v) for row in cells for v in row if v == v and abs(v) != float("inf")]
        return _Grid(cells, max(values, default=0.0), side, high, written)

    body = _Grid(m.rows, max(finite, default=0.0), side, high, written)
    left_names = [element("y", m.shape_y, i) for i in range(len(body.rows))] if written else []
    top = 46.0
    x = 16.0
    shapes: list[Shape] = []
    if m.u:
        column = grid([[value] for value in m.u])
        shapes += [*column.shapes(x, top), label(x, top - 8, "u", 12, bold=True)]
        x += column.width + 20
    x += room(left_names, 11) + (8 if left_names else 0)
    for i, name in enumerate(left_names):
        shapes.append(label(x - 6, top + i * high + high / 2 + 4, name, 11, fill=GREY, anchor="end"))
    if written:
        for j in range(len(body.rows[0]) if body.rows else 0):
            at = x + j * side + side / 2
            shapes.append(label(at, top - 8, element("x", m.shape_x, j), 11, fill=GREY, anchor="middle"))
    shapes += [label(x, top - 26, f"J  {rows} × {columns}", 12, bold=True), *body.shapes(x, top)]
    under = top + body.height
    if m.u:
        product = grid([m.product_u])
        shapes += [
            *product.shapes(x, under + 12, INK),
            label(x - 8, under + 29, "uᵀ·J", 12, anchor="end", bold=True),
        ]
        under += 12 + product.height
    x += body.width
    if m.v:
        column, product = grid([[value] for value in m.v]), grid([[value] for value in m.product_v])
        x += 18
        shapes += [label(x, top - 8, "·  v", 12, bold=True), *column.shapes(x, top)]
        x += column.width
        shapes.append(label(x + 12, top + 17, "=", 14, anchor="middle"))
        x += 24
        shapes += [label(x, top - 8, "J·v", 12, bold=True), *product.shapes(x, top, INK)]
        x += max(product.width, 40)
        under = max(under, top + column.height, top + product.height)
    dash = "" if written else " with a dash"
    told = [f"blue: positive, ochre{dash}: negative, the darker the larger"]
    if rows > DRAWN or columns > DRAWN:
        told.append(f"the first {DRAWN} rows and columns")
    shapes += [label(16, under + 20 + 14 * i, text, 10.5, fill=GREY) for i, text in enumerate(told)]
    width = max(x + 16, room(told, 10.5) + 32)
    return Scene(round(width, 2), round(under + 18 + 14 * len(told), 2), shapes)
