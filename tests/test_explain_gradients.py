"""Explanations of missing, lost, added and vanished gradients, of cut graphs, and of parameters that do not change."""

import pytest
from cells import cell, line_numbers

import autodiff_kernel as torch
from autodiff_kernel import explain


# ------------------------------------------------------------------------------------------------ leaves that are none
@pytest.mark.parametrize(
    "line, fix",
    [
        ("theta = torch.zeros(4, requires_grad=True).double()", "theta = torch.zeros(4).double().requires_grad_()"),
        ("theta = torch.ones(2, 2, requires_grad=True) * 0.3", "theta = (torch.ones(2, 2) * 0.3).requires_grad_()"),
        ("theta = torch.ones(6, requires_grad=True).reshape(2, 3)", "theta = torch.ones(6).reshape(2, 3).requires_grad_()"),
        ("theta = 2 * torch.ones(3, requires_grad=True) - 1", "theta = (2 * torch.ones(3) - 1).requires_grad_()"),
    ],
)  # fmt: skip
def test_a_leaf_is_lost_in_its_own_line(line, fix):
    ns = cell(f"""import math
{line}
(theta ** 2).sum().backward()
""")
    assert not ns["theta"].is_leaf
    a = ns.why("theta")
    assert a.topic == "leaf lost" and set(line_numbers(a)) == {2}
    assert "theta is no leaf" in a.finding and a.fix == fix and a.lesson


def test_a_name_goes_over_to_a_result():
    ns = cell("""w = torch.randn(3, requires_grad=True)
w = w * 0.01
w.sum().backward()
""")
    a = ns.why("w")
    assert a.topic == "rebound" and line_numbers(a) == [1, 2] and "`w * 0.01`" in a.finding
    assert a.fix == "w = (w * 0.01).detach().requires_grad_()"


def test_an_update_makes_a_new_tensor_of_the_old_name():
    ns = cell("""def fit():
    slope = torch.tensor(4.0, requires_grad=True)
    for _ in range(2):
        (slope * slope).backward()
        slope = slope - 0.25 * slope.grad
        (slope + 1).backward()
        return slope
slope = fit()
""")
    a = ns.why("slope")
    assert a.topic == "rebound" and line_numbers(a) == [2, 5]
    assert a.fix == "with torch.no_grad():\n    slope -= 0.25 * slope.grad"
    assert "12_optimisers" in a.lesson


def test_the_updates_of_a_list_make_new_tensors():
    ns = cell("""params = [torch.ones(2, requires_grad=True), torch.ones(1, requires_grad=True)]
(params[0].sum() * params[1]).sum().backward()
params = [p - 0.1 * p.grad for p in params]
""")
    a = ns.why("params[1]")
    assert a.topic == "rebound" and line_numbers(a) == [1, 3]


def test_computed_tensors_are_no_alarm():
    ns = cell("""w = torch.ones(2, requires_grad=True)
h = w * 3
loss = h.sum()
loss.backward()
""")
    for name, line in (("h", 2), ("loss", 3)):
        a = ns.why(name)
        assert a.topic == "a result" and line_numbers(a)[0] == line and ".retain_grad()" in a.fix
    assert "freed by the backward of line 4" in ns.why("loss").trail[0]


def test_a_loss_that_was_made_a_leaf():
    ns = cell("""weight = torch.ones(3)
score = (weight * 5).mean()
score.requires_grad = True
score.backward()
""")
    for name in ("score", "weight"):
        a = ns.why(name)
        assert a.topic == "lone leaf" and {2, 3, 4} <= set(line_numbers(a))
        assert "score was made a leaf in line 3" in a.finding
        assert "weight = torch.ones(3, requires_grad=True)" in a.fix


def test_a_lone_leaf_over_a_cut_graph():
    ns = cell("""weight = torch.ones(3, requires_grad=True)
score = (weight.detach() * 5).mean()
score.requires_grad_()
score.backward()
""")
    a = ns.why("weight")
    assert a.topic == "lone leaf" and 2 in line_numbers(a) and "weight.detach()" in a.trail[0]


# ------------------------------------------------------------------------------------------------ None
def test_no_backward_so_far():
    ns = cell("w = torch.ones(2, requires_grad=True)\nloss = w.sum()\n")
    a = ns.why("w")
    assert a.topic == "no backward" and line_numbers(a) == [1] and "no backward has run" in a.finding


def test_the_backward_was_before_the_tensor():
    ns = cell("""w = torch.ones(2, requires_grad=True)
w.sum().backward()
w = torch.ones(2, requires_grad=True)
""")
    a = ns.why("w")
    assert a.topic == "no backward" and line_numbers(a) == [3]


