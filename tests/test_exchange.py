"""NumPy, Python's protocols and other libraries: what comes out is what comes out of PyTorch (recorded)."""

import copy
import json
import pathlib
import pickle
import tracemalloc
import warnings

import numpy as np
import pytest

import autodiff_kernel as torch

from .exchange_cases import answer, cases, keyword_cases

EXPECTED = json.loads((pathlib.Path(__file__).parent / "data" / "exchange.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", cases())
def test_as_pytorch(case: str) -> None:
    got, want = answer(case, torch)[0], EXPECTED[case]
    assert json.loads(json.dumps(got)) == want


def alike(got: list, want: list) -> bool:
    """The same type, dtype, shape and (to rounding) values; of errors the same type. (LAPACK's results lie otherwise.)"""
    if want[0] in ("tuple", "list"):
        return len(got) == len(want) and all(map(alike, got[1:], want[1:]))
    if want[0] == "Tensor":
        return got[:4] == want[:4] and np.allclose(eval(got[5]), eval(want[5]), rtol=1e-5, atol=1e-6)
    return got[:2] == want[:2]


@pytest.mark.parametrize("case", keyword_cases())
def test_arguments_have_pytorchs_names(case: str) -> None:
    got, want = json.loads(json.dumps(answer(case, torch)[0])), EXPECTED[case]
    assert alike(got, want), (got, want)


# ------------------------------------------------------------------------------------------------ one memory
@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int8", "int64", "uint8", "bool", "complex64"]
)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 2)])
def test_dlpack_shares_memory_both_ways(dtype: str, shape: tuple[int, ...]) -> None:
    x = torch.zeros(shape, dtype=getattr(torch, dtype))
    a = np.from_dlpack(x)
    assert a.dtype == dtype and a.shape == shape and (not a.size or a.ctypes.data == x.data_ptr())
    y = torch.from_dlpack(a)
    assert y.dtype == x.dtype and y.shape == shape
    y.fill_(1)
    assert x.tolist() == a.tolist() == y.tolist() == np.ones(shape, dtype).tolist()
    z = torch.from_dlpack(x, copy=True)
    z.fill_(0)
    assert x.tolist() == np.ones(shape, dtype).tolist()


def test_dlpack_keeps_strides_and_takes_what_may_not_be_written() -> None:
    a = np.arange(6.0).reshape(2, 3).T
    x = torch.from_dlpack(a)
    assert x.stride() == (1, 3) and x.tolist() == a.tolist()
    assert np.from_dlpack(x[1:]).strides == (8, 24) and np.from_dlpack(x[1:])[0, 0] == 1.0
    fixed = np.zeros(2)
    fixed.flags.writeable = False
    y = torch.from_dlpack(fixed)
    y[0] = 5.0
    assert fixed[0] == 5.0  # PyTorch's tensors can all be written
    with pytest.raises(ValueError, match="stride"):
        torch.from_dlpack(np.arange(3.0)[::-1])


class Producer:
    """A library from before the protocol had versions."""

    def __init__(self) -> None:
        self.array = np.arange(3.0)
        self.asked: list[dict] = []

    def __dlpack__(self, *, stream=None):
        self.asked.append({"stream": stream})
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack_of_older_libraries_and_capsules() -> None:
    producer = Producer()
    x = torch.from_dlpack(producer)
    x[0] = 7.0
    assert producer.array.tolist() == [7.0, 1.0, 2.0] and producer.asked == [{"stream": None}]
    capsule = torch.utils.dlpack.to_dlpack(x)
    assert torch.utils.dlpack.from_dlpack(capsule).data_ptr() == x.data_ptr()
    with pytest.raises(RuntimeError, match="can be consumed only once"):
        torch.from_dlpack(capsule)
    with pytest.raises(BufferError, match="requires? grad|require gradient"):
        torch.ones(2, requires_grad=True).__dlpack__()
    with pytest.raises(BufferError, match="meta"):
        torch.from_dlpack(x, device="meta")


def test_memory_given_away_outlives_its_tensor() -> None:
    a = np.from_dlpack(torch.full((1000,), 3.0))
    x = torch.from_dlpack(np.full(1000, 4.0))
    torch.zeros(5000)
    assert (a == 3).all() and x.sum() == 4000


def test_dlpack_of_simulated_gpus() -> None:
    torch.cuda.simulate(2)
    try:
        x = torch.ones(2, device="cuda:1")
        assert x.__dlpack_device__() == (torch.utils.dlpack.DLDeviceType.kDLCUDA, 1)
        with pytest.raises(BufferError, match="simulated GPU"):
            np.from_dlpack(x)
        assert torch.from_dlpack(np.ones(2), device="cuda:1").get_device() == 1
    finally:
        torch.cuda.simulate(0)


def test_functions_of_numpy_give_tensors_without_history() -> None:
    x = torch.tensor([1.0, 4.0])
    y = np.sqrt(x)
    assert type(y) is torch.Tensor and y.tolist() == [1.0, 2.0] and y.grad_fn is None
    assert np.isfinite(x).dtype is torch.uint8
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        np.sqrt(x.requires_grad_())


# ------------------------------------------------------------------------------------------------ nothing is copied
def allocated(make) -> int:
    make()  # what is made once (caches) does not count
    tracemalloc.start()
    try:
        kept = make()
        return tracemalloc.get_traced_memory()[1] if kept is not None else -1
    finally:
        tracemalloc.stop()


