"""The placement view: devices, bytes, shared memory, copies, and the word "simulated"."""

import pytest

import autodiff_kernel as torch
from autodiff_kernel.core import device as devices
from autodiff_kernel.views.placement import place
from autodiff_kernel.views.placement_cards import size
from autodiff_kernel.views.placement_scene import placement_scene
from autodiff_kernel.views.scene import Path, Text
from autodiff_kernel.views.style import text_width


@pytest.fixture
def gpus():
    devices.simulate(2)
    yield
    devices.simulate(0)


def test_the_cpu_alone():
    x = torch.zeros(10, 100)
    model = place({"x": x, "row": x[0], "n": 3, "words": "no tensor"}).model
    (cpu,) = model.devices
    assert (cpu.name, cpu.simulated, cpu.nbytes) == ("cpu", False, 4000)
    assert [(t.name, t.nbytes, t.shares) for t in cpu.tensors] == [("x", 4000, ""), ("row", 0, "x")]


def test_gpus_are_labelled_and_copies_counted(gpus):
    before = {pair: n for pair, (n, _) in devices.transfer_totals().items()}
    x = torch.zeros(1000, requires_grad=True)
    y = x.cuda()
    (y * y).sum().backward()
    result = place({"x": x, "y": y})
    named = {d.name: d for d in result.model.devices}
    assert named["cuda:0"].simulated and named["cuda:0"].allocated >= 4000
    assert [t.name for t in named["cpu"].tensors] == ["x", "x.grad"]
    assert [t.name for t in named["cuda:0"].tensors] == ["y"] and not named["cuda:1"].tensors
    assert "cuda:0 (simulated)" in result.text and ">simulated</span>" in result.html
    made = {(c.source, c.target): c.count for c in result.model.copies}
    gone = {(str(a), str(b)): n for (a, b), n in before.items()}
    assert made["cpu", "cuda:0"] - gone.get(("cpu", "cuda:0"), 0) == 1
    assert made["cuda:0", "cpu"] - gone.get(("cuda:0", "cpu"), 0) == 1


def test_names_are_escaped_and_bytes_readable():
    html = place({"<script>": torch.ones(3)}).html
    assert "<script>" not in html and "&lt;script&gt;" in html
    assert [size(n) for n in (0, 999, 1500, 5 * 10**6)] == ["0 B", "999 B", "1.5 kB", "5.0 MB"]


def test_a_tensor_alone_and_nothing():
    x = torch.ones(2)
    assert "x " in place(x, namespace={"x": x}).text
    assert "0 tensors" in place({}).text


def test_what_the_cell_copied_is_drawn_as_arrows(gpus):
    w = torch.ones(100, 100, requires_grad=True)
    before = torch.ones(7).cuda()
    mark = devices.transfer_count()
    names = {"w": w, "a": w.cuda(), "b": before.cuda(1)}
    names["c"] = names["b"].cpu()
    found = place(names, since=mark)
    assert [(c.source, c.target, c.count, c.nbytes, c.shapes) for c in found.model.recent] == [
        ("cpu", "cuda:0", 1, 40_000, ("[100, 100]",)),
        ("cuda:0", "cuda:1", 1, 28, ("[7]",)),
        ("cuda:1", "cpu", 1, 28, ("[7]",)),
    ]
    assert "Copied by the cell:\n  cpu → cuda:0: 1 copy, 40.0 kB ([100, 100])" in found.text
    assert "cuda:1 to cpu 1 copy, 28 B" in found.alt
    scene = placement_scene(found.model)
    heads = [s for s in scene.shapes if isinstance(s, Path) and s.fill != "none"]
    told = [s.text for s in scene.shapes if isinstance(s, Text)]
    assert len(heads) == 3 and {"1 copy, 40.0 kB", "1 copy, 28 B", "Copied by the cell."} <= set(told)
    assert told.count("simulated") == 2
    assert "<img src='data:image/svg+xml;base64," in found.html
    everything = place(names)
    assert everything.model.recent == () and "Copied since the program began." in everything.alt


@pytest.mark.parametrize("many", [1, 2, 40])
def test_the_picture_holds_all_its_texts(many):
    devices.simulate(many)
    try:
        x = torch.ones(3)
        mark = devices.transfer_count()
        for k in range(many):
            x = x.cuda(k)
        scene = placement_scene(place({"x": x}, since=mark).model)
        for s in scene.shapes:
            if isinstance(s, Text):
                wide = text_width(s.text, s.size, s.bold)
                left = {"start": s.x, "middle": s.x - wide / 2, "end": s.x - wide}[s.anchor]
                assert 0 <= left and left + wide <= scene.width and 0 < s.y < scene.height, s
        assert any("more devices" in s.text for s in scene.shapes if isinstance(s, Text)) == (many == 40)
    finally:
        devices.simulate(0)


def test_it_is_written_as_a_picture_too(gpus, tmp_path):
    found = place({"x": torch.ones(3).cuda()})
    for suffix in ("svg", "png", "pdf", "html", "txt"):
        assert found.save(tmp_path / f"place.{suffix}").stat().st_size > 100
