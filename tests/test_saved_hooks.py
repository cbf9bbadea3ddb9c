"""autograd.graph: hooks on saved values, what nodes keep under PyTorch's names, gradient edges."""

import gc
import threading
import weakref

import pytest

import autodiff_kernel as torch
from autodiff_kernel import cuda
from autodiff_kernel.autograd.graph import (
    GradientEdge,
    Node,
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    get_gradient_edge,
    increment_version,
    save_on_cpu,
    saved_tensors_hooks,
)
from autodiff_kernel.core import modes
from autodiff_kernel.views import graph


@pytest.fixture
def a():
    return torch.tensor([1.0, 2.0], requires_grad=True)


@pytest.fixture
def b():
    return torch.tensor([3.0, 4.0], requires_grad=True)


class Watch:
    """Hooks that note what they see."""

    def __init__(self):
        self.packed, self.unpacked, self.modes = [], [], []
        self.hooks = saved_tensors_hooks(self.pack, self.unpack)

    def pack(self, t):
        self.packed.append((t.tolist(), t.requires_grad, None if t.grad_fn is None else t.grad_fn.name()))
        self.modes.append(torch.is_grad_enabled())
        return t.detach()

    def unpack(self, t):
        self.unpacked.append(t.tolist())
        self.modes.append(torch.is_grad_enabled())
        return t


class Own(torch.autograd.Function):
    """Saves an input, a result, something in between, and nothing."""

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(x, y, x * 3, None)
        return y

    @staticmethod
    def backward(ctx, grad):
        x, y, between, nothing = ctx.saved_tensors
        assert nothing is None and between.tolist() == [3.0, 6.0]
        return grad * y


# ------------------------------------------------------------------------------------------------ what hooks see
@pytest.mark.parametrize(
    "operation, packed",
    [
        (lambda a, b: a * b, [([3, 4], True, None), ([1, 2], True, None)]),
        (lambda a, b: a / b, [([3, 4], True, None), ([1, 2], True, None)]),
        (lambda a, b: a.relu(), [([1, 2], True, "ReluBackward0")]),
        (lambda a, b: a**2, [([1, 2], True, None)]),
        (lambda a, b: a.sum(), []),
        (lambda a, b: torch.cat([a, b]), []),
        (lambda a, b: torch.ones(2) * a, [([1, 1], False, None)]),
        (lambda a, b: torch.where(a > 1, a, b), [([False, True], False, None)]),
        (lambda a, b: torch.ones(2) * 3, []),
        (lambda a, b: (a * 1).mul_(b), [([3, 4], True, None), ([1, 2], True, "MulBackward0")]),
    ],
)
def test_what_is_packed(a, b, operation, packed):
    watch = Watch()
    with watch.hooks:
        y = operation(a, b)
    assert watch.packed == packed and watch.unpacked == [] and not any(watch.modes)
    if y.requires_grad:
        with_hooks = torch.autograd.grad(y.sum(), [a, b], allow_unused=True)
        assert watch.unpacked == [values for values, _, _ in packed]
        plain = torch.autograd.grad(operation(a, b).sum(), [a, b], allow_unused=True)
        assert [g is None or g.tolist() for g in with_hooks] == [g is None or g.tolist() for g in plain]


def test_each_backward_unpacks_anew_until_the_values_are_freed(a):
    watch = Watch()
    with watch.hooks:
        y = a.exp().sum()
    y.backward(retain_graph=True)
    y.backward()
    assert len(watch.unpacked) == 2 and a.grad.tolist() == [2 * v for v in watch.unpacked[0]]
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_hooks_on_what_a_function_saves(a):
    watch = Watch()
    with watch.hooks:
        y = Own.apply(a)
    e = y.tolist()
    assert watch.packed == [([1, 2], True, None), (e, True, "OwnBackward"), ([3, 6], False, None)]
    (g,) = torch.autograd.grad(y.sum(), a, create_graph=True)
    assert watch.unpacked == [[1, 2], e, [3, 6]]
    assert torch.autograd.grad(g.sum(), a)[0].tolist() == pytest.approx(e)


