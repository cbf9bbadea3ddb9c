"""functional_call and stack_module_state, on modules of our own that have what they ask for.

The numbers and messages are PyTorch's for the same modules.
"""

import numpy as np
import pytest

import autodiff_kernel as torch
from autodiff_kernel.func import functional_call, grad, stack_module_state, vmap
from autodiff_kernel.nn import functional as F


class Module:
    """The least that a module has: tensors in dicts, named with the submodules' names in front, as PyTorch's do it."""

    training = True

    def __init__(self):
        self.__dict__.update(_parameters={}, _buffers={}, _modules={})

    def __setattr__(self, name, value):
        if name in self._parameters:
            raise TypeError(f"cannot assign '{type(value).__name__}' as parameter '{name}'")
        if name in self._buffers:
            self._buffers[name] = value
        elif isinstance(value, Module):
            self._modules[name] = value
        elif isinstance(value, torch.Tensor) and value.requires_grad:
            self._parameters[name] = value
        else:
            self.__dict__[name] = value

    def __getattr__(self, name):
        for shelf in (self._parameters, self._buffers, self._modules):
            if name in shelf:
                return shelf[name]
        raise AttributeError(name)

    def named(self, shelf, remove_duplicate, prefix="", seen=None):
        seen = set() if seen is None else seen
        for name, t in getattr(self, shelf).items():
            if t is not None and not (remove_duplicate and id(t) in seen):
                seen.add(id(t))
                yield prefix + name, t
        for name, m in self._modules.items():
            yield from m.named(shelf, remove_duplicate, f"{prefix}{name}.", seen)

    def named_parameters(self, remove_duplicate=True):
        return self.named("_parameters", remove_duplicate)

    def named_buffers(self, remove_duplicate=True):
        return self.named("_buffers", remove_duplicate)

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)


class Linear(Module):
    def __init__(self, weight, bias):
        super().__init__()
        self.weight = torch.tensor(weight, requires_grad=True)
        self.bias = torch.tensor(bias, requires_grad=True)

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)


class Tied(Module):
    """A buffer that counts, a submodule under two names, a parameter under two names."""

    def __init__(self):
        super().__init__()
        self.l = Linear([[1.0, 2.0], [3.0, 4.0]], [0.5, -0.5])
        self.twin = self.l
        self.other = torch.ones(2, requires_grad=True)
        self.again = self.other
        self._buffers["steps"] = torch.zeros(2)

    def forward(self, x, k=1):
        self.steps = self.steps + 1
        return self.l(x) * k + self.twin(x) + self.steps + self.other + self.again


X = torch.ones(1, 2)
NEW = {"l.weight": torch.eye(2), "l.bias": torch.zeros(2), "other": torch.tensor([10.0, 20.0])}


def test_the_module_runs_with_other_tensors_and_keeps_its_own():
    m = Tied()
    before = dict(m.named_parameters())
    assert functional_call(m, NEW, X).tolist() == [[23.0, 43.0]]
    after = dict(m.named_parameters())
    assert list(after) == ["other", "l.weight", "l.bias"]
    assert all(after[name] is before[name] for name in before)


def test_names_that_are_left_out_keep_the_modules_own():
    assert functional_call(Tied(), {"l.bias": torch.zeros(2)}, X).tolist() == [[9.0, 17.0]]


def test_arguments():
    m = Tied()
    assert functional_call(m, NEW, (X, 2)).tolist() == [[24.0, 44.0]]
    assert functional_call(m, NEW, X, {"k": 0}).tolist() == [[23.0, 43.0]]
    assert functional_call(m, NEW, kwargs={"x": X}).tolist() == [[25.0, 45.0]]
    assert m.steps.tolist() == [3.0, 3.0]  # which nobody replaced, so it counts


def test_several_dicts():
    m = Tied()
    steps = {"steps": torch.tensor([100.0, 100.0])}
    assert functional_call(m, (NEW, steps), X).tolist() == [[123.0, 143.0]]


def test_a_buffer_that_the_module_replaces_is_found_in_the_dict():
    m, steps = Tied(), {"steps": torch.tensor([5.0, 5.0])}
    functional_call(m, steps, X)
    assert steps["steps"].tolist() == [6.0, 6.0] and m.steps.tolist() == [0.0, 0.0]


def test_tied_tensors_take_one_value():
    m = Tied()
    one = functional_call(m, {"other": torch.zeros(2)}, X)
    alone = functional_call(m, {"other": torch.zeros(2)}, X, tie_weights=False)
    assert (alone - one).tolist() == [[2.0, 2.0]]  # the other name still has ones; and the buffer counts
    with pytest.raises(ValueError, match=r"functional_call got multiple values for keys \['again', 'other'\], which are "
                                         "tied. Consider using tie_weights=False"):  # fmt: skip
        functional_call(m, {"other": torch.ones(2), "again": torch.zeros(2)}, X)
    same = torch.zeros(2)
    functional_call(m, {"other": same, "again": same}, X)


