"""Simulated GPUs: what an array of theirs accepts and refuses, as CuPy's does, and what their memory shows."""

import copy
import gc
import json
import operator
import pickle
import threading
import weakref

import numpy as np
import pytest

from autodiff_kernel.core import device as d
from autodiff_kernel.core.memory_pool import MemoryPool, OutOfMemoryError, readable
from autodiff_kernel.core.simulated import SimulatedArray

f32 = np.dtype("float32")


@pytest.fixture(autouse=True)
def gpus():
    d.simulate(2)
    yield
    d.simulate(0)


def on_gpu(values, index=0, dtype=f32):
    return d.asarray(values, np.dtype(dtype), d.cuda(index), copy=True)


def host(x):
    return d.to_numpy(x).tolist()


def test_the_array_is_none_of_numpy():
    x = on_gpu([1.0, 2.0])
    assert type(x) is SimulatedArray and not isinstance(x, np.ndarray)
    assert repr(x) == "<array of shape (2,) and dtype float32 on simulated GPU 0>"
    assert x.device.name == "simulated GPU 0" and x.device.id == 0


# ---------------------------------------------------------------- mixing an array of a GPU with the CPU
REFUSED = TypeError
MIXTURES = {
    # x: (3,) float32 on a GPU; s: 0-d float32 there; h: (3,) float32 on the CPU
    "x + h": (REFUSED, lambda x, s, h: x + h),
    "h + x": (REFUSED, lambda x, s, h: h + x),
    "h * s": (REFUSED, lambda x, s, h: h * s),
    "s * h": (REFUSED, lambda x, s, h: s * h),
    "x - 0-d h": (REFUSED, lambda x, s, h: x - np.array(2.0, f32)),
    "0-d h - x": (REFUSED, lambda x, s, h: np.array(2.0, f32) - x),
    "h @ x": (REFUSED, lambda x, s, h: h @ x),
    "x @ h": (REFUSED, lambda x, s, h: x @ h),
    "x ** h": (REFUSED, lambda x, s, h: x**h),
    "x < h": (REFUSED, lambda x, s, h: x < h),
    "h == x": (REFUSED, lambda x, s, h: h == x),
    "x += h": (REFUSED, lambda x, s, h: x.__iadd__(h)),
    "h += x": (REFUSED, lambda x, s, h: operator.iadd(h, x)),
    "x + list": (REFUSED, lambda x, s, h: x + [1.0, 2.0, 3.0]),
    "x.dot(h)": (REFUSED, lambda x, s, h: x.dot(h)),
    "np.dot(h, x)": (REFUSED, lambda x, s, h: np.dot(h, x)),
    "np.add(x, h)": (REFUSED, lambda x, s, h: np.add(x, h)),
    "np.exp(x, out=h)": (REFUSED, lambda x, s, h: np.exp(x, out=h)),
    "np.exp(h, out=x)": (REFUSED, lambda x, s, h: np.exp(h, out=x)),
    "np.exp(x, where=h)": (REFUSED, lambda x, s, h: np.exp(x, where=h > 0)),
    "np.where(h, x, x)": (REFUSED, lambda x, s, h: np.where(h > 0, x, x)),
    "np.concatenate": (REFUSED, lambda x, s, h: np.concatenate([h, x])),
    "np.stack": (REFUSED, lambda x, s, h: np.stack([x, h])),
    "np.einsum": (REFUSED, lambda x, s, h: np.einsum("i,i->", x, h)),
    "np.copyto(h, x)": (REFUSED, lambda x, s, h: np.copyto(h, x)),
    "np.copyto(x, h)": (REFUSED, lambda x, s, h: np.copyto(x, h)),
    "h[:] = x": (REFUSED, lambda x, s, h: h.__setitem__(slice(None), x)),
    "h[:] = s": (REFUSED, lambda x, s, h: h.__setitem__(slice(None), s[None])),
    "x[:] = h": (REFUSED, lambda x, s, h: x.__setitem__(slice(None), h)),
    "x[:] = list": (REFUSED, lambda x, s, h: x.__setitem__(slice(None), [1.0, 2.0, 3.0])),
    "h[x]": (REFUSED, lambda x, s, h: h[x.astype(np.int64)]),
    "x[[s]]": (REFUSED, lambda x, s, h: x[[s.astype(np.int64)]]),
    "np.asarray(x)": (REFUSED, lambda x, s, h: np.asarray(x)),
    "np.array([x, x])": (REFUSED, lambda x, s, h: np.array([x, x])),
    "np.array([s, s])": (REFUSED, lambda x, s, h: np.array([s, s])),
    "np.float32(x)": (REFUSED, lambda x, s, h: np.float32(x)),
    "h.astype like": (REFUSED, lambda x, s, h: np.full(3, x)),
    "list(x)": (REFUSED, lambda x, s, h: list(x)),
    "for v in x": (REFUSED, lambda x, s, h: next(iter(x))),
    "a, b, c = x": (REFUSED, lambda x, s, h: max(*x)),
    "1.0 in x": (REFUSED, lambda x, s, h: 1.0 in x),
    "x.tolist()": (REFUSED, lambda x, s, h: x.tolist()),
    "float(x)": (REFUSED, lambda x, s, h: float(x)),
    "int(x)": (REFUSED, lambda x, s, h: int(x)),
    "complex(x)": (REFUSED, lambda x, s, h: complex(x)),
    "range(s)": (REFUSED, lambda x, s, h: range(s.astype(np.int64))),
    "[1, 2][s]": (REFUSED, lambda x, s, h: [1, 2][s.astype(np.int64)]),
    "math.sqrt-like sum": (REFUSED, lambda x, s, h: sum(x)),
    "json": (REFUSED, lambda x, s, h: json.dumps(x)),
    "memoryview(x)": (REFUSED, lambda x, s, h: memoryview(x)),
    "np.save": (REFUSED, lambda x, s, h: np.save("never.npy", x)),
    "np.array2string": (REFUSED, lambda x, s, h: np.array2string(x)),
    "np.frombuffer": (REFUSED, lambda x, s, h: np.frombuffer(x, f32)),
    "np.add.reduce(x)": (REFUSED, lambda x, s, h: np.add.reduce(x)),
    "np.add.at(x, …)": (REFUSED, lambda x, s, h: np.add.at(x, 0, 1)),
    "np.multiply.outer": (REFUSED, lambda x, s, h: np.multiply.outer(x, x)),
    "np.spacing(x)": (REFUSED, lambda x, s, h: np.spacing(x)),
    "hash(x)": (REFUSED, lambda x, s, h: hash(x)),
    "bool(x)": (ValueError, lambda x, s, h: bool(x)),
    "if x > 0": (ValueError, lambda x, s, h: 1 if x > 0 else 0),
    "x.item()": (ValueError, lambda x, s, h: x.item()),
    # what CuPy takes: numbers, NumPy scalars, 0-d arrays in a few places, indices, single values
    "x + 2": ([3.0, 4.0, 5.0], lambda x, s, h: x + 2),
    "2.5 * x": ([2.5, 5.0, 7.5], lambda x, s, h: 2.5 * x),
    "x + np.float32": ([3.0, 4.0, 5.0], lambda x, s, h: x + np.float32(2)),
    "np.float32 - x": ([1.0, 0.0, -1.0], lambda x, s, h: np.float32(2) - x),
    "np.float64 * s": (8.0, lambda x, s, h: np.float64(2) * s),
    "x == 0-d h": ([False, True, False], lambda x, s, h: x == np.array(2.0, f32)),
    "x[0] = 0-d h": ([7.0, 2.0, 3.0], lambda x, s, h: (x.__setitem__(0, np.array(7.0)), x)[1]),
    "x.fill(0-d h)": ([7.0, 7.0, 7.0], lambda x, s, h: (x.fill(np.array(7.0)), x)[1]),
    "x[index of h]": ([3.0, 1.0], lambda x, s, h: x[np.array([2, 0])]),
    "x[mask of h]": ([2.0, 3.0], lambda x, s, h: x[h > 1]),
    "x[list]": ([3.0, 3.0], lambda x, s, h: x[[2, 2]]),
    "x[np.int64]": (2.0, lambda x, s, h: x[np.int64(1)]),
    "h[0] = s": (4.0, lambda x, s, h: (h.__setitem__(0, s), float(h[0]))[1]),
    "float(s)": (4.0, lambda x, s, h: float(s)),
    "int(s)": (4, lambda x, s, h: int(s)),
    "bool(s)": (True, lambda x, s, h: bool(s)),
    "complex(s)": (4 + 0j, lambda x, s, h: complex(s)),
    "s.item()": (4.0, lambda x, s, h: s.item()),
    "x.get()": ([1.0, 2.0, 3.0], lambda x, s, h: x.get()),
    "if (x > 0).all()": (1, lambda x, s, h: 1 if (x > 0).all() else 0),
    "len(x)": (3, lambda x, s, h: len(x)),
    "math on size": (6, lambda x, s, h: x.size * 2),
    "np.where(x, 0, x)": ([0.0, 2.0, 3.0], lambda x, s, h: np.where(x < 2, np.float32(0), x)),
}  # fmt: skip


