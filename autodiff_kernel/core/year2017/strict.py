"""The types of 2017: every operand must be of the tensor's own type, and errors list what was expected."""

from typing import Any

from ..errors import explain
from ..tensor import Tensor, type_name

ARITHMETIC = ("add", "sub", "mul", "div", "pow", "fmod", "remainder", "eq", "ne", "lt", "gt", "le", "ge")
SYMBOLS = ("add", "sub", "mul", "truediv", "pow", "mod", "eq", "ne", "lt", "gt", "le", "ge")
BINARY = (
    {*ARITHMETIC, *(f"{n}_" for n in ARITHMETIC)}
    | {f"__{n}__" for n in SYMBOLS}
    | {f"__r{n}__" for n in SYMBOLS}
    | {f"__i{n}__" for n in SYMBOLS}
)
SAME = {"mm", "mv", "dot", "bmm", "matmul", "__matmul__", "addmm", "addmv", "addbmm", "addr", "baddbmm", "addmm_", "addmv_",
        "addr_", "addbmm_", "baddbmm_", "cat", "stack", "dist", "cross", "ger", "addcmul", "addcdiv", "addcmul_", "addcdiv_",
        "max", "min", "lerp", "lerp_", "atan2", "atan2_", "cmax", "cmin"}  # fmt: skip


def type_of(t: Tensor) -> str:
    """PyTorch's old name of a tensor's type: 'torch.FloatTensor'."""
    return type_name(t.raw)


def check(name: str, args: Any, tensors: list[Tensor]) -> None:
    """PyTorch's TypeError of 2017 if the operands are not of one type."""
    if name not in BINARY and name not in SAME or not tensors:
        return
    first = tensors[0]
    for other in tensors[1:]:
        if other.raw.dtype != first.raw.dtype:
            raise _wrong(name, first, type_of(other), other)
    if name in BINARY and first.raw.dtype.kind in "iu":
        for x in args[1:2]:
            if isinstance(x, float):
                raise _wrong(name, first, "float", x)


def _wrong(name: str, first: Tensor, got: str, other: Any) -> TypeError:
    plain = name.strip("_")
    plain = plain[1:] if name.startswith("__") and plain[:1] in "ri" and plain[1:] in SYMBOLS else plain
    plain = "div" if plain == "truediv" else plain
    kind = type_of(first)
    number = "float" if first.raw.dtype.kind == "f" else "int"
    wrong = f"      didn't match because some of the arguments have invalid types: ({got})"
    return explain(
        TypeError,
        f"{plain} received an invalid combination of arguments - got ({got}), but expected one of:\n"
        f" * ({number} value)\n{wrong}\n * ({kind} other)\n{wrong}",
        f"In the dialect of 2017 both operands must be of one type; these are {kind} and {got}.",
        f"convert one of them, for example with .type_as(), .{_cast(other, number)}(), or speak the modern dialect, which "
        "promotes.",
    )


def _cast(other: Any, number: str) -> str:
    name = (
        type_of(other).rpartition(".")[2].removesuffix("Tensor").lower()
        if isinstance(other, Tensor)
        else number
    )
    return name


def check_expansion(target: Tensor, other: Tensor) -> None:
    """In place the target keeps its size: a larger operand is refused, from the last dimension on."""
    a, b = target.raw.shape, other.raw.shape
    for back in range(1, min(len(a), len(b)) + 1):
        if a[-back] != b[-back] and b[-back] != 1:
            if a[-back] != 1 and b[-back] != 1 and a[-back] != b[-back]:
                return  # they do not broadcast at all: today's error says so
            raise explain(
                RuntimeError,
                f"The expanded size of the tensor ({a[-back]}) must match the existing size ({b[-back]}) at non-singleton "
                f"dimension {len(b) - back}.",
                "An in-place operation cannot change the size of its tensor.",
                "use the form without the underscore, which gives a new tensor.",
            )
