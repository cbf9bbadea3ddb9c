"""Layers: the values that PyTorch gives, and errors that name what is wrong and what to do."""

import copy
import json
import pickle
from typing import Any

import pytest
from nn_layer_cases import CASES, FILE

import autodiff_kernel as torch
from autodiff_kernel import nn

EXPECTED = json.loads(FILE.read_text(encoding="utf-8"))
F = nn.functional


@pytest.mark.parametrize("name", CASES)
def test_values_are_pytorchs(name: str) -> None:
    def near(a: Any, b: Any) -> bool:
        if isinstance(b, list):
            return len(a) == len(b) and all(map(near, a, b))
        return a == pytest.approx(b, abs=2e-4, rel=1e-4)

    assert near(CASES[name](torch), EXPECTED[name]), (CASES[name](torch), EXPECTED[name])


@pytest.mark.parametrize("name", sorted(nn.modules.HOMES))
def test_every_name_is_there_and_documented(name: str) -> None:
    layer = getattr(nn, name)
    assert layer.__doc__ and layer.__name__ == name and pickle.loads(pickle.dumps(layer)) is layer


BAD: list[tuple[Any, type, str]] = [
    (lambda: nn.Conv2d(3, 4, 3)(torch.ones(1, 1, 8, 8)), RuntimeError, r"to have 3 channels, but got 1 channels"),
    (lambda: nn.Linear(3, 4)(torch.ones(2, 5)), RuntimeError, r"mat1 and mat2 shapes cannot be multiplied \(2x5 and 3x4\)"),
    (lambda: F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 3])), IndexError, "Target 3 is out of bounds"),
    (lambda: F.cross_entropy(torch.ones(2, 3), torch.ones(2)), RuntimeError, "expected scalar type Long but found Float"),
    (lambda: F.nll_loss(torch.ones(2, 3), torch.tensor([0])), ValueError, r"input batch_size \(2\) to match target"),
    (lambda: nn.BatchNorm1d(3)(torch.ones(1, 3)), ValueError, "Expected more than 1 value per channel when training"),
    (lambda: nn.BatchNorm2d(3)(torch.ones(1, 3)), ValueError, r"expected 4D input \(got 2D input\)"),
    (lambda: nn.Embedding(3, 2)(torch.tensor([3])), IndexError, "index out of range in self"),
    (lambda: nn.Embedding(3, 2)(torch.ones(1)), RuntimeError, "scalar types: Long, Int"),
    (lambda: nn.LayerNorm(3)(torch.ones(2, 4)), RuntimeError, r"expected input with shape \[\*, 3\]"),
    (lambda: nn.LSTM(3, 4)(torch.ones(5, 2, 2)), RuntimeError, "input.size.* must be equal to input_size. Expected 3, got 2"),
    (lambda: nn.Dropout(1.5), ValueError, "dropout probability has to be between 0 and 1"),
    (lambda: nn.GroupNorm(2, 3), ValueError, "must be divisible by num_groups"),
    (lambda: F.binary_cross_entropy(torch.tensor([2.0]), torch.ones(1)), RuntimeError, "between 0 and 1"),
    (lambda: F.binary_cross_entropy(torch.ones(2, 1), torch.ones(2)), ValueError, "different to the input size"),
    (lambda: F.mse_loss(torch.ones(2), torch.ones(2), reduction="avg"), ValueError, "avg is not a valid value for reduction"),
    (
        lambda: nn.utils.rnn.pack_padded_sequence(torch.ones(3, 2, 1), [1, 3]), RuntimeError,
        "`lengths` array must be sorted in decreasing order",
    ),
]  # fmt: skip


@pytest.mark.parametrize("code, kind, text", BAD, ids=[text[:25] for _, _, text in BAD])
def test_bad_input_is_pytorchs_error(code: Any, kind: type[BaseException], text: str) -> None:
    with pytest.raises(kind, match=text):
        code()


def test_a_target_of_another_size_is_warned_of() -> None:
    with pytest.warns(UserWarning, match=r"Using a target size \(torch.Size\(\[2, 1\]\)\)"):
        F.mse_loss(torch.ones(2), torch.ones(2, 1))