@pytest.mark.parametrize("name", MIXTURES)
def test_mixing_with_the_cpu_does_what_cupy_does(name):
    expected, mix = MIXTURES[name]
    x, s, h = on_gpu([1.0, 2.0, 3.0]), on_gpu(4.0), np.array([1.0, 2.0, 3.0], f32)
    if isinstance(expected, type):
        with pytest.raises(expected):
            mix(x, s, h)
        assert host(x) == [1.0, 2.0, 3.0] and h.tolist() == [1.0, 2.0, 3.0]  # and nothing was written
    else:
        result = mix(x, s, h)
        assert (host(result) if d.is_array(result) else result) == expected


@pytest.mark.parametrize(
    "refused",
    [
        lambda x, h: np.asarray(x),
        lambda x, h: list(x),
        lambda x, h: x.tolist(),
        lambda x, h: float(x),
        lambda x, h: x + h,
        lambda x, h: h * x,
        lambda x, h: np.array2string(x),
    ],
)
def test_a_refusal_says_cupys_words_and_what_to_do(refused):
    with pytest.raises(TypeError, match="(?i)implicit conversion to a NumPy array is not allowed") as info:
        refused(on_gpu([1.0, 2.0]), np.ones(2, f32))
    assert "x.cpu()" in str(info.value)


