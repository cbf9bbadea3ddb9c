"""Linear layers."""

from typing import Any

from ..functional import bilinear, linear
from . import filling
from .filling import parameter
from .module import Module

__all__ = ["Bilinear", "Identity", "Linear"]


class Identity(Module):
    """Gives its input back; takes any arguments and ignores them.

    >>> import autodiff_kernel as torch
    >>> torch.nn.Identity()(torch.tensor(1.))
    tensor(1.)
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        return input


class Linear(Module):
    """y = x Wᵀ + b: weight (out_features, in_features), bias (out_features), both uniform within 1/√in_features.

    The input is (…, in_features), the output (…, out_features). Raises RuntimeError for another last dimension.

    >>> import autodiff_kernel as torch
    >>> torch.nn.Linear(3, 2)
    Linear(in_features=3, out_features=2, bias=True)
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = parameter(out_features, in_features, device=device, dtype=dtype)
        if bias:
            self.bias = parameter(out_features, device=device, dtype=dtype)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        filling.layer(self.weight, self.bias)

    def forward(self, input: Any) -> Any:
        held = self.__dict__["_parameters"]
        try:
            return linear(input, held["weight"], held["bias"])
        except KeyError:  # something computes them: a parametrization, weight_norm
            return linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"
        )


class NonDynamicallyQuantizableLinear(Linear):
    """What MultiheadAttention has as its last layer."""


class Bilinear(Module):
    """y = x1ᵀ W x2 + b: weight (out_features, in1_features, in2_features).

    >>> import autodiff_kernel as torch
    >>> torch.nn.Bilinear(2, 3, 4)(torch.ones(5, 2), torch.ones(5, 3)).shape
    torch.Size([5, 4])
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self.weight = parameter(out_features, in1_features, in2_features, device=device, dtype=dtype)
        if bias:
            self.bias = parameter(out_features, device=device, dtype=dtype)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        filling.uniform(1 / self.weight.size(1) ** 0.5, self.weight, self.bias)

    def forward(self, input1: Any, input2: Any) -> Any:
        return bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )
