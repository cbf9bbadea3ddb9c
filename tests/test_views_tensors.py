"""`%tensor`, `%grad`, `%jacobian`, `%gradcheck` as functions: their numbers, their pictures, and hostile names."""

import base64
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import autodiff_kernel as torch
from autodiff_kernel.views import gradcheck, gradients, jacobian, tensors
from autodiff_kernel.views.charts import Axis
from autodiff_kernel.views.jacobian import tint
from autodiff_kernel.views.style import INK

EVIL = "<script>alert(1)</script>\"'&\\ ]]> ${x} \x1b[31m \u202e"


def pictures(html):
    return [base64.b64decode(found).decode() for found in re.findall(r"svg\+xml;base64,([^']+)'", html)]


def sound(result):
    """What every view owes: text, one well-formed picture with an alternative text, no script, bounded bytes."""
    data, metadata = result._repr_mimebundle_()
    assert len(data["text/html"]) < 1_000_000 and len(data["text/plain"]) < 1_000_000
    assert metadata["text/html"]["alt"] == result.alt and result.alt
    assert not re.search(r"<(script|style|svg|iframe)\b", data["text/html"])
    assert "\x1b" not in data["text/html"] + data["text/plain"] + data.get("image/svg+xml", "")
    assert "\u202e" not in data["text/html"] + data["text/plain"]
    drawn = pictures(data["text/html"])
    assert drawn == ([data["image/svg+xml"]] if "image/svg+xml" in data else [])
    for picture in drawn:
        tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(picture).iter()}
        assert tags <= {"svg", "title", "desc", "rect", "path", "circle", "text"}
    return result


# --------------------------------------------------------------------------------------------------------- tensors
def test_a_transpose_reads_the_same_bytes_in_another_order():
    x = torch.arange(6.0).reshape(2, 3)
    view = sound(tensors({"x": x, "xt": x.t()}))
    ribbon = view.model.ribbons[0]
    assert ribbon.names == ("x", "xt") and ribbon.itemsize == 4
    assert ribbon.order == ((0, 4, 8, 12, 16, 20), (0, 12, 4, 16, 8, 20))
    assert [slot.value for slot in ribbon.slots] == ["0", "1", "2", "3", "4", "5"]
    assert ribbon.slots[1].indices == (("[0, 1]",), ("[1, 0]",))
    assert [p.contiguous for p in view.model.parts] == [True, False]
    assert "4–7" in view.text and "x shares its memory with xt" in view.text


def test_names_and_arrays_of_the_namespace_that_share_memory():
    x = torch.zeros(4)
    space = {"x": x, "half": x[2:], "n": x.numpy(), "other": torch.zeros(4), "m": np.zeros(4)}
    view = tensors(x, namespace=space)
    assert view.model.shares == (("x", "half"), ("x", "n (NumPy)"))
    assert tensors(space["half"], namespace=space).model.parts[0].offset == 2


def test_an_expanded_number_is_one_slot_with_many_indices():
    view = sound(tensors(torch.tensor([7.0]).expand(3, 1)))
    (slot,) = view.model.ribbons[0].slots
    assert slot.indices == (("[0, 0]", "[1, 0]", "[2, 0]"),)
    assert (view.model.parts[0].strides, view.model.parts[0].nbytes, view.model.parts[0].memory) == (
        (0, 1),
        12,
        4,
    )


def test_values_are_counted_and_nan_and_inf_told_apart():
    x = torch.tensor([0.0, 1.0, 1.0, 2.0, float("nan"), float("inf")], requires_grad=True)
    view = sound(tensors(x))
    part = view.model.parts[0]
    assert (part.low, part.mean, part.high, part.nan, part.inf) == ("0", "1", "2", 1, 1)
    assert sum(part.counts) == 4 and part.counts[6] == 2
    assert "and 1 nan, 1 inf" in view.svg


@pytest.mark.parametrize(
    "x",
    [
        torch.tensor(3),
        torch.zeros(0, 3),
        torch.tensor([True, False]),
        torch.tensor([1 + 2j]),
        torch.full((2,), float("nan")),
        torch.tensor([3e38, -3e38]),
        torch.tensor([1.7e308, -1.7e308], dtype=torch.float64),
        torch.zeros(100, 100),
        torch.arange(6).reshape(2, 3).t()[1:],
    ],
    ids=lambda x: f"{x.dtype}-{tuple(x.shape)}",
)
def test_any_tensor_can_be_shown(x):
    assert sound(tensors(x)).model.parts[0].shape == tuple(x.shape)


