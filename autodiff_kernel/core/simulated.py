"""Simulated GPUs: an array class that holds a NumPy array, is not one, and refuses what CuPy's array refuses.

Nothing here computes on a GPU. The class follows CuPy in what it accepts, so that code that works here takes the same
path on a real GPU, and a mistake (mixing devices, reading values without a copy) fails here as it would there.
This module also plays CuPy's part for `device.Backend`: `zeros`, `array`, `asnumpy`, `scatter_add`, `cuda.Device`, ….
"""

import operator
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple, NoReturn

import numpy as np

from . import device as devices
from .memory_pool import Chunk, MemoryPool

MEMORY = 16 * 2**30  # bytes of each simulated GPU

ndarray = np.ndarray
asarray = np.asarray
new = object.__new__
SCALARS = frozenset(
    (bool, int, float, complex, *(t for t in np.sctypeDict.values() if issubclass(t, (np.number, np.bool_))))
)


# ---------------------------------------------------------------- the devices
class Device:
    """One simulated GPU; as a context manager it becomes this thread's current one (`cupy.cuda.Device`)."""

    __slots__ = ("id", "pool", "allocate", "_stack")

    def __init__(self, id: int) -> None:
        self.id = id
        self.pool = MemoryPool(MEMORY, f"GPU {id} (simulated)")
        self.allocate = self.pool.allocate

    @property
    def name(self) -> str:
        return f"simulated GPU {self.id}"

    def use(self) -> None:
        """Make this the current device of this thread."""
        _local.current = self.id

    def synchronize(self) -> None:
        """Return at once: a simulated GPU has finished when the call returns."""

    def __enter__(self) -> "Device":
        _local.before.append(_local.current)
        _local.current = self.id
        return self

    def __exit__(self, *_: object) -> None:
        _local.current = _local.before.pop()

    def __repr__(self) -> str:
        return f"<simulated CUDA device {self.id}>"


class _Current(threading.local):
    def __init__(self) -> None:
        self.current = 0
        self.before: list[int] = []


_local = _Current()
_gpus: list[Device] = []  # every one ever made: arrays that outlive simulate(0) keep theirs
_count = 0


def set_count(count: int) -> None:
    """Let `count` simulated GPUs be visible."""
    global _count
    while len(_gpus) < count:
        _gpus.append(Device(len(_gpus)))
    _count = count


def gpu(index: int | None = None) -> Device:
    """The simulated GPU of that number; this thread's current one without a number."""
    index = _local.current if index is None else index
    if not 0 <= index < _count:
        raise RuntimeError(f"CUDA error: invalid device ordinal: there are {_count} simulated GPUs, and no number {index}")
    return _gpus[index]


# ---------------------------------------------------------------- refusals
def _refuse(what: str) -> NoReturn:
    raise TypeError(
        f"Implicit conversion to a NumPy array is not allowed: {what} would read values of a (simulated) GPU on the "
        "CPU. Copy them there first: Tensor.cpu() for a tensor, .get() for an array."
    )


def _foreign(other: Any) -> Any:
    """What an operator answers to an operand that is neither an array of this class nor a number."""
    if isinstance(other, ndarray):
        raise TypeError(
            "Unsupported type <class 'numpy.ndarray'>: the other operand is an array of a (simulated) GPU. "
            "Implicit conversion to a NumPy array is not allowed; copy one of them: x.cuda() or x.cpu()."
        )
    return NotImplemented


def _two_devices(a: "SimulatedArray", b: "SimulatedArray") -> NoReturn:
    raise ValueError(
        f"The device where the array resides ({b._gpu.id}) is different from the other operand's ({a._gpu.id}); "
        "copy one of them first: x.to('cuda:0')."
    )


# ---------------------------------------------------------------- wrapping
def _fresh(result: Any, gpu: Device) -> "SimulatedArray":
    """Wrap a result that shares memory with nothing."""
    if result.__class__ is not ndarray:
        result = asarray(result)
    r = new(SimulatedArray)
    r._held, r._gpu, r.base = result, gpu, None
    r._chunk = gpu.allocate(result.nbytes)
    return r


def _root(held: Any) -> Any:
    while held.base is not None:
        held = held.base
        if held.__class__ is not ndarray and not hasattr(held, "base"):
            break
    return held


