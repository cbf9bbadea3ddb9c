"""func and autograd.functional: forward mode, reverse mode, and each over the other."""

import threading

import pytest

import autodiff_kernel as torch
from autodiff_kernel import func
from autodiff_kernel.autograd import functional
from autodiff_kernel.core import levels

ONE = torch.tensor(1.0, dtype=torch.float64)


def f(x1, x2):
    return x1 * x2 + x1**2


def number(x):
    return torch.tensor(float(x), dtype=torch.float64)


@pytest.mark.parametrize("point, value, gradient", [((2, 3), 10, (7, 2)), ((3, 5), 24, (11, 3))])
def test_seed_function_three_ways(point, value, gradient):
    xs = [number(p).requires_grad_() for p in point]
    f(*xs).backward()
    assert tuple(x.grad.item() for x in xs) == gradient
    primals = tuple(number(p) for p in point)
    for seed, want in (((1, 0), gradient[0]), ((0, 1), gradient[1])):
        y, t = func.jvp(f, primals, tuple(number(s) for s in seed))
        assert (y.item(), t.item()) == (value, want)
    assert tuple(g.item() for g in func.grad(f, (0, 1))(*primals)) == gradient


def test_seed_hessian_both_ways():
    x = torch.tensor([2.0, 3.0])
    want = [[2, 1], [1, 0]]
    assert functional.hessian(lambda v: f(v[0], v[1]), x).tolist() == want
    assert (
        functional.hessian(lambda v: f(v[0], v[1]), x, outer_jacobian_strategy="forward-mode").tolist()
        == want
    )
    assert func.hessian(lambda v: f(v[0], v[1]))(x).tolist() == want
    x1, x2 = number(2).requires_grad_(), number(3).requires_grad_()
    g = torch.autograd.grad(f(x1, x2), (x1, x2), create_graph=True)
    rows = [
        [
            v.item()
            for v in torch.autograd.grad(
                d, (x1, x2), retain_graph=True, allow_unused=True, materialize_grads=True
            )
        ]
        for d in g
    ]
    assert rows == want
    pair = functional.hessian(f, (torch.tensor(2.0), torch.tensor(3.0)))
    assert [[v.item() for v in row] for row in pair] == want


def derivative(g):
    return lambda x: func.jvp(g, (x,), (ONE,))[1]


def test_perturbations_are_not_confused():
    assert derivative(lambda x: x * derivative(lambda y: x + y)(ONE))(ONE).item() == 1


def test_orders_of_forward_mode():
    cube = lambda x: x**3  # noqa: E731
    two = number(2)
    d1, d2, d3 = derivative(cube), derivative(derivative(cube)), derivative(derivative(derivative(cube)))
    assert [d(two).item() for d in (d1, d2, d3)] == [12, 12, 6]


def test_forward_and_reverse_over_each_other():
    g = lambda x: (x**4).exp() * 1e-3  # noqa: E731
    x = number(0.9)
    ways = [
        func.grad(func.grad(func.grad(g))),
        derivative(derivative(func.grad(g))),
        func.grad(derivative(func.grad(g))),
        derivative(func.grad(func.grad(g))),
        derivative(derivative(derivative(g))),
    ]
    values = [w(x).item() for w in ways]
    assert values == pytest.approx([values[0]] * 5, rel=1e-12)
    assert all(not w(x).requires_grad for w in ways)


def test_reverse_over_forward_by_backward():
    x = number(2).requires_grad_()
    derivative(lambda z: z * z * z)(x).backward()
    assert x.grad.item() == 12


def test_vjp_and_jacobians():
    x = torch.tensor([1.0, 2.0])
    y, pull = func.vjp(lambda v: v * v, x)
    assert y.tolist() == [1, 4] and pull(torch.tensor([1.0, 10.0]))[0].tolist() == [2, 40]
    want = [[2, 0], [0, 4]]
    assert func.jacrev(lambda v: v * v)(x).tolist() == want
    assert func.jacfwd(lambda v: v * v)(x).tolist() == want
    assert functional.jacobian(lambda v: v * v, x).tolist() == want
    assert functional.jacobian(lambda v: v * v, x, strategy="forward-mode").tolist() == want


def test_closed_over_parameters_keep_their_gradient():
    w = number(3).requires_grad_()
    func.grad(lambda x: w * x * x)(number(2)).backward()
    assert w.grad.item() == 4


