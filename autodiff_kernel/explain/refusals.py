"""What the engine refuses to do to a tensor: change it in place, copy it with its graph, hand it to NumPy, fill it."""

import ast
from collections.abc import Callable
from typing import Any

from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.sharing import INFERENCE, View
from autodiff_kernel.core.tensor import Tensor

from . import rewrite
from .answer import LESSONS, Answer, lines
from .history import fact
from .names import as_code, at, in_line, whose
from .raised import Raised
from .updates import uses_of_gradient

IN_PLACE, TRAINING, TENSORS = LESSONS["in-place"], LESSONS["training"], LESSONS["tensors"]


def made(t: Any) -> Event | None:
    """What made a tensor."""
    e = fact(t) if isinstance(t, Tensor) else None
    return None if e is None else whose(e)


def _fact_of(case: Raised, key: str) -> Any:
    assert case.told is not None
    return getattr(case.told, key, None) if key in ("tensor", "node") else case.told.facts.get(key)


# ------------------------------------------------------------------------------------------------ in place
def leaf_changed(case: Raised) -> Answer:
    """A leaf that requires grad was to be changed in place."""
    t = _fact_of(case, "tensor")
    name = case.name(t)
    line = case.place.text if case.place is not None else ""
    updates = _is_update(case, t)
    whole = f"with torch.no_grad():\n    {line or f'{as_code(name)} -= lr * {as_code(name)}.grad'}"
    if updates:
        finding = (
            f"{name} is a leaf that requires grad, and this update would become a part of the function itself"
        )
        fix = whole
    else:
        finding = (
            f"{name} is a leaf that requires grad: its gradient is asked for at the value that it has, so it cannot be "
            "changed in place"
        )
        new = rewrite.without_in_place(case.place, case.names)
        fix = f"{new}   # a new tensor, whose gradient flows back to the old one\n" if new else ""
        fix += f"# or, if the change is no part of the function:\n{whole}"
    return Answer(
        "leaf changed",
        f"{finding}{in_line(case.place)}.",
        lines((f"{name} was made in", made(t)), ("changed in", case.place)),
        fix,
        TRAINING if updates else IN_PLACE,
        about=(t,),
    )


def _is_update(case: Raised, t: Tensor) -> bool:
    """Did the failing line compute with the tensor's gradient?"""
    place = case.place
    if place is None:
        return False
    uses = [e for e in uses_of_gradient(t) if e.place is not None and e.place.code is place.code]
    return any(e.place.line == place.line for e in uses if e.place is not None)


def view_of_leaf(case: Raised) -> Answer:
    """A part of a leaf that requires grad was to be changed in place."""
    t = _fact_of(case, "tensor")
    base = t.family.base if isinstance(t.family, View) else t
    name = case.name(base, "the leaf")
    line = case.place.text if case.place is not None else ""
    copied = rewrite.without_in_place(case.place, case.names)
    fix = f"with torch.no_grad():\n    {line}" if line else ""
    if ".clone()" in copied:
        fix += f"\n# or, if it is a part of the function, on a copy:\n{copied}"
    return Answer(
        "view of a leaf changed",
        f"{at(case.place) or 'The line'} changes a part of {name}, a leaf that requires grad: its gradient is asked for at "
        "the value that it has.",
        lines((f"{name} was made in", made(base)), ("a part of it was changed in", case.place)),
        fix,
        IN_PLACE,
        about=(t, base),
    )


def view_changed(case: Raised) -> Answer:
    """A view that autograd cannot follow was to be changed."""
    family = _fact_of(case, "family")
    base = family.base
    view = next((t for t in case.tensors if t.family is family), None)
    name = case.name(view, "the view") if view is not None else "the view"
    owner = case.name(base, "its base")
    born = made(view)
    marks = lines((f"{name} was made in", born), ("changed in", case.place))
    if family.made == "several":
        maker = family.chain[1].name
        how = "a loop over its rows (unbind)" if maker == "unbind" else maker
        return Answer(
            "one of several views changed",
            f"{name} is one of several views of {owner} that {how} made at once{in_line(born)}; autograd cannot follow a "
            "change of one of them.",
            marks,
            _whole_at_once(case, owner, maker),
            IN_PLACE,
            about=(base,),
        )
    if family.made == "no_grad":
        off = born.off if born is not None and born.off.__class__ is tuple else None
        return Answer(
            "view from no_grad changed",
            f"{name} is a view of {owner} that was made while gradients were off{in_line(off)}, and it is changed where they "
            "are on: should the change be recorded or not?",
            lines(("gradients were switched off in", off)) + marks,
            f"# make the view and change it in one place: both inside no_grad, or both outside\n{born.place.text}"
            if born is not None and born.place is not None
            else "",
            IN_PLACE,
            about=(base,),
        )
    return Answer(
        "view from a Function changed",
        f"{name} came out of a Function of your own as a view of its input; changing it would go past its backward.",
        marks,
        f"{as_code(name)} = {as_code(name)}.clone()   # before it is changed",
        IN_PLACE,
        about=(base,),
    )


