"""Fractional max pooling as layers."""

from typing import Any

from .. import functional as F
from .module import Module

__all__ = ["FractionalMaxPool2d", "FractionalMaxPool3d"]


class _FractionalMaxPool(Module):
    dims = 0
    _random_samples: Any

    def __init__(
        self, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        several: Any = lambda v: v if isinstance(v, (tuple, list)) else (v,) * self.dims  # noqa: E731
        self.kernel_size, self.return_indices = several(kernel_size), return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = several(output_size) if output_size is not None else None
        self.output_ratio = several(output_ratio) if output_ratio is not None else None
        if output_size is None and output_ratio is None:
            raise ValueError(
                f"{type(self).__name__} requires specifying either an output size, or a pooling ratio"
            )
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Any) -> Any:
        pool: Any = getattr(F, f"fractional_max_pool{self.dims}d")
        return pool(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class FractionalMaxPool2d(_FractionalMaxPool):
    """The greatest elements of windows at random steps: (N, C, H, W) shrunk to `output_size`, or by `output_ratio`.

    Raises ValueError unless just one of both is given.

    >>> import autodiff_kernel as torch
    >>> torch.nn.FractionalMaxPool2d(2, output_ratio=0.7)(torch.zeros(1, 1, 10, 10)).shape
    torch.Size([1, 1, 7, 7])
    """

    dims = 2


class FractionalMaxPool3d(_FractionalMaxPool):
    """The same for volumes (N, C, T, H, W)."""

    dims = 3
