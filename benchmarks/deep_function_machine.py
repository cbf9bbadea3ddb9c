"""The Deep Function Machine page, 1000 steps as printed: python -m benchmarks.deep_function_machine [--steps 1000].

It runs the page's code in the dialect of 2017, and its modern form (`loss.item()`, `torch.stack`) in today's, from one
seed.  Both must give the same losses, to the rounding of float32; the loss must fall.  Shown are the losses on the way,
the seconds, and (with --picture FILE) the weight function as a surface.  `workloads/dfm.py` compares one step with PyTorch.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import autodiff_kernel as torch

# Quoted from the page as it stands: the Deep Function Machine example.
PAGE = '''
import numpy as np
import torch
from torch.autograd import Variable

def kernel(u, v, s, w, p):
    uv = Variable(torch.FloatTensor([u, v]))
    return s[0] + w.mv(uv).sub_(p).cos().dot(s[1:])

def integrate(fun, a, b, N=100):
    res = 0
    h = (b - a) / N
    for i in np.linspace(a, b, N):
        res += fun(a + i) * h
    return res

def V(v, n, s, w, p):
    fun = lambda u: kernel(u, v, s, w, p).mul_(u - n)
    return integrate(fun, n, n+1)

def Q(v, n, s, w, p):
    fun = lambda u: kernel(u, v, s, w, p)
    return integrate(fun, n, n+1)

def W(N, s, w, p):
    Qp = lambda v, n: Q(v, n, s, w, p)
    Vp = lambda v, n: V(v, n, s, w, p)
    W = [None] * N
    W[0] = torch.cat([Qp(v, 1) - Vp(v, 1) for v in range(1, N + 1)])
    for j in range(2, N):
        W[j-1] = torch.cat([Qp(v, j) - Vp(v, j) + Vp(v, j - 1) for v in range(1, N + 1)])
    W[N-1] = torch.cat([ Vp(v, N-1) for v in range(1, N + 1)])
    W = torch.cat(W)
    return W.view(N, N).t()

s = Variable(torch.FloatTensor([1e-5, 1, 1]), requires_grad=True)
w = Variable(torch.FloatTensor(2, 2).uniform_(-1e-5, 1e-5), requires_grad=True)
p = Variable(torch.FloatTensor(2).uniform_(-1e-5, 1e-5), requires_grad=True)

data_x_t = torch.FloatTensor(100, 3).uniform_()
data_y_t = data_x_t.mm(torch.FloatTensor([[1, 2, 3]]).t_()).view(-1)

alpha = -1e-3
for i in range(1000):
    data_x, data_y = Variable(data_x_t), Variable(data_y_t)
    Wc = W(3, s, w, p)
    y = data_x.mm(Wc).sum(1)
    loss = data_y.sub(y).pow(2).mean()
    print(loss.data[0])
    loss.backward()
    s.data.add_(s.grad.data.mul(alpha))
    s.grad.data.zero_()
    w.data.add_(w.grad.data.mul(alpha))
    w.grad.data.zero_()
    p.data.add_(p.grad.data.mul(alpha))
    p.grad.data.zero_()
'''  # fmt: skip


def modern_form(code: str) -> str:
    """The two changes that today's dialect asks for."""
    return code.replace("loss.data[0]", "loss.item()").replace("torch.cat([", "torch.stack([")


def run(code: str, steps: int, dialect: str, names: dict[str, Any] | None = None) -> list[float]:
    """The losses that the code prints in its first steps, from seed 0."""
    losses: list[float] = []
    scope: dict[str, Any] = {} if names is None else names
    scope |= {"print": losses.append, "__name__": "page"}
    code = code.replace("import torch\n", "import autodiff_kernel as torch\n")
    code = code.replace("from torch.", "from autodiff_kernel.").replace("range(1000)", f"range({steps})")
    with torch.set_dialect(dialect):
        torch.manual_seed(0)
        exec(compile(code, "page.py", "exec"), scope)
    return losses


def main(arguments: list[str] | None = None) -> int:
    """Run both forms; 1 if they disagree or the loss does not fall."""
    p = argparse.ArgumentParser(prog="python -m benchmarks.deep_function_machine")
    p.add_argument("--steps", type=int, default=1000)
    p.add_argument(
        "--picture", metavar="FILE", help="the weight function w(u, v) after training, .svg .png .pdf .txt"
    )
    options = p.parse_args(arguments)
    forms: dict[str, list[float]] = {}
    scope: dict[str, Any] = {}
    for dialect, code in (("2017", PAGE), ("modern", modern_form(PAGE))):
        start = time.perf_counter()
        forms[dialect] = run(code, options.steps, dialect, scope)
        print(f"{dialect:7}{time.perf_counter() - start:8.1f} s for {options.steps} steps")
    old, new = forms["2017"], forms["modern"]
    for step in sorted({0, 1, 9, 99, options.steps // 2, options.steps - 1} & set(range(options.steps))):
        print(f"step {step + 1:5}  loss {old[step]:.6f}  {new[step]:.6f}")
    worst = max(abs(a - b) / abs(b) for a, b in zip(old, new, strict=True))
    print(f"largest relative difference of the two forms: {worst:.1e}")
    if options.picture:
        from autodiff_kernel.views import surface

        def weight(u: float, v: float) -> float:
            return float(scope["kernel"](u, v, scope["s"], scope["w"], scope["p"]))

        surface(weight, x=(1, 4), y=(1, 3), name="w(u, v)").save(options.picture)
    return 0 if worst < 1e-3 and new[-1] < new[0] else 1


if __name__ == "__main__":
    raise SystemExit(main())
