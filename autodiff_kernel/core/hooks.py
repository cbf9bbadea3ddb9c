"""Functions that users hang on tensors and nodes, and the handles that take them off again.

Where a walk comes to a node, with its complete gradient g:

  1. tensor hooks          x.register_hook(f)                f(gradient), in the order of their registration
  2. retained gradients    x.retain_grad()                   always after the hooks, whatever was asked for first
  3. node prehooks         x.grad_fn.register_prehook(f)     f(gradients of its outputs)
  4. the node itself: its rules, or for a leaf the addition to `.grad`
  5. accumulation hooks    leaf.register_post_accumulate_grad_hook(f)      f(leaf)
  6. node hooks            x.grad_fn.register_hook(f)        f(gradients of its inputs, gradients of its outputs)

What a hook returns takes the place of what it was given; None leaves that as it is.  All of them stand in the node's
notes (see graph.py), those of a tensor under the number of the output that the tensor is: so a hook stays with the
operation that made the tensor, also when the tensor is changed in place later.
"""

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from .accumulate import add_retained
from .api import attach
from .errors import explain
from .graph import Node, Notes, as_edge, resting, take_notes
from .running import reaches, task
from .tensor import Tensor, type_name, wrap

on_leaves = [False]  # was a hook registered on a leaf?  Then a walk counts when each leaf is complete
_leaves: "weakref.WeakSet[Node]" = weakref.WeakSet()


class RemovableHandle:
    """What registering a hook returns; `.remove()` takes the hook off (also at the end of a `with` block).

    hooks_dict: the dictionary of hooks it belongs to, of which it takes the next number as its `id`.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor(2., requires_grad=True)
    >>> handle = x.register_hook(lambda g: g * 10)
    >>> handle.remove()
    >>> (x * x).backward(); x.grad
    tensor(4.)
    """

    _next_id = count().__next__

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        self.id = RemovableHandle._next_id()
        extra = extra_dict if isinstance(extra_dict, list) else [] if extra_dict is None else [extra_dict]
        self.extra_dict_ref = tuple([weakref.ref(d) for d in extra])

    def remove(self) -> None:
        """Take the hook off; a second call does nothing."""
        for reference in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = reference()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __enter__(self) -> "RemovableHandle":
        return self

    def __exit__(self, *_: Any) -> None:
        self.remove()

    def __getstate__(self) -> Any:
        return (self.hooks_dict_ref(), self.id, tuple([r() for r in self.extra_dict_ref]))

    def __setstate__(self, state: Any) -> None:
        hooks, self.id, extra = state
        self.hooks_dict_ref = weakref.ref(OrderedDict() if hooks is None else hooks)
        self.extra_dict_ref = tuple([weakref.ref(OrderedDict() if d is None else d) for d in extra])


def unserializable_hook(f: Any) -> Any:
    """Mark a hook as one that need not be pickled with its tensor: pickling drops it without a warning."""
    f.__torch_unserializable__ = True
    return f


def warn_if_has_hooks(t: Tensor) -> None:
    """Pickling a tensor leaves its hooks behind: say so, except of hooks marked as unserializable."""
    for hook in (tensor_hooks(t) or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            import warnings

            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the "
                "function with @torch.utils.hooks.unserializable_hook to suppress this warning",
                stacklevel=4,
            )


# ------------------------------------------------------------------------------------------------ putting them on
def _put(hooks: Any, hook: Any) -> RemovableHandle:
    if not callable(hook):
        raise TypeError(f"a hook must be callable, but got {type(hook).__name__}")
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def _notes(n: Node) -> Notes:
    """The node's notes, to put a hook there."""
    if n.op is None:
        _leaves.add(n)
        on_leaves[0] = True
    return take_notes(n)


def no_gradient(t: Tensor) -> RuntimeError:
    return explain(
        RuntimeError,
        "cannot register a hook on a tensor that doesn't require gradient",
        "No gradient comes here: nothing was recorded for this tensor.",
        "compute it from a tensor that requires grad, outside of no_grad().",
        tensor=t,
        topic="input without grad",
    )


