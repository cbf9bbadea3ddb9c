"""The pictures of tables and charts, placements and layers in a real Chromium: no text is cut off."""

from pathlib import Path
from typing import Any

import pytest
from modules import Deep

import autodiff_kernel as torch
from autodiff_kernel.core import device as devices
from autodiff_kernel.core import modes
from autodiff_kernel.views import descent, gradcheck, gradients, graph, jacobian, place, surface, tensors
from autodiff_kernel.views.result import Result

pytestmark = pytest.mark.browser

MEASURE = """
const svg = document.querySelector('svg');
const box = e => { const b = e.getBBox(); return [b.x, b.y, b.x + b.width, b.y + b.height]; };
return {texts: [...svg.querySelectorAll('text')].map(e => [e.textContent, ...box(e)]),
        size: [svg.viewBox.baseVal.width, svg.viewBox.baseVal.height]};
"""


def pictures() -> dict[str, Result]:
    """One picture of each kind, with long names and numbers."""
    x = torch.tensor([[-1.2345e-7, 2.0], [3.0, 1234567.0]], requires_grad=True)
    long = "a_rather_long_name_of_a_variable_that_goes_on"
    (x * x).sum().backward()
    one, two = torch.ones(3, 1), torch.arange(4.0) / 3
    history: list[dict[str, float | None]] = [{"x": 0.5}, {"x": 3e-5, long: 2.0}]
    wide = {"x": x, long: torch.ones(2, requires_grad=True)}
    return {
        "memory": tensors({long: x, "xt": x.t(), "row": x[1]}),
        "large": tensors(torch.randn(1000) * 1e-5),
        "broadcast": tensors({long: one, "b": two}, broadcast=True),
        "misfit": tensors({long: torch.ones(3, 2), "b": two}, broadcast=True),
        "gradients": gradients(wide, history=history),
        "jacobian": jacobian(torch.sin, two, v=[1.0, 2.0, -1e-7, 4.0], u=[1.0, 0.0, 0.0, 1.0], name=long),
        "coloured": jacobian(torch.sin, torch.ones(100)),
        "gradcheck": gradcheck(torch.sin, two.double(), name=long),
        "surface": surface(torch.arange(12.0).view(3, 4) * 12345.678, name=long),
        "surface of a function": surface(lambda u, v: u * v, x=(-1234.5, 1), y=(0, 98765.4)),
        "placement": placed(long),
        "blocks": layers(long),
        "descent": descent(lambda p: (p * p).sum(), [1234.5, -2.0], steps=5, name=long),
    }


def placed(long: str) -> Result:
    """Three devices with copies between all of them."""
    devices.simulate(3)
    try:
        here = torch.ones(1000, 1000)
        mark = devices.transfer_count()
        there = here.cuda(0)
        names = {
            long: here,
            "a": there,
            "b": there.cuda(1),
            "c": there.cuda(2),
            "d": there.cuda(1).cuda(0).cpu(),
        }
        return place(names, since=mark)
    finally:
        devices.simulate(0)


def layers(long: str) -> Result:
    """A network with a long name whose blocks repeat."""
    model, x = Deep(), torch.ones(4, 3)
    setattr(model, long, model.head)
    with modes.recording():
        return graph(model(x), namespace={long: model, "x": x}, blocks=True)


def test_every_text_lies_inside_its_picture(browser: Any, tmp_path: Path) -> None:
    for name, view in pictures().items():
        page = tmp_path / f"{name}.html"
        page.write_text(f"<!doctype html><meta charset='utf-8'><body>{view.svg}", encoding="utf-8")
        browser.get(page.as_uri())
        found = browser.execute_script(MEASURE)
        width, height = found["size"]
        out = [t for t in found["texts"] if t[1] < 0 or t[2] < 0 or t[3] > width or t[4] > height]
        assert found["texts"] and not out, (name, width, height, out)
