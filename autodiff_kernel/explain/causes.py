"""Why an operation gives inf or nan: the computation at one element in numbers, the reason, and what to write instead.

Each cause is told by the row of the table and the values that met there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from autodiff_kernel.core import dtype as dtypes
from autodiff_kernel.core.journal import Event

from ..core.dtype import is_floating
from .values import Array, at
from .words import Names, atom, dtype, expression, label, number, operation, shape

INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**", "pow_number": "**", "pow_base": "**",
          "floor_divide": "//", "div_floor": "//", "remainder": "%", "remainder_number": "%"}  # fmt: skip
_SUMS = ("sum", "mean", "nansum", "cumsum", "dot", "mv", "mm", "matmul", "linear", "linear_no_bias", "addmm", "baddbmm",
         "linalg_vector_norm", "prod", "cumprod", "einsum", "outer")  # fmt: skip
_DOMAINS = {"asin": "-1 to 1", "acos": "-1 to 1", "acosh": "1 and more", "atanh": "-1 to 1", "logit": "0 to 1",
            "erfinv": "-1 to 1", "log": "0 and more", "log2": "0 and more", "log10": "0 and more",
            "log1p": "-1 and more", "sqrt": "0 and more", "rsqrt": "more than 0"}  # fmt: skip


@dataclass(frozen=True)
class Spot:
    """One element of one operation: its event, the values of all inputs and of the result, and which element."""

    e: Event
    xs: list[Array]
    y: Array
    index: tuple[int, ...]
    names: Names

    @property
    def row(self) -> str:
        return "" if self.e.op is None or isinstance(self.e.op, str) else self.e.op.name

    @property
    def pointwise(self) -> bool:
        op = self.e.op
        return not isinstance(op, str) and op is not None and (op.mode == "elementwise" or op.spreads)

    def operands(self) -> list[Any]:
        """The numbers that met at this element."""
        return [at(x, self.index) if x.ndim else x[()] for x in self.xs]

    def name(self, i: int) -> str:
        """What the user calls input i."""
        x = self.e.inputs[i]
        return label(x, self.names) if x.__class__ is Event else number(x)

    def atom(self, i: int) -> str:
        """The same, so that code can go on with it."""
        return atom(self.name(i))


@dataclass(frozen=True)
class Cause:
    """What happened, as a sentence's part; why; what to write instead."""

    said: str
    reason: str = ""
    fix: str = ""


def computed(s: Spot) -> str:
    """The computation at the element in numbers: 'inf / inf = nan', 'exp(1000) = inf'."""
    result = number(at(s.y, s.index) if s.y.ndim else s.y)
    if not s.pointwise:
        return f"{operation(s.e)} of {_of_shape(s)} gives {result}"
    operands = [
        number(int(v) if np.asarray(v).dtype.kind == "b" and s.row != "where" else v) for v in s.operands()
    ]
    if s.row == "reciprocal":
        return f"1 / {operands[0]} = {result}"
    if s.row == "rsub":
        operands.reverse()
    sign = "-" if s.row == "rsub" else INFIX.get(s.row, "")
    if sign and len(operands) == 2:
        operands = [f"({x})" if x.startswith("-") and k else x for k, x in enumerate(operands)]
        return f"{operands[0]} {sign} {operands[1]} = {result}"
    return f"{operation(s.e)}({', '.join(operands)}) = {result}"


def _of_shape(s: Spot) -> str:
    return f"{s.name(0)}, of shape {shape(np.shape(s.xs[0]))}," if s.xs else "nothing"


def cause(s: Spot) -> Cause:
    """Why the element is inf or nan."""
    for words in _CAUSES:
        found = words(s)
        if found is not None:
            return found
    return Cause(computed(s))


# ------------------------------------------------------------------------------------- one function for each cause
def _few_samples(s: Spot) -> Cause | None:
    if s.row not in ("std", "var", "std_mean", "var_mean"):
        return None
    axis, correction, _ = s.e.p
    dims = range(s.xs[0].ndim) if axis is None else (axis if isinstance(axis, tuple) else (axis,))
    n = int(np.prod([s.xs[0].shape[d] for d in dims]))
    if n - correction > 0:
        return None
    source = expression(s.e.place) or f"{operation(s.e)}()"
    along = "" if axis is None else f" along dim {', '.join(map(str, dims))}"
    return Cause(
        f"{source} has only {_samples(n)}{along} of {shape(s.xs[0].shape)} and divides by n - {number(correction)} = "
        f"{number(n - correction)}",
        "",
        f"{_with_argument(source, 'correction=0')}  # divides by n; or gather more samples",
    )  # fmt: skip


