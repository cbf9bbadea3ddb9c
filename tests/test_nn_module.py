"""nn.Module: what it holds, finds, saves, loads, says, and calls."""

import copy
import io
import pickle
from collections import OrderedDict
from typing import Any

import pytest

import autodiff_kernel as torch
from autodiff_kernel import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(3, 4)
        self.norm = nn.BatchNorm1d(4)
        self.out = nn.Linear(4, 2, bias=False)

    def forward(self, x: Any) -> Any:
        return self.out(torch.relu(self.norm(self.hidden(x))))


class Forgetful(nn.Module):
    def __init__(self) -> None:
        self.number = 3


def test_names_of_all_that_it_holds() -> None:
    net = Net()
    assert [n for n, _ in net.named_parameters()] == [
        "hidden.weight", "hidden.bias", "norm.weight", "norm.bias", "out.weight",
    ]  # fmt: skip
    assert [n for n, _ in net.named_buffers()] == [
        "norm.running_mean", "norm.running_var", "norm.num_batches_tracked",
    ]  # fmt: skip
    assert [n for n, _ in net.named_modules()] == ["", "hidden", "norm", "out"]
    assert [n for n, _ in net.named_children()] == ["hidden", "norm", "out"]
    assert net.get_parameter("hidden.weight") is net.hidden.weight
    assert (
        net.get_submodule("norm") is net.norm and net.get_buffer("norm.running_var") is net.norm.running_var
    )
    with pytest.raises(AttributeError, match="Net has no attribute `gone`"):
        net.get_submodule("gone.deeper")
    net.out.weight = net.hidden.weight
    assert "out.weight" not in dict(net.named_parameters())
    assert "out.weight" in dict(net.named_parameters(remove_duplicate=False))


def test_its_text_is_pytorchs() -> None:
    assert repr(Net()) == (
        "Net(\n  (hidden): Linear(in_features=3, out_features=4, bias=True)\n"
        "  (norm): BatchNorm1d(4, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)\n"
        "  (out): Linear(in_features=4, out_features=2, bias=False)\n)"
    )
    assert repr(nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Tanh()])) == (
        "ModuleList(\n  (0-1): 2 x ReLU()\n  (2): Tanh()\n)"
    )
    assert repr(nn.Sequential()) == "Sequential()"


def test_a_class_that_forgot_its_super_init_is_told_so() -> None:
    with pytest.raises(
        AttributeError, match=r"(?s)has no attribute '_forward_hooks'.*super\(\).__init__\(\)"
    ):
        Forgetful()(torch.ones(1))

    class Early(nn.Module):
        def __init__(self) -> None:
            self.layer = nn.Linear(1, 1)

    with pytest.raises(
        AttributeError, match=r"(?s)cannot assign module before Module.__init__\(\) call.*self.layer"
    ):
        Early()
    with pytest.raises(
        NotImplementedError, match=r'Module \[Module\] is missing the required "forward" function'
    ):
        nn.Module()(1)


def test_wrong_assignments_are_pytorchs_errors() -> None:
    net = Net()
    with pytest.raises(TypeError, match=r"cannot assign 'torch.Tensor' as parameter 'weight'"):
        net.hidden.weight = torch.ones(4, 3)
    with pytest.raises(TypeError, match="cannot assign 'int' as child module 'hidden'"):
        net.hidden = 3
    with pytest.raises(KeyError, match="name can"):
        net.register_buffer("a.b", None)
    with pytest.raises(KeyError, match="attribute 'forward' already exists"):
        net.register_buffer("forward", None)
    weight = nn.Parameter(torch.ones(1))
    weight.node = (weight * 2).node  # computed, as an in-place operation on a view of it would make it
    with pytest.raises(ValueError, match="non-leaf Tensor to parameter 'w'"):
        net.register_parameter("w", weight)
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'gone'"):
        net.gone  # noqa: B018


def test_state_goes_out_and_in() -> None:
    one, two = Net(), Net()
    state = one.state_dict()
    assert isinstance(state, OrderedDict) and list(state)[0] == "hidden.weight"
    assert state["hidden.weight"].data_ptr() == one.hidden.weight.data_ptr()
    assert repr(two.load_state_dict(state)) == "<All keys matched successfully>"
    assert torch.equal(two.out.weight, one.out.weight)
    x = torch.ones(5, 3)
    assert torch.equal(one.eval()(x), two.eval()(x))
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    assert torch.equal(torch.load(file)["out.weight"], one.out.weight)


