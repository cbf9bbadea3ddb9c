"""Explanations of exceptions: for each kind the finding with the user's names, the lines, and the cure as code."""

import sys

import numpy as np
import pytest
from cells import cell, line_numbers

import autodiff_kernel as torch
from autodiff_kernel import explain

R, T, V, I = RuntimeError, TypeError, ValueError, IndexError  # noqa: E741

# name: (code, exception, topic, lines of the answer, parts of the finding, part of the fix)
CASES = {
    # ---- nothing to walk back through
    "no grad anywhere": (
        "feat = torch.ones(4)\ncost = (feat * 3).mean()\ncost.backward()",
        R, "nobody asked", [1, 3], ("cost", "feat of line 1"), "feat = torch.ones(4, requires_grad=True)",
    ),
    "under no_grad": (
        "p = torch.ones(2, requires_grad=True)\nwith torch.no_grad():\n    cost = (p * 2).sum()\ncost.backward()",
        R, "gradients were off", [2, 3, 4], ("`p * 2`", "switched off"), "cost = (p * 2).sum()   # outside",
    ),
    "in a function": (
        "def loss_of(v):\n    v = v.detach()\n    return (v * v).sum()\np = torch.ones(2, requires_grad=True)\n"
        "loss_of(p).backward()",
        R, "detach", [2, 5], ("`v.detach()` in line 2",), "",
    ),
    "argmax": (
        "s = torch.ones(2, 3, requires_grad=True)\nbest = s.argmax(1).float().mean()\nbest.backward()",
        R, "whole numbers", [2, 3], ("`s.argmax(1)`", "int64"), "softmax(s",
    ),
    "item": (
        "p = torch.tensor(2.5, requires_grad=True)\nv = (p * 2).item()\nt = torch.tensor(v)\nt.backward()",
        R, "out by item", [2, 3, 4], ("`(p * 2).item()` in line 2",), "v = p * 2",
    ),
    "copied numbers": (
        "u = torch.tensor(1.0, requires_grad=True)\nt = torch.tensor([u, u * 2]).sum()\nt.backward()",
        R, "numbers copied", [2, 3], ("`torch.tensor([u, u * 2])`",), "torch.stack([u, u * 2])",
    ),
    "second derivative": (
        "q = torch.tensor(1.5, requires_grad=True)\nfirst, = torch.autograd.grad(q ** 4, q)\n"
        "second, = torch.autograd.grad(first, q)",
        R, "first derivative without graph", [2, 3], ("first", "create_graph"), "create_graph=True",
    ),
    "second derivative of .grad": (
        "q = torch.tensor(1.5, requires_grad=True)\n(q ** 4).backward()\ntorch.autograd.grad(q.grad, q)",
        R, "gradients have no history", [2, 3], ("q.grad",), "(q ** 4).backward(create_graph=True)",
    ),
    # ---- where backward starts
    "several numbers": (
        "p = torch.ones(5, requires_grad=True)\nout = p.exp()\nout.backward()",
        R, "several outputs", [2, 3], ("out has 5 numbers", "shape [5]"), "out.sum().backward()",
    ),
    "several numbers, unnamed": (
        "p = torch.ones(5, requires_grad=True)\n(p * 2).backward()",
        R, "several outputs", [2, 2], ("`p * 2`",), "(p * 2).sum().backward()",
    ),
    "several numbers for grad": (
        "p = torch.ones(5, requires_grad=True)\ntorch.autograd.grad(p * p, p)",
        R, "several outputs", [2, 2], ("`p * p`",), "torch.autograd.grad((p * p).sum(), p)",
    ),
    "seed of another shape": (
        "p = torch.ones(2, 3, requires_grad=True)\nout = p * 2\nout.backward(torch.ones(6))",
        R, "gradient's shape", [2, 3], ("[6]", "[2, 3]"), "out.backward(torch.ones_like(out))",
    ),
    "unused": (
        "p = torch.ones(2, requires_grad=True)\nq = torch.ones(2, requires_grad=True)\nout = (p * 3).sum()\n"
        "torch.autograd.grad(out, (p, q))",
        R, "not used", [2, 3, 4], ("input 1", "(q)", "from p, not from q"), "allow_unused=True",
    ),
    "unused, cut off": (
        "p = torch.ones(2, requires_grad=True)\nq = torch.ones(2, requires_grad=True)\nout = (p * q.data).sum()\n"
        "torch.autograd.grad(out, [p, q])",
        R, "way cut off", [3, 4], ("input 1", "(q)", "`q.data`"), "out = (p * q).sum()",
    ),
    "input without grad": (
        "p = torch.ones(2, requires_grad=True)\nq = torch.ones(2)\nout = (p * q).sum()\ntorch.autograd.grad(out, [q])",
        R, "not asked", [2, 4], ("q does not require grad",), "q = torch.ones(2, requires_grad=True)",
    ),
    # ---- freed graphs
    "twice": (
        "v = torch.tensor(2.0, requires_grad=True)\ncube = v * v * v\ncube.backward()\ncube.backward()",
        R, "backward twice", [2, 3, 4], ("cube", "line 3"), "retain_graph=True",
    ),
    "twice in a loop": (
        "v = torch.tensor(2.0, requires_grad=True)\ncube = v * v\nfor _ in range(2):\n    cube.backward()",
        R, "backward twice", [2, 4, 4], ("earlier run of line 4",), "compute it anew",
    ),
    "computed before the loop": (
        "v = torch.tensor(2.0, requires_grad=True)\npart = v.sigmoid()\nfor k in range(3):\n    cost = part * k\n"
        "    cost.backward()",
        R, "computed before the loop", [2, 5, 5], ("part of line 2",), "part = v.sigmoid()   # inside the loop",
    ),
    "state carried over": (
        "W = torch.ones(2, 2, requires_grad=True)\nmem = torch.zeros(2)\nfor x in torch.eye(2):\n"
        "    mem = (W @ (mem + x)).sigmoid()\n    cost = mem.sum()\n    cost.backward()",
        R, "state carried over", [4, 6, 6], ("mem",), "mem = mem.detach()",
    ),
    "state carried over by a sum": (
        "W = torch.tensor(0.5, requires_grad=True)\nmem = torch.ones(2)\nfor _ in range(2):\n"
        "    mem = (W * mem) + 1\n    mem.sum().backward()",
        R, "state carried over", [4, 5, 5], ("mem",), "mem = mem.detach()",
    ),
    "shared": (
        "v = torch.tensor(2.0, requires_grad=True)\nbase = v.exp()\na = base * 2\nb = base * 3\na.backward()\nb.backward()",
        R, "shared part freed", [2, 5, 6], ("base of line 2", "line 5"), "a.backward(retain_graph=True)",
    ),
    # ---- saved values
    "result changed": (
        "x = torch.ones(2, requires_grad=True)\ny = x.tanh()\ny -= 0.5\ny.sum().backward()",
        R, "saved value changed", [2, 3, 4], ("tanh in line 2", "its own result", "line 3"), "y = y - 0.5",
    ),
    "input changed": (
        "x = torch.ones(2, requires_grad=True)\nk = torch.ones(2)\ny = x * k\nk[1] = 5.0\ny.sum().backward()",
        R, "saved value changed", [3, 4, 5], ("mul in line 3", "its input k"), "k = k.clone()\nk[1] = 5.0",
    ),
    "activation in place": (
        "x = torch.ones(2, requires_grad=True)\ne = torch.sqrt(x)\nr = torch.relu_(e)\nr.sum().backward()",
        R, "saved value changed", [2, 3, 4], ("sqrt in line 2",), "r = torch.relu(e)",
    ),
    "weight updated too early": (
        "w = torch.ones(2, requires_grad=True)\nx = torch.ones(2, requires_grad=True)\nloss = (w * x).sum()\n"
        "with torch.no_grad():\n    w.mul_(0.9)\nloss.backward()",
        R, "saved value changed", [3, 5, 6], ("its input w",), "loss.backward()   # before line 5 changes w",
    ),
    "own Function": (
        "class Sq(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        "        ctx.save_for_backward(x)\n        return x * x\n    @staticmethod\n    def backward(ctx, g):\n"
        "        x, = ctx.saved_tensors\n        return 2 * g * x\n"
        "a = torch.ones(2, requires_grad=True) * 1\nb = Sq.apply(a)\na.add_(1)\nb.sum().backward()",
        R, "saved value changed", [11, 12, 8], ("Sq saved", "line 12"), "a = a.add(1)",
    ),
    # ---- in place
    "leaf": (
        "w = torch.zeros(2, requires_grad=True)\nw.add_(1)",
        R, "leaf changed", [1, 2], ("w is a leaf",), "w = w.add(1)",
    ),
    "leaf, an update": (
        "w = torch.zeros(2, requires_grad=True)\n(w * 2).sum().backward()\nw -= 0.5 * w.grad",
        R, "leaf changed", [1, 3], ("update",), "with torch.no_grad():\n    w -= 0.5 * w.grad",
    ),
    "part of a leaf": (
        "w = torch.zeros(2, requires_grad=True)\nw[0] = 1.0",
        R, "view of a leaf changed", [1, 2], ("part of w",), "with torch.no_grad():\n    w[0] = 1.0",
    ),
    "rows": (
        "m = torch.ones(3, 2, requires_grad=True) * 2\nfor r in m:\n    r *= 3",
        R, "one of several views changed", [2, 3], ("views of m", "unbind"), "m[i] = m[i] * 3",
    ),
    "halves": (
        "m = torch.ones(4, requires_grad=True) * 2\nleft, right = m.chunk(2)\nleft.zero_()",
        R, "one of several views changed", [2, 3], ("left", "views of m"), "left = torch.zeros_like(left)",
    ),
    "view from no_grad": (
        "m = torch.ones(4, requires_grad=True) * 2\nwith torch.no_grad():\n    v = m[1:]\nv.mul_(2)",
        R, "view from no_grad changed", [2, 3, 4], ("v is a view of m",), "v = m[1:]",
    ),
    "shape in place": (
        "a = torch.zeros(3)\na += torch.ones(2, 3)",
        R, "shape changed in place", [1, 2], ("[2, 3]", "[3]"), "a = a + torch.ones(2, 3)",
    ),
    "expanded": (
        "a = torch.zeros(1, 3).expand(2, 3)\na.add_(1)",
        R, "write to expanded", [1, 2], ("strides [0, 1]",), "a = a.clone()",
    ),
    "out": (
        "x = torch.ones(2, requires_grad=True)\nroom = torch.zeros(2)\ntorch.mul(x, 2, out=room)",
        R, "out with grad", [1, 3], ("x requires grad",), "room = torch.mul(x, 2)",
    ),
    # ---- out of the graph
    "numpy": (
        "x = torch.ones(2, requires_grad=True)\nv = (x * 2).numpy()",
        R, "numpy of a graph", [2, 2], ("`x * 2`",), "v = (x * 2).detach().numpy()",
    ),
    "asarray": (
        "import numpy\nx = torch.ones(2, requires_grad=True)\nv = numpy.asarray(x)",
        R, "numpy of a graph", [2, 3], ("x requires grad",), "v = numpy.asarray(x.detach())",
    ),
    "deepcopy": (
        "from copy import deepcopy\nx = torch.ones(2, requires_grad=True)\ny = x * 2\nz = deepcopy(y)",
        R, "deepcopy of a result", [3, 4], ("y was computed",), "z = y.detach().clone()",
    ),
    "flag": (
        "x = torch.ones(2, requires_grad=True)\ny = x * 2\ny.requires_grad = False",
        R, "flag of a result", [2, 3], ("y is the result",), "y = y.detach()",
    ),
    "whole numbers": (
        "n = torch.tensor([1, 2], requires_grad=True)",
        R, "whole numbers asked", [1], ("int64",), "n = torch.tensor([1, 2], requires_grad=True, dtype=torch.float32)",
    ),
    "whole numbers later": (
        "n = torch.arange(3)\nn.requires_grad_()",
        R, "whole numbers asked", [2], ("n holds whole numbers",), "n = n.float().requires_grad_()",
    ),
    "item of many": (
        "x = torch.ones(3)\nv = x.item()",
        R, "one number of many", [1, 2], ("x has 3 elements",), "v = x.tolist()",
    ),
    "float of many": (
        "x = torch.ones(3)\nv = float(x)",
        V, "one number of many", [1, 2], ("x has 3 elements",), "x.tolist()",
    ),
    "truth of many": (
        "x = torch.ones(3)\nif x > 0:\n    pass",
        R, "truth of many", [2], ("`x > 0`", "3 elements"), "if (x > 0).all():",
    ),
    # ---- shapes
    "shapes": (
        "image = torch.zeros(2, 3, 5, 4)\nmean = torch.ones(3)\nimage - mean",
        R, "shapes do not broadcast", [1, 2, 3], ("image [2, 3, 5, 4] and mean [3]", "4 meets 3"), "mean[:, None, None]",
    ),
    "shapes, one dimension": (
        "table = torch.zeros(4, 3)\nscale = torch.ones(4)\ntable / scale",
        R, "shapes do not broadcast", [1, 2, 3], ("3 meets 4",), "scale.unsqueeze(1)   # shape [4, 1]",
    ),
    "shapes, turned": (
        "a = torch.zeros(4, 3)\nb = torch.ones(3, 4)\na * b",
        R, "shapes do not broadcast", [1, 2, 3], ("3 meets 4",), ".T",
    ),
    "shapes without cure": (
        "a = torch.zeros(4)\nb = torch.ones(3)\na * b",
        R, "shapes do not broadcast", [1, 2, 3], ("4 meets 3",), "another size than was meant",
    ),
    "matrices": (
        "x = torch.zeros(6, 3)\nw = torch.ones(2, 3)\nx @ w",
        R, "matrix sizes", [1, 2, 3], ("3 columns", "2 rows"), "x @ w.T   # [6, 3] times [3, 2]",
    ),
    "matrix and vector": (
        "x = torch.zeros(6, 3)\nv = torch.ones(6)\nx @ v",
        R, "matrix sizes", [1, 2, 3], ("3 columns", "6 elements"), "x.T @ v",
    ),
    "view": (
        "m = torch.arange(6).reshape(2, 3)\nt = m.transpose(0, 1)\nflat = t.view(6)",
        R, "view of strided", [2, 3], ("strides [1, 3]", "transpose in line 2"), "flat = t.reshape(6)",
    ),
    "sizes": (
        "m = torch.zeros(4, 6)\nm.reshape(5, 4)",
        R, "shape does not hold them", [1, 2], ("24 elements", "holds 20"), "m.reshape(-1, 4)",
    ),
    "sizes that divide": (
        "m = torch.zeros(4, 6)\nm.view(-1, 7)",
        R, "shape does not hold them", [1, 2], ("multiple of 7",), "2, 3, 4, 6, 8, 12",
    ),
    "cat": (
        "a = torch.zeros(2, 3)\nb = torch.zeros(2, 5)\ntorch.cat([a, b])",
        R, "shapes do not join", [1, 2, 3], ("a [2, 3] and b [2, 5]", "dimension 0"), "torch.cat([a, b], dim=1)",
    ),
    "stack": (
        "a = torch.zeros(2)\nb = torch.zeros(3)\nboth = torch.stack([a, b])",
        R, "shapes do not join", [1, 2, 3], ("a [2] and b [3]",), "both = torch.cat([a, b], dim=0)",
    ),
    "dimension": (
        "v = torch.zeros(4)\nv.mean(dim=1)",
        I, "no such dimension", [1, 2], ("v [4] has 1 dimension", "dimension 1"), "dim=-1",
    ),
    # ---- indices
    "index": (
        "rows = torch.zeros(3, 2)\nrows[3]",
        I, "index out of range", [1, 2], ("rows has 3 entries", "3 was asked for"), "largest index is 2",
    ),
    "index tensor": (
        "rows = torch.zeros(3, 2)\nwhich = torch.tensor([0, 9])\nrows[which]",
        I, "index out of range", [1, 3], ("rows has 3 entries", "9 was asked for"), "largest index is 2",
    ),
    "negative step": (
        "v = torch.arange(4)\nw = v[::-1]",
        V, "negative step", [2], ("v cannot",), "w = v.flip(0)",
    ),
    "negative step in the second": (
        "v = torch.zeros(2, 4)\nw = v[:, ::-1]",
        V, "negative step", [2], ("v cannot",), "w = v.flip(1)",
    ),
    "index of a number": (
        "s = torch.tensor(3.0)\nv = s[0]",
        I, "index of a number", [1, 2], ("s is a single number",), "v = s.item()",
    ),
    "too many indices": (
        "s = torch.zeros(3)\ns[0, 1]",
        I, "too many indices", [1, 2], ("1 dimension", "parts for 2"), "s[0]",
    ),
    "index of floats": (
        "s = torch.zeros(3)\nk = torch.tensor([1.0])\ns[k]",
        I, "index of floats", [2, 3], ("k holds float32",), "k.long()",
    ),
    "mask": (
        "s = torch.zeros(3)\nm = torch.tensor([True, False])\ns[m]",
        I, "mask's shape", [2, 3], ("m has shape [2]", "s has [3]"), "mask = s > 0",
    ),
    # ---- dtypes, devices, kinds
    "dtypes": (
        "x = torch.zeros(2, 3, dtype=torch.float64)\nw = torch.ones(3, 1)\nx @ w",
        R, "two dtypes", [1, 2, 3], ("x holds float64", "w holds float32"), "x = x.float()",
    ),
    "integers": (
        "x = torch.arange(3)\nw = torch.ones(3)\ntorch.dot(x, w)",
        R, "two dtypes", [1, 2, 3], ("x holds int64",), "x = x.float()",
    ),
    "no tensor": (
        "v = 2.5\nu = torch.exp(v)",
        T, "no tensor", [2], ("`v` is a float",), "u = torch.exp(torch.tensor(v))",
    ),
    "retain": (
        "x = torch.ones(2)\nx.retain_grad()",
        R, "not asked", [1, 2], ("x does not require grad",), "x = torch.ones(2, requires_grad=True)",
    ),
    "hook": (
        "x = torch.ones(2)\nx.register_hook(print)",
        R, "not asked", [1, 2], ("x does not require grad",), "x = torch.ones(2, requires_grad=True)",
    ),
    "gradcheck in float32": (
        "v = torch.tensor([0.2, 0.9], requires_grad=True)\ntorch.autograd.gradcheck(torch.cos, (v,))",
        R, "gradcheck in float32", [1, 2], ("v is float32", "may well be right"), "dtype=torch.float64",
    ),
    # ---- Python's own errors
    "zero_ of None": (
        "w = torch.ones(2, requires_grad=True)\nw.grad.zero_()",
        AttributeError, "no backward", [1, 2], ("w.grad is None",), "loss.backward()",
    ),
    "update with None": (
        "w = torch.ones(2, requires_grad=True)\nv = torch.ones(2, requires_grad=True)\n(v * 2).sum().backward()\n"
        "w.data -= 0.1 * w.grad",
        T, "not used", [1, 3, 3, 4], ("w.grad is None", "from v, not from w"), "",
    ),
    "a number is no tensor": (
        "w = torch.ones(2, requires_grad=True)\nloss = (w * 1.1).sum().item()\nloss.backward()",
        AttributeError, "a number, not a tensor", [2, 3], ("loss is a plain Python float",), "loss = (w * 1.1).sum()",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_cause_the_line_and_the_cure(name):
    code, kind, topic, lines, says, fix = CASES[name]
    ns = cell(code + "\n", raises=kind)
    a = ns.why("error")
    assert a.topic == topic, a
    assert line_numbers(a) == lines, a
    for part in says:
        assert part in a.finding, a
    assert fix in a.fix, a
    assert a.certain and a.lesson and a.finding.endswith((".", "?"))


def test_shapes_are_drawn_under_each_other():
    ns = cell("x = torch.zeros(5, 3)\nbias = torch.zeros(5)\nx + bias\n", raises=RuntimeError)
    assert ns.why("error").trail == ("x     5  3", "bias     5", "         ^")


def test_two_devices_and_numpy():
    torch.cuda.simulate(1)
    try:
        ns = cell("a = torch.ones(2)\nb = torch.ones(2, device='cuda')\na * b\n", raises=RuntimeError)
        a = ns.why("error")
        assert a.topic == "two devices" and line_numbers(a) == [1, 2, 3]
        assert "a is on cpu and b is on cuda:0" in a.finding and a.fix == "a = a.to('cuda:0')"
        ns = cell("b = torch.ones(2, device='cuda')\nc = b.numpy()\n", raises=TypeError)
        assert ns.why("error").topic == "numpy of a GPU" and ns.why("error").fix == "c = b.cpu().numpy()"
    finally:
        torch.cuda.simulate(0)


@pytest.mark.parametrize(
    "line, fix",
    [
        ("x = torch.ones(2).cuda()", "x = torch.ones(2).to(device)"),
        ("x = torch.ones(2, device='cuda')", "x = torch.ones(2, device=device)"),
        ("x = torch.ones(2).to('cuda')", ".to(device)"),
    ],
)
def test_no_gpu(line, fix):
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    ns = cell(line + "\n", raises=Exception)
    a = ns.why("error")
    assert a.topic == "no GPU" and line_numbers(a) == [1] and fix in a.fix and "torch.cuda.simulate" in a.fix


def test_from_numpy_comes_float64():
    ns = cell(
        "x = torch.from_numpy(np.ones((2, 3)))\nw = torch.ones(3, 1)\nx @ w\n",
        {"torch": torch, "np": np},
        raises=RuntimeError,
    )
    a = ns.why("error")
    assert a.fix == "x = x.float()" and a.trail == ("x came from NumPy, whose floats are float64.",)


def test_names_come_from_the_function_that_failed():
    ns = cell(
        """def layer(inputs, weights):
    return inputs @ weights
outer = torch.ones(2, 3)
layer(outer, torch.ones(2, 3))
""",
        raises=RuntimeError,
    )
    a = ns.why("error")
    assert a.topic == "matrix sizes" and "inputs [2, 3]" in a.finding and "weights [2, 3]" in a.finding
    assert line_numbers(a)[-1] == 2


def test_the_last_error_is_meant_without_an_argument(monkeypatch):
    ns = cell("x = torch.ones(3)\nx.item()\n", raises=RuntimeError)
    monkeypatch.setattr(sys, "last_value", ns["error"], raising=False)
    monkeypatch.setattr(sys, "last_exc", ns["error"], raising=False)
    assert explain.why().topic == "one number of many"
    monkeypatch.delattr(sys, "last_value")
    monkeypatch.delattr(sys, "last_exc")
    assert explain.why().topic == "nothing"


def test_without_recording_the_error_still_says_what_it_can():
    x = torch.ones(2, requires_grad=True)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError) as caught:
        y.backward()
    a = explain.why(caught.value, {"y": y})
    assert "mul" in a.finding and any("explain.watch()" in step for step in a.trail)
    assert a.lines[-1].place.text == "y.backward()" and a.fix
    with pytest.raises(RuntimeError) as caught:
        torch.ones(2, 3) + torch.ones(2)
    assert "unsqueeze(1)" in explain.why(caught.value, {}).fix


def test_other_peoples_errors_are_left_alone():
    ns = cell("{}['a']\n", raises=KeyError)
    assert ns.why("error").topic == "nothing" and ns.answers("error") == []
    ns = cell(
        """y = torch.ones(1, requires_grad=True) * 2
def hook(g):
    raise ValueError("mine")
y.register_hook(hook)
y.backward()
""",
        raises=ValueError,
    )
    assert ns.answers("error") == []


ANY = [
    "torch.zeros(2).narrow(0, 1, 5)", "torch.einsum('ij,jk', torch.ones(2, 3), torch.ones(2, 3))", "torch.zeros(-1)",
    "torch.tensor([[1, 2], [3]])", "torch.tensor('a')", "torch.ones(2, 2).trace(1)", "torch.randn(2, 3).inverse()",
    "torch.tensor([1, 2]).mean()", "torch.eye(2).cholesky(5, 6, 7)", "torch.zeros(2).gather(0, torch.tensor([5]))",
    "torch.arange(0, 5, -1)", "torch.zeros(2).squeeze('a')", "torch.linspace(0, 1, -5)", "torch.load('/nowhere/x.pt')",
    "torch.zeros(3).split([1, 1])", "torch.zeros(2, 2).permute(0, 0)", "torch.bincount(torch.tensor([-1]))",
    "setattr(torch.ones(2), 'grad', torch.ones(3))", "torch.func.grad(lambda x: x)(torch.ones(2))",
]  # fmt: skip


@pytest.mark.parametrize("code", ANY)
def test_every_error_has_a_finding_and_a_line(code):
    ns = cell(f"before = 1\nresult = {code}\n", raises=Exception)
    if isinstance(ns["error"], TypeError) and "positional" in str(ns["error"]):
        return  # Python's own, raised before any code of ours ran
    a = ns.why("error")
    assert a.topic != "nothing" and a.lines[-1].place.line == 2 and len(a.finding) > 10


@pytest.mark.parametrize(
    "line, instead",
    [
        ("import torch", "import autodiff_kernel as torch"),
        ("import torch.nn", "import autodiff_kernel as torch"),
        ("import torch.nn.functional as F", "import autodiff_kernel.nn.functional as F"),
        ("import math, torch", "import math, autodiff_kernel as torch"),
        ("from torch.func import (vmap,\n    grad)", "from autodiff_kernel.func import vmap, grad"),
        ("if True:\n    from torch import nn", "from autodiff_kernel import nn"),
    ],
)
def test_an_import_of_pytorch_where_there_is_none(line, instead, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    ns = cell(f"x = 1\n{line}\n", raises=ModuleNotFoundError)
    a = explain.why(ns["error"], ns)
    assert a.topic == "no PyTorch" and a.fix == instead and line_numbers(a) == [2 if "if" not in line else 3]
    exec(instead, {})


def test_other_missing_modules_are_not_explained():
    ns = cell("import torchless_module\n", raises=ModuleNotFoundError)
    assert explain.why(ns["error"], ns).topic != "no PyTorch"


@pytest.mark.parametrize(
    "line, lesson",
    [
        ("x.register_hook(lambda g: 3)\n(x * 2).sum().backward()", "05_reverse_by_hand"),
        ("x.grad = torch.ones(3)", "05_reverse_by_hand"),
        ("(x * 2)[1:].detach_()", "07_the_graph"),
        ("with torch.autograd.graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t):\n    x ** 2", "07_the_graph"),
        ("torch.autograd.forward_ad.make_dual(x, x)", "04_dual_numbers"),
        ("torch.autograd.gradcheck(lambda x: x, torch.ones(2))", "03_three_ways"),
        ("torch.func.vmap(lambda x: x.item())(x.detach())", "16_higher_order"),
        ("torch.func.grad(lambda x: x * 2)(x)", "16_higher_order"),
        ("torch.autograd.set_detect_anomaly(True)\n(x.detach() * 0).requires_grad_().sqrt().mul(0).sum().backward()",
         "11_debugging"),
    ],
)  # fmt: skip
def test_where_there_is_no_better_answer_the_lesson_fits_the_part_that_refused(line, lesson):
    try:
        ns = cell(f"x = torch.ones(2, requires_grad=True)\n{line}\n", raises=Exception)
    finally:
        torch.autograd.set_detect_anomaly(False)
    a = explain.why(ns["error"], ns)
    assert a.lesson == lesson
    assert "help(" not in a.fix and "is what it takes" not in a.fix


def test_whole_numbers_given_to_a_derivative():
    ns = cell("torch.func.grad(lambda x: x.sum())(torch.ones(2, dtype=torch.long))\n", raises=RuntimeError)
    a = explain.why(ns["error"], ns)
    assert a.fix == "torch.func.grad(lambda x: x.sum())(torch.ones(2, dtype=torch.long).float())"
    assert eval(a.fix, {"torch": torch}).tolist() == [1, 1]
