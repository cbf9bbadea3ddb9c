"""What a function can reach when it is called: its arguments, closure, globals, and the attributes of all these.

`look` follows them from the function, without recursion, and notes each tensor and each plain value under the path by
which it was found (`x`, `self.fc1.weight`, `config["lr"]`).  Two calls whose notes agree may run the same program: that
is the guard.  Notes that differ before and after a call show that the function changes Python's state, which no program
of tensor operations repeats.

Of globals and of Python modules, only names that the code mentions count; of the optimizers, only their parameters.
"""

import functools
import sys
import types
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import device as devices
from .. import dtype as dtypes
from .. import modes
from ..generator import Generator
from ..places import MARK
from ..sharing import INFERENCE, View
from ..storage import root_of
from ..tensor import Tensor

PLAIN = (int, float, complex, bool, str, bytes, type(None), type(Ellipsis), np.generic, np.dtype)
MOST = 20_000  # things that are looked at
LARGEST = 1 << 20  # bytes of a NumPy array that is compared by value


class Unseen(Exception):
    """Something that cannot be recorded; the text says what."""


class State:
    """What was found.  notes: path -> what has to agree; tensors: path -> the tensor, in the order of finding."""

    __slots__ = ("notes", "tensors", "objects", "generators", "owners")

    def __init__(self) -> None:
        self.notes: dict[str, Any] = {}
        self.tensors: dict[str, Tensor] = {}
        self.objects: dict[str, int] = {}  # path -> id of the tensor there
        self.generators: list[Generator] = []
        self.owners: list[Any] = []  # the optimizers


def form_of(t: Tensor) -> tuple[Any, ...]:
    """What a program relies on of a tensor: everything but its values."""
    raw, g = t.raw, t._grad_or_none()
    layout = raw.strides if getattr(raw, "ndim", 0) else None
    return (
        type(t),
        raw.shape,
        raw.dtype,
        devices.device_of(raw),
        layout,
        t.requires_grad,
        t.is_leaf,
        t.family.__class__ is View and t.family.made,
        t.version is INFERENCE,
        t.is_leaf and g is not None and (g.raw.shape, g.raw.dtype, g.requires_grad),
    )


def look(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], names: list[str]) -> State:
    """All that a call can reach.  names: what to call the positional arguments."""
    state = State()
    state.notes["the grad mode"] = modes.is_grad_enabled()
    state.notes["the inference mode"] = modes.is_inferring()
    state.notes["the default dtype"] = dtypes.get_default_dtype()
    state.notes["the default device"] = devices.default_device()
    waiting: deque[tuple[str, Any, Any]] = deque()  # path, thing, names that the code mentions
    for name, x in zip(names, args):
        waiting.append((name, x, ()))
    waiting.extend((name, x, ()) for name, x in kwargs.items())
    waiting.append(("", function, ()))
    seen: dict[int, str] = {}
    kept: list[Any] = []  # what must live as long as its id is used
    memories: dict[int, str] = {}
    count = 0
    while waiting:
        path, x, mentioned = waiting.popleft()
        count += 1
        if count > MOST:
            raise Unseen(f"it can reach more than {MOST} things, too many to be compared at each call")
        if isinstance(x, PLAIN):
            state.notes[path] = (type(x), x if x == x else "nan")
            continue
        if id(x) in seen:
            state.notes[path] = ("the same as", seen[id(x)])
            continue
        seen[id(x)] = path
        kept.append(x)
        if isinstance(x, Tensor):
            if not isinstance(x.raw, (np.ndarray, np.generic)):
                raise Unseen(f"it can reach a tensor on a GPU, {path}, and programs run on the CPU only")
            root = id(root_of(x.raw)) if hasattr(x.raw, "base") and x.raw.ndim else 0
            shared = memories.setdefault(root, path) if root else path
            state.notes[path] = (form_of(x), shared)
            state.tensors[path] = x
            state.objects[path] = id(x)
        elif isinstance(x, Generator):
            state.notes[path] = ("a generator", id(x))
            state.generators.append(x)
        elif hasattr(type(x), "bit_generator"):  # one of NumPy's: its state shows whether it is used
            state.notes[path] = repr(x.bit_generator.state)
        elif isinstance(x, np.ndarray):
            if x.nbytes > LARGEST or x.dtype.hasobject:
                raise Unseen(
                    f"it can reach a NumPy array, {path}, which is too large to be compared at each call"
                )
            state.notes[path] = (x.shape, x.dtype, x.tobytes())
        else:
            state.notes[path] = kind_of(x)
            if is_optimizer(x):
                state.owners.append(x)
            waiting.extend(parts_of(path, x, mentioned))
    return state


def is_optimizer(x: Any) -> bool:
    return hasattr(type(x), "add_param_group") and "param_groups" in getattr(x, "__dict__", ())


def kind_of(x: Any) -> Any:
    """What has to agree of a thing beside its parts."""
    if isinstance(x, (dict, set, frozenset)):
        return type(x), len(x), tuple([k if isinstance(k, PLAIN) else id(k) for k in x])
    if isinstance(x, (list, tuple, deque)):
        return type(x), len(x)
    if isinstance(x, types.FunctionType):
        return x.__code__
    if isinstance(x, types.MethodType):
        return x.__func__
    if isinstance(x, (type, types.ModuleType, types.BuiltinFunctionType)):
        return x
    return type(x)


