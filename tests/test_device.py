"""Devices, backends, transfers: the one place that knows where arrays live."""

import copy
import importlib
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

from autodiff_kernel.core import device as d
from autodiff_kernel.core import transfers

f32, i64 = np.dtype("float32"), np.dtype("int64")


@pytest.fixture
def gpus():
    d.simulate(2)
    yield
    d.simulate(0)


# ---------------------------------------------------------------- the device object
@pytest.mark.parametrize(
    ("made", "text", "shown"),
    [
        (lambda: d.device("cpu"), "cpu", "device(type='cpu')"),
        (lambda: d.device("cpu", 0), "cpu:0", "device(type='cpu', index=0)"),
        (lambda: d.device("cuda"), "cuda", "device(type='cuda')"),
        (lambda: d.device("cuda:1"), "cuda:1", "device(type='cuda', index=1)"),
        (lambda: d.device("cuda", 1), "cuda:1", "device(type='cuda', index=1)"),
        (lambda: d.device("cuda", index=1), "cuda:1", "device(type='cuda', index=1)"),
        (lambda: d.device(type="cuda", index=1), "cuda:1", "device(type='cuda', index=1)"),
        (lambda: d.device("cuda", None), "cuda", "device(type='cuda')"),
        (lambda: d.device(device="cuda"), "cuda", "device(type='cuda')"),
        (lambda: d.device(d.device("cuda:1")), "cuda:1", "device(type='cuda', index=1)"),
        (lambda: d.device("meta"), "meta", "device(type='meta')"),
    ],
)
def test_device_is_made_and_shown_as_in_pytorch(made, text, shown):
    assert (str(made()), repr(made())) == (text, shown)


def test_device_of_a_number_is_a_gpu(gpus):
    assert d.device(1) == d.device("cuda:1")


def test_devices_compare_and_hash_by_value():
    assert d.device("cuda:1") == d.device("cuda", 1) != d.device("cuda:0") != d.device("cuda")
    assert d.device("cpu") != d.device("cpu:0")
    assert d.device("cuda") != "cuda"
    assert {d.device("cuda:1"): 5}[d.device("cuda", 1)] == 5
    assert (d.device("cuda:1").type, d.device("cuda:1").index, d.device("cuda").index) == ("cuda", 1, None)


def test_devices_survive_copy_and_pickle():
    for x in (d.device("cuda:1"), d.CPU):
        assert copy.deepcopy(x) is x and pickle.loads(pickle.dumps(x)) is x


@pytest.mark.parametrize(
    ("args", "kind", "text"),
    [
        (("cuda:x",), RuntimeError, "Invalid device string: 'cuda:x'"),
        (("cuda:-1",), RuntimeError, "Invalid device string: 'cuda:-1'"),
        (("cuda:01",), RuntimeError, "Invalid device string: 'cuda:01'"),
        (("cuda:",), RuntimeError, "Invalid device string: 'cuda:'"),
        (("cuda:1:2",), RuntimeError, "Invalid device string: 'cuda:1:2'"),
        (("cuda:0 ",), RuntimeError, "Invalid device string: 'cuda:0 '"),
        (("cuda:²",), RuntimeError, "Invalid device string: 'cuda:²'"),
        (("",), RuntimeError, "Device string must not be empty"),
        (("gpu",), RuntimeError, "Expected one of cpu, cuda, .* device type at start of device string: gpu"),
        (("CUDA",), RuntimeError, "device type at start of device string: CUDA"),
        (("cuda:1", 2), RuntimeError, r"type \(string\) must not include an index because index was passed"),
        (("cuda", -1), RuntimeError, "Device index must not be negative"),
        (("cuda", 1.5), TypeError, r"argument 'index' \(position 2\) must be int, not float"),
        (("cuda", True), TypeError, r"argument 'index' \(position 2\) must be int, not bool"),
        ((-1,), RuntimeError, "Device index must not be negative"),
        ((1.5,), TypeError, r"invalid combination of arguments - got \(float\)"),
        ((True,), TypeError, r"invalid combination of arguments - got \(bool\)"),
        ((None,), TypeError, "invalid combination of arguments"),
        ((), TypeError, "invalid combination of arguments"),
        ((d.CPU, 1), TypeError, "invalid combination of arguments"),
    ],
)
def test_bad_devices_raise_what_pytorch_raises(args, kind, text):
    with pytest.raises(kind, match=text):
        d.device(*args)


def test_a_device_cannot_be_changed():
    with pytest.raises(AttributeError, match="not writable"):
        d.CPU.type = "cuda"


# ---------------------------------------------------------------- which device is meant
def test_parse_gives_the_concrete_device(gpus):
    assert d.parse("cpu:0") is d.parse(None) is d.CPU
    assert d.parse("cuda") is d.cuda(0) is d.parse(0)
    assert d.parse(d.device("cuda", 1)) is d.cuda(1)


def test_parse_refuses_what_is_not_there(gpus):
    with pytest.raises(
        RuntimeError, match="invalid device ordinal. 'cuda:2' .* there are 2 GPUs, cuda:0 to cuda:1"
    ):
        d.parse("cuda:2")
    with pytest.raises(RuntimeError, match="no tensors on 'mps' here"):
        d.parse("mps")


def test_with_device_sets_the_default_and_nests(gpus):
    with d.device("cuda:1"):
        assert d.default_device() is d.cuda(1)
        with d.device("cpu"):
            assert d.default_device() is d.CPU
        assert d.device_of(d.zeros((2,), f32)) is d.cuda(1)
    assert d.default_device() is d.CPU


def test_set_default_device(gpus):
    d.set_default_device("cuda:1")
    try:
        assert d.parse(None) is d.cuda(1)
        with d.device("cuda:0"):
            assert d.parse(None) is d.cuda(0)
    finally:
        d.set_default_device(None)
    assert d.parse(None) is d.CPU


def test_default_and_current_device_belong_to_the_thread(gpus):
    seen = []

    def other():
        seen.append((d.default_device(), d.parse("cuda")))
        with d.device("cuda"), d.scope(d.cuda(1)):
            seen.append(d.default_device())
            inside.set()
            done.wait(5)

    inside, done = threading.Event(), threading.Event()
    with d.device("cuda:1"), d.scope(d.cuda(1)):
        thread = threading.Thread(target=other)
        thread.start()
        inside.wait(5)
        assert d.default_device() is d.cuda(1)
    assert (d.default_device(), d.parse("cuda")) == (d.CPU, d.cuda(0))
    done.set()
    thread.join()
    assert seen == [(d.CPU, d.cuda(0)), d.cuda(1)]


# ---------------------------------------------------------------- finding GPUs
def run(code: str, **env: str) -> str:
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **env}, check=False)
    assert not done.returncode, done.stderr
    return done.stdout.strip()


def test_simulated_gpus_by_environment():
    code = "from autodiff_kernel.core import device as d; print(d.cuda_count(), d.is_simulated())"
    assert run(code, AUTODIFF_SIMULATE_CUDA="2") == "2 True"
    bad = code.replace("print", "\ntry: print").replace("; \n", "\n") + "\nexcept ValueError as e: print(e)"
    assert run(bad, AUTODIFF_SIMULATE_CUDA="two").startswith("AUTODIFF_SIMULATE_CUDA must be a number")


def test_nothing_of_a_gpu_is_loaded_before_it_is_asked_for():
    code = (
        "import sys, autodiff_kernel; "
        "print([m for m in ('cupy', 'autodiff_kernel.core.simulated') if m in sys.modules])"
    )
    assert run(code, AUTODIFF_SIMULATE_CUDA="2") == "[]"


