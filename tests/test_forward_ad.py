"""autograd.forward_ad: dual tensors by hand. Numbers and messages are PyTorch's (2.13), unless a test says otherwise."""

import copy
import threading

import numpy as np
import pytest
from rule_cases import Case, Draw, all_cases
from rule_trial import Trial, close, inner_all, numpy, tensors

import autodiff_kernel as torch
import autodiff_kernel.autograd.forward_ad as fwAD
from autodiff_kernel import func
from autodiff_kernel.core import late
from autodiff_kernel.core.op import TABLE
from autodiff_kernel.core.tensor import Tensor, wrap

CASES = all_cases()


def pair(*direction):
    """The dual of [1, 2] that moves along [3, 4] (or along `direction`), in memory of its own."""
    return fwAD.make_dual(torch.tensor([1.0, 2.0]), torch.tensor(direction or (3.0, 4.0)))


def lists(x):
    """Value and tangent as lists."""
    p, t = fwAD.unpack_dual(x)
    return p.tolist(), None if t is None else t.tolist()


# ------------------------------------------------------------------------------------------------ levels
def test_the_seed_example():
    with fwAD.dual_level():
        for direction, slope in (((1.0, 0.0), 7.0), ((0.0, 1.0), 2.0)):
            x1, x2 = (fwAD.make_dual(torch.tensor(v), torch.tensor(d)) for v, d in zip((2.0, 3.0), direction))
            assert lists(x1 * x2 + x1**2) == (10.0, slope)


def test_unpacked_is_a_named_tuple():
    with fwAD.dual_level() as level:
        d = pair()
        unpacked = fwAD.unpack_dual(d, level=level)
    assert level == 0
    assert isinstance(unpacked, fwAD.UnpackedDualTensor) and unpacked._fields == ("primal", "tangent")
    assert fwAD.unpack_dual(torch.ones(2)).tangent is None


def test_entering_and_leaving_by_hand():
    level = fwAD.enter_dual_level()
    try:
        assert lists(pair() * 2) == ([2.0, 4.0], [6.0, 8.0])
        with pytest.raises(RuntimeError, match="not the last one that was created"):
            fwAD.exit_dual_level(level=3)
    finally:
        fwAD.exit_dual_level(level=level)
    with pytest.raises(RuntimeError, match="Dual level must be a positive number"):
        fwAD.exit_dual_level()


def test_levels_do_not_nest_and_the_refusal_leaves_the_outer_one_open():
    with fwAD.dual_level():
        with pytest.raises(RuntimeError, match="Nested forward mode AD is not supported at the moment"):
            with fwAD.dual_level():
                pass
        assert lists(pair()) == ([1.0, 2.0], [3.0, 4.0])


def test_an_exception_closes_the_level():
    with pytest.raises(ValueError), fwAD.dual_level():
        raise ValueError
    with fwAD.dual_level() as level:
        assert level == 0


def test_a_level_decorates():
    @fwAD.dual_level()
    def double():
        return lists(pair() * 2)

    assert double() == double() == ([2.0, 4.0], [6.0, 8.0])


def test_tangents_vanish_with_their_level():
    with fwAD.dual_level():
        y = pair() * 2
    assert fwAD.unpack_dual(y).tangent is None
    with fwAD.dual_level():
        assert lists(y) == ([2.0, 4.0], None)
        assert lists(y * 2) == ([4.0, 8.0], None)
        assert lists(y * pair()) == ([2.0, 8.0], [6.0, 16.0])


def test_another_thread_sees_the_level():
    seen = []
    with fwAD.dual_level():
        d = pair()
        thread = threading.Thread(target=lambda: seen.append(lists(d * 2)))
        thread.start()
        thread.join()
    assert seen == [([2.0, 4.0], [6.0, 8.0])]


