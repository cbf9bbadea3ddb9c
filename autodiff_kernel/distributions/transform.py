"""The base of all transforms, and those that are made of others."""

import copy
import math
from typing import Any

from . import constraints, functions
from .utils import sum_rightmost


class Transform:
    """A function y = t(x) with an inverse `t.inv`.

    domain, codomain: the constraints that x and y satisfy.  bijective: whether t.inv(t(x)) is always x.  sign: +1 or
    −1, as it rises or falls.  cache_size: 1 to remember the last pair, for inverses that are dear or inexact.

    A subclass defines `_call` and `_inverse`, and `log_abs_det_jacobian` if it is bijective.
    """

    bijective: Any = False
    domain: Any
    codomain: Any

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._last: tuple[Any, Any] = (None, None)
        self._inv: Transform | None = None

    @property
    def sign(self) -> Any:
        """+1 where the transform rises, −1 where it falls."""
        raise NotImplementedError

    @property
    def event_dim(self) -> int:
        """The number of dimensions of one value, if it is that of its image."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim  # type: ignore[no-any-return]
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> "Transform":
        """The inverse; its own inverse is this transform."""
        if self._inv is None:
            self._inv = _InverseTransform(self)
        return self._inv

    def with_cache(self, cache_size: int = 1) -> "Transform":
        """The same transform with another cache."""
        if self._cache_size == cache_size:
            return self
        new = copy.copy(self)
        Transform.__init__(new, cache_size)
        return new

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_inv": None}

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, x: Any) -> Any:
        if not self._cache_size:
            return self._call(x)
        if x is not self._last[0]:
            self._last = x, self._call(x)
        return self._last[1]

    def _inv_call(self, y: Any) -> Any:
        if not self._cache_size:
            return self._inverse(y)
        if y is not self._last[1]:
            self._last = self._inverse(y), y
        return self._last[0]

    def _call(self, x: Any) -> Any:
        raise NotImplementedError

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |dy/dx| for y = t(x); the dimensions of one value are gone."""
        raise NotImplementedError

    def forward_shape(self, shape: Any) -> Any:
        """The shape of t(x) for an x of this shape."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of x for a y of this shape."""
        return shape

    def __repr__(self) -> str:
        return type(self).__name__ + "()"


class Fixed(Transform):
    """A transform without parameters: any two are equal."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    __hash__ = None  # type: ignore[assignment]


class _InverseTransform(Transform):
    """The inverse of another transform."""

    def __init__(self, transform: Transform) -> None:
        super().__init__()
        self._inv: Transform = transform

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        return self._inv.codomain

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        return self._inv.domain

    @property
    def bijective(self) -> Any:
        return self._inv.bijective

    @property
    def sign(self) -> Any:
        return self._inv.sign

    @property
    def inv(self) -> Transform:
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self._inv.with_cache(cache_size).inv

    def __getstate__(self) -> dict[str, Any]:
        return vars(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, x: Any) -> Any:
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._inv.forward_shape(shape)

    def __repr__(self) -> str:
        return f"_InverseTransform({self._inv!r})"


# ------------------------------------------------------------------------------------------------ made of others
class ComposeTransform(Transform):
    """Transforms one after the other, the first of `parts` first.

    >>> import autodiff_kernel as torch
    >>> T = torch.distributions.transforms
    >>> T.ComposeTransform([T.AffineTransform(1., 2.), T.ExpTransform()])(torch.zeros(1))
    tensor([2.7183])
    """

    def __init__(self, parts: list[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = None  # type: ignore[assignment]

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        return _widened([(p.domain, p.codomain) for p in reversed(self.parts)])

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        return _widened([(p.codomain, p.domain) for p in self.parts])

    @property
    def bijective(self) -> Any:
        return all(p.bijective for p in self.parts)

    @property
    def sign(self) -> Any:
        return math.prod(p.sign for p in self.parts)

    @property
    def inv(self) -> Transform:
        if self._inv is None:
            self._inv = ComposeTransform([p.inv for p in reversed(self.parts)])
            self._inv._inv = self
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size=cache_size)

    def __call__(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        if not self.parts:
            return functions.zeros_like(x)
        steps = [x]
        for part in self.parts[:-1]:
            steps.append(part(steps[-1]))
        steps.append(y)
        total: Any = None
        event_dim = self.domain.event_dim
        for part, before, after in zip(self.parts, steps, steps[1:], strict=False):
            term = part.log_abs_det_jacobian(before, after)
            term = sum_rightmost(term, event_dim - part.domain.event_dim)
            total = term if total is None else total + term
            event_dim += part.codomain.event_dim - part.domain.event_dim
        return total

    def forward_shape(self, shape: Any) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        return "ComposeTransform(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


def _widened(steps: list[tuple[Any, Any]]) -> Any:
    """The constraint at the end of a chain of (end, beginning), for values with the dimensions that any part needs."""
    if not steps:
        return constraints.real
    event_dim = steps[0][1].event_dim
    for end, beginning in steps:
        event_dim = max(event_dim + end.event_dim - beginning.event_dim, end.event_dim)
    last = steps[-1][0]
    more = event_dim - last.event_dim
    return constraints.independent(last, more) if more else last


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform whose values are taken together along the last `reinterpreted_batch_ndims` dimensions."""

    def __init__(
        self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return IndependentTransform(self.base_transform, self.reinterpreted_batch_ndims, cache_size)

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> Any:
        return self.base_transform.bijective

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _call(self, x: Any) -> Any:
        at_least(x.dim(), self.domain.event_dim)
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        at_least(y.dim(), self.codomain.event_dim)
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Any) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


def at_least(dims: int, needed: int) -> None:
    if dims < needed:
        raise ValueError("Too few dimensions on input")


class ReshapeTransform(Transform):
    """Values of the shape `in_shape` laid out as `out_shape`."""

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.in_shape, self.out_shape = tuple(in_shape), tuple(out_shape)
        if math.prod(self.in_shape) != math.prod(self.out_shape):
            raise ValueError("in_shape, out_shape have different numbers of elements")

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Any) -> Any:
        return x.reshape(self.forward_shape(x.shape))

    def _inverse(self, y: Any) -> Any:
        return y.reshape(self.inverse_shape(y.shape))

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Any) -> Any:
        return _exchanged(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        return _exchanged(shape, self.out_shape, self.in_shape)


def _exchanged(shape: Any, old: tuple[int, ...], new: tuple[int, ...]) -> Any:
    """The shape with `new` for `old` at its end."""
    at_least(len(shape), len(old))
    cut = len(shape) - len(old)
    if tuple(shape[cut:]) != old:
        raise ValueError(f"Shape mismatch: expected {shape[cut:]} but got {old}")
    return (*shape[:cut], *new)
