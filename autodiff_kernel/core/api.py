"""How rows of the table become PyTorch's names: functions, methods and in-place forms.

`@public()` gives a written function all its forms; `unary_names` and `binary_names` make them for rows that need no
words of their own.  `FUNCTIONS` is what the package exports.
"""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar

from .batched import newest
from .device import shares_memory
from .dtype import C_NAMES
from .errors import explain
from .hot import binary, unary
from .inplace import adopt, check_cast, in_place
from .modes import is_grad_enabled
from .op import Op
from .overlap import check_overlap, check_partial_overlap
from .tensor import Tensor

F = TypeVar("F", bound=Callable[..., Any])
FUNCTIONS: dict[str, Callable[..., Any]] = {}
OWN_DTYPE = (
    "abs",
    "neg",
    "sign",
    "sgn",
    "floor",
    "ceil",
    "trunc",
    "frac",
)  # out= has to have the result's dtype
METHODS: dict[str, Callable[..., Any]] = {}
NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "x1": "input", "x2": "other", "a": "input"}


def public(
    *names: str, function: bool = True, method: bool = True, inplace: bool = False, row: Op | None = None
) -> Callable[[F], F]:
    """Export a function under its own name (or `names`), as a method of Tensor, and in place as `name_`.

    The function's first parameter is the tensor.  NumPy's names for parameters (axis, keepdims) work as in PyTorch.
    """

    def export(f: F) -> F:
        code = f.__code__
        taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        translated = {k: v for k, v in NUMPY_NAMES.items() if v in taken and k not in taken}
        matrix = taken[:1] in (("A",), ("L",))  # so matrices are called in textbooks, and in torch.linalg
        if matrix:
            translated["input"] = taken[0]
        shown = numpy_words(f, translated) if matrix or {"dim", "keepdim"} & set(taken) else f
        changed = in_place(f, row) if inplace else None
        for name in names or (f.__name__.rstrip("_"),):
            if function:
                FUNCTIONS[name] = shown
            if method:
                attach(name, shown)
            if changed is not None:
                attach(name + "_", changed)
                if function:
                    FUNCTIONS.setdefault(name + "_", as_function(name + "_", changed))
        return f

    return export