def test_gradients_were_returned():
    ns = cell("""w = torch.ones(2, requires_grad=True)
loss = (w * w).sum()
g, = torch.autograd.grad(loss, w)
""")
    a = ns.why("w")
    assert a.topic == "grad returned" and line_numbers(a) == [3]


@pytest.mark.parametrize("line, topic", [("w.grad = None", "None"), ("w.grad.zero_()", "zero")])
def test_it_was_cleared(line, topic):
    ns = cell(f"""w = torch.ones(2, requires_grad=True)
w.sum().backward()
with torch.no_grad():
    w -= 0.1 * w.grad
{line}
""")
    a = ns.why("w")
    assert a.topic == "grad cleared" and line_numbers(a)[-1] == 5 and f"w.grad is {topic}" in a.finding


def test_another_tensor_of_that_name_is_in_the_graph():
    ns = cell("""bias = torch.zeros(2, requires_grad=True)
total = (bias + 1).sum()
bias = torch.zeros(2, requires_grad=True)
total.backward()
""")
    a = ns.why("bias")
    assert a.topic == "another of that name" and line_numbers(a) == [1, 3, 4]


def test_the_loss_was_computed_without_it():
    ns = cell("""a = torch.ones(2, requires_grad=True)
b = torch.ones(2, requires_grad=True)
cost = (a * 2).sum()
cost.backward()
""")
    a = ns.why("b")
    assert a.topic == "not used" and "cost was computed from a, not from b" in a.finding
    assert line_numbers(a) == [2, 3, 4]


def test_it_was_asked_for_its_gradient_too_late():
    ns = cell("""a = torch.ones(2, requires_grad=True)
b = torch.ones(2)
cost = (a * b).sum()
b.requires_grad_()
cost.backward()
""")
    a = ns.why("b")
    assert a.topic == "asked too late" and line_numbers(a) == [3, 4]


def test_backward_was_asked_for_others():
    ns = cell("""a = torch.ones(2, requires_grad=True)
b = torch.ones(2, requires_grad=True)
(a * b).sum().backward(inputs=[a])
""")
    a = ns.why("b")
    assert a.topic == "other inputs wanted" and line_numbers(a) == [3] and a.fix == "(a * b).sum().backward()"


def test_a_copy_was_used_in_its_place():
    ns = cell("""a = torch.ones(2, requires_grad=True)
b = a.clone().detach().requires_grad_()
(b * 2).sum().backward()
""")
    a = ns.why("a")
    assert a.topic == "way cut off" and line_numbers(a) == [2, 3] and "`a.clone().detach()`" in a.finding


def test_an_own_backward_gave_none():
    ns = cell("""class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(b)
        return a * b
    @staticmethod
    def backward(ctx, g):
        b, = ctx.saved_tensors
        return g * b, None
a = torch.ones(2, requires_grad=True)
b = torch.ones(2, requires_grad=True)
Product.apply(a, b).sum().backward()
""")
    assert ns["b"].grad is None
    a = ns.why("b")
    assert a.topic == "own backward gave None" and line_numbers(a)[0] == 12 and "Product" in a.finding


def test_the_way_is_too_long_to_be_known():
    ns = cell("""a = torch.ones(2, requires_grad=True)
b = torch.ones(2, requires_grad=True)
h = a.detach() * b
for _ in range(70):
    h = h * 1.01
h.sum().backward()
""")
    a = ns.why("a")
    assert a.topic == "not in the graph" and "50 operations" in a.finding  # it says so, and does not guess


def test_a_question_about_the_gradient_itself():
    ns = cell("""w = torch.ones(2, requires_grad=True)
for _ in range(2):
    (w * 2).sum().backward()
g = w.grad
""")
    assert ns.why("g").topic == "gradients added up"
    assert "why(w)" in explain.why(None, {"w": torch.ones(1, requires_grad=True)}).finding


# ------------------------------------------------------------------------------------------------ added up
def test_gradients_of_several_backwards():
    ns = cell("""w = torch.tensor([1.0, 2.0], requires_grad=True)
for _ in range(4):
    (w * 3).sum().backward()
""")
    assert ns["w"].grad.tolist() == [12, 12]
    a = ns.why("w")
    assert a.topic == "gradients added up" and "4 backwards" in a.finding
    assert line_numbers(a) == [3] and a.lines[0].what.startswith("4 times") and "w.grad = None" in a.fix


@pytest.mark.parametrize(
    "update", ["w.data -= 0.1 * w.grad", "w.data.sub_(0.1 * w.grad)", "w.detach().sub_(w.grad)"]
)
def test_updates_without_clearing(update):
    ns = cell(f"""w = torch.tensor([1.0, 2.0], requires_grad=True)
for _ in range(2):
    (w * 3).sum().backward()
    {update}
""")
    a = ns.why("w")
    assert a.topic == "gradients added up" and "changed in line 4 in between" in a.finding


