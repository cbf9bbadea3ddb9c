"""torch.cuda's names on simulated GPUs, and tensors on devices from end to end."""

import copy
import pickle
import sys
import threading

import numpy as np
import pytest

import autodiff_kernel as torch
from autodiff_kernel.core import device as devices
from autodiff_kernel.core.gpu_memory import Peaks, Usage
from autodiff_kernel.core.memory_pool import OutOfMemoryError

cuda = torch.cuda


@pytest.fixture
def gpus():
    cuda.simulate(3)
    yield
    cuda.simulate(0)


@pytest.fixture
def no_gpu(monkeypatch):
    """A machine without CuPy."""

    class Blocked:
        def find_spec(self, name, path=None, target=None):
            if name == "cupy":
                raise ImportError("no cupy in this test")

    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Blocked(), *sys.meta_path])
    monkeypatch.delenv("AUTODIFF_SIMULATE_CUDA", raising=False)
    monkeypatch.setattr(devices, "_gpus", None)


# ---------------------------------------------------------------- without a GPU
def test_without_a_gpu_questions_are_answered(no_gpu):
    assert cuda.is_available() is False and cuda.device_count() == 0
    assert not cuda.is_initialized() and not cuda.is_simulated() and not cuda.is_bf16_supported()
    assert cuda.memory_allocated() == cuda.memory_reserved() == cuda.max_memory_allocated() == 0
    assert cuda.memory_stats() == {} and cuda.get_rng_state_all() == [] and cuda.set_rng_state_all([]) is None
    assert cuda.empty_cache() is None and cuda.manual_seed(1) is None and cuda.manual_seed_all(1) is None
    with cuda.device(-1), cuda.device(None), cuda.device_of(torch.ones(1)):
        assert torch.ones(1).get_device() == -1


@pytest.mark.parametrize(
    "use",
    [
        lambda: torch.ones(1).cuda(),
        lambda: torch.ones(1).to("cuda:0"),
        lambda: torch.ones(1, device="cuda"),
        lambda: cuda.current_device(),
        lambda: cuda.set_device(0),
        lambda: cuda.synchronize(),
        lambda: cuda.get_device_name(),
        lambda: cuda.get_device_properties(0),
        lambda: cuda.current_stream(),
        lambda: cuda.Event(),
        lambda: cuda.init(),
        lambda: cuda.device(0).__enter__(),
        lambda: cuda.reset_peak_memory_stats(),
        lambda: cuda.mem_get_info(),
        lambda: cuda.initial_seed(),
        lambda: cuda.can_device_access_peer(0, 1),
        lambda: cuda.ipc_collect(),
    ],
)
def test_without_a_gpu_use_is_pytorchs_error_in_one_line(no_gpu, use):
    with pytest.raises(AssertionError, match="^Torch not compiled with CUDA enabled") as info:
        use()
    text = str(info.value)
    assert "CuPy is not installed" in text and "torch.cuda.simulate(2)" in text and "\n" not in text


# ---------------------------------------------------------------- which GPU
def test_simulated_gpus_say_so(gpus):
    assert cuda.is_available() and cuda.is_initialized() and cuda.is_simulated() and cuda.device_count() == 3
    assert cuda.get_device_name(1) == cuda.get_device_name("cuda:1") == "simulated GPU 1"
    assert cuda.get_device_name() == "simulated GPU 0"
    found = cuda.get_device_properties("cuda")
    assert (found.name, found.total_memory, found.major, found.multi_processor_count) == (
        "simulated GPU 0",
        4 << 30,
        0,
        0,
    )
    assert cuda.get_device_capability(2) == (0, 0)
    assert cuda.synchronize(1) is None


def test_the_current_device(gpus):
    assert cuda.current_device() == 0
    cuda.set_device("cuda:2")
    assert cuda.current_device() == 2 and str(torch.ones(1).cuda().device) == "cuda:2"
    cuda.set_device(-1)
    assert cuda.current_device() == 2
    cuda.set_device(torch.device("cuda", 0))
    assert cuda.current_device() == 0


