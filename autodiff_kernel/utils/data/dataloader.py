"""torch.utils.data.DataLoader: the batches of a dataset, epoch after epoch."""

import math
import warnings
import weakref
from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import Any, Generic, TypeVar

from ... import cuda
from ...core.errors import explain
from ...core.pytree import tree_map
from ...core.tensor import Tensor
from .collate import default_collate, default_convert
from .dataset import IterableDataset
from .fetch import END, IterableFetcher, MapFetcher
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, random_seed
from .worker import Failure, Workers

T_co = TypeVar("T_co", covariant=True)


class _DatasetKind:
    Map, Iterable = 0, 1


class _Forever(Sampler[None]):
    """None, without end: the numbers of a stream's samples."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class DataLoader(Generic[T_co]):
    """Batches of a dataset's samples; each `for` over it is one epoch.

    dataset: with numbers (`Dataset`, or anything with `__getitem__` and `__len__`), or a stream (`IterableDataset`).
    batch_size: None gives the samples one by one.  shuffle: another random order each epoch, from `generator` (or the
    default one; the orders are PyTorch's).  sampler, batch_sampler: an order of one's own.  drop_last: leave out a last
    batch that is shorter.  collate_fn: makes a batch of a list of samples (`default_collate` stacks them).

    num_workers: threads that make batches ahead (prefetch_factor each); each draws random numbers of its own, and
    worker_init_fn(id) runs first in it.  persistent_workers keeps them for the next epoch.  timeout: how many seconds to
    wait for one.  pin_memory: pins the batches if there is a GPU.  multiprocessing_context, in_order: accepted, they
    change nothing.

    Raises ValueError for settings that exclude each other.  An error of the dataset says for which sample it arose.

    >>> import autodiff_kernel as torch
    >>> from autodiff_kernel.utils.data import DataLoader, TensorDataset
    >>> data = TensorDataset(torch.arange(5.), torch.arange(5))
    >>> _ = torch.manual_seed(0)
    >>> for x, y in DataLoader(data, batch_size=2, shuffle=True):
    ...     print(x, y)
    tensor([1., 4.]) tensor([1, 4])
    tensor([2., 3.]) tensor([2, 3])
    tensor([0.]) tensor([0])
    """

    _initialized = False
    _FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")

    def __init__(
        self, dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None, sampler: Any = None,
        batch_sampler: Any = None, num_workers: int = 0, collate_fn: Any = None, pin_memory: bool = False,
        drop_last: bool = False, timeout: float = 0, worker_init_fn: Any = None, multiprocessing_context: Any = None,
        generator: Any = None, *, prefetch_factor: int | None = None, persistent_workers: bool = False,
        pin_memory_device: str = "", in_order: bool = True,
    ) -> None:  # fmt: skip
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers, multiprocessing_context)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.timeout, self.worker_init_fn, self.in_order = timeout, worker_init_fn, in_order
        self.multiprocessing_context = multiprocessing_context
        streams = isinstance(dataset, IterableDataset)
        self._dataset_kind = _DatasetKind.Iterable if streams else _DatasetKind.Map
        if streams:
            _check_stream(shuffle, sampler, batch_sampler)
        _check_order(batch_size, bool(shuffle), sampler, batch_sampler, drop_last)
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        if sampler is None:
            if streams:
                sampler = _Forever()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler, self.batch_sampler, self.generator = sampler, batch_sampler, generator
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)
        self.persistent_workers = persistent_workers
        self._told_length: int | None = None
        self._iterator: Any = None
        self._initialized = True

    def __setattr__(self, name: str, value: Any) -> None:
        if self._initialized and name in self._FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def __iter__(self) -> Iterator[Any]:
        if not self.num_workers:
            return _Single(self)
        if not self.persistent_workers:
            return _Threaded(self)
        if self._iterator is None:
            self._iterator = _Threaded(self)
        else:
            self._iterator.restart(self)
        return self._iterator  # type: ignore[no-any-return]

    def __len__(self) -> int:
        if self._dataset_kind == _DatasetKind.Map:
            return len(self._index_sampler)
        length = self._told_length = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else math.ceil(length / self.batch_size)


class _Batches:
    """One epoch: what both ways of getting the batches have in common."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self.loader = loader
        self.pins = loader.pin_memory and cuda.is_available()
        if loader.pin_memory and not self.pins:
            warnings.warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be "
                "used.",
                stacklevel=3,
            )
        self.streams = loader._dataset_kind == _DatasetKind.Iterable
        self.begin()
        self.seed = random_seed(loader.generator)

    def begin(self) -> None:
        self.indices = iter(self.loader._index_sampler)
        self.count = 0

    def make_fetcher(self) -> Any:
        loader = self.loader
        if self.streams:
            return partial(
                IterableFetcher,
                batched=loader._auto_collation,
                collate=loader.collate_fn,
                drop_last=loader.drop_last,
            )
        return partial(MapFetcher, batched=loader._auto_collation, collate=loader.collate_fn)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __len__(self) -> int:
        return len(self.loader._index_sampler)

    def next_batch(self) -> Any:
        """The next batch; END after the last."""
        raise NotImplementedError

    def __next__(self) -> Any:
        batch = self.next_batch()
        if batch is END:
            raise StopIteration
        self.count += 1
        told = self.loader._told_length
        if self.streams and told is not None and self.count > told:
            warnings.warn(
                f"Length of IterableDataset {self.loader.dataset} was reported to be {told}(when accessing "
                f"len(dataloader)), but {self.count} samples have been fetched. ",
                stacklevel=2,
            )
        return tree_map(_pinned, batch) if self.pins else batch


