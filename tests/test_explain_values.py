"""Explanations of values: where nan and inf came from, whole numbers, lost digits, kinks, shapes and dtypes."""

import pytest
from cells import cell, line_numbers

import autodiff_kernel as torch
from autodiff_kernel import explain


# ------------------------------------------------------------------------------------------------ nan and inf, forward
def test_softmax_by_hand_overflows():
    ns = cell("""scores = torch.tensor([[2.0, 500.0], [0.0, 1.0]])
weights = scores.exp() / scores.exp().sum(dim=1, keepdim=True)
mixed = weights.sum(dim=0) * 2
""")
    for name in ("weights", "mixed", "scores"):  # the result, what came of it, and what it was computed from
        a = ns.answer(name, "nan")
        assert "exp(500) = inf" in a.finding and "inf / inf = nan" in a.finding
        assert line_numbers(a) == [2]
    assert ns.why("weights").fix.startswith("weights = torch.softmax(scores, dim=1)")
    assert any("went on through sum, mul" in step for step in ns.why("mixed").trail)


@pytest.mark.parametrize(
    "line, said",
    [
        ("bad = torch.tensor([4.0, -9.0]).sqrt()", "sqrt(-9) = nan"),
        ("bad = torch.tensor([1.0, -2.0]).log()", "log(-2) = nan"),
        ("bad = torch.tensor([1.0, 0.0]) / torch.tensor([0.5, 0.0])", "0 / 0 = nan"),
        ("bad = torch.tensor([3.0]) / torch.tensor([0.0])", "3 / 0 = inf"),
        ("bad = 1 / torch.tensor([2.0, 0.0])", "1 / 0 = inf"),
        ("bad = torch.tensor([0.0]).log()", "log(0) = -inf"),
        ("bad = torch.tensor([-8.0]) ** 0.5", "(-8 ** 0.5"),
        ("bad = torch.tensor([1e30]) * torch.tensor([1e30])", "becomes inf"),
        ("bad = torch.tensor([2.0]).acos()", "acos(2) = nan"),
        ("bad = torch.tensor([float('inf')]) - torch.tensor([float('inf')])", "inf - inf = nan"),
        ("bad = torch.zeros(0).mean()", "no elements"),
    ],
)
def test_what_makes_nan_and_inf(line, said):
    a = cell(f"n = 1\n{line}\n").why("bad")
    assert a.topic in ("nan", "inf") and line_numbers(a)[-1] == 2
    assert said.lstrip("(") in a.finding


def test_zero_times_inf_is_told_in_two_steps():
    ns = cell("""p = torch.tensor([0.5, 0.0, 0.5])
entropy = -(p * p.log()).sum()
""")
    a = ns.why("entropy")
    assert "log(0) = -inf, and 0 * (-inf) = nan" in a.finding and line_numbers(a) == [2]
    assert a.fix == "p.clamp(min=1e-12).log()"


def test_the_spread_of_one_sample():
    ns = cell("""batch = torch.ones(1, 4)
spread = batch.std(dim=0)
total = batch.var()
one = torch.tensor([[3.0]]).var()
""")
    a = ns.why("spread")
    assert "n - 1 = 0" in a.finding and "one sample" in a.finding and line_numbers(a) == [2]
    assert a.fix.startswith("batch.std(dim=0, correction=0)")
    assert ns.topics("total")[0] not in ("nan", "inf") and ns.why("one").topic == "nan"


def test_a_row_that_is_masked_as_a_whole():
    ns = cell("""scores = torch.zeros(2, 3)
hidden = torch.tensor([[False, True, False], [True, True, True]])
masked = scores.masked_fill(hidden, float("-inf"))
attention = masked.softmax(dim=-1)
""")
    a = ns.why("attention")
    assert "masked[1, :]" in a.finding and "0 / 0" in a.finding and line_numbers(a) == [3, 4]
    assert "dim=1" in a.fix
    assert "inf" not in ns.topics("masked")  # it was put there on purpose


def test_half_precision_ends_early():
    ns = cell("""speed = torch.tensor([400.0, 2.0]).half()
energy = speed * speed
far = torch.tensor([1e5]).half()
thousands = torch.full((70,), 1000.0, dtype=torch.float16)
total = thousands.sum()
""")
    a = ns.why("energy")
    assert a.topic == "inf" and "400 * 400 = 160000" in a.finding and "65504" in a.finding
    assert line_numbers(a) == [2] and a.fix.startswith("speed.float() * speed.float()")
    assert "100000 does not fit into float16" in ns.why("far").finding
    assert "70000" in ns.why("total").finding and "65504" in ns.why("total").finding


