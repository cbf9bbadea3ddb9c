"""What every tensor here is (strided, dense, of the CPU or a GPU) and is not (sparse, quantised, nested, meta)."""

from typing import Any

import numpy as np

from .api import FUNCTIONS, attach, check_tensor
from .formats import layout, strided
from .once import warn
from .tensor import Tensor, fresh, wrap

# PyTorch's other kinds of tensors, none of which exist here
ABSENT = ("is_sparse", "is_sparse_csr", "is_quantized", "is_nested", "is_mkldnn", "is_meta", "is_mps", "is_xpu", "is_xla",
          "is_vulkan", "is_ipu", "is_mtia", "is_maia")  # fmt: skip


def _layout(self: Tensor) -> layout:
    """How the elements are stored: always `torch.strided`."""
    return strided


def _is_cpu(self: Tensor) -> bool:
    """Whether the tensor lives in the CPU's memory."""
    return self.device.type == "cpu"


def _name(self: Tensor) -> None:
    """Tensors have no names (PyTorch keeps the attribute from Caffe2)."""


def _volatile(self: Tensor) -> bool:
    """Until 2018 it switched the recording of a graph off; `torch.no_grad()` does now."""
    warn("volatile was removed (Variable.volatile is always False)")
    return False


def _no(name: str) -> property:
    def answer(self: Tensor) -> bool:
        return False

    return property(answer, doc=f"Always False: there are no {name.removeprefix('is_')} tensors here.")


def to_dense(self: Tensor, dtype: Any = None, *, masked_grad: Any = None) -> Tensor:
    """The tensor itself, which is dense, in `dtype` if that is given.

    >>> import autodiff_kernel as torch
    >>> torch.ones(2).to_dense()
    tensor([1., 1.])
    """
    return self if dtype is None else self.to(dtype)  # type: ignore[attr-defined, no-any-return]


def is_shared(self: Tensor) -> bool:
    """Whether the memory is shared with other processes: on the CPU it never is, on a GPU always counts as shared."""
    return self.is_cuda


def resize(self: Tensor, *sizes: Any) -> Tensor:
    """A view of another size with as many elements.  Deprecated: `reshape` says the same.

    >>> import autodiff_kernel as torch, warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.arange(4).resize(2, 2).shape
    torch.Size([2, 2])
    """
    warn("non-inplace resize is deprecated")
    shape = tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
    count = 1
    for n in shape:
        count *= n
    if count != self.numel():
        raise RuntimeError(
            f"requested resize to {'x'.join(map(str, shape))} ({count} elements in total), but the given tensor has a "
            f"size of {'x'.join(map(str, self.shape))} ({self.numel()} elements). autograd's resize can only change the "
            "shape of a given tensor, while preserving the number of elements. "
        )
    return self.contiguous().view(shape)  # type: ignore[attr-defined, no-any-return]


def reversed_(self: Tensor) -> Tensor:
    """What `reversed(x)` goes through: the tensor flipped along its first dimension (a 0-d tensor is its own mirror)."""
    return self.flip(0) if self.raw.ndim else self  # type: ignore[attr-defined, no-any-return]


def apply_(self: Tensor, callable: Any) -> Tensor:
    """Put what a Python function gives for each element in the element's place. Slow, and without gradients.

    Raises RuntimeError for a tensor that requires grad, TypeError on a GPU.

    >>> import autodiff_kernel as torch
    >>> torch.arange(3).apply_(lambda n: n * n)
    tensor([0, 1, 4])
    """
    return _each(self, "apply_", (), callable)


def map_(self: Tensor, tensor: Tensor, callable: Any) -> Tensor:
    """The same with a function of this tensor's elements and those of another one, which broadcasts.

    >>> import autodiff_kernel as torch
    >>> torch.arange(3).map_(torch.ones(3, dtype=torch.int64), lambda a, b: a + b)
    tensor([1, 2, 3])
    """
    return _each(self, "map_", (tensor,), callable)


def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Any) -> Tensor:
    """The same with a function of three elements: this tensor's, x's and y's.

    >>> import autodiff_kernel as torch
    >>> x = torch.ones(2)
    >>> torch.zeros(2).map2_(x, x, lambda a, b, c: a + b + c)
    tensor([2., 2.])
    """
    return _each(self, "map2_", (x, y), callable)


def _each(self: Tensor, name: str, others: tuple[Tensor, ...], function: Any) -> Tensor:
    if any(t.requires_grad for t in (self, *others)):
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead."
        )
    if self.is_cuda:
        raise TypeError(f"{name}() is only implemented on CPU tensors")
    for t in others:
        if t.raw.dtype != self.raw.dtype:
            raise TypeError(f"{name}: expected {self.type()} for 'other' (got {t.type()})")  # type: ignore[operator]
    columns = [self, *(t.expand_as(self) for t in others)]  # type: ignore[attr-defined]
    values = [function(*row) for row in zip(*(t.flatten().tolist() for t in columns))]  # type: ignore[attr-defined]
    host = np.array([self.raw.dtype.type(v) for v in values], self.raw.dtype).reshape(self.raw.shape)
    return self.copy_(wrap(host))  # type: ignore[attr-defined, no-any-return]


for _kind in ABSENT:
    setattr(Tensor, _kind, _no(_kind))
for _title, _answer in {"layout": _layout, "is_cpu": _is_cpu, "name": _name, "volatile": _volatile}.items():
    setattr(Tensor, _title, property(_answer))
for _title, _method in {
    "to_dense": to_dense,
    "is_shared": is_shared,
    "resize": resize,
    "__reversed__": reversed_,
    "apply_": apply_,
    "map_": map_,
    "map2_": map2_,
}.items():
    attach(_title, _method)


def array_wrap(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Tensor:
    """What NumPy's functions of a tensor give: a tensor (of uint8 for truth values), as in PyTorch."""
    host = np.asarray(array)
    return fresh(host.astype(np.uint8) if host.dtype.kind == "b" else host)


attach("__array_wrap__", array_wrap)


def record_stream(self: Tensor, stream: Any) -> None:
    """Say that a stream uses this tensor. There is one stream of each GPU, so its memory is never reused too early."""
    if not self.is_cuda:
        raise RuntimeError("record_stream(): the tensor is on the CPU, which has no streams")


attach("record_stream", record_stream)


def detach(input: Tensor) -> Tensor:
    """A tensor with the same memory and without history: `input.detach()`.

    >>> import autodiff_kernel as torch
    >>> torch.detach(torch.ones(1, requires_grad=True)).requires_grad
    False
    """
    check_tensor("detach", input)
    return input.detach()


FUNCTIONS["detach"] = detach
