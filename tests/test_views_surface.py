"""`views.surface`: the model, the words, the picture, and matplotlib's."""

import math
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import autodiff_kernel as torch
from autodiff_kernel.views import surface


def test_a_matrix() -> None:
    w = torch.tensor([[1.0, 2.0, 3.0], [2.0, 5.0, 1.0]], requires_grad=True)
    shown = surface(w, name="W")
    assert shown.model.heights == ((1.0, 2.0, 3.0), (2.0, 5.0, 1.0)) and shown.model.xs == (0.0, 1.0, 2.0)
    assert "Lowest: 1 at row 0, column 0; highest: 5 at row 1, column 1." in shown.text
    assert re.search(r"row \\ column\s+0\s+1\s+2\n.*\n0\s+1\s+2\s+3\n1\s+2\s+5\s+1", shown.text)
    assert shown.svg.count("Z") == 2 and shown.svg.count("<text") == 9
    assert shown.alt == "surface of W: 2 × 3 values from 1 at row 0, column 0 to 5 at row 1, column 1"
    assert shown.alt in shown.svg and "data:image/svg+xml;base64," in shown.html


def test_a_function_is_computed_without_a_graph() -> None:
    seen = []

    def f(u: float, v: float) -> torch.Tensor:
        seen.append(torch.is_grad_enabled())
        return torch.tensor(u, requires_grad=True) * v

    shown = surface(f, x=(0, 2), y=(-1, 1), n=5, name="f")
    assert len(seen) == 25 and not any(seen) and torch.is_grad_enabled()
    assert shown.model.xs == (0.0, 0.5, 1.0, 1.5, 2.0) and shown.model.ys == (-1.0, -0.5, 0.0, 0.5, 1.0)
    assert shown.model.heights[4] == (0.0, 0.5, 1.0, 1.5, 2.0) and shown.svg.count("Z") == 16
    assert "highest: 2 at x = 2, y = 1" in shown.text


def faces(svg: str) -> list[tuple[list[float], str]]:
    """The corners of each face in the order of drawing, and its colour."""
    found = re.findall(r"<path d='(M[^']*Z)' fill='(#[0-9a-f]{6})'", svg)
    return [([float(n) for n in re.findall(r"-?[\d.]+", d)], fill) for d, fill in found]


def test_near_faces_lie_over_far_ones_and_high_ones_are_darker() -> None:
    drawn = faces(surface(np.zeros((4, 4))).svg)  # flat: what is nearer is lower on the page
    middles = [sum(points[1::2]) / 4 for points, _ in drawn]
    assert (
        len(drawn) == 9 and all(a < b + 0.11 for a, b in pairwise(middles)) and middles[-1] > middles[0] + 50
    )
    reds = [int(fill[1:3], 16) for _, fill in faces(surface(np.arange(5.0)[:, None] * np.ones(2)).svg)]
    assert len(reds) == 4 and reds == sorted(reds) and reds[0] < reds[-1]  # the far rows are the high ones


def test_what_is_not_finite_is_left_out_and_said() -> None:
    shown = surface(torch.tensor([[1.0, 2.0, 3.0], [2.0, 5.0, 1.0], [0.0, 1.0, math.nan]]))
    assert shown.svg.count("Z") == 3 and "1 value not finite: left out of the picture." in shown.text
    assert surface(np.full((2, 2), np.inf)).svg.count("Z") == 0


def test_large_matrices_are_sampled_and_it_is_said() -> None:
    shown = surface(np.zeros((500, 3)))
    assert len(shown.model.heights) == 39 and shown.model.every == (13, 1)
    assert "Shown is every 13. row and every 1. column." in shown.text


@pytest.mark.parametrize(
    ("z", "words", "text"),
    [
        (torch.zeros(3), {}, "at least 2 rows and 2 columns; this has shape [3]"),
        (torch.zeros(1, 3), {}, "this has shape [1, 3]"),
        (torch.zeros(2, 2, dtype=torch.complex64), {}, "dtype complex64"),
        (torch.zeros(2, 3), {"x": [0.0, 1.0]}, "x needs 3 numbers and y 2"),
        (lambda u, v: u, {"x": (1, 0)}, "from < to"),
        (lambda u, v: u, {"n": 100}, "n is between 2 and 41; this is 100"),
    ],
)
def test_refusals(z: object, words: dict, text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        surface(z, **words)


def test_files(tmp_path: Path) -> None:
    shown = surface(torch.arange(9.0).view(3, 3).sin(), name="W")
    for suffix, start in (
        (".png", b"\x89PNG"),
        (".pdf", b"%PDF"),
        (".svg", b"<svg"),
        (".txt", b"Surface of W"),
    ):
        first, again = (shown.save(tmp_path / f"{k}{suffix}").read_bytes() for k in "ab")
        assert first == again and first.startswith(start)  # no dates: the same data give the same bytes
