"""`%shapes`, `%watch`, `%descent`, `%timegrad`: as functions and in a real kernel."""

import re
from collections.abc import Iterator

import pytest
from kernels import Kernel, complaint, kernel, shown
from test_views_tensors import EVIL, sound

import autodiff_kernel as torch
from autodiff_kernel.core import modes
from autodiff_kernel.views import descent, mark, shapes, timegrad, watch
from autodiff_kernel.views.descent import adam, momentum


@pytest.fixture(scope="module")
def shell() -> Iterator[Kernel]:
    with kernel("autodiff") as running:
        running.run(
            "x = torch.ones(2, 3)\nw = torch.ones(3, requires_grad=True)\ndef bowl(x):\n    return (x * x).sum()"
        )
        yield running


# ---------------------------------------------------------------------------------------------------------- shapes
def test_shapes_of_a_value_of_a_cell_and_of_a_failing_line(shell: Kernel) -> None:
    told = shown(shell.run("%shapes (x.t() @ x).sum(0)"))
    assert re.search(r"x\.t\(\) @ x +\[3, 2\] and \[2, 3\] +\[3, 3\]", told), told
    assert told.startswith("Shapes on the way to (x.t() @ x).sum(0), which has [3]")
    told = shown(shell.run("%%shapes\na = x * 2\nb = a.mean(dim=1)"))
    assert re.search(r"a\.mean\(dim=1\) +\[2, 3\] +\[2\]", told), told
    told = shown(shell.run("%shapes x + torch.ones(2)"))
    assert re.search(r"x +\[2, 3\] +float32", told) and re.search(r"torch\.ones\(2\) +\[2\]", told)
    assert "! The size of tensor a (3) must match the size of tensor b (2)" in told


def test_shapes_alone_speaks_of_the_last_error(shell: Kernel) -> None:
    shell.run("ok = 1")
    assert "raised no error" in complaint(shell.run("%shapes"))
    shell.run("c = x @ torch.ones(2, 5)")
    told = shown(shell.run("%shapes"))
    assert re.search(r"x +\[2, 3\]", told) and re.search(r"torch\.ones\(2, 5\) +\[2, 5\]", told)


def test_shapes_lets_other_errors_through(shell: Kernel) -> None:
    complaint(shell.run("%shapes nowhere + 1"), "NameError")
    assert "3 is int, not a tensor" in complaint(shell.run("%shapes 3"))


# ----------------------------------------------------------------------------------------------------------- watch
def test_watch_counts_what_a_cell_did() -> None:
    torch.cuda.simulate(1)
    try:
        w = torch.ones(100, requires_grad=True)
        before = mark({"w": w})
        with modes.recording(True):
            y = (w * 2).exp().sum()
            y.backward()
            w.detach().cuda()
        model = sound(watch(before, namespace={"w": w, "y": y})).model
        assert model.nodes == 3 and model.gradients == ("w",)
        assert model.copies == (("cpu → cuda:0", 1, 400),)
    finally:
        torch.cuda.simulate(0)


def test_watch_counts_memory_kept_for_backward() -> None:
    w = torch.ones(1000, requires_grad=True)
    before = mark({"w": w})
    with modes.recording(True):
        y = (w * 2).exp().sin()
    model = watch(before, namespace={"w": w, "y": y}).model
    assert model.change == model.kept >= 4000
    with modes.recording(True):
        y = None
    assert watch(mark({"w": w}), namespace={"w": w}).model.idle


def test_watch_is_off_until_it_is_on(shell: Kernel) -> None:
    assert shell.run("y = (w * w).sum()").of("display_data") == []
    shell.run("%watch on")
    told = shown(shell.run("y = (w * w).sum()\ny.backward()"))
    assert re.search(r"graph nodes made +2", told) and re.search(r"gradients changed +w", told)
    assert shell.run("number = 3").of("display_data") == []
    shell.run("%watch off")
    assert shell.run("y = (w * w).sum()").of("display_data") == []
    assert "on" in complaint(shell.run("%watch maybe"))


# --------------------------------------------------------------------------------------------------------- descent
def test_steps_are_those_of_the_textbook() -> None:
    # PyTorch 2.13: SGD(lr=0.1, momentum=0.9) and Adam(lr=0.1) on x² from 1, two steps
    for step, expected in ((momentum(0.1), 0.46), (adam(0.1), 0.8004122286917927)):
        x = torch.tensor(1.0, dtype=torch.float64)
        for _ in range(2):
            x = step(x, 2 * x)
        assert x.item() == pytest.approx(expected, rel=1e-12)


