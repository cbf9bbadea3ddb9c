"""core/printing.py against what PyTorch printed (recorded by record_printing.py)."""

import json
import math
import pathlib

import numpy as np
import pytest

import autodiff_kernel as torch
from autodiff_kernel.core import dtype as dt
from autodiff_kernel.core import printing

CASES = json.loads((pathlib.Path(__file__).parent / "data" / "printing.json").read_text())


@pytest.fixture(autouse=True)
def defaults():
    yield
    dt.set_default_dtype(dt.float32)
    printing.set_printoptions(profile="default")


def title(case):
    return " ".join(str(value) for key, value in case.items() if key != "text")


def array_of(case):
    with np.errstate(all="ignore"):
        array = np.asarray(eval(case["data"]))
        if case["dtype"] != "bfloat16":
            return array.astype(case["dtype"])
        pytest.importorskip("ml_dtypes", reason="NumPy has no bfloat16 without it")
        return array.astype(np.float32).astype(dt.bfloat16.np)


@pytest.mark.parametrize("case", CASES, ids=title)
def test_prints_as_pytorch(case):
    array = array_of(case)
    grad = case.get("grad")
    tensor = torch.from_numpy(array)
    if grad:
        tensor.requires_grad_()
    tensor = tensor.clone() if grad == "node" else tensor
    printing.set_printoptions(**case.get("options", {}))
    dt.set_default_dtype(getattr(dt, case.get("default", "float32")))
    name = "CloneBackward0" if grad == "node" else None
    assert printing.format_tensor(array, requires_grad=bool(grad), grad_fn_name=name) == case["text"]
    assert repr(tensor) == str(tensor) == case["text"]


def test_there_are_many_cases():
    assert len(CASES) >= 300 and len({case["dtype"] for case in CASES}) == 12


def test_zero_dimensional_values_may_be_numpy_scalars():
    assert printing.format_tensor(np.float32(2)) == "tensor(2.)"
    assert printing.format_tensor(np.bool_(True)) == "tensor(True)"


def test_notes_that_only_the_caller_knows():
    array = np.arange(3, dtype=np.int32)
    text = printing.format_tensor(array, device="cuda:0", requires_grad=True, tangent="tensor(1.)")
    assert text.splitlines() == [
        "tensor([0, 1, 2], device='cuda:0', dtype=torch.int32, requires_grad=True,",
        "       tangent=tensor(1.))",
    ]
    assert printing.format_tensor(np.ones((2, 1), np.float32), prefix="Mine(") == "Mine([[1.],\n      [1.]])"
    assert printing.format_tensor(np.ones((2, 1), np.float32), indent=2) == "tensor([[1.],\n   [1.]])"


def test_only_the_shown_part_is_read():
    read = []

    def to_host(piece):
        read.append(piece.size)
        return piece

    huge = np.broadcast_to(np.float32(0.5), (10**6, 10**6))
    text = printing.format_tensor(huge, to_host=to_host)
    assert text.startswith("tensor([[0.5000, 0.5000, 0.5000,  ..., 0.5000, 0.5000, 0.5000],\n")
    assert text.count("...") == 7 and read == [9] * 4


def test_options():
    assert printing.get_printoptions() == {
        "precision": 4,
        "threshold": 1000,
        "edgeitems": 3,
        "linewidth": 80,
        "sci_mode": None,
    }
    printing.set_printoptions(profile="full", precision=7, sci_mode=True)
    options = printing.get_printoptions()
    assert (options["threshold"], options["precision"], options["sci_mode"]) == (math.inf, 7, True)
    printing.set_printoptions(linewidth=60)
    assert printing.get_printoptions()["sci_mode"] is None  # as in PyTorch, every call sets it
    with pytest.raises(ValueError, match="unknown profile 'long'"):
        printing.set_printoptions(profile="long")


def test_options_inside_a_block():
    with pytest.raises(KeyError), printing.printoptions(precision=1):
        assert printing.format_tensor(np.float32(0.25)) == "tensor(0.2)"
        raise KeyError
    assert printing.format_tensor(np.float32(0.25)) == "tensor(0.2500)"