def test_device_as_a_context_nests_and_restores_after_an_error(gpus):
    with cuda.device(1):
        with cuda.device("cuda:2"):
            assert cuda.current_device() == 2
        with cuda.device(None), cuda.device(-1), cuda.device_of(torch.ones(1)):
            assert cuda.current_device() == 1
        with cuda.device_of(torch.ones(1, device="cuda:0")):
            assert cuda.current_device() == 0
        with pytest.raises(ZeroDivisionError), cuda.device(2):
            raise ZeroDivisionError
        assert cuda.current_device() == 1
    again = cuda.device(2)
    with again, again:
        assert cuda.current_device() == 2
    assert cuda.current_device() == 0


@pytest.mark.parametrize(
    ("use", "kind", "text"),
    [
        (lambda: cuda.device("cpu"), ValueError, "Expected a cuda device, but got: cpu"),
        (lambda: cuda.set_device("cpu"), ValueError, "Expected a cuda device, but got: cpu"),
        (lambda: cuda.set_device("cuda"), ValueError, "a specified index or an integer, but got:cuda"),
        (lambda: cuda.device(1.5), TypeError, "Expected the number of a GPU"),
        (lambda: cuda.set_device(3), RuntimeError, "CUDA error: invalid device ordinal"),
        (lambda: cuda.device(7).__enter__(), RuntimeError, "CUDA error: invalid device ordinal"),
        (lambda: cuda.memory_allocated(3), RuntimeError, "CUDA error: invalid device ordinal"),
        (lambda: torch.ones(1).cuda(5), RuntimeError, "'cuda:5' .* are 3 GPUs, cuda:0 to cuda:2"),
        (lambda: torch.ones(1).to("cuda:x"), RuntimeError, "Invalid device string: 'cuda:x'"),
    ],
)  # fmt: skip
def test_devices_that_are_not_there(gpus, use, kind, text):
    with pytest.raises(kind, match=text):
        use()
    assert cuda.current_device() == 0


def test_the_current_device_belongs_to_the_thread(gpus):
    seen = {}

    def work(index):
        seen[index, "start"] = cuda.current_device()
        cuda.set_device(index)
        together.wait(5)
        seen[index, "end"] = torch.ones(2).cuda().get_device()
        with cuda.device(0):
            together.wait(5)
            seen[index, "inside"] = cuda.current_device()

    together = threading.Barrier(2)
    threads = [threading.Thread(target=work, args=(i,)) for i in (1, 2)]
    with cuda.device(1):
        [t.start() for t in threads]
        [t.join() for t in threads]
        assert cuda.current_device() == 1
    for i in (1, 2):
        assert (seen[i, "start"], seen[i, "end"], seen[i, "inside"]) == (0, i, 0)


def test_fewer_gpus_make_the_first_one_current(gpus):
    cuda.set_device(2)
    cuda.simulate(1)
    assert cuda.current_device() == 0
    cuda.simulate(3)
    cuda.set_device(0)


# ---------------------------------------------------------------- memory
def test_memory_of_a_gpu(gpus):
    cuda.empty_cache()
    cuda.reset_peak_memory_stats(1)
    before = cuda.memory_allocated(1)
    x = torch.zeros(1024, 1024, device="cuda:1")
    assert cuda.memory_allocated(1) - before == 4 << 20
    reserved = cuda.memory_reserved("cuda:1")
    assert reserved >= 20 << 20  # PyTorch cuts blocks of 1 to 10 MiB from segments of 20 MiB
    del x
    assert cuda.memory_allocated(1) == before and cuda.memory_reserved(1) == reserved
    y = torch.zeros(1024, 1024, device="cuda:1")
    assert cuda.memory_reserved(1) == reserved  # the freed block serves again
    assert cuda.max_memory_allocated(1) - before == 4 << 20 and cuda.max_memory_reserved(1) == reserved
    stats = cuda.memory_stats(1)
    assert stats["allocated_bytes.all.current"] == cuda.memory_allocated(1)
    assert stats["reserved_bytes.all.peak"] == reserved
    del y
    cuda.empty_cache()
    cuda.reset_peak_memory_stats(1)
    assert cuda.memory_reserved(1) < reserved and cuda.max_memory_allocated(1) == before
    free, total = cuda.mem_get_info(1)
    assert total == 4 << 30 and total - free == cuda.memory_reserved(1)