def without_cupy(monkeypatch):
    def missing(name, package=None):
        if name == "cupy":
            raise ImportError(name)
        return real(name, package)

    real = importlib.import_module
    monkeypatch.setattr(d.importlib, "import_module", missing)
    monkeypatch.setattr(d, "_gpus", None)
    monkeypatch.delenv("AUTODIFF_SIMULATE_CUDA", raising=False)


def test_without_cupy_the_error_is_that_of_a_pytorch_built_without_cuda(monkeypatch):
    without_cupy(monkeypatch)
    assert d.cuda_count() == 0 and not d.is_simulated()
    with pytest.raises(
        AssertionError, match=r"Torch not compiled with CUDA enabled: CuPy is not installed .*simulate\(2\)"
    ):
        d.parse("cuda")
    with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
        d.device(0)


class CUDARuntimeError(RuntimeError):
    pass


class FakeCuPy:
    """As much of CuPy as is asked before a driver is found."""

    class cuda:
        class runtime:
            CUDARuntimeError = CUDARuntimeError

            @staticmethod
            def getDeviceCount():
                raise CUDARuntimeError("cudaErrorInsufficientDriver: CUDA driver version is insufficient")


def test_without_a_driver_the_error_is_a_runtime_error_that_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", FakeCuPy)
    monkeypatch.setattr(d, "_gpus", None)
    monkeypatch.delenv("AUTODIFF_SIMULATE_CUDA", raising=False)
    assert d.cuda_count() == 0
    with pytest.raises(
        RuntimeError,
        match=r"Found no NVIDIA driver .* too old \(cudaErrorInsufficientDriver\); torch.cuda.simulate",
    ) as info:
        d.parse("cuda:0")
    assert "\n" not in str(info.value)


@pytest.mark.parametrize("count", [-1, 65, 1.5, True, "2"])
def test_simulate_refuses_other_than_a_number(count):
    with pytest.raises(ValueError, match="takes the number of simulated GPUs"):
        d.simulate(count)


def test_arrays_outlive_their_gpus():
    d.simulate(2)
    x = d.asarray([1.0, 2.0], f32, "cuda:1")
    d.simulate(0)
    assert str(d.device_of(x)) == "cuda:1"
    assert d.to_numpy(x + x).tolist() == [2.0, 4.0]
    d.simulate(2)
    assert d.device_of(x) is d.cuda(1)
    d.simulate(0)


# ---------------------------------------------------------------- making arrays
@pytest.mark.parametrize("where", ["cpu", "cuda:1"])
def test_makers(gpus, where):
    for raw, expected in [
        (d.zeros((2, 3), f32, device=where), np.zeros((2, 3), f32)),
        (d.ones((2,), i64, device=where), np.ones((2,), i64)),
        (d.full((2,), 7, f32, device=where), np.full((2,), 7, f32)),
        (d.arange(1, 7, 2, dtype=i64, device=where), np.arange(1, 7, 2)),
        (d.eye(2, 3, dtype=f32, device=where), np.eye(2, 3, dtype=f32)),
        (d.asarray([[1, 2], [3, 4]], f32, where), np.array([[1, 2], [3, 4]], f32)),
        (d.asarray(5, i64, where), np.array(5)),
        (d.zeros((), f32, device=where), np.zeros((), f32)),
        (d.zeros((0, 2), f32, device=where), np.zeros((0, 2), f32)),
    ]:
        assert str(d.device_of(raw)) == where
        assert raw.dtype == expected.dtype and raw.shape == expected.shape
        np.testing.assert_array_equal(d.to_numpy(raw), expected)
    assert d.empty((4, 0), f32, device=where).shape == (4, 0)


def test_a_0d_value_is_a_scalar_on_the_cpu_and_an_array_on_a_gpu(gpus):
    for make in (d.zeros, d.ones, d.empty):
        assert type(make((), f32)) is np.float32
        assert type(make((), f32, device="cuda")).__name__ == "SimulatedArray"
    assert type(d.asarray(2.0, f32)) is type(d.full((), 2.0, f32)) is np.float32
    up = d.copy_to(np.float32(2.0), "cuda")
    assert up.shape == () and type(d.copy_to(up, "cpu")) is np.float32