def _samples(n: int) -> str:
    return "one sample" if n == 1 else f"{n} samples"


def _with_argument(source: str, argument: str) -> str:
    """A call with one more argument."""
    if not source.endswith(")"):
        return source
    inner = source[:-1]
    return f"{inner}{'' if inner.endswith('(') else ', '}{argument})"


def _masked_row(s: Spot) -> Cause | None:
    if s.row not in ("softmax", "log_softmax", "logsumexp"):
        return None
    x, dim = s.xs[0], s.e.p[0] if isinstance(s.e.p, tuple) else s.e.p
    dim = dim[0] if isinstance(dim, tuple) else dim
    line = x[tuple(slice(None) if d == dim % x.ndim else i for d, i in enumerate(s.index))] if x.ndim else x
    if s.row != "logsumexp" and np.isneginf(line).all():
        where = (
            f"{s.name(0)}[{', '.join(':' if d == dim % x.ndim else str(i) for d, i in enumerate(s.index))}]"
        )
        return Cause(
            f"{operation(s.e)} of {where}, where every value is -inf, is 0 / 0",
            "all of these places are masked, so there is nothing to share out",
            f"torch.{operation(s.e)}({s.atom(0)}.clamp(min=-1e9), dim={dim})  # every row keeps finite values; "
            "or leave such rows out",
        )
    if np.isposinf(line).any():
        return Cause(f"{operation(s.e)} takes inf - inf in {s.name(0)}", "its input was inf already")
    return None


def _nothing(s: Spot) -> Cause | None:
    if s.row == "mean" and s.xs[0].size == 0:
        return Cause(
            f"the mean of {s.name(0)}, which has no elements ({shape(s.xs[0].shape)}), is 0 / 0",
            "a selection that is empty has no mean",
            f"{s.atom(0)}.numel() > 0  # ask this before taking the mean",
        )
    return None


def _exponential(s: Spot) -> Cause | None:
    if s.row not in ("exp", "exp2", "expm1", "sinh", "cosh") or not np.isfinite(s.operands()[0]):
        return None
    x = s.atom(0)
    most = {"exp2": np.log2}.get(s.row, np.log)(_largest(s.y))
    return Cause(
        f"{computed(s)}",
        f"{dtype(s.y.dtype)} holds {s.row} only up to {number(float(round(float(most), 1)))}",
        f"({x} - {x}.max()).{operation(s.e)}()  # or torch.softmax({s.name(0)}, dim), torch.logsumexp",
    )


def _domain(s: Spot) -> Cause | None:
    if s.row not in _DOMAINS or not np.isfinite(s.operands()[0]):
        return None
    v, x, f = s.operands()[0], s.atom(0), operation(s.e)
    at_zero = v == 0 and s.row in ("log", "log2", "log10", "rsqrt")
    if at_zero:
        origin = s.e.inputs[0]
        row = getattr(origin.op, "name", "") if origin.__class__ is Event else ""
        fix = f"{x}.clamp(min=1e-12).{f}()"
        if row == "softmax":
            fix = f"torch.log_softmax({label(origin.inputs[0], s.names)}, dim={origin.p})  # both in one, safely"
        elif row == "sigmoid":
            fix = f"torch.nn.functional.logsigmoid({label(origin.inputs[0], s.names)})  # log and sigmoid in one"
        return Cause(f"{computed(s)}", f"{s.name(0)} is 0 there", fix)
    fix = f"{x}.clamp(min=0).{f}()" if s.row in ("sqrt", "log") else f"check the range of {x} before {f}"
    return Cause(f"{computed(s)}", f"{f} is only defined for {_DOMAINS[s.row]}", fix)


def _quotient(s: Spot) -> Cause | None:
    if s.row not in ("div", "reciprocal", "remainder", "fmod", "addcdiv"):
        return None
    below = s.operands()[-1]
    if below != 0:
        if s.row == "div" and not np.isfinite(s.operands()).any():
            return Cause(f"{computed(s)}", "numerator and denominator are both infinite")
        return None
    bottom = s.name(len(s.xs) - 1)
    zero = s.row == "div" and s.operands()[0] == 0
    if bottom == "a tensor":  # nothing that the user has a word for
        return Cause(f"{computed(s)}")
    if bottom == "0":
        return Cause(f"{computed(s)}", "the divisor is the number 0")
    return Cause(
        f"{computed(s)}",
        f"{bottom} is 0 there" + (", and so is " + s.name(0) if zero else ""),
        f"{s.atom(0) if s.row == 'div' else 1} / ({atom(bottom)} + 1e-8)  # a small number keeps the divisor away from 0",
    )


