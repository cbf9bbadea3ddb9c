"""Constraints: the sets that parameters and samples of distributions lie in, each of which can check a tensor.

>>> import autodiff_kernel as torch
>>> torch.distributions.constraints.positive.check(torch.tensor([-1., 2.]))
tensor([False,  True])
"""

from collections.abc import Callable, Sequence
from typing import Any

from ..linalg import cholesky_ex, eigvalsh
from .functions import cat as _join
from .functions import full, isclose
from .functions import stack as _pile

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property",
    "greater_than", "greater_than_eq", "half_open_interval", "independent", "integer_interval", "interval",
    "is_dependent", "less_than", "lower_cholesky", "lower_triangular", "multinomial", "nonnegative",
    "nonnegative_integer", "one_hot", "positive", "positive_definite", "positive_integer", "positive_semidefinite",
    "real", "real_vector", "simplex", "square", "stack", "symmetric", "unit_interval",
]  # fmt: skip


class Constraint:
    """A set of values.

    is_discrete: whether its values lie apart.  event_dim: how many of the last dimensions make up one value.
    """

    is_discrete: Any = False
    event_dim: Any = 0

    def check(self, value: Any) -> Any:
        """A bool tensor that says which values lie in the set; the dimensions of one value are gone."""
        raise NotImplementedError

    def __repr__(self) -> str:
        bounds = ", ".join(f"{k}={v}" for k, v in vars(self).items() if k.endswith("_bound"))
        name = type(self).__name__.removeprefix("_")
        return f"{name}({bounds})"


# ------------------------------------------------------------------------------------------------ known later
class _Dependent(Constraint):
    """A set that depends on other parameters: known of an object, not of its class."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim

    @property
    def is_discrete(self) -> Any:
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete

    @property
    def event_dim(self) -> Any:
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> "_Dependent":
        """The same with what is known beforehand: `dependent(is_discrete=True, event_dim=1)`."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, value: Any) -> Any:
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: Any) -> bool:
    """Whether a constraint is known only together with other parameters.

    >>> is_dependent(dependent), is_dependent(positive)
    (True, False)
    """
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property of an object that is a dependent constraint when its class is asked for it."""

    def __init__(
        self, fn: Any = None, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented
    ) -> None:
        property.__init__(self, fn)
        _Dependent.__init__(self, is_discrete=is_discrete, event_dim=event_dim)

    def __call__(self, fn: Any) -> "_DependentProperty":  # type: ignore[override]
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _Wrapping(Constraint):
    """A constraint made of another one."""

    base_constraint: Constraint

    @property
    def is_discrete(self) -> Any:
        return self.base_constraint.is_discrete


class _IndependentConstraint(_Wrapping):
    """All of the last dimensions' values have to lie in a set for the whole to be valid."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims

    @property
    def event_dim(self) -> Any:
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        result = self.base_constraint.check(value)
        kept = result.dim() - self.reinterpreted_batch_ndims
        if kept < 0:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return result.reshape(*result.shape[:kept], -1).all(-1)

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(_Wrapping):
    """What every component of a mixture may give."""

    def __init__(self, base_constraint: Constraint) -> None:
        self.base_constraint = base_constraint

    @property
    def event_dim(self) -> Any:
        return self.base_constraint.event_dim

    def check(self, value: Any) -> Any:
        kept = value.dim() - self.event_dim
        if kept < 0:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        result = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        return result.reshape(*result.shape[:kept], -1).all(-1)

    def __repr__(self) -> str:
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"


# ------------------------------------------------------------------------------------------------ numbers
class _Bounded(Constraint):
    """A set with a lower and an upper bound (numbers or tensors), either of which may be missing."""

    def __init__(self, *bounds: Any, **named: Any) -> None:
        for name, value in zip(self._bounds, bounds, strict=False) if bounds else named.items():
            setattr(self, name, value)

    _bounds: tuple[str, ...] = ("lower_bound", "upper_bound")


class _Interval(_Bounded):
    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value <= self.upper_bound)  # type: ignore[attr-defined]


