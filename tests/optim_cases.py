"""Trainings by every optimizer and rates of every schedule, written once for PyTorch (record_optim.py) and for us."""

from typing import Any

STEPS = 20
# per optimizer: settings to train with
OPTIMIZERS: dict[str, list[dict[str, Any]]] = {
    "SGD": [{"lr": 0.1}, {"lr": 0.1, "momentum": 0.9}, {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01},
            {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "maximize": True}],
    "Adam": [{}, {"lr": 0.05, "weight_decay": 0.1}, {"amsgrad": True, "lr": 0.1}, {"maximize": True}],
    "AdamW": [{}, {"lr": 0.05, "amsgrad": True, "weight_decay": 0.2}],
    "Adagrad": [{}, {"lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.3}],
    "Adadelta": [{}, {"lr": 0.5, "weight_decay": 0.1, "maximize": True}],
    "RMSprop": [{}, {"momentum": 0.9}, {"centered": True}, {"centered": True, "momentum": 0.5, "weight_decay": 0.1}],
    "Adamax": [{}, {"weight_decay": 0.1, "maximize": True}],
    "NAdam": [{}, {"weight_decay": 0.1}, {"weight_decay": 0.1, "decoupled_weight_decay": True}],
    "RAdam": [{}, {"lr": 0.05, "weight_decay": 0.1}, {"weight_decay": 0.1, "decoupled_weight_decay": True}],
    "Rprop": [{}, {"lr": 0.1, "etas": (0.4, 1.3), "maximize": True}],
    "Adafactor": [{}, {"lr": 0.1, "weight_decay": 0.1, "maximize": True}, {"d": 1.5, "eps": (1e-3, 1e-2)}],
    "ASGD": [{}, {"t0": 3, "lr": 0.1, "weight_decay": 0.1}],
}  # fmt: skip
LBFGS: list[dict[str, Any]] = [
    {"max_iter": 6},
    {"max_iter": 5, "line_search_fn": "strong_wolfe"},
    {"lr": 0.3, "history_size": 2},
]


MUON: list[dict[str, Any]] = [
    {},
    {"momentum": 0.8, "nesterov": False, "ns_steps": 6, "lr": 0.01},
    {"adjust_lr_fn": "match_rms_adamw", "weight_decay": 0.0},
]


def made_orthogonal(torch: Any, settings: dict[str, Any]) -> list[Any]:
    """A flat and a tall matrix after 20 steps with given gradients."""
    params = [values(torch, *shape).requires_grad_() for shape in ((3, 4), (6, 2))]
    optimizer = torch.optim.Muon(params, **settings)
    for k in range(STEPS):
        for i, p in enumerate(params):
            p.grad = values(torch, *p.shape, start=1 + k + 0.5 * i)
        optimizer.step()
    return [p.detach().tolist() for p in params]


def values(torch: Any, *shape: int, start: float = 0.0) -> Any:
    """Numbers between -1 and 1 that look random, and are the same everywhere."""
    count = 1
    for n in shape:
        count *= n
    return torch.tensor([((start + 0.37 * i) * 7.31) % 2 - 1 for i in range(count)]).reshape(shape)


def trained(torch: Any, name: str, settings: dict[str, Any], dtype: str = "float32") -> list[Any]:
    """Parameters after 20 steps with given gradients: a matrix and a number."""
    kind = getattr(torch, dtype)
    params = [
        values(torch, 3, 4).to(kind).requires_grad_(),
        torch.tensor(0.5, dtype=kind, requires_grad=True),
    ]
    optimizer = getattr(torch.optim, name)(params, **settings)
    for k in range(STEPS):
        for i, p in enumerate(params):
            p.grad = values(torch, *p.shape, start=1 + k + 0.5 * i).to(kind)
        optimizer.step()
    return [p.detach().tolist() for p in params]


def minimized(torch: Any, settings: dict[str, Any]) -> list[Any]:
    """The losses of five LBFGS steps down a curved valley."""
    w = torch.tensor([-1.2, 1.0, 0.5], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([w], **settings)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = 10 * (w[1] - w[0] ** 2) ** 2 + (1 - w[0]) ** 2 + w[2] ** 2 * (1 + w[1] ** 2)
        loss.backward()
        return loss

    return [optimizer.step(closure).item() for _ in range(5)] + w.detach().tolist()


# schedules: name, settings; METRICS are what ReduceLROnPlateau is told
SCHEDULES: list[tuple[str, dict[str, Any]]] = [
    ("StepLR", {"step_size": 3, "gamma": 0.5}),
    ("MultiStepLR", {"milestones": [2, 5, 5, 9], "gamma": 0.3}),
    ("ExponentialLR", {"gamma": 0.8}),
    ("CosineAnnealingLR", {"T_max": 5, "eta_min": 0.01}),
    ("CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 2, "eta_min": 0.02}),
    ("LinearLR", {"start_factor": 0.1, "end_factor": 0.7, "total_iters": 9}),
    ("ConstantLR", {"factor": 0.3, "total_iters": 4}),
    ("PolynomialLR", {"total_iters": 7, "power": 2.0}),
    ("OneCycleLR", {"max_lr": 1.0, "total_steps": 14}),
    ("OneCycleLR", {"max_lr": 0.9, "epochs": 3, "steps_per_epoch": 5, "pct_start": 0.4, "anneal_strategy": "linear",
                    "three_phase": True}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.6, "step_size_up": 3, "cycle_momentum": False, "mode": "exp_range",
                  "gamma": 0.9}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 2, "step_size_down": 3, "mode": "triangular2"}),
    ("LambdaLR", {"lr_lambda": lambda e: 1 / (1 + e)}),
    ("MultiplicativeLR", {"lr_lambda": lambda e: 1 - 0.01 * e}),
    ("ReduceLROnPlateau", {"factor": 0.3, "patience": 0, "threshold": 0.01, "cooldown": 1, "min_lr": 0.01}),
    ("ReduceLROnPlateau", {"mode": "max", "patience": 2, "threshold_mode": "abs"}),
    ("SWALR", {"swa_lr": 0.05, "anneal_epochs": 4}),
]  # fmt: skip
METRICS = [3, 2, 2.5, 2.4, 1, 1, 1, 1, 0.5, 0.6, 0.7, 0.4, 0.4, 0.4]
CLOSED = [
    "StepLR",
    "MultiStepLR",
    "ExponentialLR",
    "CosineAnnealingLR",
    "LinearLR",
    "ConstantLR",
    "PolynomialLR",
]


def optimizer_of(torch: Any) -> Any:
    """SGD with two groups."""
    a, b = [torch.zeros(1, requires_grad=True) for _ in range(2)]
    return torch.optim.SGD([{"params": [a]}, {"params": [b], "lr": 0.2}], lr=0.5, momentum=0.9)


def schedule_of(torch: Any, optimizer: Any, name: str, settings: dict[str, Any]) -> Any:
    home = torch.optim.swa_utils if name == "SWALR" else torch.optim.lr_scheduler
    return getattr(home, name)(optimizer, **settings)


def rates(torch: Any, name: str, settings: dict[str, Any]) -> list[Any]:
    """Rates and momentum of both groups over 14 steps."""
    optimizer = optimizer_of(torch)
    schedule = schedule_of(torch, optimizer, name, settings)
    out = []
    for metric in METRICS:
        out.append([group[key] for group in optimizer.param_groups for key in ("lr", "momentum")])
        optimizer.step()
        schedule.step(*([metric] if name == "ReduceLROnPlateau" else []))
    return out


def jumped(torch: Any, name: str, settings: dict[str, Any]) -> list[Any]:
    """Rates after jumps to given steps: the closed forms."""
    optimizer = optimizer_of(torch)
    schedule = schedule_of(torch, optimizer, name, settings)
    optimizer.step()
    out = []
    for step in (4, 1, 9):
        schedule.step(step)
        out.append(schedule.get_last_lr())
    return out


def combined(torch: Any) -> list[Any]:
    """Rates of schedules one after another, nested, and of schedules at once."""
    s = torch.optim.lr_scheduler
    out = []
    for make in (
        lambda o: s.SequentialLR(o, [s.ConstantLR(o, 0.1, 3), s.ExponentialLR(o, 0.9)], [4]),
        lambda o: s.SequentialLR(
            o, [s.SequentialLR(o, [s.LinearLR(o, 0.2), s.StepLR(o, 2)], [3]), s.CosineAnnealingLR(o, 4)], [6]
        ),
        lambda o: s.ChainedScheduler([s.ConstantLR(o, 0.1, 3), s.ExponentialLR(o, 0.9)]),
    ):
        optimizer = optimizer_of(torch)
        schedule = make(optimizer)
        for _ in range(9):
            out.append([*schedule.get_last_lr(), optimizer.param_groups[0]["lr"]])
            optimizer.step()
            schedule.step()
    return out


# how AveragedModel averages: settings by functions of swa_utils
AVERAGES: list[dict[str, Any]] = [
    {},
    {"avg_fn": lambda u: u.get_ema_avg_fn(0.9)},
    {"multi_avg_fn": lambda u: u.get_ema_multi_avg_fn(0.9)},
]


def averaged(torch: Any, settings: dict[str, Any]) -> list[Any]:
    """A training from loader to schedule: the losses, then what the averaged model says and what its state is called."""
    torch.manual_seed(0)
    u, nn, data = torch.optim.swa_utils, torch.nn, torch.utils.data
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    mean = u.AveragedModel(model, **{key: make(u) for key, make in settings.items()})
    x, y = torch.randn(64, 4), torch.randint(2, (64,))
    loader = data.DataLoader(data.TensorDataset(x, y), batch_size=16, shuffle=True)
    schedule = u.SWALR(optimizer, 0.05, 3)
    losses = []
    for _ in range(5):
        for a, b in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(a), b)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        mean.update_parameters(model)
        schedule.step()
    u.update_bn(loader, mean)
    mean.eval()
    return [losses, mean(x[:3]).tolist(), list(mean.state_dict())]
