"""Operands that do not fit together: shapes, matrix sizes, dtypes, devices."""

import ast
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

from autodiff_kernel.core import dtype as dtypes
from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.tensor import Tensor

from .answer import LESSONS, Answer, Line, lines
from .history import fact
from .names import as_code, in_line, whose
from .raised import Raised

TENSORS, DEVICES = LESSONS["tensors"], LESSONS["devices"]
Shape = tuple[int, ...]


def facts_of(case: Raised) -> dict[str, Any]:
    assert case.told is not None
    return case.told.facts


def made(t: Tensor) -> Event | None:
    e = fact(t)
    return None if e is None else whose(e)


def made_in(t: Tensor) -> str:
    """' (made in line 3)', or ''."""
    return in_line(made(t), " (made in ") + ")" if in_line(made(t)) else ""


def operands_of(case: Raised, shapes: Any = None) -> list[tuple[str, Tensor]]:
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


def made_lines(operands: list[tuple[str, Tensor]], case: Raised, what: str) -> tuple[Line, ...]:
    known = [(name, made(t)) for name, t in operands]
    here = str(case.place)
    elsewhere = [(f"{name} was made in", e) for name, e in known if e is not None and str(e.place) != here]
    return lines(*elsewhere, (what, case.place))


# ------------------------------------------------------------------------------------------------ broadcasting
def no_broadcast(case: Raised) -> Answer:
    """Shapes that do not broadcast: drawn one under the other, and the unsqueeze that would fit."""
    shapes = [tuple(s) for s in facts_of(case)["shapes"]]
    clash = next(
        (p for p in combinations(range(len(shapes)), 2) if not broadcast(shapes[p[0]], shapes[p[1]])), (0, 1)
    )
    shapes = [shapes[i] for i in clash]
    operands = operands_of(case, shapes)
    names = [name for name, _ in operands] or [f"operand {i + 1}" for i in range(2)]
    a, b = shapes
    dim, left, right = next(_clashes(a, b))
    fix, words = _fitting(names, shapes)
    return Answer(
        "shapes do not broadcast",
        f"{names[0]} {list(a)} and {names[1]} {list(b)} do not fit: shapes are aligned from the right, and there {left} "
        f"meets {right}.",
        made_lines(operands, case, "they meet in"),
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
    operands = operands_of(case)[:2]
    if len(operands) < 2:
        same = operands_of(case)
        operands = [same[0], same[0]] if len(same) == 1 else operands
    if len(operands) < 2:
        a, b = facts_of(case).get("shapes", ((), ()))
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
        made_lines(operands, case, "multiplied in"),
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
    operands = [(n, t) for n, t in operands_of(case) if t.raw.dtype.kind in "fciub"]
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
        made_lines(operands, case, "multiplied in"),
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
    x, y = facts_of(case).get("dtypes", ("", ""))
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
    operands = operands_of(case)
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
        made_lines(operands, case, "they meet in"),
        fix or f"x = x.to('{gpu}')",
        DEVICES,
        about=tuple(t for _, t in operands),
    )


def no_gpu(case: Raised) -> Answer:
    """A GPU was asked for where there is none."""
    tensors = operands_of(case)
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


TOPICS: dict[str, Callable[[Raised], Answer | None]] = {
    "shapes do not broadcast": no_broadcast,
    "matrix sizes": matrix_sizes,
    "two dtypes": two_dtypes,
    "two devices": two_devices,
    "no GPU": no_gpu,
}