# ------------------------------------------------------------------------------------------------ refusals
ONES = torch.ones(2)
REFUSED = [
    (lambda: fwAD.make_dual(ONES, torch.ones(3)), RuntimeError, "different size than that of the original Tensor"),
    (lambda: fwAD.make_dual(ONES, torch.ones(1)), RuntimeError, r"of size \[2\] .* of size \[1\]"),
    (lambda: fwAD.make_dual(torch.tensor([1, 2]), ONES), ValueError, "Expected primal to be floating point or complex, but"),
    (lambda: fwAD.make_dual(ONES, torch.tensor([1, 2])), ValueError, "Expected tangent to be floating point or complex"),
    (lambda: fwAD.make_dual(ONES, torch.tensor([True, True])), ValueError, "but got: torch.bool"),
    (lambda: fwAD.make_dual(1.0, ONES), AttributeError, "'float' object has no attribute 'is_floating_point'"),
    (lambda: fwAD.make_dual(ONES, None), AttributeError, "'NoneType' object"),
    (lambda: fwAD.make_dual(pair(), ONES), RuntimeError, "already has a forward gradient at the same level 0"),
    (lambda: fwAD.make_dual(ONES, pair()), RuntimeError, "itself has a forward gradient at the same level0"),
    (lambda: fwAD.make_dual(ONES, ONES, level=1), RuntimeError, "Invalid level given to _make_dual"),
    (lambda: fwAD.unpack_dual(ONES, level=1), RuntimeError, "Invalid level given to _fw_primal"),
    (lambda: fwAD.unpack_dual(1.0), TypeError, r"_unpack_dual\(\): argument 'dual' \(position 1\) must be Tensor, not float"),
    (lambda: torch.mul(pair(), 2, out=torch.zeros(2)), NotImplementedError, "because it is an out= function"),
    (lambda: pair().detach_(), RuntimeError, "Can't detach views in-place"),
]  # fmt: skip


@pytest.mark.parametrize("action, kind, words", REFUSED)
def test_refusals(action, kind, words):
    with fwAD.dual_level(), pytest.raises(kind, match=words):
        action()


def test_no_dual_tensors_outside_of_levels():
    with pytest.raises(RuntimeError, match="no level exists, make sure to enter_dual_level") as caught:
        fwAD.make_dual(torch.ones(2), torch.ones(2))
    assert "dual_level()" in caught.value.explanation.cure


# ------------------------------------------------------------------------------------------------ what carries tangents
def test_what_loses_the_tangent_and_what_keeps_it():
    with fwAD.dual_level():
        d = pair()
        for lost in (
            d.detach(),
            d.data,
            d > 1,
            d.long(),
            torch.zeros_like(d),
            d.new_zeros(2),
            copy.deepcopy(d),
        ):
            assert fwAD.unpack_dual(lost).tangent is None
        assert d.tolist() == d.numpy().tolist() == [1.0, 2.0]
        assert repr(d) == "tensor([1., 2.], tangent=tensor([3., 4.]))"
        assert fwAD.unpack_dual(torch.tensor([d[0]])).tangent is None
        assert lists(d.clone()) == ([1.0, 2.0], [3.0, 4.0])
        assert lists(d.sign()) == ([1.0, 1.0], [0.0, 0.0])
        assert fwAD.unpack_dual(d.double()).tangent.dtype == torch.float64
        with torch.no_grad():  # which is about graphs
            assert lists(d * 2) == ([2.0, 4.0], [6.0, 8.0])
        with fwAD._set_fwd_grad_enabled(False):
            assert lists(d * 2) == ([2.0, 4.0], None)
            assert not fwAD._is_fwd_grad_enabled()
        assert lists(d * 2)[1] == [6.0, 8.0]


def test_lists_and_several_outputs():
    with fwAD.dual_level():
        d, x = pair(), torch.tensor([1.0, 2.0])
        assert lists(torch.stack([d, x])) == ([[1.0, 2.0], [1.0, 2.0]], [[3.0, 4.0], [0.0, 0.0]])
        assert [lists(v) for v in d.unbind()] == [(1.0, 3.0), (2.0, 4.0)]
        assert lists(d.max(0)[0]) == (2.0, 4.0)
        assert lists(torch.where(x > 1, d, x)) == ([1.0, 2.0], [0.0, 4.0])
        assert lists(d[[0, 0]]) == ([1.0, 1.0], [3.0, 3.0])
        assert lists(d @ d) == (5.0, 22.0)
        assert lists(d.view(1, 2).t()) == ([[1.0], [2.0]], [[3.0], [4.0]])


def test_what_does_not_move_is_still_beside_infinity():
    with fwAD.dual_level():
        d = fwAD.make_dual(torch.tensor([1.0]), torch.tensor([2.0]))
        far = torch.tensor([float("inf"), float("nan")])
        assert lists(torch.cat([d, far]))[1] == [2.0, 0.0, 0.0]


def test_complex_values():
    with fwAD.dual_level():
        z = fwAD.make_dual(torch.tensor([1 + 2j]), torch.tensor([1j]))
        assert lists(z * z) == ([-3 + 4j], [-4 + 2j])


