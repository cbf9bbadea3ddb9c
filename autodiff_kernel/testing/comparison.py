"""assert_close: compare tensors, numbers, and containers of them, and say where and by how much they differ."""

import cmath
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core import device as devices
from ..core import dtype as dtypes
from ..core.create import as_tensor
from ..core.dtype import is_floating
from ..core.once import warn
from ..core.tensor import Tensor

# The default tolerances (relative, absolute) grow with the rounding errors of a dtype; integers must be equal.
TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
              "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7)}  # fmt: skip
NUMBERS = (int, float, complex)


class Rules(NamedTuple):
    """How to compare: see `assert_close`."""

    rtol: float | None
    atol: float | None
    equal_nan: bool
    device: bool
    dtype: bool
    layout: bool
    stride: bool
    subclasses: bool

    def tolerances(self, *names: str) -> tuple[float, float]:
        """The tolerances asked for, or the widest of these dtypes' own."""
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        own = [TOLERANCES.get(name, (0.0, 0.0)) for name in names]
        return max(r for r, _ in own), max(a for _, a in own)


class Differ(Exception):
    """Two things differ: the kind of error to raise, the text, and the keys that lead to them in containers."""

    def __init__(self, text: str, kind: type[Exception] = AssertionError) -> None:
        super().__init__(text)
        self.text, self.kind, self.path = text, kind, ""

    def message(self) -> str:
        return self.text + (f"\n\nThe failure occurred for item {self.path}" if self.path else "")


def assert_close(
    actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None, atol: float | None = None,
    equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True, check_layout: bool = True,
    check_stride: bool = False, msg: str | Callable[[str], str] | None = None,
) -> None:  # fmt: skip
    """Raise AssertionError unless |actual - expected| <= atol + rtol · |expected| for all elements.

    actual, expected: tensors, NumPy arrays, numbers, None, or sequences and dicts of these, of equal types.  rtol, atol:
    both or none; without them they follow from the dtype (float32: 1.3e-6 and 1e-5).  msg: a text in place of ours, or a
    function that makes one of it.

    >>> import autodiff_kernel as torch
    >>> torch.testing.assert_close(torch.tensor([1., 2.]), torch.tensor([1., 3.]))
    Traceback (most recent call last):
    AssertionError: Tensor-likes are not close!
    <BLANKLINE>
    Mismatched elements: 1 / 2 (50.0%)
    Greatest absolute difference: 1.0 at index (1,) (up to 1e-05 allowed)
    Greatest relative difference: 0.3333333432674408 at index (1,) (up to 1.3e-06 allowed)
    """
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.")
    rules = Rules(
        rtol, atol, equal_nan, check_device, check_dtype, check_layout, check_stride, allow_subclasses
    )
    try:
        compare(actual, expected, rules)
    except Differ as differ:
        text = differ.message()
        if msg is not None and differ.kind is AssertionError:
            text = msg(text) if callable(msg) else msg
        raise differ.kind(text) from None


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """The old name of `assert_close`, which asks less: dtypes and devices may differ, and nan equals nan.

    >>> import autodiff_kernel as torch, warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.testing.assert_allclose(torch.ones(2), [1., 1.])
    """
    warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. Please use "
        "`torch.testing.assert_close()` instead. You can find detailed upgrade instructions in "
        "https://github.com/pytorch/pytorch/issues/61844.",
        FutureWarning,
    )
    a = actual if isinstance(actual, Tensor) else as_tensor(actual)
    b = expected if isinstance(expected, Tensor) else as_tensor(expected, dtype=a.dtype)
    if rtol is None and atol is None:
        own = [TOLERANCES.get(t.dtype.name, (0.0, 0.0)) for t in (a, b)]
        rtol, atol = max(r for r, _ in own), max(x for _, x in own)
    assert_close(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=False, check_dtype=False, check_stride=False,
                 msg=msg or None)  # fmt: skip


# ------------------------------------------------------------------------------------------------ what is compared how
def compare(a: Any, b: Any, rules: Rules) -> None:
    """Raise Differ if a and b are not close."""
    if is_list(a) and is_list(b):
        if len(a) != len(b):
            raise Differ(f"The length of the sequences mismatch: {len(a)} != {len(b)}")
        for i in range(len(a)):
            inside(i, a[i], b[i], rules)
    elif isinstance(a, Mapping) and isinstance(b, Mapping):
        compare_keys(a, b)
        for key in sorted(a, key=str):
            inside(key, a[key], b[key], rules)
    elif a is None or b is None:
        if a is not b:
            raise Differ(f"None mismatch: {a} is not {b}")
    elif is_bool(a) and is_bool(b):
        if bool(a) is not bool(b):
            raise Differ(f"Booleans mismatch: {a} is not {b}")
    elif is_number(a) and is_number(b):
        compare_numbers(a, b, rules)
    elif isinstance(a, (Tensor, np.ndarray)) and related(a, b, rules):
        compare_tensors(as_tensor(a), as_tensor(b), rules)
    else:
        raise Differ(
            f"No comparison pair was able to handle inputs of type {shown(type(a))} and {shown(type(b))}.",
            TypeError,
        )


def inside(key: Any, a: Any, b: Any, rules: Rules) -> None:
    try:
        compare(a, b, rules)
    except Differ as differ:
        differ.path = f"[{key!r}]{differ.path}"
        raise


def is_list(x: Any) -> bool:
    return isinstance(x, Sequence) and not isinstance(x, (str, bytes))


def is_bool(x: Any) -> bool:
    return isinstance(x, (bool, np.bool_))