def test_a_single_value_that_converts_is_counted_as_a_transfer():
    s = on_gpu(4.0)
    start = d.transfer_count()
    assert (float(s), int(s), bool(s), s.item()) == (4.0, 4, True, 4.0)
    log = d.transfers_since(start)
    assert [(t.source, t.destination, t.nbytes) for t in log] == [(d.cuda(0), d.CPU, 4)] * 4


def test_an_index_of_the_cpu_is_counted_as_a_transfer():
    x, i = on_gpu([1.0, 2.0, 3.0]), on_gpu([2, 0], dtype="int64")
    start = d.transfer_count()
    assert host(x[i]) == [3.0, 1.0] and d.transfer_count() == start + 1  # to_numpy
    x[np.array([2, 0])]
    x[[0, 1], :1] if x.ndim > 1 else x[[0, 1]]
    assert [(t.source, t.destination, t.nbytes) for t in d.transfers_since(start)[1:]] == [
        (d.CPU, d.cuda(0), 16),
        (d.CPU, d.cuda(0), 16),
    ]


# ---------------------------------------------------------------- mixing two GPUs
@pytest.mark.parametrize(
    "mix",
    [
        lambda a, b: a + b,
        lambda a, b: a @ b,
        lambda a, b: a < b,
        lambda a, b: a.__imul__(b),
        lambda a, b: np.add(a, b),
        lambda a, b: np.add(a, a, out=b),
        lambda a, b: np.concatenate([a, b]),
        lambda a, b: np.where(a > 0, a, b),
        lambda a, b: a.dot(b),
        lambda a, b: a.__setitem__(0, b[0]),
        lambda a, b: a[b.astype(np.int64)],
        lambda a, b: np.copyto(a, b),
        lambda a, b: a.scatter_add(0, b[0]),
    ],
)
def test_two_gpus_do_not_mix(mix):
    with pytest.raises(ValueError, match="is different from the other|The index lies on"):
        mix(on_gpu([1.0, 2.0], 0), on_gpu([1.0, 2.0], 1))


