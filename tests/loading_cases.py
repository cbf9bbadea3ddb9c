"""Data loaders and what they give, two epochs each, and calls that are refused; PyTorch's answers stand in data/loading.json.

python -m tests.loading_cases records them (PyTorch installed).
"""

import collections
import json
import pathlib
from typing import Any

import numpy as np

DATA = pathlib.Path(__file__).parent / "data" / "loading.json"
Pair = collections.namedtuple("Pair", "a b")


def kinds(m: Any) -> tuple[Any, Any, Any]:
    """A dataset of structures, a stream, and a dataset that draws random numbers."""
    data = m.utils.data

    class Squares(data.Dataset):
        def __init__(self, n=10):
            self.n = n

        def __len__(self):
            return self.n

        def __getitem__(self, i):
            if i == 99:
                raise ValueError("no such picture")
            return {"x": m.tensor([float(i), 2.0]), "y": i, "t": (i * 0.5, str(i)), "a": np.arange(3) + i}

    class Stream(data.IterableDataset):
        def __init__(self, n=11):
            self.n = n

        def __iter__(self):
            worker = data.get_worker_info()
            yield from range(self.n) if worker is None else range(worker.id, self.n, worker.num_workers)

    class Noise(data.Dataset):
        def __len__(self):
            return 9

        def __getitem__(self, i):
            return m.rand(2)

    return Squares, Stream, Noise


def plain(m: Any, x: Any) -> Any:
    """A batch in JSON's terms, types told."""
    if isinstance(x, m.Tensor):
        return ["tensor", str(x.dtype).split(".")[-1], x.tolist()]
    if isinstance(x, dict):
        return {key: plain(m, value) for key, value in x.items()}
    if isinstance(x, tuple | list):
        return [type(x).__name__, *[plain(m, y) for y in x]]
    return x


def loaders(m: Any) -> dict[str, Any]:
    d = m.utils.data
    Squares, Stream, Noise = kinds(m)

    def rows():
        return d.TensorDataset(m.arange(20.0).reshape(10, 2), m.arange(10))

    def with_replacement():
        numbers = d.RandomSampler(range(10), replacement=True, num_samples=40)
        return d.DataLoader(Squares(), batch_sampler=d.BatchSampler(numbers, 7, False))

    return {
        "in order": lambda: d.DataLoader(Squares(), batch_size=3),
        "shuffled": lambda: d.DataLoader(Squares(), batch_size=3, shuffle=True, drop_last=True),
        "generator": lambda: d.DataLoader(Squares(), 4, shuffle=True, generator=m.Generator().manual_seed(5)),
        "workers": lambda: d.DataLoader(Squares(), batch_size=3, shuffle=True, num_workers=2),
        "workers kept": lambda: d.DataLoader(
            Squares(), batch_size=3, shuffle=True, num_workers=3, persistent_workers=True, prefetch_factor=1
        ),
        "stream": lambda: d.DataLoader(Stream(), batch_size=3),
        "stream without rest": lambda: d.DataLoader(Stream(), batch_size=3, drop_last=True),
        "stream of workers": lambda: d.DataLoader(Stream(), batch_size=2, num_workers=3),
        "stream one by one": lambda: d.DataLoader(Stream(), batch_size=None),
        "one by one": lambda: d.DataLoader(Squares(3), batch_size=None),
        "noise of workers": lambda: d.DataLoader(Noise(), batch_size=2, num_workers=2),
        "list": lambda: d.DataLoader([1, 2, 3], batch_size=2),
        "text": lambda: d.DataLoader("abcd", batch_size=3),
        "floats": lambda: d.DataLoader([1.0, 2.0], batch_size=2),
        "bools": lambda: d.DataLoader([True, False], batch_size=2),
        "named": lambda: d.DataLoader([Pair(1, 2.0), Pair(3, 4.0)], batch_size=2),
        "lists": lambda: d.DataLoader([[1, 2.0], [3, 4.0]], batch_size=2),
        "NumPy's numbers": lambda: d.DataLoader([np.float32(1), np.float32(2)], batch_size=2),
        "with replacement": with_replacement,
        "weighted": lambda: d.DataLoader(
            Squares(4), 4, sampler=d.WeightedRandomSampler([0.1, 0.2, 0.3, 0.4], 6)
        ),
        "some": lambda: d.DataLoader(Squares(), sampler=d.SubsetRandomSampler([5, 1, 9]), batch_size=2),
        "rows": lambda: d.DataLoader(rows(), batch_size=3, shuffle=True),
        "rows split": lambda: d.DataLoader(
            d.random_split(rows(), [0.75, 0.25])[0], batch_size=3, shuffle=True
        ),
        "joined": lambda: d.DataLoader(Squares(2) + Squares(2), batch_size=3),
        "chained": lambda: d.DataLoader(Stream(3) + Stream(2), batch_size=2),
        "stacked": lambda: d.DataLoader(d.StackDataset(a=Squares(3), b=[1, 2, 3]), batch_size=2),
        "stacked in pairs": lambda: d.DataLoader(d.StackDataset([4, 5], [1, 2]), batch_size=2),
        "distributed": lambda: d.DistributedSampler(range(11), 3, 1),
    }


