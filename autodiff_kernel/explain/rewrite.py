"""The user's line written anew: without its in-place operation, without its detach(), with create_graph=True, …

A fix should look like the line that it replaces.  What happened is known from the recorded facts; these functions only
put the cure into the words of the line, and give '' where the line cannot be read (it spans several lines, say).
"""

import ast
import linecache
from collections.abc import Callable
from types import ModuleType
from typing import Any

from autodiff_kernel.core.places import Place, typed
from autodiff_kernel.core.tensor import Tensor

from .names import Names

SIGNS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.MatMult: "@", ast.FloorDiv: "//",
    ast.Mod: "%", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip


class Source:
    """One line of the user's as text (in bytes, as Python counts columns) and as a syntax tree."""

    def __init__(self, place: Place | None) -> None:
        self.place = place
        raw = "" if place is None else typed(linecache.getline(place.filename, place.line))
        self.indent = len(raw) - len(raw.lstrip())
        self.text = raw.strip().encode()
        self.tree = _parsed(raw.strip())

    @property
    def statement(self) -> ast.stmt | None:
        return self.tree.body[0] if self.tree is not None and len(self.tree.body) == 1 else None

    def of(self, node: ast.AST) -> str:
        """The text of a part."""
        return self.text[node.col_offset : node.end_col_offset].decode()  # type: ignore[attr-defined]

    def with_part(self, node: ast.AST, new: str, whole: ast.AST | None = None) -> str:
        """The statement (or the part `whole` of it) in which a part is replaced by other text.

        Of several statements in a line, all of them.
        """
        outer: Any = whole or self.statement
        start, stop = node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
        begin, end = (0, len(self.text)) if outer is None else (outer.col_offset, outer.end_col_offset)
        left, right = self.text[begin:start], self.text[stop:end]
        return (left + new.encode() + right).decode()

    def with_suffix(self, node: ast.AST, suffix: str) -> str:
        """The statement with something called on a part: `(a * b).sum()` for `a * b` where that stands."""
        start, stop = node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
        atom = isinstance(node, (ast.Name, ast.Call, ast.Attribute, ast.Subscript))
        before, after = self.text[:start].rstrip(), self.text[stop:].lstrip()
        if before.endswith(b"(") and after.startswith(b")"):
            owner = before[:-1].rstrip()[-1:]
            if not (
                owner.isalnum() or owner in (b"_", b"]", b")")
            ):  # brackets of its own, not those of a call
                stop = len(self.text) - len(after) + 1
                whole: Any = self.statement
                return (self.text[:stop] + suffix.encode() + self.text[stop : whole.end_col_offset]).decode()
        return self.with_part(node, f"{self.of(node)}{suffix}" if atom else f"({self.of(node)}){suffix}")

    def calls(self) -> list[ast.Call]:
        return [] if self.tree is None else [n for n in ast.walk(self.tree) if isinstance(n, ast.Call)]

    def here(self) -> ast.AST | None:
        """The part that the place's instruction evaluates."""
        if self.place is None or self.tree is None:
            return None
        spots = list(self.place.code.co_positions())
        i = self.place.instruction // 2
        if i >= len(spots) or spots[i][0] != spots[i][1]:
            return None
        start, stop = spots[i][2], spots[i][3]
        if start is None or stop is None:
            return None
        wanted = (start - self.indent, stop - self.indent)
        found = [
            n
            for n in ast.walk(self.tree)
            if isinstance(n, ast.expr) and (n.col_offset, n.end_col_offset) == wanted
        ]
        return found[0] if found else None


def _parsed(text: str) -> ast.Module | None:
    for ending in ("", " pass"):
        try:
            return ast.parse(text + ending)
        except SyntaxError:
            continue
    return None


