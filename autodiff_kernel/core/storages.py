"""Storages: the one-dimensional memory that lies under a tensor and all of its views.

    points = torch.tensor([[4., 1.], [5., 3.]])
    points.t().storage()[1]           # 1.0: transposing moves nothing

A write through a storage is a write to every tensor over it, and no version counter notices (so it is in PyTorch).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import device as devices
from . import dtype as dtypes
from .api import FUNCTIONS, attach
from .once import warn_once
from .storage import as_strided, offset_of, root_of
from .tensor import Tensor, share, wrap

DEPRECATED = (
    "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. This "
    "should only matter to you if you are using storages directly.  To access UntypedStorage directly, use "
    "tensor.untyped_storage() instead of tensor.storage()"
)


def memory_of(raw: Any) -> Any:
    """All elements of the memory under `raw`, in the order in which they lie there, as one array."""
    step = raw.dtype.itemsize
    return as_strided(raw, (root_of(raw).nbytes // step,), (step,), -offset_of(raw) * step)


class _Storage:
    """What the two kinds of storages share: they are sequences of numbers.  raw: the memory as a 1-D array."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    def __len__(self) -> int:
        return int(self.raw.size)

    size = __len__

    def _index(self, i: Any) -> int:
        n = len(self)
        if not isinstance(i, (int, np.integer)):
            raise TypeError(
                f"can't index a {type(self).__module__}.{type(self).__name__} with {type(i).__name__}"
            )
        if not -n <= i < n:
            raise IndexError(f"index {i} out of range for storage of size {n}")
        return int(i) % n

    def __getitem__(self, i: Any) -> Any:
        i = self._index(i)
        return devices.item(self.raw[i : i + 1])

    def __setitem__(self, i: Any, value: Any) -> None:
        if isinstance(i, slice):
            self.raw[i] = value
            return
        i = self._index(i)
        self.raw[i : i + 1] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        return devices.to_numpy(self.raw).tolist()  # type: ignore[no-any-return]

    def fill_(self, value: Any) -> "_Storage":
        """Give every element one value."""
        self.raw[...] = value
        return self

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return devices.data_ptr(self.raw) if self.raw.size else 0

    def nbytes(self) -> int:
        """The length in bytes."""
        return int(self.raw.nbytes)

    def element_size(self) -> int:
        """The bytes of one element."""
        return int(self.raw.dtype.itemsize)

    @property
    def device(self) -> devices.device:
        return devices.device_of(self.raw)

    @property
    def is_cuda(self) -> bool:
        return self.device.type == "cuda"

    def get_device(self) -> int:
        """The number of the GPU; -1 on the CPU."""
        return -1 if self.device.index is None else self.device.index

    def clone(self) -> Any:
        """A copy of the memory."""
        return type(self)(self.raw.copy())

    def cuda(self, device: Any = None, non_blocking: bool = False) -> Any:
        """The memory on a GPU, the current one by default."""
        where = (
            "cuda"
            if device is None
            else devices.device("cuda", device)
            if isinstance(device, int)
            else device
        )
        return self._on(where)

    def cpu(self) -> Any:
        """The memory on the CPU."""
        return self._on("cpu")

    def to(self, *, device: Any, non_blocking: bool = False) -> Any:
        """The memory on a device."""
        return self._on(device)

    def _on(self, where: Any) -> Any:
        target = devices.parse(where)
        return self if target is self.device else type(self)(devices.copy_to(self.raw, target))

    def _text(self, about: str) -> str:
        rows = "\n ".join(map(str, self.tolist()))
        return (
            f" {rows}\n[torch.storage.{type(self).__name__}({about}device={self.device}) of size {len(self)}]"
        )


class UntypedStorage(_Storage):
    """The memory under a tensor as bytes.

    >>> import autodiff_kernel as torch
    >>> torch.ones(2, 3)[1].untyped_storage().nbytes()
    24
    """

    def __repr__(self) -> str:
        return self._text("")

    def __getitem__(self, i: Any) -> Any:
        return UntypedStorage(self.raw[i]) if isinstance(i, slice) else super().__getitem__(i)


