"""Norms as layers."""

from typing import Any

from ...core.api import FUNCTIONS
from ...core.dtype import int64
from ...core.errors import explain
from .. import functional as F
from . import filling
from .filling import parameter
from .module import Module
from .plain import Plain

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "CrossMapLRN2d", "GroupNorm", "InstanceNorm1d", "InstanceNorm2d",
    "InstanceNorm3d", "LayerNorm", "LocalResponseNorm", "RMSNorm", "SyncBatchNorm",
]  # fmt: skip


class _Norm(Module):
    """What batch and instance norms keep: weight and bias of each channel, and running statistics."""

    _version = 2
    dims: tuple[int, ...] = ()
    running_mean: Any
    running_var: Any
    num_batches_tracked: Any

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(
                name, parameter(num_features, device=device, dtype=dtype) if wanted else None
            )
        for name in ("running_mean", "running_var"):
            start = (
                FUNCTIONS["zeros"](num_features, device=device, dtype=dtype) if track_running_stats else None
            )
            self.register_buffer(name, start)
        count = FUNCTIONS["tensor"](0, dtype=int64, device=device) if track_running_stats else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget the statistics: mean 0, variance 1."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Forget the statistics; weights 1, biases 0."""
        self.reset_running_stats()
        filling.full(self.weight, 1)
        filling.full(self.bias, 0)

    def _check(self, input: Any) -> None:
        if input.dim() not in self.dims:
            want = " or ".join(f"{n}D" for n in self.dims)
            raise explain(
                ValueError,
                f"expected {want} input (got {input.dim()}D input)",
                f"{type(self).__name__} takes (batch, "
                f"channels{', …' if max(self.dims) > 2 else ''}), and the input has shape {list(input.shape)}.",
                "take the layer for this number of dimensions, or bring the input into that shape.",
            )

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_Norm):
    def forward(self, input: Any) -> Any:
        self._check(input)
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                factor = 1.0 / float(self.num_batches_tracked)
        by_batch = self.training or self.running_mean is None and self.running_var is None
        keep = not self.training or self.track_running_stats
        mean, var = (self.running_mean, self.running_var) if keep else (None, None)
        return F.batch_norm(input, mean, var, self.weight, self.bias, by_batch, factor, self.eps)


class BatchNorm1d(_BatchNorm):
    """Each channel of (N, C) or (N, C, L) standardized over the batch.

    In evaluation by the running statistics. Raises ValueError for a batch of one value for each channel while training.

    >>> import autodiff_kernel as torch
    >>> torch.nn.BatchNorm1d(3)
    BatchNorm1d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Each channel of (N, C, H, W) standardized over batch and places."""

    dims = (4,)


class BatchNorm3d(_BatchNorm):
    """Each channel of (N, C, D, H, W) standardized over batch and places."""

    dims = (5,)


class SyncBatchNorm(_BatchNorm):
    """Batch norm over the processes of a group; here there is one, so it is batch norm."""

    dims = (2, 3, 4, 5)


class _InstanceNorm(_Norm):
    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False,
        track_running_stats: bool = False, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Any) -> Any:
        self._check(input)
        alone = input.dim() == self.dims[0]
        channels = input.shape[0 if alone else 1]
        if channels != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={0 if alone else 1} to match num_features ({self.num_features}), but got: "
                    f"{channels}."
                )
            import warnings

            warnings.warn(
                f"input's size at dim={0 if alone else 1} does not match num_features. You can "
                "silence this warning by not passing "
                "in num_features, which is not used because affine=False",
                stacklevel=2,
            )
        x = input.unsqueeze(0) if alone else input
        y = F.instance_norm(
            x, self.running_mean, self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats, 0.0 if self.momentum is None else self.momentum, self.eps,
        )  # fmt: skip
        return y.squeeze(0) if alone else y


class InstanceNorm1d(_InstanceNorm):
    """Each channel of each sample of (N, C, L) standardized by itself."""

    dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Each channel of each sample of (N, C, H, W) standardized by itself."""

    dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Each channel of each sample of (N, C, D, H, W) standardized by itself."""

    dims = (4, 5)


class LayerNorm(Module):
    """The last dimensions standardized; then times weight, plus bias, which have their shape.

    >>> import autodiff_kernel as torch
    >>> torch.nn.LayerNorm(3)
    LayerNorm((3,), eps=1e-05, elementwise_affine=True, bias=True)
    """

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        self.register_parameter(
            "weight", parameter(*shape, device=device, dtype=dtype) if elementwise_affine else None
        )
        has_bias = elementwise_affine and bias
        self.register_parameter("bias", parameter(*shape, device=device, dtype=dtype) if has_bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weights 1, biases 0."""
        filling.full(self.weight, 1)
        filling.full(self.bias, 0)

    def forward(self, input: Any) -> Any:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """Divided by the root of the mean square over the last dimensions; then times weight."""

    def __init__(
        self, normalized_shape: Any, eps: float | None = None, elementwise_affine: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        self.register_parameter(
            "weight", parameter(*shape, device=device, dtype=dtype) if elementwise_affine else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weights 1."""
        filling.full(self.weight, 1)

    def forward(self, input: Any) -> Any:
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """The channels in groups, each group of each sample standardized by itself.

    Raises ValueError for groups that don't fit.
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(
                name, parameter(num_channels, device=device, dtype=dtype) if wanted else None
            )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weights 1, biases 0."""
        filling.full(self.weight, 1)
        filling.full(self.bias, 0)

    def forward(self, input: Any) -> Any:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, bias={self.bias is not None}"


class LocalResponseNorm(Plain):
    """Divided by (k + alpha · mean of the squares in `size` neighbouring channels)^beta."""

    function = staticmethod(F.local_response_norm)
    arguments = (("size", ...), ("alpha", 1e-4), ("beta", 0.75), ("k", 1.0))
    shown = ("size", "alpha=", "beta=", "k=")


class CrossMapLRN2d(Plain):
    """LocalResponseNorm over channels, with PyTorch's old name."""

    function = staticmethod(F.local_response_norm)
    arguments = (("size", ...), ("alpha", 1e-4), ("beta", 0.75), ("k", 1.0))
    shown = ("size", "alpha=", "beta=", "k=")
