"""Hooks on tensors and nodes: PyTorch's order, values and errors, and what their handles do."""

import copy
import gc
import json
import pathlib
import pickle
import weakref

import pytest

import autodiff_kernel as torch

from .hook_cases import HOOKS
from .walk_cases import answer

EXPECTED = json.loads((pathlib.Path(__file__).parent / "data" / "hooks.json").read_text())


@pytest.mark.parametrize("name", HOOKS)
def test_as_pytorch(name):
    got, want = answer(HOOKS[name], torch), EXPECTED[name]
    if isinstance(want, dict):
        assert isinstance(got, dict), f"PyTorch raises {want}, and we give {got}"
        assert got["raises"] == want["raises"]
        assert got["text"][:40] == want["text"][:40]
    else:
        assert got == want


def leaf(values):
    return torch.tensor(values, requires_grad=True)


def test_what_cannot_be_called_is_no_hook():
    with pytest.raises(TypeError, match="a hook must be callable, but got int"):
        leaf(1.0).register_hook(3)
    with pytest.raises(TypeError, match="must be callable"):
        (leaf(1.0) * 2).grad_fn.register_prehook("print")


def test_an_error_names_the_hook_and_the_cure():
    def halved(g):
        return g[:1]

    x = leaf([1.0, 2.0])
    h = x * 3
    h.register_hook(halved)
    with pytest.raises(RuntimeError, match="'halved' has changed the size of value") as info:
        h.sum().backward()
    assert "same size" in info.value.explanation.cure


def test_an_error_of_the_users_own_stays_what_it_is():
    x = leaf(2.0)
    x.register_hook(lambda g: g.nonsense)
    with pytest.raises(AttributeError, match="nonsense"):
        (x * x).backward()
    w = leaf(2.0)
    w.register_post_accumulate_grad_hook(lambda p: p + None)
    with pytest.raises(TypeError) as info:
        (w * w).backward()
    assert "second time" not in str(info.value)


def test_a_failing_hook_leaves_the_grad_mode_as_it_was():
    x = leaf(2.0)

    def fail(g):
        torch.set_grad_enabled(True)
        raise ValueError("mine")

    x.register_hook(fail)
    y = x * x
    with torch.no_grad():
        with pytest.raises(ValueError, match="mine"):
            y.backward(retain_graph=True)
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled() and (x * 2).requires_grad


def test_every_hook_of_a_root_is_counted_by_a_hook_on_several_tensors():
    x = leaf(1.0)
    a = x * 2
    b = a * 3
    seen = []
    torch.autograd.graph.register_multi_grad_hook([a, b], lambda gs: seen.append([g.item() for g in gs]))
    torch.autograd.graph.register_multi_grad_hook([a, a], lambda gs: seen.append(len(gs)))
    b.backward()
    assert seen == [[3.0, 1.0], 2]


def test_handles_and_hooks_when_pickled_and_copied():
    x = leaf([1.0, 2.0])
    handle = x.register_hook(torch.utils.hooks.unserializable_hook(lambda g: g * 10))
    twin = copy.deepcopy(x)
    again = pickle.loads(pickle.dumps(x))  # no warning: pytest would show it
    for t in (twin, again):
        t.sum().backward()
        assert t.grad.tolist() == [1, 1]
    assert isinstance(handle, torch.utils.hooks.RemovableHandle)
    hooks, number, _ = handle.__getstate__()
    assert hooks is x._backward_hooks and number in hooks
    other = copy.copy(handle)
    other.remove()
    x.sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_hooks_close_no_cycle():
    gc.disable()
    try:
        x = leaf([1.0, 2.0])
        x.register_hook(lambda g: g)
        h = x * 3
        h.register_hook(lambda g: g)
        h.retain_grad()
        h.grad_fn.register_prehook(lambda g: g)
        h.grad_fn.register_hook(lambda i, o: i)
        y = (h * h).sum()
        y.backward()
        dead = [weakref.ref(t) for t in (x, h, h.grad_fn, y.grad_fn)]
        del x, h, y
        assert [r() for r in dead] == [None] * 4
    finally:
        gc.enable()


def test_frozen_and_thawed_a_leaf_keeps_its_hooks():
    x = leaf([1.0, 2.0])
    x.register_hook(lambda g: g * 10)
    for flag in (False, True, False, True):
        x.requires_grad_(flag)
    x.sum().backward()
    assert x.grad.tolist() == [10, 10]


def test_hooks_on_a_long_chain():
    x = leaf(1.0)
    seen = []
    x.register_hook(lambda g: seen.append(g.item()))
    y = x
    for i in range(50_000):
        y = y + x
        if not i % 10_000:
            y.register_hook(lambda g, i=i: seen.append(i))
    y.backward()
    assert seen == [40_000, 30_000, 20_000, 10_000, 0, 50_001]
