"""Explanations of lost precision, kinks, shapes and dtypes; healthy code gives no alarm."""

import numpy as np
import pytest
from cells import cell, codes, line_numbers

import autodiff_kernel as torch
from autodiff_kernel import explain


# ----------------------------------------------------------------------------------------------------------- precision
def test_floats_compared_to_the_last_digit():
    ns = cell("""total = sum([torch.tensor(0.1)] * 10, torch.tensor(0.0))
equal = total == 1
gap = torch.tensor([1.0, float("nan")])
is_nan = gap == float("nan")
asked = gap != gap
exact = torch.tensor([0.5, 2.0]) == torch.tensor([0.5, 1.0])
""")
    a = ns.answer("equal", "floats compared exactly")
    assert (
        "1.00000012 and 1 differ" in a.finding
        and line_numbers(a) == [2]
        and a.fix.startswith("torch.isclose(total")
    )
    assert not ns["equal"] and torch.isclose(ns["total"], torch.tensor(1.0))
    b = ns.answer("is_nan", "nan compared")
    assert b.fix == "torch.isnan(gap)" and line_numbers(b) == [4]
    third = cell("third = torch.tensor(0.1) + torch.tensor(0.2)\nsame = third == 0.3\n")
    assert third["same"] and "floats compared exactly" not in third.topics("same")
    assert not {"nan compared", "floats compared exactly"} & set(ns.topics("asked") + ns.topics("exact"))


def test_whole_numbers_that_floats_cannot_hold():
    ns = cell("n = torch.tensor([5, 16777217])\nf = n.float()\nd = n.double()\n")
    a = ns.answer("f", "digits lost")
    assert "16777217 to 16777216" in a.finding and "2**24" in a.finding and a.fix == "n.double()"
    assert "digits lost" not in ns.topics("d")


def test_values_that_nobody_set():
    ns = cell("""buffer = torch.empty(3)
total = buffer.sum()
filled = torch.empty(2, 2).normal_()
parts = torch.empty(2)
parts[0], parts[1] = 1.0, 2.0
used = parts * 2 + filled.sum()
""")
    a = ns.why("total")
    assert a.topic == "never set" and line_numbers(a) == [1, 2] and a.fix == "torch.zeros(3)"
    assert ns.why("buffer").topic == "never set"
    assert not [name for name in ("filled", "parts", "used") if "never set" in ns.topics(name)]


def test_too_small_for_the_dtype():
    ns = cell("""rate = torch.tensor([2e-9]).half()
chances = torch.full((50,), 1e-2)
likelihood = chances.prod()
""")
    a = ns.why("rate")
    assert a.topic == "underflow" and "2e-09" in a.finding and "6e-08" in a.finding and line_numbers(a) == [1]
    b = ns.answer("likelihood", "underflow")
    assert b.fix.startswith("chances.log().sum()") and line_numbers(b) == [3]


def test_too_small_beside_the_other_operand():
    ns = cell("""x = torch.tensor([1.0, 2.0])
h = 1e-9
slope = ((x + h) ** 2 - x**2) / h
count = torch.tensor(16777216.0)
count += 1
""")
    a = ns.answer("slope", "lost in rounding")
    assert "1.19209e-07" in a.finding and line_numbers(a) == [3] and a.fix.startswith("x.double() + 1e-09")
    assert "16777216" in ns.answer("count", "lost in rounding").finding


# --------------------------------------------------------------------------------------------------------------- kinks
def test_kinks_and_the_slopes_that_backward_took():
    ns = cell("""def slope_of(f, at=0.0):
    u = torch.tensor(at, requires_grad=True)
    f(u).backward()
    return u.grad
by_relu = slope_of(torch.relu)
by_max = slope_of(lambda u: torch.max(u, torch.tensor(0.0)))
by_clamp = slope_of(lambda u: u.clamp(min=0))
by_abs = slope_of(torch.abs)
beside = slope_of(torch.relu, 0.5)
""")
    for name, took, line in (
        ("by_relu", "0", 3),
        ("by_max", "0.5", 6),
        ("by_clamp", "1", 7),
        ("by_abs", "0", 3),
    ):
        a = ns.answer(name, "kink")
        assert f"backward took {took}," in a.finding and "u is 0" in a.finding.replace(
            "both operands are 0", "u is 0"
        )
        assert line_numbers(a) == [line] and float(took) == ns[name].item()
    assert "kink" not in ns.topics("beside")


