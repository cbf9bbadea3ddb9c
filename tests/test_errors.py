"""Each kind of bad input: PyTorch's exception type and key phrase, then the finding, the line and the cure."""

import pytest

import autodiff_kernel as torch
from autodiff_kernel.core import device as devices


def leaf(*values):
    return torch.tensor(list(values), requires_grad=True)


def hooked(hook):
    y = leaf(1.0, 2.0) * 2
    y.register_hook(hook)
    y.sum().backward()


BAD = {
    "non-scalar": (lambda: (leaf(1.0, 2.0) * 2).backward(), RuntimeError, "only for scalar outputs", "sum"),
    "no grad": (lambda: torch.ones(1).backward(), RuntimeError, "does not require grad", "requires_grad=True"),
    "integers": (lambda: torch.tensor([1], requires_grad=True), RuntimeError, "floating point", "x.float()"),
    "leaf in place": (lambda: leaf(1.0).add_(1), RuntimeError, "a leaf Variable that requires grad", "no_grad"),
    "shapes": (lambda: torch.ones(2, 3) + torch.ones(2, 4), RuntimeError, "must match the size of tensor b", "unsqueeze"),
    "index": (lambda: torch.ones(3)[5], IndexError, "out of bounds for dimension 0 with size 3", ""),
    "dim": (lambda: torch.ones(3).sum(2), IndexError, "Dimension out of range", ""),
    "ragged": (lambda: torch.tensor([[1, 2], [3]]), ValueError, "expected sequence of length 2 at dim 1", ""),
    "no tensor": (lambda: torch.exp(1.0), TypeError, "must be Tensor, not float", ""),
    "matrix shapes": (lambda: torch.ones(2, 3) @ torch.ones(2, 3), RuntimeError, "cannot be multiplied", ""),
    "item": (lambda: torch.ones(2).item(), RuntimeError, "cannot be converted to Scalar", "tolist"),
    "truth": (lambda: bool(torch.ones(2)), RuntimeError, "more than one value is ambiguous", ""),
    "numpy": (lambda: leaf(1.0).numpy(), RuntimeError, "Use tensor.detach().numpy()", ""),
    "wrong gradient": (lambda: (leaf(1.0, 2.0) * 2).backward(torch.ones(3)), RuntimeError, "Mismatch in shape", ""),
    "hook: other shape": (lambda: hooked(lambda g: g[:1]), RuntimeError, "has changed the size", "return a tensor"),
    "hook: other dtype": (lambda: hooked(lambda g: g.double()), RuntimeError, "has changed the type", "return a tensor"),
    "hook: a number": (lambda: hooked(lambda g: 5), TypeError, "hook returned 'int'", "or None"),
    "fewer gradients": (
        lambda: torch.autograd.grad([leaf(1.0) * 2, leaf(2.0)], [leaf(1.0)], [torch.ones(1)]),
        RuntimeError, "got 2 tensors and 1 gradients", "each output",
    ),
    "no inputs": (lambda: torch.autograd.grad(leaf(1.0) * 2, []), RuntimeError, "cannot be empty", ""),
    "grad of text": (lambda: torch.autograd.grad("y", leaf(1.0)), TypeError, "but got str", ""),
    "complex output": (
        lambda: (torch.tensor([1 + 2j], requires_grad=True) * 2).backward(),
        RuntimeError, "only for real scalar outputs", ".abs()",
    ),
    "flag": (lambda: setattr(torch.ones(1), "requires_grad", 1), RuntimeError, "must be a bool", ""),
    "flag of the method": (lambda: torch.ones(1).requires_grad_("no"), TypeError, "must be bool", ""),
    "float of two": (lambda: float(torch.ones(2)), ValueError, "only one element tensors", "reduce it"),
    "grad of another shape": (lambda: setattr(leaf(1.0), "grad", torch.ones(3)), RuntimeError, "gradient of size", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_type_phrase_and_cure(name):
    do, kind, phrase, cure = BAD[name]
    with pytest.raises(kind) as caught:
        do()
    assert phrase in str(caught.value) and cure in str(caught.value)


def test_twice_through_a_freed_graph():
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="retain_graph=True") as caught:
        y.backward()
    assert caught.value.explanation.node.op.name == "mul"


def test_a_changed_value_names_both_operations_and_the_line():
    x = leaf(1.0, 2.0)
    y = x.exp()
    y.add_(1)  # the culprit
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        y.sum().backward()
    text = str(caught.value)
    assert "ExpBackward0" in text and "y.add_(1)  # the culprit" in text and "What to do" in text
    (what, place) = caught.value.explanation.lines[-1]
    assert what == "changed in" and place.text.startswith("y.add_(1)")


def test_recording_names_the_line_that_saved():
    from autodiff_kernel.core.modes import recording

    x = leaf(1.0, 2.0)
    with recording():
        y = x.exp()  # saves
    y.add_(1)
    with pytest.raises(RuntimeError) as caught:
        y.sum().backward()
    assert "y = x.exp()  # saves" in str(caught.value)


def test_devices_do_not_mix():
    devices.simulate(2)
    try:
        a, b, c = torch.ones(2), torch.ones(2).cuda(), torch.ones(2).cuda(1)
        for left, right, names in ((a, b, "cpu"), (b, c, "cuda:1")):
            with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device") as caught:
                left + right
            assert names in str(caught.value) and "What to do" in str(caught.value)
        with pytest.raises(TypeError, match="Use Tensor.cpu"):
            b.numpy()
    finally:
        devices.simulate(0)


def test_a_zero_dimensional_tensor_goes_with_any_device():
    devices.simulate(1)
    try:
        s = torch.tensor(2.0, requires_grad=True)
        y = (torch.ones(2).cuda() * s).sum()
        assert y.item() == 4
    finally:
        devices.simulate(0)
