"""Operands that do not fit together: shapes, matrix sizes, dtypes, devices, indices."""

import ast
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np

from autodiff_kernel.core import dtype as dtypes
from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.tensor import Tensor

from .answer import LESSONS, Answer, Line, lines
from .history import fact
from .names import as_code, in_line, whose
from .raised import Raised

TENSORS, DEVICES = LESSONS["tensors"], LESSONS["devices"]
Shape = tuple[int, ...]


def _facts(case: Raised) -> dict[str, Any]:
    assert case.told is not None
    return case.told.facts


def made(t: Tensor) -> Event | None:
    e = fact(t)
    return None if e is None else whose(e)


def made_in(t: Tensor) -> str:
    """' (made in line 3)', or ''."""
    return in_line(made(t), " (made in ") + ")" if in_line(made(t)) else ""


def _operands(case: Raised, shapes: Any = None) -> list[tuple[str, Tensor]]:
    """The tensors that met, with their names; those of the given shapes, in their order, if these are found."""
    found: list[tuple[str, Tensor]] = []
    for i, x in enumerate(case.arguments):
        if isinstance(x, Tensor) and not any(x is t for _, t in found):
            found.append((case.name(x, f"operand {i + 1}"), x))
    if shapes is None:
        return found
    picked: list[tuple[str, Tensor]] = []
    for shape in shapes:
        fits = next((f for f in found if tuple(f[1].raw.shape) == tuple(shape) and f not in picked), None)
        if fits is None:
            return []
        picked.append(fits)
    return picked


def _made_lines(operands: list[tuple[str, Tensor]], case: Raised, what: str) -> tuple[Line, ...]:
    known = [(name, made(t)) for name, t in operands]
    here = str(case.place)
    elsewhere = [(f"{name} was made in", e) for name, e in known if e is not None and str(e.place) != here]
    return lines(*elsewhere, (what, case.place))


# ------------------------------------------------------------------------------------------------ broadcasting
def no_broadcast(case: Raised) -> Answer:
    """Shapes that do not broadcast: drawn one under the other, and the unsqueeze that would fit."""
    shapes = [tuple(s) for s in _facts(case)["shapes"]]
    clash = next(
        (p for p in combinations(range(len(shapes)), 2) if not broadcast(shapes[p[0]], shapes[p[1]])), (0, 1)
    )
    shapes = [shapes[i] for i in clash]
    operands = _operands(case, shapes)
    names = [name for name, _ in operands] or [f"operand {i + 1}" for i in range(2)]
    a, b = shapes
    dim, left, right = next(_clashes(a, b))
    fix, words = _fitting(names, shapes)
    return Answer(
        "shapes do not broadcast",
        f"{names[0]} {list(a)} and {names[1]} {list(b)} do not fit: shapes are aligned from the right, and there {left} "
        f"meets {right}.",
        _made_lines(operands, case, "they meet in"),
        fix,
        TENSORS,
        trail=(*drawn(names, shapes), *words),
        about=tuple(t for _, t in operands),
    )


def broadcast(a: Shape, b: Shape) -> bool:
    return not any(True for _ in _clashes(a, b))


def _clashes(a: Shape, b: Shape) -> Iterator[tuple[int, int, int]]:
    """(dimension from the right, size, size) where two shapes do not go together, from the right."""
    for k in range(1, min(len(a), len(b)) + 1):
        if a[-k] != b[-k] and 1 not in (a[-k], b[-k]):
            yield k, a[-k], b[-k]


def drawn(names: list[str], shapes: list[Shape]) -> tuple[str, ...]:
    """Shapes under each other, aligned from the right, with marks under the sizes that do not go together.

    >>> print("\\n".join(drawn(["a", "bias"], [(2, 3), (2,)])))
    a     2  3
    bias     2
             ^
    """
    width = max(len(n) for n in names)
    depth = max(len(s) for s in shapes)
    cells = [[""] * (depth - len(s)) + [str(n) for n in s] for s in shapes]
    columns = [max(len(row[i]) for row in cells) for i in range(depth)]
    wrong = {depth - k for k, _, _ in _clashes(*shapes)}
    rows = [
        f"{n:<{width}}  " + "  ".join(f"{c:>{w}}" for c, w in zip(row, columns))
        for n, row in zip(names, cells)
    ]
    marks = " " * width + "  " + "  ".join(f"{'^' if i in wrong else '':>{w}}" for i, w in enumerate(columns))
    return (*(r.rstrip() for r in rows), marks.rstrip())