def test_higher_order_through_unpacked_values(a, b):
    watch = Watch()
    with watch.hooks:
        y = (a * b).exp().sum()
    (g,) = torch.autograd.grad(y, a, create_graph=True)
    (gg,) = torch.autograd.grad(g.sum(), b)
    expected = [(1 + x * z) * t for x, z, t in zip([1, 2], [3, 4], torch.tensor([3.0, 8.0]).exp().tolist())]
    assert gg.tolist() == pytest.approx(expected, rel=1e-6)


def test_what_hooks_return_is_computed_with(a):
    with saved_tensors_hooks(lambda t: t.detach() * 10, lambda t: t):
        y = (a * a).sum()
    y.backward()
    assert a.grad.tolist() == [20.0, 40.0]
    a.grad = None
    with saved_tensors_hooks(lambda t: t.detach().half(), lambda t: t.float()):  # smaller while it waits
        y = (a * a).sum()
    y.backward()
    assert a.grad.tolist() == [2.0, 4.0]


def test_nobody_guards_what_hooks_keep(a):
    with saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        h = a * 1
        y = h * h
    h.add_(1)
    y.sum().backward()
    assert a.grad.tolist() == [2.0, 4.0]


def test_only_the_innermost_hooks_work_and_only_on_their_thread(a):
    outer, inner = Watch(), Watch()
    with outer.hooks:
        with inner.hooks:
            a * a
        a.exp()
        t = threading.Thread(target=lambda: a * a)
        t.start()
        t.join()
    a * a
    assert (len(inner.packed), len(outer.packed)) == (2, 1)
    assert not modes.special[0]


def test_errors_of_hooks(a, b):
    def spoil(t):
        t.add_(1)
        return t

    def product(pack, unpack):
        with saved_tensors_hooks(pack, unpack):
            return (a * b).sum()

    with pytest.raises(RuntimeError, match="A saved tensor pack hook is modifying its input in place"):
        with saved_tensors_hooks(spoil, lambda t: t):
            (a * 1) * (b * 1)
    with pytest.raises(TypeError, match="Output of saved tensor unpack_hook expected to be a Tensor but got result of "
                                        "type int"):  # fmt: skip
        product(lambda t: 5, lambda x: x).backward()
    with pytest.raises(
        RuntimeError, match=r"The size of tensor a \(2\) must match the size of tensor b \(3\)"
    ):
        product(lambda t: 5, lambda x: torch.ones(3)).backward()
    with pytest.raises(ZeroDivisionError):
        product(lambda t: 1 / 0, lambda x: x)
    with pytest.raises(ZeroDivisionError):
        product(lambda t: 5, lambda x: 1 / 0).backward()
    with pytest.raises(TypeError, match="must be callable, not int"):
        product(5, 6)
    assert torch.is_grad_enabled() and not modes.special[0]
    assert torch.autograd.grad((a * b).sum(), a)[0].tolist() == [3.0, 4.0]


def test_disabled_hooks(a):
    with pytest.raises(RuntimeError, match="no hooks here"), disable_saved_tensors_hooks("no hooks here"):
        with save_on_cpu():
            pass
    with pytest.raises(RuntimeError, match="not now"), Watch().hooks:
        with disable_saved_tensors_hooks("not now"):
            pass
    with Watch().hooks:
        a * a
    assert not modes.special[0]


def test_no_gradients_no_hooks(a):
    watch = Watch()
    with torch.no_grad(), watch.hooks:
        a * a
    assert watch.packed == []


def test_pictures_say_what_hooks_hold(a):
    with saved_tensors_hooks(lambda t: t, lambda t: t):
        y = Own.apply(a).exp()
    text = str(graph(y, saved=True, namespace={"a": a, "y": y}))
    assert "saved 1: packed by a hook" in text and "output: packed by a hook" in text


def test_hooks_close_no_cycles(a):
    gc.collect()
    gc.disable()
    try:
        with saved_tensors_hooks(lambda t: t, lambda t: t), save_on_cpu():
            y = Own.apply(a).exp()
        with saved_tensors_hooks(lambda t: t, lambda t: t):
            z = y.sigmoid()
        refs = [weakref.ref(z.node), weakref.ref(y.node)]
        del y, z
        assert [r() for r in refs] == [None, None]
    finally:
        gc.enable()


# ------------------------------------------------------------------------------------------------ on the CPU
def test_save_on_cpu(a):
    with save_on_cpu(pin_memory=True):
        y = (a * a).sum()
    y.backward()
    assert a.grad.tolist() == [2.0, 4.0]