def _adopt(result: Any, gpu: Device, sources: "list[SimulatedArray]") -> Any:
    """Wrap a result that may be an input, a view of an input, or several of those."""
    if isinstance(result, (tuple, list)):
        items = [_adopt(x, gpu, sources) for x in result]
        if result.__class__ in (tuple, list):
            return result.__class__(items)
        return result.__class__(*items)  # a named tuple: QRResult, SVDResult, …
    if result is None:
        return None
    if result.__class__ is not ndarray:
        result = asarray(result)
    elif result.base is not None:
        root = _root(result)
        for x in sources:
            owner = x if x.base is None else x.base
            if root is _root(owner._held):
                if result is x._held:
                    return x
                r = new(SimulatedArray)
                r._held, r._gpu, r.base, r._chunk = result, gpu, owner, None
                return r
    else:
        for x in sources:
            if result is x._held:
                return x
    return _fresh(result, gpu)


def _open(x: Any, found: "list[SimulatedArray]") -> Any:
    """`x` with simulated arrays replaced by what they hold, also inside lists, tuples and dictionaries."""
    kind = x.__class__
    if kind is SimulatedArray:
        if found and found[0]._gpu is not x._gpu:
            _two_devices(found[0], x)
        found.append(x)
        return x._held
    if kind in SCALARS or x is None or kind is str:
        return x
    if kind is tuple or kind is list:
        return kind([_open(y, found) for y in x])
    if kind is dict:
        return {k: _open(y, found) for k, y in x.items()}
    if isinstance(x, ndarray):
        _foreign(x)
    return x


def _open_index(index: Any, gpu: Device) -> Any:
    """An index made ready for NumPy. Lists and NumPy arrays are copied to the GPU, as CuPy does, and counted."""
    kind = index.__class__
    if kind is SimulatedArray:
        if index._gpu is not gpu:
            raise ValueError(f"The index lies on {index._gpu.name}, the array on {gpu.name}; copy one of them first.")
        return index._held
    if kind is tuple:
        return tuple([_open_index(i, gpu) for i in index])
    if kind is list:
        if any(i.__class__ is SimulatedArray for i in index):
            _refuse("a list of GPU arrays as an index")
        index = asarray(index) if index else asarray(index, dtype=np.int64)
    if isinstance(index, ndarray):
        devices.count_transfer(devices.CPU, devices.cuda(gpu.id), index.nbytes)
    return index


# ---------------------------------------------------------------- the array
def _binary(fn: Callable[[Any, Any], Any], swap: bool = False) -> Any:
    def forward(self: "SimulatedArray", other: Any) -> Any:
        kind = other.__class__
        if kind is SimulatedArray:
            if other._gpu is not self._gpu:
                _two_devices(self, other)
            other = other._held
        elif kind not in SCALARS:
            return _foreign(other)
        return _fresh(fn(self._held, other), self._gpu)

    def reflected(self: "SimulatedArray", other: Any) -> Any:
        if other.__class__ not in SCALARS:
            return _foreign(other)
        return _fresh(fn(other, self._held), self._gpu)

    return reflected if swap else forward


def _comparison(fn: Callable[[Any, Any], Any]) -> Any:
    plain = _binary(fn)

    def compare(self: "SimulatedArray", other: Any) -> Any:
        if isinstance(other, ndarray) and not other.ndim:  # the one ndarray operand that CuPy takes
            other = other[()]
        return plain(self, other)

    return compare


def _inplace(fn: Callable[[Any, Any], Any]) -> Any:
    def write(self: "SimulatedArray", other: Any) -> "SimulatedArray":
        kind = other.__class__
        if kind is SimulatedArray:
            if other._gpu is not self._gpu:
                _two_devices(self, other)
            other = other._held
        elif kind not in SCALARS:
            return _foreign(other)
        fn(self._held, other)
        return self

    return write


def _unary(fn: Callable[[Any], Any]) -> Any:
    return lambda self: _fresh(fn(self._held), self._gpu)


def _method(name: str) -> Any:
    """A method of NumPy's array that gives an array, through the array that is held."""
    fn = getattr(ndarray, name)

    def method(self: "SimulatedArray", *args: Any, **kwargs: Any) -> Any:
        found = [self]
        if args:
            args = tuple([_open(x, found) for x in args])
        if kwargs:
            kwargs = {k: _open(x, found) for k, x in kwargs.items()}
        return _adopt(fn(self._held, *args, **kwargs), self._gpu, found)

    method.__name__ = name
    return method