def test_memory_summary_is_readable(gpus):
    lines = cuda.memory_summary(0).split("\n")
    assert lines[0] == "Memory of simulated GPU 0: 4.00 GiB"
    assert [line.split("  ")[0] for line in lines[2:]] == ["allocated", "reserved", "kept for reuse"]


def test_old_names_warn(gpus):
    with pytest.warns(
        FutureWarning, match="`torch.cuda.memory_cached` has been renamed to `torch.cuda.memory_reserved`"
    ):
        assert cuda.memory_cached(0) == cuda.memory_reserved(0)


def test_out_of_memory(gpus):
    with pytest.raises(
        cuda.OutOfMemoryError, match=r"CUDA out of memory. Tried to allocate 4.66 GiB. GPU 2 \(simulated\)"
    ):
        torch.empty(50_000, 25_000, device="cuda:2")
    assert issubclass(cuda.OutOfMemoryError, RuntimeError)
    assert torch.ones(2, device="cuda:2").sum().item() == 2


class FakePool:
    """CuPy's pool, as far as `Peaks` asks."""

    used = 0

    def malloc(self, nbytes):
        if nbytes > 1000:
            raise FakeCuPy.cuda.memory.OutOfMemoryError
        FakePool.used += nbytes
        return nbytes

    def used_bytes(self):
        return self.used

    def total_bytes(self):
        return 1024

    def n_free_blocks(self):
        return 3


class FakeCuPy:
    pool = FakePool()

    @staticmethod
    def get_default_memory_pool():
        return FakeCuPy.pool

    class cuda:
        allocator = None

        class memory:
            class OutOfMemoryError(MemoryError):
                pass

        class runtime:
            @staticmethod
            def getDevice():
                return 0

        class Device:
            id, mem_info = 0, (0, 4096)

            def __enter__(self):
                return self

            def __exit__(self, *_):
                pass

        @staticmethod
        def set_allocator(allocator):
            FakeCuPy.cuda.allocator = staticmethod(allocator)


def test_the_peaks_of_cupys_pool_are_followed():
    peaks, gpu = Peaks(FakeCuPy), FakeCuPy.cuda.Device()
    for nbytes in (512, 512, -512):
        FakeCuPy.cuda.allocator(nbytes)
    assert peaks.usage(gpu) == Usage(512, 1024, 1024, 1024, 3, 4096)
    peaks.reset(gpu)
    assert peaks.usage(gpu).allocated_peak == 512
    with pytest.raises(
        OutOfMemoryError, match="Tried to allocate 1.95 KiB. The GPU has a total capacity of 4.00 KiB"
    ):
        FakeCuPy.cuda.allocator(2000)


# ---------------------------------------------------------------- streams, events, random numbers
def test_streams_and_events(gpus):
    start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
    with pytest.raises(ValueError, match="must be recorded"):
        start.elapsed_time(end)
    stream = cuda.Stream(1)
    with cuda.stream(stream):
        assert cuda.current_device() == 1
        start.record()
        torch.ones(10, device="cuda").sum()
        end.record(stream)
    assert start.elapsed_time(end) >= 0 and end.query() and stream.query()
    assert cuda.current_stream(1) == stream != cuda.default_stream(0)
    with pytest.raises(ValueError, match="enable_timing=True"):
        cuda.Event().elapsed_time(end)


def test_seeds(gpus):
    from autodiff_kernel.core.generator import generator_of

    cuda.manual_seed_all(7)
    assert [generator_of(devices.cuda(i)).initial_seed() for i in range(3)] == [7, 7, 7]
    with cuda.device(1):
        cuda.manual_seed(8)
        assert cuda.initial_seed() == 8
    assert cuda.initial_seed() == 7
    state = cuda.get_rng_state(1)
    first = generator_of(devices.cuda(1)).words(3).tolist()
    cuda.set_rng_state(state, 1)
    assert generator_of(devices.cuda(1)).words(3).tolist() == first
    cuda.seed_all()
    assert generator_of(devices.cuda(0)).initial_seed() == generator_of(devices.cuda(2)).initial_seed()


# ---------------------------------------------------------------- tensors on devices
def test_states_of_all_gpus(gpus):
    states = cuda.get_rng_state_all()
    first = [torch.rand(3, device=f"cuda:{i}").tolist() for i in range(3)]
    cuda.set_rng_state_all(states)
    assert [torch.rand(3, device=f"cuda:{i}").tolist() for i in range(3)] == first and len(states) == 3


