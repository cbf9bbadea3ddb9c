"""The graph that operations record.  walk.py carries gradients back through it.

A Node is one recorded operation.  It points to the nodes of its inputs (never to Tensors: so an in-place operation
can give a tensor a new node while older consumers keep the old one) and keeps the raw values that its rules read.
A leaf's node has no operation and knows its Tensor weakly.  Nothing points forward, so there are no cycles and
reference counting alone frees a graph.

One clock stamps nodes and in-place writes.  A node is made after its inputs, so newest-first is a topological order:
the walk needs no recursion, no sort and no visited set.
"""

import weakref
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from . import places

tick = count(1).__next__  # one clock for nodes and writes
written = [0]  # stamp of the newest in-place write of all
new = object.__new__
ndarray, float32, float64 = np.ndarray, np.float32, np.float64

resting: list["Node"] = []  # of leaves with hooks that do not require grad for the time being, see hooks.py
SMALL = 64  # elements of a value that recording copies


class Node:
    """One recorded operation, PyTorch's `grad_fn`.

    op: its row of the table (None for a leaf).  seq: its stamp.  left, right: the nodes of its inputs.  a, b, y: the
    raw inputs and output that its rules read, p its parameters, sa, sb, sy the shapes, va, vb, vy the version counters
    of what is kept.  A slot that a row does not need stays unset.  spot: the user's instruction that made it if
    provenance was on, its record (see journal.py) if recording was.  notes: None, or what hooks keep.

    Most nodes have one input or two, and every slot costs time at birth, at death and whenever Python looks for
    garbage: so those of more inputs are WideNodes.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor(2., requires_grad=True)
    >>> y = x * x
    >>> y.grad_fn, y.grad_fn.next_functions
    (<MulBackward0>, ((<AccumulateGrad>, 0), (<AccumulateGrad>, 0)))
    """

    __slots__ = (
        *("op", "seq", "left", "right", "notes", "leaf", "spot"),
        *("a", "b", "y", "p", "sa", "sb", "sy", "va", "vb", "vy", "__weakref__"),
    )

    op: Any
    seq: int
    left: "Node | None"
    right: "Node | None"
    notes: "Notes | None"
    leaf: Any
    spot: Any
    p: Any
    a: Any
    b: Any
    y: Any
    sa: Any
    sb: Any
    sy: Any
    va: Any
    vb: Any
    vy: Any
    if TYPE_CHECKING:  # of WideNodes: the row says which a node is, so nobody asks the class
        third: "Node | None"
        edges: tuple["Node | None", ...]
        c: Any
        x: Any
        sc: Any
        sx: Any
        vc: Any
        vx: Any

    def name(self) -> str:
        """PyTorch's name of the node: 'MulBackward0', or 'torch::autograd::AccumulateGrad' for a leaf's."""
        title = self.title
        own = "Backward" in title and title != "CopyBackwards"
        return title if own else f"torch::autograd::{title}"

    @property
    def title(self) -> str:
        """The name as it is printed: without the namespace."""
        return "AccumulateGrad" if self.op is None else self.op.node_name(getattr(self, "p", None))

    @property
    def next_functions(self) -> tuple[tuple["Node | None", int], ...]:
        """The nodes of the inputs, each with the number of the output that was used."""
        return tuple((shown(n), k) for n, k in map(as_edge, edges_of(self)))

    @property
    def variable(self) -> Any:
        """A leaf's Tensor; None when nobody holds it any more.

        (PyTorch keeps such a tensor alive here; our graph does not, so its gradient is lost with it.)
        """
        if self.op is not None:
            raise AttributeError(f"only AccumulateGrad has a variable; this is {self.title}")
        return self.leaf()

    @property
    def line(self) -> Any:
        """The user's instruction that made the node, (code object, instruction); None if neither mode was on."""
        spot = getattr(self, "spot", None)
        return None if spot is None or spot[0] is None else (spot[0], spot[1])

    @property
    def place(self) -> "places.Place | None":
        """The user's line that made the node, if provenance or recording was on."""
        return places.place_of(getattr(self, "spot", None))

    @property
    def metadata(self) -> dict[str, Any]:
        """A dictionary of your own on this node."""
        notes = take_notes(self)
        if notes.metadata is None:
            notes.metadata = {}
        return notes.metadata  # type: ignore[no-any-return]

    def register_prehook(self, fn: Any) -> Any:
        """Call `fn(gradients of the outputs)`, a tuple, before each execution of this node in a backward.

        What it returns, a tuple of as many Tensors (or None), takes their place; None leaves them as they are.

        >>> import autodiff_kernel as torch
        >>> x = torch.tensor(2., requires_grad=True)
        >>> y = x * x
        >>> handle = y.grad_fn.register_prehook(lambda gs: (gs[0] * 10,))
        >>> y.backward(); x.grad
        tensor(40.)
        """
        from .hooks import add_node_hook

        return add_node_hook(self, "before", fn)

    def register_hook(self, fn: Any) -> Any:
        """Call `fn(gradients of the inputs, gradients of the outputs)` after each execution of this node.

        Both are tuples, with None for an input or output without gradient.  What it returns takes the place of the
        gradients of the inputs.

        >>> import autodiff_kernel as torch
        >>> x = torch.tensor(2., requires_grad=True)
        >>> y = x.exp()
        >>> handle = y.grad_fn.register_hook(lambda inputs, outputs: print(inputs, outputs))
        >>> y.backward()
        (tensor(7.3891),) (tensor(1.),)
        """
        from .hooks import add_node_hook

        return add_node_hook(self, "after", fn)

    def __call__(self, *gradients: Any) -> Any:
        """Apply the node's rules by hand: from the gradients of its outputs to those of its inputs.

        One Tensor or None for each output; gives one for each input (a tuple, unless there is one input only).  No
        hooks are called and nothing is freed.  An AccumulateGrad adds to its leaf's `.grad`.

        >>> import autodiff_kernel as torch
        >>> x = torch.tensor(3., requires_grad=True)
        >>> (x * x).grad_fn(torch.tensor(1.))
        (tensor(3., grad_fn=<MulBackward0>), tensor(3., grad_fn=<MulBackward0>))
        """
        from .apply import apply

        return apply(self, gradients)

    def _sequence_nr(self) -> int:
        """The stamp: nodes made later have greater ones."""
        return self.seq if self.op is not None else 2**64 - 1

    @property
    def requires_grad(self) -> bool:
        """True: only what may be asked for a gradient has a node."""
        return True

    @property
    def _input_metadata(self) -> tuple[Any, ...]:
        """Shape, dtype and device of each gradient that the node takes."""
        from .apply import input_metadata

        return tuple(input_metadata(self))

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"cannot pickle '{self.title}' object")  # nor copy: a graph belongs to its tensors

    def __repr__(self) -> str:
        return f"<{self.title}>"


