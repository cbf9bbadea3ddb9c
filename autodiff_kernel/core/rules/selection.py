"""Selection: which of two values an element takes. where, clamp, maximum, minimum."""

from functools import cache
from typing import Any

import numpy as np

from ..api import check_tensor, into, numpy_words, public
from ..dtype import of
from ..meeting import NUMBERS, common_dtype, number_as
from ..op import Op
from ..single import elementwise
from ..tensor import Tensor
from .casting import to_dtype
from .comparison import ne
from .forms import choose, pair_names, refuse, where

where_row = Op(
    "where", choose, None, lambda g, n: where(n.a, g, 0), lambda g, n: where(n.a, 0, g), reads=("", "a", "a"),
    mode="elementwise", spreads=True, types="same", types_from=1, symbol="?:",
    partials=("", "1 where {a}, else 0", "0 where {a}, else 1"),
    latex=r"\begin{{cases}} {b} & \text{{where }} {a} \\ {c} & \text{{else}} \end{{cases}}",
    doc="The second input where the condition holds, the third where not.",
)  # fmt: skip


@public("where", method=False)
def where_function(condition: Tensor, input: Any = None, other: Any = None, *, out: Any = None) -> Any:
    """input where the condition holds, else other; both may be tensors or numbers, and everything broadcasts.

    With the condition alone it gives the indices where it holds, one tensor for each dimension.  Raises
    RuntimeError unless the condition is a bool tensor.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([-1., 2.])
    >>> torch.where(x > 0, x, 0.)
    tensor([0., 2.])
    """
    if not isinstance(condition, Tensor) or (input is None) != (other is None):
        raise _where_mix(condition, input, other)
    if input is None:
        return condition.nonzero(as_tuple=True)  # type: ignore[attr-defined]
    for value in (input, other):
        if not isinstance(value, (Tensor, *NUMBERS)):
            raise _where_mix(condition, input, other)
    if condition.raw.dtype != bool:
        if condition.raw.dtype != np.uint8:
            raise RuntimeError(
                "where expected condition to be a boolean tensor, but got a tensor with dtype "
                f"{condition.dtype.scalar_type}"
            )
        condition = ne(condition, 0)
    result = where_row(condition, _like(input, other), _like(other, input))
    return result if out is None else into(out, result)


def _like(value: Any, other: Any) -> Any:
    """A number that meets a tensor of floats, in its dtype: what promotion would give, and faster."""
    if not isinstance(value, Tensor) and not isinstance(other, Tensor):  # two numbers: in the default dtype
        return number_as(value, common_dtype([value, other]).np)
    if value.__class__ in (int, float) and isinstance(other, Tensor) and other.raw.dtype.kind == "f":
        return other.raw.dtype.type(value)
    return value


def _where_mix(*given: Any) -> TypeError:
    names = ", ".join(type(x).__name__ for x in given if x is not None)
    return TypeError(
        f"where() received an invalid combination of arguments - got ({names}), but expected a bool Tensor and two "
        "more Tensors or numbers, or the bool Tensor alone"
    )