def without_in_place(place: Place | None, names: Names = None) -> str:
    """`y += 1` as `y = y + 1`, `y.add_(1)` as `y = y.add(1)`, `y[0] = 1` on a copy; '' where there is nothing such."""
    source = Source(place)
    statement = source.statement
    if isinstance(statement, ast.AugAssign):
        target = source.of(statement.target)
        if isinstance(statement.target, ast.Subscript):
            owner = source.of(statement.target.value)
            return f"{owner} = {owner}.clone()\n{source.of(statement)}"
        sign = SIGNS.get(type(statement.op), "")
        return f"{target} = {target} {sign} {_bracketed(source, statement.value)}" if sign else ""
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        owner = source.of(statement.targets[0].value)
        return f"{owner} = {owner}.clone()\n{source.of(statement)}"
    for call in source.calls():
        for keyword in call.keywords:
            if keyword.arg == "inplace" and isinstance(keyword.value, ast.Constant) and keyword.value.value:
                return source.with_part(keyword.value, "False")
        if isinstance(call.func, ast.Attribute) and call.func.attr.endswith("_"):
            return _plain(source, call, call.func, names)
    return ""


def _bracketed(source: Source, node: ast.AST) -> str:
    text = source.of(node)
    return (
        f"({text})" if isinstance(node, (ast.BinOp, ast.IfExp, ast.Compare, ast.BoolOp, ast.Lambda)) else text
    )


def _plain(source: Source, call: ast.Call, method: ast.Attribute, names: Names) -> str:
    """The form without the underscore, bound to the name of the tensor that the line changed."""
    owner, name = source.of(method.value), method.attr[:-1]
    given = ", ".join(source.of(x) for x in (*call.args, *(k.value for k in call.keywords)))
    if names is not None and isinstance(names.get(owner), ModuleType):
        owner = source.of(call.args[0]) if call.args else owner
        new = source.with_part(method, source.of(method)[:-1], call)
    elif name == "zero":
        new = f"torch.zeros_like({owner})"
    elif name == "fill":
        new = f"torch.full_like({owner}, {given})"
    elif name == "copy":
        new = f"{given}.clone()"
    elif hasattr(Tensor, name):
        new = source.with_part(method, source.of(method)[:-1], call)
    else:
        return ""
    statement = source.statement
    if isinstance(statement, ast.Expr) and statement.value is call:
        return f"{owner} = {new}"
    return source.with_part(call, new)


def without(place: Place | None, *words: str) -> str:
    """The line without `.detach()`, `.data`, `.item()`, …: whichever of the words it has."""
    source = Source(place)
    old = source.text.decode()
    new = without_text(old, *words)
    return "" if new == old else new


def without_text(text: str, *words: str) -> str:
    """The same for a line as text."""
    source = Source(None)
    for _ in range(8):  # x.detach().numpy(): one after the other
        source.text, source.tree = text.encode(), _parsed(text)
        found = _link(source, words)
        if found is None:
            return text
        text = source.with_part(found[0], source.of(found[1]))
    return text


def _link(source: Source, words: tuple[str, ...]) -> tuple[ast.AST, ast.AST] | None:
    """A link of a chain of calls that bears one of the words, and what it is applied to."""
    for node in ast.walk(source.tree) if source.tree is not None else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in words:
            if not node.args:
                return node, node.func.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and "item" in words:
            if node.func.id in ("float", "int") and len(node.args) == 1:
                return node, node.args[0]
        elif isinstance(node, ast.Attribute) and node.attr in words and node.attr == "data":
            return node, node.value
    return None


def with_keyword(place: Place | None, keyword: str) -> str:
    """The line with `keyword` (such as 'create_graph=True') given to the call that its instruction makes."""
    source = Source(place)
    call = source.here()
    if not isinstance(call, ast.Call):
        return ""
    word = keyword.partition("=")[0]
    given = [source.of(x) for x in call.args]
    given += [source.of(k) for k in call.keywords if k.arg != word]
    return source.with_part(call, f"{source.of(call.func)}({', '.join([*given, keyword])})")


def without_keyword(place: Place | None, word: str) -> str:
    """The line without `word=…` in its calls."""
    source = Source(place)
    for call in source.calls():
        if any(k.arg == word for k in call.keywords):
            given = [source.of(x) for x in call.args]
            given += [source.of(k) for k in call.keywords if k.arg != word]
            return source.with_part(call, f"{source.of(call.func)}({', '.join(given)})")
    return ""