def _fitting(names: list[str], shapes: list[Shape]) -> tuple[str, tuple[str, ...]]:
    """How one operand could be shaped so that they fit, as code, and in words; '' where nothing simple does."""
    order = sorted(range(2), key=lambda i: len(shapes[i]))
    short, long = order
    s, other = shapes[short], shapes[long]
    code = as_code(names[short]) if not names[short].startswith("operand") else "x"
    if len(s) < len(other):
        new = _stretched(s, other)
        if new is not None:
            index = ", ".join(":" if n is not None else "None" for n in new)
            ones = [i for i, n in enumerate(new) if n is None]
            shown = [1 if n is None else n for n in new]
            text = f"{code}.unsqueeze({ones[0]})" if len(ones) == 1 else f"{code}[{index}]"
            return f"{text}   # shape {shown}, which fits {list(other)}", ()
    if len(s) == len(other) == 2 and broadcast(s[::-1], other):
        return f"{code}.T   # shape {list(s[::-1])}", ()
    return "# no dimension of size 1 makes these fit: one of them has another size than was meant", ()


def _stretched(s: Shape, other: Shape) -> list[int | None] | None:
    """s with dimensions of size 1 (None) put in, as few as make it fit."""
    for extra in range(1, len(other) - len(s) + 1):
        size = len(s) + extra
        for spots in combinations(range(size), extra):
            if spots[0] == 0 and extra < size and spots == tuple(range(extra)):
                continue  # at the front they change nothing
            rest = iter(s)
            new = [None if i in spots else next(rest) for i in range(size)]
            if broadcast(tuple(1 if n is None else n for n in new), other):
                return new
    return None


# ------------------------------------------------------------------------------------------------ products
def matrix_sizes(case: Raised) -> Answer:
    """Matrices whose inner sizes differ."""
    operands = _operands(case)[:2]
    if len(operands) < 2:
        same = _operands(case)
        operands = [same[0], same[0]] if len(same) == 1 else operands
    if len(operands) < 2:
        a, b = _facts(case).get("shapes", ((), ()))
        names, shapes = ["the first", "the second"], [tuple(a), tuple(b)]
    else:
        names, shapes = [n for n, _ in operands], [tuple(t.raw.shape) for _, t in operands]
    a, b = shapes
    inner = b[-2] if len(b) > 1 else b[-1] if b else 0
    columns = a[-1] if a else 0
    what = "rows" if len(b) > 1 else "elements"
    return Answer(
        "matrix sizes",
        f"{names[0]} {list(a)} has {columns} {'columns' if len(a) > 1 else 'elements'}, and {names[1]} {list(b)} has {inner} "
        f"{what}: a product needs as many of the one as of the other.",
        _made_lines(operands, case, "multiplied in"),
        _product(names, a, b),
        TENSORS,
        about=tuple(t for _, t in operands),
    )


def _product(names: list[str], a: Shape, b: Shape) -> str:
    x, y = (as_code(n) if n[:4] != "the " and not n.startswith("operand") else k for n, k in zip(names, "ab"))
    if len(a) == len(b) == 2:
        if a[1] == b[1]:
            return f"{x} @ {y}.T   # {list(a)} times {[b[1], b[0]]}"
        if a[0] == b[0]:
            return f"{x}.T @ {y}   # {[a[1], a[0]]} times {list(b)}"
        if b[1] == a[0]:
            return f"{y} @ {x}   # {list(b)} times {list(a)}"
    if len(a) == 2 and len(b) == 1 and a[0] == b[0]:
        return f"{x}.T @ {y}   # {[a[1], a[0]]} times {list(b)}"
    return f"# neither .T nor another order makes these fit: look how {x} and {y} got their sizes"


