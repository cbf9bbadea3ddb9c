"""torch.utils.data: batches, orders and refusals are PyTorch's (recorded by loading_cases.py); and the workers."""

import gc
import json
import threading
import time

import numpy as np
import pytest

import autodiff_kernel as torch
from autodiff_kernel.utils.data import (
    DataLoader,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    get_worker_info,
    random_split,
)

from .loading_cases import DATA, epochs, plain, refusal

RECORDED = json.loads(DATA.read_text())


@pytest.mark.parametrize("name", RECORDED["epochs"])
def test_batches_are_pytorch_s(name):
    assert epochs(torch, name) == RECORDED["epochs"][name]


@pytest.mark.parametrize("name", RECORDED["refusals"])
def test_refusals_are_pytorch_s(name):
    kind, text = refusal(torch, name)
    wanted, phrase = RECORDED["refusals"][name]
    assert kind == wanted
    if name == "objects":
        phrase = phrase.split(";")[0]
    assert text.startswith(phrase[:60])


# ------------------------------------------------------------------------------------------------ rows at once
class Rows(TensorDataset):
    """The same by the ordinary way: its own __getitem__ is asked for each row."""

    def __getitem__(self, index):
        return super().__getitem__(index)


@pytest.mark.parametrize(
    "tensors",
    [
        lambda: (torch.arange(12.0).reshape(6, 2), torch.arange(6)),
        lambda: (torch.arange(12.0).reshape(2, 6).t(), torch.tensor([True] * 6)),
        lambda: (torch.rand(6, 2, requires_grad=True),),
        lambda: (torch.nn.Parameter(torch.rand(6)),),
        lambda: (torch.zeros(6, 0),),
    ],
)
def test_rows_at_once_are_the_stacked_rows(tensors):
    given = tensors()
    for make in (
        lambda d: d,
        lambda d: Subset(d, [5, 0, 3]),
        lambda d: Subset(Subset(d, [5, 0, 3, -1]), (1, 3)),
    ):
        fast = list(DataLoader(make(TensorDataset(*given)), batch_size=2))
        slow = list(DataLoader(make(Rows(*given)), batch_size=2))
        assert plain(torch, fast) == plain(torch, slow)
        for a, b in zip(fast, slow):
            assert [t.requires_grad for t in a] == [t.requires_grad for t in b]
            assert [type(t) for t in a] == [torch.Tensor] * len(a)


def test_batches_own_their_memory():
    x = torch.zeros(4)
    (batch,) = next(iter(DataLoader(TensorDataset(x), batch_size=4)))
    batch.add_(1)
    assert x.tolist() == [0, 0, 0, 0]


def test_rows_on_a_simulated_gpu():
    torch.cuda.simulate(1)
    try:
        x = torch.arange(6.0, device="cuda")
        batches = list(DataLoader(TensorDataset(x), batch_size=4))
        assert [b.tolist() for (b,) in batches] == [[0, 1, 2, 3], [4, 5]] and batches[0][0].is_cuda
        pinned = next(iter(DataLoader(TensorDataset(torch.arange(6.0)), batch_size=4, pin_memory=True)))
        assert pinned[0].is_pinned()
    finally:
        torch.cuda.simulate(0)


