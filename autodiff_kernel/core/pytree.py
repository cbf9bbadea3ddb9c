"""Nested tuples, lists and dicts of tensors as flat lists, and back: what functions take and return.

A container is a tuple (a named one too), a list, a dict (an ordered or a default one too) or a deque; everything else
is a leaf.  A `Spec` says how leaves are nested.
"""

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any

PLAIN = frozenset((tuple, list, dict, OrderedDict, defaultdict, deque))


class Spec:
    """How leaves are nested: the container's class, its keys (of a dict), and its parts; a leaf has no class.

    >>> flatten({"a": 1, "b": (2, 3)})[1]
    {'a': *, 'b': (*, *)}
    """

    __slots__ = ("kind", "extra", "parts", "count")

    def __init__(self, kind: Any, extra: Any, parts: tuple["Spec", ...], count: int) -> None:
        self.kind, self.extra, self.parts, self.count = kind, extra, parts, count

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Spec)
            and self.kind is other.kind
            and self.extra == other.extra
            and self.parts == other.parts
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if self.kind is None:
            return "*"
        parts = [repr(p) for p in self.parts]
        if issubclass(self.kind, dict):
            return "{" + ", ".join(f"{k!r}: {p}" for k, p in zip(keys_of(self), parts)) + "}"
        if issubclass(self.kind, tuple):
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        return f"[{', '.join(parts)}]"


LEAF = Spec(None, None, (), 1)


def is_named(x: Any) -> bool:
    """Is x a named tuple, of Python's or of `return_types`?"""
    return isinstance(x, tuple) and isinstance(getattr(type(x), "_fields", None), tuple)


def is_container(x: Any) -> bool:
    return type(x) in PLAIN or isinstance(x, tuple) and is_named(x)


def keys_of(spec: Spec) -> Any:
    return spec.extra[1] if spec.kind is defaultdict else spec.extra


def flatten(x: Any) -> tuple[list[Any], Spec]:
    """The leaves of x in order, and how they are nested."""
    if type(x) is tuple and not any(map(is_container, x)):  # what most arguments are
        return list(x), Spec(tuple, None, (LEAF,) * len(x), len(x))
    leaves: list[Any] = []
    return leaves, _flatten(x, leaves)


def _flatten(x: Any, leaves: list[Any]) -> Spec:
    if not is_container(x):
        leaves.append(x)
        return LEAF
    kind: Any = type(x)
    extra: Any = None
    if isinstance(x, dict):
        extra = (x.default_factory, list(x)) if isinstance(x, defaultdict) else list(x)
        x = x.values()
    elif kind is deque:
        extra = x.maxlen
    before = len(leaves)
    parts = []
    for v in x:
        if type(v) in PLAIN or isinstance(v, tuple):
            parts.append(_flatten(v, leaves))
        else:  # a leaf, without a call
            leaves.append(v)
            parts.append(LEAF)
    return Spec(kind, extra, tuple(parts), len(leaves) - before)


def unflatten(spec: Spec, leaves: Iterable[Any]) -> Any:
    """The leaves nested as `spec` says."""
    if spec is LEAF:
        return next(iter(leaves))
    if spec.kind is tuple and all(p is LEAF for p in spec.parts):
        return tuple(leaves)
    return _unflatten(spec, iter(leaves))


def _unflatten(spec: Spec, leaves: Any) -> Any:
    kind = spec.kind
    if kind is None:
        return next(leaves)
    parts = [next(leaves) if p is LEAF else _unflatten(p, leaves) for p in spec.parts]
    if kind is list:
        return parts
    if kind is defaultdict:
        return defaultdict(spec.extra[0], zip(spec.extra[1], parts))
    if issubclass(kind, dict):
        return kind(zip(spec.extra, parts))
    if kind is deque:
        return deque(parts, spec.extra)
    if kind is tuple:
        return tuple(parts)
    return kind(*parts) if hasattr(kind, "_make") else kind(parts)


def leaves_of(x: Any) -> list[Any]:
    return flatten(x)[0]


def tree_map(f: Callable[[Any], Any], x: Any) -> Any:
    """f applied to each leaf."""
    leaves, spec = flatten(x)
    return unflatten(spec, [f(v) for v in leaves])


def spread(prefix: Any, spec: Spec) -> list[Any] | None:
    """`prefix`, which may stop at any depth, repeated for each leaf under it; None if it is nested otherwise.

    >>> spread((0, None), flatten(((1, 2), 3))[1])
    [0, 0, None]
    """
    if not is_container(prefix):
        return [prefix] * spec.count
    own, shape = prefix, flatten(prefix)[1]
    if spec.kind is not shape.kind or len(shape.parts) != len(spec.parts) or shape.extra != spec.extra:
        return None
    out: list[Any] = []
    for part, inner in zip(own.values() if isinstance(own, dict) else own, spec.parts):
        found = spread(part, inner)
        if found is None:
            return None
        out += found
    return out