def test_equal_extremes():
    ns = cell("""shared = torch.tensor([2.0, 5.0, 5.0], requires_grad=True)
shared.max().backward()
picked = torch.tensor([2.0, 5.0, 5.0], requires_grad=True)
picked.max(dim=0).values.backward()
alone = torch.tensor([2.0, 5.0, 4.0], requires_grad=True)
alone.max().backward()
""")
    assert "backward took 0.5" in ns.answer("shared", "kink").finding
    assert "backward took 1" in ns.answer("picked", "kink").finding
    assert "kink" not in ns.topics("alone")


# -------------------------------------------------------------------------------------------------------------- shapes
def test_a_column_met_a_row():
    ns = cell("""features = torch.ones(5, 2)
guess = features @ torch.ones(2, 1)
truth = torch.arange(5.0)
error = guess - truth
loss = (error**2).mean()
right = ((guess == truth.reshape(5, 1)).float()).mean()
hits = (guess > truth).float().mean()
""")
    for name in ("loss", "error", "guess", "truth"):
        a = ns.answer(name, "both were enlarged")
        assert "[5, 1]" in a.finding and "[5]" in a.finding and "[5, 5]" in a.finding
        assert "25 values instead of 5" in a.finding and line_numbers(a) == [4, 5] and a.certain
        assert a.fix.startswith("guess - truth.reshape(guess.shape)")
    assert "both were enlarged" not in ns.topics("right")
    assert line_numbers(ns.answer("hits", "both were enlarged")) == [7, 7]


def test_row_sums_that_met_the_columns():
    ns = cell("""table = torch.rand(3, 3)
shares = table / table.sum(dim=1)
centred = table - table.mean(1)
columns = table / table.sum(dim=0)
rows = table / table.sum(dim=1, keepdim=True)
block = torch.rand(4, 4, 4)
middle = block - block.mean(dim=1)
front = block - block.mean(dim=(0, 1))
""")
    a = ns.answer("shares", "met the wrong axis")
    assert line_numbers(a) == [2, 2] and a.fix.startswith("table.sum(dim=1, keepdim=True)")
    assert line_numbers(ns.answer("centred", "met the wrong axis")) == [3, 3]
    assert ns.answer("middle", "met the wrong axis").fix.startswith(
        "block.mean(dim=1, keepdim=True)  # [4, 1, 4]"
    )
    assert "met the wrong axis" not in ns.topics("columns") + ns.topics("rows") + ns.topics("front")


def test_a_view_that_mixes_samples():
    ns = cell("""images = torch.ones(6, 2, 5)
rows = images.view(-1, 4)
net = rows @ torch.ones(4, 1)
""")
    for name in ("rows", "images", "net"):
        a = ns.answer(name, "view mixes samples")
        assert "15 rows of 4" in a.finding and "6 samples of 10" in a.finding and line_numbers(a) == [2]
        assert a.fix.startswith("images.flatten(1)") and "[6, 10]" in a.fix


def test_a_view_is_no_transpose():
    ns = cell("""photo = torch.rand(2, 6, 7, 3)
channels = photo.view(2, 3, 6, 7)
table = torch.arange(6).view(2, 3)
turned = table.reshape(3, 2)
""")
    a = ns.answer("channels", "view is no transpose")
    assert a.certain and a.fix.startswith("photo.permute(0, 3, 1, 2)") and line_numbers(a) == [2]
    assert tuple(ns["photo"].permute(0, 3, 1, 2).shape) == (2, 3, 6, 7)
    b = ns.answer("turned", "view is no transpose")
    assert not b.certain and b.fix.startswith("table.t()")


def test_squeeze_takes_the_batch_of_one():
    ns = cell("""def predict(batch):
    out = batch @ torch.ones(3, 1)
    return out.squeeze()
full = predict(torch.ones(4, 3))
rest = predict(torch.ones(1, 3))
""")
    a = ns.answer("rest", "squeeze took the batch")
    assert (
        a.certain and "[1, 1] to []" in a.finding and "[4, 1] to [4]" in a.finding and line_numbers(a) == [3]
    )
    assert a.fix.startswith("out.squeeze(1)")
    assert "squeeze took the batch" not in ns.topics("full")


