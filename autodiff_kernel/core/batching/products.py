"""Batching of products of matrices and vectors.

The word of most of these rows is the product itself, written in letters: "ij,jk->ik".  A star after an operand says
that it is conjugated, a plus in front that the first input is added (p is then beta and alpha).  A batch of products
is one product of three dimensions, or of two if only one factor is batched.
"""

from typing import Any

from .. import device as devices
from ..batched import WORDS, ground
from ..op import TABLE, Op
from ..tensor import wrap
from .elementwise import aligned, rank, reshaped, word

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
FOLDED = "UnsafeViewBackward0"


def product(a: Any, b: Any) -> Any:
    """The product of matrices or batches of them, by the row that is made for it."""
    n, m = a.raw.ndim, b.raw.ndim
    if n == 2 and m <= 2:
        return TABLE["mm" if m == 2 else "mv"](a, b)
    return TABLE["matmul"](a, b, p=FOLDED)


def ordered(x: Any, have: str, want: str) -> Any:
    """x, whose dimensions have these letters, with them in another order."""
    return x if have == want else TABLE["permute"](x, p=tuple(have.index(c) for c in want))


def with_one(x: Any, place: int) -> Any:
    return TABLE["unsqueeze"](x, p=place)


def conjugate(x: Any) -> Any:
    return TABLE["conj"](x) if x.raw.dtype.kind == "c" else x


def contract(equation: str, a: Any, b: Any, batched: tuple[bool, bool]) -> Any:
    """The batched product of two factors; the letters of both are those of one sample."""
    factors, out = equation.split("->")
    left, right = factors.split(",")
    a, b = (conjugate(x) if "*" in s else x for x, s in ((a, left), (b, right)))
    left, right = left.rstrip("*"), right.rstrip("*")
    if not batched[0]:
        a, b, left, right, batched = b, a, right, left, (True, False)
    if set(left) & set(right) & set(out):  # a batch of its own in each sample
        z, both = "Z", batched[1]
        return TABLE["einsum"](a, b, p=f"{z}{left},{z if both else ''}{right}->{z}{out}")
    inner = "".join(c for c in left if c in right)
    rows, columns = (s.replace(inner, "") if inner else s for s in (left, right))
    a = ordered(a, "Z" + left, "Z" + rows + inner)
    b = ordered(b, ("Z" if batched[1] else "") + right, ("Z" if batched[1] else "") + inner + columns)
    if not inner:
        y = with_one(a, 2) * (with_one(b, 1) if batched[1] else b)
    elif not batched[1]:
        y = product(a, b)
    elif not rows and not columns:
        y = TABLE["sum"](a * b, p=((1,), False))
    else:
        y = product(a if rows else with_one(a, 1), b if columns else with_one(b, 2))
        if not rows or not columns:
            y = reshaped(y, (y.raw.shape[0], y.raw.shape[2 if not rows else 1]))
    return ordered(y, "Z" + rows + columns, "Z" + out)


def by_letters(equation: str) -> Any:
    """The rule of a row that is a product."""

    def rule(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
        return contract(equation, xs[0], xs[1], (batched[0], batched[1]))

    def plus(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
        beta, alpha = p
        a, b, c = xs
        summed = equation == "+bij,bjk->ik"
        letters = equation[1:].replace("->ik", "->bik") if summed else equation[1:]
        if batched[1] or batched[2]:
            y = contract(letters, b, c, (batched[1], batched[2]))
            y, whole = (TABLE["sum"](y, p=((1,), False)) if summed else y), True
        else:  # only what is added is batched
            zero = wrap(devices.zeros((), b.raw.dtype, like=ground(b).raw))
            y, whole = op(zero, b, c, p=(0, 1)), False
        y = y if alpha == 1 else y * alpha
        if beta == 0 and whole:
            return y
        a = a if beta == 1 else a * beta
        first, second = aligned([a, y], [batched[0], whole])
        return second + first

    return plus if equation[0] == "+" else rule


for _equation in (
    "ij,jk->ik", "ij,kj*->ik", "ji*,jk->ik", "ij,j->i", "ji*,j->i", "i,j*->ij", "i,i->", "i*,i->",
    "+ij,jk->ik", "+ij,j->i", "+i,j->ij", "+bij,bjk->bik", "+bij,bjk->ik",
):  # fmt: skip
    WORDS[_equation] = by_letters(_equation)


@word("matmul")
def matmul(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """Factors of any dimensions: vectors become matrices, leading dimensions broadcast behind the batch."""
    a, b = xs
    n, m = (rank(x, z) for x, z in zip(xs, batched))
    if not batched[1] and m <= 2:
        return product(a, b) if a.raw.ndim == 2 else op(a, b, p=p)
    if n == 1:
        a = with_one(a, int(batched[0]))
    if m == 1:
        b = with_one(b, b.raw.ndim)
    y = TABLE["matmul"](*aligned([a, b], batched), p=p)
    shape = y.raw.shape
    if n == 1 or m == 1:
        lead = shape[:-2]
        y = reshaped(y, (*lead, *(shape[-2:-1] if n > 1 else ()), *(shape[-1:] if m > 1 else ())))
    return y


@word("linear")
def linear(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """A linear layer: the weight (out, in) of all samples, or one for each."""
    x, w = xs[:2]
    bias = xs[2] if len(xs) > 2 else None
    in_x, in_w, in_b = (*batched, False)[:3]
    plain = TABLE["linear_no_bias"]
    if not in_w:
        if in_x and not in_b and x.raw.ndim > 1:
            return op(*xs, p=p)
        y = plain(x, w, p="MmBackward0" if x.raw.ndim == 2 else FOLDED)
    else:
        shape = x.raw.shape[in_x:]
        many = 1
        for n in shape[:-1]:
            many *= n
        lines = reshaped(x, (size, many, shape[-1]) if in_x else (many, shape[-1]))
        columns = TABLE["matmul"](w, TABLE["transpose"](lines, p=(-2, -1)), p=FOLDED)
        y = reshaped(TABLE["transpose"](columns, p=(1, 2)), (size, *shape[:-1], w.raw.shape[1]))
    if bias is None:
        return y
    first, second = aligned([y, bias], [in_x or in_w, in_b])
    return first + second


@word("einsum")
def einsum(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """One more letter, in front."""
    left, right = p.split("->")
    z = next(c for c in LETTERS if c not in p)
    parts = [z + s if b else s for s, b in zip(left.split(","), batched)]
    return op(*xs, p=f"{','.join(parts)}->{z}{right}")
