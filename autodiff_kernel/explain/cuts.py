"""Why does a tensor not require grad?  The events that led to it are followed back to the line that cut the graph."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autodiff_kernel.core import journal
from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.tensor import Tensor

from . import rewrite
from .answer import LESSONS, Answer, Line, lines
from .history import before, fact
from .names import (
    Names,
    as_code,
    at,
    born,
    called,
    expression,
    in_line,
    listed,
    names_set,
    names_used,
    opens_block,
    operation,
    place_in,
    stored_as,
    whose,
)
from .paths import Cut, cuts, exits, forgotten, older, origins, parents, position, source

FLOATS = "fc"
COMPARISONS = {"eq", "ne", "lt", "le", "gt", "ge", "isclose"}
POSITIONS = {
    "argmax",
    "argmin",
    "argsort",
    "sort",
    "topk",
    "nonzero",
    "searchsorted",
    "bincount",
    "max",
    "min",
}
SHAPE_ONLY = {"zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like", "ones_vector"}
SHARING = {
    "from_numpy",
    "as_tensor",
    "asarray",
    "frombuffer",
    "grad",
    "autograd.grad",
}  # take no requires_grad=
OUT_OF_TORCH = ("item", "tolist", "numpy")


@dataclass(frozen=True)
class Reason:
    """Why gradients stop: a clause that can follow a colon, and the parts of an Answer."""

    topic: str
    clause: str
    lines: tuple[Line, ...] = ()
    fix: str = ""
    lesson: str = "gradients"
    trail: tuple[str, ...] = ()
    certain: bool = True

    def answer(self, finding: str, **more: Any) -> Answer:
        """The Answer whose finding is a sentence's beginning, and this."""
        return Answer(
            self.topic, f"{finding}: {self.clause}.", self.lines, self.fix, LESSONS[self.lesson],
            trail=self.trail, certain=self.certain, **more,
        )  # fmt: skip


def torch_module() -> Any:
    """The public namespace, which is above this package's modules and loaded by now."""
    return sys.modules["autodiff_kernel"]


def no_grad_asked(x: Any, names: Names) -> Iterator[Answer]:
    """Why a tensor does not require grad."""
    if not isinstance(x, Tensor) or x.node is not None:
        return
    e = fact(x)
    if e is None:
        return
    name = called(x, names, "It")
    found = reasons(e, names)
    if found:
        first, *others = found
        also = tuple(f"Also: {r.clause}." for r in others[:3])
        plain = first.fix and "#" not in first.fix and first.lesson != "higher order"
        wanted = f"{first.fix}   # if gradients should flow through it" if plain else first.fix
        yield replace(first, fix=wanted, trail=first.trail + also).answer(
            f"{name} does not require grad", about=(x,)
        )


def cut_from_a_gradient(x: Any, names: Names) -> Iterator[Answer]:
    """The same, where something on the way did require grad: what the user has probably lost."""
    return (a for a in no_grad_asked(x, names) if a.topic not in CALM)


def reasons(e: Event, names: Names) -> list[Reason]:
    """Why the result of an event has no gradient, the nearest cause first.  (Empty if it has one.)"""
    if e.tracked:
        return []
    steps: dict[int, list[Cut]] = {}
    for cut in cuts(e):
        if cut.event.name not in SHAPE_ONLY:
            steps.setdefault(id(cut.event), []).append(cut)
    if steps:
        return [reason(same_step, names) for same_step in steps.values()]
    detour = out_and_back(e, names)
    return [detour or nobody_asked(e, names)]


# ------------------------------------------------------------------------------------------------ one step
def reason(step: list[Cut], names: Names) -> Reason:
    """What a step at which gradients stop did to them.  (Its inputs that require grad may be several.)"""
    e = step[0].event
    what = listed([called(whose(c.before), names, "its input") for c in step])
    if e.kind == "left":
        return _taken_out(e, what, names)
    if e.kind == "made":
        return _made_anew(e, what, names)
    if e.kind == "asked":
        return Reason(
            "switched off",
            f"its gradient was switched off{in_line(e)}",
            lines(("requires_grad was set to False in", e)),
            f"{called(e, names, 'x')}.requires_grad_()",
        )
    if e.off is not None:
        return _not_recorded(e, what)
    if e.dtype.kind not in FLOATS:
        return _whole_numbers(e, what)
    custom = getattr(e.op, "whole", None) is not None
    return Reason(
        "no derivative",
        f"{operation(e)}{in_line(e)} hands no gradient on to {what}"
        + (
            ", because its Function says so (mark_non_differentiable)" if custom else ": it has no derivative"
        ),
        lines(("no gradient passes through", e)),
    )


