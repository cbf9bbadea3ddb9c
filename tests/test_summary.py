"""`views.summary` against what torchinfo 1.8 prints for the same models."""

import re
import subprocess
import sys
from typing import Any

import pytest

import autodiff_kernel as torch
from autodiff_kernel import nn
from autodiff_kernel.views import summary


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.pool = nn.Conv2d(1, 6, 5), nn.MaxPool2d(2)
        self.conv2, self.fc1, self.fc2 = nn.Conv2d(6, 16, 5), nn.Linear(256, 120), nn.Linear(120, 10)

    def forward(self, x: Any) -> Any:
        x = self.pool(torch.relu(self.conv1(x)))
        x = self.pool(torch.relu(self.conv2(x)))
        return self.fc2(torch.relu(self.fc1(x.flatten(1))))


class Tied(nn.Module):
    """A list that is not called, a parameter of its own, a layer called twice, one that is frozen in part, one unused."""

    def __init__(self) -> None:
        super().__init__()
        self.emb = nn.Embedding(10, 5)
        self.w = nn.Parameter(torch.ones(3))
        self.blocks = nn.ModuleList([nn.Linear(5, 5) for _ in range(2)])
        self.unused = nn.Linear(2, 2)
        self.blocks[0].weight.requires_grad_(False)

    def forward(self, x: Any) -> Any:
        x = self.emb(x)
        for block in self.blocks:
            x = block(x)
        return self.blocks[1](x)


# As torchinfo prints it, but for the unit, which it calls "Units.MEGABYTES" under Python 3.11
NET = """\
==========================================================================================
Layer (type:depth-idx)                   Output Shape              Param #
==========================================================================================
Net                                      [64, 10]                  --
├─Conv2d: 1-1                            [64, 6, 24, 24]           156
├─MaxPool2d: 1-2                         [64, 6, 12, 12]           --
├─Conv2d: 1-3                            [64, 16, 8, 8]            2,416
├─MaxPool2d: 1-4                         [64, 16, 4, 4]            --
├─Linear: 1-5                            [64, 120]                 30,840
├─Linear: 1-6                            [64, 10]                  1,210
==========================================================================================
Total params: 34,622
Trainable params: 34,622
Non-trainable params: 0
Total mult-adds (M): 17.70
==========================================================================================
Input size (MB): 0.20
Forward/backward pass size (MB): 2.36
Params size (MB): 0.14
Estimated Total Size (MB): 2.70
=========================================================================================="""


def test_a_convolutional_network() -> None:
    assert summary(Net(), (64, 1, 28, 28), verbose=0).text == NET
    assert summary(Net(), input_data=torch.zeros(64, 1, 28, 28), verbose=0).text == NET
    assert summary(Net(), (1, 28, 28), batch_dim=0, verbose=0).model.layers[0].output == (1, 10)


def test_more_columns() -> None:
    columns = ("input_size", "output_size", "num_params", "kernel_size", "mult_adds", "trainable")
    told = summary(
        Net(), (64, 1, 28, 28), col_names=columns, row_settings=("var_names",), verbose=0
    ).text.splitlines()
    found = [re.split(r" {2,}", line.strip()) for line in told]
    assert found[1] == [
        "Layer (type (var_name))",
        "Input Shape",
        "Output Shape",
        "Param #",
        "Kernel Shape",
        "Mult-Adds",
        "Trainable",
    ]
    assert found[4] == [
        "├─Conv2d (conv1)",
        "[64, 1, 28, 28]",
        "[64, 6, 24, 24]",
        "156",
        "[5, 5]",
        "5,750,784",
        "True",
    ]
    assert found[5] == ["├─MaxPool2d (pool)", "[64, 6, 24, 24]", "[64, 6, 12, 12]", "--", "2", "--", "--"]


def test_shared_and_frozen_and_unused_layers() -> None:
    told = summary(Tied(), (6, 2), dtypes=[torch.int64], verbose=0).text.splitlines()
    rows = [re.split(r" {2,}", line.replace("│    ", "│").strip()) for line in told[3:9]]
    assert rows == [
        ["Tied", "[6, 2, 5]", "9"],  # 3 of its own, 6 of the layer that is not called
        ["├─Embedding: 1-1", "[6, 2, 5]", "50"],
        ["├─ModuleList: 1-2", "--", "--"],
        ["│└─Linear: 2-1", "[6, 2, 5]", "30"],
        ["│└─Linear: 2-2", "[6, 2, 5]", "30"],
        ["│└─Linear: 2-3", "[6, 2, 5]", "(recursive)"],
    ]
    assert told[10:13] == ["Total params: 119", "Trainable params: 94", "Non-trainable params: 25"]


