"""How a tensor stands, where nothing is wrong with it: what it is, where its gradient came from, what changed it."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from autodiff_kernel.core.tensor import Tensor

from . import graphs
from .answer import LESSONS, Answer, lines
from .cuts import no_grad_asked
from .gradients import contributions, owner
from .history import fact
from .names import Names, at, called, expression, in_line, operation, whose
from .updates import writes_to


def standing(x: Any, names: Names) -> Iterator[Answer]:
    """What is so."""
    x = owner(x, names)
    if not isinstance(x, Tensor) or fact(x) is None:
        return
    if x.node is None:
        yield from no_grad_asked(x, names)
    elif x.node.op is None:
        yield from _leaf(x, names)
    else:
        yield from _result(x, names)


def _leaf(x: Tensor, names: Names) -> Iterator[Answer]:
    name = called(x, names, "this tensor")
    came, _ = contributions(x)
    writes = writes_to(x)
    if not came:
        return
    newest = came[-1]
    told = f"{name}.grad came from the backward{in_line(newest, ' of ')}"
    update = writes[-1] if writes else None
    marks = lines(("the gradient came in", newest), (f"{name} was changed last in", update))
    change = ""
    if update is not None:
        change = f", and {at(update) or 'an update'} changed {name} last{_from_to(update)}"
    yield Answer(
        "as it should be", f"{name} is a leaf that requires grad: {told}{change}.", marks, about=(x,)
    )


def _from_to(e: Any) -> str:
    """' from 1 to 0.8' for a single number."""
    old = e.inputs[0].value if e.inputs else None
    if old is None or e.value is None or np.size(old) != 1 or np.size(e.value) != 1:
        return ""
    return f" (from {float(np.ravel(old)[0]):.6g} to {float(np.ravel(e.value)[0]):.6g})"


def _result(x: Tensor, names: Names) -> Iterator[Answer]:
    name = called(x, names, "this tensor")
    e = whose(fact(x))  # type: ignore[arg-type]
    shown = expression(e.place) or operation(e)
    n = x.node
    freed = None if n is None else graphs.freed_at(graphs.whole(n))
    trail = (f"Its graph was freed by the backward of {at(freed)}.",) if freed is not None else ()
    if x.retains_grad or x._grad_or_none() is not None:
        finding = f"{name} is the result of `{shown}`{in_line(e)}, and keeps its gradient (retain_grad)."
        fix = ""
    else:
        finding = (
            f"{name} is the result of `{shown}`{in_line(e)}: gradients pass through it to the leaves, and its own is not "
            "kept in .grad."
        )
        fix = f"{name.strip('`')}.retain_grad()   # before backward, if it is wanted"
    yield Answer(
        "a result", finding, lines(("computed in", e), ("its graph was freed by the backward of", freed)), fix,
        LESSONS["graph"], trail=trail, about=(x,),
    )  # fmt: skip


def nothing_at_hand(x: Any, names: Names) -> str:
    """What to say of something that no diagnosis knows."""
    if x is None:
        owners = [k for k, v in (names or {}).items() if isinstance(v, Tensor) and v._grad_or_none() is None]
        example = next((k for k in owners if names and names[k].requires_grad and not k.startswith("_")), "w")
        return f"None has no history. Ask about the tensor itself: why({example}), not why({example}.grad)."
    if isinstance(x, BaseException):
        return "This exception does not come from this package."
    if isinstance(x, Tensor) and fact(x) is None:
        return "How it was made is not recorded: it came from a file, or recording was off then (explain.watch() starts it)."
    return "Nothing unusual was recorded about it."
