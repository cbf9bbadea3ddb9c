"""How an operation is written as a formula: w1·w2, w1², exp(w3)."""

from __future__ import annotations

from typing import Any

from autodiff_kernel.core.graph import Node

_RAISED = str.maketrans("0123456789-.", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻·")
_WRITTEN = {
    "add": "{0} + {1}", "sub": "{0} − {1}", "rsub": "{1} − {0}", "mul": "{0}·{1}", "div": "{0} / {1}",
    "neg": "−{0}", "reciprocal": "1 / {0}", "pow": "{0}^{1}", "square": "{0}²", "mm": "{0} @ {1}",
    "mv": "{0} @ {1}", "dot": "{0} · {1}", "bmm": "{0} @ {1}", "matmul": "{0} @ {1}", "clone": "{0}",
}  # fmt: skip


def written(n: Node, operands: list[str]) -> str:
    """The formula of a node, with these words for its inputs."""
    name = n.op.name
    words = [f"({w})" if w.startswith(("-", "−")) and i else w for i, w in enumerate(operands)]
    if name == "pow_number" and len(words) == 2:
        power = operands[1]
        return words[0] + (power.translate(_RAISED) if power.isdigit() else f"^{power}")
    template = _WRITTEN.get(name)
    if template is not None:
        try:
            return template.format(*words)
        except IndexError:
            pass
    shown = _parameters(n)
    return f"{name}({', '.join([*operands, *shown])})"


def _parameters(n: Node) -> list[str]:
    """Parameters worth showing: the dimensions of a reduction, an index, a shape."""
    p: Any = getattr(n, "p", None)
    if n.op.name in ("sum", "mean", "amax", "amin") and isinstance(p, tuple) and p[0] is not None:
        return [f"dim={p[0][0] if len(p[0]) == 1 else p[0]}"]
    return []
