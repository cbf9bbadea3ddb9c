"""One function that passes through every differentiable row of the table, and its Hessian in every way.

The function is a chain. Each link is a case of the rule test: its inputs start where the case has them, move linearly
with x and with the value of the link before, and its outputs are projected on fixed random cotangents. So the second
derivatives of each row are mixed with the first ones of all rows before it, and an error anywhere shows in the Hessian.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from rule_cases import Draw, all_cases
from rule_trial import Trial, numpy, tensors

import autodiff_kernel as torch
from autodiff_kernel import func
from autodiff_kernel.autograd import functional
from autodiff_kernel.core.graph import edges_of
from autodiff_kernel.core.op import TABLE

REFUSED = {
    "floor_divide": lambda x: x // 2,
    "heaviside": lambda x: torch.heaviside(x, x),
    "binomial": lambda x: torch.binomial(torch.tensor([5.0, 6.0]), x),
    "standard_gamma_grad": lambda x: torch._standard_gamma_grad(x, torch.ones(2)),
    "dirichlet_grad": lambda x: torch._dirichlet_grad(torch.tensor([0.3, 0.7]), x, torch.tensor([3.0, 3.0])),
    "standard_gamma": None,  # its derivative is the row above, which has none
    "sample_dirichlet": None,  # likewise
    "stale_view": None,  # the error of a view whose base was changed in a way that a view cannot follow
}
# Draws of random numbers, with a first derivative only (test_sampling.py).
DRAWN = {"binomial", "dirichlet_grad", "sample_dirichlet", "standard_gamma", "standard_gamma_grad"}
SIZE = 3
Link = Callable[[Any], Any]


# ------------------------------------------------------------------------------------------------ the links
def from_case(t: Trial, rng: np.random.Generator) -> Link:
    """The row of a trial as a function of u, a small vector: 0 gives the trial's own inputs."""
    slopes = {}
    for i in t.moving:
        m = np.stack([t.direction(i, rng) for _ in range(SIZE)], -1)
        slopes[i] = torch.tensor(m * 0.3)
    starts = tensors(t.xs)
    ws = [None if w is None else torch.tensor(np.array(w).conj()) for w in t.ws]

    def link(u: Any) -> Any:
        xs = [x if i not in slopes else x + (slopes[i] * u).sum(-1) for i, x in enumerate(starts)]
        if t.case.storage:  # the row speaks of its input's memory
            xs = [x.contiguous() if isinstance(x, torch.Tensor) else x for x in xs]
        parts = [(y * w).real.sum() for y, w in zip(t.call(xs), ws, strict=True) if w is not None]
        return torch.stack(parts).sum()

    return link


def written_in_part(u: Any) -> Any:
    """A view is changed in place, and its base with it: the row copy_slices."""
    base = u.sin() * 2
    base[1:].mul_(u[:2])
    return (base * base).sum()


def eigenvalues(u: Any) -> Any:
    """Of linalg_eig only what does not depend on the phase of its vectors."""
    a = torch.tensor([[2.0, 1.0, 0.3], [-1.0, 1.0, 0.2], [0.1, 0.4, -1.5]], dtype=torch.float64)
    values, vectors = torch.linalg.eig(a + u[:, None] * torch.tensor([0.3, -0.2, 0.5], dtype=torch.float64))
    return values.abs().sum() + (vectors.abs() ** 3).sum()