def two_dtypes(case: Raised) -> Answer:
    """A product of two dtypes."""
    operands = [(n, t) for n, t in _operands(case) if t.raw.dtype.kind in "fciub"]
    kinds = list(dict.fromkeys(str(t.raw.dtype) for _, t in operands))
    if len(kinds) < 2:
        return _other_dtypes(case)
    wanted = str(dtypes.get_default_dtype()).removeprefix("torch.")
    target = wanted if wanted in kinds else kinds[0]
    change = [(n, t) for n, t in operands if str(t.raw.dtype) != target]
    told = " and ".join(f"{n} holds {t.raw.dtype}" for n, t in operands[:3])
    method = {"float32": "float", "float64": "double", "float16": "half", "bfloat16": "bfloat16"}.get(target)
    fix = "\n".join(
        f"{as_code(n)} = {as_code(n)}.{method}()" if as_code(n).isidentifier() else f"{as_code(n)}.{method}()"
        for n, _ in change
    )
    from_numpy = [n for n, t in change if str(t.raw.dtype) == "float64" and _came_from_numpy(t)]
    trail = (f"{from_numpy[0]} came from NumPy, whose floats are float64.",) if from_numpy else ()
    return Answer(
        "two dtypes",
        f"{told}: a product does not convert by itself.",
        _made_lines(operands, case, "multiplied in"),
        fix if method else f"{as_code(change[0][0])}.to(torch.{target})",
        TENSORS,
        trail=trail,
        about=tuple(t for _, t in operands),
    )


def _came_from_numpy(t: Tensor) -> bool:
    e = fact(t)
    while e is not None:
        if e.kind == "made":
            return e.p == "numpy"
        e = next((x for x in e.inputs if x.__class__ is Event), None)
    return False


def _other_dtypes(case: Raised) -> Answer:
    x, y = _facts(case).get("dtypes", ("", ""))
    return Answer(
        "two dtypes",
        f"One operand holds {x} and the other {y}: a product does not convert by itself.",
        lines(("multiplied in", case.place)),
        f"x.to(torch.{x})",
        TENSORS,
    )


# ------------------------------------------------------------------------------------------------ devices
def two_devices(case: Raised) -> Answer:
    """Operands on different devices."""
    operands = _operands(case)
    homes = list(dict.fromkeys(str(t.device) for _, t in operands))
    told = " and ".join(f"{n} is on {t.device}" for n, t in operands[:3])
    gpu = next((h for h in homes if h != "cpu"), "cuda:0")
    moved = [n for n, t in operands if str(t.device) != gpu]
    fix = "\n".join(
        f"{as_code(n)} = {as_code(n)}.to('{gpu}')"
        if as_code(n).isidentifier()
        else f"{as_code(n)}.to('{gpu}')"
        for n in moved
    )
    return Answer(
        "two devices",
        f"{told}: an operation needs its operands on one device."
        if len(homes) > 1
        else "The operands lie on two devices.",
        _made_lines(operands, case, "they meet in"),
        fix or f"x = x.to('{gpu}')",
        DEVICES,
        about=tuple(t for _, t in operands),
    )


def no_gpu(case: Raised) -> Answer:
    """A GPU was asked for where there is none."""
    tensors = _operands(case)
    code = as_code(tensors[0][0]) if tensors and not tensors[0][0].startswith("operand") else "x"
    node = case.expression
    given = next((k for k in getattr(node, "keywords", ()) if k.arg == "device"), None)
    if given is not None:
        move = case.source.with_part(given.value, "device")
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "cuda":
        move = case.source.with_part(node, f"{case.source.of(node.func.value)}.to(device)")
    else:
        move = f"{code if code.isidentifier() else 'x'} = {code}.to(device)"
    phrase = str(case.error).splitlines()[0].partition(";")[0]
    return Answer(
        "no GPU",
        "A GPU was asked for, and there is none that could be used.",
        lines(("a GPU was asked for in", case.place)),
        f'device = "cuda" if torch.cuda.is_available() else "cpu"\n{move}\n'
        "# or, to see what goes where without one:  torch.cuda.simulate(1)",
        DEVICES,
        trail=(phrase + ".",),
    )