def test_tensors_on_a_simulated_gpu():
    torch.cuda.simulate(1)
    try:
        x = torch.ones(2, 2).cuda()
        before = torch.cuda.memory_allocated()
        view = sound(tensors({"x": x, "y": x.t()}))
        assert view.model.parts[0].device == "cuda:0" and view.model.shares
        assert torch.cuda.memory_allocated() == before
    finally:
        torch.cuda.simulate(0)


def test_a_broadcast_has_ghosts():
    a, b = torch.tensor([[1.0], [2.0], [3.0]]), torch.arange(4.0)
    view = sound(tensors({"a": a, "b": b}, broadcast=True))
    found = view.model.broadcast
    assert found.shape == (3, 4) and view.alt == "a [3, 1] and b [4] give [3, 4]"
    assert [d[4] for d in found.dims] == ["b lacks it: repeated 3×", "a has 1: repeated 4×"]
    assert found.grids[0].ghosts == ((False, True, True, True),) * 3
    assert found.grids[1].ghosts == ((False,) * 4, (True,) * 4, (True,) * 4)
    assert view.svg.count("stroke-dasharray") == 9 + 8
    assert "(1)" in view.text


def test_a_broadcast_that_fails_names_the_dimension():
    view = sound(tensors({"a": torch.ones(3, 2), "b": torch.ones(4)}, broadcast=True))
    assert view.model.broadcast.shape is None
    assert "dimension -1 is 2 in one and 4 in the other" in view.alt
    with pytest.raises(RuntimeError):
        torch.ones(3, 2) + torch.ones(4)


def test_what_tensors_refuses():
    with pytest.raises(TypeError, match="this is int"):
        tensors(3)
    with pytest.raises(ValueError, match="these are 0"):
        tensors()
    with pytest.raises(ValueError, match="of two"):
        tensors(torch.ones(2), broadcast=True)


# ------------------------------------------------------------------------------------------------------- gradients
def test_gradient_sizes_and_what_is_odd():
    w = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    b, unused = torch.zeros(2, requires_grad=True), torch.ones(1, requires_grad=True)
    frozen = torch.ones(2)
    ((w @ torch.tensor([1.0, 1.0]) + b) * torch.tensor([1.0, 0.0]) * frozen).sum().backward()
    view = sound(gradients({"w": w, "b": b, "unused": unused, "frozen": frozen}))
    got = {p.name: p for p in view.model.parameters}
    assert got["w"].norm == pytest.approx(2**0.5) and got["w"].relative == pytest.approx((2 / 30) ** 0.5)
    assert got["w"].rows == (1,) and got["w"].columns == () and got["w"].state == "dead row: 1"
    assert got["b"].relative is None and got["b"].state == "1 of 2 zero"
    assert got["unused"].norm is None and got["unused"].alarming
    assert got["frozen"].state.startswith("frozen") and not got["frozen"].alarming
    assert view.model.title == "Gradients of 4 parameters, 1 without one"


def test_nan_and_all_zero_gradients_are_marked():
    a, z = torch.zeros(2, requires_grad=True), torch.ones(2, requires_grad=True)
    ((a / a).sum() + (z * 0).sum()).backward()
    got = {p.name: p for p in sound(gradients({"a": a, "z": z})).model.parameters}
    assert got["a"].state == "2 of 2 nan" and got["z"].state == "all zero"
    assert got["a"].alarming and got["z"].alarming


def test_a_history_becomes_a_curve():
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    history = []
    for factor in (1.0, 0.1, 0.01):
        w.grad = None
        (w * w).sum().mul(factor).backward()
        view = sound(gradients({"w": w}, history=history))
    assert view.model.steps[0][1] == pytest.approx((10.0, 1.0, 0.1))
    assert view.model.title.endswith("step 3") and "over the steps" in view.text
    assert view.svg.count("<circle") == 3


def test_leaves_of_the_namespace_and_lists_have_names():
    w = torch.ones(2, requires_grad=True)
    y = w * 2
    assert [p.name for p in gradients(namespace={"w": w, "again": w, "y": y}).model.parameters] == ["w"]
    assert [p.name for p in gradients([w, torch.ones(1)], namespace={"w": w}).model.parameters] == [
        "w",
        "[1]",
    ]
    with pytest.raises(ValueError, match="no parameter"):
        gradients(namespace={"y": y})
    with pytest.raises(TypeError, match="this is int"):
        gradients(3)