def test_which_dimension_disappeared():
    ns = cell("""table = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
by_column = table.sum(dim=0)
by_row = table.mean(1)
shares = torch.softmax(table, dim=0)
""")
    a = ns.answer("by_column", "reduced dim")
    assert (
        "[2, 2] to [2]: dim 0 disappeared" in a.finding
        and "each column" in a.finding
        and line_numbers(a) == [2]
    )
    assert "table.sum(dim=1)" in a.trail[0] and a.fix == ""
    assert "dim 1 disappeared" in ns.answer("by_row", "reduced dim").finding
    assert "each column add up to 1" in ns.answer("shares", "reduced dim").finding


def test_shapes_tells_the_way_line_by_line():
    ns = cell("""x = torch.zeros(4, 3)
y = x.t() @ x
z = y.sum(dim=0)
""")
    told = explain.shapes(ns["z"], ns)
    assert told.finding == "z has the shape [3]."
    assert told.trail == (
        "line 1, torch.zeros(4, 3): [4, 3]",
        "line 2, x.t(): [4, 3] -> [3, 4]",
        "line 2, x.t() @ x: [3, 4] and [4, 3] -> [3, 3]",
        "line 3, y.sum(dim=0): [3, 3] -> [3]",
    )


# -------------------------------------------------------------------------------------------------------------- dtypes
def test_where_a_dtype_came_from():
    ns = cell(
        """array = np.linspace(0, 1, 3)
data = torch.from_numpy(array)
copied = torch.tensor(array)
w = torch.ones(3)
product = w * data
scaled = w * torch.tensor(2.0, dtype=torch.float64)
whole = torch.tensor([1, 2, 4])
ratio = whole / 2
lifted = whole * 0.5
count = (whole > 1).sum()
plain = w + 1
""",
        {"torch": torch, "np": np},
    )
    a = ns.answer("data", "dtype")
    assert "float64" in a.finding and a.fix == "torch.from_numpy(array).float()" and line_numbers(a) == [2]
    assert line_numbers(ns.answer("copied", "dtype")) == [3]
    b = ns.answer("product", "dtype")
    assert (
        "float64" in b.finding
        and "wider" in b.finding
        and b.fix == "data.to(w.dtype)"
        and line_numbers(b) == [5]
    )
    assert "has no dimensions" in ns.answer("scaled", "dtype").finding and ns["scaled"].dtype is torch.float32
    assert "float32" in ns.answer("ratio", "dtype").finding and line_numbers(ns.answer("ratio", "dtype")) == [
        8
    ]
    assert "float 0.5" in ns.answer("lifted", "dtype").finding
    assert "counts the True values" in ns.answer("count", "dtype").finding
    assert "dtype" not in ns.topics("plain")
    assert explain.dtypes(ns["product"], ns).trail == (
        "line 2, torch.from_numpy(array): float64",
        "line 4, torch.ones(3): float32",
        "line 5, w * data: float32 and float64 -> float64",
    )


# -------------------------------------------------------------------------------------------------------- healthy code
ALARMS = {
    "nan", "inf", "gradient is nan", "gradient is inf", "saved value changed unseen", "wrapped around",
    "both were enlarged", "view mixes samples", "view is no transpose", "squeeze took the batch",
    "one tensor in a list many times", "shared memory", "result thrown away", "graph grows", "graphs in a list",
    "underflow", "lost in rounding", "fraction cut off", "never set", "met the wrong axis", "truth values added",
    "floats compared exactly", "nan compared", "digits lost", "one tensor, two names", "copy written", "diverged",
    "counted once", "numbers as a mask", "bits flipped",
}  # fmt: skip

