"""What is huge (names, steps, inputs) stays a page: text and HTML of a view are less than a megabyte, and come soon."""

from functools import reduce

import autodiff_kernel as torch
from autodiff_kernel import explain, views
from autodiff_kernel.core import modes

LONG = "n" * 10_000


def size(result) -> int:
    return sum(len(part.encode()) for part in result._repr_mimebundle_()[0].values())


def test_a_graph_of_very_long_names() -> None:
    with modes.recording(True):
        names = {f"{i}{LONG}": torch.ones(2, requires_grad=True) for i in range(60)}
        y = reduce(lambda a, b: a * b, names.values()).sum()
    assert size(views.graph(y, namespace=names)) < 1_000_000
    assert size(views.graph(y, namespace=names, diff=True)) < 1_000_000


def test_a_trace_of_many_steps_shows_the_first_and_the_last() -> None:
    long = views.trace(lambda x: reduce(lambda a, _: a * x, range(1000), x), 1.0)
    assert size(long) < 1_000_000
    assert (
        "… 881 more steps" in long.text and "w1001 = w1000·w1" in long.text and "(1,001 terms)" in long.text
    )
    assert len(long.model.rows) == 1001


def test_a_trace_of_many_inputs_has_no_column_for_each() -> None:
    wide = views.trace(lambda *xs: sum(xs), *[1.0] * 40)
    assert "40 inputs: tangents are shown for the seeds that are asked for" in wide.text
    assert "ẇ" not in wide.text and size(wide) < 1_000_000
    assert "ẇ (seed 1, 0" in views.trace(lambda *xs: sum(xs), *[1.0] * 40, seeds=[[1.0] + [0.0] * 39]).text


def test_an_operation_on_thousands_of_tensors() -> None:
    with modes.recording(True):
        xs = [torch.ones(2, requires_grad=True) for _ in range(2000)]
        s = torch.stack(xs).sum()
        s.backward()
        names = {"xs": xs, "s": s}
        assert "[2] and [2] and 1998 more" in views.shapes(s, namespace=names).text
        # (each leaf among the inputs was once compared with each input, which took minutes)
        assert explain.why(s, names).topic == "a result"
    assert size(views.shapes(s, namespace=names)) < 1_000_000
