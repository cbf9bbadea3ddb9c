"""Dropout as layers."""

from typing import Any

from .. import functional as F
from .plain import Plain

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class _Dropout(Plain):
    arguments = (("p", 0.5), ("inplace", False))

    def check(self) -> None:
        if not 0 <= self.p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {self.p}")

    def given(self) -> dict[str, Any]:
        return {"p": self.p, "training": self.training, "inplace": self.inplace}

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """While training, each element is zero with probability p, the others grow by 1 / (1 − p).

    >>> import autodiff_kernel as torch
    >>> torch.nn.Dropout(0.5).eval()(torch.ones(2))
    tensor([1., 1.])
    """

    function = staticmethod(F.dropout)


class Dropout1d(_Dropout):
    """Dropout of whole channels of (N, C, L)."""

    function = staticmethod(F.dropout1d)


class Dropout2d(_Dropout):
    """Dropout of whole channels of (N, C, H, W)."""

    function = staticmethod(F.dropout2d)


class Dropout3d(_Dropout):
    """Dropout of whole channels of (N, C, D, H, W)."""

    function = staticmethod(F.dropout3d)


class AlphaDropout(_Dropout):
    """Dropout that keeps mean and standard deviation behind SELU."""

    function = staticmethod(F.alpha_dropout)


class FeatureAlphaDropout(_Dropout):
    """Alpha dropout of whole channels."""

    function = staticmethod(F.feature_alpha_dropout)
