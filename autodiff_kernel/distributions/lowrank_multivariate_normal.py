"""The multivariate normal distribution with few directions of correlation."""

from typing import Any

from ..linalg import cholesky, solve_triangular
from . import constraints, functions
from .multivariate_normal import NormalVectors, batch_mahalanobis, batch_mv, half_log_det
from .utils import lazy_property, size_of, standard_normal


class LowRankMultivariateNormal(NormalVectors):
    """Normal vectors (…, n) whose covariance is WWᵀ + diag(d): W = `cov_factor`, (…, n, m), and d = `cov_diag`, (…, n).

    Where m is much smaller than n this is cheap: inverse and determinant take only a Cholesky factor of the m × m
    matrix I + Wᵀ diag(d)⁻¹ W (Woodbury's identity and the matrix determinant lemma).

    >>> import autodiff_kernel as torch
    >>> m = torch.distributions.LowRankMultivariateNormal(torch.zeros(2), torch.tensor([[1.], [0.]]), torch.ones(2))
    >>> m.covariance_matrix
    tensor([[2., 0.],
            [0., 1.]])
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }

    def __init__(self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        n = loc.shape[-1]
        if cov_factor.dim() < 2:
            raise ValueError(
                "cov_factor must be at least two-dimensional, with optional leading batch dimensions"
            )
        if cov_factor.shape[-2] != n:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {n} x m")
        if cov_diag.shape[-1:] != loc.shape[-1:]:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {loc.shape[-1:]}")
        try:
            batch = functions.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
            ) from error
        self.loc, self.cov_diag = (x.expand(size_of(batch, (n,))) for x in (loc, cov_diag))
        self.cov_factor = cov_factor.expand(size_of(batch, cov_factor.shape[-2:]))
        self._unbroadcasted = cov_factor, cov_diag
        scaled = cov_factor.mT / cov_diag.unsqueeze(-2)
        eye = functions.eye(cov_factor.shape[-1], dtype=loc.dtype, device=loc.device)
        self._capacitance_tril = cholesky(scaled @ cov_factor + eye)
        super().__init__(batch, (n,), validate_args)

    @property
    def variance(self) -> Any:
        """The diagonal of the covariance."""
        return self.cov_factor.pow(2).sum(-1) + self.cov_diag

    @lazy_property
    def covariance_matrix(self) -> Any:
        """WWᵀ + diag(d)."""
        w, d = self._unbroadcasted
        return self._for_all(w @ w.mT + functions.diag_embed(d))

    @lazy_property
    def scale_tril(self) -> Any:
        """The Cholesky factor of the covariance, by way of that of I + d^(−½) WWᵀ d^(−½), whose eigenvalues are ≥ 1."""
        w, d = self._unbroadcasted
        root = d.sqrt().unsqueeze(-1)
        eye = functions.eye(self._event_shape[0], dtype=d.dtype, device=d.device)
        return self._for_all(root * cholesky((w / root) @ (w / root).mT + eye))

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        whitened = self._whitened_factor()
        return self._for_all(
            functions.diag_embed(self._unbroadcasted[1].reciprocal()) - whitened.mT @ whitened
        )

    def _whitened_factor(self) -> Any:
        """A with covariance⁻¹ = diag(1/d) − AᵀA."""
        w, d = self._unbroadcasted
        return solve_triangular(self._capacitance_tril, w.mT / d.unsqueeze(-2), upper=False)

    def _half_log_det(self) -> Any:
        """Half of the logarithm of the covariance's determinant."""
        return half_log_det(self._capacitance_tril) + 0.5 * self._unbroadcasted[1].log().sum(-1)

    def _distance(self, x: Any) -> Any:
        """xᵀ covariance⁻¹ x."""
        w, d = self._unbroadcasted
        return (x.pow(2) / d).sum(-1) - batch_mahalanobis(
            self._capacitance_tril, batch_mv(w.mT / d.unsqueeze(-2), x)
        )

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        w, d = self._unbroadcasted
        shared = standard_normal(size_of(shape[:-1], w.shape[-1:]), self.loc)
        own = standard_normal(shape, self.loc)
        return self.loc + batch_mv(w, shared) + d.sqrt() * own
