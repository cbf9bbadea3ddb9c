"""Lazy layers: they take the size of their input from the first one that they see, and are ordinary layers from then on."""

from typing import Any

from ..parameter import UninitializedBuffer, UninitializedParameter, is_lazy
from .conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .linear import Linear
from .normalization import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
)

__all__ = [
    "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d",
    "LazyConvTranspose2d", "LazyConvTranspose3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d", "LazyInstanceNorm3d",
    "LazyLinear",
]  # fmt: skip


class _Lazy:
    """The part of a lazy layer that waits: a hook before the first forward, which takes itself off."""

    becomes: Any

    def _wait(self: Any, first: dict[str, Any]) -> None:
        """Parameters and buffers without shape in the place of those that a layer of no inputs has."""
        for name in first:
            shelf = self._parameters if name in self._parameters else self._buffers
            if shelf.get(name) is not None:
                shelf[name] = first[name]
        self.__dict__["_first"] = self.register_forward_pre_hook(type(self)._meet)

    def _meet(self: Any, args: Any) -> None:
        self.initialize_parameters(*args)
        self.__dict__.pop("_first").remove()
        self.__class__ = self.becomes

    def has_uninitialized_params(self: Any) -> bool:
        """Does a parameter or buffer still wait for its shape?"""
        return any(is_lazy(t) for t in [*self._parameters.values(), *self._buffers.values()])

    def reset_parameters(self: Any) -> None:
        """Draw the parameters anew, if they have a shape."""
        if not self.has_uninitialized_params() and self.__dict__.get("_first") is not None:
            super().reset_parameters()  # type: ignore[misc]


class LazyLinear(_Lazy, Linear):
    """A Linear layer whose in_features come from its first input.

    >>> import autodiff_kernel as torch
    >>> layer = torch.nn.LazyLinear(2)
    >>> layer(torch.ones(4, 3)).shape, layer
    (torch.Size([4, 2]), Linear(in_features=3, out_features=2, bias=True))
    """

    becomes = Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, bias, device, dtype)
        self.out_features = out_features
        where = {"device": device, "dtype": dtype}
        self._wait({name: UninitializedParameter(**where) for name in ("weight", "bias")})

    def initialize_parameters(self, input: Any) -> None:
        """Take in_features from the input, and draw the parameters."""
        self.in_features = input.shape[-1]
        if not self.has_uninitialized_params():  # a state was loaded
            return
        self.weight.materialize((self.out_features, self.in_features))
        if self.bias is not None:
            self.bias.materialize((self.out_features,))
        self.reset_parameters()


class _LazyConv(_Lazy):
    def __init__(self, out_channels: int, *args: Any, **kwargs: Any) -> None:
        has_bias = kwargs.get("bias", True)
        super().__init__(0, 0, *args, **kwargs)  # type: ignore[call-arg]
        me: Any = self
        me.out_channels = out_channels
        where: dict[str, Any] = {"device": kwargs.get("device"), "dtype": kwargs.get("dtype")}
        names = ("weight", "bias") if has_bias else ("weight",)
        self._wait({name: UninitializedParameter(**where) for name in names})

    def initialize_parameters(self: Any, input: Any, *_: Any) -> None:
        """Take in_channels from the input, and draw the parameters."""
        if input.dim() not in (self.dims + 1, self.dims + 2):
            raise RuntimeError(
                f"Expected {self.dims + 1}D (unbatched) or {self.dims + 2}D (batched) input to "
                f"{type(self).__name__}, but got input "
                f"of size: {input.shape}"
            )
        self.in_channels = input.shape[-1 - self.dims]
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        if not self.has_uninitialized_params():
            return
        pair = (self.out_channels, self.in_channels // self.groups)
        if self.transposed:
            pair = (self.in_channels, self.out_channels // self.groups)
        self.weight.materialize((*pair, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


class _LazyNorm(_Lazy):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(0, *args, **kwargs)  # type: ignore[call-arg]
        where: dict[str, Any] = {"device": kwargs.get("device"), "dtype": kwargs.get("dtype")}
        first: dict[str, Any] = {name: UninitializedParameter(**where) for name in ("weight", "bias")}
        first.update({name: UninitializedBuffer(**where) for name in ("running_mean", "running_var")})
        self._wait(first)

    def initialize_parameters(self: Any, input: Any) -> None:
        """Take num_features from the input."""
        self.num_features = input.shape[1]
        if not self.has_uninitialized_params():
            return
        for t in (self.weight, self.bias, self.running_mean, self.running_var):
            if t is not None and is_lazy(t):
                t.materialize((self.num_features,))
        self.reset_parameters()


def _lazy(base: Any, waiting: Any) -> Any:
    name = f"Lazy{base.__name__}"
    what = "in_channels" if waiting is _LazyConv else "num_features"
    doc = f"A {base.__name__} whose {what} come from its first input."
    return type(name, (waiting, base), {"becomes": base, "__module__": __name__, "__doc__": doc})


LazyConv1d, LazyConv2d, LazyConv3d = [_lazy(base, _LazyConv) for base in (Conv1d, Conv2d, Conv3d)]
LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d = [
    _lazy(base, _LazyConv) for base in (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)
]
LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d = [
    _lazy(base, _LazyNorm) for base in (BatchNorm1d, BatchNorm2d, BatchNorm3d)
]
LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d = [
    _lazy(base, _LazyNorm) for base in (InstanceNorm1d, InstanceNorm2d, InstanceNorm3d)
]