def test_anything_with_named_parameters():
    class Net:
        def __init__(self):
            self.a = torch.ones(2, requires_grad=True)

        def named_parameters(self):
            yield "layer.a", self.a

    assert gradients(Net()).model.parameters[0].name == "layer.a"


def test_many_parameters_stay_bounded():
    many = {f"w{i}": torch.ones(1, requires_grad=True) for i in range(500)}
    view = sound(gradients(many))
    assert "and 440 more parameters" in view.text


# -------------------------------------------------------------------------------------------------------- Jacobian
def three(x):
    return torch.stack([x[0] * x[1], -(x[0] ** 2), x[1]])


def test_a_jacobian_with_both_products():
    view = sound(jacobian(three, torch.tensor([2.0, 3.0]), v=[1.0, 0.5], u=[1.0, 0.0, 2.0]))
    m = view.model
    assert m.rows == ((3.0, 2.0), (-4.0, 0.0), (0.0, 1.0)) and "jacfwd" in m.how
    assert m.product_v == (4.0, -4.0, 0.5) and m.product_u == (3.0, 4.0)
    assert "f from [2] to [3]" in m.title
    assert all(f">{n}</text>" in view.svg for n in ("-4", "0.5", "u", "J·v", "uᵀ·J", "x[1]", "y[2]"))
    assert "J·v = [4, -4, 0.5]" in view.text and "uᵀ·J = [3, 4]" in view.text


def test_a_wide_jacobian_takes_reverse_mode_and_a_large_one_no_numbers():
    view = sound(jacobian(lambda x: (x * x).sum(), torch.ones(2, 2)))
    assert view.model.rows == ((2.0,) * 4,) and "jacrev" in view.model.how and "x[1, 1]" in view.svg
    large = sound(jacobian(lambda x: torch.cumsum(x, 0), torch.ones(100)))
    assert "the first 48 rows and columns" in large.svg and "4950 of 10000 entries are 0" in large.text


