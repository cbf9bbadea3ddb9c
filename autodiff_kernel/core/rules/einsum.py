"""einsum: sums of products, written with one letter per dimension."""

from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from .. import device as devices
from ..api import check_tensor, public
from ..errors import explain
from ..op import TABLE, Op
from ..tensor import Tensor
from .forms import conj, settle
from .products import other_dtypes
from .shapes import reshape

SMALL = 20_000  # multiplications, up to which finding a good order costs more than it saves

LETTERS = "".join(chr(k) for k in (*range(97, 123), *range(65, 91)))  # a … z, A … Z


# ------------------------------------------------------------------------------------------------ on raw arrays
@lru_cache(1024)
def plan(equation: str, shapes: tuple[tuple[int, ...], ...]) -> Any:
    """NumPy's `optimize` argument: False for small or simple sums, else the best order, which is found once."""
    sizes: dict[str, int] = {}
    for letters, shape in zip(equation.split("->")[0].split(","), shapes):
        sizes.update(zip(letters, shape))
    work = 1
    for n in sizes.values():
        work *= n
    if len(shapes) < 2 or work <= SMALL and len(shapes) == 2:
        return False
    empty = [np.broadcast_to(np.zeros(()), shape) for shape in shapes]
    return np.einsum_path(equation, *empty, optimize="optimal" if len(shapes) < 6 else "greedy")[0]


def _einsum(xs: Any, p: str) -> Any:
    on_cpu = all(devices.device_of(x).type == "cpu" for x in xs)
    optimize = plan(p, tuple(np.shape(x) for x in xs)) if on_cpu else len(xs) > 2
    y = np.einsum(p, *xs, optimize=optimize)
    return settle(y if y.base is None or not y.ndim else y.copy()) if hasattr(y, "base") else y


def _rule(g: Any, n: Any, i: int) -> Any:
    """The cotangent of operand i: an einsum of g with the other operands.

    A letter that only this operand has was summed alone: a vector of ones spreads g along it.  A letter that it has
    twice stood for its diagonal: the unit matrix leads g back onto it.
    """
    parts, result = n.p.split("->")[0].split(","), n.p.split("->")[1]
    mine, others = parts[i], [k for k in range(len(parts)) if k != i]
    known = result + "".join(parts[k] for k in others)
    spare = iter([c for c in LETTERS if c not in n.p])
    letters, values = [result], [g]
    for k in others:
        letters.append(parts[k])
        values.append(conj(n.x[k]))
    target = ""
    for place, c in enumerate(mine):
        if c in target:
            fresh = next(spare)
            letters.append(c + fresh)
            values.append(unit(g, p=n.sx[i][place]))
            target += fresh
            continue
        if c not in known:
            letters.append(c)
            values.append(ones(g, p=n.sx[i][place]))
        target += c
    return einsum_row(*values, p=",".join(letters) + "->" + target)


unit: Op = Op(
    "unit_matrix",
    lambda a, p: devices.eye(p, dtype=a.dtype, like=a),
    params=True,
    batch="constant",
    doc="A unit matrix.",
)
ones: Op = Op(
    "ones_vector",
    lambda a, p: devices.ones((p,), a.dtype, like=a),
    params=True,
    batch="constant",
    doc="A vector of ones.",
)


def _jvp(ts: Any, n: Any) -> Any:
    total = None
    for i, t in enumerate(ts):
        if t is not None:
            term = einsum_row(*n.x[:i], t, *n.x[i + 1 :], p=n.p)
            total = term if total is None else total + term
    return total


def _name(p: str) -> str:
    left, result = p.split("->")
    return "ViewBackward0" if set(left) - set(result) - {","} else "MulBackward0"


einsum_row: Op = Op(
    "einsum", _einsum, each=_rule, reads=("x",), jvp=_jvp, params=True, node=_name, symbol="Σ∏",
    partials=("the product of the others",), latex=r"\sum \prod", batch="einsum",
    doc="A sum of products, with a letter per dimension.",
)  # fmt: skip


# ------------------------------------------------------------------------------------------------ reading an equation
def refuse(text: str, summary: str = "") -> NoReturn:
    raise explain(RuntimeError, f"einsum(): {text}", summary)


def check_letters(equation: str) -> None:
    for i, c in enumerate(equation):
        if not (c.isascii() and c.isalpha()) and c not in ",.->":
            refuse(
                f"invalid subscript given at index {i} in the equation string, subscripts must be in [a-zA-Z]"
            )


def parse(equation: str, operands: list[Tensor]) -> tuple[list[str], str]:
    """The letters of each operand and of the result, every ... written out."""
    if not isinstance(equation, str):
        raise TypeError(f"einsum(): argument 'equation' must be str, not {type(equation).__name__}")
    check_letters(equation.replace(" ", ""))
    left, arrow, right = equation.replace(" ", "").partition("->")
    parts = left.split(",")
    if len(parts) > len(operands):
        refuse("fewer operands were provided than specified in the equation")
    if len(parts) < len(operands):
        refuse("more operands were provided than specified in the equation")
    free = [c for c in LETTERS if c not in equation]
    hidden = 0  # how many dimensions ... stands for
    for k, (part, x) in enumerate(zip(parts, operands)):
        given, ndim = len(part.replace("...", "", 1)), x.raw.ndim
        if "." in part.replace("...", "", 1):
            refuse("found '.' that is not part of any ellipsis in the equation string")
        if "..." in part:
            if given > ndim:
                refuse(
                    f"the number of subscripts in the equation ({given}) is more than the number of dimensions "
                    f"({ndim}) for operand {k}"
                )
            hidden = max(hidden, ndim - given)
        elif given != ndim:
            refuse(
                f"the number of subscripts in the equation ({given}) does not match the number of dimensions ({ndim}) "
                f"for operand {k} and no ellipsis was given"
            )
    dots = "".join(free[:hidden])
    whole = []
    for part, x in zip(parts, operands):
        count = x.raw.ndim - len(part.replace("...", ""))
        whole.append(part.replace("...", dots[hidden - count :] if "..." in part else ""))
    if not arrow:  # the letters that occur once, in order
        every = "".join(whole)
        right = dots + "".join(sorted(c for c in set(every) - set(dots) if every.count(c) == 1))
    else:
        right = right.replace("...", dots)
    for c in right:
        if right.count(c) > 1:
            refuse(f"output subscript {c} appears more than once in the output")
        if c not in "".join(whole):
            refuse(f"output subscript {c} does not appear in the equation for any input operand")
    return whole, right


