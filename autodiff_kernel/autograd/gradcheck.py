"""torch.autograd.gradcheck: compare gradients with finite differences.

What a rule says must be what the function does: gradcheck moves each input element a little, sees how the outputs
move, and compares that with reverse mode (and forward mode, if asked).
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ..core import backward as _engine
from ..core.api import FUNCTIONS
from ..core.dtype import complex128, float64
from ..core.errors import explain
from ..core.tensor import Tensor
from . import finite_differences as fd
from .gradcheck_report import Found, mismatch

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]

Function = Callable[..., Any]


class GradcheckError(RuntimeError):
    """What gradcheck raises where the gradient is wrong."""


def fail(phrase: str, summary: str = "", cure: str = "") -> NoReturn:
    raise explain(GradcheckError, phrase, summary, cure)


class _Check:
    """One check of one function: what is compared, and how closely."""

    def __init__(self, func: Function, inputs: tuple[Any, ...], eps: float, atol: float, rtol: float,
                 nondet_tol: float, check_grad_dtypes: bool, fast: bool) -> None:  # fmt: skip
        self.func, self.inputs, self.eps, self.atol, self.rtol = func, inputs, eps, atol, rtol
        self.nondet_tol, self.check_grad_dtypes, self.fast = nondet_tol, check_grad_dtypes, fast
        self.places = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]

    @property
    def moving(self) -> list[Tensor]:
        return [self.inputs[i] for i in self.places]

    def of(self, func: Function, inputs: tuple[Any, ...] | None = None) -> "_Check":
        """The same check of another function."""
        return _Check(func, self.inputs if inputs is None else inputs, self.eps, self.atol, self.rtol,
                      self.nondet_tol, self.check_grad_dtypes, self.fast)  # fmt: skip

    def compare(self, analytical: Any, numerical: Any, y: Tensor, output: int, i: int, part: str = "",
                forward: bool = False, weight: float = 1.0, slow: Callable[[], Any] | None = None) -> None:  # fmt: skip
        """Raise if the two Jacobians of y for moving input i differ.

        slow: gives the whole Jacobians where only products are compared.
        """
        found = Found(analytical, numerical, self.moving[i], y, output, i, self.places[i], self.atol, self.rtol,
                      part, forward, weight)  # fmt: skip
        if not found.agree():
            raise mismatch(GradcheckError, found, slow)


# ------------------------------------------------------------------------------------------------ reverse mode
def check_reverse(check: _Check, part: str = "", complex_outputs: Sequence[int] = ()) -> None:
    """Compare the gradients of each output with differences.  part: which part of complex outputs this is."""
    outputs = fd.as_tuple(check.func(*check.inputs))
    xs, ys = check.moving, fd.differentiable(outputs)
    numbers = [i for i, y in enumerate(outputs) if y.requires_grad]
    if check.fast:
        return fast_reverse(check, outputs, numbers, part, complex_outputs)
    numerical = [fd.numerical_jacobians(check.func, check.inputs, x, check.eps) for x in xs]
    for o, y in enumerate(ys):
        analytical = reliable_jacobians(check, y)
        for i, a in enumerate(analytical):
            which = part if numbers[o] in complex_outputs else ""
            check.compare(a, numerical[i][numbers[o]], y, o, i, which)


def reliable_jacobians(check: _Check, y: Tensor) -> list[Tensor]:
    """The Jacobian of y for each input by reverse mode, computed twice: it must be the same."""
    first, same_dtype, same_size = fd.analytical_jacobians(y, check.moving)
    second, *_ = fd.analytical_jacobians(y, check.moving)
    check_forms(check, same_dtype, same_size)
    check_repeats(check, first, second)
    return first


def check_forms(check: _Check, same_dtype: bool, same_size: bool) -> None:
    if not same_dtype and check.check_grad_dtypes:
        fail("Gradient has dtype mismatch", "A gradient has another dtype than its input.")
    if not same_size:
        fail("Analytical gradient has incorrect size", "A gradient has another shape than its input.")


def check_repeats(check: _Check, first: Sequence[Tensor], second: Sequence[Tensor]) -> None:
    """Two backward passes with the same cotangent must give the same numbers."""
    off = max([(a - b).abs().max().item() for a, b in zip(first, second) if a.numel()], default=0.0)  # type: ignore[operator]
    if off > check.nondet_tol:
        fail(
            "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
            "different values, although analytical gradient matches numerical gradient.The tolerance for nondeterminism "
            f"was {check.nondet_tol}.",
            f"Two passes with the same cotangent differ by up to {off:.4g}: something in backward keeps a state, draws "
            "random numbers, or changes what it has saved.",
            "make backward depend on its inputs only; or allow the difference with nondet_tol=.",
        )


def fast_reverse(
    check: _Check, outputs: Any, numbers: list[int], part: str, complex_outputs: Sequence[int]
) -> None:
    """Compare vᵀ J u for one random u of each input and one random v of each output."""
    xs, ys = check.moving, [outputs[k] for k in numbers]
    us, vs = fd.directions(xs, ys)
    products = [fd.numerical_products(check.func, check.inputs, x, u, check.eps) for x, u in zip(xs, us)]
    for o, (y, v) in enumerate(zip(ys, vs)):
        analytical = fd.analytical_products(y, xs, us, v)
        check_repeats(check, analytical, fd.analytical_products(y, xs, us, v))
        for i, (x, u, a) in enumerate(zip(xs, us, analytical)):
            n = contracted(products[i][numbers[o]], v)
            which = part if numbers[o] in complex_outputs else ""

            def slow(x: Tensor = x, y: Tensor = y, i: int = i, number: int = numbers[o]) -> Any:
                whole = fd.numerical_jacobians(check.func, check.inputs, x, check.eps)[number]
                return fd.analytical_jacobians(y, xs)[0][i], whole

            check.compare(a, n, y, o, i, which, weight=weight(u, v), slow=slow)


def contracted(product: Any, v: Any) -> Any:
    """vᵀ (J u)."""
    if isinstance(product, tuple):
        return product[0].dot(v) + product[1].dot(v) * 1j
    return product.to(v.dtype).dot(v)


def weight(u: Any, v: Any = None) -> float:
    """How much of an error in every entry shows in vᵀ J u: the tolerance grows by as much."""
    total = sum(float(part.abs().sum()) for part in (u if isinstance(u, tuple) else (u,)))
    return total if v is None else total * float(v.abs().sum())


def check_no_outputs(check: _Check) -> bool:
    """No output requires grad: then none may depend on the inputs."""
    for x in check.moving:
        for slope in fd.numerical_jacobians(check.func, check.inputs, x, check.eps):
            if slope.numel() and slope.abs().max().item() > check.atol:  # type: ignore[attr-defined]
                fail(
                    "Numerical gradient for function expected to be zero",
                    "No output requires grad, yet the outputs change with the inputs: the graph is cut on the way "
                    "(detach, .data, item, numpy, no_grad, or an integer step).",
                    "compute the outputs from the inputs with differentiable operations only.",
                )
    return True


# ------------------------------------------------------------------------------------------------ forward mode
def check_forward(check: _Check, part: str = "", complex_inputs: Sequence[int] = ()) -> None:
    """Compare the tangents of each output with differences."""
    outputs = fd.as_tuple(check.func(*check.inputs))
    numbers = [k for k, y in enumerate(outputs) if y.requires_grad]
    ys = [outputs[k] for k in numbers]
    pick = lambda *xs: tuple(fd.as_tuple(check.func(*xs))[k] for k in numbers)  # noqa: E731
    us = fd.directions(check.moving, [])[0] if check.fast else [None] * len(check.moving)
    for i, (x, u) in enumerate(zip(check.moving, us)):
        place = check.places[i]
        if check.fast:
            numerical: Sequence[Any] = fd.numerical_products(pick, check.inputs, x, u, check.eps)
            analytical = fd.forward_products(pick, check.inputs, place, u, ys)
        else:
            numerical = fd.numerical_jacobians(pick, check.inputs, x, check.eps)
            analytical = fd.forward_jacobians(pick, check.inputs, place, ys)
        for o, (a, n) in enumerate(zip(analytical, numerical)):
            which = part if place in complex_inputs else ""

            def slow(x: Tensor = x, o: int = o, place: int = place) -> Any:
                whole = fd.numerical_jacobians(pick, check.inputs, x, check.eps)[o]
                return fd.forward_jacobians(pick, check.inputs, place, ys)[o], whole

            if check.fast:
                check.compare(a, n, ys[o], o, i, which, True, weight(u), slow)
            else:
                check.compare(a, n, ys[o], o, i, which, True)


def check_still_inputs(check: _Check) -> None:
    """An input without a tangent must count as one with a zero tangent."""
    zeros = {i: x.detach() * 0 for i, x in zip(check.places, check.moving)}  # type: ignore[operator]
    for i in check.places:
        rest = {k: v for k, v in zeros.items() if k != i}
        for o, t in enumerate(fd.tangents(check.func, check.inputs, rest)):
            if t is not None and t.numel() and t.abs().max().item():
                fail(
                    f"Mismatch in tangent values for output with index: {o} when input {i} has an undefined tangent "
                    f"value. Got: {t} but expected tangent to be None or zero",
                )


# ------------------------------------------------------------------------------------------------ rules of conduct
def check_zero_cotangent(check: _Check) -> None:
    """A gradient is linear in the cotangent: zeros in, zeros out."""
    ys = fd.differentiable(check.func(*check.inputs))
    zeros = [FUNCTIONS["zeros_like"](y) for y in ys]
    for x, g in zip(check.moving, _engine.grad(ys, check.moving, zeros, True, False, True)):
        if g is None:
            continue
        if g.numel() and not bool((g == 0).all()):
            fail(
                "backward not multiplied by grad_output",
                "A cotangent of zeros gave a gradient that is not zero: backward must multiply by the gradient it is "
                "given, and add nothing of its own.",
            )
        if g.dtype != x.dtype:
            fail(f"grad is incorrect type {g.dtype}, the input is {x.dtype}")
        if g.shape != x.shape:
            fail(f"grad is incorrect size {list(g.shape)}, the input is {list(x.shape)}")


_UNDEFINED = (
    "Expected backward function to handle undefined output grads.",
    "Expected all input grads to be undefined or zero when all output grads are undefined or zero.",
)


def check_undefined(check: _Check) -> None:
    """A backward must do with outputs that nobody used: their gradients are None, and count as zero."""
    ys = fd.differentiable(check.func(*check.inputs))
    for y in ys:  # nothing comes for any output of a Function of the user's
        n = y.node
        if n is None or n.op is None:  # an input as it is
            continue
        n = n.left if n.op.picks else n
        if n is not None and n.op is not None and n.op.whole is not None:
            nothing = [None] * len(n.sy) if n.op.outputs else None
            must_vanish(lambda n=n, nothing=nothing: n.op.whole(nothing, n, True))  # type: ignore[misc]
    for used in range(len(ys)) if len(ys) > 1 else ():  # zeros come for one, nothing for the others
        zero = FUNCTIONS["zeros_like"](ys[used])
        must_vanish(
            lambda y=ys[used], zero=zero: _engine.grad([y], check.moving, [zero], True, False, True)  # type: ignore[misc]
        )


def must_vanish(gradients: Callable[[], Any]) -> None:
    try:
        found = gradients()
    except RuntimeError as error:
        raise explain(
            GradcheckError,
            _UNDEFINED[0],
            f"An output that was not used has no gradient (None), and backward raised: {str(error).splitlines()[0]}",
            "treat None as zero, or leave ctx.set_materialize_grads on, which makes zeros of it.",
        ) from error
    for g in found:
        raw = getattr(g, "raw", g)
        if raw is not None and raw.size and bool((raw != 0).any()):
            fail(
                _UNDEFINED[1],
                "Nothing or zeros came into backward, and something else than zero came out.",
                "multiply by the gradient that backward is given.",
            )


def check_batched(check: _Check) -> None:
    """Gradients for a batch of cotangents must be those for each of them."""
    from .. import autograd

    ys, xs = fd.differentiable(check.func(*check.inputs)), check.moving
    for o, y in enumerate(ys):
        generator = fd.Generator()
        vs = FUNCTIONS["stack"]([fd.random_unit(y, generator).reshape(y.shape).to(y.dtype) for _ in range(2)])  # type: ignore[attr-defined]
        try:
            batched = autograd.grad(y, xs, vs, retain_graph=True, allow_unused=True, is_grads_batched=True)
        except RuntimeError as error:
            raise explain(
                GradcheckError,
                f"While computing batched gradients, got: {error}",
                "backward must work on a batch of cotangents (check_batched_grad=True).",
            ) from error
        each = [autograd.grad(y, xs, v, retain_graph=True, allow_unused=True) for v in vs]
        compare_batches(check, batched, each, f"output {o}", "gradients")


def check_batched_forward(check: _Check) -> None:
    """Tangents for a batch of directions must be those for each of them."""
    from ..func import jvp, vmap  # type: ignore[attr-defined]

    places, generator = check.places, fd.Generator()

    def pushed(i: int, u: Tensor) -> Any:
        inputs = [x.detach() if isinstance(x, Tensor) else x for x in check.inputs]

        def one(x: Tensor) -> Any:
            return fd.as_tuple(check.func(*inputs[:i], x, *inputs[i + 1 :]))

        return jvp(one, (inputs[i],), (u,))[1]

    for i in places:
        x = check.inputs[i]
        us = FUNCTIONS["stack"]([fd.random_unit(x, generator).reshape(x.shape).to(x.dtype) for _ in range(2)])  # type: ignore[attr-defined]
        try:
            batched = vmap(lambda u, i=i: pushed(i, u))(us)
        except RuntimeError as error:
            raise explain(
                GradcheckError,
                f"While computing batched gradients, got: {error}",
                "forward mode must work on a batch of tangents (check_batched_forward_grad=True).",
            ) from error
        compare_batches(check, batched, [pushed(i, u) for u in us], f"input {i}", "tangents")


def compare_batches(check: _Check, batched: Any, each: list[Any], where: str, what: str) -> None:
    for k, (b, *ones) in enumerate(zip(batched, *each)):
        expected = None if ones[0] is None else FUNCTIONS["stack"](ones)
        if b is None and expected is None:
            continue
        if b is None or expected is None or not close(b, expected, check):
            fail(
                f"For {where} the batched {what} number {k} are not those computed one by one:\n{b}\nand\n{expected}",
                f"Under vmap the function gives other {what} than sample by sample.",
            )


def close(a: Tensor, b: Tensor, check: _Check) -> bool:
    return bool(FUNCTIONS["allclose"](a.detach(), b.detach(), check.rtol, check.atol))


# ------------------------------------------------------------------------------------------------ complex numbers
def check_parts(check: _Check, forward: bool) -> None:
    """Reverse mode of a complex output, and forward mode of a complex input: real and imaginary part by themselves."""
    if not forward:
        outputs = fd.as_tuple(check.func(*check.inputs))
        turned = [k for k, y in enumerate(outputs) if y.is_complex()]
        if not turned:
            check_reverse(check)
        for part in ("imag", "real") if turned else ():
            check_reverse(check.of(lambda *xs, part=part: parts_of(check.func(*xs), part)), part, turned)  # type: ignore[misc]
        return
    turned = [i for i in check.places if check.inputs[i].is_complex()]
    if not turned:
        check_forward(check)
        return
    for part in ("imag", "real"):
        inputs = tuple(
            [getattr(x, part).detach().clone().requires_grad_() if i in turned else x for i, x in enumerate(check.inputs)]
        )  # fmt: skip

        def one(*xs: Any, part: str = part) -> Any:
            return check.func(
                *[with_part(check.inputs[i], x, part) if i in turned else x for i, x in enumerate(xs)]
            )

        check_forward(check.of(one, inputs), part, turned)


def parts_of(outputs: Any, part: str) -> tuple[Any, ...]:
    return tuple([getattr(y, part) if y.is_complex() else y for y in fd.as_tuple(outputs)])


def with_part(z: Tensor, x: Any, part: str) -> Any:
    """z with its real or imaginary part replaced."""
    z = z.detach()
    return FUNCTIONS["complex"](x, z.imag) if part == "real" else FUNCTIONS["complex"](z.real, x)  # type: ignore[attr-defined]


# ------------------------------------------------------------------------------------------------ the whole
def check_inputs(inputs: tuple[Any, ...]) -> None:
    moving = False
    for i, x in enumerate(inputs):
        if not isinstance(x, Tensor) or not x.requires_grad:
            continue
        moving = True
        if x.dtype not in (float64, complex128):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check will "
                "likely fail if all the inputs are not of double precision floating point or complex. ",
                UserWarning,
                stacklevel=3,
            )
        if any(step == 0 and n > 1 for n, step in zip(x.shape, x.stride())):
            raise explain(
                RuntimeError,
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping "
                "to be able to compute the numerical gradients correctly. You should call .contiguous on the input "
                "before passing it to gradcheck.",
                tensor=x,
            )
    if not moving:
        raise explain(
            ValueError,
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True.",
            "There is no derivative to check.",
            "make the inputs with requires_grad=True, and give them as a tuple of tensors.",
        )


def gradcheck(
    func: Function,
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Whether the gradients of func agree with finite differences; True, or GradcheckError that says where not.

    inputs: a tensor or a tuple of arguments; those that require grad are checked, and should be float64.  func: gives
    a tensor or a tuple of tensors.  An entry passes if |analytical − numerical| ≤ atol + rtol · |numerical|, where the
    numerical one is (f(x + eps) − f(x − eps)) / 2 eps.

    raise_exception: False returns False instead of raising.  nondet_tol: how much two backward passes may differ.
    check_undefined_grad: outputs that were not used count as zero.  check_grad_dtypes: gradients have their input's
    dtype.  check_batched_grad, check_batched_forward_grad: under vmap too.  check_forward_ad, check_backward_ad: which
    modes.  fast_mode: compare one random projection of each Jacobian instead of all its entries.  masked: for sparse
    tensors in PyTorch; nothing here.

    >>> import autodiff_kernel as torch
    >>> x = torch.rand(3, dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradcheck(torch.sin, x)
    True
    >>> torch.autograd.gradcheck(lambda x: x * x.detach(), x, raise_exception=False)
    False
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if not tolerance >= 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance}")
    given = fd.as_tuple(inputs)
    check_inputs(given)
    check = _Check(func, given, eps, atol, rtol, nondet_tol, check_grad_dtypes, fast_mode)
    try:
        if not fd.differentiable(func(*given)):
            return check_no_outputs(check)
        if check_backward_ad:
            check_parts(check, forward=False)
        if check_forward_ad:
            check_parts(check, forward=True)
            if check_undefined_grad:
                check_still_inputs(check)
        if check_batched_forward_grad:
            check_batched_forward(check)
        if check_backward_ad:
            if check_batched_grad:
                check_batched(check)
            check_zero_cotangent(check)
            if check_undefined_grad:
                check_undefined(check)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Function,
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """The same for the gradients of the gradients: gradcheck of the function that gives func's gradients.

    grad_outputs: the cotangents; random ones if None.  Both the inputs and the cotangents are moved.
    check_rev_over_rev, check_fwd_over_rev: in which mode the gradients are differentiated.

    >>> import autodiff_kernel as torch
    >>> x = torch.rand(3, dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradgradcheck(torch.sin, x)
    True
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    if check_undefined_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_undefined_grad=True requires check_rev_over_rev to be True")
    if check_batched_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_batched_grad=True requires check_rev_over_rev to be True")
    given = fd.as_tuple(inputs)
    if grad_outputs is None:
        outputs = fd.differentiable(func(*given))
        cotangents = tuple([random_cotangent(y, gen_non_contig_grad_outputs) for y in outputs])
    else:
        cotangents = fd.as_tuple(grad_outputs)
    count = len(given)

    def gradients(*args: Any) -> tuple[Any, ...]:
        ys = fd.differentiable(func(*args[:count]))
        return tuple(
            [g for g in _engine.grad(ys, fd.moving(args[:count]), args[count:], True, True, True) if g is not None]
        )  # fmt: skip

    return gradcheck(
        gradients, given + cotangents, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
        nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad, check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode, masked=masked,
    )  # fmt: skip


def random_cotangent(y: Tensor, scattered: bool) -> Any:
    """Random numbers between -1 and 1 in y's shape; `scattered`: not next to each other in memory."""
    real = y.real if y.is_complex() else y  # type: ignore[attr-defined]
    shape = (*y.shape, 2) if y.is_complex() else tuple(y.shape)
    made = FUNCTIONS["empty"](shape, dtype=real.dtype, device=y.device).uniform_(-1, 1)
    if y.is_complex():
        made = FUNCTIONS["view_as_complex"](made)
    if scattered and made.numel() > 1:
        wide = FUNCTIONS["empty"](*made.shape[:-1], 2 * made.shape[-1], dtype=made.dtype, device=y.device)
        made = wide[..., ::2].copy_(made)
    return made.requires_grad_()