# ------------------------------------------------------------------------------------------------ views and indices
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
    t, shape = case.told.tensor, _facts(case)["shape"]
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
    facts = _facts(case)
    shape, count = facts["shape"], facts["count"]
    operands = _operands(case)
    name = operands[0][0] if operands else "the tensor"
    own = f" {list(operands[0][1].raw.shape)}" if operands else ""
    known = [n for n in shape if n >= 0]
    holds = int(np.prod(known)) if known else 1
    text = f"holds a multiple of {holds}" if len(known) < len(shape) else f"holds {holds}"
    return Answer(
        "shape does not hold them",
        f"{name}{own} has {count} elements, and the shape {list(shape)} {text}.",
        _made_lines(operands[:1], case, "reshaped in"),
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
    facts = _facts(case)
    index, dim, size = facts["index"], facts["dim"], facts["size"]
    operands = _operands(case)
    name = operands[0][0] if operands else "the tensor"
    fits = f"0 to {size - 1}" if size > 1 else "0" if size else "none"
    fix = f"# the largest index is {size - 1}: counting starts at 0" if size else "# look why it is empty"
    return Answer(
        "index out of range",
        f"{name} has {size} entries along dimension {dim} (index {fits}), and {index} was asked for.",
        _made_lines(operands[:1], case, "indexed in"),
        fix,
        TENSORS,
        about=tuple(t for _, t in operands[:1]),
    )


def negative_step(case: Raised) -> Answer:
    """x[::-1]."""
    operands = _operands(case)
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
    facts = _facts(case)
    dim, ndim = facts["dim"], facts["ndim"]
    operands = _operands(case)[:1]
    name = f"{operands[0][0]} {list(operands[0][1].raw.shape)}" if operands else "The tensor"
    there = "is a single number" if not ndim else "has 1 dimension (0)" if ndim == 1 else (
        f"has {ndim} dimensions (0 to {ndim - 1})"
    )  # fmt: skip
    return Answer(
        "no such dimension",
        f"{name} {there}, and dimension {dim} was asked for.",
        _made_lines(operands, case, "asked for in"),
        "# dim=-1 is the last one; dimensions are counted from 0",
        TENSORS,
        about=tuple(t for _, t in operands),
    )


def no_join(case: Raised) -> Answer:
    """cat or stack of shapes that do not go together."""
    facts = _facts(case)
    shapes, number, dim = facts["shapes"], facts["number"], facts.get("dim")
    operands = _operands(case)
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
        "shapes do not join", finding, _made_lines(operands[:3], case, "joined in"),
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
    value = _facts(case)["value"]
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
    t, need = case.told.tensor, _facts(case)["need"]
    name, ndim = case.name(t), t.raw.ndim
    return Answer(
        "too many indices",
        f"{name} has {ndim} dimension{'s' if ndim != 1 else ''} (shape {list(t.raw.shape)}), and the index has parts for "
        f"{need}.",
        _made_lines([(name, t)], case, "indexed in"),
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
        _made_lines([(name, t)] if t is not None else [], case, "indexed in"),
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
        _made_lines([(name, t)], case, "indexed in"),
        f"{code}.long()   # positions; or a comparison such as x > 0, as a mask",
        TENSORS,
        about=(t,),
    )


def mask_of_other_shape(case: Raised) -> Answer:
    """A mask that does not have the tensor's shape."""
    assert case.told is not None
    t, shape = case.told.tensor, _facts(case)["shape"]
    name = case.name(t, "the mask")
    owner = next((x for x in case.tensors if x is not t), None)
    other = case.name(owner) if owner is not None else "the tensor"
    return Answer(
        "mask's shape",
        f"{name} has shape {list(t.raw.shape)}, and {other} has {list(shape)}: a mask says for each element whether it is "
        "taken.",
        _made_lines([(name, t)], case, "indexed in"),
        f"mask = {as_code(other)} > 0   # for example: it has the tensor's own shape",
        TENSORS,
        about=(t,),
    )


TOPICS: dict[str, Callable[[Raised], Answer | None]] = {
    "shapes do not broadcast": no_broadcast,
    "matrix sizes": matrix_sizes,
    "two dtypes": two_dtypes,
    "two devices": two_devices,
    "no GPU": no_gpu,
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
