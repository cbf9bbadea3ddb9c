"""Write autodiff_kernel/__init__.pyi from the table and the package: python tests/make_stubs.py."""

import inspect
import pathlib
import re

import autodiff_kernel as torch
from autodiff_kernel.core import api, late
from autodiff_kernel.core.dtype import dtype

TARGET = pathlib.Path(torch.__file__).with_suffix(".pyi")
HEAD = '''"""Types of the public names; made by tests/make_stubs.py from the table of rules, not by hand."""

import builtins as _b
from typing import Any, Callable, Iterator, Sequence

from .core import tensor as _tensor
'''
assert torch.Tensor  # loads the names
late.load_all()
MODULES = re.compile(r"\b(autodiff_kernel|typing|collections|numpy|builtins)(\.\w+)*\.(?=\w)")
BUILTIN = re.compile(r"\b(bool|int|float|complex|str|tuple|list|dict|object|type)\b")
KNOWN = {"Any", "Callable", "Sequence", "Iterator", "Tensor", "None", "bool", "int", "float", "complex", "str", "tuple",
         "list", "dict", "object", "dtype", "device", "Size", "type"}  # fmt: skip


LATER = {
    "cli",
    "explain",
    "handout",
    "jupyter",
    "views",
}  # no part of the namespace until somebody imports them


def annotation(a) -> str:
    if a is inspect.Parameter.empty:
        return "Any"
    text = MODULES.sub("", inspect.formatannotation(a) if not isinstance(a, str) else a)
    if not set(re.findall(r"[A-Za-z_]\w*", text)) <= KNOWN:
        return "Any"
    return BUILTIN.sub(r"_b.\1", text)  # torch.float and its like hide Python's names here


def signature(f, first: str = "") -> str:
    """The signature as a stub writes it; `first` replaces the first parameter (self)."""
    try:
        sig = inspect.signature(f)
    except (TypeError, ValueError):
        return (
            f"({first}, *args: Any, **kwargs: Any) -> Any" if first else "(*args: Any, **kwargs: Any) -> Any"
        )
    parts, star = [], False
    parameters = list(sig.parameters.values())
    if first:
        parts.append(first)
        parameters = parameters[1:]
    for p in parameters:
        if p.kind is p.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        if p.kind is p.VAR_POSITIONAL:
            parts.append(f"*{p.name}: {annotation(p.annotation)}")
            star = True
        elif p.kind is p.VAR_KEYWORD:
            parts.append(f"**{p.name}: {annotation(p.annotation)}")
        else:
            default = "" if p.default is p.empty else " = ..."
            parts.append(f"{p.name}: {annotation(p.annotation)}{default}")
    return f"({', '.join(parts)}) -> {annotation(sig.return_annotation)}"


def exported(name: str, value) -> bool:
    """Is this a class or function that its module defines under this name?"""
    if name in api.FUNCTIONS or name == "Tensor" or name.endswith("Tensor"):
        return False
    module = getattr(value, "__module__", "") or ""
    return (
        module.startswith("autodiff_kernel.")
        and getattr(value, "__name__", None) == name
        and (inspect.isclass(value) or inspect.isfunction(value))
    )


def render() -> str:
    """The whole stub file."""
    out = [HEAD]
    own = {k: getattr(torch, k) for k in dir(torch) if not k.startswith("_")}
    imports: dict[str, list[str]] = {}
    for name, value in sorted(own.items()):
        if inspect.ismodule(value):
            if value.__name__ == f"autodiff_kernel.{name}" and name not in LATER:
                imports.setdefault("", []).append(name)
        elif exported(name, value):
            imports.setdefault(value.__module__.removeprefix("autodiff_kernel."), []).append(name)
    for module, names in sorted(imports.items()):
        out += [f"from .{module} import {n} as {n}" for n in sorted(names)]
    out.append("")
    out += [f"{name}: dtype" for name, value in sorted(own.items()) if isinstance(value, dtype)]
    out += [f"{name}: Any" for name in sorted(own) if name.endswith("Tensor") and name != "Tensor"]
    out += ["", "class Tensor(_tensor.Tensor):"]
    for name in sorted(api.METHODS):
        if name.startswith("__i") and name != "__invert__":
            continue  # x += y is typed by __add__
        out.append(f"    def {name}{signature(inspect.unwrap(api.METHODS[name]), 'self')}: ...")
    out.append("")
    out += [f"def {name}{signature(inspect.unwrap(f))}: ..." for name, f in sorted(api.FUNCTIONS.items())]
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    TARGET.write_text(render(), encoding="utf-8")
