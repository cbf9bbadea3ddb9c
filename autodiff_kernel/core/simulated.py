"""Simulated GPUs: an array class that holds a NumPy array, is not one, and refuses what CuPy's array refuses.

Nothing here computes on a GPU. The class follows CuPy in what it accepts, so that code that works here takes
the same path on a real GPU, and a mistake (mixing devices, reading values without a copy) fails here as there.
The module plays CuPy's part for `device.Backend`: `zeros`, `array`, `asnumpy`, `cuda.Device`, ….
"""

import operator
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy import asarray, ndarray

from . import device as devices
from .memory_pool import Chunk, MemoryPool
from .simulated_gpu import Device, count, current, gpu
from .simulated_gpu import set_count as set_count

new = object.__new__
SCALARS = frozenset(
    (bool, int, float, complex, *(t for t in np.sctypeDict.values() if issubclass(t, np.number | np.bool)))
)


# ---------------------------------------------------------------- refusals
def _refuse(what: str) -> NoReturn:
    raise TypeError(
        f"Implicit conversion to a NumPy array is not allowed: {what} would read values of a simulated GPU on "
        "the CPU. Copy them there first: x.cpu() for a tensor, x.get() for an array."
    )


def _foreign(other: Any) -> Any:
    """What an operator answers to an operand that is neither an array of this class nor a number."""
    if isinstance(other, ndarray):
        raise TypeError(
            "Unsupported type <class 'numpy.ndarray'>: the other operand lies on a simulated GPU. Implicit "
            "conversion to a NumPy array is not allowed; copy one of them first: x.cuda() or x.cpu()."
        )
    return NotImplemented


def _two_devices(a: "SimulatedArray", b: "SimulatedArray") -> NoReturn:
    raise ValueError(
        f"The device where the array resides ({b._gpu.id}) is different from the other operand's "
        f"({a._gpu.id}). Copy one of them first: x.to('cuda:{a._gpu.id}')."
    )


# ---------------------------------------------------------------- wrapping and unwrapping
def _fresh(result: Any, gpu: Device) -> "SimulatedArray":
    """Wrap a result that shares memory with nothing."""
    if result.__class__ is not ndarray:
        result = asarray(result)
    chunk = gpu.allocate(result.nbytes)
    r = new(SimulatedArray)
    r._held = result
    r._gpu = gpu
    r._chunk = chunk
    r.base = None
    return r


def _view(result: ndarray, source: "SimulatedArray") -> "SimulatedArray":
    """Wrap a view of a source's memory: it keeps the owner alive and owns nothing."""
    r = new(SimulatedArray)
    r._held, r._gpu, r._chunk = result, source._gpu, None
    r.base = source if source.base is None else source.base
    return r


def _adopt(result: Any, source: "SimulatedArray") -> "SimulatedArray":
    """Wrap an array that may be the source's own, a view of it, or a fresh one."""
    if result.__class__ is ndarray:
        base, held = result.base, source._held
        if base is not None:
            if base is held or base is held.base or _root(base) is _root(held):
                return source if result is held else _view(result, source)
        elif result is held:
            return source
    return _fresh(result, source._gpu)


def _adopt_any(result: Any, sources: "list[SimulatedArray]") -> Any:
    """`_adopt` for a result of several sources, or for several results."""
    if isinstance(result, tuple | list):
        items = [_adopt_any(x, sources) for x in result]
        return type(result)(items) if type(result) in (tuple, list) else type(result)(*items)  # QRResult, …
    if result is None:
        return None
    if result.__class__ is ndarray:
        for x in sources:
            if result is x._held:
                return x
        if result.base is not None:
            root = _root(result)
            for x in sources:
                if root is _root(x._held):
                    return _view(result, x)
    return _fresh(result, sources[0]._gpu)