def test_nan_that_came_with_the_data():
    ns = cell("""rows = torch.tensor([[1.0, float("nan")], [2.0, 3.0]])
means = rows.mean(dim=0)
""")
    a = ns.why("means")
    assert "rows held nan from the start" in a.finding and line_numbers(a) == [1]


def test_large_values_are_found_while_they_can_be_computed_again():
    ns = cell("""x = torch.full((40, 40), 60.0)
y = ((x * 2).exp() * 0.5).sum()
""")
    a = ns.why("y")
    assert "exp(120) = inf" in a.finding and line_numbers(a) == [2]


def test_large_values_that_are_gone_are_not_guessed_at():
    ns = cell("""def load():
    x = torch.ones(100)
    x[7] = -1.0
    return x.log()
y = load()
x = None
z = y * 2
""")
    a = ns.why("z")
    assert not a.certain and a.topic == "nan" and "not kept" in a.finding
    assert line_numbers(a) == [4]


def test_a_training_that_ran_away():
    ns = cell("""w = torch.tensor([1.0, -2.0], requires_grad=True)
rate = 0.5
for step in range(200):
    loss = (w**2).sum() * 4
    loss.backward()
    with torch.no_grad():
        w -= rate * w.grad
    w.grad = None
""")
    for name in ("w", "loss"):  # more than a history reaches back: the log still has it
        a = ns.why(name)
        assert a.topic == "diverged" and line_numbers(a) == [7] and "the updates ran away" in a.finding
        assert a.fix.startswith("rate = 0.05")
    shrinking = cell("""w = torch.tensor([1.0, -2.0], requires_grad=True)
for step in range(60):
    ((w**2).sum() * 0.5).backward()
    with torch.no_grad():
        w -= 0.25 * w.grad
        w.grad = None
bad = w / 0
""")
    assert shrinking.why("bad").topic == "inf"


def test_a_loss_by_hand_that_meets_the_logarithm_of_zero():
    ns = cell("""p = torch.tensor([1.0, 0.2], requires_grad=True)
y = torch.tensor([1.0, 0.0])
loss = -(y * p.log() + (1 - y) * (1 - p).log()).mean()
""")
    a = ns.why("loss")
    assert "log(0) = -inf, and 0 * (-inf) = nan" in a.finding and a.fix == "(1 - p).clamp(min=1e-12).log()"


def test_a_parameter_takes_nan_from_its_gradient():
    ns = cell("""w = torch.tensor([0.0, 0.0], requires_grad=True)
for step in range(3):
    loss = (w * w).sum().sqrt()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad.zero_()
""")
    for name in ("w", "loss"):
        a = ns.why(name)
        assert a.topic == "gradient is nan" and line_numbers(a) == [3, 6]
        assert "slope of sqrt at 0, which is inf" in a.finding and "inf * 0 = nan" in a.finding
        assert "w.norm()" in a.fix


# --------------------------------------------------------------------------------------------------- nan, backward
def test_where_does_not_protect_the_other_branch():
    ns = cell("""t = torch.tensor([9.0, -4.0, 0.0], requires_grad=True)
inside = t > 0
roots = torch.where(inside, t.sqrt(), torch.zeros(3))
roots.sum().backward()
""")
    for question in ("t", "t.grad"):
        a = ns.why(question)
        assert a.topic == "gradient is nan" and line_numbers(a) == [3]
        assert "backward of t.sqrt()" in a.finding and "cotangent 0" in a.finding and "where" in a.finding
        assert "torch.where(inside, t, torch.ones_like(t))" in a.fix
        assert "torch.where(inside, safe.sqrt(), torch.zeros(3))" in a.fix
    assert torch.where(ns["inside"], ns["t"], torch.ones(3)).sqrt().isfinite().all()  # the cure cures


@pytest.mark.parametrize("mask", ["torch.masked_fill(t.log(), t <= 0, 0.0)", "t.log()[t > 0]", "t.log()[:1]"])
def test_other_ways_of_leaving_elements_out(mask):
    a = cell(f"t = torch.tensor([2.0, 0.0], requires_grad=True)\n{mask}.sum().backward()\n").why("t")
    assert a.topic == "gradient is nan" and "slope of log at 0" in a.finding and line_numbers(a) == [2]
    assert "left this element out" in a.finding and "safe.log()" in a.fix