def test_what_else_is_asked_of_gpus(gpus):
    assert (
        cuda.can_device_access_peer(0, 1)
        and not cuda.can_device_access_peer(1, 1)
        and cuda.get_arch_list() == []
    )
    cuda.set_stream(cuda.Stream(2))
    assert cuda.current_device() == 2 and cuda.set_stream(None) is None
    x = torch.ones(1, device="cuda")
    assert x.record_stream(cuda.current_stream()) is None and cuda.ipc_collect() is None
    with pytest.raises(RuntimeError, match="CPU"):
        torch.ones(1).record_stream(cuda.current_stream())
    cuda.set_device(0)


def test_constructors_pin_memory_if_asked(gpus):
    made = [
        torch.tensor([1.0], pin_memory=True), torch.tensor([1], pin_memory=True), torch.zeros(2, pin_memory=True),
        torch.empty(2, pin_memory=True), torch.ones(2, requires_grad=True, pin_memory=True),
        torch.full((2,), 1.0, pin_memory=True), torch.zeros_like(torch.ones(2), pin_memory=True),
        torch.ones(1).new_ones(2, pin_memory=True), torch.full_like(torch.ones(1), 2, pin_memory=True),
        torch.rand(2, pin_memory=True), torch.randn(2, pin_memory=True),
    ]  # fmt: skip
    assert (
        all(t.is_pinned() and t.get_device() == -1 for t in made)
        and made[4].requires_grad
        and made[4].is_leaf
    )
    assert made[0].cuda(non_blocking=True).tolist() == [1.0] and not made[0].clone().is_pinned()


def test_pinned_constructors_need_a_gpu(no_gpu):
    with pytest.raises(RuntimeError, match="^pin_memory=True requires a CUDA or other accelerator backend"):
        torch.zeros(2, pin_memory=True)


def test_out_says_where_a_constructor_works(gpus):
    x = torch.ones(3, device="cuda:1")
    assert torch.zeros(3, out=x) is x and x.tolist() == [0.0, 0.0, 0.0] and x.get_device() == 1
    assert torch.full((3,), 2.0, out=x).sum() == 6 and x.get_device() == 1


def test_cuda_gives_a_copy_and_leaves_the_tensor_where_it_is(gpus):
    x = torch.tensor([1.0, 2.0, 3.0])
    y = x.cuda()
    assert (x.is_cuda, y.is_cuda, x.get_device(), y.get_device()) == (False, True, -1, 0)
    y.mul_(2)
    assert x.tolist() == [1.0, 2.0, 3.0] and y.cpu().tolist() == [2.0, 4.0, 6.0]
    assert y.cuda() is y and x.cpu() is x and y.cuda(1) is not y
    assert (str(y.device), str(x.cuda(1).device), str(x.to("cuda:2").device)) == (
        "cuda:0",
        "cuda:1",
        "cuda:2",
    )
    assert x.cuda(non_blocking=True).is_cuda and x.cuda(**{"async": True}).is_cuda
    assert x.cuda().type() == "torch.cuda.FloatTensor"


def test_the_seven_lines(gpus):
    x = torch.zeros(1, device="cuda")
    y = torch.zeros(1).cuda()
    with torch.cuda.device(1):
        a = torch.zeros(1, device="cuda")
        b = torch.zeros(1).cuda()
        c = a + b
        z = x + y
        d = torch.zeros(1).cuda(2)
    assert [t.get_device() for t in (x, y, a, b, c, z, d)] == [0, 0, 1, 1, 1, 0, 2]


def test_there_and_back_again(gpus):
    a, b = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[2.0, 2.0], [2.0, 2.0]])
    start = devices.transfer_count()
    c = a.cuda().mul_(b.cuda()).cpu()
    assert c.tolist() == [[2.0, 4.0], [6.0, 8.0]] and c.get_device() == -1
    assert [(str(t.source), str(t.destination), t.nbytes) for t in devices.transfers_since(start)] == [
        ("cpu", "cuda:0", 16),
        ("cpu", "cuda:0", 16),
        ("cuda:0", "cpu", 16),
    ]


