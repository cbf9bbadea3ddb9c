"""The graph and the walk: what is kept, what is freed, in which order, and that nothing is lost on the way."""

import gc
import pickle
import threading
import weakref

import pytest

import autodiff_kernel as torch
from autodiff_kernel.core import graph
from autodiff_kernel.core.graph import Node


def scalar(value):
    return torch.tensor(float(value), requires_grad=True)


def test_next_functions_reach_the_leaves():
    x1, x2 = scalar(2), scalar(3)
    y = x1 * x2 + x1**2
    assert y.grad_fn.name() == "AddBackward0"
    (left, number), (right, _) = y.grad_fn.next_functions
    assert (left.name(), right.name(), number) == ("MulBackward0", "PowBackward0", 0)
    assert left.next_functions[0][0].variable is x1 and left.next_functions[1][0].variable is x2
    assert right.next_functions[0][0] is left.next_functions[0][0]
    assert x1.grad_fn is None and x1.is_leaf and not y.is_leaf


def test_wrong_walks_give_other_numbers():
    a = scalar(1)
    b = a + a
    c = b * b
    d = c + b
    d.backward()
    assert a.grad.item() == 10  # 22 by recursion per edge, 20 or 12 without waiting


def test_a_million_operations_without_recursion():
    x = scalar(1)
    y = x
    for _ in range(500_000):
        y = y * 1.0
        y = y + x
    y.backward()
    assert x.grad.item() == 500_001


def test_reference_counting_alone_frees_the_graph():
    gc.disable()
    try:
        x = torch.ones(3, requires_grad=True)
        y = ((x * 2).exp() * x).sum()
        nodes = []
        stack = [y.grad_fn]
        while stack:
            n = stack.pop()
            nodes.append(weakref.ref(n))
            stack += [e for e, _ in n.next_functions if e is not None and e.op is not None]
        del stack, n, y
        assert [r() for r in nodes] == [None] * len(nodes)
        t = weakref.ref(x)
        del x
        assert t() is None
    finally:
        gc.enable()


def test_backward_frees_what_it_needs_no_more():
    x = torch.ones(1000, requires_grad=True)
    e = (x * 2).exp()
    kept = weakref.ref(e.raw) if hasattr(e.raw, "__weakref__") else None
    s = e.sum()
    node = s.grad_fn.next_functions[0][0]
    s.backward()
    assert node.y is None and kept is None
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        e.sum().backward()


def test_what_saves_nothing_can_be_walked_again():
    x = torch.ones(3, requires_grad=True)
    y = (x + 1).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_retain_graph():
    x = scalar(3)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 12


def test_gradients_never_alias():
    x, z = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    g = torch.tensor([1.0, 2.0])
    (x + z).backward(g)
    x.grad.add_(10)
    assert z.grad.tolist() == [1, 2] and g.tolist() == [1, 2]
    w = torch.ones(2, requires_grad=True)
    w.backward(g)
    w.grad.zero_()
    assert g.tolist() == [1, 2]
    v = torch.ones(2, 2, requires_grad=True)
    v.sum().backward()
    v.grad[0, 0] = 5
    assert v.grad.tolist() == [[5, 1], [1, 1]]


def test_partial_graphs():
    x, w = scalar(2), scalar(3)
    y = (x * w).exp() * x
    y.backward(inputs=[w], retain_graph=True)
    assert x.grad is None and w.grad is not None
    h = x * w
    out = h * h
    out.backward(inputs=[h])
    assert h.grad.item() == 12


def test_grad_of_an_inner_value():
    x = scalar(2)
    h = x * 3
    y = h * h
    gh, gx = torch.autograd.grad(y, [h, x])
    assert (gh.item(), gx.item()) == (12, 36)
    assert x.grad is None


def test_grad_visits_only_what_leads_to_the_inputs():
    x, w = scalar(2), scalar(3)
    h = w.exp()
    h.backward(retain_graph=False)  # w's branch is freed now
    y = x * x + h
    assert torch.autograd.grad(y, x)[0].item() == 4


def test_unused_input():
    x, w = scalar(2), scalar(3)
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        torch.autograd.grad(x * 2, [x, w])
    assert torch.autograd.grad(x * 2, [x, w], allow_unused=True)[1] is None
    assert torch.autograd.grad(x * 2, [x, w], materialize_grads=True)[1].item() == 0


def test_an_exception_in_a_hook_leaves_gradients_as_they_were():
    x, w = scalar(2), scalar(3)
    h = x * w
    h.register_hook(lambda g: 1 / 0)
    x.grad = torch.tensor(5.0)
    with pytest.raises(ZeroDivisionError):
        (h * 2).backward()
    assert x.grad.item() == 5 and w.grad is None