def test_values_wait_on_the_cpu_and_come_back(simulated_gpu):
    x = torch.ones(1000, device="cuda", requires_grad=True)
    before = cuda.memory_allocated()
    y = x.exp().exp().exp()
    plain = cuda.memory_allocated() - before
    del y
    with save_on_cpu():
        y = x.exp().exp().exp()
    assert cuda.memory_allocated() - before < plain
    y.sum().backward()
    assert x.grad.device.type == "cuda" and x.grad[0].item() == pytest.approx(1.571241e8, rel=1e-5)


@pytest.fixture
def simulated_gpu():
    from autodiff_kernel.core import device as devices

    devices.simulate(1)
    yield
    devices.simulate(0)


# ------------------------------------------------------------------------------------------------ nodes
def test_isinstance_knows_all_nodes(a):
    y = a * a
    assert isinstance(y.grad_fn, Node) and isinstance(y.grad_fn.next_functions[0][0], Node)
    assert isinstance(Own.apply(a).grad_fn, Node) and issubclass(type(y.grad_fn), Node)
    assert not isinstance(a, Node) and not isinstance(5, Node)
    with pytest.raises(TypeError, match="abstract"):
        Node()


@pytest.mark.parametrize(
    "operation, saved",
    [
        (lambda a, b, m: a * b, {"self": [1, 2], "other": [3, 4]}),
        (lambda a, b, m: a * torch.ones(2), {"self": None, "other": [1, 1]}),
        (lambda a, b, m: a**2, {"self": [1, 2], "exponent": 2}),
        (lambda a, b, m: a.sqrt(), {"result": [1, 1.4142135381698608]}),
        (lambda a, b, m: m @ m, {"self": [[1, 1], [1, 1]], "mat2": [[1, 1], [1, 1]]}),
        (lambda a, b, m: a.sum(), {}),
        (lambda a, b, m: torch.where(a > 1, a, b), {"condition": [False, True]}),
        (lambda a, b, m: torch.addmm(m, m, m), {"mat1": [[1, 1], [1, 1]], "mat2": [[1, 1], [1, 1]]}),
    ],
)
def test_what_a_node_saved(a, b, operation, saved):
    y = operation(a, b, torch.ones(2, 2, requires_grad=True))
    node = y.grad_fn
    assert {name for name in dir(node) if name.startswith("_saved_")} == {f"_saved_{name}" for name in saved}
    for name, value in saved.items():
        found = getattr(node, f"_saved_{name}")
        assert (found.tolist() if isinstance(found, torch.Tensor) else found) == value
    with pytest.raises(AttributeError):
        node._saved_mask  # noqa: B018
    y.sum().backward()
    for name in saved:
        with pytest.raises(RuntimeError, match="after they have already been freed"):
            getattr(node, f"_saved_{name}")


def test_saved_values_hang_in_the_graph_and_are_guarded(a):
    h = a * 2
    y = h * h
    assert (a * a).grad_fn._saved_self is a and y.grad_fn._saved_self.grad_fn is h.grad_fn
    assert a.exp().grad_fn._saved_result.grad_fn.name() == "ExpBackward0"
    h.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.grad_fn._saved_self  # noqa: B018


def test_hooks_on_one_saved_value(a):
    y = a * a
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t * 10, lambda t: t)
    with pytest.raises(RuntimeError, match="hooks have already been set"):
        y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)
    y.sum().backward()
    assert a.grad.tolist() == [11.0, 22.0]
    with pytest.raises(RuntimeError, match="after it has been freed"):
        y.grad_fn._raw_saved_other.register_hooks(lambda t: t, lambda t: t)
    with pytest.raises(RuntimeError, match="with value None is forbidden"):
        (a * 3).grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)


def test_increment_version(a):
    y = (a * a).sum()
    increment_version(a)
    assert a._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
    increment_version([a, a])
    assert a._version == 3
    with pytest.raises(RuntimeError, match="expect a Iterable"):
        increment_version(5)
    with pytest.raises(RuntimeError, match="each element of the iterable to be a tensor"):
        increment_version([5])


