"""What an exception of ours means: the finding with the user's names, the lines, what to write instead.

The engine hangs the kind of mistake and what it found there on its exceptions (core/errors.py).  An answer is made from
that, from the recorded facts, and from the line of the user's in which it was raised; never from the error's text.
"""

import ast
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from autodiff_kernel.core import journal
from autodiff_kernel.core.graph import Node
from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.tensor import Tensor

from . import cuts, gradients, graphs, indices, misfits, refusals, rewrite
from .answer import LESSONS, Answer, Line, lines
from .foreign import foreign
from .history import fact
from .names import Names, as_code, at, called, in_line, whose
from .paths import parents
from .raised import Raised

GRADIENTS, GRAPH = LESSONS["gradients"], LESSONS["graph"]


def mistake(x: Any, names: Names) -> Iterator[Answer]:
    """What an exception means, if it was raised by this package or has to do with its tensors."""
    if isinstance(x, BaseException):
        case = Raised(x, names)
        if case.ours:
            yield answer_to(case)
        else:
            yield from foreign(case)


def newest_error() -> BaseException | None:
    """The last exception that nobody caught."""
    return getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)


def answer_to(case: Raised) -> Answer:
    """The answer to an exception of ours."""
    told = case.told
    if told is not None and told.topic in TOPICS:
        found = TOPICS[told.topic](case)
        if found is not None:
            return found
    return plainly(case)


# ------------------------------------------------------------------------------------------------ the fallback
def plainly(case: Raised) -> Answer:
    """What the exception itself says, its line, and how our function was called."""
    told, place = case.told, case.place
    phrase = (str(case.error).splitlines() or [type(case.error).__name__])[0].strip()
    finding = phrase if told is None or not told.summary else told.summary
    if finding[-1:] not in ".!?":
        finding += "."
    marks: tuple[Line, ...] = lines(*told.lines) if told is not None else ()
    if told is not None and told.cure:
        fix = f"# {told.cure}"
    else:
        fix = "" if _part(case) else _signature(case)
    return Answer(
        (told.topic if told is not None else "") or type(case.error).__name__,
        finding,
        (*marks, *lines(("raised in", place))),
        fix,
        LESSONS[_part(case) or "tensors"],
        trail=(*_operands(case), *_unrecorded(case)),
        about=tuple(case.tensors),
    )


# What the parts of this package are about, by their files: it is the lesson to read where there is no better answer.
PARTS = {
    "gradients": "backward edges hooks running custom custom_dual function function_vmap autograd functional",
    "graph": "packing kept olds saved_names checkpoint graph inference grad_mode",
    "numbers": "anomaly anomaly_mode",
    "derivatives": "gradcheck gradcheck_report finite_differences",
    "forward mode": "forward_ad dual dual_grad dual_inplace",
    "higher order": "reverse forward jacobians vectorize modules outline batched",
    "in-place": "inplace",
}
_PART = {stem: part for part, stems in PARTS.items() for stem in stems.split()}
_OF_TENSORS = {
    "grad": "gradients", "backward": "gradients", "requires_grad": "graph", "requires_grad_": "graph",
    "detach_": "graph", "_version": "in-place",
}  # fmt: skip
_HELPERS = {"errors", "op", "walk", "collect", "reentry", "routes", "pull", "api", "tensor"}


def _part(case: Raised) -> str:
    """Of what the innermost part of this package was about that the error came through; '' for single operations."""
    for frame, _, owner in reversed(case.frames):
        path = PurePath(frame.f_code.co_filename)
        stem = path.parent.name if path.stem == "__init__" else path.stem
        if owner == "ours" and stem == "tensor" and frame.f_code.co_name in _OF_TENSORS:
            return _OF_TENSORS[frame.f_code.co_name]
        if owner == "ours" and stem not in _HELPERS:
            return _PART.get(stem, "")
    return ""


def _unrecorded(case: Raised) -> tuple[str, ...]:
    """That recording would have told more, where it was off."""
    known = any(fact(t) is not None for t in case.tensors)
    history = case.told is not None and case.told.topic in TOPICS
    return () if known or not history or not case.tensors else (
        "Recording was off. After explain.watch() the same code would tell which line is to blame.",
    )  # fmt: skip


