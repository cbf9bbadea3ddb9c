"""Two dialects of one library: PyTorch as it is (the default), and as it was in 2017, when many texts were written.

    torch.set_dialect("2017")            # until it is set back
    with torch.set_dialect("2017"): …    # for a block

The old dialect holds for what the user's code calls; the library's own code always speaks the modern one.  What
differs is in one table, TABLE; `core/year2017/` is the code that it describes.
"""

from types import TracebackType
from typing import NamedTuple

__all__ = ["TABLE", "get_dialect", "set_dialect"]


class Difference(NamedTuple):
    """One difference: what it is about, how it was in 2017, how it is today, and an example."""

    about: str
    old: str
    modern: str
    example: str


TABLE = {
    "types": Difference(
        "operands of different dtypes",
        "TypeError that names both types",
        "promoted to a common dtype",
        "FloatTensor([1.]) * DoubleTensor([2.])",
    ),
    "scalars": Difference(
        "a result without dimensions",
        "a Python number; for a Variable a tensor of size 1",
        "a 0-d tensor",
        "x.sum()",
    ),
    "masks": Difference("results of comparisons", "ByteTensor", "bool", "x > 0"),
    "division": Difference("division of integers", "integer, towards 0", "true division", "IntTensor([7]) / 2"),
    "sums": Difference("sums of integers along a dimension", "of the tensor's dtype", "int64", "ByteTensor([[2, 1]]).sum(1)"),
    "printing": Difference(
        "how a tensor prints",
        "values in columns, then [torch.FloatTensor of size 2x3]",
        "tensor([[…]])",
        "print(x)",
    ),
    "variables": Difference(
        "what can have a gradient",
        "a Variable, which holds a tensor in .data",
        "every tensor",
        "Variable(x, requires_grad=True)",
    ),
    "empty": Difference(
        "a tensor made of nothing", "no dimension, usable in no operation", "tensor([])", "FloatTensor()"
    ),
    "sequences": Difference(
        "nested lists of unequal lengths",
        "RuntimeError with the index",
        "ValueError with the dimension",
        "IntTensor([[1, 2], [3]])",
    ),
    "expanding": Difference(
        "an in-place operation whose operand is larger",
        "RuntimeError: the expanded size …",
        "RuntimeError with both shapes",
        "x.add_(y)",
    ),
    "names": Difference(
        "linear algebra", "btrifact, btrisolve, eig, gels, gesv, potrf, …", "torch.linalg", "torch.gels(b, a)"
    ),
}  # fmt: skip

_now = ["modern"]


def get_dialect() -> str:
    """The dialect that is spoken: "modern" or "2017".

    >>> import autodiff_kernel as torch
    >>> torch.get_dialect()
    'modern'
    """
    return _now[0]


def speaks_2017() -> bool:
    return _now[0] == "2017"


class set_dialect:
    """Speak a dialect from now on, or inside a `with` block; for the whole process.

    dialect: "2017" or "modern".  Raises ValueError for another one.

    >>> import autodiff_kernel as torch
    >>> with torch.set_dialect("2017"):
    ...     print(torch.IntTensor([[1, 2], [3, 4]]))
    <BLANKLINE>
     1  2
     3  4
    [torch.IntTensor of size 2x2]
    <BLANKLINE>
    """

    def __init__(self, dialect: str) -> None:
        if str(dialect) not in ("modern", "2017"):
            raise ValueError(f"there are two dialects, 'modern' and '2017', but got {dialect!r}")
        self._before = _now[0]
        self._wanted = str(dialect)
        _speak(self._wanted)

    def __enter__(self) -> "set_dialect":
        _speak(self._wanted)
        return self

    def __exit__(self, kind: type | None, value: BaseException | None, trace: TracebackType | None) -> None:
        _speak(self._before)

    def __repr__(self) -> str:
        return f"set_dialect({self._wanted!r})"


def _speak(dialect: str) -> None:
    if dialect == _now[0]:
        return
    from .core import year2017

    if dialect == "2017":
        year2017.install()
    else:
        year2017.uninstall()
    _now[0] = dialect
