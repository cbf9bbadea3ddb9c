"""A function's story, eager and compiled: what the tests of torch.compile compare."""

import numpy as np
import pytest

import autodiff_kernel as torch


def numbers(x):
    """All that a result shows: values, whether it requires grad, its type."""
    if isinstance(x, torch.Tensor):
        return x.detach().numpy().copy(), x.requires_grad, x.is_leaf
    if isinstance(x, dict):
        return {k: numbers(v) for k, v in x.items()}
    return type(x)(map(numbers, x)) if isinstance(x, (tuple, list)) else x


def scalars(x):
    if isinstance(x, torch.Tensor):
        return [x] if x.requires_grad and not x.ndim else []
    parts = x.values() if isinstance(x, dict) else x if isinstance(x, (tuple, list)) else ()
    return [t for part in parts for t in scalars(part)]


def story(make, calls, compiled, backward=True):
    """What a function gives over several calls, and what becomes of its parameters and their gradients."""
    torch.manual_seed(3)
    function, parameters = make()
    run = torch.compile(function) if compiled else function
    told = []
    for k in range(calls):
        x = torch.randn(3, 4, generator=torch.Generator().manual_seed(k))
        result = run(x)
        told.append(numbers(result))
        if backward:
            for t in scalars(result):
                t.backward(retain_graph=True)
        for p in parameters:
            told.append(numbers(p))
            told.append(None if p.grad is None else numbers(p.grad))
    told.append(torch.get_rng_state().numpy())
    return told, run


def same(make, calls=4, backward=True):
    """The compiled function's story is eager's, bit for bit, and it ends with a program."""
    expected, _ = story(make, calls, False, backward)
    found, run = story(make, calls, True, backward)
    np.testing.assert_equal(found, expected)
    assert run.reason == "", run.reason
    assert run.source
    return run


def eager(make, reason, calls=3):
    """The same for a function that cannot be recorded: it warns once, and says why."""
    expected, _ = story(make, calls, False)
    with pytest.warns(UserWarning, match="runs eagerly") as caught:
        found, run = story(make, calls, True)
    np.testing.assert_equal(found, expected)
    assert len([w for w in caught if "runs eagerly" in str(w.message)]) == 1
    assert reason in run.reason
    assert run.source == ""
    return run


def parameter(*shape):
    return torch.randn(*shape).requires_grad_()