def test_what_jacobian_refuses():
    with pytest.raises(ValueError, match=r"v has the shape of x, \[2\]; this is \[3\]"):
        jacobian(three, torch.ones(2), v=[1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="int64"):
        jacobian(three, torch.ones(2, dtype=torch.int64))
    with pytest.raises(TypeError, match="gave tuple"):
        jacobian(lambda x: (x, x), torch.ones(2))


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("value", [1.0, -1.0, 0.3, -0.3, 0.0, float("nan")])
def test_ink_can_be_read_on_every_tint(value):
    assert (luminance(tint(value, 1.0)) + 0.05) / (luminance(INK) + 0.05) >= 4.5


# ------------------------------------------------------------------------------------------------------- gradcheck
def test_three_ways_agree_and_a_middling_step_is_best():
    view = sound(gradcheck(lambda x: torch.exp(x).sum(), torch.tensor([1.0, 2.0], dtype=torch.float64)))
    m = view.model
    assert m.agrees and m.verdict == "All three ways agree."
    for slope, exact in zip(m.slopes, np.exp([1.0, 2.0]), strict=True):
        assert slope.reverse == pytest.approx(exact) == slope.forward
        assert slope.differences == pytest.approx(exact, rel=1e-8)
    assert 1e-7 < m.best[0] < 1e-4 and m.best[1] < 1e-9
    assert m.curve[0][2] == pytest.approx(6e-3, rel=0.3)  # error of order h², one-sided of order h
    assert "best h ≈ 1e-" in view.svg and "step h" in view.svg


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x**2 * g


def test_a_wrong_backward_is_found():
    view = sound(gradcheck(Wrong.apply, torch.tensor(2.0, dtype=torch.float64)))
    (slope,) = view.model.slopes
    assert (slope.reverse, slope.forward, slope.off) == (8.0, None, True)
    assert slope.differences == pytest.approx(12.0)
    assert "no forward mode here" in view.text and "No step h helps" in view.text and "best h" not in view.svg


def test_a_jacobian_of_a_function_without_jvp_takes_reverse_mode():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return torch.stack([x.sum(), 2 * x.sum(), 3 * x.sum()])

        @staticmethod
        def backward(ctx, g):
            return (g[0] + 2 * g[1] + 3 * g[2]).expand(2)

    view = sound(
        jacobian(Twice.apply, torch.tensor([5.0, 6.0]), u=[1.0, 0.0, 1.0])
    )  # 3 × 2: forward mode would be less
    assert view.model.rows == ((1.0, 1.0), (2.0, 2.0), (3.0, 3.0)) and view.model.product_u == (4.0, 4.0)
    assert view.model.how.startswith("reverse mode")


def test_a_function_that_changes_its_input_leaves_x_alone():
    x = torch.tensor([1.0, 3.0], dtype=torch.float64)
    assert sound(gradcheck(lambda t: t.mul_(3), x)).model.agrees
    assert sound(jacobian(lambda t: t.mul_(3), x, v=[1.0, 2.0])).model.product_v == (3.0, 6.0)
    assert x.tolist() == [1.0, 3.0]


def test_a_kink_shows_in_one_sided_differences():
    assert "stands on a kink" in gradcheck(torch.abs, torch.zeros(1, dtype=torch.float64)).text
    assert "kink" not in gradcheck(torch.sin, torch.zeros(1, dtype=torch.float64)).text


def test_what_is_not_finite_is_told_without_a_warning(recwarn):
    x = torch.zeros(1, dtype=torch.float64)
    view = sound(gradcheck(torch.log, x))
    assert not view.model.agrees and re.search(r"∂.* +nan +inf +inf +no", view.text)
    sound(jacobian(torch.log, x, v=[0.0]))
    sound(tensors(torch.tensor([float("inf"), -float("inf"), float("nan"), 1e38])))
    big = torch.tensor([1e308, 1e308], dtype=torch.float64, requires_grad=True)
    big.sum().backward()
    sound(gradients({"big": big}))
    assert not [w for w in recwarn if "autodiff_kernel/views" in str(w.filename)]


def test_complex_results_are_refused():
    x = torch.ones(1, dtype=torch.float64)
    for view in (jacobian, gradcheck):
        with pytest.raises(TypeError, match="is complex"):
            view(lambda x: x * 1j, x)


def test_exact_differences_are_called_exact():
    assert "exact here at every step" in gradcheck(torch.round, torch.zeros(1, dtype=torch.float64)).text


def test_without_a_plot_there_is_no_picture():
    view = sound(gradcheck(torch.exp, torch.ones(1, dtype=torch.float64), plot=False))
    assert view.svg is None and view.model.curve == ()


def test_ticks_are_round():
    assert Axis([0.0, 10.0], 0, 1, log=False).ticks() == [0, 2, 4, 6, 8, 10]
    assert Axis([0.001, 1.0], 0, 1, log=True).ticks() == pytest.approx([1e-3, 1e-2, 0.1, 1.0])


# ------------------------------------------------------------------------------------------------------------ names
def test_hostile_names_stay_text():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    for result in (
        tensors({EVIL: x, "w" * 10_000: x[1:]}),
        tensors({EVIL: x, EVIL + "2": x[:1]}, broadcast=True),
        gradients({EVIL: x, "w" * 10_000: torch.ones(1, requires_grad=True)}, history=[{EVIL: 1.0}]),
        jacobian(torch.sin, x, name=EVIL, v=[1.0, 1.0]),
        gradcheck(torch.sin, x, name=EVIL),
    ):
        sound(result)
        assert len(result.text) < 20_000


SCRIPT = """
import autodiff_kernel as torch
from autodiff_kernel.views import gradcheck, gradients, jacobian, tensors
x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
(x ** 2).sum().backward()
space = {"x": x, "n": x.detach().numpy(), "row": x[1], "g": x.grad, "col": x[:, 0]}
for result in (tensors(x, x.t(), namespace=space), tensors(x, x[0], broadcast=True), gradients(namespace=space),
               jacobian(torch.sin, x[0]), gradcheck(torch.exp, x[1].double())):
    print(result._repr_mimebundle_())
"""


def test_the_bytes_are_the_same_in_every_process():
    said = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            encoding="utf-8",
        ).stdout
        for seed in ("0", "1", "271")
    }
    assert len(said) == 1 and len(said.pop()) > 10_000


def test_the_sign_of_an_entry_shows_without_colour_and_number():
    x = torch.linspace(-1.0, 1.0, 20)
    view = jacobian(lambda t: t * t, x)
    assert "ochre with a dash: negative" in view.svg
    dashes = re.findall(r"<path d='((?:M[\d. ]+L[\d. ]+)+)' stroke='#1b1f24'", view.svg)
    assert len(dashes) == 1 and dashes[0].count("M") == 10  # half of the diagonal


def test_a_wide_memory_is_drawn_in_shorter_rows():
    narrow, wide = tensors(torch.arange(32)), tensors(torch.arange(32) * 1.23456e-7)
    sizes = [float(re.search(r"width='([\d.]+)'", view.svg)[1]) for view in (narrow, wide)]
    assert max(sizes) <= 800
