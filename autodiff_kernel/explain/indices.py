"""Indices, views and sizes that do not fit a tensor, and what is no tensor at all."""

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_kernel.core.journal import Event

from .answer import LESSONS, Answer, lines
from .history import fact
from .misfits import TENSORS, Shape, facts_of, made_lines, operands_of
from .names import as_code, in_line
from .raised import Raised

REORDERING = {
    "transpose",
    "permute",
    "t",
    "expand",
    "movedim",
    "swapaxes",
    "as_strided",
    "flip",
    "unfold",
    "diagonal",
    "mT",
}


def view_of_strided(case: Raised) -> Answer:
    """view() of a tensor whose elements do not lie in order."""
    assert case.told is not None
    t, shape = case.told.tensor, facts_of(case)["shape"]
    name = case.name(t)
    turned = _reordered(fact(t))
    node = case.expression
    new = ""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "view":
        given = ", ".join(case.source.of(x) for x in node.args)
        new = case.source.with_part(node, f"{case.source.of(node.func.value)}.reshape({given})")
    why = (
        f", because {turned.name}{in_line(turned)} turned it round without moving them"
        if turned is not None
        else ""
    )
    return Answer(
        "view of strided",
        f"{name} (shape {list(t.raw.shape)}, strides {list(t.stride())}) does not lie in memory in the order of its "
        f"elements{why}: {list(shape)} cannot be a view of it.",
        lines(("turned round in", turned), ("view was asked for in", case.place)),
        f"{new or as_code(name) + f'.reshape{tuple(shape)}'}   # copies where it must",
        LESSONS["in-place"],
        about=(t,),
    )


def _reordered(e: Event | None) -> Event | None:
    """The view operation that took the elements out of order."""
    while e is not None:
        row = getattr(e.op, "name", "")
        if e.kind == "operation" and (row in REORDERING or row == "getitem"):
            return e
        if e.kind not in ("write", "asked", "left") and not getattr(e.op, "view", False):
            return None
        e = next((x for x in e.inputs if x.__class__ is Event), None)
    return None


def no_room(case: Raised) -> Answer:
    """A shape that holds more or fewer elements than there are."""
    facts = facts_of(case)
    shape, count = facts["shape"], facts["count"]
    operands = operands_of(case)
    name = operands[0][0] if operands else "the tensor"
    own = f" {list(operands[0][1].raw.shape)}" if operands else ""
    known = [n for n in shape if n >= 0]
    holds = int(np.prod(known)) if known else 1
    text = f"holds a multiple of {holds}" if len(known) < len(shape) else f"holds {holds}"
    return Answer(
        "shape does not hold them",
        f"{name}{own} has {count} elements, and the shape {list(shape)} {text}.",
        made_lines(operands[:1], case, "reshaped in"),
        _room(as_code(name) if operands else "x", tuple(shape), count),
        TENSORS,
        about=tuple(t for _, t in operands[:1]),
    )


def _room(code: str, shape: Shape, count: int) -> str:
    """The shape with one size that does not fit computed anew, or which sizes would do."""
    for i in reversed(range(len(shape))):
        rest = int(np.prod([n for k, n in enumerate(shape) if k != i]))
        if rest > 0 and count % rest == 0:
            sizes = [*map(str, shape[:i]), "-1", *map(str, shape[i + 1 :])]
            return f"{code}.reshape({', '.join(sizes)})   # -1: as many as there are, {count // rest}"
    fits = [n for n in range(2, count) if count % n == 0]
    if not fits:
        return f"# {count} elements fit only into one row or one column"
    return f"# sizes that divide {count}: {', '.join(map(str, fits[:8]))}{', …' if len(fits) > 8 else ''}"