def _attribute(name: str) -> Any:
    get = operator.attrgetter(name)
    return property(lambda self: get(self._held))


def _view_attribute(name: str) -> Any:
    get = operator.attrgetter(name)
    return property(lambda self: _adopt(get(self._held), self._gpu, [self]))


class MemoryPointer(NamedTuple):
    """Where an array's first element lies."""

    ptr: int
    device_id: int


class SimulatedArray:
    """An array on a simulated GPU. Its operators, methods and refusals are those of `cupy.ndarray`.

    `base` is the array whose memory a view shares, or None for an array that owns its memory.
    """

    __slots__ = ("_held", "_gpu", "_chunk", "base", "__weakref__")
    __array_priority__ = 100
    _held: np.ndarray
    _gpu: Device
    _chunk: Chunk | None
    base: "SimulatedArray | None"

    def __del__(self) -> None:
        chunk = self._chunk
        if chunk is not None:
            chunk.returned.append(chunk)

    # what is known without reading a value
    shape, dtype, ndim, size = map(_attribute, ("shape", "dtype", "ndim", "size"))
    strides, itemsize, nbytes, flags = map(_attribute, ("strides", "itemsize", "nbytes", "flags"))
    T, mT, real, imag = map(_view_attribute, ("T", "mT", "real", "imag"))

    @property
    def device(self) -> Device:
        return self._gpu

    @property
    def data(self) -> MemoryPointer:
        return MemoryPointer(self._held.ctypes.data, self._gpu.id)

    def __len__(self) -> int:
        return len(self._held)

    def __repr__(self) -> str:
        return f"<array of shape {self.shape} and dtype {self.dtype} on {self._gpu.name}>"

    # operators
    __add__, __radd__, __iadd__ = _binary(operator.add), _binary(operator.add, True), _inplace(operator.iadd)
    __sub__, __rsub__, __isub__ = _binary(operator.sub), _binary(operator.sub, True), _inplace(operator.isub)
    __mul__, __rmul__, __imul__ = _binary(operator.mul), _binary(operator.mul, True), _inplace(operator.imul)
    __pow__, __rpow__, __ipow__ = _binary(operator.pow), _binary(operator.pow, True), _inplace(operator.ipow)
    __mod__, __rmod__, __imod__ = _binary(operator.mod), _binary(operator.mod, True), _inplace(operator.imod)
    __and__, __rand__, __iand__ = _binary(operator.and_), _binary(operator.and_, True), _inplace(operator.iand)
    __or__, __ror__, __ior__ = _binary(operator.or_), _binary(operator.or_, True), _inplace(operator.ior)
    __xor__, __rxor__, __ixor__ = _binary(operator.xor), _binary(operator.xor, True), _inplace(operator.ixor)
    __truediv__, __rtruediv__ = _binary(operator.truediv), _binary(operator.truediv, True)
    __floordiv__, __rfloordiv__ = _binary(operator.floordiv), _binary(operator.floordiv, True)
    __lshift__, __rlshift__ = _binary(operator.lshift), _binary(operator.lshift, True)
    __rshift__, __rrshift__ = _binary(operator.rshift), _binary(operator.rshift, True)
    __matmul__, __rmatmul__ = _binary(operator.matmul), _binary(operator.matmul, True)
    __itruediv__, __ifloordiv__ = _inplace(operator.itruediv), _inplace(operator.ifloordiv)
    __ilshift__, __irshift__ = _inplace(operator.ilshift), _inplace(operator.irshift)
    __neg__, __abs__, __invert__ = _unary(operator.neg), _unary(abs), _unary(operator.invert)
    __lt__, __le__, __gt__ = _comparison(operator.lt), _comparison(operator.le), _comparison(operator.gt)
    __ge__, __eq__, __ne__ = _comparison(operator.ge), _comparison(operator.eq), _comparison(operator.ne)
    __hash__ = None  # type: ignore[assignment]

    def __pos__(self) -> "SimulatedArray":
        return self

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    # methods
    all, any, argmax, argmin = map(_method, ("all", "any", "argmax", "argmin"))
    argpartition, argsort, astype = map(_method, ("argpartition", "argsort", "astype"))
    choose, clip, compress, conj = map(_method, ("choose", "clip", "compress", "conj"))
    conjugate, copy, cumprod, cumsum = map(_method, ("conjugate", "copy", "cumprod", "cumsum"))
    diagonal, dot, flatten, max = map(_method, ("diagonal", "dot", "flatten", "max"))
    mean, min, nonzero, partition = map(_method, ("mean", "min", "nonzero", "partition"))
    prod, put, ravel, repeat = map(_method, ("prod", "put", "ravel", "repeat"))
    reshape, round, searchsorted, sort = map(_method, ("reshape", "round", "searchsorted", "sort"))
    squeeze, std, sum, swapaxes = map(_method, ("squeeze", "std", "sum", "swapaxes"))
    take, trace, transpose, var, view = map(_method, ("take", "trace", "transpose", "var", "view"))

    def fill(self, value: Any) -> None:
        """Set every element to one value: a number, a 0-d array of this GPU, or a 0-d NumPy array."""
        self[...] = value

    def scatter_add(self, index: Any, values: Any) -> None:
        """Add `values` at `index`; an element that is named twice is added to twice."""
        np.add.at(self._held, _open_index(index, self._gpu), _open(values, [self]))

    def __getitem__(self, index: Any) -> "SimulatedArray":
        index = _open_index(index, self._gpu)
        held = self._held[index]
        if held.__class__ is not ndarray:  # a single element: CuPy gives a 0-d view, NumPy a number
            held = self._held[(*index, ...) if index.__class__ is tuple else (index, ...)]
        return _adopt(held, self._gpu, [self])

    def __setitem__(self, index: Any, value: Any) -> None:
        if value.__class__ is SimulatedArray:
            if value._gpu is not self._gpu:
                _two_devices(self, value)
            value = value._held
        elif isinstance(value, ndarray) and not value.ndim:
            value = value[()]
        elif value.__class__ not in SCALARS:
            if _foreign(value) is NotImplemented:
                raise TypeError(f"a {type(value).__name__} cannot be written into a GPU array; copy it to the GPU first")
        self._held[_open_index(index, self._gpu)] = value

    # the ways to the CPU: `get` and `item` are explicit; a single value converts, as CuPy's does; all are counted
    def get(self) -> np.ndarray:
        """A copy of the values on the CPU."""
        devices.count_transfer(devices.cuda(self._gpu.id), devices.CPU, self._held.nbytes)
        return self._held.copy()

    def item(self) -> Any:
        """The one value as a Python number."""
        if self._held.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self.get().item()

    def _single(self, what: str) -> np.ndarray:
        if self._held.size != 1:
            _refuse(f"{what} of an array of shape {self.shape}")
        return self.get().reshape(())

    def __bool__(self) -> bool:
        if self._held.size != 1:
            raise ValueError(
                f"The truth value of an array with {'no' if not self._held.size else 'more than one'} element is "
                "ambiguous. Use a.any() or a.all()"
            )
        return bool(self.get())

    def __int__(self) -> int:
        return int(self._single("int()"))

    def __float__(self) -> float:
        return float(self._single("float()"))

    def __complex__(self) -> complex:
        return complex(self._single("complex()"))

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        _refuse("NumPy")

    def __iter__(self) -> Iterator[Any]:
        _refuse("iteration")

    def tolist(self) -> NoReturn:
        """Refused: it would read all values on the CPU."""
        _refuse("tolist()")

    def __copy__(self) -> "SimulatedArray":
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> "SimulatedArray":
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.get(), self._gpu.id)

    # NumPy's functions
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if ufunc.__name__ in _UFUNCS_ONLY_NUMPY or method not in ("__call__", "reduce"):
            return NotImplemented
        found: list[SimulatedArray] = []
        inputs = tuple([_open(x, found) for x in inputs])
        if kwargs:
            kwargs = {k: _open(x, found) for k, x in kwargs.items()}
        return _adopt(getattr(ufunc, method)(*inputs, **kwargs), self._gpu, found)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func not in _FUNCTIONS:
            if func in _DESCRIPTIONS:
                return func(*_open(args, []), **_open(kwargs, []))
            _refuse(f"numpy.{func.__name__}, which CuPy does not offer,")
        found: list[SimulatedArray] = []
        args, kwargs = _open(args, found), _open(kwargs, found)
        return _adopt(func(*args, **kwargs), self._gpu, found)


