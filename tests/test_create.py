"""Constructors: what data give what dtype, what is refused, what shares memory; the old typed constructors."""

import array
import subprocess
import sys

import numpy as np
import pytest

import autodiff_kernel as torch

from .expression_cases import check, families

TYPES = {
    "HalfTensor": torch.float16,
    "FloatTensor": torch.float32,
    "DoubleTensor": torch.float64,
    "ShortTensor": torch.int16,
    "IntTensor": torch.int32,
    "LongTensor": torch.int64,
    "CharTensor": torch.int8,
    "ByteTensor": torch.uint8,
    "BoolTensor": torch.bool,
}


@pytest.mark.parametrize("expression", families()["create"])
def test_as_pytorch(expression: str) -> None:
    check(expression, torch)


@pytest.mark.parametrize("name", TYPES)
def test_typed_constructors(name: str) -> None:
    make = getattr(torch, name)
    x = make([[1, 0], [1, 1]])
    assert (x.dtype, x.shape, x.type()) == (TYPES[name], (2, 2), f"torch.{name}")
    assert make(2, 3).shape == (2, 3)
    assert make().shape == (0,)
    assert isinstance(x, make)
    assert not isinstance(x, torch.LongTensor if name != "LongTensor" else torch.IntTensor)
    y = make(x)
    assert y is not x
    assert y.data_ptr() == x.data_ptr()
    assert make.dtype == TYPES[name]


def test_the_seeds_constructors() -> None:
    assert torch.FloatTensor().tolist() == []
    assert torch.FloatTensor(3, 3).shape == (3, 3)
    assert (torch.FloatTensor([1.0]) * torch.DoubleTensor([2.0])).dtype == torch.float64
    with pytest.raises(ValueError, match=r"expected sequence of length 2 at dim 1 \(got 1\)"):
        torch.IntTensor([[1, 2], [3]])
    x = torch.FloatTensor([1, 2])
    assert x.float() is x
    assert x.type("torch.FloatTensor") is x
    assert [x.byte().dtype, x.half().dtype, x.type_as(torch.LongTensor(1)).dtype] == [
        torch.uint8,
        torch.float16,
        torch.int64,
    ]


@pytest.mark.parametrize(
    "data",
    [
        [[1, 2], [3, 4]],
        ((1, 2), (3, 4)),
        [range(1, 3), (3, 4)],
        [array.array("i", [1, 2]), [3, 4]],
        [np.array([1, 2]), (3, np.int64(4))],
        [[torch.tensor(1), 2], torch.tensor([3, 4]).tolist()],
        np.array([[1, 2], [3, 4]]),
    ],
)
def test_any_sequences_make_a_tensor(data: object) -> None:
    for make in (torch.tensor, torch.IntTensor, torch.Tensor):
        assert make(data).tolist() == [[1, 2], [3, 4]]


def test_data_are_copied_and_arrays_can_be_shared() -> None:
    a = np.ones(2)
    copied, shared = torch.tensor(a), torch.from_numpy(a)
    also = torch.as_tensor(a)
    a[0] = 5
    assert (copied.tolist(), shared.tolist(), also.tolist()) == ([1, 1], [5, 1], [5, 1])
    shared.sub_(shared)
    assert a.tolist() == [0, 0]
    assert torch.asarray(a).data_ptr() == shared.data_ptr()
    assert torch.asarray(a, copy=True).data_ptr() != shared.data_ptr()
    with pytest.raises(ValueError, match="can't alias"):
        torch.asarray([1], copy=False)
    t = torch.ones(2)
    assert torch.as_tensor(t) is t
    assert torch.as_tensor(t, dtype=torch.float64) is not t


