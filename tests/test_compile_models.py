"""torch.compile of modules and training steps: the losses and parameters of eager, bit for bit; and S31."""

import numpy as np
import pytest

import autodiff_kernel as torch
from autodiff_kernel import nn
from autodiff_kernel.views import compiled, graph

F = nn.functional


class Net(nn.Module):
    """Two layers with dropout, for (N, 4)."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.dropout = nn.Linear(4, 8), nn.Linear(8, 2), nn.Dropout(0.3)

    def forward(self, x):
        hidden = torch.relu(self.first(x))
        return self.second(self.dropout(hidden))


def train(make, shape, wrap, steps=6):
    """Losses, parameters and buffers of a training run; wrap says what is compiled."""
    torch.manual_seed(1)
    model = make()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    run, step = wrap(model, optimizer)
    told = []
    for k in range(steps):
        x = torch.randn(*shape, generator=torch.Generator().manual_seed(k))
        told.append(step(x).item())
    told += [t.detach().numpy().copy() for t in (*model.parameters(), *model.buffers())]
    return told, run


MODELS = {
    "net": (Net, (5, 4)),
    "batch norm": (
        lambda: nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 2)),
        (5, 4),
    ),
    "convolutions": (
        lambda: nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(27, 2)),
        (2, 1, 8, 8),
    ),
}


def only_the_model(compile):
    def wrap(model, optimizer):
        run = compile(model)

        def step(x):
            optimizer.zero_grad()
            loss = run(x).pow(2).mean()
            loss.backward()
            optimizer.step()
            return loss

        return run, step

    return wrap


def the_whole_step(compile):
    def wrap(model, optimizer):
        def step(x):
            optimizer.zero_grad()
            loss = model(x).pow(2).mean()
            loss.backward()
            optimizer.step()
            return loss.detach()

        run = compile(step)
        return run, run

    return wrap


@pytest.mark.parametrize("how", [only_the_model, the_whole_step])
@pytest.mark.parametrize("name", MODELS)
def test_training(name, how):
    make, shape = MODELS[name]
    expected, _ = train(make, shape, how(lambda f: f))
    found, run = train(make, shape, how(torch.compile))
    np.testing.assert_equal(found, expected)
    assert run.reason == ""
    assert "backward" in run.source


def test_training_and_evaluation_are_two_programs():
    torch.manual_seed(0)
    model = Net()
    run, x = torch.compile(model), torch.ones(3, 4)
    for _ in range(3):
        run.train()
        torch.manual_seed(5)
        noisy = run(x)
        torch.manual_seed(5)
        assert torch.equal(noisy, model(x))
        run.eval()
        assert torch.equal(run(x), model(x))
    assert run.reason == ""
    assert not model.training


def test_a_compiled_module_is_the_module():
    model = Net()
    run = torch.compile(model)
    assert isinstance(run, nn.Module)
    assert run.first is model.first
    assert list(run.state_dict()) == list(model.state_dict())
    assert len(list(run.parameters())) == 4
    run.extra = 3
    assert model.extra == 3
    assert repr(run).startswith("OptimizedModule(\n  (_orig_mod): Net(")


def test_a_learning_rate_that_changes_between_steps():
    def losses(compile):
        torch.manual_seed(0)
        model = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        @compile
        def step(x):
            optimizer.zero_grad()
            loss = model(x).pow(2).mean()
            loss.backward()
            optimizer.step()
            return loss.detach()

        told = []
        for k in range(6):
            optimizer.param_groups[0]["lr"] = 0.1 / (k + 1)
            told.append(step(torch.ones(2, 4)).item())
        return told

    assert losses(torch.compile) == losses(lambda f: f)


def test_s31_three_kinds_of_framework_on_one_model():
    """Fixed modules, a static graph and a dynamic graph: the same numbers, each shown beside the others."""
    torch.manual_seed(0)
    x = torch.randn(6, 4)
    model = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))  # fixed modules
    static = torch.compile(model)  # recorded once, then run and differentiated without the layers' Python

    def dynamic(x):  # the graph is made anew by each run
        hidden = torch.tanh(x @ model[0].weight.t() + model[0].bias)
        return hidden @ model[2].weight.t() + model[2].bias

    def gradients(f):
        model.zero_grad()
        loss = f(x).pow(2).mean()
        loss.backward()
        return loss.item(), [p.grad.clone() for p in model.parameters()]

    loss, grads = gradients(model)
    for f in (static, static, static, dynamic):
        other, others = gradients(f)
        assert other == pytest.approx(loss, rel=1e-6)
        assert all(torch.allclose(a, b) for a, b in zip(grads, others))
    y = static(x)
    assert y.grad_fn.name() == "CompiledFunctionBackward"
    shown = compiled(model, x).text
    for line in ("t1 = linear(", "t2 = tanh(t1)", "def backward("):
        assert line in shown
    assert "tanh" in shown.partition("Graph of")[2]
    assert "tanh" in graph(model(x)).text
