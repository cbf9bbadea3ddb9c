"""torch.optim: optimizers and schedules give PyTorch's numbers (recorded by record_optim.py) and refuse as it does."""

import copy
import json
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest

import autodiff_kernel as torch

from . import optim_cases as cases

RECORDED = json.loads((Path(__file__).parent / "data" / "optim.json").read_text())


@pytest.mark.parametrize("name, i, dtype, wanted", RECORDED["trained"], ids=lambda x: str(x)[:12])
def test_optimizers_train_as_pytorch_s(name, i, dtype, wanted):
    got = cases.trained(torch, name, cases.OPTIMIZERS[name][i], dtype)
    for a, b in zip(got, wanted):
        np.testing.assert_allclose(
            a, b, rtol=1e-5 if dtype == "float32" else 1e-12, atol=2e-6 if dtype == "float32" else 1e-14
        )


@pytest.mark.parametrize("i", range(4))
def test_gradient_descent_in_small_float32_is_exact(i):
    wanted = next(w for name, k, dtype, w in RECORDED["trained"] if (name, k, dtype) == ("SGD", i, "float32"))
    assert cases.trained(torch, "SGD", cases.OPTIMIZERS["SGD"][i]) == wanted


@pytest.mark.parametrize("i", range(len(cases.MUON)))
def test_muon_trains_as_pytorch_s(i):
    for a, b in zip(cases.made_orthogonal(torch, cases.MUON[i]), RECORDED["made orthogonal"][i]):
        np.testing.assert_allclose(a, b, atol=2e-5)  # a last bit of bfloat16, times the learning rate


def test_muon_takes_matrices_only():
    with pytest.raises(
        ValueError, match="Muon only supports 2D parameters whereas we found a parameter with size"
    ):
        torch.optim.Muon([torch.ones(2, requires_grad=True)])