def _taken_out(e: Event, what: str, names: Names) -> Reason:
    word = str(e.op)
    if word == "Parameter":
        return Reason(
            "parameter of a result",
            f"`{expression(e.place) or 'Parameter'}`{in_line(e)} makes a new leaf of the values of {what}",
            lines(("a new leaf was made in", e)),
            f"{what.strip('`')}   # without Parameter, where the gradient should flow on",
            "graph",
        )
    shown = expression(e.place) or f"{what}.{word}" + ("" if word == "data" else "()")
    new = rewrite.without(e.place, word)
    if new.isidentifier():  # nothing would be left of the line
        new = ""
    return Reason(
        word,
        f"`{shown}`{in_line(e)} takes the values of {what} out of the graph",
        lines(("taken out of the graph in", e)),
        new or f"# leave out `.{word}` where the gradient of {what} is wanted",
        "graph",
    )


def _made_anew(e: Event, what: str, names: Names) -> Reason:
    place = e.place
    if e.op == "autograd.grad":
        return Reason(
            "first derivative without graph",
            f"`autograd.grad`{in_line(e)} computed it without recording how (create_graph was not set)",
            lines(("the derivative was computed in", e)),
            rewrite.with_keyword(place, "create_graph=True")
            or "g, = torch.autograd.grad(y, x, create_graph=True)",
            "higher order",
        )
    if e.op == "grad":
        return Reason(
            "gradients have no history",
            f"it was computed from {what}.grad, which the backward{in_line(e, ' of ')} computed without recording how",
            lines(("the gradient was computed in", e)),
            rewrite.with_keyword(place, "create_graph=True")
            or f"g, = torch.autograd.grad(loss, {what}, create_graph=True)",
            "higher order",
        )
    several = len(parents(e)) > 1
    fix = rewrite.with_function(place, lambda f: f.rpartition(".")[0] + ".stack") if several else ""
    if not several and rewrite.argument(place):
        fix = rewrite.in_place_of(place, f"{as_code('`' + rewrite.argument(place) + '`')}.clone()")
    word = f"torch.{e.name}" if e.name else "making a new tensor"
    return Reason(
        "numbers copied",
        f"`{expression(place) or word}`{in_line(e)} copies the numbers out of {what}, without their history",
        lines(("only numbers were copied in", e)),
        fix or ("torch.stack([a, b])" if several else f"{what}.clone()"),
        "graph",
    )


def _not_recorded(e: Event, what: str) -> Reason:
    since = place_in(e.off) if e.off.__class__ is tuple else None
    where, fix = "", ""
    if since is not None and opens_block(since):
        where, fix = f" (by the block that begins in {at(since)})", "outside of that block"
    elif since is not None:
        switch = expression(since) or since.text
        where, fix = f" (by `{switch}` in {at(since)})", f"where `{switch}` has not switched them off"
    shown = expression(e.place) or operation(e)
    if since is None:  # not by the user: a derivative of torch.func that nobody outside asks for more
        return Reason(
            "gradients were off",
            f"`{shown}`{in_line(e)} computed it with gradients switched off inside",
            lines(("computed without a graph in", e)),
            "",
            "graph",
        )
    return Reason(
        "gradients were off",
        f"`{shown}`{in_line(e)} was computed from {what} while gradients were switched off{where}",
        lines(("gradients were switched off in", since), ("computed without a graph in", e)),
        f"{e.place.text}   # {fix or 'where gradients are on'}"
        if e.place is not None and e.place.text
        else "",
        "graph",
    )


def _whole_numbers(e: Event, what: str) -> Reason:
    name, kind = operation(e), "truth values" if e.dtype.kind == "b" else "whole numbers"
    shown = expression(e.place)
    text = f"`{shown}`{in_line(e)}" if shown else f"{name}{in_line(e)}"
    code = what.strip("`") if " and " not in what else "x"
    if e.name in COMPARISONS:
        limit = next((x for x in e.inputs if isinstance(x, (int, float)) and x), None)
        inner = f"{code} - {limit:g}" if limit is not None else code
        fix = f"torch.sigmoid({inner})   # a smooth step, in place of the jump from False to True"
    elif getattr(e.op, "outputs", False) and shown:
        fix = f"{shown}[0]   # the values; positions have no gradient"
    elif e.name in POSITIONS:
        fix = f"torch.softmax({code}, -1)   # weights that change smoothly, in place of a position"
    elif e.name == "cast":
        plain = rewrite.without(e.place, "long", "int", "bool", "short", "byte", "char")
        owner = rewrite.receiver(e.place)
        fix = plain or (rewrite.in_place_of(e.place, owner) if owner else f"{as_code(code)}.float()")
    else:
        fix = f"# go on with the values of {what} themselves"
    return Reason(
        "whole numbers",
        f"{text} makes {kind} ({dtype_name(e)}) of {what}, and those cannot change by a little",
        lines((f"became {kind} in", e)),
        fix,
    )


