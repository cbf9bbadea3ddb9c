"""MultiheadAttention: attention in several heads, with linear maps before and behind."""

import math
from typing import Any

from ...core import modes
from ...core.api import FUNCTIONS
from ...core.errors import explain
from .. import functional as F
from ..functional.attention import heads
from . import filling
from .filling import parameter
from .linear import NonDynamicallyQuantizableLinear
from .module import Module

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """num_heads attentions side by side, each over embed_dim / num_heads numbers.

    Takes query (L, N, E), key (S, N, kdim), value (S, N, vdim), batch first if so made, or without a batch; gives the output
    in query's shape, and the weights (N, L, S), the mean over the heads, or None. Masks of booleans are True where a
    query may not look.

    >>> import autodiff_kernel as torch
    >>> x = torch.ones(5, 2, 4)
    >>> y, weights = torch.nn.MultiheadAttention(4, 2)(x, x, x)
    >>> y.shape, weights.shape
    (torch.Size([5, 2, 4]), torch.Size([2, 5, 5]))
    """

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
        add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = (
            embed_dim,
            num_heads,
            dropout,
            batch_first,
        )
        self.kdim, self.vdim = embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.head_dim = embed_dim // num_heads
        assert self.head_dim * num_heads == embed_dim, "embed_dim must be divisible by num_heads"
        where = {"device": device, "dtype": dtype}
        if self._qkv_same_embed_dim:
            self.in_proj_weight = parameter(3 * embed_dim, embed_dim, **where)
            for name in ("q", "k", "v"):
                self.register_parameter(f"{name}_proj_weight", None)
        else:
            for name, size in (("q", embed_dim), ("k", self.kdim), ("v", self.vdim)):
                setattr(self, f"{name}_proj_weight", parameter(embed_dim, size, **where))
            self.register_parameter("in_proj_weight", None)
        self.register_parameter("in_proj_bias", parameter(3 * embed_dim, **where) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **where)
        for name in ("bias_k", "bias_v"):
            setattr(self, name, parameter(1, 1, embed_dim, **where) if add_bias_kv else None)
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                filling.xavier(weight)
        filling.full(self.in_proj_bias, 0)
        if self.in_proj_bias is not None:
            filling.full(self.out_proj.bias, 0)
        with modes.no_grad():
            for t in (self.bias_k, self.bias_v):
                if t is not None:
                    t.normal_(0, math.sqrt(1 / self.embed_dim))

    def _maps(self, query: Any, key: Any, value: Any) -> tuple[Any, Any, Any]:
        """The three linear maps."""
        biases = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        if self.in_proj_weight is not None:
            weights = self.in_proj_weight.chunk(3)
        else:
            weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        q, k, v = [F.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases)]
        return q, k, v

    def forward(
        self, query: Any, key: Any, value: Any, key_padding_mask: Any = None, need_weights: bool = True,
        attn_mask: Any = None, average_attn_weights: bool = True, is_causal: bool = False,
    ) -> Any:  # fmt: skip
        alone = query.dim() == 2
        if query.dim() not in (2, 3):
            raise AssertionError(
                f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query tensor"
            )
        if is_causal and attn_mask is None:
            raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
        if query.shape[-1] != self.embed_dim:
            raise explain(
                AssertionError,
                f"was expecting embedding dimension of {self.embed_dim}, but got {query.shape[-1]}",
                cure=f"make the layer with embed_dim={query.shape[-1]}.",
            )
        if alone:
            query, key, value = [x.unsqueeze(1) for x in (query, key, value)]
            key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        elif self.batch_first:
            query, key, value = [x.transpose(0, 1) for x in (query, key, value)]
        q, k, v = self._maps(query, key, value)
        n = q.shape[1]
        more = 0
        if self.bias_k is not None:
            k, v = [FUNCTIONS["cat"]([x, b.repeat(1, n, 1)]) for x, b in ((k, self.bias_k), (v, self.bias_v))]
            more += 1
        if self.add_zero_attn:
            zero = FUNCTIONS["zeros"](1, n, self.embed_dim, dtype=k.dtype, device=k.device)
            k, v = FUNCTIONS["cat"]([k, zero]), FUNCTIONS["cat"]([v, zero])
            more += 1
        if more:
            attn_mask = None if attn_mask is None else F.pad(attn_mask, (0, more))
            key_padding_mask = None if key_padding_mask is None else F.pad(key_padding_mask, (0, more))
        drop = self.dropout if self.training else 0.0
        y, weights = heads(q, k, v, self.num_heads, attn_mask, key_padding_mask, drop, need_weights)
        y = self.out_proj(y)
        if weights is not None and average_attn_weights:
            weights = weights.mean(1)
        if alone:
            return y.squeeze(1), None if weights is None else weights.squeeze(0)
        return (y.transpose(0, 1) if self.batch_first else y), weights
