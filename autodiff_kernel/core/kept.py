"""A tensor that is kept for later: by a Function's `save_for_backward`, or as an input of a checkpoint.

It keeps its place in the graph, is guarded against writes in place, and goes through the hooks on saved values.
"""

from collections.abc import Callable
from typing import Any

from .exchange import written_since
from .graph import Node, as_edge
from .op import pick_node
from .packing import Packed, at_work, hooks_at_work
from .saved import overwritten
from .sharing import saved_version_of
from .tensor import Tensor, wrap


class SavedTensor:
    """One kept tensor.

    t: the tensor itself, or for an output of the node that keeps it the raw array and the output's number (the tensor
    would close a cycle).  stamp: writes after it are refused.  packed: what hooks made of it instead.
    """

    __slots__ = ("t", "raw", "number", "node", "version", "stamp", "packed")
    version: Any
    packed: Packed | None

    def __init__(self, t: Tensor, stamp: int, number: int | None = None) -> None:
        self.number, self.stamp, self.packed = number, stamp, None
        self.node = t.node if number is None else None
        hooks = hooks_at_work() if at_work[0] else None
        if hooks is not None:
            self.packed = Packed(
                t if number is None else wrap(t.raw, t.node, t.version), hooks, own=number is not None
            )
            self.t = self.raw = self.version = None
            return
        self.version = None if t.is_dual else saved_version_of(t)
        self.t, self.raw = (t, None) if number is None else (None, t.raw)

    def open(self, keeper: str, own: Callable[[], Node | None] = lambda: None, title: str = "") -> Tensor:
        """The tensor, with its place in the graph; RuntimeError if it was overwritten.

        keeper: who kept it, as an error says it.  own: gives the node that did, while it lives, and title its name.
        """
        if self.packed is not None:
            return wrap(self.packed.open().raw, self._edge(own))
        if self.version is not None and written_since(self.version, self.stamp):
            raw = self.raw if self.t is None else self.t.raw
            raise overwritten(own(), raw, self.version, keeper, "a saved tensor", self._output(title))
        if self.t is None:
            return wrap(self.raw, self._edge(own), self.version)
        if self.t.node is None and self.node is not None and self.node.op is not None:
            return wrap(
                self.t.raw, self.node, self.version
            )  # detach_() since: backward was asked of what it was then
        return self.t

    def _output(self, title: str) -> str:
        """Whose output the tensor is, for an error."""
        if self.number is not None:
            return f"output {self.number} of {title}"
        maker, number = as_edge(self.node)
        return "" if maker is None or maker.op is None else f"output {number} of {maker.title}"

    def _edge(self, own: Callable[[], Node | None]) -> Node | None:
        """The node of the tensor."""
        if self.number is None:
            return self.node
        n = own()
        return pick_node(n, self.number) if n is not None and n.op.outputs else n
