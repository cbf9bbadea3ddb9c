"""Changes of a tensor's memory, and what computed with its gradient: the material of questions about training."""

import numpy as np

from autodiff_kernel.core import journal
from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.tensor import Tensor

from .paths import parents
from .values import recall


def shares(a: Tensor, b: Tensor) -> bool:
    """Do two tensors share memory?  (Scalars on the CPU do only where their version counter is one.)"""
    if a is b:
        return True
    if isinstance(a.raw, np.ndarray) and isinstance(b.raw, np.ndarray):
        return np.may_share_memory(a.raw, b.raw)
    return False


def touches(e: Event, x: Tensor) -> bool:
    """Did this write change x's memory: x itself, a view of it, or what .data and detach() gave of it?"""
    t = e.tensor()
    if t is not None:
        return shares(t, x)
    step = e  # what was written to is gone: go back to whose memory it was
    for _ in range(20):
        before = parents(step)
        if not before:
            return False
        step = before[0]
        if step.tensor() is x:
            return True
        if step.kind == "left":
            if step.p is not None and step.p() is x:
                return True
        elif step.kind == "operation":
            if not getattr(step.op, "view", False):
                return False
        elif step.kind not in ("write", "asked"):
            return False
    return False


def writes_to(x: Tensor) -> list[Event]:
    """The logged changes of x's memory, oldest first."""
    return list(recall("writes", x, _writes_to))


def _writes_to(x: Tensor) -> list[Event]:
    verdicts: dict[int, bool] = {}  # of the tensors written to: few, and written often
    found = []
    for e in journal.LOG.of_kind("write"):
        t = e.tensor()
        touched = verdicts.get(id(t)) if t is not None else touches(e, x)
        if touched is None:
            touched = verdicts[id(t)] = touches(e, x)
        if touched:
            found.append(e)
    return found


def write_to_gradient(x: Tensor) -> Event | None:
    """The newest change of x's gradient since backward brought it, under whatever name: `x.grad`, `x.grad.data`."""
    g = x._grad_or_none()
    for e in reversed(journal.LOG.of_kind("gradient", "write")) if g is not None else ():
        if e.kind == "gradient" and e.tensor() is x:
            return None
        if e.kind == "write" and touches(e, g):
            return e
    return None


def changed(e: Event) -> bool | None:
    """Did a write change a value?  None if that was not recorded (more than 64 elements)."""
    before = parents(e)
    old, new = (before[0].value if before else None), e.value
    if old is None or new is None or np.shape(old) != np.shape(new):
        return None
    return bool(np.any(np.asarray(old) != np.asarray(new)))


def is_gradient_of(e: Event, x: Tensor) -> bool:
    """Is this the event of x's gradient (or of one that x had)?"""
    if e.op == "grad" and e.kind == "made":
        before = parents(e)
        return bool(before) and before[0].tensor() is x
    g = x._grad_or_none()
    return g is not None and e.tensor() is g


def uses_of_gradient(x: Tensor) -> list[Event]:
    """The logged operations and writes that computed with x's gradient, directly or not, oldest first."""
    found: list[Event] = []
    derived: set[int] = set()
    for e in list(journal.LOG.of_kind("operation", "write", "left")):
        if any(id(z.result) in derived or is_gradient_of(z, x) for z in parents(e)):
            if e.kind != "left":
                found.append(e)
            t = e.tensor()
            if e.result is not None and (t is None or t is not x and t is not x._grad_or_none()):
                derived.add(id(e.result))
    return found


def was_read(x: Tensor) -> bool:
    """Did somebody take values out of x's gradient (item, tolist, numpy, detach)?"""
    return any(is_gradient_of(z, x) for e in list(journal.LOG.of_kind("left")) for z in parents(e))
