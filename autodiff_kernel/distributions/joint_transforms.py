"""Transforms of vectors and matrices, and of different parts of a tensor."""

import math
from collections.abc import Sequence
from typing import Any

from ..core.dtype import finfo
from ..core.rules.activations import logsigmoid, softplus
from ..linalg import cholesky
from . import constraints, functions
from .elementwise_transforms import inside
from .transform import Fixed, Transform, at_least
from .utils import pad_last, sum_rightmost, tril_matrix_to_vec, vec_to_tril_matrix


class SoftmaxTransform(Fixed):
    """y = exp(x) divided by its sum along the last dimension; not bijective, since x + c gives the same."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Any) -> Any:
        weights = (x - x.max(-1, True)[0]).exp()
        return weights / weights.sum(-1, True)

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        at_least(len(shape), 1)
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(Fixed):
    """n numbers to n + 1 shares of 1: each breaks the fraction sigmoid(x − log of the pieces left) off the rest."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    @staticmethod
    def _pieces(x: Any, count: int) -> Any:
        """How many pieces are still to come at each break, for breaks of a stick into `count` + 1."""
        return count + 1 - x.new_ones(count).cumsum(-1)

    def _call(self, x: Any) -> Any:
        z = inside((x - self._pieces(x, x.shape[-1]).log()).sigmoid())
        return pad_last(z, 0, 1) * pad_last((1 - z).cumprod(-1), 1, 0)

    def _inverse(self, y: Any) -> Any:
        broken = y[..., :-1]
        rest = (1 - broken.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        return broken.log() - rest.log() + self._pieces(y, broken.shape[-1]).log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        x = x - self._pieces(x, x.shape[-1]).log()
        return (-x + logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        at_least(len(shape), 1)
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: Any) -> Any:
        at_least(len(shape), 1)
        return (*shape[:-1], shape[-1] - 1)


# ------------------------------------------------------------------------------------------------ of matrices
class LowerCholeskyTransform(Fixed):
    """Any square matrix to a lower triangular one with a positive diagonal (exp of the old one)."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + functions.diag_embed(x.diagonal(dim1=-2, dim2=-1).exp())

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + functions.diag_embed(y.diagonal(dim1=-2, dim2=-1).log())


class PositiveDefiniteTransform(Fixed):
    """Any square matrix to a positive definite one, by way of its Cholesky factor."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(cholesky(y))


class CorrCholeskyTransform(Fixed):
    """D·(D − 1)/2 numbers to the Cholesky factor of a D × D correlation matrix: rows of length 1.

    The squares of a row's elements are shares of 1, broken off a stick; tanh gives each its root, with a sign.
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        eps = finfo(x.dtype).eps
        r = vec_to_tril_matrix(x.tanh().clamp(min=-1 + eps, max=1 - eps), diag=-1)
        rest = (1 - r**2).sqrt().cumprod(-1)
        r = r + functions.eye(r.shape[-1], dtype=r.dtype, device=r.device)
        return r * pad_last(rest[..., :-1], 1, 0)

    def _inverse(self, y: Any) -> Any:
        rest = pad_last(1 - (y * y).cumsum(-1)[..., :-1], 1, 0)
        t = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(rest, diag=-1).sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        rest = tril_matrix_to_vec(1 - (y * y).cumsum(-1), diag=-2)
        return 0.5 * rest.log().sum(-1) - 2 * (x + softplus(-2 * x) - math.log(2.0)).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        at_least(len(shape), 1)
        n = shape[-1]
        d = round((0.25 + 2 * n) ** 0.5 + 0.5)
        if d * (d - 1) // 2 != n:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return (*shape[:-1], d, d)

    def inverse_shape(self, shape: Any) -> Any:
        at_least(len(shape), 2)
        d = shape[-1]
        if shape[-2] != d:
            raise ValueError("Input is not square")
        return (*shape[:-2], d * (d - 1) // 2)


# ------------------------------------------------------------------------------------------------ part by part
class _Parts(Transform):
    """Different transforms for different parts of a tensor along `dim`."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    def _split(self, x: Any) -> Any:
        raise NotImplementedError

    def _join(self, parts: list[Any]) -> Any:
        raise NotImplementedError

    @property
    def bijective(self) -> Any:
        return all(t.bijective for t in self.transforms)

    def _call(self, x: Any) -> Any:
        return self._join([t(part) for t, part in zip(self.transforms, self._split(x), strict=True)])

    def _inverse(self, y: Any) -> Any:
        return self._join([t.inv(part) for t, part in zip(self.transforms, self._split(y), strict=True)])

    def _stretches(self, x: Any, y: Any) -> list[Any]:
        triples = zip(self.transforms, self._split(x), self._split(y), strict=True)
        return [t.log_abs_det_jacobian(a, b) for t, a, b in triples]


class CatTransform(_Parts):
    """Transforms of parts of the given `lengths` along `dim`, one after the other."""

    def __init__(
        self,
        tseq: Sequence[Transform],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)

    @property
    def event_dim(self) -> int:
        return max(t.event_dim for t in self.transforms)

    @property
    def length(self) -> int:
        """The sum of the lengths."""
        return sum(self.lengths)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)

    def _split(self, x: Any) -> Any:
        return x.split(self.lengths, self.dim)

    def _join(self, parts: list[Any]) -> Any:
        return functions.cat(parts, self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        terms = [
            sum_rightmost(term, self.event_dim - t.event_dim)
            for t, term in zip(self.transforms, self._stretches(x, y), strict=True)
        ]
        dim = (self.dim - x.dim() if self.dim >= 0 else self.dim) + self.event_dim
        return functions.cat(terms, dim) if dim < 0 else sum(terms)


class StackTransform(_Parts):
    """Transforms of the parts along `dim`, one each."""

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.stack([t.codomain for t in self.transforms], self.dim)

    def _split(self, x: Any) -> Any:
        return x.unbind(self.dim)

    def _join(self, parts: list[Any]) -> Any:
        return functions.stack(parts, self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return self._join(self._stretches(x, y))