# ------------------------------------------------------------------------------------------------ in place
def test_in_place_changes_value_and_tangent_in_their_memory():
    with fwAD.dual_level():
        x, v = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
        d = fwAD.make_dual(x, v)
        d.mul_(2)
        assert lists(d) == ([2.0, 4.0], [6.0, 8.0])
        assert (x.tolist(), v.tolist()) == ([2.0, 4.0], [6.0, 8.0])
        assert fwAD.unpack_dual(d).tangent is v
        assert lists(x) == ([2.0, 4.0], None)
        assert d._is_view() and d._base is x
        d.mul_(d)
        # PyTorch 2.13 overwrites the tangent while it reads it, and gives [36, 160]
        assert lists(d) == ([4.0, 16.0], [24.0, 64.0])
        d[0] = 5.0
        assert lists(d) == ([5.0, 16.0], [0.0, 64.0])
        d.zero_()
        assert lists(d) == ([0.0, 0.0], [0.0, 0.0])


def test_in_place_on_a_result_leaves_the_tangents_it_came_from():
    with fwAD.dual_level():
        d = pair()
        for y in (d + 1, 1 * d, d.clone(), d.contiguous() + 0, torch.cat([d]), d.expand(2, 2) + 0):
            y.mul_(2)
        assert lists(d) == ([1.0, 2.0], [3.0, 4.0])
        s = fwAD.make_dual(torch.tensor(1.0), torch.tensor(1.0))
        y = s + 1
        y.mul_(2)
        assert (lists(s), lists(y)) == ((1.0, 1.0), (4.0, 2.0))


def test_views_of_duals():
    with fwAD.dual_level():
        d = pair()
        first, turned = d[0], d.view(1, 2)
        first.mul_(10)
        assert lists(d) == ([10.0, 2.0], [30.0, 4.0])
        assert lists(turned) == ([[10.0, 2.0]], [[30.0, 4.0]])
        d.mul_(10)
        assert lists(first) == (100.0, 300.0)
        y = torch.ones(2, 2) * pair()  # a tangent that was stretched
        column = y[:, 1]
        y.add_(pair())
        assert lists(column) == ([4.0, 4.0], [8.0, 8.0])


def test_an_expanded_tangent_is_written_element_by_element():
    with fwAD.dual_level():
        d = fwAD.make_dual(torch.ones(2, 2), torch.tensor(1.0).expand(2, 2))
        d[0].mul_(3)
        assert lists(d) == ([[3.0, 3.0], [1.0, 1.0]], [[3.0, 3.0], [1.0, 1.0]])


def test_a_transposed_value_with_a_plain_tangent():
    with fwAD.dual_level():
        x = torch.arange(6.0).view(2, 3).t()
        d = fwAD.make_dual(x, torch.arange(6.0).view(3, 2))
        d.t().view(6)[1] = 7.0  # a view of the value's memory only if the tangent lies the same way
        assert lists(d) == ([[0.0, 3.0], [7.0, 4.0], [2.0, 5.0]], [[0.0, 1.0], [0.0, 3.0], [4.0, 5.0]])


def test_a_plain_tensor_takes_dual_values():
    with fwAD.dual_level():
        d = pair()
        out = torch.zeros(2)
        turned = out.view(2, 1)
        for i in range(2):
            out[i] = d[i] ** 2
        assert lists(out) == ([1.0, 4.0], [6.0, 16.0])
        assert lists(turned) == ([[1.0], [4.0]], [[6.0], [16.0]])
        part = torch.ones(2)
        part[0].mul_(d[0])
        assert lists(part) == ([1.0, 1.0], [3.0, 0.0])
        filled, masked, copied, whole = torch.zeros(2), torch.zeros(2), torch.zeros(2), torch.zeros(2)
        assert lists(filled.fill_(d[0])) == ([1.0, 1.0], [3.0, 3.0])
        assert lists(masked.masked_fill_(torch.tensor([True, False]), d[1])) == ([2.0, 0.0], [4.0, 0.0])
        assert lists(copied.copy_(d)) == ([1.0, 2.0], [3.0, 4.0])
        assert lists(whole.addcmul_(d, d, value=2)) == ([2.0, 8.0], [12.0, 32.0])
        numbers = torch.zeros(2, dtype=torch.long)
        assert lists(numbers.copy_(d)) == ([1, 2], None)
    assert (out * 1).tolist() == [1.0, 4.0]
    assert type(copied) is type(whole) is Tensor  # with the level, what it made of them ends too
    assert fwAD.unpack_dual(part).tangent is None