def out_of_range(case: Raised) -> Answer:
    """An index beyond the end."""
    facts = facts_of(case)
    index, dim, size = facts["index"], facts["dim"], facts["size"]
    operands = operands_of(case)
    name = operands[0][0] if operands else "the tensor"
    fits = f"0 to {size - 1}" if size > 1 else "0" if size else "none"
    fix = f"# the largest index is {size - 1}: counting starts at 0" if size else "# look why it is empty"
    return Answer(
        "index out of range",
        f"{name} has {size} entries along dimension {dim} (index {fits}), and {index} was asked for.",
        made_lines(operands[:1], case, "indexed in"),
        fix,
        TENSORS,
        about=tuple(t for _, t in operands[:1]),
    )


def negative_step(case: Raised) -> Answer:
    """x[::-1]."""
    operands = operands_of(case)
    index = [
        x for x in case.arguments if isinstance(x, slice) or x is Ellipsis or x is None or isinstance(x, int)
    ]
    dims = [i for i, s in enumerate(index) if isinstance(s, slice) and s.step is not None and s.step < 0]
    node = case.expression
    name = operands[0][0] if operands else "the tensor"
    code = as_code(name) if operands else "x"
    new = f"{code}.flip({', '.join(map(str, dims or [0]))})"
    fix = (
        case.source.with_part(node, new)
        if isinstance(node, ast.Subscript) and _plainly_reversed(index)
        else new
    )
    return Answer(
        "negative step",
        f"{name} cannot be indexed with a negative step: tensors have no negative strides.",
        lines(("indexed in", case.place)),
        fix,
        TENSORS,
        about=tuple(t for _, t in operands[:1]),
    )


def _plainly_reversed(index: list[Any]) -> bool:
    return all(
        isinstance(s, slice) and s.start is None and s.stop is None and s.step in (None, 1, -1) for s in index
    )


def no_such_dim(case: Raised) -> Answer:
    """A dimension that the tensor does not have."""
    facts = facts_of(case)
    dim, ndim = facts["dim"], facts["ndim"]
    operands = operands_of(case)[:1]
    name = f"{operands[0][0]} {list(operands[0][1].raw.shape)}" if operands else "The tensor"
    there = "is a single number" if not ndim else "has 1 dimension (0)" if ndim == 1 else (
        f"has {ndim} dimensions (0 to {ndim - 1})"
    )  # fmt: skip
    return Answer(
        "no such dimension",
        f"{name} {there}, and dimension {dim} was asked for.",
        made_lines(operands, case, "asked for in"),
        "# dim=-1 is the last one; dimensions are counted from 0",
        TENSORS,
        about=tuple(t for _, t in operands),
    )


def no_join(case: Raised) -> Answer:
    """cat or stack of shapes that do not go together."""
    facts = facts_of(case)
    shapes, number, dim = facts["shapes"], facts["number"], facts.get("dim")
    operands = operands_of(case)
    named = (
        [n for n, _ in operands]
        if len(operands) == len(shapes)
        else [f"number {i}" for i in range(len(shapes))]
    )
    a, b = tuple(shapes[0]), tuple(shapes[number])
    both = f"{named[0]} {list(a)} and {named[number]} {list(b)}"
    differ = [i for i, (m, n) in enumerate(zip(a, b)) if m != n]
    along = differ[0] if len(a) == len(b) and len(differ) == 1 else None
    if dim is None:
        finding = f"{both} cannot be stacked: all must have one shape."
    else:
        finding = (
            f"{both} cannot be put behind one another along dimension {dim}: all other sizes must be equal."
        )
    return Answer(
        "shapes do not join", finding, made_lines(operands[:3], case, "joined in"),
        _joined_along(case, along) if along is not None else "# look how they got their sizes",
        TENSORS, about=tuple(t for _, t in operands),
    )  # fmt: skip


def _joined_along(case: Raised, dim: int) -> str:
    """cat along the one dimension whose sizes may differ."""
    node = case.expression
    if not isinstance(node, ast.Call) or not node.args:
        return f"torch.cat([…], dim={dim})"
    home = case.source.of(node.func).rpartition(".")[0]
    call = f"{home + '.' if home else ''}cat({case.source.of(node.args[0])}, dim={dim})"
    return case.source.with_part(node, call)


