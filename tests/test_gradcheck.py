"""gradcheck and gradgradcheck: what passes, what fails, and what they say. Numbers are PyTorch's (2.13)."""

import inspect
import re
import warnings

import pytest

import autodiff_kernel as torch
from autodiff_kernel.autograd import Function, gradcheck, gradgradcheck
from autodiff_kernel.autograd.gradcheck import GradcheckError

DOUBLE = torch.float64


def counting(*shape, dtype=DOUBLE, grad=True):
    """1, 2, 3, … in a shape."""
    n = torch.Size(shape).numel()
    return torch.arange(1, n + 1).to(dtype).reshape(shape).requires_grad_(grad)


def half(x):
    """x², with half of its gradient."""
    return x * x.detach()


def error_of(*args, check=gradcheck, **kwargs):
    with pytest.raises(GradcheckError) as caught:
        check(*args, **kwargs)
    assert check(*args, raise_exception=False, **kwargs) is False
    return str(caught.value)


class Wrong(Function):
    """x², with 3x as its derivative."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x


class WrongJvp(Function):
    """2x, right in reverse mode and wrong in forward mode."""

    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        return g * 2

    @staticmethod
    def jvp(ctx, t):
        return t * 3


# ------------------------------------------------------------------------------------------------ what passes
RIGHT = [
    (torch.sin, counting(3)),
    (torch.mul, (counting(2, 3), counting(3))),
    (lambda x: [x * 2, x * 3], (counting(3),)),
    (lambda x: (x * 2, x.argmax()), (counting(3),)),
    (lambda x, k: x * k, (counting(3), 2.0)),
    (lambda x, k, nothing: x * k, (counting(3), torch.tensor([1, 2, 3]), None)),
    (lambda a, b: a * 2, (counting(2), counting(2))),
    (torch.sin, (torch.zeros(0, dtype=DOUBLE, requires_grad=True),)),
    (torch.sin, (torch.tensor(0.5, dtype=DOUBLE, requires_grad=True),)),
    (lambda x: x.clone().mul_(2), (counting(3),)),
    (lambda x: x**3, (counting(2, 3).t(),)),
    (lambda x: torch.ones(2), (counting(2),)),
    (torch.sin, (counting(3).detach().to(torch.complex128).requires_grad_(),)),
    (torch.abs, ((counting(3) + 1j).detach().requires_grad_(),)),
    (lambda x: (x.real * x.imag, x * x), ((counting(3) + 1j).detach().requires_grad_(),)),
]


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("func, inputs", RIGHT)
def test_right_gradients(func, inputs, fast):
    assert gradcheck(func, inputs, fast_mode=fast) is True
    assert gradcheck(func, inputs, fast_mode=fast, check_forward_ad=True, check_grad_dtypes=True) is True


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("func, inputs", [RIGHT[i] for i in (0, 1, 2, 4, 8, 9, 10, 12)])
def test_right_second_gradients(func, inputs, fast):
    assert gradgradcheck(func, inputs, fast_mode=fast) is True
    assert gradgradcheck(
        func, inputs, fast_mode=fast, check_fwd_over_rev=True, gen_non_contig_grad_outputs=True
    )


def test_inputs_come_back_as_they_were():
    x = torch.tensor(0.3, dtype=DOUBLE, requires_grad=True)
    y = counting(2)
    assert gradcheck(lambda a, b: a * b, (x, y))
    with pytest.raises(ZeroDivisionError):
        gradcheck(lambda a: a * 2 if a.item() == 0.3 else 1 / 0, (x,))
    assert (x.item(), y.tolist()) == (0.3, [1.0, 2.0])
    assert x.grad is None


def test_a_function_that_reads_the_input_elsewhere():
    w = counting(3)
    assert gradcheck(lambda _: w**2, (w,))


def test_the_users_random_numbers_stay():
    torch.manual_seed(0)
    expected = torch.rand(2).tolist()
    torch.manual_seed(0)
    gradcheck(torch.sin, counting(3), fast_mode=True, check_forward_ad=True)
    assert torch.rand(2).tolist() == expected


# ------------------------------------------------------------------------------------------------ what fails
def test_a_wrong_entry_is_named():
    text = error_of(half, (counting(2),))
    assert text.startswith(
        "Jacobian mismatch for output 0 with respect to input 0,\n"
        "numerical:tensor([[2.0000, 0.0000],\n        [0.0000, 4.0000]], dtype=torch.float64)\n"
        "analytical:tensor([[1., 0.],\n        [0., 2.]], dtype=torch.float64)\n"
    )
    assert (
        "2 of 4 entries are off. The worst: how output 0[1] changes with argument 0[1] is 4 by differences"
        in text
    )
    assert "and 2 by backward, 2 apart (allowed: 0.004). Every entry is 0.5 times what it should be." in text


def test_rows_are_inputs_and_columns_outputs():
    text = error_of(lambda x: half(x)[:2], (counting(3),))
    assert "numerical:tensor([[2.0000, 0.0000],\n        [0.0000, 4.0000],\n        [0.0000, 0.0000]]" in text


def test_only_what_requires_grad_is_counted_and_the_argument_is_named():
    text = error_of(lambda a, b: (a.argmax(), half(b) * a), (counting(2, grad=False), counting(2)))
    assert text.startswith("Jacobian mismatch for output 0 with respect to input 0,")
    assert "argument 1[1]" in text
    text = error_of(lambda a, b: (a * b, Wrong.apply(b)), (counting(2), counting(2)))
    assert text.startswith("Jacobian mismatch for output 1 with respect to input 1,")
    assert "Every entry is 1.5 times what it should be." in text


def test_fast_mode_gives_pytorch_s_numbers_and_then_all_entries():
    text = error_of(half, (counting(2),), fast_mode=True)
    numbers = re.search(r"numerical:(\S+)\nanalytical:(\S+)\n", text)
    assert float(numbers[1]) == pytest.approx(3.3147731476242064, rel=1e-9)
    assert float(numbers[2]) == pytest.approx(1.6573865738089877, rel=1e-14)
    assert "in fast mode" in text and "Numerical:\n tensor([[2.0000, 0.0000]," in text
    assert "The max per-element difference (slow mode) is: 2.0000" in text
    text = error_of(lambda a, b: (a.sum() * b, half(b) * a[0]), (counting(3), counting(2)), fast_mode=True)
    assert text.startswith("Jacobian mismatch for output 1 with respect to input 1,\nnumerical:2.84405206")


@pytest.mark.parametrize("fast", [False, True])
def test_complex_numbers_are_checked_by_parts(fast):
    z = counting(2).detach().to(torch.complex128).requires_grad_()
    text = error_of(half, (z,), fast_mode=fast)
    start = (
        "While considering the imaginary part of complex outputs only, Jacobian mismatch for output 0 with"
    )
    assert text.startswith(start)
    shown = (
        "numerical:2.6513041" if fast else "numerical:tensor([[0.+2.j, 0.+0.j],\n        [0.+0.j, 0.+4.j]]"
    )
    assert shown in text
    text = error_of(lambda x: half(x.abs()), ((counting(2) + 1j).detach().requires_grad_(),), fast_mode=fast)
    assert text.startswith("Jacobian mismatch for output 0 with respect to input 0,")
    assert "[2.0000+2.0000j, 0.0000+0.0000j]" in text
    text = error_of(lambda x: half(x).to(torch.complex128), (counting(2),), fast_mode=fast)
    assert text.startswith("While considering the real part of complex outputs only, Jacobian mismatch")


@pytest.mark.parametrize("fast", [False, True])
def test_a_wrong_forward_mode(fast):
    x = counting(3)
    assert gradcheck(WrongJvp.apply, (x,), fast_mode=fast)
    for reverse in (True, False):
        text = error_of(
            WrongJvp.apply, (x,), check_forward_ad=True, check_backward_ad=reverse, fast_mode=fast
        )
        start = "Jacobian computed with forward mode mismatch for output 0 with respect to input 0,"
        assert text.startswith(start)
        assert "3 by forward mode" in text
    with pytest.raises(NotImplementedError, match="You must implement the jvp function"):
        gradcheck(Wrong.apply, (x,), check_forward_ad=True, check_backward_ad=False)


def test_a_wrong_second_derivative():
    cube = lambda x: x**2 * x.detach()  # noqa: E731
    text = error_of(
        cube, (counting(2),), (torch.ones(2, dtype=DOUBLE, requires_grad=True),), check=gradgradcheck
    )
    assert text.startswith("Jacobian mismatch for output 0 with respect to input 0,")
    assert "numerical:tensor([[4.0000, 0.0000],\n        [0.0000, 8.0000]], dtype=torch.float64)" in text


PATTERNS = [
    (lambda x: _hooked(x, lambda g: -g), "The sign is wrong everywhere."),
    (lambda x: _hooked(x, lambda g: g * 0), "Every analytical entry is 0: the graph is cut between"),
    (lambda x: (torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=DOUBLE) @ _hooked(x, None)), "transpose"),
    (lambda x: torch.cat([x[:1], x[1:].detach()]) ** 2, "a part of the dependence is left out"),
    (lambda x: (x - x.detach()).sqrt(), "There are nan among them"),
]  # fmt: skip


def _hooked(x, hook):
    """x, with a hook on the way back; None: multiply by the transpose of what comes, times its inverse."""
    y = x * 1
    matrix = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=DOUBLE)
    back = matrix @ torch.linalg.inv(matrix.t())
    y.register_hook(hook or (lambda g: back @ g))
    return y


@pytest.mark.parametrize("func, words", PATTERNS)
def test_what_the_pattern_says(func, words):
    assert words in error_of(func, (counting(2),))


def test_no_output_requires_grad():
    for fast in (False, True):
        text = error_of(lambda x: x.detach(), (counting(3),), fast_mode=fast)
        assert text.startswith("Numerical gradient for function expected to be zero")
        assert "the graph is cut on the way" in text


def test_backward_adds_something_of_its_own():
    y = lambda x: _hooked(x, lambda g: g + 1e-7)  # noqa: E731
    assert error_of(y, (counting(2),)).startswith("backward not multiplied by grad_output")


def test_backward_that_changes_from_call_to_call():
    calls = []

    def drift(g):
        calls.append(g)
        return g * (1 + 1e-7 * len(calls))

    func = lambda x: _hooked(x, drift)  # noqa: E731
    for fast in (False, True):
        text = error_of(func, (counting(2),), fast_mode=fast)
        assert text.startswith(
            "Backward is not reentrant, i.e., running backward with same input and grad_output"
        )
        assert "The tolerance for nondeterminism was 0.0." in text
        assert gradcheck(func, (counting(2),), nondet_tol=1e-3, fast_mode=fast)


class Undefined(Function):
    """(x y, x + y); `rule` is what its backward does where nobody used either output."""

    @staticmethod
    def forward(ctx, x, y, rule):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x, y)
        ctx.rule = rule
        return x * y, x + y

    @staticmethod
    def backward(ctx, a, b):
        x, y = ctx.saved_tensors
        if a is None and b is None:
            return ctx.rule(x, y)
        a, b = (0 if g is None else g for g in (a, b))
        return a * y + b, a * x + b, None


def undefined(rule, **more):
    return gradcheck(lambda x, y: Undefined.apply(x, y, rule), (counting(2), counting(2)), **more)


def refuses(x, y):
    raise RuntimeError("what is None?")


def fails(x, y):
    return None * y


def invents(x, y):
    return x, y, None


def test_gradients_of_outputs_that_were_not_used():
    assert undefined(lambda x, y: (None, None, None))
    assert undefined(lambda x, y: (0 * x, None, None))
    for rule, kind, words in (
        (refuses, GradcheckError, "Expected backward function to handle undefined output grads."),
        (
            invents,
            GradcheckError,
            "Expected all input grads to be undefined or zero when all output grads are",
        ),
        (fails, TypeError, "NoneType"),  # what backward itself raises, as in PyTorch
    ):
        assert undefined(rule, check_undefined_grad=False)
        with pytest.raises(kind, match=words):
            undefined(rule)


# ------------------------------------------------------------------------------------------------ what is refused
def test_float32_warns_and_the_error_says_why():
    x = counting(3, dtype=torch.float32)
    with pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double precision") as seen:
        with pytest.raises(GradcheckError) as caught:
            gradcheck(half, (x,))
    assert seen[0].filename == __file__
    assert "numerical:tensor([[1.9670, 0.0000, 0.0000]," in str(caught.value)
    assert "use" not in caught.value.explanation.cure and "float64" in caught.value.explanation.cure
    with pytest.warns(UserWarning, match="Input #1"):
        assert gradcheck(torch.mul, (2.0 * counting(3), x), eps=1e-2, atol=1e-2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gradcheck(torch.mul, (counting(3), x.detach()))


def shrinking(x):
    return x[: int((x > 1).sum())]


def narrowing(x):
    return x.float() if x[0] > 1 else x


FIXED, EXPANDED = counting(3, grad=False), counting(1).detach().expand(3).requires_grad_()
REFUSED = [
    (lambda x: gradcheck(torch.sin, FIXED), ValueError, "expects at least one input tensor to require"),
    (lambda x: gradcheck(lambda d: d[0], ([x],), raise_exception=False), ValueError, "expects at least one"),
    (lambda x: gradcheck(torch.sin, torch.tensor([1, 2])), ValueError, "expects at least one"),
    (lambda x: gradcheck(torch.sin, EXPANDED, raise_exception=False), RuntimeError, "0th input has a dimension with"),
    (lambda x: gradcheck(lambda x: 3.0, x), AttributeError, "'float' object has no attribute 'requires_grad'"),
    (lambda x: gradcheck(lambda x: x > 0, x), RuntimeError, "Subtraction, the `-` operator, with two bool"),
    (lambda x: gradcheck(lambda x: x.foo(), x, raise_exception=False), AttributeError, "foo"),
    (lambda x: gradcheck(lambda x: x.mul_(2), x), RuntimeError, "leaf Variable that requires grad"),
    (lambda x: gradcheck(shrinking, x), AssertionError, r"same shape when inputs are perturbed on index \(0,\) by 1e-06"),
    (lambda x: gradcheck(shrinking, x), AssertionError, r"but got: shapes torch.Size\(\[2\]\) and torch.Size\(\[3\]\)"),
    (lambda x: gradcheck(narrowing, x), AssertionError, "got: dtypes torch.float64 and torch.float32"),
    (lambda x: gradcheck(torch.sin, x, check_backward_ad=False), AssertionError, "at least one of check_forward_ad or"),
    (lambda x: gradcheck(torch.sin, x, check_batched_forward_grad=True), AssertionError, "requires check_forward_ad"),
    (lambda x: gradcheck(torch.sin, x, 1e-6), TypeError, "2 positional arguments"),
    (lambda x: gradgradcheck(torch.sin, x, check_rev_over_rev=False), AssertionError, "at least one of check_fwd_over_rev"),
    (lambda x: gradgradcheck(torch.sin, x, check_fwd_over_rev=True, check_rev_over_rev=False), AssertionError,
     "check_undefined_grad=True requires check_rev_over_rev"),
    (lambda x: gradgradcheck(torch.sin, x, counting(2)), RuntimeError, "Mismatch in shape: grad_output"),
]  # fmt: skip


@pytest.mark.parametrize("action, kind, words", REFUSED)
def test_refusals(action, kind, words):
    with pytest.raises(kind, match=words):
        action(counting(3))


def test_names_and_signatures():
    assert issubclass(GradcheckError, RuntimeError)
    assert (
        list(inspect.signature(gradcheck).parameters)
        == (
            "func inputs eps atol rtol raise_exception nondet_tol check_undefined_grad check_grad_dtypes check_batched_grad "
            "check_batched_forward_grad check_forward_ad check_backward_ad fast_mode masked"
        ).split()
    )
    assert (
        list(inspect.signature(gradgradcheck).parameters)
        == (
            "func inputs grad_outputs eps atol rtol gen_non_contig_grad_outputs raise_exception nondet_tol "
            "check_undefined_grad check_grad_dtypes check_batched_grad check_fwd_over_rev check_rev_over_rev fast_mode masked"
        ).split()
    )


def test_batches_of_cotangents():
    assert gradcheck(torch.sin, counting(3), check_batched_grad=True)
    assert gradgradcheck(torch.sin, counting(3), check_batched_grad=True)


def test_batches_of_tangents():
    assert gradcheck(torch.sin, counting(3), check_forward_ad=True, check_batched_forward_grad=True)
    inputs = (counting(2, 3), counting(3))
    assert gradcheck(
        lambda a, b: (a @ b, a * b), inputs, check_forward_ad=True, check_batched_forward_grad=True
    )


def test_a_function_may_give_its_input_as_it_is():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda t: t, (x,)) and gradcheck(lambda t: (t, t * t), (x,), fast_mode=True)
    assert gradgradcheck(lambda t: t, (x,))


@pytest.mark.parametrize("name, value", [("atol", -1), ("rtol", -1e-3), ("rtol", float("nan"))])
def test_tolerances_are_not_negative(name, value):
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    with pytest.raises(RuntimeError, match=f"{name} must be greater than or equal to zero, but got {value}"):
        gradcheck(torch.sin, (x,), **{name: value})