def is_number(x: Any) -> bool:
    return isinstance(x, (*NUMBERS, np.number)) and not is_bool(x)


def related(a: Any, b: Any, rules: Rules) -> bool:
    """Are the types equal, or (if that is allowed) one made from the other?"""
    return type(a) is type(b) or rules.subclasses and (isinstance(a, type(b)) or isinstance(b, type(a)))


def shown(kind: type) -> str:
    return "<class 'torch.Tensor'>" if kind is Tensor else str(kind)


def compare_keys(a: Mapping[Any, Any], b: Mapping[Any, Any]) -> None:
    if set(a) != set(b):
        missing, more = (sorted(set(x) - set(y), key=str) for x, y in ((b, a), (a, b)))
        raise Differ(
            "The keys of the mappings do not match:\n"
            f"Missing keys in the actual mapping: {missing}\n"
            f"Additional keys in the actual mapping: {more}"
        )


# ------------------------------------------------------------------------------------------------ numbers
def plain(x: Any) -> Any:
    return x.item() if isinstance(x, np.generic) else x


def kind_of(x: Any) -> type:
    return next(k for k in NUMBERS if isinstance(x, k))


def compare_numbers(a: Any, b: Any, rules: Rules) -> None:
    a, b = plain(a), plain(b)
    kinds = kind_of(a), kind_of(b)
    if rules.dtype and kinds[0] is not kinds[1]:
        raise Differ(f"The (d)types do not match: {kinds[0]} != {kinds[1]}.")
    names = [{int: "int64", float: "float64", complex: "complex128"}[k] for k in kinds]
    rtol, atol = rules.tolerances(*names)
    if a == b or rules.equal_nan and cmath.isnan(a) and cmath.isnan(b):
        return
    if cmath.isfinite(a) and cmath.isfinite(b) and abs(a - b) <= atol + rtol * abs(b):
        return
    raise Differ(scalars_text(a, b, rtol, atol))


def scalars_text(a: Any, b: Any, rtol: float, atol: float) -> str:
    off = abs(a - b)
    relative = off / abs(b) if b else float("inf")
    exact = not rtol and not atol
    lines = [
        f"Scalars are not {'equal' if exact else 'close'}!",
        "",
        f"Expected {b} but got {a}.",
        f"Absolute difference: {off}" + ("" if exact else f" (up to {atol} allowed)"),
        f"Relative difference: {relative}" + ("" if exact else f" (up to {rtol} allowed)"),
    ]
    return "\n".join(lines)


# ------------------------------------------------------------------------------------------------ tensors
def compare_tensors(a: Tensor, b: Tensor, rules: Rules) -> None:
    def same(what: str, x: Any, y: Any) -> None:
        if x != y:
            raise Differ(f"The values for attribute '{what}' do not match: {x} != {y}.")

    same("shape", a.shape, b.shape)
    if rules.device:
        same("device", a.device, b.device)
    if rules.dtype:
        same("dtype", a.dtype, b.dtype)
    if rules.stride:
        same("stride()", a.stride(), b.stride())
    rtol, atol = rules.tolerances(a.dtype.name, b.dtype.name)
    x, y = (devices.to_numpy(t.raw) for t in (a, b))
    if a.dtype != b.dtype:
        common = dtypes.promote_types(a.dtype, b.dtype).np
        x, y = x.astype(common), y.astype(common)
    with np.errstate(all="ignore"):
        close = closeness(x, y, rtol, atol, rules.equal_nan)
        if close.all():
            return
        if not x.ndim:
            raise Differ(scalars_text(x.item(), y.item(), rtol, atol))
        raise Differ(tensors_text(x, y, close, rtol, atol))


def closeness(x: Any, y: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    """Element by element: equal, or finite and within the tolerances; nan with nan if that is wanted."""
    close = np.asarray(x == y)
    if rtol or atol:
        if x.dtype.kind in "biu":
            x, y = x.astype(np.float64), y.astype(np.float64)
        close = close | np.isfinite(x) & np.isfinite(y) & (np.abs(x - y) <= atol + rtol * np.abs(y))
    if equal_nan and is_floating(x.dtype):
        close = close | np.isnan(x) & np.isnan(y)
    return close


def tensors_text(x: Any, y: Any, close: Any, rtol: float, atol: float) -> str:
    if x.dtype.kind in "biu":
        x, y = x.astype(np.int64), y.astype(np.int64)
    off = np.where(close, 0, np.abs(x - y))
    relative = np.where(close, 0, np.abs(x - y) / np.abs(y))
    if relative.dtype == np.float64 and x.dtype.kind in "iu":
        relative = relative.astype(dtypes.get_default_dtype().np)
    wrong, exact = int((~close).sum()), not rtol and not atol

    def greatest(word: str, values: Any, allowed: float) -> str:
        flat = values.ravel()
        at = (
            int(np.argmax(np.where(np.isnan(flat), np.inf, flat)))
            if np.isnan(flat).any()
            else int(np.argmax(flat))
        )
        at = int(np.flatnonzero(np.isnan(flat))[0]) if np.isnan(flat).any() else at
        index = tuple(int(i) for i in np.unravel_index(at, x.shape))
        limit = "" if exact else f" (up to {allowed} allowed)"
        return f"Greatest {word} difference: {flat[at].item()} at index {index}{limit}"

    lines = [
        f"Tensor-likes are not {'equal' if exact else 'close'}!",
        "",
        f"Mismatched elements: {wrong} / {x.size} ({wrong / x.size:.1%})",
        greatest("absolute", off, atol),
        greatest("relative", relative, rtol),
    ]
    return "\n".join(lines)