def with_a_factor(u: Any) -> Any:
    """Of cholesky_solve what a triangular factor gives: for others its rule and its forward differ, as in PyTorch."""
    a = torch.tensor([[2.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [0.1, 0.4, 1.5]], dtype=torch.float64)
    factor = (a + u[:, None] * torch.tensor([0.3, -0.2, 0.5], dtype=torch.float64)).tril()
    return (torch.cholesky_solve(u[:, None].cos(), factor) ** 2).sum()


@cache
def links() -> dict[str, Link]:
    """All links by name: every case that has a second derivative."""
    found: dict[str, Link] = {
        "copy_slices": written_in_part,
        "linalg_eig": eigenvalues,
        "cholesky_solve": with_a_factor,
    }
    for k, case in enumerate(c for c in all_cases() if c.second and TABLE[c.row].differentiable):
        t = next((t for seed in range(20) if (t := Trial(case, Draw("plain", seed))).useful()), None)
        assert t is not None, f"{case} has no example with a gradient"
        found[str(case) if str(case) not in found else f"{case} {k}"] = from_case(t, np.random.default_rng(k))
    return found


START = torch.tensor([0.3, -0.7, 0.5], dtype=torch.float64)


@cache
def plan() -> list[tuple[Link, Any, float]]:
    """Each link with its value at START and the size of its gradient there, by which it is divided."""
    out = []
    for link in links().values():
        zero = torch.zeros(SIZE, dtype=torch.float64)
        gradient, value = func.grad_and_value(link)(zero)
        out.append((link, value.detach(), 1.0 + float(gradient.norm())))
    return out


def chain(x: Any) -> Any:
    """The composition: a number."""
    u, total = x - START, torch.zeros((), dtype=torch.float64)
    way = torch.tensor([0.2, -0.1, 0.15], dtype=torch.float64)
    moved = 0.0
    for link, start, size in plan():
        value = (link(u + moved * way) - start) / size
        total, moved = total + value, value
    return total


def rows_of(y: Any) -> set[str]:
    """The rows of the table in the graph of y."""
    stack, seen, rows = [y.node], set(), set()
    while stack:
        n = stack.pop()
        if n is None or n in seen:
            continue
        seen.add(n)
        if n.op is not None:
            rows.add(n.op.base.name)
        stack += edges_of(n)
    return rows


# ------------------------------------------------------------------------------------------------ the tests
def test_it_passes_through_every_row() -> None:
    rows = {name for name, op in TABLE.items() if op.differentiable}
    assert rows - rows_of(chain(START.clone().requires_grad_())) == REFUSED.keys() | DRAWN


@pytest.mark.parametrize("row", [row for row, f in REFUSED.items() if f])
def test_the_rows_left_out_refuse(row: str) -> None:
    y = REFUSED[row](torch.ones(2, requires_grad=True))  # type: ignore[misc]
    assert rows_of(y) == {row}
    with pytest.raises(RuntimeError, match="not implemented"):
        y.sum().backward()


@cache
def differences() -> Any:
    """The Hessian by central differences of the gradient."""
    h, rows = 1e-5, []
    for k in range(SIZE):
        step = torch.zeros(SIZE, dtype=torch.float64)
        step[k] = h
        up, down = func.grad(chain)(START + step), func.grad(chain)(START - step)
        rows.append((numpy(up) - numpy(down)) / (2 * h))
    return np.stack(rows, -1)


WAYS = {
    "reverse over reverse": lambda x: functional.hessian(chain, x),
    "jacrev of grad": lambda x: func.jacrev(func.grad(chain))(x),
    "jacfwd of grad": lambda x: func.jacfwd(func.grad(chain))(x),
    "func.hessian": lambda x: func.hessian(chain)(x),
    "forward over forward": lambda x: func.jacfwd(func.jacfwd(chain))(x),
    "reverse over forward": lambda x: func.jacrev(func.jacfwd(chain))(x),
    "forward-mode outside": lambda x: functional.hessian(chain, x, outer_jacobian_strategy="forward-mode"),
}


@cache
def hessian(way: str) -> Any:
    return numpy(WAYS[way](START))


@pytest.mark.parametrize("way", WAYS)
def test_hessian(way: str) -> None:
    h = hessian(way)
    assert np.abs(h).max() > 1
    np.testing.assert_allclose(h, hessian("reverse over reverse"), rtol=1e-9, atol=1e-9 * np.abs(h).max())
    np.testing.assert_allclose(h, h.T, rtol=1e-9, atol=1e-9 * np.abs(h).max())
    np.testing.assert_allclose(h, differences(), rtol=0, atol=1e-5 * np.abs(h).max())


@pytest.mark.parametrize("name", links())
def test_hessian_of_each_link(name: str) -> None:
    """Alone, so that a failure names its row."""
    link, zero = links()[name], torch.zeros(SIZE, dtype=torch.float64)
    h = numpy(functional.hessian(link, zero))
    scale = 1 + np.abs(h).max()
    np.testing.assert_allclose(numpy(func.jacfwd(func.grad(link))(zero)), h, rtol=0, atol=1e-9 * scale)
    np.testing.assert_allclose(numpy(func.jacrev(func.grad(link))(zero)), h, rtol=0, atol=1e-9 * scale)
    np.testing.assert_allclose(numpy(func.jacfwd(func.jacfwd(link))(zero)), h, rtol=0, atol=1e-9 * scale)
