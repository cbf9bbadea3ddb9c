"""Datasets: samples by number (`Dataset`) or one after another (`IterableDataset`), and datasets made of datasets."""

import math
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, TypeVar

from ...core.api import FUNCTIONS
from ...core.errors import explain
from ...core.generator import default_generator

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """Samples by number; one of your own writes `__getitem__`, and `__len__` for most samplers.

    `a + b` joins two.

    >>> from autodiff_kernel.utils.data import Dataset
    >>> class Squares(Dataset):
    ...     def __len__(self):
    ...         return 5
    ...     def __getitem__(self, i):
    ...         return i * i
    >>> len(Squares() + Squares()), Squares()[3]
    (10, 9)
    """

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Any) -> Any:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co]):
    """Samples one after another, as from a stream; one of your own writes `__iter__`.

    With workers each one iterates its own copy: `get_worker_info()` says which part is its own.
    """

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")

    def __add__(self, other: Any) -> Any:
        return ChainDataset([self, other])


class TensorDataset(Dataset[Any]):
    """The rows of tensors of one length: sample i is the tuple of their i-th rows.

    Raises AssertionError unless all tensors have the same first size.

    >>> import autodiff_kernel as torch
    >>> torch.utils.data.TensorDataset(torch.tensor([1., 2.]), torch.tensor([0, 1]))[1]
    (tensor(2.), tensor(1))
    """

    tensors: tuple[Any, ...]

    def __init__(self, *tensors: Any) -> None:
        if any(tensors[0].size(0) != tensor.size(0) for tensor in tensors):
            raise explain(
                AssertionError,
                "Size mismatch between tensors",
                f"Their first sizes are {[tensor.size(0) for tensor in tensors]}: there must be a row in each for every "
                "sample.",
            )
        self.tensors = tensors

    def __getitem__(self, index: Any) -> Any:
        return tuple([tensor[index] for tensor in self.tensors])

    def __len__(self) -> int:
        return int(self.tensors[0].size(0))


class StackDataset(Dataset[Any]):
    """Sample i has the i-th samples of several datasets: as a tuple, or as a dict where they come with names.

    Raises ValueError for datasets of different lengths, for none, and for both kinds at once.
    """

    datasets: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output, but both "
                "types are given."
            )
        parts = list(args) or list(kwargs.values())
        if not parts:
            raise ValueError("At least one dataset should be passed")
        self._length = len(parts[0])
        if any(len(part) != self._length for part in parts):
            raise ValueError("Size mismatch between datasets")
        self.datasets = args or kwargs

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple([dataset[index] for dataset in self.datasets])

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        """Many samples at once."""
        named = isinstance(self.datasets, dict)
        parts = self.datasets.values() if named else self.datasets
        columns = [several(part, indices) for part in parts]
        for column in columns:
            if len(column) != len(indices):
                raise ValueError(
                    f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(column)}"
                )
        rows = list(zip(*columns))
        return [dict(zip(self.datasets, row)) for row in rows] if named else rows

    def __len__(self) -> int:
        return self._length


def several(dataset: Any, indices: list[Any]) -> Any:
    """Samples of a dataset, by its own method for many where it has one."""
    many = getattr(dataset, "__getitems__", None)
    return many(indices) if callable(many) else [dataset[i] for i in indices]


class ConcatDataset(Dataset[Any]):
    """One dataset after another.  Raises AssertionError for none and for an IterableDataset.

    >>> from autodiff_kernel.utils.data import ConcatDataset
    >>> ConcatDataset([[1, 2], [3]])[2]
    3
    """

    datasets: list[Any]
    cumulative_sizes: list[int]

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        for dataset in self.datasets:
            if isinstance(dataset, IterableDataset):
                raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """The running sum of the lengths."""
        return list(accumulate(len(part) for part in sequence))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: Any) -> Any:
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        which = bisect_right(self.cumulative_sizes, idx)
        return self.datasets[which][idx - (self.cumulative_sizes[which - 1] if which else 0)]

    @property
    def cummulative_sizes(self) -> list[int]:
        """The old name of `cumulative_sizes`."""
        warnings.warn(
            "`cummulative_sizes` attribute is renamed to `cumulative_sizes`", FutureWarning, stacklevel=2
        )
        return self.cumulative_sizes


class ChainDataset(IterableDataset[Any]):
    """One IterableDataset after another.  Raises AssertionError for other datasets."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        super().__init__()
        self.datasets = datasets

    def _parts(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield dataset

    def __iter__(self) -> Iterator[Any]:
        for dataset in self._parts():
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self._parts())  # type: ignore[misc]


class Subset(Dataset[T_co]):
    """The samples of a dataset with these numbers, in this order.

    >>> from autodiff_kernel.utils.data import Subset
    >>> list(Subset("abcd", [3, 0]))
    ['d', 'a']
    """

    dataset: Any
    indices: Sequence[int]

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices
        kind = type(self)
        if kind.__getitem__ is not Subset.__getitem__ and kind.__getitems__ is Subset.__getitems__:
            raise NotImplementedError(
                f"{kind.__name__} overrides __getitem__ but not __getitems__. When subclassing Subset and overriding "
                "__getitem__, you must also override __getitems__ to ensure DataLoader works correctly with your custom "
                "logic. A simple implementation:\n\ndef __getitems__(self, indices):\n"
                "    return [self.__getitem__(idx) for idx in indices]"
            )

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> Any:
        """Many samples at once."""
        return several(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Any, lengths: Sequence[Any], generator: Any = default_generator
) -> list[Subset[Any]]:
    """Part a dataset at random into subsets of these lengths (or fractions that add up to 1).

    With fractions, samples left over go to the first subsets, one each.  Raises ValueError for lengths that don't add up
    to the dataset's, and for fractions outside 0 to 1.

    >>> import autodiff_kernel as torch
    >>> g = torch.Generator().manual_seed(42)
    >>> [list(part) for part in torch.utils.data.random_split(range(10), [3, 7], generator=g)]
    [[2, 6, 1], [8, 4, 5, 0, 9, 3, 7]]
    """
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _from_fractions(lengths, len(dataset))
    if sum(lengths) != len(dataset):
        raise explain(
            ValueError,
            "Sum of input lengths does not equal the length of the input dataset!",
            f"The lengths add up to {sum(lengths)}, and the dataset has {len(dataset)} samples.",
            "compute the last length: len(dataset) - the others; or give fractions, such as [0.8, 0.2].",
        )
    order = FUNCTIONS["randperm"](sum(lengths), generator=generator).tolist()
    return [Subset(dataset, order[end - n : end]) for end, n in zip(accumulate(lengths), lengths)]


def _from_fractions(fractions: Sequence[float], total: int) -> list[int]:
    for i, fraction in enumerate(fractions):
        if fraction < 0 or fraction > 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
    lengths = [math.floor(total * fraction) for fraction in fractions]
    for i in range(total - sum(lengths)):
        lengths[i % len(lengths)] += 1
    for i, n in enumerate(lengths):
        if n == 0:
            warnings.warn(
                f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=3
            )
    return lengths