def fitted(operands: list[Tensor], parts: list[str]) -> tuple[list[Tensor], list[str]]:
    """Operands without the dimensions of size 1 that broadcast against a larger size of the same letter."""
    sizes: dict[str, int] = {}
    for k, (x, letters) in enumerate(zip(operands, parts)):
        for c, n in zip(letters, x.raw.shape):
            known = sizes.get(c, 1)
            if n != known and 1 not in (n, known):
                refuse(
                    f"subscript {c} has size {n} for operand {k} which does not broadcast with previously seen size "
                    f"{known}"
                )
            if n != 1 or c not in sizes:
                sizes[c] = n
    out: list[Tensor] = []
    names: list[str] = []
    for x, letters in zip(operands, parts):
        keep = [d for d, (c, n) in enumerate(zip(letters, x.raw.shape)) if n == sizes[c]]
        out.append(x if len(keep) == len(letters) else reshape(x, p=tuple(x.raw.shape[d] for d in keep)))
        names.append("".join(letters[d] for d in keep))
    return out, names


def from_lists(args: tuple[Any, ...]) -> tuple[str, list[Tensor]]:
    """The equation of the form einsum(x, [0, 1], y, [1, 2], [0, 2])."""
    words: list[str] = []
    operands: list[Tensor] = []
    for k in range(0, len(args) - 1, 2):
        operands.append(args[k])
        words.append(letters_of(args[k + 1]))
    equation = ",".join(words)
    return (f"{equation}->{letters_of(args[-1])}" if len(args) % 2 else equation), operands


def letters_of(numbers: Any) -> str:
    return "".join("..." if n is Ellipsis else LETTERS[n] for n in numbers)


@public(method=False)
def einsum(*args: Any) -> Tensor:
    """The sum of products that an equation describes, such as 'ij,jk->ik' for the product of two matrices.

    A letter names a dimension; letters that the result does not have are summed over; `...` stands for further
    dimensions that broadcast.  Without `->` the result has the letters that occur once, in alphabetical order.  Also
    einsum(x, [0, 1], y, [1, 2], [0, 2]).  Raises RuntimeError for an equation that does not fit the operands.

    >>> import autodiff_kernel as torch
    >>> torch.einsum('ij,j->i', torch.tensor([[1., 2.], [3., 4.]]), torch.tensor([1., 10.]))
    tensor([21., 43.])
    """
    if not args:
        raise TypeError("einsum() missing 1 required positional argument: 'equation'")
    if isinstance(args[0], Tensor):
        equation, operands = from_lists(args)
    else:
        equation, operands = args[0], list(args[1:])
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = list(operands[0])
    if not operands:
        refuse("must provide at least one operand")
    for k, x in enumerate(operands):
        check_tensor("einsum", x, "operands", k + 2)
    parts, result = parse(equation, operands)
    for x in operands[1:]:
        if x.raw.dtype != operands[0].raw.dtype:
            kinds = operands[0].dtype.scalar_type, x.dtype.scalar_type
            raise other_dtypes(
                operands[0].raw, x.raw, f"expected scalar type {kinds[0]} but found {kinds[1]}"
            )
    if len(operands) == 1:
        return alone(operands[0], parts[0], result)
    operands, parts = fitted(operands, parts)
    lost = [c for c in result if c not in "".join(parts)]
    assert not lost, "a letter keeps at least one operand"
    return einsum_row(*operands, p=f"{','.join(parts)}->{result}")  # type: ignore[no-any-return]


def alone(x: Tensor, letters: str, result: str) -> Tensor:
    """One operand: diagonals of repeated letters, then a sum and another order, by those operations themselves."""
    for c in set(letters):
        while letters.count(c) > 1:
            i = letters.index(c)
            j = letters.index(c, i + 1)
            sizes = x.raw.shape[i], x.raw.shape[j]
            if sizes[0] != sizes[1]:
                refuse(
                    f"subscript {c} is repeated for operand 0 but the sizes don't match, {sizes[1]} != {sizes[0]}"
                )
            x = TABLE["diagonal"](x, p=(0, i, j))
            letters = letters[:i] + letters[i + 1 : j] + letters[j + 1 :] + c
    gone = tuple(d for d, c in enumerate(letters) if c not in result)
    kept = [c for c in letters if c in result]
    order = tuple(kept.index(c) for c in result)
    if gone:
        x = TABLE["sum"](x, p=(gone, False))
    return TABLE["permute"](x, p=order) if not gone or order != tuple(range(len(order))) else x