@public("where", function=False)
def where_method(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """This tensor where the condition holds, else `other` (a tensor or a number).

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([-1., 2.])
    >>> x.where(x > 0, 0.)
    tensor([0., 2.])
    """
    result: Tensor = where_function(condition, self, other)
    return result


# ------------------------------------------------------------------------------------------------ maximum and minimum
def _extreme(name: str, fwd: Any, word: str) -> Op:
    """maximum or minimum: where both are equal each gets half of the cotangent, as in PyTorch."""
    low = name == "maximum"

    def a(g: Any, n: Any) -> Any:
        other_wins = n.a < n.b if low else n.a > n.b
        return where(other_wins, 0, where(n.a == n.b, g / 2, g))

    def b(g: Any, n: Any) -> Any:
        this_wins = n.a > n.b if low else n.a < n.b
        return where(this_wins, 0, where(n.a == n.b, g / 2, g))

    sign = ">" if low else "<"
    return Op(
        name, fwd, a, b, reads=("ab", "ab"), mode="elementwise", spreads=True, types="same", symbol=name[:3],
        partials=(
            f"1 where {{a}} {sign} {{b}}, ½ where equal, else 0", f"1 where {{b}} {sign} {{a}}, ½ where equal, else 0"
        ),
        latex=rf"\{name[:3]}({{a}}, {{b}})", doc=f"The {word} of both elements; nan if one is nan.",
    )  # fmt: skip


def _extreme_but_nan(name: str, fwd: Any, word: str) -> Op:
    """fmax or fmin: nan loses, and where both are equal the first one wins."""
    high = name == "fmax"

    def first(n: Any) -> Any:
        return ((n.a >= n.b) if high else (n.a <= n.b)) | (n.b != n.b)

    sign = "≥" if high else "≤"
    return Op(
        name, fwd, lambda g, n: where(first(n), g, 0), lambda g, n: where(first(n), 0, g), reads=("ab", "ab"),
        mode="elementwise", spreads=True,
              types="same", partials=(f"1 where {{a}} {sign} {{b}}, else 0", f"0 where {{a}} {sign} {{b}}, else 1"),
        latex=rf"\{name[1:]}({{a}}, {{b}})", doc=f"The {word} of both elements; nan only if both are nan.",
    )  # fmt: skip


maximum = _extreme("maximum", np.maximum, "larger")
minimum = _extreme("minimum", np.minimum, "smaller")
fmax = _extreme_but_nan("fmax", np.fmax, "larger")
fmin = _extreme_but_nan("fmin", np.fmin, "smaller")
for _row, _result in ((maximum, "[2., 3.]"), (minimum, "[1., 2.]"), (fmax, "[2., 3.]"), (fmin, "[1., 2.]")):
    pair_names(
        _row, _row.name, inplace=False,
        example=f">>> torch.{_row.name}(torch.tensor([1., 3.]), torch.tensor([2., 2.]))\ntensor({_result})",
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------ clamp
def _clamp(a: Any, p: Any) -> Any:
    low, high = p
    if low is not None:
        a = np.maximum(a, low)
    return a if high is None else np.minimum(a, high)


def _inside(a: Any, p: Any) -> Any:
    """Where the gradient passes: the borders belong to it, as in PyTorch."""
    low, high = p
    if low is None:
        return a <= high
    return a >= low if high is None else (a >= low) & (a <= high)


def _clamp_row(name: str) -> Op:
    def node(p: Any) -> str:
        return {(True, False): "ClampMinBackward0", (False, True): "ClampMaxBackward0"}.get(
            (p[0] is not None, p[1] is not None), "ClampBackward1"
        ) if name != "clamp" else "ClampBackward1"  # fmt: skip

    return Op(
        name, _clamp, lambda g, n: where(_inside(n.a, n.p), g, 0), reads=("a",), mode="elementwise", params=True,
        node=node, partials=("1 inside the limits, else 0",), latex=r"\text{{clamp}}({a})",
        doc="Each element, but no less than the lower and no more than the upper limit.",
    )  # fmt: skip


clamp_row, clamp_one_row = _clamp_row("clamp"), _clamp_row("clamp_one_sided")


def _clamp_tensors(a: Any, low: Any, high: Any) -> Any:
    if low is not None:
        a = np.maximum(a, low)
    return a if high is None else np.minimum(a, high)


def _self_rule(g: Any, n: Any) -> Any:
    return where(_inside(n.a, (n.b, n.c)), g, 0)


def _low_rule(g: Any, n: Any) -> Any:
    below = n.a < n.b
    return where(below if n.c is None else below & (n.b < n.c), g, 0)


def _high_rule(g: Any, n: Any) -> Any:
    above = n.a > n.c
    return where(above if n.b is None else above | (n.c < n.b), g, 0)


clamp_tensors = Op(
    "clamp_tensors", _clamp_tensors, _self_rule, _low_rule, _high_rule, reads=("abc", "abc", "abc"),
    mode="elementwise", spreads=True, types="same", node="ClampBackward0", symbol="clamp",
    partials=("1 inside the limits, else 0", "1 below {b}, else 0", "1 above {c}, else 0"),
    latex=r"\text{{clamp}}({a}, {b}, {c})",
    doc="Each element, but no less than the lower and no more than the upper limit's element.",
)  # fmt: skip


def _one_limit(name: str, fwd: Any, low: bool) -> Op:
    def a(g: Any, n: Any) -> Any:
        return where(n.a >= n.b if low else n.a <= n.b, g, 0)

    def b(g: Any, n: Any) -> Any:
        return where(n.a < n.b if low else n.a > n.b, g, 0)

    sign = "≥" if low else "≤"
    return Op(
        name, fwd, a, b, reads=("ab", "ab"), mode="elementwise", spreads=True, types="same",
        node=f"Clamp{'Min' if low else 'Max'}Backward1", symbol=name[:9],
        partials=(f"1 where {{a}} {sign} {{b}}, else 0", f"0 where {{a}} {sign} {{b}}, else 1"),
        latex=rf"\{'max' if low else 'min'}({{a}}, {{b}})",
        doc=f"Each element, but no {'less' if low else 'more'} than the limit's element.",
    )  # fmt: skip


clamp_min_tensor = _one_limit("clamp_min_tensor", np.maximum, True)
clamp_max_tensor = _one_limit("clamp_max_tensor", np.minimum, False)


@public("clamp", "clip", inplace=True)
def clamp(input: Tensor, min: Any = None, max: Any = None, *, out: Any = None) -> Tensor:
    """Each element limited to the interval from `min` to `max`: two numbers or two tensors, one of them may be None.

    The gradient passes where the element lies in the interval, its borders included.

    >>> import autodiff_kernel as torch
    >>> torch.clamp(torch.tensor([-1., 0.5, 3.]), 0, 1)
    tensor([0.0000, 0.5000, 1.0000])
    """
    check_tensor("clamp", input)
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    kinds = {isinstance(x, Tensor) for x in (min, max) if x is not None}
    if kinds == {True}:
        result = clamp_tensors(input, min, max)
    elif len(kinds) == 1 and all(x is None or isinstance(x, NUMBERS) for x in (min, max)):
        result = _clamp_numbers(clamp_row, input, min, max)
    else:
        raise TypeError(
            f"clamp() received an invalid combination of arguments - got (Tensor, min={type(min).__name__}, "
            f"max={type(max).__name__}), but expected two numbers or two Tensors (one of them may be None)"
        )
    return result if out is None else into(out, result)


def _clamp_numbers(row: Op, input: Tensor, low: Any, high: Any) -> Tensor:
    kind = input.raw.dtype.kind
    if kind != "f":
        target = common_dtype([input.raw, *(x for x in (low, high) if x is not None)])
        if target.np.kind == "b":
            side = "" if None not in (low, high) else "min_" if high is None else "max_"
            refuse(f"clamp_{side}scalar_cpu", input.raw)
        if high is not None and target.np.kind in "iu" and not -(2**63) <= high <= np.iinfo(target.np).max:
            raise RuntimeError(f"value cannot be converted to type {of(target.np).name}_t without overflow")
        low, high = (None if x is None else number_as(x, target.np).item() for x in (low, high))
        input = to_dtype(input, target)
    result: Tensor = _fast(row)(input, (low, high))
    return result


_fast = cache(elementwise)


def _one_sided(name: str, tensor_row: Op, low: bool) -> None:
    word = "min" if low else "max"

    def function(input: Tensor, limit: Any, *, out: Any = None) -> Tensor:
        check_tensor(name, input)
        if isinstance(limit, Tensor):
            result = tensor_row(input, limit)
        elif isinstance(limit, NUMBERS):
            result = _clamp_numbers(clamp_one_row, input, *((limit, None) if low else (None, limit)))
        else:
            check_tensor(name, limit, word, 2)
        return result if out is None else into(out, result)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Each element, but no {"less" if low else "more"} than the limit, a number or a tensor.

    >>> import autodiff_kernel as torch
    >>> torch.{name}(torch.tensor([-1., 3.]), 0)
    tensor({"[0., 3.]" if low else "[-1.,  0.]"})
    """
    public(name, inplace=True)(numpy_words(function, {word: "limit"}))


_one_sided("clamp_min", clamp_min_tensor, True)
_one_sided("clamp_max", clamp_max_tensor, False)