def _pinned(x: Any) -> Any:
    return x.pin_memory() if isinstance(x, Tensor) else x  # type: ignore[attr-defined]


class _Single(_Batches):
    """Batches made when they are asked for."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        if loader.timeout != 0:
            raise explain(
                AssertionError,
                "_SingleProcessDataLoaderIter requires timeout == 0",
                cure="timeout=0, or num_workers of at least 1: nobody else can be waited for.",
            )
        self.fetcher = self.make_fetcher()(loader.dataset)

    def next_batch(self) -> Any:
        index = next(self.indices, END)
        return END if index is END else self.fetcher.fetch(index)


class _Threaded(_Batches):
    """Batches made ahead by workers, who take turns; they come in the order of the sampler."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        self.workers = Workers(
            loader.num_workers,
            loader.dataset,
            self.make_fetcher(),
            loader.worker_init_fn,
            self.seed,
            loader.timeout,
        )
        self._finalizer = weakref.finalize(self, self.workers.stop)
        self.start()

    def restart(self, loader: DataLoader[Any]) -> None:
        """Begin the next epoch with the same workers."""
        while self.waiting:  # of an epoch that was left early
            self.workers.receive(self.waiting.popleft())
        self.begin()
        self.workers.restart()
        self.start()

    def start(self) -> None:
        self.waiting: deque[int] = deque()  # whose results come next
        self.active = deque(range(self.loader.num_workers))  # in the order of their turns
        for _ in range((self.loader.prefetch_factor or 1) * self.loader.num_workers):
            self.send()

    def send(self) -> None:
        """Give the next batch to whose turn it is, if there are both."""
        if not self.active:
            return
        index = next(self.indices, END)
        if index is END:
            return
        worker = self.active[0]
        self.active.rotate(-1)
        self.workers.send(worker, index)
        self.waiting.append(worker)

    def next_batch(self) -> Any:
        while self.waiting:
            worker = self.waiting.popleft()
            result = self.workers.receive(worker)
            if result is END:
                if worker in self.active:
                    self.active.remove(worker)
                self.send()
                continue
            self.send()
            if isinstance(result, Failure):
                result.arise()
            return result
        if not self.loader.persistent_workers:
            self._finalizer()
        return END


# ---- checks of settings
def _check_workers(count: int, timeout: float, prefetch: int | None, persistent: bool, context: Any) -> None:
    if count < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if count == 0 and prefetch is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable "
            "multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch is not None and prefetch < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent and count == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")
    if context is not None and count == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got num_workers=0"
        )


def _check_stream(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    given = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
    for name, value in given.items():
        if value is not None:
            raise explain(
                ValueError,
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}",
                "A stream has no numbers that could be put in another order.",
                "shuffle inside of the dataset's __iter__, or write a Dataset with __getitem__ and __len__.",
            )


def _check_order(batch_size: Any, shuffle: bool, sampler: Any, batch_sampler: Any, drop_last: bool) -> None:
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
            )
    elif batch_size is None and drop_last:
        raise ValueError(
            "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
        )
