"""torch.func: vmap and its mixtures with derivatives, against PyTorch's answers; the table; what only we say.

The answers are in data/vmap.json, written by record_vmap.py for the lines of vmap_cases.py.
"""

import json
import pathlib
import warnings

import numpy as np
import pytest
import vmap_cases

import autodiff_kernel as torch
from autodiff_kernel import func
from autodiff_kernel.core import batched, levels
from autodiff_kernel.core.op import TABLE
from autodiff_kernel.func import grad, jacfwd, jacrev, jvp, vjp, vmap

ANSWERS = json.loads((pathlib.Path(__file__).parent / "data" / "vmap.json").read_text(encoding="utf-8"))
X = torch.tensor([[0.5, -1.0, 2.0], [1.5, 3.0, -0.25]])


# ------------------------------------------------------------------------------------------------ PyTorch's answers
def test_every_line_has_an_answer():
    assert list(ANSWERS) == vmap_cases.lines()
    assert len(ANSWERS) > 290


@pytest.mark.parametrize("line", vmap_cases.lines())
def test_answers(line):
    want, got = ANSWERS[line], vmap_cases.answer(line, torch)
    if isinstance(want, dict):
        assert isinstance(got, dict), f"no error, but {got}"
        assert got["type"] == want["type"]
        phrase = want["message"].split("TreeSpec")[0].split("\n")[0][:75]
        assert phrase in got["message"]
        return
    assert isinstance(got, list), got["message"]
    assert [g[:2] for g in got] == [w[:2] for w in want]
    for (_, _, values), (_, _, wanted) in zip(got, want, strict=True):
        np.testing.assert_allclose(values, wanted, rtol=2e-5, atol=2e-6)
    assert not levels.open_vmaps()