def test_a_parameter_stays_one():
    p = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    with fwAD.dual_level():
        with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
            fwAD.make_dual(p, torch.ones(2)).mul_(2)
        with torch.no_grad():
            before = p[:1]
            p.mul_(pair())
            after = p[1:]
        assert [lists(x) for x in (p, before, after)] == [
            ([1.0, 4.0], [3.0, 8.0]),
            ([1.0], [3.0]),
            ([4.0], [8.0]),
        ]
    assert isinstance(p, torch.nn.Parameter)
    with torch.no_grad():
        before.mul_(5)
        after.mul_(5)
    assert p.tolist() == [5.0, 20.0]
    (p * 2).sum().backward()
    assert p.grad.tolist() == [2.0, 2.0]


# ------------------------------------------------------------------------------------------------ with reverse mode
def test_values_and_tangents_have_graphs():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    v = torch.tensor([3.0, 4.0], requires_grad=True)
    with fwAD.dual_level():
        d = fwAD.make_dual(x, v)
        assert not d.is_leaf and d.grad_fn.name() == "ViewBackward0"
        y = d * d
        t = fwAD.unpack_dual(y).tangent
        assert [g.tolist() for g in torch.autograd.grad(t.sum(), (x, v), retain_graph=True)] == [
            [6.0, 8.0],
            [2.0, 4.0],
        ]
        assert torch.autograd.grad(y.sum(), x)[0].tolist() == [2.0, 4.0]


def test_the_gradient_of_a_dual_is_dual():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with fwAD.dual_level():
        d = fwAD.make_dual(x, torch.tensor([3.0, 4.0]))
        for create_graph in (False, True):
            for wanted in (x, d):
                (g,) = torch.autograd.grad((d**3).sum(), wanted, create_graph=create_graph)
                assert lists(g) == (
                    [3.0, 12.0],
                    [18.0, 48.0],
                )  # the Hessian's diagonal 6x times the direction
        (d**3).sum().backward()
        assert lists(x.grad) == ([3.0, 12.0], None)
        x.grad = None
        (d**3).sum().backward(create_graph=True)
        assert lists(x.grad) == ([3.0, 12.0], [18.0, 48.0])
        leaf = pair().requires_grad_()
        (g,) = torch.autograd.grad((leaf**3).sum(), leaf, create_graph=True)
        assert lists(g) == ([3.0, 12.0], [18.0, 48.0])
        assert torch.autograd.grad(fwAD.unpack_dual(g).tangent.sum(), leaf)[0].tolist() == [18.0, 24.0]
        (g,) = torch.autograd.grad(x**2, x, pair() * 0 + pair())
        assert lists(g) == ([2.0, 8.0], [6.0, 16.0])
    with pytest.raises(RuntimeError, match="a second time"):
        y = (d**3).sum()
        y.backward()
        y.backward()


def test_in_place_with_graphs():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    v = torch.tensor([3.0, 4.0], requires_grad=True)
    with fwAD.dual_level():
        d = fwAD.make_dual(x * 1, v * 1)
        d[0].mul_(x[1])
        y, t = fwAD.unpack_dual(d.sum())
        assert (y.item(), t.item()) == (4.0, 10.0)
        assert [g.tolist() for g in torch.autograd.grad(t, (x, v), retain_graph=True)] == [
            [0.0, 3.0],
            [2.0, 1.0],
        ]
        assert torch.autograd.grad(y, x)[0].tolist() == [2.0, 2.0]
        out = torch.zeros(2, requires_grad=True) * 1
        out[0] = x[1] * pair()[0]
        y, t = fwAD.unpack_dual(out)
        assert (y.tolist(), t.tolist()) == ([2.0, 0.0], [6.0, 0.0])
        assert torch.autograd.grad(t.sum(), x)[0].tolist() == [0.0, 3.0]


# ------------------------------------------------------------------------------------------------ no confusion
def slope(f, x=1.0):
    """df/dx by func.jvp."""
    return func.jvp(f, (torch.tensor(x),), (torch.tensor(1.0),))[1]


def by_hand(f, x=1.0):
    """df/dx by forward_ad, in the level that is open."""
    y = f(fwAD.make_dual(x if isinstance(x, Tensor) else torch.tensor(x), torch.tensor(1.0)))
    p, t = fwAD.unpack_dual(y)
    return torch.zeros(()) if t is None else t


