"""Shift-Tab and `x?` on tensors, nodes and models: our own text and HTML in place of Python's type and docstring.

IPython asks for an object's description in one function of its inspector (`_get_info`), for both the key and the
question mark. It throws the HTML away unless `enable_html_pager` is set, which would change the look of all other
objects too; so that is set from one object to the next. Where a version of IPython has other functions, this nicety
alone is missing.
"""

import warnings
from collections.abc import Callable
from typing import Any

from .base import visible

Bundle = dict[str, str]


def bundle(x: Any, name: str, shell: Any, detail: int = 0) -> Bundle | None:
    """What to show of x as text and HTML, or None where it is none of ours, or can't be told."""
    from autodiff_kernel.core import modes
    from autodiff_kernel.views.inspection import inspect, is_inspected

    try:
        if not is_inspected(x):
            return None
        with modes.recording(False):  # a look is no event
            result = inspect(x, namespace=visible(shell.user_ns), name=name, full=bool(detail))
            return {"text/plain": result.text, "text/html": result.html}
    except Exception:  # somebody else's model, whose attributes do what they like: Python's own words remain
        return None


def load(shell: Any) -> Callable[[], None]:
    """Answer for our objects wherever the shell looks one up; returns what stops that."""
    find = getattr(shell, "_object_find", None)
    if find is None or not hasattr(getattr(shell, "inspector", None), "_get_info"):
        return lambda: None
    usual = bool(getattr(shell, "enable_html_pager", False))
    wrapped: list[tuple[Any, Any]] = []

    def object_find(*args: Any, **kwargs: Any) -> Any:
        info = find(*args, **kwargs)
        inspector = shell.inspector  # a new one after a change of colours
        if not any(inspector is one for one, _ in wrapped):
            inspector._get_info = _answering(inspector._get_info, shell)
            wrapped.append((inspector, inspector._get_info))
        _look_through(info)
        _show_html(shell, usual or (bool(getattr(info, "found", False)) and _ours(info.obj)))
        return info

    shell._object_find = object_find

    def undo() -> None:
        if shell.__dict__.get("_object_find") is object_find:
            del shell._object_find
        for inspector, get_info in wrapped:
            if inspector.__dict__.get("_get_info") is get_info:
                del inspector._get_info
        _show_html(shell, usual)

    return undo


# Attributes that are asked for as what they hold: IPython would describe the property behind them.
_HOLDING = {"grad_fn", "grad", "data", "T", "mT", "variable"}


def _look_through(info: Any) -> None:
    """Put what `y.grad_fn` holds in the place of the property that it is."""
    from autodiff_kernel.core import modes

    found, parent = getattr(info, "obj", None), getattr(info, "parent", None)
    if type(found) is not property:
        return
    name = getattr(found.fget, "__name__", "")
    if name in _HOLDING and _ours(parent):
        try:
            with modes.recording(False):
                value = getattr(parent, name)
        except Exception:
            return
        if _ours(value):
            info.obj = value


def _answering(get_info: Callable[..., Any], shell: Any) -> Callable[..., Any]:
    """IPython's function, with an answer of our own for our objects."""

    def answer(obj: Any, oname: str = "", formatter: Any = None, info: Any = None, detail_level: int = 0,
               **more: Any) -> Any:  # fmt: skip
        own = bundle(obj, oname, shell, detail_level)
        return own if own is not None else get_info(obj, oname, formatter, info, detail_level, **more)

    return answer


def _ours(x: Any) -> bool:
    from autodiff_kernel.views.inspection import is_inspected

    try:
        return is_inspected(x)
    except Exception:
        return False


def _show_html(shell: Any, wanted: bool) -> None:
    if bool(getattr(shell, "enable_html_pager", wanted)) is not wanted:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # IPython calls the switch provisional at each change
            shell.enable_html_pager = wanted