def test_memory_that_may_not_be_written() -> None:
    with pytest.warns(UserWarning, match="not writable"):
        t = torch.from_numpy(np.broadcast_to(np.zeros(1), (3,)))
    with pytest.raises((RuntimeError, ValueError)):
        t.add_(1)
    buffer = bytearray(b"\x01\x00\x02\x00")
    t = torch.frombuffer(buffer, dtype=torch.int16)
    t[0] = 7
    assert buffer[0] == 7


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: torch.tensor([[1, 2], [3]]), ValueError, "A tensor is a rectangle"),
        (lambda: torch.tensor([2**63]), ValueError, "use a floating dtype"),
        (lambda: torch.tensor([torch.ones(2)]), ValueError, "use torch.stack"),
        (lambda: torch.tensor([1, [2]]), TypeError, "all elements of one level"),
        (lambda: torch.tensor({"a": 1}), RuntimeError, "a tensor is made of numbers"),
        (lambda: torch.tensor([1], requires_grad=True), RuntimeError, "Only Tensors of floating point"),
        (lambda: torch.ones(2, 3).view(4), RuntimeError, "must hold exactly the 6 elements"),
    ],
)
def test_errors_say_what_to_do(make: object, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()


def test_numbers_that_do_not_fit() -> None:
    assert torch.tensor([-1], dtype=torch.uint8).item() == 255  # negative numbers wrap, as in PyTorch
    assert torch.tensor([127, -128], dtype=torch.int8).tolist() == [127, -128]
    for value, dtype in (
        (256, torch.uint8),
        (-129, torch.int8),
        (2.0**31, torch.int32),
        (float("nan"), torch.int64),
    ):
        with pytest.raises(RuntimeError, match="without overflow"):
            torch.tensor([value], dtype=dtype)
        with pytest.raises(RuntimeError, match="without overflow"):
            torch.full((2,), value, dtype=dtype)
    assert torch.tensor(np.array([300]), dtype=torch.uint8).item() == 44  # an array is cast as NumPy casts
    assert torch.FloatTensor([2**70]).item() == 2.0**70


def test_counted_sequences_are_exact() -> None:
    assert torch.arange(0, 1, 0.1).tolist() == [np.float32(k * 0.1) for k in range(10)]
    assert torch.arange(2**60, 2**60 + 2).tolist() == [2**60, 2**60 + 1]
    assert torch.arange(10, 0, -3).tolist() == [10, 7, 4, 1]
    assert torch.linspace(0, 1, 11)[-1].item() == 1
    assert torch.linspace(0, 1, 11, dtype=torch.float64).tolist() == pytest.approx(
        np.linspace(0, 1, 11).tolist()
    )
    assert torch.arange(3, dtype=torch.float16).dtype == torch.float16
    out = torch.empty(3)
    assert torch.arange(3, out=out) is out
    assert out.tolist() == [0, 1, 2]


def test_like_and_new() -> None:
    x = torch.ones(2, 2, dtype=torch.float64)
    for made in (
        torch.zeros_like(x),
        torch.full_like(x, 3),
        x.new_zeros(2, 2),
        x.new_full((2, 2), 1),
        x.new_empty(2, 2),
    ):
        assert (made.dtype, made.shape) == (torch.float64, (2, 2))
    assert x.new_tensor([1]).dtype == torch.float64
    assert x.new([1]).dtype == torch.float64
    assert torch.empty_strided((2, 3), (1, 2)).fill_(2).sum().item() == 12
    assert x.new_empty_strided((2,), (2,)).stride() == (2,)
    assert torch.zeros(2, requires_grad=True).requires_grad


def test_devices_of_constructors() -> None:
    torch.cuda.simulate(1)
    try:
        for made in (
            torch.zeros(2, device="cuda"),
            torch.arange(3, device="cuda"),
            torch.tensor([[1, 2]], device="cuda"),
            torch.eye(2, device="cuda"),
            torch.linspace(0, 1, 3, device="cuda"),
            torch.full((2,), 1.0, device="cuda"),
            torch.ones(2).cuda().new_tensor([1]),
            torch.cuda.FloatTensor([1]),
        ):
            assert made.device.type == "cuda"
        with torch.device("cuda"):
            assert torch.tensor([1.0]).is_cuda
            assert torch.zeros(1).is_cuda
            assert torch.arange(2).is_cuda
    finally:
        torch.cuda.simulate(0)


def test_the_default_type() -> None:
    code = """
import warnings
import autodiff_kernel as torch
warnings.simplefilter("ignore")
torch.set_default_tensor_type("torch.DoubleTensor")
print(torch.tensor(1.).dtype, torch.Tensor([1]).dtype, torch.zeros(1).dtype, torch.arange(1.).dtype)
torch.set_default_dtype(torch.float32)
print(torch.tensor([1.]).dtype, torch.tensor([1j]).dtype)
"""
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert out == ["torch.float64"] * 4 + ["torch.float32", "torch.complex64"]


def test_questions() -> None:
    x = torch.ones(2, 3)
    assert torch.is_tensor(x)
    assert torch.numel(x) == 6
    assert torch.is_same_size(x, torch.zeros(2, 3))
    assert not torch.is_nonzero(torch.tensor([0]))
    assert torch.result_type(torch.ones(2), torch.tensor(1.0, dtype=torch.float64)) == torch.float32
    assert torch.result_type(torch.tensor([1]), 2.5) == torch.float32
    assert (torch.is_floating_point(x), torch.is_complex(x), torch.is_signed(x)) == (True, False, True)


def test_memory_formats_of_new_and_converted_tensors():
    last = torch.channels_last
    x = torch.arange(24.0).reshape(1, 2, 3, 4)
    assert torch.empty(2, 3, 4, 5, memory_format=last).stride() == (60, 1, 15, 3)
    for y in (
        x.to(memory_format=last),
        x.half().to(torch.float64, memory_format=last),
        x.double(memory_format=last),
    ):
        assert y.stride() == (24, 1, 8, 2) and y.tolist() == x.tolist()
    assert x.to(memory_format=last).to(memory_format=torch.contiguous_format).stride() == x.stride()
    assert x.to(memory_format=torch.preserve_format) is x
    a = x.clone().requires_grad_()
    (a.to(memory_format=last) ** 2).sum().backward()
    assert a.grad.tolist() == (2 * x).tolist()
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
        torch.zeros(2, 3).to(memory_format=last)
    with pytest.raises(TypeError, match="unexpected keyword argument 'memory_format'"):
        torch.zeros(1, 2, 3, 4, memory_format=last)