_UFUNCS_ONLY_NUMPY = frozenset(("isnat", "matvec", "spacing", "vecdot", "vecmat"))


def _named(names: str) -> frozenset[Any]:
    return frozenset(operator.attrgetter(name)(np) for name in names.split())


# Functions of NumPy that CuPy has too. Left out on purpose: saving, printing, and what converts to a list.
_FUNCTIONS = _named(
    """all allclose amax amin angle any append argmax argmin argpartition argsort argwhere around array_equal
    array_split astype atleast_1d atleast_2d atleast_3d average bincount broadcast_arrays broadcast_to choose clip
    column_stack compress concatenate convolve copy copyto corrcoef correlate count_nonzero cov cross cumprod cumsum
    delete diag diagflat diagonal diff digitize dot dsplit dstack einsum empty_like expand_dims extract fill_diagonal
    fix flatnonzero flip fliplr flipud full_like gradient histogram hsplit hstack i0 imag inner interp isclose
    isin isneginf isposinf kron lexsort linspace logspace max mean median meshgrid min moveaxis
    nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanprod nanstd nansum nanvar
    nonzero ones_like outer pad partition percentile place prod ptp put put_along_axis putmask quantile ravel
    ravel_multi_index real repeat reshape resize roll rollaxis rot90 round searchsorted select sinc sort split squeeze
    stack std sum swapaxes take take_along_axis tensordot tile trace transpose trapezoid tril triu trim_zeros
    union1d unique unravel_index unwrap vander var vdot vsplit vstack where zeros_like
    linalg.cholesky linalg.cond linalg.det linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh linalg.inv
    linalg.lstsq linalg.matrix_power linalg.matrix_rank linalg.norm linalg.pinv linalg.qr linalg.slogdet linalg.solve
    linalg.svd linalg.tensorinv linalg.tensorsolve
    fft.fft fft.fft2 fft.fftn fft.fftshift fft.hfft fft.ifft fft.ifft2 fft.ifftn fft.ifftshift fft.ihfft fft.irfft
    fft.irfft2 fft.irfftn fft.rfft fft.rfft2 fft.rfftn lib.stride_tricks.sliding_window_view"""
)
# Functions that answer with Python values and read none of the array's.
_DESCRIPTIONS = _named(
    "can_cast common_type iscomplexobj isrealobj may_share_memory min_scalar_type ndim result_type shape shares_memory size"
)


