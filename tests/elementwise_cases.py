"""Expressions whose answers PyTorch wrote down (record_elementwise.py) and we must give too.

`torch` and `F` in the expressions are PyTorch and torch.nn.functional there, and our package and modules here.
"""

import itertools
import math
from typing import Any

INF, NAN = math.inf, math.nan
POINTS = [-INF, -7.0, -3.0, -2.5, -1.0, -0.5, -0.0, 0.0, 0.3, 0.5, 1.0, 2.5, 3.0, 6.0, 20.0, 25.0, INF, NAN]
GRID = [-INF, -2.5, -1.0, -0.0, 0.0, 0.5, 1.0, 3.0, INF, NAN]
DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]
NUMBERS = [True, 2, 2.5]

NAMES = """abs sign sgn square sqrt rsqrt reciprocal neg exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan
sinh cosh tanh asinh acosh atanh sigmoid logit erf erfc erfinv lgamma digamma sinc ceil floor round trunc frac deg2rad
rad2deg nan_to_num relu selu celu isnan isinf isfinite isposinf isneginf isreal signbit logical_not bitwise_not
hardshrink positive""".split()
FUNCTIONAL = """relu6 leaky_relu elu softplus softsign silu gelu hardtanh hardsigmoid hardswish mish logsigmoid
tanhshrink softshrink""".split()
UNARY = [
    *(f"torch.{name}(x)" for name in NAMES),
    *(f"F.{name}(x)" for name in FUNCTIONAL),
    "torch.logit(x, 0.1)",
    "torch.round(x, decimals=1)",
    "torch.round(x, decimals=-1)",
    "torch.nan_to_num(x, 1., 2., 3.)",
    "torch.polygamma(0, x)",
    "torch.polygamma(1, x[1:-2])",
    "torch.polygamma(3, x[1:-2] + 8)",
    "torch.mvlgamma(x + 3, 2)",
    "torch.clamp(x, -1, 3)",
    "torch.clamp(x, max=0.5)",
    "torch.clamp(x, 2, 1)",
    "torch.clamp_min(x, 0.5)",
    "torch.threshold(x, 1., 9.)",
    "torch.celu(x, 2.)",
    "F.elu(x, 0.5)",
    "F.softplus(x, 2, 3)",
    "F.gelu(x, approximate='tanh')",
    "torch.prelu(x, torch.tensor([0.5], dtype=x.dtype))",
    "torch.softmax(x[1:-2], 0)",
    "torch.log_softmax(x[1:-2], 0)",
    "torch.logsumexp(x[1:-2], 0)",
    "torch.softmax(x[:3], 0)",
    "torch.logsumexp(x[:1], 0)",
    "torch.logsumexp(x[-2:-1], 0)",
    *(
        f"x {operator} {number}"
        for operator in ("+", "-", "*", "/", "**", "%")
        for number in (0, 1, -1, 2, 2.5)
    ),
    *(f"{number} {operator} x" for operator in ("+", "-", "*", "/", "**") for number in (0, 1, -1, 2, 2.5)),
    *(f"x {operator} 0.5" for operator in ("==", "!=", "<", "<=", ">", ">=")),
    "torch.fmod(x, 2)",
    "torch.xlogy(x, 2.5)",
    "torch.xlogy(x, 0)",
    "torch.copysign(x, -1.)",
    "torch.where(x > 0.5, x, 0.)",
    "torch.where(x > 0.5, x * 2, x / 2)",
    "torch.float_power(x, 2)",
]
BINARY = [
    *(
        f"torch.{name}(x, y)"
        for name in """add sub mul div pow maximum minimum fmax fmin hypot atan2 logaddexp logaddexp2 xlogy copysign
        remainder fmod ldexp nextafter heaviside clamp_min clamp_max floor_divide eq ne lt le gt ge isclose logical_and
        logical_or logical_xor""".split()
    ),
    "torch.div(x, y, rounding_mode='floor')",
    "torch.div(x, y, rounding_mode='trunc')",
    "torch.clamp(x, min=y)",
    "torch.clamp(x, max=y)",
    "torch.clamp(x, y, y + 1)",
    "torch.lerp(x, y, 0.3)",
    "torch.lerp(x, y, 0.7)",
    "torch.where(x > y, x, y)",
    "torch.isclose(x, y, equal_nan=True)",
]
# expressions of two operands of any dtype, each a tensor, a 0-d tensor or a number
MIXED = [
    *("x + y", "x - y", "x * y", "x / y", "x // y", "x % y", "x ** y", "x == y", "x < y", "x & y", "x << y"),
    *("torch.where(c, x, y)", "torch.maximum(x, y)", "torch.atan2(x, y)", "torch.clamp(x, min=y)", "torch.fmod(x, y)"),
    *("torch.copysign(x, y)", "torch.xlogy(x, y)", "torch.logical_or(x, y)", "torch.float_power(x, y)"),
    "torch.gcd(x, y)",
    *("x.clone().add_(y)", "x.clone().mul_(y)", "x.clone().div_(y)", "x.clone().eq_(y)"),
]  # fmt: skip
ERRORS = [
    "torch.exp(3.)", "torch.exp([1.])", "torch.maximum(f, 2)", "torch.logical_and(f, 1)", "torch.gcd(i, 2)",
    "torch.hypot(f, 1)", "torch.equal(f, 1)", "torch.eq(1, f)", "f < 'a'", "f + 'a'", "f + None",
    "f == 'a'", "f != None", "f + torch.ones(2)", "torch.where(f, f, f)", "torch.where(True, f, f)",
    "torch.where(b, f)",
    "torch.clamp(f)", "torch.clamp(f, min='a')", "torch.clamp(f, min=f, max=2)", "torch.clamp(b, True)",
    "torch.isclose(f, i)", "torch.allclose(f, f, rtol=-1)", "torch.lerp(f, f.double(), 0.5)", "torch.lerp(i, i, 0.5)",
    "torch.addcdiv(i, i, i)", "torch.addcmul(f, 2, f)", "torch.add(i, i, alpha=1.5)", "torch.add(i, b, alpha=True)",
    "torch.div(f, 2, rounding_mode='up')", "i // 0", "i % 0", "torch.fmod(i, 0)", "i // torch.zeros_like(i)", "b // b",
    "b - b", "b - 1", "1 - b", "-b", "+b", "~f", "f & f", "f << 1", "b ** b", "i ** -1", "torch.pow(2, 3)",
    "torch.heaviside(f, i)", "torch.heaviside(f, 1)", "torch.polygamma(-1, f)", "torch.prelu(f, f[:2])",
    "torch.softmax(i, 0)", "torch.log_softmax(b, 0)", "torch.softmax(f, 1)", "torch.logsumexp(f, 2)",
    "torch.relu(b)", "torch.abs(b)", "torch.floor(b)", "torch.frac(i)", "torch.round(i, decimals=1)",
    "i.clone().exp_()", "i.clone().add_(1.5)", "f.clone().float_power_(2)", "F.gelu(f, approximate='no')",
    "F.hardtanh(f, 2, 1)", "F.softshrink(f, -1)", "F.leaky_relu(i)", "torch.celu(f, 0)", "divmod(f, 2)",
    "(f.requires_grad_() // 2).sum().backward()",
]  # fmt: skip


