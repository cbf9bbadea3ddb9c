"""Batching of what works on each element, on the last dimensions, or on whole samples side by side."""

import math
from typing import Any

import numpy as np

from ..batched import WORDS, batch, one_by_one
from ..dtype import get_default_dtype
from ..meeting import common_dtype
from ..op import TABLE, Op
from ..outline import refuse
from ..tensor import Tensor


def word(name: str) -> Any:
    """Make a function the meaning of a word."""

    def give(rule: Any) -> Any:
        WORDS[name] = rule
        return rule

    return give


def rank(x: Any, batched: bool) -> int:
    """How many dimensions one sample has."""
    return np.ndim(x.raw if isinstance(x, Tensor) else x) - batched if x is not None else 0


def reshaped(x: Any, shape: tuple[int, ...]) -> Any:
    return TABLE["reshape"](x, p=shape)


def in_a_row(x: Any) -> Any:
    """A batched tensor with the elements of each sample in one dimension."""
    shape = x.raw.shape
    return reshaped(x, (shape[0], math.prod(shape[1:])))


def lifted(x: Any, lead: int) -> Any:
    """A batched tensor with `lead` dimensions of size 1 behind the batch."""
    if lead <= 0:
        return x
    shape = x.raw.shape
    return reshaped(x, (shape[0], *[1] * lead, *shape[1:]))


def aligned(xs: list[Any], batched: list[bool], most: int = 0) -> list[Any]:
    """The inputs so that samples broadcast as one sample does: those of fewer dimensions get some of size 1."""
    ranks = [rank(x, b) for x, b in zip(xs, batched)]
    most = max(most, *ranks)
    return [lifted(x, most - r) if b else x for x, r, b in zip(xs, ranks, batched)]


def everywhere(xs: list[Any], batched: list[bool], size: int) -> list[Any]:
    """The tensors among the inputs, each for all samples."""
    return [x if b or not isinstance(x, Tensor) else batch(x, size) for x, b in zip(xs, batched)]


class _Form:
    """What decides how a tensor takes part in promotion."""

    def __init__(self, x: Tensor, batched: bool) -> None:
        self.dtype, self.ndim = x.raw.dtype, x.raw.ndim - batched


def promoted(op: Op, xs: list[Any], batched: list[bool]) -> list[Any]:
    """The inputs in the dtype that one sample would have: a 0-d sample widens nothing, though all of them are 1-d."""
    start = op.types_from
    known = {x.raw.dtype for x in xs[start:] if isinstance(x, Tensor)}
    if not op.types or len(known) < 2 or all(rank(x, b) for x, b in zip(xs, batched) if b):
        return xs
    forms = [_Form(x, b) if isinstance(x, Tensor) else x for x, b in zip(xs, batched)]
    target = common_dtype(forms[start:])
    if op.types == "float" and not (target.is_floating_point or target.is_complex):
        target = get_default_dtype()
    return [
        TABLE["cast"](x, p=(target.np, x.raw.dtype))
        if i >= start and isinstance(x, Tensor) and x.raw.dtype != target.np
        else x
        for i, x in enumerate(xs)
    ]


@word("elementwise")
def elementwise(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """Inputs that broadcast (or a single one, of which each element is by itself)."""
    if len(xs) == 1:
        return op(xs[0], p=p)
    return op(*aligned(promoted(op, xs, batched), batched), p=p)


@word("leading")
def leading(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """One input, of which only the last dimensions matter: further ones in front are samples anyway."""
    return op(*xs, p=p)


@word("together")
def together(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """Several inputs whose leading dimensions are the same."""
    return op(*everywhere(xs, batched, size), p=p)


@word("overwrite")
def overwrite(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """The first input is given the others' values, which broadcast to it."""
    first = xs[0] if batched[0] else batch(xs[0], size)
    return op(*aligned([first, *xs[1:]], [True, *batched[1:]]), p=p)


@word("constant")
def constant(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """Only the input's dtype matters."""
    return batch(op(*xs, p=p), size)


@word("layout")
def layout(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """A copy in a memory format: the usual one puts the batch first anyway."""
    return op(xs[0], p=p) if p is None else one_by_one(op, xs, batched, p, size)


@word("join")
def join(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """Tensors next to each other along a dimension."""
    shapes = [x.raw.shape[b:] for x, b in zip(xs, batched)]
    if op.base.name == "cat" and any(s != (0,) for s in shapes):  # an empty 1-d tensor goes with any shape
        kept = [i for i, s in enumerate(shapes) if s != (0,)]
        xs, batched = [xs[i] for i in kept], [batched[i] for i in kept]
    return op(*everywhere(promoted(op, xs, batched), batched, size), p=p + 1)


@word("dynamic")
def dynamic(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    refuse(
        "We do not support batching operators that can output dynamic shape. Attempted to vmap over "
        f"aten::{op.name}. Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature.",
        "How many elements come out differs from sample to sample, so the results make no one tensor.",
    )