# ---------------------------------------------------------------- CuPy's part for device.Backend
def _restore(host: np.ndarray, index: int) -> SimulatedArray:
    with gpu(index):
        return array(host)


def zeros(shape: Any, dtype: Any = float) -> SimulatedArray:
    return _fresh(np.zeros(shape, dtype), gpu())


def ones(shape: Any, dtype: Any = float) -> SimulatedArray:
    return _fresh(np.ones(shape, dtype), gpu())


def empty(shape: Any, dtype: Any = float) -> SimulatedArray:
    return _fresh(np.empty(shape, dtype), gpu())


def full(shape: Any, value: Any, dtype: Any = None) -> SimulatedArray:
    found: list[SimulatedArray] = []
    return _fresh(np.full(shape, _open(value, found), dtype), gpu())


def arange(*args: Any, dtype: Any = None) -> SimulatedArray:
    return _fresh(np.arange(*args, dtype=dtype), gpu())


def linspace(*args: Any, **kwargs: Any) -> SimulatedArray:
    return _fresh(np.linspace(*args, **kwargs), gpu())


def eye(*args: Any, **kwargs: Any) -> SimulatedArray:
    return _fresh(np.eye(*args, **kwargs), gpu())


def array(data: Any, dtype: Any = None) -> SimulatedArray:
    """A copy on the current GPU of NumPy values or of an array of any simulated GPU."""
    return _fresh(np.array(data._held if data.__class__ is SimulatedArray else data, dtype), gpu())


def asnumpy(x: SimulatedArray) -> np.ndarray:
    """A copy of the values on the CPU; `device.to_numpy` counts it."""
    return x._held.copy()


def shares_memory(a: SimulatedArray, b: SimulatedArray) -> bool:
    return a._gpu is b._gpu and bool(np.may_share_memory(a._held, b._held) and np.shares_memory(a._held, b._held))


def scatter_add(target: SimulatedArray, index: Any, values: Any) -> None:
    target.scatter_add(index, values)


def get_default_memory_pool() -> MemoryPool:
    """The pool of the current GPU."""
    return gpu().pool


def _get_device() -> int:
    return _local.current if _local.current < _count else 0


cuda = SimpleNamespace(
    Device=gpu,
    runtime=SimpleNamespace(getDevice=_get_device, getDeviceCount=lambda: _count),
)
ndarray_class = SimulatedArray