def ours(x: Any) -> bool:
    """Does this function or class belong to the library, to Python, or to an installed package?"""
    module = sys.modules.get(getattr(x, "__module__", None) or "")
    if module is None:
        return False
    return MARK in module.__dict__ or foreign(module)


def foreign(module: types.ModuleType) -> bool:
    """A module of Python's own, or of an installed package: its state is taken as constant."""
    if MARK in module.__dict__ or module.__name__.partition(".")[0] in sys.stdlib_module_names - {"__main__"}:
        return True
    file = getattr(module, "__file__", None) or ""
    return "site-packages" in file or "dist-packages" in file


def joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def parts_of(path: str, x: Any, mentioned: Any) -> Iterator[tuple[str, Any, Any]]:
    """What a thing leads to."""
    if isinstance(x, (list, tuple, deque)):
        yield from ((f"{path}[{i}]", v, ()) for i, v in enumerate(x))
    elif isinstance(x, dict):
        yield from ((f"{path}[{k!r}]" if isinstance(k, PLAIN) else f"{path}[…{i}]", v, ())
                    for i, (k, v) in enumerate(x.items()))  # fmt: skip
        if any(isinstance(k, Tensor) for k in x):
            yield from ((f"{path}.keys[{i}]", k, ()) for i, k in enumerate(x))
    elif isinstance(x, types.FunctionType):
        yield from parts_of_function(path, x)
    elif isinstance(x, types.MethodType):
        yield joined(path, "self") if not path else path, x.__self__, ()
        if not ours(x.__func__):
            yield joined(path, x.__func__.__name__), x.__func__, ()
    elif isinstance(x, types.ModuleType):
        if not foreign(x):
            yield from ((joined(path, n), x.__dict__[n], mentioned) for n in mentioned if n in x.__dict__)
    elif isinstance(x, type):
        if not ours(x):
            yield from parts_of_class(path, x)
    elif isinstance(x, functools.partial):
        yield from ((joined(path, n), getattr(x, n), ()) for n in ("func", "args", "keywords"))
    elif hasattr(type(x), "__next__"):
        raise Unseen(f"it can reach an iterator, {path}, and what that gives next is not known")
    elif "_replays" in getattr(x, "__dict__", ()):  # a compiled function: what it was made from
        yield path, x._replays, ()
    elif is_optimizer(x):
        yield joined(path, "params"), [g["params"] for g in x.param_groups], ()
    else:
        own = getattr(x, "__dict__", None)
        if isinstance(own, dict):
            yield from ((joined(path, str(n)), v, ()) for n, v in list(own.items()))
        for kind in type(x).__mro__:
            slots = kind.__dict__.get("__slots__", ())
            for n in (slots,) if isinstance(slots, str) else slots:
                if n not in ("__dict__", "__weakref__") and not ours(kind) and hasattr(x, n):
                    yield joined(path, n), getattr(x, n), ()
            if not ours(kind):
                yield joined(path, "class"), kind, ()


def parts_of_class(path: str, x: type) -> Iterator[tuple[str, Any, Any]]:
    for n, v in list(x.__dict__.items()):
        if n.startswith("__") and n not in ("__init__", "__call__") and not isinstance(v, types.FunctionType):
            continue
        if isinstance(v, (staticmethod, classmethod)):
            v = v.__func__
        if isinstance(v, property):
            v = v.fget
        yield joined(path, n), v, ()


def parts_of_function(path: str, f: types.FunctionType) -> Iterator[tuple[str, Any, Any]]:
    if ours(f) and path:
        return
    code = f.__code__
    for name, cell in zip(code.co_freevars, f.__closure__ or ()):
        try:
            yield joined("", name), cell.cell_contents, mentions(code)
        except ValueError:  # not bound yet
            continue
    yield joined(path, "defaults"), f.__defaults__ or (), ()
    yield joined(path, "kwdefaults"), f.__kwdefaults__ or {}, ()
    if ours(f):
        return
    names = mentions(code)
    for name in names:
        if name in f.__globals__:
            yield name, f.__globals__[name], names


def mentions(code: types.CodeType) -> list[str]:
    """The global names and attributes that the code, or a function inside of it, mentions."""
    found: dict[str, None] = {}
    codes = [code]
    while codes:
        c = codes.pop()
        found.update(dict.fromkeys(c.co_names))
        codes += [k for k in c.co_consts if isinstance(k, types.CodeType)]
    return list(found)


def difference(before: State, after: State) -> str:
    """The path of the first thing that a call has changed in Python's state; '' if none."""
    for path in (*before.notes, *after.notes):
        a: Any = before.notes.get(path)
        b: Any = after.notes.get(path)
        if path in before.tensors and path in after.tensors:
            if before.objects[path] != after.objects[path]:
                return path
            if a[0][:-1] == b[0][:-1]:  # only the gradient is another one: that is seen elsewhere
                continue
        if not same(a, b):
            return path
    return ""


def same(a: Any, b: Any) -> bool:
    try:
        return a is b or bool(a == b)
    except Exception:  # what cannot be compared is another one
        return False
