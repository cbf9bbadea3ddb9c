"""How tensors printed in 2017: values in columns, a common factor above them, and the type and size below."""

import math
from typing import Any

import numpy as np

from .. import device as devices
from ..tensor import Parameter, Tensor
from .strict import type_of
from .variables import is_variable

PRECISION, THRESHOLD, EDGE, WIDTH = 4, 1000, 3, 80


class Numbers:
    """The format that fits all numbers of a tensor: `write(x)`, the width of a column, and the common factor."""

    def __init__(self, values: Any, least: int = -1) -> None:
        self.scale = 1.0
        v = np.abs(np.asarray(values, np.float64).ravel())
        finite = v[np.isfinite(v)]
        if finite.size < v.size:
            least = max(least, 3)
        whole = bool((finite == np.ceil(finite)).all())
        low = _digits(finite.min()) if finite.size else 1
        high = _digits(finite.max()) if finite.size else 1
        if whole:
            if high > PRECISION + 1:
                self.width, self.form = max(least, 7 + PRECISION), f".{PRECISION}e"
            else:
                self.width, self.form = max(least, high + 1), ".0f"
        elif high - low > PRECISION:
            self.width = max(least, 7 + PRECISION + (abs(high) > 99 or abs(low) > 99))
            self.form = f".{PRECISION}e"
        else:
            self.form = f".{PRECISION}f"
            if high > PRECISION + 1 or high < 0:
                self.width, self.scale = max(least, 7), 10.0 ** (high - 1)
            else:
                self.width = max(least, 7 if high == 0 else high + 6)

    def write(self, x: Any) -> str:
        return f"{float(x) / self.scale:{self.width}{self.form}}"

    @property
    def factor(self) -> str:
        return "" if self.scale == 1 else f"{self.scale:.5e} *\n"


def _digits(x: Any) -> int:
    """How many digits stand before the point; of 0, one."""
    return 1 if x == 0 else math.floor(math.log10(x)) + 1


def text(t: Tensor) -> str:
    """What `print(t)` showed."""
    head = "Variable containing:" if is_variable(t) and not isinstance(t, Parameter) else ""
    if isinstance(t, Parameter):
        head = "Parameter containing:"
    kind = type_of(t)
    if "no_dimension" in t.__dict__ and not t.raw.size:
        return f"{head}[{kind} with no dimension]"
    values = devices.to_numpy(t.raw)
    values = values.reshape(1) if not np.ndim(values) else values
    gpu = f" (GPU {t.get_device()})" if t.is_cuda else ""
    if not values.size:
        return f"{head}[{kind} with no dimension]"
    if values.ndim == 1:
        body = _vector(values)
    elif values.ndim == 2:
        body = _matrix(values)
    else:
        body = _blocks(values)
    size = "x".join(map(str, values.shape))
    return f"{head}\n{body}[{kind} of size {size}{gpu}]\n"


def _vector(values: Any) -> str:
    if values.size > THRESHOLD:
        numbers = Numbers(np.concatenate([values[:EDGE], values[-EDGE:]]))
        rows = (
            [numbers.write(x) for x in values[:EDGE]] + ["   ⋮"] + [numbers.write(x) for x in values[-EDGE:]]
        )
    else:
        numbers = Numbers(values)
        rows = [numbers.write(x) for x in values]
    return numbers.factor + "\n".join(rows) + "\n"


def _matrix(values: Any, indent: str = "") -> str:
    numbers = Numbers(values)
    rows, columns = values.shape
    fit = max(1, (WIDTH - len(indent)) // (numbers.width + 1))
    shift = indent + (" " if numbers.scale != 1 else "")
    if values.size > THRESHOLD:
        return _large(values, numbers, shift)
    out = ""
    for start in range(0, columns, fit):
        stop = min(start + fit, columns)
        if columns > fit:
            out += ("\n" if start else "") + f"{indent}Columns {start} to {stop - 1} \n"
        out += numbers.factor
        for row in values:
            out += shift + " ".join(numbers.write(x) for x in row[start:stop]) + "\n"
    return out


def _large(values: Any, numbers: Numbers, shift: str) -> str:
    """The corners of a large matrix."""
    rows, columns = values.shape
    few_rows, few_columns = rows > 2 * EDGE, columns > 2 * EDGE
    out = numbers.factor
    for i in range(rows):
        if few_rows and EDGE <= i < rows - EDGE:
            if i == EDGE:
                out += shift + "⋮".center(2 * EDGE * (numbers.width + 1)) + "\n"
            continue
        row = values[i]
        if few_columns:
            parts = (
                [numbers.write(x) for x in row[:EDGE]] + ["  …  "] + [numbers.write(x) for x in row[-EDGE:]]
            )
        else:
            parts = [numbers.write(x) for x in row]
        out += shift + " ".join(parts) + "\n"
    return out


def _blocks(values: Any) -> str:
    """The matrices of a tensor with more dimensions, each under its index."""
    leading = values.shape[:-2]
    indices = list(np.ndindex(*leading))
    shown = (
        indices
        if values.size <= THRESHOLD or len(indices) <= 2 * EDGE
        else indices[:EDGE] + [()] + indices[-EDGE:]
    )
    parts = []
    for index in shown:
        if index == ():
            parts.append("...\n")
            continue
        where = ",".join(f"{i} " for i in index) if len(index) == 1 else ",".join(map(str, index)) + " "
        parts.append(f"({where},.,.) = \n" + _matrix(values[index], " "))
    return "\n".join(parts)
