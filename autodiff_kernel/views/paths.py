"""How many ways lead through a graph: why backward counts edges and not paths."""

from __future__ import annotations

from autodiff_kernel.core.graph import Node, as_edge, edges_of

from .model import counted
from .names import Names

_EXACT = 10**15  # beyond that only the power of ten says anything


def ways(roots: list[Node], nodes: list[Node]) -> tuple[dict[Node, int], int]:
    """The number of paths from each node to the roots, and the number of edges that take a gradient.

    nodes: all that the roots were made from, oldest first.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> y = x * x
    >>> z = y * y
    >>> found, edges = ways([z.grad_fn], [x.node, y.grad_fn, z.grad_fn])
    >>> found[x.node], edges
    (4, 4)
    """
    found = dict.fromkeys(nodes, 0)
    for root in roots:
        found[root] += 1
    edges = 0
    for node in sorted(nodes, key=lambda node: (node.op is not None, node.seq), reverse=True):
        for edge in edges_of(node):
            end = as_edge(edge)[0]
            if end is not None:
                edges += 1
                found[end] += found[node]
    return found, edges


def path_notes(roots: list[tuple[Node, int]], nodes: list[Node], names: Names) -> tuple[str, ...]:
    """The counts in sentences, for a picture."""
    tops = [node for node, _ in roots]
    found, edges = ways(tops, nodes)
    leaves = [node for node in nodes if node.op is None]
    total = sum(found[leaf] for leaf in leaves)
    each = [
        f"{names.of_node(leaf) or names.of_tensor(leaf.variable) or 'a leaf'} {_count(found[leaf])}"
        for leaf in leaves[:6]
    ]
    more = f", {len(leaves) - 6:,} more leaves" if len(leaves) > 6 else ""
    of = f" (from {', '.join(each)}{more})" if len(leaves) > 1 else ""
    path = "path leads" if total == 1 else "paths lead"
    return (
        f"{_count(total)} {path} from the leaves to the result{of}, over {counted(edges, 'edge')}.",
        "The chain rule sums over all paths; backward takes each edge once.",
    )


def _count(n: int) -> str:
    """A number, or about how large it is."""
    if n < _EXACT:
        return f"{n:,}"
    power = len(str(n)) - 1 if n < 10**4000 else int(n.bit_length() * 0.30103)
    return f"about 10^{power:,}"