def test_without_an_input_only_parameters_are_shown() -> None:
    told = summary(Tied(), verbose=0).text.splitlines()
    assert told[1] == "Layer (type:depth-idx)                   Param #"
    assert told[3:9] == [
        "Tied                                     3",
        "├─Embedding: 1-1                         50",
        "├─ModuleList: 1-2                        --",
        "│    └─Linear: 2-1                       30",
        "│    └─Linear: 2-2                       30",
        "├─Linear: 1-3                            6",
    ]
    assert told[-1] == "=" * 65 and "Input size" not in "".join(told)


def test_a_resnet_cut_at_a_depth() -> None:
    from autodiff_kernel.vision.models import resnet18

    told = summary(resnet18(), (1, 3, 64, 64), depth=2, verbose=0).text
    assert "│    └─BasicBlock: 2-3                   [1, 128, 8, 8]            230,144" in told.splitlines()
    assert "├─Linear: 1-10                           [1, 1000]                 513,000" in told.splitlines()
    for line in ("Total params: 11,689,512", "Total mult-adds (M): 148.57", "Forward/backward pass size (MB): 3.25",
                 "Params size (MB): 46.76", "Estimated Total Size (MB): 50.06"):  # fmt: skip
        assert line in told


def test_the_run_leaves_no_trace() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5))
    model[1].eval()
    torch.manual_seed(0)
    state = torch.get_rng_state()
    for mode in ("train", "eval", "same"):
        summary(model, (5, 3), mode=mode, verbose=0)
    assert torch.equal(torch.get_rng_state(), state)
    assert [m.training for m in model] == [True, False, True] and model[0].weight.grad is None
    assert not model[1].running_mean.any() and int(model[1].num_batches_tracked) == 0
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


def test_a_model_that_fails_is_told_by_its_layer_and_keeps_no_hook() -> None:
    model = Net()
    with pytest.raises(RuntimeError) as caught:
        summary(model, (2, 1, 20, 20), verbose=0)
    told = str(caught.value)
    assert (
        "it stopped in fc1 (Linear), whose input had shape [2, 64]" in told and "conv2 [2, 16, 4, 4]" in told
    )
    assert caught.value.__cause__ is not None
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules()) and model.training


@pytest.mark.parametrize(
    "arguments, named, kind, words",
    [
        ((3,), {}, TypeError, "the first argument is a model"),
        ((nn.Identity(), "ab"), {}, ValueError, "input_size is a shape like"),
        (
            (nn.Identity(), (1, 2)),
            {"col_names": ["size"]},
            ValueError,
            "no column 'size'; there are input_size",
        ),
        ((nn.Identity(), (1, 2)), {"mode": "test"}, ValueError, "mode is 'eval', 'train' or 'same'"),
    ],
)
def test_misuse(arguments: Any, named: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        summary(*arguments, **named)


def test_a_script_prints_it_and_html_escapes_names() -> None:
    code = (
        "import autodiff_kernel as torch\nfrom autodiff_kernel.views import summary\n"
        "r = summary(torch.nn.Linear(2, 3), (1, 2))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, encoding="utf-8"
    )
    assert done.stdout.count("Total params: 9") == 1 and done.stderr == ""
    evil = type("A<script>", (nn.Identity,), {})()
    result = summary(evil, (2, 2), verbose=0)
    assert "<script>" not in result.html and "A&lt;script&gt;" in result.html
    assert result.alt == "1 layers, 0 parameters, 0 of them trainable"


def test_several_inputs() -> None:
    told = summary(nn.Bilinear(3, 4, 2), [(5, 3), (5, 4)], verbose=0)
    assert told.model.layers[0].output == (5, 2) and told.model.input_bytes == 4 * (15 + 20)
    assert summary(
        nn.Bilinear(3, 4, 2), input_data={"input1": torch.ones(5, 3), "input2": torch.ones(5, 4)}, verbose=0
    ).model.ran