def _root(held: Any) -> Any:
    """The object that owns an array's memory."""
    while (base := getattr(held, "base", None)) is not None:
        held = base
    return held


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
    """An index made ready for NumPy. Lists and NumPy arrays go to the GPU, as in CuPy, and are counted."""
    kind = index.__class__
    if kind is SimulatedArray:
        if index._gpu is not gpu:
            raise ValueError(f"The index lies on {index._gpu.name}, the array on {gpu.name}: copy one first.")
        return index._held
    if kind is tuple:
        return tuple([_open_index(i, gpu) for i in index])
    if kind is list:
        if any(i.__class__ is SimulatedArray for i in index):
            _refuse("a list of arrays as an index")
        index = asarray(index) if index else asarray(index, dtype=np.int64)
    if isinstance(index, ndarray):
        devices.count_transfer(devices.CPU, devices.cuda(gpu.id), index.nbytes, index.shape)
    return index


# ---------------------------------------------------------------- makers of operators and methods
def _binary(fn: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """An operator and its reflection."""

    def forward(self: "SimulatedArray", other: Any) -> Any:
        kind = other.__class__
        gpu = self._gpu
        if kind is SimulatedArray:
            if other._gpu is not gpu:
                _two_devices(self, other)
            other = other._held
        elif kind not in SCALARS:
            return _foreign(other)
        result = fn(self._held, other)
        if result.__class__ is not ndarray:
            result = asarray(result)
        chunk = gpu.allocate(result.nbytes)
        r = new(SimulatedArray)
        r._held = result
        r._gpu = gpu
        r._chunk = chunk
        r.base = None
        return r

    def reflected(self: "SimulatedArray", other: Any) -> Any:
        return _fresh(fn(other, self._held), self._gpu) if other.__class__ in SCALARS else _foreign(other)

    return forward, reflected


def _comparison(fn: Callable[[Any, Any], Any]) -> Any:
    forward, _ = _binary(fn)

    def compare(self: "SimulatedArray", other: Any) -> Any:
        if other.__class__ is ndarray and not other.ndim:  # the one ndarray operand that CuPy takes
            other = other[()]
        return forward(self, other)

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


def _method(name: str, fresh: bool = False) -> Any:
    """A method whose positional arguments are numbers and shapes. `fresh`: its result is never a view."""
    fn = getattr(ndarray, name)
    general = _array_method(name)

    def method(self: "SimulatedArray", *args: Any, **kwargs: Any) -> Any:
        if kwargs and not kwargs.keys() <= _NUMBERS_AND_SHAPES:
            return general(self, *args, **kwargs)
        result = fn(self._held, *args, **kwargs)
        return _fresh(result, self._gpu) if fresh else _adopt(result, self)

    method.__name__ = method.__qualname__ = name
    return method


_NUMBERS_AND_SHAPES = frozenset("axis keepdims dtype ddof order copy axis1 axis2 offset kind".split())


def _array_method(name: str) -> Any:
    """A method that may take arrays, or give several or none."""
    fn = getattr(ndarray, name)

    def method(self: "SimulatedArray", *args: Any, **kwargs: Any) -> Any:
        found = [self]
        args, kwargs = _open(args, found), _open(kwargs, found)
        return _adopt_any(fn(self._held, *args, **kwargs), found)

    method.__name__ = method.__qualname__ = name
    return method


def _known(name: str) -> Any:
    """An attribute that is known without reading a value."""
    return property(eval(f"lambda self: self._held.{name}"))  # a third of attrgetter's time


class MemoryPointer(NamedTuple):
    """Where an array's first element lies."""

    ptr: int
    device_id: int


# ---------------------------------------------------------------- the array
class SimulatedArray:
    """An array on a simulated GPU. Its operators, methods and refusals are those of `cupy.ndarray`.

    `base` is the array whose memory a view shares, or None for an array that owns its memory.
    """

    __slots__ = ("__weakref__", "_chunk", "_gpu", "_held", "base")
    __array_priority__ = 100
    _held: ndarray
    _gpu: Device
    _chunk: Chunk | None
    base: "SimulatedArray | None"

    def __del__(self) -> None:
        chunk = self._chunk
        if chunk is not None:
            chunk.pool.allocated -= chunk.size
            chunk.free(chunk)

    shape, dtype, ndim, size = map(_known, ("shape", "dtype", "ndim", "size"))
    strides, itemsize, nbytes, flags = map(_known, ("strides", "itemsize", "nbytes", "flags"))
    T = property(lambda self: _view(self._held.T, self))
    mT = property(lambda self: _view(self._held.mT, self))
    real = property(lambda self: _adopt(self._held.real, self))
    imag = property(lambda self: _adopt(self._held.imag, self))
    device = property(lambda self: self._gpu)
    data = property(lambda self: MemoryPointer(self._held.__array_interface__["data"][0], self._gpu.id))

    def __len__(self) -> int:
        return len(self._held)

    def __repr__(self) -> str:
        return f"<array of shape {self.shape} and dtype {self.dtype} on {self._gpu.name}>"

    __add__, __radd__ = _binary(operator.add)
    __sub__, __rsub__ = _binary(operator.sub)
    __mul__, __rmul__ = _binary(operator.mul)
    __truediv__, __rtruediv__ = _binary(operator.truediv)
    __floordiv__, __rfloordiv__ = _binary(operator.floordiv)
    __mod__, __rmod__ = _binary(operator.mod)
    __pow__, __rpow__ = _binary(operator.pow)
    __matmul__, __rmatmul__ = _binary(operator.matmul)
    __and__, __rand__ = _binary(operator.and_)
    __or__, __ror__ = _binary(operator.or_)
    __xor__, __rxor__ = _binary(operator.xor)
    __lshift__, __rlshift__ = _binary(operator.lshift)
    __rshift__, __rrshift__ = _binary(operator.rshift)
    __iadd__, __isub__, __imul__ = map(_inplace, (operator.iadd, operator.isub, operator.imul))
    __itruediv__, __ifloordiv__ = map(_inplace, (operator.itruediv, operator.ifloordiv))
    __imod__, __ipow__ = map(_inplace, (operator.imod, operator.ipow))
    __iand__, __ior__, __ixor__ = map(_inplace, (operator.iand, operator.ior, operator.ixor))
    __ilshift__, __irshift__ = map(_inplace, (operator.ilshift, operator.irshift))
    __lt__, __le__, __gt__ = map(_comparison, (operator.lt, operator.le, operator.gt))
    __ge__, __eq__, __ne__ = map(_comparison, (operator.ge, operator.eq, operator.ne))
    __neg__, __abs__, __invert__ = [_unary(f) for f in (operator.neg, operator.abs, operator.invert)]
    __hash__ = None  # type: ignore[assignment]

    def __pos__(self) -> "SimulatedArray":
        return self

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    all, any, argmax, argmin = [_method(n, True) for n in ("all", "any", "argmax", "argmin")]
    argsort, copy, cumprod = [_method(n, True) for n in ("argsort", "copy", "cumprod")]
    cumsum, flatten, max, mean = [_method(n, True) for n in ("cumsum", "flatten", "max", "mean")]
    min, prod, round, std = [_method(n, True) for n in ("min", "prod", "round", "std")]
    sum, trace, var = [_method(n, True) for n in ("sum", "trace", "var")]
    astype, conj, conjugate, diagonal = map(_method, ("astype", "conj", "conjugate", "diagonal"))
    ravel, reshape, squeeze, swapaxes = map(_method, ("ravel", "reshape", "squeeze", "swapaxes"))
    transpose, view = map(_method, ("transpose", "view"))
    choose, clip, compress, dot = map(_array_method, ("choose", "clip", "compress", "dot"))
    nonzero, partition, put, repeat = map(_array_method, ("nonzero", "partition", "put", "repeat"))
    argpartition, searchsorted = map(_array_method, ("argpartition", "searchsorted"))
    sort, take = map(_array_method, ("sort", "take"))

    def fill(self, value: Any) -> None:
        """Set every element to one value: a number, a 0-d array of this GPU, or a 0-d NumPy array."""
        self[...] = value

    def scatter_add(self, index: Any, values: Any) -> None:
        """Add `values` at `index`; an element that is named twice is added to twice."""
        np.add.at(self._held, _open_index(index, self._gpu), _open(values, [self]))

    def __getitem__(self, index: Any) -> "SimulatedArray":
        kind = index.__class__
        if kind is not int and kind is not slice and index is not Ellipsis:
            index = _open_index(index, self._gpu)
        held = self._held[index]
        if held.__class__ is not ndarray:  # a single element: CuPy gives a 0-d view, NumPy a number
            held = self._held[(*index, ...) if kind is tuple else (index, ...)]
        return _adopt(held, self)

    def __setitem__(self, index: Any, value: Any) -> None:
        kind = value.__class__
        if kind is SimulatedArray:
            if value._gpu is not self._gpu:
                _two_devices(self, value)
            value = value._held
        elif kind is ndarray and not value.ndim:
            value = value[()]
        elif kind not in SCALARS and _foreign(value) is NotImplemented:
            raise TypeError(f"a {kind.__name__} cannot be written into a GPU's array: copy it there first")
        self._held[_open_index(index, self._gpu)] = value

    # The ways to the CPU: `get` and `item`, and a single value converts, as in CuPy. All are counted.
    def get(self) -> ndarray:
        """A copy of the values on the CPU."""
        held = self._held
        devices.count_transfer(devices.cuda(self._gpu.id), devices.CPU, held.nbytes, held.shape)
        return held.copy()

    def item(self) -> Any:
        """The one value as a Python number."""
        if self._held.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self.get().item()

    def _single(self, what: str) -> Any:
        if self._held.size != 1:
            _refuse(f"{what} of an array of shape {self.shape}")
        return self.get().item()

    def __bool__(self) -> bool:
        if self._held.size != 1:
            raise ValueError(
                f"The truth value of an array with {'more than one' if self._held.size else 'no'} element is "
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

    def __iter__(self) -> NoReturn:
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

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or ufunc in _UFUNCS_ONLY_NUMPY:
            name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
            raise TypeError(
                f"numpy.{name} does not work on arrays of a GPU: CuPy does not offer it. Use a method of the array "
                "(x.sum(axis)), or device.add_at."
            )
        if not kwargs and len(inputs) == 1 and ufunc.nout == 1:
            return _fresh(ufunc(self._held), self._gpu)
        found: list[SimulatedArray] = []
        inputs = tuple([x if x.__class__ in SCALARS else _open(x, found) for x in inputs])
        if kwargs:
            kwargs = {k: _open(x, found) for k, x in kwargs.items()}
            return _adopt_any(ufunc(*inputs, **kwargs), found)
        result = ufunc(*inputs)
        return _adopt_any(result, found) if result.__class__ is tuple else _fresh(result, self._gpu)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        found: list[SimulatedArray] = []
        args = tuple([x if x.__class__ in SCALARS else _open(x, found) for x in args])
        if kwargs:
            kwargs = {k: _open(x, found) for k, x in kwargs.items()}
        if func in _FUNCTIONS:
            return _adopt_any(func(*args, **kwargs), found)
        if func in _DESCRIPTIONS:
            return func(*args, **kwargs)
        raise TypeError(
            f"numpy.{func.__name__} does not work on arrays of a GPU. Implicit conversion to a NumPy array is "
            "not allowed: copy the values to the CPU first, x.cpu() for a tensor, x.get() for an array."
        )


def _named(names: str) -> frozenset[Any]:
    return frozenset(operator.attrgetter(name)(np) for name in names.split())


_UFUNCS_ONLY_NUMPY = frozenset(
    getattr(np, name) for name in ("isnat", "matvec", "spacing", "vecdot", "vecmat") if hasattr(np, name)
)

# Functions of NumPy that CuPy has too. Left out on purpose: saving, printing, and what gives Python lists.
_FUNCTIONS = _named(
    """all allclose amax amin angle any append argmax argmin argpartition argsort argwhere around array_equal
    array_split astype atleast_1d atleast_2d atleast_3d average bincount broadcast_arrays broadcast_to
    choose clip column_stack compress concatenate convolve copy copyto corrcoef correlate count_nonzero cov
    cross cumprod cumsum delete diag diagflat diagonal diff digitize dot dsplit dstack einsum empty_like
    expand_dims extract fill_diagonal fix flatnonzero flip fliplr flipud full_like gradient histogram hsplit
    hstack i0 imag inner interp isclose isin isneginf isposinf kron lexsort linspace logspace
    matrix_transpose max mean median meshgrid min moveaxis nan_to_num nanargmax nanargmin nancumprod
    nancumsum nanmax nanmean nanmedian nanmin nanprod nanstd nansum nanvar nonzero ones_like outer pad
    partition percentile place prod ptp put put_along_axis putmask quantile ravel ravel_multi_index real
    repeat reshape resize roll rollaxis rot90 round searchsorted select sinc sort split squeeze stack std
    sum swapaxes take take_along_axis tensordot tile trace transpose trapezoid tril trim_zeros triu union1d
    unique unravel_index unwrap vander var vdot vsplit vstack where zeros_like
    linalg.cholesky linalg.cond linalg.cross linalg.det linalg.eig linalg.eigh linalg.eigvals
    linalg.eigvalsh linalg.inv linalg.lstsq linalg.matrix_power linalg.matrix_rank linalg.norm linalg.pinv
    linalg.qr linalg.slogdet linalg.solve linalg.svd linalg.tensorinv linalg.tensorsolve fft.fft fft.fft2
    fft.fftn fft.fftshift fft.hfft fft.ifft fft.ifft2 fft.ifftn fft.ifftshift fft.ihfft fft.irfft fft.irfft2
    fft.irfftn fft.rfft fft.rfft2 fft.rfftn lib.stride_tricks.sliding_window_view"""
)
# Functions that answer with Python values, and read none of the array's.
_DESCRIPTIONS = _named(
    """can_cast common_type iscomplexobj isrealobj may_share_memory min_scalar_type ndim result_type shape
    shares_memory size"""
)


# ---------------------------------------------------------------- CuPy's part for device.Backend
def _maker(name: str) -> Any:
    make = getattr(np, name)

    def made(*args: Any, **kwargs: Any) -> SimulatedArray:
        found: list[SimulatedArray] = []
        return _fresh(make(*_open(args, found), **kwargs), gpu())

    made.__name__, made.__doc__ = name, f"NumPy's `{name}` on the current GPU."
    return made


zeros, ones, empty, full, arange, eye, linspace = map(
    _maker, ("zeros", "ones", "empty", "full", "arange", "eye", "linspace")
)


def array(data: Any, dtype: Any = None) -> SimulatedArray:
    """A copy on the current GPU of NumPy values, or of an array of any simulated GPU."""
    return _fresh(np.array(data._held if data.__class__ is SimulatedArray else data, dtype), gpu())


def asnumpy(x: SimulatedArray) -> ndarray:
    """A copy of the values on the CPU (the caller counts it)."""
    return x._held.copy()


def as_strided(x: SimulatedArray, shape: tuple[int, ...], strides: tuple[int, ...]) -> SimulatedArray:
    """A view of the array's memory with any shape and strides (in bytes)."""
    return _view(np.lib.stride_tricks.as_strided(x._held, shape, strides), x)


def shares_memory(a: SimulatedArray, b: SimulatedArray) -> bool:
    return a._gpu is b._gpu and np.may_share_memory(a._held, b._held) and np.shares_memory(a._held, b._held)


def get_default_memory_pool() -> MemoryPool:
    """The pool of the current GPU."""
    return gpu().pool


def _restore(host: np.ndarray, index: int) -> SimulatedArray:
    devices.count_transfer(devices.CPU, devices.cuda(index), host.nbytes, host.shape)
    with gpu(index):
        return array(host)


cuda = SimpleNamespace(Device=gpu, runtime=SimpleNamespace(getDevice=current, getDeviceCount=count))
