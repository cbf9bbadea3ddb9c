"""What a batched tensor shows in the place of a raw array: the form of one sample, and no values."""

import math
from typing import Any, NoReturn

from . import device as devices
from .errors import explain
from .storage import contiguous_strides


class DataDependentError(RuntimeError):
    """Inside vmap something asked for a value, which is another one for each sample."""


def refuse(phrase: str, summary: str = "", cure: str = "") -> NoReturn:
    raise explain(
        DataDependentError,
        f"vmap: {phrase}",
        summary or "The function runs once for all samples, so a tensor has no one value inside it.",
        cure or "choose by torch.where(condition, a, b), or compute the value outside and pass it in.",
    )


def refuse_branch() -> NoReturn:
    refuse(
        "It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that "
        "yet, please file an issue at https://github.com/pytorch/pytorch/issues ."
    )


def refuse_item() -> NoReturn:
    refuse(
        "It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, "
        "please try to rewrite what you're doing with other operations."
    )


class Flags:
    """The flags of an Outline, as NumPy has them."""

    def __init__(self, outline: "Outline") -> None:
        steps = contiguous_strides(outline.shape)
        self.c_contiguous = not outline.size or all(
            n == 1 or s == k * outline.itemsize for n, s, k in zip(outline.shape, outline.strides, steps)
        )
        self.forc = self.c_contiguous
        self.writeable = True


class Outline:
    """What a Batched shows in the place of a raw array: the form of one sample, and no values."""

    __slots__ = ("_raw",)
    base = None

    def __init__(self, raw: Any) -> None:
        self._raw = raw  # of all samples

    @property
    def shape(self) -> tuple[int, ...]:
        return self._raw.shape[1:]  # type: ignore[no-any-return]

    @property
    def strides(self) -> tuple[int, ...]:
        return self._raw.strides[1:]  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        return self._raw.ndim - 1  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        return math.prod(self._raw.shape[1:])

    @property
    def dtype(self) -> Any:
        return self._raw.dtype

    @property
    def itemsize(self) -> int:
        return self._raw.dtype.itemsize  # type: ignore[no-any-return]

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def flags(self) -> Flags:
        return Flags(self)

    def __repr__(self) -> str:
        return f"<the form of one sample: {list(self.shape)} {self.dtype}>"

    def item(self) -> NoReturn:
        refuse_item()

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        refuse_branch()

    __bool__ = __float__ = __int__ = __index__ = __complex__ = __iter__ = __len__ = __getitem__ = _refuse
    __array_ufunc__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _refuse  # type: ignore[assignment]
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __neg__ = __invert__ = __abs__ = __mod__ = __pow__ = __floordiv__ = __and__ = __or__ = _refuse
    __hash__ = None  # type: ignore[assignment]

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        no_storage()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        refuse_branch()


def no_storage(
    summary: str = "Inside vmap a tensor stands for all samples at once: one sample has no memory of its own.",
    cure: str = "compute with tensor operations, and convert after vmap has returned.",
) -> NoReturn:
    raise explain(
        DataDependentError, "Cannot access data pointer of Tensor that doesn't have storage", summary, cure
    )


_outlines: dict[Any, Any] = {}


def outline_of(raw: Any) -> Outline:
    """The outline of one sample of a raw array.  Those of a GPU's arrays count as arrays of that GPU."""
    kind: Any = raw.__class__
    made = _outlines.get(kind)
    if made is None:
        made = Outline
        if kind in devices._modules and not issubclass(kind, Outline):
            made = type(
                "Outline", (Outline,), {"__slots__": (), "device": property(lambda self: self._raw.device)}
            )
            devices._modules[made] = devices._modules[kind]
        elif issubclass(kind, Outline):
            made = kind
        _outlines[kind] = made
    return made(raw)  # type: ignore[no-any-return]


def of_all(raw: Any) -> Any:
    """The raw array of all samples, for checks: a value is bad if it is bad in any sample."""
    while isinstance(raw, Outline):
        raw = raw._raw
    return raw