def test_like_wins_and_keeps_the_device(gpus):
    x = d.zeros((2,), f32, device="cuda:1")
    with d.device("cuda:0"):
        assert d.device_of(d.zeros((3,), i64, like=x)) is d.cuda(1)
        assert d.device_of(d.asarray([1, 2], i64, like=np.ones(2))) is d.CPU


def test_asarray_shares_on_the_same_device_unless_a_copy_is_asked_for(gpus):
    host = np.array([1.0, 2.0], f32)
    assert d.asarray(host, f32) is host
    assert not d.shares_memory(d.asarray(host, f32, copy=True), host)
    x = d.asarray(host, f32, "cuda")
    assert d.asarray(x, f32, "cuda") is x and d.asarray(x, f32, "cuda:1") is not x
    assert not d.shares_memory(d.asarray(x, f32, "cuda", copy=True), x)
    assert d.asarray(x, i64, "cuda").dtype == i64


def test_is_array(gpus):
    assert (
        d.is_array(np.ones(2)) and d.is_array(np.float32(1)) and d.is_array(d.ones((2,), f32, device="cuda"))
    )
    assert not any(map(d.is_array, (1, 2.0, [1.0], None, "x")))


# ---------------------------------------------------------------- copies
def test_copies_are_counted(gpus):
    start, totals = d.transfer_count(), d.transfer_totals()
    x = d.asarray(np.ones((2, 3)), f32, "cuda:0")  # 24 bytes up
    y = d.copy_to(x, "cuda:1")  # 24 bytes across
    d.copy_to(y, "cuda:1")  # stays
    d.copy_to(np.ones(3, f32), "cpu")  # stays
    host = d.copy_to(y, "cpu")  # 24 bytes down
    assert d.item(y.sum()) == 6.0  # 4 bytes down
    d.to_numpy(host)  # is there
    up, across, down = (d.CPU, d.cuda(0)), (d.cuda(0), d.cuda(1)), (d.cuda(1), d.CPU)
    log = d.transfers_since(start)
    assert [(t.source, t.destination, t.nbytes, t.shape) for t in log] == [
        (*up, 24, (2, 3)),
        (*across, 24, (2, 3)),
        (*down, 24, (2, 3)),
        (*down, 4, ()),
    ]
    assert d.transfer_count() == start + 4
    now = d.transfer_totals()
    for pair, number, nbytes in ((up, 1, 24), (across, 1, 24), (down, 2, 28)):
        before = totals.get(pair, (0, 0))
        assert (now[pair][0] - before[0], now[pair][1] - before[1]) == (number, nbytes)


def test_the_log_of_copies_is_bounded_and_the_totals_are_not(gpus):
    start = d.transfer_count()
    for _ in range(1100):
        transfers.count_transfer(d.CPU, d.cuda(1), 8)
    assert len(d.transfers) == 1000 == len(d.transfers_since(start))
    assert d.transfers[-1].number == start + 1100 == d.transfer_count()


