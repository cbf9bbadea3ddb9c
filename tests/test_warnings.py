"""Warnings that PyTorch gives where a graph ends or stays: when, how often, and at which line."""

import math
import subprocess
import sys
import warnings

import pytest

import autodiff_kernel as torch
from autodiff_kernel.core import once


@pytest.fixture(autouse=True)
def nothing_told_yet(monkeypatch):
    monkeypatch.setattr(once, "_told", set())


def leaf(x=1.0):
    return torch.tensor(x, requires_grad=True)


def given(action):
    """The warnings of an action that says nothing else."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        action()
    assert all(w.category is UserWarning and w.filename == __file__ for w in seen)
    return [str(w.message) for w in seen]


# ------------------------------------------------------------------------------------------------ to a number
ENDS = [
    lambda a: float(a),
    lambda a: complex(a),
    lambda a: math.sqrt(a),
    lambda a: round(float(a)),
    lambda a: float((a * 2).sum()),
    lambda a: torch.tensor([a, a]),
    lambda a: torch.tensor([[a, 1.0]]),
    lambda a: torch.tensor([a.reshape(1)]),
    lambda a: torch.as_tensor([a]),
    lambda a: torch.asarray([a]),
    lambda a: torch.FloatTensor([a]),
    lambda a: torch.Tensor([a]),
    lambda a: a.new_tensor([a]),
]
SILENT = [
    lambda a: int(a),
    lambda a: bool(a),
    lambda a: a.item(),
    lambda a: a.tolist(),
    lambda a: f"{a:.2f} {a}",
    lambda a: float(a.detach()),
    lambda a: torch.tensor([a.detach()]),
    lambda a: torch.stack([a, a]),
    lambda a: torch.no_grad()(lambda: float(a))(),
    lambda a: torch.no_grad()(lambda: torch.tensor([a]))(),
    lambda a: torch.as_tensor(a),
    lambda a: max(a, 0.5),
]


@pytest.mark.parametrize("action", ENDS)
def test_a_number_of_what_requires_grad(action):
    (text,) = given(lambda: action(leaf()))
    assert text.startswith(
        "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
        "Consider using tensor.detach() first."
    )
    assert given(lambda: action(leaf())) == []


@pytest.mark.parametrize("action", SILENT)
def test_what_says_nothing(action):
    assert given(lambda: action(leaf())) == []


@pytest.mark.parametrize("action", [lambda a: torch.tensor(a), lambda a: a.new_tensor(a)])
def test_a_copy_of_a_tensor_is_warned_of_each_time(action):
    for x in (leaf(), torch.tensor(1.0), torch.tensor(1.0)):
        (text,) = given(lambda x=x: action(x))
        assert text.startswith(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone()"
        )


# ------------------------------------------------------------------------------------------------ create_graph
def test_backward_that_keeps_its_graph():
    x = leaf()
    assert given(lambda: torch.autograd.grad(x**2, x, create_graph=True)) == []
    assert given(lambda: (x**2).backward(retain_graph=True)) == []
    (text,) = given(lambda: (x**2).backward(create_graph=True))
    assert text.startswith(
        "Using backward() with create_graph=True will create a reference cycle between the parameter"
    )
    assert given(lambda: (x**2).backward(create_graph=True)) == []


def test_all_ways_to_backward_warn():
    for start in (
        lambda x: torch.autograd.backward(x**2, create_graph=True),
        lambda x: (x**2).backward(create_graph=True, inputs=[x]),
    ):
        once._told.clear()
        assert len(given(lambda start=start: start(leaf()))) == 1


def test_once_in_a_process():
    code = (
        "import autodiff_kernel as torch\n"
        "x = torch.tensor(1., requires_grad=True)\n"
        "for _ in range(3): (x ** 2).backward(create_graph=True); float(x)\n"
        "for _ in range(3): (x ** 2).backward(create_graph=True); float(x)\n"
    )
    run = subprocess.run(
        [sys.executable, "-W", "always", "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stderr.count("reference cycle") == run.stderr.count("Converting a tensor") == 1
