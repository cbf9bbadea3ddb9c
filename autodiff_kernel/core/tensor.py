"""The Tensor: a raw array, the node that made it, and the names PyTorch gives to all that.

Operations are not written here: functions, methods and in-place forms come from the table (see api.py).
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import device as devices
from . import dtype as dtypes
from . import modes
from . import tensor_errors as errors
from .errors import explain
from .exchange import exchange
from .formats import lies_in
from .graph import Node, as_edge, leaf_node, new, resting, shown
from .once import TO_SCALAR, warn_once
from .shape import Size
from .sharing import INFERENCE, Family, View, family_of, replay, share, version_of
from .storage import contiguous_strides, copied_memory, offset_of, strides_of

ndarray, generic = np.ndarray, np.generic
__all__ = [
    "Family",
    "Parameter",
    "Size",
    "Tensor",
    "View",
    "family_of",
    "fresh",
    "replay",
    "share",
    "version_of",
    "wrap",
]


def wrap(raw: Any, node: Any = None, version: Any = None) -> "Tensor":
    """A Tensor around a raw array, without asking anything."""
    t = new(Tensor)
    t.raw, t.node, t.version, t.family = raw, node, version, None
    return t


def fresh(raw: Any) -> "Tensor":
    """The same for a new array that no row of the table gave."""
    t = wrap(raw)
    if modes.inferring[0]:
        modes.watchers["born"](t)
    return t


def _start_backward(*args: Any) -> None:
    """backward.py puts its `backward` here (it needs Tensor, and an import at each call would cost 1 µs)."""


def _operator(self: Any, other: Any) -> Any:
    """The type of the operators, for type checkers."""


class Tensor:
    """A multi-dimensional array of one dtype on one device that can record how it was computed.

    Made by `torch.tensor`, `torch.zeros`, … or by an operation.  raw: the array (a NumPy scalar for 0-d values on the
    CPU).  node: what `grad_fn` shows, a leaf's own node, or None where no gradient is asked for.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([1., 2.], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """

    __slots__ = ("raw", "node", "version", "family", "_grad", "record", "__weakref__", "__dict__")
    is_dual = False  # True of the wrappers: dual numbers and batched tensors
    __array_priority__ = 1000  # numpy operators leave the work to ours
    __hash__ = object.__hash__

    raw: Any
    node: Node | None
    version: Any  # see sharing.py
    family: Any
    _grad: Any
    record: Any  # what last happened to it, if recording is on: see journal.py

    if TYPE_CHECKING:  # what api.py attaches from the table, and hooks.py
        retains_grad: bool
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _operator
        __pow__ = __rpow__ = __matmul__ = __rmatmul__ = __mod__ = __floordiv__ = __and__ = __or__ = (
            __xor__
        ) = _operator
        __lt__ = __le__ = __gt__ = __ge__ = _operator
        __getitem__ = _operator

        def __neg__(self) -> Any: ...
        def __invert__(self) -> Any: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...
        def __getattr__(self, name: str) -> Any: ...

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        from .create import legacy

        return legacy(cls, args, kwargs)

    # ---- what it is
    @property
    def shape(self) -> Size:
        return tuple.__new__(Size, self.raw.shape)  # an array's shape needs no look at each size

    def size(self, dim: int | None = None) -> Any:
        """The shape, or its length along `dim`."""
        if dim is None:
            return tuple.__new__(Size, self.raw.shape)
        return self.raw.shape[self._checked_dim(dim)]

    def _checked_dim(self, dim: int) -> int:
        n = self.raw.ndim
        if not n:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        if not -n <= dim < n:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})"
            )
        return dim

    @property
    def dtype(self) -> dtypes.dtype:
        return dtypes.of(self.raw.dtype)

    @property
    def device(self) -> devices.device:
        return devices.device_of(self.raw)

    @property
    def ndim(self) -> int:
        return self.raw.ndim

    def dim(self) -> int:
        return self.raw.ndim

    ndimension = dim

    def numel(self) -> int:
        return int(self.raw.size)

    nelement = numel

    def element_size(self) -> int:
        return self.raw.dtype.itemsize

    @property
    def itemsize(self) -> int:
        return self.raw.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return int(self.raw.size) * self.raw.dtype.itemsize

    @property
    def is_cuda(self) -> bool:
        return self.device.type == "cuda"

    def get_device(self) -> int:
        """The number of the GPU; -1 on the CPU."""
        d = self.device
        return -1 if d.index is None else d.index

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        return self.dtype.is_complex

    def is_signed(self) -> bool:
        return self.dtype.is_signed

    # ---- memory
    def stride(self, dim: int | None = None) -> Any:
        """How many elements to step over for the next index along each dimension (or along `dim`)."""
        raw = self.raw
        steps = strides_of(raw) if raw.size else contiguous_strides(raw.shape)
        return steps if dim is None else steps[self._checked_dim(dim)]

    def data_ptr(self) -> int:
        """The address of the first element."""
        return devices.data_ptr(share(self)) if self.raw.size else 0

    def storage_offset(self) -> int:
        """How many elements after the start of its storage the tensor begins."""
        return offset_of(share(self))

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Whether the elements lie in row-major order, or in the given memory format."""
        return lies_in(self.raw, memory_format)

    @property
    def _version(self) -> int:
        v = self.version
        if v is INFERENCE:
            raise RuntimeError("Inference tensors do not track version counter.")
        return v[1] if v.__class__ is list else v or 0

    def _is_view(self) -> bool:
        return self.family.__class__ is View

    @property
    def _base(self) -> Any:
        return self.family.base if self.family.__class__ is View else None

    # ---- autograd
    @property
    def requires_grad(self) -> bool:
        if (
            self.node is None and self.family.__class__ is View
        ):  # made under no_grad: as its base, in PyTorch too
            return self.family.base.node is not None
        return self.node is not None

    @requires_grad.setter
    def requires_grad(self, flag: bool) -> None:
        if flag is not True and flag is not False:
            raise RuntimeError(f"requires_grad must be a bool, but got {type(flag).__name__}")
        self.requires_grad_(flag)

    def requires_grad_(self, requires_grad: bool = True) -> "Tensor":
        """Ask (or no longer ask) for the gradient of this leaf; returns the tensor itself.

        Raises RuntimeError for integer and bool tensors, and for results of operations.
        """
        if requires_grad is not True and requires_grad is not False:
            given = type(requires_grad).__name__
            raise TypeError(f"requires_grad_(): argument 'requires_grad' must be bool, not {given}")
        if requires_grad == (self.node is not None):
            return self
        if modes.watch[0] is not None:
            modes.watchers["note"](
                "asked", "requires_grad", self, (modes.watchers["record_of"](self),), requires_grad
            )
        if not requires_grad:
            if self.node is not None and self.node.op is not None:
                raise errors.flag_of_a_result(self)
            if self.node is not None and self.node.notes is not None:
                from .hooks import rest

                rest(self.node)
            self.node = None
            return self
        if not dtypes.is_floating(self.raw.dtype):
            raise errors.whole_numbers(self)
        if self.version is INFERENCE and not modes.is_inferring():
            raise explain(
                RuntimeError,
                "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.",
                "The tensor was made in inference mode, where nobody counts writes: backward could not rely on it.",
                "clone() it first.",
                tensor=self,
            )
        self.node = None
        if resting:
            from .hooks import wake

            self.node = wake(self)
        if self.node is None:
            self.node = leaf_node(self)
        if self._grad_or_none() is None:
            self._grad = None
        return self

    @property
    def fact(self) -> Any:
        """The event that tells what last happened to it (AttributeError where nothing was recorded)."""
        return modes.watchers["event_of"](self.record)

    @property
    def is_leaf(self) -> bool:
        return self.node is None or self.node.op is None

    @property
    def grad_fn(self) -> Any:
        """The node that made this tensor; None for a leaf.

        Raises RuntimeError for a view that autograd cannot follow, if its base was changed in place since.
        """
        n = self.node
        if n is None or n.op is None:
            return None
        if n.op.name == "stale_view":
            n.op.a(None, n)  # says why
        return shown(as_edge(n)[0])

    @property
    def output_nr(self) -> int:
        return 0 if self.node is None else as_edge(self.node)[1]

    def _grad_or_none(self) -> Any:
        try:
            return self._grad
        except AttributeError:
            return None

    @property
    def grad(self) -> Any:
        """The gradient that backward accumulated here, or None."""
        n = self.node
        g = self._grad_or_none()
        if g is None and n is not None and n.op is not None and not self.retains_grad:
            import warnings

            warnings.warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute "
                "won't be populated during autograd.backward(). If you indeed want the .grad field to be populated "
                "for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor "
                "by mistake, make sure you access the leaf Tensor instead.",
                UserWarning,
                stacklevel=2,
            )
        return g

    @grad.setter
    def grad(self, g: Any) -> None:
        if g is not None:
            if not isinstance(g, Tensor):
                phrase = (
                    f"assigned grad expected to be a Tensor or None but got grad of type {type(g).__name__}"
                )
                raise errors.other_grad(TypeError, phrase, "x.grad = None, or a tensor like x.")
            if g is self:
                raise RuntimeError("can't assign Variable as its own grad")
            if g.raw.shape != self.raw.shape:
                raise errors.other_grad(
                    RuntimeError,
                    f"attempting to assign a gradient of size '{list(g.raw.shape)}' to a tensor of size "
                    f"'{list(self.raw.shape)}'. Please ensure that the gradient and the tensor are the same size",
                    "a gradient of the tensor's own shape.",
                )
            if g.raw.dtype != self.raw.dtype:
                kinds = [type_name(t.raw).split(".")[-1].removesuffix("Tensor") for t in (g, self)]
                phrase = (
                    f"attempting to assign a gradient with dtype '{kinds[0].lower()}' to a tensor with grad_dtype "
                    f"'{kinds[1]}'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype)."
                )
                raise errors.other_grad(RuntimeError, phrase, f"g.to({self.dtype})")
            if g.device != self.device:
                phrase = "assigned grad has data located on a different device"
                raise errors.other_grad(RuntimeError, phrase, f"g.to('{self.device}')")
        if modes.watch[0] is not None and (g is not None or self._grad_or_none() is not None):
            modes.watchers["cleared"](self, g)
        self._grad = g

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    def backward(
        self,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Compute the gradient of this tensor for all leaves and add it to their `.grad`.

        gradient: the cotangent, of this tensor's shape; may be left out for a single element.  retain_graph: keep
        saved values for another backward.  create_graph: record the computation of the gradient itself.  inputs:
        accumulate into these tensors only.
        """
        _start_backward([self], [gradient], retain_graph, create_graph, inputs)

    def detach(self) -> "Tensor":
        """A tensor with the same memory and without history."""
        out = wrap(share(self), None, version_of(self))
        if modes.watch[0] is not None:
            modes.watchers["left"]("detach", self, out)
        return out

    def detach_(self) -> "Tensor":
        """Cut this tensor off from its history; returns the tensor itself."""
        if self._is_view():
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
                "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence "
                "detach_() cannot be called on these gradients."
            )
        before = modes.watchers["record_of"](self) if modes.watch[0] is not None else None
        self.node = None
        if before is not None:
            modes.watchers["note"]("left", "detach_", self, (before,))
        return self

    @property
    def data(self) -> "Tensor":
        """The same memory without history and without a version counter: changes through it go unnoticed."""
        out = wrap(share(self))
        if self.version is INFERENCE:
            out.version = INFERENCE
        if modes.watch[0] is not None:
            modes.watchers["left"]("data", self, out)
        return out

    @data.setter
    def data(self, other: "Tensor") -> None:
        if not isinstance(other, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(other).__name__}")
        raw = share(other)
        if self.node is not None and not dtypes.is_floating(raw.dtype):
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point or complex dtype"
            )
        exchange(self, raw)
        self.raw = raw
        if self.version is INFERENCE or other.version is INFERENCE:
            self.version = INFERENCE if other.version is INFERENCE else None
        if modes.watch[0] is not None:
            facts = [modes.watchers["record_of"](t) for t in (self, other)]
            modes.watchers["note"]("write", "data", self, tuple(facts))

    # ---- out of the tensor
    def item(self) -> Any:
        """The only element as a Python number."""
        raw = self.raw
        if modes.watch[0] is not None:
            modes.watchers["left"]("item", self)
        if raw.size != 1:
            raise errors.one_of_many(
                self, RuntimeError, f"a Tensor with {raw.size} elements cannot be converted to Scalar"
            )
        return devices.item(raw)

    def tolist(self) -> Any:
        """The values as (nested lists of) Python numbers."""
        if modes.watch[0] is not None:
            modes.watchers["left"]("tolist", self)
        return devices.to_numpy(self.raw).tolist()

    def numpy(self, *, force: bool = False) -> Any:
        """The memory of this tensor as a NumPy array (shared, not copied).

        Raises RuntimeError if the tensor requires grad and TypeError if it lives on a GPU, unless `force`.
        """
        if dtypes.BRAIN and self.raw.dtype.kind == "V":
            raise errors.numpy_of_bfloat16(self)
        if force:
            return devices.to_numpy(share(self.detach()))
        if self.requires_grad and modes.is_grad_enabled():
            raise errors.numpy_of_a_graph(self)
        if self.is_cuda:
            raise errors.numpy_of_a_gpu(self)
        if modes.watch[0] is not None:
            modes.watchers["left"]("numpy", self)
        return share(self)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        out = self.numpy()
        return out if dtype is None and not copy else np.array(out, dtype=dtype)

    def __repr__(self) -> str:
        return self._text()

    def _text(self, tangent: str | None = None) -> str:
        from .printing import format_tensor

        fn = None if self.is_leaf else as_edge(self.node)[0]
        d = self.device
        return format_tensor(
            self.raw,
            requires_grad=self.requires_grad,
            grad_fn_name=None if fn is None else fn.title,
            device=None if d.type == "cpu" else str(d),
            tangent=tangent,
            to_host=devices.to_numpy,
        )

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if not self.raw.ndim else object.__format__(self, spec)

    def __bool__(self) -> bool:
        if self.raw.size != 1:
            if self.raw.size == 0:
                raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
            raise errors.truth_of_many(self)
        return bool(self.item())

    def __float__(self) -> float:
        return float(errors.real(self._number(ends=True), "double"))

    def __int__(self) -> int:
        return int(errors.real(self._number(), "int64_t"))

    def __complex__(self) -> complex:
        return complex(self._number(ends=True))

    def _number(self, ends: bool = False) -> Any:
        """The only element, for Python's conversions; ends: warn if a graph ends here."""
        if self.raw.size != 1:
            raise errors.one_of_many(
                self,
                ValueError,
                "only one element tensors can be converted to Python scalars",
                f"This one has {self.raw.size}.",
            )
        if ends and self.node is not None and modes.is_grad_enabled():
            warn_once(TO_SCALAR)
        return self.item()

    def __index__(self) -> int:
        if self.raw.dtype.kind not in "iub" or self.raw.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __len__(self) -> int:
        if not self.raw.ndim:
            raise errors.no_dimensions(self, "len() of a 0-d tensor")
        return self.raw.shape[0]

    def __iter__(self) -> Iterator["Tensor"]:
        if not self.raw.ndim:
            raise errors.no_dimensions(self, "iteration over a 0-d tensor")
        return iter(self.unbind(0))  # type: ignore[attr-defined]

    def __contains__(self, element: Any) -> bool:
        if isinstance(element, (Tensor, int, float, complex, bool)):
            return bool((self == element).any())  # type: ignore[attr-defined]
        raise RuntimeError(
            f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if not self.is_leaf:
            raise errors.deepcopy_of_a_result(self)
        if id(self) in memo:
            return memo[id(self)]
        twin = new(type(self))
        twin.raw = copied_memory(self.raw, memo)
        twin.node = twin.version = twin.family = None
        if modes.watch[0] is not None:
            modes.watchers["created"]("deepcopy", twin, self)
        memo[id(self)] = twin
        if self.requires_grad:
            twin.requires_grad_()
        g = self._grad_or_none()
        twin._grad = None if g is None else g.__deepcopy__(memo)
        if hasattr(self, "__dict__"):
            import copy

            twin.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return twin

    def __reduce_ex__(self, protocol: Any) -> Any:
        if self.node is not None and self.node.notes is not None:
            from .hooks import warn_if_has_hooks

            warn_if_has_hooks(self)
        kind = None if type(self) is Tensor else type(self)
        args = (kind, devices.to_numpy(self.raw), str(self.device), self.node is not None)
        return rebuild, args, self.__dict__ or None


def rebuild(kind: type | None, array: Any, device: str, requires_grad: bool) -> Any:
    """A tensor from a pickle; kind None: a plain one, which has another name under `as_torch`."""
    t: Any = new(kind or Tensor)
    t.raw = devices.asarray(array, array.dtype, devices.parse(device))
    t.node = t.version = t.family = t._grad = None
    if modes.inferring[0]:
        modes.watchers["born"](t)
    return t.requires_grad_(requires_grad)


class Parameter(Tensor):
    """A leaf tensor that a module trains: requires grad, and prints as such.

    >>> import autodiff_kernel as torch
    >>> torch.nn.Parameter(torch.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        t = new(cls)
        data = wrap(np.zeros(0, np.float32)) if data is None else data
        t.raw, t.version, t.node, t.family, t._grad = share(data), version_of(data), None, None, None
        if data.node is not None and modes.watch[0] is not None:
            modes.watchers["left"]("Parameter", data, t)
        return t.requires_grad_(requires_grad)

    def __repr__(self) -> str:
        return "Parameter containing:\n" + Tensor.__repr__(self)


_KINDS = {"float16": "Half", "float32": "Float", "float64": "Double", "int8": "Char", "uint8": "Byte", "int16": "Short",
          "int32": "Int", "int64": "Long", "bool": "Bool", "bfloat16": "BFloat16", "complex64": "ComplexFloat",
          "complex128": "ComplexDouble"}  # fmt: skip


def type_name(raw: Any) -> str:
    """PyTorch's old name of a tensor's type, such as 'torch.FloatTensor' or 'torch.cuda.LongTensor'."""
    cuda, name = devices.device_of(raw).type == "cuda", dtypes.of(raw.dtype).name
    return f"torch.{'cuda.' if cuda else ''}{_KINDS.get(name, name)}Tensor"