class WideNode(Node):
    """The node of a row with three inputs (third, c, sc, vc) or with a list of them (edges, x, sx, vx)."""

    __slots__ = ("third", "edges", "c", "x", "sc", "sx", "vc", "vx")


SLOTS = (*Node.__slots__, *WideNode.__slots__)


class Notes:
    """What only some nodes have: hooks, and tensors that retain their gradient.  (Recording keeps what it knows in `spot`.)

    Most notes say little, so the fields live on the class until they are set.
    """

    hooks: Any = ()  # of the tensors that the node made: output number -> their hooks, see hooks.py
    retain: Any = ()  # tensors that retain their gradient: (output number, weak reference)
    before: Any = ()  # prehooks of the node
    after: Any = ()  # hooks of the node
    accumulated: Any = ()  # of a leaf: hooks that see its .grad
    metadata: Any = None
    packed: Any = (
        None  # what hooks made of the saved values: letter -> Packed or a list of them, see packing.py
    )


def take_notes(n: Node) -> Notes:
    notes = n.notes
    if notes is None:
        notes = n.notes = new(Notes)
    return notes


def leaf_node(t: Any) -> Node:
    """The node of a leaf tensor: where its gradient is accumulated."""
    n = Node()
    n.op, n.seq, n.notes, n.leaf = None, 0, None, weakref.ref(t)
    return n


def edges_of(n: Node) -> tuple[Node | None, ...]:
    """The nodes of the inputs, in order, None for an input that does not require grad."""
    op = n.op
    if op is None:
        return ()
    if op.each is not None:
        return n.edges
    if op.arity == 1:
        return (n.left,)
    return (n.left, n.right) if op.arity == 2 else (n.left, n.right, n.third)


def as_edge(e: Node | None) -> tuple[Node | None, int]:
    """An edge as PyTorch shows it: the pick of one output of several is the edge's number, not a node."""
    if e is not None and e.op is not None and e.op.picks:
        return e.left, e.p
    return e, 0


def shown(n: Node | None) -> Any:
    """What a user gets to see of a node: of a Function's, the context that its methods know as `ctx`."""
    return n.p if n is not None and n.op is not None and n.op.whole is not None and n.p is not None else n


def node_of(x: Any) -> Any:
    """The node behind what a user calls `grad_fn`; anything else as it is."""
    hidden = getattr(x, "_hidden_node", None)
    return x if hidden is None else hidden()


def small(x: Any) -> Any:
    """A copy of x for a picture if it has at most 64 elements; of a tuple, of each."""
    if x is None or isinstance(x, (list, tuple)):
        return x and [small(v) for v in x]
    kind = x.__class__
    if kind is float32 or kind is float64:
        return x
    if kind is not ndarray:
        from .outline import Outline

        if not isinstance(x, Outline):
            x = getattr(x, "raw", x)
        if isinstance(x, Outline):  # of a batched tensor there is no one value
            return None
        if getattr(x, "ndim", 0) == 0 and not hasattr(x, "base") or isinstance(x, np.generic):
            return x
    if x.size > SMALL:
        return None
    if x.__class__ is ndarray:
        return x.copy()
    from .device import backend_of

    # Off the GPU, whose memory is the user's; `host` would count a copy that nobody's program made.
    copy: Any = backend_of(x).module.asnumpy(x)
    return copy
