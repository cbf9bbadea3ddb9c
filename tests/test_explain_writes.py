"""Explanations of writes in place, shared memory, lists of one tensor, results thrown away, and what holds memory."""

import numpy as np
import pytest
from cells import cell, line_numbers

import autodiff_kernel as torch
from autodiff_kernel import explain

UNSEEN = "saved value changed unseen"


# ------------------------------------------------------------------------------------------- saved values, unseen writes
def test_a_result_that_exp_had_saved_is_changed_through_data():
    ns = cell("""p = torch.tensor([0.0, 1.0], requires_grad=True)
growth = p.exp()
growth.data.mul_(3)
growth.sum().backward()
""")
    assert ns["p"].grad.tolist()[0] == 3  # wrong, and nobody said so
    for name in ("p", "growth", "p.grad"):
        a = ns.why(name)
        assert a.topic == UNSEEN and line_numbers(a) == [2, 3]
        assert "backward of p.exp() gave 3, right is 1" in a.finding and "growth.data.mul_(3)" in a.finding
        assert ".data" in a.finding and a.fix.startswith("growth = growth.clone(); growth.mul_(3)")


@pytest.mark.parametrize(
    "write",
    [
        "q.data[0] = 9.0",
        "q.data *= 9",
        "alias = q.data; alias.fill_(9.0)",
        "q.data.zero_()",
        "q.data.copy_(torch.zeros(2))",
    ],
)
def test_an_input_that_mul_had_saved(write):
    ns = cell(f"""p = torch.tensor([1.0, 2.0], requires_grad=True)
q = torch.tensor([3.0, 4.0], requires_grad=True)
product = p * q
{write}
product.sum().backward()
""")
    a = ns.why("p")
    assert a.topic == UNSEEN and line_numbers(a) == [3, 4] and "saved its input q" in a.finding
    assert "right is 3" in a.finding


def test_other_memory_put_in_the_place_of_a_saved_value():
    ns = cell("""w = torch.tensor([1.0, 2.0], requires_grad=True)
square = w * w
w.data = torch.tensor([50.0, 60.0])
square.sum().backward()
""")
    if ns["w"].grad.tolist() != [2.0, 4.0]:  # as in PyTorch, where the node reads the new memory
        a = ns.answer("w", UNSEEN)
        assert line_numbers(a) == [2, 3] and "backward" in a.fix


def test_numpy_writes_are_found_by_the_values():
    ns = cell(
        """p = torch.tensor([0.5, 1.0], requires_grad=True)
level = p.sigmoid()
array = level.detach().numpy()
array[1] = 0.0
level.sum().backward()
""",
        {"torch": torch, "np": np},
    )
    a = ns.why("p")
    assert a.topic == UNSEEN and line_numbers(a) == [2, 3, 4]
    assert "backward of p.sigmoid() gave 0, right is 0.196612" in a.finding
    assert a.fix.startswith("level.detach().numpy().copy()")


def test_it_is_told_before_backward_too():
    ns = cell("""p = torch.tensor([0.0, 1.0], requires_grad=True)
growth = p.exp()
growth.data.zero_()
""")
    assert ns.answer("growth", UNSEEN).finding.startswith("The gradient will be silently wrong")


@pytest.mark.parametrize(
    "source",
    [
        "w.data -= 0.1 * w.grad",  # after backward: nobody reads the old value any more
        "w.data.sub_(0.1 * w.grad)",
        "w.data = w.data - 0.1 * w.grad",
        "w.grad.data.zero_()",
    ],
)
def test_updates_after_backward_are_no_trouble(source):
    ns = cell(f"""w = torch.tensor([1.0, 2.0], requires_grad=True)
for step in range(3):
    loss = (w * w).sum()
    loss.backward()
    {source}
    w.grad = None
""")
    assert UNSEEN not in ns.topics("w") and "shared memory" not in ns.topics("w")


# ---------------------------------------------------------------------------------------------------------- one memory
def test_detach_and_data_share_memory():
    ns = cell("""w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
plain = w.detach()
plain[1] = -7.0
raw = w.data
raw *= 2
""")
    first, second = [a for a in ns.answers("w") if a.topic == "shared memory"]
    assert "w changed with raw" in first.finding and line_numbers(first) == [4, 5]
    assert "w changed with plain" in second.finding and line_numbers(second) == [2, 3]
    assert second.fix.startswith("plain = w.detach().clone()")
    assert "w = " not in second.fix


