"""Hooks on saved values: what an operation keeps for backward goes through the user's `pack`, and what backward reads
comes from their `unpack`.

The walk's hot path knows nothing of this: a node whose values were packed has notes, and those send it the general
way (see `gradients` in walk.py).  Nobody guards a packed value against in-place writes: what became of it only the hooks
know.
"""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from . import modes
from .errors import explain
from .failures import shape_clash
from .graph import Node, take_notes
from .meeting import NUMBERS
from .saved import Saved
from .tensor import Tensor, wrap

Pair = tuple[Callable[[Tensor], Any], Callable[[Any], Tensor]]


class _Here(threading.local):
    def __init__(self) -> None:
        self.pairs: list[Pair] = []  # the open ones of this thread; the innermost is at work
        self.disabled: str | None = None  # why hooks are refused


_here = _Here()
at_work = modes.saving  # has any thread hooks?  While none has, nobody looks further


class hooking:
    """`with hooking(pack, unpack):` these hooks see what is saved on this thread.

    An interrupt at any moment leaves no hooks behind.
    """

    def __init__(self, pack: Any, unpack: Any) -> None:
        self.pair = pack, unpack
        self.depths: list[int] = []  # how many were open at each entering, of which there may be several

    def __enter__(self) -> None:
        for what, hook in zip(("pack_hook", "unpack_hook"), self.pair):
            if not callable(hook):
                raise TypeError(f"saved_tensors_hooks(): {what} must be callable, not {type(hook).__name__}")
        if _here.disabled is not None:
            raise RuntimeError(_here.disabled)
        self.depths.append(len(_here.pairs))
        try:
            modes.put_saving(True)
            _here.pairs.append(self.pair)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        del _here.pairs[self.depths.pop() :]
        if not _here.pairs:
            modes.put_saving(False)


def disable_hooks(message: str | None) -> str | None:
    """Refuse hooks on this thread with this message (None: allow them); returns what was set before."""
    if message is not None and _here.pairs:
        raise RuntimeError(message)
    before, _here.disabled = _here.disabled, message
    return before


def hooks_at_work() -> Pair | None:
    """The hooks that see what is saved on this thread, or None."""
    if _here.pairs:
        return _here.pairs[-1]
    modes.put_saving(False)  # (an interrupt may have left it)
    return None


def open_pairs() -> list[Pair]:
    """The hooks of this thread, the innermost last: whoever may leave by an interrupt cuts the list to its length."""
    return _here.pairs


class Packed:
    """One value as `pack` returned it, and how to get it back."""

    __slots__ = ("held", "unpack", "shape")

    def __init__(self, t: Tensor, hooks: Pair, own: bool = False) -> None:
        pack, self.unpack = hooks
        self.shape = t.raw.shape
        before, grad = t._version, modes.is_grad_enabled()
        try:
            modes.put_grad(False)
            self.held = pack(t)
        finally:
            try:
                modes.put_grad(grad)
            except BaseException:  # an interrupt came before it
                modes.put_grad(grad)
                raise
        if own and self.held is t:  # a node that held its own result would never be freed
            self.held = wrap(t.raw, None, t.version)
        if t._version != before:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot "
                "be modified by in-place operations as this can lead to unexpected side-effects. Return a changed copy "
                "instead."
            )

    def open(self) -> Tensor:
        """The value again, as `unpack` gives it."""
        t = self.unpack(self.held)
        if not isinstance(t, Tensor):
            raise explain(
                TypeError,
                f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type(t).__name__}",
                "Backward computes with what the unpack hook returns.",
                "return a tensor with the values and the shape of the one that the pack hook was given.",
            )
        clash = None if t.raw.shape == self.shape else shape_clash([self.shape, t.raw.shape])
        if clash is not None:
            raise explain(
                RuntimeError,
                str(clash).partition("\n")[0],
                f"The pack hook was given a tensor of shape {list(self.shape)}, and the unpack hook returned one of shape "
                f"{list(t.raw.shape)} for it.",
                "return a tensor with the values and the shape of the one that the pack hook was given.",
            )
        return t


# ------------------------------------------------------------------------------------------------ what a node keeps
def pack_node(n: Node, xs: Any, out: Any) -> None:
    """Send everything that a new node keeps through the hooks of this thread."""
    hooks = hooks_at_work()
    if hooks is None or not n.op.keeps_letters:
        return
    held: dict[str, Any] = {}
    for letter, i in (("b", 1), ("c", 2), ("a", 0)):  # in PyTorch's order: `other` before `self`
        raw = getattr(n, letter, None)
        if raw is not None and raw.__class__ not in NUMBERS:
            held[letter] = Packed(given(xs[i], raw), hooks)
            setattr(n, letter, None)
            setattr(n, "v" + letter, None)
    if getattr(n, "x", None) is not None:
        held["x"] = [r if r.__class__ in NUMBERS else Packed(given(x, r), hooks) for x, r in zip(xs, n.x)]
        n.x = n.vx = None
    y = getattr(n, "y", None)
    if y is not None:
        if isinstance(y, tuple):
            held["y"] = [Packed(wrap(v), hooks) for v in y]
        else:
            held["y"] = Packed(wrap(y, n, out.version), hooks, own=True)
        n.y = n.vy = None
    if held:
        take_notes(n).packed = held


def given(x: Any, raw: Any) -> Tensor:
    """The input as `pack` sees it: the user's tensor, or what it was cast to."""
    return x if isinstance(x, Tensor) and x.raw.dtype == raw.dtype else wrap(raw)


def unpacked(n: Node) -> Any:
    """A stand-in for n with the raw values that its rules read, fetched from the hooks."""
    s = Saved()
    for name in ("p", "sa", "sb", "sc", "sx", "sy", "a", "b", "c"):
        if hasattr(n, name):
            setattr(s, name, getattr(n, name))
    for letter, held in n.notes.packed.items():  # type: ignore[union-attr]
        setattr(s, letter, [opened(h) for h in held] if isinstance(held, list) else opened(held))
    return s


def opened(held: Any) -> Any:
    """The raw value of something packed, or the number that was none."""
    if held.__class__ is not Packed:
        return held
    raw = held.open().raw
    return raw[()] if raw.__class__ is np.ndarray and not raw.ndim else raw