def _signature(case: Raised) -> str:
    """What the function that was called takes."""
    name = case.function
    for home, owner in (("torch.Tensor.", Tensor), ("torch.", cuts.torch_module())):
        function = getattr(owner, name, None) if name else None
        if not callable(function) or isinstance(function, type):
            continue
        short = _parameters(function)
        if short:
            return f"{home}{name}({short})   # is what it takes; help({home}{name}) says more"
        return f"help({home}{name})   # what it takes"
    return ""


def _parameters(function: Callable[..., Any]) -> str:
    """The names of a function's parameters with their defaults, if that is short and tells something."""
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return ""
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in found):
        return ""
    text = ", ".join(
        p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in found if p.name != "out"
    )
    return text if len(text) <= 60 and "<" not in text else ""


def _operands(case: Raised) -> tuple[str, ...]:
    """The tensors that our function was given, with shapes and dtypes."""
    told = [
        f"{case.name(t)} is {list(t.raw.shape)} {t.raw.dtype}{misfits.made_in(t)}"
        for i, t in enumerate(case.arguments)
        if isinstance(t, Tensor)
    ]
    return tuple(dict.fromkeys(told))[:4]


# ------------------------------------------------------------------------------------------------ no graph
def _told(case: Raised) -> Any:
    assert case.told is not None
    return case.told


def no_graph(case: Raised) -> Answer | None:
    """backward or grad of something that does not require grad: which line cut it off?"""
    consequence = "there is nothing for backward to walk back through"
    return _cut_off(case, "the result", consequence, "backward was asked for in", others=2)


def input_without_grad(case: Raised) -> Answer | None:
    """Something is asked of a tensor that has no gradient."""
    return _cut_off(
        case, "the tensor", "no gradient for it can be had", "its gradient was asked for in", others=0
    )


def _cut_off(case: Raised, fallback: str, consequence: str, asked: str, others: int) -> Answer | None:
    """Why the tensor of the error does not require grad, and as many other reasons as `others` says."""
    t = _told(case).tensor
    e = fact(t)
    found = [] if e is None else cuts.reasons(e, case.names)
    if not found:
        return None
    name, why = case.name(t, fallback), found[0]
    return Answer(
        why.topic,
        f"{name} does not require grad, so {consequence}: {why.clause}.",
        (*why.lines, *lines((asked, case.place))),
        why.fix,
        LESSONS[why.lesson],
        trail=why.trail + tuple(f"Also: {r.clause}." for r in found[1 : 1 + others]),
        about=(t,),
        certain=why.certain,
    )


def unused_input(case: Raised) -> Answer | None:
    """autograd.grad: an input from which the outputs were not computed."""
    told = _told(case)
    t, index = told.tensor, told.facts["index"]
    name = case.name(t, f"input {index}")
    which = f"input {index} of autograd.grad" + (f" ({name})" if name != f"input {index}" else "")
    back = next((e for e in reversed(list(journal.LOG)) if e.kind == "backward"), None)
    if back is None or not _starts_at(back, told.facts["outputs"]):
        return None
    found = gradients.not_reached(
        t, back, name, case.names, f"{which} has no gradient: the walk{in_line(back)}"
    )
    if found.topic == "not used":
        return replace(found, fix=f"{found.fix}\n# or allow_unused=True, which gives None for it")
    return found


def _starts_at(back: Event, outputs: tuple[Tensor, ...]) -> bool:
    return any(e.tensor() is t for e in parents(back) for t in outputs)


# ------------------------------------------------------------------------------------------------ where backward starts
def several_outputs(case: Raised) -> Answer:
    """backward of more than one number."""
    t = _told(case).tensor
    name = case.name(t, "the result")
    node = case.expression
    fix = ""
    if isinstance(node, ast.Call):
        first = node.func.value if _is_backward(node) and isinstance(node.func, ast.Attribute) else None
        first = first or (node.args[0] if node.args else None)
        if first is not None:
            fix = case.source.with_suffix(first, ".sum()")
    return Answer(
        "several outputs",
        f"{name} has {t.raw.size} numbers (shape {list(t.raw.shape)}), and backward starts from one: which of them should "
        "become smaller?",
        lines((f"{name} was computed in", _maker(t)), ("backward was asked for in", case.place)),
        f"{fix or f'{as_code(name)}.sum().backward()'}   # or .mean()",
        GRADIENTS,
        trail=(f"Or pass gradient=, {t.raw.size} weights of shape {list(t.raw.shape)}.",),
        about=(t,),
    )


