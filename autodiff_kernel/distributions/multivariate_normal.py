"""The multivariate normal distribution."""

import math
from typing import Any

from ..linalg import cholesky, solve_triangular
from . import constraints, functions
from .symmetric import Symmetric
from .utils import lazy_property, size_of, standard_normal


def batch_mv(matrix: Any, vector: Any) -> Any:
    """Matrix-vector products of batches that broadcast: (…, n, m) and (…, m)."""
    return (matrix @ vector.unsqueeze(-1)).squeeze(-1)


def batch_mahalanobis(factor: Any, x: Any) -> Any:
    """xᵀM⁻¹x for M = LLᵀ: the squared length of L⁻¹x, for factors L (…, n, n) and vectors (…, n) that broadcast."""
    shape = functions.broadcast_shapes(factor.shape[:-2], x.shape[:-1])
    if factor.dim() == 2:  # one factor for all: all vectors are columns of one system
        columns = x.reshape(-1, x.shape[-1]).mT
        return solve_triangular(factor, columns, upper=False).pow(2).sum(-2).reshape(shape)
    factor = factor.expand(size_of(shape, factor.shape[-2:]))
    x = x.expand(size_of(shape, x.shape[-1:]))
    return solve_triangular(factor, x.unsqueeze(-1), upper=False).squeeze(-1).pow(2).sum(-1)


def half_log_det(factor: Any) -> Any:
    """Half of log det LLᵀ."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def precision_to_scale_tril(precision: Any) -> Any:
    """The Cholesky factor of P⁻¹, without computing P⁻¹: P read backwards has the factor of the inverse, inverted."""
    backwards = cholesky(precision.flip(-2, -1))
    inverse = backwards.flip(-2, -1).mT
    eye = functions.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return solve_triangular(inverse, eye, upper=False)


class NormalVectors(Symmetric):
    """Normal vectors (…, n): what follows from the lengths x → xᵀ covariance⁻¹ x and the determinant of the covariance."""

    support = constraints.real_vector
    has_rsample = True

    def _for_all(self, matrix: Any) -> Any:
        return matrix.expand(size_of(self._batch_shape, self._event_shape, self._event_shape))

    def _distance(self, x: Any) -> Any:
        """xᵀ covariance⁻¹ x."""
        raise NotImplementedError

    def _half_log_det(self) -> Any:
        """Half of the logarithm of the covariance's determinant."""
        raise NotImplementedError

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        exponent = self._event_shape[0] * math.log(2 * math.pi) + self._distance(value - self.loc)
        return -0.5 * exponent - self._half_log_det()

    def entropy(self) -> Any:
        per_element = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        return (per_element + self._half_log_det()).expand(self._batch_shape)


class MultivariateNormal(NormalVectors):
    """Normal vectors (…, n) with mean `loc` and a covariance that is given in one of three ways, (…, n, n).

    covariance_matrix: itself; precision_matrix: its inverse; scale_tril: its Cholesky factor L, in which the others
    are translated.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2)).sample()
    tensor([ 1.5410, -0.2934])
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }

    def __init__(
        self, loc: Any, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        ways = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = [(name, matrix) for name, matrix in ways.items() if matrix is not None]
        if len(given) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
            )
        ((name, matrix),) = given
        if matrix.dim() < 2:
            what = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(
                f"{what} must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch_shape = functions.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self.loc = loc.expand(size_of(batch_shape, loc.shape[-1:]))
        setattr(self, name, matrix.expand(size_of(batch_shape, matrix.shape[-2:])))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args)
        factors = {"scale_tril": lambda m: m, "covariance_matrix": cholesky}
        self._unbroadcasted_scale_tril = factors.get(name, precision_to_scale_tril)(matrix)

    @lazy_property
    def scale_tril(self) -> Any:
        """The Cholesky factor of the covariance."""
        return self._for_all(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance LLᵀ."""
        factor = self._unbroadcasted_scale_tril
        return self._for_all(factor @ factor.mT)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        return self._for_all(functions.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def variance(self) -> Any:
        """The diagonal of the covariance."""
        squares = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return squares.expand(size_of(self._batch_shape, self._event_shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        eps = standard_normal(self._extended_shape(sample_shape), self.loc)
        return self.loc + batch_mv(self._unbroadcasted_scale_tril, eps)

    def _distance(self, x: Any) -> Any:
        return batch_mahalanobis(self._unbroadcasted_scale_tril, x)

    def _half_log_det(self) -> Any:
        return half_log_det(self._unbroadcasted_scale_tril)