def gradients(code: str, torch: Any, F: Any, names: list[tuple[str, list[float]]]) -> dict[str, Any]:
    """The value of an expression of float64 tensors, its dtype, its gradients and the name of its node."""
    scope = {name: torch.tensor(values, dtype=torch.float64, requires_grad=True) for name, values in names}
    inputs = list(scope.values())
    result = eval(code, {"torch": torch, "F": F}, scope)
    node = None if result.grad_fn is None or result is inputs[0] else result.grad_fn.name().split("::")[-1]
    found = {"value": result.tolist(), "dtype": str(result.dtype), "node": node}
    if node is not None and node != "NotImplemented":
        result.backward(torch.ones_like(result))
        found["grad"] = [None if x.grad is None else (x.grad + torch.zeros(x.shape)).tolist() for x in inputs]
    return found


def operand(torch: Any, dtype: str, kind: str) -> Any:
    return torch.ones((2,) if kind == "tensor" else (), dtype=getattr(torch, dtype))


def attempt(code: str, scope: dict[str, Any]) -> str:
    """The result's dtype, or the exception's type."""
    try:
        result = eval(code, scope)
    except Exception as error:
        return type(error).__name__
    return str(getattr(result, "dtype", type(result).__name__)).removeprefix("torch.")


def unary_dtypes(code: str, torch: Any, F: Any) -> list[str]:
    """What becomes of each dtype."""
    return [attempt(code, {"torch": torch, "F": F, "x": operand(torch, dtype, "tensor")}) for dtype in DTYPES]


def mixed_dtypes(code: str, torch: Any) -> dict[str, list[str]]:
    """What becomes of each pair of dtypes: tensors, a tensor with a 0-d tensor or a number, and the reverse."""
    found = {}
    for first, second in [("tensor", "tensor"), ("tensor", "zerodim"), ("zerodim", "tensor"), ("tensor", "number"),
                          ("zerodim", "number"), ("number", "tensor")]:  # fmt: skip
        xs, ys = (
            NUMBERS if kind == "number" else [operand(torch, dtype, kind) for dtype in DTYPES]
            for kind in (first, second)
        )
        c = torch.tensor([True, False])
        found[f"{first} {second}"] = [
            attempt(code, {"torch": torch, "x": x, "y": y, "c": c}) for x, y in itertools.product(xs, ys)
        ]
    return found


def refusal(code: str, torch: Any, F: Any) -> str:
    """The exception's type and the beginning of its text; or the result."""
    scope = {"torch": torch, "F": F, "f": torch.tensor([1.0, 2.0, 3.0]), "i": torch.tensor([1, 2, 3])}
    scope["b"] = torch.tensor([True, False, True])
    try:
        return repr(eval(code, scope))
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"


def answers(torch: Any, F: Any) -> dict[str, Any]:
    """Everything at once."""
    x, grid = ("x", POINTS), list(itertools.product(GRID, GRID))
    pairs = [("x", [a for a, _ in grid]), ("y", [b for _, b in grid])]
    return {
        "unary": {code: gradients(code, torch, F, [x]) for code in UNARY if code != "torch.bitwise_not(x)"},
        "binary": {code: gradients(code, torch, F, pairs) for code in BINARY},
        "dtypes": {code: unary_dtypes(code, torch, F) for code in UNARY},
        "mixed": {code: mixed_dtypes(code, torch) for code in MIXED},
        "errors": {code: refusal(code, torch, F) for code in ERRORS},
    }