def test_numpy_shares_memory():
    ns = cell(
        """t = torch.ones(3, requires_grad=True)
with torch.no_grad():
    view = t.numpy()
view[2] = 8.0
source = np.zeros(2)
u = torch.from_numpy(source)
source += 4
v = torch.from_numpy(np.ones(2))
""",
        {"torch": torch, "np": np},
    )
    a = ns.answer("t", "shared memory")
    assert "t[2] was 1 and is 8" in a.finding and "view" in a.finding and line_numbers(a) == [3, 4]
    assert a.fix.startswith("t.numpy().copy()")
    b = ns.answer("u", "shared memory")
    assert (
        "u[0] was 0 and is 4" in b.finding
        and line_numbers(b) == [6, 7]
        and b.fix.startswith("torch.tensor(source)")
    )
    assert "shared memory" not in ns.topics("v")


def test_an_array_that_a_tensor_changed():
    ns = cell(
        """source = np.arange(3.0)
t = torch.from_numpy(source)
t.mul_(10)
""",
        {"torch": torch, "np": np},
    )
    a = ns.answer("source", "shared memory")
    assert "source changed with t" in a.finding and line_numbers(a) == [2, 3]


def test_views_are_told_of_quietly():
    ns = cell("""board = torch.zeros(2, 3)
top = board[0]
top.fill_(4.0)
""")
    a = ns.answer("board", "written through a view")
    assert "board changed with top: top = board[0] is a view of it" in a.finding and line_numbers(a) == [2, 3]
    assert "if board should keep its values" in a.fix


def test_different_parts_of_one_memory_do_not_change_each_other():
    ns = cell("""whole = torch.zeros(2, 4)
left, right = whole[:, :2], whole[:, 2:]
right.fill_(1.0)
""")
    assert "written through a view" not in ns.topics("left") and "written through a view" in ns.topics(
        "whole"
    )


def test_who_wrote_last():
    ns = cell("""w = torch.tensor([1.0, 2.0], requires_grad=True)
for step in range(4):
    with torch.no_grad():
        w -= 0.5
w.data.add_(1)
""")
    a = ns.answer("w", "last write")
    assert "by add, through w.data" in a.finding and line_numbers(a) == [5] and a.fix == ""
    ns = cell("x = torch.zeros(2)\nfor k in range(3):\n    x[0] = k\n")
    assert "by indexed assignment (3 times by this line)" in ns.answer("x", "last write").finding


def test_one_tensor_with_two_names():
    ns = cell("""start = torch.zeros(2)
best = start
start += 1
other = torch.zeros(2)
for each in (other,):
    each += 1
""")
    for name in ("start", "best"):
        a = ns.answer(name, "one tensor, two names")
        assert line_numbers(a) == [2, 3] and a.fix.startswith("best = start.clone()")
    assert "one tensor, two names" not in ns.topics("other")


def test_a_function_that_changes_its_argument():
    ns = cell("""def bump(t):
    t += 1
    return t.sum()
x = torch.zeros(2)
total = bump(x)
""")
    a = ns.answer("x", "last write")
    assert "x (called t there) was last changed by add" in a.finding and line_numbers(a) == [2]


# --------------------------------------------------------------------------------------------------------------- lists
def test_a_history_of_one_and_the_same_tensor():
    ns = cell("""position = torch.zeros(2)
path = []
for step in range(5):
    position += 1
    path.append(position)
copies = [position.clone(), position.clone()]
""")
    assert ns["path"][0].tolist() == [5, 5]
    for name in ("path", "position"):
        a = ns.why(name)
        assert a.topic == "one tensor in a list many times" and line_numbers(a) == [4]
        assert "path holds one and the same tensor, position, 5 times" in a.finding and "5 times" in a.finding
        assert a.fix.startswith("path.append(position.detach().clone())")
    assert "one tensor in a list many times" not in ns.topics("copies")
    by_key = cell("w = torch.zeros(2)\nbest = {}\nfor k in range(3):\n    w += 1\n    best[k] = w\n")
    b = by_key.why("best")
    assert (
        b.topic == a.topic and line_numbers(b) == [4] and b.fix.startswith("best[key] = w.detach().clone()")
    )


