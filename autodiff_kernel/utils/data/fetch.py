"""Getting the samples of a batch out of a dataset, and making the batch of them."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...core import device as devices
from ...core import modes
from ...core.tensor import Tensor, wrap
from .collate import default_collate
from .dataset import Subset, TensorDataset

END = object()  # a stream has no more samples


class MapFetcher:
    """Batches (or single samples) of a dataset with numbers."""

    def __init__(self, dataset: Any, batched: bool, collate: Callable[[Any], Any]) -> None:
        self.dataset, self.batched, self.collate = dataset, batched, collate

    def fetch(self, index: Any) -> Any:
        """The batch of samples with these numbers; what a sample's error says is told its number."""
        if not self.batched:
            return self.collate(self._one(index))
        if self.collate is default_collate:
            rows = rows_at_once(self.dataset, index)
            if rows is not None:
                return rows
        many = getattr(self.dataset, "__getitems__", None)
        if callable(many) and many:
            try:
                return self.collate(many(index))
            except Exception as error:
                error.add_note(f"This arose in a batch of the DataLoader: dataset.__getitems__({index!r}).")
                raise
        return self.collate([self._one(i) for i in index])

    def _one(self, i: Any) -> Any:
        try:
            return self.dataset[i]
        except Exception as error:
            error.add_note(f"This arose for sample {i!r} of the DataLoader's dataset.")
            raise


class IterableFetcher:
    """Batches (or single samples) of a stream; END after the last."""

    def __init__(self, dataset: Any, batched: bool, collate: Callable[[Any], Any], drop_last: bool) -> None:
        self.samples: Iterator[Any] = iter(dataset)
        self.batched, self.collate, self.drop_last = batched, collate, drop_last
        self.count = 0

    def fetch(self, index: Any) -> Any:
        """The next batch, as long as `index`."""
        if not self.batched:
            sample = self._next()
            return END if sample is END else self.collate(sample)
        batch = []
        for _ in index:
            sample = self._next()
            if sample is END:
                break
            batch.append(sample)
        if not batch or self.drop_last and len(batch) < len(index):
            return END
        return self.collate(batch)

    def _next(self) -> Any:
        try:
            sample = next(self.samples, END)
        except Exception as error:
            error.add_note(f"This arose for sample {self.count} of the DataLoader's stream.")
            raise
        self.count += 1
        return sample


def rows_at_once(dataset: Any, indices: Any) -> list[Any] | None:
    """The batch of rows of a TensorDataset (or of subsets of one) by one operation on each tensor, or None.

    It is what stacking the rows gives; None where that would record a graph, and where an index is no plain number in
    range (the ordinary way then says what is wrong).
    """
    if modes.watch[0] is not None:  # pictures show each row where it comes from
        return None
    try:
        while type(dataset) is Subset:
            own = dataset.indices
            indices = [own[i] for i in indices]
            dataset = dataset.dataset
        if type(dataset) is not TensorDataset:
            return None
        numbers = np.array(indices)
        if numbers.ndim != 1 or numbers.dtype.kind != "i":
            return None
        return [_taken(t, numbers) for t in dataset.tensors]
    except (IndexError, TypeError, ValueError, _Ordinary):
        return None


class _Ordinary(Exception):
    """Only the ordinary way will do."""


def _taken(t: Any, numbers: Any) -> Any:
    if type(t) is not Tensor or t.requires_grad or t.is_dual or t.is_inference():
        raise _Ordinary
    raw = t.raw
    if raw.__class__ is np.ndarray:
        return wrap(raw.take(numbers, 0))
    return wrap(raw[devices.asarray(numbers, like=raw)])