@pytest.mark.parametrize("i", range(len(cases.LBFGS)))
def test_lbfgs_descends_as_pytorch_s(i):
    np.testing.assert_allclose(
        cases.minimized(torch, cases.LBFGS[i]), RECORDED["minimized"][i], rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize("i", range(len(cases.SCHEDULES)), ids=lambda i: f"{i}-{cases.SCHEDULES[i][0]}")
def test_schedules_give_pytorch_s_rates(i):
    np.testing.assert_allclose(cases.rates(torch, *cases.SCHEDULES[i]), RECORDED["rates"][i], rtol=1e-14)


@pytest.mark.filterwarnings("ignore:The epoch parameter")
@pytest.mark.parametrize("name", cases.CLOSED)
def test_closed_forms_of_schedules(name):
    settings = dict(cases.SCHEDULES)[name]
    np.testing.assert_allclose(cases.jumped(torch, name, settings), RECORDED["jumped"][name], rtol=1e-14)


@pytest.mark.filterwarnings("ignore:Detected call")  # PyTorch warns here too
def test_combined_schedules():
    np.testing.assert_allclose(cases.combined(torch), RECORDED["combined"], rtol=1e-14)


@pytest.mark.parametrize("i", range(len(cases.AVERAGES)))
def test_a_training_with_averaged_weights(i):
    losses, outputs, names = cases.averaged(torch, cases.AVERAGES[i])
    wanted = RECORDED["averaged"][i]
    np.testing.assert_allclose(losses, wanted[0], atol=1e-5)
    np.testing.assert_allclose(outputs, wanted[1], atol=1e-5)
    assert names == wanted[2]


def test_means_that_are_refused():
    u = torch.optim.swa_utils
    with pytest.raises(ValueError, match="Invalid decay value 1.5 provided"):
        u.get_ema_avg_fn(1.5)
    with pytest.raises(AssertionError, match="Only one of avg_fn and multi_avg_fn should be provided"):
        u.AveragedModel(
            torch.nn.Linear(1, 1), avg_fn=u.get_swa_avg_fn(), multi_avg_fn=u.get_swa_multi_avg_fn()
        )


# ------------------------------------------------------------------------------------------------ layouts and kinds
@pytest.mark.parametrize("name", cases.OPTIMIZERS)
def test_large_transposed_and_complex_parameters_train_as_small_ones(name, monkeypatch):
    from autodiff_kernel.optim import arrays, sgd

    monkeypatch.setattr(arrays, "BLOCK", 10)
    monkeypatch.setattr(sgd, "BLOCK", 10)
    start = cases.values(torch, 6, 8).tolist()
    layouts = [
        torch.tensor(start, requires_grad=True),
        torch.tensor(np.array(start, np.float32).T.copy()).t().requires_grad_(),
        torch.tensor(
            np.array(start, np.float32).reshape(6, 4, 2).copy().view(np.complex64)[..., 0]
        ).requires_grad_(),
    ]
    kinds = getattr(torch.optim, name)
    if name == "Adafactor":
        with pytest.raises(RuntimeError, match="Adafactor does not support complex parameters"):
            layouts[2].grad = layouts[2].detach().clone()
            kinds([layouts[2]]).step()
        layouts = layouts[:2]
    for p in layouts:
        optimizer = kinds([p])
        for k in range(3):
            g = np.array(cases.values(torch, 6, 8, start=1.0 + k).tolist(), np.float32)
            if p.is_complex():
                g = g.reshape(6, 4, 2).copy().view(np.complex64)[..., 0]
            p.grad = torch.tensor(g)
            optimizer.step()
    plain, turned, *pairs = [p.detach().numpy() for p in layouts]
    np.testing.assert_allclose(plain, turned, rtol=2e-6)
    for both in pairs:
        np.testing.assert_allclose(
            plain, np.ascontiguousarray(both).view(np.float32).reshape(6, 8), rtol=2e-6
        )


def test_a_step_counts_as_a_write():
    w = torch.ones(3, requires_grad=True)
    y = (w * w).sum()
    w.grad = torch.ones(3)
    torch.optim.SGD([w], lr=0.1).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        y.backward()
    assert "SGD([w], lr=0.1).step()" in str(caught.value)
    assert w._version == 1


def test_steps_change_the_shared_memory_of_a_number():
    w = torch.tensor(2.0, requires_grad=True)
    seen = w.detach()
    w.grad = torch.tensor(1.0)
    torch.optim.SGD([w], lr=0.5).step()
    assert (w.item(), seen.item()) == (1.5, 1.5)
    assert w.is_leaf and w.requires_grad


def test_parameters_on_a_simulated_gpu():
    torch.cuda.simulate(1)
    try:
        w = torch.tensor([1.0, 2.0], device="cuda", requires_grad=True)
        m = torch.eye(2, device="cuda").requires_grad_()
        m.grad = torch.ones(2, 2, device="cuda")
        torch.optim.Muon([m]).step()
        assert m.tolist() != [[1, 0], [0, 1]]
        for name in cases.OPTIMIZERS:
            optimizer = getattr(torch.optim, name)([w])
            w.grad = torch.tensor([1.0, -1.0], device="cuda")
            before = w.tolist()
            optimizer.step()
            assert w.tolist() != before and w.is_cuda
    finally:
        torch.cuda.simulate(0)


# ------------------------------------------------------------------------------------------------ groups and state
def make(kind="SGD", **settings):
    w, b = torch.ones(2, requires_grad=True), torch.zeros(1, requires_grad=True)
    return w, b, getattr(torch.optim, kind)([w], **{"lr": 0.1, **settings})


def test_groups_grow_during_training():
    w, b, optimizer = make(momentum=0.9)
    w.grad = torch.ones(2)
    optimizer.step()
    optimizer.add_param_group({"params": b, "lr": 0.5})
    w.grad, b.grad = torch.ones(2), torch.ones(1)
    optimizer.step()
    assert w.tolist() == pytest.approx([0.71, 0.71]) and b.tolist() == [-0.5]
    with pytest.raises(ValueError, match="some parameters appear in more than one parameter group"):
        optimizer.add_param_group({"params": [w]})


def test_zero_grad():
    w, _, optimizer = make()
    held = w.grad = torch.ones(2)
    optimizer.zero_grad(set_to_none=False)
    assert w.grad is held and held.tolist() == [0, 0]
    optimizer.zero_grad()
    assert w.grad is None


def test_repr():
    optimizer = torch.optim.Adagrad([torch.ones(1, requires_grad=True)])
    assert repr(optimizer) == (
        "Adagrad (\nParameter Group 0\n    differentiable: False\n    eps: 1e-10\n    foreach: None\n    fused: None\n"
        "    initial_accumulator_value: 0\n    lr: 0.01\n    lr_decay: 0\n    maximize: False\n    weight_decay: 0\n)"
    )


@pytest.mark.parametrize("way", ["load", "pickle", "deepcopy"])
@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_states_are_saved_and_loaded(kind, way):
    settings = {"momentum": 0.9} if kind == "SGD" else {}
    w, _, optimizer = make(kind, **settings)
    for g in (1.0, 2.0):
        w.grad = torch.tensor([g, -g])
        optimizer.step()
    if way == "load":
        twin = torch.tensor(w.tolist(), dtype=torch.float64, requires_grad=True)
        other = getattr(torch.optim, kind)([twin], lr=5.0)
        other.load_state_dict(pickle.loads(pickle.dumps(optimizer.state_dict())))
        key = "momentum_buffer" if kind == "SGD" else "exp_avg"
        assert other.state[twin][key].dtype == torch.float64
    else:
        other = copy.deepcopy(optimizer) if way == "deepcopy" else pickle.loads(pickle.dumps(optimizer))
        twin = other.param_groups[0]["params"][0]
    for p, opt in ((w, optimizer), (twin, other)):
        p.grad = torch.tensor([0.5, 0.5], dtype=p.dtype)
        opt.step()
    assert twin is not w and twin.tolist() == pytest.approx(w.tolist(), rel=1e-6)


def test_state_dict_has_pytorch_s_names():
    w, _, optimizer = make("Adam", amsgrad=True)
    w.grad = torch.ones(2)
    optimizer.step()
    saved = optimizer.state_dict()
    assert list(saved["state"][0]) == ["step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"]
    assert saved["state"][0]["step"].dtype == torch.float32 and saved["state"][0]["step"].item() == 1
    assert list(saved["param_groups"][0]) == [
        "lr", "betas", "eps", "weight_decay", "amsgrad", "maximize", "foreach", "capturable", "differentiable", "fused",
        "decoupled_weight_decay", "params",
    ]  # fmt: skip


def test_hooks():
    told = []
    w, _, optimizer = make()
    handles = [
        optimizer.register_step_pre_hook(lambda o, args, kwargs: told.append("before")),
        optimizer.register_step_post_hook(lambda o, args, kwargs: told.append("after")),
        optimizer.register_state_dict_post_hook(lambda o, saved: {**saved, "more": 1}),
        optimizer.register_load_state_dict_pre_hook(lambda o, saved: told.append("load")),
    ]
    optimizer.step()
    saved = optimizer.state_dict()
    optimizer.load_state_dict(saved)
    assert told == ["before", "after", "load"] and saved["more"] == 1
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(told) == 3 and "more" not in optimizer.state_dict()


def test_a_closure_gets_gradients():
    w, _, optimizer = make()

    def closure():
        optimizer.zero_grad()
        loss = (w**2).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        assert optimizer.step(closure).item() == 2
    assert w.tolist() == pytest.approx([0.8, 0.8])


# ------------------------------------------------------------------------------------------------ refusals
@pytest.mark.parametrize(
    "params, kind, text",
    [
        (list, ValueError, "optimizer got an empty parameter list"),
        (lambda: torch.ones(1), TypeError, "an iterable of Tensors or dicts, but got torch.FloatTensor"),
        (lambda: [1.0], TypeError, "optimizer can only optimize Tensors, but one of the params is float"),
        (lambda: [torch.ones(1, requires_grad=True) * 2], ValueError, "can't optimize a non-leaf Tensor"),
        (lambda: {"params": {torch.ones(1)}}.values(), TypeError, "optimizer can only optimize Tensors"),
        (lambda: [{"params": {torch.ones(1)}}], TypeError, "need to be organized in ordered collections"),
        (
            lambda: [("w", torch.ones(1)), torch.ones(1)],
            ValueError,
            "all optimizer params should be with/without names",
        ),
    ],
)
def test_parameters_that_are_refused(params, kind, text):
    with pytest.raises(kind, match=text):
        torch.optim.SGD(params(), lr=0.1)


@pytest.mark.parametrize(
    "name, settings, text",
    [
        ("SGD", {"lr": -1}, "Invalid learning rate: -1"),
        ("SGD", {"momentum": -0.5}, "Invalid momentum value: -0.5"),
        ("SGD", {"nesterov": True}, "Nesterov momentum requires a momentum and zero dampening"),
        ("SGD", {"lr": torch.ones(2)}, "Tensor lr must be 1-element"),
        ("Adam", {"betas": (1.0, 0.9)}, "Invalid beta parameter at index 0: 1.0"),
        ("Adam", {"eps": -1.0}, "Invalid epsilon value: -1.0"),
        ("Adadelta", {"rho": 1.1}, "Invalid rho value: 1.1"),
        ("Adagrad", {"lr_decay": -0.5}, "Invalid lr_decay value: -0.5"),
        ("Rprop", {"etas": (1.0, 0.5)}, "Invalid eta values: 1.0, 0.5"),
        ("NAdam", {"momentum_decay": -0.2}, "Invalid momentum_decay value: -0.2"),
        ("RMSprop", {"alpha": -1}, "Invalid alpha value: -1"),
        ("Adafactor", {"d": 0.5}, "Clipping threshold d should be >= 1 but is: 0.5"),
    ],
)
def test_settings_that_are_refused(name, settings, text):
    with pytest.raises(ValueError, match=text):
        getattr(torch.optim, name)([torch.ones(1, requires_grad=True)], **settings)


def test_states_that_do_not_fit():
    w, b, optimizer = make()
    saved = torch.optim.SGD([w, b]).state_dict()
    with pytest.raises(ValueError, match="doesn't match the size of optimizer's group"):
        optimizer.load_state_dict(saved)
    optimizer.add_param_group({"params": [b]})
    with pytest.raises(ValueError, match="different number of parameter groups"):
        optimizer.load_state_dict(saved)


def test_a_parameter_twice_in_a_group():
    w = torch.ones(1, requires_grad=True)
    with pytest.warns(UserWarning, match="contains a parameter group with duplicate parameters"):
        torch.optim.SGD([w, w], lr=0.1)


# ------------------------------------------------------------------------------------------------ schedules
def test_the_order_of_steps():
    _, _, optimizer = make()
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    with pytest.warns(UserWarning, match="lr_scheduler.step\\(\\)` before `optimizer.step"):
        schedule.step()
    _, _, optimizer = make()
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.step()
        schedule.step()
    with pytest.warns(UserWarning, match="please use `get_last_lr"):
        schedule.get_lr()


def test_a_rate_in_a_tensor_is_filled():
    lr = torch.tensor(0.5)
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=lr)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    schedule.step()
    assert lr.item() == 0.25 and schedule.get_last_lr()[0].item() == 0.25