def _power(s: Spot) -> Cause | None:
    if s.row not in ("pow", "pow_number", "pow_base"):
        return None
    base, power = s.operands()[:2]
    if base == 0 and power < 0:
        return Cause(f"{computed(s)}", "0 to a negative power divides by 0", f"{s.atom(0)}.clamp(min=1e-8)")
    if base < 0 and power != np.floor(power):
        return Cause(f"{computed(s)}", "a negative number has no real fractional power", f"{s.atom(0)}.abs()")
    return None


def _opposites(s: Spot) -> Cause | None:
    if s.pointwise and len(s.xs) >= 2:
        a, b = s.operands()[:2]
        if s.row in ("add", "sub", "rsub") and np.isinf(a) and np.isinf(b):
            return Cause(f"{computed(s)}", "two infinities do not cancel")
        if s.row == "mul" and (a == 0 and np.isinf(b) or b == 0 and np.isinf(a)):
            return Cause(
                f"{computed(s)}",
                "0 times inf is nan: multiplying by a mask of 0 does not remove an inf",
                f"torch.where({s.name(0 if a == 0 else 1)} != 0, {s.name(1 if a == 0 else 0)}, 0.)",
            )
    return None


def _converted(s: Spot) -> Cause | None:
    if s.row != "cast" or not np.isfinite(s.operands()[0]):
        return None
    v = s.operands()[0]
    return Cause(
        f"{number(v)} does not fit into {dtype(s.y.dtype)}",
        f"{dtype(s.y.dtype)} ends at {number(_largest(s.y))}",
        f"{s.atom(0)}.bfloat16()  # has the range of float32; or stay in {dtype(s.xs[0].dtype)}",
    )


def _overflow(s: Spot) -> Cause | None:
    """A finite result that the dtype cannot hold."""
    if not all(not is_floating(x.dtype) or np.isfinite(x).all() for x in s.xs) or s.y.dtype.kind != "f":
        return None
    most = _largest(s.y)
    reason = f"{dtype(s.y.dtype)} ends at {number(most)}"
    wide = "float64" if s.y.dtype == np.float32 else "float32"
    to = "double" if wide == "float64" else "float"
    fix = f"{_widened(s, to)}  # computes in {wide}"
    if s.y.dtype.itemsize == 2:
        fix += "; torch.bfloat16 has the same range as that"
    exact = _wide(s)
    if exact is not None and np.isfinite(exact):
        said = computed(s)
        if s.pointwise:
            said = f"{said.rpartition(' = ')[0]} = {number(exact)} becomes inf"
        else:
            said = f"{operation(s.e)} of {_of_shape(s)} would be {number(exact)} and becomes inf"
        return Cause(said, reason, fix)
    if s.row in _SUMS or s.pointwise and s.row in ("mul", "add", "sub", "square", "pow", "pow_number"):
        return Cause(computed(s), reason, fix)
    return None


def _widened(s: Spot, to: str) -> str:
    """The operation with its inputs cast."""
    parts = [f"{s.atom(i)}.{to}()" if x.__class__ is Event else number(x) for i, x in enumerate(s.e.inputs)]
    if s.row in INFIX and len(parts) == 2:
        return f"{parts[0]} {INFIX[s.row]} {parts[1]}"
    return f"{parts[0]}.{operation(s.e)}({', '.join(parts[1:])})" if parts else ""


def _wide(s: Spot) -> float | None:
    """The element in a dtype with more room."""
    from .values import run

    wide = np.float64 if s.y.dtype != np.float64 else np.longdouble
    if wide is np.longdouble or s.row == "cast":
        return None
    values = [x.astype(wide) if x.dtype.kind == "f" else x for x in s.xs]
    out = run(s.e, values)
    return None if out is None or out.shape != s.y.shape else float(out[s.index] if out.ndim else out)


def _largest(y: Array) -> float:
    return float(dtypes.finfo(dtypes.of(y.dtype)).max)


_CAUSES: tuple[Callable[[Spot], Cause | None], ...] = (
    _few_samples, _masked_row, _nothing, _exponential, _domain, _quotient, _power, _opposites, _converted, _overflow,
)  # fmt: skip