def register_hook(self: Tensor, hook: Callable[[Any], Any]) -> RemovableHandle:
    """Call `hook(gradient)` in each backward when this tensor's gradient is complete.

    What it returns (a Tensor of the same shape, dtype and device) takes the gradient's place; None leaves it as it is.
    Several hooks are called in the order of their registration.  A hook stays with the operation that made the tensor,
    also when the tensor is changed in place later.  Returns a handle whose `remove()` takes the hook off.  Raises
    RuntimeError for a tensor that does not require grad.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor(2., requires_grad=True)
    >>> y = x * 3
    >>> handle = y.register_hook(lambda g: g * 10)
    >>> y.backward(); x.grad
    tensor(30.)
    """
    if self.node is None:
        raise no_gradient(self)
    n, number = as_edge(self.node)
    notes = _notes(n)  # type: ignore[arg-type]
    if not notes.hooks:
        notes.hooks = {}
    return _put(notes.hooks.setdefault(number, OrderedDict()), hook)


def tensor_hooks(t: Tensor) -> Any:
    """The hooks on t, by the ids of their handles; None if there never was one."""
    n, number = as_edge(t.node)
    return None if n is None or n.notes is None or not n.notes.hooks else n.notes.hooks.get(number)


def register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], None]) -> RemovableHandle:
    """Call `hook(self)` in each backward after this leaf's gradient was added to its `.grad`.

    Returns a handle whose `remove()` takes the hook off.  Raises RuntimeError for anything but a leaf that requires
    grad.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor(2., requires_grad=True)
    >>> handle = x.register_post_accumulate_grad_hook(lambda p: print(p.grad))
    >>> (x * x).backward()
    tensor(4.)
    """
    if self.node is None:
        raise no_gradient(self)
    if self.node.op is not None:
        raise explain(
            RuntimeError,
            "post accumulate grad hooks cannot be registered on non-leaf tensors",
            "The gradient of a result is handed on, not accumulated.",
            "use register_hook, which sees the gradient of any tensor.",
            node=self.node,
        )
    return _put(_dict(_notes(self.node), "accumulated"), hook)


def add_node_hook(n: Node, kind: str, hook: Any) -> RemovableHandle:
    """kind: 'before' (a prehook) or 'after'."""
    return _put(_dict(_notes(n), kind), hook)


def _dict(notes: Notes, kind: str) -> Any:
    hooks = getattr(notes, kind)
    if not hooks:
        hooks = OrderedDict()
        setattr(notes, kind, hooks)
    return hooks


def retain_grad(self: Tensor) -> None:
    """Keep this result's gradient in `.grad` when a backward passes; a leaf keeps its own anyway.

    It is the gradient for the value that the tensor holds then: a change in place takes the wish along.  Raises
    RuntimeError for a tensor that does not require grad.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor(2., requires_grad=True)
    >>> y = x * 3
    >>> y.retain_grad()
    >>> (y * y).backward(); y.grad
    tensor(12.)
    """
    n, number = as_edge(self.node)
    if n is None:
        raise explain(
            RuntimeError,
            "can't retain_grad on Tensor that has requires_grad=False",
            "No gradient comes here: nothing was recorded for this tensor.",
            "compute it from a tensor that requires grad, outside of no_grad().",
            tensor=self,
            topic="input without grad",
        )
    if n.op is not None and not retains_grad(self):
        notes = take_notes(n)
        notes.retain = [*notes.retain, (number, weakref.ref(self))]


def retains_grad(t: Tensor) -> bool:
    """Whether t is a result whose gradient stays in `.grad`."""
    n, _ = as_edge(t.node)
    return n is not None and n.notes is not None and any(r() is t for _, r in n.notes.retain)


attach("retain_grad", retain_grad)
Tensor.retains_grad = property(retains_grad)  # type: ignore[assignment]
attach("register_hook", register_hook)
attach("register_post_accumulate_grad_hook", register_post_accumulate_grad_hook)
Tensor._backward_hooks = property(tensor_hooks)  # type: ignore[attr-defined]
Tensor._post_accumulate_grad_hooks = property(  # type: ignore[attr-defined]
    lambda t: None if t.node is None or t.node.notes is None else t.node.notes.accumulated or None
)