def test_strict():
    m = Tied()
    with pytest.raises(RuntimeError, match=r"Error\(s\) in reparametrizing for Tied:\s+Missing key\(s\): 'l.bias', "
                                           "'l.weight', 'steps', 'twin.bias', 'twin.weight'."):  # fmt: skip
        functional_call(m, {"other": torch.ones(2)}, X, strict=True)
    whole = {**dict(m.named_parameters()), **dict(m.named_buffers())}
    assert functional_call(m, whole, X, strict=True).shape == (1, 2)
    with pytest.raises(RuntimeError, match=r"Unexpected key\(s\): 'zz'."):
        functional_call(m, {**whole, "zz": X}, X, strict=True)


@pytest.mark.parametrize(
    ("given", "error", "phrase"),
    [
        (
            3,
            ValueError,
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got <class 'int'>",
        ),
        ((NEW, 3), ValueError, "Expected all elements of parameter_and_buffer_dicts to be dictionaries"),
        (
            (NEW, NEW),
            ValueError,
            "appeared in multiple dictionaries; behavior of functional call is ambiguous",
        ),
        ({"q.weight": X}, AttributeError, "Tied has no attribute `q`"),
        ({"other": 3}, TypeError, "3 is not an instance of torch.Tensor"),
    ],
)
def test_refusals(given, error, phrase):
    m = Tied()
    with pytest.raises(error) as caught:
        functional_call(m, given, X)
    assert phrase in str(caught.value)
    assert m.other.tolist() == [1.0, 1.0] and m.l.weight.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_the_module_is_itself_again_after_an_error():
    m = Tied()
    with pytest.raises(RuntimeError):
        functional_call(m, NEW, torch.ones(1, 3))
    assert m.other.tolist() == [1.0, 1.0] and m.l.weight.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_a_module_of_plain_attributes():
    class Line:
        def __init__(self):
            self.slope = torch.tensor(2.0)

        def named_parameters(self):
            return [("slope", self.slope)]

        def __call__(self, x):
            return self.slope * x

    line = Line()
    assert functional_call(line, {"slope": torch.tensor(10.0)}, torch.tensor(3.0)).item() == 30
    assert line.slope.item() == 2
    functional_call(line, {"slope": torch.tensor(1.0), "offset": torch.tensor(1.0)}, torch.tensor(3.0))
    assert not hasattr(line, "offset")


# ------------------------------------------------------------------------------------------------ with transformations
def loss(m):
    return lambda params, x, y: ((functional_call(m, params, x) - y) ** 2).sum()


def test_gradients_of_each_sample():
    m = Linear([[1.0, 2.0], [3.0, 4.0]], [0.5, -0.5])
    params = {name: p.detach() for name, p in m.named_parameters()}
    x, y = torch.tensor([[1.0, 2.0], [0.5, -1.0], [0.0, 3.0]]), torch.zeros(3, 2)
    each = vmap(grad(loss(m)), (None, 0, 0))(params, x, y)
    assert {name: tuple(g.shape) for name, g in each.items()} == {"weight": (3, 2, 2), "bias": (3, 2)}
    for i in range(3):
        one = grad(loss(m))(params, x[i], y[i])
        for name in params:
            np.testing.assert_allclose(each[name][i].numpy(), one[name].numpy(), rtol=1e-6)
    m.weight.grad = m.bias.grad = None
    ((m(x) - y) ** 2).sum().backward()
    np.testing.assert_allclose(each["weight"].sum(0).numpy(), m.weight.grad.numpy(), rtol=1e-6)
    assert each["weight"][0].tolist() == [[11.0, 22.0], [21.0, 42.0]]


def test_an_ensemble():
    models = [Linear([[1.0 * k, 2.0], [3.0, 4.0]], [0.5, -0.5 * k]) for k in range(3)]
    params, buffers = stack_module_state(models)
    assert buffers == {} and params["weight"].shape == (3, 2, 2)
    assert all(p.is_leaf and p.requires_grad for p in params.values())
    run = lambda p, b, x: functional_call(models[0], (p, b), x)  # noqa: E731
    got = vmap(run, (0, 0, None))(params, buffers, X)
    assert torch.equal(got, torch.stack([m(X) for m in models]))
    got.sum().backward()
    assert params["weight"].grad.shape == (3, 2, 2) and models[0].weight.grad is None


def test_stacking_refuses_what_does_not_match():
    def said(models):
        with pytest.raises(RuntimeError) as caught:
            stack_module_state(models)
        return str(caught.value)

    a, b = Linear([[1.0]], [1.0]), Linear([[1.0]], [1.0])
    assert said([]) == "stack_module_state: Expected at least one model, got 0."
    assert said([a, Tied()]) == "stack_module_state: Expected all models to be of the same class."
    assert "stack expects each tensor to be equal size" in said([a, Linear([[1.0, 2.0]], [1.0])])
    b.weight.requires_grad_(False)
    assert said([a, b]) == "Expected weight from each model to have the same .requires_grad"
    b.__dict__["training"] = False
    assert said([a, b]) == "stack_module_state: Expected all models to have the same training/eval mode."