def _whole_at_once(case: Raised, owner: str, maker: str) -> str:
    """A loop over positions in place of a loop over views."""
    node = case.source.statement
    if maker == "unbind" and isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        sign, value = rewrite.SIGNS.get(type(node.op), ""), case.source.of(node.value)
        if sign and "its base" not in owner:
            o = as_code(owner)
            return f"for i in range(len({o})):\n    {o}[i] = {o}[i] {sign} {value}"
    return rewrite.without_in_place(case.place, case.names)


def shape_in_place(case: Raised) -> Answer:
    """The result of an in-place operation would have another shape."""
    t, needed = _fact_of(case, "tensor"), _fact_of(case, "needed")
    name = case.name(t)
    return Answer(
        "shape changed in place",
        f"The result would have shape {list(needed)}, and {name} has room for {list(t.raw.shape)}: an in-place operation "
        "cannot change a shape.",
        lines((f"{name} was made in", made(t)), ("changed in", case.place)),
        rewrite.without_in_place(case.place, case.names),
        IN_PLACE,
        about=(t,),
    )


def expanded(case: Raised) -> Answer:
    """A write to a tensor that was stretched without a copy."""
    t = _fact_of(case, "tensor")
    name = case.name(t)
    return Answer(
        "write to expanded",
        f"{name} was stretched without a copy (strides {list(t.stride())}): several of its elements lie in one place, so "
        "they cannot be changed one by one.",
        lines((f"{name} was made in", made(t)), ("changed in", case.place)),
        f"{as_code(name)} = {as_code(name)}.clone()\n{case.place.text if case.place is not None else ''}".strip(),
        IN_PLACE,
        about=(t,),
    )


# ------------------------------------------------------------------------------------------------ copies and exits
def to_numpy(case: Raised) -> Answer:
    """numpy() of something with a graph, asked by the user or by a library (a plot)."""
    t = _fact_of(case, "tensor")
    name = case.name(t)
    node = case.expression
    new = ""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "numpy":
        new = case.source.with_suffix(node.func.value, ".detach()")
    elif isinstance(node, ast.Call):
        part = next((x for x in node.args if case.source.of(x) == name.strip("`")), None)
        if part is None and len(node.args) == 1:
            part = node.args[0]
        if part is not None:
            new = case.source.with_suffix(part, ".detach()")
    return Answer(
        "numpy of a graph",
        f"{name} requires grad, and NumPy would take its values without the graph{in_line(case.place)}: say that this is "
        "meant with detach().",
        lines((f"{name} was made in", made(t)), ("handed to NumPy in", case.place)),
        new or f"{as_code(name)}.detach()",
        LESSONS["graph"],
        about=(t,),
    )


def gpu_to_numpy(case: Raised) -> Answer:
    """numpy() of a tensor on a GPU."""
    t = _fact_of(case, "tensor")
    name = case.name(t)
    node = case.expression
    link = ".detach().cpu()" if t.requires_grad else ".cpu()"
    new = ""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "numpy":
        new = case.source.with_suffix(node.func.value, link)
    return Answer(
        "numpy of a GPU",
        f"{name} lies on {t.device}, and NumPy works in the main memory: it must be copied there first.",
        lines((f"{name} was made in", made(t)), ("handed to NumPy in", case.place)),
        new or f"{as_code(name)}{link}",
        LESSONS["devices"],
        about=(t,),
    )


def deepcopy(case: Raised) -> Answer:
    """deepcopy of a result."""
    t = _fact_of(case, "tensor")
    name = case.name(t)
    node, code = case.expression, as_code(name)
    if isinstance(node, ast.Call) and len(node.args) == 1 and name == "the tensor":
        code = as_code(case.source.of(node.args[0]))
    new = case.source.with_part(node, f"{code}.detach().clone()") if isinstance(node, ast.Call) else ""
    return Answer(
        "deepcopy of a result",
        f"{name} was computed{in_line(made(t))}, and a deep copy would need a copy of the graph behind it: only leaves can "
        "be deep-copied.",
        lines((f"{name} was computed in", made(t)), ("copied in", case.place)),
        f"{new or code + '.detach().clone()'}   # its values, without the graph",
        LESSONS["graph"],
        about=(t,),
    )


def out_with_grad(case: Raised) -> Answer:
    """out= where a gradient would be recorded."""
    t = _fact_of(case, "tensor")
    asks = next((x for x in case.tensors if x.node is not None), t)
    name = case.name(asks, "an input")
    new = rewrite.without_keyword(case.place, "out")
    target = _out_name(case)
    return Answer(
        "out with grad",
        f"{name} requires grad, and a result that is written into the memory of out= has no history{in_line(case.place)}.",
        lines((f"{name} was made in", made(asks)), ("out= is given in", case.place)),
        f"{target or 'y'} = {new}" if isinstance(case.source.statement, ast.Expr) and new else new,
        IN_PLACE,
        about=(asks,),
    )


def _out_name(case: Raised) -> str:
    node = case.expression
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg == "out" and isinstance(keyword.value, ast.Name):
                return keyword.value.id
    return ""