def _is_backward(node: ast.Call) -> bool:
    return (
        isinstance(node.func, ast.Attribute)
        and node.func.attr == "backward"
        and not (isinstance(node.func.value, ast.Attribute) and node.func.value.attr == "autograd")
    )


def _maker(t: Tensor) -> Event | None:
    e = fact(t)
    return None if e is None else whose(e)


def seed_of_other_shape(case: Raised) -> Answer:
    """The gradient given to backward does not have the output's shape."""
    told = _told(case)
    t, g = told.tensor, told.facts["gradient"]
    name, seed = case.name(t, "the output"), case.name(g, "the gradient")
    node, fix = case.expression, ""
    if isinstance(node, ast.Call) and _is_backward(node) and (node.args or node.keywords):
        given: ast.AST = node.args[0] if node.args else node.keywords[0].value
        fix = case.source.with_part(given, f"torch.ones_like({name.strip('`')})")
    return Answer(
        "gradient's shape",
        f"{seed} has shape {list(g.raw.shape)}, and {name} has shape {list(t.raw.shape)}: the gradient that backward starts "
        "with needs one number for each number of the output.",
        lines((f"{name} was computed in", _maker(t)), ("backward was asked for in", case.place)),
        fix or f"torch.ones_like({name.strip('`')})   # has the right shape",
        GRADIENTS,
        about=(t, g),
    )


# ------------------------------------------------------------------------------------------------ on the way
def freed_graph(case: Raised) -> Answer | None:
    """backward through a part that an earlier backward has freed."""
    n = _told(case).node
    back = next((e for e in reversed(list(journal.LOG)) if e.kind == "backward"), None)
    root = next((t for t in (e.tensor() for e in (parents(back) if back else ())) if t is not None), None)
    if graphs.whole(n).place is None:
        return None
    start = root.node if root is not None and root.node is not None else n
    found = graphs.border(start, n)
    name = called(root, case.names, "the result") if root is not None else "the result"
    return graphs.second_time(graphs.again(found, case.place, case.names), name, case.names)


def saved_value_changed(case: Raised) -> Answer | None:
    """A value that a derivative needs was overwritten."""
    told = _told(case)
    n = told.node
    found = graphs.overwritten(n) if isinstance(n, Node) else None
    if found is None:
        return _saved_elsewhere(case)
    answer = graphs.saved_value_changed(found, case.names, "", case.place)
    return replace(answer, lines=(*answer.lines, *lines(("backward needed it in", case.place))))


def _saved_elsewhere(case: Raised) -> Answer | None:
    """The same where the user's own Function had saved the value."""
    told = _told(case)
    writer = next((place for what, place in told.lines[::-1] if place is not None), None)
    if writer is None or not told.facts.get("saver"):
        return None
    return Answer(
        "saved value changed",
        f"{told.facts['saver']} saved a value for its backward, and {at(writer)} changed it in place afterwards.",
        lines(*told.lines, ("backward needed it in", case.place)),
        rewrite.without_in_place(writer, case.names),
        LESSONS["in-place"],
    )


def gradcheck(case: Raised) -> Answer | None:
    """gradcheck in single precision compares noise."""
    told = _told(case)
    t = told.tensor
    if not isinstance(t, Tensor) or t.raw.dtype.itemsize >= 8:
        return None
    name = case.name(t, "the input")
    made = _maker(t)
    new = (
        rewrite.with_keyword(made.place, "dtype=torch.float64")
        if made is not None and made.kind == "made"
        else ""
    )
    return Answer(
        "gradcheck in float32",
        f"{name} is {t.raw.dtype}: gradcheck moves it by 1e-6 and sees how the result moves, and in {t.raw.dtype} that "
        "drowns in rounding. The gradient may well be right.",
        lines((f"{name} was made in", made), ("gradcheck was called in", case.place)),
        new or f"{as_code(name)}.double()",
        LESSONS["derivatives"],
        trail=(told.summary,) if told.summary else (),
        about=(t,),
    )


TOPICS: dict[str, Callable[[Raised], Answer | None]] = {
    "no graph": no_graph,
    "input without grad": input_without_grad,
    "unused input": unused_input,
    "several outputs": several_outputs,
    "gradient's shape": seed_of_other_shape,
    "freed graph": freed_graph,
    "saved value changed": saved_value_changed,
    "gradcheck": gradcheck,
    **refusals.TOPICS,
    **misfits.TOPICS,
    **indices.TOPICS,
}
