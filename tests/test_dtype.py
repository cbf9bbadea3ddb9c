"""core/dtype.py: PyTorch's tables (recorded by record_dtypes.py), the objects, defaults and limits."""

import copy
import json
import pathlib
import pickle
import sys

import numpy as np
import pytest

import autodiff_kernel as torch
from autodiff_kernel.core import dtype as dt

DATA = json.loads((pathlib.Path(__file__).parent / "data" / "dtypes.json").read_text())
EVERY = [getattr(dt, name) for name in DATA["names"]]
NUMBERS = [True, 1, 1.5, 1j]


def at(code):
    return EVERY["0123456789ab".index(code)]


def table(text):
    return [list(row) for row in text.split()]


@pytest.fixture(autouse=True)
def default_dtype():
    yield
    dt.set_default_dtype(dt.float32)


def test_attributes_are_pytorchs():
    assert [d.itemsize for d in EVERY] == DATA["itemsize"]
    assert [d.is_signed for d in EVERY] == DATA["signed"]
    assert [d.to_real() for d in EVERY] == [at(code) for code in DATA["real"]]
    assert [d.name for d in EVERY if d.is_floating_point] == ["float16", "bfloat16", "float32", "float64"]
    assert [d.name for d in EVERY if d.is_complex] == ["complex64", "complex128"]
    assert [repr(d) for d in EVERY] == ["torch." + name for name in DATA["names"]]
    assert dt.float64.to_complex() is dt.complex128 is dt.complex128.to_complex()
    assert dt.float32.to_complex() is dt.complex64
    with pytest.raises(RuntimeError, match="Unknown Complex ScalarType for Long"):
        dt.int64.to_complex()


def test_aliases():
    assert (dt.half, dt.float, dt.double) == (dt.float16, dt.float32, dt.float64)
    assert (dt.short, dt.int, dt.long) == (dt.int16, dt.int32, dt.int64)
    assert (dt.cfloat, dt.cdouble) == (dt.complex64, dt.complex128)


@pytest.mark.parametrize("d", EVERY, ids=repr)
def test_copies_and_pickles_are_the_same_object(d):
    assert copy.copy(d) is copy.deepcopy(d) is d
    assert all(pickle.loads(pickle.dumps(d, protocol)) is d for protocol in range(6))


def test_objects_cannot_be_made_or_changed():
    with pytest.raises(TypeError, match="cannot create"):
        dt.dtype()
    with pytest.raises(AttributeError, match="read-only"):
        dt.float32.itemsize = 3
    with pytest.raises(AttributeError, match="has no attribute 'foo'"):
        _ = dt.float32.foo
    assert {dt.float32: 1}[dt.float] == 1 and dt.float32 != "float32"


def test_from_numpy():
    assert all(dt.of(d.np) is d for d in EVERY if d is not dt.bfloat16)
    assert dt.of(np.float32) is dt.float32 and dt.of(np.zeros(1, np.intc).dtype) is dt.int32
    assert dt.of(np.longlong) is dt.int64
    with pytest.raises(TypeError, match=r"can't convert np.ndarray of type numpy.str_"):
        dt.of(np.array("a").dtype)
    with pytest.raises(ValueError, match="byte order"):
        dt.of(np.dtype(np.float32).newbyteorder("S"))


def test_bfloat16_names_the_missing_package(monkeypatch):
    bare = dt._make("bfloat16", dt._FLOATING, 2)
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(RuntimeError, match="needs the package 'ml_dtypes'"):
        _ = bare.np


def test_promote_types():
    got = [[dt.promote_types(a, b) for b in EVERY] for a in EVERY]
    assert got == [[at(code) for code in row] for row in table(DATA["promote"])]
    with pytest.raises(TypeError, match=r"argument 'type1' \(position 1\) must be torch.dtype, not int"):
        dt.promote_types(1, dt.int32)
    with pytest.raises(TypeError, match="argument 'type2'"):
        dt.promote_types(dt.int32, "float32")


@pytest.mark.parametrize("key", DATA["result"])
def test_result_dtype(key):
    default, first, second = key.split()
    dt.set_default_dtype(getattr(dt, default))

    def dtypes(kind):
        return [dt.number_dtype(n) for n in NUMBERS] if kind == "number" else EVERY

    got = [[dt.result_dtype([(a, first), (b, second)]) for b in dtypes(second)] for a in dtypes(first)]
    assert got == [[at(code) for code in row] for row in table(DATA["result"][key])]