def numpy_words(f: Any, translated: dict[str, str]) -> Any:
    """f, also with NumPy's words for its parameters."""

    def words(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            kwargs = {translated.get(k, k): v for k, v in kwargs.items()}
        return f(*args, **kwargs)

    words.__name__, words.__qualname__, words.__doc__ = f.__name__, f.__qualname__, f.__doc__
    words.__module__ = f.__module__
    words.__wrapped__ = f  # type: ignore[attr-defined]
    return words


def as_function(name: str, method: Any) -> Any:
    """An in-place method as the function `torch.exp_(input)`."""

    def function(input: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(input, Tensor):
            check_tensor(name, input)
        return method(input, *args, **kwargs)

    return update_wrapper(function, method)


def attach(name: str, method: Any) -> None:
    METHODS[name] = method
    setattr(Tensor, name, method)


def check_tensor(function: str, x: Any, argument: str = "input", position: int = 1) -> None:
    """PyTorch's TypeError for an argument that is no Tensor."""
    if not isinstance(x, Tensor):
        raise explain(
            TypeError,
            f"{function}(): argument '{argument}' (position {position}) must be Tensor, not {type(x).__name__}",
            cure="make it a tensor first: torch.tensor(value).",
            topic="no tensor",
            value=x,
            argument=argument,
        )


def into_another(out: Any, result: Any, *inputs: Any) -> Any:
    """`into`, where elements move about: `out` must not share memory with any input."""
    if out is not None:
        check_overlap(out)
        for x in inputs:
            if shares_memory(out.raw, x.raw):
                raise explain(
                    RuntimeError,
                    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
                    "memory location. Please clone() the tensor before performing the operation.",
                    tensor=out,
                )
    return into(out, result)


def into(out: Any, result: Any, *inputs: Any) -> Any:
    """Put a result into `out=`, which takes its shape, and return it.

    inputs: what it was computed from element by element, which must not overlap with `out` in part.
    """
    if out is None:
        return result
    if not isinstance(out, Tensor):
        raise TypeError(f"argument 'out' must be Tensor, not {type(out).__name__}")
    if result.is_dual or out.is_dual:
        if newest(result) or newest(out):
            raise RuntimeError(
                "vmap: the fallback path doesn't work on out= or view ops. Use the function's result, or write it with "
                "copy_()."
            )
        raise NotImplementedError(
            "Trying to use forward AD with an operation that does not support it because it is an out= function. Use "
            "its result, or write it with copy_()."
        )
    if (out.node is not None or result.node is not None) and is_grad_enabled():
        raise explain(
            RuntimeError,
            "functions with out=... arguments don't support automatic differentiation, but one of the arguments "
            "requires grad.",
            "Memory that is filled from outside has no history.",
            "leave out= away and use what the function returns.",
            tensor=out if out.node is not None else result,
            topic="out with grad",
        )
    if out.raw.shape != result.raw.shape:
        check_cast(result.raw.dtype, out.raw.dtype)
        out.raw = result.raw.astype(out.raw.dtype)
    else:
        check_overlap(out)
        for x in inputs:
            if isinstance(x, Tensor):
                check_partial_overlap(out.raw, x.raw)
        adopt(out, result)
    return out


CAST_NOTHING = "Expected out tensor to have dtype {c_want}, but got {c_have} instead"


def check_own_dtype(out: Any, result: Tensor, phrase: str = "Found dtype {have} but expected {want}") -> None:
    """RuntimeError unless `out=` has the dtype of the result: some operations cast nothing, not even there."""
    if isinstance(out, Tensor) and out.raw.dtype != result.raw.dtype:
        have, want = out.dtype, result.dtype
        raise explain(
            RuntimeError,
            phrase.format(
                have=have.scalar_type,
                want=want.scalar_type,
                c_have=C_NAMES.get(have.name, have.name),
                c_want=C_NAMES.get(want.name, want.name),
            ),
            "What is written to out= is not cast here.",
            f"give an out= of dtype {result.dtype}, or cast the result: .to({out.dtype}).",
            tensor=out,
        )


def only_function(name: str) -> Callable[[Any], Any]:
    """A function that is only a function: `torch.poisson` without a method."""

    def export(f: Any) -> Any:
        f.__name__ = f.__qualname__ = name
        FUNCTIONS[name] = f
        return f

    return export


def unary_names(op: Op, *names: str, example: str = "", inplace: bool = True) -> Callable[[Any], Any]:
    """Function, method and in-place form of a row with one input and no parameters."""
    method = unary(op)
    first = (names or (op.name,))[0]

    def function(input: Any, *, out: Any = None) -> Any:
        if not isinstance(input, Tensor):
            check_tensor(first, input)
        if out is None:
            return method(input)
        result = method(input)
        if op.name in OWN_DTYPE:
            check_own_dtype(out, result)
        return into(out, result, input)

    document(function, first, op, f"{first}(input) -> Tensor", example)
    document(method, first, op, f"x.{first}() -> Tensor", example)
    changed = in_place(method, op) if inplace else None
    for name in names or (op.name,):
        FUNCTIONS[name] = function
        attach(name, method)
        if changed is not None:
            attach(name + "_", changed)
            FUNCTIONS[name + "_"] = as_function(name + "_", changed)
    return method


def binary_names(op: Op, *names: str, example: str = "", inplace: bool = True, floats: bool = False) -> Any:
    """Function, method and in-place form of a row with two inputs that broadcast."""
    fast = binary(op, floats)
    first = (names or (op.name,))[0]

    def method(self: Any, other: Any) -> Any:
        result = fast(self, other)
        if result is NotImplemented:
            check_tensor(first, other, "other", 2)
        return result

    def function(input: Any, other: Any, *, out: Any = None) -> Any:
        if not isinstance(input, Tensor):
            if not isinstance(other, Tensor) or not isinstance(input, (int, float, complex)):
                check_tensor(first, input)
            return into(out, op(input, other), other)
        return method(input, other) if out is None else into(out, method(input, other), input, other)

    document(function, first, op, f"{first}(input, other) -> Tensor", example)
    document(method, first, op, f"x.{first}(other) -> Tensor", example)
    changed = in_place(method, op) if inplace else None
    for name in names or (op.name,):
        FUNCTIONS[name] = function
        attach(name, method)
        if changed is not None:
            attach(name + "_", changed)
    return fast


def document(f: Any, name: str, op: Op, signature: str, example: str) -> None:
    """A docstring from the row: what it does, its derivative, an example that runs."""
    f.__name__ = f.__qualname__ = name
    parts = [signature, "", op.doc]
    if op.partials:
        parts += [
            "",
            "Derivative: "
            + ", ".join(op.partials).format(a="input", b="other", y="result", c="third", p="p"),
        ]
    if example:
        parts += ["", ">>> import autodiff_kernel as torch", *example.strip().splitlines()]
    f.__doc__ = "\n".join(parts)