def dtype_name(e: Event) -> str:
    return str(np.dtype(e.dtype).name)


# ------------------------------------------------------------------------------------------------ by way of numbers
def out_and_back(e: Event, names: Names) -> Reason | None:
    """Values of a tensor with a gradient left as numbers or as an array, and came back without it."""
    likely: Reason | None = None
    for back in before(e):
        if back.kind not in ("made", "operation", "write") or position_lost(back):
            continue
        for out in exits(back, *OUT_OF_TORCH):
            if same_line(out, back) or shares_memory(out, back) or names_it(out, back):
                return _detour(out, back, names, certain=True)
            if likely is None and (looks_alike(out, back) or goes_into(out, back)):
                likely = _detour(out, back, names, certain=False)
    return likely


def position_lost(e: Event) -> bool:
    """Whether an event can have taken in nothing that is no tensor."""
    return e.kind != "made" and all(x.__class__ is Event for x in e.inputs)


def same_line(a: Event, b: Event) -> bool:
    one, two = a.place, b.place  # a comprehension has a code object of its own
    return one is not None and two is not None and one.filename == two.filename and one.line == two.line


def names_it(out: Event, back: Event) -> bool:
    """Does the line that takes in a number use the name to which the very number went?"""
    one, two = out.place, back.place
    name = stored_as(one)
    if not name or one is None or two is None or one.filename != two.filename or name not in names_used(two):
        return False
    newest = next((e for e in older(back) if e.kind == "left" and stored_as(e.place) == name), None)
    came = (
        np.ravel(back.value).tolist()
        if back.kind == "made"
        else [x for x in back.inputs if x.__class__ in (int, float)]
    )
    if newest is not out or out.value is None:
        return False
    left = np.ravel(out.value).tolist()
    return set(left) <= set(came) or len(left) == 1 and bool(np.isfinite(left[0])) and int(left[0]) in came


def goes_into(out: Event, back: Event) -> bool:
    """Does the line that takes in a number use a name that the line where a number left has set?"""
    one, two = out.place, back.place
    if one is None or two is None or one.filename != two.filename:
        return False
    return bool(names_set(one) & names_used(two))


def shares_memory(out: Event, back: Event) -> bool:
    a, b = source(out).tensor(), back.tensor()
    if a is None or b is None or back.p != "numpy":
        return False
    return isinstance(a.raw, np.ndarray) and isinstance(b.raw, np.ndarray) and np.shares_memory(a.raw, b.raw)


def looks_alike(out: Event, back: Event) -> bool:
    """Whether the very number that left is among those that came back (0, 1 and other round ones prove nothing)."""
    if out.value is None or back.kind == "made" and back.value is None:
        return False
    came = np.ravel(back.value) if back.kind == "made" else [x for x in back.inputs if x.__class__ is float]
    if out.op == "numpy":
        return back.p == "numpy" and np.shape(out.value) == np.shape(back.value)
    telling = (
        {float(v) for v in np.ravel(out.value) if v.dtype.kind == "f" and float(v * 8) != int(v * 8)}
        if (np.all(np.isfinite(out.value)))
        else set()
    )
    return any(float(v) in telling for v in came)


def _detour(out: Event, back: Event, names: Names, certain: bool) -> Reason:
    word = str(out.op)
    together = [x for x in exits(back, word) if same_line(x, out)] if certain else [out]
    what = listed([called(whose(source(x)), names, "a tensor") for x in together[::-1]] or ["a tensor"])
    shown = expression(out.place) or f"{what}.{word}()"
    kind = "a NumPy array" if word == "numpy" else "Python numbers" if word == "tolist" else "a Python number"
    if word == "numpy":
        fix = rewrite.in_torch(back.place, torch_module(), names) if same_line(out, back) else ""
        fix = fix or f"# compute with {what} itself: torch has the functions of NumPy under the same names"
    else:
        fix = rewrite.without(out.place, "item", "tolist", "detach") or f"# use {what} itself"
        if back.kind == "made" and same_line(out, back):
            fix = _without_making(back) or fix
    return Reason(
        f"out by {word}",
        f"`{shown}`{in_line(out)} makes {kind} of {what}, and {kind} knows nothing of the graph"
        if kind[0] == "a"
        else f"`{shown}`{in_line(out)} makes {kind} of {what}, and they know nothing of the graph",
        lines(("left the graph in", out), ("came back without history in", back)),
        fix,
        "graph",
        certain=certain,
    )