def test_the_root_of_a_sum_of_squares_at_zero():
    ns = cell("""a = torch.zeros(3, requires_grad=True)
b = torch.zeros(3, requires_grad=True)
b.norm().backward()
length = (a * a).sum().sqrt()
length.backward()
""")
    a = ns.why("a")
    assert "slope of sqrt at 0, which is inf" in a.finding and line_numbers(a) == [4] and "a.norm()" in a.fix
    assert not [t for t in ns.topics("b") if "nan" in t or "inf" in t]


@pytest.mark.parametrize(
    "line, function, fix",
    [
        ("(v ** 0.5).sum().backward()", "the power", "(v + 1e-12) ** 0.5"),
        ("v.sqrt().sum().backward()", "sqrt", "(v + 1e-12).sqrt()"),
        ("(1 / (1 + torch.exp(100 - v))).sum().backward()", "exp", "(100 - v).clamp(max=80).exp()"),
        ("(1 - v).acos().sum().backward()", "acos", "(1 - v).clamp(-1 + 1e-6, 1 - 1e-6).acos()"),
    ],
)
def test_infinitely_steep_functions(line, function, fix):
    a = cell(f"v = torch.zeros(2, requires_grad=True)\n{line}\n").why("v")
    assert (
        a.topic.startswith("gradient is") and f"slope of {function} at" in a.finding and a.fix.startswith(fix)
    )


def test_a_gradient_returned_by_autograd_grad():
    ns = cell("""v = torch.zeros(2, requires_grad=True)
(g,) = torch.autograd.grad(v.sqrt().sum(), v)
""")
    assert ns.why("g").topic == "gradient is inf" and line_numbers(ns.why("g")) == [2]


def test_a_gradient_that_is_nan_because_the_value_was():
    ns = cell("""x = torch.full((90,), 100.0, requires_grad=True)
y = x.exp()
z = (y / y).sum()
z.backward()
""")
    a = ns.why("x")
    assert (
        a.topic == "gradient is nan"
        and "already in the forward pass" in a.finding
        and "exp(100) = inf" in a.finding
    )


# ------------------------------------------------------------------------------------------------------ whole numbers
def test_whole_numbers_wrap_around():
    ns = cell("""pixels = torch.tensor([[250, 3], [128, 7]], dtype=torch.uint8)
brighter = pixels + 30
darker = pixels - 5
turned = 100 - pixels
small = torch.tensor([100], dtype=torch.int8) * 2
many = torch.arange(1, 25).prod()
cut = torch.tensor([300, 5]).to(torch.uint8)
""")
    a = ns.why("brighter")
    assert a.topic == "wrapped around" and "250 + 30 = 280" in a.finding and "280 - 256 = 24" in a.finding
    assert "1 of 4" in a.finding and line_numbers(a) == [2] and a.fix.startswith("pixels.int() + 30")
    assert "3 - 5 = -2" in ns.why("darker").finding and "-2 + 256 = 254" in ns.why("darker").finding
    assert "100 - 250 = -150" in ns.why("turned").finding and ns.why("turned").fix.startswith(
        "100 - pixels.int()"
    )
    assert "100 * 2 = 200" in ns.why("small").finding and "200 - 256 = -56" in ns.why("small").finding
    assert "620448401733239439360000" in ns.why("many").finding
    assert "300 became 44" in ns.why("cut").finding
    assert len([t for t in ns.topics("pixels") if t == "wrapped around"]) == 3


def test_three_ways_to_divide():
    ns = cell("""n = torch.tensor([9, -9])
down = n // 4
exact = n / 4
cut = torch.div(n, 4, rounding_mode="trunc")
same = torch.tensor([8]) // 4
""")
    for name, value, line in (("down", "-3", 2), ("exact", "-2.25", 3), ("cut", "-2", 4)):
        a = ns.answer(name, "division of whole numbers")
        assert f"{name} is {value} for -9 divided by 4" in a.finding and line_numbers(a) == [line]
        text = "\n".join(a.trail)
        assert "(-9) / 4 = -2.25" in text and "(-9) // 4 = -3" in text and "= -2: towards zero" in text
    assert "division of whole numbers" not in ns.topics("same")