def test_the_classical_example():
    """d/dx (x d/dy (x + y)) at x = y = 1 is 1; who confuses the two perturbations gets 2."""
    assert slope(lambda x: x * slope(lambda y: x + y)).item() == 1.0
    with fwAD.dual_level():
        assert by_hand(lambda x: x * slope(lambda y: x + y)).item() == 1.0

    def outer(x):
        with fwAD.dual_level():
            return x * by_hand(lambda y: x + y)

    assert slope(outer).item() == 1.0
    assert func.grad(lambda x: x * slope(lambda y: x + y))(torch.tensor(1.0)).item() == 1.0
    with fwAD.dual_level():
        assert by_hand(lambda x: x * func.grad(lambda y: x + y)(torch.tensor(1.0))).item() == 1.0


def test_three_levels_in_any_order():
    """d/dx d/dy d/dz (x y z)² = 8 x y z."""
    f = lambda x, y, z: (x * y * z) ** 2  # noqa: E731
    point = 8.0 * 2 * 3 * 5
    assert slope(lambda x: slope(lambda y: slope(lambda z: f(x, y, z), 5.0), 3.0), 2.0).item() == point
    with fwAD.dual_level():
        assert by_hand(lambda x: slope(lambda y: slope(lambda z: f(x, y, z), 5.0), 3.0), 2.0).item() == point
        # a dual tensor of the outer level made inside of the inner one, from values that move in the inner one
        inner = slope(lambda y: by_hand(lambda x: slope(lambda z: f(x, y, z), 5.0), 2.0), 3.0)
        assert inner.item() == point
        assert slope(lambda y: by_hand(lambda x: (x * y) ** 2, y), 3.0).item() == 3 * 2 * 9.0 + 2 * 9.0 - 18.0


def test_a_dual_that_escaped_its_jvp_is_constant_in_the_next_one():
    kept = []
    func.jvp(lambda x: kept.append(x) or x, (torch.tensor(2.0),), (torch.tensor(1.0),))
    assert slope(lambda y: y * kept[0]).item() == 2.0


def test_levels_in_place_do_not_mix():
    def f(x):
        def g(y):
            out = torch.zeros(2)
            out[0] = x * y
            out[1] = x
            out.mul_(x)
            return out

        return func.jvp(g, (torch.tensor(3.0),), (torch.tensor(1.0),))

    (value, along_y), (along_x, along_both) = func.jvp(f, (torch.tensor(2.0),), (torch.tensor(1.0),))
    assert value.tolist() == [12.0, 4.0]  # x²y, x²
    assert along_y.tolist() == [4.0, 0.0]
    assert along_x.tolist() == [12.0, 4.0]
    assert along_both.tolist() == [4.0, 0.0]


def test_func_inside_of_a_level():
    x = torch.tensor([1.0, 2.0])
    with fwAD.dual_level():
        d = pair()
        assert lists(func.grad(lambda q: (q**3).sum())(d)) == ([3.0, 12.0], [18.0, 48.0])
        assert lists(func.vjp(lambda q: q**3, d)[1](torch.ones(2))[0]) == ([3.0, 12.0], [18.0, 48.0])
        assert lists(func.jvp(lambda q: q * d, (x,), (torch.ones(2),))[1]) == ([1.0, 2.0], [3.0, 4.0])
        assert lists(func.hessian(lambda q: (q * d * q).sum())(x)) == (
            [[2.0, 0.0], [0.0, 4.0]],
            [[6.0, 0.0], [0.0, 8.0]],
        )


# ------------------------------------------------------------------------------------------------ every row
def test_every_differentiable_row_has_a_forward_mode():
    late.load_all()
    assert [name for name, op in TABLE.items() if op.differentiable and not (op.mode or op.jvp)] == []


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_row(case: Case) -> None:
    """The tangents against central differences; and they are memory of their own, unless the row is a view."""
    for style in ("plain", "0-d", "transposed"):
        t = Trial(case, Draw(style, 1))
        if not t.useful():
            continue
        with fwAD.dual_level():
            xs = tensors(t.xs)
            ds = {i: wrap(np.asarray(t.ds[i]).copy()) for i in t.moving}
            duals = [fwAD.make_dual(x, ds[i]) if i in ds else x for i, x in enumerate(xs)]
            found = [fwAD.unpack_dual(y) for y in t.call(duals)]
            inputs = [fwAD.unpack_dual(duals[i]).tangent for i in t.moving]
        got = inner_all(t.ws, [np.zeros(y.primal.shape) if y.tangent is None else y.tangent for y in found])
        scale = sum(float(np.abs(w).sum()) for w in t.ws if w is not None)
        close(got, t.numeric(), case.tolerance, scale)
        for y in found:
            if y.tangent is None or not y.tangent.numel():
                continue
            assert y.tangent.shape == y.primal.shape and y.tangent.dtype == y.primal.dtype
            shared = [np.shares_memory(numpy(y.tangent), numpy(v)) for v in inputs]
            viewed = [np.shares_memory(numpy(y.primal), numpy(xs[i])) for i in t.moving]
            assert shared == viewed and (t.op.view or not any(viewed))
            if any(viewed):
                assert y.tangent.stride() == y.primal.stride()


