"""The base of all distributions: shapes, checks, and what follows from the rest."""

import warnings
from typing import TYPE_CHECKING, Any

from ..core.modes import no_grad
from ..core.tensor import Size, Tensor
from . import constraints
from .utils import broadcast_all, lazy_property, size_of


class Distribution:
    """A probability distribution, or a batch of them.

    A sample has the shape sample_shape + batch_shape + event_shape: as many draws as were asked for, of each
    distribution of the batch, whose single values have the event shape (`()` for numbers, `(n,)` for vectors).

    batch_shape, event_shape: these shapes.  validate_args: whether parameters and values are checked; without it the
    class's default, which `set_default_validate_args` changes.

    >>> import autodiff_kernel as torch
    >>> d = torch.distributions.Normal(torch.zeros(2), 1.)
    >>> d.batch_shape, d.event_shape, d.sample((3,)).shape
    (torch.Size([2]), torch.Size([]), torch.Size([3, 2]))
    """

    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args = __debug__

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...  # the parameters, set by name

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Check parameters and values (True) or not (False); ValueError for anything else."""
        if value not in (True, False):
            raise ValueError(f"expected True or False, not {value!r}")
        Distribution._validate_args = value

    def __init__(
        self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None
    ) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()

    def _set(self, validate_args: bool | None, **parameters: Any) -> None:
        """Broadcast the parameters against each other, keep them under their names, and begin."""
        for name, value in zip(parameters, broadcast_all(*parameters.values()), strict=True):
            setattr(self, name, value)
            shape = value.shape
        Distribution.__init__(self, shape, (), validate_args)

    # ---- shapes
    @property
    def batch_shape(self) -> Size:
        """The shape of the batch of distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one value."""
        return self._event_shape

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        """The shape of a sample."""
        return size_of(sample_shape, self._batch_shape, self._event_shape)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with its batch stretched to `batch_shape`, without copying parameters."""
        new = self._get_checked_instance(self._own_class(), _instance)
        batch_shape = Size(batch_shape)
        parameters, behind = self.arg_constraints, len(self._batch_shape)
        for name, value in vars(self).items():
            if name in parameters and isinstance(value, Tensor):
                value = value.expand(size_of(batch_shape, value.shape[behind:]))
            elif isinstance(value, Distribution):
                value = value.expand(batch_shape)
            elif isinstance(getattr(type(self), name, None), lazy_property):
                continue  # computed anew if somebody asks
            setattr(new, name, value)
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _own_class(self) -> Any:
        """The nearest class of this package, by its own name or the one that `as_torch` gives it."""
        homes = (__package__, "torch.distributions")
        return next(c for c in type(self).__mro__ if c.__module__.startswith(homes))

    def _get_checked_instance(self, cls: Any, _instance: Any = None) -> Any:
        """An object to fill in `expand`; a subclass that begins in a way of its own has to expand in one too."""
        if _instance is not None:
            return _instance
        if type(self).__init__ != cls.__init__:
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also "
                "define a custom .expand() method."
            )
        return object.__new__(type(self))

    # ---- what a subclass says
    @property
    def arg_constraints(self) -> Any:
        """The constraints of the parameters, by name."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """The set of values that the distribution can give."""
        raise NotImplementedError

    @property
    def mean(self) -> Any:
        """The expected value."""
        raise NotImplementedError

    @property
    def mode(self) -> Any:
        """The most probable value."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> Any:
        """The expected square of the distance from the mean."""
        raise NotImplementedError

    @property
    def stddev(self) -> Any:
        """The square root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Any:
        """Random values, without gradient."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Random values that are differentiable functions of the parameters (reparameterized)."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Any:
        """`sample((n,))`, its old name."""
        warnings.warn(
            "`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning, stacklevel=2
        )
        return self.sample((n,))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability (or of its density) of a value."""
        raise NotImplementedError

    def cdf(self, value: Any) -> Any:
        """The probability of a value that is not greater than `value`."""
        raise NotImplementedError

    def icdf(self, value: Any) -> Any:
        """The value below which the distribution lies with probability `value`."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Any:
        """All values of a discrete distribution along dimension 0, repeated for the whole batch (or not)."""
        raise NotImplementedError

    def entropy(self) -> Any:
        """The expected value of −log_prob."""
        raise NotImplementedError

    def perplexity(self) -> Any:
        """exp of the entropy: how many equally probable values would be as uncertain."""
        return self.entropy().exp()

    # ---- checks
    def _check_parameters(self) -> None:
        try:
            parameters = self.arg_constraints
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or "
                "initialize the distribution with `validate_args=False` to turn off validation.",
                stacklevel=4,
            )
            return
        for name, constraint in parameters.items():
            given = name in vars(self) or not isinstance(getattr(type(self), name, None), lazy_property)
            if constraints.is_dependent(constraint) or not given:
                continue  # unknown, or to be computed from what was given
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of "
                    f"distribution {self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n"
                    f"{value}"
                )

    def _check(self, value: Any) -> None:
        """What every method that scores values begins with."""
        if self._validate_args:
            self._validate_sample(value)

    def _validate_sample(self, value: Any) -> None:
        """ValueError unless the value's shape fits and the distribution can give it."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        shape, expected = value.shape, size_of(self._batch_shape, self._event_shape)
        if tuple(shape[len(shape) - len(self._event_shape) :]) != tuple(self._event_shape):
            raise ValueError(
                f"The right-most size of value must match event_shape: {shape} vs {self._event_shape}."
            )
        for i, j in zip(reversed(shape), reversed(expected), strict=False):
            if i != 1 and j != 1 and i != j:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {shape} vs {expected}."
                )
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `support` to enable sample validation. Please initialize the "
                "distribution with `validate_args=False` to turn off validation.",
                stacklevel=4,
            )
            return
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(shape)}) to be within the support "
                f"({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        own = vars(self)
        shown = {k: own[k] for k in self.arg_constraints if k in own}
        texts = [f"{k}: {v if v.numel() == 1 else v.size()}" for k, v in shown.items()]
        return f"{type(self).__name__}({', '.join(texts)})"