# ------------------------------------------------------------------------------------------------ edges
def test_edges_stand_for_tensors(a):
    h = a * 1
    y = (h * h).sum()
    edge, leaf, end = get_gradient_edge(h), get_gradient_edge(a), get_gradient_edge(y)
    assert edge.node is h.grad_fn and edge.output_nr == 0 and isinstance(edge, GradientEdge)
    assert [g.tolist() for g in torch.autograd.grad(y, [edge, leaf, h], retain_graph=True)] == [[2, 4]] * 3
    assert torch.autograd.grad(end, a, retain_graph=True)[0].tolist() == [2.0, 4.0]
    assert torch.autograd.grad(edge, a, torch.ones(2), retain_graph=True)[0].tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        torch.autograd.grad(edge, a)
    torch.autograd.backward(end, inputs=[leaf], retain_graph=True)
    y.backward(inputs=edge, retain_graph=True)
    torch.autograd.backward([end])
    assert a.grad.tolist() == [4.0, 8.0]
    with pytest.raises(RuntimeError, match="does not require gradients"):
        get_gradient_edge(torch.ones(2))


def test_edges_of_several_outputs_and_of_functions(a):
    x, y = a.unbind(0)
    product = x * y**2
    edges = [get_gradient_edge(y), get_gradient_edge(x)]
    assert [e.output_nr for e in edges] == [1, 0]
    del x, y
    assert [g.item() for g in torch.autograd.grad(product, edges)] == [4.0, 4.0]
    edge = get_gradient_edge(Own.apply(a))  # the edge alone keeps the graph
    (g,) = torch.autograd.grad(edge, a, torch.ones(2))
    assert g.tolist() == pytest.approx([2.718282, 7.389056], rel=1e-6)


def test_edges_know_their_dtype():
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.grad(get_gradient_edge((x * 2).sum()), x)[0].dtype == torch.float64
    y = (x * 2).float().sum()
    assert torch.autograd.grad(get_gradient_edge(y), x)[0].dtype == torch.float64


# ------------------------------------------------------------------------------------------------ written all the same
def cubes(a):
    h = a.clone()
    y = (h * h * h).sum()
    h[0].mul_(3.0)
    h.view(-1)[1] = 7.0
    return y + h.exp().sum()


def scalar(a):
    h = a.sum()
    y = h**3
    h.mul_(0.1)
    return y + h.exp().add_(1.0)


def own_result(a):
    y = a.exp()
    y.mul_(y.detach())
    return y.add_(1.0).sum()


def leaf(a):
    y = (a**2).sum()
    with torch.no_grad():
        a += 5
    return y


@pytest.mark.parametrize(
    "f, grad",
    [  # PyTorch's
        (cubes, [63.256611, 12.0]),
        (scalar, [27.134986, 27.134986]),
        (own_result, [7.389056, 54.598152]),
        (leaf, [2.0, 4.0]),
    ],
)
def test_saved_values_may_be_changed_where_that_is_allowed(f, grad, a):
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        f(a.clone()).backward()
    with allow_mutation_on_saved_tensors():
        f(a).backward()
    assert a.grad.tolist() == pytest.approx(grad, rel=1e-5)


def test_memory_is_copied_once_and_only_if_it_is_written(a):
    with allow_mutation_on_saved_tensors() as kept:
        h = a.clone()
        y = (h * h + h**2).sum()
        assert (len(kept.original), len(kept.cloned)) == (1, 0)
        h.mul_(2)
        h.mul_(2)
        assert (len(kept.original), len(kept.cloned)) == (0, 1)
        y.backward()
        assert len(kept.cloned) == 0  # freed with the graph
    assert a.grad.tolist() == [4.0, 8.0]


def test_allowed_mutation_under_derivatives_of_derivatives(a):
    with allow_mutation_on_saved_tensors():
        h = a.clone()
        y = (h**3).sum()
        h.zero_()
        g = torch.autograd.grad(y, a, create_graph=True)[0]
        g.sum().backward()
    assert (g.tolist(), a.grad.tolist()) == ([3.0, 12.0], [6.0, 12.0])


def test_what_was_allowed_ends_with_the_block(a):
    with allow_mutation_on_saved_tensors():
        h = a.clone()
        y = (h**2).sum()
        h.zero_()
        with (
            pytest.raises(RuntimeError, match="contexts cannot be nested"),
            allow_mutation_on_saved_tensors(),
        ):
            pass
    with pytest.raises(
        AssertionError, match="Trying to backward outside of the 'allow_mutation_on_saved_tensors'"
    ):
        y.backward()
    z = (h**2).sum()
    h.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()