def test_products():
    x, v = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0])
    cube = lambda t: (t**3).sum()  # noqa: E731
    assert functional.hvp(cube, x, v)[1].tolist() == [6, 120]
    assert functional.vhp(cube, x, v)[1].tolist() == [6, 120]
    assert functional.jvp(lambda t: t * t, x, v)[1].tolist() == [2, 40]
    assert functional.vjp(lambda t: t * t, x, v)[1].tolist() == [2, 40]


def test_bad_input():
    with pytest.raises(TypeError, match="must be either a Tensor or a tuple of Tensors"):
        functional.jacobian(lambda x: x, 3.0)
    with pytest.raises(RuntimeError, match="single element"):
        functional.hessian(lambda x: x * 2, torch.ones(2))
    with pytest.raises(RuntimeError, match="does not require gradients"):
        functional.jacobian(lambda x: torch.ones(2), torch.ones(2), strict=True)
    with pytest.raises(RuntimeError, match="scalar Tensor"):
        func.grad(lambda x: x * 2)(torch.ones(2))
    with pytest.raises(RuntimeError, match="tuple"):
        func.jvp(lambda x: x, torch.ones(2), torch.ones(2))


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: torch.func.grad(lambda x: x)(1.0), ValueError, "must be Tensor, got <class 'float'>"),
        (lambda: torch.func.grad(lambda x: x)([torch.ones(()), 2]), ValueError, "got <class 'int'>"),
        (lambda: torch.func.grad(lambda x: x, argnums=3)(torch.ones(())), RuntimeError, "only 1 positional"),
    ],
)
def test_what_cannot_be_differentiated(call, error, said):
    with pytest.raises(error, match=said):
        call()


def test_arguments_are_counted_from_the_end_too():
    f = torch.func.grad(lambda x, y: x * y, argnums=-1)
    assert f(torch.tensor(2.0), torch.tensor(3.0)).item() == 2


# ------------------------------------------------------------------------------------------------ what is refused inside
class Old(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2

    @staticmethod
    def jvp(ctx, t):
        return t * 2


class BackwardByOld(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        return Old.apply(g)


TRANSFORMS = {
    "grad": lambda f, x: func.grad(lambda x: f(x).sum())(x),
    "vjp": lambda f, x: func.vjp(f, x)[0],
    "jvp": lambda f, x: func.jvp(f, (x,), (x,)),
    "jacrev": lambda f, x: func.jacrev(f)(x),
    "jacfwd": lambda f, x: func.jacfwd(f)(x),
    "vmap": lambda f, x: func.vmap(f)(x),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_function_without_setup_context_is_refused(name):
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match="must override the setup_context staticmethod"):
        TRANSFORMS[name](Old.apply, x)
    assert not levels.is_transforming()
    assert torch.autograd.functional.jacobian(Old.apply, x).tolist() == [[2, 0], [0, 2]]
    assert func.linearize(Old.apply, x)[1](x).tolist() == [2, 2]


def test_a_backward_may_use_such_a_function_outside_of_the_transformation():
    x = torch.ones(2)
    assert func.vjp(BackwardByOld.apply, x)[1](x)[0].tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="must override the setup_context staticmethod"):
        func.grad(lambda x: BackwardByOld.apply(x).sum())(x)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_backward_inside_is_refused(name):
    def f(x):
        (leaf * 2).sum().backward()
        return x * 1

    leaf = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="backward\\(\\) called inside a functorch transform"):
        TRANSFORMS[name](f, torch.ones(2))
    assert leaf.grad is None
    (leaf * 2).sum().backward()
    assert leaf.grad.tolist() == [2, 2]


def test_autograd_grad_inside_is_none_of_that():
    def f(x):
        (g,) = torch.autograd.grad((leaf**2).sum(), leaf)
        return x * g

    leaf = torch.ones(2, requires_grad=True)
    assert func.grad(lambda x: f(x).sum())(torch.ones(2)).tolist() == [2, 2]


def test_another_threads_backward_is_not_refused():
    leaf = torch.ones(2, requires_grad=True)

    def f(x):
        other = threading.Thread(target=lambda: (leaf * 2).sum().backward())
        other.start()
        other.join()
        return x.sum()

    func.grad(f)(torch.ones(2))
    assert leaf.grad.tolist() == [2, 2]