def test_descent_draws_the_paths_and_tells_where_they_end() -> None:
    view = sound(descent(lambda x: x[0] ** 2 + 10 * x[1] ** 2, [2.0, 1.0], lr=0.05, steps=40))
    ends = {path.method: path.points[-1] for path in view.model.paths}
    assert ends["sgd"] == pytest.approx((2 * 0.9**40, 0.0), abs=1e-6)
    assert all(len(path.points) == 41 for path in view.model.paths)
    assert all(f">{name}</text>" in view.svg for name in ("sgd", "momentum", "adam", "start", "x[0]"))
    assert len(view.model.levels) >= 5 and all(view.model.contours)


def test_contours_lie_where_the_function_has_the_level() -> None:
    model = descent(lambda x: (x * x).sum(), [1.0, 1.0], steps=1).model
    for level, segments in zip(model.levels, model.contours, strict=True):
        for a, b, c, d in segments:
            assert a * a + b * b == pytest.approx(level, abs=0.02)
            assert c * c + d * d == pytest.approx(level, abs=0.02)


def test_a_rate_too_large_runs_away() -> None:
    view = sound(descent(lambda x: (x * x).sum(), [1.0, 1.0], lr=5.0, steps=60, methods=["sgd"]))
    assert view.model.paths[0].ran_away and "ran away" in view.text
    assert view.model.frame[1] < 10


def test_a_start_where_nothing_is_finite_and_a_flat_function() -> None:
    view = sound(descent(lambda x: torch.log(x).sum(), [-1.0, 2.0]))
    assert "not finite at the start" in view.text
    assert "Contours" not in sound(descent(lambda x: x.sum() * 0 + 1, [0.0, 1.0])).text


def test_what_descent_refuses() -> None:
    with pytest.raises(ValueError, match="two numbers"):
        descent(lambda x: x.sum(), [1.0])
    with pytest.raises(ValueError, match="there is no lbfgs"):
        descent(lambda x: x.sum(), [1.0, 2.0], methods=["lbfgs"])
    with pytest.raises(TypeError, match=r"this gave \[2\]"):
        descent(lambda x: x, [1.0, 2.0])


def test_descent_in_a_kernel(shell: Kernel) -> None:
    assert "sgd" in shown(shell.run("%descent bowl [2.,1.] --lr 0.05 --steps 5"))
    assert "adam" not in shown(shell.run("%descent bowl [2., 1.] --methods sgd"))
    shown(shell.run("start = torch.tensor([1., 2.])\n%descent (lambda x: (x * x).sum()) start"))
    assert "needs a function and a point" in complaint(shell.run("%descent bowl"))
    assert "two numbers" in complaint(shell.run("%descent bowl [1.]"))


# -------------------------------------------------------------------------------------------------------- timegrad
def test_timegrad_measures_both_passes_and_leaves_gradients_alone(shell: Kernel) -> None:
    w = torch.ones(50, requires_grad=True)
    assert timegrad(lambda: torch.ones(3, requires_grad=True).sum(), seconds=0.01).model.runs >= 5
    w.grad = kept = torch.ones(50)
    model = sound(timegrad(lambda: (w * w).exp(), seconds=0.02)).model
    assert w.grad is kept and kept.tolist() == [1.0] * 50
    assert 0 < model.forward.low <= model.forward.median <= model.forward.high
    assert model.backward.median > 0 and model.runs >= 5
    assert "forward" in shown(shell.run("%timegrad (w * w).sum()"))
    assert "no backward pass" in complaint(shell.run("%timegrad x.sum()"))


def test_hostile_names_stay_text() -> None:
    x = torch.ones(2, requires_grad=True)
    with modes.recording(True):
        y = x * 2
    sound(shapes(y, namespace={EVIL: y}))
    sound(descent(lambda x: x.sum(), [0.0, 0.0], steps=1, name=EVIL))
    sound(timegrad(lambda: x * 2, seconds=0.01, name=EVIL))
    sound(watch(mark(), namespace={EVIL: x}))


@pytest.mark.parametrize("name", ["shapes", "watch", "descent", "timegrad"])
def test_each_has_help_and_stands_in_the_list(shell: Kernel, name: str) -> None:
    [page] = shell.run(f"%{name}?").reply["payload"]
    assert "Example" in page["data"]["text/plain"]
    assert f"%{name}" in shell.run("%autodiff").text()