class TypedStorage(_Storage):
    """The memory under a tensor as numbers of its dtype.

    >>> import autodiff_kernel as torch
    >>> torch.tensor([[4., 1.], [5., 3.]])[1].untyped_storage().nbytes()
    16
    """

    @property
    def dtype(self) -> dtypes.dtype:
        return dtypes.of(self.raw.dtype)

    def __repr__(self) -> str:
        return self._text(f"dtype={self.dtype}, ")

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        return super().__getitem__(i)

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        return UntypedStorage(self.raw.view(np.uint8))


for _kind in (UntypedStorage, TypedStorage):
    _kind.__module__ = "torch.storage"  # as it shows in PyTorch


def storage(self: Tensor) -> TypedStorage:
    """The memory under this tensor (a view shows that of its base), as numbers of its dtype.

    >>> import autodiff_kernel as torch, warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.tensor([[4., 1.], [5., 3.]])[1].storage()
     4.0
     1.0
     5.0
     3.0
    [torch.storage.TypedStorage(dtype=torch.float32, device=cpu) of size 4]
    """
    warn_once(DEPRECATED)
    return TypedStorage(memory_of(share(self)))


def untyped_storage(self: Tensor) -> UntypedStorage:
    """The memory under this tensor as bytes.

    >>> import autodiff_kernel as torch
    >>> torch.ones(3)[1:].untyped_storage().size()
    12
    """
    return UntypedStorage(memory_of(share(self)).view(np.uint8))


def is_storage(obj: Any) -> bool:
    """Whether the object is a storage.

    >>> import autodiff_kernel as torch
    >>> torch.is_storage(torch.ones(2).untyped_storage()), torch.is_storage(torch.ones(2))
    (True, False)
    """
    return isinstance(obj, _Storage)


def set_(
    self: Tensor, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None
) -> Tensor:
    """Let this tensor have the memory of another one, or of a storage (with an offset, a size and strides).

    Without a source it has none any more: it is empty.

    >>> import autodiff_kernel as torch
    >>> x, y = torch.zeros(2), torch.ones(3)
    >>> x.set_(y), x.data_ptr() == y.data_ptr()
    (tensor([1., 1., 1.]), True)
    """
    if source is None:
        new: Any = wrap(devices.empty((0,), self.raw.dtype, like=self.raw))
    elif isinstance(source, Tensor):
        new = source.detach()
    elif isinstance(source, _Storage):
        flat = source.raw.view(self.raw.dtype)
        new = wrap(flat)
        if size is None:
            size = (flat.size - storage_offset,)
        new = new.as_strided(tuple(size), tuple(stride or _steps(tuple(size))), storage_offset)
    else:
        raise TypeError(
            f"set_(): argument 'source' (position 1) must be Tensor or a storage, not {type(source).__name__}"
        )
    if new.raw.dtype != self.raw.dtype:
        raise RuntimeError(f"Could not set tensor of type {new.dtype} to a tensor of type {self.dtype}")
    if new.device != self.device:
        raise RuntimeError(f"set_(): a tensor on {self.device} can't have memory of {new.device}")
    self.data = new
    return self


def _steps(size: tuple[int, ...]) -> tuple[int, ...]:
    from .storage import contiguous_strides

    return contiguous_strides(size)


def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether both tensors are the same elements of the same memory.

    >>> import autodiff_kernel as torch
    >>> x = torch.ones(2)
    >>> x.is_set_to(x.detach()), x.is_set_to(x.clone())
    (True, False)
    """
    same = (
        self.raw.dtype == tensor.raw.dtype
        and self.device == tensor.device
        and self.raw.shape == tensor.raw.shape
    )
    return bool(same and self.stride() == tensor.stride() and self.data_ptr() == tensor.data_ptr())


for _method in (storage, untyped_storage, set_, is_set_to):
    attach(_method.__name__, _method)
FUNCTIONS["is_storage"] = is_storage
