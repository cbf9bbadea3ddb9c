"""Printing: the text that PyTorch shows for a tensor, and the options that steer it.

A tensor of more than `threshold` elements shows only `edgeitems` entries at both ends of each dimension,
and only those are read (or copied from a GPU): printing a huge tensor costs what printing a small one costs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from . import dtype as dtypes
from .dtype import dtype as Dtype


class _Options:
    def __init__(self) -> None:
        self.precision: int = 4
        self.threshold: float = 1000
        self.edgeitems: int = 3
        self.linewidth: int = 80
        self.sci_mode: bool | None = None


_options = _Options()
_PROFILES: Final[dict[str, dict[str, Any]]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Change how tensors are printed; what is not given stays, except `sci_mode`, which returns to automatic.

    Args:
        precision: digits after the point (default 4).
        threshold: number of elements above which a tensor is shown by its edges (default 1000).
        edgeitems: entries shown at each end of a dimension then (default 3).
        linewidth: characters per line (default 80).
        profile: "default", "short" (2 digits, 2 edge items) or "full" (never summarise), applied first.
        sci_mode: scientific notation always (True), never (False), or where the numbers ask for it (None).

    Raises ValueError for an unknown profile.

    >>> set_printoptions(precision=2)
    >>> print(format_tensor(np.array([0.12345, 1])))
    tensor([0.12, 1.00], dtype=torch.float64)
    >>> set_printoptions(profile="default")
    """
    if profile is not None and profile not in _PROFILES:
        raise ValueError(f"unknown profile {profile!r}: expected 'default', 'short' or 'full'")
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    chosen = dict(_PROFILES.get(profile or "", {})) | {k: v for k, v in given.items() if v is not None}
    for name, value in chosen.items():
        setattr(_options, name, value)
    _options.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """Return the present options as a dictionary that `set_printoptions(**options)` takes back.

    >>> get_printoptions()
    {'precision': 4, 'threshold': 1000, 'edgeitems': 3, 'linewidth': 80, 'sci_mode': None}
    """
    return dict(vars(_options))


@contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Set print options (those of `set_printoptions`) inside a `with` block only.

    >>> with printoptions(sci_mode=True): print(format_tensor(np.float32([1.5])))
    tensor([1.5000e+00])
    """
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        set_printoptions(**before)


def format_tensor(
    array: Any,
    *,
    dtype: Dtype | None = None,
    requires_grad: bool = False,
    grad_fn_name: str | None = None,
    device: str | None = None,
    tangent: str | None = None,
    prefix: str = "tensor(",
    indent: int | None = None,
    to_host: Callable[[Any], Any] = np.asarray,
) -> str:
    """Return the text that PyTorch prints for a tensor.

    Args:
        array: the raw array (any shape), NumPy scalar, or GPU array.
        dtype: its dtype, where it is not the one of the array.
        requires_grad, grad_fn_name: of the tensor; a `grad_fn` name ("MulBackward0") is shown in place of
            `requires_grad=True`.
        device: shown as `device='cuda:0'` when given.
        tangent: text of a dual number's tangent, shown last when given.
        prefix: what the text begins with; continuation lines are indented by its length, or by `indent`.
        to_host: turns a piece of `array` into a NumPy array; called on the shown pieces only.

    >>> print(format_tensor(np.array([[1, -2], [3, 4]], np.float32), grad_fn_name="MulBackward0"))
    tensor([[ 1., -2.],
            [ 3.,  4.]], grad_fn=<MulBackward0>)
    """
    dtype = dtype or dtypes.of(array.dtype)
    indent = len(prefix) if indent is None else indent
    size = math.prod(array.shape)
    text = prefix + (_contents(array, size, indent, to_host) if size else "[]")

    notes = []
    if device is not None:
        notes.append(f"device='{device}'")
    if (not size and array.ndim != 1) or (size and not _options.edgeitems):
        notes.append(f"size={tuple(array.shape)}")
    if not _is_plain(dtype, size):
        notes.append(f"dtype={dtype}")
    if grad_fn_name is not None:
        notes.append(f"grad_fn=<{grad_fn_name}>")
    elif requires_grad:
        notes.append("requires_grad=True")
    if tangent is not None:
        notes.append(f"tangent={tangent}")
    return _with_notes(text, notes, indent)


def _is_plain(dtype: Dtype, size: int) -> bool:
    """Whether the dtype goes without saying: a reader takes it from the numbers and the default dtype."""
    default = dtypes.get_default_dtype()
    if not size:  # no numbers to tell an integer by
        return dtype is default
    return dtype in (default, dtypes.int64, dtypes.bool, default.to_complex())


def _with_notes(text: str, notes: list[str], indent: int) -> str:
    """Append `, note` for each note, on a new line where the line grows too long, and the closing bracket."""
    # PyTorch counts two characters more than the line has; where lines break depends on it.
    used = len(text) - text.rfind("\n") + 1
    for note in notes:
        if used + len(note) + 2 > _options.linewidth:
            text += ",\n" + " " * indent + note
            used = indent + len(note)
        else:
            text += ", " + note
            used += len(note) + 2
    return text + ")"


# --- the numbers -------------------------------------------------------------------------------------------


def _contents(array: Any, size: int, indent: int, to_host: Callable[[Any], Any]) -> str:
    edge = _options.edgeitems
    if array.ndim and size > _options.threshold:
        if not edge:
            return "[...]"
        shown = _edges(array, edge, to_host)
    else:
        shown = np.asarray(to_host(array))
    cells, width = _complex_cells(shown) if shown.dtype.kind == "c" else _cells(shown)
    if not array.ndim:
        return cells[0]
    per_line = max(1, (_options.linewidth - indent - array.ndim + 1) // (width + 2))
    cut = [edge if full > kept else 0 for full, kept in zip(array.shape, shown.shape, strict=True)]
    return _brackets(iter(cells), shown.shape, cut, per_line, indent)


def _edges(array: Any, edge: int, to_host: Callable[[Any], Any]) -> np.ndarray[Any, Any]:
    """Gather the shown corners of an array: both ends of each dimension that is longer than twice `edge`."""
    parts = [
        [slice(None)] if length <= 2 * edge else [slice(0, edge), slice(length - edge, length)]
        for length in array.shape
    ]

    def joined(where: tuple[slice, ...]) -> np.ndarray[Any, Any]:
        axis = len(where)
        if axis == len(parts):
            return np.asarray(to_host(array[where]))
        return np.concatenate([joined((*where, part)) for part in parts[axis]], axis)

    return joined(())


def _brackets(
    cells: Iterator[str], shape: tuple[int, ...], cut: list[int], per_line: int, indent: int
) -> str:
    """Lay out the cells in nested brackets; a dimension with `cut` has "..." after that many entries."""
    length, edge = shape[0], cut[0]
    if len(shape) == 1:
        row = [next(cells) for _ in range(length)]
        if edge:
            row.insert(edge, " ...")
        lines = [", ".join(row[start : start + per_line]) for start in range(0, len(row), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    blocks = [_brackets(cells, shape[1:], cut[1:], per_line, indent + 1) for _ in range(length)]
    if edge:
        blocks.insert(edge, "...")
    return "[" + ("," + "\n" * (len(shape) - 1) + " " * (indent + 1)).join(blocks) + "]"


def _cells(shown: np.ndarray[Any, Any]) -> tuple[list[str], int]:
    """Format each number in the style that suits them all; return the padded texts and the style's width."""
    if shown.dtype.kind in "biu":
        texts = [str(number) for number in shown.ravel().tolist()]
        width = max(map(len, texts))
    else:
        values = shown.ravel().astype(np.float64)
        write = _style(values)
        numbers = values.tolist()
        texts = [write(number) for number in numbers]
        # Zeros, infinities and nan don't count: a column of zeros has width 1 though "0." takes two places.
        counted = [len(t) for t, n in zip(texts, numbers, strict=True) if n and math.isfinite(n)]
        width = max(counted, default=1)
    return [text.rjust(width) for text in texts], width


def _complex_cells(shown: np.ndarray[Any, Any]) -> tuple[list[str], int]:
    real, real_width = _cells(shown.real)
    imaginary, imaginary_width = _cells(shown.imag)
    signed = [text.lstrip() if text.lstrip()[0] == "-" else "+" + text.lstrip() for text in imaginary]
    cells = [a + b + "j" for a, b in zip(real, signed, strict=True)]
    return cells, real_width + imaginary_width + 1


def _style(values: np.ndarray[Any, Any]) -> Callable[[float], str]:
    """Choose between `1.`, `1.0000` and `1.0000e+00` by PyTorch's rules, from the finite non-zero values."""
    digits = _options.precision
    counted = np.abs(values[np.isfinite(values) & (values != 0)])
    if not counted.size:
        return _write_whole
    low, high = float(counted.min()), float(counted.max())
    scientific = _options.sci_mode
    if scientific is None:
        scientific = high / low > 1000 or high > 1e8 or low < 1e-4
    if scientific:
        return f"{{:.{digits}e}}".format
    if (counted == np.floor(counted)).all():
        return _write_whole
    return f"{{:.{digits}f}}".format


def _write_whole(number: float) -> str:
    return f"{number:.0f}." if math.isfinite(number) else str(number)