def test_a_tangent_that_is_a_leaf_is_not_changed_in_place():
    t = torch.ones(3, requires_grad=True)
    with fwAD.dual_level():
        d = fwAD.make_dual(torch.ones(3), t)
        for change in (lambda: d.mul_(2), lambda: d[0].mul_(2), lambda: d.copy_(torch.ones(3))):
            with pytest.raises(RuntimeError, match="leaf Variable that requires grad is being used"):
                change()
    assert t.tolist() == [1, 1, 1] and t.is_leaf


def test_detach_inside_nested_transformations_keeps_the_samples():
    f, x = torch.func, torch.tensor([1.0, 2.0])
    for cut in (lambda t: t.detach(), lambda t: t.data, lambda t: t.detach().clone()):
        assert f.vmap(f.jacfwd(lambda t, cut=cut: cut(t) * t))(x).tolist() == [1.0, 2.0]
        assert f.hessian(lambda t, cut=cut: (cut(t) * t).sum())(x).tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_no_array_is_taken_of_what_moves():
    f, x = torch.func, torch.tensor([1.0, 2.0])
    phrase = "Cannot access data pointer of Tensor that doesn't have storage"
    for take in (lambda t: t.numpy(), np.asarray, np.sin, lambda t: t.data_ptr()):
        for transform in (f.jacfwd, lambda g: f.vmap(f.jacfwd(g)), f.hessian):
            with pytest.raises(RuntimeError, match=phrase):
                transform(lambda t, take=take: (take(t), t.sum())[1])(x)
    with torch.autograd.forward_ad.dual_level():  # here an array is the value's, as in PyTorch
        assert torch.autograd.forward_ad.make_dual(x, x).numpy().tolist() == [1.0, 2.0]


def test_what_is_written_out_for_two_arrays_gives_what_the_rules_give():
    """Tangents are memory of their own, views of a dual number move with it, and wrong shapes say so as always."""
    f = torch.func
    x, w, b = torch.randn(3, 4).double(), torch.randn(5, 4).double(), torch.randn(5).double()
    dx, dw, db = (torch.randn_like(t) for t in (x, w, b))
    y, dy = f.jvp(lambda x, w, b: (x @ w.t() + b) * (x @ w.t()), (x, w, b), (dx, dw, db))
    h, dh = x @ w.t(), dx @ w.t() + x @ dw.t()
    assert torch.allclose(y, (h + b) * h) and torch.allclose(dy, (dh + db) * h + (h + b) * dh)
    for g in (lambda t: t + x, lambda t: x + t, lambda t: t - x):
        moved = f.jvp(g, (x,), (dx,))[1]
        assert torch.equal(moved, dx) and moved.data_ptr() != dx.data_ptr()

    def written(t):
        view = t.t()[0]
        view.mul_(3)
        return t * 1

    given = x.clone()
    out, rate = f.jvp(lambda t: written(t.clone()), (given,), (dx,))
    scale = torch.tensor([3.0, 1.0, 1.0, 1.0]).double()
    assert torch.equal(out, x * scale) and torch.equal(rate, dx * scale) and torch.equal(given, x)
    for wrong in (lambda t: t @ x, lambda t: t + b, lambda t: t.permute(0, 0), lambda t: t.view(5)):
        with pytest.raises(RuntimeError):
            f.jvp(wrong, (x,), (dx,))
    assert f.jvp(lambda t: t > x, (x,), (dx,))[1].tolist() == [[0.0] * 4] * 3
    assert f.jvp(lambda t: f.jvp(lambda u: u * u * t, (t,), (dx,))[1], (x,), (dx,))[1].allclose(
        4 * x * dx * dx
    )