def test_results_stay_on_the_device_of_the_operands():
    b = on_gpu([1.0, 2.0], 1)
    with d.scope(d.cuda(0)):
        for result in (b + b, np.tanh(b), b.sum(), b[0], b.T, np.stack([b, b]), np.zeros_like(b), -b, b > 1):
            assert d.device_of(result) is d.cuda(1)


# ---------------------------------------------------------------- results
def test_0d_results_stay_arrays():
    x = on_gpu([1.0, 2.0])
    for result in (
        x.sum(),
        x[0],
        x.max(),
        np.mean(x),
        x.dot(x),
        x[0] * x[1],
        np.tanh(x[0]),
        x.sum() > 2,
        -x[1],
    ):
        assert type(result) is SimulatedArray and result.shape == ()


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[1:],
        lambda x: x[0],
        lambda x: x[0, 1],
        lambda x: x[...],
        lambda x: x[None],
        lambda x: x.T,
        lambda x: x.reshape(6),
        lambda x: x.ravel(),
        lambda x: x.transpose(1, 0),
        lambda x: x.swapaxes(0, 1),
        lambda x: x[:, :1].squeeze(1),
        lambda x: x.view(np.int32),
        lambda x: x.diagonal(),
        lambda x: x[:, ::2],
        lambda x: x[::-1],
        lambda x: np.moveaxis(x, 0, 1),
        lambda x: np.expand_dims(x, 0),
        lambda x: np.broadcast_to(x, (4, 2, 3)),
        lambda x: np.split(x, 3, axis=1)[1],
        lambda x: np.flip(x),
        lambda x: np.lib.stride_tricks.sliding_window_view(x, 2, axis=1),
        lambda x: np.einsum("ij->ji", x),
        lambda x: np.real(x),
        lambda x: x.real,
        lambda x: x.astype(f32, copy=False),
        lambda x: np.reshape(x, -1)[2:4],
    ],
)
def test_views_share_memory_and_own_none(view):
    x = on_gpu(np.arange(6).reshape(2, 3))
    used = x.device.pool.used_bytes()
    v = view(x)
    assert v is x or v.base is x
    assert d.shares_memory(v, x) and x.device.pool.used_bytes() == used
    if np.ndim(d.to_numpy(v)) < 3:
        x[...] = 7 if v.dtype == f32 else 0
        assert set(np.ravel(d.to_numpy(v)).tolist()) == {7.0 if v.dtype == f32 else 0}


@pytest.mark.parametrize(
    "fresh",
    [
        lambda x: x + 0,
        lambda x: x.copy(),
        lambda x: x.flatten(),
        lambda x: x[[0, 1]],
        lambda x: x[x >= 0],
        lambda x: x.astype(f32),
        lambda x: x.T.reshape(6),
        lambda x: x.sum(0),
        lambda x: np.concatenate([x]),
        lambda x: np.sort(x),
        lambda x: np.where(x > 0, x, x),
        lambda x: np.tensordot(x, x, 2),
        lambda x: copy.copy(x),
        lambda x: copy.deepcopy(x),
        lambda x: x.repeat(1, 0),
    ],
)
def test_results_that_are_no_views_own_their_memory(fresh):
    x = on_gpu(np.arange(6).reshape(2, 3))
    used = x.device.pool.used_bytes()
    y = fresh(x)
    assert y.base is None and not d.shares_memory(x, y)
    assert x.device.pool.used_bytes() > used


def test_a_view_of_a_view_has_the_owner_as_base():
    x = on_gpu(np.arange(6).reshape(2, 3))
    assert x.T[1:][0].base is x and x.base is None


def test_a_0d_view_writes_through():
    x = on_gpu([1.0, 2.0])
    v = x[1]
    v += 5
    assert host(x) == [1.0, 7.0]
    v[...] = 0
    assert host(x) == [1.0, 0.0]


