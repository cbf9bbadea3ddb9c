"""The placement view: devices, bytes, shared memory, copies, and the word "simulated"."""

import pytest

import autodiff_kernel as torch
from autodiff_kernel.core import device as devices
from autodiff_kernel.views.placement import place
from autodiff_kernel.views.placement_cards import size


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