def _without_making(back: Event) -> str:
    """`y = torch.tensor(x.item() * 2)` as `y = x * 2`, and a list of such numbers stacked."""
    inner = rewrite.Source(back.place)
    call = inner.here()
    if not isinstance(call, ast.Call) or len(call.args) != 1:
        return ""
    made = inner.of(call.args[0])
    if isinstance(call.args[0], (ast.List, ast.ListComp, ast.Tuple)):
        made = f"{inner.of(call.func).rpartition('.')[0] or 'torch'}.stack({made})"
    return rewrite.without_text(inner.with_part(call, made), "item", "tolist", "detach")


# ------------------------------------------------------------------------------------------------ nothing was asked
CALM = {"nobody asked", "not asked", "not recorded so far back"}


def nobody_asked(e: Event, names: Names) -> Reason:
    """No input requires grad: say which inputs there were."""
    first = sorted(origins(e), key=position)
    if any(forgotten(x) for x in first):
        return Reason(
            "not recorded so far back",
            f"nothing in its last {journal.DEEPEST} operations does, and what was before them is not recorded",
        )
    for x in first:
        t = x.tensor()
        if t is not None and t.requires_grad and t.is_leaf and not x.tracked:
            since = fact(t)
            asked = since if since is not None and since.kind == "asked" else None
            return _asked_since(x, called(x, names, "data"), asked)
    made = born(e) or whose(e)
    if made.kind == "made" and made.name.startswith("func.") and parents(made):
        return Reason(
            "derivative without history",
            f"`{expression(made.place) or f'torch.{made.name}'}`{in_line(made)} gives a result with history only where "
            "something that it is given requires grad",
            lines(("computed in", made)),
            _ask(whose(parents(made)[0]), names),
            "higher order",
        )
    if len(first) == 1 and first[0] is made or made.kind == "made" and made is whose(e):
        return _plain_data(made, names)
    words = [called(x, names, "data") for x in first]
    told = [
        f"{w}{in_line(x, ' of ')}{_kind(x)}" if x.kind != "met" else f"{w}{_kind(x)}"
        for w, x in zip(words, first)
    ]
    which = "which does not" if len(first) == 1 else "none of which does"
    clause = f"it was computed from {listed(told)}, {which}"
    return Reason(
        "nobody asked",
        clause,
        lines(*((f"{w} was made in", x) for w, x in zip(words, first) if x.kind != "met"))[:6],
        _ask(next((x for x in first if x.dtype.kind in FLOATS), first[0]), names),
    )


def _asked_since(x: Event, name: str, asked: Event | None) -> Reason:
    """A leaf was used before its gradient was asked for."""
    return Reason(
        "asked too late",
        f"it was computed from {name} before {name}'s gradient was asked for{in_line(asked)}",
        lines(
            (f"{name} was made in", x if x.kind != "met" else None), ("its gradient was asked for in", asked)
        ),
        f"{as_code(name)}.requires_grad_()   # before it is used",
    )


def _kind(e: Event) -> str:
    """' (int64)' of what cannot have a gradient as it is."""
    return "" if e.dtype.kind in FLOATS else f" ({dtype_name(e)})"


def _plain_data(e: Event, names: Names) -> Reason:
    kind = e.dtype.kind
    clause = "it is plain data, and nobody asked for its gradient"
    if kind not in FLOATS:
        clause = f"it holds {'truth values' if kind == 'b' else 'whole numbers'} ({dtype_name(e)})"
    return Reason("not asked", clause, lines(("made in", e)), _ask(e, names))


def _ask(e: Event, names: Names) -> str:
    name = called(e, names, "x")
    if e.dtype.kind not in FLOATS:
        return f"{name} = {name}.float().requires_grad_()   # if its gradient is wanted"
    takes_flag = e.kind == "made" and e.op not in SHARING
    new = rewrite.with_keyword(e.place, "requires_grad=True") if takes_flag else ""
    if "`" in name:
        name = "x"
    return f"{new or name + '.requires_grad_()'}   # if its gradient is wanted"
