"""What a function under a transformation must not change in place; the answers are PyTorch's."""

import pytest

import autodiff_kernel as torch
from autodiff_kernel.func import grad, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap

X = torch.tensor([1.0, 2.0, 3.0])
CAPTURED = "would mutate a captured Tensor"
LEAF = "a leaf Variable that requires grad is being used in an in-place operation"


def transformations(f, x):
    """Ways to differentiate f at x."""
    return (
        lambda: grad(lambda z: f(z).sum())(x),
        lambda: jvp(f, (x,), (x,)),
        lambda: vjp(f, x),
        lambda: linearize(f, x),
        lambda: jacfwd(f)(x),
        lambda: jacrev(f)(x),
        lambda: hessian(lambda z: f(z).sum())(x),
    )


WRITES = {
    "number": lambda c, z: c.fill_(2.0),
    "of the input": lambda c, z: c.mul_(z),
    "scaled": lambda c, z: c.mul_(2),
    "part": lambda c, z: c[0].mul_(2),
    "item": lambda c, z: c.__setitem__(0, 9.0),
    "copy": lambda c, z: c.copy_(z),
    "shape": lambda c, z: c.t_(),
    "detached": lambda c, z: c.detach().zero_(),
}


@pytest.mark.parametrize("write", WRITES)
def test_what_a_function_captured_is_not_changed(write):
    c = torch.ones(3)

    def f(z):
        WRITES[write](c, z)
        return z * c

    for run in transformations(f, X):
        with pytest.raises(RuntimeError, match=CAPTURED):
            run()
        assert c.tolist() == [1, 1, 1] and c.grad_fn is None and type(c) is torch.Tensor
    f(X)  # by itself it may


def test_nor_filled_at_random():
    c = torch.ones(3)
    with pytest.raises(RuntimeError, match=CAPTURED):
        grad(lambda z: (c.normal_(), (z * c).sum())[1])(X)
    assert c.tolist() == [1, 1, 1]


def test_not_under_no_grad_nor_a_result_from_before():
    c = torch.ones(3, requires_grad=True) * 2
    held = [c]

    def f(z):
        with torch.no_grad():
            held[0].add_(1)
        return z * c

    for run in transformations(f, X):
        with pytest.raises(RuntimeError, match=CAPTURED):
            run()
    assert c.tolist() == [2, 2, 2]


def test_not_by_an_inner_derivative():
    def f(x):
        w = x * 1
        return grad(lambda y: (w.mul_(2) * y).sum())(x).sum()

    with pytest.raises(RuntimeError, match=CAPTURED):
        grad(f)(X)


def test_own_tensors_are_changed_as_ever():
    kept = []

    def f(z):
        out = torch.zeros(3)
        kept.append(out)
        out[0] = z[0] * z[1]
        out.mul_(2)
        y = z.clone()
        y.add_(out)
        return y

    rows = [[5.0, 2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    assert jacfwd(f)(X).tolist() == jacrev(f)(X).tolist() == rows
    assert grad(lambda z: f(z).sum())(X).tolist() == [5.0, 3.0, 1.0]


def test_vmap_alone_changes_what_it_captured():
    c = torch.ones(3)
    y = vmap(lambda z: (c.fill_(5.0), (z * c).sum())[1])(X)
    assert y.tolist() == [15.0, 30.0, 45.0] and c.tolist() == [5, 5, 5]


@pytest.mark.parametrize("x", (X, X.clone().requires_grad_(), X.clone().requires_grad_() * 2), ids=str)
def test_the_input_of_a_reverse_derivative_is_a_leaf(x):
    for f in (lambda z: z.mul_(2), lambda z: z[0].mul_(2), lambda z: z.t_()):
        with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
            grad(lambda z, f=f: f(z).sum())(x)
        with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
            vmap(grad(lambda z, f=f: f(z).sum()))(x[None])
    assert grad(lambda z: z.clone().mul_(2).sum())(x).tolist() == [2, 2, 2]


def test_forward_derivatives_change_their_input():
    v = torch.ones(3)
    y, dy = jvp(lambda z: z.add_(z), (v,), (torch.ones(3),))
    assert y.tolist() == dy.tolist() == v.tolist() == [2, 2, 2]
    assert jacfwd(lambda z: z.add_(torch.full_like(z, 2.0)) * z)(v).diagonal().tolist() == [8, 8, 8]
    assert linearize(lambda z: z.mul_(3), v)[1](torch.ones(3)).tolist() == [3, 3, 3]


def test_nothing_is_guarded_afterwards():
    c = torch.ones(3)
    with pytest.raises(ZeroDivisionError):
        grad(lambda z: c.sum() / 0 if False else 1 / 0)(X)
    c.mul_(2)
    assert c.tolist() == [2, 2, 2]


def test_an_interrupt_at_any_moment_leaves_no_transformation_open():
    """Stopped at each line of entering and leaving but a function's first one, in turn."""
    import sys

    from autodiff_kernel.core import captured, levels

    def run():
        vmap(grad(lambda z: (z * z).sum()))(X[None])

    def stopped_at(step):
        seen, fresh = 0, False

        def trace(frame, event, _):
            nonlocal seen, fresh
            if frame.f_code.co_filename not in (levels.__file__, captured.__file__):
                return trace if event == "call" and "autodiff_kernel" in frame.f_code.co_filename else None
            if event == "line" and not fresh:
                seen += 1
                if seen == step:
                    raise KeyboardInterrupt
            fresh = event == "call"
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            run()
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(before)
        return False

    run()
    step = 1
    while stopped_at(step):
        step += 1
        assert not captured.guarding and not levels.mapping and not levels.open_vmaps(), step
        assert not levels.is_differentiating() and vmap(lambda z: z * 2)(X).tolist() == [2, 4, 6]
    assert step > 20