def test_views_and_shared_arrays_allocate_nothing() -> None:
    big, array = torch.zeros(1000, 2500), np.zeros((1000, 2500), np.float32)  # 10 MB
    tracked = torch.zeros(1000, 2500, requires_grad=True)
    buffer, other = bytearray(10_000_000), np.zeros(2_500_000)
    for make in (
        lambda: big.view(2500, 1000), lambda: big[10:500], lambda: big[:, ::2], lambda: big.t(), lambda: big[None],
        lambda: big.expand(3, -1, -1), lambda: big.as_strided((10, 10), (1, 1)), lambda: big.unfold(0, 3, 1),
        lambda: big.diagonal(), lambda: big.narrow(0, 1, 5), lambda: big.select(1, 3), lambda: big.detach(),
        lambda: big.data, lambda: big.numpy(), lambda: big.split(100), lambda: big.unbind(), lambda: big.chunk(4),
        lambda: big.to(torch.float32), lambda: big.contiguous(), lambda: big.reshape(-1), lambda: big.float(),
        lambda: torch.from_numpy(array), lambda: torch.as_tensor(array), lambda: torch.from_dlpack(array),
        lambda: np.from_dlpack(big), lambda: torch.frombuffer(buffer, dtype=torch.float32), lambda: np.asarray(big),
        lambda: torch.asarray(other), lambda: big.untyped_storage(), lambda: tracked[5:], lambda: tracked.view(-1),
        lambda: tracked.t(), lambda: torch.nn.Parameter(big),
    ):  # fmt: skip
        assert allocated(make) < 1_000_000


def test_a_sum_keeps_nothing_that_no_rule_reads() -> None:
    n = 25_000_000  # of 100 MB
    tracemalloc.start()
    try:
        x = torch.ones(1, requires_grad=True).expand(n)
        y = torch.empty(n)
        z = x + y
        node = z.grad_fn
        del y
        assert tracemalloc.get_traced_memory()[0] < 110e6  # z alone
        del z
        assert tracemalloc.get_traced_memory()[0] < 10e6 and node.next_functions[1] == (None, 0)
    finally:
        tracemalloc.stop()


# ------------------------------------------------------------------------------------------------ storages
def test_a_storage_is_the_memory_of_all_views() -> None:
    points = torch.tensor([[4.0, 1.0], [5.0, 3.0], [2.0, 1.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        memory, second = points.storage(), points[1].storage()
    assert memory.tolist() == points.t().flatten().view(-1).new_tensor([4, 1, 5, 3, 2, 1]).tolist()
    assert (
        second.data_ptr() == memory.data_ptr() == points.data_ptr()
        and len(second) == 6
        and memory.nbytes() == 24
    )
    memory[0] = 9.0
    assert points[0, 0] == 9.0 and points._version == 0
    memory.untyped()[3] = 0  # the byte with the sign and most of the exponent
    assert 0 < points[0, 0] < 1e-30
    copy_ = memory.clone()
    copy_.fill_(1.0)
    assert points[1, 0] == 5.0 and copy_.dtype is torch.float32 and memory.element_size() == 4
    assert points.untyped_storage()[4:8].tolist() == [0, 0, 128, 63] and torch.is_storage(memory)
    turned = torch.zeros(2).set_(memory, 1, (2, 2), (2, 1))
    assert turned.tolist() == [[1.0, 5.0], [3.0, 2.0]] and not turned.is_set_to(points)
    with pytest.raises(RuntimeError, match="Could not set tensor"):
        torch.zeros(2).set_(torch.zeros(2).double())


# ------------------------------------------------------------------------------------------------ copies and pickles
def test_copies_have_memory_and_gradients_of_their_own() -> None:
    x = torch.ones(2, requires_grad=True)
    (x * 3).sum().backward()
    x.label = ["a"]
    for y in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert y.requires_grad and y.is_leaf and y.data_ptr() != x.data_ptr() and y.tolist() == [1.0, 1.0]
    twin = copy.deepcopy([x, x])
    assert twin[0] is twin[1] and twin[0].grad.tolist() == [3.0, 3.0] and twin[0].label == ["a"]
    assert twin[0].label is not x.label
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(x * 2)
    assert type(copy.deepcopy(torch.nn.Parameter(torch.ones(1)))) is torch.nn.Parameter


def test_views_of_one_memory_share_it_in_copies() -> None:
    base = torch.arange(6.0)
    a, b, c = copy.deepcopy((base, base[2:4], base.view(2, 3).t()))
    b[0] = 9.0
    assert a[2] == 9.0 and c[2, 0] == 9.0 and b.storage_offset() == 2 and c.stride() == (1, 3)
    assert base[2] == 2.0 and copy.deepcopy(base[2:4]).untyped_storage().nbytes() == 24
    assert copy.copy(base).data_ptr() == base.data_ptr()


def test_attributes_travel_with_a_tensor() -> None:
    x = torch.ones(2, requires_grad=True)
    x.label = "weights"
    assert pickle.loads(pickle.dumps(x)).label == copy.copy(x).label == "weights"
    assert pickle.loads(pickle.dumps(torch.ones(2, 3).t())).stride() == (1, 3)