def test_schedules_are_resumed():
    for name, settings in cases.SCHEDULES:
        if name == "ReduceLROnPlateau":
            continue
        first = cases.optimizer_of(torch)
        schedule = cases.schedule_of(torch, first, name, settings)
        for _ in range(4):
            first.step()
            schedule.step()
        second = cases.optimizer_of(torch)
        other = cases.schedule_of(torch, second, name, settings)
        second.load_state_dict(first.state_dict())
        other.load_state_dict(schedule.state_dict())
        for optimizer, s in ((first, schedule), (second, other)):
            optimizer.step()
            s.step()
        assert other.get_last_lr() == schedule.get_last_lr(), name


@pytest.mark.parametrize(
    "make_schedule, kind, text",
    [
        (lambda s, o: s.StepLR(3, 2), TypeError, "int is not an Optimizer"),
        (
            lambda s, o: s.StepLR(o, 2, last_epoch=3),
            KeyError,
            "'initial_lr' is not specified in param_groups\\[0\\]",
        ),
        (lambda s, o: s.LambdaLR(o, [abs, abs]), ValueError, "Expected 1 lr_lambdas, but got 2"),
        (lambda s, o: s.MultiplicativeLR(o, 0.5), TypeError, "lr_lambda should be a function, but got float"),
        (lambda s, o: s.ConstantLR(o, 2.0), ValueError, "expected to be between 0 and 1"),
        (lambda s, o: s.OneCycleLR(o, 0.1), ValueError, "total_steps OR \\(epochs AND steps_per_epoch\\)"),
        (lambda s, o: s.CyclicLR(o, 0.1, 0.5, mode="up"), ValueError, "mode is invalid and scale_fn is None"),
        (
            lambda s, o: s.CosineAnnealingWarmRestarts(o, 0),
            ValueError,
            "Expected positive integer T_0, but got 0",
        ),
        (lambda s, o: s.ReduceLROnPlateau(o, factor=1.5), ValueError, "Factor should be < 1.0."),
        (lambda s, o: s.SequentialLR(o, [], []), ValueError, "expects at least one scheduler"),
        (
            lambda s, o: s.SequentialLR(o, [s.StepLR(o, 1)], [3]),
            ValueError,
            "one more than the number of milestone",
        ),
    ],
)
def test_schedules_that_are_refused(make_schedule, kind, text):
    _, _, optimizer = make()
    with pytest.raises(kind, match=text):
        make_schedule(torch.optim.lr_scheduler, optimizer)


def test_a_schedule_runs_out_of_steps():
    _, _, optimizer = make(momentum=0.9)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=2)
    for _ in range(2):
        optimizer.step()
        schedule.step()
    with pytest.raises(ValueError, match="Tried to step 3 times. The specified number of total steps is 2"):
        schedule.step()