def with_function(place: Place | None, change: Callable[[str], str]) -> str:
    """The line with another function in the call that its instruction makes: `change` gets the old one's text."""
    source = Source(place)
    call = source.here()
    if not isinstance(call, ast.Call):
        return ""
    return source.with_part(
        call, f"{change(source.of(call.func))}({', '.join(source.of(x) for x in call.args)})"
    )


def in_place_of(place: Place | None, new: str) -> str:
    """The line with other text where the expression of its instruction stands."""
    source = Source(place)
    node = source.here()
    return source.with_part(node, new) if node is not None else new


def argument(place: Place | None, number: int = 0) -> str:
    """The text of an argument of the call that the place's instruction makes."""
    source = Source(place)
    call = source.here()
    return source.of(call.args[number]) if isinstance(call, ast.Call) and len(call.args) > number else ""


def receiver(place: Place | None) -> str:
    """`y` of the call `y.sum(0)` that the place's instruction makes."""
    source = Source(place)
    call = source.here()
    return (
        source.of(call.func.value)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        else ""
    )


def in_torch(place: Place | None, torch: ModuleType, names: Names) -> str:
    """`torch.from_numpy(np.sin(x.detach().numpy()))` as `torch.sin(x)`; '' where a function has no namesake."""
    source = Source(place)
    text = without(place, "detach", "numpy", "cpu") or source.text.decode()
    for _ in range(20):
        source.text, source.tree = text.encode(), _parsed(text)
        changed = _one_step(source, torch, names or {})
        if changed is None:
            return text if text != Source(place).text.decode() else ""
        text = changed
        if not text:
            return ""
    return ""


def _one_step(source: Source, torch: ModuleType, names: Any) -> str | None:
    """The line with one call less to NumPy or from it; None if there is none, '' if that cannot be written."""
    for call in source.calls():
        func = call.func
        if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name):
            continue
        home = names.get(func.value.id)
        if home is torch and func.attr in ("from_numpy", "tensor", "as_tensor") and len(call.args) == 1:
            return source.with_part(call, source.of(call.args[0]))
        if isinstance(home, ModuleType) and home.__name__ == "numpy":
            ours = next((k for k, v in names.items() if v is torch), "torch")
            return source.with_part(func, f"{ours}.{func.attr}") if hasattr(torch, func.attr) else ""
    return None


def in_place_form(place: Place | None) -> str:
    """`w = w - 0.1 * g` as `w -= 0.1 * g`; '' for a line of another kind."""
    source = Source(place)
    line = source.statement
    if not isinstance(line, ast.Assign) or len(line.targets) != 1 or not isinstance(line.value, ast.BinOp):
        return ""
    target, left = source.of(line.targets[0]), source.of(line.value.left)
    sign = SIGNS.get(type(line.value.op), "")
    return f"{target} {sign}= {source.of(line.value.right)}" if target == left and sign else ""


def asked_last(place: Place | None) -> str:
    """`w = torch.ones(3, requires_grad=True).double()` as `w = torch.ones(3).double().requires_grad_()`."""
    source = Source(place)
    if not isinstance(source.statement, ast.Assign):
        return ""
    asked = without_keyword(place, "requires_grad")
    if not asked:
        detached = source.of(source.statement.value)
        whole = f"({detached})" if isinstance(source.statement.value, ast.BinOp) else detached
        return source.with_part(source.statement.value, f"{whole}.detach().requires_grad_()")
    text = without_text(asked, "requires_grad_")
    value = _parsed(text).body[0].value  # type: ignore[union-attr,attr-defined]
    inner = text.encode()[value.col_offset : value.end_col_offset].decode()
    whole = f"({inner})" if isinstance(value, ast.BinOp) else inner
    return text.encode()[: value.col_offset].decode() + f"{whole}.requires_grad_()"