def hooked_leaves() -> set[Node]:
    """The leaves on which a hook hangs now."""
    found = {n for n in list(_leaves) if n.notes is not None and has_hooks(n.notes)}
    if not found:
        on_leaves[0] = False
        _leaves.clear()
    return found


def has_hooks(notes: Notes) -> bool:
    return bool(notes.before or notes.after or notes.accumulated or notes.hooks and any(notes.hooks.values()))


def rest(n: Node) -> None:
    """A leaf no longer requires grad: its node, if hooks hang on it, waits until it does again."""
    if n.notes is not None and has_hooks(n.notes):
        resting.append(n)


def wake(t: Tensor) -> Node | None:
    """The node that t had as a leaf before."""
    mine = None
    for n in list(resting):
        x = n.leaf()
        if x is t:
            mine = n
        if x is None or x is t:
            resting.remove(n)
    return mine


# ------------------------------------------------------------------------------------------------ calling them
def seen(notes: Notes, g: Any) -> Any:
    """Steps 1 and 2: the tensor hooks see and may replace the complete gradient, then it is retained.

    g: a raw array or a Tensor; a list of them, with None for outputs that nobody used, for a node of several outputs.
    """
    several = g.__class__ is list
    parts = list(g) if several else [g]
    for number, hooks in list(notes.hooks.items()) if notes.hooks else ():
        for hook in list(hooks.values()):
            parts[number] = answer(hook, parts[number])
    for number, reference in notes.retain:
        t = reference()
        if t is not None and parts[number] is not None:
            add_retained(t, parts[number])
    return parts if several else parts[0]


def answer(hook: Any, g: Any) -> Any:
    """The gradient after one tensor hook has seen it."""
    shown = g if g is None or isinstance(g, Tensor) else wrap(g)
    result = hook(shown)
    if result is None:
        return g if shown is None or shown is g else shown.raw  # the hook may have changed it in place
    check_answer(hook, shown, result)
    return result if shown is g else result.raw


def seen_before(notes: Notes, g: Any) -> Any:
    """Step 3: the node's prehooks see and may replace the gradients of its outputs."""
    several = g.__class__ is list
    given = as_tensors(g if several else [g])
    for hook in list(notes.before.values()):
        given = answers(hook, hook(given), given)
    after = [like(t, was) for t, was in zip(given, g if several else [g])]
    return after if several else after[0]


def seen_after(notes: Notes, xs: list[Any], g: Any) -> list[Any]:
    """Step 6: the node's hooks see the gradients of its inputs and outputs, and may replace those of the inputs."""
    outer = as_tensors(g if g.__class__ is list else [g])
    given = as_tensors(xs)
    for hook in list(notes.after.values()):
        given = answers(hook, hook(given, outer), given)
    return [like(t, was) for t, was in zip(given, xs)]


def as_tensors(gs: Sequence[Any]) -> tuple[Any, ...]:
    return tuple([g if g is None or isinstance(g, Tensor) else wrap(g) for g in gs])


def like(t: Any, was: Any) -> Any:
    """A hook's Tensor in the form that the walk carries: a raw array where it had one."""
    return t if t is None or isinstance(was, Tensor) else t.raw