def test_out_gives_back_the_array_that_was_given():
    x, out = on_gpu([1.0, 4.0]), on_gpu([0.0, 0.0])
    assert np.sqrt(x, out=out) is out and host(out) == [1.0, 2.0]
    assert np.cumsum(x, out=out) is out and host(out) == [1.0, 5.0]
    assert x.sum(out=out[0]).base is out or host(out) == [5.0, 5.0]
    assert host(np.exp(x * 0, out=out, where=x > 2)) == [5.0, 1.0]


def test_numpys_promotion_of_numbers_is_kept():
    x = on_gpu([1.0])
    assert (
        (x * 2.0).dtype == f32
        and (x * np.float32(2)).dtype == f32
        and (x * np.float64(2)).dtype == np.float64
    )


def test_pickle_and_weak_references():
    x = on_gpu([1.0, 2.0], 1)
    back = pickle.loads(pickle.dumps(x))
    assert host(back) == [1.0, 2.0] and d.device_of(back) is d.cuda(1)
    r = weakref.ref(x)
    del x
    assert r() is None


def test_every_function_that_works_here_exists_in_cupy():
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    from autodiff_kernel.core import simulated

    for function in simulated._FUNCTIONS | simulated._DESCRIPTIONS:
        module = cupy
        for part in function.__module__.split(".")[1:]:
            module = getattr(module, part)
        assert hasattr(module, function.__name__), function
    for method in vars(SimulatedArray):
        assert method.startswith("_") or hasattr(cupy.ndarray, method), method


# ---------------------------------------------------------------- memory
def test_memory_is_counted_in_blocks_of_512_bytes():
    pool = d.backend(d.cuda(0)).module.get_default_memory_pool()
    used = pool.used_bytes()
    x = on_gpu(np.ones(129))  # 516 bytes
    assert pool.used_bytes() - used == 1024
    y = x * 2
    assert pool.used_bytes() - used == 2048
    view = y[1:]
    del y  # the view keeps it
    assert pool.used_bytes() - used == 2048
    del view, x
    assert pool.used_bytes() == used
    assert on_gpu(np.ones((0, 5))).nbytes == 0 and pool.used_bytes() == used


def test_each_gpu_has_its_own_memory():
    pools = [d.backend(d.cuda(i)).module.cuda.Device(i).pool for i in (0, 1)]
    used = [p.used_bytes() for p in pools]
    x = on_gpu([1.0], 1)
    assert [p.used_bytes() - u for p, u in zip(pools, used, strict=True)] == [0, 512]
    assert host(x) == [1.0]


def test_in_place_operations_take_no_memory():
    x = on_gpu(np.ones(1000))
    pool = x.device.pool
    pool.reset_peak()
    used = pool.used_bytes()
    x += 1
    x[2:] = 5
    np.exp(x, out=x)
    assert pool.peak == used == pool.used_bytes()


def test_memory_comes_back_after_an_error_and_from_a_cycle():
    gc.collect()
    x = on_gpu(np.ones(300))
    pool, used = x.device.pool, x.device.pool.used_bytes()
    with pytest.raises(ValueError, match="broadcast"):
        x + on_gpu(np.ones(7))
    cycle = [x * 2]
    cycle.append(cycle)
    del cycle
    gc.collect()
    assert pool.used_bytes() == used


