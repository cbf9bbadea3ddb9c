"""Recurrent layers, and their cells, which do one step."""

import math
import warnings
from typing import Any

from ...core.api import FUNCTIONS
from ...core.errors import explain
from ..functional import recurrent
from ..functional.recurrent import GATES
from ..utils.rnn import PackedSequence
from . import filling
from .filling import parameter
from .module import Module

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"]


class RNNBase(Module):
    """What RNN, LSTM and GRU have in common: weights by layer and direction, and the way through them.

    weight_ih_l{k} (gates · hidden, in), weight_hh_l{k} (gates · hidden, hidden), bias_ih_l{k}, bias_hh_l{k}; with `_reverse`
    for the other direction.
    """

    def __init__(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if isinstance(dropout, bool) or not isinstance(dropout, (int, float)) or not 0 <= dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if dropout > 0 and num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero "
                "dropout expects num_layers greater "
                f"than 1, but got dropout={dropout} and num_layers={num_layers}",
                stacklevel=3,
            )
        if not isinstance(hidden_size, int):
            raise TypeError(f"hidden_size should be of type int, got: {type(hidden_size).__name__}")
        if hidden_size <= 0:
            raise ValueError("hidden_size must be greater than zero")
        if num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if proj_size >= hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        self.mode, self.input_size, self.hidden_size, self.num_layers = (
            mode,
            input_size,
            hidden_size,
            num_layers,
        )
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        directions = 2 if bidirectional else 1
        height, out = GATES[mode] * hidden_size, proj_size or hidden_size
        self._names: list[list[str]] = []
        for layer in range(num_layers):
            for direction in range(directions):
                width = input_size if layer == 0 else out * directions
                tail = f"_l{layer}{'_reverse' if direction else ''}"
                shapes: dict[str, tuple[int, ...]] = {
                    "weight_ih": (height, width),
                    "weight_hh": (height, out),
                }
                if bias:
                    shapes.update(bias_ih=(height,), bias_hh=(height,))
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                for name, shape in shapes.items():
                    setattr(self, name + tail, parameter(*shape, device=device, dtype=dtype))
                self._names.append([name + tail for name in shapes])
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights anew, uniform within 1/√hidden_size."""
        filling.uniform(1 / math.sqrt(self.hidden_size), *self.parameters())

    def flatten_parameters(self) -> None:
        """Here there is nothing to rearrange."""

    @property
    def all_weights(self) -> list[list[Any]]:
        """The weights of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._names]

    def _layers(self) -> list[list[Any]]:
        """The weights as `functional.recurrent.stack` takes them."""
        found = []
        for names in self._names:
            by = {name.split("_l")[0]: getattr(self, name) for name in names}
            found.append([by.get(k) for k in ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")])
        directions = 2 if self.bidirectional else 1
        return [found[k : k + directions] for k in range(0, len(found), directions)]

    def _zeros(self, n: int, like: Any) -> tuple[Any, ...]:
        layers = self.num_layers * (2 if self.bidirectional else 1)
        sizes = [self.proj_size or self.hidden_size] + [self.hidden_size] * (self.mode == "LSTM")
        return tuple(
            [FUNCTIONS["zeros"](layers, n, size, dtype=like.dtype, device=like.device) for size in sizes]
        )

    def _check_state(self, state: tuple[Any, ...], want: tuple[Any, ...]) -> None:
        for k, (s, w) in enumerate(zip(state, want)):
            if tuple(s.shape) != tuple(w.shape):
                name = f"hidden[{k}]" if self.mode == "LSTM" else "hidden"
                raise explain(
                    RuntimeError,
                    f"Expected {name} size {tuple(w.shape)}, got {list(s.shape)}",
                    "The state is (layers · directions, batch, hidden).",
                    "leave it out for zeros.",
                )

    def forward(self, input: Any, hx: Any = None) -> Any:
        packed = input if isinstance(input, PackedSequence) else None
        many = self.mode == "LSTM"
        if packed is not None:
            steps = list(packed.data.split(packed.batch_sizes.tolist()))
            n, alone, data = int(packed.batch_sizes[0]), False, packed.data
        else:
            if input.dim() not in (2, 3):
                raise ValueError(
                    f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}D instead"
                )
            alone = input.dim() == 2
            data = input.unsqueeze(1) if alone else input.transpose(0, 1) if self.batch_first else input
            n = data.shape[1]
            steps = list(data.unbind(0))
            if not steps:
                raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        if data.shape[-1] != self.input_size:
            raise explain(
                RuntimeError,
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {data.shape[-1]}",
                f"{type(self).__name__} takes (time, batch, "
                f"{self.input_size}){', or batch first' if self.batch_first else ''}.",
                f"make the layer with input_size={data.shape[-1]}, or check the order of the input's dimensions.",
            )
        state = self._zeros(n, data)
        if hx is not None:
            given = tuple(hx) if many else (hx,)
            if alone:
                if any(s.dim() != 2 for s in given):
                    raise RuntimeError(
                        "For unbatched 2-D input, hx"
                        + (" and cx should also be 2-D" if many else " should also be 2-D")
                        + f" but got {', '.join(f'{s.dim()}-D' for s in given)} tensor"
                    )
                given = tuple([s.unsqueeze(1) for s in given])
            elif any(s.dim() != 3 for s in given) and packed is None:
                raise RuntimeError(
                    "For batched 3-D input, hx"
                    + (" and cx should also be 3-D" if many else " should also be 3-D")
                    + f" but got {', '.join(f'{s.dim()}-D' for s in given)} tensor"
                )
            if packed is not None and packed.sorted_indices is not None:
                given = tuple([s.index_select(1, packed.sorted_indices) for s in given])
            self._check_state(given, state)
            state = given
        outputs, last = recurrent.stack(self.mode, steps, state, self._layers(), self.dropout, self.training)
        if packed is not None:
            y: Any = PackedSequence(
                FUNCTIONS["cat"](outputs), packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices
            )
            if packed.unsorted_indices is not None:
                last = tuple([s.index_select(1, packed.unsorted_indices) for s in last])
        else:
            y = FUNCTIONS["stack"](outputs, 1 if self.batch_first and not alone else 0)
            if alone:
                y, last = y.squeeze(1), tuple([s.squeeze(1) for s in last])
        return y, last if many else last[0]

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size:
            text += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if self.batch_first is not False:
            text += f", batch_first={self.batch_first}"
        if self.dropout:
            text += f", dropout={self.dropout}"
        if self.bidirectional is not False:
            text += f", bidirectional={self.bidirectional}"
        return text


class RNN(RNNBase):
    """h = tanh(W_ih x + b_ih + W_hh h + b_hh), step by step; nonlinearity 'relu' instead of 'tanh'.

    Takes (T, N, in), or (N, T, in) if batch_first, (T, in), or a PackedSequence, and perhaps the first state; gives the
    outputs of all steps and the last state (layers · directions, N, hidden).

    >>> import autodiff_kernel as torch
    >>> y, h = torch.nn.RNN(3, 4)(torch.zeros(5, 2, 3))
    >>> y.shape, h.shape
    (torch.Size([5, 2, 4]), torch.Size([1, 2, 4]))
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh", bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(
            f"RNN_{nonlinearity.upper()}", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
            0, device, dtype,
        )  # fmt: skip
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory. See RNN; its state is a pair (h, c), and proj_size makes h smaller.

    >>> import autodiff_kernel as torch
    >>> y, (h, c) = torch.nn.LSTM(3, 4, batch_first=True)(torch.zeros(2, 5, 3))
    >>> y.shape, c.shape
    (torch.Size([2, 5, 4]), torch.Size([1, 2, 4]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)


class GRU(RNNBase):
    """Gated recurrent units. See RNN."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


# ------------------------------------------------------------------------------------------------ cells
class RNNCellBase(Module):
    """What the cells have in common: weight_ih, weight_hh, bias_ih, bias_hh."""

    chunks = 1
    nonlinearity = "tanh"

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        height = self.chunks * hidden_size
        self.weight_ih = parameter(height, input_size, device=device, dtype=dtype)
        self.weight_hh = parameter(height, hidden_size, device=device, dtype=dtype)
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, parameter(height, device=device, dtype=dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights anew, uniform within 1/√hidden_size."""
        filling.uniform(1 / math.sqrt(self.hidden_size) if self.hidden_size else 0, *self.parameters())

    def _ready(self, input: Any, states: Any) -> Any:
        """(the input's product, the states, whether it is one sample), checked."""
        if input.dim() not in (1, 2):
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 1D or 2D, got {input.dim()}D instead"
            )
        for s in states or ():
            if s.dim() not in (1, 2):
                raise ValueError(
                    f"{type(self).__name__}: Expected hidden to be 1D or 2D, got {s.dim()}D instead"
                )
        alone = input.dim() == 1
        x = input.unsqueeze(0) if alone else input
        if x.shape[1] != self.input_size:
            raise RuntimeError(
                f"input has inconsistent input_size: got {x.shape[1]}, expected {self.input_size}"
            )
        if states is None:
            zeros = FUNCTIONS["zeros"](len(x), self.hidden_size, dtype=x.dtype, device=x.device)
            states = (zeros, zeros)
        elif alone:
            states = tuple([s.unsqueeze(0) for s in states])
        for s in states:
            if s.shape[1] != self.hidden_size:
                raise RuntimeError(
                    f"hidden has inconsistent hidden_size: got {s.shape[1]}, expected {self.hidden_size}"
                )
        return recurrent.linear(x, self.weight_ih, self.bias_ih), states, alone

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        return text + (f", nonlinearity={self.nonlinearity}" if self.nonlinearity != "tanh" else "")


class RNNCell(RNNCellBase):
    """One step of an RNN: (N, in) and (N, hidden) to (N, hidden)."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> Any:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        x, states, alone = self._ready(input, None if hx is None else (hx,))
        h = recurrent.rnn_step(x, states[0], self.weight_hh, self.bias_hh, self.nonlinearity == "relu")
        return h.squeeze(0) if alone else h


class LSTMCell(RNNCellBase):
    """One step of an LSTM: (N, in) and a pair of (N, hidden) to such a pair."""

    chunks = 4

    def forward(self, input: Any, hx: Any = None) -> Any:
        x, states, alone = self._ready(input, hx)
        h, c = recurrent.lstm_step(x, states[0], states[1], self.weight_hh, self.bias_hh)
        return (h.squeeze(0), c.squeeze(0)) if alone else (h, c)


class GRUCell(RNNCellBase):
    """One step of a GRU: (N, in) and (N, hidden) to (N, hidden)."""

    chunks = 3

    def forward(self, input: Any, hx: Any = None) -> Any:
        x, states, alone = self._ready(input, None if hx is None else (hx,))
        h = recurrent.gru_step(x, states[0], self.weight_hh, self.bias_hh)
        return h.squeeze(0) if alone else h