def test_fractions_that_integers_cannot_hold():
    ns = cell("""counts = torch.zeros(3, dtype=torch.long)
counts[1] = 0.75
more = torch.zeros_like(counts)
more.copy_(torch.tensor([0.5, 1.0, 2.0]))
""")
    a = ns.why("counts")
    assert a.topic == "fraction cut off" and "0.75 was stored as 0" in a.finding and line_numbers(a) == [2]
    assert "0.5 was stored as 0" in ns.answer("more", "fraction cut off").finding


def test_numbers_that_an_integer_tensor_was_made_of():
    ns = cell("""n = torch.full((2,), 1.5, dtype=torch.long)
m = torch.tensor([3.9, 2.0], dtype=torch.int32)
k = torch.full_like(torch.tensor([1]), 0.5)
fine = torch.full((2,), 2.0, dtype=torch.long)
""")
    for name, said, line in (
        ("n", "1.5 was stored as 1", 1),
        ("m", "3.9 was stored as 3", 2),
        ("k", "0.5", 3),
    ):
        a = ns.answer(name, "fraction cut off")
        assert said in a.finding and line_numbers(a) == [line]
    assert "fraction cut off" not in ns.topics("fine")


def test_casts_cut_and_round_goes_to_the_even_neighbour():
    ns = cell("""t = torch.tensor([2.9, -1.2])
cut = t.int()
halves = torch.tensor([0.5, 1.5, 2.5]).round()
whole = torch.tensor([2.0, 3.0]).long()
""")
    a = ns.answer("cut", "cut by a cast")
    assert (
        "2.9 to 2" in a.finding and a.fix == "" and "t.round().int()" in a.trail[0] and line_numbers(a) == [2]
    )
    assert "0.5 to 0" in ns.answer("halves", "rounded").finding
    assert "cut by a cast" not in ns.topics("whole")


def test_places_that_occur_twice_and_masks_of_numbers():
    ns = cell("""counts = torch.zeros(4)
seen = torch.tensor([0, 0, 2])
counts[seen] += 1
marks = torch.tensor([1, 0, 1, 1])
chosen = counts[marks]
others = ~marks
proper = counts[marks.bool()]
apart = ~(marks > 0)
once = torch.zeros(3)
once[torch.tensor([0, 2])] += 1
""")
    a = ns.answer("counts", "counted once")
    assert "place 0 of counts only once" in a.finding and "2 times" in a.finding and line_numbers(a) == [3]
    assert a.fix.startswith("counts.index_add_(0, seen, torch.full((3,), 1.0))")
    b = ns.answer("chosen", "numbers as a mask")
    assert not b.certain and b.fix == "counts[marks.bool()]" and line_numbers(b) == [5]
    c = ns.answer("others", "bits flipped")
    assert "~1 is -2" in c.finding and c.fix == "~marks.bool()" and line_numbers(c) == [6]
    assert not {"numbers as a mask", "bits flipped"} & set(ns.topics("proper") + ns.topics("apart"))
    assert "counted once" not in ns.topics("once")


def test_truth_values_do_not_count():
    ns = cell("""a = torch.tensor([True, True, False])
b = torch.tensor([True, False, False])
both = a + b
counted = a.int() + b
""")
    a = ns.answer("both", "truth values added")
    assert line_numbers(a) == [3] and a.fix.startswith("a.int() + b")
    assert ns["both"].tolist() == [True, True, False] and ns["counted"].tolist() == [2, 1, 0]
    assert "truth values added" not in ns.topics("counted")


def test_questions_about_nothing_known_are_told_apart_from_mistakes():
    class Silent:
        def __getattr__(self, name):
            raise RuntimeError(name)

    class Odd:
        def named_parameters(self):
            yield 1

    cycle = []
    cycle.append(cycle)
    for x in (None, 1, "x", cycle, {"a": cycle}, Silent(), Odd(), Odd, lambda: 0, 10**30, range(3)):
        assert explain.why(x, {}).topic == "nothing" and explain.answers(x, {1: x, "y": cycle}) == []
        for ask in (explain.shapes, explain.dtypes):
            with pytest.raises(TypeError, match=r"takes a tensor, not"):
                ask(x)
    for ask in (explain.why, explain.answers, explain.shapes, explain.dtypes):
        with pytest.raises(TypeError, match="namespace is a dictionary of names"):
            ask(torch.ones(1), [1])