def test_counting_is_exact_over_threads(gpus):
    start = d.transfer_totals().get((d.cuda(1), d.cuda(0)), (0, 0))

    def copy_many():
        for _ in range(500):
            transfers.count_transfer(d.cuda(1), d.cuda(0), 2)

    threads = [threading.Thread(target=copy_many) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    now = d.transfer_totals()[d.cuda(1), d.cuda(0)]
    assert (now[0] - start[0], now[1] - start[1]) == (2000, 4000)


def test_a_copy_is_a_copy(gpus):
    host = np.array([1.0, 2.0], f32)
    x = d.copy_to(host, "cuda")
    host[0] = 9
    assert d.to_numpy(x).tolist() == [1.0, 2.0]
    back = d.to_numpy(x)
    back[0] = 7
    assert d.to_numpy(x).tolist() == [1.0, 2.0]


# ---------------------------------------------------------------- memory
@pytest.mark.parametrize("where", ["cpu", "cuda:1"])
def test_shares_memory_and_data_ptr(gpus, where):
    x = d.asarray(np.arange(6), f32, where, copy=True)
    assert (
        d.shares_memory(x, x[1:]) and not d.shares_memory(x[:2], x[3:]) and not d.shares_memory(x, x.copy())
    )
    assert d.data_ptr(x[2:]) - d.data_ptr(x) == 8
    assert not d.shares_memory(x, np.float32(1))


def test_arrays_of_two_devices_share_nothing(gpus):
    a, b = d.zeros((2,), f32, device="cuda:0"), d.zeros((2,), f32, device="cuda:1")
    assert not d.shares_memory(a, b) and not d.shares_memory(a, np.ones(2))


@pytest.mark.parametrize("where", ["cpu", "cuda:1"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int32", "float16", "uint8"])
def test_add_at_adds_twice_where_an_index_occurs_twice(gpus, where, dtype):
    target = d.zeros((4,), np.dtype(dtype), device=where)
    d.add_at(target, d.asarray([1, 1, 3], i64, where), d.asarray([1, 2, 3], np.dtype(dtype), where))
    assert d.to_numpy(target).tolist() == [0, 3, 0, 3]
    assert target.dtype == dtype
    d.add_at(target, (slice(0, 2),), 5)
    assert d.to_numpy(target).tolist() == [5, 8, 0, 3]


def test_add_at_of_negative_int64(gpus):
    target = d.asarray([5, -5], i64, "cuda")
    d.add_at(target, d.asarray([0, 0, 1], i64, "cuda"), d.asarray([-7, 1, -(2**62)], i64, "cuda"))
    assert d.to_numpy(target).tolist() == [-1, -(2**62) - 5]
    d.add_at(target, 0, -3)
    assert d.item(target[0]) == -4


# ---------------------------------------------------------------- one device
def test_same_device(gpus):
    a, b = d.ones((2,), f32, device="cuda:0"), d.ones((2,), f32, device="cuda:1")
    host = np.ones(2, f32)
    assert d.same_device(host, np.float32(2)) is d.CPU
    assert d.same_device(a, a, np.float32(2)) is d.cuda(0) is d.same_device(np.float32(2), a)
    for raws, names in (
        ((a, host), "cuda:0 and cpu"),
        ((host, b), "cpu and cuda:1"),
        ((b, a), "cuda:1 and cuda:0"),
    ):
        with pytest.raises(RuntimeError) as info:
            d.same_device(*raws)
        first, second = str(info.value).split("\n")
        assert (
            first
            == f"Expected all tensors to be on the same device, but found at least two devices, {names}!"
        )
        assert second.startswith("Copy one of them first: x.to('")


# ---------------------------------------------------------------- one backend class, two modules
OPERATIONS = {
    "add": lambda x, y, i: x + y,
    "scale": lambda x, y, i: 2.5 * x - 1,
    "power": lambda x, y, i: abs(x) ** 2,
    "matmul": lambda x, y, i: x @ y.T,
    "dot": lambda x, y, i: x.dot(y.T),
    "compare": lambda x, y, i: x > y,
    "equal": lambda x, y, i: x == x,
    "invert": lambda x, y, i: ~(x > 0),
    "tanh": lambda x, y, i: np.tanh(x),
    "exp": lambda x, y, i: np.exp(-x),
    "maximum": lambda x, y, i: np.maximum(x, y),
    "where": lambda x, y, i: np.where(x > 0, x, y),
    "where scalar": lambda x, y, i: np.where(x > 0, x, np.float32(0)),
    "sum": lambda x, y, i: x.sum(),
    "sum axis": lambda x, y, i: x.sum(axis=1, keepdims=True),
    "sum axes": lambda x, y, i: x.sum((0, 1)),
    "mean": lambda x, y, i: x.mean(0),
    "max": lambda x, y, i: x.max(axis=-1),
    "min all": lambda x, y, i: x.min(),
    "prod": lambda x, y, i: x.prod(0),
    "std": lambda x, y, i: x.std(ddof=1),
    "any": lambda x, y, i: (x > 100).any(),
    "all axis": lambda x, y, i: (x < 100).all(axis=0),
    "argmax": lambda x, y, i: x.argmax(1),
    "argsort": lambda x, y, i: x.argsort(-1),
    "sort": lambda x, y, i: np.sort(x, axis=0),
    "cumsum": lambda x, y, i: x.cumsum(1),
    "cumprod": lambda x, y, i: np.cumprod(x, axis=0),
    "transpose": lambda x, y, i: x.T,
    "reshape": lambda x, y, i: x.reshape(2, -1),
    "swapaxes": lambda x, y, i: x.swapaxes(0, 1),
    "squeeze": lambda x, y, i: x.reshape(1, 3, 4).squeeze(0),
    "ravel": lambda x, y, i: x.ravel(),
    "flip": lambda x, y, i: x[::-1],
    "row": lambda x, y, i: x[1],
    "element": lambda x, y, i: x[1, 2],
    "new axis": lambda x, y, i: x[:, None, 1:3],
    "mask": lambda x, y, i: x[x > 0],
    "rows": lambda x, y, i: x[i],
    "pairs": lambda x, y, i: x[i, i],
    "mixed": lambda x, y, i: x[1:, i],
    "take": lambda x, y, i: x.take(i, axis=1),
    "repeat": lambda x, y, i: x.repeat(2, axis=0),
    "take along": lambda x, y, i: np.take_along_axis(x, x.argsort(1), 1),
    "concatenate": lambda x, y, i: np.concatenate([x, y], axis=1),
    "stack": lambda x, y, i: np.stack((x, y), axis=-1),
    "broadcast": lambda x, y, i: np.broadcast_to(x[:, None], (3, 2, 4)),
    "moveaxis": lambda x, y, i: np.moveaxis(x, 0, -1),
    "expand dims": lambda x, y, i: np.expand_dims(x, 1),
    "einsum": lambda x, y, i: np.einsum("ij,kj->ik", x, y),
    "tensordot": lambda x, y, i: np.tensordot(x, y, ((0,), (0,))),
    "clip": lambda x, y, i: np.clip(x, -0.5, 0.5),
    "clip method": lambda x, y, i: x.clip(0),
    "split": lambda x, y, i: np.split(x, 2, axis=1),
    "nonzero": lambda x, y, i: np.nonzero(x > 0),
    "unique": lambda x, y, i: np.unique(i, return_counts=True),
    "tril": lambda x, y, i: np.tril(x),
    "pad": lambda x, y, i: np.pad(x, ((1, 0), (0, 2))),
    "roll": lambda x, y, i: np.roll(x, 1, axis=0),
    "norm": lambda x, y, i: np.linalg.norm(x, axis=1),
    "svd": lambda x, y, i: np.linalg.svd(x, full_matrices=False)[1],
    "qr": lambda x, y, i: np.linalg.qr(x),
    "solve": lambda x, y, i: np.linalg.solve(x[:, :3], y[:, :3]),
    "fft": lambda x, y, i: np.fft.rfft(x, axis=1),
    "real": lambda x, y, i: np.fft.fft(x).real,
    "modf": lambda x, y, i: np.modf(x),
    "astype": lambda x, y, i: x.astype(np.int64),
    "zeros like": lambda x, y, i: np.zeros_like(x),
    "out": lambda x, y, i: np.multiply(x, y, out=np.empty_like(x)),
    "window": lambda x, y, i: np.lib.stride_tricks.sliding_window_view(x, 2, axis=1),
    "shape": lambda x, y, i: (np.shape(x), np.ndim(x), x.size, len(x), x.nbytes, x.strides),
    "result type": lambda x, y, i: np.result_type(x, np.float64),
}


def described(result):
    """A result as type, dtype, shape and values, the same for both modules."""
    if isinstance(result, (tuple, list)) and not isinstance(result, str):
        return [type(result).__name__] + [described(r) for r in result]
    if not d.is_array(result):
        return result
    host = d.to_numpy(result)
    return str(host.dtype), host.shape, host.tolist()


@pytest.mark.parametrize("name", OPERATIONS)
def test_one_text_runs_on_numpy_and_on_a_simulated_gpu(gpus, name):
    rng = np.random.default_rng(0)
    host = rng.normal(size=(3, 4)).astype(f32), rng.normal(size=(3, 4)).astype(f32), np.array([2, 0, 2])
    results = []
    for where in (d.CPU, d.cuda(1)):
        result = OPERATIONS[name](*[d.asarray(x, device=where) for x in host])
        for r in result if isinstance(result, (tuple, list)) else [result]:
            if d.is_array(r):
                assert d.device_of(r) is where
        results.append(described(result))
    assert results[0] == results[1]


IN_PLACE = {
    "iadd": lambda x, y: x.__iadd__(y),
    "isub scalar": lambda x, y: x.__isub__(1),
    "imul": lambda x, y: x.__imul__(y),
    "itruediv": lambda x, y: x.__itruediv__(2),
    "set row": lambda x, y: x.__setitem__(0, y[1]),
    "set element": lambda x, y: x.__setitem__((1, 1), 5),
    "set mask": lambda x, y: x.__setitem__(x > 0, 0),
    "set ellipsis": lambda x, y: x.__setitem__(..., y),
    "fill": lambda x, y: x.fill(3),
    "copyto": lambda x, y: np.copyto(x, y),
    "put along": lambda x, y: np.put_along_axis(x, x.argsort(1), y, 1),
    "out": lambda x, y: np.add(x, y, out=x),
    "view": lambda x, y: x.T[1:].__iadd__(1),
    "0-d view": lambda x, y: x[1, 1][...].__iadd__(1) if x[1, 1].shape == () and not isinstance(x, np.ndarray) else
    x.__setitem__((1, 1), x[1, 1] + 1),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_writes_the_same_on_both(gpus, name):
    rng = np.random.default_rng(1)
    host = rng.normal(size=(3, 4)).astype(f32), rng.normal(size=(3, 4)).astype(f32)
    results = []
    for where in (d.CPU, d.cuda(1)):
        x, y = (d.asarray(a, device=where, copy=True) for a in host)
        before = d.data_ptr(x)
        IN_PLACE[name](x, y)
        assert d.data_ptr(x) == before
        results.append(d.to_numpy(x).tolist())
    assert results[0] == results[1]


# ---------------------------------------------------------------- a real GPU
@pytest.mark.gpu
def test_one_text_runs_on_a_real_gpu():
    d.simulate(0)
    rng = np.random.default_rng(0)
    host = rng.normal(size=(3, 4)).astype(f32), rng.normal(size=(3, 4)).astype(f32), np.array([2, 0, 2])
    failures = {}
    for name, run_it in OPERATIONS.items():
        try:
            on_gpu = flat(run_it(*[d.asarray(x, device="cuda") for x in host]))
            for there, here in zip(on_gpu, flat(run_it(*host)), strict=True):
                np.testing.assert_allclose(there, here, rtol=1e-5, atol=1e-6)
        except Exception as error:
            failures[name] = repr(error)
    assert not failures


def flat(result):
    return [
        d.to_numpy(r) for r in (result if isinstance(result, (tuple, list)) else [result]) if d.is_array(r)
    ]