def test_two_losses():
    ns = cell("""w = torch.ones(1, requires_grad=True)
(w * 2).backward()
(w * 5).backward()
""")
    a = ns.why("w")
    assert a.topic == "gradients added up" and line_numbers(a) == [2, 3]


@pytest.mark.parametrize(
    "clear", ["w.grad = None", "w.grad.zero_()", "w.grad.fill_(0)", "w.grad *= 0", "w.grad = torch.zeros(2)"]
)
def test_cleared_gradients_do_not_add_up(clear):
    ns = cell(f"""w = torch.ones(2, requires_grad=True)
for step in range(3):
    if step:
        {clear}
    (w * 2).sum().backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
""")
    assert ns["w"].grad.tolist() == [2, 2]
    assert "gradients added up" not in ns.topics("w")


def test_a_gradient_with_a_graph_of_its_own():
    ns = cell("""v = torch.tensor(3.0, requires_grad=True)
cube = v * v * v
cube.backward(create_graph=True)
""")
    assert ns["v"].grad.requires_grad
    a = ns.why("v")
    assert a.topic == "grad keeps a graph" and line_numbers(a) == [3] and "autograd.grad" in a.fix
    assert "16_higher_order" in a.lesson


# ------------------------------------------------------------------------------------------------ zero
ZERO = {
    "relu": ("h = w - 9\nloss = h.relu().sum()", 3, "above 0", "leaky_relu(h"),
    "clamp": ("h = w * 1\nloss = h.clamp(5, 6).sum()", 3, "between 5 and 6", ""),
    "round": ("h = w.round()\nloss = (h * 2).sum()", 2, "level steps", "h = w"),
    "where": ("k = torch.tensor([1.0, 1.0])\nloss = torch.where(k > 3, w, k).sum()", 3, "mask", ""),
    "masked_fill": ("k = torch.tensor([True, True])\nloss = w.masked_fill(k, 7.0).sum()", 3, "mask", ""),
    "times zero": ("k = torch.zeros(2)\nloss = (w * k).sum()", 3, "by k, which is zero", "k = 0.1 *"),
    "zero weights": ("k = torch.zeros(2, requires_grad=True)\nloss = w @ k", 3, "by k, which is zero", "k.normal_"),
    "other chosen": ("k = torch.tensor([5.0, 6.0])\nloss = torch.maximum(w, k).sum()", 3, "chose other", ""),
    "largest of all": ("k = torch.cat([w, torch.tensor([9.0])])\nloss = k.max()", 3, "chose other|takes other", ""),
    "saturated": ("h = w * 400\nloss = h.sigmoid().sum()", 3, "flat where h is", ""),
    "level point": ("h = w - torch.tensor([1.0, 2.0])\nloss = (h ** 2).sum()", 3, "slope zero where h is", ""),
    "cancelled": ("h = w * 3\nloss = (h - h).sum()", 3, "cancel", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", ZERO)
def test_zero_gradients(name):
    lines, line, says, fix = ZERO[name]
    ns = cell(f"w = torch.tensor([1.0, 2.0], requires_grad=True)\n{lines}\nloss.backward()\n")
    assert ns["w"].grad.tolist() == [0, 0]
    a = ns.answer("w", "grad is zero")
    if name not in (
        "largest of all",
        "cancelled",
    ):  # where the rule of cat, or the sum of two, is what gave 0
        assert line in line_numbers(a)
        assert any(s in a.finding for s in says.split("|")) and fix in a.fix
    assert line_numbers(a)[-1] == 4


def test_a_gradient_that_is_zero_because_of_a_write_is_not_blamed_on_the_slope():
    ns = cell("""w = torch.tensor([1.0, 2.0], requires_grad=True)
y = w.sigmoid()
y.data.fill_(1.0)
y.sum().backward()
""")
    assert ns["w"].grad.tolist() == [0, 0] and ns.why("w").topic == "saved value changed unseen"
    assert "had saved was changed" in ns.answer("w", "grad is zero").finding


def test_a_wide_layer_of_dead_neurons():
    ns = cell("""W = torch.full((20, 30), -0.5, requires_grad=True)
x = torch.ones(8, 20)
hidden = (x @ W).relu()
hidden.sum().backward()
""")
    a = ns.why("W")
    assert a.topic == "grad is zero" and "`(x @ W).relu()` in line 3" in a.finding


def test_a_seed_of_zeros():
    ns = cell("""w = torch.ones(2, requires_grad=True)
y = w * 2
y.backward(torch.zeros(2))
""")
    a = ns.why("w")
    assert a.topic == "grad is zero" and "given to backward" in a.finding and line_numbers(a) == [3]


def test_the_graph_may_be_gone():
    ns = cell("""def run(w):
    return (w * 2).clamp(max=1.0).sum()
w = torch.tensor([3.0, 4.0], requires_grad=True)
run(w).backward()
""")
    a = ns.why("w")
    assert a.topic == "grad is zero" and line_numbers(a) == [2, 2, 4]


HOOKS = {
    "tensor": ("h = w * 2\nh.register_hook(forget)", "the hook forget on h replaced"),
    "leaf": ("h = w * 2\nw.register_hook(forget)", "the hook forget on w replaced"),
    "prehook": ("h = w * 2\nh.grad_fn.register_prehook(lambda gs: (gs[0] * 0,))", "a hook on h replaced"),
    "node": (
        "h = w * 2\nh.grad_fn.register_hook(lambda gs, _: (gs[0] * 0, None))",
        "a hook on the node of h",
    ),
    "two": ("h = w * 2\nh.register_hook(forget)\nh.register_hook(lambda g: g * 2)", "hooks on h replaced"),
}


@pytest.mark.parametrize("name", HOOKS)
def test_a_gradient_that_a_hook_made_zero(name):
    lines, says = HOOKS[name]
    loss = "(h.sin() + h ** 2).sum()" if name == "tensor" else "h.sum()"
    ns = cell(f"""def forget(g):
    return torch.zeros_like(g)
w = torch.tensor([1.0, 2.0], requires_grad=True)
{lines}
{loss}.backward()
""")
    assert ns["w"].grad.tolist() == [0, 0]
    a = ns.answer("w", "grad is zero")
    assert says in a.finding and ("handle.remove()" in a.fix)
    assert line_numbers(a)[0] == (5 if "lambda" in lines and name != "two" else 1)


def test_a_function_whose_backward_gives_zeros():
    ns = cell("""class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 0
w = torch.tensor([1.0, 2.0], requires_grad=True)
Double.apply(w).sum().backward()
""")
    a = ns.answer("w", "grad is zero")
    assert "the backward of Double, which returned zeros" in a.finding and line_numbers(a)[0] == 9


@pytest.mark.parametrize("line", ["w.grad.zero_()", "w.grad.mul_(3)", "w.grad.clamp_(-1, 1)"])
def test_a_change_of_the_gradient_is_no_update_of_a_copy(line):
    ns = cell(f"""w = torch.tensor([1.0, 2.0], requires_grad=True)
(w * 2).sum().backward()
{line}
""")
    a = ns.why("w")
    assert "copy" not in a.topic and a.finding.startswith(
        "w.grad is zero: it was set to zero in line 3" if "zero" in line else "w is a leaf that requires grad"
    )


OWN_MODEL = """class Net:
    def __init__(self):
        self.w = torch.ones(3, requires_grad=True)
        self.unused = torch.ones(2, requires_grad=True)
    def __call__(self, x):
        return (self.w * x).sum()
    def parameters(self):
        return [self.w, self.unused]
net = Net()
net(3).backward()
"""


def test_a_model_of_ones_own_class_is_asked_for_its_parameters():
    ns = cell(OWN_MODEL)
    a = ns.why("net")
    assert "net.unused" in a.finding and a.topic != "nothing"
    assert [b.topic for b in explain.untrained(ns["net"], ns)] == ["not used"]


def test_attributes_of_ones_own_objects_are_names():
    ns = cell(OWN_MODEL)
    assert explain.why(ns["net"].unused, ns).finding.startswith("net.unused.grad is None")


def test_objects_that_answer_nothing_are_not_asked():
    ns = cell(
        OWN_MODEL
        + """class Odd:
    __slots__ = ()
    def __getattr__(self, name):
        raise OSError
a_first = Odd()
"""
    )
    assert explain.why(ns["net"].unused, ns).finding.startswith("net.unused.grad is None")


@pytest.mark.parametrize("shape", ["3", "()", "20, 20"])
@pytest.mark.parametrize(
    "clear",
    ["w.grad.data.zero_()", "w.grad.detach().fill_(0)", "w.grad[...] = 0", "g = w.grad.view(-1); g.mul_(0)"],
)
def test_a_gradient_cleared_under_another_name(clear, shape):
    ns = cell(f"""w = torch.ones({shape}, requires_grad=True)
for _ in range(3):
    (w * w).sum().backward()
    w.data -= 0.1 * w.grad.data
    {clear}
""")
    a = ns.why("w")
    assert a.topic == "grad cleared" and "in line 5" in a.finding and line_numbers(a) == [5]


def test_a_part_of_a_gradient_that_is_cleared_clears_it_not():
    ns = cell("""w = torch.ones(3, requires_grad=True)
for _ in range(3):
    (w * w).sum().backward()
    w.grad.data[0] = 0
""")
    assert ns.why("w").topic == "gradients added up"
