"""Making a batch of samples: tensors of equal shape are stacked, and so inside of lists, tuples and dicts."""

import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from ...core import dtype as dtypes
from ...core.api import FUNCTIONS
from ...core.create import as_tensor, tensor
from ...core.errors import explain
from ...core.tensor import Tensor

FOUND = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


def default_convert(data: Any) -> Any:
    """NumPy's arrays and numbers inside of `data` as tensors; all else stays."""
    if isinstance(data, Tensor):
        return data
    if isinstance(data, (np.ndarray, np.generic)) and not isinstance(data, np.str_):
        return data if data.dtype.kind in "SUO" and isinstance(data, np.ndarray) else as_tensor(data)
    if isinstance(data, Mapping):
        return like_mapping(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple):
        parts = [default_convert(x) for x in data]
        return type(data)(*parts) if hasattr(data, "_fields") else parts
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return like_sequence(data, [default_convert(x) for x in data])
    return data


def collate(batch: Any, *, collate_fn_map: dict[Any, Callable[..., Any]] | None = None) -> Any:
    """One batch of samples of one structure; collate_fn_map says what is made of samples of a type.

    Raises TypeError for samples of a type that nobody knows, RuntimeError for lists of different lengths.
    """
    first = batch[0]
    if collate_fn_map is not None:
        function = chosen(first, collate_fn_map)
        if function is not None:
            return function(batch, collate_fn_map=collate_fn_map)

    def inner(samples: Any) -> Any:
        return collate(samples, collate_fn_map=collate_fn_map)

    if isinstance(first, Mapping):
        return like_mapping(first, {key: inner([sample[key] for sample in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*map(inner, zip(*batch)))
    if isinstance(first, Sequence):
        lengths = {len(sample) for sample in batch}
        if len(lengths) > 1:
            raise explain(
                RuntimeError,
                "each element in list of batch should be of equal size",
                f"There are samples with {sorted(lengths)} elements.",
                "make them equally long, or give the DataLoader a collate_fn that fills the shorter ones up.",
            )
        columns = [inner(samples) for samples in zip(*batch)]
        return columns if isinstance(first, tuple) else like_sequence(first, columns)
    raise explain(
        TypeError, FOUND.format(type(first)), cure="give the DataLoader a collate_fn for such samples."
    )


def chosen(sample: Any, known: dict[Any, Callable[..., Any]]) -> Callable[..., Any] | None:
    """What is known for the sample's type, or for one that it is derived from."""
    if type(sample) in known:
        return known[type(sample)]
    return next((known[kind] for kind in known if isinstance(sample, kind)), None)


def like_mapping(data: Any, items: dict[Any, Any]) -> Any:
    """A mapping of the same type (and with the same further attributes) with other items; a dict where that fails."""
    try:
        if isinstance(data, MutableMapping):
            twin: Any = copy.copy(data)
            twin.update(items)
            return twin
        return type(data)(items)  # type: ignore[call-arg]
    except TypeError:
        return items


def like_sequence(data: Any, items: list[Any]) -> Any:
    """A sequence of the same type with other items; a list where that fails."""
    try:
        if isinstance(data, MutableSequence):
            twin: Any = copy.copy(data)
            for i, item in enumerate(items):
                twin[i] = item
            return twin
        return type(data)(items)  # type: ignore[call-arg]
    except TypeError:
        return items


# ---- what is made of samples without structure
def _tensors(batch: Any, *, collate_fn_map: Any = None) -> Any:
    return FUNCTIONS["stack"](list(batch), 0)


def _arrays(batch: Any, *, collate_fn_map: Any = None) -> Any:
    if batch[0].dtype.kind in "SUO":
        raise TypeError(FOUND.format(batch[0].dtype))
    return collate([as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def _numpy_numbers(batch: Any, *, collate_fn_map: Any = None) -> Any:
    return as_tensor(batch)


def _floats(batch: Any, *, collate_fn_map: Any = None) -> Any:
    return tensor(batch, dtype=dtypes.float64)


def _integers(batch: Any, *, collate_fn_map: Any = None) -> Any:
    return tensor(batch)


def _texts(batch: Any, *, collate_fn_map: Any = None) -> Any:
    return batch


default_collate_fn_map: dict[Any, Callable[..., Any]] = {
    Tensor: _tensors,
    np.ndarray: _arrays,
    (np.bool_, np.number, np.object_): _numpy_numbers,
    float: _floats,
    int: _integers,
    str: _texts,
    bytes: _texts,
}


def default_collate(batch: Any) -> Any:
    """One batch of samples: tensors and arrays stacked, numbers in a tensor, texts in a list, structures kept.

    Raises TypeError for samples of another type, RuntimeError for tensors or lists of different sizes.

    >>> from autodiff_kernel.utils.data import default_collate
    >>> default_collate([{"x": 1.5, "y": 0}, {"x": 2.5, "y": 1}])
    {'x': tensor([1.5000, 2.5000], dtype=torch.float64), 'y': tensor([0, 1])}
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