def test_result_dtype_of_three_kinds():
    three = [(dt.int32, "tensor"), (dt.float16, "zerodim"), (dt.complex64, "number")]
    assert dt.result_dtype(three) is dt.complex64
    assert dt.result_dtype(three[:2] + [(dt.int64, "number")]) is dt.float16
    assert dt.result_dtype([(dt.float16, "tensor"), *three]) is dt.complex64
    with pytest.raises(ValueError, match="at least one operand"):
        dt.result_dtype([])


def test_number_dtype():
    assert [dt.number_dtype(n) for n in (True, 2**70, 1.0, 1j)] == [
        dt.bool,
        dt.int64,
        dt.float32,
        dt.complex64,
    ]
    assert dt.number_dtype(np.float64(1)) is dt.float32 and dt.number_dtype(np.int8(1)) is dt.int64
    assert dt.number_dtype(np.bool_(True)) is dt.bool and dt.number_dtype(np.complex64(1)) is dt.complex64
    with pytest.raises(TypeError, match="not str"):
        dt.number_dtype("1")


def test_can_cast():
    got = [["01"[dt.can_cast(a, b)] for b in EVERY] for a in EVERY]
    assert got == table(DATA["can_cast"])
    with pytest.raises(TypeError, match="argument 'from_'"):
        dt.can_cast(1, dt.int32)


def test_default_dtype():
    assert dt.get_default_dtype() is dt.float32
    dt.set_default_dtype(dt.float64)
    assert dt.get_default_dtype() is dt.float64 and dt.number_dtype(1j) is dt.complex128
    assert dt.finfo().dtype == "float64"
    for wrong, message in [
        (dt.int32, "^only floating-point"),
        (dt.complex64, "^only floating"),
        ("float32", "invalid"),
    ]:
        with pytest.raises(TypeError, match=message):
            dt.set_default_dtype(wrong)
    assert dt.get_default_dtype() is dt.float64


@pytest.mark.parametrize("name", DATA["limits"])
def test_limits(name):
    d, (text, *expected) = getattr(dt, name), DATA["limits"][name]
    if d.is_floating_point:
        f = dt.finfo(d)
        numbers = [f.eps, f.max, f.min, f.tiny, f.smallest_normal, f.resolution]
        assert [f.bits, f.dtype] + [float(v).hex() for v in numbers] == expected
    else:
        f = dt.iinfo(d)
        assert [f.bits, f.dtype, f.max, f.min] == expected
    assert repr(f) == text


def test_limits_of_the_wrong_kind():
    assert dt.finfo(dt.complex128) == dt.finfo(dt.float64) != dt.finfo(dt.float32)
    assert dt.iinfo(dt.int8) == dt.iinfo(dt.int8)
    with pytest.raises(TypeError, match="requires a floating point"):
        dt.finfo(dt.int32)
    with pytest.raises(TypeError, match="requires an integer"):
        dt.iinfo(dt.float32)
    with pytest.raises(TypeError, match="torch.bool is not supported"):
        dt.iinfo(dt.bool)
    with pytest.raises(TypeError, match="must be torch.dtype, not str"):
        dt.finfo("float32")


# ------------------------------------------------------------------------------------------------ bare unsigned types
def test_wide_unsigned_types_store_convert_and_compare():
    for name, size in (("uint16", 2), ("uint32", 4), ("uint64", 8)):
        d = getattr(torch, name)
        x = torch.tensor([3, 1, 2], dtype=d)
        assert (d.itemsize, d.is_signed, d.is_floating_point, torch.iinfo(d).max) == (
            size,
            False,
            False,
            2 ** (8 * size) - 1,
        )
        assert repr(x[1:]) == f"tensor([1, 2], dtype=torch.{name})" and x.sort().values.tolist() == [1, 2, 3]
        assert (x == 1).tolist() == [False, True, False] and x.float().tolist() == [3, 1, 2]
        assert x.sum().dtype is torch.int64 and (x / 2).dtype is torch.float32 and (x * 2).dtype is d
        assert torch.from_numpy(x.numpy()).dtype is d
        assert torch.tensor([-1]).to(d).item() == torch.iinfo(d).max


def test_wide_unsigned_types_meet_no_other_whole_numbers():
    assert torch.promote_types(torch.uint16, torch.float16) is torch.float16
    assert torch.promote_types(torch.uint16, torch.uint16) is torch.uint16
    phrase = (
        "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote UInt16 and Long"
    )
    with pytest.raises(RuntimeError, match=phrase):
        torch.promote_types(torch.uint16, torch.int64)
    with pytest.raises(RuntimeError, match=phrase):
        torch.ones(2, dtype=torch.uint16) * torch.ones(2, dtype=torch.int64)
