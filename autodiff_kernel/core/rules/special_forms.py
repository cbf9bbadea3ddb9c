"""How rows that only `torch.special` names become functions."""

from collections.abc import Callable
from typing import Any

from ..api import check_tensor, document, into
from ..hot import binary
from ..op import Op
from ..tensor import Tensor
from .forms import refuse


def full_precision(kernel: str, fwd: Callable[..., Any]) -> Callable[..., Any]:
    """`fwd`, for single and double precision only."""

    def checked(*xs: Any) -> Any:
        for x in xs:
            kind = getattr(x, "dtype", None)
            if kind is not None and (kind.kind not in "f" or kind.itemsize < 4):
                refuse(kernel, x)
        return fwd(*xs)

    return checked


def one_number(op: Op, name: str, example: str) -> Callable[..., Tensor]:
    """A function of one tensor."""

    def function(input: Tensor, *, out: Any = None) -> Tensor:
        if not isinstance(input, Tensor):
            check_tensor(f"special_{name}", input)
        result = op(input)
        return result if out is None else into(out, result, input)  # type: ignore[no-any-return]

    document(function, name, op, f"{name}(input) -> Tensor", example)
    return function


def two_numbers(
    op: Op, name: str, example: str, words: tuple[str, str] = ("input", "other")
) -> Callable[..., Tensor]:
    """A function of two tensors that broadcast, one of which may be a Python number."""
    fast = binary(op, True)

    def run(a: Any, b: Any, out: Any) -> Any:
        if isinstance(a, Tensor):
            result = fast(a, b)
        elif isinstance(b, Tensor) and isinstance(a, (int, float)):
            result = op(a, b)
        else:
            result = NotImplemented
        if result is NotImplemented:
            kinds = ", ".join(type(v).__name__ for v in (a, b))
            raise TypeError(
                f"special_{name}() received an invalid combination of arguments - got ({kinds}), but expected a Tensor "
                "and a Tensor or number."
            )
        return result if out is None else into(out, result, a, b)

    def function(*args: Any, out: Any = None, **named: Any) -> Tensor:
        values = dict(zip(words, args)) | named
        if set(values) != set(words):
            raise TypeError(f"special_{name}() takes the arguments {words[0]} and {words[1]}")
        return run(values[words[0]], values[words[1]], out)  # type: ignore[no-any-return]

    document(function, name, op, f"{name}({', '.join(words)}) -> Tensor", example)
    return function