HEALTHY = """
x, y = torch.randn(16, 4), torch.randn(16, 1)
w, b = torch.randn(4, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
losses = []
for epoch in range(6):
    loss = ((x @ w + b - y) ** 2).mean()
    w.grad = b.grad = None
    loss.backward()
    losses.append(loss.item())
    with torch.no_grad():
        w -= 0.1 * w.grad
        b -= 0.1 * b.grad
---
w = torch.ones(3, requires_grad=True)
for k in range(4):
    loss = (w * w).sum()
    loss.backward()
    w.data -= 0.1 * w.grad
    w.grad.zero_()
---
logits = torch.randn(8, 5, requires_grad=True)
target = torch.randint(0, 5, (8,))
shifted = logits - logits.max(dim=1, keepdim=True).values
logp = shifted - shifted.exp().sum(dim=1, keepdim=True).log()
loss = -logp[torch.arange(8), target].mean()
loss.backward()
right = (logits.argmax(dim=1) == target).float().mean()
---
points = torch.randn(7, 2)
gaps = ((points[:, None] - points[None]) ** 2).sum(-1)
near = gaps.mean()
line = torch.arange(5.0)
table = line[:, None] * line
---
image = torch.randint(0, 200, (4, 4), dtype=torch.uint8)
lighter = image + 20
half = image // 2
scaled = image.float() / 255
---
batch = torch.randn(8, 3, 4, 4)
flat = batch.view(8, -1)
also = batch.flatten(1)
heads = torch.randn(2, 5, 12).view(2, 5, 3, 4).transpose(1, 2)
merged = torch.randn(2, 5, 7).view(-1, 7)
split = torch.arange(12).reshape(3, 4)
column = torch.randn(6).view(-1, 1)
out = torch.randn(6, 1).squeeze()
---
board = torch.zeros(3, 3)
board[1] = 2.0
board.view(-1)[4] = 1.0
row = board[2]
row += 5
copy = board.clone()
copy.add_(1)
---
q = torch.randn(2, 4, 8)
scores = q @ q.transpose(1, 2) / 8**0.5
hidden = torch.triu(torch.ones(4, 4, dtype=torch.bool), 1)
attention = scores.masked_fill(hidden, float("-inf")).softmax(-1)
best = torch.full((3,), float("-inf"))
---
x = torch.tensor([0.0, 4.0], requires_grad=True)
safe = torch.where(x > 0, x, torch.ones_like(x))
torch.where(x > 0, safe.log(), torch.zeros_like(x)).sum().backward()
---
h = torch.zeros(4)
u = torch.randn(4, 4, requires_grad=True)
states = []
for t in range(5):
    h = torch.tanh(u @ h + 1)
    states.append(h)
loss = torch.stack(states).sum()
loss.backward()
---
w = torch.ones(2, requires_grad=True)
loss = 0.0
for k in range(3):
    loss = loss + (w * k).sum()
loss.backward()
---
m = torch.zeros(3)
v = torch.zeros(3)
g = torch.tensor([1e-3, 2e-3, 0.5])
for k in range(1, 4):
    m.mul_(0.9).add_(g, alpha=0.1)
    v.mul_(0.99).add_(g * g, alpha=0.01)
    step = (m / (1 - 0.9**k)) / ((v / (1 - 0.99**k)).sqrt() + 1e-8)
---
x = torch.randn(32, 6) * 100 + 50
normal = (x - x.mean(dim=0)) / (x.var(dim=0) + 1e-5).sqrt()
p = torch.softmax(normal, dim=1)
---
weights = [torch.ones(2) for _ in range(3)]
weights[0].mul_(2)
both = [weights[1], weights[1]]
pieces = list(torch.zeros(3, 2))
pieces[0].add_(1)
print(weights[0].sum())
"""


@pytest.mark.parametrize("source", list(codes(HEALTHY)))
def test_healthy_code_gives_no_alarm(source, capsys):
    torch.manual_seed(0)
    ns = cell(source)
    for name, value in list(ns.items()):
        if isinstance(value, (torch.Tensor, list)):
            alarms = ALARMS.intersection(ns.topics(name))
            assert not alarms, (name, [str(a) for a in ns.answers(name) if a.topic in alarms])


def test_without_recording_nothing_is_claimed():
    x = torch.tensor([-1.0]).sqrt()
    a = explain.why(x)
    assert "explain.watch()" in a.finding and a.topic not in ALARMS


def test_asking_changes_nothing():
    ns = cell("""x = torch.tensor([0.0, 4.0], requires_grad=True)
y = torch.where(x > 0, x.log(), torch.zeros(2)).sum()
y.backward()
""")
    before = ns["x"].grad.tolist(), ns["x"]._version, ns["y"].fact
    explain.watch()
    try:
        first, second = ns.answers("x"), ns.answers("x")
    finally:
        explain.watch(False)
    assert first == second
    assert str((ns["x"].grad.tolist(), ns["x"]._version, ns["y"].fact)) == str(before)