def test_what_does_not_fit_is_reported_in_full() -> None:
    net = Net()
    state = net.state_dict()
    state["extra"] = torch.ones(1)
    del state["hidden.bias"]
    state["out.weight"] = torch.ones(3, 4)
    with pytest.raises(RuntimeError) as caught:
        net.load_state_dict(state)
    assert str(caught.value).startswith(
        'Error(s) in loading state_dict for Net:\n\tMissing key(s) in state_dict: "hidden.bias". \n\t'
        'Unexpected key(s) in state_dict: "extra". \n\t'
        "size mismatch for out.weight: copying a param with shape torch.Size([3, 4]) from checkpoint, the shape in "
        "current model is torch.Size([2, 4])."
    )
    del state["out.weight"]
    report = net.load_state_dict(state, strict=False)
    assert report.missing_keys == ["hidden.bias", "out.weight"] and report.unexpected_keys == ["extra"]
    with pytest.raises(RuntimeError, match="start with 'module.': take it off"):
        net.load_state_dict({"module." + k: v for k, v in Net().state_dict().items()})
    with pytest.raises(TypeError, match="Expected state_dict to be dict-like"):
        net.load_state_dict([1])


def test_buffers_that_are_not_saved() -> None:
    m = nn.Module()
    m.register_buffer("mask", torch.ones(2), persistent=False)
    m.register_buffer("mean", torch.zeros(2))
    m.kept = nn.Buffer(torch.ones(1))
    assert list(m.state_dict()) == ["mean", "kept"] and len(list(m.buffers())) == 3


def test_all_of_it_changes_together() -> None:
    net = Net().double()
    assert net.hidden.weight.dtype == torch.float64 and net.norm.num_batches_tracked.dtype == torch.int64
    assert net.to(torch.float32).norm.running_mean.dtype == torch.float32
    assert next(net.half().parameters()).dtype == torch.float16
    net.float().requires_grad_(False)
    assert not any(p.requires_grad for p in net.parameters())
    net.requires_grad_()
    net(torch.ones(4, 3)).sum().backward()
    assert net.out.weight.grad is not None
    net.zero_grad()
    assert net.out.weight.grad is None
    assert not net.eval().norm.training and net.train().norm.training
    with pytest.raises(ValueError, match="training mode is expected to be boolean"):
        net.train(1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="only accepts floating point or complex dtypes"):
        net.to(torch.int64)
    seen: list[str] = []
    net.apply(lambda m: seen.append(type(m).__name__))
    assert seen == ["Linear", "BatchNorm1d", "Linear", "Net"]


def test_parameters_stay_the_same_objects_when_they_move() -> None:
    layer = nn.Linear(2, 2)
    weight = layer.weight
    assert layer.double().weight is weight and weight.dtype == torch.float64


def test_copies_and_pickles() -> None:
    net = Net()
    twin = copy.deepcopy(net)
    again = pickle.loads(pickle.dumps(net))
    with torch.no_grad():
        net.out.weight.zero_()
    for other in (twin, again):
        assert other.out.weight.abs().sum() > 0 and other.out.weight.requires_grad
        assert isinstance(other.out.weight, nn.Parameter)


def test_hooks_run_in_order_and_may_replace() -> None:
    layer, log = nn.Linear(2, 1), []
    handles = [
        layer.register_forward_pre_hook(lambda m, args: log.append("pre") or (args[0] * 2,)),
        layer.register_forward_hook(lambda m, args, out: log.append("post") or out + 1),
        layer.register_forward_hook(
            lambda m, args, kwargs, out: log.append(f"kw {kwargs}"), with_kwargs=True
        ),
        layer.register_forward_pre_hook(lambda m, args: log.append("first"), prepend=True),
    ]
    x = torch.ones(1, 2)
    with torch.no_grad():
        assert torch.allclose(layer(x), torch.nn.functional.linear(x * 2, layer.weight, layer.bias) + 1)
    assert log == ["first", "pre", "post", "kw {}"]
    for handle in handles:
        handle.remove()
    log.clear()
    layer(x)
    assert log == []


