"""`grad_fn._saved_self` and its like: the values that a node keeps, under PyTorch's names.

The table's rules read letters (a, b, c, y); PyTorch's nodes call the same values after the arguments of the operation.
Tools that draw graphs ask for all attributes that begin with `_saved_`.
"""

from functools import partial
from typing import Any

from .dtype import is_floating
from .exchange import written_since
from .graph import Node, take_notes
from .meeting import NUMBERS
from .op import pick_node
from .packing import Packed, unpacked
from .saved import before_cast, modified, spent_rule
from .tensor import Tensor, wrap

USUAL = {"a": "self", "b": "other", "c": "third", "x": "tensors", "y": "result"}
OTHERS = {
    "MmBackward0": {"b": "mat2"}, "BmmBackward0": {"b": "mat2"}, "MvBackward0": {"b": "vec"},
    "DotBackward0": {"b": "tensor"}, "AddmmBackward0": {"b": "mat1", "c": "mat2"},
    "AddmvBackward0": {"b": "mat", "c": "vec"}, "AddrBackward0": {"b": "vec1", "c": "vec2"},
    "AddbmmBackward0": {"b": "batch1", "c": "batch2"}, "BaddbmmBackward0": {"b": "batch1", "c": "batch2"},
    "PowBackward0": {"b": "exponent"}, "PowBackward1": {"b": "exponent"}, "WhereBackward0": {"a": "condition"},
    "AddcmulBackward0": {"b": "tensor1", "c": "tensor2"}, "AddcdivBackward0": {"b": "tensor1", "c": "tensor2"},
    "LerpBackward0": {"b": "end", "c": "weight"}, "LerpBackward1": {"b": "end", "c": "weight"},
    "MaskedFillBackward0": {"b": "mask"}, "GatherBackward0": {"b": "index"}, "IndexSelectBackward0": {"b": "index"},
}  # fmt: skip


def names_of(n: Node) -> dict[str, str]:
    """Of each value that the node's row may keep: PyTorch's name -> our letter."""
    if n.op is None or n.op.whole is not None:
        return {}
    own = OTHERS.get(n.title, {})
    return {own.get(letter, USUAL[letter]): letter for letter in n.op.base.keeps_letters}


def fetch(n: Node, name: str) -> Any:
    """The value under PyTorch's name: a Tensor, a number, or None where the gradient does not need it.

    Raises RuntimeError after a backward has freed it, or if it was overwritten; AttributeError for another name.
    """
    letter = names_of(n).get(name)
    if letter is None:
        raise AttributeError(f"'{n.title}' object has no attribute '_saved_{name}'")
    if n.op.is_spent:
        spent_rule(None, n)
    guard = getattr(n, "v" + letter, None)
    for i, version in enumerate(guard if letter == "x" and guard else [guard]):
        if version is not None and written_since(version, n.seq):
            raise modified(n, letter, i, version)
    source: Any = n
    if n.notes is not None and n.notes.packed is not None and letter in n.notes.packed:
        source = unpacked(n)
    value = getattr(source, letter, None)
    if letter == "x":
        return None if value is None else tuple([shown(n, i, v, n.edges[i]) for i, v in enumerate(value)])
    if value is None or value.__class__ in NUMBERS:
        return value
    if letter == "y":
        if isinstance(value, tuple):
            return tuple(
                [wrap(v, pick_node(n, k) if is_floating(v.dtype) else None) for k, v in enumerate(value)]
            )
        return wrap(value, n, getattr(n, "vy", None))
    i = "abc".index(letter)
    return shown(n, i, value, getattr(n, ("left", "right", "third")[i], None))


def shown(n: Node, i: int, value: Any, edge: Node | None) -> Any:
    """A saved input: the user's own leaf where it is one, else a tensor with its place in the graph."""
    if edge is not None and edge.op is None:
        leaf = edge.leaf()
        if leaf is not None and leaf.raw is value:
            return leaf
    return value if value.__class__ in NUMBERS else wrap(value, before_cast(n, i, value, edge))


def listed(n: Node) -> list[str]:
    """What `dir()` shows of a node, and Tab completes: what users ask of it, not the slots of the engine."""
    hidden = {*Node.__slots__, *(() if n.op is None else ("variable",))}
    ours = [
        name
        for name in object.__dir__(n)
        if name not in hidden and not name.startswith(("_saved_", "_raw_saved_"))
    ]
    return ours + [f"{kind}_{name}" for name in names_of(n) for kind in ("_saved", "_raw_saved")]


# ------------------------------------------------------------------------------------------------ hooks on one value
class RawSaved:
    """One saved value, behind `grad_fn._raw_saved_self`: hooks may be put on it after the operation.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([1., 2.], requires_grad=True)
    >>> y = x * x
    >>> y.grad_fn._raw_saved_self.register_hooks(lambda t: t * 10, lambda t: t)
    >>> y.sum().backward(); x.grad
    tensor([11., 22.])
    """

    def __init__(self, n: Node, name: str) -> None:
        self._node, self._name = n, name

    def register_hooks(self, pack_hook: Any, unpack_hook: Any) -> None:
        """Send the value through pack_hook now, and what backward reads through unpack_hook."""
        n, letter = self._node, names_of(self._node)[self._name]
        if n.op.is_spent:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph "
                "are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward "
                "through the graph a second time or if you need to access saved variables after calling backward."
            )
        notes = take_notes(n)
        if notes.packed is not None and letter in notes.packed:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks "
                "is allowed at a time."
            )
        value = fetch(n, self._name)
        if value is None:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
        if not isinstance(value, Tensor):
            raise RuntimeError(
                f"_raw_saved_{self._name}: only tensors take hooks, not {type(value).__name__}"
            )
        packed = Packed(value, (pack_hook, unpack_hook), own=letter == "y")
        notes.packed = {**(notes.packed or {}), letter: packed}
        setattr(n, letter, None)
        setattr(n, "v" + letter, None)


def raw(n: Node, name: str) -> RawSaved:
    if name not in names_of(n):
        raise AttributeError(f"'{n.title}' object has no attribute '_raw_saved_{name}'")
    return RawSaved(n, name)


def attach() -> None:
    """Give nodes the attributes."""
    for name in {*USUAL.values(), *(name for names in OTHERS.values() for name in names.values())}:
        setattr(Node, f"_saved_{name}", property(partial(fetch, name=name)))
        setattr(Node, f"_raw_saved_{name}", property(partial(raw, name=name)))
    Node.__dir__ = listed  # type: ignore[method-assign, assignment]


attach()