def no_tensor(case: Raised) -> Answer:
    """Something else where a tensor belongs."""
    value = facts_of(case)["value"]
    shown = case.text(value) or repr(value)
    function = case.function or "the function"
    node = case.expression
    part = next((x for x in getattr(node, "args", ()) if case.source.of(x) == shown), None)
    maker = "from_numpy" if isinstance(value, np.ndarray) else "tensor"
    if value is None:
        fix = f"# look where {shown} should have been set: a function without return gives None"
    elif isinstance(value, (int, float, list, tuple, np.ndarray)):
        made_of = f"torch.{maker}({shown})"
        fix = case.source.with_part(part, made_of) if part is not None else made_of
    else:
        fix = f"# pass a tensor, not a {type(value).__name__}"
    what = "None" if value is None else f"a {type(value).__name__}"
    return Answer(
        "no tensor",
        f"{function} takes tensors, and {f'`{shown}`' if len(shown) < 40 else 'what it was given'} is {what}.",
        lines(("called in", case.place)),
        fix,
        TENSORS,
    )


def too_many_indices(case: Raised) -> Answer:
    """More numbers between the brackets than there are dimensions."""
    assert case.told is not None
    t, need = case.told.tensor, facts_of(case)["need"]
    name, ndim = case.name(t), t.raw.ndim
    return Answer(
        "too many indices",
        f"{name} has {ndim} dimension{'s' if ndim != 1 else ''} (shape {list(t.raw.shape)}), and the index has parts for "
        f"{need}.",
        made_lines([(name, t)], case, "indexed in"),
        f"{as_code(name)}[{', '.join(['0'] * ndim)}]   # at most {ndim}",
        TENSORS,
        about=(t,),
    )


def index_of_number(case: Raised) -> Answer:
    """x[0] of a single number."""
    t = next(iter(case.tensors), None)
    name = case.name(t) if t is not None else "It"
    node = case.expression
    fix = f"{as_code(name)}.item()"
    if isinstance(node, ast.Subscript):
        fix = case.source.with_part(node, f"{case.source.of(node.value)}.item()")
    return Answer(
        "index of a number",
        f"{name} is a single number (0 dimensions), so it has no elements to pick from.",
        made_lines([(name, t)] if t is not None else [], case, "indexed in"),
        fix,
        TENSORS,
        about=(t,),
    )


def index_of_floats(case: Raised) -> Answer:
    """An index that holds floats."""
    assert case.told is not None
    t = case.told.tensor
    name = case.name(t, "the index")
    code = as_code(name) if name != "the index" else "index"
    return Answer(
        "index of floats",
        f"{name} holds {t.raw.dtype}, and positions are whole numbers.",
        made_lines([(name, t)], case, "indexed in"),
        f"{code}.long()   # positions; or a comparison such as x > 0, as a mask",
        TENSORS,
        about=(t,),
    )


def mask_of_other_shape(case: Raised) -> Answer:
    """A mask that does not have the tensor's shape."""
    assert case.told is not None
    t, shape = case.told.tensor, facts_of(case)["shape"]
    name = case.name(t, "the mask")
    owner = next((x for x in case.tensors if x is not t), None)
    other = case.name(owner) if owner is not None else "the tensor"
    return Answer(
        "mask's shape",
        f"{name} has shape {list(t.raw.shape)}, and {other} has {list(shape)}: a mask says for each element whether it is "
        "taken.",
        made_lines([(name, t)], case, "indexed in"),
        f"mask = {as_code(other)} > 0   # for example: it has the tensor's own shape",
        TENSORS,
        about=(t,),
    )


TOPICS: dict[str, Callable[[Raised], Answer | None]] = {
    "view of strided": view_of_strided,
    "shape does not hold them": no_room,
    "index out of range": out_of_range,
    "negative step": negative_step,
    "no such dimension": no_such_dim,
    "shapes do not join": no_join,
    "no tensor": no_tensor,
    "too many indices": too_many_indices,
    "index of a number": index_of_number,
    "index of floats": index_of_floats,
    "mask's shape": mask_of_other_shape,
}