def test_backward_hooks_see_and_replace_gradients() -> None:
    layer = nn.Linear(2, 2, bias=False)
    seen: list[Any] = []
    layer.register_full_backward_pre_hook(lambda m, g: (g[0] * 10,))
    layer.register_full_backward_hook(lambda m, gi, go: seen.append((gi[0], go[0])) or (gi[0] * 0,))
    x = torch.ones(1, 2, requires_grad=True)
    layer(x).sum().backward()
    assert torch.equal(seen[0][1], torch.full((1, 2), 10.0))
    assert torch.allclose(seen[0][0], torch.full((1, 2), 10.0) @ layer.weight)
    assert torch.equal(x.grad, torch.zeros(1, 2))
    assert torch.equal(layer.weight.grad, torch.full((2, 2), 10.0))


def test_hooks_for_every_module() -> None:
    names: list[str] = []
    handle = nn.modules.calling.register_module_forward_hook(lambda m, a, o: names.append(type(m).__name__))
    net = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
    net(torch.ones(1, 1))
    handle.remove()
    net(torch.ones(1, 1))
    assert names == ["Linear", "ReLU", "Sequential"]


def test_a_hook_that_is_called_whatever_happens() -> None:
    layer, log = nn.Linear(2, 2), []
    layer.register_forward_hook(lambda m, a, o: log.append(o), always_call=True)
    with pytest.raises(RuntimeError):
        layer(torch.ones(1, 3))
    assert log == [None]


def test_state_dict_hooks() -> None:
    layer, log = nn.Linear(1, 1), []
    layer.register_state_dict_pre_hook(lambda m, prefix, keep: log.append("pre"))
    layer.register_state_dict_post_hook(lambda m, d, prefix, meta: d.update({"more": torch.ones(1)}))
    layer.register_load_state_dict_pre_hook(lambda m, d, *_: d.pop("more", None))
    layer.register_load_state_dict_post_hook(lambda m, keys: log.append(keys.unexpected_keys))
    state = layer.state_dict()
    assert "more" in state
    layer.load_state_dict(state)
    assert log[0] == "pre" and log[-1] in ([], ["more"])


def test_containers_work_as_lists_and_dictionaries() -> None:
    seq = nn.Sequential(OrderedDict(first=nn.Linear(1, 2), act=nn.ReLU()))
    assert seq.first is seq[0] and isinstance(seq[-1], nn.ReLU) and len(seq[:1]) == 1
    assert seq(torch.ones(3, 1)).shape == (3, 2)
    with pytest.raises(IndexError, match="index 2 is out of range"):
        seq[2]
    with pytest.raises(TypeError, match="int is not a Module subclass"):
        nn.Sequential(3)
    layers = nn.ModuleList([nn.Tanh()])
    layers.append(nn.ReLU()).extend([nn.Sigmoid()])
    layers.insert(0, nn.Identity())
    del layers[1]
    assert [type(m).__name__ for m in layers] == ["Identity", "ReLU", "Sigmoid"]
    assert len(layers + layers) == 6 and list(layers._modules) == ["0", "1", "2"]
    table = nn.ModuleDict([["a", nn.ReLU()]])
    table["b"] = nn.Linear(1, 1)
    assert "a" in table and list(table.keys()) == ["a", "b"] and len(list(table.parameters())) == 2
    weights = nn.ParameterList([torch.ones(2), torch.ones(3)])
    assert (
        len(weights) == 2
        and isinstance(weights[0], nn.Parameter)
        and list(weights.state_dict()) == ["0", "1"]
    )
    named = nn.ParameterDict({"w": torch.ones(2)})
    assert named["w"].requires_grad and "w" in named and list(named.state_dict()) == ["w"]


def test_the_same_seed_gives_pytorchs_parameters() -> None:
    torch.manual_seed(0)
    layer = nn.Linear(2, 2)
    assert [round(v, 4) for v in layer.weight.flatten().tolist()] == [-0.0053, 0.3793, -0.5820, -0.5204]
    assert [round(v, 4) for v in layer.bias.tolist()] == [-0.2723, 0.1896]