def answers(hook: Any, result: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a node's hook makes of the gradients it was given."""
    if result is None:
        return given
    if not isinstance(result, tuple):
        raise explain(
            TypeError,
            f"expected tuple, but hook returned '{type(result).__name__}'",
            f"The hook {name_of(hook)!r} of a node must return all gradients, or None to leave them as they are.",
            "return a tuple with a Tensor or None for each.",
        )
    if len(result) != len(given):
        raise explain(
            RuntimeError,
            f"hook {name_of(hook)!r} has returned an incorrect number of values (got {len(result)}, but expected "
            f"{len(given)})",
            cure="return as many values as the hook was given gradients, None for those that are None.",
        )
    for was, now in zip(given, result):
        if now is not None:
            check_answer(hook, was, now)
    return result


def accumulated(notes: Notes, t: Tensor) -> None:
    """Step 5: a leaf's gradient has been added to its `.grad`."""
    for hook in list(notes.accumulated.values()):
        result = hook(t)
        if result is not None:
            if not isinstance(result, Tensor):
                raise TypeError(f"expected Variable, but hook returned '{type(result).__name__}'")
            raise explain(
                RuntimeError,
                "Tensor post accumulate grad hooks should return None.",
                "The gradient stands in `.grad` already, so there is nothing to replace.",
                "change or replace the tensor's .grad in the hook.",
            )


def name_of(hook: Any) -> str:
    return getattr(hook, "__name__", type(hook).__name__)


def check_answer(hook: Any, shown: Any, answer: Any) -> None:
    """What a hook returns takes the gradient's place, so it must be a tensor of the same shape, dtype and device."""
    name = name_of(hook)
    if not isinstance(answer, Tensor):
        raise explain(
            TypeError,
            f"expected Variable, but hook returned '{type(answer).__name__}'",
            f"The hook {name!r} must return the new gradient as a Tensor, or None to leave it as it is.",
        )
    if shown is None:
        raise explain(
            RuntimeError,
            "can't replace a None gradient with a non-None value",
            f"No gradient arrived where the hook {name!r} hangs.",
            "return None where the hook was given None.",
        )
    for what, was, got in (
        ("size", list(shown.shape), list(answer.shape)),
        (
            "type",
            "torch." + type_name(shown.raw).split(".")[-1],
            "torch." + type_name(answer.raw).split(".")[-1],
        ),
        ("device", shown.device, answer.device),
    ):
        if was != got:
            raise explain(
                RuntimeError,
                f"hook {name!r} has changed the {what} of value (was {was} got {got})",
                "The rest of the graph goes on with what the hook returns.",
                f"return a tensor of the same {'dtype' if what == 'type' else what} as the gradient that the hook was "
                "given.",
            )


# ------------------------------------------------------------------------------------------------ several tensors
class Handles:
    """The handles of a hook on several tensors, taken off together."""

    def __init__(self, handles: tuple[RemovableHandle, ...]) -> None:
        self.handles = handles

    def remove(self) -> None:
        """Take the hook off all its tensors."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> "Handles":
        return self

    def __exit__(self, *_: Any) -> None:
        self.remove()

    def __getstate__(self) -> Any:
        return self.handles

    def __setstate__(self, state: Any) -> None:
        self.handles = state


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[[Any], None], *, mode: str = "all"
) -> Handles:
    """Call `fn` once in each backward when the gradients of several tensors are there.

    mode 'all': when those of all the tensors that this backward reaches are complete, with a list of them (None for a
    tensor that it does not reach).  mode 'any': at the first of them, with that one.  What fn returns does not matter.
    Raises ValueError for another mode; the tensors must require grad.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor(1., requires_grad=True)
    >>> a, b = x * 2, x * 3
    >>> handle = torch.autograd.graph.register_multi_grad_hook([a, b], print)
    >>> (a * b).backward()
    [tensor(3.), tensor(2.)]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    lock = threading.Lock()
    edges = []
    for t in tensors:
        n, number = as_edge(t.node)
        assert n is not None, "Expected gradient function to be set"
        edges.append((n, number))
    if mode == "any":
        served: dict[int, bool] = {}

        def first(g: Any) -> None:
            with lock:
                if task() in served:
                    return
                served.clear()
                served[task()] = True
            fn(g)

        return Handles(tuple([t.register_hook(first) for t in tensors]))

    waiting: dict[int, list[Any]] = {}  # walk -> [how many come, how many came, gradients]

    def one_of(i: int) -> Callable[[Any], None]:
        def arrived(g: Any) -> None:
            with lock:
                entry = waiting.get(task())
                if entry is None:
                    coming = sum([reaches(n) for n, _ in edges])
                    entry = waiting[task()] = [coming, 0, [None] * len(edges)]
                entry[2][i] = g
                entry[1] += 1
                if entry[1] < entry[0]:
                    return
                del waiting[task()]
            fn(entry[2])

        return arrived

    return Handles(tuple([t.register_hook(one_of(i)) for i, t in enumerate(tensors)]))