def refusals(m: Any) -> dict[str, Any]:
    d = m.utils.data
    Squares, Stream, _ = kinds(m)
    return {
        "error of a sample": lambda: list(d.DataLoader(Squares(101), batch_size=10)),
        "error in a worker": lambda: list(d.DataLoader(Squares(101), batch_size=10, num_workers=2)),
        "lists of two lengths": lambda: list(d.DataLoader([[1], [1, 2]], batch_size=2)),
        "objects": lambda: list(d.DataLoader([object()], batch_size=2)),
        "nothing": lambda: list(d.DataLoader([None, None], batch_size=2)),
        "tensors of two sizes": lambda: list(d.DataLoader([m.ones(2), m.ones(3)], batch_size=2)),
        "another key": lambda: list(d.DataLoader([{"a": 1}, {"b": 1}], batch_size=2)),
        "shuffle and sampler": lambda: d.DataLoader([1], shuffle=True, sampler=[0]),
        "shuffled stream": lambda: d.DataLoader(Stream(), shuffle=True),
        "sampled stream": lambda: d.DataLoader(Stream(), sampler=[1]),
        "batches of none": lambda: d.DataLoader([1], batch_size=0),
        "batches of 2.5": lambda: d.DataLoader([1], batch_size=2.5),
        "empty": lambda: d.DataLoader([], shuffle=True),
        "workers below 0": lambda: d.DataLoader([1], num_workers=-1),
        "prefetch alone": lambda: d.DataLoader([1], prefetch_factor=2),
        "persistent alone": lambda: d.DataLoader([1], persistent_workers=True),
        "timeout alone": lambda: list(d.DataLoader([1], timeout=3)),
        "batch sampler and size": lambda: d.DataLoader([1], batch_sampler=[[0]], batch_size=3),
        "drop of no batch": lambda: d.DataLoader([1], batch_size=None, drop_last=True),
        "split": lambda: d.random_split(range(5), [1, 2]),
        "rows of two lengths": lambda: d.TensorDataset(m.ones(2), m.ones(3)),
        "length of a stream": lambda: len(d.DataLoader(Stream())),
        "setting": lambda: setattr(d.DataLoader([1]), "batch_size", 3),
        "no dataset": lambda: d.DataLoader(5),
        "no samples": lambda: d.Dataset()[0],
        "row out of range": lambda: list(d.DataLoader(d.TensorDataset(m.ones(3)), sampler=[5])),
        "replacement": lambda: d.RandomSampler([1], replacement=1),
        "no number": lambda: d.RandomSampler([1], num_samples=0),
        "matrix of weights": lambda: d.WeightedRandomSampler([[1.0]], 1),
        "rank": lambda: d.DistributedSampler([1], 2, 2),
        "no join": lambda: d.ConcatDataset([]),
        "no stack": lambda: d.StackDataset(),
    }


def epochs(m: Any, name: str) -> list[Any]:
    """Two epochs, the next random number, and the length."""
    m.manual_seed(11)
    loader = loaders(m)[name]()
    found = [plain(m, list(loader)) for _ in range(2)]
    length = None if name.startswith(("stream", "chained")) else len(loader)
    return [*found, m.rand(1).item(), length]


def refusal(m: Any, name: str) -> list[str]:
    """The type of the error, and the first line of its text."""
    try:
        refusals(m)[name]()
    except Exception as error:
        return [type(error).__name__, str(error).split("\n")[0]]
    return ["nothing", ""]


if __name__ == "__main__":
    import torch

    recorded = {
        "epochs": {name: epochs(torch, name) for name in loaders(torch)},
        "refusals": {name: refusal(torch, name) for name in refusals(torch)},
    }
    DATA.write_text(json.dumps(recorded) + "\n")
