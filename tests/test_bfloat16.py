"""bfloat16: PyTorch's values, dtypes and gradients (recorded with version 2.13), where `ml_dtypes` is installed."""

import pytest

import autodiff_kernel as torch

pytest.importorskip("ml_dtypes", reason="NumPy has no bfloat16 without it; the extra `test` has it")

FORWARD = [
    ("x + y", "bfloat16", [2.203125, 0.75, -0.80078125, 9.0]),
    ("x * 0.1", "bfloat16", [0.150390625, -0.224609375, 0.030029296875, 0.69921875]),
    ("x / 0.3", "bfloat16", [5.0, -7.5, 1.0, 23.375]),
    ("0.3 / x", "bfloat16", [0.2001953125, -0.1337890625, 1.0, 0.042724609375]),
    ("x + 0.1", "bfloat16", [1.6015625, -2.15625, 0.400390625, 7.09375]),
    ("x - y", "bfloat16", [0.80078125, -5.25, 1.40625, 5.0]),
    ("x // 0.3", "bfloat16", [4.0, -8.0, 1.0, 23.0]),
    ("x * torch.tensor(0.1)", "bfloat16", [0.150390625, -0.224609375, 0.030029296875, 0.69921875]),
    ("x + torch.ones(4)", "float32", [2.5, -1.25, 1.30078125, 8.0]),
    ("x + torch.ones(4, dtype=torch.float16)", "float32", [2.5, -1.25, 1.30078125, 8.0]),
    ("x + torch.tensor([1, 2, 3, 4])", "bfloat16", [2.5, -0.25, 3.296875, 11.0]),
    ("x * torch.tensor(2.5, dtype=torch.float64)", "bfloat16", [3.75, -5.625, 0.75, 17.5]),
    (
        "m @ m.t()",
        "bfloat16",
        [[1.2578125, 3.40625, 5.59375], [3.40625, 11.3125, 19.25], [5.59375, 19.25, 33.0]],
    ),
    ("torch.mv(m, x)", "bfloat16", [5.78125, 13.625, 21.5]),
    ("torch.dot(x, y)", "bfloat16", 7.96875),
    (
        "torch.bmm(m[None], m.t()[None])",
        "bfloat16",
        [[[1.2578125, 3.40625, 5.59375], [3.40625, 11.3125, 19.25], [5.59375, 19.25, 33.0]]],
    ),
    ("torch.einsum('ij,ij->i', m, m)", "bfloat16", [1.2578125, 11.3125, 33.0]),
    ("torch.ones(3000, dtype=torch.bfloat16).sum()", "bfloat16", 3008.0),
    ("torch.ones(3000, dtype=torch.bfloat16).mean()", "bfloat16", 1.0),
    ("m.sum(0)", "bfloat16", [3.609375, 4.5, 5.40625, 6.28125]),
    ("m.std(1)", "bfloat16", [0.38671875, 0.3828125, 0.3828125]),
    ("m.var()", "bfloat16", 1.171875),
    ("x.cumsum(0)", "bfloat16", [1.5, -0.75, -0.44921875, 6.5625]),
    (
        "m.softmax(1)",
        "bfloat16",
        [
            [0.150390625, 0.2041015625, 0.275390625, 0.37109375],
            [0.1513671875, 0.2041015625, 0.275390625, 0.369140625],
            [0.1513671875, 0.2041015625, 0.275390625, 0.369140625],
        ],
    ),
    ("m.logsumexp(1)", "bfloat16", [1.890625, 3.09375, 4.28125]),
    ("m.norm()", "bfloat16", 6.75),
    ("x.exp()", "bfloat16", [4.46875, 0.10546875, 1.3515625, 1096.0]),
    ("x.sigmoid()", "bfloat16", [0.81640625, 0.09521484375, 0.57421875, 1.0]),
    ("x.tanh()", "bfloat16", [0.90625, -0.9765625, 0.29296875, 1.0]),
    ("x.sort()[0]", "bfloat16", [-2.25, 0.30078125, 1.5, 7.0]),
    ("m.max(1)[0]", "bfloat16", [0.8984375, 2.09375, 3.296875]),
    ("x.topk(2)[1]", "int64", [3, 0]),
    ("x.clamp(-1, 1)", "bfloat16", [1.0, -1.0, 0.30078125, 1.0]),
    ("torch.where(x > 1, x, 0.)", "bfloat16", [1.5, 0.0, 0.0, 7.0]),
    ("torch.cat([x, y])", "bfloat16", [1.5, -2.25, 0.30078125, 7.0, 0.69921875, 3.0, -1.1015625, 2.0]),
    ("m[:, [0, 2]]", "bfloat16", [[0.0, 0.6015625], [1.203125, 1.796875], [2.40625, 3.0]]),
    ("x > 1", "bool", [True, False, False, True]),
    ("x == 0.3", "bool", [False, False, True, False]),
    ("x.float()", "float32", [1.5, -2.25, 0.30078125, 7.0]),
    ("x.long()", "int64", [1, -2, 0, 7]),
    ("x.half()", "float16", [1.5, -2.25, 0.30078125, 7.0]),
    ("x.lerp(y, 0.5)", "bfloat16", [1.1015625, 0.375, -0.400390625, 4.5]),
    ("torch.full((2,), 0.1, dtype=torch.bfloat16)", "bfloat16", [0.10009765625, 0.10009765625]),
    ("torch.linspace(0, 1, 4, dtype=torch.bfloat16)", "bfloat16", [0.0, 0.333984375, 0.6640625, 1.0]),
    ("x.sum(dtype=torch.float32)", "float32", 6.55078125),
    ("x.clone().mul_(0.1)", "bfloat16", [0.150390625, -0.224609375, 0.030029296875, 0.69921875]),
    (
        "torch.addmm(x, m[:, :3], m)",
        "bfloat16",
        [
            [3.3125, -0.1728515625, 2.640625, 9.625],
            [7.625, 5.21875, 9.125, 17.125],
            [12.0, 10.625, 15.625, 24.75],
        ],
    ),
]
GRADIENTS = [
    ("x * y", {"x": [0.69921875, 3.0, -1.1015625, 2.0], "y": [1.5, -2.25, 0.30078125, 7.0]}),
    ("x * 0.1", {"x": [0.10009765625, 0.10009765625, 0.10009765625, 0.10009765625]}),
    (
        "x + m",
        {"x": [3.0, 3.0, 3.0, 3.0], "m": [[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]},
    ),
    (
        "m * x",
        {
            "x": [3.609375, 4.5, 5.40625, 6.28125],
            "m": [
                [1.5, -2.25, 0.30078125, 7.0],
                [1.5, -2.25, 0.30078125, 7.0],
                [1.5, -2.25, 0.30078125, 7.0],
            ],
        },
    ),
    (
        "x.tanh() * y",
        {"x": [0.125, 0.138671875, -1.0078125, 0.0], "y": [0.90625, -0.9765625, 0.29296875, 1.0]},
    ),
    (
        "m @ x",
        {
            "x": [3.609375, 4.5, 5.40625, 6.28125],
            "m": [
                [1.5, -2.25, 0.30078125, 7.0],
                [1.5, -2.25, 0.30078125, 7.0],
                [1.5, -2.25, 0.30078125, 7.0],
            ],
        },
    ),
    (
        "(m @ m.t()).sum(1)",
        {
            "m": [
                [7.21875, 9.0, 10.8125, 12.5625],
                [7.21875, 9.0, 10.8125, 12.5625],
                [7.21875, 9.0, 10.8125, 12.5625],
            ]
        },
    ),
    (
        "x.softmax(0) * y",
        {
            "x": [-0.0052490234375, 9.584426879882812e-05, -0.0037994384765625, 0.006011962890625],
            "y": [0.004058837890625, 9.5367431640625e-05, 0.00122833251953125, 0.99609375],
        },
    ),
    ("m.sum(1)", {"m": [[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]}),
    ("x * y.float()", {"x": [0.69921875, 3.0, -1.1015625, 2.0], "y": [1.5, -2.25, 0.30078125, 7.0]}),
    ("torch.cat([x, y]) * 2", {"x": [2.0, 2.0, 2.0, 2.0], "y": [2.0, 2.0, 2.0, 2.0]}),
    ("x[[0, 0, 1]] * 3", {"x": [6.0, 3.0, 0.0, 0.0]}),
    ("x.view(2, 2).t() * 1.1", {"x": [1.1015625, 1.1015625, 1.1015625, 1.1015625]}),
    ("m.max(0)[0]", {"m": [[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]]}),
    ("(x * 1).mul_(2).add_(y)", {"x": [2.0, 2.0, 2.0, 2.0], "y": [1.0, 1.0, 1.0, 1.0]}),
    ("x.cumsum(0)", {"x": [4.0, 3.0, 2.0, 1.0]}),
    ("x.abs()", {"x": [1.0, -1.0, 1.0, 1.0]}),
    ("x.expand(1000, 4) + y", {"x": [1000.0, 1000.0, 1000.0, 1000.0], "y": [1000.0, 1000.0, 1000.0, 1000.0]}),
]


def tensors():
    x = torch.tensor([1.5, -2.25, 0.3, 7.0], dtype=torch.bfloat16)
    y = torch.tensor([0.7, 3.0, -1.1, 2.0], dtype=torch.bfloat16)
    m = torch.arange(12, dtype=torch.float32).view(3, 4).to(torch.bfloat16) * 0.3
    return {"torch": torch, "x": x, "y": y, "m": m}


def flat(values):
    return [v for part in values for v in flat(part)] if isinstance(values, list) else [values]


@pytest.mark.parametrize(("text", "dtype", "expected"), FORWARD)
def test_forward(text, dtype, expected):
    result = eval(text, tensors())
    assert str(result.dtype) == f"torch.{dtype}"
    assert flat(result.tolist()) == flat(expected)


@pytest.mark.parametrize(("text", "expected"), GRADIENTS)
def test_gradient(text, expected):
    given = tensors()
    leaves = {name: given[name].requires_grad_() for name in "xym"}
    eval(text, given).sum().backward()
    got = {name: leaf.grad for name, leaf in leaves.items() if leaf.grad is not None}
    assert all(g.dtype is torch.bfloat16 for g in got.values())
    assert {name: g.tolist() for name, g in got.items()} == expected


def test_second_derivative():
    x = torch.tensor([1.5, -2.0], dtype=torch.bfloat16, requires_grad=True)
    (g,) = torch.autograd.grad((x * x * x).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert (g.dtype, h.dtype) == (torch.bfloat16, torch.bfloat16)
    assert (g.tolist(), h.tolist()) == ([6.75, 12.0], [9.0, -12.0])


def test_forward_mode():
    x, t = (torch.tensor(v, dtype=torch.bfloat16) for v in ([1.5, -2.0], [1.0, 2.0]))
    y, dy = torch.func.jvp(lambda x: x * x, (x,), (t,))
    assert (y.tolist(), dy.tolist(), dy.dtype) == ([2.25, 4.0], [3.0, -8.0], torch.bfloat16)


def test_leaf():
    w = torch.nn.Parameter(torch.ones(2, dtype=torch.bfloat16))
    assert repr(w.detach()) == "tensor([1., 1.], dtype=torch.bfloat16)"
    for _ in range(2):
        (w * 3).sum().backward()
    assert w.grad.tolist() == [6.0, 6.0]
    (w * w).sum().backward(retain_graph=True)
    with pytest.raises(TypeError, match="Got unsupported ScalarType BFloat16"):
        w.detach().numpy()


def test_freed_graph():
    x = torch.tensor([1.5], dtype=torch.bfloat16, requires_grad=True)
    y = x.exp()
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_the_gradient_of_a_bias_is_summed_in_float32(dtype):
    x, b = torch.ones(5000, 2, dtype=dtype), torch.zeros(2, dtype=dtype, requires_grad=True)
    (x + b).sum(0).sum().backward()
    assert b.grad.tolist() == ([5000.0] * 2 if dtype is torch.float16 else [4992.0] * 2)