def test_hooks_and_retained_gradients():
    x = scalar(2)
    h = x * 3
    seen = []
    handle = h.register_hook(lambda g: seen.append(g.item()) or g * 10)
    h.retain_grad()
    (h * h).backward()
    assert seen == [12] and x.grad.item() == 360 and h.grad.item() == 120
    handle.remove()
    x.grad = None
    y = x * 3
    y.register_hook(lambda g: None)
    y.backward()
    assert x.grad.item() == 3


def test_leaf_hook_sees_the_whole_sum_once():
    x = scalar(3)
    seen = []
    x.register_hook(lambda g: seen.append(g.item()))
    (x * x).backward()
    assert seen == [6]


def test_threads_have_their_own_modes_and_walks():
    results = []

    def work():
        results.append(torch.is_grad_enabled())
        x = torch.ones(50, requires_grad=True)
        for _ in range(20):
            (x * x).sum().backward()
        results.append(x.grad.sum().item())

    with torch.no_grad():
        threads = [threading.Thread(target=work) for _ in range(2)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not torch.is_grad_enabled()
    assert sorted(map(float, results)) == [1.0, 1.0, 2000.0, 2000.0]


def test_no_grad_forms():
    x = scalar(1)

    @torch.no_grad()
    def f():
        return (x * 2).requires_grad

    @torch.no_grad
    def g():
        return (x * 2).requires_grad

    assert not f() and not g() and torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    try:
        assert not (x * 2).requires_grad
        with torch.enable_grad():
            assert (x * 2).requires_grad
    finally:
        torch.set_grad_enabled(True)


def test_create_graph_and_higher_orders():
    x = scalar(2)
    (g,) = torch.autograd.grad(x**3, x, create_graph=True)
    (h,) = torch.autograd.grad(g, x, create_graph=True)
    (k,) = torch.autograd.grad(h, x)
    assert (g.item(), h.item(), k.item()) == (12, 12, 6)


def test_a_dead_leaf_is_no_error():
    y = scalar(2) * 3
    assert y.grad_fn.next_functions[0][0].variable is None
    y.backward()


def test_nodes_point_to_nodes_only():
    assert "leaf" in Node.__slots__
    y = scalar(2) * scalar(3)
    assert all(isinstance(e, Node) for e in graph.edges_of(y.node))


def test_a_leaf_that_no_longer_requires_grad_gets_none():
    x = scalar(2)
    y = x * x
    x.requires_grad_(False)
    y.backward()
    assert x.grad is None


def test_numpy_shares_the_memory_under_no_grad():
    x = scalar(2)
    with torch.no_grad():
        x.numpy()[...] = 5
    assert x.item() == 5


def test_a_result_is_pickled_as_a_leaf():
    y = pickle.loads(pickle.dumps(scalar(2) * 3))
    assert y.item() == 6 and y.requires_grad and y.is_leaf


def test_tensors_take_attributes_of_the_users_own():
    x = scalar(2)
    x.label = "a"
    y = x * x
    y.label = "b"
    assert (x.label, y.label) == ("a", "b") and not hasattr(x * 1, "label")


def test_dir_of_a_node_shows_what_users_ask_of_it():
    x = scalar(2)
    n = (x * scalar(3)).grad_fn
    shown = {name for name in dir(n) if not name.startswith("__")}
    assert {"name", "next_functions", "metadata", "register_hook", "register_prehook", "_saved_self"} <= shown
    assert not shown & set(Node.__slots__) and "variable" not in shown
    leaf = n.next_functions[0][0]
    assert "variable" in dir(leaf) and n.requires_grad and leaf.requires_grad
    assert type(n._input_metadata) is tuple


@pytest.mark.parametrize("wrong", [(2, 2), (3,), (), (3, 1)])
def test_batched_cotangents_of_a_wrong_shape(wrong):
    x = torch.ones(3, requires_grad=True)
    with pytest.raises((RuntimeError, ValueError, IndexError), match="is_grads_batched=True") as caught:
        torch.autograd.grad(x * 2, x, torch.ones(wrong), is_grads_batched=True)
    if wrong:
        assert f"grad_output[0] has a shape of torch.Size({list(wrong)}) and output[0]" in str(caught.value)
    (g,) = torch.autograd.grad(x * 2, x, torch.ones(2, 3), is_grads_batched=True)
    assert g.tolist() == [[2] * 3] * 2