def test_a_history_of_tensors_that_share_memory():
    ns = cell("""w = torch.ones(3)
seen = {"steps": []}
for step in range(3):
    w.mul_(2)
    seen["steps"].append(w.detach())
""")
    a = ns.why("seen['steps']")
    assert "3 tensors of one memory, that of w" in a.finding and line_numbers(a) == [4]


def test_a_list_of_one_tensor_that_nobody_writes():
    ns = cell("w = torch.ones(3)\npair = [w, w]\nrows = list(torch.zeros(2, 2))\nrows[0].add_(1)\n")
    assert "one tensor in a list many times" not in ns.topics("pair") + ns.topics("rows") + ns.topics("w")


# -------------------------------------------------------------------------------------------------- results thrown away
@pytest.mark.parametrize(
    "start, line, fix",
    [
        ("x = torch.arange(4)", "x.float()", "x = x.float()"),
        ("x = torch.arange(4)", "x.to(torch.float64)", "x = x.to(torch.float64)"),
        ("x = torch.arange(4.)", "x.view(2, 2)", "x = x.view(2, 2)"),
        ("x = torch.ones(4)", "x.add(1)", "x = x.add(1)  # or x.add_(1)"),
        ("x = torch.ones(4)", "torch.relu(x)", "x = torch.relu(x)"),
        ("x = torch.ones(4)", "x.clamp(min=2)", "x = x.clamp(min=2)  # or x.clamp_(min=2)"),
        ("x = torch.ones(4, requires_grad=True)", "x.detach()", "x = x.detach()"),
    ],
)
def test_a_new_tensor_that_nobody_kept(start, line, fix):
    a = cell(f"{start}\n{line}\ny = x * 2\n").answer("x", "result thrown away")
    assert a.finding.startswith(f"{line} gave a new tensor that nobody kept") and line_numbers(a) == [2]
    assert a.fix.startswith(fix)


@pytest.mark.parametrize(
    "line",
    [
        "x.add_(1)",
        "y = x.float()",
        "print(x.sum())",
        "x.float().sum().item()",
        "x.backward(x)",
        "x.zero_()",
        "x[0] = 1",
    ],
)
def test_what_is_kept_or_meant(line, capsys):
    ns = cell(f"x = torch.ones(2).double()\nx.requires_grad_() if 'backward' in {line!r} else None\n{line}\n")
    assert "result thrown away" not in ns.topics("x")


@pytest.mark.parametrize(
    "line, fix",
    [
        ("x[x > 2].zero_()", "x[x > 2] = torch.zeros_like(x[x > 2])"),
        ("x[[0, 1]].add_(5)", "x[[0, 1]] = x[[0, 1]].add(5)"),
        ("x[[0, 1]][0] = 9", "x[rows, columns] = …"),
        ("x.double().mul_(2)", ""),
    ],
)
def test_writes_into_a_copy(line, fix):
    ns = cell(f"x = torch.arange(6.)\n{line}\n")
    assert ns["x"].tolist() == [0, 1, 2, 3, 4, 5]
    a = ns.answer("x", "copy written")
    assert f"{line} did not change x" in a.finding and line_numbers(a) == [2] and a.fix.startswith(fix)


@pytest.mark.parametrize(
    "line", ["x[1:].zero_()", "x[x > 2] = 0", "y = x[[0, 1]].add_(5)", "x.view(2, 3)[0] = 1"]
)
def test_writes_that_arrive(line):
    assert "copy written" not in cell(f"x = torch.arange(6.)\n{line}\n").topics("x")


# -------------------------------------------------------------------------------------------------------------- memory
def test_a_sum_that_keeps_every_graph():
    ns = cell("""w = torch.ones(200, requires_grad=True)
report = 0.0
for batch in range(70):
    cost = (w.exp() * 0.5).sum()
    cost.backward()
    report += cost
    w.grad = None
""")
    a = ns.why("report")
    assert a.topic == "graph grows" and a.certain and line_numbers(a) == [6]
    assert "70 rounds" in a.finding and "280 nodes" in a.finding and a.fix == "report += cost.item()"
    assert any(step.startswith("70 times in the graph: line 4") for step in a.trail)