@pytest.mark.parametrize(
    ("left", "right", "names"),
    [
        ("cuda:0", "cpu", "cuda:0 and cpu"),
        ("cpu", "cuda:1", "cpu and cuda:1"),
        ("cuda:0", "cuda:1", "cuda:0 and cuda:1"),
    ],
)
@pytest.mark.parametrize("operation", ["add", "sub", "mul", "div", "add_", "mul_"])
def test_an_operation_over_two_devices_fails(gpus, left, right, names, operation):
    a, b = torch.ones(3, device=left), torch.ones(3, device=right)
    phrase = "Expected all tensors to be on the same device, but found at least two devices"
    with pytest.raises(RuntimeError, match=phrase) as info:
        getattr(a, operation)(b)
    assert set(names.split(" and ")) <= set(str(info.value).replace("!", " ").replace(",", " ").split())
    assert a.tolist() == [1.0, 1.0, 1.0]


def test_a_0d_tensor_of_the_cpu_goes_with_any_device(gpus):
    x, s = torch.ones(3, device="cuda:1"), torch.tensor(2.0)
    for y in (x * s, s * x, x * 2, 2 * x, x * s.detach()):
        assert y.tolist() == [2.0, 2.0, 2.0] and y.get_device() == 1
    x.mul_(s)
    assert x.tolist() == [2.0, 2.0, 2.0]


def test_numpy_refuses_a_gpu(gpus):
    x = torch.ones(3, device="cuda")
    text = r"^can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu\(\) to copy the tensor to host memory"
    with pytest.raises(TypeError, match=text):
        x.numpy()
    with pytest.raises(TypeError, match=text):
        np.asarray(x)
    assert x.cpu().numpy().tolist() == [1.0, 1.0, 1.0]


def test_gradients_cross_devices_and_stay_with_their_tensor(gpus):
    w = torch.tensor([1.0, 2.0], device="cuda:1", requires_grad=True)
    v = torch.tensor([3.0, 4.0], requires_grad=True)
    loss = (w * v.cuda(1)).sum()
    loss.backward()
    assert (w.grad.tolist(), w.grad.get_device()) == ([3.0, 4.0], 1)
    assert (v.grad.tolist(), v.grad.get_device()) == ([1.0, 2.0], -1)
    assert loss.item() == 11.0 and loss.get_device() == 1
    with pytest.raises(RuntimeError, match="same device"):
        (w * v).sum()


def test_a_tensor_shows_its_device(gpus):
    x = torch.tensor([1.0, 2.0])
    assert repr(x.cuda()) == "tensor([1., 2.], device='cuda:0')"
    assert repr(x.cuda(1)[1].requires_grad_()) == "tensor(2., device='cuda:1', requires_grad=True)"


def test_tensors_of_a_gpu_are_copied_and_pickled_in_place(gpus):
    x = torch.tensor([1.0, 2.0], device="cuda:1")
    for y in (copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.clone()):
        assert y.tolist() == [1.0, 2.0] and y.get_device() == 1 and y.data_ptr() != x.data_ptr()


def test_memory_is_freed_with_the_graph(gpus):
    def step():
        w = torch.ones(1000, device="cuda:2", requires_grad=True)
        ((w * w) * w).sum().backward()
        return w.grad

    before = cuda.memory_allocated(2)
    grad = step()
    assert cuda.memory_allocated(2) - before == 4096
    del grad
    assert cuda.memory_allocated(2) == before


def test_an_index_lies_on_the_cpu_or_with_its_tensor(gpus):
    i = torch.tensor([1], device="cuda:1")
    for x in (torch.arange(3.0), torch.arange(3.0, device="cuda:0")):
        with pytest.raises(RuntimeError, match="indices should be either on cpu or on the same device"):
            x[i]
    x = torch.arange(3.0, device="cuda:1")
    assert x[i].tolist() == x[i.cpu()].tolist() == [1]


def test_a_single_number_on_the_cpu_is_a_gradient_for_any_device(gpus):
    x = torch.ones(2, device="cuda:1", requires_grad=True)
    x.sum().backward(torch.tensor(3.0))
    assert x.grad.tolist() == [3, 3] and x.grad.device == torch.device("cuda:1")