def inference_tensor(case: Raised) -> Answer | None:
    """A tensor made in inference mode gets into a graph, or is changed outside of the mode."""
    t = next((x for x in case.tensors if x.version is INFERENCE), None)
    if t is None:
        return None
    name, e = case.name(t), made(t)
    off = e.off if e is not None and e.off.__class__ is tuple else None
    return Answer(
        "inference tensor",
        f"{name} was made in inference mode{in_line(off)}, where nobody counts writes: it can get into no graph, and outside "
        "of the mode it cannot be changed.",
        lines(
            ("inference mode was switched on in", off), (f"{name} was made in", e), ("used in", case.place)
        ),
        f"{as_code(name)} = {as_code(name)}.clone()   # or torch.no_grad() in place of inference_mode()",
        LESSONS["graph"],
        about=(t,),
    )


def flag_of_result(case: Raised) -> Answer:
    """requires_grad = False for a result."""
    t = _fact_of(case, "tensor")
    name = case.name(t)
    code = as_code(name)
    return Answer(
        "flag of a result",
        f"{name} is the result of an operation{in_line(made(t))}: whether it requires grad follows from its inputs.",
        lines((f"{name} was computed in", made(t)), ("its flag was to be changed in", case.place)),
        f"{code} = {code}.detach()   # the values without the history",
        LESSONS["graph"],
        about=(t,),
    )


def whole_numbers_asked(case: Raised) -> Answer:
    """requires_grad for integers or truth values."""
    t = _fact_of(case, "tensor")
    name = case.name(t, "it")
    node = case.expression
    method = (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "requires_grad_"
    )
    whole = [
        part
        for part, value in zip(getattr(node, "args", ()), case.arguments)
        if isinstance(value, Tensor) and value.raw.dtype.kind in "iub"
    ]
    if isinstance(node, ast.Call) and any(k.arg == "requires_grad" for k in node.keywords):
        fix = rewrite.with_keyword(case.place, "dtype=torch.float32")
    elif whole and not method:  # a function of ours that derives something got it
        fix = case.source.with_suffix(whole[0], ".float()")
    else:
        code = as_code(name) if name != "it" else "x"
        fix = f"{code} = {code}.float().requires_grad_()"
    kind = "truth values" if t.raw.dtype.kind == "b" else "whole numbers"
    about = name if name.isidentifier() and name != "it" else "The tensor"
    return Answer(
        "whole numbers asked",
        f"{about} holds {kind} ({t.raw.dtype}), which cannot change by a little: only floating point tensors have "
        "gradients.",
        lines(("the gradient was asked for in", case.place)),
        fix,
        LESSONS["gradients"],
        about=(t,),
    )


def one_of_many(case: Raised) -> Answer:
    """item(), float() or int() of several elements."""
    t = _fact_of(case, "tensor")
    name = case.name(t)
    node = case.expression
    fix = ""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "item":
        owner = case.source.of(node.func.value)
        fix = f"{case.source.with_part(node, f'{owner}.tolist()')}   # all of them; or {owner}.sum().item()"
    return Answer(
        "one number of many",
        f"{name} has {t.raw.size} elements (shape {list(t.raw.shape)}), and one number was asked for.",
        lines((f"{name} was made in", made(t)), ("one number was asked for in", case.place)),
        fix or f"{as_code(name)}.tolist()   # all of them; or {as_code(name)}.sum().item()",
        TENSORS,
        about=(t,),
    )


def truth_of_many(case: Raised) -> Answer:
    """`if x > 0` for several elements."""
    t = _fact_of(case, "tensor")
    node = case.expression
    while isinstance(node, (ast.BoolOp, ast.UnaryOp)):
        node = node.values[0] if isinstance(node, ast.BoolOp) else node.operand
    shown = case.source.of(node) if node is not None else ""
    name = f"`{shown}`" if shown else case.name(t)
    fix = f"{case.source.with_suffix(node, '.all()')}   # or .any()" if node is not None and shown else ""
    if not fix:
        fix = f"{as_code(case.name(t))}.all()   # or .any()"
    return Answer(
        "truth of many",
        f"{name} has {t.raw.size} elements (shape {list(t.raw.shape)}): should all of them be true, or any?",
        lines(("one truth value was asked for in", case.place)),
        fix,
        TENSORS,
        about=(t,),
    )


TOPICS: dict[str, Callable[[Raised], Answer | None]] = {
    "leaf changed": leaf_changed,
    "view of a leaf changed": view_of_leaf,
    "view changed": view_changed,
    "shape changed in place": shape_in_place,
    "write to expanded": expanded,
    "numpy of a graph": to_numpy,
    "numpy of a GPU": gpu_to_numpy,
    "deepcopy of a result": deepcopy,
    "out with grad": out_with_grad,
    "flag of a result": flag_of_result,
    "inference tensor": inference_tensor,
    "whole numbers asked": whole_numbers_asked,
    "one number of many": one_of_many,
    "truth of many": truth_of_many,
}
