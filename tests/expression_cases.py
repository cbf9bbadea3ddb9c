"""Expressions whose values, layouts, nodes and errors PyTorch was asked for.

`data/expressions.txt` lists them by family, one a line; `python tests/record_expressions.py` writes PyTorch's answers
into `data/expressions.json`.  Each is evaluated with the names that `names` gives.
"""

import array
import json
import pathlib
import warnings
from functools import cache
from typing import Any

import numpy as np


class Counting:
    """A sequence that is neither list nor tuple."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, i: int) -> int:
        if i > 1:
            raise IndexError
        return i


def names(torch: Any) -> dict[str, Any]:
    """What the expressions speak of."""
    x = torch.tensor([[0.5, -1.25, 2.0], [3.0, 0.0, -7.0]])
    b = torch.tensor(np.sin(np.arange(24)).reshape(2, 3, 4).astype("float32"))
    i = torch.tensor([[0, 1, 2], [3, 4, 5]])
    return {
        "torch": torch, "np": np, "array": array, "It": Counting, "nan": float("nan"), "inf": float("inf"),
        "x": x, "b": b, "i": i, "s": torch.tensor(1.0), "e": torch.zeros(0, 3), "z": x > 0, "u": i.to(torch.uint8),
        "h": x.to(torch.float16), "c": torch.complex(x, x), "r": torch.ones(2, 3, requires_grad=True) * 2,
        "v": torch.ones(3, requires_grad=True) * 2, "w": torch.ones(2, 3, 4, requires_grad=True) * 2,
    }  # fmt: skip


def layout(value: Any) -> Any:
    """Shape, strides, dtype, offset, whether it is a view, and the node of a tensor; of several, each."""
    if isinstance(value, (tuple, list)):
        return [layout(part) for part in value]
    if not hasattr(value, "stride"):
        return None
    node = value.grad_fn
    return [
        list(value.shape), list(value.stride()), str(value.dtype), value.storage_offset(), value._is_view(),
        None if node is None else node.name(),
    ]  # fmt: skip


def describe(expression: str, torch: Any) -> Any:
    """The value's text and layout, or the error's type and text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = eval(expression, names(torch))
        except Exception as error:
            return {
                "raises": type(error).__name__,
                "text": str(error).splitlines()[0][:60] if str(error) else "",
            }
        return {"value": repr(value), "layout": layout(value)}


DATA = pathlib.Path(__file__).parent / "data"


@cache
def families() -> dict[str, list[str]]:
    """The expressions of each family."""
    out: dict[str, list[str]] = {}
    for line in (DATA / "expressions.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            out[line[2:]] = []
        else:
            list(out.values())[-1].append(line)
    return out


@cache
def answers() -> dict[str, Any]:
    """What PyTorch said."""
    return json.loads((DATA / "expressions.json").read_text(encoding="utf-8"))


def check(expression: str, torch: Any) -> None:
    """The same text, layout and node; or the same type of error, beginning with the same words."""
    got, want = describe(expression, torch), answers()[expression]
    if "raises" in want:
        assert got.get("raises") == want["raises"], got
        if want["raises"] != "TypeError":  # PyTorch's are lists of signatures
            assert got["text"][:LIKE] == want["text"][:LIKE]
    else:
        assert got == want


LIKE = 20  # how many characters of an error's text must be PyTorch's own