class TestPool:
    def test_a_freed_block_is_kept_and_reused(self):
        pool = MemoryPool(1 << 30)
        a = pool.allocate(40_000_000)
        assert (pool.used_bytes(), pool.total_bytes()) == (40_000_000, 41_943_040)
        a.give_back()
        assert (pool.used_bytes(), pool.total_bytes(), pool.free_blocks()) == (0, 41_943_040, [41_943_040])
        b = pool.allocate(39_000_000)
        assert pool.total_bytes() == 41_943_040
        b.give_back()
        pool.free_all_blocks()
        assert (pool.used_bytes(), pool.total_bytes(), pool.free_blocks()) == (0, 0, [])

    @pytest.mark.parametrize(
        ("nbytes", "used", "reserved"),
        [
            (1, 512, 2 << 20),
            (512, 512, 2 << 20),
            (513, 1024, 2 << 20),
            (1 << 20, 1 << 20, 2 << 20),
            ((1 << 20) + 1, (1 << 20) + 512, 20 << 20),
            (4 << 20, 4 << 20, 20 << 20),
            (10 << 20, 10 << 20, 10 << 20),
            ((10 << 20) + 1, (10 << 20) + 512, 12 << 20),
            ((11 << 20) + 1, 12 << 20, 12 << 20),  # a rest of 1 MiB or less is not split off
            (400_000_000, 400_556_032, 400_556_032),
        ],
    )
    def test_sizes_are_those_of_pytorchs_allocator(self, nbytes, used, reserved):
        pool = MemoryPool(1 << 30)
        pool.allocate(nbytes)
        assert (pool.used_bytes(), pool.total_bytes()) == (used, reserved)

    def test_small_and_large_blocks_come_from_different_segments(self):
        pool = MemoryPool(1 << 30)
        pool.allocate(30 << 20).give_back()
        pool.allocate(100)
        assert pool.total_bytes() == 32 << 20

    def test_segments_in_use_are_not_given_back(self):
        pool = MemoryPool(1 << 30)
        chunks = [pool.allocate(700) for _ in range(5)]
        chunks.pop(2).give_back()
        pool.free_all_blocks()
        assert (pool.used_bytes(), pool.total_bytes(), pool.used_blocks()) == (4096, 2 << 20, 4)
        assert pool.free_blocks() == [1024, (2 << 20) - 5120]
        for chunk in chunks:
            chunk.give_back()
        assert pool.free_blocks() == [2 << 20]

    def test_peaks(self):
        pool = MemoryPool(1 << 30)
        for _ in range(3):
            a, b = pool.allocate(512), pool.allocate(2048)
            a.give_back()
            b.give_back()
        assert (pool.peak, pool.reserved_peak) == (2560, 2 << 20)
        pool.reset_peak()
        assert (pool.peak, pool.reserved_peak) == (0, 2 << 20)
        pool.allocate(512)
        assert pool.peak == 512

    def test_out_of_memory_frees_what_is_cached_first(self):
        pool = MemoryPool(64 << 20, "GPU 0 (simulated)")
        pool.allocate(40 << 20).give_back()
        a = pool.allocate(50 << 20)
        assert pool.total_bytes() == 50 << 20
        with pytest.raises(
            OutOfMemoryError, match=r"CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 \(simu"
        ):
            pool.allocate(20 << 20)
        assert pool.used_bytes() == 50 << 20
        a.give_back()
        assert issubclass(OutOfMemoryError, RuntimeError)

    def test_random_requests_always_add_up(self):
        rng, pool, live = np.random.default_rng(0), MemoryPool(1 << 34), []
        sizes = [1, 100, 513, 5000, 1 << 20, (1 << 21) + 5, 7 << 20, 30 << 20]
        for step in range(3000):
            if live and rng.random() < 0.5:
                live.pop(rng.integers(len(live))).give_back()
            else:
                live.append(pool.allocate(int(rng.choice([*sizes, rng.integers(1, 3 << 20)]))))
            if step % 50 == 0:
                used = sum(c.size for c in live)
                assert (pool.used_bytes(), pool.used_blocks()) == (used, len(live))
                assert used + pool.free_bytes() == used + sum(pool.free_blocks()) == pool.total_bytes()
        for chunk in live:
            chunk.give_back()
        assert pool.used_bytes() == 0
        pool.free_all_blocks()
        assert (pool.total_bytes(), pool.free_blocks(), pool.used_blocks()) == (0, [], 0)

    def test_threads_lose_no_block(self):
        pool = MemoryPool(1 << 34)

        def work(seed):
            rng, live = np.random.default_rng(seed), []
            for _ in range(2000):
                if live and rng.random() < 0.5:
                    live.pop().give_back()
                else:
                    live.append(pool.allocate(int(rng.integers(1, 5000))))
            for chunk in live:
                chunk.give_back()

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        assert (pool.used_bytes(), pool.used_blocks()) == (0, 0)
        pool.free_all_blocks()
        assert pool.total_bytes() == 0

    def test_sizes_are_written_as_in_pytorchs_error(self):
        assert [readable(n) for n in (512, 2048, 20 << 20, 3 << 30)] == [
            "512 bytes",
            "2.00 KiB",
            "20.00 MiB",
            "3.00 GiB",
        ]