def test_gradients_are_limited() -> None:
    w = torch.zeros(2, requires_grad=True)
    w.grad = torch.tensor([3.0, -4.0])
    nn.utils.clip_grad_value_([w], 3.5)
    assert w.grad.tolist() == [3.0, -3.5]
    assert float(nn.utils.clip_grad_norm_([w], 1.0)) == pytest.approx(4.6098, abs=1e-4)
    with pytest.raises(RuntimeError, match="is non-finite, so it cannot be clipped"):
        w.grad = torch.tensor([float("nan"), 1.0])
        nn.utils.clip_grad_norm_([w], 1.0, error_if_nonfinite=True)
    layer = nn.Linear(2, 1)
    nn.utils.vector_to_parameters(torch.tensor([1.0, 2.0, 3.0]), layer.parameters())
    assert nn.utils.parameters_to_vector(layer.parameters()).tolist() == [1.0, 2.0, 3.0]


def test_sequences_are_padded_and_packed() -> None:
    rnn = nn.utils.rnn
    parts = [torch.tensor([1, 2, 3]), torch.tensor([4])]
    assert rnn.pad_sequence(parts, padding_value=9).tolist() == [[1, 4], [2, 9], [3, 9]]
    assert [p.tolist() for p in rnn.unpack_sequence(rnn.pack_sequence(parts))] == [[1, 2, 3], [4]]
    padded, lengths = rnn.pad_packed_sequence(rnn.pack_sequence(parts), batch_first=True, total_length=4)
    assert padded.tolist() == [[1, 2, 3, 0], [4, 0, 0, 0]] and lengths.tolist() == [3, 1]


def test_a_layer_is_drawn_as_a_block() -> None:
    from autodiff_kernel import views
    from autodiff_kernel.core import modes

    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(72, 2))
    x = torch.ones(1, 1, 8, 8)
    with modes.recording():
        y = net(x)
    found = views.graph(y, namespace={"x": x, "net": net}, blocks=True)
    assert [n.op for n in found.model.nodes if n.role == "group"] == ["Conv2d", "ReLU", "Flatten", "Linear"]


def test_an_ensemble_of_modules_is_run_by_vmap() -> None:
    models = [nn.Linear(3, 2) for _ in range(4)]
    params, buffers = torch.func.stack_module_state(models)
    base, x = copy.deepcopy(models[0]), torch.ones(5, 3)
    y = torch.func.vmap(lambda p, b: torch.func.functional_call(base, (p, b), (x,)))(params, buffers)
    assert torch.allclose(y[2], models[2](x))


def test_lazy_layers_take_their_size_from_the_first_input() -> None:
    model = nn.Sequential(
        nn.LazyConv2d(3, 2), nn.LazyBatchNorm2d(), nn.ReLU(), nn.Flatten(), nn.LazyLinear(2)
    )
    assert repr(model[0]) == "LazyConv2d(0, 3, kernel_size=(2, 2), stride=(1, 1))"
    assert repr(list(model[0].parameters())) == "[<UninitializedParameter>, <UninitializedParameter>]"
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter or buffer"):
        model[0].weight.shape  # noqa: B018
    torch.manual_seed(0)
    assert model(torch.ones(2, 1, 4, 4)).shape == (2, 2)
    assert [type(m) for m in model] == [nn.Conv2d, nn.BatchNorm2d, nn.ReLU, nn.Flatten, nn.Linear]
    assert type(model[0].weight) is nn.Parameter and model[4].in_features == 27
    torch.manual_seed(0)
    assert torch.equal(nn.Conv2d(1, 3, 2).weight, model[0].weight)


def test_a_lazy_layer_takes_a_state() -> None:
    layer, other = nn.LazyLinear(3), nn.Linear(4, 3)
    layer.load_state_dict(other.state_dict())
    assert torch.equal(layer(torch.ones(1, 4)), other(torch.ones(1, 4))) and layer.in_features == 4
    assert nn.LazyLinear(3).double()(torch.ones(1, 4).double()).dtype == torch.float64