class _HalfOpenInterval(_Bounded):
    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value < self.upper_bound)  # type: ignore[attr-defined]


class _IntegerInterval(_Interval):
    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & super().check(value)


class _GreaterThan(_Bounded):
    _bounds = ("lower_bound",)

    def check(self, value: Any) -> Any:
        return self.lower_bound < value  # type: ignore[attr-defined]


class _GreaterThanEq(_Bounded):
    _bounds = ("lower_bound",)

    def check(self, value: Any) -> Any:
        return self.lower_bound <= value  # type: ignore[attr-defined]


class _IntegerGreaterThan(_GreaterThanEq):
    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & super().check(value)


class _LessThan(_Bounded):
    _bounds = ("upper_bound",)

    def check(self, value: Any) -> Any:
        return value < self.upper_bound  # type: ignore[attr-defined]


class _Real(Constraint):
    """Every number but nan."""

    def check(self, value: Any) -> Any:
        return value == value


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value == 0) | (value == 1)


# ------------------------------------------------------------------------------------------------ vectors
class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value: Any) -> Any:
        return ((value == 0) | (value == 1)).all(-1) & value.sum(-1).eq(1)


class _Simplex(Constraint):
    """Numbers from 0 up whose sum is 1."""

    event_dim = 1

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Counts whose sum is at most a bound."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)

    def __repr__(self) -> str:
        return "Multinomial()"


# ------------------------------------------------------------------------------------------------ matrices
class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Any:
        return _flat(value.tril() == value)


class _LowerCholesky(_LowerTriangular):
    """Lower triangular matrices with a positive diagonal."""

    def check(self, value: Any) -> Any:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    """Cholesky factors of correlation matrices: the rows have length 1."""

    def check(self, value: Any) -> Any:
        from ..core.dtype import finfo

        tolerance = finfo(value.dtype).eps * value.size(-1) * 10  # rounding errors of the sum
        unit = (value.detach().square().sum(-1).sqrt() - 1).abs().le(tolerance).all(-1)
        return super().check(value) & unit


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Any:
        return full(value.shape[:-2], value.shape[-2] == value.shape[-1], device=value.device)


class _Symmetric(_Square):
    def check(self, value: Any) -> Any:
        square = super().check(value)
        return _flat(isclose(value, value.mT, atol=1e-6)) if square.all() else square


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Any) -> Any:
        symmetric = super().check(value)
        return eigvalsh(value).ge(0).all(-1) if symmetric.all() else symmetric


class _PositiveDefinite(_Symmetric):
    def check(self, value: Any) -> Any:
        symmetric = super().check(value)
        return cholesky_ex(value).info.eq(0) if symmetric.all() else symmetric


def _flat(mask: Any) -> Any:
    return mask.all(-1).all(-1)


# ------------------------------------------------------------------------------------------------ several sets
class _Several(Constraint):
    """Different sets for different parts of a tensor along a dimension."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        assert all(isinstance(c, Constraint) for c in cseq), (
            "All elements of cseq must be Constraint instances"
        )
        self.cseq, self.dim = list(cseq), dim

    @property
    def is_discrete(self) -> Any:
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self) -> Any:
        return max(c.event_dim for c in self.cseq)


class _Cat(_Several):
    """Parts of given lengths, one after the other (see `torch.cat`)."""

    def __init__(
        self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None
    ) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)

    def check(self, value: Any) -> Any:
        parts = value.split(self.lengths, self.dim)
        return _join([c.check(part) for c, part in zip(self.cseq, parts, strict=True)], self.dim)


class _Stack(_Several):
    """Parts along a dimension of their own (see `torch.stack`)."""

    @property
    def event_dim(self) -> Any:
        dim = super().event_dim
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value: Any) -> Any:
        parts = value.unbind(self.dim)
        return _pile([c.check(part) for c, part in zip(self.cseq, parts, strict=True)], self.dim)


# ------------------------------------------------------------------------------------------------ the names
dependent = _Dependent()
dependent_property: Callable[..., Any] = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