def test_saved_values_count_once_and_without_what_leaves_hold():
    ns = cell("""w = torch.ones(1000, requires_grad=True)
held = 0.0
for batch in range(3):
    y = w.exp()
    held = held + (y * y).sum()
""")
    a = ns.answer("held", "graph grows")
    assert (
        not a.certain and "11.7 KiB" in a.finding
    )  # three results of exp, 4000 bytes each; w itself is not counted
    assert a.fix.startswith("held = held + (y * y).sum().item()")


def test_a_list_of_losses_with_their_graphs():
    ns = cell("""w = torch.ones(4, requires_grad=True)
curve, numbers = [], []
for batch in range(5):
    loss = (w * w).mean()
    loss.backward()
    curve.append(loss)
    numbers.append(loss.item())
""")
    a = ns.why("curve")
    assert a.topic == "graphs in a list" and "5 results" in a.finding and line_numbers(a) == [4]
    assert a.fix == "curve.append(loss.item())"
    assert "graphs in a list" not in ns.topics("numbers")


def test_results_that_nobody_differentiates():
    ns = cell("""w = torch.ones(3, requires_grad=True)
kept, used = [], []
for batch in range(4):
    kept.append(torch.sigmoid(w * batch))
    used.append(torch.sigmoid(w * batch))
torch.stack(used).sum().backward()
""")
    a = ns.answer("kept", "graphs in a list")
    assert not a.certain and "4 results" in a.finding and a.fix.endswith(".detach())")
    assert "graphs in a list" not in ns.topics("used")


def test_a_state_that_is_carried_over_backwards():
    ns = cell("""u = torch.ones(3, requires_grad=True)
state = torch.zeros(3)
for chunk in range(3):
    state = torch.sin(state + u)
    state.sum().backward(retain_graph=True)
""")
    a = ns.answer("state", "graph grows")
    assert a.certain and "3 rounds" in a.finding and a.fix.startswith("state = state.detach()")


@pytest.mark.parametrize(
    "source",
    [
        "for k in range(4):\n    h = torch.tanh(h * w)\n",  # a recurrence
        "for k in range(4):\n    total = total + (w * k).sum()\ntotal.backward()\n",  # one backward for all
        "for k in range(4):\n    (g,) = torch.autograd.grad((w**5).sum(), w, create_graph=True)\n",  # higher order
        "for k in range(4):\n    total += (w * k).sum().item()\n",
    ],
)
def test_graphs_that_are_meant_to_be_there(source):
    ns = cell("w = torch.ones(3, requires_grad=True)\nh, total, g = torch.ones(3), 0.0, None\n" + source)
    assert not [name for name in ("h", "total", "g") if "graph grows" in ns.topics(name)]


def test_memory_lists_what_is_held():
    weight = torch.zeros(100, 10, requires_grad=True)
    x = torch.ones(5, 100)
    hidden = (x @ weight).exp()
    lost = hidden.sin().sum()
    part = weight[0]
    lost.backward(retain_graph=True)
    held = explain.memory(
        {"weight": weight, "x": x, "lost": lost, "part": part, "other": 3, "rows": [x, torch.ones(2)]}
    )
    by_name = {h.name: h for h in held.holdings}
    assert set(by_name) == {"weight", "x", "lost", "part", "rows[1]"}
    assert by_name["weight"].own == 4000 and by_name["weight"].gradient == 4000
    assert by_name["part"].own == 0  # weight's memory, counted there
    assert (
        by_name["lost"].nodes == 4 and by_name["lost"].graph == 200
    )  # exp's result, read by exp's rule and by sin's
    assert held.total == 4000 + 4000 + 2000 + 4 + 200 + 8
    assert [h.name for h in held.holdings][0] == "weight" and "together" in str(held)
    assert held.holdings[0].name in str(held).splitlines()[1]


def test_memory_looks_into_models_and_dictionaries():
    class Model:
        def __init__(self):
            self.weight = torch.ones(6, requires_grad=True)

        def named_parameters(self):
            yield "weight", self.weight

    model = Model()
    names = [h.name for h in explain.memory({"model": model, "state": {"step": torch.zeros(2)}}).holdings]
    assert names == ["model.weight", "state['step']"]
    assert str(explain.memory({"n": 1})) == "No tensors."


def test_a_long_chain_without_recursion():
    ns = cell("""x = torch.ones(1, requires_grad=True)
y = x
for k in range(20_000):
    y = y * 1.0 + 0.0
""")
    assert ns.why("y") is not None
    assert explain.memory({"y": ns["y"]}).holdings[0].nodes == 40_000
