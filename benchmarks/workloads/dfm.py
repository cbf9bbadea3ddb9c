"""A Deep Function Machine step: integrals of a kernel, one tiny tensor expression for each of 1,800 points.

The network's weights are integrals of a function with nine parameters. Nothing is vectorised, on purpose: the
workload shows what an engine costs when every operation works on two or three numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.contestants import Work, field, numbers
from benchmarks.harness import Case, Goal, Results

POINTS, LAYERS, ROWS = 100, 3, 100
RATE = -1e-3


def start() -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """The parameters s, w, p, and a data set whose targets are x1 + 2·x2 + 3·x3."""
    draw = np.random.default_rng(0)
    s = np.array([1e-5, 1, 1], np.float32)
    w = draw.uniform(-1e-5, 1e-5, (2, 2)).astype(np.float32)
    p = draw.uniform(-1e-5, 1e-5, 2).astype(np.float32)
    x = draw.uniform(0, 1, (ROWS, 3)).astype(np.float32)
    return [s, w, p], x, x @ np.array([1, 2, 3], np.float32)


def integrate(fun: Callable[[Any], Any], a: float, b: float) -> Any:
    """A sum for an integral: 100 evenly spaced points of [a, b], shifted by a as in the code this follows."""
    res: Any = 0
    h = (b - a) / POINTS
    for i in np.linspace(a, b, POINTS):
        res += fun(a + i) * h
    return res


def tensors(torch: Any) -> Work:
    """One training step, in the words of the year 2017 but for `torch.stack` and `loss.item()`."""
    begun, rows, targets = start()
    data_x, data_y = torch.from_numpy(rows), torch.from_numpy(targets)
    parameters = [torch.tensor(a.tolist(), requires_grad=True) for a in begun]
    copies = [torch.tensor(a.tolist()) for a in begun]
    s, w, p = parameters

    def kernel(u: Any, v: Any) -> Any:
        uv = torch.FloatTensor([u, v])
        return s[0] + w.mv(uv).sub_(p).cos().dot(s[1:])

    def V(v: int, n: int) -> Any:  # the paper's names
        return integrate(lambda u: kernel(u, v).mul_(u - n), n, n + 1)

    def Q(v: int, n: int) -> Any:
        return integrate(lambda u: kernel(u, v), n, n + 1)

    def weights() -> Any:
        columns, units = [], range(1, LAYERS + 1)
        columns.append(torch.stack([Q(v, 1) - V(v, 1) for v in units]))
        for j in range(2, LAYERS):
            columns.append(torch.stack([Q(v, j) - V(v, j) + V(v, j - 1) for v in units]))
        columns.append(torch.stack([V(v, LAYERS - 1) for v in units]))
        return torch.cat(columns).view(LAYERS, LAYERS).t()

    def step() -> float:
        y = data_x.mm(weights()).sum(1)
        loss = data_y.sub(y).pow(2).mean()
        value: float = loss.item()
        loss.backward()
        for parameter in parameters:
            parameter.data.add_(parameter.grad.data.mul(RATE))
            parameter.grad.data.zero_()
        return value

    def reset() -> None:
        for parameter, copy in zip(parameters, copies, strict=True):
            parameter.data.copy_(copy)

    def result() -> Results:
        losses = [step() for _ in range(2)]
        return {"losses": losses} | {name: numbers(q) for name, q in zip("swp", parameters, strict=True)}

    return Work(step, result, reset)


def floor() -> Work:
    """The same 1,800 evaluations by hand; each keeps what the second loop, over gradients, needs."""
    begun, x, y = start()
    s, w, p = parameters = [a.copy() for a in begun]

    def forward() -> tuple[np.ndarray, list[tuple[Any, ...]]]:
        entries = np.zeros((LAYERS, LAYERS), np.float32)
        saved: list[tuple[Any, ...]] = []
        bias, slopes = s[0], s[1:]

        def integral(v: int, j: int, n: int, sign: int, moment: bool) -> Any:
            res = 0.0
            h = 1 / POINTS
            for i in np.linspace(n, n + 1, POINTS):
                u = n + i
                uv = np.array((u, v), np.float32)
                z = w.dot(uv)
                z -= p
                c = np.cos(z)
                f = bias + c.dot(slopes)
                factor = float(u - n) * h if moment else h
                res += f * factor
                saved.append((v - 1, j, sign * factor, uv, z, c))
            return sign * res

        for v in range(1, LAYERS + 1):
            for j in range(1, LAYERS):
                entry = integral(v, j - 1, j, 1, False) + integral(v, j - 1, j, -1, True)
                entries[v - 1, j - 1] = entry if j == 1 else entry + integral(v, j - 1, j - 1, 1, True)
            entries[v - 1, LAYERS - 1] = integral(v, LAYERS - 1, LAYERS - 1, 1, True)
        return entries, saved

    def walk(g: np.ndarray, saved: list[tuple[Any, ...]]) -> tuple[Any, ...]:
        gbias, gslopes = 0.0, np.zeros(2, np.float32)
        gw, gp = np.zeros_like(w), np.zeros_like(p)
        slopes, rows = s[1:], g.tolist()
        for v, j, factor, uv, z, c in saved:
            gf = rows[v][j] * factor
            gbias += gf
            gslopes += gf * c
            gz = slopes * np.sin(z)
            gz *= -gf
            gw += gz[:, None] * uv
            gp -= gz
        return np.array((gbias, *gslopes), np.float32), gw, gp

    def step() -> float:
        entries, saved = forward()
        error = y - x.dot(entries).sum(1)
        loss = float((error * error).mean())
        column = (-2 / ROWS * error).dot(x)
        for parameter, gradient in zip(
            parameters, walk(np.outer(column, np.ones(LAYERS)), saved), strict=True
        ):
            parameter += RATE * gradient
        return loss

    def reset() -> None:
        for parameter, copy in zip(parameters, begun, strict=True):
            parameter[...] = copy

    def result() -> Results:
        losses = [step() for _ in range(2)]
        return {"losses": losses} | {name: q.copy() for name, q in zip("swp", parameters, strict=True)}

    return Work(step, result, reset)


def cases() -> Iterator[Case]:
    """One step; its 18 integrals take 100 points each."""
    yield Case(
        "dfm",
        "Deep Function Machine step, 18 integrals of 100 points",
        field(tensors, floor),
        operations=1800,
        goals=[Goal("faster", 2.5, "torch")],
    )
