"""Samplers: in which order the samples of a dataset are taken, and how they are put into batches.

For the same seed the orders are PyTorch's.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Generic, TypeVar

from ...core import dtype as dtypes
from ...core.api import FUNCTIONS
from ...core.create import as_tensor
from ...core.errors import explain
from ...core.generator import Generator

T_co = TypeVar("T_co", covariant=True)


def random_seed(generator: Any = None) -> int:
    """A number for a new generator's seed."""
    return int(FUNCTIONS["empty"]((), dtype=dtypes.int64).random_(generator=generator).item())


class Sampler(Generic[T_co]):
    """Numbers of samples (or lists of them) in some order; one of your own writes `__iter__`."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """0, 1, 2, …"""

    def __init__(self, data_source: Any) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """All numbers in random order; with replacement, num_samples random ones.

    generator: where the numbers come from; if left out, a new one each time, seeded from the default one.  Raises
    ValueError unless num_samples is a positive integer (an empty dataset has no order), TypeError unless replacement is a
    bool.

    >>> import autodiff_kernel as torch
    >>> list(torch.utils.data.RandomSampler(range(5), generator=torch.Generator().manual_seed(0)))
    [4, 0, 1, 3, 2]
    """

    def __init__(
        self,
        data_source: Any,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Any = None,
    ) -> None:
        self.data_source, self.replacement, self._num_samples = data_source, replacement, num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise explain(
                ValueError,
                f"num_samples should be a positive integer value, but got num_samples={self.num_samples}",
                "" if num_samples is not None else "The dataset has no samples.",
            )

    @property
    def num_samples(self) -> int:
        """How many numbers one pass gives."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        n, count = len(self.data_source), self.num_samples
        generator = self.generator
        if generator is None:
            seed = random_seed()
            generator = Generator()
            generator.manual_seed(seed)
        if self.replacement:
            for size in [32] * (count // 32) + [count % 32]:
                yield from FUNCTIONS["randint"](high=n, size=(size,), generator=generator).tolist()
        else:
            for _ in range(count // n):
                yield from FUNCTIONS["randperm"](n, generator=generator).tolist()
            if count % n or self.generator is not None:  # PyTorch draws for a rest of none, too
                yield from FUNCTIONS["randperm"](n, generator=generator).tolist()[: count % n]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given numbers in random order."""

    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        for i in FUNCTIONS["randperm"](len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """num_samples numbers, drawn with probabilities in the proportion of the weights.

    Raises ValueError for other than one-dimensional weights, and for settings of another kind.
    """

    def __init__(
        self, weights: Any, num_samples: int, replacement: bool = True, generator: Any = None
    ) -> None:
        _positive("num_samples", num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights = as_tensor(weights, dtype=dtypes.float64)
        if len(self.weights.shape) != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}"
            )
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        drawn = FUNCTIONS["multinomial"](
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        yield from drawn.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of batch_size numbers of another sampler; the last may be shorter, or is left out (drop_last).

    Raises ValueError unless batch_size is a positive integer and drop_last a bool.

    >>> from autodiff_kernel.utils.data import BatchSampler
    >>> list(BatchSampler(range(5), batch_size=2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable[Any], batch_size: int, drop_last: bool) -> None:
        _positive("batch_size", batch_size)
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[Any]]:
        numbers, size = iter(self.sampler), self.batch_size
        while batch := list(islice(numbers, size)):
            if len(batch) == size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        n: int = len(self.sampler)  # type: ignore[arg-type]
        return n // self.batch_size if self.drop_last else (n + self.batch_size - 1) // self.batch_size


class DistributedSampler(Sampler[int]):
    """The part of the numbers that one of num_replicas programs takes: every num_replicas-th, from rank on.

    The numbers are filled up (from the front) or cut (drop_last) so that all parts are as long.  `set_epoch` chooses the
    order of the next pass.  Raises RuntimeError without num_replicas and rank (there is no distributed package to ask),
    ValueError for a rank outside.
    """

    def __init__(
        self, dataset: Any, num_replicas: int | None = None, rank: int | None = None, shuffle: bool = True,
        seed: int = 0, drop_last: bool = False,
    ) -> None:  # fmt: skip
        if num_replicas is None or rank is None:
            raise RuntimeError("Requires distributed package to be available: give num_replicas and rank")
        if rank >= num_replicas or rank < 0:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.shuffle, self.seed, self.drop_last, self.epoch = shuffle, seed, drop_last, 0
        n = len(dataset)
        self.num_samples = n // num_replicas if drop_last else -(-n // num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        n = len(self.dataset)
        if self.shuffle:
            generator = Generator().manual_seed(self.seed + self.epoch)
            order = FUNCTIONS["randperm"](n, generator=generator).tolist()
        else:
            order = list(range(n))
        order = (order * (1 + self.total_size // max(1, n)))[: self.total_size]
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Choose another order for the next pass."""
        self.epoch = epoch


def _positive(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}={value}")