# ------------------------------------------------------------------------------------------------ errors
class Broken(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        if i == 5:
            return {}["picture"]
        return i


def notes(error):
    return " ".join(getattr(error, "__notes__", []))


def test_an_error_tells_its_sample():
    with pytest.raises(KeyError) as caught:
        list(DataLoader(Broken(), batch_size=2))
    assert "sample 5" in notes(caught.value)
    with pytest.raises(KeyError) as caught:
        list(DataLoader(Broken(), batch_size=2, num_workers=2))
    told = caught.value.args[0]
    assert told.startswith("Caught KeyError in DataLoader worker process 0.") and "sample 5" in told
    assert "in __getitem__" in told and isinstance(caught.value.__cause__, KeyError)


def test_an_error_of_a_type_with_arguments_of_its_own():
    class Strange(Exception):
        def __init__(self, a, b):
            super().__init__(a, b)

    def fails(batch):
        raise Strange(1, 2)

    with pytest.raises(RuntimeError, match="Caught Strange in DataLoader worker process 0"):
        list(DataLoader([1], collate_fn=fails, num_workers=1))


def test_an_index_out_of_range_tells_itself():
    with pytest.raises(IndexError) as caught:
        list(DataLoader(TensorDataset(torch.ones(3)), batch_sampler=[[0, 7]]))
    assert "sample 7" in notes(caught.value)


def test_the_loader_goes_on_after_an_error():
    batches = iter(DataLoader(Broken(), batch_size=2, num_workers=2))
    assert [next(batches).tolist() for _ in range(2)] == [[0, 1], [2, 3]]
    with pytest.raises(KeyError):
        next(batches)
    assert next(batches).tolist() == [6, 7]


# ------------------------------------------------------------------------------------------------ workers
def test_workers_run_their_own_code():
    seen = []

    def init(i):
        info = get_worker_info()
        seen.append((i, info.id, info.num_workers, info.seed - torch.initial_seed()))
        info.dataset.start = 10 * i

    class Stream(IterableDataset):
        start = 0

        def __iter__(self):
            yield from range(self.start, self.start + 3)

    data = Stream()
    got = [b.tolist() for b in DataLoader(data, batch_size=2, num_workers=2, worker_init_fn=init)]
    assert got == [[0, 1], [10, 11], [2], [12]]
    assert sorted(seen) == [(0, 0, 2, 0), (1, 1, 2, 0)] and data.start == 0 and get_worker_info() is None


def test_random_numbers_of_workers_come_back_with_the_seed():
    class Noise(Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, i):
            time.sleep(0.001 * (i % 2))
            return torch.rand(1)

    runs = []
    for _ in range(2):
        torch.manual_seed(3)
        runs.append([b.tolist() for b in DataLoader(Noise(), batch_size=2, num_workers=3)])
        runs[-1].append(torch.rand(1).item())
    assert runs[0] == runs[1]
    assert len({str(batch) for batch in runs[0]}) == 4


def living():
    return sum(t.is_alive() for t in threading.enumerate())


def test_threads_end():
    before = living()
    list(DataLoader(range(20), num_workers=2))
    batches = iter(DataLoader(range(20), num_workers=2))
    next(batches)
    del batches  # left early
    gc.collect()
    loader = DataLoader(range(4), num_workers=2, persistent_workers=True)
    for _ in range(2):
        assert [b.item() for b in loader] == [0, 1, 2, 3]
    for _ in loader:  # left early, begun anew
        break
    assert [b.item() for b in loader] == [0, 1, 2, 3]
    del loader, _
    gc.collect()
    end = time.monotonic() + 5
    while living() > before and time.monotonic() < end:
        time.sleep(0.01)
    assert living() <= before


def test_a_worker_that_takes_too_long():
    done = threading.Event()
    with pytest.raises(RuntimeError, match="DataLoader timed out after 0.1 seconds"):
        list(DataLoader([0], num_workers=1, timeout=0.1, collate_fn=lambda batch: done.wait(5)))
    done.set()


def test_a_class_of_a_cell():
    space = {"torch": torch}
    exec(
        "class Squares(torch.utils.data.Dataset):\n"
        "    def __len__(self): return 4\n"
        "    def __getitem__(self, i): return i * i\n"
        "loader = torch.utils.data.DataLoader(Squares(), 2, num_workers=2, collate_fn=lambda b: torch.tensor(b))\n"
        "found = [b.tolist() for b in loader]",
        space,
    )
    assert space["found"] == [[0, 1], [4, 9]]


# ------------------------------------------------------------------------------------------------ odds and ends
def test_pinning_without_a_gpu_is_told():
    with pytest.warns(UserWarning, match="'pin_memory' argument is set as true but no accelerator is found"):
        next(iter(DataLoader([1], pin_memory=True)))


def test_fractions():
    torch.manual_seed(0)
    parts = random_split(range(11), [0.5, 0.25, 0.25])
    assert [len(p) for p in parts] == [6, 3, 2] and sorted(i for p in parts for i in p) == list(range(11))
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0"):
        random_split([1], [0.6, 0.4])


def test_a_stream_longer_than_it_says():
    class Stream(IterableDataset):
        def __len__(self):
            return 2

        def __iter__(self):
            return iter([1, 2, 3])

    loader = DataLoader(Stream())
    assert len(loader) == 2
    with pytest.warns(UserWarning, match="was reported to be 2"):
        assert len(list(loader)) == 3


def test_converted_samples():
    convert = torch.utils.data.default_convert
    got = convert({"a": np.arange(2), "b": [np.float64(1.5), "t"], "c": (1,)})
    assert plain(torch, got) == {
        "a": ["tensor", "int64", [0, 1]], "b": ["list", ["tensor", "float64", 1.5], "t"], "c": ["list", 1],
    }  # fmt: skip
